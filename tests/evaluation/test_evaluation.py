"""`evaluate`: same result whatever the input kind, nothing changed, means under any spelling, and the record."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgauge
from rankgauge import Contract, Qrels, RankgaugeError, Run, TestSet, evaluate
from rankgauge.errors import ContractError, DataError, MeasureError
from rankgauge.record import Record

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d1": 1}, "q3": {"d9": 1}, "q4": {"d1": 0}}
RUN = {
    "q1": {"d3": 0.9, "d7": 0.9, "d1": 0.5, "d2": 0.1},
    "q2": {"d4": 3.0, "d1": 2.0},
    "q4": {"d1": 1.0},
    "q8": {"d1": 1.0},
}
MEASURES = ["nDCG@10", "AP", "RR", "R@2,3", "P@2", "Judged@2", "NumRet", "F1@3"]


def rows(source: dict, number: str) -> list[tuple]:
    return [(query, doc, value) for query, docs in source.items() for doc, value in docs.items()]


def inputs(tmp_path: Path) -> dict[str, tuple]:
    qrels, run = rows(QRELS, "grade"), rows(RUN, "score")
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in qrels))
    (tmp_path / "run.txt").write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in run))
    frame = pl.DataFrame(qrels, schema=["query_id", "doc_id", "relevance"], orient="row")
    frame2 = pl.DataFrame(run, schema=["qid", "docno", "score"], orient="row")
    pandas, pandas2 = (pd.DataFrame(f.to_dict(as_series=False)) for f in (frame, frame2))
    return {
        "dictionaries": (QRELS, RUN),
        "nouns": (Qrels(QRELS), Run(RUN)),
        "polars": (frame, frame2),
        "lazy polars": (frame.lazy(), frame2.lazy()),
        "pandas": (pandas, pandas2),
        "pyarrow": (pa.table(frame.to_dict(as_series=False)), pa.table(frame2.to_dict(as_series=False))),
        "paths": (tmp_path / "qrels.txt", str(tmp_path / "run.txt")),
        "mixed": (tmp_path / "qrels.txt", RUN),
        "shuffled frame": (
            frame.sample(fraction=1, shuffle=True, seed=1),
            frame2.sample(fraction=1, shuffle=True, seed=2),
        ),
    }


def test_same_result_whatever_the_input(tmp_path: Path) -> None:
    wanted = evaluate(QRELS, RUN, MEASURES)
    assert wanted.mean["nDCG@10"] > 0
    for kind, (qrels, run) in inputs(tmp_path).items():
        result = evaluate(qrels, run, MEASURES)
        assert result.mean == wanted.mean, kind
        assert result.per_query.sort("query").equals(wanted.per_query.sort("query")), kind
        assert result.coverage == wanted.coverage, kind
        assert result.warnings == wanted.warnings, kind


def test_inputs_are_not_changed(tmp_path: Path) -> None:
    for kind, pair in inputs(tmp_path).items():
        if kind == "paths":
            continue
        before = copy.deepcopy(pair)
        evaluate(*pair, MEASURES, contract="beir", duplicates="first")
        for old, new in zip(before, pair, strict=True):
            same = old.equals(new) if hasattr(old, "equals") else old == new if isinstance(old, dict) else True
            assert same, kind


def test_numbers_as_ids(tmp_path: Path) -> None:
    by_number = evaluate({1: {10: 1}}, {1: {10: 0.5, 11: 0.7}}, "RR")
    assert by_number.mean["RR"] == 0.5
    frame = pd.DataFrame({"query": [1, 1], "doc": [10, 11], "score": [0.5, 0.7]})
    assert evaluate({"1": {"10": 1}}, frame, "RR").mean["RR"] == 0.5
    gaps = pd.DataFrame({"query": [1.0, 1.0], "doc": [10.0, 11.0], "grade": [1, 0]})
    assert evaluate(gaps, {"1": {"10": 0.5}}, "RR").mean["RR"] == 1.0
    assert evaluate({np.int64(1): {np.int64(10): 1}}, {"1": {"10": 0.5}}, "RR").mean["RR"] == 1.0


def test_means_under_any_spelling() -> None:
    result = evaluate(QRELS, RUN, ["nDCG@10", "P(rel=2)@5"])
    assert result.mean["nDCG@10"] == result.mean["ndcg_cut_10"] == result.mean["NDCG@10"]
    assert list(result.mean) == ["nDCG@10", "P(rel=2)@5"]
    assert result.interval["ndcg_cut_10"] == result.interval["nDCG@10"]
    with pytest.raises(KeyError, match="was not measured"):
        result.mean["AP"]
    with pytest.raises(KeyError, match="unknown measure"):
        result.mean["nonsense"]
    raised = evaluate(QRELS, RUN, ["P@5", "nDCG@10"], rel=2)
    assert list(raised.mean) == ["P(rel=2)@5", "nDCG@10"]
    assert raised.mean["P@5"] == result.mean["P(rel=2)@5"]


def test_missing_queries() -> None:
    zero = evaluate(QRELS, RUN, "RR")
    assert zero.coverage.missing == 1
    assert zero.mean["RR"] == pytest.approx((1 / 2 + 1 / 2 + 0 + 0) / 4)  # d7 ties with d3 and has the greater id
    skip = evaluate(QRELS, RUN, "RR", missing="skip")
    assert skip.mean["RR"] == pytest.approx(zero.mean["RR"] * 4 / 3)
    assert len(skip.per_query) == 3
    with pytest.raises(ContractError, match="'q3'"):
        evaluate(QRELS, RUN, "RR", missing="error")
    counted = evaluate(QRELS, RUN, "RR", missing="skip", no_relevant="skip")
    assert counted.mean["RR"] == pytest.approx(skip.mean["RR"] * 3 / 2)
    assert any("missing from the run: 1 of 4 judged queries" in warning for warning in zero.warnings)
    assert zero.coverage.no_relevant == 1
    assert zero.coverage.not_judged == 1


def test_a_query_with_an_empty_list_is_not_missing() -> None:
    result = evaluate({"a": {"d": 1}, "b": {"d": 1}}, {"a": {}, "b": {"d": 1.0}}, ["RR", "NumRet"], missing="skip")
    assert result.coverage.missing == 0
    assert result.mean["RR"] == 0.5


def test_warnings_of_inflated_variants_and_ties() -> None:
    result = evaluate(
        QRELS, RUN, ["nDCG(ideal='retrieved')@5", "P(over='returned')@5", "AP(grades='linear', max_grade=2)"]
    )
    text = "\n".join(result.warnings)
    for name in ("nDCG(ideal='retrieved')@5", "P(over='returned')@5", "AP(grades='linear', max_grade=2)"):
        assert f"{name}: " in text
    assert "share their score" in text


def test_only_relevant_documents_say_nothing_of_judged() -> None:
    test_set = TestSet.from_annotations(["a"], [["d1"]])
    result = evaluate(test_set, {"a": {"d1": 1.0, "d2": 0.5}}, "P@2")
    assert result.coverage.judged_at == {}
    assert "evaluation.only_relevant" in [note.key for note in result.record.systems[0].notes]


def test_depth_cuts_through_a_tie() -> None:
    """One of two tied documents fits: it is there half of the time."""
    qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0, "b": 1.0}}
    measures = ["R", "Success@5", "NumRelRet", "SetR", "RR", "AP", "Bpref"]
    result = evaluate(qrels, run, measures, ties="expected", depth=2)
    assert list(result.mean.values())[:4] == [0.5] * 4
    assert (result.mean["RR"], result.mean["AP"]) == (0.25, 0.25)
    assert result.mean["Bpref"] == pytest.approx(0.5, abs=0.15)  # sampled


def test_ids_that_never_meet_are_pointed_out() -> None:
    result = evaluate({"q": {"d1": 1}}, {"q": {"d1#0": 1.0}}, "RR")
    assert any("'d1#0'" in warning and "collapse_chunks" in warning for warning in result.warnings)


def test_intervals_stay_within_what_a_measure_can_be() -> None:
    result = evaluate({"a": {"d": 1}, "b": {"d": 1}}, {"a": {"d": 1.0}, "b": {"x": 2.0, "d": 1.0}}, ["RR", "DCG"])
    interval = result.interval["RR"]
    assert interval is not None
    assert (interval.low, interval.high) == (0.0, 1.0)
    assert result.interval["DCG"].low < 0


def test_record(tmp_path: Path) -> None:
    made = evaluate(QRELS, RUN, MEASURES, name="mine").record
    record = json.loads(made.to_json())
    assert record["version"] == 2
    assert Record.from_dict(record) == made
    made.save(tmp_path / "record.json")
    assert Record.load(tmp_path / "record.json") == made
    assert record["contract"]["ties"] == "trec"
    system = record["systems"][0]
    assert system["name"] == "mine"
    assert len(system["per_query"]["AP"]) == len(record["queries"]) == 4
    entry = system["means"]["AP"]
    assert entry["interval"]["low"] < entry["value"] < entry["interval"]["high"]
    for broken in ({}, {"format": "rankgauge.record", "version": 99}, [], record | {"version": 1}):
        with pytest.raises(RankgaugeError):
            Record.from_dict(broken, "x")


def test_collapse_chunks() -> None:
    run = {"q": {"d2#0": 0.9, "d1#3": 0.8, "d1#0": 0.7, "d2#1": 0.1}}
    by_regex = evaluate({"q": {"d1": 1}}, run, ["RR", "NumRet"], collapse_chunks=r"^(.*)#\d+$")
    assert by_regex.mean["RR"] == 0.5
    assert by_regex.mean["NumRet"] == 2
    assert by_regex.contract.collapse == r"regex ^(.*)#\d+$"
    by_mapping = evaluate({"q": {"d1": 1}}, run, "RR", collapse_chunks={c: c[:2] for c in run["q"]})
    assert by_mapping.mean["RR"] == 0.5
    with pytest.raises(DataError, match="no document under the rule"):
        evaluate({"q": {"d1": 1}}, run, "RR", collapse_chunks=r"^x(.*)$")
    with pytest.raises(DataError, match="no regular expression"):
        evaluate({"q": {"d1": 1}}, run, "RR", collapse_chunks="(")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"measures": ["ndgc@10"]}, MeasureError),
        ({"measures": []}, MeasureError),
        ({"contract": "nonsense"}, ContractError),
        ({"contract": 7}, ContractError),
        ({"ties": "random"}, ContractError),
        ({"depth": 0}, ContractError),
        ({"measures": ["R(budget=100)"]}, DataError),
        ({"tokenizer": len}, RankgaugeError),
        ({"stream": True}, RankgaugeError),
        ({"measures": ["R(budget=100)"], "corpus": {}, "ties": "expected"}, ContractError),
        ({"measures": ["alpha_nDCG@10"]}, DataError),
        ({"measures": ["ERR(max_grade=1)@10"]}, DataError),
    ],
)
def test_bad_requests(change: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        evaluate(QRELS, RUN, **{"measures": ["AP"], **change})


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q": {"d": float("nan")}}, RUN),
        ({"q": {"d": "high"}}, {"q": {"d": 1.0}}),
        ({"q": {"d": None}}, {"q": {"d": 1.0}}),
        (QRELS, {"q1": {"d1": float("inf")}}),
        (QRELS, {"q1": {"d1": 1.0}, "zz": {"d": float("nan")}}),
        (QRELS, {"q1": {"": 1.0}}),
        ({"q": {"": 1}}, {"q": {"d": 1.0}}),
        (QRELS, {}),
        ({}, RUN),
        (QRELS, {"x": {"d": 1.0}}),
        (QRELS, {"q1": 7}),
        (QRELS, 7),
        (7, RUN),
        ({"q1": [["d1"]]}, RUN),
        ({"q1": "d1"}, RUN),
        (QRELS, {"q1": ["d1", "d1"]}),
        (QRELS, {"q1": ["d1", ("d2", 0.5)]}),
        (QRELS, {"q1": [["d1"], ["d2"]]}),
        ({"q1": {"d1": 10**400}}, {"q1": ["d1"]}),
        (QRELS, pd.DataFrame([["q1", "d1", 1.0, 1.0]], columns=["query_id", "doc_id", "score", "score"])),
        ({"7": {"a": 1}, 7: {"a": 2}}, RUN),
        (QRELS, {"q1": {"d1": 1.0}, 2.5: {"d1": 1.0}}),
        (pl.DataFrame({"a": [1]}), RUN),
        (QRELS, pl.DataFrame({"query": ["q1"], "doc": [None], "score": [1.0]})),
        (QRELS, pl.DataFrame({"query": ["q1"], "doc": ["d1"], "score": ["x"]})),
        (pl.DataFrame({"query": ["q1", "q1"], "doc": ["d", "d"], "grade": [1, 2]}), RUN),
    ],
)
def test_bad_data(qrels: object, run: object) -> None:
    with pytest.raises(RankgaugeError) as caught:
        evaluate(qrels, run, "AP")
    assert str(caught.value)


def test_contract_from_a_dictionary() -> None:
    contract = Contract(ties="given", depth=5)
    assert Contract.from_dict(contract.to_dict()) == contract
    with pytest.raises(ContractError, match="has no 'colour'"):
        contract.with_changes(colour="red")


def test_measures_by_entry_point(tmp_path: Path) -> None:
    """A package that is merely installed adds its measures."""
    (tmp_path / "deep.py").write_text(
        "from rankgauge.measures import Definition\n"
        "depth = Definition('ListLength', lambda ranked, measure: ranked.retrieved.astype(float), 'n')\n"
    )
    info = tmp_path / "deep-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: deep\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rankgauge.measures]\ndeep = deep:depth\n")
    code = (
        "import rankgauge; print(rankgauge.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0, 'e': 0.5}}, 'listlength').mean)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=True,
    )
    assert done.stdout.strip() == "{'ListLength': 2.0}"


def test_measures_from_outside() -> None:
    from rankgauge.measures import Definition, register
    from rankgauge.measures.registry import unregister

    mine = Definition("Depth", lambda ranked, measure: ranked.retrieved.astype(float), "n", spellings=("how deep",))
    register(mine)
    try:
        result = evaluate(QRELS, RUN, ["how deep"])
        assert result.mean["Depth"] == pytest.approx(7 / 4)
        assert result.sentences()["Depth"]
        with pytest.raises(MeasureError, match="already taken"):
            register(mine)
    finally:
        unregister("Depth")
    assert rankgauge.parse_measure("AP")


@pytest.mark.parametrize(
    "docs",
    [
        ["d2", "d1"],
        ("d2", "d1"),
        np.array(["d2", "d1"]),
        pl.Series(["d2", "d1"]),
        [("d1", 1.0), ("d2", 3.5)],
    ],
)
def test_lists_of_many_kinds(docs: object) -> None:
    same = evaluate({"q1": {"d1": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, "AP")
    assert evaluate({"q1": ["d1"]}, {"q1": docs}, "AP").mean == same.mean
    assert evaluate({"q1": {"d1"}}, {"q1": (doc for doc in ("d2", "d1"))}, "AP").mean == same.mean


@pytest.mark.parametrize(
    "docs", [{"d": "1"}, {"d": "1", "e": 2.0}, {"d": 1.0, "e": "2"}, {"d": 2.0, "e": b"1"}, {"d": "10", "e": "9"}]
)
@pytest.mark.parametrize("native", ["0", "1"])
def test_scores_that_are_texts(docs: dict[str, Any], native: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared as texts, 9 would be more than 10."""
    monkeypatch.setenv("RANKGAUGE_NATIVE", native)
    with pytest.raises(DataError, match=r"query 'a', document '[de]': score b?'\d+' is no finite number"):
        evaluate({"a": {"d": 1}}, {"a": docs}, ["RR"])
