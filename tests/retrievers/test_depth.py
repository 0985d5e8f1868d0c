"""How many documents a retriever gives: what decides about it, what is told of it, and k=None, which leaves it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from haystack import Document as HaystackDocument
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from rankgauge import Record, evaluate_retriever
from rankgauge.errors import RetrieverError
from rankgauge.model.testset import Query, TestSet
from rankgauge.retrievers import BM25, HttpRetriever, Journal, as_searcher, from_haystack, run_queries
from rankgauge.retrievers.calling import Depth
from rankgauge.retrievers.http import depth_of
from rankgauge.words import LANGUAGES, Note, tell
from tests.retrievers.servers import Asked, Reply, calls

DOCS = [f"d{i}" for i in range(60)]
TEST_SET = TestSet([Query(f"query number {i}", dict.fromkeys(DOCS[i : i + 20], 1)) for i in range(6)])


@pytest.fixture(scope="module")
def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    made.add_documents([Document(page_content=doc, metadata={"id": doc}) for doc in DOCS])
    return made


class LlamaIndex:
    """As its VectorIndexRetriever: the number of results is an attribute, and `retrieve` takes none."""

    def __init__(self, similarity_top_k: int) -> None:
        self._similarity_top_k = similarity_top_k

    def retrieve(self, str_or_query_bundle: str) -> list[dict[str, str]]:
        return [{"node_id": doc} for doc in DOCS[: self._similarity_top_k]]


class Fixed(BaseRetriever):
    """As LangChain's BM25Retriever: `k` is a field."""

    k: int = 4

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content="", id=doc) for doc in DOCS[: self.k]]


def haystack(top_k: int) -> InMemoryBM25Retriever:
    held = InMemoryDocumentStore()
    held.write_documents([HaystackDocument(id=doc, content="query number") for doc in DOCS])
    return InMemoryBM25Retriever(held, top_k=top_k)


def notes(retriever: Any, k: int | None = 10, measures: Any = "R@10") -> dict[str, Note]:
    live = evaluate_retriever(retriever, TEST_SET, k=k, measures=measures)
    return {note.key: note for note in [*live.live_notes, *live.notes]}


def short(retriever: Any, k: int | None = 10) -> str:
    """What the note on lists that are too short says to do."""
    note = notes(retriever, k)["asking.short_lists"]
    assert note.level == "warning"
    for language in LANGUAGES:
        assert tell(note, language)
    return tell(note.parameters["remedy"], "en")


def test_a_short_list_names_the_setting() -> None:
    def deaf(query: str, top_k: int) -> list[str]:
        return DOCS[:3]

    assert "Its `similarity_top_k` is 2: make the retriever with `similarity_top_k=10`" in short(LlamaIndex(2))
    assert "Its `k` is 4: make the retriever with `k=10`" in short(Fixed())
    assert "called with top_k=10: see that it passes `top_k` on" in short(deaf)
    assert "takes no number of results" in short(lambda query: DOCS[:3])
    assert "Its `k` is 7" in short(Fixed(k=7), None)
    assert "own number counts (k=None): ask for more with `k=10`" in short(lambda query, top_k=6: DOCS[:top_k], None)
    assert "asking.short_lists" not in notes(LlamaIndex(10))
    assert "asking.short_lists" not in notes(LlamaIndex(3), measures="R@3")


def test_langchain_search_kwargs_are_overridden_and_that_is_said(store: InMemoryVectorStore) -> None:
    for kwargs, own in (({}, 4), ({"k": 3}, 3)):  # without one, the store's default
        note = notes(store.as_retriever(search_kwargs=kwargs))["asking.overridden"]
        assert note.parameters == {"name": 'search_kwargs["k"]', "own": own, "k": 10}
        assert note.level == "warning"
    assert notes(store.as_retriever(search_kwargs={"k": 30}))["asking.overridden"].level == "info"
    assert "asking.overridden" not in notes(store.as_retriever(search_kwargs={"k": 10}))


def test_own_numbers_of_haystack_and_llamaindex() -> None:
    note = notes(haystack(5))["asking.overridden"]
    assert note.parameters == {"name": "top_k", "own": 5, "k": 10}
    cut = notes(LlamaIndex(25))["asking.cut"]
    assert (cut.parameters, cut.level) == ({"name": "similarity_top_k", "own": 25, "k": 10}, "info")


def test_a_constant_called_k_is_no_depth() -> None:
    class Fusing:
        k = 60  # of reciprocal rank fusion

        def search(self, query: str, k: int) -> list[str]:
            return DOCS[:k]

    assert not [key for key in notes(Fusing()) if key.startswith("asking.")]


def lengths(retriever: Any) -> set[int]:
    return {len(docs) for docs in run_queries(retriever, {"1": "query number"}, None).run.to_dict().values()}


def test_without_k_the_retriever_keeps_its_own_depth(store: InMemoryVectorStore) -> None:
    async def later(query: str, limit: int = 7) -> list[str]:
        await asyncio.sleep(0)
        return DOCS[:limit]

    assert lengths(store.as_retriever(search_kwargs={"k": 3})) == {3}
    assert lengths(store.as_retriever()) == {4}
    assert lengths(LlamaIndex(25)) == {25}
    assert lengths(Fixed()) == {4}
    assert lengths(haystack(5)) == {5}
    assert lengths(lambda query, top_k=6: DOCS[:top_k]) == {6}
    assert lengths(later) == {7}
    assert lengths(lambda query: (doc for doc in DOCS)) == {60}
    assert lengths(lambda query, **options: DOCS[: options.get("k", 8)]) == {8}


@pytest.mark.parametrize(
    "retriever", [lambda query, k: DOCS, BM25({"d": "query"}), HttpRetriever("http://127.0.0.1:1/")]
)
def test_without_k_one_that_needs_it_is_an_error_before_any_call(retriever: Any) -> None:
    with pytest.raises(RetrieverError, match=r"has to be told how many documents to give.*such as k=10"):
        evaluate_retriever(retriever, TEST_SET, k=None)


def test_no_k_survives_record_and_journal(tmp_path: Path) -> None:
    options = {"k": None, "cache": tmp_path, "configuration": {}, "measures": "R@10"}
    first = evaluate_retriever(Fixed(), TEST_SET, **options)
    again = evaluate_retriever(Fixed(), TEST_SET, **options)
    assert again.retrieval.cached == len(TEST_SET)
    assert evaluate_retriever(Fixed(), TEST_SET, **{**options, "k": 4}).retrieval.cached == 0
    again.save(tmp_path / "record.json")
    kept = Record.load(tmp_path / "record.json")
    assert kept == again.record
    assert kept.systems[0].calls.k is None
    assert kept.systems[0].means == first.record.systems[0].means
    with Journal(tmp_path / "own.jsonl", {}) as journal:
        assert run_queries(Fixed(), {"1": "x"}, None, journal=journal).k is None


@pytest.mark.parametrize(
    ("template", "depth"),
    [
        ({"q": "{query}", "size": "{k}"}, Depth("body", "size")),
        ({"q": "{query}", "size": 5}, Depth("body_fixed", "size", 5, told=False, optional=True)),
        ({"retriever": {"query": "{query}", "top_k": 3}}, Depth("body_fixed", "top_k", 3, told=False, optional=True)),
        ({"q": "{query}", "year": 1999}, Depth("body_unknown", told=False, optional=True)),
        (["http://x/?q={query}&n={k}"], Depth("body", "")),
    ],
)
def test_the_number_in_a_request(template: Any, depth: Depth) -> None:
    assert depth_of(template) == depth


def test_a_number_fixed_in_a_body() -> None:
    def answer(asked: Asked) -> Reply:
        return Reply({"hits": [{"id": doc} for doc in DOCS[: asked.body.get("size", 3)]]})

    with calls(answer) as service:
        fixed = HttpRetriever(service.url, body={"q": "{query}", "size": 5})
        assert 'fixed in the request (size=5): put "{k}" in its place' in short(fixed)
        assert lengths(fixed) == {5}
        assert 'put "{k}" where the service expects it' in short(HttpRetriever(service.url, body={"q": "{query}"}))
        limited = HttpRetriever(service.url, body={"q": "{query}", "n": "{k}"})
        assert "asked with n=10: see whether the service has a limit" in short(limited)


def test_a_number_fixed_in_a_pipeline() -> None:
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("retriever", haystack(10))
    searcher = from_haystack(pipeline, {"retriever": {"query": "{query}", "top_k": 2}})
    assert searcher.depth.own == 2
    assert lengths(searcher) == {2}


def test_fields_of_a_searcher_are_never_passed_over() -> None:
    plain = as_searcher(lambda query, k: [{"doc": "a"}])
    assert as_searcher(plain, id_field="doc").search("x", 1)[0].id == "a"
    with pytest.raises(RetrieverError, match="was made with id_field='doc', so id_field='other' would have no effect"):
        as_searcher(as_searcher(plain, id_field="doc"), id_field="other")


def test_the_default_of_a_function_that_k_takes_the_place_of() -> None:
    """Users of `search(query, top_k=5)` see five documents, and ten were measured without a word."""

    def search(query: str, top_k: int = 5) -> list[str]:
        return [f"d{place}" for place in range(top_k)]

    judged = {"what is asked here": {"d7": 1.0}}
    told = [one for one in evaluate_retriever(search, judged, measures="R@10").warnings if "top_k" in one]
    assert told == [
        "the retriever's own top_k is 5, but it was asked for 10 here: the figures are those of 10 documents; "
        "`k=None` keeps its own number"
    ]
    for k in (5, None):
        live = evaluate_retriever(search, judged, k=k, measures="R@5")
        assert not [one for one in live.warnings if "own top_k" in one]
