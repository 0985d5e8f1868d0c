"""Retrievers by name, and plans that are checked before anything is built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import RankgaugeError
from rankgauge.retrievers import RETRIEVERS, Retriever, build, parameters_of
from rankgauge.retrievers.registry import check_parameters, needs_corpus
from tests.retrievers.real import SMALL

BUILTIN = ("bm25", "dense", "hnsw", "hybrid", "mmr", "rerank")


@pytest.mark.parametrize("name", BUILTIN)
def test_each_is_a_retriever(name: str) -> None:
    retriever = build(name, SMALL)
    assert isinstance(retriever, Retriever)
    assert list(retriever.ids) == list(SMALL)
    for query in ("delete a file", "json string", "zebra"):
        hits = retriever.search(query, 4)
        assert len(hits) <= 4
        assert len({hit.id for hit in hits}) == len(hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert build(name, SMALL).search(query, 4) == hits
    assert retriever.search("zebra", 4) == []


@pytest.mark.parametrize("name", BUILTIN)
def test_parameters_are_told_by_the_signature(name: str) -> None:
    parameters = parameters_of(name)
    assert "corpus" not in parameters
    for parameter in parameters.values():
        assert parameter.doc.endswith("."), parameter
        assert not parameter.required
        assert parameter.types, parameter
        if parameter.default is not None:
            parameter.check(parameter.default)
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    assert build(name, SMALL, **defaults).search("json", 3) == build(name, SMALL).search("json", 3)


def test_what_needs_documents() -> None:
    assert [name for name in RETRIEVERS.known if needs_corpus(name)] == list(BUILTIN)
    with pytest.raises(RankgaugeError, match="needs documents: give corpus="):
        build("bm25")


def test_some_parameters() -> None:
    k1 = parameters_of("bm25")["k1"]
    assert (k1.default, k1.low, k1.types) == (1.2, 0, (float,))
    assert parameters_of("hybrid")["method"].choices == ("rrf", "weighted")
    assert parameters_of("hnsw")["ef_search"].default == 64


@pytest.mark.parametrize("name", BUILTIN)
def test_what_the_plan_refuses_the_retriever_refuses_too(name: str) -> None:
    for parameter in parameters_of(name).values():
        bad: list[Any] = []
        if parameter.choices:
            bad = ["nonsense"]
        elif float in parameter.types or int in parameter.types:
            bad = ["much", (parameter.low or 0) - 1]
            if parameter.high not in (None, float("inf")):
                bad.append(parameter.high + 1)
        for value in bad:
            with pytest.raises(RankgaugeError, match=f"{name}: {parameter.name}="):
                check_parameters(name, {parameter.name: value})
            with pytest.raises(RankgaugeError, match=f"{parameter.name}="):
                RETRIEVERS[name](SMALL, **{parameter.name: value})


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("bm52", {}, "unknown retriever 'bm52'; did you mean 'bm25'?"),
        ("x", {}, "unknown retriever 'x'; known are: bm25, dense"),
        ("bm25", {"kl": 1}, "bm25 has no parameter 'kl'; did you mean 'k1'?"),
        ("bm25", {"corpus": {}}, "bm25 has no parameter 'corpus'"),
        ("dense", {"model": 3}, "dense: model=3 must be a text or nothing"),
        ("hnsw", {"M": 2.5}, "hnsw: M=2.5 must be a whole number"),
    ],
)
def test_bad_plans(name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError) as caught:
        check_parameters(name, parameters)
    assert message in str(caught.value)


@pytest.mark.parametrize("base", ["bm25", "dense", "hybrid"])
def test_bases(base: str) -> None:
    for name in ("mmr", "rerank"):
        assert build(name, SMALL, base=base).search("delete a file", 3)
    by_relevance = build("mmr", SMALL, base=base, lambda_=1, relevance="scores").search("delete a file", 3)
    assert [hit.id for hit in by_relevance] == [hit.id for hit in build(base, SMALL).search("delete a file", 3)]


def test_entry_point(tmp_path: Path) -> None:
    """A retriever of another package is found by name, its parameters checked like the built-in ones."""
    (tmp_path / "mine.py").write_text(
        "from rankgauge.retrievers import Hit\n"
        "class First:\n"
        "    def __init__(self, corpus, *, count: int, start: int = 0):\n"
        "        self.ids, self.count = list(corpus), count\n"
        "    def search(self, query, k):\n"
        "        return [Hit(doc, 0.0) for doc in self.ids[:min(k, self.count)]]\n"
    )
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rankgauge.retrievers]\nfirst = mine:First\n")
    code = (
        "from rankgauge.retrievers.registry import *\n"
        "print(build('first', {'a': 'x', 'b': 'y'}, count=1).search('q', 5)[0].id, list(RETRIEVERS)[-1])\n"
        "for bad in ({}, {'count': 'all'}, {'count': 1, 'starts': 2}):\n"
        "    try: check_parameters('first', bad)\n"
        "    except Exception as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "a first",
        "first needs the parameter 'count'",
        "first: count='all' must be a whole number",
        "first has no parameter 'starts'; did you mean 'start'?",
    ]
