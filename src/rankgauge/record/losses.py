"""Where relevant documents were lost on their way to the reader: each one at exactly one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rankgauge.words import Note

__all__ = ["Headroom", "LossPlace", "LossesResult", "LostDocument"]


@dataclass(frozen=True)
class LossPlace:
    """Where a document ended: lost at a stage of the pipeline, or found."""

    kind: Literal["corpus", "index", "stage", "rank", "budget", "found"]
    """Not in the corpus; not in the index; not in the list of a `stage`; in the last list, but after the first k; among
    them, but outside the context budget; found."""
    stage: str = ""
    documents: int = 0
    """Relevant documents that ended here, over all queries that count."""
    grades: float = 0.0
    """Their grades added up."""
    queries: int = 0
    """Queries with such a document."""
    gain: float = 0.0
    """By how much recall would rise if all of them were found, as far as there is room, and nothing else changed."""

    @property
    def key(self) -> str:
        return f"stage:{self.stage}" if self.kind == "stage" else self.kind


@dataclass(frozen=True)
class Headroom:
    """One part of the pipeline made perfect: what that could gain at most."""

    kind: Literal["corpus", "index", "first", "stage", "order", "budget"]
    """`first` is the first stage, `order` whatever makes the last list out of the one before: of a single stage, a
    reranker of its list."""
    stage: str
    documents: int
    """Documents that were lost there."""
    gain: float
    """Of recall, at most."""


@dataclass(frozen=True)
class LostDocument:
    """A relevant document that was not found."""

    doc: str
    grade: float
    place: str
    """The key of its place."""
    ranks: list[int | None]
    """Its rank in the list of each stage."""


@dataclass(frozen=True)
class LossesResult:
    """Every relevant document of every query that counts, by the place where it was lost."""

    system: str
    """The last stage: its list is what the reader gets."""
    stages: list[str]
    """First to last."""
    measure: str
    """Recall at k."""
    k: int
    budget: int | None
    mean: float
    """Recall within k, and within the budget where there is one."""
    ceiling: float
    """The greatest that k leaves room for."""
    documents: int
    """All relevant documents."""
    queries: int
    """Queries that count."""
    places: list[LossPlace]
    """In the order of the pipeline; their documents add up to all."""
    headroom: list[Headroom]
    per_query: dict[str, list[int]] = field(default_factory=dict)
    """Documents by the key of their place, in the order of the record's queries."""
    lost: dict[str, list[LostDocument]] = field(default_factory=dict)
    """By query, those that lost most first; of many only the first are kept."""
    notes: list[Note] = field(default_factory=list)

    @property
    def missed(self) -> int:
        """Relevant documents that were not found."""
        return sum(place.documents for place in self.places if place.kind != "found")

    @property
    def largest_headroom(self) -> Headroom | None:
        """The part with most to gain; None where nothing can be gained."""
        best = max(self.headroom, key=lambda part: (part.gain, part.documents), default=None)
        return best if best is not None and best.gain > 0 else None

    def place(self, key: str) -> LossPlace:
        return next(place for place in self.places if place.key == key)
