"""What a generated query has to pass: found by its words in its document alone, no copy of it, no other query again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rankgauge.retrievers.text import has_chinese, plain_words
from rankgauge.testsets.known_items import Candidate, KnownItems
from rankgauge.testsets.source_terms import content_words, folded

__all__ = ["REASONS", "QueryChecks"]

REASONS: Final = (
    "not_unique", "duplicate", "copied", "forbidden", "short", "long", "answered", "half_answered", "not_answered",
    "unusable",
)  # fmt: skip
"""Why a query is dropped. Other documents answer it as well; it is nearly another one; it repeats a stretch of its
document; it has a forbidden word; it is too short, too long; a query without an answer has one; one document answers
what should need two; its own document does not answer it; it is not what was asked for."""
_COPIED, _COPIED_CHINESE = 6, 12  # words, characters that stand like this in the document
_PLACE: Final = 50  # words
_MOST_OTHERS: Final = 50  # documents that hold all words of a question somewhere
_ALIKE: Final = 0.8  # share of the words, of both together, that two queries have in common
_MOST_WORDS: Final = 32


class QueryChecks:
    """Remembers the queries that passed."""

    def __init__(self, made: KnownItems) -> None:
        self._made = made
        self._known: dict[str, list[frozenset[str]]] = {}
        self._keywords: dict[tuple[str, ...], list[frozenset[str]]] = {}
        self._together_asked: set[frozenset[str]] = set()
        self._streams: dict[str, str] = {}

    def fault(self, one: Candidate, *, by_words: bool = True) -> str | None:
        """Why a query is dropped; None where it passes. With `by_words` it has to be found by its words alone."""
        words, keys = plain_words(one.text), frozenset(content_words(one.text))
        if len(words) < 2 or not keys:
            return "short"
        if len(words) > _MOST_WORDS:
            return "long"
        if any(keys & self._made.source(doc).forbidden.keys() for doc in one.sources):
            return "forbidden"
        if (
            self._is_known(keys)
            or self._adds_no_words(one, keys)
            or (len(one.sources) > 1 and frozenset(one.sources) in self._together_asked)
        ):
            return "duplicate"
        if any(self._copies(one.text, words, doc) for doc in one.sources):
            return "copied"
        return self._by_words(one) if by_words else None

    def _by_words(self, one: Candidate) -> str | None:
        """Whether its words single out its document."""
        terms = self._made.terms
        if one.kind == "unanswerable":
            keys = one.keys
            strange = any(not terms.documents(key) for key in keys)
            return None if strange and 2 * terms.most_shared(keys) <= len(keys) else "answered"
        for doc, side in zip(one.sources, one.sides, strict=True):
            found = terms.holding_all(side)
            others = [other for other in found if other not in self._made.group(doc)]
            if not found or len(others) > _MOST_OTHERS:
                return "not_unique"
            # A question is answered in one place; words that a long document holds here and there are no answer.
            if others and (one.kind != "question" or any(self._together(side, other) for other in others)):
                return "not_unique"
        if len(one.sources) > 1 and terms.holding_all(one.keys):
            return "half_answered"
        return None

    def _together(self, keys: Sequence[str], doc: str) -> bool:
        """Whether a document holds the words in one place."""
        wanted, last = set(keys), dict[str, int]()
        for place, word in enumerate(map(folded, self._stream(doc).split())):
            if word in wanted:
                last[word] = place
                if len(last) == len(wanted) and place - min(last.values()) < _PLACE:
                    return True
        return False

    def add(self, one: Candidate) -> None:
        if len(one.sources) > 1:
            self._together_asked.add(frozenset(one.sources))
        keys = frozenset(content_words(one.text))
        if one.kind == "keyword":
            self._keywords.setdefault(one.sources, []).append(keys)
        for key in keys:
            self._known.setdefault(key, []).append(keys)

    def _is_known(self, keys: frozenset[str]) -> bool:
        near = {other for key in keys for other in self._known.get(key, ())}
        return any(len(keys & other) >= _ALIKE * len(keys | other) for other in near)

    def _adds_no_words(self, one: Candidate, keys: frozenset[str]) -> bool:
        """Whether keywords for the same document are some of these, or these some of them: of a short document many
        such picks could be made, and all of them ask the same."""
        known = self._keywords.get(one.sources, ()) if one.kind == "keyword" else ()
        return any(keys <= other or other <= keys for other in known)

    def _copies(self, text: str, words: Sequence[str], doc: str) -> bool:
        """Whether so many of its words, one behind the other, stand like this in the document."""
        stream = self._stream(doc)
        size = _COPIED
        if has_chinese(text):
            size = next((n for n in range(1, len(words) + 1) if len("".join(words[:n])) >= _COPIED_CHINESE), _COPIED)
        runs = (words[i : i + size] for i in range(len(words) - size + 1))
        return any(f" {' '.join(run)} " in stream for run in runs)

    def _stream(self, doc: str) -> str:
        stream = self._streams.get(doc)
        if stream is None:
            stream = self._streams[doc] = f" {' '.join(plain_words(self._made.terms.text(doc)))} "
        return stream
