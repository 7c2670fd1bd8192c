"""Measure search and recall on the sets of ../shared/eval and print the table of docs/benchmarks.md.

    python tests/eval/run.py FOLDER [SET ...] [--every N] [--half chosen|other|all]

FOLDER keeps the unpacked sets and the vaults made of them, so that a second run is quick. Thresholds were chosen on the
even rows of each set (``--half chosen``); what is reported are the odd ones (``other``, the default). ``--every N``
takes every Nth query of these. Plain is SQLite's FTS5 with unicode61, all words joined by OR. Nothing of the sets goes
into the product.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import tarfile
from collections import defaultdict
from pathlib import Path

from gitmem.model.authority import Actor, Surface
from gitmem.model.record import State
from gitmem.model.settings import Scope
from gitmem.relevance.measures import Outcome, measure
from gitmem.service.evaluate import Query, answer_queries
from gitmem.service.init import NewVault
from gitmem.service.memory import Memory
from gitmem.wiring import make_vault, open_memory

DATA = Path(__file__).parents[3] / "shared" / "eval" / "dev.tar.xz"
PERSON = Actor(Surface.HUMAN, "Eval", "eval@example.com")
ENGLISH = ("locomo-session", "locomo-fact", "cookbook-docs", "cookbook-code", "chroma-text", "devbench")
OTHERS = ("cmrc-zh", "jsquad-ja", "madial-zh", "madial-en")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9 .,()_-]*[A-Za-z0-9)]")


def main() -> None:
    options = _parse_options()
    folder = options.folder.resolve()
    if not (folder / "sets").exists():
        with tarfile.open(DATA) as packed:
            packed.extractall(folder / "sets", filter="data")
    print("| set | queries | R@5 plain / search / recall | MRR plain / search / recall | answered |", end="")
    print(" silent: far, near, removed | records a false recall gives | ms p50 / p95 beside the reconcile |")
    print("|---|---|---|---|---|---|---|---|")
    means: dict[str, list[float]] = defaultdict(list)
    for name in options.sets or [*ENGLISH, *OTHERS]:
        _report(name, _measure(folder, name, options), means)
    for what, values in means.items():
        print(f"mean over the English sets: {what} {sum(values) / len(values):.3f}")


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--half", choices=["chosen", "other", "all"], default="other")
    return parser.parse_args()


def _measure(folder: Path, name: str, options: argparse.Namespace) -> dict[str, dict[str, list[Outcome]]]:
    """Return the outcomes by mode and kind of query."""
    rows = [json.loads(line) for line in (folder / "sets" / name / "queries.jsonl").read_text().splitlines()]
    rows = {"chosen": rows[::2], "other": rows[1::2], "all": rows}[options.half][:: options.every]
    by_vault = defaultdict(list)
    for row in rows:
        by_vault[row["vault"]].append(row)
    found: dict[str, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for vault, asked in by_vault.items():
        notes = folder / "sets" / name / "notes" / vault
        queries = [
            Query(row["qid"], row["query"], tuple(row["relevant"]), row["kind"], tuple(row.get("exclude", ())))
            for row in asked
        ]
        plain = _Plain(notes)
        with _open(folder, name, vault, notes) as memory:
            outcomes = answer_queries(memory.vault, queries)
        for place, query in enumerate(queries):
            found["plain"][query.kind].append(
                Outcome(tuple(plain.ask(query.text, query.exclude)), frozenset(query.relevant))
            )
            for mode in ("search", "recall"):
                found[mode][query.kind].append(outcomes[mode][place])
    return found


def _report(name: str, found: dict[str, dict[str, list[Outcome]]], means: dict[str, list[float]]) -> None:
    answered = {mode: [one for kind in kinds.values() for one in kind if one.relevant] for mode, kinds in found.items()}
    measures = {mode: measure(outcomes) for mode, outcomes in answered.items()}
    recall = found["recall"]
    silent = {kind: measure(recall[f"none-{kind}"])["abstention-recall"] for kind in ("far", "near", "removed")}
    none = measure([one for kind in ("none-far", "none-near") for one in recall[kind]])
    times = measure([one for kind in recall.values() for one in kind])
    cells = [
        name,
        str(sum(map(len, recall.values()))),
        " / ".join(_show(measures[mode]["recall@5"]) for mode in ("plain", "search", "recall")),
        " / ".join(_show(measures[mode]["mrr"]) for mode in ("plain", "search", "recall")),
        _show(measures["recall"]["answered"]),
        ", ".join(map(_show, silent.values())),
        _show(none["noise"]),
        f"{times['p50-ms']:.1f} / {times['p95-ms']:.1f}",
    ]
    print(f"| {' | '.join(cells)} |", flush=True)
    if name in ENGLISH and name != "devbench":
        values = {"false abstention": 1 - (measures["recall"]["answered"] or 0), **silent, "noise": none["noise"]}
        for what, value in values.items():
            if value is not None:
                means[what].append(value)


def _show(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _open(folder: Path, name: str, vault: str, notes: Path) -> Memory:
    place, home = folder / "vaults" / name / vault, str(folder / "home")
    if not place.exists():
        tidied = folder / "tidied" / name / vault
        tidied.mkdir(parents=True)
        for note in notes.glob("*.md"):
            (tidied / note.name).write_text(_tidy(note.read_text()))
        place.parent.mkdir(parents=True, exist_ok=True)
        make_vault(home, NewVault(Scope.GLOBAL, path=str(place)), PERSON)
        with open_memory(home, home, str(place)) as memory:
            memory.import_notes(str(tidied), PERSON, state=State.OBSERVATION)
    return open_memory(home, home, str(place))


def _tidy(text: str) -> str:
    """Return the note with its title and tags as Obsidian writes properties."""
    _start, block, body = text.split("---\n", 2)
    values = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
    title = json.loads(values.get("title", '""')) or "untitled"
    shown = title if _PLAIN.fullmatch(title) else json.dumps(title, ensure_ascii=False)
    tags = json.loads(values.get("tags", "[]"))
    lines = "tags:\n" + "".join(f"  - {re.sub(r'[^A-Za-z0-9_/-]', '-', tag)}\n" for tag in tags) if tags else ""
    return f"---\ntitle: {shown}\n{lines}---\n{body}"


class _Plain:
    """FTS5 as it comes: one column, unicode61, the words of a question joined by OR."""

    def __init__(self, notes: Path) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE notes USING fts5(name UNINDEXED, text)")
        rows = [(note.stem, note.read_text().split("---\n", 2)[2]) for note in sorted(notes.glob("*.md"))]
        self._connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)

    def ask(self, text: str, exclude: tuple[str, ...]) -> list[str]:
        words = list(dict.fromkeys(re.findall(r"\w+", text.lower())))
        expression = " OR ".join(f'"{word}"' for word in words)
        if not expression:
            return []
        rows = self._connection.execute(
            "SELECT name FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?", (expression, 10 + len(exclude))
        )
        return [name for (name,) in rows if name not in exclude][:10]


if __name__ == "__main__":
    main()
