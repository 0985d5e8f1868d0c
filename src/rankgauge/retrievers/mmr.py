"""Maximal marginal relevance: a list whose documents do not repeat each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.retrievers.checks import check_choice, check_number, check_query, check_whole
from rankgauge.retrievers.configuration import described
from rankgauge.retrievers.dense import Dense
from rankgauge.retrievers.encoders import Encoder
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.interface import Retriever, as_retriever, continued
from rankgauge.retrievers.nearest import Vectors, unit_vectors
from rankgauge.retrievers.stages import names_with, stages_of

__all__ = ["MMR", "RELEVANCES"]

RELEVANCES = ("cosine", "scores")


class MMR:
    """The best `depth` documents of a retriever, chosen again one by one (Carbonell and Goldstein 1998): each time the
    document with the greatest

    lambda_ * relevance - (1 - lambda_) * max over documents chosen already of cosine(document, chosen)

    lambda_=1 is pure relevance, lambda_=0 pure diversity. `vectors` is a `Dense` retriever or a mapping from ids to
    vectors, with `encoder` for queries. Relevance is the cosine of the query with the document, or with
    relevance="scores" the retriever's score, scaled to 0..1 over its documents (min-max). A hit's score is the
    greatest value above; for the first the maximum over no document is taken as -1, so that scores never rise.
    Beyond `depth`, documents follow in the retriever's order.
    """

    @named_arguments
    def __init__(
        self,
        retriever: Retriever,
        vectors: Dense | Mapping[str, Any],
        *,
        encoder: Encoder | None = None,
        lambda_: float = 0.5,
        depth: int = 50,
        relevance: str = "cosine",
    ) -> None:
        self._retriever = as_retriever(retriever, "MMR")
        self._lambda, self._depth = check_number("lambda_", lambda_, 0, 1), check_whole("depth", depth, 1)
        self._relevance = check_choice("relevance", relevance, RELEVANCES)
        if not isinstance(vectors, Mapping | Dense):
            raise RankgaugeError("vectors must be a Dense retriever or a mapping from document ids to vectors")
        self._vectors = vectors
        self._encode = encoder if encoder is not None else getattr(vectors, "encode", None)
        if relevance == "cosine" and self._encode is None:
            raise RankgaugeError("relevance='cosine' needs encoder=, a function from texts to vectors, for the queries")
        parts = {"retriever": retriever, "vectors": vectors, **({} if encoder is None else {"encoder": encoder})}
        self.configuration = described({}, parts, mmr=lambda_, depth=depth, relevance=relevance)

    @property
    def ids(self) -> Sequence[str]:
        return self._retriever.ids

    @property
    def stage_names(self) -> tuple[str, ...]:
        return names_with(self._retriever, "diversified")

    def stages(self, query: str, k: int) -> Iterator[tuple[str, list[Hit]]]:
        """The candidates, and what was chosen from them."""
        query, k = check_query(query, k)
        found: list[Hit] = []
        for name, found in stages_of(self._retriever, query, max(k, self._depth)):
            yield name, found
        yield self.stage_names[-1], self._chosen(query, found, k)

    def search(self, query: str, k: int) -> list[Hit]:
        query, k = check_query(query, k)
        return self._chosen(query, self._retriever.search(query, max(k, self._depth)), k)

    def _chosen(self, query: str, found: list[Hit], k: int) -> list[Hit]:
        candidates, rest = found[: self._depth], found[self._depth :]
        if not candidates:
            return []
        vectors = self._vectors_of([hit.id for hit in candidates])
        relevance = self._relevance_of(query, candidates, vectors)
        chosen = marginal(relevance, vectors, self._lambda, k)
        return continued([Hit(candidates[place].id, value) for place, value in chosen], rest)[:k]

    def _vectors_of(self, ids: list[str]) -> Vectors:
        if isinstance(self._vectors, Dense):
            return self._vectors.vectors_of(ids)
        missing = [doc for doc in ids if doc not in self._vectors]
        if missing:
            raise DataError(f"document {missing[0]!r} has no vector; MMR needs one for every document")
        return unit_vectors([self._vectors[doc] for doc in ids])

    def _relevance_of(self, query: str, candidates: list[Hit], vectors: Vectors) -> Vectors:
        if self._relevance == "cosine":
            assert self._encode is not None
            query_vector = unit_vectors(self._encode([query]), "the vectors of the encoder")[0]
            return np.asarray(vectors @ query_vector, dtype=np.float32)
        scores = np.asarray([hit.score for hit in candidates])
        spread = scores.max() - scores.min()
        scaled = (scores - scores.min()) / spread if spread > 0 else np.ones(len(scores))
        return scaled.astype(np.float32)


def marginal(relevance: Vectors, vectors: Vectors, lambda_: float, k: int) -> list[tuple[int, float]]:
    """Places in the order they are chosen, each with its value; of equal ones the earlier comes first."""
    relevant = relevance.astype(np.float64)
    nearest = np.full(len(vectors), -1.0)
    left = np.ones(len(vectors), dtype=bool)
    chosen = []
    for _ in range(min(k, len(vectors))):
        values = np.where(left, lambda_ * relevant - (1 - lambda_) * nearest, -np.inf)
        best = int(values.argmax())
        chosen.append((best, float(values[best])))
        left[best] = False
        nearest = np.maximum(nearest, (vectors @ vectors[best]).astype(np.float64))
    return chosen
