"""Budgets of chunks: against a naive count over lists of any kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Chunk, Chunks, Run, compare, evaluate, save_chunks
from rankgauge.errors import DataError

Lists = dict[str, list[tuple[str, float]]]
Case = tuple[Chunks, Lists, dict[str, set[str]]]
DOCS = ["a", "b", "c", "ab"]


def naive(
    lists: Lists, relevant: dict[str, set[str]], chunks: Chunks, budget: int, ties: str
) -> dict[str, float]:
    """Recall of the documents whose first chunk lies in the longest prefix of chunks that fits. Tied chunks stand as
    their documents are ranked."""
    found = {}
    for query, hits in lists.items():
        first = {}
        for place, (own, _) in enumerate(hits):
            first.setdefault(chunks[own].doc, place)
        best = {doc: max(s for own, s in hits if chunks[own].doc == doc) for doc in first}
        if ties == "trec":
            ranked = sorted(first, key=lambda doc: (best[doc], doc), reverse=True)
        else:
            ranked = sorted(first, key=lambda doc: (-best[doc], first[doc]))
        by_score = sorted(hits, key=lambda hit: (-hit[1], ranked.index(chunks[hit[0]].doc)))
        ordered = hits if ties == "given" else by_score
        room, inside = budget, set()
        for own, _ in ordered:
            room -= len(chunks[own].text)
            if room < 0:
                break
            inside.add(chunks[own].doc)
        found[query] = len(inside & relevant[query]) / len(relevant[query])
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    made = {}
    for doc in DOCS:
        for number in range(draw(st.integers(1, 4))):
            made[f"{draw(st.sampled_from('xyz'))}{doc}{number}"] = Chunk(doc, text="w" * draw(st.integers(1, 9)))
    chunks = Chunks(made)
    lists, relevant = {}, {}
    for query in ("q1", "q2", "q3"):
        ids = draw(st.lists(st.sampled_from(sorted(made)), unique=True, max_size=10))
        lists[query] = [(own, float(draw(st.integers(0, 3)))) for own in ids]
        relevant[query] = set(draw(st.lists(st.sampled_from(DOCS), unique=True, min_size=1)))
    return chunks, lists, relevant


@settings(max_examples=200, deadline=None)
@given(case=cases(), budget=st.integers(1, 40), ties=st.sampled_from(["trec", "stable", "given"]))
def test_budgets_are_those_of_the_chunks(case: Case, budget: int, ties: str) -> None:
    chunks, lists, relevant = case
    run = {query: dict(hits) for query, hits in lists.items()}
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in relevant.items()}
    result = evaluate(qrels, run, [f"R(budget={budget})", "AP"], collapse_chunks=chunks, ties=ties)
    wanted = naive(lists, relevant, chunks, budget, ties)
    scores = dict(zip(result.per_query["query"], result.per_query[f"R(budget={budget})"], strict=True))
    assert scores == pytest.approx(wanted)
    # What fits is found in the corpus by the chunks' ids as well, and what other measures say is not touched.
    parents = chunks.parents
    by_id = evaluate(qrels, run, f"R(budget={budget})", collapse_chunks=parents, corpus=chunks.texts, ties=ties)
    assert by_id.mean == pytest.approx({f"R(budget={budget})": result.mean[f"R(budget={budget})"]})
    assert evaluate(qrels, run, "AP", collapse_chunks=parents, ties=ties).mean["AP"] == result.mean["AP"]


def test_places_in_the_documents_are_texts_too(tmp_path: Path) -> None:
    corpus = {"a": "0123456789" * 10, "b": "0123456789"}
    chunks = Chunks({"x": Chunk("a", 0, 60), "y": Chunk("b", 0, 10), "z": Chunk("a", 60, 100)})
    run = {"q": ["x", "z", "y"]}
    qrels, measures = {"q": {"a": 1, "b": 1}}, [f"R(budget={n})" for n in (59, 60, 109, 110)]
    at = evaluate(qrels, run, measures, collapse_chunks=chunks, corpus=corpus)
    assert list(at.mean.values()) == [0, 0.5, 0.5, 1]
    short = Chunks({"x": Chunk("a", text="xx"), "y": Chunk("b", text="y"), "z": Chunk("a", text="z")})
    save_chunks(short, tmp_path / "c.jsonl")
    found = evaluate(qrels, run, "R(budget=3)", collapse_chunks=tmp_path / "c.jsonl", tokenizer=len)
    assert found.mean == {"R(budget=3)": 0.5}
    assert found.contract.collapse == "chunks"
    words = evaluate(qrels, run, "R(budget=1)", collapse_chunks=tmp_path / "c.jsonl", tokenizer=lambda _: 1)
    assert words.mean == {"R(budget=1)": 0.5}


def test_documents_do_not_stand_for_their_chunks() -> None:
    with pytest.raises(DataError, match=r"chunk 'a#1' was retrieved, but its text is not known.*`collapse_chunks=`"):
        evaluate({"q": {"a": 1}}, {"q": ["a#1"]}, "R(budget=9)", collapse_chunks=r"^(.+)#\d+$", corpus={"a": "text"})


def test_a_list_of_which_nothing_fits_is_empty_and_not_missing() -> None:
    chunks = Chunks({"a#0": Chunk("a", text="0123456789")})
    found = evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a#0"], "r": {}}, "R(budget=5)", collapse_chunks=chunks)
    assert found.mean == {"R(budget=5)": 0.0}
    assert found.coverage.missing == 0
    assert not any("missing" in warning for warning in found.warnings)


def test_runs_of_chunks_are_compared() -> None:
    chunks = Chunks({f"{doc}#{n}": Chunk(doc, text="w" * 10) for doc in "abc" for n in range(3)})
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    runs = {"one": {q: ["b#0", "b#1", "a#0"] for q in qrels}, "two": {q: ["a#2", "b#1", "b#0"] for q in qrels}}
    found = compare(qrels, runs, ["R(budget=20)", "AP"], collapse_chunks=chunks)
    assert found.row("R(budget=20)", "one", "two").difference == 1.0
    assert found.record.comparison is not None


def test_a_run_keeps_its_empty_lists() -> None:
    run = Run({"q": {"a": 1.0}, "r": {}})
    again = Run.of_frame(run.frame, "again", empty=run.empty)
    assert again == run
    assert again.to_dict() == run.to_dict()
    assert "r" in again
    assert len(again) == 2
