"""The charts of a record: each a specification and its data, to be drawn into files or into a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.errors import DataError
from rankgauge.record import Record, SystemResult
from rankgauge.record import Row as Compared
from rankgauge.reports.calls_charts import calls_charts, sweep_charts
from rankgauge.reports.chart_names import chart_name, named_apart
from rankgauge.reports.chart_specs import (
    LINE,
    Chart,
    Row,
    Spec,
    colors,
    counted,
    ends,
    fill,
    forest_spec,
    plain,
    rounded,
    spec_of,
    words_of,
)
from rankgauge.reports.chunk_sweeps import budget_charts
from rankgauge.reports.losses_chart import losses_charts
from rankgauge.words import Language, template

__all__ = [
    "charts_of",
    "comparison_charts",
    "domain_of",
    "mean_charts",
    "pairs_of",
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


def mean_charts(record: Record, language: Language, digits: int = 4) -> list[Chart]:
    """The systems' means with their intervals."""
    words, systems = words_of(language), [plain(system.name) for system in record.systems]
    rows: list[Row] = []
    level = 0.95
    for about in record.measures:
        for system in record.systems:
            mean = system.means[about.name]
            if about.aggregate != "sum":
                level = level if mean.interval is None else mean.interval.level
                named = {"measure": plain(about.name), "system": plain(system.name), "n": mean.queries}
                rows.append(named | {"value": rounded(mean.value)} | ends(mean.interval))
    charts = []
    for group in _by_scale(rows):
        measures = list(dict.fromkeys(row["measure"] for row in group))
        alone = measures[0] if len(measures) == 1 else None
        height = len(measures) * (16 * len(systems) + 14)
        title = words("means_of" if alone else "mean", level=level, measure=measures[0])
        several = len(systems) > 1
        legend = {"columns": min(4, len(systems))} if several else None
        known = {"measures": measures, "systems": systems, "colors": colors(systems), "title": title}
        spec = spec_of("means", language, digits, **known, height=height, legend=legend)
        name = chart_name("means", *([alone] if alone else []))
        about_it = counted((row["n"] for row in group), language, alone)
        charts.append(Chart(name, words("means"), spec, group, height + (90 if several else 60), about=about_it))
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


def _best_first(record: Record, rows: Iterable[Compared]) -> list[Compared]:
    """By difference, from the largest gain to the largest loss."""
    return sorted(rows, key=lambda row: -row.difference * sign_of(record, row.measure))


def comparison_charts(record: Record, language: Language, digits: int = 4) -> list[Chart]:
    """Forest plots, best first: one for each measure, or all measures of a single pair together."""
    if record.comparison is None or not record.comparison.rows:
        return []
    words, rows, pairs = words_of(language), record.comparison.rows, record.comparison.pairs
    measures = list(dict.fromkeys(row.measure for row in rows))
    margin = record.comparison.settings.equivalence_margin
    charts = []

    def chart(group: list[Row], title: str, axis: str, measure: str | None, *names: str) -> None:
        about = counted((row["n"] for row in group), language, measure)
        spec = forest_spec(language, digits, axis, margin)
        alone = measure if len(rows) > _TOGETHER else None  # the page shows one measure of many at a time
        height = len(group) * LINE + 90
        charts.append(Chart(chart_name("forest", *names), title, spec, group, height, alone, about))

    if len(pairs) == 1 and len(measures) > 1:
        (a, b), lines = pairs[0], [_forest_row(row, row.measure, i) for i, row in enumerate(rows)]
        known = {"a": plain(a), "b": plain(b)}
        for group in _by_scale(lines):
            alone = group[0]["measure"] if len({line["measure"] for line in group}) == 1 else None
            axis = words("difference_of", **known)
            chart(group, words("forest_of", **known), axis, alone, *([alone] if alone else [a, b]))
        return charts
    for measure in measures:
        ordered = _best_first(record, [row for row in rows if row.measure == measure])
        group = [_forest_row(row, f"{row.b} − {row.a}", i) for i, row in enumerate(ordered)]
        axis = words("with", measure=plain(measure), text=words("difference"))
        chart(group, words("comparison"), axis, measure, measure)
    return charts


def slice_rows(record: Record) -> list[Row]:
    """The lines of the plot by tag, for every measure and pair, best first."""
    slices = [] if record.comparison is None else record.comparison.slices
    tags = {id(part.row): part.tag for part in slices}
    ordered = _best_first(record, [part.row for part in slices])
    return [_forest_row(row, f"{tags[id(row)]} ({row.queries})", i) for i, row in enumerate(ordered)]


def slice_spec(record: Record, language: Language, digits: int = 4) -> Spec:
    """The plot by tag, with measure and pair still open."""
    words = words_of(language)
    title = words("with", measure="{measure}", text=template("chart.difference_of", language))
    margin = None if record.comparison is None else record.comparison.settings.equivalence_margin
    return forest_spec(language, digits, title, margin)


def pairs_of(record: Record) -> list[tuple[str, str]]:
    """The pairs that are shown: those compared, or each system with each."""
    if record.comparison is not None and record.comparison.pairs:
        return list(record.comparison.pairs)
    names = [system.name for system in record.systems]
    return [(names[i], names[j]) for j in range(len(names)) for i in range(j)]


def sign_of(record: Record, measure: str) -> int:
    """-1 where lower scores are better."""
    return -1 if record.measure(measure).lower_is_better else 1


class _Queries:
    """The charts of single queries for one measure."""

    def __init__(self, record: Record, measure: str, language: Language, digits: int) -> None:
        self.record, self.measure, self.language, self.digits = record, measure, language, digits
        self.words = words_of(language)
        self.scores = {system.name: scores_of(system, measure) for system in record.systems}
        self.by_tag = [row for row in slice_rows(record) if row["measure"] == measure]
        low, high = domain_of(value for values in self.scores.values() for value in values)
        names = [plain(name) for name in self.scores]
        self.known: dict[str, Any] = {"measure": plain(measure), "lo": low, "hi": high}
        self.known |= {"sign": sign_of(record, measure), "systems": names, "colors": colors(names)}

    def charts(self, pairs: Sequence[tuple[str, str]]) -> list[Chart]:
        """Distribution, then scatter, differences and tags for each pair."""
        if not any(value is not None for values in self.scores.values() for value in values):
            return []
        return [self._distribution(), *(chart for pair in pairs for chart in self._of_pair(*pair))]

    def _spec(self, name: str, known: Mapping[str, Any]) -> Spec:
        """A specification with its words first, for they have places for names in them."""
        found: Spec = fill(spec_of(name, self.language, self.digits), known)
        return found

    def _about(self, queries: Iterable[int]) -> str:
        return counted(queries, self.language, self.measure)

    def _distribution(self) -> Chart:
        rows: list[Row] = [
            {"system": plain(name), "v": value}
            for name, values in self.scores.items()
            for value in values
            if value is not None
        ]
        about = self._about(sum(value is not None for value in values) for values in self.scores.values())
        name, height = chart_name("distribution", self.measure), len(self.scores) * 100 + 60
        spec = self._spec("distribution", self.known)
        return Chart(name, self.words("distribution"), spec, rows, height, self.measure, about)

    def _of_pair(self, a: str, b: str) -> Iterator[Chart]:
        pair = {"a": plain(a), "b": plain(b)}
        rows: list[Row] = [
            {"query": query, "text": self.record.texts.get(query, ""), "a": x, "b": y}
            for query, x, y in zip(self.record.queries, self.scores[a], self.scores[b], strict=True)
            if x is not None and y is not None
        ]
        for kind in ("scatter", "differences"):
            name, spec = chart_name(kind, a, b, self.measure), self._spec(kind, self.known | pair)
            yield Chart(name, self.words(kind, **pair), spec, rows, 400, self.measure, self._about([len(rows)]))
        by_tag = [row for row in self.by_tag if (row["a"], row["b"]) == (a, b)]
        if by_tag:
            spec = fill(slice_spec(self.record, self.language, self.digits), self.known | pair)
            name, title = chart_name("tags", a, b, self.measure), self.words("slices", **pair)
            height = len(by_tag) * LINE + 90
            yield Chart(name, title, spec, by_tag, height, self.measure, self._about([len(rows)]))


def charts_of(
    record: Record,
    language: Language,
    digits: int = 4,
    *,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
) -> list[Chart]:
    """Every chart of a record under a name of its own; those of single queries for one measure, the first one by
    default, and for one pair or every pair that is shown."""
    measures = [about.name for about in record.measures]
    systems = [system.name for system in record.systems]
    for wanted, known in ((measure, measures), *((name, systems) for name in pair or ())):
        if wanted is not None and wanted not in known:
            raise DataError(f"the record has no {wanted!r}; it has: {', '.join(known)}")
    measure = measure or measures[0]
    charts = [*mean_charts(record, language, digits), *comparison_charts(record, language, digits)]
    charts += [chart for chart in calls_charts(record, language, digits) if chart.measure == measure]
    for sweep in (sweep for sweep in record.sweeps if sweep.versions):
        about = counted([len(record.queries)], language, sweep.measure)
        charts += [replace(chart, about=about) for chart in budget_charts(sweep, language, digits)]
        for kind in ("sweep", "setting"):
            charts += [replace(chart, about=about) for chart in sweep_charts(sweep, kind, language, digits)]
    charts += losses_charts(record, language, digits)
    pairs = pairs_of(record) if pair is None else [pair]
    return named_apart([*charts, *_Queries(record, measure, language, digits).charts(pairs)])
