"""Queries that a language model writes, in rounds: what does not pass is replaced by what it writes for others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Final

from rankgauge.testsets.asking_prompts import (
    passage_about,
    passage_of,
    read_documents,
    read_query,
    verifying,
    writing,
)
from rankgauge.testsets.chat import ChatModel
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_calls import call_all
from rankgauge.testsets.chat_cost import Budget, Ledger, Usage
from rankgauge.testsets.chat_pace import CallSettings
from rankgauge.testsets.chat_requests import Calls, ChatRequest
from rankgauge.testsets.known_items import KINDS, Candidate, Kind, KnownItems
from rankgauge.testsets.query_checks import QueryChecks
from rankgauge.testsets.source_terms import content_words

__all__ = ["Asking", "ask_queries"]

_ROUNDS: Final = 4
_STYLES: Final = 5
_RIVALS: Final = 2
Progress = Callable[[str, int, int], None]


@dataclass
class Asking:
    """What came of it."""

    accepted: list[Candidate] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    fault: str = ""
    """What the first of the failures says."""
    usage: Usage = field(default_factory=Usage)
    left: int = 0
    stopped: str = ""

    @property
    def told(self) -> dict[str, Any]:
        """The part of the result that only a model has."""
        return {
            "usage": self.usage,
            "failures": dict(self.failures),
            "fault": self.fault,
            "left": self.left,
            "stopped": self.stopped,
        }


@dataclass(frozen=True)
class _Draft:
    """A query to be, with what its author is shown."""

    name: str
    kind: Kind
    sources: tuple[str, ...]
    passages: tuple[str, ...]
    sample: int
    text: str = ""


def ask_queries(
    items: KnownItems,
    order: Sequence[str],
    wanted: Mapping[str, int],
    model: ChatModel,
    *,
    styles: Sequence[str],
    verify: bool,
    budget: Budget | None,
    calls: CallSettings | None,
    cache: str | os.PathLike[str] | None,
    seed: int,
    progress: Progress | None,
) -> Asking:
    """Queries of the kinds wanted, written by a model, and verified by it."""
    chosen = Random(f"{seed}:styles").sample(list(styles), min(_STYLES, len(styles)))
    with nullcontext() if cache is None else AnswerCache(cache) as kept:
        asker = _Asker(items, order, model, chosen, verify, Ledger(budget or Budget()), kept, calls, seed, progress)
        for _ in range(_ROUNDS):
            drafts = list(asker.drafts(wanted))
            if not drafts or asker.found.stopped:
                break
            asker.round(drafts)
    asker.found.usage = asker.ledger.spent
    return asker.found


class _Asker:
    def __init__(
        self,
        items: KnownItems,
        order: Sequence[str],
        model: ChatModel,
        styles: Sequence[str],
        verify: bool,
        ledger: Ledger,
        cache: AnswerCache | None,
        settings: CallSettings | None,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.items, self.model, self.styles, self.verify, self.ledger = items, model, styles, verify, ledger
        self.cache, self.settings, self.seed, self.progress = cache, settings or CallSettings(), seed, progress
        self.found = Asking()
        self._order, self._place, self._number = list(order), 0, 0
        self._checks = QueryChecks(items)
        self._linked = self._links()

    def drafts(self, wanted: Mapping[str, int]) -> Iterator[_Draft]:
        """What is to be written, for what is still wanted: of each document in turn."""
        have = Counter(one.kind for one in self.found.accepted)
        for kind in KINDS:
            for _ in range(wanted.get(kind, 0) - have[kind]):
                if kind == "multi-hop":
                    pair = next(self._linked, None)
                    if pair is None:
                        break
                    yield self._draft(kind, pair, 0)
                else:
                    turn, place = divmod(self._place, len(self._order))
                    self._place += 1
                    yield self._draft(kind, (self._order[place],), turn)

    def _draft(self, kind: Kind, sources: tuple[str, ...], turn: int) -> _Draft:
        self._number += 1
        chance = Random(f"{self.seed}:{turn}:{sources}")
        passages = tuple(passage_of(self.items.terms.text(doc), chance) for doc in sources)
        return _Draft(f"{kind}:{self._number}", kind, sources, passages, turn)

    def _links(self) -> Iterator[tuple[str, str]]:
        """Pairs of documents that share rare words, each once; one of each document first."""
        met: set[frozenset[str]] = set()
        for turn in range(3):
            for doc in self._order:
                other = next(iter(self.items.linked(doc)[turn : turn + 1]), None)
                if other is not None and (pair := frozenset((doc, other))) not in met:
                    met.add(pair)
                    yield doc, other

    def round(self, drafts: Sequence[_Draft]) -> None:
        """Write, check, write anew where a forbidden word was used, and verify."""
        passed, again = self._checked(self._written(drafts))
        if again and not self.found.stopped:
            more, still = self._checked(self._written(again))
            passed += more
            self.found.dropped["forbidden"] += len(still)
        elif again:
            self.found.left += len(again)
        verified = self._verified(passed) if self.verify and passed else [self._candidate(one) for one in passed]
        for one in verified:
            self.found.accepted.append(one)

    def _written(self, drafts: Sequence[_Draft]) -> list[_Draft]:
        requests = []
        for one in drafts:
            forbidden = [word for doc in one.sources for word in self.items.forbidden_words(doc)]
            requests.append(
                writing(
                    one.name,
                    one.kind,
                    one.passages,
                    styles=self.styles,
                    forbidden=forbidden,
                    before=one.text,
                    sample=one.sample,
                )
            )
        written = self._call("writing", requests, read_query)
        return [replace(one, text=written.answers[one.name]) for one in drafts if one.name in written.answers]

    def _checked(self, drafts: Sequence[_Draft]) -> tuple[list[_Draft], list[_Draft]]:
        """Those that pass, and those that used a forbidden word."""
        passed, again = [], []
        for one in drafts:
            reason = self._checks.fault(self._candidate(one), by_words=False) if one.text else "unusable"
            if reason is None:
                self._checks.add(self._candidate(one))
                passed.append(one)
            elif reason == "forbidden":
                again.append(one)
            else:
                self.found.dropped[reason] += 1
        return passed, again

    def _verified(self, drafts: Sequence[_Draft]) -> list[Candidate]:
        """Those that their sources answer, and no others."""
        requests, shown = [], {}
        for one in drafts:
            docs, passages = self._beside(one)
            shown[one.name] = docs
            requests.append(verifying(one.name, one.text, passages))
        told = self._call("verifying", requests, read_documents)
        passed = []
        for one in drafts:
            if one.name not in told.answers:
                continue
            docs = shown[one.name]
            reason = self._contradiction(one, {docs[i] for i in told.answers[one.name] if i < len(docs)})
            if reason is None:
                passed.append(self._candidate(one))
            else:
                self.found.dropped[reason] += 1
        return passed

    def _beside(self, one: _Draft) -> tuple[list[str], list[str]]:
        """The sources and the documents most like the query, in any order; and what is shown of them."""
        own = {other for doc in one.sources for other in self.items.group(doc)}
        keys = content_words(one.text)
        rivals = [doc for doc in self.items.terms.best(keys, len(own) + _RIVALS) if doc not in own][:_RIVALS]
        passages = dict(zip(one.sources, one.passages, strict=True))
        passages |= {doc: passage_about(self.items.terms.text(doc), keys) for doc in rivals}
        docs = list(passages)
        Random(f"{self.seed}:{one.text}").shuffle(docs)
        return docs, [passages[doc] for doc in docs]

    @staticmethod
    def _contradiction(one: _Draft, answering: set[str]) -> str | None:
        if one.kind == "unanswerable":
            return "answered" if answering else None
        if not set(one.sources) <= answering:
            return "half_answered" if len(one.sources) > 1 and answering & set(one.sources) else "not_answered"
        return "not_unique" if answering - set(one.sources) else None

    @staticmethod
    def _candidate(one: _Draft) -> Candidate:
        return Candidate(one.kind, one.text, () if one.kind == "unanswerable" else one.sources)

    def _call(self, what: str, requests: Sequence[ChatRequest], read: Callable[..., Any]) -> Calls[Any]:
        progress = self.progress
        made: Calls[Any] = call_all(
            self.model,
            requests,
            read,
            ledger=self.ledger,
            cache=self.cache,
            settings=self.settings,
            progress=None if progress is None else lambda done, total: progress(what, done, total),
        )
        self.found.failures.update(failure.reason for failure in made.failures)
        self.found.fault = self.found.fault or next((one.detail or one.raw for one in made.failures), "")
        self.found.left += len(made.left)
        self.found.stopped = self.found.stopped or made.stopped
        return made
