"""Stores named in a plan: real Chroma and FAISS files, and a server that speaks Elasticsearch's protocol."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromadb
import faiss
import numpy as np
import pytest

from rankgauge.errors import FormatError, RankgaugeError, RetrieverError
from rankgauge.plans.plan import load_plan
from rankgauge.plans.running import run_plan
from rankgauge.retrievers import build
from tests.retrievers.servers import Asked, Reply, Service, calls, elasticsearch
from tests.retrievers.test_adapters import DOCUMENTS, WORDS, CountingFunction, nearest, right, vector

HEAD = 'testset = "testset.json"\nmeasures = ["R@2"]\n[calls]\nk = 2\ncache = true\n'


def embeddings(asked: Asked) -> Reply:
    """OpenAI's protocol, with counts of words for vectors."""
    rows = [{"index": i, "embedding": vector(text)} for i, text in enumerate(asked.body["input"])]
    return Reply({"data": rows})


@pytest.fixture
def model() -> Iterator[Service]:
    with calls(embeddings) as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A plan's folder with a Chroma database and a FAISS index in it."""
    queries = [
        {"id": "q1", "query": "cat cat dog", "relevant_docs": ["d1"]},
        {"id": "q2", "query": "fish tree", "relevant_docs": ["d3"]},
    ]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), chromadb.Settings(anonymized_telemetry=False))
    held = client.create_collection("docs", embedding_function=CountingFunction())
    held.add(ids=list(DOCUMENTS), embeddings=[vector(text) for text in DOCUMENTS.values()])
    index = faiss.IndexFlatL2(len(WORDS))
    index.add(np.array([vector(text) for text in DOCUMENTS.values()], dtype=np.float32))
    faiss.write_index(index, str(tmp_path / "docs.faiss"))
    (tmp_path / "ids.txt").write_text("".join(f"{doc}\n" for doc in DOCUMENTS))
    return tmp_path


def plan(folder: Path, use: str, parameters: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(f'{HEAD}[[system]]\nname = "store"\nuse = "{use}"\nparameters = {{ {parameters} }}\n')
    return path


def faults(folder: Path, use: str, parameters: str) -> list[str]:
    with pytest.raises(FormatError) as caught:
        load_plan(plan(folder, use, parameters))
    return [str(fault) for fault in caught.value.faults]


def score(folder: Path, use: str, parameters: str) -> tuple[float, int]:
    outcome = run_plan(load_plan(plan(folder, use, parameters)))
    assert outcome.invalid == {}
    (live,) = outcome.evaluations
    return live.mean["R@2"], live.retrieval.cached


def test_chroma_in_a_plan(folder: Path, model: Service) -> None:
    parameters = f'path = "chroma", collection = "docs", endpoint = "{model.url}", model = "counts"'
    assert score(folder, "chroma", parameters) == (1.0, 0)


def test_chroma_by_name(folder: Path, model: Service) -> None:
    made = build("chroma", path=str(folder / "chroma"), collection="docs", endpoint=model.url, model="counts")
    assert right(made.search("cat cat cat dog", 3), nearest("cat cat cat dog"), 3)
    with pytest.raises(RetrieverError, match=r"the Chroma collection 'other' at .* cannot be opened"):
        build("chroma", path=str(folder / "chroma"), collection="other")


def test_faiss_in_a_plan_and_another_index(folder: Path, model: Service) -> None:
    parameters = f'index = "docs.faiss", ids = "ids.txt", endpoint = "{model.url}", model = "counts"'
    assert score(folder, "faiss", parameters) == (1.0, 0)
    assert score(folder, "faiss", parameters) == (1.0, 2)
    (folder / "ids.txt").write_text("".join(f"{doc}x\n" for doc in DOCUMENTS))
    assert score(folder, "faiss", parameters) == (0.0, 0)  # answers of the older files are not taken for these
    (folder / "ids.txt").write_text(json.dumps(list(DOCUMENTS)))
    assert score(folder, "faiss", parameters) == (1.0, 0)


def test_faiss_mistakes(folder: Path, model: Service) -> None:
    named: dict[str, Any] = {"endpoint": model.url, "model": "counts"}
    (folder / "few.txt").write_text("d1\n")
    with pytest.raises(RetrieverError, match="holds 5 vectors, but there are 1 ids"):
        build("faiss", index=str(folder / "docs.faiss"), ids=str(folder / "few.txt"), **named)
    with pytest.raises(RetrieverError, match="is no FAISS index"):
        build("faiss", index=str(folder / "few.txt"), ids=str(folder / "ids.txt"), **named)


def test_elasticsearch_in_a_plan(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_TEST_TOKEN", "s3cret")
    with calls(elasticsearch(DOCUMENTS)) as service:
        parameters = (
            f'url = "{service.url}", index = "docs", headers = {{ Authorization = "${{RANKGAUGE_TEST_TOKEN}}" }}'
        )
        assert score(folder, "elasticsearch", parameters) == (1.0, 0)
        assert {asked.headers["authorization"] for asked in service.asked} == {"s3cret"}
        by_field = build("elasticsearch", url=service.url, index="docs", id_field="_source.number")
        assert [hit.id for hit in by_field.search("cat dog", 2)] == ["n-d1", "n-d2"]


@pytest.mark.parametrize(
    ("use", "parameters", "said"),
    [
        ("chroma", "", ["chroma needs the parameter 'collection'", "either path, a folder, or url, a server"]),
        ("chroma", 'collection = "a", path = "none"', ["there is no such folder"]),
        ("chroma", 'collection = "a", path = "chroma", url = "http://h"', ["either path"]),
        ("chroma", 'collection = "a", url = "localhost"', ["must begin with http"]),
        ("chroma", 'colection = "a", path = "chroma"', ["did you mean 'collection'", "needs the parameter"]),
        ("faiss", 'index = "docs.faiss", ids = "none", endpoint = "http://h", model = "m"', ["there is no such file"]),
        ("faiss", 'index = "docs.faiss", ids = "ids.txt"', ["queries need the model that made the vectors"]),
        ("faiss", 'index = 3, ids = "ids.txt", endpoint = "http://h", model = "m"', ["faiss: index=3 must be a text"]),
        ("elasticsearch", 'url = "h:9200", index = "docs"', ["must begin with http"]),
        ("elasticsearch", 'url = "http://h"', ["needs the parameter 'index'"]),
        (
            "elasticsearch",
            'url = "http://h", index = "docs", body = { query = { match_all = {} } }',
            ["{query} stands neither"],
        ),
        ("elasticsearch", 'url = "http://h", index = "docs", headers = { A = "${RANKGAUGE_NOT_SET}" }', ["NOT_SET"]),
        ("qdrant", "", ["unknown retriever 'qdrant'; known are: bm25, dense"]),
        ("chromadb", "", ["did you mean 'chroma'?"]),
    ],
)
def test_a_plan_is_checked_before_anything_is_opened(folder: Path, use: str, parameters: str, said: list[str]) -> None:
    found = faults(folder, use, parameters)
    assert len(found) == len(said), found
    for words, fault in zip(said, found, strict=True):
        assert words in fault


@pytest.mark.parametrize(
    ("module", "use", "parameters", "extra"),
    [
        ("chromadb", "chroma", 'collection = "docs", path = "chroma"', "chroma"),
        ("faiss", "faiss", 'index = "docs.faiss", ids = "ids.txt", model = "m"', "retrievers"),
        ("httpx", "elasticsearch", 'url = "http://h", index = "docs"', "http"),
        ("httpx", "http", 'url = "http://h"', "http"),
    ],
)
def test_a_missing_extra_is_a_fault_of_the_plan(
    folder: Path, monkeypatch: pytest.MonkeyPatch, module: str, use: str, parameters: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (fault, *_) = faults(folder, use, parameters)
    assert f"it is in the extra rankgauge[{extra}]" in fault


def test_a_bad_parameter_by_name() -> None:
    with pytest.raises(RankgaugeError, match="elasticsearch has no parameter 'indx'; did you mean 'index'"):
        build("elasticsearch", url="http://h", indx="docs")
