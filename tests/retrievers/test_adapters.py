"""Adapters against the real libraries, and against a server that speaks Elasticsearch's protocol."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import chromadb
import faiss
import numpy as np
import pytest
from elasticsearch import AsyncElasticsearch, Elasticsearch
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from rankgauge import Query, TestSet, evaluate_retriever
from rankgauge.errors import DataError, RetrieverError
from rankgauge.retrievers.adapters import from_chroma, from_elasticsearch, from_faiss, from_langchain
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.runner import run_queries
from rankgauge.retrievers.searcher import as_searcher
from tests.retrievers.servers import Service, by_shared_words, calls, elasticsearch

WORDS = ("cat", "dog", "bird", "fish", "tree", "stone")
DOCUMENTS = {
    "d1": "cat cat dog",
    "d2": "dog dog bird",
    "d3": "fish tree",
    "d4": "tree stone stone cat",
    "d5": "bird fish dog",
}


def vector(text: str) -> list[float]:
    """Counts of the known words."""
    return [float(text.split().count(word)) for word in WORDS]


VECTORS = {doc: np.array(vector(text)) for doc, text in DOCUMENTS.items()}


def nearest(query: str) -> dict[str, float]:
    """Minus the squared distances to all documents: what the stores must find."""
    return {doc: -float(((held - np.array(vector(query))) ** 2).sum()) for doc, held in VECTORS.items()}


def largest(query: str) -> dict[str, float]:
    """Inner products with all documents."""
    return {doc: float(held @ np.array(vector(query))) for doc, held in VECTORS.items()}


def right(hits: list[Hit], truth: dict[str, float], k: int) -> bool:
    """Whether these are k documents of the highest scores; of equal ones, any."""
    best = sorted(truth.values(), reverse=True)[:k]
    return [hit.score for hit in hits] == pytest.approx(best) == [truth[hit.id] for hit in hits]


class Counting(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return vector(text)


class CountingFunction(chromadb.EmbeddingFunction[Any]):
    """An embedding function of one's own, so that Chroma downloads nothing."""

    def __init__(self) -> None:
        pass

    def __call__(self, input: Any) -> Any:  # noqa: A002 - Chroma's name
        return [np.array(vector(text), dtype=np.float32) for text in input]

    @staticmethod
    def name() -> str:
        return "counting"

    def get_config(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> CountingFunction:
        return CountingFunction()


QUERIES = ("cat cat cat dog", "tree stone stone stone cat", "bird bird fish dog dog dog")


@pytest.fixture(params=QUERIES)
def query(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def collection() -> Iterator[Any]:
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    made = client.create_collection(f"docs-{uuid.uuid4()}", embedding_function=CountingFunction())
    made.add(
        ids=list(DOCUMENTS),
        documents=list(DOCUMENTS.values()),
        metadatas=[{"even": int(doc[1]) % 2 == 0} for doc in DOCUMENTS],
    )
    yield made
    client.delete_collection(made.name)


def test_chroma(collection: Any, query: str) -> None:
    for searcher in (from_chroma(collection), from_chroma(collection, embed=lambda text: np.array(vector(text)))):
        response = searcher.ask(query, 3)
        assert right(response.hits, nearest(query), 3)
        assert response.faults == []
        assert searcher.name == collection.name


def test_chunks_of_a_collection_name_their_documents() -> None:
    """The id of a result is that of the collection, whatever its metadata call `id`."""
    made = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    chunks = made.create_collection(f"chunks-{uuid.uuid4()}", embedding_function=CountingFunction())
    texts = {f"u-{doc}-{half}": (doc, text) for doc, text in DOCUMENTS.items() for half in "ab"}
    chunks.add(
        ids=list(texts),
        documents=[text for _, text in texts.values()],
        metadatas=[{"id": "none", "doc": doc} for doc, _ in texts.values()],
    )
    searcher = from_chroma(chunks)
    assert searcher.search("cat", 1)[0].id.startswith("u-")
    judged = TestSet([Query(text, {doc: 1}) for doc, text in DOCUMENTS.items()])
    for given in (searcher, lambda query, k: chunks.query(query_texts=[query], n_results=k)):
        with pytest.raises(DataError, match=r"use `parent_field='metadata\.doc'`"):
            evaluate_retriever(given, judged, k=4, measures="RR", id_field="id")
    assert evaluate_retriever(searcher, judged, k=4, measures="RR", parent_field="metadata.doc").mean["RR"] > 0.5
    assert from_chroma(chunks, id_field="metadata.doc").search("cat", 1)[0].id in DOCUMENTS
    made.delete_collection(chunks.name)


def test_a_collection_alone_is_told_its_adapter(collection: Any) -> None:
    with pytest.raises(RetrieverError, match="from_chroma"):
        as_searcher(collection)


def test_chroma_with_a_filter_and_more_than_there_is(collection: Any) -> None:
    searcher = from_chroma(collection, where={"even": True}, name="even")
    assert {hit.id for hit in searcher.search("cat", 5)} == {"d2", "d4"}
    assert searcher.name == "even"
    assert len(from_chroma(collection).search("cat", 50)) == len(DOCUMENTS)


@pytest.mark.parametrize(("kind", "truth"), [("IndexFlatL2", nearest), ("IndexFlatIP", largest)])
def test_faiss(kind: str, truth: Any, query: str) -> None:
    index = getattr(faiss, kind)(len(WORDS))
    index.add(np.array(list(VECTORS.values()), dtype=np.float32))
    for encode in (vector, lambda text: np.array([vector(text)], dtype=np.float64)):
        searcher = from_faiss(index, list(DOCUMENTS), encode)
        response = searcher.ask(query, 3)
        assert right(response.hits, truth(query), 3)
        assert response.faults == []
    assert len(searcher.search(query, 50)) == len(DOCUMENTS)  # not filled up


def test_faiss_with_numbers_of_ones_own() -> None:
    index = faiss.IndexIDMap(faiss.IndexFlatL2(len(WORDS)))
    index.add_with_ids(np.array(list(VECTORS.values()), dtype=np.float32), np.array([10, 20, 30, 40, 50]))
    searcher = from_faiss(index, dict(zip((10, 20, 30, 40, 50), DOCUMENTS, strict=True)), vector)
    assert searcher.search("cat cat dog", 1)[0].id == "d1"


def test_faiss_mistakes() -> None:
    index = faiss.IndexFlatL2(len(WORDS))
    with pytest.raises(RetrieverError, match="holds 0 vectors, but there are 2 ids"):
        from_faiss(index, ["a", "b"], vector)
    index.add(np.zeros((1, len(WORDS)), dtype=np.float32))
    with pytest.raises(RetrieverError, match="encode gives 2 numbers, but the index has 6 dimensions"):
        from_faiss(index, ["a"], lambda text: [1.0, 2.0]).search("x", 1)


def test_langchain(query: str) -> None:
    store = InMemoryVectorStore(Counting())
    store.add_documents([Document(page_content=text, metadata={"id": doc}) for doc, text in DOCUMENTS.items()])
    unit = {doc: held / np.linalg.norm(held) for doc, held in VECTORS.items()}
    cosine = {doc: float(held @ np.array(vector(query))) for doc, held in unit.items()}
    expected = sorted(cosine, key=lambda doc: -cosine[doc])[:2]
    for searcher in (
        from_langchain(store),
        from_langchain(store.as_retriever()),
        from_langchain(store.as_retriever(), id_field="metadata['id']"),
    ):
        response = searcher.ask(query, 2)
        assert [hit.id for hit in response.hits] == expected
        assert response.faults == []


@pytest.fixture
def elastic() -> Iterator[Service]:
    with calls(elasticsearch(DOCUMENTS)) as service:
        yield service


def test_elasticsearch_by_url(elastic: Service) -> None:
    searcher = from_elasticsearch(elastic.url, "docs")
    assert searcher.search("cat dog", 2) == [Hit(*pair) for pair in by_shared_words(DOCUMENTS, "cat dog")[:2]]
    assert elastic.asked[0].body == {"size": 2, "_source": False, "query": {"match": {"text": "cat dog"}}}
    by_field = from_elasticsearch(
        elastic.url + "/", "docs", id_field="_source.number", body={"query": {"match": {"text": {"query": "{query}"}}}}
    )
    assert [hit.id for hit in by_field.search("cat dog", 2)] == ["n-d1", "n-d2"]
    assert searcher.search("nothing", 2) == []
    with pytest.raises(RetrieverError, match="index_not_found"):
        from_elasticsearch(elastic.url, "other").search("cat", 1)


def test_elasticsearch_client(elastic: Service) -> None:
    with Elasticsearch(elastic.url) as client:
        searcher = from_elasticsearch(client, "docs")
        assert searcher.search("cat dog", 2) == [Hit(*pair) for pair in by_shared_words(DOCUMENTS, "cat dog")[:2]]
        by_field = from_elasticsearch(client, "docs", id_field="_source.number")
        assert [hit.id for hit in by_field.search("cat dog", 2)] == ["n-d1", "n-d2"]
        assert searcher.name == "docs"
        result = run_queries(searcher, {"1": "cat", "2": "fish tree"}, 3, concurrency=2)
        assert result.run.to_dict() == {
            text_id: dict(by_shared_words(DOCUMENTS, text)[:3])
            for text_id, text in {"1": "cat", "2": "fish tree"}.items()
        }
        missing = run_queries(from_elasticsearch(client, "other"), {"1": "cat"}, 3)
        assert missing.answers[0].attempts == 1  # a missing index is not worth asking again
        assert "NotFoundError" in missing.reason.parameters["error"]


def test_a_body_that_is_none() -> None:
    with pytest.raises(RetrieverError, match="body='x' must be a search body such as"):
        from_elasticsearch("http://localhost:9", "docs", body="x")  # type: ignore[arg-type]


def test_elasticsearch_async_client(elastic: Service) -> None:
    async def ask() -> list[Hit]:
        async with AsyncElasticsearch(elastic.url) as client:
            searcher = from_elasticsearch(client, "docs")
            assert searcher.is_async
            return await searcher.asearch("cat dog", 2)

    assert asyncio.run(ask()) == [Hit(*pair) for pair in by_shared_words(DOCUMENTS, "cat dog")[:2]]


def test_mistakes() -> None:
    with pytest.raises(RetrieverError, match="a Chroma collection is needed, not a dict"):
        from_chroma({})
    with pytest.raises(RetrieverError, match="neither a LangChain retriever nor a vector store"):
        from_langchain({})
    with pytest.raises(RetrieverError, match="an Elasticsearch client or a URL is needed"):
        from_elasticsearch(7, "docs")
    with pytest.raises(RetrieverError, match="never see"):
        from_elasticsearch("http://127.0.0.1:9200", "docs", body={"query": {"match_all": {}}})
