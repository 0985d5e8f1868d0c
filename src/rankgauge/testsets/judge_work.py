"""What is to be judged: pairs with their texts, which of them are open, and the calls they are put into."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from rankgauge.errors import DataError
from rankgauge.formats.pool import load_pool
from rankgauge.model.labels import Labels
from rankgauge.model.pool import Pool, PooledPair
from rankgauge.testsets.anchoring import read_inputs
from rankgauge.testsets.aspects import check_aspects
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_calls import estimate_calls
from rankgauge.testsets.chat_requests import ChatRequest, Estimate
from rankgauge.testsets.judge import Judge
from rankgauge.testsets.judge_asking import Group, Pair, groups_of
from rankgauge.testsets.judge_probe import probe_requests
from rankgauge.words import Note

__all__ = ["Work", "anchor_sample"]

_OF_A_ROUND: Final = 1000
"""Samples of anchors in a run: the next run's are other ones."""


class Work:
    """What is to be judged, by whom, with all texts at hand."""

    def __init__(self, pairs: Any, test_set: Any, corpus: Any, judges: Any, aspects: Any) -> None:
        self.judges = [judges] if isinstance(judges, Judge) else list(judges) if isinstance(judges, Sequence) else []
        if not self.judges or not all(isinstance(one, Judge) for one in self.judges):
            raise DataError("`judge` must be a Judge, or a list of them: Judge(endpoint, model)")
        names = [one.name for one in self.judges]
        if len(set(names)) < len(names):
            raise DataError(
                f"two judges are named {next(n for n in names if names.count(n) > 1)!r}; give each a `name`"
            )
        priced = [one.chat.prices is not None for one in self.judges]
        if any(priced) and not all(priced):
            raise DataError("prices are given for some of the judges; give those of all, (0, 0) for one that is free")
        self.test_set, documents = read_inputs(test_set, corpus)
        self.corpus: Mapping[str, str] = {} if documents is None else documents
        self.aspects = {} if aspects is None else check_aspects(aspects)
        self._queries = {query.id: query for query in self.test_set}
        self.remarks: list[Note] = []
        self.pairs = self._pairs(pairs)
        self.textless = [pair for pair in self.pairs if self.text_of(pair) is None]
        textless = set(self.textless)
        self._pool = self._by_query(pair for pair in self.pairs if pair not in textless)
        chars = min(one.max_chars for one in self.judges)
        if cut := sum(len(text) > chars for group in self._pool.values() for text in group.texts):
            self.remarks.append(Note("judge.cut", {"n": cut, "chars": chars}, "warning"))

    def _by_query(self, pairs: Iterable[Pair]) -> dict[str, Group]:
        """The documents of each query as one group."""
        docs: dict[str, list[str]] = {}
        for query, doc in pairs:
            docs.setdefault(query, []).append(doc)
        return {
            query: Group(
                query, self._queries[query].text, tuple(own), tuple(self.text_of((query, doc)) or "" for doc in own)
            )
            for query, own in docs.items()
        }

    def anchor_groups(self, judge: Judge, anchors: Iterable[Pair]) -> list[Group]:
        """Those of the anchors whose texts are known, as groups that share a call."""
        own = [pair for pair in anchors if pair[0] in self._queries and self.text_of(pair) is not None]
        return [
            group
            for query, whole in self._by_query(own).items()
            for group in groups_of(replace(whole, criteria=self.criteria(judge, query)), whole.docs, judge.listwise)
        ]

    def _pairs(self, given: Any) -> list[Pair]:
        """The pairs, each once, in the order given; those of queries that the test set lacks are left out."""
        if given is None:
            found = [(query.id, doc) for query in self.test_set for doc in query.grades]
        else:
            pool = load_pool(given) if isinstance(given, str | os.PathLike) else given
            pool = pool if isinstance(pool, Pool) else Pool(_listed(pool))
            found = [one.pair for one in pool]
        if not found:
            raise DataError("there is nothing to judge: the pool, or the test set, holds no pair of query and document")
        known = [pair for pair in found if pair[0] in self._queries]
        if not known:
            raise DataError(
                f"none of the {len(found)} pairs is of a query of {self.test_set.name}, such as query {found[0][0]!r}"
            )
        if len(known) < len(found):
            strange = next(query for query, _ in found if query not in self._queries)
            self.remarks.append(
                Note("judge.unknown_queries", {"n": len(found) - len(known), "query": strange}, "warning")
            )
        return known

    def text_of(self, pair: Pair) -> str | None:
        query, doc = pair
        text = self.corpus.get(doc)
        text = self._queries[query].texts.get(doc) if text is None else text
        return text if text is not None and text.strip() else None

    def criteria(self, judge: Judge, query: str) -> dict[str, str]:
        return {**judge.rubric.criteria, **self.aspects.get(query, {})}

    def open(self, judge: Judge, labels: Labels) -> list[Pair]:
        """Pairs with a text that a judge has not graded by its rubric, for all aspects."""
        done = set[tuple[str, str, str]]()
        for label in labels:
            if label.kind == "model" and label.judge == judge.name:
                voice = (label.query, label.doc, label.aspect)
                if label.grade is not None and label.rubric == judge.version:
                    done.add(voice)
                else:
                    done.discard(voice)
        textless = set(self.textless)
        return [
            pair
            for pair in self.pairs
            if pair not in textless
            and not all((*pair, aspect) in done for aspect in ("", *self.criteria(judge, pair[0])))
        ]

    def groups(self, judge: Judge, pairs: Iterable[Pair], answers: AnswerCache | None = None) -> list[Group]:
        """The pairs as groups that share a call. Groups of the whole pool whose answers are kept come as they were
        asked; what is left is grouped anew."""
        wanted: dict[str, list[str]] = {}
        for query, doc in pairs:
            wanted.setdefault(query, []).append(doc)
        found: list[Group] = []
        for query, docs in wanted.items():
            if query not in self._pool:
                continue
            whole = replace(self._pool[query], criteria=self.criteria(judge, query))
            left = {doc: None for doc in docs if doc in whole.docs}
            if answers is not None and judge.listwise > 1:
                for group in groups_of(whole, whole.docs, judge.listwise):
                    if any(doc in left for doc in group.docs) and _is_kept(judge, group, answers):
                        found.append(group)
                        for doc in group.docs:
                            left.pop(doc, None)
            found += groups_of(whole, left, judge.listwise)
        return found

    def estimate(
        self,
        labels: Labels,
        answers: AnswerCache | None,
        anchors: Iterable[Pair] = (),
        probe: int = 0,
        *,
        keeps: bool = False,
    ) -> Estimate:
        """Of all judges together, probes and anchors included. What is asked twice is paid for once where answers are
        kept (`keeps`)."""
        people, parts = list(anchors), []
        for one in self.judges:
            asked = set[str]()
            for requests in self._requests(one, labels, answers, people, probe):
                keys = [AnswerCache.key(one.chat, own.messages, own.schema, own.sample) for own in requests]
                new = [own for own, key in zip(requests, keys, strict=True) if key not in asked]
                if keeps:
                    asked.update(keys)
                parts.append(estimate_calls(one.chat, new, answers))
        costs = [part.cost for part in parts if part.cost is not None]
        most = [part.most_cost for part in parts if part.most_cost is not None]
        return Estimate(
            sum(part.calls for part in parts),
            sum(part.kept for part in parts),
            sum(part.prompt_tokens for part in parts),
            sum(part.completion_tokens for part in parts),
            sum(costs) if costs else None,
            sum(most) if most else None,
            parts[0].unit,
        )

    def _requests(
        self, judge: Judge, labels: Labels, answers: AnswerCache | None, people: Sequence[Pair], probe: int
    ) -> Iterator[list[ChatRequest]]:
        """What a judge is asked: for the probe, for the anchors, and for what is open beside them."""
        if probe:
            yield probe_requests(judge, self.groups(judge, self.pairs, answers), probe)
        anchors = self.anchor_groups(judge, people)
        first = anchor_sample(judge, answers)
        yield [group.request(judge, first + sample) for group in anchors for sample in range(judge.samples)]
        judged = {pair for group in anchors for pair in group.pairs}
        left = [pair for pair in self.open(judge, labels) if pair not in judged]
        groups = self.groups(judge, left, answers)
        yield [group.request(judge, sample) for group in groups for sample in range(judge.samples)]


def anchor_sample(judge: Judge, answers: AnswerCache | None) -> int:
    """The number of the first sample of anchors: each run's are other ones."""
    return (0 if answers is None else answers.round(judge.name)) * _OF_A_ROUND


def _is_kept(judge: Judge, group: Group, answers: AnswerCache) -> bool:
    """Whether the answers of all samples are kept."""
    requests = [group.request(judge, sample) for sample in range(judge.samples)]
    return all(
        answers.get(AnswerCache.key(judge.chat, one.messages, one.schema, one.sample)) is not None for one in requests
    )


def _listed(given: Any) -> list[PooledPair | Pair]:
    """Pairs given as they are, each once."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise DataError(
            f"`pairs` is a Pool, the path of one, or a list of (query, document), not a {type(given).__name__}"
        )
    pairs = [tuple(one) if isinstance(one, list) else one for one in given]
    for one in pairs:
        plain = isinstance(one, tuple) and len(one) == 2 and all(isinstance(part, str) for part in one)
        if not plain and not isinstance(one, PooledPair):
            raise DataError(f"`pairs` holds {one!r}; give (query, document), or a PooledPair"[:300])
    return list(dict.fromkeys(pairs))
