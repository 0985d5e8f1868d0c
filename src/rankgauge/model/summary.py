"""What a test set holds, in counts: queries, judgments, who gave them, what they disagree about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankgauge.model.labels import LabelPolicy, Labels
from rankgauge.model.merging import unlabelled
from rankgauge.model.query import Query
from rankgauge.words import Note

__all__ = ["LabelCount", "TestSetSummary", "summary_of"]


@dataclass(frozen=True)
class LabelCount:
    """Of how many documents a judge gave a grade."""

    kind: str
    judge: str
    labels: int


@dataclass(frozen=True)
class TestSetSummary:
    """Counts of a test set."""

    __test__ = False

    name: str
    version: str
    queries: int
    judged: int
    """Queries with a judged document."""
    no_answer: int
    unlabelled: int
    """Queries of which nobody said anything."""
    no_relevant: int
    """Judged queries of which no document is relevant."""
    synthetic: int
    conversations: int
    judgments: int
    grades: dict[float, int]
    """Documents by grade."""
    tags: dict[str, int]
    """Queries by tag, the most frequent first."""
    policy: LabelPolicy | None
    sources: list[LabelCount]
    conflicts: int
    """Documents of which the labels that count differ."""

    @property
    def notes(self) -> list[Note]:
        """What to mind."""
        notes = []
        if self.unlabelled:
            notes.append(Note("testsets.unlabelled", {"n": self.unlabelled, "all": self.queries}, "warning"))
        if self.no_relevant:
            notes.append(Note("testsets.no_relevant", {"n": self.no_relevant}, "warning"))
        if self.judgments and not any(grade <= 0 for grade in self.grades):
            notes.append(Note("testsets.only_relevant", level="warning"))
        if self.conflicts:
            notes.append(Note("testsets.conflicts", {"n": self.conflicts}, "warning"))
        if self.synthetic:
            notes.append(Note("testsets.synthetic", {"n": self.synthetic, "all": self.queries}))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        found = asdict(self)
        found["grades"] = {f"{grade:g}": n for grade, n in self.grades.items()}
        return {"format": "rankgauge.testset-summary", **found}


def summary_of(
    queries: Sequence[Query], name: str, version: str, labels: Labels, policy: LabelPolicy | None
) -> TestSetSummary:
    """The counts."""
    grades = Counter(float(grade) for query in queries for grade in query.grades.values())
    return TestSetSummary(
        name=name,
        version=version,
        queries=len(queries),
        judged=sum(bool(query.grades) for query in queries),
        no_answer=sum(query.no_answer for query in queries),
        unlabelled=len(unlabelled(queries)),
        no_relevant=sum(bool(query.grades) and not query.relevant and not query.no_answer for query in queries),
        synthetic=sum(bool(query.synthetic) for query in queries),
        conversations=len({query.conversation for query in queries if query.conversation}),
        judgments=grades.total(),
        grades=dict(sorted(grades.items())),
        tags=dict(Counter(tag for query in queries for tag in query.tags).most_common()),
        policy=policy,
        sources=[LabelCount(kind, judge, n) for (kind, judge), n in labels.sources.items()],
        conflicts=0 if policy is None else len(labels.conflicts(policy)),
    )
