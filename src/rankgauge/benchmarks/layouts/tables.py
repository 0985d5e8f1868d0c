"""Tables and JSON Lines, as MS MARCO, TREC, MIRACL, LoTTE and T2Ranking keep them; the catalogue names the files.

- queries: `id<TAB>text`
- judgments: TREC's columns, pairs of query and document, or LoTTE's `{"qid", "answer_pids"}`
- documents: `id<TAB>text`, MS MARCO's `id<TAB>url<TAB>title<TAB>body`, or lines of JSON
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import Grades, json_rows, read_grades, table_rows, text_of
from rankgauge.errors import Fault, FormatError
from rankgauge.formats.sources import unpacked_name

__all__ = ["read_tables"]

_IDS = ("pid", "docid", "_id", "id")
"""In this order: a passage of MS MARCO's second version names the document that it is of, too."""
_TEXTS = ("text", "passage", "body")


def read_tables(benchmark: Benchmark, place: Place) -> Material:
    """Queries, judgments and documents from the files that the catalogue names."""
    judged = place.needed(benchmark.files["judgments"], "judgments")
    asked, documents = place.file(benchmark.files["queries"]), place.found(benchmark.files["documents"])
    grades = _answers(judged) if unpacked_name(judged).endswith(".jsonl") else read_grades(judged)
    queries = {} if asked is None else {fields[0]: fields[1] for _, fields in table_rows(asked)}
    columns = list(benchmark.columns)
    return Material(grades, queries, (lambda: _documents(documents, columns)) if documents else None)


def _answers(path: Path) -> Grades:
    """LoTTE: the passages that answer each question."""
    found: Grades = {}
    for number, row in json_rows(path):
        query, docs = text_of(row.get("qid"), path, number, "query"), row.get("answer_pids")
        if not isinstance(docs, list):
            raise FormatError(str(path), [Fault('it has no list "answer_pids"', number)])
        found[query] = {text_of(doc, path, number, "document"): 1.0 for doc in docs}
    return found


def _documents(paths: list[Path], columns: list[str]) -> Iterator[Document]:
    for path in paths:
        if _is_json(path):
            for number, row in json_rows(path):
                own = next((row[key] for key in _IDS if key in row), None)
                text = next((str(row[key]) for key in _TEXTS if row.get(key) is not None), "")
                headings = str(row.get("headings") or "")
                title = str(row.get("title") or "")
                yield Document(text_of(own, path, number, "document"), title, f"{headings}\n{text}".strip("\n"))
        else:
            for _, fields in table_rows(path, len(columns)):
                row = dict(zip(columns, fields, strict=True))
                yield Document(row["id"], row.get("title", ""), row["text"])


def _is_json(path: Any) -> bool:
    """The shards of MS MARCO's second version have no ending but that of their compression."""
    name = unpacked_name(path)
    return not name.endswith((".tsv", ".txt"))
