"""ranx, under the preset `ranx`.

ranx compiles each measure when it is first called, which takes most of a minute once and is then cached on disk. So all
its values come from one fixture. It is given dictionaries: its own Run and Qrels compile for half a minute more.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from rankgauge import Qrels, evaluate
from rankgauge.errors import ContractError, DataError
from rankgauge.measures import parse_measure

# numba warns of a cast in ranx' own code while it compiles; nothing here can change it.
pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64")

Lists = dict[str, dict[str, Any]]
Peer = Callable[[Lists, Lists, list[str]], dict[str, list[float]]]

SAME = {
    "ndcg": "nDCG",
    "ndcg@3": "nDCG@3",
    "ndcg@10": "nDCG@10",
    "ndcg_burges": "nDCG(gain='exp')",
    "ndcg_burges@3": "nDCG(gain='exp')@3",
    "map": "AP",
    "map@2": "AP@2",
    "map@10": "AP@10",
    "map-l2": "AP(rel=2)",
    "mrr": "RR",
    "mrr@2": "RR@2",
    "mrr@3-l2": "RR(rel=2)@3",
    "precision@3": "P@3",
    "precision@20": "P@20",
    "precision@3-l2": "P(rel=2)@3",
    "recall": "R",
    "recall@3": "R@3",
    "recall@10-l2": "R(rel=2)@10",
    "hit_rate@1": "Success@1",
    "hit_rate@5": "Success@5",
    "f1@3": "F1@3",
    "f1@20": "F1@20",
    "r-precision": "Rprec",
    "precision": "SetP",
    "f1": "SetF",
}
# Left out: ndcg-l2 and its like drop grades below the threshold from the gains, which the threshold never touches here;
# hits@k is a count that the precision shows already.
BINARY = {"rbp.80": "RBP(p=0.8)", "rbp.50": "RBP(p=0.5)"}
"""ranx multiplies by the grade, so the two agree where grades are 0 and 1."""
JUDGED = {"bpref": "Bpref", "bpref-l2": "Bpref(rel=2)"}
"""ranx divides by the judged non-relevant documents, also where there are none, and negative grades are among them."""


@pytest.fixture(scope="module")
def ranx() -> Peer:
    """Values by measure, one for each query, from ranx."""
    import ranx as package

    def measured(qrels: Lists, run: Lists, names: list[str]) -> dict[str, list[float]]:
        # Queries are matched by their place in the two dictionaries; one name alone, with a depth, ends in a KeyError.
        assert list(qrels) == list(run)
        assert len(names) > 1
        values = package.evaluate(qrels, run, names, return_mean=False)
        return {name: values[name].tolist() for name in names}

    return measured


def random_lists(seed: int, grades: tuple[int, ...], *, queries: int = 40) -> tuple[Lists, Lists]:
    """No ties: with them, an unstable sort decides in ranx. Lists are in the order of their scores, as in a file."""
    rng = random.Random(seed)
    docs = [f"doc{i}" for i in range(30)]
    qrels, run = {}, {}
    for i in range(queries):
        judged = rng.sample(docs, rng.randint(2, 12))
        qrels[f"q{i}"] = {doc: rng.choice(grades) for doc in judged}
        found = rng.sample(docs, rng.randint(1, 25))
        scores = sorted(rng.sample(range(1000), len(found)), reverse=True)
        run[f"q{i}"] = {doc: score / 7 for doc, score in zip(found, scores, strict=True)}
    return qrels, run


def compare(peer: Peer, pairs: dict[str, str], qrels: Lists, run: Lists) -> None:
    theirs = peer(qrels, run, list(pairs))
    result = evaluate(qrels, run, list(pairs.values()), contract="ranx")
    assert list(result.table.queries) == list(qrels)
    for name, ours in pairs.items():
        values = result.per_query[str(parse_measure(ours))].to_list()
        assert values == pytest.approx(theirs[name], rel=1e-12, abs=1e-12), name
        assert result.mean[ours] == pytest.approx(sum(theirs[name]) / len(qrels), rel=1e-12), name


def test_measures(ranx: Peer) -> None:
    for seed in range(5):
        compare(ranx, SAME, *random_lists(seed, (-1, 0, 0, 1, 2, 3)))
        compare(ranx, {**SAME, **BINARY}, *random_lists(seed, (0, 1)))


def test_bpref(ranx: Peer) -> None:
    for seed in range(5):
        qrels, run = random_lists(seed, (0, 1, 2, 3))
        kept = [query for query, grades in qrels.items() if min(grades.values()) < 1 and max(grades.values()) > 1]
        compare(ranx, JUDGED, {q: qrels[q] for q in kept}, {q: run[q] for q in kept})


def test_lists_out_of_order(ranx: Peer) -> None:
    """ranx sorts by score before it scores."""
    qrels, run = random_lists(0, (0, 1, 2))
    rng = random.Random(1)
    shuffled = {query: dict(rng.sample(list(docs.items()), len(docs))) for query, docs in run.items()}
    compare(ranx, {name: SAME[name] for name in ("mrr", "map", "ndcg@10")}, qrels, shuffled)


def test_queries_must_be_the_same(ranx: Peer) -> None:
    qrels, run = random_lists(0, (0, 1), queries=3)
    del run["q1"]
    with pytest.raises(ContractError, match="q1"):
        evaluate(qrels, run, ["RR"], contract="ranx")


def test_its_objects_are_taken_as_they_are() -> None:
    """Judgments and runs of ranx give what the dictionaries they were made from give."""
    import ranx

    qrels = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}}
    run = {"q1": {"c": 0.75, "a": 0.5, "x": 0.25}, "q2": {"x": 0.5, "a": 0.25}}
    judgments, theirs = ranx.Qrels(qrels), ranx.Run(run, name="bm25")
    result = evaluate(judgments, theirs, ["ndcg@10", "map"], contract="ranx")
    assert result.name == "bm25"
    assert result.mean == evaluate(qrels, run, ["ndcg@10", "map"], contract="ranx").mean
    found = ranx.evaluate(judgments, theirs, ["ndcg@10", "map"])
    assert dict(zip(["nDCG@10", "AP"], found.values(), strict=True)) == pytest.approx(dict(result.mean))
    assert Qrels(judgments) == Qrels(qrels)
    with pytest.raises(DataError, match="a Run is no judgments"):
        evaluate(theirs, judgments)
