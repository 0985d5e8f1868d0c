"""Dense retrieval: texts as vectors, the nearest found exactly or with an HNSW graph."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.retrievers.checks import Bounds, Choices, check_choice, check_corpus, check_query, check_whole, faults_of
from rankgauge.retrievers.configuration import described
from rankgauge.retrievers.encoders import (
    LSA,
    Dimensions,
    Encoder,
    EndpointUrl,
    KeyVariable,
    check_encoder,
    model_encoder,
)
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.nearest import HNSW, Exact, Vectors, check_graph, unit_vectors
from rankgauge.retrievers.text import LANGUAGES, TextLanguage

__all__ = ["INDEXES", "Dense"]

INDEXES = ("exact", "hnsw")


class Dense:
    """Documents by the cosine of their vectors with the query's.

    Vectors come from latent semantic analysis of the corpus, which needs no trained weights, unless `model` names a
    sentence-transformers model, is a function from texts to an array, or names a model of an OpenAI-compatible
    `endpoint`. A query whose vector is zero, such as one without any known word, finds nothing.
    """

    @named_arguments
    def __init__(
        self,
        corpus: Mapping[str, str],
        *,
        dimensions: Dimensions = 256,
        model: Annotated[str | Encoder | None, "A sentence-transformers model, or the endpoint's."] = None,
        endpoint: EndpointUrl = None,
        api_key_env: KeyVariable = None,
        index: Annotated[str, "Compare with every vector, or search a graph.", Choices(INDEXES)] = "exact",
        M: Annotated[int, "hnsw: neighbours of each vector.", Bounds(2)] = 16,
        ef_construction: Annotated[int, "hnsw: candidates while building.", Bounds(1)] = 200,
        ef_search: Annotated[int, "hnsw: candidates while searching.", Bounds(1)] = 64,
        language: TextLanguage = "auto",
    ) -> None:
        check_choice("index", index, INDEXES)
        graph = {
            "M": check_whole("M", M, 2),
            "ef_construction": check_whole("ef_construction", ef_construction, 1),
            "ef_search": check_whole("ef_search", ef_search, 1),
        }
        check_choice("language", language, LANGUAGES)
        check_whole("dimensions", dimensions, 1)
        texts = check_corpus(corpus)
        self._ids = tuple(texts)
        if model is None and endpoint is None and api_key_env is None:
            self._encoder: Encoder = LSA(list(texts.values()), dimensions=dimensions, language=language)
        else:
            self._encoder = model_encoder(model, endpoint, api_key_env)
        self._vectors = self.encode(list(texts.values()))
        self._places = {doc: place for place, doc in enumerate(self._ids)}
        used = graph if index == "hnsw" else {}
        self.configuration = described(texts, {"encoder": self._encoder}, dense=index, **used)
        self._index: Exact | HNSW = HNSW(self._vectors, **graph) if index == "hnsw" else Exact(self._vectors)

    @staticmethod
    def needs(
        index: str = "exact", model: Any = None, endpoint: str | None = None, language: str = "auto", **_: Any
    ) -> list[str]:
        """What is not installed."""
        return faults_of(lambda: check_encoder(model, endpoint, language), *([check_graph] if index == "hnsw" else []))

    @property
    def ids(self) -> Sequence[str]:
        return self._ids

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, one for each text."""
        vectors = unit_vectors(self._encoder(texts), "the vectors of the model")
        if len(vectors) != len(texts):
            raise DataError(f"the model gave {len(vectors)} vectors for {len(texts)} texts")
        return vectors

    def vectors_of(self, ids: Iterable[str]) -> Vectors:
        """Vectors of some documents."""
        try:
            return self._vectors[[self._places[doc] for doc in ids]]
        except KeyError as error:
            raise DataError(f"document {error.args[0]!r} is not in the index") from None

    def with_ef_search(self, ef_search: int) -> Dense:
        """The same index, searched with another ef_search."""
        if not isinstance(self._index, HNSW):
            raise RankgaugeError("ef_search belongs to index='hnsw'; this index is exact")
        other = copy.copy(self)
        other._index = self._index.with_ef_search(ef_search)
        if self.configuration is not None:
            other.configuration = {**self.configuration, "ef_search": ef_search}
        return other

    def search(self, query: str, k: int) -> list[Hit]:
        query, k = check_query(query, k)
        vector = self.encode([query])[0]
        if vector.shape != self._vectors.shape[1:]:
            raise DataError(
                f"the model gave the query {len(vector)} dimensions, but the documents {self._vectors.shape[1]}"
            )
        if not np.any(vector):
            return []
        return [Hit(self._ids[place], score) for place, score in self._index.search(vector, k)]
