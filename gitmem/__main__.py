"""The command ``gitmem``: ``python -m gitmem`` and the console script start here."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line that this process was given, and exit with its code."""
    try:
        from gitmem.hosts.cli.run import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
