"""gitmem: a memory for coding agents that people can read, review, edit and undo."""

__version__ = "0.1.0"
