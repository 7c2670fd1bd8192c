"""The way in: runs one command line and turns whatever happens into output and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

from gitmem.errors import GitmemError, UnavailableError
from gitmem.hosts.cli.call import Call
from gitmem.hosts.cli.group import gitmem
from gitmem.hosts.cli.output import error_document
from gitmem.hosts.cli.plain import format_error
from gitmem.hosts.environment import COMPLETION_VARIABLE, Environment, read_environment

INTERRUPTED = 130
PROGRAM = "gitmem"


class _UsageError(GitmemError):
    exit_code = 2


def run(args: Sequence[str], environment: Environment | None = None) -> int:
    """Run ``args`` and return the exit code (design section 9). Prints the result; never raises but for a debugger.

    ``environment`` is read from the process when it is not given.
    """
    _escape_what_streams_cannot_say()
    call = Call(environment or Environment(home="", folder=""), as_json=_asks_for_json(args))
    try:
        call.environment = environment or read_environment()
        return _run_verb(args, call)
    except GitmemError as error:
        return _fail(call, error)
    except BrokenPipeError:
        return _leave_silently()
    except (KeyboardInterrupt, click.Abort):
        click.echo(err=True)
        return INTERRUPTED
    except OSError as error:
        message = f"the system refused: {error}"
        return _fail(
            call, UnavailableError("system-error", message, "See to it and try again; `gitmem doctor` may help.")
        )
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said about it
        if call.environment.debug:
            traceback.print_exc()
        message = f"something unexpected happened: {type(error).__name__}: {error}"
        hint = "Please report it; GITMEM_DEBUG=1 shows where. `gitmem check` tells whether the vault is whole."
        return _fail(call, GitmemError("internal", message, hint))


def _run_verb(args: Sequence[str], call: Call) -> int:
    if call.environment.completion:
        return shell_complete(gitmem, {"obj": call}, PROGRAM, COMPLETION_VARIABLE, call.environment.completion)
    try:
        with gitmem.make_context(PROGRAM, list(args), obj=call) as context:
            code = gitmem.invoke(context)
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.message, err=True)
        return _UsageError.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else PROGRAM
        return _fail(call, _UsageError("usage", error.format_message(), f"See `{path} --help`."))
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _fail(call: Call, error: GitmemError) -> int:
    with contextlib.suppress(BrokenPipeError):
        if call.as_json:
            call.print_result(error_document(error), "")
        else:
            call.warn(format_error(error))
    return error.exit_code


def _asks_for_json(args: Sequence[str]) -> bool:
    # Needed where the command line is so wrong that it can't be parsed, and before it is.
    before_end = args[: args.index("--")] if "--" in args else args
    return "--json" in before_end


def _leave_silently() -> int:
    # Whoever read us went away; without this the interpreter would complain when it flushes at exit.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _escape_what_streams_cannot_say() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
