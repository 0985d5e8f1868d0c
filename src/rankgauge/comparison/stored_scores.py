"""Comparisons of per-query scores that were computed before: from a CSV, or from records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankgauge.comparison.comparison import Comparison, compare_scores
from rankgauge.comparison.rows import Scored, System
from rankgauge.errors import DataError, FormatError
from rankgauge.evaluation.old_record import check_record
from rankgauge.gate.targets import measure_in
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
        records = [read_json(source) for source in sources]
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
    records = [check_record(record, name) for record, name in zip(records, names, strict=True)]
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
    known = [m["name"] for m in records[0]["measures"]]
    if measure is not None:
        known = [measure_in(record, measure, name) for record, name in zip(records, names, strict=True)][:1]
    shared = [name for name in known if all(_about(record, name) is not None for record in records)]
    if not shared:
        raise DataError(f"the records have no measure {measure or ''} in common".replace("  ", " "))
    stated = {name: _stated(records, name) for name in shared}
    averaged = [name for name in shared if stated[name]["aggregate"] == "mean"]
    shared = averaged or shared[:1]
    scored = [Scored(name, **stated[name]) for name in shared]
    queries = [q for q in records[0]["queries"] if all(q in set(r["queries"]) for r in records)]
    if not queries:
        raise DataError("the records have no query in common")
    systems = _systems(records, names, shared, queries)
    comparison = Comparison(queries, scored, systems, chosen, baseline=baseline)
    if forced:
        told = "; ".join(dict.fromkeys(forced))
        comparison.remarks.append(
            (
                f"the records were not made alike ({told}), and are compared only because that was forced",
                f"这些记录的产生方式不同（{told}），仅因强制要求才作比较",
            )
        )
    comparison.remarks += _remarks(records, known, stated, shared)
    return comparison


def _systems(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], measures: Sequence[str], queries: Sequence[str]
) -> dict[str, System]:
    systems: dict[str, System] = {}
    for record, file in zip(records, names, strict=True):
        place = {query: i for i, query in enumerate(record["queries"])}
        rows = np.array([place[query] for query in queries])
        for entry in record["systems"]:
            name = entry["name"] if entry["name"] not in systems else f"{entry['name']} ({file})"
            if name in systems:
                raise DataError(f"two systems are named {name!r}")
            values = np.array([entry["per_query"][m] for m in measures], dtype=np.float64).T[rows]
            counted = np.array(
                [entry["counted"].get(m) or [True] * len(record["queries"]) for m in measures], dtype=bool
            ).T[rows]
            systems[name] = System(name, values, counted)
    return systems


def _remarks(
    records: Sequence[Mapping[str, Any]],
    known: Sequence[str],
    stated: Mapping[str, Mapping[str, Any]],
    shared: Sequence[str],
) -> Iterator[tuple[str, str]]:
    """Measures that were left out, and what had to be assumed of the others."""
    if left := ", ".join(name for name in known if name not in stated):
        yield f"not in all records, so left out: {left}", f"并非所有记录都有，未比较：{left}"
    if left := ", ".join(name for name in stated if name not in shared):
        yield (
            f"no means over queries, so left out: {left}; their values are in the records",
            f"不是各查询的均值，未比较：{left}；其取值见各记录",
        )
    if alone := ", ".join(name for name in shared if not _says(records, name, "aggregate")):
        yield (
            f"no record says how the queries are put together, so they are averaged: {alone}",
            f"没有记录说明如何汇总各查询，因此取均值：{alone}",
        )
    if alone := ", ".join(name for name in shared if not _says(records, name, "lower_is_better")):
        yield (
            f"no record says whether more or less is better, so more is taken as better: {alone}",
            f"没有记录说明越大越好还是越小越好，因此按越大越好：{alone}",
        )


def _about(record: Mapping[str, Any], measure: str) -> Mapping[str, Any] | None:
    return next((entry for entry in record["measures"] if entry["name"] == measure), None)


def _says(records: Sequence[Mapping[str, Any]], measure: str, key: str) -> list[Any]:
    """What the records themselves say of a measure."""
    entries = [about for record in records if (about := _about(record, measure)) is not None]
    return [about.get(key) for about in entries if key not in about.get("assumed", ())]


def _stated(records: Sequence[Mapping[str, Any]], measure: str) -> dict[str, Any]:
    """How a measure's queries are put together, which direction is better, and its bounds, all from the records: the
    measure may be known only where they were made. What no record says is the usual."""
    bounds = _says(records, measure, "bounds")
    return {
        "aggregate": next((how for how in _says(records, measure, "aggregate") if how != "mean"), "mean"),
        "lower_is_better": next(iter(_says(records, measure, "lower_is_better")), False),
        "bounds": tuple(bounds[0]) if bounds[0] is not None and all(one == bounds[0] for one in bounds) else None,
    }


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
    for about in first["measures"]:
        for key in ("aggregate", "lower_is_better"):
            said = _says((first, other), about["name"], key)
            if len(set(said)) > 1:
                faults.append(f"{about['name']}: {key} {said[0]!r} and {said[1]!r}")
    if list(first["queries"]) != list(other["queries"]):
        faults.append(f"queries: {len(first['queries'])} and {len(other['queries'])}, not the same")
    return faults
