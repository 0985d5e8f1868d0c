"""Which kernel for arrays stands beside which kernel of a measure, and why some measures have none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from rankgauge.errors import ContractError, MeasureError
from rankgauge.measures import Measure
from rankgauge.measures import average_precision as plain_average_precision
from rankgauge.measures import counting as plain_counting
from rankgauge.measures import diversity as plain_diversity
from rankgauge.measures import evidence as plain_evidence
from rankgauge.measures import gain as plain_gain
from rankgauge.measures import user_models as plain_user_models
from rankgauge.measures.measure import Kernel
from rankgauge.model.contract import Contract
from rankgauge.tensors import average_precision, counting, gain, user_models
from rankgauge.tensors.ranking import Array, RankedArrays

__all__ = ["ArrayKernel", "deepest_of", "kernel_of"]

ArrayKernel = Callable[[RankedArrays, Measure], Array]

_FAMILIES: tuple[tuple[ModuleType, ModuleType, tuple[str, ...]], ...] = (
    (
        plain_counting,
        counting,
        (
            *("precision", "recall", "f_measure", "success", "judged", "unjudged", "r_precision", "set_precision"),
            *("set_relative_precision", "set_f", "set_ap", "accuracy", "number_retrieved", "relevant_in_all", "hits"),
            *("number_nonrelevant_judged_retrieved", "number_of_queries", "utility"),
        ),
    ),
    (
        plain_average_precision,
        average_precision,
        (
            *("average_precision", "reciprocal_rank", "inferred_ap", "binary_preference", "interpolated_precision"),
            "average_interpolated_precision",
        ),
    ),
    (plain_evidence, counting, ("all_relevant", "exact_set", "handled")),
    (
        plain_gain,
        gain,
        (
            *("dcg", "ndcg", "err", "nerr", "rbp", "rbp_residual", "binary_g", "normalized_g", "ndcg_at_relevant"),
            "ndcg_at_levels",
        ),
    ),
    (
        plain_user_models,
        user_models,
        ("bejeweled", "inst", "insq", "scaled_dcg", "nerr8", "nerr9", "nerr10", "nerr11", "compatibility"),
    ),
)
_KERNELS: Mapping[Kernel, ArrayKernel] = {
    **{getattr(plain, name): getattr(own, name) for plain, own, names in _FAMILIES for name in names},
    # Without subtopics each relevant document is one of its own.
    plain_evidence.all_groups: counting.all_relevant,
    plain_diversity.subtopic_recall: counting.recall,
}
_WITHOUT = {
    "characters": "the texts of gold passages and chunks",
    "subtopics": "judgments by subtopic",
}


def kernel_of(measure: Measure, contract: Contract) -> ArrayKernel:
    """The measure's kernel for arrays, or an error that says why it has none."""
    definition = measure.definition
    if measure.get("budget") is not None:
        raise MeasureError(f"{measure} needs the texts of the documents, which arrays do not hold; use evaluate()")
    kernel = _KERNELS.get(definition.kernel)
    if kernel is None:
        lacking = next((what for need, what in _WITHOUT.items() if need in definition.needs), None)
        reason = f"it needs {lacking}, which arrays do not hold" if lacking else "it has no form for arrays"
        raise MeasureError(f"{measure} cannot be computed from arrays: {reason}; use evaluate()")
    if contract.ties == "expected" and definition.ties != "exact":
        raise MeasureError(
            f"{measure} has no closed form of its expected value over tied orders; choose ties='trec' or "
            "ties='stable', or use evaluate(), which goes through the orders"
        )
    if contract.ties == "expected" and contract.depth is not None:
        raise ContractError("a depth cuts lists within ties; choose ties='trec' or ties='stable', or leave depth out")
    return kernel


def deepest_of(measure: Measure, contract: Contract) -> int | None:
    """The last rank that the measure looks at; None where that is the end of the list."""
    definition = measure.definition
    is_depth = measure.at is not None and definition.at is not None and definition.at.kind is int
    # Ties across the depth, documents that move up, and the best order of the whole list need what is below.
    whole = contract.ties == "expected" or measure.get("judged_only") or measure.get("ideal") == "retrieved"
    return int(measure.at) if is_depth and measure.at is not None and not whole else None
