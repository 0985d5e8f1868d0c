"""Parameters that several kernels read, and the guards on their values."""

from __future__ import annotations

from rankgauge.errors import DataError
from rankgauge.measures.measure import Measure
from rankgauge.model.ranked import RankedGrades

__all__ = ["check_scale", "depth_of"]


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
