"""Labels: who gave which document which grade, when, by which rubric and why; several for a pair of query and document.

Nothing is edited in place: a judge who thinks again gives another label, and one without a grade takes the last back. A
policy makes one grade of what all judges say, so that the same labels always give the same judgments.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, get_args

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted
from rankgauge.model.judgments import Qrels
from rankgauge.words import Note

__all__ = ["KINDS", "Kind", "Label", "LabelPolicy", "Labels"]

Kind = Literal["person", "model", "clicks", "import"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Combine = Literal["majority", "latest", "mean", "lowest", "highest"]


@named_arguments
@dataclass(frozen=True, slots=True)
class Label:
    """What one judge said of one document for one query. A `grade` of None takes the judge's last one back."""

    query: str
    doc: str
    grade: float | None
    judge: str
    kind: Kind = "person"
    time: str = ""
    """In ISO 8601; empty where it is not known."""
    rubric: str = ""
    """The version of what the judge was told a grade means."""
    reason: str = ""
    aspect: str = ""
    """The criterion or nugget that was judged; empty for the document as a whole."""
    low: float | None = None
    """The least grade that the judge may as well have meant: of its samples, or of an interval."""
    high: float | None = None
    adjudicates: bool = False
    """Whether it settles what other labels disagree about; a role of the label, not of the judge, who may have another
    label of the pair as one of those who disagree."""

    def __post_init__(self) -> None:
        for name in ("query", "doc", "judge"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise DataError(f"a label needs `{name}`, a text that is not empty, not {getattr(self, name)!r}")
        for name in ("time", "rubric", "reason", "aspect"):
            check_text(name, getattr(self, name))
        if self.kind not in KINDS:
            raise DataError(f"`kind={self.kind!r}` of a label is none of {', '.join(KINDS)}")
        for name in ("grade", "low", "high"):
            self._check_number(name)
        if not isinstance(self.adjudicates, bool):
            raise DataError(f"`adjudicates={self.adjudicates!r}` of a label is neither true nor false")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise DataError(f"`low={self.low:g}` of a label is above `high={self.high:g}`")
        if self.time:
            try:
                datetime.fromisoformat(self.time)
            except ValueError:
                raise DataError(f"`time={self.time!r}` of a label is no time such as 2026-05-01T12:00:00Z") from None

    def _check_number(self, name: str) -> None:
        value = getattr(self, name)
        if value is None:
            return
        what = "the grade" if name == "grade" else f"`{name}`"
        try:
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise DataError(f"{what} {value!r} of a label is no finite number")
        except OverflowError:  # a whole number of hundreds of digits
            raise DataError(f"{what} of a label is too large a number") from None
        object.__setattr__(self, name, float(value))

    @property
    def pair(self) -> tuple[str, str]:
        return self.query, self.doc

    @property
    def voice(self) -> tuple[str, str, str, str, str, bool]:
        """A judge has one voice for a pair and an aspect of it, and another one where it adjudicates: the last label
        is what it says."""
        return self.query, self.doc, self.aspect, self.kind, self.judge, self.adjudicates

    def is_new(self, before: Label | None) -> bool:
        """Whether it says anything that its judge's last label of the same did not. A reason without a grade is a
        remark; a grade said again without a reason keeps the one it had."""
        if before is None:
            return self.grade is not None or bool(self.reason)
        remark = self.kind == "person" and self.reason and self.reason != before.reason
        return bool(remark) or (before.grade, before.rubric) != (self.grade, self.rubric)

    @property
    def moment(self) -> datetime | None:
        """Its time; one without a zone is UTC, not that of the machine that reads it."""
        if not self.time:
            return None
        at = datetime.fromisoformat(self.time)
        return at if at.tzinfo is not None else at.replace(tzinfo=UTC)

    @property
    def spread(self) -> float:
        """How far apart the grades are that the judge may have meant; 0 where that is not known."""
        return 0.0 if self.low is None or self.high is None else self.high - self.low


@named_arguments
@dataclass(frozen=True)
class LabelPolicy:
    """How the labels of a pair become its grade: those of the first of `prefer` that labelled it count (all, where it
    is empty), and are combined; of labels that adjudicate, the latest counts alone. A majority that two grades share
    goes to the lower one."""

    prefer: tuple[Kind, ...] = KINDS
    combine: Combine = "majority"

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefer", tuple(self.prefer))
        if unknown := [kind for kind in self.prefer if kind not in KINDS]:
            raise DataError(f"`prefer`: {unknown[0]!r} is none of {', '.join(KINDS)}")
        if len(set(self.prefer)) < len(self.prefer):
            raise DataError(f"`prefer={self.prefer!r}` names a kind twice")
        if self.combine not in get_args(Combine):
            raise DataError(f"`combine={self.combine!r}` is none of {', '.join(get_args(Combine))}")

    @classmethod
    def named(cls, name: str) -> LabelPolicy:
        """The policy of a name: `people-first` (then models, clicks, imports), `people-only`, or all alike by
        `majority`, `latest`, `mean`, `lowest` or `highest`; `people-first+mean` is both."""
        check_text("name", name)
        who, plus, combine = name.partition("+")
        preferred = {"people-first": KINDS, "people-only": KINDS[:1]}
        if who in preferred:
            return cls(preferred[who], combine if plus else "majority")  # type: ignore[arg-type]
        if plus or name not in get_args(Combine):
            known = [*preferred, *get_args(Combine)]
            raise DataError(f"there is no policy {name!r}; there are: {', '.join(known)}, and people-first+mean")
        return cls((), name)  # type: ignore[arg-type]

    @property
    def note(self) -> Note:
        """How labels become a grade, to be told."""
        combine = Note(f"labels.combine_{self.combine}")
        if not self.prefer:
            return Note("labels.policy_all", {"combine": combine})
        kinds = [Note(f"labels.kind_{kind}") for kind in self.prefer]
        return Note("labels.policy_prefer", {"kinds": kinds, "combine": combine})

    def counting(self, voices: Sequence[Label]) -> list[Label]:
        """Those of a pair's labels that count."""
        for kind in self.prefer:
            if own := [label for label in voices if label.kind == kind]:
                return _settled(own)
        return [] if self.prefer else _settled(list(voices))

    def grade(self, voices: Sequence[Label]) -> float | None:
        """The grade of a pair, from what each judge says last; None where nobody whose label counts says anything."""
        grades = [label.grade for label in self.counting(voices) if label.grade is not None]
        if not grades:
            return None
        if self.combine == "latest":
            return grades[-1]
        if self.combine == "mean":
            return math.fsum(grades) / len(grades)
        if self.combine == "majority":
            votes = Counter(grades)
            return min(votes, key=lambda grade: (-votes[grade], grade))
        return min(grades) if self.combine == "lowest" else max(grades)


def _settled(voices: list[Label]) -> list[Label]:
    """The latest that adjudicates, where one does; else all."""
    return [label for label in voices if label.adjudicates][-1:] or voices


@named_arguments
class Labels(Sequence[Label]):
    """Labels in the order in which they were given, immutable. A label that says again what its judge said last of the
    pair, by the same rubric, is left out: reading one sheet twice changes nothing."""

    def __init__(self, labels: Iterable[Label] = (), *, name: str = "labels") -> None:
        check_text("name", name)
        if isinstance(labels, str | Mapping) or not isinstance(labels, Iterable):
            raise DataError(f"{name}: labels are a list of Label, not a {type(labels).__name__}")
        kept: list[Label] = []
        last: dict[tuple[str | bool, ...], Label] = {}
        for number, label in enumerate(labels, start=1):
            if not isinstance(label, Label):
                raise DataError(f"{name}: entry {number} is a {type(label).__name__}; give a Label")
            # What takes back a label that is not among these may be added to those where it is.
            if label.voice not in last or label.is_new(last[label.voice]):
                last[label.voice] = label
                kept.append(label)
        self._labels, self.name = tuple(kept), name

    def added(self, labels: Iterable[Label]) -> Labels:
        """These labels, and others after them."""
        return Labels((*self._labels, *labels), name=self.name)

    @cached_property
    def voices(self) -> dict[tuple[str, str], list[Label]]:
        """What each judge says last of each pair, in the order of their times, where these are known; who took a label
        back says nothing. Labels of an aspect of a document are not among them: see `of_aspect`."""
        return self._voices("")

    def _voices(self, aspect: str) -> dict[tuple[str, str], list[Label]]:
        last: dict[tuple[str | bool, ...], Label] = {}
        for label in self._labels:
            last.pop(label.voice, None)
            last[label.voice] = label
        found: dict[tuple[str, str], list[Label]] = {}
        for label in last.values():
            if label.grade is not None and label.aspect == aspect:
                found.setdefault(label.pair, []).append(label)
        for own in found.values():
            moments = [label.moment for label in own] if len(own) > 1 else []
            if moments and None not in moments:
                own[:] = [own[i] for i in sorted(range(len(own)), key=moments.__getitem__)]  # type: ignore[arg-type]
        return found

    def grades(self, policy: LabelPolicy = LabelPolicy()) -> dict[str, dict[str, float]]:
        """The grade of each labelled document, by query."""
        found: dict[str, dict[str, float]] = {}
        for (query, doc), voices in self.voices.items():
            grade = policy.grade(voices)
            if grade is not None:
                found.setdefault(query, {})[doc] = grade
        return found

    def qrels(self, policy: LabelPolicy = LabelPolicy()) -> Qrels:
        """The judgments that a policy makes of the labels."""
        return Qrels(self.grades(policy), name=self.name)

    def conflicts(self, policy: LabelPolicy = LabelPolicy()) -> dict[tuple[str, str], list[Label]]:
        """Pairs of which the labels that count differ."""
        counting = {pair: policy.counting(voices) for pair, voices in self.voices.items()}
        return {pair: own for pair, own in counting.items() if len({label.grade for label in own}) > 1}

    def history(self, query: str | None = None, doc: str | None = None) -> list[Label]:
        """All that was ever said of a query's documents, or of one of them, in the order in which it was given."""
        return [one for one in self._labels if query in (None, one.query) and doc in (None, one.doc)]

    @cached_property
    def sources(self) -> dict[tuple[Kind, str], int]:
        """How many pairs each judge has labelled, by kind and name."""
        own = {pair: {(label.kind, label.judge): None for label in voices} for pair, voices in self.voices.items()}
        return dict(Counter(judge for judges in own.values() for judge in judges))

    @cached_property
    def aspects(self) -> tuple[str, ...]:
        """The criteria or nuggets that were judged, in the order in which they come first."""
        return tuple(dict.fromkeys(label.aspect for label in self._labels if label.aspect))

    def of_aspect(self, aspect: str) -> Labels:
        """The labels of one aspect, as labels of the documents as a whole."""
        own = (replace(label, aspect="") for label in self._labels if label.aspect == aspect)
        return Labels(own, name=f"{self.name} [{aspect}]")

    def of(self, judge: str | None = None, kind: Kind | None = None) -> Labels:
        """The labels of one judge, or of one kind."""
        own = (one for one in self._labels if judge in (None, one.judge) and kind in (None, one.kind))
        return Labels(own, name=self.name)

    def of_queries(self, queries: Iterable[Any]) -> Labels:
        """The labels of some queries: their ids, or a test set."""
        ids = {query if isinstance(query, str) else query.id for query in queries}
        return Labels((label for label in self._labels if label.query in ids), name=self.name)

    @cached_property
    def version(self) -> str:
        """A hash of what the labels say, whatever their order among pairs."""
        voices = (own for aspect in ("", *self.aspects) for own in self._voices(aspect).values())
        names = [field.name for field in fields(Label)]
        said = sorted(json.dumps([getattr(label, name) for name in names]) for own in voices for label in own)
        return hashlib.sha256("\n".join(said).encode()).hexdigest()

    def __getitem__(self, index: Any) -> Any:
        return self._labels[index]

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self._labels)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Labels) and self._labels == other._labels

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        pairs, judges = counted(len(self.voices), "pair"), counted(len(self.sources), "judge")
        return f"Labels({self.name!r}: {counted(len(self), 'label')} of {pairs} by {judges})"
