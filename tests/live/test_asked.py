"""What a live retriever can be asked: whatever `evaluate` takes that has texts, and several retrievers at once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from rankgauge import (
    Comparison,
    Qrels,
    Record,
    Run,
    compare,
    evaluate,
    evaluate_retriever,
    evaluate_retrievers,
    report,
)
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.live.evaluation import RetrievalError
from rankgauge.model.testset import Query, TestSet
from rankgauge.retrievers import BM25
from rankgauge.words import LANGUAGES, tell

TEXTS = {"1": "reset password", "2": "refund", "3": "delete account"}
GRADES = {"1": {"d1": 2, "d2": 1}, "2": {"d3": 1}, "3": {"d4": 1, "d1": 0}}
BY_TEXT = {TEXTS[key]: grades for key, grades in GRADES.items()}
DOCS = {"d1": "reset a password", "d2": "password rules", "d3": "refund in a week", "d4": "account gone"}
ROWS = [(key, TEXTS[key], doc, grade) for key, grades in GRADES.items() for doc, grade in grades.items()]


def search(query: str, k: int) -> list[tuple[str, int]]:
    found = [(doc, len(set(query.split()) & set(text.split()))) for doc, text in DOCS.items()]
    return sorted((pair for pair in found if pair[1]), key=lambda pair: -pair[1])[:k]


EXPECTED = evaluate(GRADES, {key: dict(search(text, 10)) for key, text in TEXTS.items()}).mean

INPUTS: dict[str, tuple[Any, Any]] = {
    "test set": (TestSet([Query(TEXTS[key], grades, key) for key, grades in GRADES.items()]), None),
    "by text": (BY_TEXT, None),
    "queries": ([Query(TEXTS[key], grades, key) for key, grades in GRADES.items()], None),
    "objects": (
        [{"id": key, "query": TEXTS[key], "relevance_scores": grades} for key, grades in GRADES.items()],
        None,
    ),
    "judgments": (GRADES, TEXTS),
    "qrels": (Qrels(GRADES), TEXTS),
    "qrels by text": (Qrels(BY_TEXT), None),
    "polars": (pl.DataFrame(ROWS, schema=["query_id", "query", "doc_id", "relevance"], orient="row"), None),
    "pandas": (pd.DataFrame(ROWS, columns=["qid", "query_text", "doc_id", "label"]), None),
    "pandas by text": (pd.DataFrame([row[1:] for row in ROWS], columns=["query", "doc_id", "label"]), None),
    "frame and texts": (pl.DataFrame(ROWS, schema=["qid", "x", "doc", "grade"], orient="row"), TEXTS),
    "more texts than judged": (GRADES, {**TEXTS, "99": "never judged"}),
}


@pytest.mark.parametrize("name", INPUTS)
def test_every_kind_of_input_gives_the_same_scores(name: str) -> None:
    given, queries = INPUTS[name]
    live = evaluate_retriever(search, given, queries=queries)
    assert dict(live.mean) == pytest.approx(dict(EXPECTED))
    assert [query.text for query in live.test_set] == list(TEXTS.values())


@pytest.mark.parametrize("queries", ["q.tsv", "q.jsonl", "."])
def test_files_of_judgments_and_queries(queries: str, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"{key} 0 {doc} {grade}\n" for key, _, doc, grade in ROWS))
    (tmp_path / "q.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in TEXTS.items()))
    lines = "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in TEXTS.items())
    (tmp_path / "q.jsonl").write_text(lines)
    (tmp_path / "queries.jsonl").write_text(lines)
    live = evaluate_retriever(search, tmp_path / "qrels.txt", queries=tmp_path / queries)
    assert dict(live.mean) == pytest.approx(dict(EXPECTED))
    wanted = {"judgments"} if queries == "." else {"judgments", "queries"}
    assert set(live.record.provenance.inputs) == wanted


@pytest.mark.parametrize(
    ("given", "queries", "said"),
    [
        (GRADES, None, "no texts to search with; give the texts, queries="),
        (GRADES, {"1": "reset"}, "`queries`: 2 of 3 judged queries have no text there, such as '2'"),
        (GRADES, {"a": "reset"}, "it has ids such as 'a'"),
        (GRADES, {**TEXTS, "2": 3}, "the text of query '2' is 3; give a text"),
        (GRADES, {**TEXTS, "2": " "}, "the text of query '2' is ' '"),
        (GRADES, ["reset"], "`queries` are texts by id, .* not a list"),
        ({}, None, "there is no query to ask"),
        ([], None, "there is no query to ask"),
        ([{"query": "a b"}], None, "neither .relevant_docs. nor .relevance_scores."),
        ([1, 2], None, "not a list"),
        (3, None, "not a int"),
        ({"a b": {"d": "high"}}, None, "high"),
        ({"a b": "d"}, None, "neither a list nor a dictionary"),
    ],
)
def test_what_cannot_be_asked_is_said_first(given: Any, queries: Any, said: str) -> None:
    def never(query: str, k: int) -> list[str]:
        raise AssertionError("asked")

    with pytest.raises(RankgaugeError, match=said):
        evaluate_retriever(never, given, queries=queries)


# Ids and words


@pytest.mark.parametrize(
    "texts",
    [
        ["laptop", "phone"],
        ["laptop"],
        ["BM25", "word2vec", "gpt-4"],
        ["iphone15", "iphone16"],
        ["decade", "facade"],  # of the letters of hexadecimal numbers
        ["退款", "密码"],
        ["c++", "q"],
        ["how to", "1"],
    ],
)
def test_one_word_is_a_query(texts: list[str]) -> None:
    assert len(evaluate_retriever(search, {text: {"d1": 1} for text in texts}).retrieval.answers) == len(texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2"],
        ["q1", "q2", "Q30"],
        ["query_1", "query_2"],
        ["topic-301", "topic-302"],
        ["8ba2d5b1-6cf3-4f47-9c86-0cf4b7fd3a11", "8ba2d5b16cf34f479c860cf4b7fd3a12"],
        ["9e107d9d372bb6826bd81d3542a419d6", "e4d909c290d0fb1ca068ffaddf22cbd0"],
        ["q1"],
        ["d5b1e735a040853ed361a3dfde1b8ef0<::>1", "d5b1e735a040853ed361a3dfde1b8ef0<::>2"],
    ],
)
def test_ids_are_refused(texts: list[str]) -> None:
    with pytest.raises(DataError, match="it has ids of queries, but no texts"):
        evaluate_retriever(search, {text: {"d1": 1} for text in texts})
    # With an id of its own, a text may be anything.
    asked = [Query(text, {"d1": 1}, f"id of {text}") for text in texts]
    assert len(evaluate_retriever(search, asked).retrieval.answers) == len(texts)


def test_doubtful_texts_are_asked_and_told() -> None:
    live = evaluate_retriever(search, {"PLAIN-12": {"d1": 1}, "PLAIN-13": {"d1": 1}})
    (note,) = [note for note in live.live_notes if note.key == "asking.doubtful_texts"]
    assert note.level == "warning"
    assert all("PLAIN-12" in tell(note, language) for language in LANGUAGES)
    for texts in (["laptop", "phone"], ["PLAIN-12", "a real question"]):
        live = evaluate_retriever(search, {text: {"d1": 1} for text in texts})
        assert "asking.doubtful_texts" not in [note.key for note in live.live_notes]


# Several retrievers, and live evaluations among runs


def nothing(query: str, k: int) -> list[tuple[str, float]]:
    return [("d9", 1.0)]


def test_several_retrievers_are_compared() -> None:
    told: list[tuple[str, int, int]] = []
    found = evaluate_retrievers(
        {"words": search, "bm25": BM25(DOCS), "nothing": nothing},
        GRADES,
        queries=TEXTS,
        measures=["nDCG@10", "R@10"],
        baseline="nothing",
        corpus=DOCS,
        progress=lambda *about: told.append(about),
    )
    assert isinstance(found, Comparison)
    assert [live.name for live in found.evaluations] == ["words", "bm25", "nothing"]
    assert [live.latency.count for live in found.evaluations] == [3, 3, 3]
    assert {(row.a, row.b) for row in found.rows} == {("nothing", "words"), ("nothing", "bm25")}
    assert dict(found.evaluations[0].mean) == dict(
        evaluate_retriever(search, BY_TEXT, measures=["nDCG@10", "R@10"]).mean
    )
    record = found.record
    assert all(system.calls is not None for system in record.systems)
    assert record.lists["1"]["words"][0].doc == "d1"
    assert record.texts == TEXTS
    assert record.documents["d1"] == DOCS["d1"]
    assert told[-1] == ("nothing", 3, 3)


@pytest.mark.parametrize(
    ("retrievers", "options", "said"),
    [
        ([search, nothing], {}, "`retrievers` are given by name"),
        ({1: search, 2: nothing}, {}, "`retrievers` are given by name"),
        ({"a": search}, {}, "at least two systems"),
        ({"a": search, "b": nothing}, {"baseline": "c"}, "the baseline 'c' is not among the systems: a, b"),
        ({"a": search, "b": "http://host/"}, {}, "HttpRetriever"),
        ({"a": search, "b": nothing}, {"configuration": 3}, "`configuration` holds one for each name"),
        ({"a": search, "b": nothing}, {"cache": "x"}, "configuration"),
        ({"a": search, "b": nothing}, {"alpha": 2}, "alpha"),
    ],
)
def test_slips_with_several(retrievers: Any, options: dict[str, Any], said: str, tmp_path: Path) -> None:
    if "cache" in options:
        options = {"cache": tmp_path}
    with pytest.raises(RankgaugeError, match=said):
        evaluate_retrievers(retrievers, BY_TEXT, **options)


def test_all_retrievers_are_looked_at_before_the_first_call() -> None:
    asked = []
    with pytest.raises(RankgaugeError, match="None cannot be searched"):
        evaluate_retrievers({"a": lambda query, k: asked.append(query) or [], "b": None}, BY_TEXT)
    assert asked == []


def test_answers_of_several_are_kept_apart(tmp_path: Path) -> None:
    options = {"cache": tmp_path, "configuration": {"a": {"v": 1}, "b": {"v": 1}}, "measures": "R@10"}
    first = evaluate_retrievers({"a": search, "b": nothing}, BY_TEXT, **options)
    again = evaluate_retrievers({"a": nothing, "b": search}, BY_TEXT, **options)
    assert [live.retrieval.cached for live in again.evaluations] == [3, 3]
    assert [dict(live.mean) for live in again.evaluations] == [dict(live.mean) for live in first.evaluations]

    def broken(query: str, k: int) -> list[str]:
        raise KeyError("index")

    with pytest.raises(RetrievalError, match="b: 3 of 3 queries failed"):
        evaluate_retrievers({"a": search, "b": broken}, BY_TEXT, **{**options, "cache": tmp_path / "other"})
    with pytest.raises(DataError, match="`configuration` has 'b', which is no retriever: a, c"):
        evaluate_retrievers({"a": search, "c": broken}, BY_TEXT, **options)


def test_live_evaluations_among_the_runs() -> None:
    live = evaluate_retriever(search, BY_TEXT, measures="R@10")
    assert isinstance(live.run, Run)
    other = Run({text: {"d9": 1.0} for text in BY_TEXT})
    found = compare(live.test_set, {"live": live, "file": other}, ["nDCG@10", "R@10"])
    assert found.record.systems[0].calls == live.calls
    assert found.record.systems[1].calls is None
    assert dict(found.evaluations[0].mean) == dict(evaluate(BY_TEXT, live.run, ["nDCG@10", "R@10"]).mean)
    assert found.row("R@10", "live", "file").a == "live"
    with pytest.raises(DataError, match="plain: an Evaluation holds scores, and no lists to compare"):
        compare(BY_TEXT, {"live": live, "plain": evaluate(BY_TEXT, other)})


def test_the_record_of_a_live_evaluation_opens_every_query(tmp_path: Path) -> None:
    live = evaluate_retriever(search, GRADES, queries=TEXTS, corpus=DOCS, measures="R@10")
    live.save(tmp_path / "record.json")
    record = Record.load(tmp_path / "record.json")
    assert record == live.record
    assert record.texts == TEXTS
    assert [(entry.doc, entry.grade) for entry in record.lists["1"]["search"]] == [("d1", 2.0), ("d2", 1.0)]
    assert record.relevant["3"].grades == {"d4": 1.0}
    assert record.documents["d4"] == DOCS["d4"]
    page = report(record, format="html")
    assert "refund in a week" in page
    merged = evaluate_retriever(
        lambda query, k: [(f"{doc}#1", score) for doc, score in search(query, k)],
        GRADES,
        queries=TEXTS,
        measures="R@10",
        collapse_chunks="(.*)#",
    )
    assert [entry.doc for entry in merged.record.lists["1"]["<lambda>"]] == ["d1", "d2"]
    assert list(merged.run["1"]) == ["d1", "d2"]
    assert list(merged.retrieval.run["1"]) == ["d1#1", "d2#1"]


def test_a_file_that_is_no_queries_file(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("reset password\n")
    with pytest.raises(FormatError, match="an id and a text"):
        evaluate_retriever(search, GRADES, queries=tmp_path / "q.tsv")


def test_texts_of_queries_in_a_data_frame() -> None:
    judgments = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    texts = {"query_id": ["q1", "q2"], "text": ["first one", "second one"]}
    asked: list[str] = []

    def search(query: str, k: int) -> list[str]:
        asked.append(query)
        return ["d1"]

    for frame in (pl.DataFrame(texts), pd.DataFrame(texts)):
        evaluate_retriever(search, judgments, queries=frame, measures="RR")
    assert asked == ["first one", "second one"] * 2
    for wrong, said in (
        ({"query_id": ["q1", "q1"], "text": ["a b", "c d"]}, "the id 'q1' stands twice"),
        ({"query_id": ["q1", "q2"], "text": ["a b", None]}, "the text of query 'q2' is None"),
        ({"query_id": ["q1", "q2"]}, "no column for 'query_text'"),
    ):
        with pytest.raises(DataError, match=re.escape(said)):
            evaluate_retriever(search, judgments, queries=pl.DataFrame(wrong), measures="RR")


def test_what_is_wrong_with_the_lists_is_told_where_several_are_compared() -> None:
    judgments = {f"query {i}": {"d1": 1} for i in range(6)}
    far = lambda query, k: [("d1", 0.1), ("d2", 0.2), ("d3", 0.3)]  # noqa: E731
    near = lambda query, k: [("d1", 0.3), ("d2", 0.2), ("d3", 0.1)]  # noqa: E731
    both = evaluate_retrievers({"far": far, "near": near}, judgments, measures="RR")
    again = compare(judgments, {"far": evaluate_retriever(far, judgments, measures="RR"), "near": near_run()}, "RR")
    for found in (both, again):
        assert sum(text.startswith("far: 6 lists with scores that only rise") for text in found.warnings) == 1


def near_run() -> dict[str, list[str]]:
    return {f"query {i}": ["d1", "d2"] for i in range(6)}
