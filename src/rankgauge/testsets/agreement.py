"""`agreement`: how far judges, or whole sets of labels, say the same, and whether that changes a verdict."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation import Scoring, make_plan
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.labels import Labels
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.stats.levels import check_number
from rankgauge.stats.raters import COEFFICIENTS, Coefficient, Ratings, coefficient
from rankgauge.stats.settings import Settings
from rankgauge.testsets.label_sets import LabelSet, Pair, Scale, read_label_sets
from rankgauge.testsets.verdicts import JudgedComparisons, RankAgreement, VerdictChange
from rankgauge.words import Note

__all__ = ["GradeBias", "LabelAgreement", "Mean", "PairAgreement", "agreement", "strength"]

_OF_TWO = tuple(COEFFICIENTS)
_OF_ALL = tuple(name for name in COEFFICIENTS if not name.startswith("cohen"))
_STRENGTHS = ((0.0, "poor"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
_OTHER_SCALE = 0.05
"""Above this share of labels outside the scale, a set seems to use another scale."""
_MOST_GRADES = 50


def strength(value: float) -> str:
    """The word for a kappa (Landis and Koch 1977)."""
    return next((name for most, name in _STRENGTHS if value <= most), "almost_perfect") if value >= 0 else "poor"


@dataclass(frozen=True)
class Mean:
    """A mean over pairs, its interval by queries, since the labels of one query are not independent."""

    value: float
    interval: Interval | None
    n: int


@dataclass(frozen=True)
class GradeBias:
    """What the other set says of the pairs that the reference gave this grade."""

    grade: float
    mean: Mean
    """Of the other's grade less this one."""


@dataclass(frozen=True)
class PairAgreement:
    """A set of labels held against the reference, on the pairs that both labelled."""

    reference: str
    other: str
    pairs: int
    queries: int
    only_reference: int
    only_other: int
    outside: int
    """Labels of the other set outside the scale; their pairs are left out."""
    coefficients: dict[str, Coefficient]
    grades: list[float]
    confusion: list[list[int]]
    """Rows: the reference's grade; columns: the other's."""
    bias: Mean | None
    """Mean of the other's grade less the reference's."""
    by_grade: list[GradeBias]
    sensitivity: Mean | None
    """TPR: of the pairs that are relevant by the reference, the share that is by the other; None where there are
    none."""
    specificity: Mean | None
    """TNR: the same of those that are not relevant."""
    ranks: list[RankAgreement] = field(default_factory=list)
    changes: list[VerdictChange] = field(default_factory=list)
    comparisons: int = 0
    """How many verdicts were compared; 0 without runs."""
    undecided: int = 0
    """How many of them are inconclusive by both sets: that they are the same says nothing of the judge."""

    @property
    def kappa(self) -> Coefficient:
        """Cohen's kappa."""
        return self.coefficients["cohen_kappa"]


@named_arguments
@dataclass(frozen=True)
class LabelAgreement:
    """How far sets of labels agree: `.pairs`, each set against the first, and `.overall` coefficients of all."""

    sets: list[LabelSet]
    scale: Scale
    rel: float
    outside: dict[str, int]
    """Labels outside the scale, by set; they are left out."""
    shared: int
    """Pairs that every set labelled."""
    overall: dict[str, Coefficient]
    """Coefficients of all sets together, on all pairs that two sets or more labelled."""
    pairs: list[PairAgreement]
    comparisons: int
    """Verdicts compared for each set; 0 without runs."""

    @property
    def changed(self) -> int:
        """Comparisons whose verdict changes with at least one of the sets."""
        return len({(change.measure, change.a, change.b) for pair in self.pairs for change in pair.changes})

    @property
    def lead(self) -> Note:
        """The decision."""
        several = len(self.sets) > 2
        found = self.overall["krippendorff_alpha_ordinal"] if several else self.pairs[0].kappa
        changes: Note | str = ""
        if self.comparisons:
            changes = self._changes()
        if found.value is None:
            return Note("agreement.lead_constant", {"changes": changes})
        about: dict[str, Any] = {"value": found.value, "changes": changes}
        about |= {"strength": Note(f"agreement.{strength(found.value)}")}
        about |= {"name": Note(f"agreement.{'krippendorff_alpha_ordinal' if several else 'cohen_kappa'}")}
        if found.interval is None:
            return Note("agreement.lead_no_interval", about)
        return Note("agreement.lead", {**about, "interval": [found.interval.low, found.interval.high]})

    def _changes(self) -> Note:
        """What the sets do to the verdicts. One that is inconclusive by both of them has not stood a test."""
        if self.changed:
            return Note("agreement.changes", {"n": self.changed, "all": self.comparisons})
        if not self.undecided:
            return Note("agreement.no_changes", {"all": self.comparisons})
        if self.undecided == self.comparisons:
            return Note("agreement.undecided", {"all": self.comparisons})
        return Note("agreement.no_changes_undecided", {"n": self.undecided, "all": self.comparisons})

    @property
    def undecided(self) -> int:
        """Comparisons that are inconclusive by the first set and by another one, by the one where they are most."""
        return max(pair.undecided for pair in self.pairs)

    @property
    def lead_status(self) -> Literal["pass", "warn"] | None:
        """Whether the verdicts hold; None where all are inconclusive."""
        if self.changed or any(note.level == "warning" for note in self.notes):
            return "warn"
        return None if self.comparisons and self.undecided == self.comparisons else "pass"

    @property
    def notes(self) -> list[Note]:
        """What to know beside the figures."""
        notes = []
        for labels in self.sets:
            if n := self.outside[labels.name]:
                share = n / len(labels.grades)
                about = {"name": labels.name, "n": n, "low": self.scale.low, "high": self.scale.high, "share": share}
                key = "agreement.other_scale" if share > _OTHER_SCALE else "agreement.outside"
                notes.append(Note(key, about, "warning"))
            if labels.adjudicated:
                notes.append(Note("agreement.adjudicated", {"n": labels.adjudicated}))
            if labels.judges > 1:
                notes.append(Note("agreement.combined", {"name": labels.name, "n": labels.judges}))
        for pair in self.pairs:
            if pair.queries < 2:
                notes.append(Note("agreement.one_query", {"name": pair.other}, "warning"))
            elif pair.only_reference + pair.only_other:
                about = {"name": pair.other, "reference": pair.reference, "n": pair.pairs}
                about |= {"own": pair.only_reference, "other": pair.only_other}
                notes.append(Note("agreement.unshared", about))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "format": "rankgauge.agreement",
            "version": 1,
            "sets": [
                {"name": one.name, "labels": len(one.grades), "outside": self.outside[one.name]} for one in self.sets
            ],
            "scale": [self.scale.low, self.scale.high],
            "rel": self.rel,
            "adjudicated": sum(one.adjudicated for one in self.sets),
            "shared": self.shared,
            "overall": {name: asdict(found) for name, found in self.overall.items()},
            "pairs": [asdict(pair) for pair in self.pairs],
            "comparisons": self.comparisons,
            "changed": self.changed,
            "undecided": self.undecided,
        }


@named_arguments
def agreement(
    sets: Mapping[str, Any] | Sequence[Any] | Labels | str | os.PathLike[str],
    runs: Mapping[str, Any] | None = None,
    measures: str | Measure | Sequence[str | Measure] = "nDCG@10",
    *,
    rel: float = 1.0,
    scale: tuple[float, float] | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    seed: int = 0,
) -> LabelAgreement:
    """How far sets of labels agree with the first of them, and with runs, whether a verdict depends on the set.

    `sets` are labels, judgments, test sets or their paths, by name or as a list; or one `Labels` whose judges are
    compared, people first. `rel` is the least grade that is relevant, `scale` the least and the highest grade: labels
    outside it are counted and left out (default: from 0 to the highest of the first set). Labels that adjudicate are
    left out too, and counted, but where one set combines several judges. Intervals take queries for independent, not
    pairs. With `runs`, by name, these are compared under each set, on the pairs that it shares with the first; the
    choices are those of `compare`.
    """
    check_number("rel", rel)
    found = read_label_sets(sets)
    reference, others = found[0], found[1:]
    known = Scale.of(scale, reference)
    inside = [LabelSet(one.name, {p: g for p, g in one.grades.items() if g in known}, one.judges) for one in found]
    if empty := next((one for one in inside if not one.grades), None):
        raise DataError(
            f"{empty.name}: no label lies between {known.low:g} and {known.high:g}; give the scale, such as "
            "`scale=(0, 3)`"
        )
    judged = None
    if runs is not None:
        plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel if rel != 1 else None)
        settings = Settings.of(test, correction, alpha, equivalence_margin, seed)
        judged = JudgedComparisons(runs, Scoring(plan), settings)
    rows, ratings = _ratings(inside)
    if len(ratings.categories) > _MOST_GRADES:
        raise DataError(
            f"there are {len(ratings.categories)} different grades, which look like scores: make grades of them first, "
            "such as 0 to 3"
        )
    pairs = [_held(inside[0], own, other, rel, judged) for own, other in zip(inside[1:], others, strict=True)]
    return LabelAgreement(
        sets=found,
        scale=known,
        rel=rel,
        outside={one.name: len(one.grades) - len(own.grades) for one, own in zip(found, inside, strict=True)},
        shared=int((~np.isnan(rows)).all(axis=1).sum()),
        overall={name: coefficient(name, ratings) for name in _OF_ALL},
        pairs=pairs,
        comparisons=pairs[0].comparisons,
    )


def _ratings(sets: Sequence[LabelSet]) -> tuple[Floats, Ratings]:
    """A row for each pair, a column for each set, NaN where it has no label; queries are clusters."""
    pairs = list(dict.fromkeys(pair for one in sets for pair in one.grades))
    grades = np.array([[one.grades.get(pair, np.nan) for one in sets] for pair in pairs])
    return grades, Ratings(grades, _queries(pairs))


def _queries(pairs: Sequence[Pair]) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(query, len(numbers)) for query, _ in pairs], dtype=np.int64)


def _held(
    reference: LabelSet, other: LabelSet, whole: LabelSet, rel: float, judged: JudgedComparisons | None
) -> PairAgreement:
    """`whole` is the other set with its labels outside the scale."""
    pairs = [pair for pair in reference.grades if pair in other.grades]
    if not pairs:
        one, two = next(iter(reference.grades)), next(iter(other.grades))
        raise DataError(
            f"{reference.name} and {other.name} labelled no pair in common: the first has {one}, the second {two}"
        )
    own = np.array([reference.grades[pair] for pair in pairs])
    theirs = np.array([other.grades[pair] for pair in pairs])
    clusters = _queries(pairs)
    ratings = Ratings(np.stack([own, theirs], axis=1), clusters)
    grades = ratings.categories.tolist()
    ranks, changes, comparisons, undecided = judged.held(reference, other, pairs) if judged else ([], [], 0, 0)
    relevant = own >= rel
    span = float(np.ptp(ratings.categories)) or 1.0
    return PairAgreement(
        reference=reference.name,
        other=other.name,
        pairs=len(pairs),
        queries=int(clusters.max()) + 1,
        only_reference=sum(pair not in whole.grades for pair in reference.grades),
        only_other=len(other.grades) - len(pairs),
        outside=len(whole.grades) - len(other.grades),
        coefficients={name: coefficient(name, ratings) for name in _OF_TWO},
        grades=grades,
        confusion=ratings.table.sum(axis=0).astype(int).tolist(),
        bias=_mean(theirs - own, np.ones(len(own), dtype=bool), clusters, (-span, span)),
        by_grade=[
            GradeBias(grade, mean)
            for grade in grades
            if (mean := _mean(theirs - grade, own == grade, clusters, (grades[0] - grade, grades[-1] - grade)))
        ],
        sensitivity=_mean((theirs >= rel).astype(float), relevant, clusters, None),
        specificity=_mean((theirs < rel).astype(float), ~relevant, clusters, None),
        ranks=ranks,
        changes=changes,
        comparisons=comparisons,
        undecided=undecided,
    )


def _mean(values: Floats, among: Bools, clusters: Ints, bounds: tuple[float, float] | None) -> Mean | None:
    """Of some pairs; shares of them (without bounds) by Wilson's interval."""
    own = values[among]
    if not len(own):
        return None
    interval = mean_interval(own, bounds=bounds, shares=bounds is None, clusters=clusters[among])
    return Mean(float(own.mean()), interval, len(own))
