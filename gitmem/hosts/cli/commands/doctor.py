"""``gitmem doctor``."""

from __future__ import annotations

from dataclasses import replace

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.cli.plain import format_findings
from gitmem.hosts.cli.reading import print_answer
from gitmem.hosts.install.health import check_hosts


@verb("doctor", "gitmem doctor\ngitmem doctor --json")
@pass_call
def command(call: Call) -> int:
    """Look at this machine, vaults and hosts, and say what is wrong.

    Works without a vault. Writes nothing. Exit code 7 when something is wrong.
    """
    from gitmem.wiring import run_doctor

    around = call.environment
    answer = run_doctor(around.home, around.folder, call.vault, around.agent_socket)
    answer = replace(answer, rows=(*answer.rows, *check_hosts(around)))
    return print_answer(call, answer, "", lambda found: format_findings(found.rows))
