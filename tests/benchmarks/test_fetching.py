"""Fetching: out of what was downloaded, through ir_datasets and from Hugging Face, into a folder that is checked."""

from __future__ import annotations

import json
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankgauge
from rankgauge.benchmarks import fetch_benchmark, load_benchmark
from rankgauge.errors import DataError, FormatError, MissingExtraError, RankgaugeError
from tests.benchmarks import sources
from tests.benchmarks.sources import GRADES, LAYOUTS, QUERIES, TEXTS

Query = namedtuple("Query", "query_id text")
Doc = namedtuple("Doc", "doc_id title text")
Qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")


class Dataset:
    """What `ir_datasets.load` gives: iterators of named tuples."""

    def docs_iter(self) -> Iterator[Doc]:
        return (Doc(doc, f"Title {doc}", text) for doc, text in TEXTS.items())

    def queries_iter(self) -> Iterator[Query]:
        return (Query(query, text) for query, text in {**QUERIES, "q9": "not judged"}.items())

    def qrels_iter(self) -> Iterator[Qrel]:
        return (Qrel(query, doc, int(grade), "0") for query, docs in GRADES.items() for doc, grade in docs.items())


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_was_fetched_is_what_the_layout_holds(name: str, tmp_path: Path) -> None:
    LAYOUTS[name](tmp_path / "raw")
    raw = load_benchmark(name, tmp_path / "raw")
    kept = fetch_benchmark(name, tmp_path / "kept", local=tmp_path / "raw")
    assert kept.test_set == raw.test_set
    assert kept.corpus == raw.corpus
    assert kept.excluded == raw.excluded
    assert [note.key for note in kept.notes] == [note.key for note in raw.notes]
    again = load_benchmark(name, tmp_path / "kept")
    assert again.test_set == raw.test_set
    assert rankgauge.load_testset(tmp_path / "kept" / "testset.json") == raw.test_set
    assert rankgauge.load_corpus(tmp_path / "kept" / "corpus.jsonl") == raw.corpus


def test_through_ir_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    library = SimpleNamespace(load=lambda name: asked.append(name) or Dataset())
    monkeypatch.setitem(sys.modules, "ir_datasets", library)  # type: ignore[arg-type]
    found = fetch_benchmark("beir-nfcorpus", tmp_path / "kept", source="ir_datasets")
    assert asked == ["beir/nfcorpus/test"]
    assert {query.id: dict(query.grades) for query in found.test_set} == GRADES
    assert dict(found.corpus or {}) == {doc: f"Title {doc}\n{text}" for doc, text in TEXTS.items()}
    assert json.loads((tmp_path / "kept" / "benchmark.json").read_text())["source"] == "ir_datasets:beir/nfcorpus/test"


def test_datasets_of_the_real_ir_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the library itself, over files that are here."""
    library = pytest.importorskip("ir_datasets", exc_type=ImportError)
    sources.msmarco_passage(tmp_path / "raw")
    made = library.create_dataset(
        docs_tsv=str(tmp_path / "raw" / "collection.tsv"),
        queries_tsv=str(tmp_path / "raw" / "queries.dev.small.tsv"),
        qrels_trec=str(tmp_path / "raw" / "qrels.dev.small.tsv"),
    )
    monkeypatch.setattr(library, "load", lambda name: made)
    found = fetch_benchmark("msmarco-passage-dev", tmp_path / "kept", source="ir_datasets")
    assert {query.id: dict(query.grades) for query in found.test_set} == GRADES
    assert {query.id: query.text for query in found.test_set} == QUERIES
    assert dict(found.corpus or {}) == TEXTS


def test_from_hugging_face(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def snapshot_download(**options: Any) -> str:
        asked.append(options)
        place = tmp_path / f"cache{len(asked)}"
        sources.miracl(tmp_path / "all")
        part = "miracl-v1.0-zh" if len(asked) == 1 else "miracl-corpus-v1.0-zh"
        place.mkdir()
        (tmp_path / "all" / part).rename(place / part)
        return str(place)

    library = SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", library)  # type: ignore[arg-type]
    found = fetch_benchmark("miracl-zh", tmp_path / "kept", source="huggingface")
    assert [one["repo_id"] for one in asked] == ["miracl/miracl", "miracl/miracl-corpus"]
    assert all(one["repo_type"] == "dataset" for one in asked)
    assert asked[1]["allow_patterns"] == ["miracl-corpus-v1.0-zh/*"]
    assert len(found.test_set) == 2
    assert len(found.corpus or {}) == 4


def test_without_a_network_the_error_says_what_to_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> Any:
        raise ConnectionError(
            "HTTPSConnectionPool(host='public.example.org', port=443): Max retries exceeded with url: /x"
        )

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError) as told:
        fetch_benchmark("beir-scifact", tmp_path / "kept", source="ir_datasets")
    said = str(told.value)
    assert "from ir_datasets (no network, or no way to public.example.org); try `source='huggingface'`, or down" in said
    assert "BEIR/datasets/scifact.zip (2.82 MB, MD5 5f7d1de60b170fc8027bb7898e2efca1)" in said
    assert "`local=PATH`" in said
    assert not (tmp_path / "kept").exists()


def test_a_network_that_is_missing_is_not_told_by_a_page_of_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot_download(**_: Any) -> str:
        try:
            raise ConnectionError("[Errno -2] Name or service not known")
        except ConnectionError as error:
            raise ValueError("we cannot find the appropriate snapshot folder " * 9) from error

    library = SimpleNamespace(snapshot_download=snapshot_download)
    monkeypatch.setitem(sys.modules, "huggingface_hub", library)  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError) as told:
        fetch_benchmark("bright-biology", tmp_path / "kept", source="huggingface")
    assert "from Hugging Face (no network, or no way to its server); download it" in str(told.value)


def test_a_failure_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="has to be downloaded by hand"):
        fetch_benchmark("lecard")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_the_middle_of_the_documents_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Dataset):
        def docs_iter(self) -> Iterator[Doc]:
            yield Doc("d1", "", "text")
            raise OSError("connection reset")

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=lambda name: Broken()))  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="OSError: connection reset"):
        fetch_benchmark("beir-scifact", tmp_path / "kept", source="ir_datasets")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install huggingface_hub .*rankgauge\[benchmarks\]"):
        fetch_benchmark("bright-pony", tmp_path / "kept", source="huggingface")


def test_what_no_library_offers_has_to_be_downloaded(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"lecard has to be downloaded by hand(?s:.*)github\.com/myx666/LeCaRD"):
        fetch_benchmark("lecard", tmp_path / "kept")
    with pytest.raises(DataError, match="bright-pony is not offered by ir_datasets"):
        fetch_benchmark("bright-pony", tmp_path / "kept", source="ir_datasets")
    with pytest.raises(DataError, match="source='web' is not one of auto, ir_datasets, huggingface"):
        fetch_benchmark("bright-pony", tmp_path / "kept", source="web")
    with pytest.raises(DataError, match=r"beir-robust04 has to be downloaded by hand(?s:.*)on request"):
        fetch_benchmark("beir-robust04", tmp_path / "kept")


def test_a_folder_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    sources.lecard(tmp_path / "raw")
    (tmp_path / "kept").mkdir()
    with pytest.raises(FormatError, match="it exists already; remove it first, or name another folder"):
        fetch_benchmark("lecard", tmp_path / "kept", local=tmp_path / "raw")


def test_a_changed_or_lost_file_is_told(tmp_path: Path) -> None:
    sources.bright(tmp_path / "raw")
    place = tmp_path / "kept"
    fetch_benchmark("bright-biology", place, local=tmp_path / "raw")
    with pytest.raises(FormatError, match="this is bright-biology, not bright-pony"):
        load_benchmark("bright-pony", place)
    kept = (place / "testset.json").read_text()
    (place / "testset.json").write_text(kept.replace("d1", "d2"))
    with pytest.raises(FormatError, match="the file is not the one that was fetched: fetch the benchmark again"):
        load_benchmark("bright-biology", place)
    (place / "testset.json").write_text(kept)
    with (place / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "d9", "text": "more"}\n')
    with pytest.raises(FormatError, match=r"corpus\.jsonl: the file is not the one that was fetched"):
        load_benchmark("bright-biology", place)
    (place / "corpus.jsonl").unlink()
    with pytest.raises(FormatError, match="the file is missing"):
        load_benchmark("bright-biology", place)
    about = json.loads((place / "benchmark.json").read_text())
    (place / "benchmark.json").write_text(json.dumps({**about, "files": None}))
    with pytest.raises(FormatError, match="it does not say what was fetched: fetch the benchmark again"):
        load_benchmark("bright-biology", place)
    (place / "benchmark.json").write_text("{}")
    with pytest.raises(FormatError, match="this is no folder that `rankgauge benchmark fetch` of this version wrote"):
        load_benchmark("bright-biology", place)


def test_documents_that_were_not_downloaded_are_missed(tmp_path: Path) -> None:
    sources.miracl(tmp_path / "raw")
    (tmp_path / "raw" / "miracl-corpus-v1.0-zh" / "docs-10.jsonl.gz").unlink()  # holds d3
    found = fetch_benchmark("miracl-zh", tmp_path / "kept", local=tmp_path / "raw")
    lost = next(note for note in found.notes if note.key == "benchmarks.lost")
    assert lost.parameters == {"n": 1, "names": ["d3"]}
    assert lost.level == "warning"
    fewer = next(note for note in found.notes if note.key == "benchmarks.fewer_documents")
    assert fewer.parameters == {"n": 3, "published": 4934368}


def test_the_folder_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="there is no benchmarks/lecard: fetch the benchmark first"):
        load_benchmark("lecard")
    sources.lecard(tmp_path / "raw")
    fetch_benchmark("lecard", local="raw")
    assert load_benchmark("lecard").folder == Path("benchmarks/lecard")


def test_progress_is_told_by_documents(tmp_path: Path) -> None:
    sources.msmarco_passage(tmp_path / "raw")
    rows = "".join(f"x{number}\ttext {number}\n" for number in range(2500))
    with (tmp_path / "raw" / "collection.tsv").open("a") as file:
        file.write(rows)
    told: list[tuple[int, int]] = []
    fetch_benchmark(
        "msmarco-passage-dev", tmp_path / "kept", local=tmp_path / "raw", progress=lambda *about: told.append(about)
    )
    assert told == [(1000, 8841823), (2000, 8841823)]
