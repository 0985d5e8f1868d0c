"""Copies of relevant documents in a corpus of any size: the same text, or nearly.

Of every relevant document a sample of its shingles is kept (those of the lowest hashes, as in bottom-k sketches:
Broder, 1997). The shingles of the corpus are hashed block by block, and a document that has most of the sample of a
relevant one is compared with it in full. So the time grows with the corpus, and not with the number of pairs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.model.normal_text import NormalText, words_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Copy", "find_copies", "likeness"]

_SHINGLE = 4  # words, or characters of Chinese
_SAMPLE = 16  # shingles of a relevant document that are looked for
_LIKELY = 0.6  # share of the sample that makes a document worth a comparison
_SHARED = 20  # relevant documents beyond which a shingle is boilerplate
_LEAST = 12  # words of a document that can be nearly another
_ALIKE = 0.9  # Jaccard similarity of the shingles
_BLOCK = 10_000_000  # characters of the corpus at a time
_COMPARED = 500_000  # pairs that are compared in full; beyond, more copies would tell nothing new
_WORDS = r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{L}\p{N}&&[^\p{Han}\p{Hiragana}\p{Katakana}]]+"
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NEGATIONS = frozenset(["not", "no", "never", "without", "nor", "cannot"])

Hashes = NDArray[np.uint64]
_FACTORS = [np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93)]


@dataclass(frozen=True)
class Copy:
    """A document with the text of a relevant one."""

    original: str
    copy: str
    similarity: float
    """1 where the texts are the same up to white space, quotation marks, dashes and the composition of letters; else
    the share of their shingles that both have."""

    @property
    def exact(self) -> bool:
        return self.similarity == 1


def find_copies(
    originals: Mapping[str, str], corpus: Mapping[str, str], progress: Callable[[int, int], object] | None = None
) -> list[Copy]:
    """For each of some documents the others of a corpus that say the same, or nearly. `progress` gets the numbers of
    documents done and of all, where there are so many that it takes its time."""
    owners: dict[str, list[str]] = {}
    for doc, text in originals.items():
        owners.setdefault(text, []).append(doc)
    known = list(owners)
    sample = _sample(known)
    found: list[Copy] = []
    compared = done = 0
    if not len(sample.hashes):
        return found
    for docs, texts in _blocks(corpus):
        for number, at in sample.likely(texts):
            if compared >= _COMPARED:
                break
            alike = likeness(known[number], texts[at])
            if alike >= _ALIKE:
                found += [Copy(doc, docs[at], alike) for doc in owners[known[number]] if doc != docs[at]]
            compared += len(owners[known[number]])
        done += len(docs)
        if progress is not None and len(docs) < len(corpus):
            progress(done, len(corpus))
    return sorted(found, key=lambda one: (-one.similarity, one.original, one.copy))


def _blocks(corpus: Mapping[str, str]) -> Iterator[tuple[list[str], list[str]]]:
    items = iter(corpus.items())
    while first := list(islice(items, 1)):
        docs, texts, size = [first[0][0]], [first[0][1]], len(first[0][1])
        for doc, text in items:
            docs.append(doc)
            texts.append(text)
            size += len(text)
            if size >= _BLOCK:
                break
        yield docs, texts


def _shingles(texts: Sequence[str]) -> tuple[Hashes, NDArray[np.int64]]:
    """The hashes of all shingles of some texts, and the number of the text that each is of. The last shingles of a text
    are filled up, so that every word begins one."""
    import polars as pl

    words = _words(pl.Series("text", texts, dtype=pl.String))
    sizes = words.list.len().to_numpy().astype(np.int64)
    flat = words.explode().drop_nulls()
    hashes: Hashes = flat.hash(seed=1).to_numpy().astype(np.uint64)
    number = np.repeat(np.arange(len(texts)), sizes)
    place = np.arange(len(hashes)) + number * (_SHINGLE - 1)
    padded = np.zeros(len(hashes) + len(texts) * (_SHINGLE - 1) + _SHINGLE, dtype=np.uint64)
    padded[place] = hashes
    made = np.zeros(len(hashes), dtype=np.uint64)
    for shift, factor in enumerate(_FACTORS[:_SHINGLE]):
        made += padded[place + shift] * factor
    made ^= made >> np.uint64(31)
    made *= _FACTORS[1]
    return made, number


def _words(texts: pl.Series) -> pl.Series:
    if texts.str.len_bytes().sum() != texts.str.len_chars().sum():
        texts = texts.str.normalize("NFC")
    return texts.str.to_lowercase().str.extract_all(_WORDS)


class _Sample:
    """Shingles that are looked for, and the documents they are of."""

    def __init__(self, hashes: Hashes, owners: NDArray[np.int64], n: int) -> None:
        order = np.argsort(hashes, kind="stable")
        self.hashes, self._owners = hashes[order], owners[order]
        self._needed = np.maximum(1, np.ceil(_LIKELY * np.bincount(owners, minlength=n)))
        # Most shingles of a corpus are looked for by nobody: a table tells that of all but one in sixteen.
        bits = min(27, max(16, len(hashes).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._some = np.zeros(1 << bits, dtype=bool)
        self._some[(self.hashes >> self._shift).astype(np.int64)] = True

    def likely(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Numbers of a document that is looked for, and of a text that has most of its sample."""
        hashes, number = _shingles(texts)
        near = np.flatnonzero(self._some[(hashes >> self._shift).astype(np.int64)])
        hashes, number = _once(hashes[near], number[near])
        first = np.searchsorted(self.hashes, hashes, side="left")
        times = np.searchsorted(self.hashes, hashes, side="right") - first
        total = int(times.sum())
        if not total:
            return
        # Each shingle of a text once for each document that has it in its sample.
        place = np.repeat(first - np.concatenate(([0], np.cumsum(times)[:-1])), times) + np.arange(total)
        pairs = np.repeat(number, times) * len(self._needed) + self._owners[place]
        pairs.sort()
        begins = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
        keys, votes = pairs[begins], np.diff(np.concatenate((begins, [total])))
        for key in keys[votes >= self._needed[keys % len(self._needed)]].tolist():
            yield key % len(self._needed), key // len(self._needed)


def _once(hashes: Hashes, number: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Each shingle of a text once, in the order of the texts and of the hashes in them."""
    order = np.lexsort((hashes, number))
    hashes, number = hashes[order], number[order]
    new = np.ones(len(hashes), dtype=bool)
    new[1:] = (hashes[1:] != hashes[:-1]) | (number[1:] != number[:-1])
    return hashes[new], number[new]


def _sample(texts: Sequence[str]) -> _Sample:
    hashes, owner = _once(*_shingles(texts))
    order = np.argsort(hashes)
    begins = np.flatnonzero(np.concatenate(([True], np.diff(hashes[order]) != 0))) if len(order) else order
    common = np.zeros(len(hashes), dtype=bool)
    times = np.diff(np.concatenate((begins, [len(hashes)])))
    common[order] = np.repeat(times > _SHARED, times)
    # Where a document is nothing but boilerplate, that is all it can be known by.
    own = np.bincount(owner[~common], minlength=len(texts))
    keep = ~common | (own[owner] == 0)
    owner, hashes = owner[keep], hashes[keep]
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner, side="left")
    kept = rank < _SAMPLE
    return _Sample(hashes[kept], owner[kept], len(texts))


def likeness(a: str, b: str) -> float:
    """1 for the same text, the Jaccard similarity of the shingles of two that are nearly the same, and 0 for what is
    too short, has other numbers, or denies what the other says."""
    if a == b or NormalText(a).text == NormalText(b).text:
        return 1.0
    first, second = words_of(a.casefold()), words_of(b.casefold())
    if min(len(first), len(second)) < _LEAST or _facts(a, first) != _facts(b, second):
        return 0.0
    one, other = _grams(first), _grams(second)
    # 1 is for the same text alone
    return min(len(one & other) / len(one | other), 0.999)


def _facts(text: str, words: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    return Counter(_DIGITS.findall(text)), Counter(word for word in words if word in _NEGATIONS)


def _grams(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1)}
