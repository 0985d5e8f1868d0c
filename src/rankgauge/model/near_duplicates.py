"""Queries that are nearly the same: typed in another case, with other signs or spaces, or with one slip of the hand.

A slip is one letter too many, too few or wrong, or two that changed places, in a word of five letters and more: longer
likenesses would take `enable` for `disable` in a long query, and `python 2` for `python 3`. The same words in another
order are `pdf to word` and `word to pdf`, so these count only where it does no harm. Whatever is nearly the same shares
a key (of a slip: a word less one letter, as in symmetric deletion), so no pairs are compared that do not.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence

from rankgauge.model.normal_text import NormalText

__all__ = ["groups_of", "near_duplicates", "one_slip"]

_LONGEST = 400  # characters of a query that are looked at
_LEAST = 5  # letters of the longer of two words of which one is a slip
_HAN = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
# C++ and C# are not C.
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+[+#]*")

Words = tuple[str, ...]


def _words(text: str) -> Words:
    text = text[:_LONGEST]
    return tuple(_WORD.findall((text if text.isascii() else NormalText(text).text).casefold()))


def near_duplicates(texts: Sequence[str], *, reordered: bool = False) -> Iterator[tuple[int, int]]:
    """Pairs of texts that are nearly the same, by their numbers, the smaller first. Of many texts with the same words
    (in any order, where they may be `reordered`) each is paired with the first, and these are paired among each
    other."""
    words = [_words(text) for text in texts]
    known: dict[Hashable, int] = {}
    own: list[int] = []
    for i, found in enumerate(words):
        key: Hashable = tuple(sorted(found)) if reordered else "".join(found)
        first = known.setdefault(key, i) if found else i
        if first != i:
            yield first, i
        elif found:
            own.append(i)
    yield from _slips(words, own)
    if reordered:
        joined: dict[str, int] = {}
        pairs = ((joined.setdefault("".join(words[i]), i), i) for i in own)
        yield from (pair for pair in pairs if pair[0] != pair[1])


def _slips(words: Sequence[Words], own: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Texts with one word that is a slip of the other's."""
    around: dict[Hashable, list[tuple[int, str]]] = {}
    for i in own:
        for at, word in enumerate(words[i]):
            if len(word) + 1 >= _LEAST and word.isalpha():
                around.setdefault((*words[i][:at], "", *words[i][at + 1 :]), []).append((i, word))
    for members in around.values():
        holders: dict[str, list[tuple[int, str]]] = {}
        for i, word in members if len(members) > 1 else ():
            met: dict[tuple[int, str], None] = {}
            for variant in {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}:
                listed = holders.setdefault(variant, [])
                met |= dict.fromkeys(listed)
                listed.append((i, word))
            yield from ((other, i) for other, spelled in met if one_slip(spelled, word))


def one_slip(a: str, b: str) -> bool:
    """Whether one word is the other with one slip of the hand."""
    if a == b or max(len(a), len(b)) < _LEAST or not (a.isalpha() and b.isalpha()):
        return False
    short, long = sorted((a, b), key=len)
    start = next((k for k, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(long) - len(short) == 1:
        return short[start:] == long[start + 1 :]
    if len(long) != len(short):
        return False
    swapped = long[start + 1 : start + 2] + long[start : start + 1] + long[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or short[start:] == swapped


def groups_of(
    texts: Sequence[str], together: Sequence[str] = (), also: Sequence[tuple[int, int]] = ()
) -> list[list[int]]:
    """The numbers of the texts, in groups: what is nearly the same, in any order of its words, has the same name in
    `together` (which is empty where a text belongs to nothing), or is a pair in `also`, is in one group."""
    parents = list(range(len(texts)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    named: dict[str, int] = {}
    pairs = [(named.setdefault(name, i), i) for i, name in enumerate(together) if name]
    for a, b in (*pairs, *also, *near_duplicates(texts, reordered=True)):
        low, high = sorted((root(a), root(b)))
        parents[high] = low
    groups: dict[int, list[int]] = {}
    for i in range(len(texts)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())
