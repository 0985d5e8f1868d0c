"""The detector against simulations: how often it cries wolf, how long it takes, and that it never grows deaf."""

from __future__ import annotations

import json
import math

import msgspec
import numpy as np
import pytest

from rankgauge.errors import DataError
from rankgauge.stats.sequential import Bounded, Detector, NoiseModel, advance, evidence, learn_noise, rare_noise

THRESHOLD = 1e4
REFERENCE = 20


def noisy(rng: np.random.Generator, checks: int, rho: float, kind: str, series: int = 300) -> np.ndarray:
    """Standardised noise, a row for each series, with lag-1 autocorrelation rho."""
    shape = (series, REFERENCE + checks)
    fresh = {
        "normal": lambda: rng.standard_normal(shape),
        "heavy": lambda: rng.standard_t(4, shape) / math.sqrt(2),
        "skewed": lambda: 1 - rng.exponential(1, shape),
    }[kind]()
    noise = np.empty(shape)
    noise[:, 0] = fresh[:, 0]
    for t in range(1, shape[1]):
        noise[:, t] = rho * noise[:, t - 1] + math.sqrt(1 - rho * rho) * fresh[:, t]
    return noise


def first_alarms(values: np.ndarray, tolerance: float) -> np.ndarray:
    """For each row, the look after the reference that raises the alarm, or -1."""
    found = np.full(len(values), -1)
    for row, series in enumerate(values):
        reference, rest = series[:REFERENCE], series[REFERENCE:]
        noise = learn_noise(reference, tolerance, threshold=THRESHOLD)
        steps = noise.increments(rest - reference.mean())
        logs = np.zeros(steps.shape[1])
        for t, step in enumerate(steps):
            logs = advance(logs, step)
            if logs.max() > 5 and evidence(logs) >= math.log(THRESHOLD):
                found[row] = t
                break
    return found


@pytest.mark.parametrize(
    ("kind", "rho", "tolerance"),
    [
        ("normal", 0.0, 0.0),
        ("normal", 0.3, 0.0),
        ("normal", 0.6, 0.0),
        ("heavy", 0.0, 0.0),
        ("heavy", 0.6, 0.0),
        ("skewed", 0.0, 0.0),
        ("skewed", 0.3, 0.0),
        # Where successive checks hang together still more, the tolerance has to be of the noise's own size.
        ("skewed", 0.6, 1.0),
        ("normal", 0.9, 1.0),
    ],
)
def test_false_alarms_of_a_noisy_retriever_stay_below_the_stated_figure(
    kind: str, rho: float, tolerance: float
) -> None:
    """In 1,000 checks, reference checks and their error included, at most 1,000 / 10,000 of the monitors may alarm."""
    rng = np.random.default_rng([7, int(10 * rho), len(kind)])
    alarms = first_alarms(0.005 * noisy(rng, 1000, rho, kind), 0.005 * tolerance)
    share = float((alarms >= 0).mean())
    assert share <= 0.1 + 1.64 * math.sqrt(0.1 * 0.9 / len(alarms)), share


def test_the_limit_of_the_assumption_is_real() -> None:
    """Strong autocorrelation without any tolerance does exceed the figure: the documentation must say so."""
    alarms = first_alarms(0.005 * noisy(np.random.default_rng(3), 1000, 0.9, "normal"), 0.0)
    assert (alarms >= 0).mean() > 0.1


@pytest.mark.parametrize("quiet", [0, 10_000])
def test_a_drop_is_found_as_fast_after_a_long_quiet_time(quiet: int) -> None:
    """A drop of five noise deviations beyond the tolerance: within 5 checks, half of the time, also after 10,000."""
    rng = np.random.default_rng(quiet)
    series = 40
    noise = 0.005 * rng.standard_normal((series, quiet + 60))
    noise[:, quiet:] -= 0.035
    delays = []
    for row in noise:
        reference = 0.005 * rng.standard_normal(REFERENCE)
        learned = learn_noise(reference, 0.01, threshold=THRESHOLD)
        detector = Detector(learned, THRESHOLD)
        logs = np.zeros(5)
        for step in learned.increments(row[:quiet] - reference.mean()):
            logs = advance(logs, step)
        assert evidence(logs) < math.log(THRESHOLD)
        detector.logs, detector.began = logs.tolist(), [1] * 5
        for look, x in enumerate(row[quiet:] - reference.mean(), start=quiet + 1):
            if change := detector.update(float(x), look):
                assert change.event == "alarm"
                assert quiet - 2 <= change.began <= quiet + 3
                delays.append(look - quiet)
                break
    assert len(delays) == series
    assert np.median(delays) <= 5
    assert max(delays) <= 20


def test_the_average_run_length_is_at_least_the_threshold() -> None:
    """With the noise known exactly and no tolerance, the worst case: the mean time to a false alarm."""
    rng = np.random.default_rng(5)
    threshold, noise = 200.0, NoiseModel(1.0, 0.0)
    logs, times = np.zeros((400, 5)), np.full(400, 5000.0)
    running = np.ones(400, bool)
    for t in range(1, 5001):
        logs = advance(logs, noise.increments(rng.standard_normal(400)))
        hit = running & (evidence(logs) >= math.log(threshold))
        times[hit] = t
        running &= ~hit
    assert times.mean() >= threshold
    assert times.mean() <= 40 * threshold  # and it is not simply deaf


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95])
def test_a_stream_of_judged_queries(share: float) -> None:
    """Yes-or-no scores of queries from traffic: few false alarms in 5,000 queries, a drop of 0.15 is found."""
    rng = np.random.default_rng(int(100 * share))
    noise = Bounded(share)
    series = 200
    logs = np.zeros((series, 6))
    false = np.zeros(series, bool)
    for _ in range(5000):
        logs = advance(logs, noise.increments((rng.random(series) < share).astype(float)))
        false |= evidence(logs) >= math.log(1e5)
    assert false.mean() <= 5000 / 1e5 + 1.64 * math.sqrt(0.05 * 0.95 / series)
    delays = np.full(series, -1)
    for t in range(1, 3001):
        logs = advance(logs, noise.increments((rng.random(series) < share - 0.15).astype(float)))
        delays[(delays < 0) & (evidence(logs) >= math.log(1e5))] = t
    assert (delays > 0).all()
    assert np.median(delays) < 450


def test_correlated_scores_of_a_stream_are_allowed_as_long_as_the_expectation_holds() -> None:
    """A score may depend on the past in any way that leaves its expectation, given the past, where it was."""
    rng = np.random.default_rng(11)
    series, noise = 200, Bounded(0.6)
    logs, last, false = np.zeros((series, 6)), np.zeros(series), np.zeros(series, bool)
    for _ in range(3000):
        spread = np.where(last < 0.6, 0.4, 0.05)  # volatile after a bad one; the expectation is 0.6 all the time
        last = 0.6 + spread * rng.choice([-1, 1], series)
        logs = advance(logs, noise.increments(last))
        false |= evidence(logs) >= math.log(1e5)
    assert false.mean() <= 0.08


@pytest.mark.parametrize("draw", ["normal", "heavy", "skewed", "two values", "rare falls"])
@pytest.mark.parametrize("recovery", [False, True])
def test_no_bet_expects_to_win_whatever_the_distribution(draw: str, recovery: bool) -> None:
    """E L <= 1 with mean 0 and standard deviation 1, and with any mean on the good side."""
    rng = np.random.default_rng(len(draw))
    n = 400_000
    x = {
        "normal": lambda: rng.standard_normal(n),
        "heavy": lambda: rng.standard_t(5, n) / math.sqrt(5 / 3),
        "skewed": lambda: 1 - rng.exponential(1, n),
        "two values": lambda: rng.choice([-1.0, 1.0], n),
        "rare falls": lambda: (0.01 - (rng.random(n) < 0.01)) / math.sqrt(0.0099),
    }[draw]()
    for good in (0.0, 0.3, 3.0, 1000.0):
        factors = np.exp(NoiseModel(1.0, 0.0).increments(x - good if recovery else x + good, recovery=recovery))
        error = factors.std(axis=0) / math.sqrt(n)
        assert (factors.mean(axis=0) <= 1 + 4 * error).all()


def test_a_value_of_less_precision_counts_for_less() -> None:
    whole, half = (NoiseModel(1.0, 0.0).increments(-3.0, precision=p) for p in (1.0, 0.5))
    assert (half < whole).all()
    assert (NoiseModel(1.0, 0.0).increments(-1.5) == half).all()


def test_rare_noise_is_bounded_by_its_worst_rate() -> None:
    rates = np.linspace(0, 1, 100_001)
    for odd, equal in ((1, 3), (2, 3), (1, 9), (3, 1), (5, 40)):
        assert rare_noise(odd, equal) == pytest.approx((rates**odd * (1 - rates) ** equal).max(), rel=1e-6)


def test_noise_takes_two_checks_at_least() -> None:
    noise = learn_noise(0.01 * np.random.default_rng(1).standard_normal(20), 0.01)
    for fall in (-1.0, -1e300):
        detector = Detector(noise, THRESHOLD)
        assert detector.update(fall, 1) is None
        assert detector.update(fall, 2) == ("alarm", 1)


def test_the_state_survives_being_written_down() -> None:
    rng = np.random.default_rng(2)
    for noise in (learn_noise(0.01 * rng.standard_normal(20), 0.005), Bounded(0.8)):
        one, other = Detector(noise, 50.0), Detector(noise, 50.0)
        for look in range(1, 200):
            x = float(np.clip(0.8 + 0.3 * rng.standard_normal(), 0, 1)) if isinstance(noise, Bounded) else 0.02
            other = msgspec.convert(json.loads(json.dumps(msgspec.to_builtins(other))), Detector)
            assert one.update(x, look) == other.update(x, look)
            assert one == other


def test_positive_correlation_widens_the_scale() -> None:
    rng = np.random.default_rng(4)
    free = learn_noise(noisy(rng, 0, 0.0, "normal", 1)[0], 0.0)
    bound = learn_noise(np.repeat(rng.standard_normal(10), 2), 0.0)
    assert free.correlation < 0.5 < bound.correlation + 0.2
    assert bound.scale > 1.5


def test_bad_values() -> None:
    with pytest.raises(DataError, match="at least 3"):
        learn_noise(np.array([0.1, 0.2]), 0.01)
    with pytest.raises(DataError, match="between 0 and 1"):
        Bounded(1.0)
    with pytest.raises(DataError, match="check 3"):
        Detector(Bounded(0.5), 10.0).update(math.nan, 3)


def test_noise_that_a_few_checks_make_is_taken_as_wider() -> None:
    """One check of 160 that fell: its share of all checks may well be several times as large as it was here."""
    few = np.zeros(160)
    few[70] = -0.1
    many = np.random.default_rng(6).normal(0, few.std(), 160)
    assert learn_noise(few, 0.0).scale > 1.6 * few.std()
    assert learn_noise(many, 0.0).scale < 1.3 * many.std()
