"""Queries that are nearly the same: typed in another case, with other signs or a slip of the hand.

Two queries are, if they have the same words in the same order, or if they share most of their trigrams of letters and
the same numbers: `python 2` is not `python 3`. The same words in another order are `pdf to word` and `word to pdf`, so
these count only where it does no harm. Pairs are found by the rarest trigrams of each query, of which two that are
alike enough share at least one (prefix filtering, Chaudhuri and others 2006), so that no pair is missed and few are
compared.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankgauge.model.normal_text import NormalText

__all__ = ["groups_of", "near_duplicates"]

_ALIKE = 0.75  # Jaccard similarity of the trigrams
_LONGEST = 400  # characters of a query that are looked at
_NUMBER = re.compile(r"\d+")
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
# C++ and C# are not C.
_WORD = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+[+#]*")


@dataclass(frozen=True)
class _Form:
    words: tuple[str, ...]
    numbers: tuple[str, ...]
    trigrams: frozenset[str]


def _form(text: str) -> _Form:
    words = _WORD.findall(NormalText(text[:_LONGEST]).text.casefold())
    joined = f"  {' '.join(words)} "
    trigrams = frozenset(joined[i : i + 3] for i in range(len(joined) - 2)) if words else frozenset[str]()
    return _Form(tuple(words), tuple(sorted(_NUMBER.findall(" ".join(words)))), trigrams)


def near_duplicates(texts: Sequence[str], *, reordered: bool = False) -> Iterator[tuple[int, int]]:
    """Pairs of texts that are nearly the same, by their numbers, the smaller first. Of many texts with the same words
    (in any order, where they may be `reordered`) each is paired with the first."""
    forms = [_form(text) for text in texts]
    first: dict[tuple[str, ...], int] = {}
    own: list[int] = []
    for i, form in enumerate(forms):
        key = tuple(sorted(form.words)) if reordered else form.words
        known = first.setdefault(key, i) if key else i
        if known != i:
            yield known, i
        elif key:
            own.append(i)
    for a, b in _alike(forms, own):
        if Counter(forms[a].words) != Counter(forms[b].words):
            yield a, b


def _alike(forms: Sequence[_Form], own: Sequence[int]) -> Iterator[tuple[int, int]]:
    often = Counter(trigram for i in own for trigram in forms[i].trigrams)
    holders: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for i in own:
        form = forms[i]
        size = len(form.trigrams)
        rarest = sorted(form.trigrams, key=lambda trigram: (often[trigram], trigram))
        met: dict[int, None] = {}
        for trigram in rarest[: size - math.ceil(_ALIKE * size) + 1]:
            listed = holders.setdefault((trigram, form.numbers), [])
            met |= dict.fromkeys(listed)
            listed.append(i)
        for other in met:
            both = len(form.trigrams & forms[other].trigrams)
            if both >= _ALIKE * (size + len(forms[other].trigrams) - both):
                yield other, i


def groups_of(texts: Sequence[str], together: Sequence[str] = ()) -> list[list[int]]:
    """The numbers of the texts, in groups: what is nearly the same, or has the same name in `together` (which is empty
    where a text belongs to nothing), is in one group."""
    parents = list(range(len(texts)))

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    named: dict[str, int] = {}
    pairs = [(named.setdefault(name, i), i) for i, name in enumerate(together) if name]
    for a, b in (*pairs, *near_duplicates(texts, reordered=True)):
        low, high = sorted((root(a), root(b)))
        parents[high] = low
    groups: dict[int, list[int]] = {}
    for i in range(len(texts)):
        groups.setdefault(root(i), []).append(i)
    return list(groups.values())
