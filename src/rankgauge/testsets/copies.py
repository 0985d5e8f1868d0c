"""Documents that are nearly the same: by the shingles of five words that they share, compared only where their MinHash
signatures meet (Broder 1997; 16 bands of 4 rows)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["near_copies"]

Hashes = npt.NDArray[np.uint64]
_TOKEN: Final = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_SHINGLE: Final = 5
_BANDS, _ROWS = 16, 4
_FACTORS: Final = np.random.default_rng(1).integers(1, 2**63, _BANDS * _ROWS, dtype=np.uint64) | np.uint64(1)
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_ALIKE: Final = 0.8
_BLOCK: Final = 1 << 16  # shingles hashed at a time


def near_copies(corpus: Mapping[str, str], alike: float = _ALIKE) -> dict[str, tuple[str, ...]]:
    """For each document that has near-copies: these. Two are copies if at least this share of their shingles, of both
    together, is common; and whatever is a copy of the same document."""
    ids = list(corpus)
    known: dict[str, int] = {}
    shingles = [_shingles(corpus[doc], known) for doc in ids]
    parents = list(range(len(ids)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    for members in _meetings(shingles):
        first: list[int] = []  # those that are no copies of each other
        for i in members:
            for other in first[:8]:
                if root(i) == root(other) or _jaccard(shingles[i], shingles[other]) >= alike:
                    parents[root(i)] = root(other)
                    break
            else:
                first.append(i)
    groups: dict[int, list[int]] = {}
    for i in range(len(ids)):
        groups.setdefault(root(i), []).append(i)
    return {
        ids[i]: tuple(ids[other] for other in group if other != i)
        for group in groups.values()
        if len(group) > 1
        for i in group
    }


def _shingles(text: str, known: dict[str, int]) -> Hashes:
    """Hashes of the shingles, each once."""
    words = [known.setdefault(word, len(known) + 1) for word in _TOKEN.findall(text.lower())]
    numbers = np.array(words, dtype=np.uint64) * _MIX
    size = min(_SHINGLE, len(numbers))
    if not size:
        return numbers
    hashes = np.zeros(len(numbers) - size + 1, dtype=np.uint64)
    for place in range(size):
        hashes = (hashes ^ (hashes >> np.uint64(29))) * _MIX + numbers[place : len(numbers) - size + 1 + place]
    return np.unique(hashes ^ (hashes >> np.uint64(32)))


def _meetings(shingles: list[Hashes]) -> Iterator[list[int]]:
    """Documents that share a band of their signatures."""
    signatures = np.full((len(shingles), _BANDS * _ROWS), np.iinfo(np.uint64).max, dtype=np.uint64)
    for i, own in enumerate(shingles):
        for start in range(0, len(own), _BLOCK):
            hashed = own[start : start + _BLOCK, None] * _FACTORS
            np.minimum(signatures[i], (hashed ^ (hashed >> np.uint64(31))).min(axis=0), out=signatures[i])
    full = np.array([len(own) > 0 for own in shingles], dtype=bool)
    for band in range(_BANDS):
        rows = np.ascontiguousarray(signatures[:, band * _ROWS : (band + 1) * _ROWS])
        met: dict[bytes, list[int]] = {}
        for i in np.flatnonzero(full).tolist():
            met.setdefault(rows[i].tobytes(), []).append(i)
        yield from (members for members in met.values() if len(members) > 1)


def _jaccard(first: Hashes, second: Hashes) -> float:
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (len(first) + len(second) - common)
