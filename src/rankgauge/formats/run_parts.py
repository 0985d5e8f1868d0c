"""A run that is read part by part, as often as needed, so that it need not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.errors import Fault, FormatError
from rankgauge.formats.sources import Source
from rankgauge.model.text_rows import IrregularTextError, TextRows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Pair", "Place", "Progress", "RunParts"]

Pair = tuple[str, str]
"""A query and a document."""
Progress = Callable[[str, int, int], None]
"""Takes what is done, how much of it, and how much there is."""


class Place(NamedTuple):
    """Where a row stands: a line of a text or a row of a table, counted from 1, of a part file where there are many."""

    number: int
    row: bool = False
    file: str = ""

    @property
    def before(self) -> str:
        """The place as told in the middle of a sentence."""
        of = f" of {self.file}" if self.file else ""
        return f"{'in row' if self.row else 'on line'} {self.number}{of}"

    def fault(self, message: str) -> Fault:
        if not self.row and not self.file:
            return Fault(message, self.number)
        return Fault(f"{self.file}{': ' if self.file else ''}{'row' if self.row else 'line'} {self.number}: {message}")


class RunParts:
    """A run in one file or many, of any format."""

    text: Source | None = None
    """The file, where it is TREC text."""
    repeats = True
    """Whether the contract may allow that a document stands twice in a list; JSON never does."""
    progress: Progress | None = None

    def __init__(self, name: str, size: int) -> None:
        """`size` is that of the files as they lie there, in bytes."""
        self.name, self.size = name, size

    def parts(self) -> Iterator[pl.DataFrame]:
        """Columns query, doc, score, part by part."""
        raise NotImplementedError

    def places(self, wanted: set[Pair]) -> Iterator[tuple[Pair, Place]]:
        """Where these documents stand, in their order."""
        raise NotImplementedError

    @property
    def done(self) -> int:
        """How many of the bytes were read since the reading began."""
        raise NotImplementedError

    @property
    def empty(self) -> Iterable[str]:
        """Queries whose lists are empty, of what was read."""
        return ()

    @property
    def is_large(self) -> bool:
        """Whether it had better not be held in memory."""
        raise NotImplementedError

    @property
    def fits_module(self) -> bool:
        """Whether memory is enough for all of it and the compiled module, which takes little beside the columns."""
        return not self.is_large

    @property
    def seems_grouped(self) -> bool:
        """Whether the rows of a query stand together, as far as a few samples tell."""
        return True

    def rows(self) -> Iterator[TextRows]:
        """The same as columns of numbers, in parts of whole queries, where the text is plain enough."""
        raise IrregularTextError

    def tell(self, what: str, done: int, total: int) -> None:
        """Tell how far the work has come, if somebody wants to know."""
        if self.progress is not None:
            self.progress(what, done, total)

    def describe_repeats(self, pairs: Sequence[Pair], total: int) -> FormatError:
        """The error for documents that stand twice, with the places of both."""
        first: dict[Pair, Place] = {}
        faults = []
        for pair, place in self.places(set(pairs)):
            if pair in first:
                query, doc = pair
                faults.append(
                    place.fault(f"document {doc!r} of query {query!r} stands already {first[pair].before}")
                )
            else:
                first[pair] = place
        keep = ", or keep the better one of each with `duplicates='first'`" if self.repeats else ""
        return FormatError(self.name, faults, total=max(total, len(faults)), hint=f"remove the repeats{keep}")
