"""What a Python user touches: every capability by one name, results that show and keep themselves, any spelling."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import rankgauge
from rankgauge import Record, compare, compare_scores, evaluate
from rankgauge.errors import DataError, RankgaugeError

QRELS = {f"q{i}": {"d1": 1, "d2": 0} for i in range(12)}
RUNS = {
    "a": {q: {"d2": 2.0, "d1": 1.0} for q in QRELS},
    "b": {q: {"d1": 2.0, "d2": 1.0} for q in QRELS},
}
FUNCTIONS = [
    name
    for name in rankgauge.__all__
    if callable(getattr(rankgauge, name)) and not inspect.isclass(getattr(rankgauge, name))
]


def test_options_are_named() -> None:
    """Completion works: no function takes whatever comes."""
    for name in FUNCTIONS:
        kinds = [p.kind for p in inspect.signature(getattr(rankgauge, name)).parameters.values()]
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name


@pytest.mark.parametrize(
    ("name", "given", "typo", "meant"),
    [
        ("evaluate", (QRELS, RUNS["a"]), "misssing", "missing"),
        ("compare", (QRELS, RUNS), "baselin", "baseline"),
        ("compare_scores", ({"a": [1.0], "b": [2.0]},), "alhpa", "alpha"),
        ("compare_stored", (["x.json"],), "forced", "force"),
        ("evaluate_retriever", (None, None), "concurency", "concurrency"),
        ("sweep", (None, {}, None), "fold", "folds"),
        ("gate", (None,), "maxloss", "max_loss"),
        ("power", (), "quries", "queries"),
        ("judge_next", (QRELS, RUNS), "numbr", "number"),
    ],
)
def test_a_misspelt_argument_says_what_was_meant(name: str, given: tuple[Any, ...], typo: str, meant: str) -> None:
    with pytest.raises(DataError, match=rf"has no parameter '{typo}'; did you mean {meant}\?"):
        getattr(rankgauge, name)(*given, **{typo: 1})


def test_any_spelling_of_a_measure() -> None:
    result = evaluate(QRELS, RUNS["a"], ["map", "recip_rank", "ndcg_cut_10"])
    assert result.per_query["map"].to_list() == result.per_query["AP"].to_list() == [0.5] * 12
    assert result.per_query["MAP"].to_list() == [0.5] * 12
    with pytest.raises(KeyError, match="was not measured"):
        result.per_query["P_5"]
    found = compare(QRELS, RUNS, ["RR", "nDCG@10"])
    assert found.row("recip_rank", "a", "b") == found.row("RR", "a", "b") == found.rows[0]
    with pytest.raises(KeyError, match="were not compared"):
        found.row("P@5", "a", "b")


def test_results_are_frames() -> None:
    frame = evaluate(QRELS, RUNS["a"], ["AP", "NumRelRet"]).to_frame()
    assert frame["measure"].to_list() == ["AP", "NumRelRet"]
    assert frame["mean"].to_list() == [0.5, 12.0]
    assert frame["low"].to_list()[1] is None
    rows = compare(QRELS, RUNS, ["AP"]).to_frame()
    assert rows.row(0, named=True)["verdict"] == "better"
    assert rows["low"][0] > 0


@pytest.mark.parametrize("ending", ["html", "md", "tex", "csv", "txt"])
def test_results_show_and_keep_themselves(ending: str, tmp_path: Path) -> None:
    for result in (
        evaluate(QRELS, RUNS["a"]),
        compare(QRELS, RUNS),
        compare_scores({"a": [0.1, 0.2], "b": [0.3, 0.4]}),
    ):
        result.save(tmp_path / "record.json")
        kept = Record.load(tmp_path / "record.json")
        assert kept == result.record
        assert json.loads(result.to_json())["version"] == 2
        text = result.report(tmp_path / f"report.{ending}", language="zh")
        assert (tmp_path / f"report.{ending}").read_text() == text
        assert text
        if ending != "html":  # a page says when it was made
            assert kept.report(format=None, language="zh") == result.report(language="zh")


def test_what_cannot_be_shown_is_said(tmp_path: Path) -> None:
    result = evaluate(QRELS, RUNS["a"])
    with pytest.raises(RankgaugeError, match="unknown language 'fr'; known are: en, zh"):
        result.report(language="fr")
    with pytest.raises(RankgaugeError, match="unknown report format 'htm'; did you mean 'html'"):
        result.report(format="htm")
    with pytest.raises(RankgaugeError, match="pdf"):
        result.report(tmp_path / "report.pdf")
    with pytest.raises(RankgaugeError, match="unknown language"):
        result.sentences("fr")  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="unknown language"):
        rankgauge.explain("AP", "fr")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_files_are_known_again(tmp_path: Path) -> None:
    """Records of files made in Python can be gated and verified like those of the commands."""
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 0 {s} {name}\n" for q, docs in run.items() for d, s in docs.items())
        (tmp_path / name).write_text("".join(lines))
    single = evaluate(tmp_path / "qrels", tmp_path / "a", name="a").record
    assert sorted(single.provenance.inputs) == ["judgments", "run:a"]
    assert all(finding.holds for finding in rankgauge.verify(single))
    both = compare(str(tmp_path / "qrels"), {name: tmp_path / name for name in RUNS}, ["AP"]).record
    assert sorted(both.provenance.inputs) == ["judgments", "run:a", "run:b"]
    assert all(finding.holds for finding in rankgauge.verify(both))
    better = evaluate(tmp_path / "qrels", tmp_path / "b", name="a").record
    result = rankgauge.gate(better, single)
    assert result.status == "pass"
    assert not [note.key for note in result.remarks if "hash" in note.key]
    (tmp_path / "qrels").write_text("q0 0 d1 0\n")
    assert not all(finding.holds for finding in rankgauge.verify(single))


def test_a_changed_wording_changes_no_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`verify` compares numbers and keys: what the texts say has no part in it."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 0 1 r\nq2 Q0 d2 0 1 r\n")
    record = evaluate(tmp_path / "qrels", tmp_path / "run").record
    assert record.systems[0].notes
    texts = sys.modules["rankgauge.words.say"]
    known = texts._texts
    monkeypatch.setattr(texts, "_texts", lambda *of: {key: f"{text}!" for key, text in known(*of).items()})
    assert record.systems[0].notes[0].sentence().endswith("!")
    assert all(finding.holds for finding in rankgauge.verify(record))
