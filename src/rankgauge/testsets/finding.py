"""Where passages stand in a corpus: all of them looked for at once, up to white space, quotation marks and the like.

Each passage is known by one window of its characters. The windows of a block of documents are hashed together, those
whose hash is that of a passage are compared with it in full. So the time grows with the corpus, hardly with the number
of passages.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rankgauge.model.normal_text import NormalText

__all__ = ["Found", "Nearest", "Place", "find_nearest", "find_passages"]

_BLOCK = 2_000_000  # characters of documents that are looked at together
_SLICE = 4_000_000  # windows hashed at a time
_WINDOWS = (32, 16, 8, 4, 2, 1)
_KEPT = 20  # places that are kept of a passage; all are counted
_GRAM, _GRAMS, _COMMON = 8, 48, 200  # characters, windows of a passage, places beyond which a window says nothing
_COMPARED = 400  # characters of a passage that are compared to find how alike it is
_LEAST_VOTES, _SHORT = 3, 40  # windows in their order that make a likeness; in a short passage one must do
_LEAST_ALIKE = 0.6

Hashes = NDArray[np.uint64]
_FIRST = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = [np.uint64(factor) for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)]


@dataclass(frozen=True)
class Place:
    """Characters `start` to `end` of a document."""

    doc: str
    start: int
    end: int


@dataclass
class Found:
    """Where a passage stands: the first places, and how many there are."""

    places: list[Place] = field(default_factory=list)
    total: int = 0
    whole: bool = False
    """Whether these places begin and end with words; then others are not counted."""
    docs: dict[str, int] = field(default_factory=dict)
    """How many places each document has."""

    def add(self, place: Place, whole: bool) -> None:
        if whole < self.whole:
            return
        if whole > self.whole:
            self.places, self.total, self.whole, self.docs = [], 0, True, {}
        self.total += 1
        self.docs[place.doc] = self.docs.get(place.doc, 0) + 1
        # A document of its own is more worth knowing than the tenth place in one.
        if len(self.places) < _KEPT or self.docs[place.doc] == 1:
            self.places.append(place)


@dataclass(frozen=True)
class Nearest:
    """The place that is most like a passage that stands nowhere."""

    place: Place
    similarity: float
    """Of the characters, between 0 and 1 (2 M / T, as difflib counts it); of long passages, of their beginning."""
    text: str


class _Block:
    """Documents one behind the other in their normal forms, with a character between them that is in none."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self.docs = [doc for doc, _ in documents]
        self._forms = [NormalText(text) for _, text in documents]
        sizes = np.array([len(form) + 1 for form in self._forms], dtype=np.int64)
        self._starts = np.concatenate(([0], np.cumsum(sizes)))
        self.text = "".join(f"{form.text}\0" for form in self._forms)

    def place(self, start: int, end: int) -> Place:
        number = int(np.searchsorted(self._starts, start, side="right")) - 1
        first = int(self._starts[number])
        return Place(self.docs[number], *self._forms[number].place(start - first, end - first))

    def around(self, at: int, before: int, behind: int) -> tuple[int, int]:
        """Bounds of a stretch of the document that lies at a character."""
        number = int(np.searchsorted(self._starts, min(max(at, 0), len(self.text) - 1), side="right")) - 1
        return max(at - before, int(self._starts[number])), min(at + behind, int(self._starts[number + 1]) - 1)

    def codes(self, start: int, end: int) -> NDArray[np.uint32]:
        return np.frombuffer(self.text[start:end].encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _blocks(corpus: Mapping[str, str]) -> Iterator[_Block]:
    waiting: list[tuple[str, str]] = []
    size = 0
    for doc, text in corpus.items():
        waiting.append((doc, text))
        size += len(text)
        if size >= _BLOCK:
            yield _Block(waiting)
            waiting, size = [], 0
    if waiting:
        yield _Block(waiting)


def _hashed(codes: NDArray[np.uint32], size: int) -> Hashes:
    """A hash of every window of a size that is a power of two."""
    hashes: Hashes = (codes.astype(np.uint64) + np.uint64(1)) * _FIRST
    width, level = 1, 0
    while width < size:
        if len(hashes) <= width:
            return hashes[:0]
        factor = _FACTORS[level % len(_FACTORS)] + np.uint64(2 * level)
        hashes = hashes[:-width] * factor + hashes[width:]
        width, level = 2 * width, level + 1
    return hashes


def _window_hash(window: str) -> int:
    codes = np.frombuffer(window.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return int(_hashed(codes, len(window))[0])


class _Windows:
    """Windows of one size, to be found by their hashes."""

    def __init__(self, size: int, known: Mapping[int, Sequence[tuple[int, int]]]) -> None:
        self.size, self._known = size, known
        self._hashes: Hashes = np.sort(np.array(list(known), dtype=np.uint64))
        self._likely = np.zeros(1 << 20, dtype=bool)
        self._likely[(self._hashes >> np.uint64(44)).astype(np.int64)] = True

    def find(self, block: _Block) -> Iterator[tuple[NDArray[np.int64], Hashes]]:
        """Places in a block whose windows may be known ones, with their hashes."""
        for start in range(0, len(block.text), _SLICE):
            hashes = _hashed(block.codes(start, start + _SLICE + self.size - 1), self.size)
            likely = np.flatnonzero(self._likely[(hashes >> np.uint64(44)).astype(np.int64)])
            if not len(likely):
                continue
            at = np.minimum(np.searchsorted(self._hashes, hashes[likely]), len(self._hashes) - 1)
            likely = likely[self._hashes[at] == hashes[likely]]
            if len(likely):
                yield likely + start, hashes[likely]

    def owners(self, hashed: int) -> Sequence[tuple[int, int]]:
        """(number, offset) of the passages that have this window."""
        return self._known[hashed]


def _chosen_windows(passages: Sequence[str]) -> list[_Windows]:
    """One window of each passage: the one that fewest passages share, of its beginning, middle and end."""
    options: dict[int, list[tuple[int, int]]] = {}
    shared: dict[int, int] = {}
    for number, passage in enumerate(passages):
        size = next((size for size in _WINDOWS if size <= len(passage)), 0)
        last = len(passage) - size
        for at in {0, last // 2, last} if size else ():
            hashed = _window_hash(passage[at : at + size])
            options.setdefault(number, []).append((hashed, at))
            shared[hashed] = shared.get(hashed, 0) + 1
    known: dict[int, dict[int, list[tuple[int, int]]]] = {}
    for number, own in options.items():
        hashed, at = min(own, key=lambda option: (shared[option[0]], option[1]))
        size = next(size for size in _WINDOWS if size <= len(passages[number]))
        known.setdefault(size, {}).setdefault(hashed, []).append((number, at))
    return [_Windows(size, own) for size, own in known.items()]


def find_passages(texts: Iterable[str], corpus: Mapping[str, str]) -> dict[str, Found]:
    """Every place of every text, up to what `NormalText` leaves out. Places that begin and end with words win over
    others."""
    asked = list(dict.fromkeys(texts))
    forms = [NormalText(text).text for text in asked]
    found = {text: Found() for text in asked}
    windows = _chosen_windows(forms)
    for block in _blocks(corpus) if windows else ():
        for own in windows:
            for places, hashes in own.find(block):
                for at, hashed in zip(places.tolist(), hashes.tolist(), strict=True):
                    for number, offset in own.owners(hashed):
                        form, start = forms[number], at - offset
                        if start >= 0 and block.text.startswith(form, start):
                            end = start + len(form)
                            place = _with_blanks(block.place(start, end), asked[number], corpus)
                            found[asked[number]].add(place, _whole(block.text, start, end))
    return found


def _with_blanks(place: Place, text: str, corpus: Mapping[str, str]) -> Place:
    """The place together with the blanks around the text, where the document has the same ones."""
    start = place.start - (len(text) - len(text.lstrip()))
    exact = start >= 0 and corpus[place.doc].startswith(text, start)
    return Place(place.doc, start, start + len(text)) if exact else place


def _whole(text: str, start: int, end: int) -> bool:
    """Whether no word goes on across an end; characters written without blanks are words of their own."""
    return not (_joined(text[start - 1 : start], text[start]) or _joined(text[end - 1], text[end : end + 1]))


def _joined(left: str, right: str) -> bool:
    return all(sign.isalnum() and sign < "\u2e80" for sign in (left or " ", right or " "))


def find_nearest(texts: Sequence[str], corpus: Mapping[str, str]) -> list[Nearest | None]:
    """For each text the place that is most like it; None where hardly a stretch of it stands anywhere."""
    forms = [NormalText(text).text for text in texts]
    known: dict[int, list[tuple[int, int]]] = {}
    for number, form in enumerate(forms):
        last = min(len(form), 4 * _COMPARED) - _GRAM
        for at in range(0, last + 1, max(1, last // _GRAMS)):
            known.setdefault(_window_hash(form[at : at + _GRAM]), []).append((number, at))
    best: list[tuple[int, Nearest] | None] = [None] * len(forms)
    if not known:
        return [None] * len(forms)
    windows = _Windows(_GRAM, known)
    for block in _blocks(corpus):
        for number, (votes, at) in _votes(block, windows, forms).items():
            before = best[number]
            least = _LEAST_VOTES if len(forms[number]) >= _SHORT else 1
            if votes >= least and (before is None or votes > before[0]):
                best[number] = votes, _compared(block, forms[number], at)
    return [None if one is None or one[1].similarity < _LEAST_ALIKE else one[1] for one in best]


def _votes(block: _Block, windows: _Windows, forms: Sequence[str]) -> dict[int, tuple[int, int]]:
    """For each passage the stretch of a block with most of its windows in their order: how many, and its begin."""
    places: dict[int, list[int]] = {}
    for found, hashes in windows.find(block):
        for at, hashed in zip(found.tolist(), hashes.tolist(), strict=True):
            own = places.setdefault(hashed, [])
            if len(own) <= _COMMON:
                own.append(at)
    votes: dict[int, dict[int, list[int]]] = {}
    for hashed, own in places.items():
        if len(own) > _COMMON:
            continue
        for number, offset in windows.owners(hashed):
            width = max(len(forms[number]) // 2, 4 * _GRAM)
            for at in own:
                votes.setdefault(number, {}).setdefault((at - offset) // width, []).append(at - offset)
    best = {}
    for number, stretches in votes.items():
        most = max(stretches.values(), key=len)
        best[number] = len(most), sorted(most)[len(most) // 2]
    return best


def _compared(block: _Block, form: str, at: int) -> Nearest:
    """How alike a passage and the stretch around a place are, and the part of it that the passage stands in."""
    passage = form[:_COMPARED]
    start, end = block.around(at, len(passage) // 2, len(passage) + len(passage) // 2)
    stretch = block.text[start:end]
    common = [
        part
        for part in difflib.SequenceMatcher(None, stretch, passage, autojunk=False).get_matching_blocks()
        if part.size >= 3
    ]
    first, behind = (common[0].a, common[-1].a + common[-1].size) if common else (0, len(stretch))
    inner = difflib.SequenceMatcher(None, stretch[first:behind], passage, autojunk=False)
    place = block.place(start + first, start + behind)
    return Nearest(place, inner.ratio(), stretch[first:behind])
