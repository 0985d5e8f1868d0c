"""MTEB: a retriever as one of its models, and its result files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import rankgauge
from rankgauge.benchmarks import MtebModel, load_mteb_results
from rankgauge.errors import DataError, FormatError, MissingExtraError
from tests.benchmarks.sources import GRADES, QUERIES, TEXTS, put

CORPUS = [{"id": doc, "title": "", "text": text} for doc, text in TEXTS.items()]
ASKED = [{"id": query, "text": text} for query, text in QUERIES.items()]


def evaluated(model: Any, *, top_k: int = 1000, top_ranked: Mapping[str, list[str]] | None = None) -> dict[str, Any]:
    """The calls that `mteb.evaluate` makes of a model that has the search protocol, with its keywords."""
    about = {"task_metadata": object(), "hf_split": "test", "hf_subset": "default"}
    model.index(CORPUS, **about, encode_kwargs={"batch_size": 32}, num_proc=None)
    found: dict[str, Any] = model.search(
        ASKED, **about, top_k=top_k, encode_kwargs={"batch_size": 32}, top_ranked=top_ranked, num_proc=None
    )
    return found


def test_a_built_in_retriever_gives_what_it_gives_here() -> None:
    found = evaluated(MtebModel("bm25", parameters={"language": "en"}))
    here = rankgauge.evaluate_retriever(
        rankgauge.retrievers.BM25(TEXTS, language="en"),
        rankgauge.TestSet([rankgauge.Query(QUERIES[query], GRADES[query], query) for query in QUERIES]),
        k=4,
        measures=["nDCG@10"],
    )
    assert found == here.run.to_dict()
    assert all(type(score) is float for docs in found.values() for score in docs.values())


def test_a_function_makes_the_retriever() -> None:
    seen = []

    def make(corpus: Mapping[str, str]) -> Any:
        seen.append(dict(corpus))
        return lambda query, k: ["d4", "d2", "d1"][:k]

    found = evaluated(MtebModel(make), top_k=2)
    assert seen == [TEXTS]
    assert [list(docs) for docs in found.values()] == [["d4", "d2"], ["d4", "d2"]]
    assert all(sorted(docs.values(), reverse=True) == list(docs.values()) for docs in found.values())


def test_candidates_that_are_given_are_kept_to() -> None:
    """As MTEB does for BRIGHT, whose excluded documents are no candidates."""
    found = evaluated(
        MtebModel(lambda corpus: lambda query, k: ["d4", "d2", "d1", "d3"][:k]),
        top_k=2,
        top_ranked={"q1": ["d1", "d3"], "q2": ["d1", "d2", "d3", "d4"]},
    )
    assert {query: list(docs) for query, docs in found.items()} == {"q1": ["d1", "d3"], "q2": ["d4", "d2"]}


def test_titles_are_the_first_line() -> None:
    seen: dict[str, str] = {}
    model = MtebModel(lambda corpus: seen.update(corpus) or (lambda query, k: []))
    model.index([{"id": "d1", "title": "A  title", "text": "text"}, {"id": 2, "text": "only"}], num_proc=None)
    assert seen == {"d1": "A title\ntext", "2": "only"}


def test_what_fails_is_an_error() -> None:
    def search(query: str, k: int) -> list[str]:
        raise ValueError("down")

    with pytest.raises(DataError, match=r"queries failed: .*down"):
        evaluated(MtebModel(lambda corpus: search))
    with pytest.raises(DataError, match="`index` comes first"):
        MtebModel("bm25").search(ASKED, top_k=2)
    with pytest.raises(DataError, match="`make` must be the name of a retriever"):
        MtebModel(3)  # type: ignore[arg-type]


def test_the_description_needs_mteb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mteb.models.model_meta", None)
    with pytest.raises(MissingExtraError, match=r"pip install mteb .*rankgauge\[mteb\]"):
        _ = MtebModel("bm25").mteb_model_meta


def test_a_result_file(tmp_path: Path) -> None:
    entry = '{"ndcg_at_10": 0.7, "map_at_10": 0.5, "hit_rate_at_5": 0.9, "nauc_x": NaN, "main_score": 0.7, '
    entry += '"hf_subset": "zh", "languages": ["cmn-Hans"]}'
    text = '{"dataset_revision": "r1", "task_name": "MIRACLRetrieval", "mteb_version": "2.26.24", "scores": '
    put(tmp_path / "MIRACLRetrieval.json", f'{text}{{"dev": [{entry}]}}, "evaluation_time": 3.1}}')
    (one,) = load_mteb_results(tmp_path / "MIRACLRetrieval.json")
    assert (one.task, one.split, one.subset, one.revision, one.version) == (
        "MIRACLRetrieval",
        "dev",
        "zh",
        "r1",
        "2.26.24",
    )
    assert one.figures == {"nDCG@10": 0.7, "AP@10": 0.5, "Success@5": 0.9}
    assert (one.main, one.label) == (0.7, "MTEB (zh)")


def test_a_folder_of_models(tmp_path: Path) -> None:
    value = {"task_name": "SciFact", "mteb_version": "2.0", "scores": {"test": [{"ndcg_at_10": 0.6}]}}
    for model in ("org__one", "org__two"):
        put(tmp_path / model / "rev" / "SciFact.json", json.dumps(value))
        put(tmp_path / model / "rev" / "model_meta.json", json.dumps({"name": "named/one"} if "one" in model else {}))
    put(tmp_path / "other.json", "[1]")
    assert [one.label for one in load_mteb_results(tmp_path)] == ["named/one", "org/two"]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"test": {"ndcg_at_10": 0.6, "evaluation_time": 3.0}}, [("test", "default", 0.6)]),
        ({"test": {"en": {"ndcg_at_10": 0.6}, "zh": {"ndcg_at_10": 0.5}}}, [("test", "en", 0.6), ("test", "zh", 0.5)]),
    ],
)
def test_files_of_older_versions(value: dict[str, Any], wanted: list[Any], tmp_path: Path) -> None:
    put(tmp_path / "old.json", json.dumps({"mteb_version": "1.1", "mteb_dataset_name": "SciFact", **value}))
    found = load_mteb_results(tmp_path / "old.json")
    assert [(one.split, one.subset, one.figures["nDCG@10"]) for one in found] == wanted
    assert {one.task for one in found} == {"SciFact"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "no result file of MTEB"),
        ("{", "this is no JSON"),
        ('{"mteb_version": "2", "scores": {}}', "it holds no scores"),
        ('{"mteb_version": "2", "scores": {"test": [1]}}', "it holds no scores"),
    ],
)
def test_other_files_are_refused(text: str, said: str, tmp_path: Path) -> None:
    put(tmp_path / "x.json", text)
    with pytest.raises(FormatError, match=said):
        load_mteb_results(tmp_path / "x.json")


def test_a_figure_beyond_all_floats_is_left_out(tmp_path: Path) -> None:
    put(tmp_path / "x.json", '{"mteb_version": "2", "test": {"ndcg_at_5": %s, "ndcg_at_10": 0.5}}' % ("9" * 400))
    assert load_mteb_results(tmp_path / "x.json")[0].figures == {"nDCG@10": 0.5}


def test_a_folder_without_results(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="it holds no result file of MTEB"):
        load_mteb_results(tmp_path)
