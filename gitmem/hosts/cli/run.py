"""The way in: runs one command line and turns whatever happens into output and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import TextIO

import click
from click.shell_completion import shell_complete

from gitmem.errors import GitmemError, UnavailableError
from gitmem.hosts.cli.call import Call, output_error
from gitmem.hosts.cli.group import gitmem
from gitmem.hosts.cli.output import error_document
from gitmem.hosts.cli.plain import format_error
from gitmem.hosts.environment import COMPLETION_VARIABLE, Environment, read_environment
from gitmem.text import quote

INTERRUPTED = 130
PROGRAM = "gitmem"


class _UsageError(GitmemError):
    exit_code = 2


def run(args: Sequence[str], environment: Environment | None = None, *, by_prompt: bool = False) -> int:
    """Run ``args`` and return the exit code (design section 9). Prints the result; never raises but for a debugger.

    ``environment`` is read from the process when it is not given. ``by_prompt`` says that a person typed the command as
    a prompt in a host.
    """
    _replace_closed_streams()
    _escape_what_streams_cannot_say()
    call = Call(environment or Environment(home="", folder=""), as_json=_asks_for_json(args), by_prompt=by_prompt)
    return _end_output(call, _run(args, environment, call))


def _run(args: Sequence[str], environment: Environment | None, call: Call) -> int:
    try:
        call.environment = environment or read_environment()
        return _run_verb(args, call)
    except GitmemError as error:
        return _fail(call, error)
    except BrokenPipeError:
        _drop(sys.stdout)
        return 0
    except (KeyboardInterrupt, click.Abort):
        click.echo(err=True)
        return INTERRUPTED
    except OSError as error:
        return _fail(call, _explain(error))
    except Exception as error:  # noqa: BLE001 - the last place where anything can be said about it
        if call.environment.debug:
            traceback.print_exc()
        message = f"something unexpected happened: {type(error).__name__}: {error}"
        hint = "Please report it; GITMEM_DEBUG=1 shows where. `gitmem check` tells whether the vault is whole."
        return _fail(call, GitmemError("internal", message, hint))


def _run_verb(args: Sequence[str], call: Call) -> int:
    if call.environment.completion:
        from gitmem.hosts.cli.complete import offer_titles_in_bash

        offer_titles_in_bash()
        return shell_complete(gitmem, {"obj": call}, PROGRAM, COMPLETION_VARIABLE, call.environment.completion)
    if any("\0" in arg for arg in args):  # no shell can pass one on; callers in this process can
        return _fail(call, _UsageError("usage", "an argument holds NUL", f"See `{PROGRAM} --help`."))
    try:
        with gitmem.make_context(PROGRAM, list(args), obj=call) as context:
            code = gitmem.invoke(context)
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        if call.as_json:
            path = error.ctx.command_path if error.ctx else PROGRAM
            return _fail(call, _UsageError("usage", "Missing command.", f"See `{path} --help`."))
        click.echo(error.message, err=True)
        return _UsageError.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else PROGRAM
        return _fail(call, _UsageError("usage", error.format_message(), f"See `{path} --help`."))
    return code if isinstance(code, int) else 0


def _fail(call: Call, error: GitmemError) -> int:
    from gitmem.service.masked import mask_error

    error = mask_error(error)
    if not call.as_json or error.code == "output-failed":
        _complain(call, error)
        return error.exit_code
    try:
        call.print_result(error_document(error), "")
    except BrokenPipeError:
        _drop(sys.stdout)
    except UnavailableError as failed:
        return _fail(call, failed)
    return error.exit_code


def _explain(error: OSError) -> UnavailableError:
    try:
        sys.stdout.flush()  # what click prints by itself, a help page for example, fails like this
    except OSError as failed:
        return output_error(failed)
    if _is_from_echo(error):  # a text longer than the stream's buffer is dropped with the error
        return output_error(error)
    where = "" if error.filename is None else f": {quote(str(error.filename), 300)}"
    return UnavailableError(
        "system-error",
        f"the system refused: {error.strerror or error}{where}",
        "See to it and try again; `gitmem doctor` may help.",
    )


def _is_from_echo(error: OSError) -> bool:
    frames = list(traceback.walk_tb(error.__traceback__))
    return bool(frames) and frames[-1][0].f_code is click.echo.__code__


def _complain(call: Call, error: GitmemError) -> None:
    try:
        click.echo(format_error(error), err=True, color=call.paints(sys.stderr))
    except OSError:  # where nothing can be said, the exit code has to do
        _drop(sys.stderr)


def _asks_for_json(args: Sequence[str]) -> bool:
    # Needed where the command line is so wrong that it can't be parsed, and before it is.
    before_end = args[: args.index("--")] if "--" in args else args
    return "--json" in before_end


def _end_output(call: Call, code: int) -> int:
    """Write out what is still to be written, so that the interpreter has nothing left to complain about at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read us went away
        _drop(sys.stdout)
    except OSError as error:
        _drop(sys.stdout)
        return code if code == UnavailableError.exit_code else _fail(call, output_error(error))
    return code


def _drop(stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _replace_closed_streams() -> None:
    """Put something in place of standard streams that were closed; their numbers would go to the next files opened.

    Reading gives nothing, standard error takes all; writing to standard output fails, as it must.
    """
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - lives as long as the process


def _escape_what_streams_cannot_say() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
