"""From text to measures: this project's names, ir_measures', trec_eval's, ranx's and the plain words people use.

nDCG@10   nDCG(gain='exp')@10   ndcg_cut_10   ndcg_cut.10,20   R@5,10,20   capped recall@10   P(rel=2)@5
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import MeasureError
from rankgauge.measures.measure import Definition, Measure
from rankgauge.measures.presets import PRESETS, find_preset
from rankgauge.measures.registry import find, nearest, normal

__all__ = ["find_measure", "find_measure_name", "of_passages", "parse_measure", "parse_measures"]

_CALL = re.compile(r"^\s*(?P<name>[^()@]+?)\s*(?:\((?P<inside>.*)\))?\s*(?:@\s*(?P<at>[^@()]+))?\s*$", re.DOTALL)
_TAIL = re.compile(r"^(?P<name>.*?[^\d.,_\-\s])\s*[_.\-\s]\s*(?P<at>\d*\.?\d+(?:,\d*\.?\d+)*)$")
_PAIRS = re.compile(r"^(?P<name>[A-Za-z_]+)\.(?P<pairs>-?\d+=-?\d*\.?\d+(?:,-?\d+=-?\d*\.?\d+)*)$")
_LONGEST = 500


@named_arguments
def parse_measures(texts: str | Measure | Iterable[str | Measure] | Any) -> list[Measure]:
    """Measures from one or several texts, or measures of ir_measures; `R@5,10,20` gives three. Repeats are dropped."""
    named: Iterable[Any] = texts if isinstance(texts, Iterable) and not isinstance(texts, str) else [texts]
    measures = dict.fromkeys(measure for text in named for measure in _parse(text))
    if not measures:
        raise MeasureError("no measure was named; example: nDCG@10")
    return list(measures)


@named_arguments
def parse_measure(text: str | Measure | Any) -> Measure:
    """Exactly one measure from a text, or from a measure of ir_measures."""
    found = _parse(text)
    if len(found) != 1:
        raise MeasureError(f"{text!r} names {len(found)} measures; one is wanted here")
    return found[0]


def find_measure(text: str) -> Measure | None:
    """The measure that a text names, or None: scores from elsewhere may have any name."""
    try:
        return parse_measure(text)
    except MeasureError:
        return None


def of_passages(measure: Measure) -> Measure:
    """A measure where labels are passages and chunks are retrieved. Recall counts passages: R@k would count a passage
    in two chunks twice, so that chunks which overlap more would have more to find. Others stay as they are."""
    if measure.name != "R" or {name for name, _ in measure.values} - {"rel"}:
        return measure
    counted = parse_measure("StRecall").with_at(measure.at)
    return counted.with_values(rel=measure.get("rel")) if measure.is_set("rel") else counted


def find_measure_name(
    spelling: str | Measure | Any, known: Iterable[str], preset: str | None = None, *, passages: bool = False
) -> str | None:
    """The one of the known names that a spelling of a measure stands for, or None.

    A measure is also known as it was asked for, before its preset changed its parameters, or its recall became that of
    `passages`.
    """
    names = list(known)
    if str(spelling) in names:
        return str(spelling)
    try:
        measures = [parse_measure(spelling)]
        measures += [find_preset(preset).apply(measures[0])] if preset in PRESETS else []
    except MeasureError:
        return None
    measures += list(map(of_passages, measures)) if passages else []
    return next((name for name in map(str, measures) if name in names), None)


def _parse(text: Any) -> list[Measure]:
    if isinstance(text, Measure):
        return [text]
    if hasattr(text, "NAME") and isinstance(getattr(text, "params", None), dict):  # ir_measures
        return [_build(text.NAME, text.NAME, dict(text.params), None)]
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise MeasureError(f"{str(text)[:60]!r} is no measure; example: nDCG@10")
    text = unicodedata.normalize("NFKC", text)  # full-width letters, digits and signs of Chinese input
    pairs = _PAIRS.match(text.strip())
    if pairs:
        gains = dict(part.split("=") for part in pairs["pairs"].split(","))
        return [_build(text, pairs["name"], {"gains": {float(k): float(v) for k, v in gains.items()}}, None)]
    call = _CALL.match(text)
    if call is None:
        raise MeasureError(f"{text!r} is no measure: write it as NAME(parameter=value)@depth, such as nDCG@10")
    values = _arguments(text, call["inside"])
    name, at = call["name"], call["at"]
    if at is None and find(name) is None:
        tail = _TAIL.match(name)
        if tail and find(tail["name"]) is not None:
            name, at = tail["name"], tail["at"]
            if normal(name) == "rbp" and "." in call["name"]:  # ranx writes persistence so: rbp.95
                return [_build(text, name, {**values, "p": float(f"0.{at}")}, None)]
    if at is None:
        return [_build(text, name, values, None)]
    return [_build(text, name, values, _number(text, part)) for part in at.split(",")]


def _number(text: str, part: str) -> int | float:
    try:
        value = float(part)
    except ValueError:
        raise MeasureError(f"{text!r}: {part.strip()!r} behind the @ is no number; example: nDCG@10") from None
    return int(value) if value.is_integer() else value


def _arguments(text: str, inside: str | None) -> dict[str, Any]:
    if not inside or not inside.strip():
        return {}
    import ast

    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
            raise ValueError
        return {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise MeasureError(
            f"{text!r}: the parameters ({inside}) are not of the form name=value; example: nDCG(gain='exp')@10"
        ) from None


def _build(text: str, name: str, values: dict[str, Any], at: int | float | None) -> Measure:
    found = find(name)
    if found is None:
        raise MeasureError(_unknown(text, name))
    definition, implied = found
    values = {**implied, **values}
    definition, values, at = _foreign(definition, values, at)
    if definition.at is not None and definition.at.kind is float and at is not None:
        at = float(at)
    return definition(at, **values)


def _foreign(definition: Definition, values: dict[str, Any], at: Any) -> tuple[Definition, dict[str, Any], Any]:
    """Parameters that ir_measures spells differently."""
    for depth in ("cutoff", "k", "recall"):
        if depth in values and definition.parameter(depth) is None and at is None:
            at = values.pop(depth)
    if "dcg" in values and definition.parameter("gain"):
        spelled = values.pop("dcg")
        if spelled not in ("log2", "exp-log2"):
            raise MeasureError(f"{definition.name}: dcg={spelled!r} is not one of 'log2', 'exp-log2'")
        values["gain"] = "exp" if spelled == "exp-log2" else "linear"
    if definition.name == "SetP" and values.pop("relative", False):
        relative = find("SetRelP")
        assert relative is not None
        definition = relative[0]
    return definition, values, at


def _unknown(text: str, name: str) -> str:
    at = text.strip()[len(name) :] if re.fullmatch(re.escape(name) + r"@[\d,.]+", text.strip()) else ""
    known = [(near, find(near)) for near in nearest(name)]
    close: Sequence[str] = [
        f"{near}{at}" if found is not None and found[0].at is not None else near for near, found in known
    ]
    nearby = f"; did you mean {', '.join(close)}?" if close else ""
    return f"unknown measure {text.strip()!r}{nearby} ('rankgauge measures' lists all)"
