"""The live part of a report: latency and throughput beside quality, and what sweeps found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from rankgauge.record import Calls, HeldOut, Record, SweepResult, SystemResult, Version
from rankgauge.reports.calls_charts import calls_charts, parameters_text, shown_value, sweep_charts
from rankgauge.reports.chunk_sweeps import budget_charts, chunk_notes, same_as_best
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
    Table,
    data_table,
    note_about,
    table_of,
    word,
)
from rankgauge.reports.evaluation import ends_of
from rankgauge.reports.remarks import unsaid
from rankgauge.stats.pareto import pareto_front
from rankgauge.words import Note

__all__ = ["calls_data", "calls_part", "mark_of", "sweep_notes", "sweeps_part", "tuned_notes"]

_TAIL = 100
"""With fewer calls than these the 99th percentile lies between the two slowest ones."""
_ENOUGH = 0.95
"""ANN recall from which an approximate index is good enough."""
_FAILED = 10
"""Versions without a score that are named one by one."""
_TIMES = ("p50", "p95", "p99")
_COSTS = ("mean", "p95", "total")
Live = tuple[SystemResult, Calls]


def _warning(name: str, /, **parameters: Any) -> Note:
    return Note(f"report.{name}", parameters, "warning")


def _qualities(record: Record) -> list[str]:
    return [about.name for about in record.measures if about.aggregate != "sum"]


def _live(record: Record) -> list[Live]:
    """The systems that were called, each with its calls."""
    return [(system, system.calls) for system in record.systems if system.calls is not None]


def calls_part(record: Record) -> Iterator[Block]:
    """Latency and throughput of the live systems, and those that were left out; nothing for a record of files."""
    live = _live(record)
    notes = [_warning("left_out", name=name, reason=reason) for name, reason in record.invalid.items()]
    notes += [note_about([system.name], note) for system, calls in live for note in calls.notes]
    notes = [*unsaid(notes, record), *_calls_notes(record, live)]
    if not live and not notes:
        return
    yield Heading(word("calls"), "calls")
    if live:
        yield _calls_table(record, live, notes)
        yield Paragraph(word("calls_hint"), "hint", "audit")
        yield Charts("calls", word("calls_chart"), partial(calls_charts, record))
    else:
        yield Notes(notes, word("calls_title"), "evidence")


def _figures(record: Record) -> list[tuple[str, Column, Callable[[Live], Cell]]]:
    """What is told of each live system: its name for programs, its column, and how it is got."""
    return [
        ("system", Column(word("system")), lambda live: live[0].name),
        *(
            (name, Column(name, "score"), lambda live, name=name: live[0].means[name].value)
            for name in _qualities(record)
        ),
        *(
            (f"{name}_seconds", Column(word(name), "ms"), lambda live, name=name: _time(live[1], name))
            for name in _TIMES
        ),
        ("throughput", Column(word("qps"), "figure"), lambda live: live[1].throughput),
        ("concurrency", Column(word("concurrency"), "count"), lambda live: live[1].concurrency),
        ("timed", Column(word("timed"), "count"), lambda live: 0 if live[1].latency is None else live[1].latency.count),
        ("failed", Column(word("failed"), "count"), lambda live: len(live[1].failed)),
        *_cost_figures(record),
        ("repeated", Column(word("repeated"), "count"), lambda live: live[1].repeated),
        ("cached", Column(word("cached"), "count"), lambda live: live[1].kept),
    ]


def _cost_figures(record: Record) -> list[tuple[str, Column, Callable[[Live], Cell]]]:
    """What the answers cost, where any system tells it; a unit that all share stands in the heads."""
    costs = [calls.cost for _, calls in _live(record) if calls.cost is not None]
    units = {cost.unit for cost in costs}
    unit = next(iter(units)) if len(units) == 1 else ""
    figures: list[tuple[str, Column, Callable[[Live], Cell]]] = [
        (f"cost_{name}", Column(_cost_head(name, unit), "figure"), partial(_cost, name)) for name in _COSTS
    ]
    if len(units) > 1:
        figures.append(("cost_unit", Column(Note("asking.cost_unit")), lambda live: _unit(live[1])))
    return figures if costs else []


def _unit(calls: Calls) -> str:
    return "" if calls.cost is None else calls.cost.unit


def _cost_head(name: str, unit: str) -> Note:
    return Note(f"asking.cost_{name}", {"unit": unit}) if unit else Note(f"asking.cost_{name}_plain")


def _cost(name: str, live: Live) -> float | None:
    cost = live[1].cost
    return None if cost is None else float(getattr(cost, name))


def _calls_table(record: Record, live: Sequence[Live], notes: Sequence[Note]) -> Table:
    """One row for each live system: its first measure, for all stand in the table of means, and what its calls took."""
    left_out = _qualities(record)[1:]
    if not any(calls.repeated for _, calls in live):  # a column that is seldom filled
        left_out.append("repeated")
    columns = [(column, cell) for name, column, cell in _figures(record) if name not in left_out]
    return table_of("calls", live, columns, title=word("calls_title"), notes=notes, detail="evidence")


def _time(calls: Calls, name: str) -> float | None:
    return None if calls.latency is None else float(getattr(calls.latency, name))


def _fastest_first(entries: Sequence[tuple[float, str]]) -> list[Note]:
    return [word("timed_name", name=name, seconds=p50) for p50, name in sorted(entries)]


def _calls_notes(record: Record, live: Sequence[Live]) -> Iterator[Note]:
    """What to keep in mind when the latencies are read."""
    cached = [system.name for system, calls in live if calls.latency is None and calls.kept]
    if cached:
        yield word("untimed", names=cached)
    about = next((about for about in record.measures if about.aggregate != "sum"), None)
    timed = [(system, calls.latency) for system, calls in live if calls.latency is not None]
    if about is not None and len(timed) > 1:
        points = [(system.means[about.name].value, latency.p50) for system, latency in timed]
        front = pareto_front(points, lower_is_better=about.lower_is_better)
        fastest = [(latency.p50, system.name) for (system, latency), on in zip(timed, front, strict=True) if on]
        yield word("pareto", measure=about.name, names=_fastest_first(fastest))
    if any(latency.count < _TAIL for _, latency in timed):
        yield word("tail", n=_TAIL)


def sweeps_part(record: Record) -> Iterator[Block]:
    """The versions of each sweep."""
    sweeps = [sweep for sweep in record.sweeps if sweep.versions]
    if sweeps:
        yield Heading(word("sweep"), "sweep")
    for number, sweep in enumerate(sweeps):
        failed = list(sweep.failed.items())
        notes = [*sweep_notes(sweep), *chunk_notes(record, sweep)]
        notes += [_warning("left_out", name=label, reason=reason) for label, reason in failed[:_FAILED]]
        notes += [_warning("left_out_more", n=len(failed) - _FAILED)] if len(failed) > _FAILED else []
        yield _sweep_table(sweep, notes, number)
        if any(version.curve for version in sweep.versions):
            yield Charts("budget", Note("chunks.budget_chart"), partial(budget_charts, sweep))
        kinds = ("sweep", "setting")
        yield Beside(
            [Charts(kind, word(f"{kind}_chart"), partial(sweep_charts, sweep, kind)) for kind in kinds], "audit"
        )


def _sweep_table(sweep: SweepResult, notes: Sequence[Note], number: int) -> Table:
    exact = any(version.ann_recall is not None for version in sweep.versions)
    chunked = any(version.chunks is not None for version in sweep.versions)
    parameters = list(sweep.versions[0].parameters)
    columns: list[tuple[Column, Callable[[Version], Cell]]] = [
        (Column(word("version")), lambda version: version.label),
        *((Column(name), lambda version, name=name: shown_value(version.parameters[name])) for name in parameters),
        (Column(word("mark")), lambda version: mark_of(version, sweep)),
        (Column(sweep.measure, "score"), lambda version: Estimate(version.mean, ends_of(version.interval))),
        (Column(word("p50"), "ms"), lambda version: version.p50),
        (Column(word("p95"), "ms"), lambda version: version.p95),
        (Column(word("qps"), "figure"), lambda version: version.throughput),
        *([(Column(word("ann_recall"), "score"), lambda version: version.ann_recall)] if exact else []),
        *([(Column(Note("chunks.column"), "figure"), lambda version: version.chunks)] if chunked else []),
    ]
    title = word("sweep_of", system=sweep.system, n=len(sweep.versions), measure=sweep.measure)
    return table_of(f"sweep-{number + 1}", sweep.versions, columns, title=title, notes=notes, detail="evidence")


def mark_of(version: Version, sweep: SweepResult) -> Cell:
    """Whether it is the best, and on the Pareto front."""
    best, front = version.label == sweep.best, version.on_front and version.p50 is not None
    words = tuple(word(name) for name, holds in (("best", best), ("front", front)) if holds)
    return Marked(words, "better" if best else "quiet") if words else ""


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


def tuned_notes(record: Record) -> Iterator[Note]:
    """The versions to take, a line for each sweep."""
    for sweep in record.sweeps:
        if sweep.versions and (note := _tuned(sweep)) is not None:
            yield note
            labels = same_as_best(record, sweep)
            same = [f"({parameters_text(one.parameters)})" for one in sweep.versions if one.label in labels]
            if same:
                yield Note("answer.tuned_same", {"measure": sweep.measure, "same": same})
            if (doubt := _favoured(record, sweep)) is not None:
                yield doubt


def _favoured(record: Record, sweep: SweepResult) -> Note | None:
    """What favours some sizes of chunks over others, unless the systems' own notes say it."""
    if len({repr(version.parameters.get("size")) for version in sweep.versions if version.chunks is not None}) < 2:
        return None
    key = "live.no_budget" if sweep.budget is None else "live.document_labels"
    if key == "live.document_labels" and sweep.measure.partition("@")[0] != "R":  # which is of passages elsewhere
        return None
    told = {note.key for system in record.systems if system.calls is not None for note in system.calls.notes}
    return None if key in told else Note(key, level="warning")


def _tuned(sweep: SweepResult) -> Note | None:
    """The version to take; of an approximate index the least exact that finds nearly all."""
    close = [version for version in sweep.versions if (version.ann_recall or 0.0) >= _ENOUGH]
    if close:
        taken = min(close, key=lambda version: version.ann_recall or 0.0)
        about = {"parameters": parameters_text(taken.parameters), "recall": taken.ann_recall}
        return Note("answer.tuned_ann", {"system": sweep.system, **about})
    if len(sweep.versions) < 2:
        return None
    best = sweep.best_version
    named = {"system": sweep.system, "measure": sweep.measure, "parameters": parameters_text(best.parameters)}
    known: dict[str, Any] = {**named, "mean": best.mean}
    if sweep.held_out is None:
        return Note("answer.tuned_plain", known)
    return Note("answer.tuned", {**known, "held": sweep.held_out.mean})


def calls_data(record: Record) -> dict[str, Table]:
    """For spreadsheets: seconds, and plain numbers."""
    figures = _figures(record)
    rows = [{name: cell(live) for name, _, cell in figures} for live in _live(record)]
    tables = {"calls": data_table("calls", rows)} if rows else {}
    for number, sweep in enumerate((sweep for sweep in record.sweeps if sweep.versions), start=1):
        tables["sweep" if number == 1 else f"sweep-{number}"] = data_table("sweep", list(_sweep_data(sweep)))
    return tables


def _sweep_data(sweep: SweepResult) -> Iterator[dict[str, Cell]]:
    """The versions, then the cross-validated score, then those without a score."""
    start: dict[str, Cell] = {"system": sweep.system, "measure": sweep.measure}
    for version in sweep.versions:
        low, high = ends_of(version.interval) or (None, None)
        yield {
            **start,
            "version": version.label,
            # A parameter may have any name, that of another column too.
            **{f"parameter.{name}": _plain(value) for name, value in version.parameters.items()},
            "mean": version.mean,
            "low": low,
            "high": high,
            "p50_seconds": version.p50,
            "p95_seconds": version.p95,
            **{name: getattr(version, name) for name in ("throughput", "ann_recall", "on_front")},
            "best": version.label == sweep.best,
            "timed_before": version.timed_before,
            **({} if version.chunks is None else {"chunks": version.chunks}),
            **{f"budget={point.budget}": point.mean for point in version.curve},
            "failed": None,
        }
    if sweep.held_out is not None:
        low, high = ends_of(sweep.held_out.interval) or (None, None)
        yield {**start, "version": "held out", "mean": sweep.held_out.mean, "low": low, "high": high}
    for label, reason in sweep.failed.items():
        yield {**start, "version": label, "failed": reason}


def _plain(value: Any) -> Cell:
    return value if isinstance(value, int | float) else shown_value(value)
