"""From one file format to another, saying what would be lost before losing it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from rankgauge.arguments import named_arguments
from rankgauge.errors import FormatError, counted
from rankgauge.formats import Source, load_judgments, load_run
from rankgauge.formats.beir import read_beir_corpus, read_beir_testset, write_beir
from rankgauge.formats.detect import FORMATS, Format, check_format, detect, format_of_name, is_beir_folder
from rankgauge.formats.imports import layout_of
from rankgauge.formats.json_lists import render_run_lines
from rankgauge.formats.json_values import dumps, read_json_lines, read_values
from rankgauge.formats.sources import fields_of, write_whole
from rankgauge.formats.tables import read_table, render_table
from rankgauge.formats.testset_json import is_testset, render_testset
from rankgauge.formats.trec import first_tag, render_qrels, render_run
from rankgauge.model.frames import ID_COLUMNS
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet, as_testset

__all__ = ["KINDS", "Kind", "Loaded", "convert", "load_any", "refuse_blanks", "render", "save"]

Kind = Literal["run", "judgments", "testset"]
KINDS: tuple[Kind, ...] = ("run", "judgments", "testset")
_BLANK = re.compile(r"\s")


@dataclass(frozen=True)
class Loaded:
    """What a file holds, and what of it could not be kept in memory."""

    content: Run | Qrels | TestSet
    format: Format
    left_behind: tuple[str, ...] = ()
    name: str = "run"
    tag: str | None = None
    """The name a run gives itself, if its format has a place for it."""
    written: str = ""
    """What a conversion wrote: a run, judgments or a test set."""


def load_any(path: str, *, form: str | None = None, kind: str | None = None) -> Loaded:
    """Read a file as a run, judgments or a test set, told by its content unless `kind` says so."""
    if kind is not None and kind not in KINDS:
        raise FormatError(path, [f"kind {kind!r} is not one of {', '.join(KINDS)}"])
    if path != "-" and (form == "beir" or is_beir_folder(path)):
        return _load_beir(path)
    source = Source(path)
    if form is not None and form not in FORMATS:
        return Loaded(load_judgments(source, form), detect(source))
    found = check_format(form) if form else detect(source)
    if (kind or _kind_of(source, found)) == "run":
        return Loaded(load_run(source, found), found, name=source.bare_name, tag=_tag(source, found))
    return Loaded(load_judgments(source, found), found)


def _tag(source: Source, form: Format) -> str | None:
    if form == "trec":
        return first_tag(source)
    if form == "jsonl":
        first = next((value for _, value in read_json_lines(source)), None)
        if isinstance(first, dict) and isinstance(first.get("tag"), str):
            return str(first["tag"])
    if form in ("csv", "tsv", "parquet", "arrow"):
        table = read_table(source, form)
        if "tag" in table.columns and len(table):
            return str(table["tag"][0])
    return None


def _load_beir(path: str) -> Loaded:
    test_set = read_beir_testset(path)
    try:
        corpus = read_beir_corpus(path)
    except FormatError:
        return Loaded(test_set, "beir")
    judged = {doc for query in test_set for doc in query.grades}
    kept = test_set.with_queries(
        replace(q, texts={doc: corpus[doc] for doc in q.grades if doc in corpus}) for q in test_set
    )
    others = len([doc for doc in corpus if doc not in judged])
    lost = (f"the texts of {counted(others, 'document')} without judgments",) if others else ()
    return Loaded(kept, "beir", lost)


def _kind_of(source: Source, form: Format) -> Kind:
    if form == "trec":
        widths = [len(fields) for _, fields in fields_of(source.head().splitlines()[:50])]
        return "run" if widths and min(widths) >= 6 else "judgments"
    if form in ("json", "jsonl"):
        value = read_values(source, form)
        if is_testset(value) or layout_of(value) is not None:
            return "testset"
        if isinstance(value, dict) and _could_be_grades(value):
            raise FormatError(
                source.name,
                ["this JSON could be a run or judgments; say which with `kind='run'` or `kind='judgments'`"],
            )
        return "run"
    columns = read_table(source, form).columns
    if layout_of(dict.fromkeys(columns)) is not None:
        return "testset"
    names = {str(name).strip().casefold() for name in columns}
    grades = set(ID_COLUMNS["grade"]) - {"score"}
    return "judgments" if names & grades or "corpus-id" in names else "run"


def _could_be_grades(value: dict[str, Any]) -> bool:
    docs: Any = next((docs for docs in value.values() if docs), {})
    return isinstance(docs, dict) and all(isinstance(grade, int) for grade in docs.values())


@named_arguments
def convert(
    path: str,
    target: str,
    *,
    lossy: bool = False,
    form: str | None = None,
    to: str | None = None,
    kind: str | None = None,
) -> Loaded:
    """Convert a file. What the target cannot hold is an error, unless `lossy` allows it."""
    loaded = load_any(path, form=form, kind=kind)
    target_form = check_format(to) if to else _target_format(target)
    losses = list(loaded.left_behind)
    if isinstance(loaded.content, Run) and target_form == "json" and loaded.tag is not None:
        losses.append(f"the run's tag {loaded.tag!r}")
    _write(loaded.content, target, target_form, loaded.tag or loaded.name, losses, lossy)
    if isinstance(loaded.content, Run):
        return replace(loaded, written="run")
    return replace(loaded, written="test set" if target_form in ("json", "jsonl", "beir") else "judgments")


def save(
    content: Run | Qrels | TestSet,
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
    *,
    lossy: bool = False,
) -> None:
    """Write a run, judgments or a test set in the format that `format` or the path's ending names; a test set as JSON
    where neither does. What the format cannot hold is an error, unless `lossy` allows it."""
    target = os.fspath(path)
    if format is None and isinstance(content, TestSet) and format_of_name(target) is None:
        format = "json"  # noqa: A001
    form = check_format(format) if format else _target_format(target, "format=")
    _write(content, target, form, content.name, [], lossy)


def _write(content: Run | Qrels | TestSet, target: str, form: Format, tag: str, losses: list[str], lossy: bool) -> None:
    losses = [*losses, *_losses(content, form)]
    if losses and not lossy:
        raise FormatError(target, [f"{form} cannot hold {loss}" for loss in losses], hint="drop them with `lossy=True`")
    if form == "trec":
        refuse_blanks(content, target)
    if form == "beir" and not isinstance(content, Run):
        write_beir(content if isinstance(content, TestSet) else as_testset(content), target)
    else:
        write_whole(target, render(content, form, tag))


def _target_format(target: str, option: str = "to=") -> Format:
    if target == "-":
        raise FormatError(target, [f"say which format to write to standard output: `{option}'trec'`"])
    named = format_of_name(target)
    if named is None:
        raise FormatError(target, [f"its name does not tell the format; use a known ending, or `{option}`"])
    return named


_JSON_ONLY = {
    "tags": "tags",
    "no_answer": "which queries have no answer",
    "conversation": "conversations",
    "spans": "gold passages",
    "synthetic": "which queries are synthetic",
}
"""What only JSON can hold of a query."""


def _losses(content: Run | Qrels | TestSet, form: Format) -> list[str]:
    losses = []
    if isinstance(content, TestSet):
        if form in ("trec", "csv", "tsv", "parquet", "arrow"):
            if any(query.text != query.id for query in content):
                losses.append(f"the texts of {counted(sum(q.text != q.id for q in content), 'query', 'queries')}")
            if any(query.texts for query in content):
                losses.append("the texts of documents")
        if form != "json" and content.policy is not None:
            losses.append("who gave which label, and the policy")
        if form not in ("json", "jsonl"):
            losses += [what for name, what in _JSON_ONLY.items() if any(getattr(query, name) for query in content)]
        if form == "beir" and any(query.groups for query in content):
            losses.append("groups of evidence")
    if isinstance(content, Qrels) and "subtopic" in content.frame.columns and form in ("json", "jsonl", "beir"):
        losses.append("judgments by subtopic (a document's best grade would be kept)")
    if isinstance(content, Qrels) and content.no_answer and form not in ("json", "jsonl"):
        losses.append(_JSON_ONLY["no_answer"])
    if isinstance(content, Run) and form == "beir":
        raise FormatError("beir", ["a BEIR folder holds a test set, not a run"])
    return losses


def refuse_blanks(content: Run | Qrels | TestSet, target: str) -> None:
    """TREC columns are separated by white space, so an id must not hold any."""
    frame = content.qrels.frame if isinstance(content, TestSet) else content.frame
    bad = [
        text
        for column in ("query", "doc")
        for text in frame[column].unique(maintain_order=True).to_list()
        if _BLANK.search(text) or text.startswith("#")
    ]
    if bad:
        raise FormatError(
            target,
            [
                f"TREC columns cannot hold the id {bad[0]!r}, which has white space in it or begins with # "
                f"({len(bad)} such ids); use JSON, or give queries and documents plain ids"
            ],
        )
    if "subtopic" in frame.columns:
        names = frame["subtopic"].unique(maintain_order=True).to_list()
        if odd := [name for name in names if not name or _BLANK.search(name)]:
            raise FormatError(
                target,
                [f"TREC columns cannot hold the subtopic {odd[0]!r}, which has white space in it or is empty; use CSV"],
            )


def render(content: Run | Qrels | TestSet, form: Format, tag: str) -> bytes:
    if isinstance(content, Run):
        if form == "trec":
            return render_run(content.frame, tag)
        if form == "json":
            return dumps(content.to_dict())
        if form == "jsonl":
            return render_run_lines(content, tag)
        return render_table(_ids(content.frame).with_columns(pl.lit(tag).alias("tag")), form)
    if form in ("json", "jsonl"):
        return render_testset(content if isinstance(content, TestSet) else as_testset(content), form)
    frame = content.qrels.frame if isinstance(content, TestSet) else content.frame
    return render_qrels(frame) if form == "trec" else render_table(_ids(frame), form)


def _ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns under the names most tools know; whole grades as whole numbers."""
    frame = frame.rename({"query": "query_id", "doc": "doc_id"})
    if "grade" in frame.columns:
        grades = frame["grade"]
        if bool(((grades == grades.floor()) & (grades.abs() < 2**53)).all()):
            return frame.with_columns(grades.cast(pl.Int64))
    return frame
