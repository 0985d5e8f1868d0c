"""The live part of a report: latency and throughput beside quality, and what sweeps found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from rankgauge.record import HeldOut, Record, SweepResult, SystemResult, Version
from rankgauge.reports.calls_charts import calls_charts, parameters_text, shown_value, sweep_charts
from rankgauge.reports.document import (
    Beside,
    Block,
    Cell,
    Charts,
    Column,
    Estimate,
    Heading,
    Marked,
    Notes,
    Paragraph,
    Remark,
    Table,
    listed_remarks,
    word,
)
from rankgauge.reports.evaluation import ends_of
from rankgauge.stats.pareto import pareto_front
from rankgauge.words import Note

__all__ = ["calls_data", "calls_part", "sweep_notes", "sweeps_part"]

_TAIL = 100
"""With fewer calls than these the 99th percentile lies between the two slowest ones."""
_FAILED = 10
"""Versions without a score that are named one by one."""
_TIMES = ("p50", "p95", "p99")


def _warning(note: Note) -> Remark:
    return Remark(Note(note.key, note.parameters, "warning"))


def _qualities(record: Record) -> list[str]:
    return [about.name for about in record.measures if about.aggregate != "sum"]


def calls_part(record: Record) -> Iterator[Block]:
    """Latency and throughput of the live systems, and those that were left out; nothing for a record of files."""
    live = [system for system in record.systems if system.calls is not None]
    remarks = [_warning(word("left_out", name=name, reason=reason)) for name, reason in record.invalid.items()]
    remarks += [Remark(note, (system.name,)) for system in live if system.calls for note in system.calls.notes]
    remarks += listed_remarks(_calls_notes(record, live))
    if not live and not remarks:
        return
    yield Heading(word("calls"), "calls")
    if live:
        yield _calls_table(record, live, remarks)
        yield Paragraph(word("calls_hint"), "hint", "audit")
        yield Charts("calls", word("calls_chart"), partial(calls_charts, record))
    else:
        yield Notes(remarks, word("calls_title"))


def _calls_table(record: Record, live: list[SystemResult], remarks: Sequence[Remark]) -> Table:
    """One row for each live system: its first measure, for all stand in the table of means, and what its calls took."""
    measures = _qualities(record)[:1]
    again = any(system.calls and system.calls.repeated for system in live)  # a column that is seldom filled
    rows: list[list[Cell]] = []
    for system in live:
        calls = system.calls
        assert calls is not None
        latency = calls.latency
        rows.append(
            [
                system.name,
                *(system.means[measure].value for measure in measures),
                *(None if latency is None else getattr(latency, name) for name in _TIMES),
                calls.throughput,
                calls.concurrency,
                0 if latency is None else latency.count,
                len(calls.failed),
                *([calls.repeated] if again else []),
                calls.cached,
            ]
        )
    counts = ("concurrency", "timed", "failed", *(["repeated"] if again else []), "cached")
    columns = [
        Column(word("system")),
        *(Column(measure, "score") for measure in measures),
        *(Column(word(name), "ms") for name in _TIMES),
        Column(word("qps"), "figure"),
        *(Column(word(name), "count") for name in counts),
    ]
    return Table("calls", columns, rows, word("calls_title"), remarks)


def _fastest_first(entries: Sequence[tuple[float, str]]) -> list[Note]:
    return [word("timed_name", name=name, seconds=p50) for p50, name in sorted(entries)]


def _calls_notes(record: Record, live: list[SystemResult]) -> Iterator[Note]:
    """What to keep in mind when the latencies are read."""
    cached = [s.name for s in live if s.calls and s.calls.latency is None and s.calls.cached]
    if cached:
        yield word("untimed", names=cached)
    about = next((about for about in record.measures if about.aggregate != "sum"), None)
    latencies = {s.name: s.calls.latency for s in live if s.calls and s.calls.latency is not None}
    timed = [system for system in live if system.name in latencies]
    if about is not None and len(timed) > 1:
        points = [(system.means[about.name].value, latencies[system.name].p50) for system in timed]
        front = pareto_front(points, lower_is_better=about.lower_is_better)
        fastest = [(p50, s.name) for (_, p50), s, holds in zip(points, timed, front, strict=True) if holds]
        yield word("pareto", measure=about.name, names=_fastest_first(fastest))
    if any(latency.count < _TAIL for latency in latencies.values()):
        yield word("tail", n=_TAIL)


def sweeps_part(record: Record) -> Iterator[Block]:
    """The versions of each sweep."""
    sweeps = [sweep for sweep in record.sweeps if sweep.versions]
    if sweeps:
        yield Heading(word("sweep"), "sweep")
    for number, sweep in enumerate(sweeps):
        failed = list(sweep.failed.items())
        remarks = listed_remarks(sweep_notes(sweep))
        remarks += [_warning(word("left_out", name=label, reason=reason)) for label, reason in failed[:_FAILED]]
        remarks += [_warning(word("left_out_more", n=len(failed) - _FAILED))] if len(failed) > _FAILED else []
        yield _sweep_table(sweep, remarks, number)
        kinds = ("sweep", "setting")
        yield Beside(
            [Charts(kind, word(f"{kind}_chart"), partial(sweep_charts, sweep, kind, number)) for kind in kinds], "audit"
        )


def _sweep_table(sweep: SweepResult, remarks: Sequence[Remark], number: int) -> Table:
    names = list(sweep.versions[0].parameters)
    exact = any(version.ann_recall is not None for version in sweep.versions)
    rows: list[list[Cell]] = []
    for version in sweep.versions:
        marks = [("best", version.label == sweep.best), ("front", version.on_front and version.p50 is not None)]
        shown = tuple(word(name) for name, holds in marks if holds)
        rows.append(
            [
                version.label,
                *(shown_value(version.parameters[name]) for name in names),
                Marked(shown, "better" if version.label == sweep.best else "equivalent") if shown else "",
                Estimate(version.mean, ends_of(version.interval)),
                version.p50,
                version.p95,
                version.throughput,
                *([version.ann_recall] if exact else []),
            ]
        )
    columns = [
        Column(word("version")),
        *(Column(name) for name in names),
        Column(word("mark")),
        Column(sweep.measure, "score"),
        Column(word("p50"), "ms"),
        Column(word("p95"), "ms"),
        Column(word("qps"), "figure"),
        *([Column(word("ann_recall"), "score")] if exact else []),
    ]
    title = word("sweep_of", system=sweep.system, n=len(sweep.versions), measure=sweep.measure)
    return Table(f"sweep-{number + 1}", columns, rows, title, remarks)


def sweep_notes(sweep: SweepResult) -> Iterator[Note]:
    """The best version, what the choice is worth on other queries, and the versions on the Pareto front."""
    best, several = sweep.best_version, len(sweep.versions) > 1
    known: dict[str, Any] = {
        "n": len(sweep.versions),
        "system": sweep.system,
        "measure": sweep.measure,
        "best": best.label,
        "parameters": parameters_text(best.parameters),
        "mean": best.mean,
    }
    # The interval of the best of several does not hold: the version was chosen because its mean was high.
    if several or best.interval is None:
        yield word("best_version" if several else "only_version_plain", **known)
    else:
        yield word("only_version", **known, ends=ends_of(best.interval))
    if sweep.held_out is not None:
        yield from _held_out_notes(sweep, sweep.held_out)
    elif several:
        yield word("not_held_out")
    front = [(v.p50, v.label) for v in sweep.versions if v.on_front and v.p50 is not None]
    if front and several:
        yield word("on_front", names=_fastest_first(front))
    before = [version.label for version in sweep.versions if version.timed_before]
    if before:
        yield word("timed_before", names=before)


def _held_out_notes(sweep: SweepResult, held: HeldOut) -> Iterator[Note]:
    luck = (sweep.optimism or 0.0) * (-1 if sweep.lower_is_better else 1)
    yield word("held_out" if luck >= 0.00005 else "held_out_well", mean=held.mean, optimism=luck)
    if held.interval is not None:
        yield word("held_out_interval", best=sweep.best, level=held.interval.level, ends=ends_of(held.interval))
    votes = Counter(f"V{number}" for number in held.chosen).most_common()
    yield word("cross_validated", folds=held.folds, votes=[f"{n} × {label}" for label, n in votes])


def calls_data(record: Record) -> dict[str, Table]:
    """For spreadsheets: seconds, and plain numbers."""
    tables: dict[str, Table] = {}
    measures, rows = _qualities(record), []
    for system in record.systems:
        if system.calls is not None:
            calls, latency = system.calls, system.calls.latency
            cells: list[Cell] = [system.name, *(system.means[measure].value for measure in measures)]
            cells += [None if latency is None else getattr(latency, name) for name in _TIMES]
            cells += [calls.throughput, calls.concurrency, 0 if latency is None else latency.count]
            rows.append([*cells, len(calls.failed), calls.repeated, calls.cached])
    if rows:
        rest = ("throughput", "concurrency", "timed", "failed", "repeated", "cached")
        heads = ["system", *measures, *(f"{name}_seconds" for name in _TIMES), *rest]
        tables["calls"] = Table("calls", [Column(head, "plain") for head in heads], rows)
    for number, sweep in enumerate((sweep for sweep in record.sweeps if sweep.versions), start=1):
        tables["sweep" if number == 1 else f"sweep-{number}"] = _sweep_data(sweep)
    return tables


_VERSION = ("mean", "low", "high", "p50_seconds", "p95_seconds", "throughput", "ann_recall", "on_front", "best")


def _sweep_data(sweep: SweepResult) -> Table:
    names = list(sweep.versions[0].parameters)
    # A parameter may have any name, that of another column too.
    given = [f"parameter.{name}" for name in names]
    heads = ["system", "measure", "version", *given, *_VERSION, "timed_before", "failed"]

    def row(label: str, cells: Mapping[str, Cell]) -> list[Cell]:
        known: dict[str, Cell] = {"system": sweep.system, "measure": sweep.measure, "version": label, **cells}
        return [known.get(head) for head in heads]

    rows = [row(version.label, _version_cells(version, sweep)) for version in sweep.versions]
    if sweep.held_out is not None:
        low, high = ends_of(sweep.held_out.interval) or (None, None)
        rows.append(row("held out", {"mean": sweep.held_out.mean, "low": low, "high": high}))
    rows += [row(label, {"failed": reason}) for label, reason in sweep.failed.items()]
    return Table("sweep", [Column(head, "plain") for head in heads], rows)


def _version_cells(version: Version, sweep: SweepResult) -> dict[str, Cell]:
    low, high = ends_of(version.interval) or (None, None)
    parameters: dict[str, Cell] = {
        f"parameter.{name}": value if isinstance(value, int | float) else shown_value(value)
        for name, value in version.parameters.items()
    }
    return parameters | {
        "mean": version.mean,
        "low": low,
        "high": high,
        "p50_seconds": version.p50,
        "p95_seconds": version.p95,
        "throughput": version.throughput,
        "ann_recall": version.ann_recall,
        "on_front": version.on_front,
        "best": version.label == sweep.best,
        "timed_before": version.timed_before,
    }
