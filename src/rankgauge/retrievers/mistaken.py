"""What people give for a retriever that is none: a URL, a client, a connection, an index, a data frame.

Each is told what to write instead. Nothing is imported: classes are known by their package, name and methods.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping
from typing import Any, Final

from rankgauge.formats.secrets import masked
from rankgauge.retrievers.attributes import attribute
from rankgauge.words.visible import shortened

__all__ = ["advice_on"]

_SQL: Final = (
    "def search(query, k): return connection.execute('SELECT id, score FROM ... ORDER BY score DESC LIMIT ?', "
    "(query, k)).fetchall()"
)
_BY_PACKAGE: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    # Package: a part of the class's name, and what to write. The first that fits counts; "" fits all.
    "chromadb": (
        ("Collection", "rankgauge.retrievers.from_chroma(collection)"),
        ("Client", "rankgauge.retrievers.from_chroma(client.get_collection('name'))"),
    ),
    "elasticsearch": (("Elasticsearch", "rankgauge.retrievers.from_elasticsearch(client, 'index')"),),
    "opensearchpy": (("OpenSearch", "rankgauge.retrievers.from_elasticsearch(client, 'index')"),),
    "qdrant_client": (("Client", "rankgauge.retrievers.from_qdrant(client, 'collection', encode)"),),
    "lancedb": (
        ("Table", "rankgauge.retrievers.from_lancedb(table, encode)"),
        ("", "rankgauge.retrievers.from_lancedb(connection.open_table('name'), encode)"),
    ),
    "pymilvus": (("", "rankgauge.retrievers.from_milvus(client, 'collection', encode)"),),
    "faiss": (("Index", "rankgauge.retrievers.from_faiss(index, ids, encode)"),),
    "psycopg": (
        ("Connection", "rankgauge.retrievers.from_pgvector(connection, 'table', encode), or a function: " + _SQL),
        ("Cursor", f"a function: {_SQL}"),
    ),
    "psycopg2": (("", f"a function: {_SQL}"),),
    "sqlite3": (("", f"a function: {_SQL}"),),
    "sqlalchemy": (("", f"a function: {_SQL}"),),
    "duckdb": (("", f"a function: {_SQL}"),),
    "openai": (
        (
            "OpenAI",
            "a function: lambda query, k: client.vector_stores.search('id of the store', query=query, "
            "max_num_results=k).data, with id_field='file_id'; an embedding model: "
            "rankgauge.retrievers.Dense(corpus, endpoint='https://api.openai.com/v1', model='...', "
            "api_key_env='OPENAI_API_KEY')",
        ),
    ),
    "pinecone": (
        ("", "a function: lambda query, k: index.query(vector=encode(query), top_k=k, include_metadata=True)"),
    ),
    "weaviate": (
        ("", "a function: lambda query, k: client.collections.get('name').query.near_text(query, limit=k).objects"),
    ),
    "sentence_transformers": (
        ("CrossEncoder", "rankgauge.retrievers.Rerank(retriever, 'name of the model', corpus=corpus)"),
        ("", "rankgauge.retrievers.Dense(corpus, model='name of the model')"),
    ),
    "requests": (("Session", "rankgauge.retrievers.HttpRetriever(url)"),),
    "fastapi": (("FastAPI", "rankgauge.retrievers.HttpRetriever(url) of the running service"),),
    "httpx": (("Client", "rankgauge.retrievers.HttpRetriever(url)"),),
    "haystack": (
        (
            "Pipeline",
            "rankgauge.retrievers.from_haystack(pipeline, {'retriever': {'query': '{query}', 'top_k': '{k}'}})",
        ),
    ),
}
_BY_SCHEME: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("postgres", "postgresql"),
        "rankgauge.retrievers.from_pgvector(psycopg.connect(url), 'table', encode), or a function: " + _SQL,
    ),
    **dict.fromkeys(("sqlite", "mysql", "mariadb", "duckdb"), f"a function: {_SQL}"),
}
"""What to write instead of the address of a database; all other addresses are taken for those of services."""
_FRAMES: Final = ("pandas", "polars", "pyarrow")
_LOOKS: Final = (
    # Methods and attributes by which objects of these and like libraries are known, whatever their package is.
    (("ntotal", "metric_type"), "rankgauge.retrievers.from_faiss(index, ids, encode)"),
    (("indices", "search", "bulk"), "rankgauge.retrievers.from_elasticsearch(client, 'index')"),
    (("upsert", "query", "peek"), "rankgauge.retrievers.from_chroma(collection)"),
    (("as_retriever", "as_query_engine"), "index.as_retriever(similarity_top_k=10)"),
    (("write_documents", "filter_documents"), "a retriever of Haystack over it: InMemoryBM25Retriever(document_store)"),
)
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def advice_on(given: Any) -> str:
    """What to write instead of something that cannot be asked; empty for all else."""
    kind = type(given)
    if given is None or isinstance(given, str | bytes | os.PathLike):
        return _of_text(given)
    if inspect.iscoroutine(given):
        given.close()
        return "a coroutine is no retriever: give the async function itself, without calling it"
    if isinstance(given, Mapping | list | tuple | set | frozenset) or kind.__module__.startswith("rankgauge.model"):
        return _of_data(given)
    package = kind.__module__.partition(".")[0]
    if package in _FRAMES:
        return (
            f"a {package} {kind.__name__} is no retriever: results that are there already are scored with "
            "rankgauge.evaluate(test_set, frame), texts are searched with rankgauge.retrievers.BM25({id: text, ...})"
        )
    named = next((use for part, use in _BY_PACKAGE.get(package, ()) if part in kind.__name__), "")
    looks = (use for names, use in _LOOKS if all(attribute(given, name) is not None for name in names))
    found = named or next(looks, "")
    return f"a {kind.__name__} does not take the text of a query; use {found}" if found else ""


def _of_text(given: Any) -> str:
    if isinstance(given, str) and _URL.match(given):
        shown = shortened(masked(given), 100)
        scheme = given.partition(":")[0].partition("+")[0].lower()
        use = _BY_SCHEME.get(
            scheme,
            "rankgauge.retrievers.HttpRetriever(url), whose body and ids say what is sent and where the ids are in the "
            "answer",
        )
        return f"the URL {shown!r} is no retriever; use {use}"
    if isinstance(given, str) and re.fullmatch(r"[\w.]+:[\w.]+", given):
        return f"{given!r} cannot be searched: a text names a retriever in a plan alone; import it and give the object"
    if isinstance(given, str | bytes | os.PathLike):
        return (
            f"{shortened(repr(given), 100)} cannot be searched: give a function of query and k, or an object with a "
            "search method; a run in a file is scored with rankgauge.evaluate(test_set, path)"
        )
    return "None cannot be searched: give a function of query and k, or an object with a search method"


def _of_data(given: Any) -> str:
    kind = type(given).__name__
    if kind in ("TestSet", "Qrels"):
        return f"a {kind} is no retriever: the retriever comes first, then the test set"
    values = list(given.values()) if isinstance(given, Mapping) else []
    if kind == "Corpus" or (values and all(isinstance(text, str) for text in values)):
        return f"a {kind} of texts cannot be searched by itself: use rankgauge.retrievers.BM25(corpus)"
    if values and all(map(_searched, values)):
        return f"a {kind} of several retrievers is asked with evaluate_retrievers"
    return (
        f"a {kind} is no retriever: results that are there already are scored with rankgauge.evaluate(test_set, run); "
        "else give a function of query and k, or an object with a search method"
    )


def _searched(value: Any) -> bool:
    return callable(value) or callable(attribute(value, "search")) or callable(attribute(value, "invoke"))
