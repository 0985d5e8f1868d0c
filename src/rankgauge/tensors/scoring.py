"""Scores of lists in arrays: each chunk is put in rank order, and every measure's kernel sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rankgauge.errors import ContractError, DataError
from rankgauge.evaluation.plan import Plan
from rankgauge.measures.user_models import DEEPEST
from rankgauge.tensors.gain import gain_of
from rankgauge.tensors.inputs import Inputs, Part
from rankgauge.tensors.kernels import ArrayKernel, deepest_of
from rankgauge.tensors.libraries import to_host
from rankgauge.tensors.ordering import order_rows, runs
from rankgauge.tensors.ranking import Array, RankedArrays
from rankgauge.tensors.result import TensorScores

__all__ = ["ArrayScoring"]

ELEMENTS = {"cpu": 1 << 18, "": 1 << 24}
"""Elements of a chunk: what the caches of a processor hold, or what keeps a large device busy within 2 GB."""


class ArrayScoring:
    """One call: what is known of its arrays, and of its measures."""

    def __init__(self, inputs: Inputs, plan: Plan, kernels: Sequence[ArrayKernel]) -> None:
        self.inputs, self.plan, self.kernels = inputs, plan, kernels
        self.contract, self.xp = plan.contract, inputs.xp
        self.elements = ELEMENTS.get(str(inputs.device).split(":")[0].lower(), ELEMENTS[""])
        depths = [deepest_of(measure, plan.contract) for measure in plan.measures]
        self.deepest = None if None in depths else max((depth for depth in depths if depth is not None), default=1)
        if self.contract.depth is not None:
            self.deepest = min(self.contract.depth, self.deepest or self.contract.depth)
        self.least = DEEPEST if any(m.definition.family == "user model" for m in plan.measures) else 1
        self.tables: dict[Any, Array] = {}
        self.top_grade, self.whole = self._checked()

    def scores(self) -> TensorScores:
        xp, inputs = self.xp, self.inputs
        values, counted, retrieved = [], [], []
        for part in self._parts():
            ranked = self._ranked(part)
            values.append(self._columns(self._score, ranked))
            retrieved.append(ranked.retrieved)
            if (self.contract.missing, self.contract.no_relevant) != ("zero", "count"):
                counted.append(self._columns(self._counts, ranked))
        if not values:
            values = [xp.zeros((0, len(self.kernels)), dtype=inputs.dtype, device=inputs.device)]
            retrieved = [xp.zeros(0, dtype=inputs.dtype, device=inputs.device)]
        together = [inputs.returned(xp.concat(rows)) if rows else None for rows in (values, counted, retrieved)]
        return TensorScores(together[0], together[1], together[2], self.plan)

    def _parts(self) -> Iterator[Part]:
        return self.inputs.parts(self.elements, self.least)

    def _columns(self, column: Callable[[RankedArrays, int], Array], ranked: RankedArrays) -> Array:
        """One column for each measure."""
        return self.xp.stack([column(ranked, j) for j in range(len(self.kernels))], axis=1)

    def _score(self, ranked: RankedArrays, j: int) -> Array:
        measure = self.plan.measures[j]
        return self.kernels[j](ranked.judged_only() if measure.get("judged_only") else ranked, measure)

    def _counts(self, ranked: RankedArrays, j: int) -> Array:
        """Whether a query enters the mean of a measure."""
        xp, measure = self.xp, self.plan.measures[j]
        kept = ranked.retrieved > 0 if self.contract.missing == "skip" else ranked.retrieved >= 0
        if self.contract.no_relevant != "skip":
            return kept
        if measure.get("gains") is not None:
            return kept & xp.any(gain_of(ranked, ranked.judged, measure) > 0, axis=1)
        graded = not measure.definition.relevance or measure.get("grades") == "scaled" or measure.get("rel") is None
        return kept & (xp.any(ranked.judged > 0, axis=1) if graded else ranked.n_relevant(measure.get("rel")) > 0)

    def _checked(self) -> tuple[float, bool]:
        """The highest grade, and whether all are whole. One transfer tells them, and what is wrong with the values."""
        xp, inputs = self.xp, self.inputs
        zero = xp.zeros((), dtype=inputs.dtype, device=inputs.device)
        facts = []
        for scores, grades in inputs.values(self.elements):
            known = xp.where(grades > -xp.inf, grades, zero)
            high, low = (zero, zero) if scores is None else (xp.max(scores), -xp.min(scores))
            fractions = xp.astype(xp.any(known != xp.floor(known)), inputs.dtype)
            facts.append(xp.stack((high, low, xp.max(known), fractions, zero, zero)))
        if inputs.all_grades is not None or self.contract.missing == "error":
            for part in self._parts():
                lacking = xp.max(_known(xp, part.grades) - _known(xp, part.judged)) if part.judged is not None else zero
                shortest = zero if part.listed is None else xp.max(1.0 - xp.max(self._real(part.listed), axis=1))
                facts.append(xp.stack((zero, zero, zero, zero, lacking, shortest)))
        if not facts:
            return 0.0, True
        high, low, top, fractions, lacking, missing = to_host(xp.max(xp.stack(facts), axis=0))
        self._refuse(high, -low, top, lacking > 0, missing > 0 and self.contract.missing == "error")
        return max(top, 0.0), not fractions

    def _real(self, mask: Array) -> Array:
        return self.xp.astype(mask, self.inputs.dtype)

    def _refuse(self, high: float, low: float, top: float, lacking: bool, missing: bool) -> None:
        if not (abs(high) < float("inf") and abs(low) < float("inf")):
            raise DataError("`scores` holds NaN or infinite values; leave such documents out by `mask`, or mend them")
        if not top < float("inf"):
            raise DataError("`relevance` holds an infinite grade; NaN says that nobody judged a document")
        if not self.xp.isdtype(self.inputs.scores.dtype, "real floating"):
            limit = 2.0 / float(self.xp.finfo(self.inputs.dtype).eps)
            if max(high, -low) >= limit:
                name = "float32" if self.inputs.dtype == self.xp.float32 else "float64"
                raise DataError(
                    f"`scores` holds whole numbers of {limit:.0f} and more, which {name} cannot tell "
                    "apart; give smaller ones"
                )
        if lacking:
            raise DataError(
                "`all_grades` has fewer judged documents of a query than are among the scored ones: it must have the "
                "grades of all of them, scored or not"
            )
        if missing:
            raise ContractError(
                "there are queries without documents; count them with `missing='zero'` or leave them out with "
                "`missing='skip'`"
            )

    def _ranked(self, part: Part) -> RankedArrays:
        xp, ties = self.xp, self.contract.ties
        scores, listed = part.scores, part.listed
        rows, width = scores.shape
        if self.contract.scores == "float32":
            most = float(xp.finfo(xp.float32).max)  # what is beyond ties
            scores = xp.astype(xp.clip(scores, min=-most, max=most), xp.float32)
        if listed is not None:
            scores = xp.where(listed, scores, xp.full_like(scores, -xp.inf))
        kept = width if self.deepest is None else min(self.deepest, width)
        if ties == "given":
            behind = xp.zeros(scores.shape, dtype=xp.int8, device=self.inputs.device) if listed is None else ~listed
            order = xp.argsort(xp.astype(behind, xp.int8), axis=1, stable=True)[:, :kept]
        else:
            order = order_rows(xp, scores, ties, kept)
        grades = xp.take_along_axis(part.grades, order, axis=1)
        n = xp.full(rows, float(width), dtype=self.inputs.dtype, device=self.inputs.device)
        if listed is not None:
            n = xp.sum(xp.astype(listed, self.inputs.dtype), axis=1)
        if self.contract.depth is not None:
            n = xp.clip(n, max=float(min(self.contract.depth, width)))
        run = top = None
        if ties == "expected":
            run = runs(xp, xp.take_along_axis(scores, order, axis=1))
        if any(measure.is_set("threshold") for measure in self.plan.measures):
            top = xp.take_along_axis(scores, order[:, :1], axis=1)[:, 0]
        judged = part.grades if part.judged is None else part.judged
        return RankedArrays(xp, grades, n, judged, self.top_grade, self.whole, run, top, self.tables)


def _known(xp: Any, grades: Array) -> Array:
    """Judged documents of each row."""
    return xp.sum(xp.astype(grades > -xp.inf, grades.dtype), axis=1)
