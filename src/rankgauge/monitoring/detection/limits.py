"""Plain thresholds as a plan writes them: an alert when `R@10 < 0.75` or `p95 > 200ms` holds."""

from __future__ import annotations

import re

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.gating.targets import holds, parse_latency, parse_target
from rankgauge.measures import parse_measure
from rankgauge.measures.measure import Law, Measure
from rankgauge.monitoring.detection.figures import QUANTILES, Limit

__all__ = ["parse_limit"]

_HOW = 'write "R@10 < 0.75" or "p95 > 200ms"'
_LATENCY = re.compile(r"\s*(p\d+|mean)\b")
_TAG = re.compile(r"\s*tag\s*:", re.IGNORECASE)
_TURNED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def parse_limit(text: object) -> Limit:
    """A threshold from its text. One that alerts when all is well, always or never, is a fault."""
    if not isinstance(text, str):
        raise DataError(f"{text!r} is no threshold; {_HOW}")
    if _TAG.match(text):
        raise DataError(f"{text!r}: thresholds are for all queries; tags are watched by themselves with slices = true")
    return _latency(text) if _LATENCY.match(text) else _quality(text)


def _latency(text: str) -> Limit:
    try:
        found = parse_latency(text)
    except RankgaugeError:
        raise DataError(f"{text!r} is no threshold; {_HOW}, with the unit ms or s ({', '.join(QUANTILES)})") from None
    if found.statistic not in QUANTILES:
        raise DataError(f"{text!r}: of the latency there are {', '.join(QUANTILES)}; write p95 > 200ms")
    if found.operator.startswith("<"):
        raise _well(text, found.operator, "is fast enough")
    return Limit(found.text, found.statistic, found.operator, found.seconds)


def _quality(text: str) -> Limit:
    try:
        target = parse_target(text)
    except RankgaugeError:
        raise DataError(f"{text!r} is no threshold; {_HOW}") from None
    if target.relation != "absolute" or target.operator is None:
        raise DataError(
            f"{text!r}: a threshold is a number; falls against the reference are watched without one; {_HOW}"
        )
    measure = parse_measure(target.measure)
    lower = measure.definition.lower_is_better
    if target.operator.startswith("<") == lower:
        raise _well(text, target.operator, "is good" + (f" (of {measure} less is better)" if lower else ""))
    if Law.BOUNDED in measure.definition.laws:
        _check_value(text, measure, target.operator, target.value, lower=lower)
    return Limit(target.text, str(measure), target.operator, target.value)


def _well(text: str, operator: str, when: str) -> DataError:
    turned = text.replace(operator, _TURNED[operator])
    meant = f"; did you mean {' '.join(turned.split())}?" if turned != text else ""
    return DataError(f"{text!r} would alert when it {when}: a threshold says when to alert{meant}")


def _check_value(text: str, measure: Measure, operator: str, value: float, *, lower: bool) -> None:
    """Whether the limit lies among the values that the measure can have."""
    if not 0 <= value <= 1:
        hint = f"; {value:g} % is {value / 100:g}" if 1 < value <= 100 else ""
        raise DataError(f"{text!r}: {measure} lies between 0 and 1{hint}")
    best, worst = (0.0, 1.0) if lower else (1.0, 0.0)
    if holds(best, operator, value):
        raise DataError(f"{text!r} always holds, even where {measure} is {best:g}; {_HOW}")
    if not holds(worst, operator, value):
        raise DataError(f"{text!r} never holds: {measure} lies between 0 and 1; {_HOW}")
