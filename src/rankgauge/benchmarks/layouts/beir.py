"""BEIR's folders, and the same in Parquet or JSON Lines, as MTEB and C-MTEB keep them on Hugging Face.

- corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv
- corpus/, queries/ and qrels/, default/ or data/ with SPLIT-00000-of-00001.parquet; also data/corpus-00000-...parquet
  with the judgments in a folder of their own that ends with -qrels
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import Grades, json_rows, parquet_rows, read_grades, text_of
from rankgauge.errors import Fault, FormatError
from rankgauge.formats.sources import Source, unpacked_name
from rankgauge.formats.tables import qrels_of_table, read_table
from rankgauge.model.frames import ID_COLUMNS

__all__ = ["read_beir"]


def read_beir(benchmark: Benchmark, place: Place) -> Material:
    """One split of a BEIR folder. Where an archive holds several sets, that of the catalogue's name is read."""
    own = [f"{benchmark.folder}/", "./"] if benchmark.folder else ["./", ""]
    split = benchmark.split
    names = [f"qrels/{split}.tsv", f"qrels/{split}.jsonl"]
    shards = [f"{folder}/{split}-*.parquet" for folder in ("qrels", "default", "*-qrels", "*-qrels/data")]
    shards += [f"data/{split}-*.parquet", f"qrels/{split}.parquet"]
    wanted = [start + name for start in own for name in (*names, *shards)]
    judged = place.found(wanted)
    if not judged:
        raise place.lacks([own[0] + name for name in names], "judgments")
    queries = _files(place, own, "queries")
    documents = _files(place, own, "corpus")
    texts = {one.id: one.whole for one in _documents(queries)} if queries else {}
    return Material(_grades(judged), texts, (lambda: _documents(documents)) if documents else None)


def _files(place: Place, own: Sequence[str], role: str) -> list[Path]:
    names = (f"{role}.jsonl", f"{role}/*.parquet", f"data/{role}-*.parquet", f"{role}.parquet", f"{role}/{role}.jsonl")
    return place.found([start + name for start in own for name in names])


def _grades(paths: Sequence[Path]) -> Grades:
    found: Grades = {}
    for path in paths:
        ending = Path(unpacked_name(path)).suffix
        if ending == ".tsv":
            part: Grades = read_grades(path)
        elif ending == ".parquet":
            source = Source(path)
            part = qrels_of_table(read_table(source, "parquet"), source, "parquet").to_dict()
        else:
            part = _json_grades(path)
        for query, docs in part.items():
            found.setdefault(query, {}).update(docs)
    return found


def _json_grades(path: Path) -> Grades:
    found: Grades = {}
    for number, row in json_rows(path):
        values = [
            next((row[key] for key in ID_COLUMNS[name] if key in row), None) for name in ("query", "doc", "grade")
        ]
        query, doc = text_of(values[0], path, number, "query"), text_of(values[1], path, number, "document")
        if isinstance(values[2], bool) or not isinstance(values[2], int | float):
            raise FormatError(str(path), [Fault(f"the score {values[2]!r} is no number", number)])
        found.setdefault(query, {})[doc] = float(values[2])
    return found


def _documents(paths: Sequence[Path]) -> Iterator[Document]:
    for path in paths:
        if path.suffix == ".parquet":
            table = read_table(Source(path), "parquet")
            chosen = [name for name in ("_id", "id", "title", "text") if name in table.columns]
            rows, place = parquet_rows([path], chosen), path
        else:
            rows, place = json_rows(path), path
        for number, row in rows:
            own = text_of(row.get("_id", row.get("id")), place, number, "document")
            title, text = row.get("title") or "", row.get("text")
            if not isinstance(text, str):
                raise FormatError(str(place), [Fault("it has no text", number)])
            yield Document(own, str(title), text)
