"""A scorer for re-ranking that needs no model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from rankgauge.arguments import named_arguments
from rankgauge.retrievers.checks import check_corpus, check_number
from rankgauge.retrievers.configuration import described
from rankgauge.retrievers.text import identifiers, tokenizer_for

__all__ = ["TermProximity"]


class TermProximity:
    """What BM25 does not look at: where the query's terms stand. A document scores the sum of

    idf(t) * (tf / (tf + length) + title * [t in its title])   for each different term t of the query
    identifier * idf(i)                          for each identifier i of the query, such as os.path, that it holds
    proximity * min(idf(t), idf(u)) / distance   for each two neighbouring terms t, u of the query that it holds

    with idf(t) = ln(1 + N / n_t) over the corpus, length in multiples of the mean length, the title being the
    document's id and, where its text has several lines, the first, and the distance that between the nearest
    occurrences, in terms.
    """

    @named_arguments
    def __init__(
        self,
        corpus: Mapping[str, str],
        *,
        title: float = 0.5,
        identifier: float = 1.0,
        proximity: float = 0.5,
        language: str = "auto",
    ) -> None:
        self._title, self._identifier = check_number("title", title, 0), check_number("identifier", identifier, 0)
        self._proximity = check_number("proximity", proximity, 0)
        texts = check_corpus(corpus)
        self.configuration = described(
            texts, {}, title=title, identifier=identifier, proximity=proximity, language=language
        )
        self._terms = tokenizer_for(language)
        self._documents, total = len(texts), 0
        self._holding: Counter[str] = Counter()
        for text in texts.values():
            terms = self._terms(text)
            self._holding.update(list(dict.fromkeys(terms)))  # in an order that is the same in every process
            total += len(terms)
        self._mean_length = max(1, total) / len(texts)

    def __call__(self, query: str, documents: list[tuple[str, str]]) -> list[float]:
        terms = list(dict.fromkeys(self._terms(query)))
        names = set(identifiers(query))
        return [self._score(terms, names, doc, text) for doc, text in documents]

    def _idf(self, term: str) -> float:
        return math.log(1 + self._documents / max(1, self._holding[term]))

    def _score(self, terms: list[str], names: set[str], doc: str, text: str) -> float:
        first, _, more = text.strip().partition("\n")
        title = {*self._terms(doc), *(self._terms(first) if more else ())}
        places: dict[str, list[int]] = {}
        body = self._terms(text)
        for place, term in enumerate(body):
            places.setdefault(term, []).append(place)
        length = len(body) / self._mean_length
        score = 0.0
        for term in terms:
            tf = len(places.get(term, ()))
            score += self._idf(term) * ((tf / (tf + length) if tf else 0.0) + self._title * (term in title))
            if term in names and (tf or term in title):
                score += self._identifier * self._idf(term)
        for one, two in pairwise(terms):
            if one in places and two in places:
                score += self._proximity * min(self._idf(one), self._idf(two)) / _distance(places[one], places[two])
        return score


def _distance(one: list[int], two: list[int]) -> int:
    """The least distance between a number of one list and one of another: such two are neighbours in order."""
    places = sorted([*((place, "one") for place in one), *((place, "two") for place in two)])
    return min(after - before for (before, a), (after, b) in pairwise(places) if a != b)
