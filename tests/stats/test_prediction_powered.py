"""Means from a model's labels and a sample of people's: definitions, limits, and coverage by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankgauge.errors import DataError
from rankgauge.stats.intervals import mean_interval
from rankgauge.stats.prediction_powered import LEAST_CHECKED, checks_needed, prediction_powered


def world(
    rng: np.random.Generator, queries: int, right: float, bias: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores by people and by a model that is right on a share of the queries, and off by `bias` on all."""
    people = np.where(rng.random(queries) < 0.15, 0.0, rng.beta(0.8, 0.8, queries))
    model = np.where(rng.random(queries) < right, people, rng.beta(0.8, 0.8, queries)) + bias
    return people, np.clip(model, 0, 1)


def sampled(rng: np.random.Generator, people: np.ndarray, n: int) -> np.ndarray:
    seen = np.full(len(people), np.nan)
    chosen = rng.choice(len(people), n, replace=False)
    seen[chosen] = people[chosen]
    return seen


@pytest.mark.parametrize("n", [10, 20, 60])
@pytest.mark.parametrize(("right", "bias"), [(0.0, 0.0), (0.5, 0.2), (0.9, 0.1)])
def test_intervals_hold_whatever_the_model_does(n: int, right: float, bias: float) -> None:
    rng = np.random.default_rng(n)
    truth = world(rng, 400_000, right, bias)[0].mean()
    held = narrower = 0.0
    for _ in range(250):
        people, model = world(rng, 300, right, bias)
        found = prediction_powered(model, sampled(rng, people, n), bounds=(0, 1))
        held += found.interval.low <= truth <= found.interval.high
        assert found.people is not None
        narrower += (found.interval.high - found.interval.low) / (found.people.high - found.people.low)
    assert held / 250 > 0.91
    assert narrower / 250 < {0.0: 1.08, 0.5: 0.97, 0.9: 0.75}[right]


def test_the_model_alone_would_be_wrong() -> None:
    rng = np.random.default_rng(0)
    people, model = world(rng, 2000, 0.7, 0.3)
    found = prediction_powered(model, sampled(rng, people, 100), bounds=(0, 1))
    assert found.judge > found.interval.high
    assert found.judge - found.bias == pytest.approx(people.mean(), abs=0.08)
    assert found.bias_interval is not None
    assert found.bias_interval.low > 0


def test_limits() -> None:
    """A model that says nothing adds nothing; with all queries checked it is the mean of them."""
    rng = np.random.default_rng(1)
    people = rng.random(200)
    silent = prediction_powered(np.full(200, 0.5), sampled(rng, people, 50), bounds=(0, 1))
    assert silent.reliance == 0
    assert silent.people is not None
    assert silent.interval.high - silent.interval.low == pytest.approx(
        silent.people.high - silent.people.low, rel=0.02
    )
    whole = prediction_powered(rng.random(200), people, bounds=(0, 1))
    plain = mean_interval(people, bounds=(0, 1))
    assert plain is not None
    assert whole.value == pytest.approx(people.mean())
    assert whole.interval.low == pytest.approx(plain.low, abs=0.002)
    perfect = prediction_powered(people, sampled(rng, people, 50), bounds=(0, 1))
    assert perfect.value == pytest.approx(people.mean())
    assert perfect.interval.low < perfect.value < perfect.interval.high  # 50 right answers do not prove all right


def test_strata_are_weighed_by_their_queries() -> None:
    rng = np.random.default_rng(2)
    stratum = np.repeat([0, 1], [900, 100])
    truth, held = 0.9 * 0.2 + 0.1 * 0.8, 0
    for _ in range(300):
        people = np.clip(np.where(stratum == 0, 0.2, 0.8) + rng.normal(0, 0.15, 1000), 0, 1)
        model = np.clip(people + rng.normal(0.05, 0.2, 1000), 0, 1)
        seen = np.full(1000, np.nan)
        for own in (0, 1):  # as many of the small one as of the large
            chosen = rng.choice(np.flatnonzero(stratum == own), 15, replace=False)
            seen[chosen] = people[chosen]
        found = prediction_powered(model, seen, stratum, bounds=(0, 1))
        held += found.interval.low <= truth + 0.002 <= found.interval.high
    assert held / 300 > 0.91


def test_how_many_checks_would_settle_it() -> None:
    rng = np.random.default_rng(3)
    people = rng.normal(0.03, 0.15, 2000)
    model = people + rng.normal(0, 0.1, 2000)
    found = prediction_powered(model, sampled(rng, people, 30), bounds=(-1, 1))
    needed = checks_needed(found)
    assert needed is not None
    assert found.error(needed) < found.error(LEAST_CHECKED)
    errors = [found.error(n) for n in range(10, 2001, 10)]
    assert all(math.isfinite(error) for error in errors)
    assert errors == sorted(errors, reverse=True)
    hopeless = prediction_powered(rng.normal(0, 0.2, 50), sampled(rng, rng.normal(0, 0.2, 50), 20), bounds=(-1, 1))
    assert checks_needed(hopeless) is None or abs(hopeless.value) > 0.03


@pytest.mark.parametrize(
    ("model", "people", "words"),
    [
        (np.zeros(20), np.r_[np.zeros(9), np.full(11, np.nan)], "people checked 9 queries"),
        (np.zeros(20), np.zeros(19), "about the same queries"),
        (np.r_[np.nan, np.zeros(19)], np.zeros(20), "finite score"),
    ],
)
def test_mistakes(model: np.ndarray, people: np.ndarray, words: str) -> None:
    with pytest.raises(DataError, match=words):
        prediction_powered(model, people)
