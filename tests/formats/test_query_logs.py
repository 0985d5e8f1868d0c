"""Logs of searches as teams keep them, and labels as tables."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from rankgauge import Label, Query, TestSet, load_labels, save_labels
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.query_logs import load_query_log
from rankgauge.formats.secrets import masked
from rankgauge.model.query_log import LoggedQuery


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.csv", "search_term,num_results,clicks,top_score\na  b,0,2,\nc,1,,0.5\n"),
        ("log.csv", "search_term;num_results;clicks;top_score\r\na  b;0;2;\r\nc;1;;0,5\r\n"),
        ("log.tsv", "Query\tHits\tclicked\tscore\na b\t0\t2\t\nc\t1\t\t0.5\n"),
        (
            "log.jsonl",
            '{"q": "a b", "results": [], "clicks": ["x", "y"]}\n{"q": "c", "results": [{"id": "d", "score": 0.5}]}\n',
        ),
    ],
)
def test_columns_by_many_names(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    found = load_query_log(tmp_path / name)
    assert [(one.text, one.results, one.score) for one in found] == [("a b", 0, None), ("c", 1, 0.5)]
    assert found[0].clicks == 2
    assert not found[1].clicks


def test_parquet_and_own_names(tmp_path: Path) -> None:
    frame = pl.DataFrame({"phrase": ["a", None, "b"], "n": [3, 1, 2], "ok": ["200", "200", "500"]})
    frame.write_parquet(path := tmp_path / "log.parquet")
    found = load_query_log(path, {"text": "phrase", "count": "n", "status": "ok"})
    assert found == [LoggedQuery("a", 3), LoggedQuery("", 1), LoggedQuery("b", 2, failed=True)]
    with pytest.raises(FormatError, match="no column holds the queries among 'phrase', 'n', 'ok'"):
        load_query_log(path)
    with pytest.raises(FormatError, match="no column 'x'"):
        load_query_log(path, {"text": "x"})
    with pytest.raises(DataError, match="none of text, count"):
        load_query_log(path, {"query": "phrase"})


@pytest.mark.parametrize(
    ("cells", "failed"),
    [
        ({"error": "timed out"}, True),
        ({"error": ""}, False),
        ({"error": None}, False),
        ({"status": "error"}, True),
        ({"status": 503}, True),
        ({"status": "200"}, False),
        ({"feedback": "thumbs_down"}, True),
        ({"feedback": -1}, True),
        ({"feedback": 1}, False),
    ],
)
def test_what_failed(cells: dict[str, object], failed: bool, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps({"query": "a", **cells}) + "\n")
    assert load_query_log(tmp_path / "log.jsonl")[0].failed is failed


@pytest.mark.parametrize(
    ("clicks", "n"), [("", 0), ("0", 0), ("3", 3), ("true", 1), ("no", 0), ("doc-17", 1), ("none", None)]
)
def test_clicks(clicks: str, n: int | None, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(f'query,clicks\na,"{clicks}"\n')
    assert (load_query_log(tmp_path / "log.csv")[0].clicks or 0) == (n or 0)


def test_an_empty_log_is_told_what_a_log_looks_like(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text("")
    with pytest.raises(FormatError, match='"opening hours", "result_count": 0, "clicks": 0') as error:
        load_query_log(tmp_path / "log.jsonl")
    assert masked(str(error.value)) == str(error.value)


def test_faults_name_their_lines(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("query,results\na,0\nb,-1\nc,many\n")
    with pytest.raises(FormatError) as caught:
        load_query_log(tmp_path / "log.csv")
    assert [fault.line for fault in caught.value.faults] == [3, 4]  # type: ignore[union-attr]
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(FormatError):
        load_query_log(tmp_path / "empty.csv")
    (tmp_path / "log.run").write_text("q1 Q0 d1 1 0.5 x\n")
    with pytest.raises(FormatError, match="table with named columns"):
        load_query_log(tmp_path / "log.run")
    (tmp_path / "list.json").write_text("[1, 2]")
    with pytest.raises(FormatError, match="a search is an object"):
        load_query_log(tmp_path / "list.json")


def test_traces_are_searches(tmp_path: Path) -> None:
    (tmp_path / "traces.jsonl").write_text(
        '{"query_id": "q1", "calls": [{"query": "a", "results": []}, {"query": "b", "results": ["d"]}]}\n'
    )
    assert load_query_log(tmp_path / "traces.jsonl") == [LoggedQuery("a", results=0), LoggedQuery("b", results=1)]


# --- labels as tables -------------------------------------------------------------------------------------------------


def test_labels_from_tables(tmp_path: Path) -> None:
    rows = ["qid,docno,rating,annotator,comment", "q1,d1,2,ana,good", "q1,d2,,ana,", "q2,d1,0,,", ""]
    (tmp_path / "sheet.csv").write_text("\n".join(rows))
    assert list(load_labels(tmp_path / "sheet.csv")) == [
        Label("q1", "d1", 2, "ana", reason="good"),
        Label("q2", "d1", 0, "sheet.csv"),
    ]
    assert load_labels(tmp_path / "sheet.csv", judge="bo")[1].judge == "bo"
    frame = pl.DataFrame({"query": ["q1"], "doc": ["d1"], "grade": [1.5], "kind": ["model"]})
    frame.write_parquet(tmp_path / "m.parquet")
    assert list(load_labels(tmp_path / "m.parquet")) == [Label("q1", "d1", 1.5, "m.parquet", "model")]
    (tmp_path / "bad.csv").write_text("query,doc,grade\nq1,d1,good\n,d1,1\nq1,d1,1\n")
    with pytest.raises(FormatError) as caught:
        load_labels(tmp_path / "bad.csv")
    assert [fault.line for fault in caught.value.faults] == [2, 3]  # type: ignore[union-attr]


def test_labels_of_a_test_set(tmp_path: Path) -> None:
    label = Label("q1", "d1", 2, "ana", time="2026-01-01T00:00:00Z")
    TestSet([Query("text", {}, "q1")]).with_labels([label]).save(tmp_path / "set.json")
    assert list(load_labels(tmp_path / "set.json")) == [label]
    save_labels(load_labels(tmp_path / "set.json"), tmp_path / "one.jsonl")
    assert list(load_labels(tmp_path / "one.jsonl")) == [label]


def test_queries_alone_are_a_test_set(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("q1\treset password\nq2\tbilling\n")
    found = TestSet.load(tmp_path / "queries.tsv", "queries")
    assert [(query.id, query.text, dict(query.grades)) for query in found] == [
        ("q1", "reset password", {}),
        ("q2", "billing", {}),
    ]


def test_labels_as_excel_saves_them(tmp_path: Path) -> None:
    """Where commas stand for decimals, semicolons separate."""
    (tmp_path / "l.csv").write_bytes("\ufeffquery;doc;grade;judge\r\nq;d;1,5;ana\r\n".encode())
    assert [(one.grade, one.judge) for one in load_labels(tmp_path / "l.csv")] == [(1.5, "ana")]
