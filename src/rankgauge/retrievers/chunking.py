"""`chunk`: documents cut into chunks at words, sentences or headings, each with its exact place in the document."""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from numbers import Real
from typing import Any, Final

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.formats import load_corpus
from rankgauge.model.chunks import Chunk, Chunks
from rankgauge.retrievers.checks import check_choice, check_corpus, check_number, check_whole
from rankgauge.retrievers.splitting import Piece, sections, sentences, words

__all__ = ["BY", "check_chunking", "chunk"]

BY: Final = ("characters", "words", "sentences", "headings")
"""Where documents may be cut."""
_INK: Final = re.compile(r"\S")
_SHORT: Final = 30  # characters of a text whose length is remembered: words come again


@named_arguments
def chunk(
    corpus: Mapping[str, str] | str | os.PathLike[str],
    size: int,
    overlap: float = 0,
    *,
    by: str = "sentences",
    length: Callable[[str], float] = len,
) -> Chunks:
    """Cut every document of a corpus, texts by id or a path, into chunks no longer than `size`.

    Sizes are in characters, or in what `length` counts of a text, such as a tokenizer's tokens. A chunk ends between
    `words`, `sentences` (a paragraph and an entry of a list end one too), or anywhere (`characters`); with `headings`
    it ends between sentences and reaches across no heading of Markdown. What is longer than `size` by itself is cut at
    words, and a word within. A chunk begins with up to `overlap` of the one before it, a share of the size if it is
    below 1. Ids are the document's with a number, doc#0; white space around a chunk is left out, so that its text is
    document[start:end], and no other character is lost.
    """
    documents = load_corpus(corpus) if isinstance(corpus, str | os.PathLike) else check_corpus(corpus)
    shared = check_chunking(size, overlap, by)
    if not callable(length):
        raise DataError(f"`length` must be a function that gives a text its length, not {length!r}")
    made: dict[str, Chunk] = {}
    for doc, text in documents.items():
        cutter = _Cutter(text, size, shared, length)
        for number, (start, end) in enumerate(cutter.cut(by)):
            made[f"{doc}#{number}"] = Chunk(doc, start, end, text[start:end])
    if not made:
        raise DataError("the corpus holds no text that could be cut into chunks")
    return Chunks(made, name=f"chunks of {getattr(documents, 'name', 'corpus')}")


def check_chunking(size: Any, overlap: Any, by: Any) -> float:
    """The overlap in the unit of the size, or an error."""
    check_whole("size", size, 1)
    check_choice("by", by, BY)
    check_number("overlap", overlap, 0)
    shared = overlap * size if overlap < 1 else overlap
    if shared >= size:
        raise DataError(f"overlap={overlap!r} must be less than size={size!r}, or no chunk would bring anything new")
    return float(shared)


def _begun(text: str, place: int) -> int | None:
    """Where the text goes on behind white space."""
    found = _INK.search(text, place)
    return None if found is None else found.start()


@dataclass
class _Cutter:
    """One document on its way into chunks."""

    text: str
    size: int
    overlap: float
    length: Callable[[str], float]
    known: dict[str, float] = field(default_factory=dict)

    def cut(self, by: str) -> Iterator[Piece]:
        text = self.text
        if by == "characters":
            return self._anywhere()
        if by == "headings":
            return chain.from_iterable(self._packed(sentences(text, *part)) for part in sections(text))
        return self._packed((words if by == "words" else sentences)(text, 0, len(text)))

    def measured(self, start: int, end: int) -> float:
        """The length of a piece."""
        if self.length is len:
            return end - start
        piece = self.text[start:end]
        if piece in self.known:
            return self.known[piece]
        found = self.length(piece)
        if isinstance(found, bool) or not isinstance(found, Real) or not found >= 0:
            raise DataError(f"`length` must give a text a number that is not negative, not {found!r}")
        if len(piece) <= _SHORT:
            self.known[piece] = float(found)
        return float(found)

    def _anywhere(self) -> Iterator[Piece]:
        """Pieces that end wherever the size is full."""
        text, n = self.text, len(self.text)
        start = _begun(text, 0)
        while start is not None:
            reached = self._longest(start, n)
            end = start + len(text[start:reached].rstrip())
            yield start, end
            new = _begun(text, reached)
            if new is None:
                return
            shared = _begun(text, max(self._shared(end, start + 1), start + 1))
            assert shared is not None
            start = shared if self._longest(shared, n) > new else new  # the overlap must leave room for what is new

    def _longest(self, start: int, end: int) -> int:
        """How far a piece from `start` on reaches within the size; one character at least."""
        if self.length is len:
            return min(start + self.size, end)
        low, step = start + 1, self.size  # a token is rarely shorter than a character
        high = min(start + step, end)
        while high < end and self.measured(start, high) <= self.size:
            low, step = high, 2 * step
            high = min(start + step, end)
        if self.measured(start, high) <= self.size:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.measured(start, middle) <= self.size else (low, middle)
        return low

    def _shared(self, end: int, least: int) -> int:
        """Where the overlap with the piece that ends at `end` begins."""
        if self.length is len:
            return max(end - int(self.overlap), least)
        if not self.overlap:
            return end
        return bisect_left(range(end), -self.overlap, least, end, key=lambda at: -self.measured(at, end))

    def _fitting(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The same pieces, those that are too long cut into words, and words that are cut within."""
        for start, end in pieces:
            if self.measured(start, end) <= self.size:
                yield start, end
                continue
            for first, last in words(self.text, start, end):
                at = first
                while self.measured(at, last) > self.size and last - at > 1:
                    cut = self._longest(at, last)
                    yield at, cut
                    at = cut
                if at < last:
                    yield at, last

    def _packed(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """As many pieces in a row as fit, then on from the first that the overlap holds."""
        fitting = list(self._fitting(pieces))
        starts, ends = [start for start, _ in fitting], [end for _, end in fitting]
        sums = self._sums(starts, ends)
        at, n = 0, len(fitting)
        while at < n:
            last = self._last(at, starts, ends, sums)
            yield starts[at], ends[last]
            if last == n - 1:
                return
            at = self._next(at, last, starts, ends)

    def _sums(self, starts: Sequence[int], ends: Sequence[int]) -> list[float]:
        """What the pieces up to each one come to, if each is measured by itself."""
        if self.length is len:
            return []
        return [0.0, *accumulate(self.measured(start, end) for start, end in zip(starts, ends, strict=True))]

    def _last(self, at: int, starts: Sequence[int], ends: Sequence[int], sums: Sequence[float]) -> int:
        """The last piece that fits together with those from `at` on."""
        if self.length is len:
            return max(at, bisect_right(ends, starts[at] + self.size, at) - 1)
        last = max(at, bisect_right(sums, sums[at] + self.size, at) - 2)
        while last > at and self.measured(starts[at], ends[last]) > self.size:
            last -= 1
        while last + 1 < len(ends) and self.measured(starts[at], ends[last + 1]) <= self.size:
            last += 1
        return last

    def _next(self, at: int, last: int, starts: Sequence[int], ends: Sequence[int]) -> int:
        """The first piece of the next chunk: the overlap is given up where it leaves no room for what is new."""
        if not self.overlap:
            return last + 1
        if self.length is len:
            least = max(ends[last] - self.overlap, ends[last + 1] - self.size)
            return bisect_left(starts, least, at + 1, last + 1)
        found = last + 1
        while (
            found > at + 1
            and self.measured(starts[found - 1], ends[last]) <= self.overlap
            and self.measured(starts[found - 1], ends[last + 1]) <= self.size
        ):
            found -= 1
        return found
