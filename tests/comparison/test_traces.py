"""Several retrieval calls for one question: unions, budgets and call by call, against counts by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Call, Query, Record, TestSet, Trace, Traces, compare, evaluate, evaluate_traces, verify
from rankgauge.errors import DataError
from rankgauge.evaluation.traces import bind, united
from rankgauge.words import LANGUAGES, tell
from tests.cli.command import run_command

TESTED = TestSet(
    [
        Query("who  won?", {"a": 1, "b": 1}, "q1"),
        Query("two hops", {"c": 1, "d": 1, "e": 1}, "q2", groups={"first": ["c", "d"], "second": ["e"]}),
        Query("no evidence", {"f": 0}, "q3"),
        Query("never asked", {"g": 1}, "q4"),
        Query("no call", {"h": 1}, "q5"),
    ]
)
LINES: list[dict[str, Any]] = [
    {
        "question": "who won?",
        "calls": [
            {"query": "winner", "results": ["x", "a"], "tokens": 100, "seconds": 0.5},
            {"query": "loser", "results": ["b", "x"], "tokens": 300, "seconds": 0.1},
        ],
    },
    {
        "query_id": "q2",
        "calls": [{"query": "hop", "results": ["d", "y"], "tokens": 50}, {"results": ["e"], "tokens": 60}],
    },
    {"query_id": "q3", "calls": [{"query": "n", "results": ["f"], "tokens": 10}]},
    {"query_id": "q5", "calls": []},
    {"query_id": "q2", "calls": [{"query": "again", "results": ["e", "d"], "tokens": 1}]},
    {"question": "of another test set", "calls": [{"query": "z", "results": ["a"]}]},
]


def test_counted_by_hand() -> None:
    found = evaluate_traces(TESTED, LINES, ["R@10", "RR"], name="agent")
    use = found.usage["agent"]
    assert (use.traces, use.by_id, use.by_text, use.unbound, use.repeated) == (6, 3, 1, 1, 1)
    assert use.calls == {0: 1, 1: 1, 2: 2}
    assert use.calls_per_question == 5 / 4
    assert use.documents == (3 + 3 + 1 + 0) / 4
    assert (use.evidence, use.never) == (4, 2)  # q4 was never asked, q5 never searched
    assert [(entry.call, entry.questions, entry.complete) for entry in use.by_call] == [(1, 3, 0), (2, 2, 2)]
    first, second = use.by_call
    assert first.own["R@10"] == pytest.approx((1 / 2 + 1 / 3 + 0) / 3)  # q3 has nothing to find: 0
    assert first.union["R@10"] == pytest.approx((1 / 2 + 1 / 3 + 0 + 0 + 0) / 5)
    assert second.own["R@10"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert second.union["R@10"] == found.evaluations["agent"].mean["R@10"] == pytest.approx((1 + 2 / 3) / 5)
    assert use.tokens is not None
    assert (use.tokens.questions, use.tokens.mean) == (3, pytest.approx((400 + 110 + 10) / 3))
    assert use.seconds is not None
    assert (use.seconds.questions, use.seconds.mean) == (1, pytest.approx(0.6))
    keys = {note.key for note in found.notes}
    assert {"traces.bound", "traces.unbound", "traces.repeated", "traces.no_calls"} <= keys
    assert any("of another test set" in warning for warning in found.warnings)


def test_budgets_are_systems() -> None:
    found = evaluate_traces(TESTED, LINES, "R@10", name="agent", budgets=["calls", "documents<=1", "tokens<=110"])
    assert list(found.runs) == ["calls<=1", "documents<=1", "tokens<=110", "agent"]
    lists = {name: {query: list(docs) for query, docs in run.to_dict().items()} for name, run in found.runs.items()}
    assert lists["calls<=1"] == {"q1": ["x", "a"], "q2": ["d", "y"], "q3": ["f"], "q5": []}
    assert lists["documents<=1"] == {"q1": ["x"], "q2": ["d"], "q3": ["f"], "q5": []}
    assert lists["tokens<=110"] == {"q1": ["x", "a"], "q2": ["d", "y", "e"], "q3": ["f"], "q5": []}
    assert found.comparison is not None
    assert found.comparison.baseline == "calls<=1"
    expected = compare(TESTED, found.runs, "R@10", baseline="calls<=1")
    assert found.comparison.rows == expected.rows


def test_two_files_compare_like_runs(tmp_path: Path) -> None:
    other = [{**line, "calls": line["calls"][:1]} for line in LINES]
    for name, lines in (("a", LINES), ("b", other)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    paths = {name: tmp_path / f"{name}.jsonl" for name in "ab"}
    found = evaluate_traces(TESTED, paths, "R@10", budgets="calls<=1")
    assert list(found.runs) == ["a calls<=1", "a", "b calls<=1", "b"]
    assert set(found.usage) == {"a", "b"}
    assert found.comparison is not None
    row = found.comparison.row("R@10", "a calls<=1", "b")
    assert row.ties == row.queries
    record = found.record
    assert record.provenance.inputs.keys() >= {"traces:a", "traces:b"}
    again = Record.from_dict(json.loads(record.to_json()))
    assert again.system("a").traces == found.usage["a"]
    with pytest.raises(DataError, match="of traces"):
        verify(again)


def test_orders() -> None:
    calls = [Call("1", ["a", "b", "c"]), Call("2", ["d", "c", "a"]), Call("3", ["e", "a"])]
    assert united(calls) == ["a", "b", "c", "d", "e"]
    assert united(calls, "ranks") == ["a", "d", "e", "b", "c"]
    assert united(calls, "rrf") == ["a", "c", "d", "e", "b"]
    assert united([], "rrf") == []


documents = st.lists(st.sampled_from("abcdefgh"), max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(documents, max_size=4), st.sampled_from(["calls", "ranks", "rrf"]))
def test_unions_hold_every_document_once(lists: list[list[str]], order: Any) -> None:
    calls = [Call("q", docs) for docs in lists]
    found = united(calls, order)
    assert sorted(found) == sorted({doc for docs in lists for doc in docs})
    if len(calls) == 1:
        assert found == list(calls[0].documents)


@settings(max_examples=30, deadline=None)
@given(st.lists(documents, min_size=1, max_size=4), st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=3))
def test_more_calls_never_lose_recall(lists: list[list[str]], relevant: set[str]) -> None:
    tested = TestSet([Query("q", dict.fromkeys(relevant, 1.0), "q1")])
    found = evaluate_traces(tested, [Trace([Call("x", docs) for docs in lists], "q1")], "R")
    steps = [entry.union["R"] for entry in found.usage["traces"].by_call]
    assert steps == sorted(steps)
    naive = [len(relevant & {d for docs in lists[: i + 1] for d in docs}) / len(relevant) for i in range(len(lists))]
    assert steps == pytest.approx(naive)
    complete = next((i + 1 for i, recall in enumerate(naive) if recall == 1), None)
    use = found.usage["traces"]
    assert [entry.call for entry in use.by_call if entry.complete] == ([] if complete is None else [complete])
    assert use.never == (complete is None)


def test_one_call_is_a_run() -> None:
    run = {"q1": ["x", "a"], "q2": ["e", "c"]}
    traces = Traces(Trace([Call("q", docs)], query) for query, docs in run.items())
    found = evaluate_traces(TESTED, traces, ["nDCG@10", "RR"]).evaluations["traces"]
    assert found.mean == evaluate(TESTED, run, ["nDCG@10", "RR"]).mean


def test_chunks_are_merged() -> None:
    traces = [Trace([Call("q", ["a#1", "a#2"]), Call("q", ["b#7"])], "q1")]
    use = evaluate_traces(TESTED, traces, "R@10", collapse_chunks=r"^(.+)#").usage["traces"]
    assert use.documents == 2
    assert use.by_call[1].complete == 1


def test_tokens_by_a_tokenizer() -> None:
    lines = [
        {
            "query_id": "q1",
            "calls": [{"results": [{"id": "a", "text": "one two"}]}, {"results": [{"id": "b", "text": "x"}]}],
        }
    ]
    with pytest.raises(DataError, match="without a number of tokens"):
        evaluate_traces(TESTED, lines, "R@10", budgets="tokens<=2")
    found = evaluate_traces(TESTED, lines, "R@10", budgets="tokens<=2", tokenizer=lambda text: len(text.split()))
    assert list(found.runs["tokens<=2"].to_dict()["q1"]) == ["a"]
    assert found.usage["traces"].tokens is not None
    assert found.usage["traces"].tokens.mean == 3
    assert not [warning for warning in found.warnings if "above the budget" in warning]
    too_small = evaluate_traces(TESTED, lines, "R@10", budgets="tokens<=1", tokenizer=lambda text: len(text.split()))
    assert "tokens<=1: the first call alone is above the budget for 1 of 1 question" in " ".join(
        too_small.warnings
    )


def test_texts_that_two_queries_have_bind_nothing() -> None:
    tested = TestSet([Query("same", {"a": 1}, "q1"), Query("same", {"b": 1}, "q2")])
    bound = bind(Traces([Trace([Call("x", ["a"])], question="same"), Trace([], "q2")]), tested)
    assert (len(bound.unbound), list(bound.traces)) == (1, ["q2"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"budgets": ["calls<2"]}, "no budget"),
        ({"budgets": ["calls<=0"]}, "no budget"),
        ({"order": "best"}, "not one of"),
        ({"baseline": "x", "budgets": "calls"}, "baseline"),
        ({"traces": [{"question": "nobody's", "calls": []}]}, "no trace belongs"),
        ({"traces": 3}, "no traces"),
        ({"traces": {}}, "names no system"),
    ],
)
def test_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        evaluate_traces(TESTED, **{"traces": LINES, **arguments})


def test_conversations_reach_traces() -> None:
    tested = TestSet(Query(f"t{i}", {"a": 1}, f"c{i // 3}-{i}", conversation=f"c{i // 3}") for i in range(30))
    lines = [Trace([Call("x", ["a" if (i // 3) % 2 else "z"]), Call("y", ["a"])], f"c{i // 3}-{i}") for i in range(30)]
    found = evaluate_traces(tested, lines, "R@10", budgets="calls")
    assert found.comparison is not None
    assert found.comparison.rows[0].conversations == 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_reports(language: Any, tmp_path: Path) -> None:
    alone = evaluate_traces(TESTED, LINES, ["R@10", "RR"], name="agent")
    both = evaluate_traces(TESTED, LINES, ["R@10", "RR"], name="agent", budgets=["calls"])
    for found in (alone, both):
        for note in found.notes:
            assert tell(note, language) != note.key
        for detail in ("answer", "audit"):
            shown = found.report(language=language, detail=detail)
            assert "traces." not in shown
            assert "50 %" in shown  # all evidence there
    assert len(alone.report(language=language).splitlines()) <= 25
    both.report(tmp_path / "page.html", language=language)
    both.report(tmp_path / "table.csv", language=language)
    assert "complete" in (tmp_path / "table-traces.csv").read_text().splitlines()[0]


def test_command_line(tmp_path: Path) -> None:
    TESTED.save(tmp_path / "testset.json")
    path = tmp_path / "agent.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)))
    found = json.loads(run_command("evaluate-traces", tmp_path / "testset.json", path, "-m", "R@10", "--json").stdout)
    assert found["systems"][0]["traces"]["never"] == 2
    shown = run_command("evaluate-traces", tmp_path / "testset.json", f"x={path}", "--budget", "calls<=1", "-m", "R@10")
    assert "calls<=1" in shown.stdout
    failed = run_command("evaluate-traces", tmp_path / "testset.json", path, "--ties", "given", status=2)
    assert "--ties has no use here" in failed.stderr
    failed = run_command("evaluate-traces", tmp_path / "testset.json", path, "--budget", "docs<=3", status=2)
    assert "no budget" in failed.stderr


@pytest.mark.parametrize("index", [None, "context.span_id"])
def test_spans_in_a_data_frame(index: str | None) -> None:
    """As Phoenix gives them, with the id of the span as a column or as the index."""
    rows = [
        {"context.span_id": "r", "parent_id": None, "span_kind": "CHAIN", "attributes.input.value": "first one"},
        {"context.span_id": "s", "parent_id": "r", "span_kind": "RETRIEVER", "attributes.input.value": "one"},
    ]
    for row, docs in zip(rows, (None, [{"document.id": "d2"}, {"document.id": "d1"}]), strict=True):
        row |= {"context.trace_id": "t", "name": "span", "start_time": "2024-01-01T00:00:00Z"}
        row["attributes.retrieval.documents"] = docs
    frame = pd.DataFrame(rows)
    found = evaluate_traces(
        TestSet([Query("first one", {"d1": 1}, "q1")]), frame if index is None else frame.set_index(index), "RR"
    )
    assert found.evaluations["traces"].mean["RR"] == 0.5
