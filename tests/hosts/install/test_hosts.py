"""What hosts are asked to do is what the hook understands, within the time that it takes."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.hosts.environment import find_host_folders
from gitmem.hosts.hooks.run import ANSWER_BUDGETS_S, BUDGET_S, KEEP_BUDGET_S
from gitmem.hosts.install.around import ANSWERED, Around, InstallScope, list_events
from gitmem.hosts.install.hosts import DESCRIBE
from gitmem.model.event import EventKind

WITH_HOOKS = [host for host in DESCRIBE if host not in ("opencode", "dsh")]
_UNIT_S = {"gemini": 1000}


def describe_hooks(host: str) -> dict[str, Any]:
    around = Around(find_host_folders("/home/sam"), InstallScope.USER, "", ("/py", "-P", "-m", "gitmem"))
    return {event: value for file in DESCRIBE[host](around).files for event, value in file.hooks.items()}


@pytest.mark.parametrize("host", WITH_HOOKS)
def test_every_kind_of_event_is_asked_for_once(host: str) -> None:
    kinds = [list_events(host)[event] for event in describe_hooks(host)]
    assert set(kinds) == set(list_events(host).values())
    twice = {kind for kind in kinds if kinds.count(kind) > 1}
    assert twice <= {EventKind.TOOL}  # one that failed is another event


@pytest.mark.parametrize("host", WITH_HOOKS)
def test_a_host_waits_longer_than_the_hook_takes(host: str) -> None:
    for event, value in describe_hooks(host).items():
        handler = value["hooks"][0] if "hooks" in value else value
        kind = list_events(host)[event]
        takes_s = BUDGET_S if kind is EventKind.SESSION_END else BUDGET_S + KEEP_BUDGET_S
        takes_s += ANSWER_BUDGETS_S.get(kind, KEEP_BUDGET_S) if kind in ANSWERED else 0
        assert handler["timeout"] / _UNIT_S.get(host, 1) > takes_s
