"""Fusion against ranx, LangChain and the formulas."""

from __future__ import annotations

import math
import random
import warnings
from itertools import permutations
from pathlib import Path

import pytest
import ranx

import rankgauge
from rankgauge import Run
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats import open_run
from rankgauge.retrievers import Hit, fuse, fuse_lists

pytestmark = pytest.mark.filterwarnings("ignore:.*unsafe cast:Warning")  # numba, compiling ranx


def random_run(seed: int, queries: int = 12, pool: int = 40) -> dict[str, dict[str, float]]:
    """Lists of different lengths over one pool of documents, scores without ties."""
    rng = random.Random(seed)
    scale = rng.choice([1, 10, 1000])
    return {
        f"q{q}": {f"d{d}": rng.uniform(-1, 1) * scale for d in rng.sample(range(pool), rng.randint(2, pool - 5))}
        for q in range(queries)
    }


def ranked(docs: dict[str, float]) -> list[Hit]:
    return [Hit(doc, score) for doc, score in sorted(docs.items(), key=lambda item: -item[1])]


def equal(ours: Run, theirs: dict[str, dict[str, float]]) -> None:
    mine = ours.to_dict()
    assert mine.keys() == theirs.keys()
    for query, docs in theirs.items():
        assert mine[query] == pytest.approx(docs, rel=1e-12, abs=1e-12)
        values = list(mine[query].values())
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rrf_k", [60, 10])
def test_rrf_is_ranx_rrf(seed: int, rrf_k: int) -> None:
    runs = [random_run(10 * seed + i) for i in range(3)]
    theirs = ranx.fuse([ranx.Run(run) for run in runs], norm=None, method="rrf", params={"k": rrf_k})
    equal(fuse([Run(run) for run in runs], "rrf", rrf_k=rrf_k), theirs.to_dict())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("norm", "of_ranx"), [("min-max", "min-max"), ("z-score", "zmuv"), ("none", None)])
def test_weighted_is_ranx_wsum(seed: int, norm: str, of_ranx: str | None) -> None:
    """Also for documents that a list lacks: 0 in both."""
    runs, weights = [random_run(10 * seed + i) for i in range(3)], [0.2, 0.5, 0.3]
    theirs = ranx.fuse([ranx.Run(run) for run in runs], norm=of_ranx, method="wsum", params={"weights": weights})
    equal(fuse([Run(run) for run in runs], "weighted", weights, norm=norm), theirs.to_dict())


def test_equal_scores_count_where_ranx_drops_them() -> None:
    """ranx gives 0 to the documents of a list whose scores are all equal, as if it had not found them; here they get 1,
    and 0 under z-score in both."""
    runs = [{"q": {"a": 3.0}}, {"q": {"b": 2.0, "c": 1.0}}]
    theirs = ranx.fuse([ranx.Run(run) for run in runs], norm="min-max", method="wsum", params={"weights": [0.5, 0.5]})
    assert theirs.to_dict()["q"]["a"] == 0
    both = [Run(run) for run in runs]
    assert fuse(both, "weighted").to_dict()["q"] == {"a": 0.5, "b": 0.5, "c": 0}
    assert fuse(both, "weighted", norm="z-score").to_dict()["q"] == {"b": 0.5, "a": 0, "c": -0.5}


def test_weighted_rrf_is_langchains_ensemble() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever

    class Fixed(BaseRetriever):
        found: list[str]

        def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
            return [Document(page_content=doc) for doc in self.found]

    for seed in range(5):
        rng = random.Random(seed)
        lists = [rng.sample([f"d{i}" for i in range(30)], rng.randint(1, 20)) for _ in range(3)]
        weights, c = [rng.random() for _ in lists], rng.choice([60, 1, 17])
        ensemble = EnsembleRetriever(retrievers=[Fixed(found=docs) for docs in lists], weights=weights, c=c)
        theirs = [doc.page_content for doc in ensemble.invoke("anything")]
        ours = fuse_lists([[Hit(doc, -float(i)) for i, doc in enumerate(docs)] for docs in lists], "rrf", weights, c)
        assert [hit.id for hit in ours] == theirs
        for hit in ours:
            parts = [w / (docs.index(hit.id) + 1 + c) for docs, w in zip(lists, weights, strict=True) if hit.id in docs]
            assert hit.score == pytest.approx(sum(parts), rel=1e-14)


def test_missing_document_under_z_score_stands_at_the_mean() -> None:
    fused = fuse_lists([[Hit("a", 3), Hit("b", 2), Hit("c", 1)], [Hit("d", 5)]], "weighted", norm="z-score")
    assert [hit.id for hit in fused] == ["a", "b", "d", "c"]
    assert dict(fused)["a"] == pytest.approx(0.5 * math.sqrt(1.5))
    assert dict(fused)["d"] == 0


def test_order_of_lists_does_not_change_scores() -> None:
    """Equal ranks in another order give exactly equal scores."""
    lists = [[Hit(doc, -float(i)) for i, doc in enumerate(docs)] for docs in permutations("abc")]
    assert len({hit.score for hit in fuse_lists(lists)}) == 1
    for order in permutations(lists[:4]):
        assert dict(fuse_lists(order)) == dict(fuse_lists(lists[:4]))


def test_cut_and_ties() -> None:
    lists = [[Hit("a", 2), Hit("b", 1)], [Hit("b", 2), Hit("a", 1)]]
    assert [hit.id for hit in fuse_lists(lists)] == ["a", "b"]
    assert fuse_lists(lists, k=1) == fuse_lists(lists)[:1]
    assert fuse_lists([[], []]) == []
    assert fuse_lists([]) == []


def test_runs_rank_ties_as_trec_eval_does_and_keep_every_query() -> None:
    one, two = Run({"q1": {"a": 1.0, "b": 1.0}, "q2": {}}, name="one"), Run({"q3": {"c": 1.0}}, name="two")
    fused = fuse([one, two])
    assert list(fused.to_dict()) == ["q1", "q2", "q3"]
    assert list(fused.to_dict()["q1"]) == ["b", "a"]
    assert fused.name == "one+two"
    frames = fuse([Run(one.frame), Run(two.frame)]).to_dict()
    assert frames == {query: docs for query, docs in fused.to_dict().items() if docs}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "sum"}, "method='sum' must be one of rrf, weighted"),
        ({"norm": "max"}, "norm='max' must be one of"),
        ({"weights": [1]}, "1 weight for 2 lists"),
        ({"weights": [1, -1]}, r"weights\[1\]=-1 must be a number of at least 0"),
        ({"weights": [0, 0]}, "all weights are 0"),
        ({"weights": [1, math.nan]}, "must be a number"),
        ({"weights": "1,2"}, "must be a list of numbers"),
        ({"rrf_k": -1}, "rrf_k=-1"),
        ({"k": 0}, "k=0"),
    ],
)
def test_bad_parameters(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        fuse_lists([[Hit("a", 1)], [Hit("b", 1)]], **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hits", "message"),
    [
        ([Hit("a", 2), Hit("a", 1)], "list 1 holds document 'a' twice"),
        ([Hit("a", 1), Hit("b", 2)], "list 1 is not ranked: document 'b'"),
        ([Hit("a", math.nan)], "scores must be finite"),
        ([Hit("a", math.inf)], "scores must be finite"),
    ],
)
def test_bad_lists(hits: list[Hit], message: str) -> None:
    with pytest.raises(DataError, match=message):
        fuse_lists([hits])


def test_bad_runs() -> None:
    with pytest.raises(DataError, match="no run"):
        fuse([])
    with pytest.raises(DataError, match=r"query 'q'.*scores must be finite"):
        fuse([Run({"q": {"a": math.inf}})])


def test_runs_of_any_kind(tmp_path: Path) -> None:
    lists = {"q": {"a": 2.0, "b": 1.0}}
    path = tmp_path / "one.run"
    path.write_text("q Q0 a 1 2.0 tag\nq Q0 b 2 1.0 tag\n")
    wanted = fuse([Run(lists), Run(lists)]).to_dict()
    for run in (lists, path, str(path), open_run(path), Run(lists).frame):
        assert fuse([run, Run(lists)]).to_dict() == wanted
    named = fuse({"x": path, "y": {"q": {"b": 1.0}}}, "weighted", {"y": 1, "x": 3})
    assert (named.name, named.to_dict()) == ("x+y", {"q": {"a": 3.0, "b": 1.0}})
    with pytest.raises(DataError, match="give each name one weight"):
        fuse({"x": path, "y": path}, weights={"x": 1})
    assert rankgauge.fuse is fuse
