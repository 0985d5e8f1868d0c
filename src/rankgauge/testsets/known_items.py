"""Known items: queries that somebody would write who has seen a document and looks for it again.

A length is drawn, then words by how well they tell the document from others, or a heading is taken and filled up. Some
words are misremembered: they come from documents on similar subjects and not from the one that is looked for (the model
of Azzopardi, de Rijke and Balog, SIGIR 2007, with discriminative selection and noise). Questions come from headings,
those for two documents from titles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Final, Literal, get_args

from rankgauge.model.testset import TestSet
from rankgauge.retrievers.text import has_chinese, plain_words
from rankgauge.testsets.outlines import Outline
from rankgauge.testsets.phrasing import comparison_of, is_common, is_named, question_of, script_of
from rankgauge.testsets.source_terms import SourceTerms, Term, content_words, folded, telling_words

__all__ = ["KINDS", "Candidate", "Kind", "KnownItems"]

Kind = Literal["keyword", "question", "multi-hop", "unanswerable"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LENGTHS: Final = (2, 3, 3, 3, 4, 4, 5)
_SHORTEST, _LONGEST = 2, 7
_TRIES: Final = 4  # queries of words that are tried of one document
_MOST_TERMS: Final = 40  # words of a document that may link it to another one
_CHOSEN_FROM: Final = 12  # words that queries are drawn from
_SHARED_MOST: Final = 5  # documents that hold a word which links two of them
_SIMILAR: Final = 5  # documents whose words are taken for those of another one
_TITLED: Final = 0.5  # share of the keyword queries that begin with a heading


@dataclass(frozen=True)
class Candidate:
    """A query that has yet to be checked."""

    kind: Kind
    text: str
    sources: tuple[str, ...] = ()
    """The document it is made of; two of them for a query that needs both."""
    sides: tuple[tuple[str, ...], ...] = ()
    """The words, folded, by which each of them is to be found."""

    @property
    def keys(self) -> list[str]:
        return list(dict.fromkeys(key for side in self.sides for key in side))


@dataclass
class _Source:
    about: Outline
    terms: list[Term]
    forbidden: Mapping[str, str] = field(default_factory=dict)
    """Words as they stand in the document, by how they are folded."""


class KnownItems:
    """Makes candidates of the documents of a corpus."""

    def __init__(
        self,
        terms: SourceTerms,
        copies: Mapping[str, Sequence[str]],
        *,
        forbid: int,
        noise: float,
        lengths: Sequence[int],
        seed: int,
    ) -> None:
        self.terms, self.copies, self.forbid, self.noise, self.seed = terms, copies, forbid, noise, seed
        self.lengths = [min(max(length, _SHORTEST), _LONGEST) for length in lengths if length] or list(_LENGTHS)
        self._sources: dict[str, _Source] = {}

    def source(self, doc: str) -> _Source:
        """A document's outline and words, the most telling of them set apart where they are forbidden."""
        if doc not in self._sources:
            about = self.terms.outline(doc)
            found = self.terms.terms(doc, about)
            forbidden = {term.key: term.text for term in found[: self.forbid]}
            self._sources[doc] = _Source(about, found[self.forbid :][:_MOST_TERMS], forbidden)
        return self._sources[doc]

    def forbidden_words(self, doc: str) -> list[str]:
        return list(self.source(doc).forbidden.values())

    def group(self, doc: str) -> set[str]:
        """A document and its near-copies."""
        return {doc, *self.copies.get(doc, ())}

    def keyword(self, doc: str, turn: int) -> Iterator[Candidate]:
        """Words of a document, some of them of one of its headings; more of them until they stand together in no other
        document."""
        chance = self._chance("keyword", doc, turn)
        source = self.source(doc)
        for _ in range(_TRIES):
            length = max(_SHORTEST, round(chance.choice(self.lengths) * (1 - self.noise / 2)))
            chosen = self._heading_words(source, length, chance) if chance.random() < _TITLED else []
            left = [term for term in source.terms[:_CHOSEN_FROM] if term.key not in {folded(word) for word in chosen}]
            while left and (len(chosen) < length or (len(chosen) < _LONGEST and not self._tells(chosen, doc))):
                (term,) = chance.choices(left, [one.weight**2 for one in left])
                left.remove(term)
                chosen.append(term.text)
            if len(chosen) >= _SHORTEST:
                sides = (tuple(map(folded, chosen)),)
                strange = sum(chance.random() < self.noise for _ in chosen)
                for word in self._misremembered(doc, strange, chance):
                    chosen.insert(chance.randint(0, len(chosen)), word)
                yield Candidate("keyword", " ".join(chosen), (doc,), sides)

    def _misremembered(self, doc: str, count: int, chance: Random) -> list[str]:
        """Words that documents on similar subjects have, and this one has not."""
        if not count:
            return []
        own, group = self.terms.words_of(doc), self.group(doc)
        telling = [term.key for term in self.source(doc).terms[:_CHOSEN_FROM]]
        similar = [other for other in self.terms.best(telling, _SIMILAR + len(group)) if other not in group]
        found: dict[str, Term] = {}
        for other in similar[:_SIMILAR]:
            for term in self.source(other).terms[:_CHOSEN_FROM]:
                if term.key not in own and term.documents > 1:
                    found.setdefault(term.key, term)
        chosen: list[str] = []
        while found and len(chosen) < count:
            (term,) = chance.choices(list(found.values()), [one.weight for one in found.values()])
            chosen.append(found.pop(term.key).text)
        return chosen

    def _tells(self, words: Sequence[str], doc: str) -> bool:
        return bool(words) and set(self.terms.holding_all(map(folded, words))) <= self.group(doc)

    def _heading_words(self, source: _Source, length: int, chance: Random) -> list[str]:
        """The words of the title or of a heading, in their order; none where it has too many, or one is forbidden."""
        about = source.about
        options = [one for one in (about.title, about.title, *about.headings) if one]
        if not options:
            return []
        heading = chance.choice(options)
        if self.terms.lacks_words and has_chinese(heading):
            return []
        words = plain_words(heading)
        words = list(dict.fromkeys(word for word in words if not is_common(word) and len(word) > 1))
        if len(words) > length + 1 or any(folded(word) in source.forbidden for word in words):
            return []
        return words

    def question(self, doc: str, turn: int) -> Iterator[Candidate]:
        """Questions that the title or a heading answers."""
        chance = self._chance("question", doc, turn)
        about = self.source(doc).about
        options = [about.title, *about.headings]
        chance.shuffle(options)
        for heading in filter(None, options):
            asked = question_of(heading, about.prose, chance)
            if asked is not None:
                yield Candidate("question", asked, (doc,), (tuple(telling_words(heading)),))

    def multi_hop(self, doc: str, turn: int) -> Iterator[Candidate]:
        """What compares a document's subject with that of another one which shares a rare word with it."""
        own = self._named(doc)
        if own is None:
            return
        chance = self._chance("multi-hop", doc, turn)
        for other in self.linked(doc)[turn:]:
            name = self._named(other)
            if name is not None and script_of(name) == script_of(own):
                sides = tuple(telling_words(own)), tuple(telling_words(name))
                yield Candidate("multi-hop", comparison_of(own, name, chance), (doc, other), sides)

    def linked(self, doc: str) -> list[str]:
        """Documents that share rare words with a document, those with most of them first; no copies of it."""
        shared: dict[str, int] = {}
        for term in self.source(doc).terms:
            if 2 <= term.documents <= _SHARED_MOST:
                for i in self.terms.holders(term.key).tolist():
                    other = self.terms.ids[i]
                    shared[other] = shared.get(other, 0) + 1
        return sorted((one for one in shared if one not in self.group(doc)), key=lambda one: (-shared[one], one))

    def _named(self, doc: str) -> str | None:
        """A title that names the subject of the document, and of no other one."""
        title = self.source(doc).about.title
        if not title or not is_named(title) or not self._tells(telling_words(title), doc):
            return None
        return title

    def unanswerable(self) -> Iterator[Candidate]:
        """Questions of people to other collections, at random; by the scripts that the corpus has."""
        chance = Random(f"{self.seed}:unanswerable")
        waiting = {script: list(asked) for script, asked in self._foreign.items()}
        for asked in waiting.values():
            chance.shuffle(asked)
        scripts = [script_of(self.terms.text(doc)[:2000]) for doc in self.terms.ids]
        while any(waiting.get(script) for script in set(scripts)):
            script = chance.choice(scripts)
            if waiting.get(script):
                text = waiting[script].pop()
                yield Candidate("unanswerable", text, (), (tuple(content_words(text)),))

    @cached_property
    def _foreign(self) -> dict[str, list[str]]:
        from rankgauge.demo import chinese_testset, stdlib_testset

        known: dict[str, TestSet] = {"en": stdlib_testset(), "zh": chinese_testset()}
        return {script: [query.text for query in asked] for script, asked in known.items()}

    def _chance(self, kind: str, doc: str, turn: int) -> Random:
        return Random(f"{self.seed}:{kind}:{turn}:{doc}")
