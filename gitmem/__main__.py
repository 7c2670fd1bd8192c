"""The command ``gitmem``: ``python -m gitmem`` and the console script start here."""

from __future__ import annotations

import sys

from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.hosts.environment import Environment

INTERRUPTED = 130
_MANY_OBJECTS = 100_000
HOOK_OPTIONS = ("--host", "--vault")


def main(*, is_short: bool = False) -> None:
    """Run the command line that this process was given, and exit with its code.

    A process that ``is_short`` does not tidy up its memory, neither meanwhile nor at its end, which takes as long as
    an event is kept.
    """
    if is_short:
        import gc

        gc.set_threshold(_MANY_OBJECTS)
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    if is_short:
        from gitmem.hosts.hooks.run import end_at_once

        end_at_once(code)
    sys.exit(code)


def _run(args: list[str]) -> int:
    # A host starts a hook for every prompt and tool: it gets by without the command line's machinery.
    if args[:1] == ["hook"] and len(args) % 2 and all(name in HOOK_OPTIONS for name in args[1::2]):
        from gitmem.hosts.hooks.run import run_hook

        return run_hook(args[1:], _run_typed)
    from gitmem.hosts.cli.run import run

    return run(args)


def _run_typed(args: Sequence[str], environment: Environment) -> int:
    from gitmem.hosts.cli.run import run

    return run(args, environment, by_prompt=True)


if __name__ == "__main__":
    main()
