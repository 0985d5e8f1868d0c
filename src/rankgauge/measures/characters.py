"""Characters of gold passages among those of the first chunks.

T are the characters of the first k chunks, G those of the gold passages; both are sets, so what two chunks share counts
once. chunking_evaluation (Smith and Troynikov 2024) adds up the lengths of the retrieved chunks and of the passages
instead, where they are divisors: `overlaps='each'`.
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import DataError, MeasureError
from rankgauge.measures.counting import ratio
from rankgauge.measures.measure import Measure
from rankgauge.model.ranked import Characters, Floats, Ints, RankedGrades

__all__: list[str] = []


def check_depth(measure: Measure) -> None:
    if measure.get("budget") is not None and measure.at is not None:
        raise MeasureError(f"{measure.name}(budget=...) takes no depth: the budget is what cuts the list")


def _characters(ranked: RankedGrades, measure: Measure) -> Characters:
    if ranked.characters is None:
        raise DataError(
            f"{measure} needs gold passages and the places of the chunks: give a test set with spans, and `chunks=`"
        )
    return ranked.characters


def _first(ranked: RankedGrades, measure: Measure, values: Ints) -> Floats:
    """The sum of a value over the chunks that the measure looks at."""
    found = _characters(ranked, measure)
    sizes = np.diff(found.starts)
    budget = measure.get("budget")
    depth = sizes if measure.at is None else np.minimum(sizes, int(measure.at))
    if budget is not None:
        depth = np.minimum(sizes, ranked.prefix[f"budget={budget}"])
    running = np.concatenate(([0], np.cumsum(values)))
    total: Floats = (running[found.starts[:-1] + depth] - running[found.starts[:-1]]).astype(np.float64)
    return total


def _each(measure: Measure) -> bool:
    return bool(measure.get("overlaps") == "each")


def _retrieved(ranked: RankedGrades, measure: Measure) -> Floats:
    found = _characters(ranked, measure)
    return _first(ranked, measure, found.length if _each(measure) else found.new)


def _found(ranked: RankedGrades, measure: Measure) -> Floats:
    return _first(ranked, measure, _characters(ranked, measure).gold_new)


def precision(ranked: RankedGrades, measure: Measure) -> Floats:
    return ratio(_found(ranked, measure), _retrieved(ranked, measure))


def recall(ranked: RankedGrades, measure: Measure) -> Floats:
    found = _characters(ranked, measure)
    gold = found.gold_each if _each(measure) else found.gold
    return ratio(_found(ranked, measure), gold.astype(np.float64))


def intersection_over_union(ranked: RankedGrades, measure: Measure) -> Floats:
    inside = _found(ranked, measure)
    left = _characters(ranked, measure).gold - inside
    return ratio(inside, _retrieved(ranked, measure) + left)


def best_precision(ranked: RankedGrades, measure: Measure) -> Floats:
    return _characters(ranked, measure).best.copy()
