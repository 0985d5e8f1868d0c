"""The charts of a record: each a specification and its data, to be drawn into files or into a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, MissingExtraError, RankgaugeError
from rankgauge.formats.sources import write_whole
from rankgauge.reports.calls_charts import calls_charts, sweep_charts
from rankgauge.reports.chart_query_specs import differences_spec, distribution_spec, scatter_spec
from rankgauge.reports.chart_specs import (
    LINE,
    Chart,
    Row,
    Spec,
    colors,
    forest_spec,
    means_spec,
    names_of,
    plain,
    rounded,
)
from rankgauge.reports.chart_theme import WORDS, theme
from rankgauge.words import Language

__all__ = [
    "Chart",
    "charts_of",
    "comparison_charts",
    "converter",
    "default_pair",
    "domain_of",
    "drawn",
    "mean_charts",
    "per_query_charts",
    "save_charts",
    "scores_of",
    "sign_of",
    "slice_chart",
    "slice_rows",
]

Record = Mapping[str, Any]

_TOGETHER = 24


def _fill(value: Any, known: Mapping[str, Any]) -> Any:
    """Put what was chosen into a specification; a text that is nothing but a name becomes the value itself."""
    if isinstance(value, dict):
        return {key: _fill(entry, known) for key, entry in value.items()}
    if isinstance(value, list):
        return [_fill(entry, known) for entry in value]
    if not isinstance(value, str):
        return value
    if value[1:-1] in known and value == f"{{{value[1:-1]}}}":
        return known[value[1:-1]]
    return re.sub(r"\{(\w+)\}", lambda found: str(known.get(found[1], found[0])), value)


def _percent(level: float) -> str:
    return f"{100 * level:g} %"


def scores_of(system: Mapping[str, Any], measure: str) -> list[float | None]:
    """One system's score for each query; None where the query was not counted."""
    values = system["per_query"].get(measure, ())
    counted = system["counted"].get(measure)
    return [rounded(value) if counted is None or counted[i] else None for i, value in enumerate(values)]


def domain_of(values: Iterable[float | None]) -> tuple[float, float]:
    """The axis: from 0 to 1 where that holds everything, otherwise as far as the values go."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    return (low, high) if low < high else (min(0.0, low), max(0.0, high))


def _by_scale(rows: Sequence[Row], ends: Sequence[str]) -> list[list[Row]]:
    """Measures between -1 and 1 share an axis; every other measure gets its own."""
    groups: dict[str | None, list[Row]] = {}
    large = {row["measure"] for row in rows if any(abs(row[end] or 0) > 1 for end in ends)}
    for row in rows:
        groups.setdefault(row["measure"] if row["measure"] in large else None, []).append(row)
    return list(groups.values())


def mean_charts(record: Record, language: Language) -> list[Chart]:
    """The systems' means with their intervals."""
    words, systems = WORDS[language], [plain(system["name"]) for system in record["systems"]]
    rows: list[Row] = []
    level = 0.95
    for measure in record["measures"]:
        for system in record["systems"]:
            entry = system["means"][measure["name"]]
            if measure["aggregate"] == "sum":
                continue
            bounds = entry["interval"] or {"low": None, "high": None}
            level = bounds.get("level", level)
            rows.append(
                {
                    "measure": plain(measure["name"]),
                    "system": plain(system["name"]),
                    "value": rounded(entry["value"]),
                }
                | {end: rounded(bounds[end]) for end in ("low", "high")}
            )
    charts = []
    groups = _by_scale(rows, ("value", "low", "high"))
    for name, group in zip(names_of("means", len(groups)), groups, strict=True):
        measures = list(dict.fromkeys(row["measure"] for row in group))
        height = len(measures) * (16 * len(systems) + 14)
        key = "mean" if len(measures) > 1 else "means_of"
        title = words[key].format(level=_percent(level), measure=measures[0])
        spec = means_spec(measures, systems, title, height, language)
        legend = 30 if len(systems) > 1 else 0
        charts.append(Chart(name, words["means"], spec, group, height + 60 + legend))
    return charts


def _forest_row(row: Mapping[str, Any], label: str, order: int) -> Row:
    """A row of a comparison as a line of the forest plot."""
    bounds = row["interval"] or {"low": None, "high": None}
    return {
        "label": label,
        "order": order,
        "measure": row["measure"],
        "a": row["a"],
        "b": row["b"],
        "value": rounded(row["difference"]),
        "low": rounded(bounds["low"]),
        "high": rounded(bounds["high"]),
        "known": row["interval"] is not None,
        "verdict": row["verdict"],
        "n": row["queries"],
    }


def comparison_charts(record: Record, language: Language) -> list[Chart]:
    """Forest plots of all rows; many rows are cut up by measure."""
    comparison = record.get("comparison") or {}
    rows = comparison.get("rows") or []
    if not rows:
        return []
    pairs = {(row["a"], row["b"]) for row in rows}
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    many = len(rows) > _TOGETHER and len(measures) > 1

    def label(row: Mapping[str, Any]) -> str:
        pair = f"{row['b']} − {row['a']}"
        if len(pairs) == 1:
            return str(row["measure"])
        return pair if many or len(measures) == 1 else f"{row['measure']} · {pair}"

    lines = [_forest_row(row, label(row), i) for i, row in enumerate(rows)]
    groups = _by_scale(lines, ("value", "low", "high"))
    if many:
        groups = [[line for line in lines if line["measure"] == measure] for measure in measures]
    words, title = WORDS[language], WORDS[language]["difference"]
    if len(pairs) == 1:
        title = words["difference_of"].format(a=plain(rows[0]["a"]), b=plain(rows[0]["b"]))
    charts = []
    for name, group in zip(names_of("comparison", len(groups)), groups, strict=True):
        measure = group[0]["measure"] if many else None
        shown = words["with"].format(measure=plain(measure), text=title) if measure else title
        spec = forest_spec(language, shown, (comparison.get("settings") or {}).get("margin"))
        charts.append(Chart(name, words["comparison"], spec, group, len(group) * LINE + 90, measure))
    return charts


def slice_rows(record: Record) -> list[Row]:
    """The lines of the plot by tag, for every measure and pair."""
    slices = (record.get("comparison") or {}).get("slices") or []
    return [_forest_row(row, f"{row['tag']} ({row['queries']})", i) for i, row in enumerate(slices)]


def slice_chart(record: Record, measure: str, a: str, b: str, language: Language) -> Chart | None:
    """Differences by tag for one measure and pair."""
    rows = [row for row in slice_rows(record) if (row["measure"], row["a"], row["b"]) == (measure, a, b)]
    if not rows:
        return None
    words, margin = WORDS[language], (record["comparison"].get("settings") or {}).get("margin")
    spec = forest_spec(
        language,
        words["with"].format(measure=plain(measure), text=words["difference_of"].format(a=plain(a), b=plain(b))),
        margin,
    )
    title = words["slices"].format(a=plain(a), b=plain(b))
    return Chart("slices", title, spec, rows, len(rows) * LINE + 90, measure)


def default_pair(record: Record) -> tuple[str, str] | None:
    """The pair to show first: that of the first row, or the first two systems."""
    rows = (record.get("comparison") or {}).get("rows") or []
    if rows:
        return rows[0]["a"], rows[0]["b"]
    names = [system["name"] for system in record["systems"]]
    return (names[0], names[1]) if len(names) > 1 else None


def sign_of(record: Record, measure: str) -> int:
    """-1 where lower scores are better."""
    return -1 if any(m["name"] == measure and m.get("lower_is_better") for m in record["measures"]) else 1


def per_query_charts(record: Record, measure: str, pair: tuple[str, str] | None, language: Language) -> list[Chart]:
    """Scatter, differences and distribution for one measure and pair."""
    words = WORDS[language]
    scores = {system["name"]: scores_of(system, measure) for system in record["systems"]}
    if not any(value is not None for values in scores.values() for value in values):
        return []
    low, high = domain_of(value for values in scores.values() for value in values)
    names = [plain(name) for name in scores]
    known: dict[str, Any] = {
        "measure": plain(measure),
        "lo": low,
        "hi": high,
        "systems": names,
        "colors": colors(names),
    }
    known["sign"] = sign_of(record, measure)
    charts = []
    if pair is not None:
        known |= {"a": plain(pair[0]), "b": plain(pair[1])}
        texts = record.get("texts") or {}
        rows: list[Row] = [
            {"query": query, "text": texts.get(query, ""), "a": a, "b": b}
            for query, a, b in zip(record["queries"], scores[pair[0]], scores[pair[1]], strict=True)
            if a is not None and b is not None
        ]
        for name, spec in (("scatter", scatter_spec(language)), ("differences", differences_spec(language))):
            charts.append(Chart(name, _fill(words[name], known), _fill(spec, known), rows, 400, measure))
    spread: list[Row] = [
        {"system": plain(name), "v": value} for name, values in scores.items() for value in values if value is not None
    ]
    spec = _fill(distribution_spec(language), known)
    charts.append(Chart("distribution", words["distribution"], spec, spread, len(scores) * 100 + 60, measure))
    return charts


def charts_of(
    record: Record, language: Language, *, measure: str | None = None, pair: tuple[str, str] | None = None
) -> list[Chart]:
    """Every chart of a record; those of single queries for one measure and pair, the first ones by default."""
    measures = [entry["name"] for entry in record["measures"]]
    systems = [system["name"] for system in record["systems"]]
    for wanted, known in ((measure, measures), *((name, systems) for name in pair or ())):
        if wanted is not None and wanted not in known:
            raise DataError(f"the record has no {wanted!r}; it has: {', '.join(known)}")
    measure, pair = measure or measures[0], pair or default_pair(record)
    charts = [*mean_charts(record, language), *comparison_charts(record, language)]
    charts += [chart for chart in calls_charts(record, language) if chart.measure == measure]
    charts += sweep_charts(record, language)
    charts += per_query_charts(record, measure, pair, language)
    if pair is not None and (slices := slice_chart(record, measure, *pair, language)) is not None:
        charts.append(slices)
    return charts


@cache
def converter() -> Any:
    """vl_convert, or what to install."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("charts need vl-convert-python: pip install 'rankgauge[report]'") from None
    return vl_convert


def save_charts(
    record: Record,
    folder: str | Path,
    language: Language = "en",
    *,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
) -> list[Path]:
    """Write every chart of a record as PNG and SVG into a folder, which is made if need be; the files written."""
    _tool_for(language)
    charts = charts_of(record, language, measure=measure, pair=pair)
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RankgaugeError(f"{target}: the folder cannot be made: {error.strerror or error}") from None
    written = []
    for chart in charts:
        for ending, data in drawn(chart, language).items():
            path = target / f"{chart.name}.{ending}"
            write_whole(path, data)
            written.append(path)
    return written


def drawn(chart: Chart, language: Language = "en", endings: Sequence[str] = ("svg", "png")) -> dict[str, bytes]:
    """A chart as the contents of files, by their ending."""
    tool = _tool_for(language)
    svg: str = tool.vegalite_to_svg(_sized(chart.complete()), config=theme("light", background="white"))
    made = {"svg": lambda: svg.encode(), "png": lambda: bytes(tool.svg_to_png(svg, scale=2.0))}
    return {ending: made[ending]() for ending in endings}


def _tool_for(language: Language) -> Any:
    """The converter, if it can write the language."""
    tool = converter()
    if language == "zh" and not _draws_chinese(tool):
        raise RankgaugeError(
            "no font on this machine has Chinese characters: install one, such as fonts-noto-cjk, or choose --lang en"
        )
    return tool


def _sized(spec: Spec) -> Spec:
    """A specification with the width of a file."""
    if "facet" in spec:
        return {**spec, "spec": {**spec["spec"], "width": 640}}
    return {**spec, "width": 640}


@cache
def _draws_chinese(tool: Any) -> bool:
    """Two characters that come out alike are two empty boxes."""

    def drawn(character: str) -> bytes:
        text = f'<text x="4" y="40" font-size="40" font-family="sans-serif">{character}</text>'
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60">{text}</svg>'
        return bytes(tool.svg_to_png(svg))

    return drawn("查") != drawn("区")
