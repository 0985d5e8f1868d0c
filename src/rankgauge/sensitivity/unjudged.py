"""How far the documents that nobody judged could move the difference between two systems.

Every unjudged document that either system retrieved within the depth gets a label, 0 or any grade above 0 that the
judgments hold, and both systems are scored with the labels; R and the ideal lists are made anew. The range of the mean
difference over all such labellings is the mean of the ranges of the queries, since no label is shared by two queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.errors import DataError
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools
from rankgauge.record import Note, Unjudged, UnjudgedRange
from rankgauge.sensitivity.label_search import differences
from rankgauge.sensitivity.open_documents import Case, Pool, TiesError

__all__ = [
    "range_of",
    "ranges_and_reasons",
    "reason_of",
    "split_measures",
    "unjudged_ranges",
    "why_no_range",
]


def why_no_range(qrels: Qrels) -> Note | None:
    """Why these judgments allow no range at all, or None if they do."""
    return reason_of("only_relevant") if qrels.only_relevant else None


def unjudged_ranges(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]],
) -> list[UnjudgedRange]:
    """One range for each pair and each measure that has one; `ranges_and_reasons` tells why others have none."""
    return ranges_and_reasons(qrels, runs, measures, contract, pairs).rows


def ranges_and_reasons(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]],
    among: Mapping[str, Bools] | None = None,
) -> Unjudged:
    """The ranges, and for each measure without one the reason. `among` leaves out queries, by measure."""
    usable, reasons = split_measures(qrels, measures)
    ranges: list[UnjudgedRange] = []
    if not usable or not pairs:
        return Unjudged(ranges, reasons)
    unknown = [name for pair in pairs for name in pair if name not in runs]
    if unknown:
        raise DataError(f"there is no run named {unknown[0]!r}; there are: {', '.join(runs)}")
    try:
        pool = Pool(qrels, {name: runs[name] for pair in pairs for name in pair}, usable, contract, among)
    except TiesError:
        return Unjudged([], {**reasons, **{str(measure): reason_of("ties") for measure in usable}})
    for a, b in pairs:
        for measure in usable:
            found = range_of(pool.case(measure, a, b))
            if found is None:
                reasons[str(measure)] = reason_of("too_many")
            else:
                ranges.append(found)
    return Unjudged([found for found in ranges if found.measure not in reasons], reasons)


def range_of(case: Case) -> UnjudgedRange | None:
    """The range of one measure and pair; None where nothing is known."""
    found = differences(case.problem)
    if found is None:
        return None
    low, high, exact = found
    n = max(1, case.counted)
    return UnjudgedRange(
        str(case.problem.measure),
        case.a,
        case.b,
        (case.settled + float(low.sum())) / n,
        (case.settled + float(high.sum())) / n,
        bool(exact.all()),
        int(case.problem.open.sum()),
        case.observed / n,
    )


def split_measures(qrels: Qrels, measures: Sequence[Measure]) -> tuple[list[Measure], dict[str, Note]]:
    """Measures that have a range, and for the others the reason why not."""
    reasons: dict[str, Note] = {}
    for measure in measures:
        key = "only_relevant" if qrels.only_relevant else _why_not(measure)
        if key is not None:
            reasons[str(measure)] = reason_of(key)
    return [measure for measure in measures if str(measure) not in reasons], reasons


def reason_of(key: str) -> Note:
    """Why there is no range."""
    return Note(f"comparison.no_range_{key}")


def _why_not(measure: Measure) -> str | None:
    definition = measure.definition
    if "subtopics" in definition.needs:
        return "subtopics"
    if measure.get("budget") is not None:
        return "budget"
    if measure.get("judged_only"):
        return "judged_only"
    if definition.family == "coverage":
        return "coverage"
    return None if definition.aggregate == "mean" else "aggregate"
