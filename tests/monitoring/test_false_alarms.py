"""Unchanged retrievers under watch, of every kind: how many raise a false alarm, and that a fall is still found."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from rankgauge.monitoring.detection.figures import Figures, Watching
from rankgauge.monitoring.detection.rates import Rate
from rankgauge.monitoring.detection.series import Level, Sensitivity
from rankgauge.monitoring.detection.watch import SystemWatch

QUERIES = [f"q{i}" for i in range(8)]
KINDS = ["learnt", "baseline", "stream"]
MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "between 0 and 1": lambda x: np.clip(x, 0, 1),
    "less is better": lambda x: 1 - np.clip(x, 0, 1),
    "gain": lambda x: 20 * x,
    "count": lambda x: 3 * np.round(np.maximum(6 * x, 0)),
    "negative": lambda x: 20 * x - 40,
    "around zero": lambda x: 10 * (x - 0.6),
    "tiny": lambda x: 1e-9 * x,
    "huge": lambda x: 1e12 * x,
}


def checks_of(
    kind: str, measure: str, noise: float, rng: np.random.Generator, fall_after: float = math.inf, fall: float = 0.0
) -> Iterator[Figures]:
    """Without an end. Fixed queries share the noise of a check; a stream has the spread of its new queries, few or
    many of them each time."""
    lower = frozenset({"m"}) if measure == "less is better" else frozenset()
    base = rng.uniform(0.3, 0.9, len(QUERIES))
    number = 0
    while True:
        lost = fall if number > fall_after else 0.0
        if kind == "stream":
            asked = int(rng.integers(1, 2 + 2000 * noise))
            scores = MEASURES[measure](rng.uniform(0.2, 1.0, asked) - lost)
            names = [f"{number}.{i}" for i in range(asked)]
        else:
            scores = MEASURES[measure](base + noise * rng.standard_normal() - lost)
            names = QUERIES
        yield Figures({"m": dict(zip(names, scores.tolist(), strict=True))}, lower, asked=len(names))
        number += 1


def first_alarm(kind: str, found: Iterator[Figures], checks: int) -> int | None:
    """The check that raised the alarm, if any did."""
    watching = Watching(latency=False, slices=False, stream=kind == "stream")
    watch = SystemWatch("s", watching)
    if kind == "baseline":
        watch = SystemWatch.against("s", watching, next(found).scores)
    for number in range(1, checks + 1):
        if any(event.event == "alarm" for event in watch.update(number, next(found))):
            return number
    return None


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_unchanged_retriever_raises_no_alarm_whatever_its_noise_and_measure(kind: str, measure: str) -> None:
    """At most 200 / 10,000 of the monitors may, and half as many again for what the reference leaves open: 1 of 18."""
    rng = np.random.default_rng([len(kind), len(measure)])
    alarms = [
        first_alarm(kind, checks_of(kind, measure, noise, rng), 200) for noise in (0.005, 0.02, 0.05) for _ in range(6)
    ]
    assert len([number for number in alarms if number is not None]) <= 1, alarms


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "tiny"])  # there 0.01 is no small fall
@pytest.mark.parametrize("kind", KINDS)
def test_a_fall_is_found_whatever_the_measure(kind: str, measure: str) -> None:
    rng = np.random.default_rng([len(kind), len(measure), 1])
    delays = []
    for _ in range(3):
        alarm = first_alarm(kind, checks_of(kind, measure, 0.02, rng, 100, 0.25), 140)
        delays.append(math.inf if alarm is None else alarm - 100)
    assert min(delays) > 0
    assert np.median(delays) <= 12


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.2, 0.4])
def test_noise_that_shows_itself_rarely_is_not_taken_for_a_fall(rate: float, held: bool) -> None:
    """A retriever that repeats itself in most checks, and falls, or rises, in a share of them."""
    rng = np.random.default_rng([int(100 * rate), held])
    monitors, alarms = 100, 0
    for monitor in range(monitors):
        moved = (rng.random(151) < rate) * (-0.1 if monitor % 2 else 0.1)
        values = (moved - moved[0]).tolist()
        level = Level(Sensitivity(0.01, threshold=2e4))
        if held:
            level.with_reference()
        pairs = zip(values if not held else values[1:], values, strict=False)
        alarms += any(
            level.update(value, number, same=value == before) is not None
            for number, (value, before) in enumerate(pairs)
        )
    assert alarms <= 0.1 * monitors, alarms


def test_an_error_rate_that_is_allowed() -> None:
    rng = np.random.default_rng(9)
    alarms = 0
    for _ in range(60):
        rate = Rate.allowed(0.01, 2e4)
        alarms += any(rate.update(float(rng.binomial(50, 0.01)) / 50, number) is not None for number in range(500))
    assert alarms <= 3


HARD: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "constant": lambda rng, n: np.full(n, 3.0),
    "zero": lambda rng, n: np.zeros(n),
    "tiny": lambda rng, n: 1e-300 * rng.standard_normal(n),
    "least": lambda rng, n: np.full(n, 5e-324),
    "huge": lambda rng, n: 1e300 * rng.standard_normal(n),
    "largest": lambda rng, n: rng.choice([-1e300, 1e300], n),
    "of all sizes": lambda rng, n: 10 ** rng.uniform(-300, 300, n),
    "binary": lambda rng, n: (rng.random(n) < 0.7).astype(float),
    "sparse": lambda rng, n: 40.0 * (rng.random(n) < 0.02),
    "negative": lambda rng, n: -5 + 0.01 * rng.standard_normal(n),
    "steps": lambda rng, n: np.full(n, float(rng.integers(0, 3))),
}


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("kind", KINDS)
def test_no_figure_is_infinite_or_no_number(kind: str, data: str, lower: bool) -> None:
    """Also where the data turn into others, and what is written down is JSON."""
    rng = np.random.default_rng(len(data))
    watching = Watching(latency=False, slices=False, stream=kind == "stream")

    def found(what: str) -> Figures:
        scores = dict(zip(QUERIES, HARD[what](rng, len(QUERIES)).tolist(), strict=True))
        return Figures({"m": scores}, frozenset({"m"} if lower else ()), asked=len(QUERIES))

    watch = SystemWatch("s", watching)
    if kind == "baseline":
        watch = SystemWatch.against("s", watching, found(data).scores)
    for number in range(1, 61):
        events = watch.update(number, found(data if number <= 45 else ("huge", "tiny", "zero")[number % 3]))
        assert all(
            math.isfinite(value) for event in events for value in (event.finding.before, event.finding.now) if value
        )
        watch = SystemWatch.from_dict(json.loads(json.dumps(watch.to_dict(), allow_nan=False)), watching)
        assert all(
            value is None or math.isfinite(value) for last in watch.last.values() for value in vars(last).values()
        )
