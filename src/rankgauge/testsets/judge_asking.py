"""A judge asked about groups of documents of a query: samples, lists that came back with holes, and what failed."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rankgauge.testsets.chat import Reply
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_calls import call_all
from rankgauge.testsets.chat_cost import Ledger
from rankgauge.testsets.chat_requests import CallFailure, Calls, ChatRequest
from rankgauge.testsets.judge import Combining, Judge
from rankgauge.testsets.judge_answers import Verdict

__all__ = ["Asked", "Group", "Opinion", "Pair", "Tell", "ask_judge", "groups_of", "opinion_of"]

Pair = tuple[str, str]
Tell = Callable[[Pair, Sequence[Verdict]], object]
_NOT_A_CALL: Final = "missing"


@dataclass(frozen=True)
class Group:
    """Documents of one query that are judged in one call. `kind` names a probe that shows them in another way."""

    query: str
    text: str
    docs: tuple[str, ...]
    texts: tuple[str, ...]
    criteria: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""

    @property
    def pairs(self) -> list[Pair]:
        return [(self.query, doc) for doc in self.docs]

    def alone(self, doc: str) -> Group:
        return replace(self, docs=(doc,), texts=(self.texts[self.docs.index(doc)],))

    def request(self, judge: Judge, sample: int) -> ChatRequest:
        name = json.dumps([self.query, *self.docs, sample, *([self.kind] if self.kind else [])], ensure_ascii=False)
        return judge.request(name, self.text, self.texts, self.criteria, sample)


@dataclass(frozen=True)
class Opinion:
    """What the samples of a pair come to."""

    grade: float
    low: float
    high: float
    reason: str
    criteria: dict[str, float]


def opinion_of(verdicts: Sequence[Verdict], combine: Combining) -> Opinion:
    """The grade that most samples gave, the lower of two that share the most votes; or their mean. The reason is that
    of a sample nearest to it."""
    grades = [verdict.grade for verdict in verdicts]
    grade = _combined(grades, combine)
    nearest = min(verdicts, key=lambda verdict: abs(verdict.grade - grade))
    criteria = {
        name: _combined([verdict.criteria[name] for verdict in verdicts if name in verdict.criteria], combine)
        for name in verdicts[0].criteria
    }
    return Opinion(grade, min(grades), max(grades), nearest.reason, criteria)


def _combined(grades: Sequence[int], combine: Combining) -> float:
    if combine == "mean":
        return math.fsum(grades) / len(grades)
    votes = Counter(grades)
    return float(min(votes, key=lambda grade: (-votes[grade], grade)))


@dataclass
class Asked:
    """What came of it, by pair."""

    verdicts: dict[Pair, list[Verdict]] = field(default_factory=dict)
    """Of pairs that enough samples answered."""
    failures: dict[Pair, CallFailure] = field(default_factory=dict)
    left: list[Pair] = field(default_factory=list)
    stopped: str = ""
    served: set[str] = field(default_factory=set)
    """The model's names as the server tells them."""


def groups_of(group: Group, docs: Iterable[str], size: int) -> list[Group]:
    """Some documents of a query in groups of a size, in the order in which they stand in it."""
    places = {doc: place for place, doc in enumerate(group.docs)}
    chosen = sorted(dict.fromkeys(docs), key=places.__getitem__)
    return [
        replace(group, docs=tuple(part), texts=tuple(group.texts[places[doc]] for doc in part))
        for part in (chosen[i : i + size] for i in range(0, len(chosen), size))
    ]


def ask_judge(
    judge: Judge,
    groups: Sequence[Group],
    *,
    ledger: Ledger,
    cache: AnswerCache | None,
    samples: int | None = None,
    first: int = 0,
    tell: Tell | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Asked:
    """Ask for the grades of all documents of the groups. `tell` is told of a pair as soon as all its samples are there.

    A document that an answer to a group left out, and those of a group without a usable answer, are asked for one by
    one. A pair counts as judged if more than half of its samples are there.
    """
    work = _Asking(judge, judge.samples if samples is None else samples, tell)
    asked = Asked()
    calls = work.ask(
        [(group, sample) for group in groups for sample in range(first, first + work.samples)], ledger, cache, progress
    )
    if not calls.stopped:
        again = work.missing(calls.failures)
        if again:
            calls = work.ask(again, ledger, cache, progress)
    asked.stopped, asked.served = calls.stopped, work.served
    for pair in dict.fromkeys(pair for group in groups for pair in group.pairs):
        verdicts = work.verdicts.get(pair, [])
        if len(verdicts) == work.samples:
            asked.verdicts[pair] = verdicts
        elif 2 * len(verdicts) > work.samples and pair in work.failed and not calls.stopped:
            asked.verdicts[pair] = verdicts
            if tell is not None:
                tell(pair, verdicts)
        elif pair in work.failed:
            asked.failures[pair] = work.failed[pair]
        else:
            asked.left.append(pair)
    return asked


class _Asking:
    """The verdicts of each pair, as they come."""

    def __init__(self, judge: Judge, samples: int, tell: Tell | None) -> None:
        self.judge, self.samples, self.tell = judge, samples, tell
        self.verdicts: dict[Pair, list[Verdict]] = {}
        self.failed: dict[Pair, CallFailure] = {}
        self.served: set[str] = set()
        self._asked: dict[str, tuple[Group, int]] = {}
        self._holes: list[tuple[Group, int]] = []

    def ask(
        self,
        wanted: Sequence[tuple[Group, int]],
        ledger: Ledger,
        cache: AnswerCache | None,
        progress: Callable[[int, int], object] | None,
    ) -> Calls[dict[int, Verdict]]:
        requests = [group.request(self.judge, sample) for group, sample in wanted]
        self._asked = {request.name: one for request, one in zip(requests, wanted, strict=True)}
        calls = call_all(
            self.judge.chat,
            requests,
            self._read,
            ledger=ledger,
            cache=cache,
            settings=self.judge.settings,
            on_answer=self._answered,
            progress=progress,
        )
        for failure in calls.failures:
            self.failed |= dict.fromkeys(self._asked[failure.name][0].pairs, failure)
        return calls

    def missing(self, failures: Sequence[CallFailure]) -> list[tuple[Group, int]]:
        """What is to be asked one by one: holes in lists, and groups that had no usable answer."""
        unusable = [self._asked[failure.name] for failure in failures if failure.reason != "call"]
        whole = [(group.alone(doc), sample) for group, sample in unusable if len(group.docs) > 1 for doc in group.docs]
        again = [*self._holes, *whole]
        self._holes = []
        for group, _ in again:
            self.failed.pop(group.pairs[0], None)
        return again

    def _read(self, request: ChatRequest, reply: Reply) -> dict[int, Verdict]:
        group, _ = self._asked[request.name]
        return self.judge.read(reply, len(group.docs), [*group.criteria])

    def _answered(self, request: ChatRequest, found: dict[int, Verdict], reply: Reply) -> None:
        group, sample = self._asked[request.name]
        self.served |= {reply.model} - {""}
        for number, pair in enumerate(group.pairs, start=1):
            if number not in found:
                self.failed[pair] = CallFailure(request.name, _NOT_A_CALL, "", reply.text)
                self._holes.append((group.alone(pair[1]), sample))
                continue
            own = self.verdicts.setdefault(pair, [])
            own.append(found[number])
            if len(own) == self.samples and self.tell is not None:
                self.tell(pair, own)
