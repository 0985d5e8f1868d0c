"""BM25 on bm25s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.extras import check_installed, optional
from rankgauge.retrievers.checks import (
    Bounds,
    Choices,
    check_choice,
    check_corpus,
    check_number,
    check_query,
    faults_of,
)
from rankgauge.retrievers.configuration import described
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.interface import best_positions
from rankgauge.retrievers.text import TextLanguage, check_text, tokenizer_for

__all__ = ["BM25", "BM25_METHODS"]

_LIBRARY = ("bm25s", "BM25", "bm25s")
BM25_METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")


class BM25:
    """Words in common, weighted by rarity: with method="lucene", the sum over query terms t of

    ln(1 + (N - n_t + 0.5) / (n_t + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length))

    Only documents that hold a query term are found. A term that stands twice in the query counts twice.
    """

    @named_arguments
    def __init__(
        self,
        corpus: Mapping[str, str],
        *,
        k1: Annotated[float, "How much repeats of a term count; 0 ignores them.", Bounds(0)] = 1.2,
        b: Annotated[float, "How much long documents are held back; 0 not at all.", Bounds(0, 1)] = 0.75,
        language: TextLanguage = "auto",
        method: Annotated[str, "Which variant of the formula.", Choices(BM25_METHODS)] = "lucene",
        delta: Annotated[float, "The least a term counts in bm25l and bm25+.", Bounds(0)] = 0.5,
    ) -> None:
        self.k1, self.b = check_number("k1", k1, 0), check_number("b", b, 0, 1)
        self.method, self.delta = check_choice("method", method, BM25_METHODS), check_number("delta", delta, 0)
        texts = check_corpus(corpus)
        self.configuration = described(
            texts, {}, bm25=method, k1=self.k1, b=self.b, delta=self.delta, language=language
        )
        self._ids = tuple(texts)
        self._terms = tokenizer_for(language)
        self._vocabulary: dict[str, int] = {}
        rows = [
            [self._vocabulary.setdefault(term, len(self._vocabulary)) for term in self._terms(text)]
            for text in texts.values()
        ]
        if not self._vocabulary:
            raise DataError(f"none of the {len(texts)} documents holds a word that could be searched")
        bm25s = optional(*_LIBRARY)
        self._index = bm25s.BM25(k1=self.k1, b=self.b, delta=self.delta, method=self.method, dtype="float64")
        self._index.index((rows, dict(self._vocabulary)), show_progress=False)

    @staticmethod
    def needs(language: str = "auto", **_: Any) -> list[str]:
        """What is not installed."""
        return faults_of(lambda: check_installed(*_LIBRARY), lambda: check_text(language))

    @property
    def ids(self) -> Sequence[str]:
        return self._ids

    def search(self, query: str, k: int) -> list[Hit]:
        query, k = check_query(query, k)
        terms = [self._vocabulary[term] for term in self._terms(query) if term in self._vocabulary]
        if not terms:
            return []
        index = self._index.scores
        spans = [index["indices"][index["indptr"][t] : index["indptr"][t + 1]] for t in set(terms)]
        matching = np.unique(np.concatenate(spans))
        scores = self._index.get_scores_from_ids(terms)[matching]
        best = best_positions(scores, k)
        return [
            Hit(self._ids[i], score) for i, score in zip(matching[best].tolist(), scores[best].tolist(), strict=True)
        ]
