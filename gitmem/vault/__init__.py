"""Bytes on disk and the nouns they hold. Knows no Git."""
