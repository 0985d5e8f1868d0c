"""What a layout gives: queries, grades, and documents that are read when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rankgauge.model.query import Query
from rankgauge.model.testset import TestSet

__all__ = ["Document", "Material"]


class Document(NamedTuple):
    """A document of a corpus, which may be too large to be held at once."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        """Its text, the first line of which is its title where it has one."""
        line = " ".join(self.title.split())
        return f"{line}\n{self.text}" if line else self.text


@dataclass(frozen=True)
class Material:
    """A benchmark as it was read from its own files."""

    grades: Mapping[str, Mapping[str, float]]
    queries: Mapping[str, str] = field(default_factory=dict)
    """Texts by id, of which not all need to be judged."""
    documents: Callable[[], Iterator[Document]] | None = None
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    excluded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Documents that do not count for a query, wherever they are ranked."""

    def test_set(self, name: str) -> TestSet:
        """The judged queries. Where the texts were not there, they are their ids."""
        made = (
            Query(self.queries.get(query, query), dict(grades), query, tags=tuple(self.tags.get(query, ())))
            for query, grades in self.grades.items()
        )
        return TestSet(made, name=name)
