"""Runs under official measures and contracts: real data against published figures, and the conventions of each."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import rankgauge
from rankgauge.benchmarks import fetch_benchmark, load_benchmark, run_benchmark
from rankgauge.benchmarks.excluding import exclusion_name, without_excluded
from rankgauge.errors import DataError
from rankgauge.model.run import Run
from rankgauge.record import Record
from tests.benchmarks import sources
from tests.benchmarks.sources import LAYOUTS, QUERIES, put
from tests.parts import DATA


@pytest.mark.needs("data")
def test_bm25_on_dl19_gives_the_published_figures(tmp_path: Path) -> None:
    result = run_benchmark("dl19-passage", DATA / "dl19" / "dl19.BM25.run", folder=DATA / "dl19")
    figures = {one.measure: (round(one.value, 4), one.bm25) for one in result.figures}
    assert figures["nDCG@10"] == (0.5058, 0.5058)
    assert figures["R(rel=2)@100"] == (0.4910, 0.4910)
    assert "evaluation.short_lists" in {note.key for note in result.notes}  # AP is official on 1000 documents
    assert result.record.contract == result.benchmark.contract


def official_lecard(labels: dict[str, dict[str, int]], lists: dict[str, list[str]], k: int) -> float:
    """nDCG as the benchmark's own script defines it: linear gains, the ideal list of all labels."""
    total = 0.0
    for query, own in labels.items():
        gains = [own.get(doc, 0) for doc in lists[query]]
        ideal = sorted(own.values(), reverse=True)
        total += sum(g / math.log2(i + 2) for i, g in enumerate(gains[:k])) / sum(
            g / math.log2(i + 2) for i, g in enumerate(ideal[:k])
        )
    return total / len(labels)


@pytest.mark.needs("data")
@pytest.mark.parametrize(("name", "worst_first"), [("bm25", True), ("tfidf", True), ("lm", False)])
def test_lecard_is_scored_as_by_its_own_script(name: str, worst_first: bool) -> None:
    labels = json.loads((DATA / "lecard" / "label_top30_dict.json").read_text())
    stored = json.loads((DATA / "lecard" / f"{name}_top100.json").read_text())
    lists = {query: [str(doc) for doc in (docs[::-1] if worst_first else docs)] for query, docs in stored.items()}
    result = run_benchmark("lecard", lists, folder=DATA / "lecard")
    assert [one.measure for one in result.figures] == ["nDCG@10", "nDCG@20", "nDCG@30"]
    for one, k in zip(result.figures, (10, 20, 30), strict=True):
        assert one.value == pytest.approx(official_lecard(labels, lists, k), abs=1e-12)
        assert one.queries == 107


def test_excluded_documents_do_not_count(tmp_path: Path) -> None:
    sources.bright(tmp_path)
    run = {"q1": {"d4": 9.0, "d2": 8.0, "d1": 7.0, "d3": 6.0}, "q2": {"d4": 2.0, "d2": 1.0}}
    result = run_benchmark("bright-biology", run, folder=tmp_path)
    without = {"q1": {"d1": 7.0, "d3": 6.0}, "q2": {"d4": 2.0, "d2": 1.0}}
    by_hand = rankgauge.evaluate(sources.GRADES, without, ["nDCG@10"]).mean["nDCG@10"]
    assert result.figures[0].value == pytest.approx(by_hand)
    assert result.figures[0].value < 1.0
    told = next(note for note in result.notes if note.key == "benchmarks.excluded")
    assert told.parameters == {"n": 2, "queries": 1}
    name = exclusion_name("bright-biology", {"q1": ["d2", "d4"]})
    assert result.evaluation.contract.excluded == name
    kept = Record.from_dict(json.loads(result.record.to_json()))
    assert kept.contract is not None
    assert kept.contract.excluded == name
    assert name != exclusion_name("bright-biology", {"q1": ["d2"]})


def test_a_list_of_excluded_documents_alone_is_empty() -> None:
    kept, dropped = without_excluded(Run({"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}), {"q1": ["d1", "d7"], "q9": ["d2"]})
    assert (kept.to_dict(), dropped) == ({"q2": {"d2": 1.0}, "q1": {}}, 1)


def test_a_retriever_is_asked_for_as_many_more_as_are_excluded(tmp_path: Path) -> None:
    sources.bright(tmp_path)
    asked = []

    def search(query: str, k: int) -> list[str]:
        asked.append(k)
        return ["d4", "d2", "d1", "d3"][:k]

    result = run_benchmark("bright-biology", retriever=search, folder=tmp_path, k=2)
    assert set(asked) == {4}
    assert result.evaluation.live
    assert result.figures[0].value == pytest.approx((1 + 1 / math.log2(3)) / 2)


def test_documents_with_the_querys_id_are_dropped_where_the_benchmark_says_so(tmp_path: Path) -> None:
    sources.beir(tmp_path)
    sources.mteb_parquet(tmp_path / "other")
    run = {"q1": {"q1": 9.0, "d1": 2.0, "d3": 1.0}, "q2": {"q2": 9.0, "d2": 1.0}}
    dropped = run_benchmark("beir-scifact", run, folder=tmp_path).figures[0].value
    kept = run_benchmark("mteb-scifact", run, folder=tmp_path / "other").figures[0].value
    assert (dropped, kept < 1) == (1.0, True)


def test_msmarco_takes_lists_in_the_order_given(tmp_path: Path) -> None:
    sources.msmarco_passage(tmp_path)
    put(tmp_path / "my.run", "q1 Q0 d4 1 1 x\nq1 Q0 d1 2 5 x\nq2 Q0 d2 1 1 x\n")
    result = run_benchmark("msmarco-passage-dev", tmp_path / "my.run", folder=tmp_path)
    assert result.figures[0].measure == "RR@10"
    assert result.figures[0].value == pytest.approx((1 / 2 + 1) / 2)
    assert result.evaluation.name == "my"


def test_a_query_without_an_answer_counts_zero_as_in_the_official_script(tmp_path: Path) -> None:
    sources.msmarco_passage(tmp_path)
    assert run_benchmark("msmarco-passage-dev", {"q1": ["d1"]}, folder=tmp_path).figures[0].value == 0.5


def test_broad_and_specific_questions_have_their_own_measures(tmp_path: Path) -> None:
    sources.litsearch(tmp_path)  # q1 is broad (101, 103), q2 specific (102, 103)
    run = {"q1": ["101", "103"], "q2": ["101", "102"]}
    figures = {one.measure: one for one in run_benchmark("litsearch", run, folder=tmp_path).figures}
    assert (figures["R@5"].value, figures["R@5"].tag, figures["R@5"].queries) == (0.5, "specific", 1)
    assert (figures["R@20"].value, figures["R@20"].tag) == (1.0, "broad")


def test_medcorpus_uses_its_preset(tmp_path: Path) -> None:
    sources.graded(tmp_path)
    run = {"q1": ["d3", "d1"], "q2": ["d2"]}
    result = run_benchmark("medcorpus", run, folder=tmp_path)
    wanted = rankgauge.evaluate(tmp_path / "testset.json", run, ["nDCG@10", "AP@10", "R@10"], contract="medcorpus")
    assert [one.value for one in result.figures] == list(wanted.mean.values())


@pytest.mark.parametrize("name", LAYOUTS)
def test_built_in_bm25_runs_on_every_layout(name: str, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path)
    result = run_benchmark(name, retriever="bm25", parameters={"b": 0.4, "language": "en"}, folder=tmp_path)
    assert all(one.value > 0 for one in result.figures)


def test_a_fetched_benchmark_gives_a_record_that_verifies(tmp_path: Path) -> None:
    sources.beir(tmp_path / "raw")
    fetch_benchmark("beir-scifact", tmp_path / "kept", local=tmp_path / "raw")
    put(tmp_path / "my.run", "q1 Q0 d1 1 2 x\nq1 Q0 d3 2 1 x\nq2 Q0 d4 1 1 x\n")
    result = run_benchmark("beir-scifact", tmp_path / "my.run", folder=tmp_path / "kept")
    assert set(result.record.provenance.inputs) == {"judgments", "run:my"}
    assert all(finding.holds for finding in rankgauge.verify(result.record))


@pytest.mark.parametrize(
    ("name", "counting"),
    [
        ("beir-scifact", {"contract": "beir"}),
        ("dl20-passage", {"contract": "trec_eval9", "missing": "zero"}),
        ("msmarco-passage-dev", {"ties": "given"}),
    ],
)
def test_a_record_under_the_same_options_is_comparable(name: str, counting: dict[str, Any], tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path / "raw")
    kept = fetch_benchmark(name, tmp_path / "kept", local=tmp_path / "raw")
    run = {"q1": ["d1", "d4"], "q2": ["d2"]}
    official = run_benchmark(kept, run).record
    own = rankgauge.evaluate(kept.judgments, run, list(kept.benchmark.measures), **counting).record
    assert (official.contract, official.preset) == (own.contract, own.preset)


def test_a_retriever_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources.beir(tmp_path)
    put(tmp_path / "own_retriever.py", "def make(corpus, n=2):\n    return lambda query, k: sorted(corpus)[:n]\n")
    monkeypatch.chdir(tmp_path)
    result = run_benchmark("beir-scifact", retriever="own_retriever:make", parameters={"n": 4}, folder=tmp_path)
    assert result.figures[1].value == 1.0
    put(tmp_path / "plan.toml", '[[system]]\nname = "mine"\nfactory = "own_retriever:make"\nparameters = { n = 4 }\n')
    assert run_benchmark("beir-scifact", retriever="plan.toml", folder=tmp_path).figures[1].value == 1.0


def result_file(folder: Path, task: str, **scores: float) -> Path:
    entry = {"hf_subset": "default", "languages": ["eng-Latn"], "main_score": scores.get("ndcg_at_10"), **scores}
    value = {"dataset_revision": "r", "task_name": task, "mteb_version": "2.0", "scores": {"test": [entry]}}
    put(folder / "results" / "org__model" / "rev" / f"{task}.json", json.dumps(value))
    return folder / "results"


def test_results_of_mteb_stand_beside(tmp_path: Path) -> None:
    sources.beir(tmp_path)
    results = result_file(tmp_path, "SciFact", ndcg_at_10=0.71, recall_at_100=0.95)
    result_file(tmp_path, "NFCorpus", ndcg_at_10=0.3)
    result = run_benchmark("beir-scifact", {"q1": ["d1"]}, folder=tmp_path, beside=results)
    assert [one.mteb for one in result.figures] == [{"org/model": 0.71}, {"org/model": 0.95}]
    other = run_benchmark(
        "beir-scifact", {"q1": ["d1"]}, folder=tmp_path, beside=results / "org__model/rev/NFCorpus.json"
    )
    assert "benchmarks.no_mteb" in {note.key for note in other.notes}


def test_figures_far_below_bm25_are_doubted(tmp_path: Path) -> None:
    sources.beir(tmp_path)
    poor = run_benchmark("beir-scifact", {"q1": ["d4", "d2", "d1"], "q2": ["d4"]}, folder=tmp_path)
    good = run_benchmark("beir-scifact", {"q1": ["d1", "d3"], "q2": ["d2"]}, folder=tmp_path)
    assert any("less than half of what BM25 is published with (0.6789)" in said for said in poor.warnings)
    assert not any("less than half" in said for said in good.warnings)


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({}, "give a run, or `retriever=`: one of them"),
        ({"run": {"q1": ["d1"]}, "retriever": "bm25"}, "one of them"),
        ({"retriever": "bm26"}, "bm26"),
        ({"retriever": "bm25", "parameters": {"k7": 1}}, "bm25 has no parameter 'k7'"),
        ({"retriever": "nowhere:make"}, "'nowhere' cannot be imported"),
    ],
)
def test_mistakes_are_told(choices: dict[str, Any], said: str, tmp_path: Path) -> None:
    sources.beir(tmp_path)
    with pytest.raises(rankgauge.RankgaugeError, match=said):
        run_benchmark("beir-scifact", folder=tmp_path, **choices)


def test_without_documents_a_built_in_retriever_has_nothing_to_search(tmp_path: Path) -> None:
    put(tmp_path / "2019qrels-pass.txt", "q1 0 d1 3\n")
    loaded = load_benchmark("dl19-passage", tmp_path)
    with pytest.raises(DataError, match="its documents are not here, so 'bm25' has nothing to search"):
        run_benchmark(loaded, retriever="bm25")


def test_the_figures_for_programs(tmp_path: Path) -> None:
    sources.beir(tmp_path)
    value = json.loads(json.dumps(run_benchmark("beir-scifact", {"q1": ["d1", "d3"]}, folder=tmp_path).to_dict()))
    assert value["contract"]["drop_self"] is True
    assert value["figures"][0]["bm25"] == 0.6789
    assert QUERIES.keys() >= {"q1"}
    assert value["bm25"]["source"].startswith("https://github.com/castorini/pyserini/")
