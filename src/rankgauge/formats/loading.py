"""Files of any known format read into the nouns."""

from __future__ import annotations

import os
from pathlib import Path

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import FormatError
from rankgauge.formats.detect import Format, check_format, detect, is_beir_folder
from rankgauge.formats.json_lists import qrels_of, run_of
from rankgauge.formats.json_values import read_json, read_values
from rankgauge.formats.sources import Source
from rankgauge.formats.testset_json import is_testset, testset_of
from rankgauge.formats.trec import RunParts, read_qrels
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.testset import Corpus, TestSet, as_testset

__all__ = [
    "RunParts",
    "load_chunk_mapping",
    "load_corpus",
    "load_judgments",
    "load_qrels",
    "load_run",
    "load_testset",
    "open_run",
]

PathLike = str | os.PathLike[str]


def _opened(path: PathLike | Source, format: str | None) -> tuple[Source, Format]:  # noqa: A002
    source = path if isinstance(path, Source) else Source(path)
    return source, check_format(format) if format else detect(source)


def load_judgments(path: PathLike | Source, format: str | None = None) -> Qrels | TestSet:  # noqa: A002
    """Judgments from a file; a test set, with its texts and tags, where the file holds one."""
    if not isinstance(path, Source) and (is_beir_folder(path) or format == "beir"):
        from rankgauge.formats.beir import read_beir_testset

        return read_beir_testset(os.fspath(path))
    source, kind = _opened(path, format)
    if kind == "trec":
        return read_qrels(source)
    if kind in ("json", "jsonl"):
        value = read_values(source, kind)
        return testset_of(value, source.name) if is_testset(value) else qrels_of(value, source.name)
    from rankgauge.formats.tables import read_qrels_table

    return read_qrels_table(source, kind)


@named_arguments
def load_qrels(path: PathLike | Source, format: str | None = None) -> Qrels:  # noqa: A002
    """Judgments from a file or a BEIR folder; a test set gives its judgments."""
    if not isinstance(path, Source) and (is_beir_folder(path) or format == "beir"):
        from rankgauge.formats.beir import read_beir_qrels

        return read_beir_qrels(os.fspath(path))
    found = load_judgments(path, format)
    return found.qrels if isinstance(found, TestSet) else found


@named_arguments
def load_testset(path: PathLike | Source, format: str | None = None) -> TestSet:  # noqa: A002
    """A test set from JSON, JSON Lines or a BEIR folder; plain judgments give one whose texts are the ids."""
    found = load_judgments(path, format)
    return found if isinstance(found, TestSet) else as_testset(found)


def open_run(path: PathLike | Source, format: str | None = None) -> Run | RunParts:  # noqa: A002
    """A run to be scored: TREC text is read part by part, other formats at once."""
    source, kind = _opened(path, format)
    if kind == "trec":
        return RunParts(source)
    if kind in ("json", "jsonl"):
        value = read_values(source, kind)
        if is_testset(value):
            raise FormatError(source.name, ["this is a test set, not a run: give the judgments first, then the runs"])
        return run_of(value, source.name)
    from rankgauge.formats.tables import read_run_table

    return read_run_table(source, kind)


@named_arguments
def load_run(path: PathLike | Source, format: str | None = None) -> Run:  # noqa: A002
    """A whole run in memory."""
    import polars as pl

    opened = open_run(path, format)
    return opened if isinstance(opened, Run) else Run.of_frame(pl.concat(opened.parts()), opened.name)


@named_arguments
def load_corpus(path: PathLike) -> Corpus:
    """Texts of documents from JSON Lines or a BEIR folder."""
    from rankgauge.formats.beir import read_beir_corpus, read_corpus

    folder = Path(as_path("path", path)).is_dir()
    return read_beir_corpus(os.fspath(path)) if folder else read_corpus(Source(path))


def load_chunk_mapping(path: PathLike) -> dict[str, str]:
    """Which document each chunk belongs to, from a JSON object {chunk: document}."""
    source = Source(path)
    value = read_json(source)
    if not isinstance(value, dict) or not all(isinstance(parent, str | int) for parent in value.values()):
        raise FormatError(source.name, ['a chunk mapping is one object {"chunk id": "document id", ...}'])
    return {chunk: str(parent) for chunk, parent in value.items()}
