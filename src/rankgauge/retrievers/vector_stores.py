"""Searchers for Qdrant, pgvector, LanceDB, Milvus, Vespa and pipelines of Haystack. None of these is imported here:
what is given is used by the methods it has.

All give scores of which more is better: a distance d becomes -d.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import RetrieverError
from rankgauge.formats.secrets import masked
from rankgauge.retrievers.checks import check_choice
from rankgauge.retrievers.hits import Listed
from rankgauge.retrievers.http import HttpRetriever, depth_of, fill
from rankgauge.retrievers.searcher import Searcher, as_searcher
from rankgauge.retrievers.web import MAX_BODY

__all__ = ["from_haystack", "from_lancedb", "from_milvus", "from_pgvector", "from_qdrant", "from_vespa"]

Encoder = Callable[[str], Sequence[float]]
_SIMILARITIES: Final = {"cosine", "dot", "ip"}
_OPERATORS: Final = {"cosine": "<=>", "l2": "<->", "inner_product": "<#>", "l1": "<+>"}
"""pgvector's distances; that of inner products is their negative."""
_USER_QUERY: Final = "select * from sources * where userQuery()"


@named_arguments
def from_qdrant(
    client: Any,
    collection: str,
    encode: Encoder,
    *,
    using: str | None = None,
    query_filter: Any = None,
    id_field: str | None = None,
    name: str | None = None,
) -> Searcher:
    """A collection of Qdrant, by its client (async or not). `encode` gives the vector of a query, `using` names one of
    several vectors, `id_field` is where the document's id is, such as "payload.doc_id": points have numbers or UUIDs
    for ids, which are seldom those of the documents."""
    _needs(client, "query_points", "a QdrantClient")
    _check_encoder(encode)
    asked: dict[str, Any] = {"collection_name": collection, "using": using, "query_filter": query_filter}
    sign: list[float] = []  # of the scores, looked up once

    def hits(points: Any) -> list[dict[str, Any]]:
        return [{"id": p.id, "payload": p.payload, "score": sign[0] * p.score} for p in points]

    async def asearch(query: str, k: int) -> Any:
        if not sign:
            sign.append(_qdrant_sign(await client.get_collection(collection), collection, using))
        return hits((await client.query_points(query=_plain(encode(query)), limit=k, **asked)).points)

    def search(query: str, k: int) -> Any:
        return hits(client.query_points(query=_plain(encode(query)), limit=k, **asked).points)

    is_async = type(client).__name__.startswith("Async")
    if not is_async:
        try:
            held = client.get_collection(collection)
        except Exception as error:  # its kinds differ between a local client and a server's
            raise RetrieverError(f"the Qdrant collection {collection!r} cannot be opened: {error}") from error
        sign.append(_qdrant_sign(held, collection, using))
    return Searcher(asearch if is_async else search, name or collection, is_async=is_async, id_field=id_field)


def _qdrant_sign(held: Any, collection: str, using: str | None) -> float:
    """1 where the collection compares vectors by a similarity, -1 where by a distance."""
    vectors = held.config.params.vectors
    if isinstance(vectors, Mapping):
        if using not in vectors:
            raise RetrieverError(f"{collection}: `using` must name one of its vectors: {', '.join(map(repr, vectors))}")
        vectors = vectors[using]
    kind = str(getattr(vectors.distance, "value", vectors.distance)).lower()
    return 1.0 if kind in _SIMILARITIES else -1.0


@named_arguments
def from_pgvector(
    connection: Any,
    table: str,
    encode: Encoder,
    *,
    id_column: str = "id",
    vector_column: str = "embedding",
    distance: str = "cosine",
    columns: Sequence[str] = (),
    name: str | None = None,
) -> Searcher:
    """A table of PostgreSQL with vectors of pgvector, by a connection of psycopg. `table` may have its schema before
    it. `distance` is cosine, l2, inner_product or l1, as the table's index has it; score = -distance. Results also have
    the `columns`, such as the document of a chunk, which `parent_field` then names."""
    _needs(connection, "execute", "a connection of psycopg")
    _check_encoder(encode)
    operator = _OPERATORS[check_choice("distance", distance, tuple(_OPERATORS))]
    vector, identifier = _identifier(vector_column), _identifier(id_column)
    place = ".".join(map(_identifier, table.split(".")))
    if isinstance(columns, str) or not all(isinstance(column, str) for column in columns):
        raise RetrieverError(f"`columns` is a list of names of columns, such as ['doc_id'], not {columns!r}"[:200])
    further = "".join(f", {_identifier(column)}" for column in columns)
    statement = (
        f"SELECT {identifier}, {vector} {operator} %(query)s::vector{further} FROM {place} "
        f"ORDER BY {vector} {operator} %(query)s::vector LIMIT %(k)s"
    )

    def search(query: str, k: int) -> list[dict[str, Any]]:
        given = {"query": "[" + ",".join(f"{float(value):.9g}" for value in _plain(encode(query))) + "]", "k": k}
        rows = connection.execute(statement, given).fetchall()
        return [{**dict(zip(columns, more, strict=True)), "id": str(doc), "score": -far} for doc, far, *more in rows]

    return Searcher(search, name or table, id_field="id", score_field="score")


def _identifier(text: str) -> str:
    if not text or "\0" in text:
        raise RetrieverError(f"{text!r} is no name of a table or column")
    return '"' + text.replace('"', '""').replace("%", "%%") + '"'


@named_arguments
def from_lancedb(
    table: Any,
    encode: Encoder | None = None,
    *,
    id_field: str | None = None,
    where: str | None = None,
    vector_column: str | None = None,
    name: str | None = None,
) -> Searcher:
    """A table of LanceDB: by the vectors of `encode`, else by full-text search; score = -distance, or the text's."""
    _needs(table, "search", "a table of LanceDB")
    if encode is not None:
        _check_encoder(encode)
    score = "_score" if encode is None else "-_distance"

    def search(query: str, k: int) -> Any:
        if encode is None:
            asked = table.search(query, query_type="fts")
        else:
            asked = table.search(_plain(encode(query)), vector_column_name=vector_column)
        return (asked if where is None else asked.where(where)).limit(k).to_list()

    return Searcher(search, name or str(getattr(table, "name", "lancedb")), id_field=id_field, score_field=score)


@named_arguments
def from_milvus(
    client: Any,
    collection: str,
    encode: Encoder,
    *,
    id_field: str = "id",
    vector_field: str | None = None,
    filter: str = "",  # noqa: A002 - as Milvus calls it
    name: str | None = None,
) -> Searcher:
    """A collection of Milvus or Zilliz, by its MilvusClient. Cosine and inner product are scores; for L2 it is
    -distance."""
    _needs(client, "search", "a MilvusClient")
    _check_encoder(encode)
    needed = [] if id_field == "id" else [id_field.removeprefix("entity.")]
    where = "id" if id_field == "id" else f"entity.{needed[0]}"
    score = "distance" if _milvus_metric(client, collection) in _SIMILARITIES else "-distance"
    place = {} if vector_field is None else {"anns_field": vector_field}

    def search(query: str, k: int) -> Any:
        vectors = [_plain(encode(query))]
        found = client.search(collection, data=vectors, limit=k, filter=filter, output_fields=needed, **place)
        return [dict(hit) for hit in found[0]]

    return Searcher(search, name or collection, id_field=where, score_field=score)


def _milvus_metric(client: Any, collection: str) -> str:
    try:
        indexes = [client.describe_index(collection, index) for index in client.list_indexes(collection)]
    except Exception as error:  # its kinds differ between versions
        raise RetrieverError(f"the Milvus collection {collection!r} cannot be opened: {error}") from error
    kinds = {str(index["metric_type"]).lower() for index in indexes if index and "metric_type" in index}
    if len(kinds) != 1:
        raise RetrieverError(
            f"{collection}: its indexes have the metrics {', '.join(sorted(kinds)) or 'none'}; one is needed"
        )
    return kinds.pop()


class _Vespa(HttpRetriever):
    """Vespa leaves its list out where nothing is found, and tells errors in an answer that is else in order."""

    each = "$.root.children[*]."

    def _parsed(self, data: bytes) -> Any:
        answer = super()._parsed(data)
        root = answer.get("root") if isinstance(answer, dict) else None
        if isinstance(root, dict):
            if errors := root.get("errors"):
                told = errors[0] if isinstance(errors, list) else errors
                parts = told if isinstance(told, dict) else {}
                said = f"Vespa: {parts.get('summary', 'error')}: {parts.get('message', told)}"
                raise RetrieverError(masked(said)[:500])  # masked before it is cut: half a key would not be found
            root.setdefault("children", [])
        return answer


@named_arguments
def from_vespa(
    url: str,
    *,
    body: Mapping[str, Any] | None = None,
    id_field: str = "id",
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
    max_body: int = MAX_BODY,
    name: str | None = None,
) -> Searcher:
    """A Vespa application, by the URL of its container. `body` is the body of its Query API, with `{query}` where the
    query stands; `hits` is set to k. Ids in a field are found with `id_field="fields.doc_id"`."""
    if not isinstance(url, str):
        raise RetrieverError(f"from_vespa takes the URL of a container, 'http://localhost:8080', not {url!r}"[:200])
    template = {"hits": "{k}", **(body or {"yql": _USER_QUERY, "query": "{query}"})}
    asked = _Vespa(
        f"{url.rstrip('/')}/search/",
        body=template,
        ids=f"$.root.children[*].{id_field}",
        scores="$.root.children[*].relevance",
        headers=headers,
        timeout=timeout,
        max_body=max_body,
    )
    return as_searcher(asked, name=name or "vespa")


@named_arguments
def from_haystack(
    pipeline: Any,
    inputs: Mapping[str, Mapping[str, Any]],
    *,
    output: str | None = None,
    id_field: str | None = None,
    name: str | None = None,
) -> Searcher:
    """A pipeline of Haystack. `inputs` is what `run` gets, with `{query}` and `{k}` in their places, such as
    {"embedder": {"text": "{query}"}, "retriever": {"top_k": "{k}"}}; `output` is component and socket of the documents,
    "retriever.documents"; left out, it is the only component that gives documents. A component alone needs no
    adapter."""
    _needs(pipeline, "run", "a pipeline of Haystack")
    if "{query}" not in repr(inputs):
        raise RetrieverError("{query} stands nowhere in `inputs`: the pipeline would never see the query")
    check_text("output", output)
    included = set() if output is None else {output.partition(".")[0]}

    def search(query: str, k: int | None) -> Any:
        found = pipeline.run(fill(inputs, query, k), include_outputs_from=included)
        given = {part: values for part, values in found.items() if isinstance(values, Mapping)}
        places = [f"{part}.{socket}" for part, values in given.items() for socket in values]
        chosen = output
        if chosen is None:
            listed = [place for place in places if place.endswith(".documents")]
            chosen = listed[0] if len(listed) == 1 else "retriever.documents"
        if chosen not in places:
            told = ", ".join(f"output={place!r}" for place in places) or "it has none"
            raise RetrieverError(f"the pipeline gives nothing at {chosen!r}; its outputs: {told}")
        component, _, socket = chosen.partition(".")
        return Listed(found[component][socket], found)

    depth = depth_of(inputs)
    return Searcher(search, name or "haystack", id_field=id_field, takes_k=depth.told, depth=depth)


def _needs(value: Any, method: str, what: str) -> None:
    if not callable(getattr(value, method, None)):
        raise RetrieverError(f"{what} is needed, not a {type(value).__name__}")


def _check_encoder(encode: Any) -> None:
    if not callable(encode):
        raise RetrieverError(
            f"`encode` must be a function from the text of a query to its vector, such as model.encode, not {encode!r}"
        )


def _plain(vector: Any) -> Any:
    return vector.tolist() if hasattr(vector, "tolist") else list(vector)
