"""The words of a corpus: which documents hold them, and which of them tell a document from the others."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Final

import numpy as np
import numpy.typing as npt

from rankgauge.retrievers.text import has_chinese, is_stop_word, plain_words
from rankgauge.testsets.outlines import Outline, outline
from rankgauge.testsets.phrasing import is_common

__all__ = ["SourceTerms", "Term", "content_words", "folded", "telling_words"]

Ids = npt.NDArray[np.int64]
_SHORT: Final = 60  # words of a document whose words may all stand once
_COMMON: Final = 0.2  # share of the documents above which a word tells little
_LIKE_A_WORD: Final = re.compile(r"(?=.*[^\W\d_])[^\W_][\w.'’-]{1,28}\Z")
_HAN: Final = re.compile(r"[\u3400-\u9fff]+")
_MOST_DIGITS: Final = 2
_IN_TITLE, _IN_HEADING = 2.0, 1.5


class Term:
    """A word of a document that a query may be made of."""

    __slots__ = ("count", "documents", "key", "place", "text", "weight")

    def __init__(self, text: str, key: str, count: int, documents: int, weight: float, place: int) -> None:
        self.text, self.key, self.count, self.documents = text, key, count, documents
        self.weight, self.place = weight, place


def folded(word: str) -> str:
    """A word without the endings of plural and possessive, so that `queries` and `query` are one."""
    word = word.lower()
    for mark in ("'s", "’s"):
        word = word.removesuffix(mark)
    if not word.isascii() or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith(("xes", "zes", "ches", "shes", "sses")):
        return word[:-2]
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else word[:-1]


def content_words(text: str) -> list[str]:
    """The words of a text that say what it is about, folded, each once."""
    return list(dict.fromkeys(folded(word) for word in plain_words(text) if not is_stop_word(word)))


def telling_words(text: str) -> list[str]:
    """The same without those that stand in texts of any subject."""
    return [word for word in content_words(text) if not is_common(word)]


class SourceTerms:
    """An index of all words, made once."""

    def __init__(self, corpus: Mapping[str, str], progress: Callable[[int, int], None] | None = None) -> None:
        self.ids = list(corpus)
        self._corpus = corpus
        self._numbers: dict[str, int] = {}
        self.lengths = np.zeros(len(self.ids), dtype=np.int64)
        rows: list[Ids] = []
        for place, text in enumerate(corpus.values()):
            found = dict.fromkeys(map(folded, words := plain_words(text)))
            numbers = [self._numbers.setdefault(word, len(self._numbers)) for word in found]
            rows.append(np.array(numbers, dtype=np.int64))
            self.lengths[place] = len(words)
            if progress is not None:
                progress(place + 1, len(self.ids))
        sizes = [len(row) for row in rows]
        owners = np.repeat(np.arange(len(rows)), sizes)
        words_of = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
        order = np.argsort(words_of, kind="stable")
        self._holders: Ids = owners[order]
        self._starts: Ids = np.concatenate(([0], np.cumsum(np.bincount(words_of, minlength=len(self._numbers)))))

    @cached_property
    def lacks_words(self) -> bool:
        """Whether there is Chinese, and no jieba to cut it into words: then it is pairs of characters."""
        return find_spec("jieba") is None and any(map(has_chinese, self._corpus.values()))

    def holders(self, key: str) -> Ids:
        """Numbers of the documents that hold a folded word, rising."""
        number = self._numbers.get(key)
        if number is None:
            return np.empty(0, dtype=np.int64)
        return self._holders[self._starts[number] : self._starts[number + 1]]

    def documents(self, key: str) -> int:
        """How many documents hold a folded word."""
        return len(self.holders(key))

    def holding_all(self, keys: Iterable[str]) -> list[str]:
        """The documents that hold all of the words."""
        lists = sorted((self.holders(key) for key in dict.fromkeys(keys)), key=len)
        if not lists:
            return []
        found = lists[0]
        for other in lists[1:]:
            if not len(found):
                break
            found = found[np.isin(found, other, assume_unique=True)]
        return [self.ids[i] for i in found.tolist()]

    def best(self, keys: Sequence[str], most: int) -> list[str]:
        """The documents that share most with the words, weighted by rarity; of equal ones the earlier."""
        scores = np.zeros(len(self.ids))
        for key in dict.fromkeys(keys):
            own = self.holders(key)
            scores[own] += self.rarity(len(own))
        order = np.argsort(-scores, kind="stable")[:most]
        return [self.ids[i] for i in order.tolist() if scores[i] > 0]

    def most_shared(self, keys: Sequence[str]) -> int:
        """The most of the words that one document holds."""
        counts = np.zeros(len(self.ids), dtype=np.int64)
        for key in dict.fromkeys(keys):
            counts[self.holders(key)] += 1
        return int(counts.max(initial=0))

    def rarity(self, documents: int) -> float:
        """ln(1 + N / n) of a word in n of N documents."""
        return math.log1p(len(self.ids) / max(documents, 1))

    def words_of(self, doc: str) -> frozenset[str]:
        """The words of a document, folded."""
        return frozenset(map(folded, plain_words(self._corpus[doc])))

    def outline(self, doc: str) -> Outline:
        return outline(self._corpus[doc])

    def text(self, doc: str) -> str:
        return self._corpus[doc]

    def terms(self, doc: str, about: Outline) -> list[Term]:
        """The words that tell a document from others, the most telling first: (1 + ln count) ln(1 + N / n), doubled in
        its title. One that stands once, outside headings, may be anything; so may numbers."""
        if self.lacks_words:
            about = Outline("", (), _HAN.sub(" ", "\n".join([about.title, *about.headings, about.prose])))
        title, above = set(content_words(about.title)), set(content_words("\n".join(about.headings)))
        surfaces: dict[str, str] = {}
        counts = Counter[str]()
        words = plain_words("\n".join([about.title, *about.headings, about.prose]))
        for word in words:
            key = folded(word)
            surfaces.setdefault(key, word)
            counts[key] += 1
        limit = max(2.0, _COMMON * len(self.ids))
        found = []
        for place, (key, word) in enumerate(surfaces.items()):
            documents = self.documents(key)
            if not _is_word(word) or not 0 < documents <= limit:
                continue
            if counts[key] < 2 and key not in title and key not in above and len(words) > _SHORT:
                continue
            weight = (1 + math.log(counts[key])) * self.rarity(documents)
            weight *= _IN_TITLE if key in title else _IN_HEADING if key in above else 1.0
            found.append(Term(word, key, counts[key], documents, weight, place))
        return sorted(found, key=lambda term: (-term.weight, term.place))


def _is_word(word: str) -> bool:
    """Whether a person might type it: no number, no hash, no single letter, no stop word."""
    if is_common(word) or is_common(folded(word)) or len(word) < (2 if has_chinese(word) else 3):
        return False
    return _LIKE_A_WORD.match(word) is not None and sum(map(str.isdigit, word)) <= _MOST_DIGITS

