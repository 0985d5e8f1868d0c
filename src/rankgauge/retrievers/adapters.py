"""Searchers for LangChain, Chroma, FAISS, Elasticsearch and OpenSearch. None of these is imported here: what is given
is used by the methods it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rankgauge.arguments import named_arguments
from rankgauge.errors import RetrieverError
from rankgauge.retrievers.hits import Listed
from rankgauge.retrievers.http import HttpRetriever, depth_of, fill
from rankgauge.retrievers.searcher import Searcher, as_searcher
from rankgauge.retrievers.web import MAX_BODY

__all__ = ["MATCH", "from_chroma", "from_elasticsearch", "from_faiss", "from_langchain"]

_INNER_PRODUCT: Final = 0  # faiss.METRIC_INNER_PRODUCT; every other metric of FAISS is a distance
MATCH: Final = {"query": {"match": {"text": "{query}"}}}


@named_arguments
def from_langchain(source: Any, *, name: str | None = None, id_field: str | None = None) -> Searcher:
    """A LangChain retriever or vector store.

    A vector store is asked for its documents in order, without scores: whether its scores are similarities or
    distances differs from store to store.
    """
    for method in ("similarity_search", "invoke", "get_relevant_documents"):
        if callable(getattr(source, method, None)):
            return as_searcher(source, name=name, id_field=id_field)
    raise RetrieverError(f"a {type(source).__name__} is neither a LangChain retriever nor a vector store")


@named_arguments
def from_chroma(
    collection: Any,
    *,
    embed: Callable[[str], Sequence[float]] | None = None,
    where: Mapping[str, Any] | None = None,
    id_field: str = "id",
    name: str | None = None,
) -> Searcher:
    """A Chroma collection. With `embed`, from a text to its vector, or Chroma's own from a list of texts to their
    vectors, it gets the vector of a query, else its text. score = -distance. Results have the id in the collection, or
    what `id_field` names, such as "metadata.doc_id"."""
    _needs(collection, "query", "a Chroma collection")

    def search(query: str, k: int) -> list[dict[str, Any]]:
        asked: dict[str, Any] = (
            {"query_texts": [query]} if embed is None else {"query_embeddings": [_vector(embed, query)]}
        )
        if where is not None:
            asked["where"] = dict(where)
        found = collection.query(n_results=k, include=["distances", "metadatas"], **asked)
        stored = (found.get("metadatas") or [[None] * len(found["ids"][0])])[0]
        columns = zip(found["ids"][0], found["distances"][0], stored, strict=True)
        return [{"id": own, "score": -far, "metadata": metadata} for own, far, metadata in columns]

    called = name or str(getattr(collection, "name", "chroma"))
    return Searcher(search, called, id_field=id_field, score_field="score")


@named_arguments
def from_faiss(
    index: Any,
    ids: Sequence[Any] | Mapping[int, Any],
    encode: Callable[[str], Any],
    *,
    name: str | None = None,
) -> Searcher:
    """A FAISS index. `ids` gives the document of each number in the index, `encode` the vector of a query.

    Inner products are scores; for every other metric score = -distance.
    """
    _needs(index, "search", "a FAISS index")
    count = getattr(index, "ntotal", len(ids))
    if not isinstance(ids, Mapping) and len(ids) != count:
        raise RetrieverError(f"the index holds {count} vectors, but there are {len(ids)} ids; give one for each")
    sign = 1.0 if getattr(index, "metric_type", _INNER_PRODUCT) == _INNER_PRODUCT else -1.0
    dimensions = getattr(index, "d", None)

    def search(query: str, k: int) -> list[tuple[Any, float]]:
        import numpy as np

        vector = np.ascontiguousarray(encode(query), dtype=np.float32).reshape(1, -1)
        if dimensions is not None and vector.shape[1] != dimensions:
            raise RetrieverError(f"encode gives {vector.shape[1]} numbers, but the index has {dimensions} dimensions")
        values, numbers = index.search(vector, k)
        # FAISS fills up a list that is too short with the number -1.
        found = zip(numbers[0].tolist(), values[0].tolist(), strict=True)
        return [(ids[number], sign * value) for number, value in found if number >= 0]

    return Searcher(search, name or type(index).__name__)


@named_arguments
def from_elasticsearch(
    client: Any,
    index: str,
    *,
    body: Mapping[str, Any] = MATCH,
    id_field: str = "_id",
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
    max_body: int = MAX_BODY,
    name: str | None = None,
) -> Searcher:
    """An index of Elasticsearch or OpenSearch, by a client (async or not) or by the URL of the server.

    `body` is the search body with `{query}` where the query stands; `size` is set to k. Ids that are kept in a field
    are found with `id_field="_source.doc_id"`; the documents of chunks with `parent_field="_source.doc_id"`, where the
    body says `"_source": ["doc_id"]`. Headers (`${NAME}` from the environment), timeout and `max_body`, the
    bytes of the longest answer, are for a URL; a client has its own.
    """
    if not isinstance(body, Mapping):
        raise RetrieverError(f"body={body!r} must be a search body such as {MATCH}")
    template = {"size": "{k}", **body}
    if id_field == "_id":
        template.setdefault("_source", False)
    name = name or index
    if isinstance(client, str):
        asked = HttpRetriever(
            f"{client.rstrip('/')}/{index}/_search",
            body=template,
            ids=f"$.hits.hits[*].{id_field}",
            scores="$.hits.hits[*]._score",
            headers=headers,
            timeout=timeout,
            max_body=max_body,
        )
        asked.each = "$.hits.hits[*]."
        return as_searcher(asked, name=name)
    _needs(client, "search", "an Elasticsearch client or a URL")
    if "{query}" not in repr(template):
        raise RetrieverError("{query} does not stand in the body: the index would never see the query")

    def found(response: Any) -> Listed:
        return Listed(response["hits"]["hits"], getattr(response, "body", response))

    async def asearch(query: str, k: int | None) -> Any:
        return found(await client.search(index=index, body=fill(template, query, k)))

    def search(query: str, k: int | None) -> Any:
        return found(client.search(index=index, body=fill(template, query, k)))

    is_async, depth = type(client).__name__.startswith("Async"), depth_of(template)
    return Searcher(
        asearch if is_async else search,
        name,
        is_async=is_async,
        id_field=id_field,
        score_field="_score",
        takes_k=depth.told,
        depth=depth,
    )


def _needs(value: Any, method: str, what: str) -> None:
    if not callable(getattr(value, method, None)):
        raise RetrieverError(f"{what} is needed, not a {type(value).__name__}")


def _vector(embed: Callable[..., Any], query: str) -> Any:
    """The vector of a text. A function of a list of texts, as Chroma's are, takes a text for its characters: it gives
    a vector for each, and is asked again."""
    found = _plain(embed(query))
    if found and not hasattr(found[0], "__float__"):
        found = _plain(embed([query])[0])
    return found


def _plain(vector: Any) -> Any:
    return vector.tolist() if hasattr(vector, "tolist") else list(vector)
