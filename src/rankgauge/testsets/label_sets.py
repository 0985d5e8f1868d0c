"""Sets of labels to be held against each other: what each judge, file or test set says of query and document."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError
from rankgauge.evaluation import read_judgments
from rankgauge.formats.labels import load_labels
from rankgauge.formats.sources import Source, unpacked_name
from rankgauge.model.labels import LabelPolicy, Labels
from rankgauge.model.testset import TestSet

__all__ = ["LabelSet", "Pair", "Scale", "read_label_set", "read_label_sets", "read_labels"]

Pair = tuple[str, str]


@dataclass(frozen=True)
class LabelSet:
    """The grade of each pair of query and document, under a name."""

    name: str
    grades: Mapping[Pair, float]
    judges: int = 1
    """How many judges' labels were combined in it, where that is known."""
    adjudicated: int = 0
    """Labels that adjudicate, which were left out: who gave them saw what others disagreed about alone."""

    @property
    def only_relevant(self) -> bool:
        """Whether nothing was rejected."""
        return all(grade > 0 for grade in self.grades.values())

    def by_query(self, among: Iterable[Pair] | None = None) -> dict[str, dict[str, float]]:
        """Of some of the pairs, or all."""
        found: dict[str, dict[str, float]] = {}
        for query, doc in self.grades if among is None else among:
            found.setdefault(query, {})[doc] = self.grades[query, doc]
        return found


@dataclass(frozen=True)
class Scale:
    """The grades there can be."""

    low: float
    high: float
    whole: bool = True
    """Whether only whole numbers are grades."""

    @classmethod
    def of(cls, given: Any, reference: LabelSet) -> Scale:
        """A scale such as (0, 3); by default from 0 to the highest grade of the reference."""
        if given is None:
            values = set(reference.grades.values())
            whole = all(grade == int(grade) for grade in values)
            return cls(min(0.0, *values), max(1.0, *values), whole)
        try:
            low, high = (float(end) for end in given)
        except (TypeError, ValueError):
            raise DataError(f"`scale` must be the least and the highest grade, such as (0, 3), not {given!r}") from None
        if not low < high or high - low > 1e9:  # NaN too
            raise DataError(f"`scale={given!r}`: the least grade must lie below the highest")
        return cls(low, high, low == int(low) and high == int(high))

    def __contains__(self, grade: object) -> bool:
        return isinstance(grade, float) and self.low <= grade <= self.high and not (self.whole and grade != int(grade))


def read_label_sets(given: Any) -> list[LabelSet]:
    """Two sets or more: by name, as a list, or the judges of one file of labels, people first."""
    if isinstance(given, str | os.PathLike | Labels):
        return _by_judge(_read(given))
    if isinstance(given, TestSet) or not isinstance(given, Mapping | Sequence):
        raise DataError(
            "give two sets of labels or more by name, {'people': labels, 'model': labels}, or Labels of several judges"
        )
    if isinstance(given, Mapping):
        named = [(str(name), source) for name, source in given.items()]
    else:
        own = [_own_name(source, number) for number, source in enumerate(given, start=1)]
        twice = {name for name, n in Counter(own).items() if n > 1}
        own = [f"{name} ({number})" if name in twice else name for number, name in enumerate(own, start=1)]
        named = list(zip(own, given, strict=True))
    if len(named) == 1:
        return _by_judge(_read(named[0][1]))
    if not named:
        raise DataError("there are no labels: give two sets or more")
    return [_unsettled_set(source, name) for name, source in named]


def _own_name(source: Any, number: int) -> str:
    if isinstance(source, str | os.PathLike):
        return Path(unpacked_name(os.fspath(source))).stem or f"set {number}"
    name = getattr(source, "name", None)
    return name if isinstance(name, str) and name else f"set {number}"


def read_label_set(source: Any, name: str) -> LabelSet:
    """One set: labels, combined as judgments are, judgments, or a test set."""
    read = _read(source)
    if isinstance(read, Labels):
        grades, judges = read.grades(LabelPolicy()), max(1, len(read.sources))
    else:
        grades, judges = read_judgments(read)[0].to_dict(), 1
    pairs = {(query, doc): _number(grade, doc, name) for query, docs in grades.items() for doc, grade in docs.items()}
    if not pairs:
        raise DataError(f"{name}: it holds no labels")
    return LabelSet(name, pairs, judges)


def _unsettled_set(source: Any, name: str) -> LabelSet:
    """One set to be held against others. The labels of several judges keep what settles their own differences, as
    judgments do: then every pair has one grade, whoever gave it. Those of one judge would agree with others better than
    the judge did, on just those pairs that were picked because the judges differ."""
    read = _read(source)
    if not isinstance(read, Labels):
        return read_label_set(read, name)
    own, adjudicated = _unsettled(read)
    if max(Counter(kind for kind, _ in own.sources).values(), default=0) > 1:  # people's labels stand above a model's
        settled = Labels([label for label in read if label.pair in own.voices], name=read.name)
        unheard = sum(pair not in own.voices for pair in read.voices)
        return replace(read_label_set(settled, name), judges=len(own.sources), adjudicated=unheard)
    if adjudicated and not own.voices:
        raise DataError(
            f"{name}: all of its labels adjudicate, and agreement is that of those who labelled before; give their "
            "labels"
        )
    return replace(read_label_set(own, name), adjudicated=adjudicated)


def _unsettled(labels: Labels) -> tuple[Labels, int]:
    """The labels but those that adjudicate, and of how many pairs these are."""
    own = Labels([label for label in labels if not label.adjudicates], name=labels.name)
    return own, sum(any(label.adjudicates for label in voices) for voices in labels.voices.values())


def _number(grade: Any, doc: str, name: str) -> float:
    try:
        value = float(grade)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{name}: the grade of document {doc!r} is {grade!r}; give a finite number")
    return value


def read_labels(source: Any, name: str, *, people: bool) -> tuple[LabelSet, TestSet | None]:
    """The labels of people, or those of the judge that is checked by them: of labels of both kinds, the others. And
    the test set, where there is one."""
    read = _read(source)
    if not isinstance(read, Labels):
        return read_label_set(read, name), read if isinstance(read, TestSet) else None
    kinds = {kind for kind, _ in read.sources}
    if len(kinds) < 2 or "person" not in kinds:
        return read_label_set(read, name), None
    own = Labels([label for label in read if (label.kind == "person") == people], name=read.name)
    return read_label_set(own, name), None


def _read(source: Any) -> Any:
    """A file of labels as Labels, other files as judgments; what is no file as it is."""
    if not isinstance(source, str | os.PathLike):
        return source
    if os.fspath(source) != "-" and not Path(source).is_dir() and _holds_labels(Source(source)):
        return load_labels(source)
    judgments, test_set = read_judgments(source)
    return judgments if test_set is None else test_set


def _holds_labels(source: Source) -> bool:
    """Whether the first line is a label, which names its judge."""
    line = next((line for line in source.head().splitlines() if line.strip()), b"")
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        item = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(item, dict) and {"query", "doc", "grade", "judge"} <= item.keys()


def _by_judge(labels: Any) -> list[LabelSet]:
    """One set for each judge, people first."""
    if not isinstance(labels, Labels):
        raise DataError("one set of judgments has nothing to agree with: give two or more, or Labels of several judges")
    labels, adjudicated = _unsettled(labels)
    sources = sorted(labels.sources, key=lambda source: source[0] != "person")
    if len(sources) < 2:
        who = f"only {sources[0][1]!r} gave them" if sources else "it holds none"
        who += " beside those that adjudicate" if adjudicated else ""
        raise DataError(f"{labels.name}: labels of two judges or more are needed, and {who}; give another set")
    names = Counter(judge for _, judge in sources)
    found = []
    for kind, judge in sources:
        grades = labels.of(judge, kind).grades(LabelPolicy(prefer=()))
        pairs = {(query, doc): grade for query, docs in grades.items() for doc, grade in docs.items()}
        found.append(LabelSet(judge if names[judge] == 1 else f"{judge} ({kind})", pairs))
    # They are of the file, not of a judge; to be told once.
    return [replace(found[0], adjudicated=adjudicated), *found[1:]]
