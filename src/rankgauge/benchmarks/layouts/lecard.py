"""LeCaRD: `query.json` (lines of JSON with ridx and q), `label_top30_dict.json` ({query: {case: grade}}), and the cases
as `candidates/QUERY/CASE.json`, after both zip files of its folder `candidates` are unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import Grades, json_rows, text_of
from rankgauge.errors import FormatError
from rankgauge.formats.json_values import read_json
from rankgauge.formats.sources import Source

__all__ = ["read_lecard"]

_TEXT = ("qw", "ajjbqk", "ajName")
"""Fields of a case: its whole text, its facts, its title."""


def read_lecard(benchmark: Benchmark, place: Place) -> Material:
    """All queries with the labels of the 30 best candidates of each."""
    judged = place.needed(["label_top30_dict.json"], "judgments")
    asked = place.file(["query.json"])
    cases = place.found(["candidates/*/*.json", "candidates*/*/*/*.json"])
    queries = (
        {}
        if asked is None
        else {text_of(row.get("ridx"), asked, n, "query"): str(row.get("q", "")) for n, row in json_rows(asked)}
    )
    return Material(_grades(judged), queries, (lambda: _documents(cases)) if cases else None)


def _grades(path: Path) -> Grades:
    value = read_json(Source(path))
    if not isinstance(value, Mapping) or not all(isinstance(docs, Mapping) for docs in value.values()):
        raise FormatError(str(path), ["it must be an object of queries, each with its cases and their grades"])
    return {query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in value.items()}


def _documents(paths: Sequence[Path]) -> Iterator[Document]:
    """Each case once: a case can be a candidate of several queries."""
    seen = set()
    for path in paths:
        if path.stem in seen:
            continue
        seen.add(path.stem)
        value = read_json(Source(path))
        if not isinstance(value, Mapping):
            raise FormatError(str(path), ["it is no object with the text of a case"])
        text = next((str(value[key]) for key in _TEXT if value.get(key)), "")
        yield Document(path.stem, str(value.get("ajName") or "") if "qw" in value else "", text)
