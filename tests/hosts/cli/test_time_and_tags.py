"""``tags``, ``list``, ``timeline``, ``log`` and ``diff`` at the command line: whole outputs, and their documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from doc_samples import NOTES, commit, write_notes

if TYPE_CHECKING:
    from driving import Gitmem, Terminal

pytest_plugins = "hosts.driving"


@pytest.fixture
def filled(gitmem: Gitmem) -> Gitmem:
    write_notes(gitmem)
    return gitmem


def test_tags_are_a_tree(filled: Gitmem) -> None:
    assert filled("tags").out == (
        "client     2\n"
        "  acme     2\n"
        "tool       2\n"
        "  pytest   1\n"
        "    xdist  1\n"
        "  redis    1\n"
    )  # fmt: skip
    assert filled("tags", "tool/pytest").out == "tool/pytest  1\n  xdist      1\n"
    assert filled("tags", "--flat", "--limit", "2").out == (
        "client/acme  2\ntool/pytest  1\n… and 2 less frequent tags\n"
    )  # fmt: skip
    assert filled("tags", "--with", "#client/acme").out == "tool     1\n  redis  1\n"
    said = filled("tags", "nothing")
    assert (said.code, said.out, said.err) == (1, "", "no tags\nhint: No record has the tag nothing.\n")
    assert filled("tags", "tool", "--min", "2", "--json").document["results"] == [
        {"tag": "tool", "name": "tool", "depth": 0, "own": 0, "total": 2}
    ]
    (filled.repo / "promoted/workers.md").write_text(NOTES["promoted/workers.md"].replace("Two", "Two #tool"))
    assert filled("tags", "tool").out.splitlines()[:2] == ["tool       2  (1 itself)", "  pytest   1"]


def test_a_list_says_what_to_mind(filled: Gitmem) -> None:
    cache = (
        "m7k2q9x4c0d1  promoted     fact       [out of date since 2026-05-01] Cache lifetime #tool/redis #client/acme"
    )
    workers = (
        "m7k2q9x4c0d2  promoted     procedure  [review due] Run tests with two workers #tool/pytest #tool/pytest/xdist"
    )
    upgrade = "m7k2q9x4c0d3  observation  episode    The upgrade of the database #client/acme"
    undated = "m7k2q9x4c0d4  promoted     -          Undated"
    assert filled("list").out.splitlines() == [cache, workers, upgrade, undated]
    assert filled("list", "--sort", "created", "--limit", "1", "--offset", "2").out.splitlines() == [
        "m7k2q9x4c0d1  promoted  fact  [out of date since 2026-05-01] Cache lifetime #tool/redis #client/acme",
        "… and 1 more",
    ]
    assert filled("list", "--due").out.split()[0] == "m7k2q9x4c0d2"
    assert filled("list", "--due", "2025").code == 1
    (row,) = filled("list", "--tag", "client", "--tag", "tool/redis", "--json").document["results"]
    assert row["matched"] == ["tag: tool/redis", "tag: client/acme"]
    assert (row["marks"], row["valid_until"]) == (["out-of-date"], "2026-05-01")
    assert filled("list", "--summary", "--kind", "fact").out.splitlines()[1] == "    Answers are kept for five minutes."
    assert filled("list", "--due", "someday", "--json").document["error"]["code"] == "bad-date"


def test_a_terminal_that_is_wide_shows_the_summary(filled: Gitmem, terminal: Terminal) -> None:
    def plain(text: str) -> str:
        return re.sub(r"\x1b\[\d+m", "", text)

    wide, narrow = (terminal("list", "--kind", "procedure", columns=columns).out for columns in (160, 60))
    assert plain(wide).endswith("#tool/pytest #tool/pytest/xdist  More of them starve the database.\n")
    assert "\x1b[33m[review due]\x1b[0m" in wide
    assert plain(narrow) == "m7k2q9x4c0d2  promoted  procedure  [review due] Run tests w…\n"


def test_a_record_that_is_shown_says_what_to_mind(filled: Gitmem) -> None:
    assert "mind         out of date since 2026-05-01\n" in filled("show", "m7k2q9x4c0d1").out


def test_the_timeline_has_a_heading_for_each_group(filled: Gitmem) -> None:
    cache = (
        "m7k2q9x4c0d1  promoted     fact       [out of date since 2026-05-01] Cache lifetime #tool/redis #client/acme"
    )
    workers = (
        "m7k2q9x4c0d2  promoted     procedure  [review due] Run tests with two workers #tool/pytest #tool/pytest/xdist"
    )
    upgrade = "m7k2q9x4c0d3  observation  episode    The upgrade of the database #client/acme"
    assert filled("timeline").out.splitlines() == [
        "2026-11-02 Monday",
        f"10:30 * {upgrade}",
        f"09:00   {workers}",
        "",
        "2026-10-05 Monday",
        f"08:00   {cache}",
        "",
        "1 record without a date",
    ]
    assert filled("timeline", "--by", "week", "--updated", "--limit", "2").out.splitlines() == [
        "2026-W45 (2026-11-02 to 2026-11-08)",
        f"2026-11-02 10:30 * {upgrade}",
        f"2026-11-02 09:00   {workers}",
        "",
        "… and 1 older record",
        "1 record without a date",
    ]
    assert [line for line in filled("timeline", "--by", "session").out.splitlines() if not line.startswith("2026")] == [
        "claude/s1",
        "",
        "no session",
        "",
        "1 record without a date",
    ]
    document = filled("timeline", "database", "upgrade", "--json").document
    (row,) = document["results"]
    assert (row["id"], row["group"], row["time"], row["is_episode"]) == (
        "m7k2q9x4c0d3",
        "2026-11-02",
        "2026-11-02T10:30:00Z",
        True,
    )
    assert document["groups"] == [{"name": "2026-11-02", "count": 1}]
    assert filled("timeline", "--since", "2027").err == "no records in that time\n"
    assert filled("timeline", "unheard").err == "no record matches\n"
    assert filled("timeline", "upgrade", "--since", "2027").err == "no record matches in that time\n"


@pytest.mark.parametrize("command", ["list", "timeline", "tags"])
def test_a_filter_that_no_record_fits_is_said(filled: Gitmem, command: str) -> None:
    said = filled(command, "--tag", "tool/pytst", "--path", "promote")
    assert (said.code, said.out) == (1, "")
    tag = "No record has the tag tool/pytst; did you mean tool/pytest?"
    assert said.err.splitlines()[1:] == [f"hint: {tag} No record lies at promote; did you mean promoted?"]


def test_a_diff_tells_records_properties_and_lines(filled: Gitmem) -> None:
    cache = filled.repo / "promoted/cache.md"
    cache.write_text(
        NOTES["promoted/cache.md"].replace("Five minutes.", "Ten minutes.").replace("tool/redis", "tool/x")
    )
    (filled.repo / "promoted/workers.md").rename(filled.repo / "retired/workers.md")
    (filled.repo / "promoted/undated.md").write_text("---\ntitle: [\n---\n")
    (filled.repo / "promoted/other.txt").write_text("x")
    body = [
        "retired     m7k2q9x4c0d2  Run tests with two workers",
        "    promoted/workers.md -> retired/workers.md",
        "edited      m7k2q9x4c0d1  Cache lifetime",
        "    tags: -tool/redis +tool/x",
        "    @@ -1,2 +1,2 @@",
        "     ",
        "    -Five minutes.",
        "    +Ten minutes.",
        "unreadable  -             undated",
    ]
    lines = filled("diff", "--worktree").out.splitlines()
    assert re.fullmatch(r"from \S+Z \([0-9a-f]{12}\) to the files as they are now", lines[0])
    assert lines[1:10] == body
    assert lines[10].startswith("    expected the node content")
    assert lines[11:] == ["1 other file changed"]
    commit(filled, "by hand")
    again = filled("diff").out.splitlines()
    assert again[1:10] == body
    document = filled("diff", "HEAD~1", "HEAD", "--json", "--lines", "0").document
    assert document["counts"] == {"retired": 1, "edited": 1, "unreadable": 1}
    assert (document["results"][1]["lines"], document["results"][1]["lines_omitted"]) == ([], 4)
    nothing = filled("diff", "HEAD", "HEAD")
    assert (nothing.code, nothing.err) == (1, "nothing changed\n")
    assert filled("diff", "HEAD", "HEAD~1", "--worktree").code == 2
    assert filled("diff", "nothing", "--json").document["error"]["code"] == "no-such-revision"


def test_a_diff_has_colours_on_a_terminal(filled: Gitmem, terminal: Terminal) -> None:
    cache = filled.repo / "promoted/cache.md"
    cache.write_text(NOTES["promoted/cache.md"].replace("Five minutes.", "Ten minutes."))
    out = terminal("diff", "--worktree").out
    assert "    \x1b[31m-Five minutes.\x1b[0m\n    \x1b[32m+Ten minutes.\x1b[0m\n" in out
    first, second = terminal("diff", columns=60).out.splitlines()[:2]
    assert re.fullmatch(r"from \S+Z \([0-9a-f]{12}\)", first)
    assert re.fullmatch(r"to   \S+Z \([0-9a-f]{12}\)", second)


def test_the_log_is_narrowed(filled: Gitmem) -> None:
    filled.observe("Another one")
    assert [row["op"] for row in filled("log", "--op", "observe", "--op", "commit", "--json").document["results"]] == [
        "observe",
        "commit",
    ]
    assert [row["title"] for row in filled("log", "--op", "commit", "--json").document["results"]] == ["notes"]
    assert filled("log", "--actor", "PAT", "--since", "1h", "--json").document["results"][0]["actor"] == "Pat"
    assert filled("log", "--until", "yesterday").err == "no operations\n"
    assert filled("log", "m7k2q9x4c0d1", "--json").document["results"][0]["op"] == "commit"
    assert filled("log", "--op", "sing").code == 2
