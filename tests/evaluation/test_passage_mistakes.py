"""Passages, documents and chunks mixed up: what would give a wrong figure without a word is told or refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rankgauge import Chunk, Chunks, Query, TestSet, compare, evaluate, evaluate_retriever, evaluate_traces, losses
from rankgauge.errors import DataError, RankgaugeError

TEXT = "Hold the button for ten seconds. Then let go. Never open it."
CHUNKS = Chunks({"c1": Chunk("m", 0, 32, TEXT[:32]), "c2": Chunk("m", 32, 60, TEXT[32:])})
RUN = {"q1": ["c1"], "q2": ["c1"]}
PASSAGE = Query("how long", {}, "q1", spans=({"doc": "m", "start": 0, "end": 20},))
PLACES = re.compile(r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$")


@pytest.mark.parametrize("measure", ["CharR@5", "CharP@5", "CharIoU@5"])
def test_characters_of_whole_documents_are_refused(measure: str) -> None:
    """Labels without passages gave 0 without a word."""
    for labels in (TestSet([Query("how", {"m": 1}, "q1")]), TestSet([PASSAGE, Query("why", {"m": 1}, "q2")])):
        with pytest.raises(DataError, match=r"the label 'm' of query 'q[12]' is no passage"):
            evaluate(labels, RUN, measure, chunks=CHUNKS)


def test_a_label_that_names_a_chunk_is_the_passage_it_holds() -> None:
    found = evaluate({"q1": {"c1": 1}, "q2": {"c2": 1}}, RUN, ["CharR@5", "CharP@5", "CharIoU@5"], chunks=CHUNKS)
    assert dict(found.mean) == {"CharR@5": 0.5, "CharP@5": 0.5, "CharIoU@5": 0.5}
    spans = TestSet(
        [
            Query("a", {}, "q1", spans=({"doc": "m", "start": 0, "end": 32},)),
            Query("b", {}, "q2", spans=({"doc": "m", "start": 32, "end": 60},)),
        ]
    )
    assert dict(evaluate(spans, RUN, ["CharR@5", "CharP@5"], chunks=CHUNKS).mean) == {"CharR@5": 0.5, "CharP@5": 0.5}


def test_labels_whose_ids_tell_their_places_count_characters() -> None:
    """As in mtrag: label and run name chunks by document, start and end, and no file of chunks is needed."""
    judged = {"q1": {"d-0-100": 1}, "q2": {"d-200-300": 1}, "q3": {"d-40-60": 1}}
    run = {"q1": ["d-0-100"], "q2": ["d-0-100"], "q3": ["d-50-70"]}
    found = evaluate(judged, run, ["CharR@5", "CharP@5"], chunks=PLACES)
    assert dict(found.mean) == pytest.approx({"CharR@5": (1 + 0 + 0.5) / 3, "CharP@5": (1 + 0 + 0.5) / 3})


def test_passages_scored_as_documents_are_told() -> None:
    labels = TestSet([PASSAGE])
    found = evaluate(labels, {"q1": ["m"]}, "R@1")
    assert any("labels are 1 passage" in warning and "`chunks=`" in warning for warning in found.warnings)
    assert not any("labels are" in one for one in evaluate(labels, {"q1": ["c1"]}, "R@1", chunks=CHUNKS).warnings)
    merged = evaluate(labels, {"q1": ["m#1"]}, "R@1", collapse_chunks=r"^(.+)#\d+$")
    assert not any("labels are" in one for one in merged.warnings)
    assert any(note.key == "spans.as_documents" for note in merged.notes)
    both = compare(labels, {"a": {"q1": ["m"]}, "b": {"q1": ["x"]}}, "R@1")
    assert any("labels are 1 passage" in warning for warning in both.warnings)


@pytest.mark.parametrize("grade", ["2", float("nan"), None, True])
def test_the_grade_of_a_passage_is_a_number(grade: Any) -> None:
    with pytest.raises(DataError, match="the grade of a span"):
        Query("how", {}, "q1", spans=({"text": "Then let go.", "grade": grade},))


def test_rules_that_merge_nothing() -> None:
    judged = {"q1": {"d1": 1}}
    found = evaluate(judged, {"q1": ["d1#0", "d2#0"]}, "R@5", collapse_chunks=r"^.+#\d+$")
    assert any("although chunks were merged" in one and "first group" in one for one in found.warnings)
    assert evaluate(judged, {"q1": ["d1#0", "d2"]}, "R@5", collapse_chunks="^[^#]+").mean["R@5"] == 1
    assert evaluate(judged, {"q1": ["d1", "d2"]}, "R@5", collapse_chunks="^[^#]+").mean["R@5"] == 1
    compiled = re.compile(r"^(.+)#\d+$")
    found = evaluate(judged, {"q1": ["d1#0"]}, "R@5", collapse_chunks=compiled)
    assert (found.mean["R@5"], found.contract.collapse) == (1, r"regex ^(.+)#\d+$")


def test_no_chunks_at_all() -> None:
    with pytest.raises(DataError, match="`chunks` is empty"):
        evaluate(TestSet([PASSAGE]), RUN, "R@5", chunks={})


def test_numbers_and_lists_in_wrong_places() -> None:
    labels = TestSet([Query("where", {"a": 1}, "q1")])
    calls = [{"query_id": "q1", "calls": [{"query": "x", "results": ["a"]}]}]
    with pytest.raises(DataError, match="`budgets` must be"):
        evaluate_traces(labels, calls, "R@5", budgets=5)
    with pytest.raises(DataError, match="resourceSpans"):
        evaluate_traces(labels, [{"resourceSpans": 5}], "R@5")
    huge = losses({"q1": {"a": 1}}, {"first": {"q1": ["a"]}}, k=10**30)
    assert huge.record.systems[0].means
    assert evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, f"R@{10**30}").mean[f"R@{10**30}"] == 1


@pytest.mark.parametrize(
    "spans",
    [
        {"resourceSpans": 5},
        {"resourceSpans": [5]},
        {"resourceSpans": [{"scopeSpans": 1}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": 5}]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"value": 5}]}]}]}]},
    ],
)
def test_spans_that_are_no_otlp(spans: Any, tmp_path: Any) -> None:
    import json

    path = tmp_path / "spans.json"
    path.write_text(json.dumps(spans))
    with pytest.raises(RankgaugeError):
        evaluate_traces(TestSet([Query("where", {"a": 1}, "q1")]), path, "R@5")


def test_passages_alone_judge_their_documents() -> None:
    """Made in Python they judged nothing, and every figure was 0; read from a file they did."""
    made = TestSet([PASSAGE, Query("why", {}, "q2", spans=({"doc": "n", "start": 0, "end": 9, "grade": 2},))])
    assert [dict(query.grades) for query in made] == [{"m": 1.0}, {"n": 2.0}]
    assert dict(Query("why", {"k": 1}, spans=({"doc": "m", "start": 0, "end": 9},)).grades) == {"k": 1}
    assert evaluate(made, {"q1": ["m"], "q2": ["m"]}, "R@1").mean["R@1"] == 0.5
    with pytest.raises(DataError, match="begins with the id 'm': chunks have such ids"):
        evaluate_retriever(lambda query, k: ["m#0", "n#3"], made, measures="R@5")


def test_quoted_texts_that_stand_nowhere_are_refused() -> None:
    asked: list[str] = []

    def search(query: str, k: int) -> list[str]:
        asked.append(query)
        return ["m"]

    quoted = TestSet([Query("how", {}, "q1", spans=("Then let go.",)), Query("why", {"m": 1}, "q2")])
    said = "the labels of 1 query, such as 'q1', are quoted texts alone.*`chunks=`.*testset anchor"
    with pytest.raises(DataError, match=said):
        evaluate(quoted, RUN, "R@1")
    with pytest.raises(DataError, match=said):
        evaluate_retriever(search, quoted, measures="R@1")
    assert asked == []
    assert evaluate(quoted, {"q1": ["c2"], "q2": ["c2"]}, "R@1", chunks=CHUNKS).mean == {"StRecall@1": 1.0}


def test_chunks_without_places_are_told_before_the_first_call() -> None:
    texts = Chunks({name: Chunk(one.doc, text=one.text) for name, one in CHUNKS.items()})
    with pytest.raises(DataError, match="CharR@5 needs `start` and `end` of every retrieved chunk"):
        evaluate_retriever(lambda query, k: 1 / 0, TestSet([PASSAGE]), measures="CharR@5", chunks=texts)
