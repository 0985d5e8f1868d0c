"""The first documents of each list, against the ranks and grades that scoring works with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.engine.lists import Listed, top_lists, top_rows
from rankgauge.engine.matching import match
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats import load_qrels, open_run
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from tests.oracles.cases import by_subtopic, fast, judgments, qrels_frame, run_frame, runs, subtopic_frame

NEAR = (0.0, -0.0, 1.0, 1.0 + 2**-40, 1.0 + 2**-20, -3.5)  # some are one number in float32
CONTRACTS = st.builds(
    Contract,
    ties=st.sampled_from(("trec", "given", "stable")),
    scores=st.sampled_from(("float64", "float32")),
    depth=st.sampled_from((None, 1, 3)),
    drop_self=st.booleans(),
)


def check(qrels: Qrels, run: Any, contract: Contract, depth: int | None) -> None:
    """Ranks and grades of the judged documents are the engine's."""
    cuts = [cut for cut in (depth, contract.depth) if cut is not None]
    ranked = match(qrels, run, contract).ranked
    if cuts:
        ranked = ranked.limited(min(cuts))
    lists = top_lists(qrels, run, contract, depth)
    assert list(lists) == list(ranked.queries)
    for i, listed in enumerate(lists.values()):
        rows = slice(ranked.starts[i], ranked.starts[i + 1])
        assert len(listed) == ranked.retrieved[i]
        found = [(rank, row.grade) for rank, row in enumerate(listed, 1) if row.grade is not None]
        assert found == list(zip(ranked.ranks[rows].tolist(), ranked.grades[rows].tolist(), strict=True))


@fast(60)
@given(data=st.data(), contract=CONTRACTS, depth=st.sampled_from((None, 1, 2, 4, 20)))
def test_as_scoring_orders_them(data: st.DataObject, contract: Contract, depth: int | None) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels), scores=NEAR))
    first = next(iter(run))
    run[first][first] = 1.0  # a document named as its query
    check(Qrels(qrels), Run(run), contract, depth)
    check(Qrels(qrels_frame(qrels)), Run(run_frame(run)), contract, depth)
    alike = [top_lists(Qrels(qrels), Run(source), contract, depth) for source in (run, run_frame(run))]
    assert alike[0] == alike[1]


@fast(25)
@given(data=st.data(), contract=CONTRACTS)
def test_documents_that_stand_twice(data: st.DataObject, contract: Contract) -> None:
    qrels = data.draw(judgments())
    frame = run_frame(data.draw(runs(list(qrels), scores=NEAR)))
    order = data.draw(st.permutations(range(2 * len(frame))))
    worse = frame.with_columns(score=pl.col("score") + pl.Series(np.resize([0.0, -1.0, 2.0], len(frame))))
    twice = Run(pl.concat([frame, worse])[order])
    with pytest.raises(DataError, match="twice"):
        top_lists(Qrels(qrels), twice, contract, 3)
    check(Qrels(qrels), twice, contract.with_changes(duplicates="first"), data.draw(st.sampled_from((None, 2))))


@fast(20)
@given(data=st.data(), contract=CONTRACTS)
def test_subtopics_count_with_their_best_grade(data: st.DataObject, contract: Contract) -> None:
    topics = data.draw(by_subtopic())
    check(Qrels(subtopic_frame(topics)), Run(data.draw(runs(list(topics)))), contract, 3)


def test_rows() -> None:
    qrels = Qrels({"a": {"x": 2, "y": -1}, "b": {"x": 0}, "missing": {"x": 1}})
    run = Run({"a": {"x": 1, "y": 1.0, "z": 1.0}, "b": {"w": 3.0, "x": 4.0}, "other": {"x": 1.0}})
    lists = top_lists(qrels, run, Contract(), 2)
    assert lists == {
        "a": [Listed("z", 1.0, None), Listed("y", 1.0, -1.0)],
        "b": [Listed("x", 4.0, 0.0), Listed("w", 3.0, None)],
        "missing": [],
    }
    assert top_lists(qrels, run, Contract(ties="expected"), 2) == lists
    assert top_lists(qrels, run, Contract(), 2, queries={"b", "other"}) == {"b": lists["b"]}
    assert top_lists(qrels, run, Contract(depth=1), None)["a"] == lists["a"][:1]
    rows = top_rows(qrels, run, Contract(), None)
    assert rows.ranks.tolist() == [1, 2, 3, 1, 2]
    assert rows.owner.tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize("value", [None, "high", float("nan"), float("inf")])
def test_scores_that_are_none(value: Any) -> None:
    with pytest.raises(RankgaugeError, match="no finite number"):
        top_lists(Qrels({"q": {"d": 1}}), Run({"q": {"d": value}}), Contract(), 5)


@pytest.mark.parametrize(("ties", "depth"), [("trec", None), ("trec", 10), ("given", 10), ("stable", 10)])
def test_files(data: Path, ties: str, depth: int | None) -> None:
    qrels = load_qrels(data / "robust03" / "qrels.txt.gz")
    for path in sorted((data / "robust03").glob("*rutcor*")):
        check(qrels, open_run(path), Contract().with_changes(ties=ties, scores="float32"), depth)
