"""`plot`: one chart of a result, as an object that a notebook displays."""

from __future__ import annotations

import base64
import html
import json
import os
import re
from typing import Any, Literal, get_args

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.sources import write_whole
from rankgauge.gating.outcome import GateResult
from rankgauge.record import Record, SweepResult, as_record
from rankgauge.reports.calls_charts import calls_charts, sweep_charts
from rankgauge.reports.chart_fitting import complete
from rankgauge.reports.chart_specs import LINE, SHEETS, Chart, Row, forest_spec, plain, rounded, words_of
from rankgauge.reports.charts import charts_of, comparison_charts, mean_charts, pairs_of
from rankgauge.reports.chunk_sweeps import budget_charts
from rankgauge.reports.drawing import converter, drawn
from rankgauge.reports.losses_chart import losses_charts
from rankgauge.reports.renderers.notebook import two_tones
from rankgauge.stats.levels import check_whole
from rankgauge.words import Language, check_language

__all__ = ["KINDS", "Drawing", "plot"]

Mode = Literal["light", "dark"]
_MODES: tuple[Mode, ...] = get_args(Mode)
KINDS = (
    *("means", "forest", "scatter", "differences", "distribution", "tags", "latency", "budget", "sweep", "setting"),
    "losses",
)
_ROOM = 40
_ENDINGS = (".svg", ".png", ".json")
_VERDICTS = {"pass": "better", "regression": "worse", "broken": "worse", "inconclusive": "inconclusive"}


class Drawing:
    """A chart that a notebook displays, light or dark as the notebook is. `save(path)` writes it."""

    def __init__(self, chart: Chart, language: Language) -> None:
        self._chart, self._language = chart, language
        self.name, self.title = chart.name, chart.title

    def svg(self, mode: Mode = "light") -> str:
        """The chart as SVG, on the background of its mode."""
        made = drawn(self._chart, self._language, ("svg",), mode=mode, background=SHEETS[mode])
        return made["svg"].decode()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart, whole or not at all: as .svg or .png, or its Vega-Lite specification as .json."""
        name = as_path("path", path)
        ending = os.path.splitext(name)[1].lower()
        if ending not in _ENDINGS:
            raise DataError(f"{name}: a chart is written as {', '.join(_ENDINGS)}, told by the ending")
        if ending == ".json":
            write_whole(name, json.dumps(complete(self._chart), ensure_ascii=False).encode())
        else:
            write_whole(name, drawn(self._chart, self._language, (ending[1:],))[ending[1:]])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Two pictures, of which the page shows the one that suits it."""
        made = {str(mode): _roomy(self.svg(mode), SHEETS[mode]).encode() for mode in _MODES}
        pictures = {m: f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" for m, svg in made.items()}
        return {"text/plain": repr(self), "text/html": two_tones(pictures, html.escape(self.title))}

    def __repr__(self) -> str:
        return f"Plot({self.name!r}: {self.title})"


def _roomy(svg: str, background: str) -> str:
    """A picture with room at its left, for the fonts of a browser may be wider than those it was laid out with."""
    size = r'(<svg[^>]*?) width="([\d.]+)" height="([\d.]+)" viewBox="0 0 [\d. ]+"'

    def widened(found: re.Match[str]) -> str:
        width, height = float(found[2]) + _ROOM, found[3]
        room = f'width="{width:g}" height="{height}" viewBox="{-_ROOM} 0 {width:g} {height}"'
        return f'{found[1]} {room} style="background: {background}"'

    return re.sub(size, widened, svg, count=1)


@named_arguments
def plot(
    result: Any,
    kind: str | None = None,
    *,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
    language: str = "en",
    digits: int = 4,
) -> Drawing:
    """One chart of a result: what it is about, or one of a kind."""
    chosen = check_language(language)
    digits = check_whole("digits", digits, 0, 15)
    converter()  # what is missing should be said here, and not when a notebook displays it
    if kind is not None and kind not in KINDS:
        raise DataError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    if isinstance(result, GateResult):
        return Drawing(_gate_chart(result, chosen, digits), chosen)
    record = as_record(result, "result")
    name = None if measure is None else record.measure_name(measure)
    kinds = [kind] if kind is not None else _usual(record, isinstance(getattr(result, "result", None), SweepResult))
    for wanted in kinds:
        for chart in _charts(record, wanted, name, pair, chosen, digits):
            if name is None or chart.measure in (None, name):
                return Drawing(chart, chosen)
    about = "" if measure is None else f" of {measure}"
    raise DataError(f"there is nothing to draw as {' or '.join(kinds)}{about} in {record!r}")


def _usual(record: Record, swept: bool) -> list[str]:
    """The kinds that tell most of a result, the best first."""
    if swept:
        return ["budget", "sweep", "setting", "means"]
    if record.losses and record.comparison is None and not any(system.calls for system in record.systems):
        return ["losses", "means"]
    return ["forest", "means"] if record.comparison is not None else ["means", "distribution"]


def _charts(
    record: Record, kind: str, measure: str | None, pair: tuple[str, str] | None, language: Language, digits: int
) -> list[Chart]:
    if kind == "means":
        return mean_charts(record, language, digits)
    if kind == "forest":
        return comparison_charts(record, language, digits)
    if kind == "latency":
        return calls_charts(record, language, digits)
    if kind == "losses":
        return losses_charts(record, language, digits)
    if kind == "budget":
        return [chart for sweep in record.sweeps for chart in budget_charts(sweep, language, digits)]
    if kind in ("sweep", "setting"):
        return [chart for sweep in record.sweeps for chart in sweep_charts(sweep, kind, language, digits)]
    if not record.measures or not record.queries:
        return []
    shown = pair or next(iter(pairs_of(record)), None)
    found = charts_of(record, language, digits, measure=measure, pair=shown)
    return [chart for chart in found if chart.name.split("-")[0] == kind]


def _gate_chart(result: GateResult, language: Language, digits: int) -> Chart:
    """Relative changes from the baseline at worst and at best, and the band of changes that are allowed."""
    rules = [rule for rule in result.rules if rule.kind == "measure" and rule.values.get("change") is not None]
    if not rules:
        raise DataError("the gate compared no measure with a baseline, so that there is nothing to draw")
    rows: list[Row] = []
    for order, rule in enumerate(rules):
        ends = sorted((rule.values["worst"], rule.values["best"]))
        rows.append(
            {
                "label": plain(rule.name),
                "order": order,
                "measure": rule.name,
                "value": rounded(rule.values["change"]),
                "low": rounded(ends[0]),
                "high": rounded(ends[1]),
                "known": True,
                "verdict": _VERDICTS[rule.status],
                "n": rule.values["n"],
            }
        )
    words = words_of(language)
    known = {"system": plain(result.system), "a": plain(result.baseline.name if result.baseline else "")}
    title = words("gate_change", **known)
    spec = forest_spec(language, digits, title, result.settings.max_loss or None)
    marks = spec["layer"][-1]
    marks["encoding"]["color"]["legend"] = None  # its words are of comparisons; the title says the outcome
    marks["layer"][-1]["encoding"]["shape"]["legend"] = None
    return Chart("gate", words("gate", **known), spec, rows, len(rows) * LINE + 90)
