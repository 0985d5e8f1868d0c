"""A BEIR folder: corpus.jsonl, queries.jsonl and qrels/*.tsv; or the same in Parquet, as MTEB keeps it.

MTEB's folders hold corpus/, queries/ and qrels/ (or data/, default/) with files such as test-00000-of-00001.parquet.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rankgauge.errors import Fault, FormatError
from rankgauge.formats.json_values import dump_lines, read_json_lines
from rankgauge.formats.sources import Source, write_whole
from rankgauge.formats.tables import qrels_of_table, read_qrels_table, read_table, render_table
from rankgauge.model.corpus import Corpus
from rankgauge.model.judgments import Qrels
from rankgauge.model.query import Query
from rankgauge.model.testset import TestSet

__all__ = ["read_beir_corpus", "read_beir_qrels", "read_beir_testset", "read_corpus", "write_beir"]

_SPLITS = ("test", "dev", "train")


def _pick(folder: Path, stem: str) -> Path | None:
    for ending in ("", ".gz", ".zst"):
        if (folder / f"{stem}{ending}").is_file():
            return folder / f"{stem}{ending}"
    return None


def _shards(folder: Path, *roles: str) -> list[Path]:
    """The Parquet files of one role: in a folder of its name, or with its name before the number of the shard. Of
    several splits it is the test one."""
    for role in roles:
        named = [folder / f"{role}.parquet", *sorted((folder / "data").glob(f"{role}-*.parquet"))]
        found = sorted((folder / role).glob("*.parquet")) or [path for path in named if path.is_file()]
        for split in _SPLITS:
            if chosen := [path for path in found if path.name.startswith((f"{split}-", f"{split}."))]:
                return chosen
        if found:
            return found
    return []


def _table(files: list[Path]) -> pl.DataFrame:
    return pl.concat([read_table(Source(path), "parquet") for path in files], how="vertical_relaxed")


def _qrels_file(folder: Path) -> Path:
    for split in _SPLITS:
        found = _pick(folder / "qrels", f"{split}.tsv")
        if found:
            return found
    others = sorted((folder / "qrels").glob("*.tsv*")) if (folder / "qrels").is_dir() else []
    if len(others) == 1:
        return others[0]
    if others:
        names = ", ".join(other.name for other in others)
        raise FormatError(str(folder), [f"several judgment files ({names}); name one of them instead of the folder"])
    raise FormatError(
        str(folder), ["this folder has no qrels/*.tsv: a BEIR folder holds corpus.jsonl, queries.jsonl, qrels/"]
    )


def read_beir_qrels(path: str) -> Qrels:
    """Judgments of the test split, or of the only one there is."""
    if shards := _shards(Path(path), "qrels", "default", "test", "data"):
        return qrels_of_table(_table(shards), Source(shards[0]), "parquet")
    return read_qrels_table(Source(_qrels_file(Path(path))), "tsv")


def read_beir_testset(path: str) -> TestSet:
    """Judged queries with their texts."""
    qrels = read_beir_qrels(path).to_dict()
    file = _pick(Path(path), "queries.jsonl")
    texts = _texts(Source(file)) if file else _texts_of_table(_shards(Path(path), "queries"))
    return TestSet((Query(texts.get(query, query), grades, query) for query, grades in qrels.items()), name=str(path))


def read_beir_corpus(path: str) -> Corpus:
    file = _pick(Path(path), "corpus.jsonl")
    if file is None and (shards := _shards(Path(path), "corpus")):
        return Corpus(_texts_of_table(shards), name=str(path))
    if file is None:
        raise FormatError(str(path), ["this folder has no corpus.jsonl and no corpus/*.parquet"])
    return read_corpus(Source(file))


def read_corpus(source: Source) -> Corpus:
    """Documents from JSON Lines: {"_id" or "id", "title", "text"}."""
    return Corpus(_texts(source), name=source.name)


def _texts_of_table(shards: list[Path]) -> dict[str, str]:
    return _texts_of(enumerate(_table(shards).iter_rows(named=True), start=1), shards[0].name) if shards else {}


def _texts(source: Source) -> dict[str, str]:
    return _texts_of(read_json_lines(source), source.name)


def _texts_of(items: Iterable[tuple[int, Any]], name: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    faults = []
    for number, item in items:
        key = item.get("_id", item.get("id", item.get("doc_id"))) if isinstance(item, Mapping) else None
        text = item.get("text", item.get("contents", "")) if isinstance(item, Mapping) else None
        if not isinstance(key, str | int) or isinstance(key, bool) or not isinstance(text, str):
            faults.append(Fault("no object with _id and text", number))
        elif str(key) in texts:
            faults.append(Fault(f"the id {key!r} stands twice", number))
        else:
            title = item.get("title")
            line = " ".join(title.split()) if isinstance(title, str) else ""  # the first line is the title
            texts[str(key)] = f"{line}\n{text}" if line else text
    if faults:
        raise FormatError(name, faults)
    return texts


def write_beir(test_set: TestSet, path: str) -> None:
    """A new BEIR folder, complete or not there at all."""
    target = Path(path)
    if target.exists():
        raise FormatError(path, ["it exists already; name a new folder"])
    if not target.parent.is_dir():
        raise FormatError(path, [f"the folder {str(target.parent)!r} does not exist; make it first"])
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        folder = Path(scratch) / "beir"
        (folder / "qrels").mkdir(parents=True)
        texts = {doc: text for query in test_set for doc, text in query.texts.items()}
        write_whole(
            folder / "corpus.jsonl", dump_lines({"_id": doc, "title": "", "text": t} for doc, t in texts.items())
        )
        write_whole(folder / "queries.jsonl", dump_lines({"_id": query.id, "text": query.text} for query in test_set))
        rows = [(q.id, doc, f"{grade:g}") for q in test_set for doc, grade in q.grades.items()]
        table = pl.DataFrame(rows, schema=dict.fromkeys(("query-id", "corpus-id", "score"), pl.String), orient="row")
        write_whole(folder / "qrels" / "test.tsv", render_table(table, "tsv"))
        folder.rename(target)
