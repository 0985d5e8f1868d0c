"""trec_eval's own output: its measure names with their parameters, its order and its lines, from our kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.engine.matching import match
from rankgauge.engine.scoring import counted_queries, score_queries
from rankgauge.errors import MeasureError
from rankgauge.formats import RunParts
from rankgauge.measures import Measure, parse_measure
from rankgauge.measures.presets import find_preset
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import RankedGrades
from rankgauge.model.run import Run
from rankgauge.visible import visible

__all__ = ["CATALOGUE", "NICKNAMES", "SINCE_10", "TrecEval", "trec_lines", "trec_measures"]


@dataclass(frozen=True)
class Entry:
    """A measure of trec_eval: our name for it, and the cut-offs it prints by default."""

    ours: str
    cuts: Sequence[float] = ()
    cut_name: str = "{name}_{cut:g}"
    whole: bool = True
    summary_only: bool = False


_DATA = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
CATALOGUE = {name: Entry(**about) for name, about in _DATA["measures"].items()}
"""In the order in which trec_eval prints them."""
NICKNAMES = {"official": _DATA["official"], "set": _DATA["set"], "all_trec": list(CATALOGUE)}
SINCE_10 = _DATA["since_10"]


@dataclass(frozen=True)
class TrecMeasure:
    """One line of output: its printed name and how to compute it. `measure` is None for the relevance string."""

    name: str
    measure: Measure | None
    length: int = 10
    summary_only: bool = False


@dataclass(frozen=True)
class TrecEval:
    """trec_eval's flags: -q, -n, -c, -l, -M, -J and which version's rules."""

    per_query: bool = False
    summary: bool = True
    complete: bool = False
    level: float | None = None
    depth: int | None = None
    judged_only: bool = False
    version: str = "trec_eval"


def trec_measures(names: Iterable[str], flags: TrecEval) -> tuple[list[TrecMeasure], bool]:
    """The lines to print, in trec_eval's order, and whether the run's tag is among them.

    Parameters of a measure that is asked for several times are put together (trec_eval takes the first ones alone);
    they take the place of its default ones.
    """
    asked: dict[str, list[str]] = {}
    show_tag = False
    for text in names:
        name, parameters = _split(text)
        show_tag = show_tag or name in NICKNAMES or name == "runid"
        if name == "runid":
            continue
        for single in NICKNAMES.get(name, (name,)):
            if name == "all_trec" and flags.version == "trec_eval9" and single in SINCE_10:
                continue
            if single not in CATALOGUE:
                raise MeasureError(f"trec_eval has no measure {single!r}; it has: {', '.join(CATALOGUE)}")
            asked.setdefault(single, [])
            if parameters and parameters not in asked[single]:
                asked[single].append(parameters)
    lines = []
    for name in sorted(asked, key=list(CATALOGUE).index):
        together = [",".join(asked[name])] if CATALOGUE[name].cuts else asked[name] or [""]
        for parameters in together:
            lines += _lines_of(name, parameters, flags)
    return lines, show_tag


def _split(text: str) -> tuple[str, str]:
    """`P.5,10` or, as it is printed, `P_5`."""
    name, _, parameters = text.partition(".")
    if name in CATALOGUE or name in NICKNAMES or name == "runid":
        return name, parameters
    printed = re.fullmatch(r"(.+)_(\d+(?:\.\d+)?)", text)
    if printed and CATALOGUE.get(printed[1], Entry("")).cuts:
        return printed[1], printed[2]
    return text, ""


def _lines_of(name: str, parameters: str, flags: TrecEval) -> list[TrecMeasure]:
    entry = CATALOGUE[name]
    if name == "relstring":
        length = _numbers(name, parameters)[0] if parameters else 10
        return [TrecMeasure(f"relstring_{parameters}" if parameters else name, None, int(length))]
    if not entry.cuts:
        printed = f"{name}_{parameters}" if parameters else name
        return [
            TrecMeasure(printed, _adapted(_with_parameters(name, entry.ours, parameters), flags), 0, entry.summary_only)
        ]
    cuts: Sequence[float] = sorted(set(_numbers(name, parameters))) if parameters else entry.cuts
    if entry.whole:
        cuts = [int(cut) for cut in cuts]
    return [
        TrecMeasure(entry.cut_name.format(name=name, cut=cut), _adapted(entry.ours.format(cut=cut), flags), 0)
        for cut in cuts
    ]


def _numbers(name: str, parameters: str) -> list[float]:
    try:
        return [float(part) for part in parameters.split(",")]
    except ValueError:
        raise MeasureError(f"{name}.{parameters}: these are no numbers; example: {name}.5,10") from None


def _with_parameters(name: str, ours: str, parameters: str) -> str:
    if not parameters:
        return ours
    if name in ("ndcg", "G", "ndcg_rel", "Rndcg"):
        return f"{ours}(gains={{{parameters.replace('=', ': ')}}})"
    if name == "11pt_avg":
        return f"{ours}(points={parameters!r})"
    if name == "set_F":
        return f"{ours}(beta={parameters})"
    if name == "rbp":
        return f"RBP({parameters}, grades='scaled')"
    if name == "utility":
        values = _numbers(name, parameters)
        if len(values) != 4 or values[3] != 0:
            raise MeasureError("utility takes four numbers, and the last must be 0: the collection's size is not known")
        return f"{ours}(hit={values[0]}, noise={values[1]}, miss={values[2]})"
    raise MeasureError(f"{name} takes no parameters")


def _adapted(text: str, flags: TrecEval) -> Measure:
    measure = find_preset(flags.version).apply(parse_measure(text))
    definition = measure.definition
    if flags.level is not None and definition.relevance and definition.parameter("rel"):
        measure = measure.with_values(rel=flags.level)
    return measure


def trec_lines(qrels: Qrels, run: Run | RunParts, names: Iterable[str], flags: TrecEval, *, tag: str) -> list[str]:
    """The text trec_eval would print."""
    contract: Contract = find_preset(flags.version).contract.with_changes(
        missing="zero" if flags.complete else "skip", depth=flags.depth
    )
    wanted, show_tag = trec_measures(names, flags)
    ranked = match(qrels, run, contract).ranked
    if flags.depth is not None:
        ranked = ranked.limited(flags.depth)
    if flags.judged_only:
        ranked = ranked.judged_only()
    measures = [line.measure for line in wanted if line.measure is not None]
    values, _ = score_queries(ranked, measures)
    counted = counted_queries(ranked, measures, contract)
    column = {id(measure): j for j, measure in enumerate(measures)}
    lines: list[str] = []
    # Version 9 counts missing topics under -c, but prints no line for them.
    all_rows = contract.missing == "zero" and flags.version != "trec_eval9"
    order = byte_order(ranked.queries)
    if flags.per_query:
        for row in (order if all_rows else order[ranked.in_run[order]]).tolist():
            for line in wanted:
                if line.summary_only:
                    continue
                if line.measure is None:
                    shown = f"'{_relevance_string(ranked, row, line.length)}'"
                else:
                    shown = _shown(line.measure, float(values[row, column[id(line.measure)]]))
                lines.append(_line(line.name, ranked.queries[row], shown))
    if flags.summary:
        if show_tag:
            lines.append(_line("runid", "all", tag))
        for line in wanted:
            if line.measure is None:
                continue
            j = column[id(line.measure)]
            total = aggregate(line.measure.definition.aggregate, values[:, j], counted[:, j], order)
            lines.append(_line(line.name, "all", _shown(line.measure, total)))
    return lines


def _line(name: str, query: str, value: str) -> str:
    """A line as trec_eval prints it, but for controls in names: spelled out, they break and forge no line."""
    return f"{name:<22}\t{visible(query)}\t{visible(value)}"


def _shown(measure: Measure, value: float) -> str:
    return str(round(value)) if measure.definition.aggregate == "sum" else f"{value:6.4f}"


def _relevance_string(ranked: RankedGrades, row: int, length: int) -> str:
    """Grades of the first documents, one character each: - unjudged, . pooled but not judged, > above 9."""
    marks = ["-"] * min(length, int(ranked.retrieved[row]))
    hits = slice(int(ranked.starts[row]), int(ranked.starts[row + 1]))
    for above, grade in zip(ranked.above[hits].tolist(), ranked.grades[hits].tolist(), strict=True):
        if above < len(marks):
            marks[above] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    return "".join(marks)
