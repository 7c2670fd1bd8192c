from __future__ import annotations

from gitmem.render.index_page import MAX_ENTRIES, MAX_NAMESPACES, render_index

HEAD = """\
<!-- Made by gitmem from the records in this vault. Please don't edit: the next operation writes it again. -->

# What this vault remembers

"""
FOOT = """\
---

`baseline` holds what people declared, `promoted` what they reviewed. What nobody has reviewed yet lies in
`observations`, what no longer holds in `retired`. To look through everything: `gitmem search WORDS`.
"""


def promoted(record_id: str, title: str, **more: object) -> dict[str, object]:
    return {"id": record_id, "path": f"promoted/{record_id}.md", "state": "promoted", "title": title, **more}


def declared(record_id: str, title: str, **more: object) -> dict[str, object]:
    return {"id": record_id, "path": f"baseline/{record_id}.md", "state": "baseline", "title": title, **more}


def test_an_empty_vault_says_how_to_begin() -> None:
    assert render_index([]) == (
        HEAD
        + """\
Nothing has been declared or promoted here yet. A good way to begin:

- `gitmem declare "Ask before you touch the database" --kind boundary` says what must always hold.
- `gitmem observe "The API tests need two workers"` keeps something that was found out.
- `gitmem promote ID` says that an observation has been reviewed. From then on it is listed here.

"""
        + FOOT
    )


def test_baseline_by_kind_then_promoted_by_namespace_each_sorted_by_title() -> None:
    page = render_index(
        [
            promoted("p3", "zebra", tags=["tool/pytest"], summary="Last by title."),
            promoted("p2", "No tag at all"),
            promoted("p1", "Apple", tags=["Tool/ruff", "client/acme"], summary="First: folded."),
            promoted("p4", "A flat tag", tags=["python"]),
            promoted("p5", "结算日", tags=["domain/billing"], summary="每月五号。"),
            declared("b4", "Ship offline tickets", kind="goal"),
            declared("b3", "Short answers", kind="preference"),
            declared("b2", "Never push", kind="boundary", summary="Not without a person."),
            declared("b5", "Feature freeze", kind="state"),
            declared("b6", "Brought along"),
        ]
    )
    assert page == (
        HEAD
        + """\
## Boundaries

- [[baseline/b2|Never push]]: Not without a person.

## Preferences

- [[baseline/b3|Short answers]]

## Goals

- [[baseline/b4|Ship offline tickets]]

## State

- [[baseline/b5|Feature freeze]]

## Also declared

- [[baseline/b6|Brought along]]

## Promoted: domain

- [[promoted/p5|结算日]]: 每月五号。

## Promoted: tool

- [[promoted/p1|Apple]]: First: folded.
- [[promoted/p3|zebra]]: Last by title.

## Promoted: Other

- [[promoted/p4|A flat tag]]
- [[promoted/p2|No tag at all]]

"""
        + FOOT
    )


def test_a_long_section_names_its_folder_and_no_count() -> None:
    page = render_index(promoted(f"p{n:02}", f"Title {n:02}", tags=["tool/x"]) for n in range(MAX_ENTRIES + 1))
    lines = page.split("\n")
    assert lines.count("- [[promoted/p19|Title 19]]") == 1
    assert "p20" not in page
    assert "- More in the folder `promoted`." in lines
    assert "21" not in page


def test_namespaces_beyond_the_bound_share_a_section() -> None:
    page = render_index(promoted(f"p{n:02}", "T", tags=[f"space{n:02}/x"]) for n in range(MAX_NAMESPACES + 2))
    assert page.count("## Promoted: space") == MAX_NAMESPACES
    assert "## Promoted: Other\n\n- [[promoted/p20|T]]\n- [[promoted/p21|T]]\n" in page


def test_a_title_can_not_leave_its_link_nor_a_summary_its_line() -> None:
    page = render_index([promoted("p1", "a]] %%b", summary="![[x]] <!-- \n# Boundaries", tags=["a#b/c"])])
    assert page == (
        HEAD
        + """\
## Promoted: a&#35;b

- [[promoted/p1|a&#93;&#93; %&#37;b]]: !&#91;&#91;x&#93;&#93; &#60;!-- &#35; Boundaries

"""
        + FOOT
    )


def test_a_path_that_links_can_not_say_is_shown_as_text() -> None:
    page = render_index([promoted("p1", "C# notes", summary="Short.") | {"path": "promoted/C# [old].md"}])
    assert "\n- promoted/C&#35; &#91;old&#93;.md (C&#35; notes): Short.\n" in page
