"""The version of gitmem, in the one place that states it."""

VERSION = "0.1.0"
