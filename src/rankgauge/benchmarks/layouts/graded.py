"""Graded sets of one's own, in any format that holds a test set or judgments, such as those in the manner of MedCorpus:
grades 0, 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.errors import FormatError
from rankgauge.formats import load_corpus, load_testset
from rankgauge.formats.detect import is_beir_folder

__all__ = ["read_graded"]

_HIGHEST = 2
_NAMES = [
    f"./{stem}.{ending}"
    for stem in ("testset", "qrels", "judgments", "labels")
    for ending in ("json", "jsonl", "csv", "tsv", "parquet", "txt", "qrels")
]


def read_graded(benchmark: Benchmark, place: Place) -> Material:
    """The test set of a folder: a BEIR folder, or a file named testset, qrels, judgments or labels."""
    path = place.folder if is_beir_folder(place.folder) else place.needed(_NAMES, "judgments")
    loaded = load_testset(path)
    if high := [query.id for query in loaded if max(query.grades.values(), default=0) > _HIGHEST]:
        raise FormatError(str(path), [f"query {high[0]!r} has a grade above {_HIGHEST} ({len(high)} such queries)"])
    corpus = place.file(["./corpus.jsonl"])
    texts = {query.id: query.text for query in loaded}
    tags = {query.id: query.tags for query in loaded}
    read = None if corpus is None else lambda: _documents(load_corpus(corpus))
    return Material({query.id: query.grades for query in loaded}, texts, read, tags)


def _documents(corpus: Mapping[str, str]) -> Iterator[Document]:
    return (Document(own, "", text) for own, text in corpus.items())
