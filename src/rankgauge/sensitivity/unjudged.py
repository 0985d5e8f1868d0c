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

__all__ = ["range_of", "ranged_cases", "ranges_and_reasons", "why_no_range"]


def why_no_range(qrels: Qrels) -> Note | None:
    """Why these judgments allow no range at all, or None if they do."""
    return reason_of("only_relevant") if qrels.only_relevant else None


def ranges_and_reasons(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]],
    among: Mapping[str, Bools] | None = None,
) -> Unjudged:
    """The ranges, and for each measure without one the reason. `among` leaves out queries, by measure."""
    unknown = [name for pair in pairs for name in pair if name not in runs]
    if unknown:
        raise DataError(f"there is no run named {unknown[0]!r}; there are: {', '.join(runs)}")
    compared = {name: runs[name] for pair in pairs for name in pair}
    _, cases, reasons = ranged_cases(qrels, compared, measures, contract, pairs, among)
    return Unjudged([found for _, found in cases if found.measure not in reasons], reasons)


def ranged_cases(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str | None, str]],
    among: Mapping[str, Bools] | None = None,
) -> tuple[Pool | None, list[tuple[Case, UnjudgedRange]], dict[str, Note]]:
    """The pool of open documents, each measure and pair with its range, and the reasons of measures without one."""
    usable, reasons = split_measures(qrels, measures)
    if not usable or not pairs:
        return None, [], reasons
    try:
        pool = Pool(qrels, runs, usable, contract, among)
    except TiesError:
        return None, [], reasons | {str(measure): reason_of("ties") for measure in usable}
    cases = []
    for case in (pool.case(measure, a, b) for a, b in pairs for measure in usable):
        found = range_of(case)
        if found is None:
            reasons[str(case.problem.measure)] = reason_of("too_many")
        else:
            cases.append((case, found))
    return pool, cases, reasons


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
        case.observed / n,
        bool(exact.all()),
        int(case.problem.open.sum()),
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
    return Note("evidence.no_range" if key == "no_answer" else f"comparison.no_range_{key}")


def _why_not(measure: Measure) -> str | None:
    definition = measure.definition
    if "subtopics" in definition.needs:
        return "subtopics"
    if "no_answer" in definition.needs:
        return "no_answer"
    if "characters" in definition.needs:
        return "characters"
    if measure.get("budget") is not None:
        return "budget"
    if measure.get("judged_only"):
        return "judged_only"
    if definition.family == "coverage":
        return "coverage"
    return None if definition.aggregate == "mean" else "aggregate"
