"""Queries that ask the same: typed alike, in other words that carry no meaning, or with one slip of the hand.

Every rule is a key, and queries that share one are alike, so the time grows with the number of queries. Only queries
that share a relevant document are compared in pairs: there, a likeness of their words is enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rankgauge.model.query_words import content_words, folded, is_keywords, one_letter_apart, query_words

__all__ = ["Alike", "Asked", "alike_queries", "repeated", "same_key"]

_CROWD = 100  # queries of one document, or of one pattern, that are compared in pairs
_ALIKE = 0.8  # Jaccard similarity of the words of queries that share a relevant document
_LEAST = 4  # words that take


@dataclass(frozen=True)
class Asked:
    """A query as the rules see it."""

    id: str
    text: str
    relevant: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Alike:
    """Two queries that ask the same."""

    first: str
    second: str


def same_key(text: str) -> str:
    """What is the same for two queries that are typed alike."""
    return folded(text) or text.strip()


def repeated(queries: Iterable[Asked]) -> list[list[Asked]]:
    """Queries with the same text, up to case, white space, quotation marks and the signs at their ends."""
    groups: dict[str, list[Asked]] = {}
    for query in queries:
        groups.setdefault(same_key(query.text), []).append(query)
    return [group for group in groups.values() if len(group) > 1]


def alike_queries(
    queries: Sequence[Asked], others: Sequence[Asked] | None = None, *, every: bool = False
) -> list[Alike]:
    """Pairs that ask the same, though they are not typed alike; with `others`, of one of each. Of a group that all ask
    the same, each is paired with the first; but one that is like several is so in one pair, unless `every` one is
    wanted."""
    pool = [*queries, *(others or ())]
    side = [0] * len(queries) + [1] * len(others or ())
    words = [query_words(query.text) for query in pool]
    content = [content_words(own) for own in words]
    joined = _Pairs(pool, side, others is not None, every)
    keys: dict[Hashable, list[int]] = {}
    for i, own in enumerate(content):
        if own:
            keys.setdefault(own, []).append(i)
            if len(own) > 1 and is_keywords(words[i]):
                keys.setdefault(("keywords", *sorted(own)), []).append(i)
    joined.groups(keys)
    joined.pairs(_slips(content, pool))
    joined.pairs(_sharing(content, pool))
    return joined.found


class _Pairs:
    """Pairs that were found, each once, without those that are typed alike."""

    def __init__(self, pool: Sequence[Asked], side: Sequence[int], across: bool, every: bool) -> None:
        self._pool, self._side, self._across, self._every = pool, side, across, every
        self._typed = [same_key(query.text) for query in pool]
        self._seen: set[tuple[int, int]] = set()
        self._paired: set[int] = set()
        self.found: list[Alike] = []

    def groups(self, keys: Mapping[Hashable, Sequence[int]]) -> None:
        """Each way to type it once, paired with the first other way."""
        for members in keys.values():
            if len(members) > 1:
                left = self._ways(i for i in members if self._side[i] == 0)
                right = self._ways(i for i in members if self._side[i] == 1) if self._across else left[1:]
                for other in right:
                    first = next((i for i in left[:2] if self._typed[i] != self._typed[other]), None)
                    if first is not None:
                        self._add(first, other)

    def _ways(self, members: Iterable[int]) -> list[int]:
        found: dict[str, int] = {}
        for i in members:
            found.setdefault(self._typed[i], i)
        return list(found.values())

    def pairs(self, pairs: Iterable[tuple[int, int]]) -> None:
        for a, b in pairs:
            if self._typed[a] != self._typed[b] and (not self._across or self._side[a] != self._side[b]):
                self._add(a, b)

    def _add(self, a: int, b: int) -> None:
        a, b = min(a, b), max(a, b)
        if (a, b) not in self._seen and (self._every or b not in self._paired):
            self._seen.add((a, b))
            self._paired.add(b)  # one pair tells enough of it
            self.found.append(Alike(self._pool[a].id, self._pool[b].id))


def _slips(content: Sequence[tuple[str, ...]], pool: Sequence[Asked]) -> Iterable[tuple[int, int]]:
    """Queries that differ in one word, and that by one slip; not those whose relevant documents are others."""
    patterns: dict[int, list[tuple[int, int]]] = {}
    for i, own in enumerate(content):
        if len(own) > 1:
            for at, word in enumerate(own):
                if len(word) > 5 and word.isalpha():
                    patterns.setdefault(hash((at, own[:at], own[at + 1 :])), []).append((i, at))
    for own_members in patterns.values():
        members = list({content[i]: (i, at) for i, at in reversed(own_members)}.values())[::-1]
        if 1 < len(members) <= _CROWD:
            for n, (b, at) in enumerate(members):
                for a, place in members[:n]:
                    if place != at or len(content[a]) != len(content[b]):
                        continue
                    if one_letter_apart(content[a][at], content[b][at]) and _may_be_same(pool[a], pool[b]):
                        yield a, b


def _may_be_same(a: Asked, b: Asked) -> bool:
    return not a.relevant or not b.relevant or bool(a.relevant & b.relevant)


def _sharing(content: Sequence[tuple[str, ...]], pool: Sequence[Asked]) -> Iterable[tuple[int, int]]:
    """Queries that share a relevant document and most of their words, all of their numbers among them."""
    by_doc: dict[str, list[int]] = {}
    for i, query in enumerate(pool):
        for doc in query.relevant:
            by_doc.setdefault(doc, []).append(i)
    bags = [frozenset(own) for own in content]
    seen: set[tuple[int, int]] = set()
    for members in by_doc.values():
        if 1 < len(members) <= _CROWD:
            for n, b in enumerate(members):
                for a in members[:n]:
                    if (a, b) in seen:
                        continue
                    seen.add((a, b))
                    if min(len(bags[a]), len(bags[b])) >= _LEAST and _alike(bags[a], bags[b]):
                        yield a, b


def _alike(a: frozenset[str], b: frozenset[str]) -> bool:
    both = len(a & b)
    if both < _ALIKE * (len(a) + len(b) - both):
        return False
    return not any(character.isdigit() for word in a ^ b for character in word)
