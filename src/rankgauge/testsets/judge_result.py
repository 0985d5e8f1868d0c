"""What came of judging: labels, failures, cost, and how far the judges can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.model.labels import Labels
from rankgauge.stats.raters import Coefficient, Ratings, coefficient
from rankgauge.testsets.chat_cost import Budget, Usage
from rankgauge.testsets.chat_requests import Estimate
from rankgauge.testsets.judge_anchors import AnchorReport
from rankgauge.testsets.judge_probe import JudgeProbe
from rankgauge.words import Note

__all__ = ["JudgeFailure", "JudgeReport", "JudgeResult", "distribution"]

_SKEWED: Final = 0.95
_FEW: Final = 20


@dataclass(frozen=True)
class JudgeFailure:
    """A pair without a grade, and why."""

    judge: str
    query: str
    doc: str
    reason: str
    """`call`, `refused`, `empty`, `cut`, `no_json`, `no_grade`, `out_of_scale`, `missing`, or `no_text`."""
    detail: str = ""
    raw: str = ""
    """The answer itself, where there was one."""
    tries: int = 0


@dataclass(frozen=True)
class JudgeReport:
    """What one judge did."""

    judge: str
    model: str
    family: str
    version: str
    """Of rubric and prompt."""
    configuration: Mapping[str, Any]
    pairs: int
    """Pairs it was to judge, those it had judged before among them."""
    before: int
    new: int
    failed: int
    left: int
    spent: Usage
    grades: Mapping[float, int]
    """How many of the pairs got each grade."""
    spread: float = 0.0
    """Mean difference of the highest and the lowest sample of a pair."""
    served: tuple[str, ...] = ()
    """The model's names as the server tells them."""
    anchors: AnchorReport | None = None
    probe: JudgeProbe | None = None

    @property
    def notes(self) -> list[Note]:
        notes = []
        if len(self.served) > 1:
            notes.append(Note("judge.served", {"judge": self.judge, "models": [*self.served]}, "warning"))
        total = sum(self.grades.values())
        if total >= _FEW and (grade := max(self.grades, key=self.grades.__getitem__)) is not None:
            share = self.grades[grade] / total
            if share >= _SKEWED:
                notes.append(Note("judge.one_grade", {"judge": self.judge, "grade": grade, "share": share}, "warning"))
        for part in (self.probe, self.anchors):
            notes += [] if part is None else part.notes
        if self.spent.guessed:
            notes.append(Note("judge.no_usage", {"judge": self.judge, "n": self.spent.guessed}))
        return notes


@named_arguments
@dataclass(frozen=True)
class JudgeResult:
    """Labels of the pairs that were to be judged, what failed and what was left, and what it cost."""

    labels: Labels
    """What the judges say last of each pair, from this run and earlier ones; those of aspects too."""
    judges: tuple[JudgeReport, ...]
    failures: tuple[JudgeFailure, ...]
    left: tuple[tuple[str, str, str], ...]
    """Judge, query and document of what was not asked."""
    estimate: Estimate
    spent: Usage
    budget: Budget
    stopped: str
    """`budget`, `interrupted`, `failing`, or nothing."""
    remarks: tuple[Note, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every judge has graded every pair."""
        return not self.failures and not self.left

    @cached_property
    def agreement(self) -> Coefficient | None:
        """Of several judges with each other: Krippendorff's alpha for ordinal grades, clusters are queries."""
        names = list(dict.fromkeys(one.judge for one in self.judges))
        if len(names) < 2 or not self.labels.voices:
            return None
        columns = {name: place for place, name in enumerate(names)}
        rows, queries = [], dict[str, int]()
        clusters = []
        for (query, _), voices in self.labels.voices.items():
            row = [np.nan] * len(names)
            for label in voices:
                if label.judge in columns and label.grade is not None:
                    row[columns[label.judge]] = label.grade
            rows.append(row)
            clusters.append(queries.setdefault(query, len(queries)))
        ratings = Ratings(np.array(rows), np.array(clusters, dtype=np.int64))
        return coefficient("krippendorff_alpha_ordinal", ratings) if len(ratings) else None

    @property
    def notes(self) -> list[Note]:
        """Warnings first: what was not judged, then what speaks against the grades."""
        notes: list[Note] = []
        if self.stopped:
            none = self.stopped == "budget" and not self.spent.calls  # the same command would end so again
            notes.append(Note(f"judge.stopped_{'at_once' if none else self.stopped}", {"n": len(self.left)}, "warning"))
        for reason, n in Counter(one.reason for one in self.failures).items():
            notes.append(Note(f"judge.failed_{reason}", {"n": n}, "warning"))
        notes += [*self.remarks, *(note for one in self.judges for note in one.notes)]
        if self.agreement is not None and self.agreement.value is not None:
            about: dict[str, Any] = {"value": self.agreement.value, "n": self.agreement.items}
            if (interval := self.agreement.interval) is not None:
                notes.append(Note("judge.agreement_interval", {**about, "ends": (interval.low, interval.high)}))
            else:
                notes.append(Note("judge.agreement", about))
        return sorted(notes, key=lambda note: note.level != "warning")

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it; the labels themselves are in their file."""
        return {
            "format": "rankgauge.judging",
            "version": 1,
            "complete": self.complete,
            "stopped": self.stopped,
            "labels": len(self.labels),
            "estimate": asdict(self.estimate),
            "spent": self.spent.to_dict(),
            "budget": asdict(self.budget),
            "judges": [_of_judge(one) for one in self.judges],
            "agreement": None if self.agreement is None else asdict(self.agreement),
            "failures": [asdict(one) for one in self.failures],
            "left": [list(one) for one in self.left],
            "notes": [asdict(note) for note in self.notes],
        }


def _of_judge(one: JudgeReport) -> dict[str, Any]:
    grades = {f"{grade:g}": n for grade, n in one.grades.items()}
    probe = None if one.probe is None else one.probe.to_dict()
    anchors = None if one.anchors is None else one.anchors.to_dict()
    own = {name: getattr(one, name) for name in ("judge", "model", "family", "version", "pairs", "before", "new")}
    own |= {"failed": one.failed, "left": one.left, "spread": one.spread, "served": [*one.served]}
    own |= {"configuration": dict(one.configuration), "spent": one.spent.to_dict()}
    return {**own, "grades": grades, "probe": probe, "anchors": anchors}


def distribution(labels: Labels, judge: str, pairs: Sequence[tuple[str, str]]) -> dict[float, int]:
    """How many of the pairs a judge gave each grade."""
    wanted = set(pairs)
    own = (
        label.grade
        for pair, voices in labels.voices.items()
        if pair in wanted
        for label in voices
        if label.kind == "model" and label.judge == judge and label.grade is not None
    )
    return dict(sorted(Counter(own).items(), reverse=True))
