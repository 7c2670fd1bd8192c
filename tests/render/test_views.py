from __future__ import annotations

import json
import random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import IntegrityError
from gitmem.model.authority import Authority
from gitmem.model.change import RecordChange
from gitmem.model.ids import ALPHABET, fingerprint, parse_record_id
from gitmem.model.record import Kind, Record, State
from gitmem.model.vault_path import parse_vault_path
from gitmem.render.views import catalog_line, is_view, render_views, reshard_views, update_views

HEAD = (
    '{"about":"Made by gitmem, one record a line. Don\'t edit. Blank lines keep merges clean; null ends the list.",'
    '"format":1,"shards":%d,"records":[\n'
)
TAIL = "null]}\n"


def make_record(record_id: str, state: State = State.OBSERVATION, **properties: Any) -> Record:
    path = parse_vault_path(properties.pop("path", f"{state.folder}/note-{record_id[:6]}.md"))
    defaults = {"title": "Two workers", "kind": Kind.FACT, "authority": Authority.WORKSPACE_EVIDENCE}
    return Record(
        parse_record_id(record_id), path, state, body="", fingerprint=fingerprint(b""), **(defaults | properties)
    )


def apply(views: dict[str, bytes], *changes: RecordChange, shards: int) -> dict[str, bytes]:
    """Return ``views`` after the incremental update for ``changes``."""
    updated = views | update_views(views.get, changes, shards)
    return {path: data for path, data in updated.items() if data is not None}


def read_entries(data: bytes) -> list[dict[str, Any]]:
    document = json.loads(data)
    assert document["records"].pop() is None
    return cast(list[dict[str, Any]], document["records"])


def test_catalog_line_has_every_member_in_order() -> None:
    record = make_record(
        "m7k2q9m7k2q9",
        State.PROMOTED,
        kind=Kind.PROCEDURE,
        title='Say "two" – 两个',
        summary="Two\u202e workers",
        tags=("tool/pytest", "domain/测试"),
        key="test-workers",
    )
    assert catalog_line(record) == (
        '{"id":"m7k2q9m7k2q9","path":"promoted/note-m7k2q9.md","state":"promoted","kind":"procedure",'
        '"authority":"workspace_evidence","title":"Say \\"two\\" – 两个","summary":"Two\\\\u{202e} workers",'
        '"tags":["tool/pytest","domain/测试"],"key":"test-workers"}'
    )


def test_catalog_line_leaves_absent_members_out() -> None:
    line = catalog_line(make_record("m7k2q9m7k2q9", title="T", kind=None, authority=None))
    assert line == '{"id":"m7k2q9m7k2q9","path":"observations/note-m7k2q9.md","state":"observation","title":"T"}'


def test_catalog_line_says_of_a_retired_record_only_where_it_lies() -> None:
    line = catalog_line(make_record("m7k2q9m7k2q9", State.RETIRED, tags=("tool/x",)))
    assert line == '{"id":"m7k2q9m7k2q9","path":"retired/note-m7k2q9.md","state":"retired"}'


def test_no_view_names_a_private_record() -> None:
    secret = make_record("m7k2q9m7k2q9", State.PROMOTED, private=True)
    assert catalog_line(secret) is None
    assert render_views([secret], 1) == render_views([], 1)
    public = make_record("m7k2q9m7k2q9", State.PROMOTED)
    assert apply(render_views([public], 1), RecordChange(public, secret), shards=1) == render_views([], 1)


def test_one_catalog_holds_a_line_a_record_and_a_blank_line_between_buckets() -> None:
    records = [make_record(i, State.RETIRED) for i in ("020000000000", "00z000000000", "000000000000")]
    text = render_views(records, 1)["catalog.json"].decode()
    lines = [catalog_line(record) for record in reversed(records)]
    assert text == HEAD % 1 + f"{lines[0]},\n{lines[1]},\n\n\n{lines[2]},\n" + "\n" * 1021 + TAIL
    assert [entry["id"] for entry in read_entries(text.encode())] == ["000000000000", "00z000000000", "020000000000"]


def test_shards_are_named_in_a_pointer_and_empty_ones_do_not_exist() -> None:
    records = [make_record(i, State.RETIRED) for i in ("m10000000000", "m00000000000", "z00000000000")]
    views = render_views(records, 32)
    assert sorted(views) == ["INDEX.md", "catalog.json", "catalog/m.json", "catalog/z.json"]
    assert views["catalog.json"].decode() == (
        '{\n  "about": "Made by gitmem. Don\'t edit.",\n  "format": 1,\n  "shards": 32,\n'
        '  "records_in": "catalog/<first character of the id>.json"\n}\n'
    )
    first, second = catalog_line(records[1]), catalog_line(records[0])
    assert views["catalog/m.json"].decode() == HEAD % 32 + f"{first},\n\n{second},\n" + "\n" * 30 + TAIL
    wide = render_views(records, 1024)
    assert sorted(wide) == ["INDEX.md", "catalog.json", "catalog/m0.json", "catalog/m1.json", "catalog/z0.json"]
    assert wide["catalog/m0.json"].decode() == HEAD % 1024 + f"{first},\n" + TAIL


@pytest.mark.parametrize("shards", [1, 32, 1024])
def test_a_new_vault_gets_every_view(shards: int) -> None:
    assert update_views(lambda _path: None, [], shards) == render_views([], shards)


def test_only_the_touched_shard_is_read_and_written() -> None:
    views = render_views([make_record(i) for i in ("a00000000000", "b00000000000")], 32)
    reads: list[str] = []

    def read(path: str) -> bytes | None:
        reads.append(path)
        return views.get(path)

    added = make_record("a10000000000")
    updated = update_views(read, [RecordChange(None, added)], 32)
    assert sorted(reads) == ["INDEX.md", "catalog.json", "catalog/a.json"]
    assert list(updated) == ["catalog/a.json"]


def test_a_change_that_no_view_shows_alters_none() -> None:
    before = make_record("a00000000000", State.PROMOTED, verified=None)
    after = make_record("a00000000000", State.PROMOTED, verified="2026-11-30")
    assert update_views(render_views([before], 1).get, [RecordChange(before, after)], 1) == {}


def test_the_index_page_follows_promotion_and_retirement() -> None:
    observed = make_record("a00000000000", title="Two workers")
    promoted = make_record("a00000000000", State.PROMOTED, title="Two workers")
    retired = make_record("a00000000000", State.RETIRED, title="Two workers")
    views = render_views([observed], 1)
    assert set(update_views(views.get, [RecordChange(observed, promoted)], 1)) == {"catalog.json", "INDEX.md"}
    views = apply(views, RecordChange(observed, promoted), shards=1)
    assert b"- [[promoted/note-a00000|Two workers]]\n" in views["INDEX.md"]
    views = apply(views, RecordChange(promoted, retired), shards=1)
    assert b"Two workers" not in views["INDEX.md"] + views["catalog.json"]


def test_an_emptied_shard_goes() -> None:
    before = make_record("a00000000000")
    after = make_record("a00000000000", private=True)
    assert update_views(render_views([before], 32).get, [RecordChange(before, after)], 32) == {"catalog/a.json": None}


def test_a_record_that_goes_leaves_no_view_behind() -> None:
    gone, other = make_record("a00000000000", State.PROMOTED), make_record("a10000000000", State.BASELINE)
    views = render_views([gone, other], 1)
    assert apply(views, RecordChange(gone, None), shards=1) == render_views([other], 1)
    unlisted = make_record("b00000000000")
    views = render_views([unlisted], 32)
    assert update_views(views.get, [RecordChange(unlisted, None)], 32) == {"catalog/b.json": None}


def test_of_two_records_with_one_id_the_first_path_is_listed() -> None:
    twins = [make_record("a00000000000", path=f"observations/{name}.md") for name in ("b", "a")]
    assert [e["path"] for e in read_entries(render_views(twins, 1)["catalog.json"])] == ["observations/a.md"]


def swap_two_records(data: bytes) -> bytes:
    lines = data.split(b"\n")
    at = [i for i, line in enumerate(lines) if line.startswith(b'{"id"')]
    lines[at[0]], lines[at[1]] = lines[at[1]], lines[at[0]]
    return b"\n".join(lines)


DAMAGE = {
    "conflict markers": lambda data: data.replace(b"\n{", b"\n<<<<<<< HEAD\n{", 1),
    "another order": swap_two_records,
    "a record twice": lambda data: data.replace(b"\n\n", b"\n" + data.split(b"\n")[1] + b"\n\n", 1),
    "Windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "cut short": lambda data: data[:-8],
    "another number of shards": lambda data: render_views([], 32)["catalog.json"],
    "an id that is none": lambda data: data.replace(b'{"id":"a', b'{"id":"U', 1),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_catalog_is_refused(damage: Any) -> None:
    views = render_views([make_record(i) for i in ("a00000000000", "a10000000000")], 1)
    views["catalog.json"] = damage(views["catalog.json"])
    with pytest.raises(IntegrityError) as error:
        update_views(views.get, [RecordChange(None, make_record("b00000000000"))], 1)
    assert (error.value.code, error.value.fields) == ("view-damaged", {"path": "catalog.json"})


def test_shards_are_not_begun_beside_a_whole_catalog() -> None:
    views = render_views([make_record("a00000000000")], 1)
    with pytest.raises(IntegrityError, match=r"catalog\.json is not as gitmem writes it"):
        update_views(views.get, [RecordChange(None, make_record("b00000000000"))], 32)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("INDEX.md", True),
        ("catalog.json", True),
        ("catalog/m.json", True),
        ("catalog/m7.json", True),
        ("catalog/m7k.json", False),
        ("catalog/u.json", False),
        ("promoted/INDEX.md", False),
        ("manifest.json", False),
    ],
)
def test_is_view(path: str, expected: bool) -> None:
    assert is_view(path) is expected


IDS = [f"{a}{b}0000000000" for a in "0mz" for b in "0z"] + ["0z0000000001"]
TEXTS = st.sampled_from(
    ["Two workers", "两个 workers", 'quo"te', '"state":"promoted"', "]] # %%", "two workers", "\u202e"]
)


@st.composite
def operations(draw: st.DrawFn) -> list[list[tuple[str, State | None, dict[str, Any]]]]:
    """Return histories: operations of one record or more each, a record without a state goes."""
    step = st.tuples(
        st.sampled_from(IDS),
        st.sampled_from([*State, None]),
        st.fixed_dictionaries(
            {
                "title": TEXTS,
                "summary": TEXTS,
                "kind": st.sampled_from([None, *Kind]),
                "authority": st.sampled_from([None, *Authority]),
                "tags": st.sampled_from([(), ("tool/pytest",), ("Tool/x", "y"), ("flat",)]),
                "private": st.booleans(),
            }
        ),
    )
    return draw(st.lists(st.lists(step, min_size=1, max_size=4), max_size=6))


@pytest.mark.parametrize("shards", [1, 32])
@settings(derandomize=True, max_examples=60, deadline=None)
@given(history=operations())
def test_inv_views_changed_one_by_one_are_the_same_bytes_as_from_scratch(
    shards: int, history: list[list[tuple[str, State | None, dict[str, Any]]]]
) -> None:
    records: dict[str, Record] = {}
    views = render_views([], shards)
    for operation in history:
        changes = []
        for record_id, state, properties in operation:
            before = records.pop(record_id, None)
            after = None if state is None else make_record(record_id, state, **properties)
            if after is not None:
                records[record_id] = after
            if before or after:
                changes.append(RecordChange(before, after))
        views = apply(views, *changes, shards=shards)
        assert views == render_views(records.values(), shards)


def test_the_order_of_records_does_not_matter() -> None:
    rng = random.Random(7)
    records = [
        make_record("".join(rng.choices(ALPHABET, k=12)), rng.choice(list(State)), title=f"Title {n % 5}")
        for n in range(60)
    ]
    expected = render_views(records, 32)
    rng.shuffle(records)
    assert render_views(records, 32) == expected


@pytest.mark.parametrize(("shards", "more"), [(1, 32), (32, 1024), (1, 1024), (32, 1)])
@pytest.mark.parametrize("count", [0, 1, 300])
def test_inv_views_spread_over_more_files_are_those_made_from_scratch(shards: int, more: int, count: int) -> None:
    source = random.Random(count)
    states = list(State)
    records = [
        make_record("".join(source.choices(ALPHABET, k=12)), source.choice(states), title=f"Number {number}")
        for number in range(count)
    ]
    old, new = render_views(records, shards), render_views(records, more)
    spread = old | reshard_views(old.get, shards, more)
    assert {path: data for path, data in spread.items() if data is not None} == new


def test_a_damaged_catalog_is_not_spread() -> None:
    views = render_views([make_record("m7k2q9m7k2q9")], 1)
    views["catalog.json"] = views["catalog.json"].replace(b"\n\n", b"\n", 1)
    with pytest.raises(IntegrityError) as caught:
        reshard_views(views.get, 1, 32)
    assert caught.value.code == "view-damaged"
