"""The files that a plan names, looked at before anything costly begins: can they be read, can they be written?"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.formats import Source
from rankgauge.live.asked import askable
from rankgauge.model.testset import TestSet

__all__ = ["cache_faults", "corpus_faults", "output_faults", "read_test_set"]

_CORPUS = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst")
_BLOCK = 1 << 16


def read_test_set(path: Path) -> tuple[TestSet | None, list[str]]:
    """The queries that will be asked; None where there are none."""
    try:
        return askable(path), []
    except (RankgaugeError, OSError) as error:
        return None, [f"testset: {_first(error)}"]


def corpus_faults(path: Path) -> Iterator[str]:
    """A look at the first document: a corpus may be large, and its faults are named when it is read."""
    try:
        file = path
        if path.is_dir():
            file = next((path / name for name in _CORPUS if (path / name).is_file()), path / _CORPUS[0])
        line = _first_line(Source(file))
    except (RankgaugeError, OSError) as error:
        yield f"corpus: {_first(error)}"
        return
    if not line:
        yield f"corpus: {str(file)!r} is empty: there is nothing to search"
        return
    try:
        item = json.loads(line)
    except ValueError:
        item = None
    if not isinstance(item, Mapping) or not ({"_id", "id", "doc_id"} & item.keys()):
        yield f'corpus: {str(file)!r} does not begin with a line such as {{"_id": "d1", "text": "..."}}'


def cache_faults(cache: Path | None) -> Iterator[str]:
    """Why answers cannot be kept there."""
    if cache is not None and (why := _no_folder(cache)):
        yield f"calls.cache: {str(cache)!r} cannot be used: {why}; name another folder, or cache = false"


def output_faults(outputs: Mapping[str, str | None], folder: Path, inputs: Iterable[Path]) -> Iterator[str]:
    """Why an output cannot be written, or would be written over an input or another one."""
    taken = {path.resolve(): "an input" for path in inputs if os.path.exists(path)}
    for key, name in outputs.items():
        if name is None:
            continue
        place, path = f"outputs.{key}", folder / name
        if "\0" in name:
            yield f"{place}: {name!r} is no name that a file can have"
            continue
        resolved = path.resolve()
        if resolved in taken:
            yield f"{place}: {name!r} is {taken[resolved]} too; name another file"
            continue
        taken[resolved] = place
        if key != "runs" and os.path.isdir(path):
            yield f"{place}: {name!r} is a folder; name a file in it"
        elif why := _no_folder(path if key == "runs" else path.parent):
            yield f"{place}: {name!r} cannot be written: {why}"


def _no_folder(path: Path) -> str:
    """Why files cannot be written into a folder, which need not be there yet; empty when they can."""
    for place in (path, *path.parents):
        if os.path.isdir(place):
            return "" if _writable(place) else f"the folder {str(place)!r} is not open for writing"
        if os.path.lexists(place):
            return f"{str(place)!r} is a file, not a folder"
    return ""


def _writable(folder: Path) -> bool:
    """Whether a file can be made there, which permissions alone do not tell; nothing is left behind."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _first_line(source: Source) -> bytes:
    """The first line that is not blank."""
    return next((line for block in source.blocks(_BLOCK) for line in block.splitlines() if line.strip()), b"")


def _first(error: Exception) -> str:
    """An error on one line: of many faults the first, and how many more there are."""
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if not isinstance(error, FormatError) or error.total <= 1:
        return str(error).replace("\n  hint:", "; hint:")
    return f"{error.path}: {error.faults[0]} (and {error.total - 1} more)"
