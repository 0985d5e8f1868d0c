"""How queries compare with those that people write: their words, and how many of these their document holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankgauge.model.testset import Query
from rankgauge.retrievers.text import is_stop_word, plain_words
from rankgauge.testsets.phrasing import is_question
from rankgauge.testsets.source_terms import content_words, folded

__all__ = ["Realism", "realism_of", "share_taken"]


@dataclass(frozen=True)
class Realism:
    """Means over queries."""

    queries: int
    words: float
    """Words of a query."""
    questions: float
    """Share of the queries that are put as a question."""
    taken: float | None
    """Share of the words of a query, stop words apart, that its relevant document holds; None where none is known."""
    lengths: tuple[int, ...] = ()
    """Words of each query, stop words apart."""

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "lengths"}


def share_taken(query: str, texts: Sequence[str]) -> float | None:
    """Share of the words of a query, stop words apart, that stand in one of the texts."""
    own = content_words(query)
    if not own or not texts:
        return None
    held = {folded(word) for text in texts for word in plain_words(text)}
    return sum(word in held for word in own) / len(own)


def realism_of(queries: Iterable[Query], corpus: Mapping[str, str]) -> Realism:
    """How queries read. Of several relevant documents the mean counts; groups of evidence count together."""
    asked = [query for query in queries if query.text.strip()]
    shares: list[float] = []
    for query in asked:
        texts = [corpus[doc] for doc in query.relevant if doc in corpus]
        sides = [texts] if query.groups else [[text] for text in texts]
        own = [share for side in sides if (share := share_taken(query.text, side)) is not None]
        if own:
            shares.append(sum(own) / len(own))
    count = max(1, len(asked))
    lengths = [sum(not is_stop_word(word) for word in plain_words(query.text)) for query in asked]
    return Realism(
        len(asked),
        sum(len(plain_words(query.text)) for query in asked) / count,
        sum(is_question(query.text) for query in asked) / count,
        sum(shares) / len(shares) if shares else None,
        tuple(lengths),
    )
