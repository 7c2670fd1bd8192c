"""``gitmem search`` from the command line: what is an option and what a word, what is printed where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from driving import Gitmem

pytest_plugins = "hosts.driving"


@pytest.fixture
def filled(gitmem: Gitmem) -> Gitmem:
    gitmem.observe("Run tests with two workers", "--body", "Never rm -rf the share.", "--tag", "tool/pytest")
    gitmem.observe("Cache lifetime", "--key", "cache-ttl", "--body", "Redis keeps it.")
    gitmem.observe("Cache size", "--body", "In memory.")
    gitmem.observe("We moved the cache", "--kind", "episode")
    (gitmem.repo / "promoted" / "Plain.md").write_text("Zebras are no cache.\n")
    return gitmem


@pytest.mark.parametrize(
    ("args", "titles"),
    [
        (["cache", "-redis"], ["Cache size"]),
        (["-redis", "cache"], ["Cache size"]),
        (["cache", "--exclude", "redis"], ["Cache size"]),
        (["rm", "-rf"], ["Run tests with two workers"]),
        (["rm", "--exclude", "-rf"], []),
        (["--", "rm", "--no-such-option"], ["Run tests with two workers"]),
        (['"cache size"'], ["Cache size"]),
        (["cache", "--in", "title", "--in", "key", "--sort", "title"], ["Cache lifetime", "Cache size"]),
        (["redis", "--in", "title"], []),
        (["cache", "--offset", "1", "--limit", "5", "--sort", "title"], ["Cache size"]),
        (["cache", "--episodes"], ["We moved the cache"]),
        (["cache", "--kind", "episode"], ["We moved the cache"]),
        (["cache", "--kind", "episode", "--kind", "fact", "--sort", "path"], None),
    ],
)
def test_words_and_options(filled: Gitmem, args: list[str], titles: list[str] | None) -> None:
    found = [row["title"] for row in filled("search", "--json", *args).document["results"]]
    assert found == titles if titles is not None else len(found) == 3


def test_the_text_has_records_then_notes_and_advice_is_beside_it(filled: Gitmem) -> None:
    said = filled("search", "cache")
    assert [line for line in said.out.splitlines() if "observation" not in line] == [
        "    title: cache, key: cache",
        "    Redis keeps it.",
        "    title: cache",
        "    In memory.",
        "",
        "Notes that are no records:",
        "promoted/Plain.md  it has no gitmem_id",
        "    Zebras are no cache.",
    ]
    assert said.err == "1 episode matches as well: --episodes\n"
    nothing = filled("search", "zebra", "cahce", "--tag", "tool/pytst")
    assert (nothing.code, nothing.out) == (1, "")
    assert nothing.err.splitlines() == [
        "no record matches",
        "hint: No record has the tag tool/pytst; did you mean tool/pytest?",
    ]
    assert filled("search", "wrokers").err == "no record matches\ndid you mean: workers\n"


def test_json_holds_what_the_text_says(filled: Gitmem) -> None:
    said = filled("search", "cache", "lifetime", "--json", "--limit", "1").document
    assert (said["total"], said["more"], said["episodes"]) == (2, True, 1)
    assert [note["path"] for note in said["notes"]] == []
    (row,) = said["results"]
    assert (row["strength"], row["spans"], row["snippet"]) == ("exact", {"title": [[0, 5], [6, 14]]}, "Redis keeps it.")
    assert filled("search", "zebra", "--json").document["notes"] == [
        {
            "path": "promoted/Plain.md",
            "title": "Plain",
            "snippet": "Zebras are no cache.",
            "spans": [[0, 6]],
            "why": "it has no gitmem_id",
        }
    ]
    assert filled("search", "zebra", "--json").code == 0
    assert filled("search", "wrokers", "--json").document["did_you_mean"] == "workers"
    relaxed = filled("search", '"lifetime cache"', "--json").document
    assert (relaxed["not_word_for_word"], relaxed["status"]) == (["lifetime cache"], "ok")


def test_fields_choose_what_is_printed(filled: Gitmem) -> None:
    said = filled("search", "size", "--json", "--fields", "title, body").document
    assert said["results"] == [{"title": "Cache size", "body": "\nIn memory.\n"}]
    assert filled("search", "size", "--fields", "title,key,body").out == "Cache size\t\tIn memory.\n"
    wrong = filled("search", "size", "--fields", "titel", "--json")
    assert (wrong.code, "'titel' is none of id, path" in wrong.document["error"]["message"]) == (2, True)


def test_all_vaults_are_asked_and_labelled(filled: Gitmem) -> None:
    assert filled("init", "--workspace").code == 0
    filled.observe("Cache of the workspace", "--body", "Shared.")
    alone = filled("search", "cache", "--json").document
    assert [row["title"] for row in alone["results"]] == ["Cache of the workspace"]
    both = filled("search", "cache", "--all-vaults", "--json").document
    assert [(row["scope"], row["title"]) for row in both["results"]] == [
        ("workspace", "Cache of the workspace"),
        ("global", "Cache lifetime"),
        ("global", "Cache size"),
    ]
    assert [(vault["scope"], vault["status"], vault["total"]) for vault in both["vaults"]] == [
        ("workspace", "ok", 1),
        ("global", "ok", 2),
    ]
    assert (both["total"], both["more"], both["episodes"]) == (3, False, 1)
    respelt = filled("search", "lifetme", "--all-vaults", "--json").document
    assert respelt["did_you_mean"] == "lifetime"
    second = filled("search", "cache", "--all-vaults", "--json", "--offset", "1", "--limit", "1").document
    assert [row["title"] for row in second["results"]] == ["Cache lifetime"]
    by_title = filled("search", "cache", "--all-vaults", "--json", "--sort", "title").document
    assert [row["title"] for row in by_title["results"]] == ["Cache lifetime", "Cache of the workspace", "Cache size"]
    assert filled("search", "cache", "--all-vaults").out.splitlines()[0].endswith(" (workspace)")
    (filled.repo / ".git").rename(filled.repo / "git")
    broken = filled("search", "cache", "--all-vaults", "--json")
    assert (broken.code, broken.document["status"]) == (0, "degraded")
    assert [row["title"] for row in broken.document["results"]] == ["Cache of the workspace"]
    assert [problem["code"] for problem in broken.document["diagnostics"]] == ["vault-unavailable"]
