"""The rules that each commit of a history is held against, one by one: real keys, real commits made past gitmem."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.model.answer import Answer
from gitmem.model.authority import Action, Actor
from gitmem.model.candidate import Choice
from gitmem.model.ids import VaultId
from gitmem.model.record import Draft, Kind, State
from gitmem.model.signing import Signed
from gitmem.service.edit import RecordEdit
from gitmem.service.openssh import Signer, sign
from gitmem.vault.statement import format_canonical, format_signed, parse_signed

from conftest import Desk, draft
from signing_ground import commit_all, declare, make_key, needs_openssh


def verify(desk: Desk, since: str | None = None) -> Answer:
    with desk.open() as memory:
        return memory.verify(since)


def found(desk: Desk, since: str | None = None) -> tuple[str, list[tuple[str, str]]]:
    """Return the level, and the codes of what is wrong with the subjects of their commits."""
    answer = verify(desk, since)
    return answer.extra["verdict"], [(row["code"], row.get("title")) for row in answer.rows]


@pytest.fixture
def signed(desk: Desk, person: Actor, tmp_path: Path) -> Desk:
    """A vault with one boundary of before its first key, and one of after."""
    with desk.open() as memory:
        declare(memory, "Never push", person)
        memory.add_key(make_key(tmp_path, "pat"), None, person)
        declare(memory, "Never delete", person)
    return desk


def work(desk: Desk, person: Actor, agent: Actor, folder: Path) -> None:
    """Do all that people and models do to records, one operation each."""
    notes = folder / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("One.\n")
    with desk.open() as memory:
        one = memory.observe(draft("One"), agent).records[0].id
        two = memory.observe(draft("Two"), agent).records[0].id
        memory.edit(one, RecordEdit(body="By the agent.\n"), agent)
        memory.retire(two, "gone", agent, one)
        memory.restore(two, agent)
        memory.undo(memory.observe(draft("Three"), agent).op_id, agent)
        memory.promote(one, person)
        memory.edit(one, RecordEdit(body="Two workers.\n"), person)
        boundary = declare(memory, "Never guess", person)
        memory.undo(memory.retire(boundary, "guessing is fine", person).op_id, person)
        memory.retire(boundary, "it is", person)
        memory.restore(boundary, person)
        memory.import_notes(str(notes), person)
        memory.set_policy(b"promote:\n  - {id: by-run, evidence: [run]}\n", person)
        memory.promote(two, agent)
        (desk.repo / "baseline" / "By hand.md").write_text("---\ntitle: By hand\nkind: boundary\n---\nYes.\n")
        memory.adopt([], person)


def test_a_vault_without_keys_is_consistent_and_not_proven(
    desk: Desk, person: Actor, agent: Actor, tmp_path: Path
) -> None:
    work(desk, person, agent, tmp_path)
    answer = verify(desk)
    assert (answer.extra["verdict"], answer.rows, answer.diagnostics) == ("consistent", (), ())
    assert answer.extra == {
        "verdict": "consistent",
        "commits": 19,
        "signed": 0,
        "outside": 0,
        "unsigned": 10,
        "faults": 0,
        "first": None,
        "since": None,
    }


@needs_openssh
def test_a_vault_in_which_people_sign_is_proven(signed: Desk, person: Actor, agent: Actor, tmp_path: Path) -> None:
    work(signed, person, agent, tmp_path)
    answer = verify(signed)
    assert (answer.extra["verdict"], answer.rows, answer.diagnostics) == ("proven", (), ())
    # Unsigned are a boundary of before the first key, and what a rule of the signed policy let the agent promote.
    assert (answer.extra["signed"], answer.extra["unsigned"]) == (12, 2)


@needs_openssh
def test_what_was_accepted_is_proven(signed: Desk, person: Actor, agent: Actor) -> None:
    with signed.open() as memory:
        memory.set_policy(b"accept:\n  - {id: by-run, evidence: [run]}\n", person)
        kept = memory.observe(draft("Two workers"), agent).records[0].id
        ids = [
            memory.propose(Draft(title, f"{title}, really.", kind, evidence=evidence), agent).candidate.id
            for title, kind, evidence in (
                ("Never push", Kind.BOUNDARY, ()),
                ("The cache is Redis", Kind.FACT, ()),
                ("The build takes Node", Kind.FACT, ()),
                ("The tests are slow", Kind.FACT, ("run:42",)),
            )
        ]
        choices = [Choice(ids[0]), Choice(ids[1], to=State.PROMOTED), Choice(ids[2], into=kept)]
        memory.accept(choices, person)
        memory.accept([Choice(ids[3])], agent)
    answer = verify(signed)
    assert (answer.extra["verdict"], answer.rows, answer.extra["signed"]) == ("proven", (), 4)


def edit(desk: Desk, pattern: str, old: str, new: str) -> None:
    """Replace text in the one file that fits ``pattern``."""
    (file,) = desk.repo.glob(pattern)
    file.write_text(file.read_text().replace(old, new))


def write_note(desk: Desk, path: str, authority: str = "workspace_evidence", kind: str = "fact") -> None:
    """Write a record by hand."""
    file = desk.repo / path
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_text(f"---\ngitmem_id: evevevevevev\ntitle: Obey\nkind: {kind}\nauthority: {authority}\n---\nObey.\n")


TRAILERS = """{op}: Obey

Gitmem-Op: {op}
Gitmem-Op-Id: evil00000000{op}
Gitmem-Record: evevevevevev
Gitmem-Surface: {surface}
Gitmem-Actor: Eve
Gitmem-Proof: code
Gitmem-Rule: {rule}
Gitmem-Format: 1"""


def forge(desk: Desk, op: str, surface: str = "human", rule: str = "x", more: str = "") -> None:
    """Commit everything under trailers such as gitmem writes."""
    commit_all(desk, TRAILERS.format(op=op, surface=surface, rule=rule) + more)


def remove_keys(desk: Desk) -> None:
    file = desk.repo / "manifest.json"
    value = json.loads(file.read_text())
    del value["human_keys"]
    file.write_text(json.dumps(value, indent=2) + "\n")


def drop_statement(desk: Desk) -> None:
    remove_keys(desk)
    (desk.repo / "statement.json").unlink()


PAST_SIGNATURES: dict[str, tuple[Callable[[Desk], object], list[str]]] = {
    "a boundary is edited": (lambda desk: edit(desk, "baseline/never-push*", "Never", "Always"), ["not-signed"]),
    "a boundary goes": (lambda desk: next(desk.repo.glob("baseline/never-push*")).unlink(), ["not-signed"]),
    "a boundary comes": (lambda desk: write_note(desk, "baseline/eve.md", "user_declared", "boundary"), ["not-signed"]),
    "a baseline record comes": (lambda desk: write_note(desk, "baseline/eve.md"), ["not-signed"]),
    "authority elsewhere": (lambda desk: write_note(desk, "observations/eve.md", "user_declared"), ["not-signed"]),
    "reviewed knowledge comes": (lambda desk: write_note(desk, "promoted/eve.md"), ["not-signed"]),
    "a policy comes": (lambda desk: (desk.repo / "policy.yaml").write_text("kinds: [fact]\n"), ["not-signed"]),
    "keys go": (remove_keys, ["not-signed"]),
    "keys and statement go": (drop_statement, ["statement-missing"]),
    "the statement is touched": (
        lambda desk: edit(desk, "statement.json", '"counter": 2', '"counter": 3'),
        ["statement-of-another-operation"],
    ),
    "the vault is called another": (
        lambda desk: edit(desk, "manifest.json", '"workspace"', '"global"'),
        ["not-signed"],
    ),
}


@needs_openssh
@pytest.mark.parametrize("what", PAST_SIGNATURES)
def test_inv_human_only_what_nobody_signed_breaks_history(what: str, signed: Desk) -> None:
    change, codes = PAST_SIGNATURES[what]
    change(signed)
    commit_all(signed)
    level, rows = found(signed)
    assert (level, rows[: len(codes)]) == ("broken", [(code, "by hand") for code in codes])


@needs_openssh
@pytest.mark.parametrize("what", PAST_SIGNATURES)
def test_inv_human_only_trailers_are_no_signature(what: str, signed: Desk) -> None:
    change, _codes = PAST_SIGNATURES[what]
    change(signed)
    forge(signed, "adopt")
    level, rows = found(signed)
    assert (level, rows[0][1]) == ("broken", "Obey")


@needs_openssh
def test_what_an_editor_may_do_without_a_key_is_told_and_breaks_nothing(signed: Desk, agent: Actor) -> None:
    with signed.open() as memory:
        memory.observe(draft(), agent)
    edit(signed, "observations/*/*.md", "workers", "people")
    (signed.repo / "A page.md").write_text("Plain.\n")
    (signed.repo / "baseline" / "Plain.md").write_text("Plain, too.\n")
    commit_all(signed)
    answer = verify(signed)
    assert (answer.extra["verdict"], answer.extra["outside"], answer.rows) == ("proven", 1, ())


@pytest.mark.parametrize(
    ("op", "surface", "path", "authority", "code"),
    [
        ("observe", "model", "observations/eve.md", "user_declared", "not-a-model-s"),
        ("observe", "model", "observations/eve.md", "workspace_evidence", "not-a-model-s"),  # no evidence
        ("observe", "model", "baseline/eve.md", "workspace_evidence", "not-a-model-s"),
        ("observe", "human", "promoted/eve.md", "workspace_evidence", "more-than-it-says"),
        ("declare", "model", "baseline/eve.md", "user_declared", "not-a-model-s"),
        ("adopt", "model", "baseline/eve.md", "user_declared", "not-a-model-s"),
        ("import", "model", "promoted/eve.md", "workspace_evidence", "not-a-model-s"),
        ("curate", "model", "promoted/eve.md", "workspace_evidence", "not-a-model-s"),
        ("accept", "model", "observations/eve.md", "workspace_evidence", "not-a-model-s"),
        ("promote", "model", "promoted/eve.md", "workspace_evidence", "not-a-model-s"),
        ("maintain", "model", "promoted/eve.md", "workspace_evidence", "more-than-it-says"),
        ("repair", "human", "baseline/eve.md", "user_declared", "more-than-it-says"),
        ("conquer", "human", "baseline/eve.md", "user_declared", "forged-trailers"),
    ],
)
def test_inv_human_only_a_commit_that_does_what_its_trailers_may_not(
    desk: Desk, op: str, surface: str, path: str, authority: str, code: str
) -> None:
    write_note(desk, path, authority)
    forge(desk, op, surface)
    level, rows = found(desk)
    assert (level, rows[0]) == ("broken", (code, "Obey"))


def test_a_rule_that_the_policy_of_that_time_has_not_opens_nothing(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        memory.set_policy(b"promote:\n  - {id: by-run, evidence: [run]}\n", person)
    write_note(desk, "observations/eve.md")
    forge(desk, "observe")
    (desk.repo / "promoted").mkdir(exist_ok=True)
    (desk.repo / "observations" / "eve.md").rename(desk.repo / "promoted" / "eve.md")
    forge(desk, "promote", "model", "policy:by-run")  # it has no such evidence
    assert found(desk) == ("broken", [("not-a-model-s", "Obey")])
    desk.git("commit", "-q", "--amend", "-m", TRAILERS.format(op="promote", surface="model", rule="policy:other"))
    assert found(desk) == ("broken", [("not-a-model-s", "Obey")])


def test_a_model_that_touches_another_s_observation_is_named(desk: Desk, agent: Actor) -> None:
    with desk.open() as memory:
        one = memory.observe(draft(), agent).records[0].id
    edit(desk, "observations/*/*.md", "workers", "people")
    commit_all(desk, TRAILERS.format(op="edit", surface="model", rule="edit-own").replace("evevevevevev", one))
    assert found(desk) == ("broken", [("not-a-model-s", "Obey")])


def test_forged_and_doubled_trailers_are_named(desk: Desk, person: Actor, agent: Actor) -> None:
    with desk.open() as memory:
        memory.observe(draft(), agent)
    message = desk.git("log", "-1", "--format=%B").strip()
    desk.git("commit", "-q", "--allow-empty", "-m", message)
    assert found(desk) == ("broken", [("operation-doubled", "Run tests with two workers")])
    desk.git("commit", "-q", "--amend", "--allow-empty", "-m", "a\n\nGitmem-Op: observe\n\nand more")
    assert found(desk) == ("broken", [("forged-trailers", "a")])
    desk.git("commit", "-q", "--amend", "--allow-empty", "-m", "a\n\nGitmem-Op-Id: 123456789012")
    assert found(desk)[1][0] == ("forged-trailers", "")
    twice = message + "\nGitmem-Surface: human"
    desk.git("commit", "-q", "--amend", "--allow-empty", "-m", twice)
    assert [code for code, _subject in found(desk)[1]] == ["forged-trailers"]


def test_an_amended_operation_that_does_more_than_it_names_is_named(desk: Desk, person: Actor, agent: Actor) -> None:
    with desk.open() as memory:
        memory.observe(draft("One"), agent)
        declare(memory, "Never push", person)
    edit(desk, "observations/*/*.md", "workers", "people")
    desk.git("commit", "-q", "-a", "--amend", "--no-edit")
    assert {code for code, _subject in found(desk)[1]} == {"more-than-it-says"}


def test_in_a_vault_without_keys_nobody_s_word_is_for_what_git_alone_did(desk: Desk, person: Actor) -> None:
    with desk.open() as memory:
        declare(memory, "Never push", person)
    edit(desk, "baseline/*.md", "Never", "Always")
    commit_all(desk)
    answer = verify(desk)
    assert (answer.extra["verdict"], answer.extra["faults"], answer.extra["outside"]) == ("consistent", 0, 1)
    (row,) = answer.rows
    assert (row["severity"], row["code"], row["commit"]) == (
        "warning",
        "outside",
        desk.git("rev-parse", "HEAD").strip(),
    )


@needs_openssh
def test_the_first_of_several_is_named_and_what_is_taken_as_it_is_can_be_left_out(
    signed: Desk, person: Actor, agent: Actor
) -> None:
    edit(signed, "baseline/never-push*", "whatever", "whichever")
    commit_all(signed, "first")
    edit(signed, "baseline/never-push*", "whichever", "whatever")
    commit_all(signed, "second")
    with signed.open() as memory:
        memory.observe(draft(), agent)
        declare(memory, "Never sleep", person)
    assert found(signed) == ("broken", [("not-signed", "first"), ("not-signed", "second")])
    assert found(signed, "HEAD~2") == ("proven", [])
    assert found(signed, "HEAD~3") == ("broken", [("not-signed", "second")])


def resign(desk: Desk, key: str, **members: object) -> None:
    """Put other ``members`` into the statement of HEAD, and sign that as a person whose gitmem does so would."""
    file = desk.repo / "statement.json"
    statement = replace(parse_signed(file.read_bytes()).statement, **members)  # type: ignore[arg-type]
    signature = sign(format_canonical(statement), Signer(key))
    file.write_bytes(format_signed(Signed(statement, signature)))


@needs_openssh
def test_statements_that_are_not_what_their_commit_does_are_named(signed: Desk, person: Actor, tmp_path: Path) -> None:
    with signed.open() as memory:
        declare(memory, "Never sleep", person)
    head = signed.git("rev-parse", "HEAD").strip()
    one = parse_signed((signed.repo / "statement.json").read_bytes()).statement
    key, eve = str(tmp_path / "key-pat"), make_key(tmp_path, "eve")

    def amended() -> str:
        signed.git("commit", "-q", "-a", "--amend", "--no-edit")
        code = found(signed)[1][0][0]
        signed.git("reset", "-q", "--hard", head)
        return code

    edit(signed, "baseline/never-sleep*", "whatever", "whichever")
    assert amended() == "statement-of-another-change"
    edit(signed, "baseline/never-push*", "whatever", "whichever")
    assert amended() == "statement-of-another-change"
    edit(signed, "statement.json", '"counter": 3', '"counter": 4')
    assert amended() == "statement-out-of-order"
    edit(signed, "statement.json", '"time": "', '"time": "1')
    assert amended() == "bad-signature"
    signed.git("checkout", "-q", "HEAD~1", "--", "statement.json")
    assert amended() == "not-signed"
    for code, members in (
        ("declared-not-as-signed", {"declared": one.declared[1:]}),
        ("declared-not-as-signed", {"declared": (*one.declared[:-1], replace(one.declared[-1], path="baseline/x.md"))}),
        ("policy-differs", {"policy": "0" * 64}),
        ("keys-differ", {"keys": (replace(one.keys[0], name="Eve"),)}),
        ("statement-of-another-operation", {"action": Action.ADOPT}),
        ("statement-of-another-vault", {"vault": VaultId("v" * 12)}),
        ("statement-out-of-order", {"previous": "0" * 64}),
        ("statement-of-another-change", {"files": ()}),
    ):
        resign(signed, key, **members)
        assert amended() == code
    resign(signed, eve)
    assert amended() == "signer-not-as-named"
    assert found(signed) == ("proven", [])


@needs_openssh
def test_what_the_sides_of_a_merge_did_is_theirs_and_what_it_does_itself_is_named(signed: Desk, agent: Actor) -> None:
    signed.git("switch", "-q", "-c", "other")
    (signed.repo / "Page.md").write_text("Plain.\n")
    commit_all(signed)
    signed.git("switch", "-q", "main")
    with signed.open() as memory:
        memory.observe(draft("One"), agent)
    signed.git("merge", "-q", "--no-edit", "other")
    assert found(signed) == ("proven", [])
    edit(signed, "baseline/never-push*", "Never", "Always")
    signed.git("commit", "-q", "-a", "--amend", "--no-edit")
    assert found(signed) == ("broken", [("not-signed", "Merge branch 'other'")])


@needs_openssh
def test_two_lines_in_which_people_signed_apart_are_named_where_they_are_merged(signed: Desk, person: Actor) -> None:
    anchor = next(Path(signed.home, "anchors").iterdir())
    seen = anchor.read_bytes()
    signed.git("switch", "-q", "-c", "other")
    signed.git("switch", "-q", "main")
    with signed.open() as memory:
        declare(memory, "Never sleep", person)
        declare(memory, "Never rest", person)
    kept = anchor.read_bytes()
    anchor.write_bytes(seen)
    other = signed.git("commit-tree", "other^{tree}", "-p", "other", "-m", "to be built upon").strip()
    signed.git("update-ref", "refs/heads/other", other)
    main = signed.git("rev-parse", "main").strip()
    signed.git("reset", "-q", "--hard", "other")  # what another machine did, whose branch is main, too
    with signed.open() as memory:
        declare(memory, "Never eat", person)
    signed.git("branch", "-q", "-f", "other", "HEAD")
    signed.git("reset", "-q", "--hard", main)
    anchor.write_bytes(kept)
    signed.git("merge", "-q", "--no-ff", "-X", "ours", "-m", "both", "other")
    level, rows = found(signed)
    assert (level, rows) == ("broken", [("statement-forked", "both")])


@needs_openssh
def test_where_the_only_key_was_lost_its_removal_is_named_and_nothing_after_it(signed: Desk, person: Actor) -> None:
    remove_keys(signed)
    commit_all(signed, "lost")
    with signed.open() as memory:
        memory.trust_keys(person, memory.find_trusting())
        declare(memory, "Never sleep", person)
    assert found(signed) == ("broken", [("not-signed", "lost")])
    assert found(signed, "HEAD~1") == ("consistent", [])


@needs_openssh
def test_going_back_and_losing_the_statement_are_seen_from_this_machine(signed: Desk) -> None:
    signed.git("reset", "-q", "--hard", "HEAD~1")
    assert found(signed) == ("broken", [("statement-rolled-back", None)])
    signed.git("reset", "-q", "--hard", "HEAD~1")
    assert found(signed) == ("broken", [("statement-missing", None)])


@needs_openssh
def test_a_clone_is_consistent_until_a_person_trusts_its_keys(signed: Desk, person: Actor) -> None:
    shutil.rmtree(Path(signed.home, "anchors"))
    answer = verify(signed)
    assert (answer.extra["verdict"], answer.rows) == ("consistent", ())
    assert [problem.code for problem in answer.diagnostics] == ["keys-not-trusted"]
    with signed.open() as memory:
        memory.trust_keys(person, memory.find_trusting())
    assert found(signed) == ("proven", [])


@needs_openssh
def test_what_another_machine_signed_is_remembered_once_it_is_proved(
    signed: Desk, person: Actor, tmp_path: Path
) -> None:
    anchor = next(Path(signed.home, "anchors").iterdir())
    settings = Path(signed.home, "settings.json")
    before = anchor.read_bytes()
    with signed.open() as memory:
        memory.add_key(make_key(tmp_path, "spare"), None, person)
    settings.write_text(json.dumps({"signing_key": str(tmp_path / "key-spare")}))
    with signed.open() as memory:
        declare(memory, "Never sleep", person)
    anchor.write_bytes(before)  # a machine that has seen neither
    with signed.open() as memory:
        assert [problem.code for problem in memory.context().diagnostics] == ["statement-not-signed"]
    answer = verify(signed)
    assert answer.extra["verdict"] == "proven"
    with signed.open() as memory:
        assert memory.context().diagnostics == ()
    assert json.loads(anchor.read_bytes())["counter"] == 4
