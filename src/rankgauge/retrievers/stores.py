"""Stores that hold the documents already, by the plain parameters of a plan: Chroma, FAISS, Elasticsearch."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from rankgauge.errors import RetrieverError
from rankgauge.extras import check_installed, optional
from rankgauge.formats.secrets import masked
from rankgauge.formats.variables import filled
from rankgauge.retrievers.adapters import MATCH, from_chroma, from_elasticsearch, from_faiss
from rankgauge.retrievers.checks import Bounds, InFolder, faults_of
from rankgauge.retrievers.encoders import EndpointUrl, KeyVariable, ModelName, check_encoder, model_encoder
from rankgauge.retrievers.searcher import Searcher
from rankgauge.retrievers.vector_stores import from_vespa
from rankgauge.retrievers.web import MAX_BODY, check_url, with_login

__all__ = ["chroma", "elasticsearch", "faiss", "vespa"]

_CHROMA = ("chromadb", "a Chroma collection", "chromadb", "chroma")
_FAISS = ("faiss", "a FAISS index", "faiss-cpu", "retrievers")
_ENCODERS = "give model, a sentence-transformers model, or endpoint and model, an OpenAI-compatible server"


def chroma(
    *,
    collection: Annotated[str, "Name of the collection."],
    path: Annotated[str | None, "Folder of the database.", InFolder] = None,
    url: Annotated[str | None, "URL of the server, instead of a folder."] = None,
    where: Annotated[dict[str, Any] | None, "Filter on the metadata."] = None,
    model: ModelName = None,
    endpoint: EndpointUrl = None,
    api_key_env: KeyVariable = None,
) -> Searcher:
    """A Chroma collection in a folder or on a server; without a model, the collection's own embeds the queries."""
    library = optional(*_CHROMA)
    quiet = library.Settings(anonymized_telemetry=False)
    try:
        if url is None:
            client = library.PersistentClient(path, quiet)
        else:
            parts = urlsplit(filled(url))
            secure = parts.scheme == "https"
            port = parts.port or (443 if secure else 8000)
            headers = with_login(filled(url), {})
            client = library.HttpClient(parts.hostname, port, ssl=secure, headers=headers, settings=quiet)
        found = client.get_collection(collection)
    except Exception as error:  # its kinds differ from version to version
        said = f"the Chroma collection {collection!r} at {path or url} cannot be opened: {error}"
        raise RetrieverError(masked(said)) from None
    if model is None and endpoint is None:
        return from_chroma(found, where=where)
    encode = model_encoder(model, endpoint, api_key_env)
    return from_chroma(found, embed=lambda text: encode([text])[0], where=where)


def _chroma_faults(
    path: str | None = None, url: str | None = None, model: str | None = None, endpoint: str | None = None, **_: Any
) -> list[str]:
    faults = faults_of(lambda: check_installed(*_CHROMA))
    if model is not None:  # without one, the collection's own embeds the queries
        faults += faults_of(lambda: check_encoder(model, endpoint))
    if (path is None) == (url is None):
        faults.append("say where the collection is: either path, a folder, or url, a server")
    if path is not None and not Path(path).is_dir():
        faults.append(f"path={path!r}: there is no such folder")
    return faults if url is None else faults + faults_of(lambda: check_url(filled(url)))


def faiss(
    *,
    index: Annotated[str, "File of the index, as faiss.write_index makes it.", InFolder],
    ids: Annotated[str, "File with the id of each vector: one a line, or a JSON list.", InFolder],
    model: ModelName = None,
    endpoint: EndpointUrl = None,
    api_key_env: KeyVariable = None,
) -> Searcher:
    """A FAISS index in a file; the model that made its vectors embeds the queries."""
    encode = model_encoder(model, endpoint, api_key_env)
    try:
        held = optional(*_FAISS).read_index(os.fspath(index))
    except RuntimeError as error:
        raise RetrieverError(f"index={index!r} is no FAISS index: {str(error).splitlines()[0]}") from None
    return from_faiss(held, _ids(ids), lambda text: encode([text])[0])


def _faiss_faults(
    index: str | None = None, ids: str | None = None, model: str | None = None, endpoint: str | None = None, **_: Any
) -> list[str]:
    faults = faults_of(lambda: check_installed(*_FAISS))
    for name, path in (("index", index), ("ids", ids)):
        if path is not None and not Path(path).is_file():
            faults.append(f"{name}={path!r}: there is no such file")
    if model is None:
        faults.append(f"queries need the model that made the vectors: {_ENCODERS}")
    else:
        faults += faults_of(lambda: check_encoder(model, endpoint))
    return faults if endpoint is None else faults + faults_of(lambda: check_url(filled(endpoint)))


def elasticsearch(
    *,
    url: Annotated[str, "URL of the server."],
    index: Annotated[str, "Name of the index."],
    body: Annotated[dict[str, Any] | None, "The search body, with {query} where the query stands."] = None,
    id_field: Annotated[str, "Where the id of a hit is: _id, or a field such as _source.doc_id."] = "_id",
    headers: Annotated[dict[str, str] | None, "Headers; ${NAME} is taken from the environment."] = None,
    timeout: Annotated[float, "Seconds for one call.", Bounds(0.001)] = 30.0,
    max_body: Annotated[int, "Bytes of the longest answer that is read.", Bounds(1)] = MAX_BODY,
) -> Searcher:
    """An index of Elasticsearch or OpenSearch."""
    asked: dict[str, Any] = {"headers": headers, "timeout": timeout, "max_body": max_body}
    return from_elasticsearch(url, index, body=body or MATCH, id_field=id_field, **asked)


def _elasticsearch_faults(**parameters: Any) -> list[str]:
    """Each parameter by itself. Making a searcher connects to nothing."""
    tried = [{"url": "http://localhost", "index": "index", key: value} for key, value in parameters.items()]
    return faults_of(*(partial(elasticsearch, **given) for given in tried))


def vespa(
    *,
    url: Annotated[str, "URL of the container."],
    body: Annotated[dict[str, Any] | None, "The body of the Query API, with {query} where the query stands."] = None,
    id_field: Annotated[str, "Where the id of a hit is: id, or a field such as fields.doc_id."] = "id",
    headers: Annotated[dict[str, str] | None, "Headers; ${NAME} is taken from the environment."] = None,
    timeout: Annotated[float, "Seconds for one call.", Bounds(0.001)] = 30.0,
    max_body: Annotated[int, "Bytes of the longest answer that is read.", Bounds(1)] = MAX_BODY,
) -> Searcher:
    """An application of Vespa."""
    asked: dict[str, Any] = {"headers": headers, "timeout": timeout, "max_body": max_body}
    return from_vespa(url, body=body, id_field=id_field, **asked)


def _vespa_faults(**parameters: Any) -> list[str]:
    """Each parameter by itself. Making a searcher connects to nothing."""
    return faults_of(*(partial(vespa, **{"url": "http://localhost", key: value}) for key, value in parameters.items()))


vespa.faults = _vespa_faults  # type: ignore[attr-defined]
chroma.faults = _chroma_faults  # type: ignore[attr-defined]
faiss.faults = _faiss_faults  # type: ignore[attr-defined]
elasticsearch.faults = _elasticsearch_faults  # type: ignore[attr-defined]


def _ids(path: str) -> list[str]:
    """Document ids, in the order of the vectors."""
    text = Path(path).read_text("utf-8")
    if text.lstrip().startswith("["):
        try:
            listed = json.loads(text)
        except ValueError as error:
            raise RetrieverError(f"ids={path!r} is no JSON: {error}") from None
        return [str(one) for one in listed]
    return text.splitlines()
