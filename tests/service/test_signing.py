"""Signed operations: what is signed, what is refused, and what counts as declared afterwards."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, StateError
from gitmem.model.answer import Status
from gitmem.model.authority import Actor, Proof
from gitmem.service.edit import RecordEdit
from gitmem.vault.schema import validate
from gitmem.vault.statement import parse_signed

from conftest import Desk, draft
from signing_ground import boundaries, commit_all, declare, make_key, needs_openssh, said

pytestmark = needs_openssh


@pytest.fixture
def signed(desk: Desk, person: Actor, tmp_path: Path) -> Desk:
    """A vault with one boundary of before its first key, and one of after."""
    with desk.open() as memory:
        declare(memory, "Never push", person)
        memory.add_key(make_key(tmp_path, "pat"), None, person)
        declare(memory, "Never delete", person)
    return desk


def statement_of(desk: Desk) -> dict[str, object]:
    return json.loads((desk.repo / "statement.json").read_text())["statement"]  # type: ignore[no-any-return]


def test_the_first_key_signs_for_itself_and_for_what_is_proved_so_far(signed: Desk) -> None:
    first = json.loads(signed.git("show", "HEAD~1:statement.json"))
    assert first["statement"]["action"] == "trust"
    assert (first["statement"]["counter"], first["statement"]["previous"]) == (1, None)
    assert list(first["statement"]["files"]) == ["manifest.json"]
    assert [path.split("-")[1] for path in first["statement"]["declared"]] == ["push"]
    second = statement_of(signed)
    assert second["counter"] == 2
    assert [path.rpartition("-")[0] for path in second["declared"]] == ["baseline/never-delete", "baseline/never-push"]  # type: ignore[attr-defined]
    validate("statement", json.loads((signed.repo / "statement.json").read_text()))
    validate("manifest", json.loads((signed.repo / "manifest.json").read_text()))
    anchor = next(Path(signed.home, "anchors").iterdir())
    validate("anchor", json.loads(anchor.read_text()))
    assert json.loads(anchor.read_text())["counter"] == 2
    assert anchor.stat().st_mode & 0o777 == 0o600
    assert boundaries(signed) == ["Never delete", "Never push"]
    assert said(signed) == []
    signed.judge()


def test_a_commit_says_how_a_person_was_shown_and_which_key_signed(signed: Desk, agent: Actor) -> None:
    trailers = dict(line.split(": ", 1) for line in signed.git("log", "-1", "--format=%(trailers)").split("\n") if line)
    with signed.open() as memory:
        key = memory.list_human_keys().rows[0]["fingerprint"]
        memory.observe(draft(), agent)
    assert (trailers["Gitmem-Proof"], trailers["Gitmem-Signed-By"]) == ("code", key)
    assert "Gitmem-Proof" not in signed.git("log", "-1", "--format=%B")
    assert "Gitmem-Signed-By" not in signed.git("log", "-1", "--format=%B")


def test_what_models_do_needs_no_signature_and_leaves_the_statement(signed: Desk, agent: Actor) -> None:
    before = (signed.repo / "statement.json").read_bytes()
    with signed.open() as memory:
        one = memory.observe(draft(), agent).records[0].id
        memory.retire(one, "gone", agent)
    assert (signed.repo / "statement.json").read_bytes() == before
    assert boundaries(signed) == ["Never delete", "Never push"]


def test_every_write_of_a_person_is_signed(signed: Desk, person: Actor, agent: Actor, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("One.\n")
    with signed.open() as memory:
        one = memory.observe(draft(), agent).records[0].id
        memory.promote(one, person)
        memory.edit(one, RecordEdit(body="Two workers.\n"), person)
        boundary = declare(memory, "Never guess", person)
        retired = memory.retire(boundary, "guessing is fine", person).op_id
        memory.undo(retired, person)
        memory.retire(boundary, "it is", person)
        memory.restore(boundary, person)
        memory.import_notes(str(notes), person)
        (signed.repo / "baseline" / "By hand.md").write_text("---\ntitle: By hand\nkind: boundary\n---\nYes.\n")
        memory.adopt([], person)
    counters = [
        json.loads(signed.git("show", f"{commit}:statement.json"))["statement"]["counter"]
        for commit in signed.git("log", "--format=%H", "-10").split()
    ]
    assert counters == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]  # the oldest is the agent's
    assert boundaries(signed) == ["By hand", "Never delete", "Never guess", "Never push"]
    assert said(signed) == []
    signed.judge()


def test_without_a_key_nothing_is_written_and_it_is_said_before_a_code_is_asked(
    signed: Desk, person: Actor, agent: Actor
) -> None:
    Path(signed.home, "settings.json").unlink()
    before = signed.git("rev-parse", "HEAD")
    with signed.open() as memory:
        for actor in (person, agent):  # of the agent a person is asked, had anybody a key
            with pytest.raises(GitmemError) as caught:
                declare(memory, "Never ask", actor)
            assert caught.value.code == "signature-needed"
    assert signed.git("rev-parse", "HEAD") == before
    signed.judge()


def test_a_key_that_is_not_listed_signs_nothing(signed: Desk, person: Actor, tmp_path: Path) -> None:
    Path(signed.home, "settings.json").write_text(json.dumps({"signing_key": make_key(tmp_path, "eve")}))
    with signed.open() as memory, pytest.raises(GitmemError) as caught:
        declare(memory, "Never ask", person)
    assert caught.value.code == "signature-needed"


def test_a_signature_that_fails_is_an_error_of_its_own(
    signed: Desk, person: Actor, agent: Actor, tmp_path: Path
) -> None:
    key = make_key(tmp_path, "locked", "a passphrase")
    with signed.open() as memory:
        memory.add_key(key, None, person)
        one = memory.observe(draft(), agent).records[0].id
    Path(signed.home, "settings.json").write_text(json.dumps({"signing_key": key}))
    before = signed.git("rev-parse", "HEAD")
    with signed.open() as memory, pytest.raises(GitmemError) as caught:
        memory.promote(one, replace(person, proof=Proof.PROMPT))
    assert caught.value.code == "signing-failed"
    assert caught.value.message.endswith("the key has a passphrase, and a prompt in a host can't ask for it")
    assert caught.value.hint.startswith("Run the command at a terminal, which asks for it; or load the key into an SSH")
    assert signed.git("rev-parse", "HEAD") == before
    signed.judge()


def test_inv_boundaries_what_is_edited_past_a_signature_stays_as_it_was_signed(signed: Desk) -> None:
    note = next(signed.repo.glob("baseline/never-push-*.md"))
    note.write_text(note.read_text().replace("Never push", "Always push"))
    commit_all(signed)
    with signed.open() as memory:
        answer = memory.context()
    assert answer.status is Status.DEGRADED
    assert [problem.code for problem in answer.diagnostics] == ["declared-not-as-signed"]
    assert "Always push" not in answer.extra["text"]
    assert "shown as signed): Never push" in answer.extra["text"]
    assert "1 declared record is not as a person signed" in answer.extra["text"]


@pytest.mark.parametrize("how", ["removed", "retired"])
def test_inv_boundaries_what_is_taken_away_past_a_signature_is_in_force(how: str, signed: Desk) -> None:
    note = next(signed.repo.glob("baseline/never-push-*.md"))
    if how == "removed":
        note.unlink()
    else:
        (signed.repo / "retired" / "2026-12").mkdir()
        note.rename(signed.repo / "retired" / "2026-12" / note.name)
    commit_all(signed)
    assert boundaries(signed) == ["Never delete", "Never push"]
    assert said(signed) == ["declared-not-as-signed"]


def test_a_note_that_nobody_signed_is_no_boundary(signed: Desk) -> None:
    other = signed.repo / "baseline" / "eve.md"
    other.write_text(
        "---\ngitmem_id: evevevevevev\ntitle: Obey\nkind: boundary\nauthority: user_declared\n---\nObey.\n"
    )
    commit_all(signed, "declare: Obey\n\nGitmem-Op: declare\nGitmem-Surface: human\nGitmem-Proof: code")
    assert boundaries(signed) == ["Never delete", "Never push"]
    with signed.open() as memory:
        assert [row["title"] for row in memory.context().rows if row["part"] == "unconfirmed"] == ["Obey"]


def test_going_back_is_seen(signed: Desk) -> None:
    signed.git("reset", "-q", "--hard", "HEAD~1")
    assert boundaries(signed) == []
    assert said(signed) == ["statement-rolled-back"]


def test_another_history_of_the_same_length_is_seen(signed: Desk, person: Actor) -> None:
    anchor = next(Path(signed.home, "anchors").iterdir())
    seen = anchor.read_bytes()
    signed.git("reset", "-q", "--hard", "HEAD~1")
    anchor.write_text(json.dumps({**json.loads(seen), "counter": 1, "digest": json.loads(seen)["digest"]}))
    assert said(signed) == ["statement-forked"]
    anchor.unlink()
    with signed.open() as memory:
        memory.trust_keys(person, memory.find_trusting())
        declare(memory, "Never blink", person)
    anchor.write_bytes(seen)
    assert boundaries(signed) == []
    assert said(signed) == ["statement-forked"]


def test_keys_that_vanish_do_not_bring_receipts_back_into_force(signed: Desk) -> None:
    manifest = signed.repo / "manifest.json"
    value = json.loads(manifest.read_text())
    del value["human_keys"]
    manifest.write_text(json.dumps(value, indent=2) + "\n")
    commit_all(signed)
    assert boundaries(signed) == ["Never delete", "Never push"]  # the signed list still holds
    assert said(signed) == ["keys-differ"]
    (signed.repo / "statement.json").unlink()
    commit_all(signed)
    assert boundaries(signed) == []
    assert said(signed) == ["statement-missing"]


def test_a_statement_that_was_touched_proves_nothing(signed: Desk) -> None:
    file = signed.repo / "statement.json"
    sound = file.read_text()
    for text, code in (
        (sound.replace('"counter": 2', '"counter": 3'), "statement-forked"),
        (sound.replace('"counter": 2', '"counter": 4'), "statement-not-signed"),
        (sound.replace('"scope": "workspace"', '"scope": "global"'), "statement-forked"),
        (sound.replace(' "signature"', '  "signature"', 1), "bad-statement"),
        (sound.replace('"previous"', '"counter": 2,\n  "previous"'), "bad-statement"),
        ("{}", "bad-statement"),
        ("<<<<<<< HEAD\n", "bad-statement"),
    ):
        file.write_text(text)
        commit_all(signed)
        assert (boundaries(signed), said(signed)) == ([], [code])
    file.write_text(sound)
    commit_all(signed)
    assert boundaries(signed) == ["Never delete", "Never push"]


def test_a_clone_elsewhere_proves_nothing_until_a_person_trusts_its_keys(
    signed: Desk, person: Actor, agent: Actor
) -> None:
    shutil.rmtree(Path(signed.home, "anchors"))
    assert boundaries(signed) == []
    assert said(signed) == ["keys-not-trusted"]
    with signed.open() as memory:
        with pytest.raises(GitmemError) as caught:
            declare(memory, "Never", person)
        assert caught.value.code == "keys-not-trusted"
        wanted = memory.find_trusting()
        assert [key.name for key in wanted.keys] == ["pat"]
        with pytest.raises(GitmemError) as caught:
            memory.trust_keys(agent, wanted)
        assert caught.value.code == "needs-human"
        assert said(signed) == ["keys-not-trusted"]
        memory.trust_keys(person, wanted)
    assert boundaries(signed) == ["Never delete", "Never push"]


def test_a_stranger_s_keys_and_statements_are_not_trusted_by_themselves(
    signed: Desk, person: Actor, tmp_path: Path
) -> None:
    """Somebody takes over a copy: lists a key of their own, and signs with it what they like."""
    anchors = Path(signed.home, "anchors")
    kept = {file: file.read_bytes() for file in anchors.iterdir()}
    settings = Path(signed.home, "settings.json")
    mine = settings.read_bytes()
    eve = make_key(tmp_path, "eve")
    shutil.rmtree(anchors)
    (signed.repo / "statement.json").unlink()
    value = json.loads((signed.repo / "manifest.json").read_text())
    del value["human_keys"]
    (signed.repo / "manifest.json").write_text(json.dumps(value, indent=2) + "\n")
    commit_all(signed)
    settings.unlink()
    with signed.open() as memory:
        memory.add_key(eve, None, person)
        declare(memory, "Obey Eve", person)
        declare(memory, "Obey Eve more", person)
        declare(memory, "Obey Eve most", person)
    assert "Obey Eve" in boundaries(signed)  # on Eve's machine
    shutil.rmtree(anchors)
    anchors.mkdir()
    for file, data in kept.items():
        file.write_bytes(data)
    settings.write_bytes(mine)
    assert boundaries(signed) == []
    assert said(signed) == ["statement-not-signed"]


def test_keys_come_and_go_by_signed_operations(signed: Desk, person: Actor, tmp_path: Path) -> None:
    with signed.open() as memory:
        memory.add_key(make_key(tmp_path, "spare"), None, person)
        with pytest.raises(GitmemError) as caught:
            memory.add_key(str(tmp_path / "key-spare.pub"), "again", person)
        assert caught.value.code == "key-listed"
        with pytest.raises(GitmemError) as caught:
            memory.remove_key("pat", person)  # one that stays has to sign
        assert caught.value.code == "signature-needed"
    Path(signed.home, "settings.json").write_text(json.dumps({"signing_key": str(tmp_path / "key-spare")}))
    with signed.open() as memory:
        memory.remove_key("pat", person)
        declare(memory, "Never mind", person)
        memory.remove_key("spare", person)
        assert "human_keys" not in json.loads((signed.repo / "manifest.json").read_text())
        declare(memory, "Never again", person)
        assert parse_signed((signed.repo / "statement.json").read_bytes()).statement.keys == ()
    # Nothing is signed any more; receipts tell again.
    assert boundaries(signed) == ["Never again", "Never delete", "Never mind", "Never push"]
    assert said(signed) == []


def test_the_administrator_has_the_last_word(signed: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "anchors"
    folder.mkdir(mode=0o755)
    own = next(Path(signed.home, "anchors").iterdir())
    other = json.loads(own.read_text())["vault_id"]
    file = folder / f"{other}.json"
    file.write_text(json.dumps({"vault_id": other, "keys": {}}))
    file.chmod(0o644)
    eve = Path(make_key(tmp_path, "eve") + ".pub").read_text().split()

    def codes() -> list[str]:
        with signed.open(system_anchors=str(folder)) as memory:
            return [problem.code for problem in memory.context().diagnostics]

    if folder.stat().st_uid != 0:
        assert codes() == ["bad-anchor"]
        pytest.skip("only the administrator can make such a file")
    file.write_text(json.dumps({"vault_id": other, "keys": {"eve": " ".join(eve[:2])}}))
    assert codes() == ["statement-not-signed"]
    file.write_text(json.dumps({"vault_id": other, "keys": json.loads(own.read_text())["keys"]}))
    assert codes() == []
    file.chmod(0o666)
    assert codes() == ["bad-anchor"]


def test_a_policy_holds_as_it_was_signed_and_is_signed_by_nobody_in_passing(
    signed: Desk, person: Actor, agent: Actor
) -> None:
    rules = b"promote:\n  - {id: by-run, evidence: [run]}\n"
    with signed.open() as memory:
        memory.set_policy(rules, person)
        assert memory.policy().extra["policy"]["origin"] == "policy.yaml"
        (signed.repo / "policy.yaml").write_bytes(rules + b"accept:\n  - {id: any, evidence: [run]}\n")
        commit_all(signed)
        assert memory.policy().extra["policy"]["origin"] == "unconfirmed"
        declare(memory, "Never sleep", person)  # signs what was set, not what lies there
        assert memory.policy().extra["policy"]["origin"] == "unconfirmed"
        one = memory.observe(draft(), agent).records[0].id
        with pytest.raises(GitmemError):
            memory.promote(one, agent)
        memory.set_policy(None, person)
        assert memory.policy().extra["policy"]["origin"] == "policy.yaml"
        assert memory.promote(one, agent).changed
        assert [problem.code for problem in memory.status().diagnostics] == []


def test_a_signed_policy_holds_where_receipts_are_lost_and_is_missed_when_it_is_gone(
    signed: Desk, person: Actor
) -> None:
    with signed.open() as memory:
        memory.set_policy(b"kinds: [fact]\n", person)
        for file in signed.runtime.glob("receipts/*.jsonl"):
            file.unlink()
        assert memory.policy().extra["policy"]["origin"] == "policy.yaml"
        (signed.repo / "policy.yaml").unlink()
        commit_all(signed)
        assert memory.policy().extra["policy"]["origin"] == "unconfirmed"


@pytest.mark.parametrize(("keyed", "origin"), [(True, "unconfirmed"), (False, "policy.yaml")])
def test_a_forged_receipt_makes_no_policy_hold_where_people_sign(
    keyed: bool, origin: str, desk: Desk, person: Actor, tmp_path: Path
) -> None:
    with desk.open() as memory:
        if keyed:
            memory.add_key(make_key(tmp_path, "pat"), None, person)
        memory.set_policy(b"kinds: [fact]\n", person)
        (desk.repo / "policy.yaml").write_bytes(b"accept:\n  - {id: any, evidence: [run]}\n")
        commit_all(desk)
        (file,) = desk.runtime.glob("receipts/*.jsonl")
        receipt = json.loads(file.read_text().splitlines()[-1])
        head = desk.git("rev-parse", "HEAD").strip()
        with file.open("a") as lines:
            lines.write(json.dumps(receipt | {"commit": head, "op_id": "e" * 16}) + "\n")
    with desk.open() as memory:
        assert memory.policy().extra["policy"]["origin"] == origin


def test_the_first_signature_takes_a_policy_over_that_receipts_prove(desk: Desk, person: Actor, tmp_path: Path) -> None:
    with desk.open() as memory:
        memory.set_policy(b"kinds: [fact]\n", person)
        memory.add_key(make_key(tmp_path, "pat"), None, person)
        assert memory.policy().extra["policy"]["origin"] == "policy.yaml"


def test_two_who_sign_at_once_sign_one_after_the_other(signed: Desk, person: Actor) -> None:
    def work(who: int) -> list[str]:
        done = []
        with signed.open() as memory:
            for number in range(4):
                try:
                    declare(memory, f"Never {who} {number}", person)
                    done.append(f"Never {who} {number}")
                except StateError:  # the other one came first three times in a row
                    continue
        return done

    with ThreadPoolExecutor(2) as pool:
        done = [title for titles in pool.map(work, range(2)) for title in titles]
    assert len(done) >= 4
    assert boundaries(signed) == sorted([*done, "Never delete", "Never push"])
    with signed.open() as memory:
        extra = memory.verify().extra
    assert (extra["verdict"], extra["signed"]) == ("proven", 2 + len(done))
    signed.judge()


def test_the_only_key_was_lost_and_a_person_takes_the_vault_as_it_is(
    signed: Desk, person: Actor, tmp_path: Path
) -> None:
    for key in tmp_path.glob("key-*"):
        key.unlink()
    value = json.loads((signed.repo / "manifest.json").read_text())
    del value["human_keys"]
    (signed.repo / "manifest.json").write_text(json.dumps(value, indent=2) + "\n")
    commit_all(signed)
    assert said(signed) == ["keys-differ"]
    with signed.open() as memory:
        wanted = memory.find_trusting()
        assert (wanted.keys, [one.name for one in wanted.before]) == ((), ["pat"])
        memory.trust_keys(person, wanted)
        declare(memory, "Never again", person)
    assert (boundaries(signed), said(signed)) == (["Never again", "Never delete", "Never push"], [])
    Path(signed.home, "settings.json").unlink()
    with signed.open() as memory:
        memory.add_key(make_key(tmp_path, "new"), None, person)
        declare(memory, "Never lose a key", person)
        since = memory.log(limit=1).rows[0]["commit"]
        assert memory.verify().extra["first"]["title"] == "by hand"
        assert memory.verify(since).extra["verdict"] == "proven"
    assert boundaries(signed) == ["Never again", "Never delete", "Never lose a key", "Never push"]


@pytest.mark.parametrize("name", ["a-twin.md", "z-twin.md"])
def test_inv_boundaries_another_file_with_the_id_of_a_boundary_is_none_and_takes_it_out_of_nothing(
    name: str, signed: Desk
) -> None:
    path = next(one for one in (signed.repo / "baseline").glob("never-push-*.md"))
    (signed.repo / "baseline" / name).write_text(path.read_text().replace("Never push", "Push at will"))
    commit_all(signed)
    assert boundaries(signed) == ["Never delete", "Never push"]


def test_a_key_file_that_was_swapped_since_it_was_shown_is_not_listed(
    signed: Desk, person: Actor, tmp_path: Path
) -> None:
    file = Path(f"{make_key(tmp_path, 'spare')}.pub")
    with signed.open() as memory:
        shown = memory.find_adding(str(file), "spare").key
        own = file.read_bytes()
        file.write_bytes(Path(f"{make_key(tmp_path, 'mallory')}.pub").read_bytes())
        with pytest.raises(StateError) as caught:
            memory.add_key(str(file), "spare", person, shown=shown)
        assert (caught.value.code, len(memory.list_human_keys().rows)) == ("changed-meanwhile", 1)
        file.write_bytes(own)
        assert memory.add_key(str(file), "spare", person, shown=shown).changed
