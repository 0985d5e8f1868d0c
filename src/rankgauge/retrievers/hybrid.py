"""Several retrievers searched side by side, their lists fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from rankgauge.errors import RankgaugeError
from rankgauge.retrievers.bm25 import BM25
from rankgauge.retrievers.checks import Bounds, Choices, check_number, check_query, check_whole
from rankgauge.retrievers.dense import Dense
from rankgauge.retrievers.fusion import METHODS, NORMS, check_options, check_weights, fuse
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.interface import Retriever, as_retriever
from rankgauge.retrievers.text import LANGUAGES

__all__ = ["Hybrid"]


class Hybrid:
    """The best `depth` documents of each retriever, fused by `rankgauge.retrievers.fuse`.

    Retrievers given by name may have their weights by name. More than `depth` are taken where a search wants more.
    """

    def __init__(
        self,
        retrievers: Sequence[Retriever] | Mapping[str, Retriever],
        *,
        method: str = "weighted",
        weights: Sequence[float] | Mapping[str, float] | None = None,
        norm: str = "min-max",
        rrf_k: float = 60,
        depth: int = 100,
    ) -> None:
        named = dict(retrievers) if isinstance(retrievers, Mapping) else dict(enumerate(retrievers))
        if not named:
            raise RankgaugeError("a hybrid needs at least one retriever")
        self._retrievers = [as_retriever(one, "a hybrid") for one in named.values()]
        if isinstance(weights, Mapping):
            if set(weights) != set(named):
                raise RankgaugeError(f"weights are for {list(weights)}, but the retrievers are {list(named)}")
            weights = [weights[name] for name in named if isinstance(name, str)]
        check_options(method, rrf_k, norm)
        self._weights = check_weights(weights, len(named), method)
        self._method, self._norm, self._rrf_k = method, norm, rrf_k
        self._depth = check_whole("depth", depth, 1)

    @classmethod
    def of(
        cls,
        corpus: Mapping[str, str],
        *,
        weight: Annotated[float, "The dense share: 0 is BM25 alone, 1 dense alone.", Bounds(0, 1)] = 0.5,
        method: Annotated[str, "How the two lists are fused.", Choices(METHODS)] = "weighted",
        norm: Annotated[str, "How scores are made comparable before weighting.", Choices(NORMS)] = "min-max",
        rrf_k: Annotated[float, "rrf: the constant added to ranks.", Bounds(0)] = 60,
        depth: Annotated[int, "Documents taken from each list.", Bounds(1)] = 100,
        k1: Annotated[float, "BM25: how much repeats of a term count.", Bounds(0)] = 1.2,
        b: Annotated[float, "BM25: how much long documents are held back.", Bounds(0, 1)] = 0.75,
        dimensions: Annotated[int, "Length of the vectors of latent semantic analysis.", Bounds(1)] = 256,
        model: Annotated[str | None, "A sentence-transformers model, or the endpoint's."] = None,
        endpoint: Annotated[str | None, "URL of an OpenAI-compatible server, before /embeddings."] = None,
        api_key_env: Annotated[str | None, "Environment variable that holds the endpoint's key."] = None,
        language: Annotated[str, "Language of the texts; auto goes by their script.", Choices(LANGUAGES)] = "auto",
    ) -> Hybrid:
        """BM25 and dense retrieval over one corpus; `weight` is the dense share."""
        check_number("weight", weight, 0, 1)
        check_options(method, rrf_k, norm)
        check_whole("depth", depth, 1)
        lexical = BM25(corpus, k1=k1, b=b, language=language)
        dense = Dense(
            corpus, dimensions=dimensions, model=model, endpoint=endpoint, api_key_env=api_key_env, language=language
        )
        return cls(
            {"bm25": lexical, "dense": dense},
            weights=[1 - weight, weight],
            method=method,
            norm=norm,
            rrf_k=rrf_k,
            depth=depth,
        )

    @property
    def ids(self) -> Sequence[str]:
        return tuple(dict.fromkeys(doc for one in self._retrievers for doc in one.ids))

    def search(self, query: str, k: int) -> list[Hit]:
        query, k = check_query(query, k)
        # A weight of 0 keeps a list out altogether: its documents must not fill up the end with scores of 0.
        used = [(one, weight) for one, weight in zip(self._retrievers, self._weights, strict=True) if weight]
        lists = [one.search(query, max(k, self._depth)) for one, _ in used]
        return fuse(lists, self._method, [weight for _, weight in used], self._rrf_k, self._norm, k)
