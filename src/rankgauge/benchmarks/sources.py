"""Where a benchmark is got: through ir_datasets, from Hugging Face, or out of a downloaded folder or archive."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.layouts import read_layout
from rankgauge.benchmarks.material import Document, Material
from rankgauge.benchmarks.places import Place
from rankgauge.benchmarks.rows import Grades
from rankgauge.benchmarks.unpacking import opened_folder
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.extras import optional
from rankgauge.formats.limits import written

__all__ = ["SOURCES", "how_to_get", "local_material", "material_from"]

SOURCES = ("auto", "ir_datasets", "huggingface")
_WORD = 300  # characters of what a library said
_NO_NETWORK = {"ConnectionError", "ConnectError", "ConnectTimeout", "NameResolutionError", "gaierror"}
_HOST = re.compile(r"host='([^']+)'")


@contextmanager
def material_from(
    benchmark: Benchmark, source: str, local: str | os.PathLike[str] | None, scratch: str
) -> Iterator[tuple[Material, str]]:
    """What a source holds, and what it is called. It can be read as long as this lasts."""
    if local is not None:
        with local_material(benchmark, local, scratch) as material:
            yield material, os.fspath(local)
        return
    chosen = _chosen(benchmark, source)
    if chosen == "ir_datasets":
        yield _of_ir_datasets(benchmark), f"ir_datasets:{benchmark.ir_datasets}"
    else:
        hint = how_to_get(benchmark)
        yield (
            read_layout(benchmark, Place(_snapshots(benchmark), "Hugging Face", hint)),
            "huggingface:" + ",".join(one.path for one in benchmark.huggingface),
        )


@contextmanager
def local_material(
    benchmark: Benchmark, local: str | os.PathLike[str], scratch: str | None = None
) -> Iterator[Material]:
    """The benchmark from a folder or an archive in its makers' layout."""
    with opened_folder(local, benchmark, scratch) as folder:
        yield read_layout(benchmark, Place([folder], os.fspath(local), how_to_get(benchmark)))


def _chosen(benchmark: Benchmark, source: str) -> str:
    if source not in SOURCES:
        raise DataError(f"source={source!r} is not one of {', '.join(SOURCES)}")
    offered = {"ir_datasets": bool(benchmark.ir_datasets), "huggingface": bool(benchmark.huggingface)}
    if source != "auto":
        if not offered[source]:
            raise DataError(f"{benchmark.name} is not offered by {source}; {how_to_get(benchmark)}")
        return source
    names = [name for name, there in offered.items() if there]
    if not names:
        raise DataError(f"{benchmark.name} has to be downloaded by hand; {how_to_get(benchmark)}")
    modules = {"ir_datasets": "ir_datasets", "huggingface": "huggingface_hub"}
    return next((name for name in names if find_spec(modules[name]) is not None), names[0])


def how_to_get(benchmark: Benchmark) -> str:
    """What to download from where, and how to go on, line by line."""
    lines = [
        f"  {one.url}" + (f" ({written(one.bytes)}, MD5 {one.md5})" if one.bytes and one.md5 else "")
        for one in benchmark.downloads
    ]
    for one in benchmark.huggingface:
        needed = f": {', '.join(one.files)}" if one.files else ""
        lines.append(f"  https://huggingface.co/datasets/{one.path}{needed}")
    if not lines:
        lines = [f"  {benchmark.home}" + (", on request" if benchmark.closed else "")] if benchmark.home else []
    if benchmark.family == "medcorpus":
        return "give a folder with testset.json, or qrels.txt, and corpus.jsonl: `local=FOLDER`"
    files = [names[0].removeprefix("./") for names in benchmark.files.values()]
    found = f"\n  its files: {', '.join(files)}" if files else ""
    return "\n".join(["download it and give the folder or archive (`local=PATH`):", *lines]) + found


def _of_ir_datasets(benchmark: Benchmark) -> Material:
    library = optional("ir_datasets", f"fetching {benchmark.name}", "ir_datasets", "benchmarks")
    try:
        dataset = library.load(benchmark.ir_datasets)
        queries = {str(one.query_id): _text(one) for one in dataset.queries_iter()}
        grades: Grades = {}
        for one in dataset.qrels_iter():
            grades.setdefault(str(one.query_id), {})[str(one.doc_id)] = float(one.relevance)
    except Exception as error:  # whatever its downloads and readers raise
        raise _failed(benchmark, "ir_datasets", error) from None
    return Material(grades, queries, lambda: _documents(benchmark, dataset))


def _documents(benchmark: Benchmark, dataset: Any) -> Iterator[Document]:
    try:
        for one in dataset.docs_iter():
            heads = str(getattr(one, "headings", "") or "")
            yield Document(str(one.doc_id), str(getattr(one, "title", "") or ""), f"{heads}\n{_text(one)}".strip("\n"))
    except Exception as error:
        raise _failed(benchmark, "ir_datasets", error) from None


def _text(one: Any) -> str:
    """The text of a query or document; those of other fields know it by `default_text`."""
    for name in ("text", "body"):
        if isinstance(found := getattr(one, name, None), str):
            return found
    return str(one.default_text())


def _snapshots(benchmark: Benchmark) -> list[Path]:
    """The folders that the needed files were downloaded into."""
    library = optional("huggingface_hub", f"fetching {benchmark.name}", "huggingface_hub", "benchmarks")
    try:
        return [
            Path(
                library.snapshot_download(
                    repo_id=one.path, repo_type="dataset", revision=one.revision, allow_patterns=list(one.files) or None
                )
            )
            for one in benchmark.huggingface
        ]
    except Exception as error:  # whatever the network and the server raise
        raise _failed(benchmark, "Hugging Face", error) from None


def _failed(benchmark: Benchmark, source: str, error: Exception) -> RankgaugeError:
    other = "ir_datasets" if source == "Hugging Face" else "huggingface"
    there = benchmark.huggingface if other == "huggingface" else benchmark.ir_datasets
    advice = f"try `source={other!r}`, or " if there else ""
    return RankgaugeError(
        f"{benchmark.name} could not be had from {source} ({_reason(error)}); {advice}{how_to_get(benchmark)}"
    )


def _reason(error: Exception) -> str:
    """What a library said; of a network that is not there, it and the host alone, for the rest fills a screen."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    causes: list[BaseException] = [error]
    while (before := causes[-1].__cause__ or causes[-1].__context__) is not None and before not in causes:
        causes.append(before)
    if any(type(one).__name__ in _NO_NETWORK for one in causes):
        host = _HOST.search(said)
        return "no network, or no way to " + host[1] if host else "no network, or no way to its server"
    return said[:_WORD]
