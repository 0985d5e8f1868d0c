"""What answers cost: from a field, a header or a function, summed up, kept and shown."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import Record, evaluate_retriever, evaluate_retrievers, report, run_plan
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.model.testset import Query, TestSet
from rankgauge.record import Cost
from rankgauge.retrievers import HttpRetriever, run_queries
from rankgauge.words import LANGUAGES, tell
from tests.retrievers.servers import Asked, Reply, calls

TEST_SET = TestSet([Query(f"query number {i}", {f"doc-{i}": 1}) for i in range(20)])
TOKENS = [100 + 7 * i for i in range(20)]


def paid(query: str, k: int) -> dict[str, Any]:
    number = int(query.split()[-1])
    return {"results": [{"id": f"doc-{number}"}], "usage": {"total_tokens": TOKENS[number]}}


def expected(unit: str = "tokens") -> Cost:
    return Cost(unit, float(sum(TOKENS)), float(np.mean(TOKENS)), float(np.percentile(TOKENS, 95)), 20, 0)


WAYS = {
    "path": "usage.total_tokens",
    "function": lambda query, raw: raw["usage"]["total_tokens"],
    "text": lambda query, raw: str(raw["usage"]["total_tokens"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_cost_of_every_answer(way: str) -> None:
    live = evaluate_retriever(paid, TEST_SET, measures="RR", cost=WAYS[way], cost_unit="tokens", concurrency=3)
    assert live.cost == live.calls.cost == expected()
    assert [answer.cost for answer in live.retrieval.answers] == TOKENS
    assert not [note for note in live.live_notes if "cost" in note.key]


def test_without_one_there_is_none() -> None:
    live = evaluate_retriever(paid, TEST_SET, measures="RR")
    assert live.cost is None
    assert "cost" not in live.report(detail="audit")


def test_a_header_and_a_field_of_a_service() -> None:
    def answer(asked: Asked) -> Reply:
        number = int(asked.body["query"].split()[-1])
        found = {"hits": [{"id": f"doc-{number}"}], "usage": {"total_tokens": TOKENS[number]}}
        return Reply(found, headers={"X-Cost": f"{TOKENS[number]}"})

    with calls(answer) as service:
        for cost in ("header:x-cost", "header: X-Cost", "usage.total_tokens"):
            live = evaluate_retriever(HttpRetriever(service.url), TEST_SET, cost=cost, cost_unit="USD", measures="RR")
            assert live.cost == expected("USD")


def test_answers_that_do_not_tell_are_counted() -> None:
    def some(query: str, k: int) -> dict[str, Any]:
        found = paid(query, k)
        return found if query.endswith("5") else {"results": found["results"]}

    live = evaluate_retriever(some, TEST_SET, measures="RR", cost="usage.total_tokens")
    assert (live.cost.queries, live.cost.without) == (2, 18)
    assert live.cost.total == TOKENS[5] + TOKENS[15]
    (note,) = [note for note in live.live_notes if note.key == "asking.no_cost"]
    assert note.parameters["n"] == 18
    assert all("18" in tell(note, language) for language in LANGUAGES)
    nothing = evaluate_retriever(paid, TEST_SET, measures="RR", cost="header:x-cost")
    assert nothing.cost is None
    assert nothing.live_notes[-1].parameters["n"] == 20


@pytest.mark.parametrize("wrong", [lambda query, raw: raw["nothing"], lambda query: 1, lambda query, raw: "much"])
def test_a_cost_that_fails_costs_no_answer(wrong: Any) -> None:
    live = evaluate_retriever(paid, TEST_SET, measures="RR", cost=wrong)
    assert live.mean["RR"] == 1.0
    (note,) = [note for note in live.live_notes if note.key == "asking.cost_failed"]
    assert note.parameters["error"]


@pytest.mark.parametrize("value", [math.nan, math.inf, None, True, -1])
def test_what_is_no_number_is_no_cost(value: Any) -> None:
    assert evaluate_retriever(paid, TEST_SET, measures="RR", cost=lambda query, raw: value).cost is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cost": 3}, "`cost` must be a path into the answer such as 'usage.total_tokens', a header"),
        ({"cost": "a["}, "path"),
        ({"cost": "header:"}, "names no header"),
        ({"cost_unit": "USD"}, "there is no `cost`"),
        ({"cost": "usage", "cost_unit": 3}, "`cost_unit` must be a name"),
    ],
)
def test_mistakes_are_found_before_any_call(options: dict[str, Any], said: str) -> None:
    def never(query: str, k: int) -> list[str]:
        raise AssertionError("asked")

    with pytest.raises(RankgaugeError, match=said):
        evaluate_retriever(never, TEST_SET, **options)
    with pytest.raises(RankgaugeError, match=said):
        run_queries(never, {"1": "x"}, 1, **options)


def test_a_resumed_start_keeps_the_costs(tmp_path: Path) -> None:
    asked = []

    def search(query: str, k: int) -> dict[str, Any]:
        asked.append(query)
        if len(asked) == 8:
            raise KeyboardInterrupt
        return paid(query, k)

    options = {"cost": "usage.total_tokens", "cost_unit": "tokens", "cache": tmp_path, "configuration": {}}
    with pytest.raises(KeyboardInterrupt):
        evaluate_retriever(search, TEST_SET, measures="RR", progress=_impatient(8), **options)
    live = evaluate_retriever(search, TEST_SET, measures="RR", **options)
    assert 0 < live.retrieval.cached < 20
    assert live.cost == expected()
    lines = [json.loads(line) for path in tmp_path.glob("*.jsonl") for line in path.read_text().splitlines()[1:]]
    assert {line["cost"] for line in lines if "error" not in line} == set(TOKENS)


def _impatient(most: int) -> Any:
    def told(done: int, total: int) -> None:
        if done >= most - 1:
            raise KeyboardInterrupt

    return told


def test_record_report_and_spreadsheet(tmp_path: Path) -> None:
    free = lambda query, k: paid(query, k)["results"]  # noqa: E731
    both = evaluate_retrievers({"paid": paid, "free": free}, TEST_SET, measures="RR", cost="usage.total_tokens")
    assert [system.calls.cost is None for system in both.record.systems] == [False, True]
    live = evaluate_retriever(paid, TEST_SET, measures="RR", cost="usage.total_tokens", cost_unit="tokens")
    live.save(tmp_path / "record.json")
    kept = Record.load(tmp_path / "record.json")
    assert kept == live.record
    assert kept.systems[0].calls.cost == expected()
    for language, head in (("en", "cost/query (tokens)"), ("zh", "单次查询费用（tokens）")):
        assert head in report(kept, detail="evidence", language=language, width=200)
    page = report(kept, format="html")
    assert "cost/query (tokens)" in page.replace("<wbr>", "")  # where the head may break
    rows = list(csv.DictReader(io.StringIO(report(kept, tmp_path / "table.csv"))))
    assert rows
    tables = "".join(path.read_text() for path in tmp_path.glob("*.csv"))
    assert "cost_mean" in tables
    old = json.loads((tmp_path / "record.json").read_text())
    del old["systems"][0]["calls"]["cost"]
    assert Record.from_dict(old).systems[0].calls.cost is None


def test_in_a_plan(tmp_path: Path) -> None:
    TEST_SET.save(tmp_path / "testset.json")
    (tmp_path / "own.py").write_text(
        "def search(query, k):\n"
        "    n = int(query.split()[-1])\n"
        '    return {"results": [{"id": f"doc-{n}"}], "usage": {"total_tokens": 100 + 7 * n}}\n'
    )
    plan = tmp_path / "plan.toml"
    text = 'testset = "testset.json"\nmeasures = "RR"\n[[system]]\nname = "own"\nuse = "own:search"\n'
    plan.write_text(text + 'cost = "usage.total_tokens"\ncost_unit = "tokens"\n')
    assert run_plan(plan).record.systems[0].calls.cost == expected()
    plan.write_text(text + 'cost_unit = "tokens"\n')
    with pytest.raises(RankgaugeError, match="there is no `cost`"):
        run_plan(plan)
    plan.write_text(text + "cost = 3\n")
    with pytest.raises(RankgaugeError, match="cost"):
        run_plan(plan)


def test_costs_against_numpy() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 100):
        values = rng.random(n)
        found = Cost.of("x", [*values.tolist(), None])
        assert found is not None
        assert [found.total, found.mean] == pytest.approx([values.sum(), values.mean()])
        assert found.p95 == pytest.approx(np.percentile(values, 95))
        assert (found.queries, found.without) == (n, 1)
    assert Cost.of("x", [None]) is None
    assert issubclass(DataError, RankgaugeError)
