"""One verb a file, loaded when it is asked for. Each module offers ``command``."""
