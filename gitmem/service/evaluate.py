"""Measure searching and recalling against queries that a person labelled: what is found, and what is rightly not said.

``schema/query.schema.json`` says what a line of the file may hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gitmem.errors import InputError
from gitmem.model.answer import Answer, Status
from gitmem.service.json_lines import iter_lines, parse_object
from gitmem.service.query import Filters
from gitmem.service.reading import Reading, answer
from gitmem.service.together import check_each, refuse
from gitmem.service.vault import OpenVault
from gitmem.typed import TYPE_CHECKING, Any
from gitmem.values import dataclass

if TYPE_CHECKING:
    from gitmem.relevance.measures import Outcome

MAX_FILE_BYTES = 64 << 20
MAX_LINE_BYTES = 1 << 20
MAX_QUERIES = 20_000
MODES = ("search", "recall")
_NAMES = ("query", "relevant", "id", "kind", "exclude")
_HINT = "Mend these lines; schema/query.schema.json says what a line may hold."
_SHOWN = 5


@dataclass(frozen=True)
class Query:
    """One labelled query: its text, the names of the right records (none: nothing is right), and those to leave out."""

    id: str
    text: str
    relevant: tuple[str, ...]
    kind: str = ""
    exclude: tuple[str, ...] = ()


def parse_queries(data: bytes) -> list[Query]:
    """Return the queries of a JSON Lines file, in order. Blank lines are passed over.

    Raises ``InputError``: ``file-too-large`` (64 MiB), ``not-utf8``, ``no-queries``, ``too-many-queries`` (20,000), or
    ``bad-lines`` with every line that is wrong.
    """
    lines = list(iter_lines(data, MAX_FILE_BYTES))
    if not lines:
        raise InputError("no-queries", "the file holds no line", "Write one JSON object a line.")
    if len(lines) > MAX_QUERIES:
        raise InputError(
            "too-many-queries", f"the file has {len(lines)} queries", f"Ask at most {MAX_QUERIES} at once."
        )
    values, problems = check_each(lines, lambda line: parse_object(line, MAX_LINE_BYTES, "query", _NAMES))
    if problems:
        refuse(InputError, "bad-lines", f"{len(problems)} of {len(lines)} lines can't be read", _HINT, problems)
    return [_make_query(number, value) for (number, _line), value in zip(lines, values, strict=True)]


def evaluate(vault: OpenVault, queries: Sequence[Query], least: Mapping[str, float], limit: int = 5) -> Answer:
    """Return how well search and recall answer ``queries``; failures as rows.

    ``extra["measures"]`` has the measures of ``relevance.measures`` by mode, ``extra["by_kind"]`` the same by mode and
    kind. ``least`` says what a measure must reach (``recall.abstention-recall``: 0.9); one that does not is a row of
    severity ``error``. A recall gives at most ``limit`` records, a search ten. All is asked of one moment; the time of
    a query leaves the reconcile out. Writes nothing. Raises ``InputError``: ``no-such-measure``, ``unknown-records``.
    """
    return answer(vault, lambda reading: _evaluate(reading, queries, least, limit))


def answer_queries(vault: OpenVault, queries: Sequence[Query], limit: int = 5) -> dict[str, list[Outcome]]:
    """Return what search and recall give for each of ``queries``, by mode, in order.

    What names no record of the vault is never found; ``evaluate`` refuses it.
    """
    kept: dict[str, list[Outcome]] = {}

    def ask(reading: Reading) -> Answer:
        paths = _list_names(reading)
        kept.update(_ask_all(reading, queries, paths, limit))
        return Answer(Status.OK, reading.head)

    answer(vault, ask)
    return kept


def _ask_all(
    reading: Reading, queries: Sequence[Query], paths: Mapping[str, str], limit: int
) -> dict[str, list[Outcome]]:
    modes = {"search": _search, "recall": _make_recall(limit)}
    return {mode: [_ask(reading, ask, query, paths) for query in queries] for mode, ask in modes.items()}


def _evaluate(reading: Reading, queries: Sequence[Query], least: Mapping[str, float], limit: int) -> Answer:
    from gitmem.relevance.measures import is_right, measure

    paths = _list_names(reading)
    _check_names(queries, paths)
    outcomes = _ask_all(reading, queries, paths, limit)
    rows = [
        _fail(mode, query, outcome)
        for mode in MODES
        for query, outcome in zip(queries, outcomes[mode], strict=True)
        if not is_right(outcome) and (mode == "recall" or outcome.relevant)  # a search always tells what it has
    ]
    measures = {mode: measure(outcomes[mode]) for mode in MODES}
    kinds = sorted({query.kind for query in queries if query.kind})
    by_kind = {
        mode: {
            kind: measure([one for query, one in zip(queries, outcomes[mode], strict=True) if query.kind == kind])
            for kind in kinds
        }
        for mode in MODES
    }
    gates = [_check_gate(measures, name, value) for name, value in least.items()]
    extra = {"queries": len(queries), "measures": measures, "by_kind": by_kind}
    return Answer(Status.OK, reading.head, (), (*gates, *rows), reading.report.problems, extra)


def _make_query(number: int, value: dict[str, Any]) -> Query:
    return Query(
        value.get("id") or f"line {number}",
        value["query"],
        tuple(value["relevant"]),
        value.get("kind", ""),
        tuple(value.get("exclude", ())),
    )


def _list_names(reading: Reading) -> dict[str, str]:
    """Return the paths of the delivered records by everything that names them: id, path, file name without ending."""
    from gitmem.catalog.query import list_rows

    names: dict[str, str] = {}
    rows = list_rows(reading.database)
    for row in rows:
        names.setdefault(row.path.rpartition("/")[2].removesuffix(".md"), row.path)
    for row in rows:
        names[row.id] = names[row.path] = row.path
    return names


def _check_names(queries: Sequence[Query], paths: Mapping[str, str]) -> None:
    unknown = [
        f"{query.id}: {name}" for query in queries for name in (*query.relevant, *query.exclude) if name not in paths
    ]
    if unknown:
        more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
        raise InputError(
            "unknown-records",
            f"no record of the vault is called {', '.join(unknown[:_SHOWN])}{more}",
            "Name records by id, path, or file name without its ending; retired and private ones don't count.",
        )


def _ask(reading: Reading, ask: Callable[..., Sequence[str]], query: Query, paths: Mapping[str, str]) -> Outcome:
    from gitmem.relevance.measures import Outcome

    hidden = frozenset(paths.get(name, name) for name in query.exclude)
    start = reading.vault.clock.monotonic_s()
    given = ask(reading, query.text, hidden)
    spent = reading.vault.clock.monotonic_s() - start
    return Outcome(tuple(given), frozenset(paths.get(name, name) for name in query.relevant), spent * 1000)


def _search(reading: Reading, text: str, hidden: frozenset[str]) -> Sequence[str]:
    from gitmem.relevance.measures import RANKS
    from gitmem.service.search import search_in

    try:
        found = search_in(reading, text, Filters(), RANKS + len(hidden))
    except InputError:  # longer than a search may be, or blank
        return []
    return [hit.record.path for hit in found.hits if hit.record.path not in hidden][:RANKS]


def _make_recall(limit: int) -> Callable[[Reading, str, frozenset[str]], Sequence[str]]:
    from gitmem.service.recall import decide

    def ask(reading: Reading, text: str, hidden: frozenset[str]) -> Sequence[str]:
        return [one.record.path for one in decide(reading, text, limit, hidden).admitted]

    return ask


def _fail(mode: str, query: Query, outcome: Outcome) -> dict[str, Any]:
    if not outcome.relevant:
        why = "should have been silent"
    elif not outcome.given:
        why = "was silent"
    else:
        why = "gave others"
    return {
        "mode": mode,
        "query_id": query.id,
        "query": query.text,
        "query_kind": query.kind,
        "why": why,
        "relevant": sorted(outcome.relevant),
        "given": list(outcome.given[:_SHOWN]),
    }


def _check_gate(measures: Mapping[str, Mapping[str, float | None]], name: str, least: float) -> dict[str, Any]:
    mode, _dot, measure = name.partition(".")
    if mode not in measures or measure not in measures[mode]:
        known = ", ".join(f"{one}.{two}" for one in MODES for two in measures[MODES[0]])
        raise InputError("no-such-measure", f"{name} is not measured", f"Name one of {known}.")
    value = measures[mode][measure]
    is_met = value is not None and value >= least
    return {"gate": name, "least": least, "value": value, "severity": "ok" if is_met else "error"}
