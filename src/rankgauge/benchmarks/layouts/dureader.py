"""DuReader-retrieval: `dev.json` (lines of JSON with question_id, question and answer_paragraphs), the passages in
`passage-collection/part-00`, one on each line, and `passage2id.map.json`, which gives the id of each line's number.

The parts follow one another; a passage is the third of a line's columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import Grades, json_rows, table_rows, text_of
from rankgauge.errors import Fault, FormatError
from rankgauge.formats.json_values import read_json
from rankgauge.formats.sources import Source

__all__ = ["read_dureader"]

_COLUMNS, _PASSAGE = 4, 2


def read_dureader(benchmark: Benchmark, place: Place) -> Material:
    """The questions of the split with the passages that answer them."""
    path = place.needed(benchmark.files["queries"], "queries and their passages")
    parts, ids = place.found(benchmark.files["documents"]), place.file(benchmark.files["ids"])
    if parts and ids is None:
        raise place.lacks(benchmark.files["ids"], "ids of the passages")
    queries: dict[str, str] = {}
    grades: Grades = {}
    for number, row in json_rows(path):
        own, answers = text_of(row.get("question_id"), path, number, "question"), row.get("answer_paragraphs")
        if not isinstance(answers, list) or not all(isinstance(one, Mapping) for one in answers):
            raise FormatError(str(path), [Fault('it has no list "answer_paragraphs"', number)])
        queries[own] = str(row.get("question", ""))
        found = grades.setdefault(own, {})
        found.update({text_of(one.get("paragraph_id"), path, number, "passage"): 1.0 for one in answers})
    return Material(grades, queries, (lambda: _documents(parts, ids)) if parts and ids is not None else None)


def _documents(parts: list[Path], ids: Path) -> Iterator[Document]:
    known = read_json(Source(ids))
    if not isinstance(known, Mapping):
        raise FormatError(str(ids), ["it is no object of line numbers and ids"])
    line = 0
    for path in parts:
        for number, fields in table_rows(path, _COLUMNS):
            own = known.get(str(line))
            if own is None:
                said = f"line {line} of all parts has no id in {ids.name}; are all parts there, and no other files?"
                raise FormatError(str(path), [Fault(said, number)])
            yield Document(str(own), "", fields[_PASSAGE])
            line += 1
