"""`evaluate_tensors`: scores and grades as arrays in, scores of each query out, all on one device."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.arguments import named_arguments
from rankgauge.errors import ContractError
from rankgauge.evaluation.plan import DEFAULT_MEASURES, make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.tensors.inputs import read_inputs
from rankgauge.tensors.kernels import kernel_of
from rankgauge.tensors.ranking import Array
from rankgauge.tensors.result import TensorScores
from rankgauge.tensors.scoring import ArrayScoring

__all__ = ["check_contract", "evaluate_tensors"]


@named_arguments
def evaluate_tensors(
    scores: Array,
    relevance: Array,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    mask: Array | None = None,
    groups: Array | None = None,
    n_queries: int | None = None,
    judged: Array | None = None,
    all_grades: Array | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
) -> TensorScores:
    """Score ranked lists that lie in arrays of NumPy, PyTorch, JAX or CuPy, on the device where they are.

    `scores` and `relevance` have a row for each query and a column for each document (`mask` says which of them are
    documents, where lists differ in length); or both are flat, with a row for each document in any order, and `groups`
    numbers the query of each from 0 (`n_queries` counts queries without any document too). Grades are numbers, or True
    and False. A grade of NaN or minus infinity, and what `judged` says is not judged, is a document that nobody judged;
    a grade below 0 is judged and not relevant.

    The documents of a query are taken to be all that is judged for it. Where relevant ones are missing among them,
    `all_grades` has the grades of all judged documents of each query, in rows filled up with NaN: recall, average
    precision and the ideal list of nDCG then count those that were not retrieved.

    `contract`, `ties`, `missing`, `no_relevant`, `depth` and `rel` are those of `evaluate`. There are no ids: with
    `ties="trec"` a document's place stands for its id, and the later of two with one score comes first, as if ids rose
    along the row; `stable` puts the earlier first, `expected` takes the mean over all orders, and `given` ranks by
    place alone. A query without documents is a `missing` one.

    Everything is compared and computed in the precision of `scores`: float32, or float64 for float64 and for whole
    numbers; `contract="trec_eval9"` compares float64 scores as float32, as that version does. Measures that need ids,
    texts or subtopics are refused, and with `expected` those without a closed form. A million queries are taken in
    chunks of bounded size; arrays in the processor's memory are computed by NumPy, others by their own library.
    """
    plan = make_plan(measures, contract, ties, missing, no_relevant, None, depth, rel)
    check_contract(plan.contract)
    kernels = [kernel_of(measure, plan.contract) for measure in plan.measures]
    inputs = read_inputs(scores, relevance, mask, groups, n_queries, judged, all_grades)
    return ArrayScoring(inputs, plan, kernels).scores()


def check_contract(contract: Contract) -> None:
    """Refuse a contract that arrays without ids cannot keep."""
    if contract.drop_self:
        raise ContractError(
            "drop_self=True needs ids, which arrays do not have; take those documents out by `mask`, and give a "
            "contract with drop_self=False"
        )
