"""Kept answers: found again only for the same system, told to the reader, and written by one start at a time."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever, sweep
from rankgauge.errors import DataError, RetrieverError
from rankgauge.live.answer_cache import folder_held
from rankgauge.model.testset import TestSet

N = 12


@pytest.fixture
def test_set() -> TestSet:
    return TestSet.from_annotations([f"text {i}" for i in range(N)], [[f"text {i}/0"] for i in range(N)])


class Shifted:
    def __init__(self, shift: Any) -> None:
        self.shift = shift

    def search(self, query: str, k: int) -> list[str]:
        return [f"{query}/{i + self.shift}" for i in range(k)]


def test_two_retrievers_of_one_name_do_not_share_answers(tmp_path: Path, test_set: TestSet) -> None:
    def score(retriever: Any) -> tuple[float, int]:
        live = evaluate_retriever(retriever, test_set, measures="RR", cache=tmp_path)
        return live.mean["RR"], live.retrieval.cached

    assert score(Shifted(0)) == (1.0, 0)
    assert score(Shifted(3)) == (0.0, 0)
    assert score(Shifted(0)) == (1.0, N)
    assert score(lambda query, k: [f"{query}/0"]) == (1.0, 0)
    assert score(lambda query, k: [f"{query}/1", f"{query}/0"]) == (0.5, 0)
    assert score(lambda query, k: [f"{query}/0"]) == (1.0, N)


def test_other_fields_are_other_answers(tmp_path: Path, test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[dict[str, str]]:
        return [{"good": f"{query}/0", "bad": "x"}]

    for field, expected in (("good", 1.0), ("bad", 0.0)):
        live = evaluate_retriever(search, test_set, measures="RR", cache=tmp_path, id_field=field)
        assert live.mean["RR"] == expected


def test_two_factories_of_one_name_do_not_share_answers(tmp_path: Path, test_set: TestSet) -> None:
    def tried(factory: Any) -> tuple[list[float], list[int]]:
        found = sweep(factory, {"shift": [0, 1]}, test_set, measure="RR", cache=tmp_path, k=5)
        return [version.mean for version in found.versions], [version.timed_before for version in found.versions]

    def make(shift: int) -> Shifted:
        return Shifted(shift)

    first = make

    def make(shift: int) -> Shifted:  # type: ignore[no-redef]
        return Shifted(shift + 5)

    assert tried(first) == ([1.0, 0.0], [0, 0])
    assert tried(make) == ([0.0, 0.0], [0, 0])
    assert tried(first) == ([1.0, 0.0], [N, N])


def test_what_cannot_be_told_from_the_state_is_to_be_said(tmp_path: Path, test_set: TestSet) -> None:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    retriever = Shifted(0)
    retriever.__dict__["connection"] = connection
    calls = []

    def search(query: str, k: int) -> list[str]:
        calls.append(query)
        return retriever.search(query, k)

    with pytest.raises(DataError, match=r"retriever.*connection \(Connection\)\. Say it yourself: configuration="):
        evaluate_retriever(search, test_set, measures="RR", cache=tmp_path)
    with pytest.raises(DataError, match="Say it yourself"):
        sweep(lambda shift: search, {"shift": [0]}, test_set, cache=tmp_path)
    assert calls == []
    for kept in (0, N):
        live = evaluate_retriever(search, test_set, measures="RR", cache=tmp_path, configuration={"index": 1})
        assert live.retrieval.cached == kept
    evaluate_retriever(search, test_set, measures="RR")  # without a cache nothing needs to be said
    connection.close()


def test_kept_answers_are_told(tmp_path: Path, test_set: TestSet) -> None:
    part = TestSet(list(test_set)[:1], name="part")
    assert not any("earlier start" in line for line in evaluate_retriever(Shifted(0), part, cache=tmp_path).warnings)
    some = evaluate_retriever(Shifted(0), test_set, cache=tmp_path)
    assert f"1 of {N} answers was kept from an earlier start" in some.warnings
    assert some.latency.count == N - 1
    everything = evaluate_retriever(Shifted(0), test_set, cache=tmp_path)
    notes = dict(everything.live_notes)
    assert notes[f"{N} of {N} answers were kept from an earlier start"] == f"{N} 个应答中有 {N} 个是之前运行时保存的"
    assert everything.latency.count == 0
    assert everything.throughput is None


def test_one_start_at_a_time(tmp_path: Path) -> None:
    refused = pytest.raises(RetrieverError, match=r"another rankgauge run .*wait for its end.*cache = \"\.\.\.\"")
    with folder_held(tmp_path / "kept"), refused, folder_held(tmp_path / "kept"):
        pass
    with folder_held(tmp_path / "kept"):
        pass
