"""Comparisons of per-query scores that were computed before: from a CSV, or from records."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankgauge.arguments import as_path, named_arguments
from rankgauge.comparison.comparing import compare_vectors
from rankgauge.comparison.comparison import Comparison
from rankgauge.comparison.rows import System
from rankgauge.errors import DataError, FormatError
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.record import Note, Record, ScoredMeasure
from rankgauge.record.comparability import differences
from rankgauge.stats.settings import Settings
from rankgauge.words import tell

if TYPE_CHECKING:
    import polars as pl

__all__ = ["compare_records", "compare_stored"]

_QUERY = ("query", "query_id", "qid", "查询", "问题")
_SYSTEM = ("system", "run", "name", "系统")
_VALUE = ("value", "score", "取值", "得分")
_MEASURE = ("measure", "metric", "指标")


@named_arguments
def compare_stored(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    measure: str | None = None,
    force: bool = False,
    lower_is_better: bool = False,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
    conversations: ConversationRule = None,
) -> Comparison:
    """Compare the scores of one table, or of one or several records.

    Records with different contracts, judgments or queries are compared only with `force`, and then on the queries they
    share. `conversations` is that of `evaluate`; without it, those that the records tell count.
    """
    from rankgauge.formats.json_values import read_record
    from rankgauge.formats.sources import Source

    chosen = Settings.of(test, correction, alpha, equivalence_margin, seed, samples)
    listed = files if isinstance(files, Sequence) and not isinstance(files, str) else [files]
    paths = [as_path("files", one) for one in listed]
    if not paths:
        raise DataError("`files` names no file: give one table of scores, or one or several records")
    sources = [Source(path) for path in paths]
    named = {f"scores:{i}": path for i, path in enumerate(paths, start=1)}
    if all(source.head(64).lstrip()[:1] == b"{" for source in sources):
        records = [Record.from_dict(read_record(source), source.name) for source in sources]
        found = compare_records(
            records,
            paths,
            measure=measure,
            force=force,
            baseline=baseline,
            settings=chosen,
            conversations=conversations,
        )
        found.sources = named
        return found
    if len(paths) > 1:
        raise DataError("give one table of scores, or several records; a table and others cannot be mixed")
    from rankgauge.formats.tables import read_table

    kind = _kind(sources[0].bare_name, sources[0].head())
    table = read_table(sources[0], kind)
    if not len(table):
        raise FormatError(sources[0].name, ["it holds no scores"])
    twice = [column.split("_duplicated_")[0] for column in table.columns if "_duplicated_" in column]
    if twice:
        raise FormatError(sources[0].name, [f"two columns are named {twice[0]!r}"])
    queries, scores, name = _of_table(table, sources[0].name, measure)
    found = compare_vectors(
        scores,
        name,
        queries,
        chosen,
        baseline=baseline,
        lower_is_better=lower_is_better,
        conversations=conversations,
    )
    found.sources = named
    return found


def _kind(name: str, head: bytes) -> Literal["csv", "tsv", "parquet"]:
    if name.endswith(".parquet"):
        return "parquet"
    first = head.split(b"\n", 1)[0]
    return "tsv" if b"\t" in first and b"," not in first else "csv"


def _found(table: pl.DataFrame, names: Sequence[str]) -> str | None:
    lower = {column.strip().casefold(): column for column in table.columns}
    return next((lower[name] for name in names if name in lower), None)


def _of_table(
    table: pl.DataFrame, where: str, measure: str | None
) -> tuple[list[str] | None, dict[str, list[float | None]], str]:
    """Queries, scores by system and the measure's name, from either layout."""
    query, system, value = _found(table, _QUERY), _found(table, _SYSTEM), _found(table, _VALUE)
    if system is None or value is None:
        names = [column for column in table.columns if column != query]
        if len(names) < 2:
            raise FormatError(where, ["a table of scores has a column for each of at least two systems"])
        queries = None if query is None else table[query].to_list()
        if queries is not None and len(set(queries)) < len(queries):
            again = next(name for name in queries if queries.count(name) > 1)
            raise FormatError(where, [f"query {again!r} stands twice"])
        return queries, {name: _numbers(table[name], name, where) for name in names}, measure or "score"
    if query is None:
        raise FormatError(where, ["no column for the query; name it query"])
    column = _found(table, _MEASURE)
    if column is not None:
        known = table[column].unique(maintain_order=True).to_list()
        if measure is None and len(known) > 1:
            raise FormatError(
                where, [f"it holds several measures ({', '.join(map(str, known))}); choose one with `measure=`"]
            )
        measure = measure or str(known[0])
        if measure not in known:
            raise FormatError(where, [f"it holds no measure {measure!r}; there are: {', '.join(map(str, known))}"])
        table = table.filter(table[column] == measure)
    queries = table[query].unique(maintain_order=True).to_list()
    places = {name: i for i, name in enumerate(queries)}
    scores: dict[str, list[float | None]] = {}
    seen: set[tuple[Any, Any]] = set()
    for own, name, number in zip(
        table[query].to_list(), table[system].to_list(), _numbers(table[value], value, where), strict=True
    ):
        listed = scores.setdefault(str(name), [None] * len(queries))
        if (own, name) in seen:
            raise FormatError(where, [f"query {own!r} has two scores of system {name!r}"])
        seen.add((own, name))
        listed[places[own]] = number
    return list(map(str, queries)), scores, measure or "score"


def _numbers(column: pl.Series, name: str, where: str) -> list[float | None]:
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    empty = text.is_null() | text.is_in(["", "NaN", "nan", "NA", "null"]).fill_null(True)
    numbers = text.set(empty, None).cast(pl.Float64, strict=False)
    bad = (numbers.is_null() | numbers.is_infinite().fill_null(False)) & ~empty
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise FormatError(where, [f"row {row + 1}, column {name!r}: {text[row]!r} is no number"])
    return numbers.to_list()


def compare_records(
    records: Sequence[Record],
    names: Sequence[str],
    *,
    measure: str | None = None,
    force: bool = False,
    baseline: str | None = None,
    settings: Settings | None = None,
    conversations: ConversationRule = None,
) -> Comparison:
    """Compare the systems of records, query by query; `names` tell the records apart in messages."""
    forced: list[Note] = []
    for record, name in zip(records, names, strict=True):
        if not record.queries:
            raise FormatError(name, ["this record holds no scores of single queries"])
        # Lists from other corpora may be compared, and what no record tells stands against nothing.
        faults = [one.note for one in differences(records[0], record) if one.kind != "corpus" and one.told]
        if faults and not force:
            told = "; ".join(tell(fault, "en") for fault in faults)
            raise DataError(
                f"{names[0]} and {name} are not comparable ({told}): their scores are not the same quantity; score "
                "both alike, or compare them all the same with `force=True`"
            )
        forced += [fault for fault in faults if fault not in forced]
    known = [about.name for about in records[0].measures]
    if measure is not None:
        known = [record.measure_name(measure, name) for record, name in zip(records, names, strict=True)][:1]
    common = [name for name in known if all(any(m.name == name for m in record.measures) for record in records)]
    if not common:
        raise DataError(f"the records have no measure {measure or ''} in common".replace("  ", " "))
    stated = {name: _stated(records, name) for name in common}
    averaged = [name for name in common if stated[name].aggregate == "mean"]
    shared = averaged or common[:1]
    held = [set(record.queries) for record in records]
    queries = [query for query in records[0].queries if all(query in own for own in held)]
    if not queries:
        raise DataError("the records have no query in common")
    remarks: list[Note] = []
    if forced:
        remarks.append(Note("comparison.forced", {"differences": forced}, "warning"))
    if left := [name for name in known if name not in stated]:
        remarks.append(Note("comparison.not_in_all_records", {"names": left}, "warning"))
    if left := [name for name in stated if name not in shared]:
        remarks.append(Note("comparison.no_means", {"names": left}, "warning"))
    systems = _systems(records, names, shared, queries)
    own = set(queries)
    synthetic = {query: how for record in records for query, how in record.synthetic.items() if query in own}
    if synthetic:
        remarks.append(_kinds_apart(systems, stated[shared[0]], queries, synthetic))
    tested = records[0].provenance.test_set
    same = tested is not None and all(record.provenance.test_set == tested for record in records)
    known_turns = {query: name for record in reversed(records) for query, name in record.conversations.items()}
    return Comparison(
        queries,
        [stated[name] for name in shared],
        systems,
        settings or Settings.of(),
        baseline=baseline,
        remarks=remarks,
        conversations=conversations_of(known_turns if conversations is None else conversations, queries),
        synthetic=synthetic,
        labelled=tested if same else None,
    )


def _kinds_apart(
    systems: Mapping[str, System], measure: ScoredMeasure, queries: Sequence[str], synthetic: Mapping[str, str]
) -> Note:
    """What is said of synthetic queries, which no mean should hide among real ones."""
    from rankgauge.evaluation.synthetic import kinds_note  # most queries are real

    columns = {name: (system.values[:, 0], system.counted[:, 0]) for name, system in systems.items()}
    return kinds_note(columns, measure.name, measure.aggregate, queries, synthetic)


def _systems(
    records: Sequence[Record], names: Sequence[str], measures: Sequence[str], queries: Sequence[str]
) -> dict[str, System]:
    systems: dict[str, System] = {}
    for record, file in zip(records, names, strict=True):
        place = {query: i for i, query in enumerate(record.queries)}
        rows = np.array([place[query] for query in queries])
        for entry in record.systems:
            name = entry.name if entry.name not in systems else f"{entry.name} ({file})"
            if name in systems:
                raise DataError(f"two systems are named {name!r}")
            values = np.array([entry.per_query[m] for m in measures], dtype=np.float64).T[rows]
            everything = [True] * len(record.queries)
            counted = np.array([entry.counted.get(m) or everything for m in measures], dtype=bool).T[rows]
            systems[name] = System(name, values, counted)
    return systems


def _stated(records: Sequence[Record], measure: str) -> ScoredMeasure:
    """What the records say of a measure, which may be known only where they were made; bounds only where all agree."""
    said = [record.measure(measure) for record in records]
    bounds = said[0].bounds if all(one.bounds == said[0].bounds for one in said) else None
    aggregate = next((one.aggregate for one in said if one.aggregate != "mean"), "mean")
    return replace(said[0], aggregate=aggregate, bounds=bounds)
