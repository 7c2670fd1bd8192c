"""What DeepSeek Harness gets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from gitmem.hosts.install.around import Around
from gitmem.hosts.install.own import SERVER
from gitmem.hosts.install.wanted import Form, Wanted, WantedFile
from gitmem.resources import read_text

HOST = "dsh"
SHIM = "hosts/dsh/gitmem.mjs"
_PLUGIN = "gitmem.mjs"
_PATCH = "cordis.patch.yml"
_CLIENT = "@deepseek-ai/dsh-mcp-client"


def describe(around: Around) -> Wanted:
    """Return its files: in each profile that is there a plugin and the rows that load it and the server; the skill.

    Looks which profiles are there; the harness makes one when it is first used.
    """
    if around.is_project:
        notice = "DeepSeek Harness has plugins and servers by profile, not by project: the project gets the skill alone"
        return Wanted((around.skill_file(f"{around.project}/.dsh/skills"),), (notice,))
    folder = around.folders.dsh
    profiles = list(_iter_profiles(folder))
    files = [file for profile in profiles for file in _describe_profile(around, f"{folder}/profiles/{profile}")]
    names = ", ".join(profiles)
    notice = (
        f"the profiles that are set up: {names}; install again once there are others"
        if profiles
        else "there is no profile yet: start DeepSeek Harness once, then install again"
    )
    return Wanted((*files, around.skill_file(f"{folder}/skills")), (notice,))


def _iter_profiles(folder: str) -> Iterator[str]:
    root = os.path.join(folder, "profiles")
    for name in sorted(os.listdir(root)) if os.path.isdir(root) else ():
        if os.path.isfile(os.path.join(root, name, _PATCH)):
            yield name


def _describe_profile(around: Around, folder: str) -> tuple[WantedFile, ...]:
    words = [*around.command, "hook", "--host", HOST]
    shim = read_text("templates", SHIM).replace("__GITMEM_COMMAND__", json.dumps(words, ensure_ascii=False))
    entry = around.server_entry(HOST, serverName=SERVER, transport="stdio")
    rows = [
        {"id": "gitmem-hooks", "name": f"./{_PLUGIN}"},
        {"id": "gitmem-mcp", "name": _CLIENT, "config": entry},
    ]
    lines = ["- insert:", *(f"    - {json.dumps(row)}" for row in rows)]  # JSON in ASCII is YAML
    return (
        WantedFile(f"{folder}/{_PLUGIN}", Form.WHOLE, shim, is_private=False),
        WantedFile(f"{folder}/{_PATCH}", Form.BLOCK, "\n".join(lines)),
    )
