"""`trainer_metrics`: what `Trainer` of Hugging Face takes as `compute_metrics`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation.plan import DEFAULT_MEASURES, make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.tensors.evaluate import evaluate_tensors
from rankgauge.tensors.ranking import Array

__all__ = ["trainer_metrics"]

_LEFT_OUT = -100
"""The label by which the libraries of Hugging Face fill rows up."""


@named_arguments
def trainer_metrics(
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    groups: Array | Sequence[int] | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
) -> Callable[[Any], dict[str, float]]:
    """A function for `compute_metrics=` of Hugging Face's `Trainer`: predictions are scores, labels are grades.

    A reranker that scores pairs has one prediction for each row of the evaluation set: `groups` numbers the query of
    each row from 0, in the order of the set. Of two logits the second less the first is the score. A model that scores
    a whole list at once has a row for each query, and needs no `groups`. Documents with the label -100 are left out.
    The other arguments are those of `evaluate_tensors`.
    """
    if hasattr(measures, "predictions"):
        raise DataError("trainer_metrics() makes the function: compute_metrics=trainer_metrics(['nDCG@10'])")
    plan = make_plan(measures, contract, ties, missing, no_relevant, None, depth, rel)
    query = None if groups is None else np.asarray(groups)
    if query is not None and (query.ndim != 1 or query.dtype.kind not in "iu"):
        raise DataError("`groups` must hold one whole number for each row of the evaluation set: that of its query")

    def compute_metrics(prediction: Any) -> dict[str, float]:
        scores = prediction.predictions
        scores = np.asarray(scores[0] if isinstance(scores, tuple | list) else scores)
        grades = np.asarray(prediction.label_ids)
        layout: dict[str, Any] = {}
        if query is not None:
            if scores.ndim == 2 and scores.shape[1] in (1, 2):
                scores = scores[:, -1] - (scores[:, 0] if scores.shape[1] == 2 else 0)
            grades = grades.reshape(-1) if grades.size == len(grades) else grades
            if not scores.shape == grades.shape == query.shape:
                raise DataError(
                    f"predictions of the shape {scores.shape}, labels of {grades.shape} and {len(query)} `groups`: "
                    "there must be one of each for each row of the evaluation set"
                )
            kept = grades != _LEFT_OUT
            scores, grades, layout["groups"] = scores[kept], grades[kept], query[kept]
            layout["n_queries"] = int(query.max(initial=-1)) + 1
        else:
            layout["mask"] = grades != _LEFT_OUT
        means = evaluate_tensors(scores, grades, plan.measures, contract=plan.contract, **layout).mean
        return {str(asked): means[used] for asked, used in zip(plan.asked, plan.measures, strict=True)}

    return compute_metrics
