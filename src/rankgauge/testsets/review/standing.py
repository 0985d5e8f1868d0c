"""Whether labels can still turn the winner of a comparison: the ranges over all labels that unjudged documents may get.

What is judged counts as it is; what is not listed is unjudged. A winner that no labelling can turn is no claim that the
difference is statistically significant: that takes queries, not labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

from rankgauge.errors import DataError
from rankgauge.evaluation import make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.labels import LabelPolicy, Labels
from rankgauge.model.testset import TestSet
from rankgauge.record import UnjudgedRange
from rankgauge.sensitivity.unjudged import ranges_and_reasons
from rankgauge.testsets.review.judged import all_labels, check_policy, current_grades, judgments_with_scale, opened_runs
from rankgauge.words import Note

__all__ = ["Standing", "VerdictWatch"]


@dataclass(frozen=True)
class Standing:
    """What unjudged documents leave open of each comparison."""

    ranges: tuple[UnjudgedRange, ...]
    reasons: Mapping[str, Note] = field(default_factory=dict)
    """Measures without a range, and why."""

    @property
    def open(self) -> list[UnjudgedRange]:
        """Comparisons whose winner labels could turn."""
        return [one for one in self.ranges if one.changes_winner]

    @property
    def unjudged(self) -> int:
        """Unjudged documents within the depth of the comparison that has most of them."""
        return max((one.documents for one in self.ranges), default=0)

    @property
    def settled(self) -> bool:
        """Whether no label can turn any winner."""
        return bool(self.ranges) and not self.open

    def to_dict(self) -> dict[str, Any]:
        return {
            "settled": self.settled,
            "ranges": [asdict(one) | {"changes_winner": one.changes_winner} for one in self.ranges],
            "left_out": {measure: asdict(reason) for measure, reason in self.reasons.items()},
        }


class VerdictWatch:
    """Runs that are compared while labels are given; they are read once."""

    def __init__(
        self,
        tested: TestSet,
        runs: Mapping[str, Any],
        measures: str | Measure | Sequence[str | Measure] = ("nDCG@10",),
        *,
        scale: Sequence[float],
        policy: LabelPolicy | None = None,
        contract: str | Contract | None = None,
    ) -> None:
        plan = make_plan(measures, contract)
        self.measures, self.policy, self.scale = plan.measures, check_policy(policy, tested), scale
        # The query that holds the scale is in no run, and does not count.
        self.contract = (
            plan.contract if plan.contract.missing != "error" else plan.contract.with_changes(missing="zero")
        )
        self.tested, self.runs = tested, opened_runs(runs)
        if len(self.runs) < 2:
            raise DataError("a comparison needs two runs or more")

    def standing(self, labels: Labels) -> Standing:
        """What is open under the labels that the test set carries, and these."""
        grades = current_grades(self.tested, all_labels(self.tested, labels), self.policy)
        qrels, among = judgments_with_scale(grades, self.scale, self.measures)
        pairs = list(combinations(self.runs, 2))
        found = ranges_and_reasons(qrels, self.runs, self.measures, self.contract, pairs, among)
        return Standing(tuple(found.rows), found.reasons)
