"""Every measure of the registry gives the numbers of `evaluate`, or says why it cannot be computed from arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate_tensors
from rankgauge.errors import MeasureError
from rankgauge.measures import Definition, all_definitions, register
from rankgauge.measures.registry import unregister
from tests.oracles.cases import fast
from tests.tensors.worlds import ALL, FLOAT32, FLOAT64, SUPPORTED, TIES, World, check, random_world

ONE = np.ones((1, 1))


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_measures_agree(ties: str, dtype: Any) -> None:
    world = random_world(7, dtype=dtype)
    most = FLOAT64 if dtype is np.float64 else FLOAT32
    check(world, SUPPORTED[ties], most, ties=ties)
    check(world, SUPPORTED[ties], most, ragged=slice(None), ties=ties)


@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_real_grades(ties: str) -> None:
    """Grades that are no whole numbers have an ideal list that is sorted, not counted."""
    world = random_world(3, real=True)
    check(world, SUPPORTED[ties], FLOAT64, ties=ties)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_long_lists(dtype: Any) -> None:
    """Longer than the user models look, and than a sum in float32 could bear to be taken carelessly."""
    world = random_world(5, queries=6, documents=1200, dtype=dtype, tied=False)
    check(world, SUPPORTED["trec"], FLOAT64 if dtype is np.float64 else FLOAT32)


GRADES = (None, -1.0, 0.0, 1.0, 1.0, 2.0, 4.0)


@st.composite
def small_worlds(draw: st.DrawFn) -> World:
    queries, documents, more = draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(0, 2))
    n = queries * documents

    def array(values: st.SearchStrategy[Any], shape: tuple[int, int]) -> Any:
        size = shape[0] * shape[1]
        drawn = draw(st.lists(values, min_size=size, max_size=size))
        return np.array([np.nan if value is None else value for value in drawn], dtype=np.float64).reshape(shape)

    shape = (queries, documents)
    grades = array(st.sampled_from(GRADES), shape)
    listed = array(st.sampled_from((1, 1, 1, 0)), shape) > 0
    scores = array(st.sampled_from((-1.0, -0.0, 0.0, 2.0)), shape)
    missed = array(st.sampled_from(GRADES), (queries, more))
    assert n == scores.size
    return World(scores, np.nan_to_num(grades), listed, ~np.isnan(grades), missed)


@pytest.mark.parametrize("ties", ["trec", "stable", "expected"])
def test_any_small_world(ties: str) -> None:
    @fast(25)
    @given(small_worlds())
    def agrees(world: World) -> None:
        check(world, SUPPORTED[ties], FLOAT64, ties=ties)

    agrees()


def test_what_is_supported() -> None:
    """All but the measures of subtopics and of characters; in expectation all that have a closed form."""
    without = {d.name for d in all_definitions()} - {measure.name for measure in SUPPORTED["trec"]}
    assert without == {d.name for d in all_definitions() if d.family == "characters"} | {
        *("alpha_nDCG", "alpha_DCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA", "AP_IA"),
    }
    exact = {str(m) for m in SUPPORTED["trec"] if m.definition.ties == "exact"}
    assert {str(measure) for measure in SUPPORTED["expected"]} == exact
    assert len({measure.name for measure in SUPPORTED["trec"]}) == 51


@pytest.mark.parametrize(
    ("measure", "ties", "told"),
    [
        ("alpha_nDCG@10", "trec", "judgments by subtopic"),
        ("CharP@10", "trec", "texts of gold passages"),
        ("R(budget=100)", "trec", "texts of the documents"),
        ("ERR@10", "expected", "choose ties='trec' or ties='stable'"),
    ],
)
def test_others_say_why(measure: str, ties: str, told: str) -> None:
    with pytest.raises(MeasureError, match="evaluate") as error:
        evaluate_tensors(ONE, ONE, measure, ties=ties)
    assert told in str(error.value)


def test_a_measure_from_elsewhere_has_no_kernel_for_arrays() -> None:
    register(Definition("Own", lambda ranked, measure: np.ones(len(ranked)), "1"))
    try:
        with pytest.raises(MeasureError, match="Own cannot be computed from arrays: it has no form for arrays"):
            evaluate_tensors(ONE, ONE, "Own")
    finally:
        unregister("Own")


def test_every_setting_is_tried() -> None:
    assert {measure.name for measure in ALL} == {definition.name for definition in all_definitions()}
