"""Rows of one length or of many, whole or in chunks, empty or not: the same scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankgauge
from rankgauge import evaluate_tensors
from rankgauge.tensors import scoring as module
from tests.tensors.worlds import FLOAT64, SUPPORTED, check, random_world

MEASURES = ["nDCG@3", "AP", "RR", "P@2", "R@5", "Bpref", "NumRet"]


def test_rows_in_any_order() -> None:
    world = random_world(1, queries=30, tied=False)
    order = np.random.default_rng(0).permutation(int(world.listed.sum())).tolist()
    check(world, SUPPORTED["trec"], FLOAT64, ragged=order)


@pytest.mark.parametrize("elements", [1, 7, 50])
@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_chunks_change_nothing(elements: int, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = random_world(2, queries=50)
    given = getattr(world, layout)()
    whole = evaluate_tensors(**given, measures=MEASURES, no_relevant="skip")
    monkeypatch.setitem(module.ELEMENTS, "cpu", elements)
    parts = evaluate_tensors(**given, measures=MEASURES, no_relevant="skip")
    assert np.array_equal(parts.values, whole.values)
    assert np.array_equal(parts.counted, whole.counted)
    assert np.array_equal(parts.retrieved, whole.retrieved)


def test_long_lists_do_not_widen_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of about the same length share a width: one of 10,000 documents beside 10,000 of one costs little."""
    widths: list[tuple[int, int]] = []
    made = module.order_rows

    def watched(xp: Any, scores: Any, ties: str, kept: int) -> Any:
        widths.append(scores.shape)
        return made(xp, scores, ties, kept)

    monkeypatch.setattr(module, "order_rows", watched)
    groups = np.concatenate((np.zeros(10_000, np.int64), np.arange(1, 10_000)))
    rng = np.random.default_rng(0)
    scores, grades = rng.random(len(groups)), rng.integers(0, 3, len(groups))
    found = evaluate_tensors(scores, grades, "nDCG", groups=groups)
    assert sum(rows * width for rows, width in widths) < 3 * len(groups)
    alone = evaluate_tensors(scores[None, :10_000], grades[None, :10_000], "nDCG")
    assert found.values[0, 0] == pytest.approx(alone.values[0, 0], abs=1e-12)
    assert np.array_equal(found.values[1:, 0], grades[10_000:] > 0)


@pytest.mark.parametrize(
    "given",
    [
        {"scores": np.zeros((3, 0)), "relevance": np.zeros((3, 0))},
        {"scores": np.zeros((3, 2)), "relevance": np.ones((3, 2)), "mask": np.zeros((3, 2), bool)},
        {"scores": np.zeros(0), "relevance": np.zeros(0), "groups": np.zeros(0, int), "n_queries": 3},
    ],
)
def test_empty_lists_score_nothing(given: dict[str, Any]) -> None:
    judged = np.ones_like(given["scores"], bool)
    found = evaluate_tensors(**given, measures=["nDCG@10", "AP", "R", "NumRet"], judged=judged)
    assert found.values.tolist() == [[0.0] * 4] * 3
    assert dict(found.mean) == {"nDCG@10": 0.0, "AP": 0.0, "R": 0.0, "NumRet": 0.0}
    missed = evaluate_tensors(**given, measures=["R", "NumRel"], all_grades=np.ones((3, 2)))
    assert missed.values.tolist() == [[0.0, 2.0]] * 3


@pytest.mark.parametrize(
    "given",
    [
        {"scores": np.zeros((0, 4)), "relevance": np.zeros((0, 4))},
        {"scores": np.zeros((0, 0)), "relevance": np.zeros((0, 0))},
        {"scores": np.zeros(0), "relevance": np.zeros(0), "groups": np.zeros(0, int)},
    ],
)
def test_no_queries(given: dict[str, Any]) -> None:
    found = evaluate_tensors(**given)
    assert found.values.shape == (0, 5)
    assert set(found.mean.values()) == {0.0}
    assert repr(found).startswith("TensorScores(0 queries")


def test_one_document_and_ties_in_every_order() -> None:
    one = np.ones((1, 1))
    assert evaluate_tensors(one, one > 0, ["nDCG", "AP", "RR"]).values.tolist() == [[1.0] * 3]
    scores, first = np.zeros((1, 4)), np.array([[1, 0, 0, 0]])
    wanted = {"trec": 1 / 4, "stable": 1, "expected": (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4}
    found = {ties: evaluate_tensors(scores, first, "RR", ties=ties).mean["RR"] for ties in wanted}
    assert found == pytest.approx(wanted)


def test_scores_below_the_precision_of_float32() -> None:
    """float64 scores are told apart as they are; `trec_eval9` compares them as float32, where these tie."""
    scores, grades = np.array([[1.0 + 1e-9, 1.0]]), np.array([[1, 0]])
    assert evaluate_tensors(scores, grades, "RR").mean["RR"] == 1.0
    assert evaluate_tensors(scores, grades, "RR", contract="trec_eval9").mean["RR"] == 0.5
    assert evaluate_tensors(scores.astype(np.float32), grades, "RR").mean["RR"] == 0.5


def test_scores_beyond_float32_stay_in_their_lists() -> None:
    """As `evaluate` has it, those beyond its range tie; what is masked comes behind all the same."""
    scores, grades = np.array([[1e300, 1e200, -1e300, 0.0]]), np.array([[0, 1, 1, 1]])
    mask = np.array([[True, True, True, False]])
    found = evaluate_tensors(scores, grades, ["AP", "NumRet"], mask=mask, contract="trec_eval9")
    run = {"q": {"d0": 1e300, "d1": 1e200, "d2": -1e300}}
    wanted = rankgauge.evaluate({"q": {"d0": 0, "d1": 1, "d2": 1}}, run, ["AP", "NumRet"], contract="trec_eval9")
    assert dict(found.mean) == pytest.approx(dict(wanted.mean))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.float16])
def test_other_kinds_of_scores(kind: Any) -> None:
    world = random_world(4)
    scores = (world.scores * 4 + 12).astype(kind)
    wanted = evaluate_tensors(scores.astype(np.float64), world.relevance, MEASURES, mask=world.listed)
    found = evaluate_tensors(scores, world.relevance, MEASURES, mask=world.listed)
    assert found.values == pytest.approx(wanted.values, abs=1e-6)


def test_unjudged_by_mask_or_by_nan() -> None:
    world = random_world(6)
    by_nan = evaluate_tensors(world.scores, world.relevance, ["Judged@3", "Bpref", "nDCG"], mask=world.listed)
    by_mask = evaluate_tensors(
        world.scores, world.grades.astype(int), ["Judged@3", "Bpref", "nDCG"], mask=world.listed, judged=world.judged
    )
    assert np.array_equal(by_nan.values, by_mask.values)
    query, column = np.nonzero(world.listed)
    flat = (array[query, column] for array in (world.scores, world.grades, world.judged))
    scores, grades, judged = flat
    ragged = evaluate_tensors(scores, grades, by_nan.measures, groups=query, judged=judged, n_queries=len(world))
    assert np.array_equal(by_nan.values, ragged.values)
    lowest = np.where(world.judged, world.grades, -np.inf)
    by_lowest = evaluate_tensors(world.scores, lowest, by_nan.measures, mask=world.listed)
    assert np.array_equal(by_nan.values, by_lowest.values)


@pytest.mark.parametrize(
    "choices",
    [
        {"no_relevant": "skip"},
        {"missing": "skip"},
        {"missing": "skip", "no_relevant": "skip"},
        {"rel": 2},
        {"depth": 3},
        {"contract": "trec_eval9"},
        {"ties": "given", "depth": 2},
    ],
)
def test_choices_of_the_contract(choices: dict[str, Any]) -> None:
    """Scores and means, sums and geometric means included."""
    world = random_world(8)
    names = [*MEASURES, "GMAP", "nDCG(gains={1: 0, 2: 5})@4", "RBP(grades='scaled')", "Judged"]
    found = evaluate_tensors(**world.padded(), measures=names, **choices)
    qrels, run = world.dictionaries()
    run = {query: documents for query, documents in run.items() if documents}  # an empty list is a missing one
    wanted = rankgauge.evaluate(qrels, run, names, **choices)
    assert found.values == pytest.approx(wanted.table.values[np.argsort(wanted.table.queries)], abs=1e-12)
    assert dict(found.mean) == pytest.approx(dict(wanted.mean), abs=1e-12)
    for name, interval in wanted.interval.items():
        own = found.interval[name]
        assert (own is None) == (interval is None), name
        if own is not None and interval is not None:
            assert (own.low, own.high) == pytest.approx((interval.low, interval.high), abs=1e-9), name
    assert list(found.mean) == list(found.per_query) == found.measures


def test_any_spelling_finds_a_measure() -> None:
    found = evaluate_tensors(np.array([[2.0, 1.0]]), np.array([[0, 1]]), "ndcg_cut_10")
    assert found.mean["nDCG@10"] == found.mean["ndcg_cut_10"] == found.per_query["ndcg@10"][0]
    assert len(found) == 1
    assert found.contract == rankgauge.Contract()
    assert repr(found) == "TensorScores(1 query on cpu: nDCG@10=0.6309)"
