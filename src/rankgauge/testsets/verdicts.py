"""What a change of labels does to a comparison: the order of the systems, and the verdict of each pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.comparison.comparing import compare_runs
from rankgauge.comparison.comparison import Comparison
from rankgauge.evaluation import Scoring
from rankgauge.model.judgments import Qrels
from rankgauge.stats.agreement import kendall_tau, rank_biased_overlap, tau_ap
from rankgauge.stats.settings import Settings, Verdict
from rankgauge.testsets.label_sets import LabelSet, Pair
from rankgauge.testsets.rescoring import check_coverage, in_memory

__all__ = ["JudgedComparisons", "RankAgreement", "VerdictChange"]


@dataclass(frozen=True)
class RankAgreement:
    """How far two sets of labels order the systems alike by one measure; None where one of them ties all systems."""

    measure: str
    tau: float | None
    tau_ap: float | None
    """The order by the reference taken for the true one."""
    rbo: float | None


@dataclass(frozen=True)
class VerdictChange:
    """A comparison of two systems whose verdict is another one with the other labels."""

    measure: str
    a: str
    b: str
    reference: Verdict
    other: Verdict
    reference_difference: float
    other_difference: float

    @property
    def reversed(self) -> bool:
        """Whether what was better is worse."""
        return {self.reference, self.other} == {"better", "worse"}


class JudgedComparisons:
    """The runs compared under one set of labels after the other, each time on the pairs that two sets share."""

    def __init__(self, runs: Mapping[str, Any], scoring: Scoring, settings: Settings) -> None:
        self._scoring, self._settings = scoring, settings
        self._runs = in_memory(runs, 2)
        self._known: dict[tuple[str, frozenset[Pair]], Comparison] = {}

    def _under(self, labels: LabelSet, pairs: Sequence[Pair]) -> Comparison:
        key = labels.name, frozenset(pairs)
        if key not in self._known:
            judgments = Qrels(labels.by_query(pairs), name=labels.name)
            found = compare_runs(judgments, self._runs, self._scoring, self._settings)
            check_coverage([evaluation.coverage for evaluation in found.evaluations])
            self._known[key] = found
        return self._known[key]

    def held(
        self, reference: LabelSet, other: LabelSet, pairs: Sequence[Pair]
    ) -> tuple[list[RankAgreement], list[VerdictChange], int, int]:
        """The agreement of the orders by each measure, the verdicts that differ, how many comparisons there are, and
        how many of them neither set decides."""
        first, second = self._under(reference, pairs), self._under(other, pairs)
        ranks = []
        for measure in first.measures:
            own, theirs = (_means(found, measure.name, measure.lower_is_better) for found in (first, second))
            taus = kendall_tau(own, theirs), tau_ap(own, theirs), rank_biased_overlap(own, theirs)
            ranks.append(RankAgreement(measure.name, *taus))
        changes = [
            VerdictChange(a.measure, a.a, a.b, a.verdict, b.verdict, a.difference, b.difference)
            for a, b in zip(first.rows, second.rows, strict=True)
            if a.verdict != b.verdict
        ]
        rows = zip(first.rows, second.rows, strict=True)
        undecided = sum(a.verdict == b.verdict == "inconclusive" for a, b in rows)
        return ranks, changes, len(first.rows), undecided


def _means(found: Comparison, measure: str, lower: bool) -> Any:
    means = [evaluation.mean[measure] for evaluation in found.evaluations]
    return np.array(means) * (-1 if lower else 1)
