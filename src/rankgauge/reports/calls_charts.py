"""Charts of live figures: quality against latency with the Pareto front, and scores against a tuned parameter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankgauge.record import Record, SweepResult
from rankgauge.reports.chart_names import chart_name
from rankgauge.reports.chart_specs import (
    CATEGORIES,
    GREY,
    Chart,
    Row,
    Spec,
    colors,
    counted,
    ends,
    plain,
    rounded,
    spec_of,
    words_of,
)
from rankgauge.stats.pareto import pareto_front
from rankgauge.words import Language

__all__ = ["calls_charts", "parameters_text", "shown_value", "sweep_charts"]

_HEIGHT = 300
_WIDE = 10
"""Values that span more than this many times have a logarithmic axis."""
_LABELLED = 12
_TICKS = 10
_KINDS = {"best": (CATEGORIES[1], "diamond"), "front": (CATEGORIES[0], "circle"), "other": (GREY, "circle")}


def _scale(values: Iterable[float]) -> Spec:
    known = list(values)
    wide = min(known) > 0 and max(known) > _WIDE * min(known)
    return {"nice": False, "padding": 30, **({"type": "log"} if wide else {"zero": False})}


def _times(seconds: Mapping[str, float | None]) -> Row:
    """Milliseconds, for microseconds do not tell anything in a chart."""
    return {name: None if value is None else rounded(1000 * value) for name, value in seconds.items()}


def _latency_spec(
    rows: Sequence[Row], language: Language, digits: int, *, extra: Spec | None = None, **known: Any
) -> Spec:
    """Points with intervals, and the line through those on the front; `extra` is how points differ beside colour."""
    spec = spec_of("latency", language, digits, scale=_scale(row["p50"] for row in rows), **known)
    points = spec["layer"][1]["layer"]
    points[1]["encoding"] |= extra or {}
    if not any(row.get("shown") for row in rows):
        del points[2]  # the labels
    if sum(row["front"] for row in rows) < 2:
        del spec["layer"][0]  # no line without two points, and no legend that tells of one
    return spec


def _tooltip(language: Language, digits: int, measure: str, first: Sequence[str], last: Sequence[str]) -> list[Spec]:
    words, score = words_of(language), f".{digits}f"
    return [
        *({"field": name, "title": words(name)} for name in first),
        {"field": "value", "title": measure, "format": score},
        {"field": "interval", "title": words("interval")},
        *({"field": n, "title": words(n), "format": score if n == "ann_recall" else ".3~r"} for n in last),
    ]


def calls_charts(record: Record, language: Language, digits: int = 4) -> list[Chart]:
    """Each averaged measure of the live systems against their latency; none where fewer than two were timed."""
    words = words_of(language)
    timed = [(s, s.calls, s.calls.latency) for s in record.systems if s.calls is not None and s.calls.latency]
    if len(timed) < 2:
        return []
    everyone = [plain(system.name) for system in record.systems]
    shown = dict(zip(everyone, colors(everyone), strict=True))
    names = [plain(system.name) for system, _, _ in timed]
    color = {
        "field": "system",
        "type": "nominal",
        "scale": {"domain": names, "range": [shown[name] for name in names]},
        "legend": {"columns": min(4, len(names)), "symbolType": "circle"},
    }
    times = ("p50", "p95", "p99")
    charts = []
    for about in record.measures:
        if about.aggregate == "sum":
            continue
        means = [system.means[about.name] for system, _, _ in timed]
        points = [(mean.value, latency.p50) for mean, (_, _, latency) in zip(means, timed, strict=True)]
        front = pareto_front(points, lower_is_better=about.lower_is_better)
        rows: list[Row] = [
            {"system": plain(system.name), "value": rounded(mean.value), "front": on_front}
            | {"qps": rounded(calls.throughput)}
            | ends(mean.interval)
            | _times({name: getattr(latency, name) for name in times})
            for (system, calls, latency), mean, on_front in zip(timed, means, front, strict=True)
        ]
        tooltip = _tooltip(language, digits, plain(about.name), ["system"], [*times, "qps"])
        spec = _latency_spec(rows, language, digits, measure=plain(about.name), color=color, tooltip=tooltip)
        about_it = counted((mean.queries for mean in means), language, about.name)
        name = chart_name("latency", about.name)
        charts.append(Chart(name, words("calls"), spec, rows, _HEIGHT + 90, about.name, about_it))
    return charts


def sweep_charts(sweep: SweepResult, kind: str, language: Language, digits: int = 4) -> list[Chart]:
    """Of a sweep: quality against latency (`sweep`), or against the one number that was varied (`setting`); none where
    there is nothing to draw."""
    found = (_front_chart if kind == "sweep" else _setting_chart)(sweep, language, digits)
    return [] if found is None else [found]


def shown_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parameters_text(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shown_value(value)}" for name, value in parameters.items())


def _varied(sweep: SweepResult) -> list[str]:
    """Names of the parameters that differ between versions."""
    names = dict.fromkeys(name for version in sweep.versions for name in version.parameters)
    return [n for n in names if len({shown_value(version.parameters.get(n)) for version in sweep.versions}) > 1]


def _front_chart(sweep: SweepResult, language: Language, digits: int) -> Chart | None:
    words, measure = words_of(language), plain(sweep.measure)
    timed = [version for version in sweep.versions if version.p50 is not None]
    if len(timed) < 2:
        return None
    rows: list[Row] = []
    for version in timed:
        kind = "best" if version.label == sweep.best else "front" if version.on_front else "other"
        rows.append(
            {
                "version": version.label,
                "parameters": parameters_text(version.parameters),
                "kind": words(kind),
                "front": version.on_front,
                "shown": kind != "other" and sum(v.on_front for v in timed) <= _LABELLED,
                "value": rounded(version.mean),
                "qps": rounded(version.throughput),
                "ann_recall": rounded(version.ann_recall),
            }
            | ends(version.interval)
            | _times({"p50": version.p50, "p95": version.p95})
        )
    kinds = [kind for kind in _KINDS if any(row["kind"] == words(kind) for row in rows)]
    domain = [words(kind) for kind in kinds]
    field = {"field": "kind", "type": "nominal"}
    hues, shapes = ([_KINDS[kind][i] for kind in kinds] for i in (0, 1))
    color: Spec = field | {"scale": {"domain": domain, "range": hues}, "legend": {"columns": 4}}
    extra: Spec = {
        "shape": field | {"scale": {"domain": domain, "range": shapes}},
        "size": {"condition": {"test": f"datum.kind === '{words('best')}'", "value": 240}, "value": 110},
    }
    recall = any(version.ann_recall is not None for version in timed)
    last = ["p50", "p95", "qps", *(["ann_recall"] if recall else [])]
    tooltip = _tooltip(language, digits, measure, ["version", "parameters"], last)
    spec = _latency_spec(rows, language, digits, measure=measure, color=color, tooltip=tooltip, extra=extra)
    title = words("sweep", system=plain(sweep.system))
    name = chart_name("sweep", sweep.system, sweep.measure)
    return Chart(name, title, spec, rows, _HEIGHT + 90, about=measure)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _setting_chart(sweep: SweepResult, language: Language, digits: int) -> Chart | None:
    """Score and recall by the one parameter that was varied, if it is a number."""
    words, measure = words_of(language), plain(sweep.measure)
    names = _varied(sweep)
    if len(names) != 1 or not all(_is_number(version.parameters.get(names[0])) for version in sweep.versions):
        return None
    parameter = plain(names[0])
    series = [measure]
    rows: list[Row] = []
    for version in sweep.versions:
        own = {
            "version": version.label,
            "setting": version.parameters[names[0]],
            "parameters": parameters_text(version.parameters),
            "best": version.label == sweep.best,
        }
        scored = {"series": measure, "value": rounded(version.mean), "shown": own["best"]}
        rows.append(own | scored | ends(version.interval))
        # Both are shares of one; a score on another scale has the axis for itself.
        if version.ann_recall is not None and all(0 <= v.mean <= 1 for v in sweep.versions):
            series = [measure, words("ann_recall")]
            rows.append({**own, "series": words("ann_recall"), "value": rounded(version.ann_recall)} | ends(None))
    settings = sorted({row["setting"] for row in rows})
    ticks: Spec = {"values": settings, "format": ".6~g"} if len(settings) <= _TICKS else {}
    room: Spec = {"padding": 12} if len(series) == 1 else {"domainMax": 1}  # there is no recall above 1
    known = {
        "title": " / ".join(series),
        "parameter": parameter,
        "series": series,
        "colors": [CATEGORIES[0], CATEGORIES[2]][: len(series)],
        "legend": {"columns": 2, "symbolType": "circle"} if len(series) > 1 else None,
        "scale": _scale(settings),
        "axis": {"labelFlush": True, "labelSeparation": 6, **ticks},
        "room": {"zero": False, "nice": True, **room},
    }
    spec = spec_of("setting", language, digits, **known)
    title = words("setting", system=plain(sweep.system), parameter=parameter)
    name = chart_name("setting", sweep.system, names[0], sweep.measure)
    return Chart(name, title, spec, rows, _HEIGHT + (90 if len(series) > 1 else 60), about=measure)
