"""What checks look at: the test set and all that was given with it, and what several of them have to work out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from rankgauge.evaluation import evaluate
from rankgauge.model.labels import Labels
from rankgauge.model.query_words import query_words
from rankgauge.model.ranked import Bools, Floats
from rankgauge.model.run import Run
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.judge_probe import JudgeProbe
from rankgauge.testsets.lint.copies import Copy, find_copies
from rankgauge.testsets.lint.findings import Finding

__all__ = ["Material", "Probe", "Scored"]

Probe = JudgeProbe | Iterable[JudgeProbe] | Callable[["Material"], JudgeProbe | Iterable[JudgeProbe | Finding]]
"""What `probe_judge` gave, for one judge or several, or a function that gives it, or findings of its own."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True)
class Scored:
    """The scores of one run, by query."""

    scores: Floats
    counted: Bools
    judged: float | None
    """The share of its first 10 documents that are judged, over the queries that it has documents for; None where it
    has none."""


@dataclass(frozen=True)
class Material:
    """The inputs of `lint`."""

    test_set: TestSet
    corpus: Mapping[str, str] | None = None
    runs: Mapping[str, Run] = field(default_factory=dict)
    labels: Labels | None = None
    against: TestSet | None = None
    scale: tuple[float, float] | None = None
    difference: float | None = None
    measure: str = "nDCG@10"
    probe: Probe | None = None
    progress: Callable[[str, int, int], object] | None = None
    """What long work is told to: a name, what is done and all."""

    def has(self, need: str) -> bool:
        """Whether there is what a check needs."""
        found: dict[str, Callable[[], bool]] = {
            "texts": lambda: self.has_texts,
            "corpus": lambda: bool(self.corpus),
            "documents": lambda: bool(self.corpus) or any(query.texts for query in self.test_set),
            "documents_or_runs": lambda: bool(self.runs) or self.has("documents"),
            "runs": lambda: bool(self.runs),
            "two_runs": lambda: len(self.runs) > 1,
            "labels": lambda: self.labels is not None,
            "against": lambda: self.against is not None,
            "probe": lambda: self.probe is not None,
            "graded": lambda: not self.only_relevant,
        }
        return found[need]()

    @cached_property
    def has_texts(self) -> bool:
        """Whether the texts of queries are more than their ids."""
        return has_texts(self.test_set)

    @cached_property
    def by_id(self) -> dict[str, Query]:
        return {query.id: query for query in self.test_set}

    @cached_property
    def answerable(self) -> list[Query]:
        """Queries with a relevant document."""
        return [query for query in self.test_set if any(grade > 0 for grade in query.grades.values())]

    @cached_property
    def only_relevant(self) -> bool:
        """Whether no document is judged non-relevant."""
        return all(grade > 0 for query in self.test_set for grade in query.grades.values())

    @cached_property
    def documents(self) -> Mapping[str, str]:
        """The texts that are known: the corpus, or those that the queries bring."""
        if self.corpus is not None:
            return self.corpus
        return {doc: text for query in self.test_set for doc, text in query.texts.items()}

    @cached_property
    def relevant(self) -> dict[str, list[str]]:
        """The queries that each relevant document is relevant to."""
        found: dict[str, list[str]] = {}
        for query in self.test_set:
            for doc, grade in query.grades.items():
                if grade > 0:
                    found.setdefault(doc, []).append(query.id)
        return found

    @cached_property
    def words(self) -> dict[str, list[str]]:
        """The words of each query."""
        return {query.id: query_words(query.text) for query in self.test_set}

    @cached_property
    def copies(self) -> list[Copy]:
        """Documents whose texts are those of relevant ones, or nearly."""
        texts = {doc: self.documents[doc] for doc in self.relevant if doc in self.documents}
        told = None if self.progress is None else partial(self.progress, "copied-documents")
        return find_copies(texts, self.documents, told)

    @cached_property
    def scored(self) -> dict[str, Scored]:
        """Each run under the measure, in the order of the judged queries."""
        found = {}
        for name, run in self.runs.items():
            table = evaluate(self.test_set, run, [self.measure, "Judged@10"], name=name).table
            known = set(run.queries) - set(run.empty)
            listed = table.counted[:, 1] & np.array([query in known for query in table.queries])
            shares = table.values[listed, 1]
            judged = float(shares.sum() / len(shares)) if len(shares) else None
            found[name] = Scored(table.values[:, 0], table.counted[:, 0], judged)
            self.__dict__.setdefault("scored_queries", list(table.queries))
        return found

    def queries_scored(self) -> list[str]:
        """The ids of the queries that `scored` is about."""
        return list(self.__dict__["scored_queries"]) if self.scored else []

    @cached_property
    def every_system(self) -> tuple[Floats, Bools]:
        """The scores of all runs, a row for each, and which queries count."""
        parts = list(self.scored.values())
        return np.stack([one.scores for one in parts]), np.logical_and.reduce([one.counted for one in parts])


def has_texts(test_set: TestSet) -> bool:
    """Whether the texts of a test set's queries are more than their ids: plain judgments give ids for texts."""
    return any(query.text != query.id or " " in query.text.strip() or _CJK.search(query.text) for query in test_set)
