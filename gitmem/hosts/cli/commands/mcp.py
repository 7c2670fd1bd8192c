"""``gitmem mcp``."""

from __future__ import annotations

import click

from gitmem.hosts.cli.call import Call, pass_call
from gitmem.hosts.cli.group import verb
from gitmem.hosts.environment import check_name


@verb(
    "mcp",
    """
gitmem mcp
gitmem mcp --host claude-code
gitmem --vault ~/notes mcp
""",
)
@click.option("--host", metavar="NAME", default="", help="Which host starts it, for the record; else the client says.")
@pass_call
def command(call: Call, /, *, host: str) -> int:
    """Serve the memory to a host as tools, over standard streams (MCP).

    Hosts start it; people don't. Everything it does is done as an agent: it reads, observes with evidence and proposes,
    no more. Commits what is observed, one commit a call. The vault is looked for at each call, in the folder that the
    host works in. Ends when its input does.
    """
    from gitmem.hosts.mcp.asker import begin_session
    from gitmem.hosts.mcp.server import serve

    serve(begin_session(call.environment, call.vault, check_name("--host", host)))
    return 0
