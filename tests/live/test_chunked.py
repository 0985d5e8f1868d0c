"""Live retrievers that return chunks: counted as their documents, and never scored 0 in silence."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankgauge import Chunk, Chunks, TestSet, evaluate_retriever, save_chunks, sweep
from rankgauge.errors import DataError, RetrieverError
from rankgauge.words import LANGUAGES, tell

N = 12
DOCS = {f"d{i}": f"text of document {i}. " * 20 for i in range(N)}


@pytest.fixture(scope="module")
def test_set() -> TestSet:
    return TestSet.from_annotations([f"question {i}" for i in range(N)], [[f"d{i}"] for i in range(N)])


def number(query: str) -> int:
    return int(query.split()[-1])


def chunks_of(query: str, k: int) -> list[tuple[str, float]]:
    """Two chunks of a wrong document, then the right one twice."""
    i = number(query)
    wrong = (i + 1) % N
    return [(f"d{wrong}#0", 4.0), (f"d{wrong}#1", 3.0), (f"d{i}#2", 2.0), (f"d{i}#0", 1.0)][:k]


def rows_of(query: str, k: int) -> list[dict[str, Any]]:
    return [
        {"id": f"{place}-{own}", "score": score, "metadata": {"doc": own.partition("#")[0]}}
        for place, (own, score) in enumerate(chunks_of(query, k))
    ]


@pytest.mark.parametrize("kind", ["regex", "mapping", "chunks", "file", "field", "carried"])
def test_chunks_count_as_their_documents(kind: str, test_set: TestSet, tmp_path: Path) -> None:
    chunks = Chunks({f"{doc}#{n}": Chunk(doc, text="w" * 10) for doc in DOCS for n in range(3)})
    save_chunks(chunks, tmp_path / "chunks.jsonl")
    rule: dict[str, Any] = {
        "regex": {"collapse_chunks": r"^(.+)#\d+$"},
        "mapping": {"collapse_chunks": chunks.parents},
        "chunks": {"collapse_chunks": chunks},
        "file": {"collapse_chunks": tmp_path / "chunks.jsonl"},
        "field": {"parent_field": "metadata.doc"},
        "carried": {},
    }[kind]
    retriever: Any = rows_of if kind == "field" else chunks_of
    if kind == "carried":
        retriever = SimpleNamespace(search=chunks_of, chunks=chunks)
    live = evaluate_retriever(retriever, test_set, measures=["RR", "P@2"], corpus=DOCS, **rule)
    assert live.mean == {"RR": 0.5, "P@2": 0.5}
    assert live.contract.collapse
    assert not [warning for warning in live.warnings if "corpus" in warning]
    assert dict(live.run["question 0"]) == {"d1": 4.0, "d0": 2.0}
    assert len(live.retrieval.run["question 0"]) == 4  # what was retrieved stays as it was


def test_budgets_of_live_chunks(test_set: TestSet) -> None:
    chunks = Chunks({f"{doc}#{n}": Chunk(doc, text="w" * 10) for doc in DOCS for n in range(3)})
    carrying = SimpleNamespace(search=chunks_of, chunks=chunks)
    live = evaluate_retriever(carrying, test_set, measures=["R(budget=20)", "R(budget=30)"])
    assert live.mean == {"R(budget=20)": 0.0, "R(budget=30)": 1.0}
    by_id = SimpleNamespace(search=chunks_of, corpus=chunks.texts)
    found = evaluate_retriever(by_id, test_set, measures="R(budget=30)", corpus=DOCS, collapse_chunks=r"^(.+)#\d+$")
    assert found.mean == {"R(budget=30)": 1.0}
    with pytest.raises(DataError, match="needs the texts of the documents: give corpus="):
        evaluate_retriever(chunks_of, test_set, measures="R(budget=30)", collapse_chunks=r"^(.+)#\d+$")


def test_pieces_without_texts_are_told_after_the_first_calls(test_set: TestSet) -> None:
    """Ids that a store made up, and a corpus of whole documents."""
    asked = []

    def search(query: str, k: int) -> list[dict[str, Any]]:
        asked.append(query)
        return [{**row, "id": f"uuid-{i}-{len(asked)}"} for i, row in enumerate(rows_of(query, k))]

    with pytest.raises(RetrieverError, match="the text of no result is known, such as that of 'uuid-0-1'"):
        evaluate_retriever(search, test_set, measures="R(budget=30)", parent_field="metadata.doc", corpus=DOCS)
    assert len(asked) == 3


def test_documents_that_fields_name_are_kept_with_the_answers(test_set: TestSet, tmp_path: Path) -> None:
    asked: list[str] = []

    def search(query: str, k: int) -> list[dict[str, Any]]:
        asked.append(query)
        return rows_of(query, k)

    for calls in (N, N):
        live = evaluate_retriever(
            search, test_set, measures="RR", parent_field="metadata.doc", cache=tmp_path, configuration={}
        )
        assert live.mean["RR"] == 0.5
        assert len(asked) == calls
        assert live.contract.collapse == "field metadata.doc"


def test_results_without_ids_of_their_own(test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[Any]:
        return [(SimpleNamespace(text="x", metadata=row["metadata"]), row["score"]) for row in rows_of(query, k)]

    live = evaluate_retriever(search, test_set, measures="RR", parent_field="metadata.doc")
    assert live.mean["RR"] == 0.5
    assert not live.warnings


async def asking(query: str, k: int) -> list[dict[str, Any]]:
    return rows_of(query, k)


def test_async_retrievers_too(test_set: TestSet) -> None:
    assert evaluate_retriever(asking, test_set, measures="RR", parent_field="metadata.doc").mean["RR"] == 0.5


@pytest.mark.parametrize(
    ("retriever", "field", "said"),
    [
        (rows_of, "metadata.nothing", "result 1 has no 'metadata.nothing'; set parent_field otherwise"),
        (chunks_of, "metadata.doc", r"result 1 has no 'metadata.doc'.*seen: 'd1#0' \(str\)"),
        (lambda query, k: [{"id": "0", "doc": "d1"}, {"id": "0", "doc": "d2"}], "doc", "two documents"),
    ],
)
def test_faults_of_fields_are_named(retriever: Any, field: str, said: str, test_set: TestSet) -> None:
    with pytest.raises(RetrieverError, match=said):
        evaluate_retriever(retriever, test_set, parent_field=field)


def test_chunks_that_nobody_spoke_of_are_an_error(test_set: TestSet) -> None:
    said = r"none of the 36 ids .* is a known document, but 'd1#0' begins with the id 'd1'.*`collapse_chunks='\^"
    with pytest.raises(DataError, match=said):
        evaluate_retriever(chunks_of, test_set, measures="RR", corpus=DOCS)

    def anonymous(query: str, k: int) -> list[dict[str, Any]]:
        return [{**row, "id": f"x{i}"} for i, row in enumerate(rows_of(query, k))]

    with pytest.raises(DataError, match=r"`metadata\.doc` matches 100% .* `parent_field='metadata\.doc'`"):
        evaluate_retriever(anonymous, test_set)
    with pytest.raises(RetrieverError, match=r"no version could be evaluated: .*collapse_chunks"):
        sweep(lambda shift: chunks_of, {"shift": [1, 2]}, test_set)
    with pytest.raises(DataError, match="give one of them"):
        evaluate_retriever(rows_of, test_set, parent_field="metadata.doc", collapse_chunks="^(.+)#")
    # Ids of another collection are no chunks.
    live = evaluate_retriever(lambda query, k: ["d100", "e-1", "x"], test_set, measures="RR")
    assert live.mean["RR"] == 0.0


@pytest.mark.parametrize("rest", ["#0", "::3", "_chunk_12", "-p4"])
def test_chunks_among_documents_are_told(rest: str, test_set: TestSet) -> None:
    """Only long documents were cut: these were never found, without a word."""

    def search(query: str, k: int) -> list[str]:
        return [f"d{number(query)}{rest if number(query) % 2 else ''}", "other", "d-1998"]

    live = evaluate_retriever(search, test_set, measures="RR")
    (note,) = [note for note in live.live_notes if note.key == "asking.some_chunks"]
    assert all(f"d1{rest}" in tell(note, language) for language in LANGUAGES)
    merged = evaluate_retriever(search, test_set, measures="RR", collapse_chunks=note.parameters["rule"])
    assert (live.mean["RR"] < 1.0, merged.mean["RR"]) == (True, 1.0)
    assert "asking.some_chunks" not in [note.key for note in merged.live_notes]


@pytest.mark.parametrize("own", ["d1-chunk-3", "d1_0012", "d1/p.7", "d1::3", "d1#a3f-9b"])
def test_the_advice_works(own: str, test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[str]:
        return [own.replace("d1", f"d{number(query)}", 1)]

    with pytest.raises(DataError) as told:
        evaluate_retriever(search, test_set, measures="RR")
    advice = eval(str(told.value).partition("`collapse_chunks=")[2].partition("`")[0])
    assert evaluate_retriever(search, test_set, measures="RR", collapse_chunks=advice).mean["RR"] == 1.0


def test_a_sweep_over_retrievers_with_chunks_of_their_own(test_set: TestSet) -> None:
    def make(length: int) -> Any:
        chunks = Chunks({f"{doc}#{n}": Chunk(doc, text="w" * length) for doc in DOCS for n in range(3)})
        return SimpleNamespace(search=chunks_of, chunks=chunks)

    found = sweep(make, {"length": [10, 11]}, test_set, measure="R(budget=30)")
    assert [version.mean for version in found.versions] == [1.0, 0.0]
    fields = sweep(lambda shift: rows_of, {"shift": [1]}, test_set, measure="RR", parent_field="metadata.doc")
    assert fields.best.mean == 0.5
