"""The charts of a record: each a specification and its data, to be drawn into files or into a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankgauge.errors import DataError
from rankgauge.record import Record, SystemResult
from rankgauge.record import Row as Compared
from rankgauge.reports.calls_charts import calls_charts, sweep_charts
from rankgauge.reports.chart_specs import (
    LINE,
    Chart,
    Row,
    Spec,
    colors,
    ends,
    fill,
    forest_spec,
    plain,
    rounded,
    spec_of,
    words_of,
)
from rankgauge.words import Language, template

__all__ = [
    "charts_of",
    "comparison_charts",
    "default_pair",
    "domain_of",
    "mean_charts",
    "scores_of",
    "sign_of",
    "slice_rows",
    "slice_spec",
]

_TOGETHER = 24


def scores_of(system: SystemResult, measure: str) -> list[float | None]:
    """One system's score for each query; None where the query was not counted."""
    counted = system.counted.get(measure)
    values = system.per_query.get(measure, ())
    return [rounded(value) if counted is None or counted[i] else None for i, value in enumerate(values)]


def domain_of(values: Iterable[float | None]) -> tuple[float, float]:
    """The axis: from 0 to 1 where that holds everything, otherwise as far as the values go."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low, high) if low < high else (min(0.0, low), max(0.0, high))


def _by_scale(rows: Sequence[Row]) -> list[list[Row]]:
    """Measures between -1 and 1 share an axis; every other measure gets its own."""
    groups: dict[str | None, list[Row]] = {}
    large = {row["measure"] for row in rows if any(abs(row[end] or 0) > 1 for end in ("value", "low", "high"))}
    for row in rows:
        groups.setdefault(row["measure"] if row["measure"] in large else None, []).append(row)
    return list(groups.values())


def _named(prefix: str, groups: list[list[Row]]) -> list[tuple[str, list[Row]]]:
    """Names of charts of one kind."""
    return [(prefix if i == 0 else f"{prefix}-{i + 1}", group) for i, group in enumerate(groups)]


def mean_charts(record: Record, language: Language) -> list[Chart]:
    """The systems' means with their intervals."""
    words, systems = words_of(language), [plain(system.name) for system in record.systems]
    rows: list[Row] = []
    level = 0.95
    for about in record.measures:
        for system in record.systems:
            mean = system.means[about.name]
            if about.aggregate != "sum":
                level = level if mean.interval is None else mean.interval.level
                named = {"measure": plain(about.name), "system": plain(system.name)}
                rows.append(named | {"value": rounded(mean.value)} | ends(mean.interval))
    charts = []
    groups = _by_scale(rows)
    for name, group in _named("means", groups):
        measures = list(dict.fromkeys(row["measure"] for row in group))
        height = len(measures) * (16 * len(systems) + 14)
        title = words("means_of" if len(measures) == 1 else "mean", level=level, measure=measures[0])
        several = len(systems) > 1
        legend = {"columns": min(4, len(systems))} if several else None
        known = {"measures": measures, "systems": systems, "colors": colors(systems), "title": title}
        spec = spec_of("means", language, **known, height=height, legend=legend)
        charts.append(Chart(name, words("means"), spec, group, height + (90 if several else 60)))
    return charts


def _forest_row(row: Compared, label: str, order: int) -> Row:
    """A row of a comparison as a line of the forest plot."""
    return {
        "label": label,
        "order": order,
        "measure": row.measure,
        "a": row.a,
        "b": row.b,
        "value": rounded(row.difference),
        **ends(row.interval),
        "known": row.interval is not None,
        "verdict": row.verdict,
        "n": row.queries,
    }


def comparison_charts(record: Record, language: Language) -> list[Chart]:
    """Forest plots of all rows; many rows are cut up by measure."""
    if record.comparison is None or not record.comparison.rows:
        return []
    rows, pairs = record.comparison.rows, record.comparison.pairs
    measures = list(dict.fromkeys(row.measure for row in rows))
    many = len(rows) > _TOGETHER and len(measures) > 1

    def label(row: Compared) -> str:
        pair = f"{row.b} − {row.a}"
        if len(pairs) == 1:
            return row.measure
        return pair if many or len(measures) == 1 else f"{row.measure} · {pair}"

    lines = [_forest_row(row, label(row), i) for i, row in enumerate(rows)]
    groups = _by_scale(lines)
    if many:
        groups = [[line for line in lines if line["measure"] == measure] for measure in measures]
    words = words_of(language)
    title = words("difference")
    if len(pairs) == 1:
        title = words("difference_of", a=plain(rows[0].a), b=plain(rows[0].b))
    charts = []
    for name, group in _named("comparison", groups):
        measure = group[0]["measure"] if many else None
        shown = words("with", measure=plain(measure), text=title) if measure else title
        spec = forest_spec(language, shown, record.comparison.settings.equivalence_margin)
        charts.append(Chart(name, words("comparison"), spec, group, len(group) * LINE + 90, measure))
    return charts


def slice_rows(record: Record) -> list[Row]:
    """The lines of the plot by tag, for every measure and pair."""
    slices = [] if record.comparison is None else record.comparison.slices
    return [_forest_row(part.row, f"{part.tag} ({part.row.queries})", i) for i, part in enumerate(slices)]


def slice_spec(record: Record, language: Language) -> Spec:
    """The plot by tag, with measure and pair still open."""
    words = words_of(language)
    title = words("with", measure="{measure}", text=template("chart.difference_of", language))
    margin = None if record.comparison is None else record.comparison.settings.equivalence_margin
    return forest_spec(language, title, margin)


def default_pair(record: Record) -> tuple[str, str] | None:
    """The pair to show first: that of the first row, or the first two systems."""
    if record.comparison is not None and record.comparison.rows:
        return record.comparison.pairs[0]
    names = [system.name for system in record.systems]
    return (names[0], names[1]) if len(names) > 1 else None


def sign_of(record: Record, measure: str) -> int:
    """-1 where lower scores are better."""
    return -1 if record.measure(measure).lower_is_better else 1


def _per_query_charts(record: Record, measure: str, pair: tuple[str, str] | None, language: Language) -> list[Chart]:
    """Scatter, differences, distribution and tags for one measure and pair."""
    words = words_of(language)
    scores = {system.name: scores_of(system, measure) for system in record.systems}
    if not any(value is not None for values in scores.values() for value in values):
        return []
    low, high = domain_of(value for values in scores.values() for value in values)
    names = [plain(name) for name in scores]
    known: dict[str, Any] = {"measure": plain(measure), "lo": low, "hi": high, "sign": sign_of(record, measure)}
    known |= {"systems": names, "colors": colors(names)}
    charts = []
    if pair is not None:
        known |= {"a": plain(pair[0]), "b": plain(pair[1])}
        rows: list[Row] = [
            {"query": query, "text": record.texts.get(query, ""), "a": a, "b": b}
            for query, a, b in zip(record.queries, scores[pair[0]], scores[pair[1]], strict=True)
            if a is not None and b is not None
        ]
        for name in ("scatter", "differences"):
            title = words(name, a=known["a"], b=known["b"])
            charts.append(Chart(name, title, _filled(name, language, known), rows, 400, measure))
    spread: list[Row] = [
        {"system": plain(name), "v": value} for name, values in scores.items() for value in values if value is not None
    ]
    spec = _filled("distribution", language, known)
    charts.append(Chart("distribution", words("distribution"), spec, spread, len(scores) * 100 + 60, measure))
    by_tag = [row for row in slice_rows(record) if (row["measure"], row["a"], row["b"]) == (measure, *(pair or ()))]
    if by_tag:
        title = words("slices", a=known["a"], b=known["b"])
        spec = fill(slice_spec(record, language), known)
        charts.append(Chart("slices", title, spec, by_tag, len(by_tag) * LINE + 90, measure))
    return charts


def _filled(name: str, language: Language, known: Mapping[str, Any]) -> Spec:
    """A specification with its words first, for they have places for names in them."""
    found: Spec = fill(spec_of(name, language), known)
    return found


def charts_of(
    record: Record, language: Language, *, measure: str | None = None, pair: tuple[str, str] | None = None
) -> list[Chart]:
    """Every chart of a record; those of single queries for one measure and pair, the first ones by default."""
    measures = [about.name for about in record.measures]
    systems = [system.name for system in record.systems]
    for wanted, known in ((measure, measures), *((name, systems) for name in pair or ())):
        if wanted is not None and wanted not in known:
            raise DataError(f"the record has no {wanted!r}; it has: {', '.join(known)}")
    measure, pair = measure or measures[0], pair or default_pair(record)
    charts = [*mean_charts(record, language), *comparison_charts(record, language)]
    charts += [chart for chart in calls_charts(record, language) if chart.measure == measure]
    for number, sweep in enumerate(sweep for sweep in record.sweeps if sweep.versions):
        charts += [chart for kind in ("sweep", "setting") for chart in sweep_charts(sweep, kind, number, language)]
    return charts + _per_query_charts(record, measure, pair, language)
