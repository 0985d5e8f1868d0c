"""A second, closer look at a retriever's best documents."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.retrievers.checks import check_corpus, check_query, check_whole
from rankgauge.retrievers.configuration import described
from rankgauge.retrievers.encoders import sentence_model
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.interface import Retriever, as_retriever, continued
from rankgauge.retrievers.stages import names_with, stages_of

__all__ = ["Rerank", "Scorer", "cross_encoder"]

Scorer = Callable[[str, list[tuple[str, str]]], Sequence[float]]
"""A query and some documents, (id, text), to a score for each: the higher, the better."""


class Rerank:
    """The best `depth` documents of a retriever in the order of a scorer; equal scores keep the retriever's order.

    `scorer` is a function, or the name of a sentence-transformers cross-encoder; `corpus` holds the texts it reads.
    Beyond `depth`, documents follow in the retriever's order, so that re-ranking loses none.
    """

    @named_arguments
    def __init__(
        self, retriever: Retriever, scorer: Scorer | str, *, corpus: Mapping[str, str], depth: int = 50
    ) -> None:
        self._retriever = as_retriever(retriever, "a re-ranker")
        self._depth = check_whole("depth", depth, 1)
        self._texts = check_corpus(corpus)
        if isinstance(scorer, str):
            scorer = cross_encoder(scorer)
        elif not callable(scorer):
            raise RankgaugeError(
                f"scorer={scorer!r} must be a function of (query, [(id, text), ...]) or a model's name"
            )
        self._scorer = scorer
        self.configuration = described(self._texts, {"retriever": retriever, "scorer": scorer}, rerank=depth)

    @property
    def ids(self) -> Sequence[str]:
        return self._retriever.ids

    @property
    def stage_names(self) -> tuple[str, ...]:
        return names_with(self._retriever, "reranked")

    def stages(self, query: str, k: int) -> Iterator[tuple[str, list[Hit]]]:
        """The candidates, and the list made from them."""
        query, k = check_query(query, k)
        found: list[Hit] = []
        for name, found in stages_of(self._retriever, query, max(k, self._depth)):
            yield name, found
        yield self.stage_names[-1], self._reranked(query, found, k)

    def search(self, query: str, k: int) -> list[Hit]:
        query, k = check_query(query, k)
        return self._reranked(query, self._retriever.search(query, max(k, self._depth)), k)

    def _reranked(self, query: str, found: list[Hit], k: int) -> list[Hit]:
        candidates, rest = found[: self._depth], found[self._depth :]
        if not candidates:
            return []
        missing = [hit.id for hit in candidates if hit.id not in self._texts]
        if missing:
            raise DataError(f"document {missing[0]!r} is not in the corpus: the re-ranker has no text to read")
        scores = [float(score) for score in self._scorer(query, [(hit.id, self._texts[hit.id]) for hit in candidates])]
        if len(scores) != len(candidates):
            raise DataError(f"the scorer gave {len(scores)} scores for {len(candidates)} documents")
        hits = []
        for hit, score in zip(candidates, scores, strict=True):
            if not math.isfinite(score):
                raise DataError(f"the scorer gave document {hit.id!r} the score {score}; scores must be finite")
            hits.append(Hit(hit.id, score))
        hits.sort(key=lambda hit: -hit.score)
        return continued(hits, rest)[:k]


def cross_encoder(model: str) -> Scorer:
    """A sentence-transformers cross-encoder by name or folder."""
    loaded = sentence_model("CrossEncoder", model)
    lock = threading.Lock()  # its tokenizer must not be used by two threads at once

    def score(query: str, documents: list[tuple[str, str]]) -> Sequence[float]:
        with lock:
            scores: list[float] = loaded.predict([(query, text) for _, text in documents]).tolist()
        return scores

    return score
