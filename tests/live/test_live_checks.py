"""Slips are found before the first call, and what went wrong with the calls is told."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate_retriever, sweep
from rankgauge.comparison.verify import verify
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.live.evaluation import RetrievalError
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.http import HttpRetriever
from rankgauge.words import Note, tell

N = 12


@pytest.fixture
def test_set() -> TestSet:
    return TestSet.from_annotations([f"text {i}" for i in range(N)], [[f"text {i}/0"] for i in range(N)])


class Counting:
    def __init__(self) -> None:
        self.calls = 0

    def search(self, query: str, k: int) -> list[str]:
        self.calls += 1
        return [f"{query}/{i}" for i in range(k)]


SLIPS: list[tuple[dict[str, Any], str]] = [
    ({"foo": 1}, "has no parameter 'foo'; it has: "),
    ({"concurency": 3}, "has no parameter 'concurency'; did you mean concurrency?"),
    ({"tie": "stable"}, "has no parameter 'tie'; did you mean ties?"),
    ({"ties": "nonsense"}, "nonsense"),
    ({"missing": "x"}, "missing"),
    ({"contract": "zz"}, "zz"),
    ({"rel": "1"}, "rel='1' must be a number"),
    ({"collapse_chunks": "("}, "no regular expression"),
    ({"collapse_chunks": 3}, "not a int"),
    ({"tokenizer": len}, "give `corpus` too"),
    ({"corpus": ["a"]}, "a corpus is a mapping from document id to text, or the path of a file, not a list"),
    ({"corpus": {}}, "the corpus is empty"),
    ({"corpus": "nowhere.jsonl"}, "there is no such file"),
    ({"k": 0}, "k=0"),
    ({"timeout": math.nan}, "timeout=nan"),
]


@pytest.mark.parametrize(("options", "said"), [*SLIPS, ({"measures": ["nDGC@10"]}, "did you mean nDCG")])
def test_evaluate_retriever_looks_first(test_set: TestSet, options: dict[str, Any], said: str) -> None:
    retriever = Counting()
    with pytest.raises(RankgaugeError) as caught:
        evaluate_retriever(retriever, test_set, **options)
    assert said in str(caught.value)
    assert "sweep" not in str(caught.value)
    assert retriever.calls == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        *SLIPS,
        ({"measure": "nDGC@10"}, "did you mean nDCG"),
        ({"measure": ["RR", "AP"]}, "a sweep goes by one measure, such as 'nDCG@10', not by ['RR', 'AP']"),
        ({"measures": "RR"}, "sweep() has no parameter 'measures'; did you mean measure?"),
        ({"folds": 1}, "folds=1 must be a whole number of at least 2"),
        ({"folds": 2.5}, "folds=2.5"),
        ({"folds": 7}, f"7 folds need 14 queries or more; the test set has {N}"),
        ({"tries": 0}, "tries=0"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_sweep_looks_first(test_set: TestSet, options: dict[str, Any], said: str) -> None:
    made = []
    with pytest.raises(RankgaugeError) as caught:
        sweep(lambda shift: made.append(shift) or Counting(), {"shift": [0, 1]}, test_set, **options)
    assert said in str(caught.value)
    assert "evaluate_retriever" not in str(caught.value)
    assert made == []


def test_unknown_names_are_no_type_errors(test_set: TestSet) -> None:
    for function in (
        evaluate_retriever,
        lambda *given, **more: sweep(lambda a: given[0], {"a": [1]}, given[1], **more),
    ):
        with pytest.raises(DataError):
            function(Counting(), test_set, foo=1)


def test_few_queries_and_no_wish_for_folds(test_set: TestSet) -> None:
    few = TestSet(list(test_set)[:4], name="few")
    assert sweep(lambda shift: Counting(), {"shift": [0, 1]}, few).held_out is None
    assert sweep(lambda shift: Counting(), {"shift": [0, 1]}, test_set).held_out.folds == 5


def test_a_corpus_by_its_path(tmp_path: Path, test_set: TestSet) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"_id": f"text {i}/0", "text": "x" * 9}) + "\n" for i in range(N)))
    live = evaluate_retriever(Counting(), test_set, k=1, measures=["RR", "R(budget=9)"], corpus=str(path))
    assert live.mean["R(budget=9)"] == 1.0
    assert len(evaluate_retriever(Counting(), test_set, k=2, corpus=path).retrieval.unknown_ids) == N
    with pytest.raises(DataError, match=r"R\(budget=9\) needs the texts"):
        evaluate_retriever(Counting(), test_set, k=1, measures="R(budget=9)")
    assert sweep(lambda shift: Counting(), {"shift": [0]}, test_set, corpus=path).best.mean > 0
    with pytest.raises(FormatError):
        evaluate_retriever(Counting(), test_set, corpus=tmp_path / "none")


def test_empty_lists_are_told(test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[str]:
        if query == "text 5":
            raise ValueError
        return [] if query in ("text 1", "text 3") else [query]

    live = evaluate_retriever(search, test_set, measures="RR", max_failed=0.5)
    assert Note("live.empty", {"n": 2, "lists": 11, "query": test_set[1].id}, "warning") in live.live_notes
    assert live.retrieval.empty == [test_set[1].id, test_set[3].id]


def test_repeated_calls_are_counted_and_told(test_set: TestSet) -> None:
    seen: set[str] = set()

    def search(query: str, k: int) -> list[str]:
        if query not in seen:
            seen.add(query)
            raise TimeoutError("busy")
        return [f"{query}/0"]

    live = evaluate_retriever(search, test_set, measures="RR", backoff=0.001)
    assert live.retrieval.repeated == N
    (note,) = [note for note in live.live_notes if note.key == "live.repeated"]
    assert note.parameters["n"] == N
    assert note.parameters["error"].startswith("TimeoutError: busy (")
    assert live.record.systems[0].calls.repeated == N


def test_a_dead_server_is_given_up(test_set: TestSet) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"  # nobody listens there
        with pytest.raises(
            RetrievalError, match="5 of 12 queries got no connection or no answer in time, so the other 7 were not sent"
        ) as caught:
            evaluate_retriever(HttpRetriever(url), test_set, backoff=0.001)
        passed = caught.value.retrieval
        assert not passed.valid
        assert not passed.interrupted
        assert passed.unreachable
        assert passed.not_asked == [query.id for query in test_set][5:]
        with pytest.raises(RetrievalError, match="9 of 12 queries got no connection"):  # 8 may fail
            evaluate_retriever(HttpRetriever(url), test_set, backoff=0.001, max_failed=0.7)


def test_one_answer_or_another_error_keeps_a_pass_going(test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[str]:
        if query == "text 2":
            raise ValueError("no list")
        raise ConnectionRefusedError("nobody")

    with pytest.raises(RetrievalError, match="12 of 12 queries failed, more than the 5 % allowed"):
        evaluate_retriever(search, test_set, retries=0)


def test_reasons_are_told_in_both_languages() -> None:
    failed = Note("live.failed", {"failed": 32, "asked": 40, "share": 0.025, "error": "HTTP 500: 1 of 2"})
    said = "32 of 40 queries failed, more than the 2.5 % allowed; most often: HTTP 500: 1 of 2"
    assert tell(failed, "en") == said
    assert tell(failed, "zh") == "40 个查询中有 32 个失败，超过允许的 2.5 %；最常见的原因：HTTP 500: 1 of 2"
    setting = Note("live.setting", {"setting": "{'a': 1}", "reason": failed})
    assert tell(setting, "en") == f"{{'a': 1}}: {said}"


def test_async_calls_that_block_are_told(test_set: TestSet) -> None:
    async def blocking(query: str, k: int) -> list[str]:
        time.sleep(0.01)
        return [query]

    async def waiting(query: str, k: int) -> list[str]:
        await asyncio.sleep(0.01)
        return [query]

    def told(search: Any, concurrency: int) -> bool:
        live = evaluate_retriever(search, test_set, measures="RR", concurrency=concurrency)
        return "live.blocking" in [note.key for note in live.live_notes]

    assert told(blocking, 8)
    assert not told(waiting, 8)
    assert not told(blocking, 1)


def test_an_error_names_the_line_of_the_users_code(test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[str]:
        return json.loads("{")

    with pytest.raises(RetrievalError) as caught:
        evaluate_retriever(search, test_set, retries=0)
    line = search.__code__.co_firstlineno + 1
    assert f"test_live_checks.py:{line})" in str(caught.value)
    assert "json/decoder" not in str(caught.value)


def test_ties_of_a_live_evaluation(test_set: TestSet) -> None:
    live = evaluate_retriever(lambda query, k: [(f"{query}/{i}", 1.0) for i in range(k)], test_set, measures="RR")
    assert any("with `ties='stable'` they keep the retriever's order" in line for line in live.warnings)
    assert any("ties='stable'" in tell(note, "zh") for note in live.record.systems[0].notes)


def test_a_record_of_live_retrievers_cannot_be_computed_again(test_set: TestSet) -> None:
    record = evaluate_retriever(Counting(), test_set, name="mine").record
    with pytest.raises(DataError, match=r"live retrievers \(mine\).*runs = \"runs\".*rankgauge evaluate"):
        verify(record)
