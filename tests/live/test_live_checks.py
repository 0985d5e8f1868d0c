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
from rankgauge.live.live import RetrievalError
from rankgauge.model.testset import TestSet
from rankgauge.plans.running import live_record
from rankgauge.reports.calls import calls_files
from rankgauge.reports.evaluation import render
from rankgauge.reports.tables import Table, render_csv
from rankgauge.retrievers.http import HttpRetriever
from rankgauge.retrievers.reasons import translated

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
    ({"tokenizer": len}, "give corpus= too"),
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
    first = repr(live.retrieval.empty[0])
    assert dict(live.live_notes)[f"2 of 11 lists are empty, such as that of {first}"].startswith(
        "11 个列表中有 2 个为空"
    )
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
    notes = [pair for pair in live.live_notes if "repeated" in pair[0]]
    assert notes[0][0].startswith(f"{N} calls were repeated, most often after: TimeoutError: busy (")
    assert notes[0][1].startswith(f"重试了 {N} 次调用，最常见的原因：TimeoutError: busy (")
    record = live_record([live], None, test_set=test_set)
    assert record["systems"][0]["calls"]["repeated"] == N
    assert "repeated calls" in render(record, "table")
    assert "重试次数" in render(record, "table", language="zh")
    head, row = calls_files(record, "table.csv")["table-calls.csv"].splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["repeated"] == str(N)


def test_a_dead_server_is_given_up(test_set: TestSet) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"  # nobody listens there
        with pytest.raises(
            RetrievalError, match="5 of 12 queries reached nobody, so the other 7 were not asked"
        ) as caught:
            evaluate_retriever(HttpRetriever(url), test_set, backoff=0.001)
        passed = caught.value.retrieval
        assert not passed.valid
        assert not passed.interrupted
        assert passed.unreachable
        assert passed.not_asked == [query.id for query in test_set][5:]
        with pytest.raises(RetrievalError, match="9 of 12 queries reached nobody"):  # 8 may fail
            evaluate_retriever(HttpRetriever(url), test_set, backoff=0.001, max_failed=0.7)


def test_one_answer_or_another_error_keeps_a_pass_going(test_set: TestSet) -> None:
    def search(query: str, k: int) -> list[str]:
        if query == "text 2":
            raise ValueError("no list")
        raise ConnectionRefusedError("nobody")

    with pytest.raises(RetrievalError, match="12 of 12 queries failed, more than the 5% allowed"):
        evaluate_retriever(search, test_set, retries=0)


def test_reasons_in_chinese() -> None:
    told = "mine: 32 of 40 queries failed, more than the 2.5% allowed; most often: HTTP 500: 1 of 2"
    assert translated(told, "zh") == "mine: 40 个查询中有 32 个失败，超过允许的 2.5%；最常见的原因：HTTP 500: 1 of 2"
    assert translated(told, "en") == told
    assert translated("mine: something else", "zh") == "mine: something else"
    dead = "{'a': 1}: 5 of 12 queries reached nobody, so the other 7 were not asked: refused"
    assert translated(dead, "zh") == "{'a': 1}: 12 个查询中有 5 个连接不上，因此其余 7 个未再请求：refused"


def test_async_calls_that_block_are_told(test_set: TestSet) -> None:
    async def blocking(query: str, k: int) -> list[str]:
        time.sleep(0.01)
        return [query]

    async def waiting(query: str, k: int) -> list[str]:
        await asyncio.sleep(0.01)
        return [query]

    def told(search: Any, concurrency: int) -> list[str]:
        live = evaluate_retriever(search, test_set, measures="RR", concurrency=concurrency)
        return [zh for en, zh in live.live_notes if "did not overlap" in en]

    assert told(blocking, 8)[0].startswith("调用没有重叠")
    assert told(waiting, 8) == []
    assert told(blocking, 1) == []


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
    assert any("with ties='stable' they keep the retriever's order" in line for line in live.warnings)
    record = live_record([live], None, test_set=test_set)
    assert "ties='stable'" in json.dumps(record["systems"][0]["notes"]["zh"])


def test_a_record_of_live_retrievers_cannot_be_computed_again(test_set: TestSet) -> None:
    record = live_record([evaluate_retriever(Counting(), test_set, name="mine")], None, test_set=test_set)
    with pytest.raises(DataError, match=r"live retrievers \(mine\).*runs = \"runs\".*rankgauge evaluate"):
        verify(record)


def test_no_cell_of_a_spreadsheet_is_a_formula() -> None:
    rows = [["=1+1", "-0.5"], ["+sum", "+3"], ["@x", "-"], ["-y", "-inf"], ["a=b", "1e-05"]]
    assert render_csv(Table(["system", "=m"], rows)) == (
        "system,'=m\n'=1+1,-0.5\n'+sum,+3\n'@x,-\n'-y,-inf\na=b,1e-05\n"
    )
