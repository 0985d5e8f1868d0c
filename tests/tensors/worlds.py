"""Scores and grades as arrays, and the same as dictionaries, so that `evaluate` can be the oracle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge import evaluate, evaluate_tensors
from rankgauge.errors import RankgaugeError
from rankgauge.measures import Measure, parse_measures
from rankgauge.model import Contract
from rankgauge.tensors.kernels import kernel_of
from tests.laws.settings import SETTINGS

FLOAT64, FLOAT32 = 1e-12, 1e-6
TIES = ("trec", "stable", "expected", "given")
ALL = [measure for texts in SETTINGS.values() for measure in parse_measures(list(texts))]


def _supported(measure: Measure, ties: str) -> bool:
    try:
        kernel_of(measure, Contract(ties=ties))  # type: ignore[arg-type]
    except RankgaugeError:
        return False
    return True


SUPPORTED = {ties: [measure for measure in ALL if _supported(measure, ties)] for ties in TIES}


def scale_of(measure: Measure) -> float:
    """The highest grade that a measure takes."""
    return next((float(top) for name in ("max_grade", "max_rel") if (top := measure.get(name)) is not None), 4.0)


@dataclass(frozen=True)
class World:
    """Lists of some queries: a row each, and a column for each document."""

    scores: NDArray[Any]
    grades: NDArray[Any]
    listed: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    missed: NDArray[Any]
    """Grades of judged documents that are not listed, NaN where there is none."""

    def __len__(self) -> int:
        return len(self.scores)

    def cut_to(self, top: float) -> World:
        """The same with grades on a scale that ends lower."""
        return replace(self, grades=np.minimum(self.grades, top), missed=np.fmin(self.missed, top))

    @property
    def relevance(self) -> NDArray[Any]:
        return np.where(self.judged, self.grades, np.nan).astype(self.scores.dtype)

    @property
    def all_grades(self) -> NDArray[Any]:
        own = np.where(self.listed, self.relevance, np.nan)
        return np.concatenate((self.missed, own), axis=1).astype(self.scores.dtype)

    def padded(self) -> dict[str, Any]:
        return {
            "scores": self.scores,
            "relevance": self.relevance,
            "mask": self.listed,
            "all_grades": self.all_grades,
        }

    def ragged(self, order: Any = slice(None)) -> dict[str, Any]:
        """One row for each document; in any order, where that decides no tie."""
        query, column = np.nonzero(self.listed)
        query, column = query[order], column[order]
        return {
            "scores": self.scores[query, column],
            "relevance": self.relevance[query, column],
            "groups": query,
            "n_queries": len(self),
            "all_grades": self.all_grades,
        }

    def dictionaries(self) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
        qrels: dict[str, dict[str, float]] = {}
        run: dict[str, dict[str, float]] = {}
        for q in range(len(self)):
            name = f"q{q:05}"
            columns = np.flatnonzero(self.listed[q]).tolist()
            own = {f"d{i:05}": float(self.grades[q, i]) for i in columns if self.judged[q, i]}
            missed = {f"x{i}": float(grade) for i, grade in enumerate(self.missed[q]) if not np.isnan(grade)}
            qrels[name] = own | missed or {"x": 0.0}  # `evaluate` leaves out a query without judgments
            run[name] = {f"d{i:05}": float(self.scores[q, i]) for i in columns}
        return qrels, run

    def expected(self, measures: Sequence[Measure], **choices: Any) -> NDArray[np.float64]:
        """The scores that `evaluate` gives, a row for each query and a column for each measure."""
        qrels, run = self.dictionaries()
        found = evaluate(qrels, run, measures, **choices).table
        return found.values[np.argsort(found.queries)]


def random_world(
    seed: int, queries: int = 40, documents: int = 9, dtype: Any = np.float64, tied: bool = True, real: bool = False
) -> World:
    """Lists of unequal length, some of them empty, with ties, unjudged documents and relevant ones that are missing."""
    rng = np.random.default_rng(seed)
    shape = (queries, documents)
    apart = rng.permuted(np.arange(queries * documents).reshape(shape), axis=1)
    scores = rng.integers(-3, 4, shape) / 4 if tied else apart
    grades = rng.uniform(-1, 4, shape) if real else rng.choice((-1, 0, 0, 0, 1, 1, 2, 3, 4), shape)
    missed = np.where(rng.random((queries, 3)) < 0.5, rng.integers(0, 5, (queries, 3)), np.nan)
    listed = rng.random(shape) < rng.choice((0, 0.5, 0.9, 1), (queries, 1), p=(0.1, 0.3, 0.3, 0.3))
    judged = rng.random(shape) < rng.choice((0, 0.5, 0.9, 1), (queries, 1))
    grades = grades.astype(dtype)
    return World(scores.astype(dtype), grades, listed, judged, missed.astype(dtype))


def by_scale(measures: Iterable[Measure]) -> dict[float, list[Measure]]:
    """Measures that take the same grades, to be asked for together."""
    found: dict[float, list[Measure]] = {}
    for measure in measures:
        found.setdefault(scale_of(measure), []).append(measure)
    return found


def differences(found: Any, wanted: NDArray[np.float64], measures: Sequence[Measure], most: float) -> dict[str, float]:
    """Measures whose scores are further from those wanted than they may be; sums of gains in proportion."""
    apart = np.abs(np.asarray(found, dtype=np.float64) - wanted) / np.maximum(1.0, np.abs(wanted))
    worst = apart.max(axis=0, initial=0.0)
    return {str(m): float(d) for m, d in zip(measures, worst, strict=True) if not d <= most}


def check(world: World, measures: Sequence[Measure], most: float, *, ragged: Any = None, **choices: Any) -> None:
    """Every score is that of `evaluate`; `ragged` is the order of the documents where they lie one after another."""
    for top, own in by_scale(measures).items():
        cut = world.cut_to(top)
        given = cut.padded() if ragged is None else cut.ragged(ragged)
        result = evaluate_tensors(**given, measures=own, **choices)
        assert differences(result.values, cut.expected(own, **choices), own, most) == {}
