"""What answers depend on: the same code and state give the same hash, anything else another, or an error."""

from __future__ import annotations

import functools
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import DataError
from rankgauge.retrievers.builtin import build
from rankgauge.retrievers.fingerprint import fingerprint
from rankgauge.retrievers.http import HttpRetriever
from rankgauge.retrievers.searcher import as_searcher
from tests.retrievers.real import SMALL

WEIGHT = 0.5
CALLS = 0
CONNECTION = sqlite3.connect(":memory:", check_same_thread=False)


def _of(retriever: Any) -> str:
    return fingerprint(retriever, "mine")


class Shifted:
    def __init__(self, shift: Any, **more: Any) -> None:
        self.shift = shift
        self.__dict__.update(more)

    def search(self, query: str, k: int) -> list[str]:
        return [query[self.shift :]]


class Other:
    def __init__(self, shift: Any) -> None:
        self.shift = shift

    def search(self, query: str, k: int) -> list[str]:
        return [query[: self.shift]]


@dataclass
class Point:
    x: float
    names: list[str]


def closed(shift: int) -> Callable[[str, int], list[str]]:
    return lambda query, k: [query[shift:]]


def defaulting(shift: int) -> Callable[..., list[str]]:
    def search(query: str, k: int, shift: int = shift) -> list[str]:
        return [query[shift:]]

    return search


@pytest.mark.parametrize("made", [closed, defaulting, Shifted, lambda n: functools.partial(closed, n), Other])
def test_code_and_values_decide(made: Callable[[int], Any]) -> None:
    assert _of(made(1)) == _of(made(1))
    assert _of(made(1)) != _of(made(2))
    assert _of(made(1)) != _of(made(True))  # another type is another value


def test_two_functions_on_one_line() -> None:
    one, two = (lambda query, k: [query]), (lambda query, k: [query, query])
    assert _of(one) != _of(two)
    assert _of(Shifted(1)) != _of(Other(1))
    assert _of(Shifted(1).search) != _of(Shifted(2).search)
    assert _of(as_searcher(Shifted(1))) != _of(as_searcher(Shifted(2)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        ({"a": [1, {"b": "c"}]}, {"a": [1, {"b": "d"}]}),
        ({"a", "b"}, {"a", "c"}),
        (np.arange(3), np.arange(3.0)),
        (np.arange(6), np.arange(6).reshape(2, 3)),
        (Point(1.0, ["a"]), Point(1.0, ["b"])),
        (Path("a"), Path("b")),
        (Shifted(Shifted(1)), Shifted(Shifted(2))),
        (b"a", "a"),
        (None, ()),
    ],
)
def test_state(one: Any, other: Any) -> None:
    assert _of(Shifted(0, state=one)) == _of(Shifted(0, state=one))
    assert _of(Shifted(0, state=one)) != _of(Shifted(0, state=other))


def test_objects_that_hold_each_other() -> None:
    def ring() -> Shifted:
        one, two = Shifted(1), Shifted(2)
        one.__dict__["next"], two.__dict__["next"] = two, one
        return one

    assert _of(ring()) == _of(ring())


def weighted(query: str, k: int) -> list[str]:
    return [query] * helper(k)


def helper(k: int) -> int:
    return int(k * WEIGHT)


def counting(query: str, k: int) -> list[str]:
    global CALLS
    CALLS += 1
    return [query]


def test_what_a_function_reads_counts_and_what_it_writes_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before, counted = _of(weighted), _of(counting)
    counting("a", 1)
    assert _of(counting) == counted
    monkeypatch.setitem(globals(), "WEIGHT", 0.7)
    assert _of(weighted) != before
    monkeypatch.undo()
    assert _of(weighted) == before
    monkeypatch.setattr(helper, "__code__", (lambda k: k).__code__)
    assert _of(weighted) != before


def asking(query: str, k: int) -> list[Any]:
    return CONNECTION.execute(query).fetchall()


@pytest.mark.parametrize(
    ("retriever", "place"),
    [
        (Shifted(0, client=CONNECTION), r"mine\.client \(Connection\)"),
        (Shifted(0, inner=Shifted(threading.Lock())), r"mine\.inner\.shift \(lock\)"),
        (asking, r"the variable 'CONNECTION' \(Connection\)"),
        (closed(open(os.devnull)), r"the variable 'shift' \(TextIOWrapper\)"),  # type: ignore[arg-type]  # noqa: SIM115
    ],
)
def test_what_cannot_be_written_down_is_an_error(retriever: Any, place: str) -> None:
    with pytest.raises(DataError, match=place + r"\. Say it yourself: configuration=\{"):
        _of(retriever)
    if retriever is not asking and hasattr(retriever, "__closure__"):
        retriever.__closure__[0].cell_contents.close()


def test_endpoints() -> None:
    one = HttpRetriever("http://localhost/a", headers={"X": "1"})
    assert _of(one) == _of(HttpRetriever("http://localhost/a", headers={"X": "1"}))
    assert _of(one) != _of(HttpRetriever("http://localhost/b", headers={"X": "1"}))
    assert _of(one) != _of(HttpRetriever("http://localhost/a", headers={"X": "2"}))


@pytest.mark.parametrize("name", ["bm25", "dense", "hnsw", "hybrid", "mmr", "rerank"])
def test_built_in_retrievers(name: str) -> None:
    made = build(name, SMALL)
    before = _of(made)
    made.search("read a json document", 3)
    assert _of(made) == before == _of(build(name, SMALL))
    assert _of(build(name, {**SMALL, "more": "another json text"})) != before


def test_the_same_in_every_process() -> None:
    code = (
        "from tests.retrievers.test_fingerprint import *; from tests.retrievers.test_fingerprint import _of;"
        "print(_of(weighted), _of(Shifted({'x': {'a', 'b', 'c'}})), _of(build('rerank', SMALL)))"
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
