"""Looking after how the vault is stored: packs, the commit graph, the catalog's files."""

from __future__ import annotations

from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.ids import OpId
from gitmem.model.maintenance import Maintenance
from gitmem.service.gate import authorize
from gitmem.service.plan import find_earlier, no_change
from gitmem.service.retry import describe_request
from gitmem.service.vault import OpenVault
from gitmem.values import replace


def maintain(
    vault: OpenVault, actor: Actor, op_id: OpId | None = None, *, dry_run: bool = False
) -> tuple[Receipt, Maintenance]:
    """Do all of maintenance now, or with ``dry_run`` only tell what there is to do; see ``transaction.maintain``.

    No record changes. A commit is made only where the catalog grows. Asked again under its ``op_id``, it does nothing
    more and returns the receipt of that time with what there is to do now. Raises what ``transaction.maintain`` raises.
    """
    from gitmem.transaction import maintain as engine
    from gitmem.transaction.apply import nothing_to_do

    rule = authorize(vault.entry.scope, Action.MAINTAIN, actor).rule
    request = describe_request()
    earlier = find_earlier(vault, Action.MAINTAIN, op_id, request)
    asked = replace(no_change(Action.MAINTAIN, actor, op_id, request), rule=rule)
    if earlier is None and not dry_run:
        return engine.maintain(vault.ground, vault.tools(), asked)
    nothing = earlier or nothing_to_do(vault.ground, replace(asked, is_named=False), vault.tools())
    return nothing, engine.look(vault.ground, vault.manifest)


def describe_storage(vault: OpenVault) -> str:
    """Return one line on what lies in the object store and how far the commit graph reaches. Looks at files alone."""
    from gitmem.git.commit_graph import find_age_s, load_known
    from gitmem.transaction.maintain import measure

    now, age_s = measure(vault.repo), find_age_s(vault.repo, vault.clock.time_ns())
    graph = "no commit graph"
    if age_s is not None:
        graph = f"a commit graph of {len(load_known(vault.repo))} commits, {age_s / 86400:.0f} days old"
    return f"{now.loose} loose objects, {now.packs} packs, {now.bytes >> 10} KiB, {graph}"


def find_due(vault: OpenVault) -> str:
    """Return why ``gitmem maintain`` should be run, empty when there is no need."""
    from gitmem.transaction.maintain import find_due as find

    return find(vault.ground, vault.manifest, vault.options.maintain_at_loose)
