import json
from pathlib import Path
from typing import Any

import pytest

from gitmem.errors import InputError, IntegrityError
from gitmem.vault.schema import validate

SCHEMAS = Path(__file__).parents[2] / "schema"
ID, OTHER = "m7k2q9abc123", "0000000000zz"
COMMIT = "0ce7f68a1b2c3d4e5f60718293a4b5c6d7e8f901"
TIME = "2026-11-30T14:00:00Z"
REF = {"id": ID, "path": "promoted/a-m7k2q9.md", "state": "promoted"}

SOUND: dict[str, Any] = {
    "manifest": {
        "gitmem": 1,
        "vault_id": ID,
        "scope": "global",
        "name": "main",
        "branch": "main",
        "clean": "paths",
        "catalog_shards": 32,
    },
    "registry": {
        "format": 1,
        "vaults": [{"vault_id": ID, "scope": "workspace", "name": "x", "path": "/v", "runtime": "/r", "project": ""}],
    },
    "catalog": {
        "about": "Made by gitmem.",
        "format": 1,
        "shards": 1,
        "records": [
            {
                **REF,
                "kind": "fact",
                "authority": "workspace_evidence",
                "title": "A",
                "summary": "a",
                "tags": ["tool/x"],
                "key": "k",
            },
            {"id": OTHER, "path": "retired/2026-11/b.md", "state": "retired"},
            None,
        ],
    },
    "receipt": {
        "op": "promote",
        "op_id": "op-1",
        "commit": COMMIT,
        "changed": True,
        "time": TIME,
        "surface": "human",
        "actor": "Ada",
        "records": [REF],
        "notices": [],
    },
    "write": {
        "ok": True,
        "op": "observe",
        "op_id": "op-1",
        "commit": None,
        "changed": False,
        "records": [],
        "notices": ["Nothing to do."],
    },
    "read": {
        "status": "ok",
        "revision": COMMIT,
        "results": [
            {
                **REF,
                "title": "A",
                "kind": None,
                "authority": None,
                "tags": [],
                "matched": ["title: a"],
                "snippet": "",
                "uncommitted": False,
            }
        ],
        "diagnostics": [{"code": "bad-frontmatter", "message": "line 3 is no YAML", "path": "promoted/b.md"}],
        "text": "…",
    },
    "error": {"ok": False, "error": {"code": "secret-found", "message": "…", "hint": "", "line": 2}},
    "candidate": {
        "id": ID,
        "created": TIME,
        "title": "A",
        "body": "",
        "kind": "fact",
        "evidence": ["run:pytest"],
        "actor": "agent",
        "surface": "model",
        "wants": "record",
        "seen": 1,
        "worth": 0.5,
        "why": ["proposed by hand"],
    },
    "event": {
        "time": TIME,
        "session": "s1",
        "kind": "tool",
        "tool": "shell",
        "paths": ["src/a.py"],
        "exit_code": 0,
        "duration_ms": 12,
    },
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_values_pass_unchanged(name: str) -> None:
    value = json.loads(json.dumps(SOUND[name]))

    validate(name, value)

    assert value == SOUND[name]


@pytest.mark.parametrize("name", SOUND)
def test_every_required_member_is_missed_by_name(name: str) -> None:
    required = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))["required"]
    for member in required:
        rest = {key: value for key, value in SOUND[name].items() if key != member}
        with pytest.raises((InputError, IntegrityError)) as caught:
            validate(name, rest)
        assert caught.value.code == "schema"
        assert member in caught.value.message


@pytest.mark.parametrize(
    ("name", "change", "path"),
    [
        ("manifest", {"gitmem": 0}, "gitmem"),
        ("manifest", {"gitmem": "1"}, "gitmem"),
        ("manifest", {"gitmem": True}, "gitmem"),
        ("manifest", {"vault_id": "il0000000000"}, "vault_id"),
        ("manifest", {"catalog_shards": 2}, "catalog_shards"),
        ("registry", {"vaults": [{**SOUND["registry"]["vaults"][0], "scope": "team"}]}, "vaults[0].scope"),
        (
            "catalog",
            {"records": [{"id": OTHER, "path": "retired/b.md", "state": "retired", "title": "B"}]},
            "records[0]",
        ),
        ("catalog", {"records": [{**REF, "title": "A", "private": True}]}, "records[0]"),
        ("receipt", {"commit": COMMIT[:39]}, "commit"),
        ("receipt", {"commit": COMMIT + "\n"}, "commit"),
        ("receipt", {"surface": "robot"}, "surface"),
        ("receipt", {"records": [{**REF, "state": "gone"}]}, "records[0].state"),
        ("receipt", {"extra": 1}, ""),
        ("write", {"ok": False}, "ok"),
        ("read", {"status": "fine"}, "status"),
        ("read", {"results": [{"id": "x"}]}, "results[0].id"),
        ("read", {"diagnostics": [{"code": "Bad Code", "message": "x"}]}, "diagnostics[0].code"),
        ("error", {"error": {"code": "x", "message": "", "hint": ""}}, "error.message"),
    ],
)
def test_what_gitmem_wrote_and_reads_back_wrong_is_an_integrity_error(
    name: str, change: dict[str, Any], path: str
) -> None:
    with pytest.raises(IntegrityError) as caught:
        validate(name, {**SOUND[name], **change})

    assert caught.value.fields == {"path": path, "schema": name}


@pytest.mark.parametrize(
    ("name", "change", "path"),
    [
        ("event", {"paths": ["/home/ada/x"]}, "paths[0]"),
        ("event", {"prompt": "what was said"}, ""),
        ("candidate", {"evidence": ["I saw it"]}, "evidence[0]"),
        ("candidate", {"title": "x" * 201}, "title"),
    ],
)
def test_what_people_and_agents_hand_in_wrong_is_an_input_error(name: str, change: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(name, {**SOUND[name], **change})

    assert caught.value.fields == {"path": path, "schema": name}


def test_a_newer_format_and_unknown_members_are_valid_in_a_manifest() -> None:
    newer = {**SOUND["manifest"], "gitmem": 7, "mood": ["calm"]}

    validate("manifest", newer)

    assert newer["mood"] == ["calm"]


def test_members_of_the_manifest_that_have_a_default_may_be_absent_and_stay_absent() -> None:
    value = {"gitmem": 1, "vault_id": ID, "scope": "workspace", "name": "x"}

    validate("manifest", value)

    assert set(value) == {"gitmem", "vault_id", "scope", "name"}


def test_a_vault_with_shards_has_a_catalog_that_points_to_them() -> None:
    validate("catalog", {"format": 1, "shards": 32, "records_in": "catalog/<…>.json"})
    with pytest.raises(IntegrityError):
        validate("catalog", {"format": 1, "shards": 32})


def test_the_error_says_what_is_wrong_and_quotes_no_value() -> None:
    with pytest.raises(IntegrityError) as caught:
        validate("manifest", {**SOUND["manifest"], "scope": "hunter2"})

    assert caught.value.message == "manifest: scope must be one of ['global', 'workspace']"
    assert "hunter2" not in repr(caught.value)


def test_names_that_must_not_be_there_are_told_in_order() -> None:
    with pytest.raises(IntegrityError) as raised:
        validate("curate-output", dict.fromkeys(("vault", "now", "bounds", "sessions", "format"), 1))
    assert raised.value.message == (
        "curate-output: the whole must not contain 'bounds', 'format', 'now', 'sessions', 'vault' properties"
    )


def test_a_hostile_member_name_is_shown_harmless_and_short() -> None:
    with pytest.raises(InputError) as caught:
        validate("event", {**SOUND["event"], "\x1b[2J\u202e" + "x" * 5000: 1})

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_something_else_altogether_is_refused(value: Any) -> None:
    with pytest.raises(IntegrityError) as caught:
        validate("manifest", value)

    assert caught.value.message == "manifest: the whole must be object"


def test_schemas_keep_to_what_drafts_7_and_2020_12_have_in_common() -> None:
    newer = (
        "prefixItems",
        "dependentRequired",
        "dependentSchemas",
        "unevaluated",
        "minContains",
        "$dynamicRef",
        "$anchor",
    )
    older = ("definitions", "additionalItems", "dependencies")
    for name in SOUND:
        text = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
        assert json.loads(text)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert [word for word in newer + older if f'"{word}' in text] == []
