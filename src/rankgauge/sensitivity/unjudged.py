"""How far the documents that nobody judged could move the difference between two systems.

Every unjudged document that either system retrieved within the depth gets a label, 0 or any grade above 0 that the
judgments hold, and both systems are scored with the labels; R and the ideal lists are made anew. The range of the mean
difference over all such labellings is the mean of the ranges of the queries, since no label is shared by two queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rankgauge.errors import DataError
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools
from rankgauge.sensitivity.label_search import differences
from rankgauge.sensitivity.open_documents import Case, Pool, TiesError
from rankgauge.stats.differences import another_winner

__all__ = [
    "Reason",
    "UnjudgedRange",
    "range_of",
    "ranges_and_reasons",
    "reason_of",
    "split_measures",
    "unjudged_ranges",
    "why_no_range",
]

Reason = dict[Literal["en", "zh"], str]

_REASONS: dict[str, tuple[str, str]] = {
    "only_relevant": (
        "the judgments list only relevant documents: a document that is not listed may be judged non-relevant or never "
        "seen, so which documents are unjudged is unknown",
        "标注只列出相关文档：未列出的文档可能已判为不相关，也可能从未看过，因此无法知道哪些文档未经标注",
    ),
    "ties": (
        "the contract takes the expected value over tied orders, and there are ties; choose one order (ties='trec')",
        "契约取同分次序的期望，且存在同分；请选定一种次序，例如 ties='trec'",
    ),
    "judged_only": ("it drops the documents that nobody judged", "该指标去掉未标注文档"),
    "budget": ("labels do not tell which texts fit into a context budget", "标签不能说明哪些文本放得进上下文预算"),
    "subtopics": ("a label would have to say which subtopics a document covers", "标签还须说明文档覆盖哪些子主题"),
    "coverage": ("it measures the judgments themselves", "该指标衡量的是标注本身"),
    "aggregate": ("its queries are not averaged", "该指标不对查询取平均"),
    "too_many": (
        "there are too many labellings to try, and no bounds are known for it",
        "标注方式过多，无法逐一尝试，且该指标没有已知的上下界",
    ),
}


@dataclass(frozen=True)
class UnjudgedRange:
    """The least and greatest mean of score_b - score_a over all labellings of the unjudged documents."""

    measure: str
    a: str
    b: str
    low: float
    high: float
    exact: bool
    """Whether both ends are reached by a labelling; if not, the true range lies within."""
    documents: int
    """Unjudged documents that one of the two retrieved within the depth, over all queries that count."""
    observed: float
    """The mean difference under the judgments as they are."""

    @property
    def changes_winner(self) -> bool:
        """Whether some labelling (of an outer bound: perhaps) gives the difference another sign."""
        return another_winner(self.observed, self.low, self.high)


def why_no_range(qrels: Qrels) -> Reason | None:
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
    return ranges_and_reasons(qrels, runs, measures, contract, pairs)[0]


def ranges_and_reasons(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Sequence[Measure],
    contract: Contract,
    pairs: Sequence[tuple[str, str]],
    among: Mapping[str, Bools] | None = None,
) -> tuple[list[UnjudgedRange], dict[str, Reason]]:
    """The ranges, and for each measure without one the reason. `among` leaves out queries, by measure."""
    usable, reasons = split_measures(qrels, measures)
    ranges: list[UnjudgedRange] = []
    if not usable or not pairs:
        return ranges, reasons
    unknown = [name for pair in pairs for name in pair if name not in runs]
    if unknown:
        raise DataError(f"there is no run named {unknown[0]!r}; there are: {', '.join(runs)}")
    try:
        pool = Pool(qrels, {name: runs[name] for pair in pairs for name in pair}, usable, contract, among)
    except TiesError:
        return [], {**reasons, **{str(measure): reason_of("ties") for measure in usable}}
    for a, b in pairs:
        for measure in usable:
            found = range_of(pool.case(measure, a, b))
            if found is None:
                reasons[str(measure)] = reason_of("too_many")
            else:
                ranges.append(found)
    return [found for found in ranges if found.measure not in reasons], reasons


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


def split_measures(qrels: Qrels, measures: Sequence[Measure]) -> tuple[list[Measure], dict[str, Reason]]:
    """Measures that have a range, and for the others the reason why not."""
    reasons: dict[str, Reason] = {}
    for measure in measures:
        key = "only_relevant" if qrels.only_relevant else _why_not(measure)
        if key is not None:
            reasons[str(measure)] = reason_of(key)
    return [measure for measure in measures if str(measure) not in reasons], reasons


def reason_of(key: str) -> Reason:
    """One of the reasons, in both languages."""
    return {"en": _REASONS[key][0], "zh": _REASONS[key][1]}


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
