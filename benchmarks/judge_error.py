"""Coverage of the intervals that a judge's labels and a checked sample give: by size of the sample, noise and bias.

A world of queries with documents, their grades by people, two systems, and a judge that is off by noise and bias;
nDCG@10 and AP of both systems are scored under both kinds of labels. Then many times: some of its queries are a test
set, a sample of them is drawn and checked, and the interval holds the truth, which is the mean of the world, or not.

    python benchmarks/judge_error.py [repetitions]

prints a table in Markdown: what share of the intervals that claim 95 % hold, and how wide they are beside those of the
checked queries alone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from rankgauge.evaluation import make_plan
from rankgauge.model.run import Run
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.prediction_powered import prediction_powered
from rankgauge.testsets.rescoring import ScoredRuns

DOCS, TEST_SET = 20, 200
SIZES = (10, 20, 40, 80)
MEASURES = ("nDCG@10", "AP")


@dataclass(frozen=True)
class Judge:
    """How often a label is drawn anew, at random, how often it is a grade higher, and how often all labels of a query
    are turned round."""

    noise: float
    bias: float
    rare: float = 0.0


JUDGES = {
    "good": Judge(0.1, 0.0),
    "noisy": Judge(0.5, 0.0),
    "lenient": Judge(0.2, 0.4),
    "useless": Judge(1.0, 0.0),
    "rarely all wrong": Judge(0.0, 0.0, 0.03),
    "good, rarely all wrong": Judge(0.1, 0.0, 0.03),
}
World = dict[str, tuple[np.ndarray, np.ndarray]]
"""By measure, and of the difference: the scores by the judge and by people."""


def worlds(queries: int, seed: int = 0) -> dict[str, World]:
    """Of each judge, the same queries scored by both kinds of labels."""
    rng = np.random.default_rng(seed)
    hard = rng.beta(1.2, 1.5, queries)[:, None]
    grades = rng.binomial(3, np.clip(rng.beta(0.5, 1.5, (queries, DOCS)) * (0.4 + hard), 0, 1))
    systems = {
        name: grades * right + rng.normal(0, 1 + 2 * hard, grades.shape) for name, right in (("a", 0.7), ("b", 1.0))
    }
    ids = [f"q{i}" for i in range(queries)]
    runs = {
        name: Run({q: dict(zip(_DOCS, row, strict=True)) for q, row in zip(ids, scores.tolist(), strict=True)})
        for name, scores in systems.items()
    }
    scored = ScoredRuns(runs, make_plan(MEASURES))
    people = scored.under(_labels(ids, grades), ids)
    found = {}
    for name, judge in JUDGES.items():
        anew = rng.permuted(grades.ravel()).reshape(grades.shape)
        drawn = np.where(rng.random(grades.shape) < judge.noise, anew, grades)
        drawn = np.minimum(3, drawn + (rng.random(grades.shape) < judge.bias))
        drawn = np.where(rng.random((queries, 1)) < judge.rare, 3 - drawn, drawn)
        own = scored.under(_labels(ids, drawn), ids)
        world: World = {}
        for j, measure in enumerate(MEASURES):
            world[measure] = own["b"][:, j], people["b"][:, j]
            world[f"{measure}, b - a"] = (own["b"] - own["a"])[:, j], (people["b"] - people["a"])[:, j]
        found[name] = world
    return found


_DOCS = [f"d{i}" for i in range(DOCS)]


def _labels(ids: list[str], grades: np.ndarray) -> dict[str, dict[str, float]]:
    return {q: dict(zip(_DOCS, map(float, row), strict=True)) for q, row in zip(ids, grades.tolist(), strict=True)}


@dataclass(frozen=True)
class Found:
    """Shares of the repetitions."""

    held: float
    """The interval holds the truth."""
    judge_held: float
    """The interval by the judge's labels alone does."""
    width: float
    """Beside that of the checked queries alone."""


def coverage(
    judge: np.ndarray, people: np.ndarray, n: int, repetitions: int, *, strata: int = 1, difference: bool, seed: int = 0
) -> Found:
    """Of test sets of 200 queries, of which n are checked, in so many strata by the judge's score."""
    rng = np.random.default_rng(seed)
    truth, bounds = people.mean(), (-1.0, 1.0) if difference else (0.0, 1.0)
    held = judged = 0
    widths = []
    for _ in range(repetitions):
        chosen = rng.choice(len(judge), TEST_SET, replace=False)
        f, y = judge[chosen], people[chosen]
        place = np.empty(TEST_SET, dtype=np.int64)
        place[np.argsort(f, kind="stable")] = np.arange(TEST_SET)
        stratum = place * strata // TEST_SET
        seen = np.full(TEST_SET, np.nan)
        for own in range(strata):
            checked = rng.choice(np.flatnonzero(stratum == own), n // strata, replace=False)
            seen[checked] = y[checked]
        found = prediction_powered(f, seen, stratum, bounds=bounds)
        held += found.interval.low <= truth <= found.interval.high
        alone = mean_interval(f, bounds=bounds, shares=False)
        judged += alone is not None and alone.low <= truth <= alone.high
        plain = mean_interval(seen[~np.isnan(seen)], bounds=bounds, shares=False)
        if plain is not None:
            widths.append((found.interval.high - found.interval.low) / (plain.high - plain.low))
    return Found(held / repetitions, judged / repetitions, float(np.mean(widths)))


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    made = worlds(20_000)
    print("| judge | what | correlation | " + " | ".join(f"{n} checked" for n in SIZES) + " | judge alone |")
    print("|---|---|---|" + "---|" * (len(SIZES) + 1))
    for name, world in made.items():
        for what, (judge, people) in world.items():
            found = [
                coverage(judge, people, n, repetitions, strata=min(4, n // 5), difference="-" in what) for n in SIZES
            ]
            cells = [f"{one.held:.3f} ({one.width:.2f})" for one in found]
            r = np.corrcoef(judge, people)[0, 1]
            print(f"| {name} | {what} | {r:.2f} | " + " | ".join(cells) + f" | {found[0].judge_held:.2f} |", flush=True)


if __name__ == "__main__":
    main()
