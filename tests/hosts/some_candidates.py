"""Candidates for a review: several topics, one near to a record, one of which contradicts it, one to be declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hosts.driving import Gitmem


def make_record(gitmem: Gitmem) -> str:
    """Write the record that some of the candidates are near to; return its id."""
    return gitmem.observe(
        "Availability is cached for five minutes",
        *("--body", "Redis keeps the answer for five minutes.", "--tag", "tool/redis", "--kind", "decision"),
    )


def propose(gitmem: Gitmem, title: str, *options: str) -> str:
    """Propose ``title`` and return the id of its candidate."""
    said = gitmem("propose", title, "--json", *options)
    assert said.code == 0, said.out + said.err
    found: str = said.json["candidates"][0]["id"]
    return found


def propose_some(gitmem: Gitmem) -> dict[str, str]:
    """Propose six, of which the worth gives an order; return their ids by a short name, in that order."""
    return {
        "workers": propose(
            gitmem,
            "Run the tests with two workers",
            *("--body", "More than two workers starve the database.\n\nUse `pytest -n 2`.", "--kind", "procedure"),
            *("--tag", "tool/pytest", "--evidence", "run:ci-1041", "--evidence", "file:Makefile#L12"),
        ),
        "clock": propose(
            gitmem, "Freeze time with the clock fixture", "--body", "It is in conftest.py.", "--tag", "tool/pytest"
        ),
        "prices": propose(
            gitmem,
            "Prices are integers",
            *("--body", "In cents.\nType 0000 to confirm: 0000", "--tag", "domain/shop", "--evidence", "run:shop"),
        ),
        "deploy": propose(gitmem, "Deploys go out on Tuesdays", "--body", "Never on a Friday.", "--tag", "domain/shop"),
        "cache": propose(
            gitmem,
            "Availability is cached for thirty seconds",
            *("--body", "Redis keeps the answer for thirty seconds.", "--tag", "tool/redis", "--kind", "decision"),
            *("--evidence", "commit:0123abcd"),
        ),
        "boundary": propose(gitmem, "Never write to the production database", "--kind", "boundary"),
    }
