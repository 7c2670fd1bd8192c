"""Starts gitmem by this file's name, as hosts do: ``python -E -P -S …/gitmem/launch.py hook --host NAME``. ADR 0035.

Half of the time of an idle Python goes into looking for the packages of its environment (``-S`` leaves that out) and,
with ``-m``, into finding the module by name. A hook needs none of these packages in most calls. They are looked for
when the first one is, with ``site.main()``, as the standard library has it. ``-P`` keeps this folder, whose modules
bear names of the standard library, and with ``-E`` the project that the host works in, off the way.
"""

from __future__ import annotations

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


class _Packages:
    """Has the environment's packages looked for once a module is wanted that is none of Python's, nor gitmem's."""

    is_there = False

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> object:
        top = name.partition(".")[0]
        if self.is_there or top in sys.stdlib_module_names or top == "org":  # that one is asked for by `copy`, in vain
            return None
        self.is_there = True
        import site
        from importlib.machinery import PathFinder

        site.main()
        return PathFinder.find_spec(name)


def launch() -> None:
    """Run the command line of this process, and end it."""
    sys.path.append(os.path.dirname(FOLDER))
    sys.meta_path.append(_Packages())  # type: ignore[arg-type]
    from gitmem.__main__ import main

    main(is_short=sys.argv[1:2] == ["hook"])


if __name__ == "__main__":
    launch()
