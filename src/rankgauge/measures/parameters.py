"""Parameters that several measures share, and the guards on their values."""

from __future__ import annotations

from rankgauge.errors import DataError
from rankgauge.measures.measure import Measure, Parameter
from rankgauge.model.ranked import RankedGrades

__all__ = ["DEPTH", "GAIN", "GAINS", "JUDGED_ONLY", "MAX_REL", "MIN_REL", "REL", "check_scale", "depth_of"]

DEPTH = Parameter("k", int, None, "depth: only the first k documents count", least=1)
REL = Parameter("rel", float, 1.0, "least grade that counts as relevant", least=0)
JUDGED_ONLY = Parameter("judged_only", bool, False, "drop documents nobody judged before ranking")
GAIN = Parameter("gain", str, "linear", "gain of grade g: 'linear' is g, 'exp' is 2^g - 1", choices=("linear", "exp"))
GAINS = Parameter("gains", dict, None, "gains of single grades, such as {1: 1, 2: 9}; others keep theirs")
MIN_REL = Parameter("min_rel", float, 0.0, "grade that stands for no gain")
MAX_REL = Parameter("max_rel", float, 1.0, "grade that stands for full gain")


def depth_of(measure: Measure, ranked: RankedGrades) -> int:
    """The depth as a table length: never more than the deepest rank that a hit can take."""
    return ranked.deepest if measure.at is None else min(int(measure.at), ranked.deepest)


def check_scale(measure: Measure, ranked: RankedGrades, parameter: str) -> float:
    """The top of the grade scale; a grade above it is an error, never silently clipped."""
    top = float(measure.get(parameter))
    found = ranked.cached("max_grade", lambda: float(ranked.judged_grades.max()) if len(ranked.judged_grades) else 0.0)
    if found > top:
        raise DataError(
            f"{measure}: the judgments hold grade {found:g}, above {parameter}={top:g}; "
            f"write {measure.with_values(**{parameter: found})}"
        )
    return top
