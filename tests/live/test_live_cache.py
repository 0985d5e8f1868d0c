"""Kept answers: found again only for the same system, told to the reader, and written by one start at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever, sweep
from rankgauge.errors import DataError, RetrieverError
from rankgauge.model.testset import TestSet
from rankgauge.retrievers import BM25
from rankgauge.retrievers.journal import folder_held
from rankgauge.words import Note

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
    def score(shift: int) -> tuple[float, int]:
        live = evaluate_retriever(
            Shifted(shift), test_set, measures="RR", cache=tmp_path, configuration={"shift": shift}
        )
        return live.mean["RR"], live.retrieval.cached

    assert score(0) == (1.0, 0)
    assert score(3) == (0.0, 0)
    assert score(0) == (1.0, N)


def test_built_in_retrievers_need_no_configuration(tmp_path: Path, test_set: TestSet) -> None:
    corpus = {f"text {i}/0": f"text {i} and more" for i in range(N)}

    def kept(documents: dict[str, str], **parameters: Any) -> int:
        live = evaluate_retriever(BM25(documents, **parameters), test_set, measures="RR", cache=tmp_path)
        return live.retrieval.cached

    assert [kept(corpus), kept(corpus)] == [0, N]
    assert [kept(corpus, k1=0.5), kept(corpus, k1=0.5)] == [0, N]
    assert kept({**corpus, "new": "another text"}) == 0
    assert kept(corpus) == N


def test_other_fields_are_other_answers(tmp_path: Path, test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[dict[str, str]]:
        return [{"good": f"{query}/0", "bad": "x" if query != others[-1] else f"{others[0]}/0"}]

    others = [query.text for query in test_set]

    for field, expected in (("good", 1.0), ("bad", 0.0)):
        live = evaluate_retriever(search, test_set, measures="RR", cache=tmp_path, configuration={}, id_field=field)
        assert live.mean["RR"] == expected


def test_two_sweeps_of_one_name_do_not_share_answers(tmp_path: Path, test_set: TestSet) -> None:
    def tried(more: int) -> tuple[list[float], list[int]]:
        found = sweep(
            lambda shift: Shifted(shift + more),
            {"shift": [0, 1]},
            test_set,
            measure="RR",
            cache=tmp_path,
            configuration={"more": more},
            k=5,
        )
        return [version.mean for version in found.versions], [version.timed_before for version in found.versions]

    assert tried(0) == ([1.0, 0.0], [0, 0])
    assert tried(5) == ([0.0, 0.0], [0, 0])
    assert tried(0) == ([1.0, 0.0], [N, N])


def test_what_answers_depend_on_is_to_be_said(tmp_path: Path, test_set: TestSet) -> None:
    calls = []

    def search(query: str, k: int) -> list[str]:
        calls.append(query)
        return [f"{query}/0"]

    with pytest.raises(DataError, match=r"search: answers are kept under .* Give configuration=\{"):
        evaluate_retriever(search, test_set, measures="RR", cache=tmp_path)
    with pytest.raises(DataError, match=r"only you know of the factory\. Give configuration=\{"):
        sweep(lambda shift: search, {"shift": [0]}, test_set, cache=tmp_path)
    assert calls == []
    for kept in (0, N):
        live = evaluate_retriever(search, test_set, measures="RR", cache=tmp_path, configuration={"index": 1})
        assert live.retrieval.cached == kept
    evaluate_retriever(search, test_set, measures="RR")  # without a cache nothing needs to be said


def test_kept_answers_are_told(tmp_path: Path, test_set: TestSet) -> None:
    part = TestSet(list(test_set)[:1], name="part")
    kept: dict[str, Any] = {"cache": tmp_path, "configuration": {"shift": 0}}
    assert "live.cached" not in [note.key for note in evaluate_retriever(Shifted(0), part, **kept).live_notes]
    some = evaluate_retriever(Shifted(0), test_set, **kept)
    assert Note("live.cached", {"n": 1, "answers": N}) in some.live_notes
    assert some.latency.count == N - 1
    everything = evaluate_retriever(Shifted(0), test_set, **kept)
    assert Note("live.cached", {"n": N, "answers": N}) in everything.live_notes
    assert everything.latency.count == 0
    assert everything.throughput is None
    assert everything.calls.latency is None


def test_one_start_at_a_time(tmp_path: Path) -> None:
    refused = pytest.raises(RetrieverError, match=r"another rankgauge run .*wait for its end.*cache = \"\.\.\.\"")
    with folder_held(tmp_path / "kept"), refused, folder_held(tmp_path / "kept"):
        pass
    with folder_held(tmp_path / "kept"):
        pass
