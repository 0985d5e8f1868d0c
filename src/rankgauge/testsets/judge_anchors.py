"""Anchors of a judge: pairs that people graded, judged again in each run, so that a judge that drifts is seen.

A model behind a name changes without a word. Its first grades of the anchors stay in the file of labels, and the new
ones are held against them and against the people's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from rankgauge.model.labels import Label
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.stats.raters import Coefficient, Ratings, coefficient
from rankgauge.words import Note

__all__ = ["AnchorReport", "first_grades", "held_against"]

_LEAST: Final = 5  # anchors that a drift can be seen with
_CHANGED: Final = 0.1
_ALIKE: Final = 6


@dataclass(frozen=True)
class AnchorReport:
    """How a judge grades pairs that people graded, now and when it first did."""

    judge: str
    n: int
    equal: float
    """Share with the people's grade."""
    kappa: Coefficient
    """Cohen's kappa with quadratic weights, clusters are queries."""
    bias: float
    """Mean of the judge's grade less the people's."""
    compared: int
    """Anchors that the judge graded before."""
    changed: float
    """Share of these with another grade than at first."""
    shift: float
    """Mean change since."""
    shift_interval: Interval | None
    error_shift: float
    """Mean change of the distance to the people's grade; above 0 is worse."""
    error_interval: Interval | None

    @property
    def drifted(self) -> bool:
        """Whether grades rose or fell, or became worse, by more than chance."""
        if self.compared < _LEAST:
            return False
        return any(
            found is not None and not found.low <= 0 <= found.high
            for found in (self.shift_interval, self.error_interval)
        )

    @property
    def notes(self) -> list[Note]:
        about: dict[str, Any] = {"judge": self.judge, "n": self.n, "equal": self.equal}
        kappa, notes = self.kappa, list[Note]()
        if kappa.value is None:
            notes.append(Note("judge.anchors", about))
        elif kappa.interval is None:
            notes.append(Note("judge.anchors_kappa", {**about, "kappa": kappa.value}))
        else:
            ends = (kappa.interval.low, kappa.interval.high)
            notes.append(Note("judge.anchors_interval", {**about, "kappa": kappa.value, "ends": ends}))
        since = {"judge": self.judge, "n": self.compared, "changed": self.changed, "shift": self.shift}
        if self.drifted:
            notes.append(Note("judge.drift", {**since, "worse": self.error_shift}, "warning"))
        elif self.compared:
            notes.append(Note("judge.no_drift", since, "warning" if self.changed > _CHANGED else "info"))
        return notes

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "drifted": self.drifted}


def first_grades(labels: Sequence[Label], judge: str, version: str) -> dict[tuple[str, str], float]:
    """The grade that a judge first gave each pair by a rubric."""
    found: dict[tuple[str, str], float] = {}
    for label in labels:
        own = (label.judge, label.kind, label.rubric, label.aspect) == (judge, "model", version, "")
        if own and label.grade is not None:
            found.setdefault(label.pair, label.grade)
    return found


def held_against(
    judge: str,
    now: Mapping[tuple[str, str], float],
    people: Mapping[tuple[str, str], float],
    before: Mapping[tuple[str, str], float],
) -> AnchorReport | None:
    """The judge's grades of the anchors beside those of people, and its own of before; None without any."""
    pairs = [pair for pair in people if pair in now]
    if not pairs:
        return None
    queries = {query: number for number, query in enumerate(dict.fromkeys(query for query, _ in pairs))}
    own = np.array([now[pair] for pair in pairs])
    wanted = np.array([people[pair] for pair in pairs])
    clusters = np.array([queries[query] for query, _ in pairs], dtype=np.int64)
    kappa = coefficient("cohen_kappa_quadratic", Ratings(np.stack([wanted, own], axis=1), clusters))
    known = np.array([pair in before for pair in pairs])
    first = np.array([before.get(pair, 0.0) for pair in pairs])[known]
    moved = own[known] - first
    worse = np.abs(own[known] - wanted[known]) - np.abs(first - wanted[known])
    return AnchorReport(
        judge,
        len(pairs),
        float((own == wanted).mean()),
        kappa,
        float((own - wanted).mean()),
        len(moved),
        float((moved != 0).mean()) if len(moved) else 0.0,
        float(moved.mean()) if len(moved) else 0.0,
        _interval(moved, clusters[known]),
        float(worse.mean()) if len(worse) else 0.0,
        _interval(worse, clusters[known]),
    )


def _interval(values: Any, clusters: Any) -> Interval | None:
    """Of the mean change, queries being independent. Where all queries moved alike there is no spread to go by, but six
    that move the same way do so by chance with 2 / 2^6 = 3 %."""
    n = len(set(clusters.tolist()))
    if n < 2:
        return None
    numbers = np.unique(clusters, return_inverse=True)[1].astype(np.int64)
    found = mean_interval(values, shares=False, clusters=numbers)
    if found is None and n >= _ALIKE:
        found = Interval(float(values.mean()), float(values.mean()), 0.95, "alike")
    return found
