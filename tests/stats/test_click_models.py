"""Click models: expectations against all hidden states gone through, parameters found again in simulated logs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankgauge.errors import DataError
from rankgauge.stats.click_models import MODELS, ClickLog, _behind, coec, perplexity


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


def simulated(model: str, lists: int, seed: int = 0) -> tuple[ClickLog, np.ndarray, np.ndarray, np.ndarray, float]:
    """A log of 20 queries with 12 documents each, 8 of them shown in any order."""
    rng = np.random.default_rng(seed)
    queries, docs, depth, g = 20, 12, 8, 0.85
    a, s = rng.beta(1, 2, queries * docs), rng.beta(2, 2, queries * docs)
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
