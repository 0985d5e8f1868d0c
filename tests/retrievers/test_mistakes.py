"""Mistakes of every call end it after a few; ids in another field are found; what is no retriever says so."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, field
from typing import Any

import chromadb
import faiss
import haystack
import httpx
import pandas as pd
import polars as pl
import pytest
from elasticsearch import Elasticsearch
from haystack.document_stores.in_memory import InMemoryDocumentStore
from langchain_core.documents import Document

import rankgauge
from rankgauge import Corpus, Qrels, Run, evaluate_retriever, sweep
from rankgauge.errors import DataError, RankgaugeError, RetrieverError
from rankgauge.live.evaluation import RetrievalError
from rankgauge.model.testset import Query, TestSet
from rankgauge.retrievers import (
    HttpRetriever,
    as_searcher,
    from_elasticsearch,
    from_vespa,
    mistaken,
    run_queries,
)
from rankgauge.retrievers.samples import Match, Samples
from rankgauge.words import LANGUAGES, tell
from tests.retrievers.servers import Asked, Reply, calls

N = 300
TEST_SET = TestSet([Query(f"the text of query {i}", {f"doc-{i}": 1}) for i in range(N)])


class Failing:
    """Raises what it is told to, and counts."""

    def __init__(self, error: Any, after: int = 0) -> None:
        self.error, self.after, self.calls = error, after, 0

    def search(self, query: str, k: int) -> list[str]:
        self.calls += 1
        if self.calls <= self.after:
            return [query]
        raise self.error(query) if callable(self.error) else self.error


@pytest.mark.parametrize(
    "error",
    [
        lambda query: KeyError(query),
        lambda query: TypeError(f"search() got an unexpected argument for {query}"),
        lambda query: AttributeError("index"),
        lambda query: ValueError("the index does not exist"),
        lambda query: RetrieverError(f"{query}: no id"),
        lambda query: PermissionError("no key"),
    ],
)
def test_a_mistake_of_every_call_ends_it_after_three(error: Any) -> None:
    failing = Failing(error)
    with pytest.raises(RetrievalError, match="the first 3 calls failed by the same mistake") as caught:
        evaluate_retriever(failing, TEST_SET)
    assert failing.calls == 3
    assert type(caught.value.__cause__) is type(error("x"))
    assert caught.value.reason.key == "asking.mistake"
    for language in LANGUAGES:
        assert "297" in tell(caught.value.reason, language)
    assert caught.value.retrieval.not_asked == [query.id for query in TEST_SET][3:]


def test_results_that_cannot_be_read_end_it_too() -> None:
    asked = []

    def search(query: str, k: int) -> list[Any]:
        asked.append(query)
        return [{"title": query, "metadata": {"page": 1}}]

    with pytest.raises(RetrievalError, match=r"no id in any of the usual places.*metadata\.page") as caught:
        evaluate_retriever(search, TEST_SET)
    assert len(asked) == 3
    assert isinstance(caught.value.__cause__, RetrieverError)


@pytest.mark.parametrize(
    ("retriever", "options"),
    [
        (Failing(lambda query: ValueError("broken"), after=1), {}),  # one answer came
        (Failing(lambda query: ValueError(query)), {}),  # about the query, not the index
        (Failing(lambda query: ValueError("broken")), {"max_failed": 1.0}),  # all may fail
    ],
)
def test_other_failures_do_not(retriever: Failing, options: dict[str, Any]) -> None:
    queries = {str(i): f"text {i}" for i in range(20)}
    result = run_queries(retriever, queries, 3, **options)
    assert retriever.calls == 20
    assert not result.mistaken


def test_different_mistakes_are_told_apart() -> None:
    errors = [KeyError("a"), TypeError("b"), KeyError("a"), TypeError("b"), KeyError("a"), TypeError("b")]
    result = run_queries(Failing(lambda query: errors[int(query)]), {str(i): str(i) for i in range(6)}, 3)
    assert len(result.answers) == 6


def test_a_sweep_pays_for_three_calls_of_each_setting() -> None:
    made: list[Failing] = []

    def make(size: int) -> Failing:
        made.append(Failing(lambda query: KeyError(query)))
        return made[-1]

    with pytest.raises(RetrieverError, match="no version could be evaluated"):
        sweep(make, {"size": [1, 2]}, TEST_SET)
    assert [one.calls for one in made] == [3, 3]


# Ids in another field


@dataclass
class Node:
    node_id: str
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def ref_doc_id(self) -> str:
        return self.metadata["source_id"]


def rows(made: Any) -> Any:
    return lambda query, k: [made(f"doc-{query.split()[-1]}", i) for i in range(k)]


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda doc, i: {"id": f"x{i}{doc}", "metadata": {"doc": doc}}, "metadata.doc"),
        (lambda doc, i: {"id": f"x{i}{doc}", "a b": doc}, "['a b']"),
        (lambda doc, i: Document(page_content="t", id=f"x{i}{doc}", metadata={"docs": doc}), "metadata.docs"),
        (lambda doc, i: (Document(page_content="t", id=f"x{i}{doc}", metadata={"docs": doc}), 0.5), "metadata.docs"),
        (lambda doc, i: Node(f"n{i}{doc}", {"source_id": doc}), "ref_doc_id"),
        (lambda doc, i: {"id": f"x{i}{doc}", "payload": {"deep": {"key": doc}}}, "payload.deep.key"),
    ],
)
def test_the_field_that_would_match_is_named(make: Any, path: str) -> None:
    search = rows(make)
    with pytest.raises(DataError) as caught:
        evaluate_retriever(search, TEST_SET, k=2, measures="RR")
    said = str(caught.value)
    assert said.endswith(f"`{path}` matches 100% of the results: use `parent_field={path!r}`")  # two of each document
    assert evaluate_retriever(search, TEST_SET, k=2, measures="RR", parent_field=path).mean["RR"] == 1.0
    with pytest.raises(DataError) as caught:
        evaluate_retriever(search, TEST_SET, k=1, measures="RR")
    assert f"use `id_field={path!r}`, or `parent_field={path!r}` if they are chunks" in str(caught.value)
    assert evaluate_retriever(search, TEST_SET, k=1, measures="RR", id_field=path).mean["RR"] == 1.0


def test_a_field_of_numbers_that_match_by_chance_is_a_remark() -> None:
    """Places in a text: numbers that are ids of documents, but of any query's."""
    judged = TestSet([Query(f"question {i}", {str(i): 1, "7": 1}) for i in range(40)])

    def search(query: str, k: int) -> list[Any]:
        return [{"id": f"x{i}", "end": (i if 0 < i < 3 else 50 + i)} for i in range(k)]

    live = evaluate_retriever(search, judged, k=5, measures="RR")
    assert live.mean["RR"] == 0
    (warning,) = [text for text in live.warnings if "no judged document was retrieved" in text]
    assert "`end` matches 40 % of the results: use id_field='end'" in warning
    (note,) = [note for note in live.notes if note.key == "asking.id_mismatch"]
    assert all("id_field='end'" in tell(note, language) for language in LANGUAGES)


def test_few_relevant_results_are_enough_to_know_the_field() -> None:
    """As it is in large collections: one relevant document for each query, and most of what is found is unjudged."""

    def search(query: str, k: int) -> list[Any]:
        number = int(query.split()[-1])
        found = [f"doc-{number if i == 3 and number % 3 == 0 else 10_000 + 10 * number + i}" for i in range(k)]
        return [{"id": f"{i:08x}-uuid", "metadata": {"doc": doc, "place": i}} for i, doc in enumerate(found)]

    said = r"`metadata\.doc` matches 4% of the results: use `id_field='metadata\.doc'`, or `parent_field"
    with pytest.raises(DataError, match=said):
        evaluate_retriever(search, TEST_SET, k=10, measures="RR")


def test_ids_that_are_known_are_read_in_the_right_place() -> None:
    def search(query: str, k: int) -> list[Any]:
        return [(f"doc-{(int(query.split()[-1]) + 1) % len(TEST_SET)}", 1.0)]

    (warning,) = [text for text in evaluate_retriever(search, TEST_SET, k=1).warnings if "no judged" in text]
    assert "id_field" not in warning


def test_a_corpus_knows_more_ids_than_the_judgments() -> None:
    def search(query: str, k: int) -> list[Any]:
        return [{"id": f"x{i}", "doc": f"doc-{1000 + i}", "page": i} for i in range(k)]

    corpus = {f"doc-{i}": "text" for i in range(2000)}
    blind = evaluate_retriever(search, TEST_SET, measures="RR")
    assert "evaluation.id_mismatch" in [note.key for note in blind.notes]
    with pytest.raises(DataError, match="`doc` matches 100% of the results: use `id_field='doc'`"):
        evaluate_retriever(search, TEST_SET, measures="RR", corpus=corpus)


def test_fields_of_a_service() -> None:
    def answer(asked: Asked) -> Reply:
        number = asked.body["query"].split()[-1]
        return Reply({"hits": [{"id": f"x{number}", "doc": {"key": f"doc-{number}"}}]})

    with calls(answer) as service:
        with pytest.raises(DataError, match=re.escape("use `ids='$.hits[*].doc.key'`")):
            evaluate_retriever(HttpRetriever(service.url), TEST_SET[:20], measures="RR")
        mended = HttpRetriever(service.url, ids="$.hits[*].doc.key")
        assert evaluate_retriever(mended, TEST_SET[:20], measures="RR").mean["RR"] == 1.0


ADAPTERS = {
    "vespa": (
        lambda url, **field: from_vespa(url, **field),
        lambda number: {"root": {"children": [{"id": f"::{number}", "relevance": 1.0, "fields": number_of(number)}]}},
        "fields.key",
    ),
    "elasticsearch": (
        lambda url, **field: from_elasticsearch(url, "docs", body=SEARCH, **field),
        lambda number: {"hits": {"hits": [{"_id": f"x{number}", "_score": 1.0, "_source": number_of(number)}]}},
        "_source.key",
    ),
}
SEARCH = {"query": "{query}", "_source": True}


def number_of(number: str) -> dict[str, str]:
    return {"key": f"doc-{number}"}


@pytest.mark.parametrize("name", ADAPTERS)
def test_fields_of_a_service_are_named_as_its_adapter_takes_them(name: str) -> None:
    make, reply, field = ADAPTERS[name]
    with calls(lambda asked: Reply(reply(asked.body["query"].split()[-1]))) as service:
        with pytest.raises(DataError, match=re.escape(f"use `id_field='{field}'`")):
            evaluate_retriever(make(service.url), TEST_SET[:20], measures="RR")
        assert evaluate_retriever(make(service.url, id_field=field), TEST_SET[:20], measures="RR").mean["RR"] == 1.0


CHUNKED = {
    "vespa": (
        from_vespa,
        lambda rows: {"root": {"children": [{"id": i, "relevance": 1.0, "fields": row} for i, row in rows]}},
        "fields.key",
    ),
    "elasticsearch": (
        lambda url: from_elasticsearch(url, "docs", body=SEARCH),
        lambda rows: {"hits": {"hits": [{"_id": i, "_score": 1.0, "_source": row} for i, row in rows]}},
        "_source.key",
    ),
    "a service": (
        lambda url: HttpRetriever(url, ids="$.found[*].id"),
        lambda rows: {"found": [{"id": i, "document": row} for i, row in rows]},
        "document.key",
    ),
}


@pytest.mark.parametrize("name", CHUNKED)
def test_chunks_of_a_service_name_their_documents(name: str) -> None:
    make, reply, field = CHUNKED[name]

    def answer(asked: Asked) -> Reply:
        number = re.findall(r"query (\d+)", str(asked.body))[0]
        return Reply(reply([(f"x{i}-{number}", number_of(number)) for i in range(3)]))

    with calls(answer) as service:
        with pytest.raises(DataError, match=re.escape(f"use `parent_field='{field}'`")):
            evaluate_retriever(make(service.url), TEST_SET[:20], measures="RR")
        live = evaluate_retriever(make(service.url), TEST_SET[:20], measures="RR", parent_field=field)
    assert live.mean["RR"] == 1.0
    assert live.retrieval.faults == {}


def test_samples_are_bounded_and_hold_no_long_values() -> None:
    samples = Samples()
    for _ in range(100):
        samples.add([{"id": "a", "text": "x" * 10_000, **{f"f{i}": i for i in range(500)}} for _ in range(100)])
    assert len(samples._values) == 400
    assert all(len(values) <= 100 and all(len(text) <= 200 for text in values.values()) for values in samples._values)
    assert samples.matching({"a"}) == [Match("parent_field", "id", 1.0)]
    assert samples.matching({"nothing"}) == []


def test_samples_of_odd_things_do_no_harm() -> None:
    class Odd:
        @property
        def metadata(self) -> Any:
            raise RuntimeError("no")

    loop: dict[str, Any] = {"id": "a"}
    loop["self"] = loop
    samples = Samples()
    for raw in (None, 3, "text", [None], [3.5], [Odd()], [loop], [[[[]]]], {"a": {"b": [{"id": "q"}]}}, iter([])):
        samples.add(raw)
    assert samples.matching({"q"})


def test_a_raw_answer_is_never_stored(tmp_path: Any) -> None:
    secret = "sk-secret-value"
    search = rows(lambda doc, i: {"id": f"x{i}", "doc": doc, "token": secret})
    keeping = {"cache": tmp_path, "configuration": {}}
    live = evaluate_retriever(search, TEST_SET[:20], measures="RR", id_field="doc", **keeping)
    stored = "".join(path.read_text() for path in tmp_path.glob("*.jsonl")) + live.to_json()
    assert secret not in stored


# What is no retriever

MISTAKEN: list[tuple[Any, str]] = [
    ("http://user:secret@host/search", r"HttpRetriever\(url\)"),
    ("https://host", r"HttpRetriever\(url\)"),
    ("postgresql+psycopg://me:secret@host/db", r"from_pgvector\(psycopg.connect\(url\), 'table', encode\)"),
    ("sqlite:///notes.db", r"use a function: def search\(query, k\)"),
    ("run.txt", r"rankgauge.evaluate\(test_set, path\)"),
    ("module:attribute", "cannot be searched: a text names a retriever in a plan alone"),
    (None, "None cannot be searched"),
    (sqlite3.connect(":memory:"), r"use a function: def search\(query, k\)"),
    (sqlite3.connect(":memory:").cursor(), r"use a function: def search\(query, k\)"),
    (pd.DataFrame({"query": ["a"]}), r"rankgauge.evaluate\(test_set, frame\)"),
    (pl.DataFrame({"query": ["a"]}), r"rankgauge.evaluate\(test_set, frame\)"),
    (faiss.IndexFlatL2(4), r"from_faiss\(index, ids, encode\)"),
    (haystack.Pipeline(), r"from_haystack\(pipeline, "),
    (InMemoryDocumentStore(), r"InMemoryBM25Retriever\(document_store\)"),
    ({"d1": "a text", "d2": "another"}, r"BM25\(corpus\)"),
    (Corpus({"d1": "a text"}), r"BM25\(corpus\)"),
    ({"q1": {"d1": 1.0}}, r"rankgauge.evaluate\(test_set, run\)"),
    (Run({"q1": {"d1": 1.0}}), r"rankgauge.evaluate\(test_set, run\)"),
    (["d1", "d2"], r"rankgauge.evaluate\(test_set, run\)"),
    (TEST_SET, "the retriever comes first, then the test set"),
    (Qrels({"q": {"d": 1}}), "the retriever comes first"),
    ({"a": rows, "b": rows}, "asked with evaluate_retrievers"),
]


@pytest.mark.parametrize(("given", "said"), MISTAKEN, ids=[said[:30] for _, said in MISTAKEN])
def test_what_is_no_retriever_says_what_to_write(given: Any, said: str) -> None:
    with pytest.raises(RetrieverError, match=said) as caught:
        evaluate_retriever(given, TEST_SET)
    assert "secret" not in str(caught.value)


def test_clients_name_their_adapter() -> None:
    with Elasticsearch("http://127.0.0.1:9200") as client, pytest.raises(RetrieverError, match="from_elasticsearch"):
        as_searcher(client)
    with httpx.Client() as session, pytest.raises(RetrieverError, match=r"HttpRetriever\(url\)"):
        as_searcher(session)
    client = chromadb.EphemeralClient(chromadb.Settings(anonymized_telemetry=False))
    with pytest.raises(RetrieverError, match=r"from_chroma\(client.get_collection\('name'\)\)"):
        as_searcher(client)
    collection = client.get_or_create_collection("mistaken", embedding_function=None)
    with pytest.raises(RetrieverError, match=r"from_chroma\(collection\)"):
        as_searcher(collection)


@pytest.mark.parametrize(
    ("package", "name", "said"),
    [
        ("qdrant_client.qdrant_client", "QdrantClient", "from_qdrant"),
        ("lancedb.table", "LanceTable", r"from_lancedb\(table, encode\)"),
        ("lancedb.db", "LanceDBConnection", r"connection.open_table\('name'\)"),
        ("pymilvus.milvus_client", "MilvusClient", "from_milvus"),
        ("openai", "OpenAI", r"client.vector_stores.search"),
        ("psycopg", "Connection", r"from_pgvector\(connection, 'table', encode\)"),
        ("sentence_transformers", "SentenceTransformer", r"Dense\(corpus, model="),
        ("pinecone.data.index", "Index", "index.query"),
    ],
)
def test_clients_are_known_by_their_class(package: str, name: str, said: str) -> None:
    kind = type(name, (), {"__module__": package, "search": lambda self, query: [], "retrieve": lambda self, ids: []})
    with pytest.raises(RetrieverError, match=said):
        as_searcher(kind())


def test_a_llamaindex_index_is_no_retriever_yet() -> None:
    class VectorStoreIndex:
        def as_retriever(self, **options: Any) -> Any: ...
        def as_query_engine(self, **options: Any) -> Any: ...

    with pytest.raises(RetrieverError, match=r"index.as_retriever\(similarity_top_k=10\)"):
        as_searcher(VectorStoreIndex())


def test_a_coroutine_is_not_awaited_in_vain() -> None:
    async def search(query: str, k: int) -> list[str]:
        return []

    with pytest.raises(RetrieverError, match="give the async function itself"):
        as_searcher(search("x", 1))


def test_adapters_that_are_named_exist() -> None:
    told = repr(mistaken._BY_PACKAGE) + repr(mistaken._LOOKS)
    for name in re.findall(r"rankgauge\.retrievers\.(\w+)", told):
        assert hasattr(rankgauge.retrievers, name)
    assert issubclass(RetrieverError, RankgaugeError)
