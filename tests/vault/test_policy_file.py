"""policy.yaml: read strictly, with the line of what is wrong, and never taken for more than its schema admits."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import InputError
from gitmem.model.authority import Action
from gitmem.model.policy import MAX_FILE_BYTES, Bounds, EvidenceRule, Origin, Policy
from gitmem.model.record import Kind
from gitmem.vault.policy_file import check_policy_schema, default_policy, parse_policy
from gitmem.vault.schema import validate

WHOLE = """\
# Everything.
model_may: [propose, observe]
kinds:
  - fact
  - finding   # both
namespaces: [Tool, "client"]
evidence: [run]
bounds:
  observations_per_session: 3
  body_chars: 500
accept:
  - id: seen-twice
    kinds: [fact]
    tags: [tool/pytest]
    evidence: [run, commit]
    sessions: 2
promote: [{id: p, evidence: [commit]}]
"""


def test_every_member_is_read_and_what_is_left_out_is_as_in_the_defaults() -> None:
    assert parse_policy(WHOLE.encode()) == Policy(
        bounds=Bounds(observations_per_session=3, body_chars=500),
        kinds=frozenset({Kind.FACT, Kind.FINDING}),
        namespaces=("tool", "client"),
        evidence=("run",),
        model_may=frozenset({Action.PROPOSE, Action.OBSERVE}),
        accept=(EvidenceRule("seen-twice", (Kind.FACT,), ("tool/pytest",), ("run", "commit"), 2),),
        promote=(EvidenceRule("p", evidence=("commit",)),),
        origin=Origin.FILE,
    )


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeff", "{}", "bounds: {}\n", "---\nkinds: [fact]\n", WHOLE])
def test_sound_files_are_read_in_any_form(text: str) -> None:
    for data in (text.encode(), text.replace("\n", "\r\n").encode()):
        assert parse_policy(data).origin is Origin.FILE
        check_policy_schema(data)


def test_the_default_file_says_what_holds_without_one() -> None:
    assert parse_policy(default_policy()) == Policy(origin=Origin.FILE)
    check_policy_schema(default_policy())
    commented = default_policy().decode()
    rule = commented[commented.index("# accept:") : commented.index("# What is promoted")].replace("\n# ", "\n")[2:]
    assert parse_policy(rule.encode()).accept[0].id == "seen-in-three-sessions"


BAD: list[tuple[str, int | None, str]] = [
    ("a: [", 1, "expected the node content, but found '<stream end>'"),
    ("kinds: [fact]\nkinds: [task]\n", 2, "the property 'kinds' occurs twice"),
    ("kinds: &k [fact]\n", 1, "YAML anchors and aliases are not read; write the value out"),
    ("kinds: !!set [fact]\n", 1, "YAML tags (!…) are not read; quote the value"),
    ("- kinds\n", 1, "the file is not a set of properties"),
    ("kinds: [fact]\n---\nkinds: [task]\n", 2, "more than one YAML document in the file"),
    ("kinds: [\x07]\n", 1, "the file holds the control character '\\x07'"),
    ("# x\nbonds:\n  x: 1\n", 2, "'bonds' means nothing here; did you mean bounds?"),
    (
        "zzz: 1\n",
        1,
        "'zzz' means nothing here; it takes model_may, kinds, namespaces, evidence, bounds, accept, promote",
    ),
    ("bounds: 7\n", 1, "bounds is made of names and values, each on a line of its own"),
    ("bounds:\n", 1, "bounds is made of names and values, each on a line of its own"),
    ("bounds:\n  # x\n  observations_per_days: 1\n", 3, "'observations_per_days' means nothing here; did you mean "),
    ("bounds:\n  observations_per_day: -1\n", 2, "observations_per_day is a whole number from 0 to 1000000"),
    ("bounds:\n  observations_per_day: true\n", 2, "observations_per_day is a whole number from 0 to 1000000"),
    ("bounds:\n  observations_per_day: 1.5\n", 2, "observations_per_day is a whole number from 0 to 1000000"),
    ("bounds:\n  observations_per_day: '5'\n", 2, "observations_per_day is a whole number from 0 to 1000000"),
    ("bounds:\n  observations_per_day: many\n", 2, "observations_per_day is a whole number from 0 to 1000000"),
    ("bounds:\n  candidate_days: 0\n", 2, "candidate_days is a whole number from 1 to 3650"),
    ("kinds: fact\n", 1, "kinds is a list: [one, two], or one a line behind -"),
    ("kinds: []\n", 1, "kinds has 0 items; it takes 1 to 64"),
    ("kinds:\n  - fact\n  - boundary\n", 3, "'boundary' can't stand in kinds; it takes convention, decision, episode"),
    ("kinds: [fact, fact]\n", 1, "kinds names 'fact' twice"),
    ("kinds: [1]\n", 1, "kinds is a list of words; quote what only looks like something else"),
    ("kinds: [null]\n", 1, "kinds is a list of words; quote what only looks like something else"),
    ("model_may: [observe, declare]\n", 1, "'declare' can't stand in model_may; it takes curate, edit, import, "),
    ("model_may: [promote]\n", 1, "'promote' can't stand in model_may; it takes curate, edit, import, "),
    ("model_may: [policy]\n", 1, "'policy' can't stand in model_may; it takes curate, edit, import, "),
    ("namespaces: [tool/x]\n", 1, "'tool/x' in namespaces is no first part of a tag"),
    ("namespaces: ['']\n", 1, "'' in namespaces is no first part of a tag"),
    ("evidence: []\n", 1, "evidence has 0 items; it takes 1 to 64"),
    ("evidence: [hearsay]\n", 1, "'hearsay' can't stand in evidence; it takes commit, file, run, url"),
    ("accept:\n  - evidence: [run]\n", 2, "a rule of accept needs id"),
    ("promote:\n  - id: p\n", 2, "a rule of promote needs evidence"),
    ("accept: [x]\n", 1, "a rule of accept is made of names and values, each on a line of its own"),
    ("accept: [{id: A, evidence: [run]}]\n", 1, "an id is made of small letters, digits and -, at most 64; quote a n"),
    ("accept: [{id: 7, evidence: [run]}]\n", 1, "an id is made of small letters, digits and -, at most 64; quote a n"),
    ("accept: [{id: a, evidence: [run], kinds: [goal]}]\n", 1, "'goal' can't stand in kinds; it takes convention, "),
    ("accept: [{id: a, evidence: [run], tags: [a//b]}]\n", 1, "'a//b' in tags is no tag"),
    ("accept: [{id: a, evidence: [run], sessions: 0}]\n", 1, "sessions is a whole number from 1 to 32"),
    (
        "accept: [{id: a, evidence: [run], to: promoted}]\n",
        1,
        "'to' means nothing here; it takes id, kinds, tags, evid",
    ),
    ("accept: [{id: a, evidence: [run]}]\npromote: [{id: a, evidence: [run]}]\n", 2, "the id a occurs twice"),
    ("namespaces: [\u202ex]\n", 1, "'\\u202ex' in namespaces is no first part of a tag"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int | None, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_policy(text.encode())

    assert (caught.value.code, caught.value.fields) == ("bad-policy", {"line": line})
    assert caught.value.message.startswith(f"policy.yaml, line {line}: {message}")
    assert caught.value.message.isprintable()
    assert caught.value.hint == "See docs/policy.md for what may stand there; `gitmem policy check` tries the file."


def test_a_file_that_is_no_text_or_too_large_is_refused() -> None:
    for data, message in (
        (b"kinds: [fact]\n# \xff\n", "policy.yaml, line 2: the file is not UTF-8"),
        (b"#" * (MAX_FILE_BYTES + 1), "policy.yaml: the file is larger than 64 KiB"),
    ):
        with pytest.raises(InputError) as caught:
            parse_policy(data)
        assert (caught.value.code, caught.value.message) == ("bad-policy", message)


def test_depth_and_number_of_values_are_bounded() -> None:
    for text in ("kinds: " + "[" * 200 + "]" * 200, "kinds: [" + "x, " * 5000 + "]", "accept: [" + "{}, " * 65 + "]"):
        with pytest.raises(InputError) as caught:
            parse_policy(text.encode())
        assert caught.value.code == "bad-policy"


ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 7, 2_000_000, 1.5, "", "x", "fact", "run", [], {}, ["fact"], ["run"], ["observe"]),
    *(["declare"], ["fact", "fact"], [1], ["tool"], ["tool/x"], ["x" * 101], [{}], [{"id": "a"}], {"body_chars": 3}),
    *({"nothing": 1}, {"body_chars": 999_999_999}, {"candidate_days": 0}),
    *([{"id": "a", "evidence": ["run"]}], [{"id": "A", "evidence": ["run"]}], [{"id": "a", "evidence": []}]),
    *([{"id": "a", "evidence": ["run"], "sessions": 99}], [{"id": "a", "evidence": ["run"], "tags": []}]),
)
MEMBERS = ("model_may", "kinds", "namespaces", "evidence", "bounds", "accept", "promote", "human_keys")


def reads(value: Any) -> bool:
    try:
        parse_policy(json.dumps(value).encode())
    except InputError:
        return False
    return True


def is_admitted(value: Any) -> bool:
    try:
        validate("policy", value)
    except InputError:
        return False
    return True


@pytest.mark.parametrize("member", MEMBERS)
def test_reading_admits_what_the_schema_admits(member: str) -> None:
    for odd in ODD:
        assert reads({member: odd}) == is_admitted({member: odd}), {member: odd}


@given(st.dictionaries(st.sampled_from(MEMBERS), st.sampled_from(ODD)))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_reading_never_admits_what_the_schema_refuses(value: dict[str, Any]) -> None:
    assert is_admitted(value) or not reads(value)


@given(st.text(max_size=60) | st.binary(max_size=60))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_bytes_are_read_or_refused_as_input(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with suppress(InputError):
        parse_policy(data)
