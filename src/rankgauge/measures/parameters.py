"""Parameters that several kernels read, and the guards on their values."""

from __future__ import annotations

from rankgauge.errors import DataError
from rankgauge.measures.measure import Measure
from rankgauge.model.ranked import RankedGrades

__all__ = ["check_scale", "check_top", "depth_of"]


def depth_of(measure: Measure, ranked: RankedGrades) -> int:
    """The depth as a table length: never more than the deepest rank that a hit can take."""
    return ranked.deepest if measure.at is None else min(int(measure.at), ranked.deepest)


def check_scale(measure: Measure, ranked: RankedGrades, parameter: str) -> float:
    """The top of the grade scale; a grade above it is an error, never silently clipped."""
    found = ranked.cached("max_grade", lambda: float(ranked.judged_grades.max()) if len(ranked.judged_grades) else 0.0)
    return check_top(measure, found, parameter)


def check_top(measure: Measure, found: float, parameter: str) -> float:
    """The top of the grade scale, where `found` is the highest grade there is."""
    top = float(measure.get(parameter))
    if found > top:
        raise DataError(
            f"{measure}: the judgments hold grade {found:g}, above {parameter}={top:g}; "
            f"write {measure.with_values(**{parameter: found})}"
        )
    return top
