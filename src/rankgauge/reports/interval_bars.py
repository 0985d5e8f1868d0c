"""Intervals drawn in the cells of a page's table, all of them to one scale: places in percent of the cell's width."""

from __future__ import annotations

from typing import Any

from rankgauge.reports.cells import Look, written
from rankgauge.reports.document import Drawn
from rankgauge.words import numbers

__all__ = ["axis_of", "bar_of", "end_labels", "reach"]

_EDGE = 4.0  # percent at either end that stay free, so that a point at an end is whole


def reach(cell: Drawn) -> tuple[float, float]:
    """That of the table; where the place of 0 is marked it reaches to 0."""
    low, high = cell.scale
    return (min(low, 0.0), max(high, 0.0)) if cell.zero else (low, high)


def _place(value: float, cell: Drawn) -> float:
    low, high = reach(cell)
    inside = min(max(value, low), high)
    return round(_EDGE + (100 - 2 * _EDGE) * (inside - low) / (high - low), 2)


def bar_of(cell: Drawn, look: Look) -> dict[str, Any]:
    """Where the interval, its value and 0 stand, and what that says."""
    ends = None if cell.ends is None else [_place(end, cell) for end in cell.ends]
    label = written(cell.ends, "bounds" if cell.zero else "score", look) if cell.ends else ""
    zero = _place(0.0, cell) if cell.zero else None
    return {"ends": ends, "value": _place(cell.value, cell), "zero": zero, "label": label}


def end_labels(low: float, high: float, look: Look, *, signed: bool) -> tuple[str, str]:
    """The ends of a scale. Those of differences in as few digits as leave a tenth of the scale to be seen: there is
    little room, and 0 would be no end."""
    if not signed:
        return numbers.score(low, look.digits), numbers.score(high, look.digits)
    digits = next((n for n in range(2, look.digits) if 10**-n <= (high - low) / 10), look.digits)
    left, right = (numbers.signed(end, digits).replace("-", look.minus) for end in (low, high))
    return left, right


def axis_of(cell: Drawn, look: Look) -> list[dict[str, Any]]:
    """The labels of the scale: its ends, and 0 on a line of its own."""
    low, high = reach(cell)
    left, right = end_labels(low, high, look, signed=cell.zero)
    labels = [
        {"place": _EDGE, "text": "0" if low == 0 else left, "side": "start"},
        {"place": 100 - _EDGE, "text": "0" if high == 0 else right, "side": "end"},
    ]
    if cell.zero and low < 0 < high:
        labels.append({"place": _place(0.0, cell), "text": "0", "side": "middle"})
    return labels
