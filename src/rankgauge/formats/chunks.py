"""Tables of chunks: which document each chunk belongs to, and, where that is known, where it begins and ends."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError, Fault, FormatError
from rankgauge.formats.detect import detect
from rankgauge.formats.json_values import dump_lines, id_of, read_json, read_json_lines
from rankgauge.formats.sources import Source, write_whole
from rankgauge.model.chunks import Chunk, Chunks

__all__ = ["read_chunks", "save_chunks"]

# As LangChain, LlamaIndex, Chroma and BEIR-like files call them.
_IDS = ("id", "_id", "chunk_id", "chunk", "node_id")
_DOCUMENTS = ("doc", "doc_id", "document_id", "document", "parent_id", "parent", "ref_doc_id", "source")
_STARTS = ("start", "start_index", "start_char_idx")
_ENDS = ("end", "end_index", "end_char_idx")
_TEXTS = ("text", "content", "contents", "page_content")
_EXAMPLE = '{"id": "d1#0", "doc": "d1", "start": 0, "end": 500, "text": "..."}'


def read_chunks(source: Source) -> Chunks:
    """Chunks from an object {chunk: document}, or from lines of JSON (or rows of a table) with `id`, `doc` and, where
    they are known, `start`, `end` and `text`."""
    kind = detect(source)
    if kind == "json":
        value = read_json(source)
        if isinstance(value, Mapping) and value and all(isinstance(doc, str | int) for doc in value.values()):
            return Chunks({own: str(doc) for own, doc in value.items()}, name=source.name)
        if not isinstance(value, list) or not value:
            raise FormatError(
                source.name,
                [f'chunks are one object {{"chunk id": "document id", ...}}, or a list (or lines) of {_EXAMPLE}'],
            )
        return _chunks(enumerate(value, start=1), source.name)
    if kind == "jsonl":
        return _chunks(read_json_lines(source), source.name)
    from rankgauge.formats.tables import read_table

    first = 1 if kind == "parquet" else 2  # behind the line with the names
    return _chunks(enumerate(read_table(source, kind).to_dicts(), start=first), source.name)


def _chunks(items: Iterable[tuple[int, Any]], name: str) -> Chunks:
    found: dict[str, Chunk] = {}
    faults = []
    for number, item in items:
        try:
            own, chunk = _chunk(item)
            if own in found:
                raise DataError(f"the id {own!r} stands twice")
            found[own] = chunk
        except DataError as error:
            faults.append(Fault(str(error), number))
    if faults:
        raise FormatError(name, faults)
    return Chunks(found, name=name)


def _chunk(item: Any) -> tuple[str, Chunk]:
    if not isinstance(item, Mapping):
        raise DataError(f"no object such as {_EXAMPLE}")
    fields = {**(held if isinstance(held := item.get("metadata"), Mapping) else {}), **item}
    own, doc = _first(fields, _IDS), _first(fields, _DOCUMENTS)
    if own is None or doc is None:
        raise DataError(f"no {'id' if own is None else 'document'} of a chunk; example: {_EXAMPLE}")
    start, end, text = _place(fields, _STARTS), _place(fields, _ENDS), _first(fields, _TEXTS) or ""
    if start is not None and end is None and isinstance(start, int) and text and isinstance(text, str):
        end = start + len(text)  # LangChain's splitters give the start alone
    return id_of(own, "chunk"), Chunk(id_of(doc, "document"), start, end, text)


def _place(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """A place in a text, which CSV holds as digits."""
    found = _first(fields, names)
    return int(found) if isinstance(found, str) and found.isdecimal() else found


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


@named_arguments
def save_chunks(chunks: Chunks, path: str | os.PathLike[str]) -> None:
    """Write chunks as JSON Lines, which `load_chunks` reads: lines with `id`, `doc`, `start`, `end` and `text`."""
    if not isinstance(chunks, Chunks):
        raise DataError(f"`chunks` must be Chunks, as chunk() or load_chunks() gives them, not {type(chunks).__name__}")
    written = (
        {"id": own, "doc": chunk.doc, "start": chunk.start, "end": chunk.end, "text": chunk.text}
        for own, chunk in chunks.items()
    )
    kept = [{key: value for key, value in fields.items() if value not in (None, "")} for fields in written]
    write_whole(as_path("path", path), dump_lines(kept))
