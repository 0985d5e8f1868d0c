"""Agreement of raters, against the libraries that compute it, published figures, and simulation."""

from __future__ import annotations

from pathlib import Path

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from rankgauge.errors import DataError
from rankgauge.stats.raters import COEFFICIENTS, Ratings, coefficient

PAIRS = [name for name in COEFFICIENTS if name.startswith("cohen")]


def drawn(seed: int, items: int = 40, raters: int = 4, right: float = 0.6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, items)
    columns = [np.where(rng.random(items) < right, truth, rng.integers(0, 4, items)) for _ in range(raters)]
    return np.stack(columns, axis=1).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_two_raters_as_scikit_learn(seed: int) -> None:
    grades = drawn(seed, raters=2)
    for name, weights in zip(PAIRS, (None, "linear", "quadratic"), strict=True):
        expected = cohen_kappa_score(grades[:, 0], grades[:, 1], weights=weights)
        assert coefficient(name, Ratings(grades)).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_many_raters_as_statsmodels_and_krippendorff(seed: int) -> None:
    grades = drawn(seed)
    assert coefficient("fleiss_kappa", Ratings(grades)).value == pytest.approx(fleiss_kappa(Ratings(grades).counts))
    grades[np.random.default_rng(seed).random(grades.shape) < 0.15] = np.nan
    for level in ("nominal", "ordinal", "interval"):
        name = "krippendorff_alpha" + ("" if level == "nominal" else f"_{level}")
        expected = krippendorff.alpha(grades.T, level_of_measurement=level)
        assert coefficient(name, Ratings(grades)).value == pytest.approx(expected, abs=1e-10)


def test_gwets_coefficients_by_their_definition() -> None:
    """Worked by hand: 4 items, 3 raters, categories 0 and 1 with p = 7/12 and 5/12, observed agreement 2/3."""
    grades = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0]], dtype=float)
    p = 7 / 12
    expected = (2 / 3 - 2 * p * (1 - p)) / (1 - 2 * p * (1 - p))
    assert coefficient("gwet_ac1", Ratings(grades)).value == pytest.approx(expected)
    assert coefficient("gwet_ac2", Ratings(grades)).value == pytest.approx(expected)  # two categories: no nearer ones


@pytest.mark.needs("data")
def test_published_figures_of_an_llm_judge(data: Path) -> None:
    """LLMJudge benchmark, willia-umbrela1: kappa .2863, ordinal alpha .4918. By pairs the interval looks far narrower
    than it is: 25 queries were judged, not 4,423."""
    grades, queries = judge(data, "willia-umbrela1")
    ratings = Ratings(grades, queries)
    assert round(coefficient("cohen_kappa", ratings).value or 0, 4) == 0.2863
    assert round(coefficient("krippendorff_alpha_ordinal", ratings).value or 0, 4) == 0.4918
    by_query = coefficient("cohen_kappa", ratings).interval
    by_pair = coefficient("cohen_kappa", Ratings(grades)).interval
    assert by_query is not None
    assert by_pair is not None
    assert by_query.high - by_query.low > 4 * (by_pair.high - by_pair.low)


def judge(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    def read(path: Path) -> dict[tuple[str, str], float]:
        rows = (line.split() for line in path.read_text().splitlines() if line.strip())
        return {(query, doc): float(grade) for query, _, doc, grade in rows}

    people, model = (read(data / "llmjudge" / path) for path in ("human.qrels.txt", f"submissions/{name}.txt"))
    pairs = [pair for pair in people if pair in model]
    grades = np.array([[people[pair], model[pair]] for pair in pairs])
    return grades, np.unique([query for query, _ in pairs], return_inverse=True)[1]


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_limits(name: str) -> None:
    perfect = coefficient(name, Ratings(np.array([[0, 0], [1, 1], [2, 2]] * 20, dtype=float)))
    assert perfect.value == 1.0
    assert perfect.interval is not None
    assert 0.5 < perfect.interval.low < 1.0 == perfect.interval.high  # 60 items do not prove it of all
    assert coefficient(name, Ratings(np.ones((5, 2)))).value is None  # one category: nothing to agree on
    assert coefficient(name, Ratings(np.full((5, 2), np.nan))).items == 0
    alone = coefficient(name, Ratings(np.array([[0, 1], [1, 1], [2, 0]], dtype=float), np.zeros(3, dtype=int)))
    assert alone.value is not None
    assert alone.interval is None  # one query


def test_two_columns_at_least() -> None:
    with pytest.raises(DataError, match="two raters or more"):
        Ratings(np.zeros((3, 1)))
    with pytest.raises(DataError, match="compares two raters"):
        coefficient("cohen_kappa", Ratings(drawn(0)))


@pytest.mark.parametrize("name", ["cohen_kappa", "fleiss_kappa", "krippendorff_alpha_ordinal", "gwet_ac1"])
def test_intervals_hold_what_they_promise(name: str) -> None:
    """Queries differ in how hard they are to judge: an interval by queries holds, one by pairs does not."""
    rng = np.random.default_rng(1)

    def world(queries: int) -> tuple[np.ndarray, np.ndarray]:
        clusters = np.repeat(np.arange(queries), 20)
        right = rng.beta(1.2, 0.8, queries)[clusters]
        truth = rng.choice(4, len(clusters), p=[0.5, 0.2, 0.2, 0.1])
        columns = [np.where(rng.random(len(clusters)) < right, truth, rng.integers(0, 4, len(clusters))) for _ in "ab"]
        return np.stack(columns, axis=1).astype(float), clusters

    expected = coefficient(name, Ratings(*world(20_000))).value
    assert expected is not None
    held = held_by_pairs = 0
    for _ in range(300):
        grades, clusters = world(30)
        own, wrong = (coefficient(name, Ratings(grades, c)).interval for c in (clusters, None))
        assert own is not None
        assert wrong is not None
        held += own.low <= expected <= own.high
        held_by_pairs += wrong.low <= expected <= wrong.high
    assert held / 300 > 0.91
    assert held_by_pairs / 300 < 0.85


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_perfect_agreement_is_perfect_whatever_the_rounding(name: str) -> None:
    """A value of 1 less one rounding error lost its interval."""
    rng = np.random.default_rng(0)
    for categories in (2, 4, 11):
        for items in (7, 10, 50):
            grades = rng.integers(0, categories, items).astype(float)
            found = coefficient(name, Ratings(np.stack([grades, grades], axis=1)))
            assert found.value == 1.0
            assert found.interval is not None
            assert found.interval.method == "unseen"
