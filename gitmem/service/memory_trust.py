"""The verbs about who may do what, and how it is proved: policy, keys, verification. A part of ``Memory``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gitmem.model.answer import Answer
from gitmem.model.authority import Action, Actor
from gitmem.model.change import Receipt
from gitmem.model.human_key import HumanKey
from gitmem.model.ids import OpId
from gitmem.service.memory_base import MemoryBase
from gitmem.service.reading import report
from gitmem.service.retry import answer_again
from gitmem.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.service.explain import Asked
    from gitmem.service.human_keys import Adding, Trusting
    from gitmem.service.promote_global import Going, Handed
    from gitmem.service.set_policy import Setting


class TrustVerbs(MemoryBase):
    """Policy, human keys, verification; see ``service.memory``."""

    def init_policy(self, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Commit the policy that holds by default, for a person to edit. See ``service.set_policy``."""
        from gitmem.service.set_policy import init_policy

        return answer_again(self.vault, op_id, lambda: init_policy(self.vault, actor or self.actor, op_id))

    def set_policy(
        self, data: bytes | None, actor: Actor | None = None, op_id: OpId | None = None, setting: Setting | None = None
    ) -> Receipt:
        """Commit the vault's policy; the work tree's ``policy.yaml`` where ``data`` is ``None``.

        See ``service.set_policy``.
        """
        from gitmem.service.set_policy import set_policy

        return answer_again(
            self.vault, op_id, lambda: set_policy(self.vault, data, actor or self.actor, op_id, setting)
        )

    def find_setting(self, data: bytes | None = None) -> Setting:
        """Return what ``set_policy`` would change, for a person to look at. Raises. See ``service.set_policy``."""
        from gitmem.service.set_policy import find_setting

        return find_setting(self.vault, data)

    def promote_to_global(self, refs: Sequence[str], actor: Actor | None = None, op_id: OpId | None = None) -> Handed:
        """Put records of this workspace into the global vault, as a person. See ``service.promote_global``."""
        from gitmem.service.promote_global import promote_to_global

        return answer_again(
            self.vault, op_id, lambda: promote_to_global(self.vault, refs, self.find_global, actor or self.actor, op_id)
        )

    def find_going(self, refs: Sequence[str]) -> tuple[str, tuple[Going, ...]]:
        """Return what ``promote_to_global`` would do, for a person to look at. See ``service.promote_global``."""
        from gitmem.service.promote_global import find_going

        return find_going(self.vault, refs, self.find_global)

    def policy(self) -> Answer:
        """Return the policy that holds, and where it comes from. See ``service.show_policy``."""
        from gitmem.service.show_policy import show_policy

        return report(lambda: show_policy(self.vault))

    def check_policy_file(self) -> Answer:
        """Return how the work tree's ``policy.yaml`` would be read. Raises. See ``service.show_policy``."""
        from gitmem.service.show_policy import check_policy_file

        return report(lambda: check_policy_file(self.vault))

    def explain(self, action: Action, actor: Actor, asked: Asked) -> Answer:
        """Return what would be said to an operation, and by which rule. See ``service.explain``."""
        from gitmem.service.explain import explain

        return report(lambda: explain(self.vault, action, actor, asked))

    def explain_record(self, ref: str) -> Answer:
        """Return by which rules a record came to be as it is. See ``service.explain``."""
        from gitmem.service.explain import explain_record

        return report(lambda: explain_record(self.vault, ref))

    def list_human_keys(self) -> Answer:
        """Return the keys of people, as rows. See ``service.human_keys``."""
        from gitmem.service.human_keys import list_human_keys

        return report(lambda: list_human_keys(self.vault))

    def add_key(
        self,
        file: str,
        name: str | None,
        actor: Actor | None = None,
        op_id: OpId | None = None,
        shown: HumanKey | None = None,
    ) -> Receipt:
        """List a person's key, as a signed operation. See ``service.human_keys``."""
        from gitmem.service.human_keys import add_key

        return answer_again(
            self.vault, op_id, lambda: add_key(self.vault, file, name, actor or self.actor, op_id, shown)
        )

    def remove_key(self, name: str, actor: Actor | None = None, op_id: OpId | None = None) -> Receipt:
        """Take a key off the list, as a signed operation. See ``service.human_keys``."""
        from gitmem.service.human_keys import remove_key

        return answer_again(self.vault, op_id, lambda: remove_key(self.vault, name, actor or self.actor, op_id))

    def find_adding(self, file: str, name: str | None = None) -> Adding:
        """Return what ``add_key`` would do, for a person to look at. Raises. See ``service.human_keys``."""
        from gitmem.service.human_keys import find_adding

        return find_adding(self.vault, file, name)

    def find_trusting(self) -> Trusting:
        """Return what ``trust_keys`` would trust, for a person to look at. Raises. See ``service.human_keys``."""
        from gitmem.service.human_keys import find_trusting

        return find_trusting(self.vault)

    def trust_keys(self, actor: Actor, wanted: Trusting) -> None:
        """Have this machine trust the keys of a vault, as a person. See ``service.human_keys``."""
        from gitmem.service.human_keys import trust_keys

        trust_keys(self.vault, actor, wanted)

    def verify(self, since: str | None = None, progress: Callable[[int], None] = lambda _done: None) -> Answer:
        """Return what history proves of who changed what only people may. See ``service.verify``."""
        from gitmem.service.verify import verify

        return report(lambda: verify(self.vault, since, progress))
