"""What answers depend on: built-in retrievers say it themselves, the same way each time; all others have to be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import DataError
from rankgauge.retrievers import BM25, MMR, Dense, Hybrid, Rerank, TermProximity, build
from rankgauge.retrievers.adapters import from_elasticsearch
from rankgauge.retrievers.configuration import configuration_of, corpus_version
from rankgauge.retrievers.http import HttpRetriever
from rankgauge.retrievers.searcher import as_searcher
from tests.retrievers.real import SMALL

MORE = {**SMALL, "more": "another json text"}


def of(retriever: Any) -> str:
    return json.dumps(configuration_of(retriever, "mine"), sort_keys=True)


@pytest.mark.parametrize("name", ["bm25", "dense", "hnsw", "hybrid", "mmr", "rerank"])
def test_built_in_retrievers_say_it_themselves(name: str) -> None:
    made = build(name, SMALL)
    before = of(made)
    made.search("read a json document", 3)
    assert of(made) == before == of(build(name, SMALL)) == of(as_searcher(made))
    assert of(build(name, MORE)) != before


CHANGES: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (lambda: BM25(SMALL), lambda: BM25(SMALL, k1=0.9)),
    (lambda: BM25(SMALL), lambda: BM25(SMALL, b=0.5)),
    (lambda: BM25(SMALL), lambda: BM25(SMALL, method="bm25+")),
    (lambda: BM25(SMALL), lambda: BM25(SMALL, delta=1)),
    (lambda: BM25(SMALL), lambda: BM25(SMALL, language="en")),
    (lambda: Dense(SMALL), lambda: Dense(SMALL, dimensions=3)),
    (lambda: Dense(SMALL), lambda: Dense(SMALL, index="hnsw")),
    (lambda: Dense(SMALL, index="hnsw"), lambda: Dense(SMALL, index="hnsw", ef_search=8)),
    (lambda: Dense(SMALL, index="hnsw"), lambda: Dense(SMALL, index="hnsw").with_ef_search(8)),
    (lambda: Hybrid([BM25(SMALL), Dense(SMALL)]), lambda: Hybrid([BM25(SMALL), Dense(MORE)])),
    (lambda: Hybrid([BM25(SMALL), Dense(SMALL)]), lambda: Hybrid([Dense(SMALL), BM25(SMALL)])),
    (lambda: Hybrid([BM25(SMALL), Dense(SMALL)]), lambda: Hybrid([BM25(SMALL), Dense(SMALL)], weights=[0.1, 0.9])),
    (lambda: Hybrid([BM25(SMALL), Dense(SMALL)]), lambda: Hybrid([BM25(SMALL), Dense(SMALL)], depth=3)),
    (
        lambda: Hybrid({"a": BM25(SMALL), "b": Dense(SMALL)}, weights=[0.1, 0.9]),
        lambda: Hybrid({"b": Dense(SMALL), "a": BM25(SMALL)}, weights=[0.1, 0.9]),
    ),
    (lambda: MMR(BM25(SMALL), Dense(SMALL)), lambda: MMR(BM25(SMALL), Dense(SMALL), lambda_=0.1)),
    (lambda: MMR(BM25(SMALL), Dense(SMALL)), lambda: MMR(BM25(MORE), Dense(SMALL))),
    (
        lambda: Rerank(BM25(SMALL), TermProximity(SMALL), corpus=SMALL),
        lambda: Rerank(BM25(SMALL), TermProximity(SMALL, title=2.0), corpus=SMALL),
    ),
    (
        lambda: Rerank(BM25(SMALL), TermProximity(SMALL), corpus=SMALL),
        lambda: Rerank(BM25(SMALL), TermProximity(SMALL), corpus=MORE),
    ),
    (lambda: HttpRetriever("http://localhost/a"), lambda: HttpRetriever("http://localhost/b")),
    (lambda: HttpRetriever("http://localhost/a"), lambda: HttpRetriever("http://localhost/a", headers={"X": "1"})),
    (lambda: HttpRetriever("http://localhost/a"), lambda: HttpRetriever("http://localhost/a", ids="$.ids[*]")),
    (lambda: from_elasticsearch("http://h", "one"), lambda: from_elasticsearch("http://h", "two")),
]


@pytest.mark.parametrize(("one", "other"), CHANGES)
def test_every_parameter_counts(one: Callable[[], Any], other: Callable[[], Any]) -> None:
    assert of(one()) == of(one())
    assert of(one()) != of(other())


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [[float(text.count(letter)) for letter in "abc"] for text in texts]


class Mine:
    configuration = {"whatever": "it means"}
    ids = ()

    def search(self, query: str, k: int) -> list[str]:
        return [query]


class Other(BM25):
    """Ranks in another way than what it inherits says."""

    def search(self, query: str, k: int) -> list[Any]:
        return super().search(query, k)[::-1]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Mine(),
        lambda: Mine().search,
        lambda: lambda query, k: [query],
        lambda: Other(SMALL),
        lambda: Dense(SMALL, model=letters),
        lambda: Hybrid([BM25(SMALL), Mine()]),
        lambda: MMR(BM25(SMALL), Dense(SMALL, model=letters)),
        lambda: MMR(BM25(SMALL), Dense(SMALL), encoder=letters),
        lambda: Rerank(BM25(SMALL), lambda query, documents: [0.0] * len(documents), corpus=SMALL),
        lambda: Rerank(Hybrid([Mine()]), TermProximity(SMALL), corpus=SMALL),
        lambda: as_searcher(Mine()),
    ],
)
def test_what_only_the_user_knows_is_to_be_said(made: Callable[[], Any]) -> None:
    with pytest.raises(DataError, match=r"mine: .*Give configuration=\{\.\.\.\} with all of it.*or leave cache out"):
        configuration_of(made(), "mine")


def test_the_same_in_every_process() -> None:
    code = (
        "from tests.retrievers.test_configuration import *;"
        "print(of(build('rerank', SMALL)), of(HttpRetriever('http://h/', headers={'X': '${HOME}'})))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert os.environ["HOME"] not in told.pop()


def test_the_order_of_a_corpus_counts() -> None:
    """It decides between documents of equal scores."""
    assert corpus_version({"a": "x", "b": "y"}) != corpus_version({"b": "y", "a": "x"})
    assert corpus_version({"a": "x", "b": "y"}) == corpus_version({"a": "x", "b": "y"})
