"""Live retrievers: scored as their saved lists would be, failures counted, and plans and sweeps over them."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import evaluate, evaluate_retriever, sweep
from rankgauge.errors import DataError, FormatError, RankgaugeError, RetrieverError
from rankgauge.live.sweep import settings_of
from rankgauge.model.testset import TestSet
from rankgauge.plans.plan import load_plan, template
from rankgauge.plans.running import run_plan
from rankgauge.record import Record, SweepResult
from rankgauge.words import LANGUAGES, tell

WORDS = ["apple", "river", "quantum", "garden", "python", "engine", "music", "desert", "planet", "winter", "silver"]


@pytest.fixture(scope="module")
def corpus() -> dict[str, str]:
    rng = random.Random(1)
    return {f"d{i}": " ".join(rng.choices(WORDS, k=10)) for i in range(120)}


@pytest.fixture(scope="module")
def test_set(corpus: dict[str, str]) -> TestSet:
    rng = random.Random(2)
    texts = [" ".join(rng.sample(WORDS, 2)) for _ in range(24)]
    relevant = [[d for d, t in corpus.items() if set(text.split()) <= set(t.split())][:6] or ["d0"] for text in texts]
    tags = [["even"] if i % 2 == 0 else ["odd"] for i in range(24)]
    return TestSet.from_annotations(texts, relevant, ids=[f"q{i}" for i in range(24)], tags=tags)


class Counting:
    """Documents by how many of the query's words they hold."""

    def __init__(self, corpus: dict[str, str], noise: float = 0.0) -> None:
        self.corpus, self.noise = corpus, noise

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        rng = random.Random(query)
        scored = {
            d: sum(w in t.split() for w in query.split()) + self.noise * rng.random() for d, t in self.corpus.items()
        }
        best = sorted(scored, key=lambda d: (-scored[d], d))[:k]
        return [{"id": doc, "score": scored[doc]} for doc in best]


def test_a_live_retriever_scores_as_its_saved_lists(corpus: dict[str, str], test_set: TestSet) -> None:
    retriever = Counting(corpus)
    live = evaluate_retriever(retriever, test_set, k=10, measures=["nDCG@10", "R@10"], concurrency=3)
    saved = {q.id: {hit["id"]: hit["score"] for hit in retriever.search(q.text, 10)} for q in test_set}
    assert dict(live.mean) == dict(evaluate(test_set, saved, ["nDCG@10", "R@10"]).mean)
    assert live.latency is not None
    assert live.latency.count == 24
    assert live.throughput > 0
    assert live.failed == []


def test_a_failed_query_counts_as_zero_and_is_named(corpus: dict[str, str], test_set: TestSet) -> None:
    inner = Counting(corpus)
    bad = test_set[3].text

    def search(query: str, k: int) -> list[dict[str, Any]]:
        if query == bad:
            raise ValueError("the index is on fire")
        return inner.search(query, k)

    live = evaluate_retriever(search, test_set, measures="R@10", max_failed=0.2, retries=0)
    assert live.failed == ["q3"]
    assert live.per_query.filter(live.per_query["query"] == "q3")["R@10"].to_list() == [0.0]
    assert any("1 of 24 queries failed" in warning for warning in live.warnings)
    assert any("on fire" in warning for warning in live.warnings)
    with pytest.raises(RetrieverError, match="more than the 1 % allowed"):
        evaluate_retriever(search, test_set, measures="R@10", max_failed=0.01, retries=0)


def test_gold_documents_outside_the_index_are_told(corpus: dict[str, str], test_set: TestSet) -> None:
    gone = next(iter(test_set[0].grades))
    smaller = {doc: text for doc, text in corpus.items() if doc != gone}
    live = evaluate_retriever(Counting(smaller), test_set, measures="R@10", corpus=smaller)
    assert "live.missing_gold" in [note.key for note in live.live_notes]
    strange = evaluate_retriever(Counting(corpus), test_set, measures="R@10", corpus=smaller)
    assert any("not in the corpus" in warning for warning in strange.warnings)


def test_measures_that_take_in_the_whole_corpus_are_told(corpus: dict[str, str], test_set: TestSet) -> None:
    n = len(corpus)
    own = evaluate_retriever(Counting(corpus), test_set, measures=[f"R@{n}", f"R@{n - 1}", "RR"], k=n, corpus=corpus)
    (told,) = [note for note in own.live_notes if note.key == "live.whole_corpus"]
    assert (told.level, dict(told.parameters)) == ("warning", {"documents": n, "measures": [f"R@{n}"]})
    for inputs in ({"measures": f"R@{n - 1}", "corpus": corpus}, {"measures": f"R@{n}"}):  # of an unknown corpus
        inner = Counting(corpus)
        other = evaluate_retriever(lambda query, k, inner=inner: inner.search(query, k), test_set, k=n, **inputs)
        assert "live.whole_corpus" not in [note.key for note in other.live_notes]


def test_answers_are_kept_and_not_asked_again(tmp_path: Path, corpus: dict[str, str], test_set: TestSet) -> None:
    asked: list[str] = []
    inner = Counting(corpus)

    def search(query: str, k: int) -> list[dict[str, Any]]:
        asked.append(query)
        return inner.search(query, k)

    options = {"measures": "R@10", "cache": tmp_path / "cache", "corpus": corpus, "name": "mine"}
    first = evaluate_retriever(search, test_set, configuration={"v": 1}, **options)
    again = evaluate_retriever(search, test_set, configuration={"v": 1}, **options)
    assert len(asked) == 24
    assert again.latency.count == 0
    assert again.throughput is None
    assert dict(first.mean) == dict(again.mean)
    evaluate_retriever(search, test_set, configuration={"v": 2}, **options)
    assert len(asked) == 48
    evaluate_retriever(search, test_set, configuration={"v": 1}, **{**options, "corpus": {**corpus, "new": "x"}})
    assert len(asked) == 72


def test_an_empty_test_set(corpus: dict[str, str]) -> None:
    with pytest.raises(DataError, match="no query"):
        evaluate_retriever(Counting(corpus), TestSet([]))


def test_sweep_holds_queries_out(corpus: dict[str, str], test_set: TestSet) -> None:
    found = sweep(
        lambda noise: Counting(corpus, noise), {"noise": [0.0, 0.5, 3.0]}, test_set, measure="R@10", folds=4, k=10
    )
    assert [version.label for version in found.versions] == ["V1", "V2", "V3"]
    means = [version.mean for version in found.versions]
    assert found.best.mean == max(means)
    assert found.held_out is not None
    assert found.held_out.mean <= found.best.mean + 1e-12
    assert len(found.held_out.chosen) == 4
    assert any(version.on_front for version in found.versions)
    assert found.to_frame()["mean"].to_list() == means
    assert isinstance(found.result, SweepResult)


def test_held_out_scores_by_hand(corpus: dict[str, str], test_set: TestSet) -> None:
    """The mean of each fold's queries under the setting that the others choose."""
    grid = {"noise": [0.0, 1.5, 2.0]}
    found = sweep(lambda noise: Counting(corpus, noise), grid, test_set, measure="R@10", folds=4, seed=5)
    scores = np.stack([live.table.values[:, 0] for live in found.evaluations])
    parts = np.array_split(np.random.default_rng(5).permutation(24), 4)
    expected = np.zeros(24)
    for part in parts:
        others = [i for i in range(24) if i not in part]
        expected[part] = scores[scores[:, others].mean(axis=1).argmax(), part]
    assert found.held_out.mean == pytest.approx(expected.mean())


def test_sweep_measures_recall_against_exact_search(corpus: dict[str, str], test_set: TestSet) -> None:
    found = sweep(
        lambda noise: Counting(corpus, noise), {"noise": [0.0, 5.0]}, test_set, measure="R@10", exact={"noise": 0.0}
    )
    assert found.versions[0].ann_recall == 1.0
    assert found.versions[1].ann_recall < 1.0


@pytest.mark.parametrize("grid", [{}, {"a": []}, {"a": 3}, {"a": "xy"}])
def test_bad_grids(grid: dict[str, Any]) -> None:
    with pytest.raises(RankgaugeError):
        settings_of(grid)


def test_random_settings() -> None:
    grid = {"a": list(range(10)), "b": list(range(10))}
    chosen = settings_of(grid, tries=7, seed=3)
    assert len(chosen) == 7
    assert chosen == settings_of(grid, tries=7, seed=3)
    assert len({tuple(setting.values()) for setting in chosen}) == 7


@pytest.fixture
def folder(tmp_path: Path, corpus: dict[str, str], test_set: TestSet) -> Path:
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": doc, "text": text}) + "\n" for doc, text in corpus.items())
    )
    test_set.save(tmp_path / "testset.json")
    (tmp_path / "own_search_module.py").write_text(
        "class Shouting:\n"
        "    def search(self, query, k):\n"
        "        return [(f'd{i}', 1.0 / (i + 1)) for i in range(k)]\n"
        "retriever = Shouting()\n"
        "def make(corpus, shift=0):\n"
        "    ids = list(corpus)[shift:]\n"
        "    return lambda query, k: [doc for doc in ids if query.split()[0] in corpus[doc]][:k]\n"
    )
    return tmp_path


PLAN = """
testset = "testset.json"
corpus = "corpus.jsonl"
measures = ["nDCG@10", "R@10"]
[calls]
k = 10
concurrency = 2
[[system]]
name = "bm25"
use = "bm25"
[[system]]
name = "own"
use = "own_search_module:retriever"
[[system]]
name = "made"
factory = "own_search_module:make"
parameters = { shift = 2 }
[compare]
baseline = "bm25"
test = "t"
by = "tag"
[sweep]
system = "made"
measure = "R@10"
grid = { shift = [0, 1, 60] }
[outputs]
record = "out/record.json"
runs = "runs"
table = "summary.md"
"""


def test_a_plan_runs(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN)
    seen = []
    outcome = run_plan(
        load_plan(folder / "plan.toml"), progress=lambda name, done, total: seen.append((name, done, total))
    )
    record = outcome.record
    assert [system.name for system in record.systems] == ["bm25", "own", "made"]
    assert record.systems[0].calls.latency.count == 24
    assert [(row.a, row.b) for row in record.comparison.rows][:2] == [("bm25", "own"), ("bm25", "made")]
    assert {part.tag for part in record.comparison.slices} == {"even", "odd"}
    assert record.sweeps[0].best in ("V1", "V2", "V3")
    assert ("bm25", 24, 24) in seen
    assert [step for step in seen if step[0] == "made: shift"] == [("made: shift", done, 3) for done in range(4)]
    assert Record.from_dict(json.loads(record.to_json())) == record
    assert sorted(record.provenance.inputs) == ["corpus", "judgments", "plan"]
    again = run_plan(load_plan(folder / "plan.toml")).record
    assert [system.calls.kept for system in again.systems] == [0, 0, 0]  # a start that has finished leaves no answers
    assert [version.timed_before for version in again.sweeps[0].versions] == [24, 24, 24]  # but those of its sweep


def test_a_system_that_fails_does_not_take_the_others_along(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN)
    (folder / "own_search_module2.py").write_text("def make(corpus):\n    raise RuntimeError('no such index')\n")
    (folder / "plan.toml").write_text(
        PLAN.replace('use = "own_search_module:retriever"', 'factory = "own_search_module2:make"')
    )
    outcome = run_plan(load_plan(folder / "plan.toml"))
    assert list(outcome.invalid) == ["own"]
    assert "no such index" in outcome.invalid["own"].parameters["error"]
    assert outcome.record.invalid == outcome.invalid
    assert [system.name for system in outcome.record.systems] == ["bm25", "made"]


def test_all_faults_of_a_plan_are_named_together(folder: Path) -> None:
    (folder / "plan.toml").write_text(
        'testset = "nowhere.json"\ncorpus = "corpus.jsonl"\nmeasure = ["nDCG@10"]\nmeasures = ["nDGC@10"]\n'
        '[calls]\nk = 0\nconcurency = 3\ntimeout = "long"\n'
        '[[system]]\nname = "a"\nuse = "bm52"\n[[system]]\nname = "a"\nuse = "bm25"\n'
        '[[system]]\nname = "b"\nuse = "bm25"\nparameters = { k9 = 1 }\n'
        '[[system]]\nname = "c"\nuse = "no_such_module_anywhere:x"\n[[system]]\nname = "d"\n'
        '[compare]\nbaseline = "z"\nalpha = 3\n'
        '[sweep]\nsystem = "b"\ngrid = { nonsense = [1] }\n[outputs]\nreport = "x.pdf"\n'
    )
    with pytest.raises(FormatError) as caught:
        load_plan(folder / "plan.toml")
    text = str(caught.value)
    for word in (
        "nowhere.json",
        "measure: unknown",
        "did you mean nDCG",
        "calls.k",
        "did you mean concurrency",
        "calls.timeout",
        "bm52",
        "two systems are named 'a'",
        "k9",
        "no_such_module_anywhere",
        "system d",
        "compare.baseline",
        "alpha",
        "nonsense",
        "x.pdf",
    ):
        assert word in text, word


@pytest.mark.parametrize("content", ["", "a = [", "\x00", 'testset = 3\n[[system]]\nuse="bm25"\n', "system = 3\n"])
def test_broken_plans(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.toml").write_text(content)
    with pytest.raises(FormatError):
        load_plan(tmp_path / "plan.toml")


def test_the_template_is_a_plan(folder: Path) -> None:
    (folder / "plan.toml").write_text(template())
    assert [system.name for system in load_plan(folder / "plan.toml").systems] == ["bm25", "hybrid"]


def test_a_set_has_no_order(test_set: TestSet) -> None:
    with pytest.raises(RetrieverError, match="no order"):
        evaluate_retriever(lambda query, k: {"d1", "d2"}, test_set, measures="RR")


def test_a_measure_deeper_than_the_lists_is_told(corpus: dict[str, str], test_set: TestSet) -> None:
    live = evaluate_retriever(Counting(corpus), test_set, k=3, measures=["R@100", "RR"])
    assert any("only 3 documents were requested, so R@100" in warning for warning in live.warnings)


def test_ids_are_no_texts_to_search_with(tmp_path: Path, corpus: dict[str, str]) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    with pytest.raises(DataError, match="no texts to search with"):
        evaluate_retriever(Counting(corpus), tmp_path / "qrels.txt")
    with pytest.raises(DataError, match="no texts to search with"):
        evaluate_retriever(Counting(corpus), {"q1": {"d1": 1}})


def test_a_version_that_fails_is_left_out_of_a_sweep(corpus: dict[str, str], test_set: TestSet) -> None:
    def make(noise: Any) -> Counting:
        return Counting(corpus, float(noise))

    found = sweep(make, {"noise": [0.0, "x", 1.0]}, test_set, measure="R@10")
    assert [version.label for version in found.versions] == ["V1", "V3"]
    assert "could not convert" in tell(found.failed["V2"], "en")
    assert set(found.held_out.chosen) <= {1, 3}
    with pytest.raises(RetrieverError, match="no version"):
        sweep(make, {"noise": ["x"]}, test_set)
    with pytest.raises(DataError, match="tries"):
        sweep(make, {"noise": [0.0, 1.0]}, test_set, tries=0)


def test_outputs_are_no_inputs_and_names_no_paths(folder: Path) -> None:
    text = PLAN.replace("out/record.json", "testset.json").replace('name = "own"', 'name = "../own"')
    (folder / "plan.toml").write_text(text)
    with pytest.raises(FormatError) as caught:
        load_plan(folder / "plan.toml")
    assert "is an input too" in str(caught.value)
    assert "no name for a system" in str(caught.value)


def test_a_module_that_ends_the_program(folder: Path) -> None:
    (folder / "ending_module.py").write_text("import sys\nsys.exit(7)\n")
    (folder / "plan.toml").write_text(PLAN.replace("own_search_module:retriever", "ending_module:x"))
    with pytest.raises(FormatError, match="SystemExit: 7"):
        load_plan(folder / "plan.toml")


def test_what_is_printed_hints_at_remarks(corpus: dict[str, str], test_set: TestSet) -> None:
    live = evaluate_retriever(Counting(corpus), test_set, k=3, measures=["R@100", "RR"], name="mine")
    n = len(live.warnings)
    assert repr(live) == f"LiveEvaluation('mine': R@100={live.mean['R@100']:.4f}, RR={live.mean['RR']:.4f}; " + (
        f"{n} warnings: see .warnings)" if n > 1 else "1 warning: see .warnings)"
    )


def test_remarks_in_both_languages(corpus: dict[str, str], test_set: TestSet) -> None:
    inner, bad = Counting(corpus), test_set[3].text

    def search(query: str, k: int) -> list[Any]:
        if query == bad:
            raise ValueError("on fire " * 200)
        found = inner.search(query, k)
        return [found[0], *found, {"id": "stranger", "score": 9.0}] if query == test_set[0].text else found

    live = evaluate_retriever(search, test_set, measures="R@10", max_failed=0.2, retries=0, corpus=corpus)
    notes = {note.key: note.parameters for note in live.live_notes}
    assert notes["live.failed_query"] == {"asked": 24, "query": "q3"}
    assert notes["live.query_error"]["error"].endswith("characters in all)")
    assert len(notes["live.query_error"]["error"]) < 400
    assert notes["live.duplicate"] == {"lists": 1, "query": "q0"}
    assert notes["live.unknown_ids"]["n"] == 1
    assert live.retrieval.notes == live.live_notes[1:]
    assert live.calls.notes == live.live_notes
    for language in LANGUAGES:
        for note in live.live_notes:
            said = tell(note, language)
            assert any("\u4e00" <= c <= "\u9fff" for c in said) is (language == "zh")


def test_ctrl_c_ends_an_evaluation(test_set: TestSet) -> None:
    def impatient(done: int, total: int) -> None:
        raise KeyboardInterrupt

    def waiting(query: str, k: int) -> list[str]:
        time.sleep(0.02)
        return [query]

    with pytest.raises(KeyboardInterrupt, match="mine: interrupted"):
        evaluate_retriever(waiting, test_set, measures="RR", name="mine", progress=impatient)
    tried = []

    def slow(shift: int) -> Any:
        tried.append(shift)

        def search(query: str, k: int) -> list[str]:
            raise ValueError

        return search

    def stop(number: int, total: int, text: str) -> None:
        if number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(slow, {"shift": [1, 2, 3]}, test_set, progress=stop)
    assert tried == [1]
