"""What the systems of a plan say of their chunks: the documents they belong to, or what labels are brought onto."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from rankgauge.engine.chunks import check_rule
from rankgauge.formats import load_chunks
from rankgauge.model.chunks import Chunks, compiled_ids
from rankgauge.retrievers.checks import faults_of

__all__ = ["collapse_faults", "given_chunks", "given_faults", "rule_of"]

_CHUNK_FILES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")


def rule_of(collapse_chunks: str | None, folder: Path) -> str | Path | None:
    """What says of which documents chunks are: a file, where there is one or the text is a file's name. An expression
    may be longer than any name."""
    if collapse_chunks is None:
        return None
    named = collapse_chunks.lower().removesuffix(".gz").removesuffix(".zst").endswith(_CHUNK_FILES)
    return folder / collapse_chunks if named or os.path.isfile(folder / collapse_chunks) else collapse_chunks


def collapse_faults(collapse_chunks: str | None, folder: Path) -> list[str]:
    """Rules that are none."""
    rule = rule_of(collapse_chunks, folder)
    if rule is None:
        return []
    if isinstance(rule, Path) and not os.path.isfile(rule):
        return [f"collapse_chunks: there is no file {collapse_chunks!r} beside the plan"]
    check = partial(load_chunks, rule) if isinstance(rule, Path) else partial(check_rule, rule)
    return [f"collapse_chunks: {fault}" for fault in faults_of(check)]


def given_faults(chunks: str | None, chunk_ids: str | None, folder: Path, *, searched: bool) -> Iterator[str]:
    """Files that cannot be read, and expressions that read no places; `searched` by the system itself, chunks need
    texts."""
    if chunk_ids is not None:
        yield from (f"chunk_ids: {fault}" for fault in faults_of(partial(compiled_ids, chunk_ids)))
    if chunks is None:
        return
    path = folder / chunks
    if not os.path.isfile(path):
        yield f"chunks: there is no file {chunks!r} beside the plan; rankgauge chunk writes one"
        return
    found: list[Chunks] = []
    yield from (f"chunks: {fault}" for fault in faults_of(lambda: found.append(load_chunks(path))))
    if searched and found and len(found[0].texts) < len(found[0]):
        own = next(own for own in found[0] if not found[0][own].text)
        yield f"chunks: the built-in retriever searches their texts, and {own!r} has none"


def given_chunks(
    chunks: str | None, chunk_ids: str | None, folder: Path, known: dict[Path, Chunks]
) -> Chunks | re.Pattern[str] | None:
    """What the ids of a system stand for. `known` holds the files that were read, so that systems share them."""
    if chunk_ids is not None:
        return compiled_ids(chunk_ids)
    if chunks is None:
        return None
    path = folder / chunks
    if path not in known:
        known[path] = load_chunks(path)
    return known[path]
