"""Retrievers of all kinds are asked in one way."""

from __future__ import annotations

import asyncio
import functools
import time
from typing import Any

import faiss
import pytest
from elasticsearch import Elasticsearch
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.searcher import Searcher, as_searcher


def ranked(query: str, k: int) -> list[str]:
    return [f"{query}-{number}" for number in range(k)]


class Objects:
    """Objects with the methods that retrievers have."""

    class Search:
        def search(self, query: str, k: int = 100) -> list[str]:
            return ranked(query, k)

    class TopK:
        def search(self, query: str, top_k: int = 100) -> list[str]:
            return ranked(query, top_k)

    class KeywordOnly:
        def search(self, *, text: str, limit: int) -> list[str]:
            return ranked(text, limit)

    class KFirst:
        def search(self, k: int, query: str) -> list[str]:
            return ranked(query, k)

    class Keywords:
        def search(self, query: str, **options: Any) -> list[str]:
            return ranked(query, options["k"])

    class Filters:
        def search(self, query: str, filters: Any = None, n_results: int = 100) -> list[str]:
            assert filters is None
            return ranked(query, n_results)

    class Retrieve:
        def retrieve(self, question: str, similarity_top_k: int = 100) -> list[str]:
            return ranked(question, similarity_top_k)

    class Haystack:
        def run(self, query: str, filters: Any = None, top_k: int | None = None) -> dict[str, Any]:
            assert top_k is not None
            return {"documents": [{"id": doc} for doc in ranked(query, top_k)]}

    class Called:
        def __call__(self, query: str, k: int) -> list[str]:
            return ranked(query, k)

    class Async:
        async def search(self, query: str, top_k: int) -> list[str]:
            await asyncio.sleep(0)
            return ranked(query, top_k)

    class AsyncNamed:
        async def aretrieve(self, query: str, top_k: int) -> list[str]:
            return ranked(query, top_k)

    class AsyncCalled:
        async def __call__(self, query: str, k: int) -> list[str]:
            return ranked(query, k)

    class Both:
        def search(self, query: str, k: int) -> list[str]:
            return ranked(query, k)

        async def asearch(self, query: str, k: int) -> list[str]:
            raise AssertionError("the other one is there")


def no_arguments() -> list[str]:
    return []


async def async_function(query: str, k: int) -> list[str]:
    return ranked(query, k)


async def async_generator(query: str, k: int) -> Any:
    for doc in ranked(query, k):
        yield doc


def generator(query: str, k: int) -> Any:
    yield from ranked(query, k)


def odd_names(words: str, how_many: int, verbose: bool = False) -> list[str]:
    return ranked(words, how_many)


def positional(query: str, n: int, /) -> list[str]:
    return ranked(query, n)


def anything(*arguments: Any) -> list[str]:
    return ranked(*arguments)


def with_options(options: str, query: str, k: int) -> list[str]:
    return ranked(query, k)


WAYS: dict[str, Any] = {
    **{name: kind() for name, kind in vars(Objects).items() if isinstance(kind, type)},
    "function": ranked,
    "lambda": lambda q, k: ranked(q, k),
    "odd names": odd_names,
    "positional": positional,
    "anything": anything,
    "partial": functools.partial(with_options, "fast"),
    "generator": generator,
    "async function": async_function,
    "async partial": functools.partial(async_function),
    "async generator": async_generator,
    "lambda around async": lambda query, k: async_function(query, k),
    "bound method": Objects.Search().search,
}
ASYNC = {"Async", "AsyncNamed", "AsyncCalled", "async function", "async partial", "async generator"}


@pytest.mark.parametrize("way", WAYS)
def test_every_way(way: str) -> None:
    searcher = as_searcher(WAYS[way])
    expected = [Hit("cats-0", 3.0), Hit("cats-1", 2.0), Hit("cats-2", 1.0)]
    assert searcher.is_async == (way in ASYNC)
    assert searcher.takes_k
    assert searcher.search("cats", 3) == expected
    assert asyncio.run(searcher.asearch("cats", 3)) == expected
    assert searcher.ask("cats", 3).faults == []

    async def inside_a_loop() -> list[Hit]:
        return searcher.search("cats", 3)

    assert asyncio.run(inside_a_loop()) == expected


def test_a_retriever_that_takes_no_k_is_cut_without_a_fault() -> None:
    searcher = as_searcher(lambda query: ranked(query, 10))
    response = searcher.ask("x", 2)
    assert [hit.id for hit in response.hits] == ["x-0", "x-1"]
    assert response.faults == []
    greedy = as_searcher(lambda query, k: ranked(query, k + 1))
    assert [fault.kind for fault in greedy.ask("x", 2).faults] == ["too_many"]


def test_time_covers_what_a_generator_does() -> None:
    def slow(query: str, k: int) -> Any:
        for doc in ranked(query, k):
            time.sleep(0.01)
            yield doc

    assert 0.03 <= as_searcher(slow).ask("x", 3).seconds < 1


class Fixed(BaseRetriever):
    """A LangChain retriever of one's own."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=query, metadata={"id": doc}) for doc in ranked(query, 5)]


def test_langchain() -> None:
    searcher = as_searcher(Fixed())
    assert [hit.id for hit in searcher.search("x", 2)] == ["x-0", "x-1"]
    assert searcher.name == "Fixed"
    assert searcher.ask("x", 2).faults == []
    assert [hit.id for hit in asyncio.run(searcher.asearch("x", 2))] == ["x-0", "x-1"]


def test_langchain_vector_store_retriever_gets_k() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([Document(page_content=f"text {number}", id=f"d{number}") for number in range(9)])
    searcher = as_searcher(store.as_retriever())
    assert searcher.takes_k
    for k in (1, 3, 7):
        expected = [document.id for document in store.similarity_search("text 4", k=k)]
        assert [hit.id for hit in searcher.search("text 4", k)] == expected
    assert searcher.search("text 4", 1)[0].id == "d4"


def test_langchain_vector_store() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([Document(page_content=f"text {number}", id=f"d{number}") for number in range(9)])
    assert [hit.id for hit in as_searcher(store).search("text 4", 1)] == ["d4"]


def test_stores_that_need_an_adapter() -> None:
    with pytest.raises(RetrieverError, match="from_faiss"):
        as_searcher(faiss.IndexFlatL2(4))
    with Elasticsearch("http://127.0.0.1:9200") as client, pytest.raises(RetrieverError, match="from_elasticsearch"):
        as_searcher(client)


def test_older_langchain() -> None:
    class Old:
        def get_relevant_documents(self, query: str, *, callbacks: Any = None) -> list[Document]:
            return [Document(page_content="", metadata={"id": doc}) for doc in ranked(query, 5)]

    assert [hit.id for hit in as_searcher(Old()).search("x", 2)] == ["x-0", "x-1"]


def test_names() -> None:
    assert as_searcher(ranked).name == "ranked"
    assert as_searcher(ranked, name="mine").name == "mine"
    assert as_searcher(Objects.Search()).name == "Search"
    assert as_searcher(Objects.Search().search).name == "Search.search"
    assert as_searcher(functools.partial(with_options, "x")).name == "with_options"
    assert repr(as_searcher(async_function)) == "Searcher('async_function', async)"
    searcher = as_searcher(ranked)
    assert as_searcher(searcher) is searcher


@pytest.mark.parametrize(
    ("retriever", "message"),
    [
        (Objects.Search, r"a class; give an object of it, such as Search\(\)"),
        (object(), "cannot be searched"),
        (7, "cannot be searched"),
        ("module:attribute", "cannot be searched"),
        (no_arguments, "no function of query and k"),
        (lambda query, k, index: [], "no function of query and k"),
    ],
)
def test_what_cannot_be_asked(retriever: Any, message: str) -> None:
    with pytest.raises(RetrieverError, match=message):
        as_searcher(retriever)


def test_a_bad_path_is_found_at_once() -> None:
    with pytest.raises(RetrieverError, match="path"):
        as_searcher(ranked, id_field="a[")
    with pytest.raises(RetrieverError, match="path"):
        as_searcher(ranked, score_field="-")


def test_errors_of_the_retriever_come_through() -> None:
    def broken(query: str, k: int) -> list[str]:
        raise KeyError("index")

    with pytest.raises(KeyError):
        as_searcher(broken).search("x", 1)

    async def broken_too(query: str, k: int) -> list[str]:
        raise KeyError("index")

    async def inside() -> None:
        as_searcher(broken_too).search("x", 1)

    with pytest.raises(KeyError):
        asyncio.run(inside())


def test_fields() -> None:
    searcher = as_searcher(lambda query, k: [{"key": query, "far": 2.0}], id_field="key", score_field="-far")
    assert isinstance(searcher, Searcher)
    assert searcher.search("x", 1) == [Hit("x", -2.0)]
