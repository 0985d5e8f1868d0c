"""Chunks: what the ids that a retriever returns stand for, where it searches pieces of documents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted

__all__ = ["Chunk", "Chunks", "GivenChunks", "compiled_ids"]


@named_arguments
@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of document `doc`: its characters `start` to `end` (exclusive) where they are known, and its `text`."""

    doc: str
    start: int | None = None
    end: int | None = None
    text: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.doc, str) or not self.doc:
            raise DataError(f"a chunk belongs to a document: `doc` must be its id, not {self.doc!r}")
        if not isinstance(self.text, str):
            raise DataError(f"`text` of a chunk must be a text, not {self.text!r}"[:200])
        if (self.start is None) != (self.end is None):
            raise DataError("a chunk has both `start` and `end`, or neither")
        if self.start is not None and self.end is not None:
            if not all(isinstance(place, int) and not isinstance(place, bool) for place in (self.start, self.end)):
                raise DataError(f"`start` and `end` of a chunk are whole numbers, not {self.start!r} and {self.end!r}")
            if not 0 <= self.start <= self.end:
                raise DataError(f"a chunk begins at 0 or later and ends behind it, not {self.start} to {self.end}")


@named_arguments
class Chunks(Mapping[str, Chunk]):
    """Chunks by id, immutable: `parents` are their documents, `texts` what a budget or a retriever needs of them."""

    def __init__(self, chunks: Mapping[str, Chunk | str], *, name: str = "chunks") -> None:
        """Chunks by id; a text in the place of a chunk is the id of its document."""
        check_text("name", name)
        if not isinstance(chunks, Mapping):
            raise DataError(f'{name}: chunks are given by id, {{"c1": Chunk("d1", 0, 500)}}, not as {chunks!r}'[:200])
        made: dict[str, Chunk] = {}
        for own, chunk in chunks.items():
            if not isinstance(chunk, Chunk | str):
                raise DataError(f"{name}: {own!r} is a {type(chunk).__name__}; give a Chunk or the id of its document")
            try:
                made[str(own)] = Chunk(chunk) if isinstance(chunk, str) else chunk
            except DataError as error:
                raise DataError(f"{name}: chunk {own!r}: {error}") from None
        self._chunks, self.name = made, name

    @classmethod
    def of_ids(cls, ids: Iterable[str], pattern: str | re.Pattern[str], *, name: str = "chunk ids") -> Chunks:
        """Chunks whose ids tell where they are, read by a regular expression with the groups `doc`, `start` and `end`:
        `^(?P<doc>.+)-(?P<start>\\d+)-(?P<end>\\d+)$`. An id that it does not match is an error."""
        found = compiled_ids(pattern)
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise DataError(f"`ids` must be a list of chunk ids, not {ids!r}"[:200])
        made: dict[str, Chunk] = {}
        faults = []
        for own in map(str, ids):
            match = found.search(own)
            try:
                if match is None:
                    raise DataError("the expression does not match it")
                made[own] = Chunk(match["doc"], int(match["start"]), int(match["end"]))
            except (DataError, TypeError, ValueError) as error:
                faults.append(f"{own!r}: {error}")
        if faults:
            more = f"; and {len(faults) - 1} more" if len(faults) > 1 else ""
            raise DataError(f"{name}: `chunk_ids={found.pattern!r}` cannot read the id {faults[0]}{more}")
        return cls(made, name=name)

    @cached_property
    def parents(self) -> dict[str, str]:
        """The document of each chunk."""
        return {own: chunk.doc for own, chunk in self._chunks.items()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of each chunk that has one."""
        return {own: chunk.text for own, chunk in self._chunks.items() if chunk.text}

    @cached_property
    def by_document(self) -> dict[str, list[str]]:
        """The chunks of each document, in their order."""
        found: dict[str, list[str]] = {}
        for own, chunk in self._chunks.items():
            found.setdefault(chunk.doc, []).append(own)
        return found

    def __getitem__(self, chunk: str) -> Chunk:
        return self._chunks[chunk]

    def __iter__(self) -> Iterator[str]:
        return iter(self._chunks)

    def __len__(self) -> int:
        return len(self._chunks)

    def __repr__(self) -> str:
        documents = counted(len(self.by_document), "document")
        return f"Chunks({self.name!r}: {counted(len(self), 'chunk')} of {documents})"


def compiled_ids(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    """A regular expression that reads places from ids, checked."""
    try:
        found = re.compile(pattern)
    except (re.error, TypeError) as error:
        raise DataError(f"`chunk_ids={pattern!r}` is no regular expression: {error}") from None
    if missing := sorted({"doc", "start", "end"} - set(found.groupindex)):
        raise DataError(
            f"`chunk_ids={found.pattern!r}` has no group named {', '.join(map(repr, missing))}; example: "
            r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$"
        )
    return found


OneSource = Chunks | str | os.PathLike[str] | re.Pattern[str]
GivenChunks = OneSource | Mapping[str, OneSource]
"""Chunks, the path of a file of them, or an expression that reads places from ids; or one of these for each system."""
