"""Runs, judgments and test sets as a Python user holds them: taken from anything, looked at, compared, saved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import pandas as pd
import polars as pl
import pytest

from rankgauge import compare, evaluate, parse_measure
from rankgauge.errors import DataError, FormatError, MeasureError
from rankgauge.model import Qrels, Query, Run, TestSet

LISTS = {"q2": {"b": 0.5, "a": 0.25}, "q1": {"c": 2.0}}
GRADES = {"q1": {"c": 1, "x": 0}, "q2": {"a": 2}}


def forms(lists: dict[str, dict[str, float]], number: str) -> list[Any]:
    rows = [(query, doc, value) for query, docs in lists.items() for doc, value in docs.items()]
    names = ("query_id", "doc_id", number)
    kind = ir_measures.ScoredDoc if number == "score" else ir_measures.Qrel
    return [
        lists,
        pl.DataFrame(rows, schema=names, orient="row"),
        pd.DataFrame(rows, columns=names),
        [kind(*row) for row in rows],
        (kind(*row) for row in rows),
    ]


@pytest.mark.parametrize(("noun", "lists", "number"), [(Run, LISTS, "score"), (Qrels, GRADES, "relevance")])
def test_every_form_holds_the_same(noun: Any, lists: Any, number: str) -> None:
    for source in forms(lists, number):
        made = noun(source)
        assert made == noun(lists)
        assert made == noun(made)
        assert made["q1"] == lists["q1"]
        assert list(made) == list(lists)
        assert len(made) == 2
        assert "q1" in made
        assert "q3" not in made
        with pytest.raises(KeyError, match="has no query 'q3'"):
            made["q3"]
        made["q1"]["new"] = 1
        assert "new" not in made["q1"]


def test_what_makes_runs_differ() -> None:
    run = Run(LISTS)
    assert run == Run(dict(reversed(LISTS.items())), name="other")
    assert run != Run({**LISTS, "q1": {"c": 2.5}})
    assert run != Run({**LISTS, "q2": {"a": 0.25, "b": 0.5}}), "the order of a list may decide its ties"
    assert run != Run({**LISTS, "q3": {}}), "an empty list is not a missing one"
    assert run != LISTS
    with pytest.raises(TypeError):
        hash(run)


def test_what_makes_judgments_differ() -> None:
    qrels = Qrels(GRADES)
    assert qrels == Qrels({"q2": {"a": 2}, "q1": {"x": 0, "c": 1}})
    assert qrels != Qrels({**GRADES, "q1": {"c": 1}})
    by_subtopic = pl.DataFrame({"query": ["q", "q"], "subtopic": ["1", "2"], "doc": ["a", "a"], "grade": [1, 2]})
    assert Qrels(by_subtopic) == Qrels(by_subtopic.reverse())
    assert Qrels(by_subtopic) != Qrels({"q": {"a": 2}})
    assert Qrels(by_subtopic)["q"] == {"a": 2}


def test_representation() -> None:
    assert repr(Run(LISTS, name="bm25")) == "Run('bm25': 2 queries, 3 documents)"
    assert repr(Qrels({"q": {"a": 1}})) == "Qrels('judgments': 1 query, 1 document)"


@pytest.mark.parametrize("ending", ["run", "json", "jsonl", "csv", "tsv", "parquet", "run.gz", "json.zst"])
def test_a_run_comes_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"file.{ending}"
    Run(LISTS).save(path)
    assert Run.load(path) == Run(LISTS)


@pytest.mark.parametrize("ending", ["qrels", "json", "jsonl", "csv", "parquet"])
def test_judgments_come_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"file.{ending}"
    Qrels(GRADES).save(path)
    assert Qrels.load(path) == Qrels(GRADES)


def test_saving_refuses_what_would_be_lost(tmp_path: Path) -> None:
    test_set = TestSet([Query("how to", {"a": 1}, "1", tags=("easy",))])
    with pytest.raises(FormatError, match="cannot hold the texts of 1 query"):
        test_set.save(tmp_path / "set.qrels")
    assert not list(tmp_path.iterdir())
    test_set.save(tmp_path / "set.qrels", lossy=True)
    assert Qrels.load(tmp_path / "set.qrels") == test_set.qrels
    test_set.save(tmp_path / "set")
    assert TestSet.load(tmp_path / "set") == test_set
    with pytest.raises(FormatError, match="use a known ending, or `format=`"):
        Run(LISTS).save(tmp_path / "run")
    Run(LISTS).save(tmp_path / "run", format="trec")
    assert Run.load(tmp_path / "run") == Run(LISTS)


def test_a_test_set_is_whole_wherever_it_is_imported_from(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    code = (
        f"from rankgauge.model import Query, TestSet; TestSet([Query('text', {{'a': 1}})]).save({str(path)!r}); "
        f"print(TestSet.load({str(path)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "1 query)" in done.stdout


def test_named_rows_with_subtopics() -> None:
    rows = [
        ir_measures.Qrel("q", "a", 1, "s1"),
        ir_measures.Qrel("q", "a", 0, "s2"),
        ir_measures.Qrel("q", "b", 1, "s2"),
    ]
    assert set(Qrels(rows).frame["subtopic"]) == {"s1", "s2"}
    run = [ir_measures.ScoredDoc("q", doc, score) for doc, score in (("a", 2.0), ("b", 1.0))]
    theirs = ir_measures.calc_aggregate([ir_measures.alpha_nDCG @ 2], rows, run)
    assert evaluate(rows, run, list(theirs)).mean["alpha_nDCG@2"] == pytest.approx(*theirs.values())


def test_what_can_be_read_only_once_is_compared() -> None:
    qrels = {query: {"a": 1, "b": 0} for query in map(str, range(8))}
    runs = {"up": {query: {"a": 2.0, "b": 1.0} for query in qrels}, "down": {query: {"c": 2.0} for query in qrels}}
    once = {name: (row for row in forms(lists, "score")[3]) for name, lists in runs.items()}
    found, expected = compare(qrels, once, "RR"), compare(qrels, runs, "RR")
    assert [row.difference for row in found.rows] == [row.difference for row in expected.rows]
    assert found.unjudged == expected.unjudged


class Other(NamedTuple):
    query_id: str
    doc_id: str


def test_what_is_no_run() -> None:
    with pytest.raises(DataError, match=r"no run; .* Run.load\(path\)"):
        Run("file.run")
    with pytest.raises(DataError, match="a Run is no judgments"):
        Qrels(Run(LISTS))
    with pytest.raises(DataError, match="a list is no run"):
        Run([("q", "a", 1.0)])
    with pytest.raises(DataError, match="no column for 'score'"):
        Run([Other("q", "a")])
    with pytest.raises(DataError, match="rows are of several kinds"):
        Run([Other("q", "a"), ir_measures.ScoredDoc("q", "b", 1.0)])


MEASURES = [
    ir_measures.nDCG @ 10,
    ir_measures.nDCG(dcg="exp-log2") @ 5,
    ir_measures.nDCG(gains={0: 0, 1: 3}) @ 5,
    ir_measures.AP(rel=2),
    ir_measures.AP,
    ir_measures.P(rel=2, judged_only=True) @ 5,
    ir_measures.RR,
    ir_measures.R @ 3,
    ir_measures.SetP(relative=True),
    ir_measures.IPrec @ 0.1,
    ir_measures.SetF(beta=2.0),
    ir_measures.Success @ 1,
    ir_measures.RBP(p=0.9, rel=1),
]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_measures_of_ir_measures_are_taken_as_they_are(measure: Any) -> None:
    qrels = {"q1": {"a": 2, "b": 1, "c": 0, "d": 1}, "q2": {"a": 1, "x": 2}}
    run = {"q1": {"a": 0.5, "c": 0.75, "b": 0.25, "y": 0.125}, "q2": {"x": 1.0, "a": 0.5, "z": 0.75}}
    result = evaluate(qrels, run, measure, contract="ir_measures")
    assert list(result.mean.values()) == [result.mean[measure]]
    if "exp-log2" not in str(measure):  # its only provider needs perl
        assert result.mean[measure] == pytest.approx(ir_measures.calc_aggregate([measure], qrels, run)[measure])
    assert evaluate(qrels, run, [measure, "P@1"]).mean[measure] is not None


class Gone(ir_measures.measures.Measure):  # type: ignore[misc]
    NAME = __name__ = "Gone"


def test_measures_that_are_none() -> None:
    with pytest.raises(MeasureError, match="'7' is no measure; example: nDCG@10"):
        parse_measure(7)
    with pytest.raises(MeasureError, match="unknown measure 'Gone'"):
        parse_measure(Gone(cutoff=10))
    with pytest.raises(MeasureError, match="nDCG has no parameter 'base'"):
        parse_measure(ir_measures.nDCG(base=2))
