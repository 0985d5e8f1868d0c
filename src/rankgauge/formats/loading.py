"""Files of any known format read into the nouns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import as_path, check_text, named_arguments
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.datasets import PartFile, is_dataset, open_source, part_files
from rankgauge.formats.detect import (
    COLUMNAR,
    FORMATS,
    TABLES,
    Format,
    check_format,
    detect,
    format_of_name,
    is_beir_folder,
)
from rankgauge.formats.json_lists import qrels_of, run_of
from rankgauge.formats.json_values import read_first, read_json, read_values
from rankgauge.formats.run_parts import RunParts
from rankgauge.formats.sources import Source
from rankgauge.formats.testset_json import is_testset, lists_queries, testset_of
from rankgauge.formats.trec import TrecRun, read_qrels
from rankgauge.model.chunks import Chunks
from rankgauge.model.corpus import Corpus
from rankgauge.model.judgments import Qrels
from rankgauge.model.query import Query
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet, as_testset

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.formats.imports import Layout

__all__ = [
    "RunParts",
    "load_chunks",
    "load_corpus",
    "load_judgments",
    "load_qrels",
    "load_run",
    "load_testset",
    "open_run",
]

PathLike = str | os.PathLike[str]


def _opened(path: PathLike | Source, format: str | None) -> tuple[Source, Format]:  # noqa: A002
    source = open_source(path)
    return source, check_format(format) if format else detect(source)


def load_judgments(path: PathLike | Source, format: str | None = None) -> Qrels | TestSet:  # noqa: A002
    """Judgments from a file; a test set, with its texts and tags, where the file holds one."""
    if not isinstance(path, Source) and (is_beir_folder(path) or format == "beir"):
        from rankgauge.formats.beir import read_beir_testset

        return read_beir_testset(os.fspath(path))
    check_text("format", format)
    if format is not None and format.startswith("mtrag") and not isinstance(path, Source):
        from rankgauge.formats.imports.mtrag import MTRAG, read_mtrag

        if format in MTRAG:
            return read_mtrag(path, format)
    if format == "queries":
        from rankgauge.formats.queries import read_queries

        texts = read_queries(path.path if isinstance(path, Source) else path)
        return TestSet((Query(text, {}, query) for query, text in texts.items()), name=str(path))
    if format is not None and format not in FORMATS:
        return _imported(open_source(path), format)
    if not isinstance(path, Source) and is_dataset(path):
        return _judgments_of(path, format)
    return _one_file(*_opened(path, format))


def _one_file(source: Source, kind: Format) -> Qrels | TestSet:
    """The judgments of one file."""
    if kind == "trec":
        return read_qrels(source)
    if kind in ("json", "jsonl"):
        value = read_values(source, kind)
        if is_testset(value):
            return testset_of(value, source.name)
        found = _foreign(value, source.name)
        if found is None and lists_queries(value):
            raise FormatError(
                source.name,
                ["these are queries without labels"],
                hint="give each its relevant_docs: an empty list where nothing is judged yet",
            )
        return found or qrels_of(value, source.name)
    from rankgauge.formats.tables import qrels_of_table, read_table

    table = read_table(source, kind)
    return _foreign(table, source.name) or qrels_of_table(table, source, kind)


def _judgments_of(path: PathLike, format: str | None) -> Qrels | TestSet:  # noqa: A002
    """Judgments in many files; of tables only the columns that count are read, part by part."""
    import polars as pl

    files = part_files(path)
    kinds = [_kind_of(file, format) for file in files]
    if len(files) == 1 and not files[0].fixed:
        return _one_file(files[0].source, kinds[0])
    from rankgauge.formats.table_parts import read_judgments

    frames = [
        read_judgments(file.source, kind, file.fixed) if kind in TABLES else _grades(_one_file(file.source, kind))
        for file, kind in zip(files, kinds, strict=True)
    ]
    try:
        return Qrels(pl.concat(frames, how="diagonal"), name=os.fspath(path))
    except DataError as error:
        name = os.fspath(path)
        raise FormatError(name, [str(error).removeprefix(f"{name}: ")]) from None


def _kind_of(file: PartFile, format: str | None) -> Format:  # noqa: A002
    """The format of one file of many; names of columnar ones are believed, for each look costs time elsewhere."""
    if format is not None:
        return check_format(format)
    named = format_of_name(file.source.path)
    return named if named in COLUMNAR else detect(file.source)


def _grades(found: Qrels | TestSet) -> pl.DataFrame:
    return (found.qrels if isinstance(found, TestSet) else found).frame


def _foreign(value: Any, name: str) -> TestSet | None:
    """The test set of a JSON value or a table in another tool's layout; None where it is in none."""
    from rankgauge.formats.imports import layout_of

    table = hasattr(value, "columns")
    layout = layout_of(dict.fromkeys(value.columns) if table else value)
    return None if layout is None else _read_layout(layout, value.to_dicts() if table else value, name)


def _imported(source: Source, layout: str) -> TestSet:
    """A file read in the layout that was named."""
    from rankgauge.formats.imports import layout_named

    chosen, kind = layout_named(layout), detect(source)
    if kind in ("json", "jsonl"):
        return _read_layout(chosen, read_values(source, kind), source.name)
    from rankgauge.formats.tables import read_table

    return _read_layout(chosen, read_table(source, kind).to_dicts(), source.name)


def _read_layout(layout: Layout, value: Any, name: str) -> TestSet:
    from rankgauge.formats.imports.entries import FaultsError

    try:
        return TestSet(layout.read(value), name=name)
    except FaultsError as error:
        raise FormatError(name, error.faults, hint=f"it was read as {layout.about}") from None
    except (KeyError, TypeError, AttributeError):
        raise FormatError(name, [f"this is no file of {layout.about}"]) from None
    except DataError as error:
        raise FormatError(name, [str(error).removeprefix(f"{name}: ")], hint=f"it was read as {layout.about}") from None


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
    """A test set from JSON, JSON Lines, a folder of BEIR or MTEB, or a file of another tool; plain judgments give one
    whose texts are the ids.

    Files of ragas, DeepEval, LlamaIndex, SQuAD, OpenSearch, Quepid, Phoenix, Langfuse and chunking_evaluation are
    recognised by their own keys; `format` names the layout where that fails. `format="mtrag"` reads judgments of MT-RAG
    together with the texts beside them, and `format="queries"` queries alone, ids with texts.
    """
    found = load_judgments(path, format)
    return found if isinstance(found, TestSet) else as_testset(found)


def open_run(
    path: PathLike | Source,
    format: str | None = None,  # noqa: A002
    *,
    stream: bool = False,
) -> Run | RunParts:
    """A run to be scored. TREC text, folders and whatever is large are read part by part, and all else if it is to be
    streamed; other files at once."""
    if isinstance(path, Source) or not is_dataset(path):
        return _open_file(*_opened(path, format), stream=stream)
    files = part_files(path)
    kinds = [_kind_of(file, format) for file in files]
    if len(files) == 1 and not files[0].fixed:
        return _open_file(files[0].source, kinds[0], stream=stream)
    from rankgauge.formats.datasets import DatasetRun

    return DatasetRun(path, [_parts_of(file, kind) for file, kind in zip(files, kinds, strict=True)])


def _parts_of(file: PartFile, kind: Format) -> RunParts:
    """One file of many."""
    source = file.source
    if kind == "trec":
        return TrecRun(source)
    if kind == "jsonl":
        from rankgauge.formats.json_parts import JsonLinesRun

        return JsonLinesRun(source)
    if kind not in TABLES:
        raise FormatError(source.name, [f"{kind} cannot be one of many files; write JSON Lines or a table"])
    from rankgauge.formats.table_parts import TableRun

    return TableRun(source, kind, file.fixed)


def _open_file(source: Source, kind: Format, *, stream: bool) -> Run | RunParts:
    """A run in one file."""
    if kind == "trec":
        return TrecRun(source)
    if stream and source.held:
        raise FormatError(source.name, ["it is held in memory and cannot be streamed; give the run as a file"])
    if stream and kind == "json":
        raise FormatError(
            source.name,
            ["a JSON value is read at once; write JSON Lines (an object on each line), or leave out `stream=True`"],
        )
    if not source.held and kind in (*TABLES, "jsonl") and (stream or _is_large(source, kind)):
        if kind == "jsonl":
            _refuse_others(read_first(source), source)
        return _parts_of(PartFile(source, {}), kind)
    return _run_in_memory(source, kind)


def _is_large(source: Source, kind: Format) -> bool:
    if kind == "jsonl":
        return source.is_large
    from rankgauge.formats.table_parts import is_large_table

    return is_large_table(source, kind)


def _run_in_memory(source: Source, kind: Format) -> Run:
    if kind in ("json", "jsonl"):
        value = read_values(source, kind)
        _refuse_others(value, source)
        return run_of(value, source.name)
    from rankgauge.formats.tables import read_run_table

    return read_run_table(source, kind)


def _refuse_others(value: Any, source: Source) -> None:
    """Refuse a test set or a record in the place of a run."""
    if is_testset(value):
        raise FormatError(source.name, ["this is a test set, not a run: give the judgments first, then the runs"])
    if isinstance(value, dict) and value.get("format") == "rankgauge.record":
        raise FormatError(
            source.name,
            ["this is a record: it holds scores, not whole lists"],
            hint='give a file of the run; a plan writes one for each system with runs = "FOLDER" under [outputs]',
        )


@named_arguments
def load_run(path: PathLike | Source, format: str | None = None) -> Run:  # noqa: A002
    """A whole run in memory."""
    import polars as pl

    if isinstance(path, Source) or not is_dataset(path):
        source, kind = _opened(path, format)
        opened: Run | RunParts = TrecRun(source) if kind == "trec" else _run_in_memory(source, kind)
    else:
        opened = open_run(path, format)
    if isinstance(opened, Run):
        return opened
    frame = pl.concat(opened.parts())
    own = set(frame["query"].unique())
    return Run.of_frame(frame, opened.name, empty=[query for query in opened.empty if query not in own])


@named_arguments
def load_corpus(path: PathLike) -> Corpus:
    """Texts of documents from JSON Lines, a folder of BEIR or MTEB, a file of SQuAD or LlamaIndex, or a folder of .md
    and .txt files, each of which is the document of its name without the ending."""
    from rankgauge.formats.beir import read_beir_corpus, read_corpus

    if (folder := Path(as_path("path", path))).is_dir():
        return read_text_files(folder) or read_beir_corpus(os.fspath(path))
    source = Source(path)
    if detect(source) == "json":
        from rankgauge.formats.imports import layout_of

        value = read_json(source)
        layout = layout_of(value)
        if layout is not None and layout.corpus is not None:
            return Corpus(layout.corpus(value), name=source.name)
    return read_corpus(source)


def read_text_files(folder: Path) -> Corpus | None:
    """The text files of a folder, whole and unchanged, line ends too: places are counted in them. None where it has
    none, or holds a corpus of another kind."""
    if is_beir_folder(folder) or any(folder.glob("corpus*")):
        return None
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".md", ".txt") and path.is_file())
    texts: dict[str, str] = {}
    for file in files:
        if file.stem in texts:
            raise FormatError(str(folder), [f"two files are named {file.stem!r}, which would be one document's id"])
        texts[file.stem] = Source(file).text()
    return Corpus(texts, name=str(folder)) if texts else None


@named_arguments
def load_chunks(path: PathLike) -> Chunks:
    """Which document each chunk belongs to, from a JSON object {chunk: document}; and where it begins and ends, from
    JSON Lines or a table with `id`, `doc`, `start`, `end` and `text`."""
    from rankgauge.formats.chunks import read_chunks

    return read_chunks(Source(path))
