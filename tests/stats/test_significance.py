"""Significance tests are parts of a registry, which other packages can add to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from rankgauge import compare_scores
from rankgauge.errors import DataError
from rankgauge.stats.differences import Column, Inverted, Outcome
from rankgauge.stats.settings import Settings
from rankgauge.stats.significance import TESTS, SignificanceTest


def always(columns: Sequence[Column], *, alpha: float, seed: int, samples: int) -> list[Outcome]:
    assert samples == 0
    return [Inverted(0.001, "always", lambda level: (0.5, 1.0)) for _ in columns]


@pytest.fixture
def registered() -> Iterator[None]:
    TESTS.register("always", SignificanceTest(always))
    yield
    TESTS.unregister("always")


def test_another_package_adds_a_test(registered: None) -> None:
    rng = np.random.default_rng(0)
    scores = {"a": rng.random(30), "b": rng.random(30)}
    row = compare_scores(scores, test="always").rows[0]
    assert row.p_value == 0.001
    assert row.interval is not None
    assert row.interval.method == "always"
    assert "always" in list(TESTS)


def test_an_unknown_test() -> None:
    with pytest.raises(DataError, match="unknown significance test 'wilcoxn'; did you mean 'wilcoxon'"):
        Settings.of("wilcoxn")


def test_every_test_can_be_loaded() -> None:
    assert [isinstance(TESTS[name], SignificanceTest) for name in TESTS] == [True] * len(list(TESTS))
