"""Whether the statements of a verified history begin with what this machine trusts, and end at what it has seen."""

from __future__ import annotations

from gitmem.errors import IntegrityError
from gitmem.model.ids import CommitId
from gitmem.model.record import Problem
from gitmem.model.signing import Anchor
from gitmem.service.chain import Chain, Link
from gitmem.service.openssh import is_signed
from gitmem.service.standing import UNTRUSTED, find_anchor, list_unlike, say_unlike
from gitmem.service.vault import OpenVault
from gitmem.values import dataclass
from gitmem.vault.anchor import save_anchor
from gitmem.vault.layout import HomeLayout
from gitmem.vault.statement import format_canonical

SAY_UNTRUSTED = "nobody on this machine has said yet that this vault's keys are people's; `gitmem keys trust` does"
PROVEN, CONSISTENT, BROKEN = "proven", "consistent", "broken"


@dataclass(frozen=True)
class Trust:
    """The verdict that was reached, what is wrong with HEAD beside its history, and what is to be said of it."""

    verdict: str
    wrong: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()


def judge_trust(vault: OpenVault, head: CommitId, chain: Chain, link: Link, *, is_broken: bool) -> Trust:
    """Return what holds at ``head``, whose statement is ``link``, once its history was read into ``chain``.

    Where the history is sound and begins with what this machine trusts, the anchor in the home comes to ``link``, keys
    that were added by signed operations included; not where the administrator names the keys, nor to a list without
    any: that is a person's, with ``gitmem keys trust``.
    """
    try:
        anchor = find_anchor(vault)
    except IntegrityError as error:
        return Trust(BROKEN, (Problem(error.code, error.message),))
    if anchor is None or not anchor.keys:
        problems = (Problem(UNTRUSTED, SAY_UNTRUSTED),) if link.is_keyed else ()
        return Trust(BROKEN if is_broken else CONSISTENT, problems=problems)
    wrong = _find_wrong(vault, head, chain, link, anchor, is_broken=is_broken)
    if wrong is not None or is_broken:
        return Trust(BROKEN, () if wrong is None else (wrong,))
    if link.counter > anchor.counter and link.keys and vault.options.home:
        keys = anchor.keys if anchor.is_roots else link.keys
        save_anchor(HomeLayout(vault.options.home), Anchor(anchor.vault_id, keys, link.counter, link.digest))
    return Trust(PROVEN if link.keys else CONSISTENT)


def _find_wrong(
    vault: OpenVault, head: CommitId, chain: Chain, link: Link, anchor: Anchor, *, is_broken: bool
) -> Problem | None:
    if link.signed is None:
        message = "this machine knows keys of people for this vault, and nothing in it is signed"
        return Problem("statement-missing", message)
    if link.counter < anchor.counter:
        message = f"the vault went back to statement {link.counter}; this machine has seen {anchor.counter}"
        return Problem("statement-rolled-back", message)
    is_joined = bool(anchor.digest) and chain.holds(anchor.digest)
    if anchor.digest and not is_joined and anchor.counter >= chain.start:
        message = f"statement {anchor.counter}, which this machine has seen, is not in this history"
        return Problem("statement-forked", message)
    needs_own = anchor.is_roots or not is_joined or link.digest == anchor.digest
    data = format_canonical(link.signed.statement)
    if needs_own and not is_signed(data, link.signed.signature, anchor.keys):
        return Problem("statement-not-signed", "the last statement is not signed by a key that is trusted here")
    unlike = [] if is_broken else list_unlike(vault, head, link.signed.statement)
    if unlike:
        return say_unlike(unlike)
    return None
