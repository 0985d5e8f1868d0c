"""`evaluate_embeddings`: embeddings of queries and documents in, scores of each query out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import ContractError, DataError, MeasureError
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Ints
from rankgauge.tensors.inputs import Inputs, Part
from rankgauge.tensors.judged import Judged, Places, ids_of, read_judged
from rankgauge.tensors.kernels import deepest_of, kernel_of
from rankgauge.tensors.ranking import Array
from rankgauge.tensors.result import TensorScores
from rankgauge.tensors.scoring import ArrayScoring
from rankgauge.tensors.search import SIMILARITIES, nearest
from rankgauge.tensors.vectors import Vectors, read_vectors

__all__ = ["evaluate_embeddings", "search_plan"]

_SHALLOWEST = 100
_PAIRS = 1 << 22
"""Documents found that are looked up together."""


@named_arguments
def evaluate_embeddings(
    queries: Array,
    documents: Array,
    qrels: Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    k: int | None = None,
    similarity: str = "cosine",
    query_ids: Sequence[Any] | None = None,
    document_ids: Sequence[Any] | None = None,
    drop_self: bool | None = None,
    keep_ranking: bool = False,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    rel: float | None = None,
) -> TensorScores:
    """Search by embeddings, exactly, and score what is found: arrays of NumPy, PyTorch, JAX or CuPy, on their device.

    `queries` and `documents` have a row for each. `qrels` are three arrays (query row, document row, grade), or one
    array with these columns; or judgments as `evaluate` takes them, by the ids in `query_ids` and `document_ids`
    (without these, the row number is the id). Documents that nobody judged are unjudged, and all judged ones count for
    recall, found or not. Queries without judgments are searched, but enter no mean.

    The lists have `k` documents: 100, or what the deepest measure looks at, unless it is given. `similarity` is
    `cosine` (0 where a vector is zero), `dot`, or `l2`, which ranks by the squared distance. Ties are broken as in
    `evaluate_tensors`: the place of a document stands for its id, so with `ties="trec"` the later of two equal ones
    comes first, and with `stable` the earlier; equal vectors tie wherever they stand. `drop_self=True` leaves out the
    document that has the query's id, or without ids the query's row, where queries are documents themselves.

    Everything is multiplied and added in float32, in float64 where embeddings are of it or of whole numbers. Scores are
    computed for a block of queries and documents at a time: beside the arrays, a search takes at most about 0.2 GB in
    the processor's memory and 2 GB on a device, and 25 bytes for each of the k documents of each query.
    `keep_ranking=True` keeps the rows of the documents found as `result.ranking`, -1 behind the end of a list.
    """
    plan = search_plan(measures, k, contract, drop_self, ties, missing, no_relevant, rel)
    if similarity not in SIMILARITIES:
        raise DataError(f"similarity={similarity!r} is not one of {', '.join(map(repr, SIMILARITIES))}")
    asked, searched = read_vectors(queries, documents)
    query_places = ids_of("query_ids", query_ids, len(asked), "queries")
    document_places = ids_of("document_ids", document_ids, len(searched), "documents")
    unanswered = plan.contract.no_answer == "skip"
    judged = read_judged(qrels, len(asked), len(searched), query_places, document_places, unanswered)
    if judged.unanswered and (needing := [m for m in plan.measures if "no_answer" in m.definition.needs]):
        raise MeasureError(f"{needing[0]} takes queries marked as having no answer from evaluate() alone; use that")
    own = None
    if plan.contract.drop_self:
        own = _own(asked, searched, query_places, document_places)
    places, scores = nearest(
        asked,
        searched,
        plan.contract.depth or 0,
        similarity,
        plan.contract.ties,
        own,
        rounded=plan.contract.scores == "float32",
    )
    found = _scored(places, scores, asked, judged, plan)
    return replace(found, ranking=asked.back(places)) if keep_ranking else found


def search_plan(
    measures: Any,
    k: int | None,
    contract: Any,
    drop_self: bool | None,
    ties: str | None,
    missing: str | None,
    no_relevant: str | None,
    rel: float | None,
) -> Plan:
    """The plan, whose contract says that lists are cut at k."""
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise DataError(f"`k={k!r}` must be a whole number of at least 1")
    if drop_self is not None and not isinstance(drop_self, bool):
        raise DataError(f"`drop_self={drop_self!r}` must be True or False")
    plan = make_plan(measures, contract, ties, missing, no_relevant, None, None, rel)
    if plan.contract.ties not in ("trec", "stable"):
        raise ContractError(
            f"ties={plan.contract.ties!r} does not say which of several equal documents a list that ends after k "
            "holds; choose ties='trec' or ties='stable'"
        )
    deepest = max((deepest_of(measure, plan.contract) or 0 for measure in plan.measures), default=0)
    k = k or max(_SHALLOWEST, deepest)
    depth = k if plan.contract.depth is None else min(k, plan.contract.depth)
    return replace(plan, contract=plan.contract.with_changes(depth=depth, drop_self=drop_self))


def _own(asked: Vectors, searched: Vectors, query_places: Places | None, document_places: Places | None) -> Array:
    """The row of the document that each query is, or -1."""
    if (query_places is None) != (document_places is None):
        raise DataError("drop_self=True needs both `query_ids` and `document_ids`, or neither, where row i is the same")
    if query_places is None or document_places is None:
        if len(asked) != len(searched):
            raise DataError(
                f"drop_self=True without ids takes row i of both to be the same, but there are {len(asked)} queries "
                f"and {len(searched)} documents; give `query_ids` and `document_ids`"
            )
        own = np.arange(len(asked))
    else:
        own = np.array([document_places.get(name, -1) for name in query_places], dtype=np.int64)
    index = asked.xp.__array_namespace_info__().default_dtypes()["indexing"]
    return asked.xp.asarray(own, dtype=index, device=asked.device)


def _scored(places: Array, scores: Array, asked: Vectors, judged: Judged, plan: Plan) -> TensorScores:
    xp, device, dtype = asked.xp, asked.device, asked.dtype
    if not int(places.shape[1]):
        places = xp.full((len(asked), 1), -1, dtype=places.dtype, device=device)
        scores = xp.zeros((len(asked), 1), dtype=dtype, device=device)
    kernels = [kernel_of(measure, plan.contract) for measure in plan.measures]
    inputs = _Found(
        xp=xp,
        device=device,
        dtype=dtype,
        scores=scores,
        relevance=_grades(places, judged, asked),
        judged=None,
        mask=places >= 0,
        all_grades=None,
        lists=None,
        n_queries=len(asked),
        back=asked.back,
        pool=judged,
    )
    ranked = replace(plan, contract=plan.contract.with_changes(ties="given"))  # the search has put them in order
    found = replace(ArrayScoring(inputs, ranked, kernels).scores(), plan=plan)
    if judged.judged.all():
        return found
    counted = asked.back(xp.asarray(np.repeat(judged.judged[:, None], len(kernels), axis=1), device=device))
    return replace(found, counted=counted if found.counted is None else found.counted & counted)


def _grades(places: Array, judged: Judged, asked: Vectors) -> Array:
    """The grade of each document found, minus infinity where nobody judged it."""
    xp, device = asked.xp, asked.device
    if not len(judged.grades):
        return xp.full(places.shape, -xp.inf, dtype=asked.dtype, device=device)
    wide = places.dtype == getattr(xp, "int64", None)  # else too narrow for the number of a pair: JAX unless it is told
    own, where = (xp, device) if wide else (np, "cpu")
    keys = own.asarray(judged.keys, device=where)
    grades = own.asarray(judged.grades, dtype=asked.dtype if wide else np.float64, device=where)
    step, n, found = max(1, _PAIRS // int(places.shape[1])), int(places.shape[0]), []
    for start in range(0, n, step):
        part = places[start : min(start + step, n), :]
        part = part if wide else np.asarray(part).astype(np.int64)
        query = start + own.arange(int(part.shape[0]), dtype=own.int64, device=where)[:, None]
        pair = own.reshape(query * judged.n_documents + part, (-1,))
        at = own.clip(own.searchsorted(keys, pair), max=int(keys.shape[0]) - 1)
        known = (own.take(keys, at, axis=0) == pair) & own.reshape(part >= 0, (-1,))
        grade = own.take(grades, at, axis=0)
        grade = own.reshape(own.where(known, grade, own.full_like(grade, -own.inf)), part.shape)
        found.append(grade if wide else xp.asarray(grade, dtype=asked.dtype, device=device))
    return xp.concat(found)


@dataclass(frozen=True, eq=False, repr=False)
class _Found(Inputs):
    """Lists that are in rank order, and the judgments of their queries, of which only some were found."""

    pool: Judged

    @cached_property
    def order(self) -> Ints:
        """Queries, those with the most judgments first, so that rows are not much wider than they need."""
        return np.argsort(-self.pool.counts, kind="stable")

    def parts(self, elements: int, least: int) -> Iterator[Part]:
        xp, order, counts, start = self.xp, self.order, self.pool.counts, 0
        index = xp.__array_namespace_info__().default_dtypes()["indexing"]
        while start < self.n_queries:
            width = max(int(counts[order[start]]), 1)
            stop = start + max(1, elements // max(width, self.width, least))
            queries = order[start:stop]
            place = xp.asarray(queries, dtype=index, device=self.device)
            pool = xp.asarray(self.pool.rows(queries, width), dtype=self.dtype, device=self.device)
            scores, grades = (xp.take(values, place, axis=0) for values in (self.scores, self.relevance))
            yield Part(scores, grades, xp.take(self.mask, place, axis=0), pool)
            start = stop

    def values(self, elements: int) -> Iterator[tuple[Array | None, Array]]:
        for part in self.parts(elements, 1):
            yield part.scores, part.grades
            yield None, part.judged

    def returned(self, values: Array) -> Array:
        back: Callable[[Array], Array] | None = self.back
        order = self.xp.asarray(np.argsort(self.order, kind="stable"), device=self.device)
        values = self.xp.take(values, order, axis=0)
        return values if back is None else back(values)
