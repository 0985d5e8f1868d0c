"""Power on grids: finite, monotone, equal to scipy's noncentral t where that is a number, and to numerical integration.

The grid runs from 2 to 20,000 queries and from alpha 0.2 to 1e-9 (a level may be divided by thousands of comparisons).
"""

import itertools
import math
from importlib.resources import files as files_of

import numpy as np
import pytest
from scipy import integrate, stats
from statsmodels.stats.power import TTestPower

from rankgauge.errors import DataError
from rankgauge.stats.power import critical_value, detectable_difference, least_whole, power_of, queries_needed
from tests.cli.command import run_command

SIZES = [2, 3, 4, 5, 8, 13, 25, 43, 63, 100, 176, 500, 2_000, 20_000]
ALPHAS = [0.2, 0.1, 0.05, 0.01, 0.003, 0.0025, 0.00192, 1e-3, 1e-4, 1e-5, 1e-6, 1e-9]
SHIFTS = [0.0, 1e-3, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 25.0, 38.0, 60.0, 200.0, 1e3, 1e4, 1e6]


def power_at(shift: float, n: int, alpha: float) -> float:
    return power_of(shift / math.sqrt(n), 1.0, n, alpha)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_power_is_a_chance_and_grows_with_the_difference(n: int, alpha: float) -> None:
    found = [power_at(shift, n, alpha) for shift in SHIFTS]
    assert all(0 <= p <= 1 for p in found)  # NaN fails too
    assert found[0] == pytest.approx(alpha, rel=1e-6)
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(found))
    assert found[-1] > 1 - 1e-3 or n == 2


@pytest.mark.parametrize("n", SIZES)
def test_power_grows_with_alpha(n: int) -> None:
    for shift in SHIFTS:
        found = [power_at(shift, n, alpha) for alpha in ALPHAS]
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_power_grows_with_the_queries(alpha: float) -> None:
    for effect in (0.01, 0.1, 0.5, 1.0, 5.0):
        found = [power_of(effect, 1.0, n, alpha) for n in SIZES]
        assert all(b >= a - 1e-12 for a, b in itertools.pairwise(found))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scipy's own, where it has no number
def test_power_is_scipys_where_scipy_has_a_number() -> None:
    compared = 0
    for n, alpha, shift in itertools.product(SIZES, ALPHAS, SHIFTS):
        critical = critical_value(alpha, n)
        theirs = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
        if shift and np.isfinite(theirs):
            compared += 1
            assert power_at(shift, n, alpha) == pytest.approx(theirs, abs=1e-9), (n, alpha, shift)
    assert compared > 1000


def by_quadrature(shift: float, n: int, alpha: float) -> float:
    """The integral over the spread, by scipy's adaptive rule, split where its integrand turns."""
    critical = critical_value(alpha, n)
    spread = stats.chi(n - 1, scale=1 / math.sqrt(n - 1))

    def integrand(s: float) -> float:
        return float(spread.pdf(s) * (stats.norm.sf(critical * s - shift) + stats.norm.sf(critical * s + shift)))

    turn = shift / critical
    marks = sorted({0.0, max(0.0, turn - 12 / critical), turn, turn + 12 / critical, float(spread.ppf(0.5)), 12.0})
    return sum(integrate.quad(integrand, a, b, limit=200)[0] for a, b in itertools.pairwise(marks) if b <= 12)


@pytest.mark.parametrize("n", [2, 3, 5, 13, 43])
def test_power_is_the_integral_where_scipy_has_none(n: int) -> None:
    for alpha, shift in itertools.product([0.05, 0.0025, 0.001, 1e-5], [0.5, 2.0, 8.0, 20.0, 200.0, 700.0]):
        assert power_at(shift, n, alpha) == pytest.approx(by_quadrature(shift, n, alpha), abs=1e-7), (alpha, shift)


def test_power_is_simulated() -> None:
    """The figures that were 0 or 1: two queries at a level of 0.001, and 43 at a corrected one."""
    rng = np.random.default_rng(1)
    for n, alpha, shift in ((2, 0.001, 640.0), (43, 0.00192, 6.117), (5, 0.0025, 12.0)):
        t = (rng.normal(shift, 1, 200_000)) / np.sqrt(rng.chisquare(n - 1, 200_000) / (n - 1))
        simulated = float((np.abs(t) > critical_value(alpha, n)).mean())
        assert power_at(shift, n, alpha) == pytest.approx(simulated, abs=0.005)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("effect", [0.05, 0.2, 0.5, 1.0, 3.0])
def test_needed_queries_and_detectable_difference_invert_the_power(effect: float, alpha: float) -> None:
    if alpha < 1e-6:
        with pytest.raises(DataError, match="alpha"):
            queries_needed(effect, 1.0, alpha)
        return
    for power in (0.5, 0.8, 0.99):
        n = queries_needed(effect, 1.0, alpha, power)
        assert power_of(effect, 1.0, n, alpha) >= power
        assert n == 2 or power_of(effect, 1.0, n - 1, alpha) < power
        found = detectable_difference(1.0, n, alpha, power)
        assert found is not None
        assert found <= effect * (1 + 1e-9)
        assert power_of(found, 1.0, n, alpha) == pytest.approx(power, abs=1e-6)


def test_needed_queries_grow_as_alpha_falls() -> None:
    alphas = np.geomspace(0.2, 1e-6, 60)
    for effect in (0.1, 0.5, 2.0):
        found = [queries_needed(effect, 1.0, float(alpha)) for alpha in alphas]
        assert all(b >= a for a, b in itertools.pairwise(found))


def test_needed_queries_are_statsmodels() -> None:
    for effect, alpha in itertools.product((0.1, 0.25, 0.5, 1.0), (0.05, 0.01, 0.003)):
        theirs = TTestPower().solve_power(effect_size=effect, alpha=alpha, power=0.8)
        assert queries_needed(effect, 1.0, alpha) == math.ceil(theirs)


@pytest.mark.parametrize("deviation", [1e-12, 1e-3, 1.0, 1e6, 1e100])
def test_the_detectable_difference_goes_with_the_spread(deviation: float) -> None:
    for n, alpha in itertools.product(SIZES, ALPHAS):
        found = detectable_difference(deviation, n, alpha)
        assert found is not None
        assert math.isfinite(found)
        assert found / deviation == pytest.approx(detectable_difference(1.0, n, alpha))


def test_no_queries_and_no_spread() -> None:
    assert power_of(0.1, 0.2, 1) == 0
    assert detectable_difference(0.2, 1) is None
    assert power_of(0.1, 0.0, 5) == 1
    with pytest.raises(DataError, match="any number of queries"):
        queries_needed(0.0, 0.2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--sd", "0.268", "--queries", "43", "--difference", "0.25", "--alpha", "0.00192"], "is 99.6 %"),
        (["--sd", "0.2", "--difference", "0.1", "--alpha", "0.0025"], ": 65 queries"),
        (["--sd", "0.2", "--difference", "0.1", "--alpha", "0.003"], ": 63 queries"),
    ],
)
def test_the_command(arguments: list[str], said: str) -> None:
    assert said in run_command("power", *arguments).stdout


@pytest.mark.parametrize("alpha", ["2", "1e-16", "0", "-1", "nan", "0.5"])
@pytest.mark.parametrize(
    "rest", [["--queries", "50"], ["--queries", "50", "--difference", "0.1"], ["--difference", "0.1"]]
)
def test_levels_that_are_none_are_refused(alpha: str, rest: list[str]) -> None:
    done = run_command("power", "--sd", 0.2, *rest, "--alpha", alpha, status=2)
    assert "alpha" in done.stderr


def test_the_last_number_of_queries_is_tried_too() -> None:
    assert 6.9e8 < queries_needed(3.177e-5, 0.3) < 7.1e8
    for most in (5, 16, 20, 31, 33):
        for wanted in range(1, 40):
            found = least_whole(lambda n, wanted=wanted: n >= wanted, 1, most)
            assert found == (wanted if wanted <= most else None)


def test_no_difference_beyond_the_measures_range() -> None:
    files = [str(files_of("rankgauge") / "example" / name) for name in ("testset.json", "bm25.run", "hybrid.run")]
    assert "no difference that the measure allows" in run_command("power", *files, "--queries", 2, "-m", "RR").stdout
    refused = run_command("power", *files, "--difference", 1.5, "-m", "nDCG@10", status=2)
    assert "more than nDCG@10 can have" in refused.stderr
