"""Stages of live retrievers: their lists are recorded while they are asked, and a plan tells what each stage lost."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever, load_plan, losses, run_plan
from rankgauge.errors import FormatError
from rankgauge.model.testset import TestSet
from rankgauge.record import Record
from rankgauge.retrievers import BM25, MMR, Dense, Hybrid, Rerank
from rankgauge.retrievers.stages import is_staged

WORDS = ["apple", "river", "quantum", "garden", "python", "engine", "music", "desert", "planet", "winter", "silver"]


@pytest.fixture(scope="module")
def corpus() -> dict[str, str]:
    rng = random.Random(1)
    return {f"d{i}": " ".join(rng.choices(WORDS, k=10)) for i in range(80)}


@pytest.fixture(scope="module")
def test_set(corpus: dict[str, str]) -> TestSet:
    rng = random.Random(2)
    texts = [" ".join(rng.sample(WORDS, 2)) for _ in range(12)]
    relevant = [[d for d, t in corpus.items() if set(text.split()) <= set(t.split())][:6] or ["d0"] for text in texts]
    relevant[0].append("gone")
    return TestSet.from_annotations(texts, relevant, ids=[f"q{i}" for i in range(12)])


class Backwards:
    """A scorer that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, query: str, documents: list[tuple[str, str]]) -> list[float]:
        self.calls += 1
        return [float(i) for i in range(len(documents))]


def test_the_last_stage_is_what_search_gives(corpus: dict[str, str], test_set: TestSet) -> None:
    lexical, dense = BM25(corpus), Dense(corpus, dimensions=8)
    hybrid = Hybrid([lexical, dense], depth=7)
    made: dict[Any, tuple[str, ...]] = {
        hybrid: ("candidates", "fused"),
        Rerank(lexical, Backwards(), corpus=corpus, depth=6): ("candidates", "reranked"),
        Rerank(hybrid, Backwards(), corpus=corpus, depth=6): ("candidates", "fused", "reranked"),
        MMR(lexical, dense, depth=6): ("candidates", "diversified"),
        MMR(MMR(dense, dense), dense, depth=6): ("candidates", "diversified", "diversified 2"),
    }
    for retriever, names in made.items():
        assert is_staged(retriever)
        assert retriever.stage_names == names
        for query in test_set:
            for k in (3, 10):
                found = list(retriever.stages(query.text, k))
                assert [name for name, _ in found] == list(names)
                assert found[-1][1] == retriever.search(query.text, k)
                earlier, last = {hit.id for hit in found[0][1]}, {hit.id for hit in found[-1][1]}
                assert last <= earlier
    assert not is_staged(lexical)
    union = {hit.id for one in (lexical, dense) for hit in one.search("apple river", 7)}
    assert {hit.id for hit in dict(hybrid.stages("apple river", 3))["candidates"]} == union


@pytest.mark.parametrize(
    ("names", "expected"), [(("a", "b"), True), (("a",), False), ("ab", False), (("a", "a"), False), ((1, 2), False)]
)
def test_names_alone_are_no_stages(names: Any, expected: bool) -> None:
    class Own:
        stage_names = names

        def stages(self, query: str, k: int) -> Iterator[Any]:
            raise NotImplementedError

    assert is_staged(Own()) is expected
    Own.stages = []  # type: ignore[method-assign, assignment]
    assert not is_staged(Own())


def test_lists_are_recorded_while_asking(corpus: dict[str, str], test_set: TestSet, tmp_path: Path) -> None:
    scorer = Backwards()
    retriever = Rerank(BM25(corpus), scorer, corpus=corpus, depth=15)
    plain = [{hit.id: hit.score for hit in BM25(corpus).search(query.text, 15)} for query in test_set]
    known = {"k": 5, "measures": "R@5", "concurrency": 3, "cache": tmp_path, "configuration": {"version": 1}}
    live = evaluate_retriever(retriever, test_set, **known)
    assert scorer.calls == len(test_set)
    assert list(live.stages) == ["candidates"]
    assert list(live.stages["candidates"].to_dict().values()) == plain
    assert scorer.calls == len(test_set)  # nothing was asked again
    again = evaluate_retriever(retriever, test_set, **known)
    assert again.retrieval.cached == len(test_set)
    assert again.stages["candidates"] == live.stages["candidates"]
    assert scorer.calls == len(test_set)  # the candidates were, the re-ranker was not
    found = losses(test_set, {**live.stages, "reranked": live.retrieval.run}, 5, corpus=corpus)
    assert found.result.mean == live.mean["R@5"]
    assert evaluate_retriever(BM25(corpus), test_set, k=5, measures="R@5").stages == {}


PLAN = """
testset = "testset.json"
corpus = "corpus.jsonl"
measures = ["nDCG@5", "R@5"]
[calls]
k = 8
[[system]]
name = "bm25"
use = "bm25"
[[system]]
name = "rerank"
use = "rerank"
parameters = { depth = 20 }
[[system]]
name = "mine"
factory = "staged_module:make"
candidates = "bm25"
"""
MODULE = """
from rankgauge.retrievers import BM25
class Shorter:
    def __init__(self, corpus): self.inner = BM25(corpus)
    def search(self, query, k): return self.inner.search(query, 8)[3:]
def make(corpus): return Shorter(corpus)
"""


@pytest.fixture
def folder(corpus: dict[str, str], test_set: TestSet, tmp_path: Path) -> Path:
    test_set.save(tmp_path / "testset.json")
    lines = [json.dumps({"_id": doc, "text": text}) for doc, text in corpus.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "staged_module.py").write_text(MODULE)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def test_a_plan_tells_where_its_systems_lost(folder: Path, corpus: dict[str, str], test_set: TestSet) -> None:
    outcome = run_plan(folder / "plan.toml")
    record = outcome.record
    assert Record.from_dict(json.loads(record.to_json())) == record
    built_in, own = record.losses
    assert (built_in.system, built_in.stages) == ("rerank", ["candidates", "rerank"])
    assert (own.system, own.stages) == ("mine", ["bm25", "mine"])
    lives = {live.name: live for live in outcome.evaluations}
    for found in record.losses:
        assert (found.measure, found.k) == ("R@5", 5)
        assert found.mean == lives[found.system].mean["R@5"]
        assert found.place("corpus").documents == 1
        assert [place.kind for place in found.places] == ["corpus", "stage", "stage", "rank", "found"]
        assert [len(counts) for counts in found.per_query.values()] == [len(record.queries)] * 5
    stages = {"bm25": lives["bm25"].retrieval.run, "mine": lives["mine"].retrieval.run}
    alone = losses(test_set, stages, 5, corpus=corpus).result
    assert alone == own
    assert own.place("stage:mine").documents > 0
    text = record.report(language="en")
    assert text.count("missed relevant documents") == 2
    page = record.report(format="html", language="zh")
    assert "相关文档丢在哪里" in page


def test_a_plan_without_recall_uses_what_was_asked_for(folder: Path) -> None:
    plan = PLAN.replace('"R@5"', '"RR"').replace('candidates = "bm25"', "")
    (folder / "plan.toml").write_text(plan)
    (found,) = run_plan(folder / "plan.toml").record.losses
    assert (found.system, found.measure, found.k) == ("rerank", "R@8", 8)


@pytest.mark.parametrize(
    ("name", "said"),
    [("bm52", "candidates names another system, not 'bm52': bm25, rerank"), ("mine", "candidates come from itself")],
)
def test_candidates_name_another_system(folder: Path, name: str, said: str) -> None:
    (folder / "plan.toml").write_text(PLAN.replace('candidates = "bm25"', f'candidates = "{name}"'))
    with pytest.raises(FormatError, match=said):
        load_plan(folder / "plan.toml")


def test_stages_of_chunks_are_merged_by_their_field(corpus: dict[str, str], test_set: TestSet) -> None:
    """Each result tells its document; the lists of earlier stages are of documents too."""

    class Pieces:
        stage_names = ("candidates", "kept")

        def __init__(self) -> None:
            self.inner = BM25(corpus)

        def stages(self, query: str, k: int) -> Iterator[Any]:
            hits = self.inner.search(query, 2 * k)
            rows = [{"id": f"piece {i}", "doc": hit.id, "score": hit.score} for i, hit in enumerate(hits)]
            found = [{**row, "id": f"{row['doc']} {row['id']}"} for row in rows]
            yield "candidates", found
            yield "kept", found[:k]

        def search(self, query: str, k: int) -> Any:
            return list(self.stages(query, k))[-1][1]

    live = evaluate_retriever(Pieces(), test_set, k=4, measures="R@4", parent_field="doc")
    plain = {query.id: [hit.id for hit in BM25(corpus).search(query.text, 8)] for query in test_set}
    assert {q: list(docs) for q, docs in live.stages["candidates"].to_dict().items()} == plain
    found = losses(test_set, {**live.stages, "kept": live.run}, 4)
    assert found.result.mean == live.mean["R@4"]
    assert found.result.place("stage:kept").documents > 0
