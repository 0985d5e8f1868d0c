"""Texts without what differs between two copies of a passage: white space, quotation marks, dashes, composed letters.

Every character that is left knows the place it came from, so that what is found in such a text has exact offsets in the
original.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["NormalText", "same_text", "words_of"]

Places = NDArray[np.int64]

_SIGNS = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4\u0060\u02bc",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
}
"""Signs that are written in several ways, each of one character."""
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphens, and characters without width."""
# Characters that are written without blanks between words; a line break between two of them is none.
_UNSPACED = (
    (0x2E80, 0x303F),
    (0x3040, 0x30FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF),
    (0x20000, 0x3FFFF),
)
_LETTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_LETTERS}]|[^\W{_LETTERS}]+")
# A letter with the marks or the rest of the syllable that compose with it.
_CLUSTER = re.compile(
    r"[\u1100-\u115f\uac00-\ud7a3][\u1160-\u11ff]+|.[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u0670"
    r"\u0900-\u0dff\u0e31-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f]+|.",
    re.DOTALL,
)


class NormalText:
    """A normal form of a text, and where each of its characters stands in the original."""

    __slots__ = ("_ends", "_starts", "text")

    def __init__(self, original: str) -> None:
        composed, starts, ends = original, None, None
        if not unicodedata.is_normalized("NFC", original):
            composed, starts, ends = _composed(original)
        codes = np.frombuffer(composed.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        mapped = _table().take(codes, mode="clip")  # the last entry stands for all beyond
        if mapped.max(initial=0) == _BEYOND:
            mapped = np.where(mapped == _BEYOND, codes, mapped)
        kept = _worth_a_place(mapped)
        self.text = mapped[kept].tobytes().decode("utf-32-le", "surrogatepass")
        self._starts: Places = kept if starts is None else starts[kept]
        self._ends: Places = kept + 1 if ends is None else ends[kept]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where characters `start` to `end` of the normal form stand in the original."""
        return int(self._starts[start]), int(self._ends[end - 1])

    def __len__(self) -> int:
        return len(self.text)


_LAST, _BEYOND = 0x10000, 0xFFFFFFFF


@cache
def _table() -> NDArray[np.uint32]:
    """What each character of the first plane becomes; 0 is nothing."""
    table = np.arange(_LAST + 1, dtype=np.uint32)
    for sign, others in _SIGNS.items():
        table[[ord(other) for other in others]] = ord(sign)
    table[[code for code in range(_LAST) if chr(code).isspace()]] = ord(" ")
    table[[ord(sign) for sign in _INVISIBLE]] = 0
    table[0], table[_LAST] = ord(" "), _BEYOND
    return table


def _worth_a_place(codes: NDArray[np.uint32]) -> Places:
    """All but what is invisible, blanks at both ends, blanks behind a blank, and blanks between two characters that are
    written without any."""
    keep: Places = np.flatnonzero(codes)
    left = codes if len(keep) == len(codes) else codes[keep]
    blank = left == ord(" ")
    needless = np.zeros(len(left), dtype=bool)
    needless[1:] = blank[1:] & blank[:-1]
    needless[:1] = blank[:1]
    if needless.any():
        keep = keep[~needless]
        left = codes[keep]
    if len(left) and left[-1] == ord(" "):
        keep, left = keep[:-1], left[:-1]
    if not len(left) or left.max() < _UNSPACED[0][0]:
        return keep
    middle = np.flatnonzero(left == ord(" "))
    needless_at = middle[_unspaced(left[middle - 1]) & _unspaced(left[middle + 1])]
    return np.delete(keep, needless_at)


def _unspaced(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    found = np.zeros(len(codes), dtype=bool)
    for first, last in _UNSPACED:
        found |= (codes >= first) & (codes <= last)
    return found


def _composed(original: str) -> tuple[str, Places, Places]:
    """The text in composed letters (NFC), with the place of each of them and where it ends."""
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(original):
        made = unicodedata.normalize("NFC", cluster[0])
        first, last = cluster.span()
        if len(made) == last - first:
            starts += range(first, last)
            ends += range(first + 1, last + 1)
        else:  # which letter came from which is not known: each stands for all of them
            starts += [first] * len(made)
            ends += [last] * len(made)
        parts.append(made)
    return "".join(parts), np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


def same_text(a: str, b: str) -> bool:
    """Whether two texts have the same normal form."""
    return a == b or NormalText(a).text == NormalText(b).text


def words_of(text: str) -> list[str]:
    """The words of a text in its normal form; of Chinese and Japanese its characters. Signs are left out."""
    return _WORD.findall(NormalText(text).text)
