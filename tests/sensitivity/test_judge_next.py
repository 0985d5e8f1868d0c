"""What judging a document is worth, against ranges computed again with the document judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import DataError
from rankgauge.formats import load_qrels
from rankgauge.measures import Measure, parse_measures
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.sensitivity import judge_next as module
from rankgauge.sensitivity.judge_next import Candidate, judge_next, judging_plan
from rankgauge.sensitivity.open_documents import levels_of
from rankgauge.sensitivity.unjudged import ranges_and_reasons
from tests.oracles.cases import fast
from tests.sensitivity.test_unjudged import RUNS, SMALL

DOCS = ("a", "b", "c", "d", "e", "f")
Lists = dict[str, list[str]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, dict[str, float]], Lists, Lists]:
    qrels: dict[str, dict[str, float]] = {}
    lists: tuple[Lists, Lists] = ({}, {})
    for query in ("q1", "q2"):
        open_docs = draw(st.permutations(DOCS))[: draw(st.integers(1, 4))]
        qrels[query] = {doc: draw(st.sampled_from((0, 1, 2))) for doc in DOCS if doc not in open_docs} | {"x": 0}
        for own in lists:
            own[query] = draw(st.permutations(DOCS))[: draw(st.integers(1, len(DOCS)))]
    qrels["q1"]["y"] = 2
    return qrels, *lists


def width(qrels: dict[str, dict[str, float]], a: Lists, b: Lists, measure: Measure) -> float:
    (found,) = ranges_and_reasons(Qrels(qrels), {"A": a, "B": b}, [measure], Contract(), [("A", "B")]).rows
    assert found.exact
    return found.high - found.low


def by_hand(
    candidate: Candidate, qrels: dict[str, dict[str, float]], a: Lists, b: Lists, measures: Sequence[Measure]
) -> float:
    """The width less its mean over the labels that this document may get."""
    grades = np.array([grade for docs in qrels.values() for grade in docs.values()], dtype=float)
    total = 0.0
    for measure in measures:
        depth = None if measure.at is None else int(measure.at)
        if all(candidate.doc not in run[candidate.query][:depth] for run in (a, b)):
            continue
        levels = levels_of(measure, grades)
        narrower = [
            width({**qrels, candidate.query: {**qrels[candidate.query], candidate.doc: level}}, a, b, measure)
            for level in levels
        ]
        total += width(qrels, a, b, measure) - sum(narrower) / len(levels)
    return total


@fast(7)
@given(case=cases())
def test_influence(case: tuple[dict[str, dict[str, float]], Lists, Lists]) -> None:
    qrels, a, b = case
    measures = parse_measures(["nDCG@3", "RR", "AP@4", "SetF"])
    plan = judging_plan(Qrels(qrels), {"A": a, "B": b}, measures, Contract(), [("A", "B")], n=20)
    assert plan.documents == len(plan.candidates)
    assert plan.share == pytest.approx(1)
    order = [(-round(c.influence, 12), c.query, c.doc) for c in plan.candidates]
    assert order == sorted(order)
    for candidate in plan.candidates:
        for name, run in (("A", a), ("B", b)):
            listed = run[candidate.query]
            rank = listed.index(candidate.doc) + 1 if candidate.doc in listed else None
            assert candidate.ranks[name] == rank
    for candidate in plan.candidates[:3]:
        assert candidate.influence == pytest.approx(by_hand(candidate, qrels, a, b, measures), abs=1e-9)


@fast(6)
@given(case=cases())
def test_the_label_alone(case: tuple[dict[str, dict[str, float]], Lists, Lists]) -> None:
    """What chooses the shortlist is the very influence where no divisor depends on the labels, and near it in nDCG."""
    qrels, a, b = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_SEARCH", -1)
        for names, tolerance in ((["P@3", "RBP", "DCG@4"], 1e-9), (["nDCG@4"], 0.35)):
            measures = parse_measures(names)
            found = judging_plan(Qrels(qrels), {"A": a, "B": b}, measures, Contract(), [("A", "B")]).candidates
            for candidate in found[:2]:
                assert candidate.influence == pytest.approx(by_hand(candidate, qrels, a, b, measures), abs=tolerance)


def test_the_first_ones() -> None:
    measures = parse_measures(["P@2"])
    every = judging_plan(SMALL, RUNS, measures, Contract(), [("A", "B")]).candidates
    assert [(c.query, c.doc, c.ranks, c.influence) for c in every] == [
        ("q1", "x", {"A": None, "B": 1}, 0.25),
        ("q2", "x", {"A": 2, "B": None}, 0.25),
        ("q2", "y", {"A": None, "B": 1}, 0.25),
    ]
    plan = judging_plan(SMALL, RUNS, measures, Contract(), [("A", "B")], n=2)
    assert plan.candidates == every[:2]
    assert (plan.documents, plan.share) == (3, pytest.approx(2 / 3))
    with pytest.raises(DataError, match="at least 1"):
        judge_next(SMALL, RUNS, measures, number=0)


def test_one_run() -> None:
    """Without pairs it is the run's own mean that has a range."""
    plan = judging_plan(SMALL, {"B": RUNS["B"]}, parse_measures(["P@2", "nDCG@2"]), Contract())
    assert [(c.query, c.doc) for c in plan.candidates] == [("q1", "x"), ("q2", "y")]
    assert [(row.a, row.b) for row in plan.ranges] == [("", "B")] * 2
    assert (plan.ranges[0].low, plan.ranges[0].high) == (0.5, 1.0)


def test_nothing_to_judge() -> None:
    plan = judging_plan(SMALL, {"A": {"q1": ["a", "b"]}}, parse_measures(["P@2"]), Contract())
    assert (plan.candidates, plan.documents, plan.share) == ([], 0, 1.0)
    plan = judging_plan(Qrels({"q": {"a": 1}}), {"A": {"q": ["b"]}}, parse_measures(["P@2"]), Contract())
    assert (plan.ranges, list(plan.reasons)) == ([], ["P@2"])


def test_real_runs(data: Path) -> None:
    """Judging what is proposed narrows the range by more than judging as many documents from the top of the lists."""
    folder = data / "dl19"
    qrels = load_qrels(folder / "qrels.txt")
    paths = {"A": str(folder / "dl19.BM25.run"), "B": str(folder / "dl19.OPEN_AI_ADA2.run")}
    measures = parse_measures(["nDCG@10"])
    plan = judging_plan(qrels, paths, measures, Contract(), [("A", "B")], n=15)
    judged = qrels.to_dict()
    for candidate in plan.candidates:
        judged[candidate.query][candidate.doc] = 0.0
    (after,) = ranges_and_reasons(Qrels(judged), paths, measures, Contract(), [("A", "B")]).rows
    (before,) = plan.ranges
    assert after.documents == before.documents - 15
    assert after.high - after.low < 0.5 * (before.high - before.low)
