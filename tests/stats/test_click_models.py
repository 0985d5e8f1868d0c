"""Click models: expectations against all hidden states gone through, parameters found again in simulated logs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankgauge.errors import DataError
from rankgauge.stats.click_evidence import positions, relevance_intervals
from rankgauge.stats.click_models import (
    MODELS,
    ClickLog,
    Fitted,
    by_rank_alone,
    click_chances,
    clicks_over_expected,
    coec,
    perplexity,
    rank_perplexities,
)
from rankgauge.stats.click_network import _behind


def log_of(rows: list[list[int]], clicked: list[list[int]], pairs: int) -> ClickLog:
    return ClickLog.of(np.array(rows, dtype=np.int32), np.array(clicked, dtype=bool), pairs)


def hidden_states(a: list[float], s: list[float], g: float, clicked: list[int]) -> tuple[list[float], list[float]]:
    """(P(examined), P(satisfied)) at each rank given the clicks, by the sum over every history."""
    n = len(a)
    total, examined, satisfied = 0.0, [0.0] * n, [0.0] * n
    for attracts, pleases, goes_on in product(product((0, 1), repeat=n), repeat=3):
        chance, looking = 1.0, True
        seen, pleased = [False] * n, [False] * n
        for r in range(n):
            chance *= a[r] if attracts[r] else 1 - a[r]
            chance *= s[r] if pleases[r] else 1 - s[r]
            chance *= g if goes_on[r] else 1 - g
            seen[r] = looking
            click = looking and bool(attracts[r])
            if click != bool(clicked[r]):
                chance = 0.0
                break
            pleased[r] = click and bool(pleases[r])
            looking = looking and not pleased[r] and bool(goes_on[r])
        if chance:
            total += chance
            examined = [e + chance * was for e, was in zip(examined, seen, strict=True)]
            satisfied = [e + chance * was for e, was in zip(satisfied, pleased, strict=True)]
    return [value / total for value in examined], [value / total for value in satisfied]


@pytest.mark.parametrize("clicked", list(product((0, 1), repeat=4)))
def test_the_network_against_every_history(clicked: tuple[int, ...]) -> None:
    a, s, g = [0.3, 0.6, 0.2, 0.7], [0.4, 0.8, 0.5, 0.3], 0.75
    examined, satisfied = hidden_states(a, s, g, list(clicked))
    found = _behind(log_of([[0, 1, 2, 3]], [list(clicked)], 4), np.array(a), np.array(s), g)
    assert found.seen == pytest.approx(examined)
    assert found.satisfied == pytest.approx(satisfied)
    # Who goes on is examined at the next rank; who could was examined and not satisfied.
    assert found.went_on == pytest.approx(sum(examined[1:]))
    assert found.could_go_on == pytest.approx(sum(e - p for e, p in zip(examined[:-1], satisfied[:-1], strict=True)))


def simulated(
    model: str, lists: int, seed: int = 0, beta: tuple[float, float] = (1, 2)
) -> tuple[ClickLog, np.ndarray, np.ndarray, np.ndarray, float]:
    """A log of 20 queries with 12 documents each, 8 of them shown in any order."""
    rng = np.random.default_rng(seed)
    queries, docs, depth, g = 20, 12, 8, 0.85
    a, s = rng.beta(*beta, queries * docs), rng.beta(2, 2, queries * docs)
    t = 1 / np.arange(1, depth + 1) ** 0.7
    order = np.argsort(rng.random((lists, docs)), axis=1)[:, :depth]
    pair = (rng.integers(0, queries, lists)[:, None] * docs + order).astype(np.int32)
    attracts = rng.random(pair.shape) < a[pair]
    examined = rng.random(pair.shape) < t
    if model != "pbm":
        looking = np.ones(lists, dtype=bool)
        for r in range(depth):
            examined[:, r] = looking
            click = looking & attracts[:, r]
            pleased = click & (rng.random(lists) < (1 if model == "cascade" else s[pair[:, r]]))
            looking = looking & ~pleased & ((rng.random(lists) < g) | (model == "cascade"))
    return ClickLog.of(pair, examined & attracts, queries * docs), a, s, t, g


@pytest.mark.parametrize("model", MODELS)
def test_parameters_are_found_again_and_the_right_model_wins(model: str) -> None:
    log, a, s, t, g = simulated(model, 20_000)
    fitted = MODELS[model](log)
    assert np.corrcoef(fitted.attraction, a)[0, 1] > 0.98
    assert float(np.sqrt(((fitted.attraction - a) ** 2).mean())) < 0.05
    if model == "pbm":
        assert fitted.examination == pytest.approx(t, abs=0.06)
    if model == "dbn":
        assert fitted.persistence == pytest.approx(g, abs=0.02)
        often = fitted.seen * fitted.attraction > 100
        assert np.corrcoef(fitted.satisfaction[often], s[often])[0, 1] > 0.8
    training, rest = log.split(0.2)
    held_out = {name: perplexity(fit(training), rest) for name, fit in MODELS.items()}
    assert all(1 < value < 2 for value in held_out.values())
    assert held_out[model] < min(held_out.values()) + 1e-3


def test_lists_that_are_alike_count_as_often_as_they_were_shown() -> None:
    log, *_ = simulated("dbn", 300)
    rows = np.repeat(np.arange(len(log.pair)), log.times.astype(int))
    twice = ClickLog.of(np.tile(log.pair[rows], (2, 1)), np.tile(log.clicked[rows], (2, 1)), log.pairs)
    assert twice.times.sum() == 600
    assert len(twice.pair) == len(log.pair)
    first, second = log.split(0.3)
    assert first.times.sum() + second.times.sum() == 300
    for fit in MODELS.values():
        assert fit(twice, 2.0).attraction == pytest.approx(fit(log, 1.0).attraction, abs=2e-3)


def test_short_lists_and_rare_pairs() -> None:
    """A list may end early; what was never shown has the share of all, what was shown once is near it."""
    log = log_of([[0, 1, -1], [2, -1, -1], [0, 1, 3]] * 30, [[1, 0, 0], [1, 0, 0], [0, 1, 0]] * 30, 5)
    for fit in MODELS.values():
        fitted = fit(log)
        assert np.isfinite(fitted.relevance).all()
        assert 0 < fitted.attraction[4] < 1
        assert fitted.attraction[2] > 0.9  # clicked each time it was shown
        assert fitted.seen[4] == 0
        assert np.isfinite(perplexity(fitted, log))


def test_clicks_over_expected_clicks() -> None:
    """Rank 1 gets 3 clicks of 4, rank 2 gets 1 of 4; pair 0 stood twice at each and got 3."""
    log = log_of([[0, 1], [0, 1], [1, 0], [1, 0]], [[1, 0], [1, 0], [1, 1], [0, 0]], 2)
    ratio, expected = coec(log)
    assert expected == pytest.approx([2.0, 2.0])
    assert ratio == pytest.approx([1.5, 0.5])


def test_tables_of_two_shapes() -> None:
    with pytest.raises(DataError, match="one shape"):
        ClickLog.of(np.zeros((2, 3), dtype=np.int32), np.zeros((2, 2), dtype=bool), 1)


GRID = [*MODELS, "coec"]


def fit(model: str, log: ClickLog, strength: float | None = None) -> Fitted:
    return clicks_over_expected(log, strength) if model == "coec" else MODELS[model](log, strength)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("a", "b"), [(1, 4), (2, 2), (10, 90)])
def test_the_prior_is_found_again(model: str, a: int, b: int) -> None:
    """Attraction is drawn from a beta distribution: its mean and its strength come back."""
    log, *_ = simulated(model, 10_000, seed=3, beta=(a, b))
    prior = fit(model, log).prior
    assert prior.mean == pytest.approx(a / (a + b), rel=0.2)
    assert 0.5 < prior.strength / (a + b) < 2


@pytest.mark.parametrize("lists", [1500, 15_000])
@pytest.mark.parametrize("model", MODELS)
def test_intervals_hold_the_truth_as_often_as_they_say(model: str, lists: int) -> None:
    inside, pairs = 0, 0
    for seed in range(3):
        log, a, s, *_ = simulated(model, lists, seed, beta=(1, 4))
        fitted = fit(model, log)
        low, high = relevance_intervals(fitted)
        truth = a * s if model == "dbn" else a
        use = log.shows >= 10
        inside, pairs = inside + int(((low <= truth) & (truth <= high))[use].sum()), pairs + int(use.sum())
        assert (low <= fitted.relevance).all()
        assert (fitted.relevance <= high).all()
    assert 0.92 < inside / pairs < 0.985


def test_pairs_that_are_all_alike_are_drawn_together() -> None:
    log, *_ = simulated("pbm", 5000, beta=(300, 700))
    for model in GRID:
        fitted = fit(model, log)
        rough = fit(model, log, 1.0)
        assert fitted.attraction.std() < 0.5 * rough.attraction.std()
    few, *_ = simulated("pbm", 100, beta=(1, 4))  # too few to know that: the intervals stay wide
    low, high = relevance_intervals(fit("pbm", few))
    assert np.median(high - low) > 0.1


@pytest.mark.parametrize("model", GRID)
@pytest.mark.parametrize("times", [1, 7, 1000, 10**9])
@pytest.mark.parametrize(
    ("rows", "clicked"),
    [
        ([[0]], [[0]]),  # one list of one document
        ([[0]], [[1]]),
        ([[0, 1, 2]], [[0, 0, 0]]),  # no click at all
        ([[0, 1, 2]], [[1, 1, 1]]),
        ([[0, 1, 2], [0, 1, 2]], [[1, 1, 1], [0, 0, 0]]),
        ([[0, -1, 1], [1, -1, 0]], [[1, 0, 0], [0, 0, 1]]),  # a hole
        ([[-1, -1, 0], [-1, -1, 1]], [[0, 0, 1], [0, 0, 0]]),  # only third ranks
        ([[0, 1, 2], [2, 1, 0]], [[0, 0, 1], [1, 0, 0]]),
    ],
)
def test_extremes_stay_finite(model: str, times: int, rows: list[list[int]], clicked: list[list[int]]) -> None:
    one = log_of(rows, clicked, 4)
    log = ClickLog(one.pair, one.clicked, one.times * times, 4)
    fitted = fit(model, log)
    low, high = relevance_intervals(fitted)
    for values in (fitted.relevance, fitted.satisfaction, fitted.seen, fitted.weight, low, high):
        assert np.isfinite(values).all()
    assert (fitted.weight > 0).all()
    assert ((low >= 0) & (high <= 1)).all()
    chances = click_chances(fitted, log)
    assert np.isfinite(chances).all()
    assert perplexity(fitted, log) >= 1
    if log.times.sum() < 5:  # so little makes nothing certain
        assert (high - low > 0.2).all()


@pytest.mark.parametrize("model", GRID)
@pytest.mark.parametrize("rank", range(4))
def test_another_click_never_lowers_attraction(model: str, rank: int) -> None:
    """A list that is shown 20 times; the more often its document at one rank is clicked, the more it attracts."""
    log, *_ = simulated("pbm", 500, seed=5)
    row = np.array([0, 1, 2, 3, -1, -1, -1, -1], dtype=np.int32)
    found = []
    for clicks in range(0, 21, 2):
        lists = np.tile(row, (20, 1))
        flags = np.zeros(lists.shape, dtype=bool)
        flags[:clicks, rank] = True
        base = np.repeat(np.arange(len(log.pair)), log.times.astype(int))
        pair, clicked = np.concatenate([log.pair[base], lists]), np.concatenate([log.clicked[base], flags])
        found.append(fit(model, ClickLog.of(pair, clicked, log.pairs)).attraction[rank])
    assert (np.diff(found) > -1e-3).all()
    assert found[-1] > found[0] + 0.05


def test_a_hole_moves_nothing_in_models_of_order() -> None:
    """Where a rank shows nothing known, cascade and network go on to the next; ranks stay for the position-based."""
    log, *_ = simulated("dbn", 4000)
    pair = np.insert(log.pair, 2, -1, axis=1)
    clicked = np.insert(log.clicked, 2, False, axis=1)
    holed = ClickLog(pair, clicked, log.times, log.pairs)
    for model in ("cascade", "dbn"):
        whole, other = fit(model, log), fit(model, holed)
        assert other.attraction == pytest.approx(whole.attraction)
        assert other.persistence == pytest.approx(whole.persistence)
        assert np.delete(click_chances(other, holed), 2, axis=1) == pytest.approx(click_chances(whole, log))
    assert holed.closed.pair.tolist() == np.pad(log.pair, ((0, 0), (0, 1)), constant_values=-1).tolist()


def test_a_log_of_second_pages_alone() -> None:
    """The first rank that is shown is what the others are relative to."""
    log, *_ = simulated("pbm", 4000)
    pair, clicked = np.pad(log.pair, ((0, 0), (10, 0)), constant_values=-1), np.pad(log.clicked, ((0, 0), (10, 0)))
    later = ClickLog(pair, clicked, log.times, log.pairs)
    fitted = fit("pbm", later)
    whole = fit("pbm", log)
    assert fitted.examination[10:] == pytest.approx(whole.examination)
    assert fitted.relevance == pytest.approx(whole.relevance)


def test_positions_that_do_not_vary_are_told() -> None:
    log, *_ = simulated("pbm", 2000)
    found = positions(log)
    assert found.identified
    assert found.ranks == 8
    assert found.shows_of_moved > 0.95
    fixed = log_of([[0, 1, 2]] * 50, [[1, 0, 0]] * 50, 3)
    found = positions(fixed)
    assert (found.moved, found.apart, found.identified) == (0, (2, 3), False)
    # The second and third rank exchange documents, the first never does; once is not enough.
    half = log_of([[0, 1, 2], [0, 2, 1]] * 20 + [[1, 0, 2]], [[0, 0, 0]] * 41, 3)
    assert positions(half).apart == (2, 3)
    tied = log_of([[0, 1, 2], [0, 2, 1]] * 20 + [[1, 0, 2]] * 10, [[0, 0, 0]] * 50, 3)
    assert positions(tied).identified


def test_the_click_rate_of_ranks_is_what_models_have_to_beat() -> None:
    """Where all documents attract alike, none predicts held-out clicks better."""
    log, *_ = simulated("pbm", 5000, beta=(3000, 7000))
    training, rest = log.split(0.3)
    alone = perplexity(by_rank_alone(training), rest)
    assert all(perplexity(fit(model, training), rest) > alone - 1e-3 for model in GRID)
    assert rank_perplexities(by_rank_alone(training), rest).shape == (8,)


@pytest.mark.parametrize("confidence", [0, 1, -1, float("nan")])
def test_a_confidence_that_is_none(confidence: float) -> None:
    log, *_ = simulated("pbm", 10)
    with pytest.raises(DataError, match="between 0 and 1"):
        relevance_intervals(fit("pbm", log), confidence)
