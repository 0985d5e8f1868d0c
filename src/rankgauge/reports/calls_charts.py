"""Charts of live figures: quality against latency with the Pareto front, and scores against a tuned parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankgauge.reports.calls_facts import front_of, parameters_text, sweeps_of, varied
from rankgauge.reports.chart_specs import Chart, Row, Spec, colors, interval_text, names_of, plain, rounded
from rankgauge.reports.chart_theme import CATEGORIES, GREY, WORDS
from rankgauge.words import Language

__all__ = ["calls_charts", "sweep_charts"]

Record = Mapping[str, Any]
_HEIGHT = 300
_WIDE = 10
"""Values that span more than this many times have a logarithmic axis."""
_LABELLED = 12
_TICKS = 10
_AXIS: Spec = {"labelFlush": True, "labelSeparation": 6}
# Beside the interval and above the line, which mostly rises to the right.
_LABEL: Spec = {"type": "text", "align": "right", "dx": -8, "dy": -11, "fontSize": 12, "fontWeight": 600}
_KINDS = {"best": (CATEGORIES[1], "diamond"), "front": (CATEGORIES[0], "circle"), "other": (GREY, "circle")}


def _scale(values: Iterable[float]) -> Spec:
    known = list(values)
    wide = min(known) > 0 and max(known) > _WIDE * min(known)
    return {"nice": False, "padding": 30, **({"type": "log"} if wide else {"zero": False})}


def _times(seconds: Mapping[str, float | None]) -> Row:
    """Milliseconds, for microseconds do not tell anything in a chart."""
    return {name: None if value is None else rounded(1000 * value) for name, value in seconds.items()}


def _ends(interval: Mapping[str, Any] | None) -> Row:
    return {end: rounded((interval or {}).get(end)) for end in ("low", "high")}


def _latency_spec(rows: Sequence[Row], measure: str, color: Spec, extra: Spec, tooltip: list[Spec], title: str) -> Spec:
    """Points with intervals, and the line through those on the front; `extra` is how points differ beside colour."""
    x = {"field": "p50", "type": "quantitative", "title": title, "axis": _AXIS}
    x["scale"] = _scale(row["p50"] for row in rows)
    y = {"type": "quantitative", "title": measure, "scale": {"zero": False, "nice": True, "padding": 12}}
    value = {"field": "value", **y}
    labels = [
        {
            "transform": [{"filter": "datum.shown"}],
            "mark": _LABEL,
            "encoding": {"text": {"field": "version"}, "y": value},
        }
    ]
    return {
        "height": _HEIGHT,
        "transform": [interval_text(".4f")],
        "encoding": {"x": x},
        "layer": [
            {
                "transform": [{"filter": "datum.front"}],
                "mark": {"type": "line", "color": GREY, "strokeWidth": 2, "strokeDash": [6, 4]},
                "encoding": {"y": value, "order": {"field": "p50", "type": "quantitative"}},
            },
            {
                "encoding": {"color": color, "tooltip": tooltip},
                "layer": [
                    {
                        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
                        "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.4, "strokeCap": "round"},
                        "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
                    },
                    {
                        "mark": {"type": "point", "filled": True, "opacity": 1, "size": 110},
                        "encoding": {"y": value, **extra},
                    },
                    *(labels if any(row.get("shown") for row in rows) else []),
                ],
            },
        ],
    }


def _tooltip(words: Mapping[str, str], measure: str, first: Sequence[str], last: Sequence[str]) -> list[Spec]:
    texts = {"system": "system", "version": "version", "parameters": "parameters"}
    numbers = {"p50": "p50_short", "p95": "p95_short", "p99": "p99_short", "rate": "rate"}
    return [
        *({"field": name, "title": words[texts[name]]} for name in first),
        {"field": "value", "title": measure, "format": ".4f"},
        {"field": "interval", "title": words["interval"]},
        *({"field": name, "title": words[numbers[name]], "format": ".3~r"} for name in last if name in numbers),
        *({"field": name, "title": words[name], "format": ".4f"} for name in last if name not in numbers),
    ]


def calls_charts(record: Record, language: Language) -> list[Chart]:
    """Each averaged measure of the live systems against their latency; none where fewer than two were timed."""
    words = WORDS[language]
    timed = [system for system in record["systems"] if (system.get("calls") or {}).get("latency")]
    if len(timed) < 2:
        return []
    everyone = [plain(system["name"]) for system in record["systems"]]
    shown = dict(zip(everyone, colors(everyone), strict=True))
    names = [plain(system["name"]) for system in timed]
    color = {
        "field": "system",
        "type": "nominal",
        "scale": {"domain": names, "range": [shown[name] for name in names]},
        "legend": {"columns": min(4, len(names)), "symbolType": "circle"},
    }
    times = ("p50", "p95", "p99")
    charts = []
    for measure in record["measures"]:
        name = measure["name"]
        if measure["aggregate"] == "sum":
            continue
        means = [system["means"][name] for system in timed]
        latencies = [system["calls"]["latency"] for system in timed]
        front = front_of(
            [(mean["value"], latency["p50"]) for mean, latency in zip(means, latencies, strict=True)],
            lower=measure.get("lower_is_better", False),
        )
        rows: list[Row] = [
            {"system": plain(system["name"]), "value": rounded(mean["value"]), "front": on_front}
            | {"rate": rounded(system["calls"]["throughput"])}
            | _ends(mean["interval"])
            | _times({key: latency[key] for key in times})
            for system, mean, latency, on_front in zip(timed, means, latencies, front, strict=True)
        ]
        tooltip = _tooltip(words, plain(name), ["system"], [*times, "rate"])
        spec = _latency_spec(rows, plain(name), color, {}, tooltip, words["p50"])
        charts.append(Chart("calls", words["calls"], spec, rows, _HEIGHT + 90, name))
    return charts


def sweep_charts(record: Record, language: Language) -> list[Chart]:
    """Quality against latency of each sweep's versions, and against the parameter where one number was varied."""
    sweeps = sweeps_of(record)
    charts: list[Chart] = []
    for i, sweep in enumerate(sweeps):
        for prefix, chart in (("sweep", _front_chart), ("setting", _setting_chart)):
            found = chart(sweep, names_of(prefix, len(sweeps))[i], language)
            charts += [] if found is None else [found]
    return charts


def _front_chart(sweep: Record, name: str, language: Language) -> Chart | None:
    words, measure = WORDS[language], plain(sweep["measure"])
    timed = [version for version in sweep["versions"] if version["p50"] is not None]
    if len(timed) < 2:
        return None
    rows: list[Row] = []
    for version in timed:
        kind = "best" if version["label"] == sweep["best"] else "front" if version["on_front"] else "other"
        rows.append(
            {
                "version": version["label"],
                "parameters": parameters_text(version["parameters"]),
                "kind": words[kind],
                "front": version["on_front"],
                "shown": kind != "other" and sum(v["on_front"] for v in timed) <= _LABELLED,
                "value": rounded(version["mean"]),
                "rate": rounded(version["throughput"]),
                "recall": rounded(version["ann_recall"]),
            }
            | _ends(version["interval"])
            | _times({key: version[key] for key in ("p50", "p95")})
        )
    kinds = [kind for kind in _KINDS if any(row["kind"] == words[kind] for row in rows)]
    domain = [words[kind] for kind in kinds]
    field = {"field": "kind", "type": "nominal"}
    hues, shapes = ([_KINDS[kind][i] for kind in kinds] for i in (0, 1))
    color: Spec = field | {"scale": {"domain": domain, "range": hues}, "legend": {"columns": 4}}
    extra: Spec = {
        "shape": field | {"scale": {"domain": domain, "range": shapes}},
        "size": {"condition": {"test": f"datum.kind === '{words['best']}'", "value": 240}, "value": 110},
    }
    last = ["p50", "p95", "rate", *(["recall"] if any(row["recall"] is not None for row in rows) else [])]
    tooltip = _tooltip(words, measure, ["version", "parameters"], last)
    spec = _latency_spec(rows, measure, color, extra, tooltip, words["p50"])
    title = words["sweep"].format(system=plain(sweep["system"]))
    return Chart(name, title, spec, rows, _HEIGHT + 90)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _setting_chart(sweep: Record, name: str, language: Language) -> Chart | None:
    """Score and recall by the one parameter that was varied, if it is a number."""
    words, measure = WORDS[language], plain(sweep["measure"])
    names = varied(sweep)
    if len(names) != 1 or not all(_is_number(version["parameters"].get(names[0])) for version in sweep["versions"]):
        return None
    parameter = plain(names[0])
    series = [measure]
    rows: list[Row] = []
    for version in sweep["versions"]:
        known = {
            "version": version["label"],
            "setting": version["parameters"][names[0]],
            "parameters": parameters_text(version["parameters"]),
            "best": version["label"] == sweep["best"],
        }
        own = {"series": measure, "value": rounded(version["mean"]), "shown": known["best"]}
        rows.append(known | own | _ends(version["interval"]))
        # Both are shares of one; a score on another scale has the axis for itself.
        if version["ann_recall"] is not None and all(0 <= v["mean"] <= 1 for v in sweep["versions"]):
            series = [measure, words["recall"]]
            rows.append({**known, "series": words["recall"], "value": rounded(version["ann_recall"])} | _ends(None))
    settings = sorted({row["setting"] for row in rows})
    x: Spec = {"field": "setting", "type": "quantitative", "title": parameter, "scale": _scale(settings)}
    x["axis"] = _AXIS | ({"values": settings, "format": ".6~g"} if len(settings) <= _TICKS else {})
    room: Spec = {"padding": 12} if len(series) == 1 else {"domainMax": 1}  # there is no recall above 1
    y = {"type": "quantitative", "title": " / ".join(series), "scale": {"zero": False, "nice": True, **room}}
    color = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": series, "range": [CATEGORIES[0], CATEGORIES[2]][: len(series)]},
        "legend": {"columns": 2, "symbolType": "circle"} if len(series) > 1 else None,
    }
    tooltip = [
        {"field": "version", "title": words["version"]},
        {"field": "parameters", "title": words["parameters"]},
        {"field": "series", "title": words["measure"]},
        {"field": "value", "title": words["average"], "format": ".4f"},
        {"field": "interval", "title": words["interval"]},
    ]
    value = {"field": "value", **y}
    spec: Spec = {
        "height": _HEIGHT,
        "transform": [interval_text(".4f")],
        "encoding": {"x": x, "color": color, "tooltip": tooltip},
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.4, "strokeCap": "round"},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": value}},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": {
                    "y": value,
                    "shape": {"condition": {"test": "datum.best", "value": "diamond"}, "value": "circle"},
                    "size": {"condition": {"test": "datum.best", "value": 240}, "value": 90},
                },
            },
            {
                "transform": [{"filter": "datum.shown"}],
                "mark": _LABEL,
                "encoding": {"y": value, "text": {"field": "version"}},
            },
        ],
    }
    title = words["setting"].format(system=plain(sweep["system"]), parameter=parameter)
    return Chart(name, title, spec, rows, _HEIGHT + (90 if len(series) > 1 else 60))
