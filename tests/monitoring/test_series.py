"""Figures over checks: learning, exact retrievers, noise, streams, limits, and what is written down between checks."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from rankgauge.monitoring.detection.rates import Rate, Threshold
from rankgauge.monitoring.detection.series import Level, Sensitivity
from rankgauge.monitoring.detection.streams import Stream

SENSITIVE = Sensitivity(0.01, threshold=1e5)


def reloaded(series):  # type: ignore[no-untyped-def]
    """As after a restart."""
    return msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(series))), type(series))


def feed(level: Level, values: list[float], first: int = 1, last: float | None = None) -> list[tuple[int, str, int]]:
    """All changes with the check they came at; the series is written down and read back before each check."""
    found = []
    for number, value in enumerate(values, start=first):
        for name, value_ in msgspec.structs.asdict(reloaded(level)).items():
            setattr(level, name, value_)
        change = level.update(value, number, same=None if last is None else value == last)
        last = value
        if change is not None:
            found.append((number, change.event, change.began))
    return found


@pytest.mark.parametrize(("quiet", "needed"), [(3, 3), (5, 3), (6, 2), (500, 2)])
def test_an_exact_retriever_is_known_after_three_checks_and_a_fall_that_stays_shows_soon(
    quiet: int, needed: int
) -> None:
    """The longer it has repeated itself, the fewer fallen checks rule out noise that had not shown itself."""
    level = Level(SENSITIVE)
    assert feed(level, [0.0] * quiet) == []
    assert level.phase == "exact"
    assert feed(level, [-0.02] * 30, quiet + 1, 0.0) == [(quiet + needed, "alarm", quiet + 1)]
    assert level.alarmed
    back = quiet + 31
    assert feed(level, [0.0] * 30, back, -0.02) == [(back + 1, "recovered", back)]
    assert level.phase == "exact"


def test_a_single_fallen_check_of_an_exact_retriever_is_noise_and_is_learned_as_noise() -> None:
    level = Level(SENSITIVE)
    assert feed(level, [0.0] * 100 + [-0.3] + [0.0]) == []
    assert level.phase == "provisional"
    assert -0.3 in level.learned
    assert feed(level, [0.0] * 3, 103, 0.0) == []  # equal to each other, but not to the fall before
    assert level.phase == "provisional"


def test_a_rise_or_a_small_fall_is_no_alarm() -> None:
    level = Level(SENSITIVE)
    assert feed(level, [0.0] * 5 + [0.2] * 50 + [-0.009] * 200) == []


def test_a_fall_does_not_become_the_norm() -> None:
    """The noise is learned anew, the point it is held against is not: the fall stays an incident until it is mended."""
    level = Level(SENSITIVE)
    found = feed(level, [0.0] * 5 + [-0.05] * 500 + [0.0] * 10)
    assert [event for _, event, _ in found] == ["alarm", "recovered"]
    assert found[0] == (8, "alarm", 6)
    assert found[1] == (507, "recovered", 506)


def test_a_noisy_retriever_is_learned_and_a_fall_is_found_with_its_beginning() -> None:
    rng = np.random.default_rng(8)
    level = Level(SENSITIVE)
    assert feed(level, (0.004 * rng.standard_normal(400)).tolist()) == []
    assert level.phase == "watching"
    found = feed(level, (-0.04 + 0.004 * rng.standard_normal(30)).tolist(), 401)
    assert found[0][1] == "alarm"
    assert found[0][0] <= 406
    assert found[0][2] in (401, 402)


def test_one_wild_check_of_a_noisy_retriever_is_no_alarm() -> None:
    rng = np.random.default_rng(9)
    level = Level(SENSITIVE)
    values = (0.004 * rng.standard_normal(200)).tolist()
    values[100] = -0.9
    assert feed(level, values) == []


def test_a_fall_from_a_baseline_is_found_as_soon_as_the_noise_is_known() -> None:
    exact = Level(SENSITIVE).with_reference()
    assert feed(exact, [-0.05] * 10) == [(6, "alarm", 1)]
    assert feed(exact, [0.0] * 10, 11, -0.05)[0] == (12, "recovered", 11)
    within = Level(SENSITIVE).with_reference()
    assert feed(within, [-0.005] * 10) == []
    assert within.phase == "exact"
    assert feed(within, [-0.02] * 10, 11, -0.005)[0] == (12, "alarm", 11)
    rng = np.random.default_rng(5)
    noisy = Level(SENSITIVE).with_reference()
    found = feed(noisy, (-0.05 + 0.005 * rng.standard_normal(40)).tolist())
    assert found[0][1:] == ("alarm", 21)
    assert found[0][0] <= 30


def test_an_exact_retriever_that_becomes_noisy_is_learned_without_a_storm() -> None:
    rng = np.random.default_rng(10)
    level = Level(SENSITIVE)
    found = feed(level, [0.0] * 10 + (0.004 * rng.standard_normal(1000)).tolist())
    assert len(found) <= 2
    assert level.phase == "watching"


def test_a_stream_learns_its_level_and_finds_a_fall() -> None:
    rng = np.random.default_rng(3)
    stream = Stream(SENSITIVE)
    changes = []
    for number in range(1, 301):
        level = 0.8 if number <= 150 else 0.6
        change = stream.update((rng.random(10) < level).astype(float).tolist(), number)
        stream = reloaded(stream)
        if change is not None:
            changes.append((number, change))
    assert changes
    assert changes[0][1].event == "alarm"
    assert 150 < changes[0][0] < 200
    assert 140 < changes[0][1].began <= 165


@pytest.mark.parametrize("learned", [0.0, 1.0])
def test_a_stream_at_the_edge(learned: float) -> None:
    stream = Stream(SENSITIVE)
    for number in range(1, 40):
        assert stream.update([learned] * 10, number) is None
    assert stream.phase == "watching"
    for number in range(40, 140):  # failures in 1 % of the queries, which 200 queries may well not show
        assert stream.update([learned * (number % 10 > 0)] + [learned] * 9, number) is None
    if learned == 1.0:
        assert any(stream.update([0.0] * 10, number) for number in range(140, 145))


def test_a_check_of_a_stream_is_one_step_of_evidence_and_few_queries_count_for_less() -> None:
    rng = np.random.default_rng(4)
    stream = Stream(SENSITIVE)
    for number in range(1, 21):
        stream.update((rng.random(40) < 0.7).astype(float).tolist(), number)
    once, repeated, few = reloaded(stream), reloaded(stream), reloaded(stream)
    once.update([0.0, 1.0] * 20, 21)
    repeated.update([0.0, 1.0] * 2000, 21)
    few.update([0.0, 1.0], 21)
    assert once.detector.logs == repeated.detector.logs
    assert few.detector.evidence < once.detector.evidence


def test_an_incident_is_never_learned_as_noise() -> None:
    """A second fall and a second recovery are found like the first ones, whatever the first incident looked like."""
    level = Level(SENSITIVE)
    first = [-0.06, *[-0.33] * 9, -0.15]
    found = feed(level, [0.0] * 24 + first + [0.0] * 12 + [-0.5] * 10 + [0.0] * 15)
    assert [event for _, event, _ in found] == ["alarm", "recovered"] * 2
    assert [number for number, _, _ in found][::2] == [26, 49]
    assert found[3][0] <= 62


def test_noise_is_never_taken_as_smaller_than_it_was() -> None:
    """A figure that swings by itself raises no alarm, however far it does."""
    level = Level(SENSITIVE)
    assert feed(level, [0.0, -0.9] * 200) == []
    assert level.phase == "watching"


def test_errors_that_are_over_are_over() -> None:
    rate = Rate.allowed(0.01, 1e5)
    said = []
    for number in range(1, 61):
        if change := rate.update(0.04 if 10 < number <= 40 else 0.0, number):
            said.append((change.event, number, change.began))
        rate = reloaded(rate)
    assert [event for event, _, _ in said] == ["alarm", "recovered"]
    assert said[0][2] in (10, 11)
    assert rate.since(said[0][2]) > 0
    assert said[1][1:] == (43, 41)


def test_errors_above_what_is_allowed() -> None:
    rng = np.random.default_rng(2)
    rate = Rate.allowed(0.01, 1e5)
    for number in range(1, 2001):  # a failing query now and then is allowed
        assert rate.update(float(rng.random() < 0.3) / 60, number) is None
    change = None
    for number in range(2001, 2030):
        change = change or rate.update(0.04, number)
        rate = reloaded(rate)
    assert change is not None
    assert change.event == "alarm"


def test_a_plain_limit() -> None:
    limit = Threshold()
    said = []
    for number, crossed in enumerate([False, True, True, False, True, False, False, False], start=1):
        if change := limit.update(crossed, number):
            said.append((number, *change))
        limit = reloaded(limit)
    assert said == [(2, "alarm", 2), (7, "recovered", 6)]


def test_a_figure_that_swings_around_its_limit_rings_less_and_less() -> None:
    rng = np.random.default_rng(6)
    limit = Threshold()
    alarms = [
        number for number in range(1, 401) if (c := limit.update(bool(rng.random() < 0.3), number)) and c[0] == "alarm"
    ]
    assert len(alarms) <= 6
    for number in range(401, 1000):
        limit.update(False, number)
    limit.update(True, 1000)
    assert [limit.update(False, 1001), limit.update(False, 1002)] == [None, ("recovered", 1001)]
