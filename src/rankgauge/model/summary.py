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

__all__ = ["LabelCount", "TestSetSummary", "beyond", "summary_of"]

_TELLING = 20  # grades, from which on the highest of them is taken for the top of their scale
_FAR = 4  # times as high as a few of them, and hardly of the same scale


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
    coarse: int = 0
    """Relevant documents with nothing but an import's 0 or 1, where other labels use a finer scale."""
    finest: float = 1.0
    """The highest grade of the labels that are no imports."""
    overreaching: float | None = None
    """The highest imported grade, where other labels stop so far below it that they seem to be on another scale."""
    reach: float | None = None
    """The highest grade that those other labels can have, as far as they show."""

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
            by_majority = self.policy is not None and self.policy.combine == "majority"
            key = "testsets.conflicts_majority" if by_majority else "testsets.conflicts"
            notes.append(Note(key, {"n": self.conflicts}, "warning"))
        if self.coarse:
            notes.append(Note("testsets.coarse", {"n": self.coarse, "highest": self.finest}, "warning"))
        if self.overreaching is not None:
            both = {"imported": self.overreaching, "highest": self.reach}
            notes.append(Note("testsets.overreaching", both, "warning"))
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
    coarse, finest = _coarse(labels)
    overreaching, reach = _overreaching(labels)
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
        coarse=coarse,
        finest=finest,
        overreaching=overreaching,
        reach=reach,
    )


def _coarse(labels: Labels) -> tuple[int, float]:
    """How many documents have an import's 1 alone where others go higher, and the highest grade of the others."""
    imported: dict[tuple[str, str], float] = {}
    others: dict[tuple[str, str], float] = {}
    for label in labels:
        if label.grade is not None and not label.aspect:
            (imported if label.kind == "import" else others)[label.query, label.doc] = label.grade
    finest = max(others.values(), default=0.0)
    if finest <= 1 or max(imported.values(), default=0.0) > 1:
        return 0, max(1.0, finest)
    return sum(grade == 1 and pair not in others for pair, grade in imported.items()), finest


def _overreaching(labels: Labels) -> tuple[float, float] | tuple[None, None]:
    """The highest imported grade and how far other labels reach, where these seem to be on a smaller scale."""
    said = [label for label in labels if label.grade is not None and not label.aspect]
    imported = {label.pair: label.grade or 0.0 for label in said if label.kind == "import"}
    others = [label for label in said if label.kind != "import"]
    # What a label may as well have meant is on its scale too.
    reach = max((max(label.grade or 0.0, label.high or 0.0) for label in others), default=0.0)
    highest = max(imported.values(), default=0.0)
    # Labels of documents that are worse by their imports too stop lower on the same scale.
    lowered = {label.pair for label in others if imported.get(label.pair, 0.0) > reach}
    return (highest, reach) if beyond(highest, reach, len(lowered)) else (None, None)


def beyond(highest: float, reach: float, n: int) -> bool:
    """Whether a grade is beyond the scale of n grades of which the highest is `reach`. A few that stop lower may be
    corrections on the same scale, as a 1 where a 3 was; then it has to be much higher. Nothing but 0 tells no scale."""
    return highest > reach * (1 if n >= _TELLING else _FAR) and reach > 0
