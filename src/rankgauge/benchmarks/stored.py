"""A benchmark as the product keeps it: a folder with testset.json, corpus.jsonl, excluded.json and benchmark.json."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rankgauge.arguments import as_path, named_arguments
from rankgauge.benchmarks.catalogue import Benchmark, find_benchmark
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.sources import local_material, material_from
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.beir import read_corpus
from rankgauge.formats.json_values import dumps, read_json
from rankgauge.formats.loading import load_testset
from rankgauge.formats.sources import Source
from rankgauge.formats.testset_json import render_testset
from rankgauge.model.corpus import Corpus
from rankgauge.model.testset import TestSet
from rankgauge.words import Note

__all__ = ["BenchmarkSet", "default_folder", "fetch_benchmark", "load_benchmark"]

_ABOUT, _TESTSET, _CORPUS, _EXCLUDED = "benchmark.json", "testset.json", "corpus.jsonl", "excluded.json"
_FORMAT, _VERSION = "rankgauge.benchmark", 1
Progress = Callable[[int, int], None]
_TOLD = 1000  # documents from one look at the progress to the next
_COMPLETE = 0.99
"""Share of what is published that has to be there: makers and their mirrors differ by a few queries."""


@dataclass(frozen=True)
class BenchmarkSet:
    """A benchmark that is here: `.test_set`, `.corpus` (None where its texts are not), `.benchmark`, `.notes`."""

    benchmark: Benchmark
    test_set: TestSet
    excluded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Documents that do not count for a query."""
    folder: Path | None = None
    """Where the product keeps it."""
    texts: Corpus | None = None
    notes: Sequence[Note] = ()
    """What a reader must know of how complete it is."""

    @cached_property
    def corpus(self) -> Corpus | None:
        """The documents, read when they are asked for; None where they are not here."""
        if self.texts is not None or self.folder is None or not (self.folder / _CORPUS).is_file():
            return self.texts
        return read_corpus(Source(self.folder / _CORPUS))

    @property
    def has_corpus(self) -> bool:
        """Whether there are documents that a retriever can search."""
        return self.texts is not None or (self.folder is not None and (self.folder / _CORPUS).is_file())

    @property
    def judgments(self) -> TestSet | str:
        """The test set, as a file where it is one, so that a record can name it."""
        return self.test_set if self.folder is None else os.fspath(self.folder / _TESTSET)


def default_folder(name: str) -> Path:
    """Where a benchmark is kept unless another folder is named."""
    return Path("benchmarks") / name


@named_arguments
def fetch_benchmark(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    local: str | os.PathLike[str] | None = None,
    source: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> BenchmarkSet:
    """Get a benchmark of the catalogue and keep it as a test set with its corpus in a new folder, `benchmarks/NAME`
    unless another is named.

    `source` is "ir_datasets" or "huggingface", each of which must be installed; "auto" takes what is. `local` is a
    folder or an archive that was downloaded, in its makers' own layout: nothing is then asked of the network.
    `progress` gets the number of documents written and of all that are published.
    """
    benchmark = find_benchmark(name)
    target = default_folder(benchmark.name) if folder is None else Path(as_path("folder", folder))
    if target.exists():
        raise FormatError(os.fspath(target), ["it exists already; remove it first, or name another folder"])
    with (
        _made(target.parent) as scratch,
        material_from(benchmark, source, local, scratch) as (material, origin),
        tempfile.TemporaryDirectory(dir=scratch, prefix=f".{target.name}.") as temporary,
    ):
        made = Path(temporary) / "benchmark"
        made.mkdir()
        _write(made, benchmark, material, origin, progress)
        made.rename(target)
    return load_benchmark(benchmark.name, target)


@contextmanager
def _made(folder: Path) -> Iterator[str]:
    """A folder that is there; one that was made for this and stayed empty goes again."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield os.fspath(folder)
    finally:
        if new:
            with suppress(OSError):
                folder.rmdir()


def _write(folder: Path, benchmark: Benchmark, material: Material, origin: str, progress: Progress | None) -> None:
    test_set = _test_set(benchmark, material)
    (folder / _TESTSET).write_bytes(render_testset(test_set, "json"))
    found: dict[str, Any] = {"queries": len(test_set), "texts": _with_texts(material)}
    if material.excluded:
        (folder / _EXCLUDED).write_bytes(dumps(material.excluded))
    if material.documents is not None:
        judged = {doc for query in test_set for doc in query.relevant}
        found["documents"] = _write_corpus(folder / _CORPUS, _told(material.documents(), benchmark, progress), judged)
        found["lost"] = sorted(judged)[:3]
        found["relevant_not_there"] = len(judged)
    files = {path.name: {"sha256": Source(path).sha256(), "bytes": path.stat().st_size} for path in folder.iterdir()}
    about = {"name": benchmark.name, "split": benchmark.split, "licence": benchmark.licence, "home": benchmark.home}
    whole = {"format": _FORMAT, "version": _VERSION, **about, "source": origin, "found": found, "files": files}
    (folder / _ABOUT).write_bytes(dumps(whole))


def _told(documents: Iterator[Document], benchmark: Benchmark, progress: Progress | None) -> Iterator[Document]:
    """The documents, while somebody is told of how many there were."""
    for number, one in enumerate(documents, start=1):
        if progress is not None and number % _TOLD == 0:
            progress(number, max(number, benchmark.counts.get("documents", 0)))
        yield one


def _write_corpus(path: Path, documents: Iterator[Document], missing: set[str]) -> int:
    """Write documents one by one, and strike those found off the missing ones."""
    count = 0
    with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for one in documents:
            value = {"_id": one.id, "title": one.title, "text": one.text}
            file.write(json.dumps(value, ensure_ascii=False) + "\n")
            missing.discard(one.id)
            count += 1
    if not count:
        raise FormatError(path.name, ["the files of the documents hold none"])
    return count


def _test_set(benchmark: Benchmark, material: Material) -> TestSet:
    if not material.grades:
        raise DataError(f"{benchmark.name}: there are no judgments")
    return material.test_set(benchmark.name)


def _with_texts(material: Material) -> int:
    return sum(query in material.queries for query in material.grades)


@named_arguments
def load_benchmark(name: str, folder: str | os.PathLike[str] | None = None) -> BenchmarkSet:
    """A benchmark that was fetched, from its folder (`benchmarks/NAME` unless another is named), checked against the
    hashes it was written with; or from a folder or archive in its makers' own layout."""
    benchmark = find_benchmark(name)
    place = default_folder(benchmark.name) if folder is None else Path(as_path("folder", folder))
    if (place / _ABOUT).is_file():
        return _kept(benchmark, place)
    if folder is None:
        raise DataError(
            f"there is no {place}: fetch the benchmark first (`rankgauge benchmark fetch {benchmark.name}`), or name "
            "its `folder=`"
        )
    with local_material(benchmark, place) as material:
        found: dict[str, Any] = {"queries": len(material.grades), "texts": _with_texts(material)}
        texts = None
        if material.documents is not None:
            texts = Corpus({one.id: one.whole for one in material.documents()}, name=benchmark.name)
            lost = [
                doc
                for docs in material.grades.values()
                for doc, grade in docs.items()
                if grade > 0 and doc not in texts
            ]
            found |= {"documents": len(texts), "lost": lost[:3], "relevant_not_there": len(set(lost))}
        test_set = _test_set(benchmark, material)
    return BenchmarkSet(benchmark, test_set, material.excluded, None, texts, _notes(benchmark, found))


def _kept(benchmark: Benchmark, folder: Path) -> BenchmarkSet:
    about = read_json(Source(folder / _ABOUT))
    place = os.fspath(folder / _ABOUT)
    if not isinstance(about, Mapping) or about.get("format") != _FORMAT or about.get("version") != _VERSION:
        raise FormatError(place, ["this is no folder that `rankgauge benchmark fetch` of this version wrote"])
    if about.get("name") != benchmark.name:
        raise FormatError(place, [f"this is {about.get('name')}, not {benchmark.name}"])
    files, found = about.get("files"), about.get("found")
    if not isinstance(files, Mapping) or not isinstance(found, Mapping) or not {_TESTSET} <= files.keys():
        raise FormatError(place, ["it does not say what was fetched: fetch the benchmark again"])
    for name, known in files.items():
        path = folder / name
        if not path.is_file():
            raise FormatError(os.fspath(path), ["the file is missing: fetch the benchmark again"])
        # The corpus may have many gigabytes, so only its length is looked at.
        wanted = (known.get("bytes"), known.get("sha256")) if isinstance(known, Mapping) else (None, None)
        if path.stat().st_size != wanted[0] or (name != _CORPUS and Source(path).sha256() != wanted[1]):
            raise FormatError(os.fspath(path), ["the file is not the one that was fetched: fetch the benchmark again"])
    excluded = read_json(Source(folder / _EXCLUDED)) if _EXCLUDED in files else {}
    test_set = load_testset(folder / _TESTSET).renamed(benchmark.name)
    return BenchmarkSet(benchmark, test_set, excluded, folder, None, _notes(benchmark, found))


def _notes(benchmark: Benchmark, found: Mapping[str, Any]) -> list[Note]:
    """What is missing of what is published."""
    notes = []
    for what in ("queries", "documents"):
        n, published = found.get(what), benchmark.counts.get(what)
        if n is not None and published is not None and n < _COMPLETE * published:
            notes.append(Note(f"benchmarks.fewer_{what}", {"n": n, "published": published}, "warning"))
    if lost := found.get("relevant_not_there"):
        notes.append(Note("benchmarks.lost", {"n": lost, "names": list(found.get("lost", ()))}, "warning"))
    if silent := found.get("queries", 0) - found.get("texts", 0):
        notes.append(Note("benchmarks.no_texts", {"n": silent}))
    if found.get("documents") is None:
        notes.append(Note("benchmarks.no_corpus"))
    return notes
