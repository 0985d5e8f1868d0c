"""Fusion of scores at the ends of what a float can hold, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from rankgauge import Run, load_run
from rankgauge.errors import DataError
from rankgauge.retrievers import Hit, fuse, fuse_lists
from rankgauge.retrievers.fusion import METHODS, NORMS
from tests.cli.command import run_command

LARGEST, LEAST = 1.7976931348623157e308, 5e-324
HOSTILE: dict[str, list[float]] = {
    "both ends": [1e308, -1e308],
    "largest": [LARGEST, 1.0, -LARGEST],
    "all largest": [LARGEST, LARGEST, LARGEST],
    "large and near": [1e308, 9.999999999999999e307, 0.0],
    "1e200": [1e200, 5e199, 0.0, -1e200],
    "least": [LEAST, 0.0],
    "some least": [3 * LEAST, 2 * LEAST, LEAST, -LEAST],
    "subnormal": [1e-310, 3e-311, 0.0, -2e-310],
    "small": [1e-200, 5e-201, 4e-201],
    "mixed": [1e308, 1e200, 1.0, 1e-200, LEAST, 0.0, -LEAST, -1.0, -1e308],
    "one ulp": [1.0000000000000002, 1.0, 1.0],
    "large ulp": [1e16 + 2, 1e16, 1e16, 1e16],
    "equal": [0.3, 0.3, 0.3, 0.3],
    "equal least": [LEAST, LEAST],
    "one": [7.0],
    "one large": [-1e308],
    "one least": [LEAST],
    "zero": [0.0, -0.0],
    "none": [],
    "ordinary": [12.5, 7.25, 3.0, 0.1],
}


def root(value: Fraction) -> Fraction:
    """The square root to 40 digits, of a fraction of any size."""
    scale = 10**40
    shift = max(0, -(value.numerator.bit_length() - value.denominator.bit_length()) // 2 + 2)
    return Fraction(math.isqrt(int(value * scale**2 * 4**shift)), scale * 2**shift)


def normalised(scores: list[Fraction], norm: str) -> list[Fraction]:
    if norm == "none" or not scores:
        return scores
    low, high, mean = min(scores), max(scores), sum(scores) / len(scores)
    if norm == "min-max":
        return [(s - low) / (high - low) if high > low else Fraction(1) for s in scores]
    deviation = root(sum((s - mean) ** 2 for s in scores) / len(scores))
    return [(s - mean) / deviation if high > low else Fraction(0) for s in scores]


def exact(lists: list[list[Hit]], method: str, weights: list[float], norm: str, rrf_k: float) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for hits, weight in zip(lists, weights, strict=True):
        if method == "rrf":
            values = [1 / (Fraction(rrf_k) + rank) for rank in range(1, len(hits) + 1)]
        else:
            values = normalised([Fraction(hit.score) for hit in hits], norm)
        for hit, value in zip(hits, values, strict=True):
            total[hit.id] = total.get(hit.id, Fraction(0)) + Fraction(weight) * value
    return total


def hits_of(scores: list[float], ids: str) -> list[Hit]:
    return [Hit(doc, score) for doc, score in zip(ids, scores, strict=False)]


def close(ours: float, wanted: Fraction, scale: Fraction) -> bool:
    """Within rounding of the largest term, or of the least number there is."""
    return abs(Fraction(ours) - wanted) <= scale * Fraction(1, 10**14) + 4 * Fraction(LEAST)


def check(lists: list[list[Hit]], method: str, norm: str, weights: list[float] | None, rrf_k: float = 60) -> None:
    used = weights or [1.0 if method == "rrf" else 1 / len(lists)] * len(lists)
    wanted = exact(lists, method, used, norm, rrf_k)
    if max(map(abs, wanted.values()), default=0) > Fraction(LARGEST) * (1 + Fraction(1, 10**16)):
        with pytest.raises(DataError, match="beyond the largest number"):
            fuse_lists(lists, method, weights, rrf_k, norm)
        return
    fused = fuse_lists(lists, method, weights, rrf_k, norm)
    found = dict(fused)
    assert found.keys() == wanted.keys()
    assert all(math.isfinite(score) for score in found.values())
    for doc, score in found.items():
        terms = []
        for hits, weight in zip(lists, used, strict=True):
            if doc in dict(hits):
                terms.append(abs(exact([hits], method, [weight], norm, rrf_k)[doc]))
        size = Fraction(1) if norm == "z-score" and method == "weighted" else Fraction(0)
        assert close(score, wanted[doc], max([*terms, size * Fraction(max(used))])), (doc, score, float(wanted[doc]))
    scores = [hit.score for hit in fused]
    assert scores == sorted(scores, reverse=True)
    places = [{hit.id: (-hit.score if method == "weighted" else rank) for rank, hit in enumerate(own)} for own in lists]
    for one, other in product(found, repeat=2):  # nowhere worse, so not worse in all
        if all(one in own and other in own and own[one] <= own[other] for own in places):
            assert found[one] >= found[other], (one, other)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", HOSTILE)
def test_one_list(method: str, norm: str, name: str) -> None:
    for weights in (None, [1.0], [1e-300], [1e300]):
        check([hits_of(HOSTILE[name], "abcdefghi")], method, norm, weights)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("first", HOSTILE)
def test_any_two_lists(method: str, norm: str, first: str) -> None:
    for second in HOSTILE:
        lists = [hits_of(HOSTILE[first], "abcdefghi"), hits_of(HOSTILE[second], "cabxyzdef")]
        for weights in (None, [0.3, 0.7]):
            check(lists, method, norm, weights)


@pytest.mark.parametrize("norm", NORMS)
def test_many_lists_of_the_largest_score(norm: str) -> None:
    """Equal weights never leave the range of the scores, however their sum is built up."""
    for count in (3, 7, 10, 49):
        check([hits_of([LARGEST, -LARGEST], "ab")] * count, "weighted", norm, None)
        check([hits_of([LEAST, -LEAST], "ab")] * count, "weighted", norm, None)


@pytest.mark.parametrize("rrf_k", [0, LEAST, 1e-200, 60, 1e200, 1e308])
def test_any_constant_of_rrf(rrf_k: float) -> None:
    check([hits_of([3, 2, 1], "abc"), hits_of([9, 1], "cb")], "rrf", "none", None, rrf_k)


def test_what_no_float_holds_is_an_error() -> None:
    lists = [hits_of([1e308, 0.0], "ab")] * 2
    with pytest.raises(DataError, match="document 'a' is beyond the largest number"):
        fuse_lists(lists, "weighted", [1, 1], norm="none")
    with pytest.raises(DataError, match=r"query 'q': .*'a' is beyond"):
        fuse([Run({"q": {"a": 1e308}})] * 2, "weighted", [1, 1], norm="none")
    assert dict(
        fuse_lists(
            [hits_of([1e308], "a"), hits_of([1e308], "a"), hits_of([-1e308], "a")], "weighted", [1, 1, 1], norm="none"
        )
    ) == {"a": 1e308}


@pytest.mark.parametrize("norm", NORMS)
def test_order_of_lists_does_not_change_extreme_scores(norm: str) -> None:
    lists = [hits_of(HOSTILE[name], ids) for name, ids in (("mixed", "abcdefghi"), ("least", "ba"), ("1e200", "dcba"))]
    assert dict(fuse_lists(lists, "weighted", norm=norm)) == dict(fuse_lists(lists[::-1], "weighted", norm=norm))


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d1 1 1e308 t\nq Q0 d2 2 5e-324 t\nq Q0 d3 3 -1e308 t\n")
    (tmp_path / "b.run").write_text("q Q0 d1 1 5e-324 t\nq Q0 d2 2 0 t\n")
    for norm in NORMS:
        target = tmp_path / f"{norm}.run"
        run_command(
            "fuse", tmp_path / "a.run", tmp_path / "b.run", "--method", "weighted", "--norm", norm, "-o", target
        )
        assert list(load_run(target).to_dict()["q"]) == ["d1", "d2", "d3"]
