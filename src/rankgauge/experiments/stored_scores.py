"""Comparisons of per-query scores that were computed before: from a CSV, or from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankgauge.errors import DataError, FormatError
from rankgauge.experiments.comparison import Comparison, compare_scores
from rankgauge.experiments.record import check_record
from rankgauge.experiments.rows import Scored, System
from rankgauge.measures import Law, parse_measure
from rankgauge.stats.family import Settings

if TYPE_CHECKING:
    import polars as pl

__all__ = ["compare_records", "compare_stored"]

_QUERY = ("query", "query_id", "qid", "查询", "问题")
_SYSTEM = ("system", "run", "name", "系统")
_VALUE = ("value", "score", "取值", "得分")
_MEASURE = ("measure", "metric", "指标")


def compare_stored(
    files: Sequence[str],
    *,
    measure: str | None = None,
    force: bool = False,
    lower_is_better: bool = False,
    baseline: str | None = None,
    **settings: Any,
) -> Comparison:
    """Compare the scores of one table, or of one or several records.

    Records with different contracts, judgments or queries are compared only with `force`, and then on the queries they
    share.
    """
    from rankgauge.formats.json_values import read_json
    from rankgauge.formats.sources import Source

    sources = [Source(path) for path in files]
    if all(source.head(64).lstrip()[:1] == b"{" for source in sources):
        records = [check_record(read_json(source), source.name) for source in sources]
        return compare_records(records, list(files), measure=measure, force=force, baseline=baseline, **settings)
    if len(files) > 1:
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
    return compare_scores(
        scores, measure=name, queries=queries, baseline=baseline, lower_is_better=lower_is_better, **settings
    )


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
            raise FormatError(where, [f"it holds several measures ({', '.join(map(str, known))}); choose one with -m"])
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
    records: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    *,
    measure: str | None = None,
    force: bool = False,
    baseline: str | None = None,
    **settings: Any,
) -> Comparison:
    """Compare the systems of records, query by query; `names` tell the records apart in messages."""
    chosen = Settings.of(**settings)
    forced: list[str] = []
    for record, name in zip(records, names, strict=True):
        if not record["queries"]:
            raise FormatError(name, ["this record holds no scores of single queries"])
        faults = _differences(records[0], record)
        if faults and not force:
            raise DataError(
                f"{names[0]} and {name} were not made alike ({'; '.join(faults)}), so their scores are not the same "
                "quantity; score both alike, or compare them all the same with --force (force=True)"
            )
        forced += faults
    shared = [m["name"] for m in records[0]["measures"] if all(_has(record, m["name"]) for record in records)]
    if measure is not None:
        shared = [name for name in shared if name == measure or name == str(parse_measure(measure))]
    if not shared:
        raise DataError(f"the records have no measure {measure or ''} in common".replace("  ", " "))
    queries = [q for q in records[0]["queries"] if all(q in set(r["queries"]) for r in records)]
    if not queries:
        raise DataError("the records have no query in common")
    systems: dict[str, System] = {}
    for record, file in zip(records, names, strict=True):
        place = {query: i for i, query in enumerate(record["queries"])}
        rows = np.array([place[query] for query in queries])
        for entry in record["systems"]:
            name = entry["name"] if entry["name"] not in systems else f"{entry['name']} ({file})"
            if name in systems:
                raise DataError(f"two systems are named {name!r}")
            values = np.array([entry["per_query"][m] for m in shared], dtype=np.float64).T[rows]
            counted = np.array(
                [entry["counted"].get(m) or [True] * len(record["queries"]) for m in shared], dtype=bool
            ).T[rows]
            systems[name] = System(name, values, counted)
    lower = {m["name"]: m.get("lower_is_better", False) for m in records[0]["measures"]}
    scored = [Scored(name, lower[name], _bounds(name)) for name in shared]
    comparison = Comparison(queries, scored, systems, chosen, baseline=baseline)
    if forced:
        told = "; ".join(dict.fromkeys(forced))
        comparison.remarks.append(
            (
                f"the records were not made alike ({told}), and are compared only because that was forced",
                f"这些记录的产生方式不同（{told}），仅因强制要求才作比较",
            )
        )
    left = [m["name"] for m in records[0]["measures"] if m["name"] not in shared] if measure is None else []
    if left:
        comparison.remarks.append(
            (f"not in all records, so left out: {', '.join(left)}", f"并非所有记录都有，未比较：{', '.join(left)}")
        )
    return comparison


def _has(record: Mapping[str, Any], measure: str) -> bool:
    return any(m["name"] == measure for m in record["measures"])


def _bounds(name: str) -> tuple[float, float] | None:
    try:
        return (-1.0, 1.0) if Law.BOUNDED in parse_measure(name).definition.laws else None
    except DataError:
        return None


def _differences(first: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What was done differently: scores under different contracts or test sets are not the same quantity."""
    faults = []
    if first["contract"] != other["contract"]:
        a, b = first["contract"] or {}, other["contract"] or {}
        keys = [key for key in {**a, **b} if a.get(key) != b.get(key)]
        faults.append("contract: " + ", ".join(f"{key} {a.get(key)!r} and {b.get(key)!r}" for key in keys))
    judgments = [r["provenance"]["inputs"].get("judgments", {}).get("sha256") for r in (first, other)]
    if judgments[0] != judgments[1]:
        faults.append("judgments: the files differ")
    if list(first["queries"]) != list(other["queries"]):
        faults.append(f"queries: {len(first['queries'])} and {len(other['queries'])}, not the same")
    return faults
