"""trec_eval's own test suite: every line of its expected outputs, letter by letter."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge.evaluation.trec_eval import TrecEval, trec_lines, trec_measures
from rankgauge.formats import Source, load_qrels, open_run
from rankgauge.formats.trec import first_tag
from tests.cli.command import run_command

PARAMETERS = [
    "iprec_at_recall..10,.20,.25,.75,.50",
    "P.5,7,3",
    "recall.20,2000",
    "Rprec_mult.5.0,0.2,0.35",
    "utility.2,-1,0,0",
    "11pt_avg..25,.5,.75",
    "ndcg.1=3,2=9,4=4.5",
    "ndcg_cut.10,20,23.4",
    "success.2,5,20",
]
# expected output, judgments, run, measures, flags
CASES = [
    ("out.test", "qrels.test", "results.test", ["official"], {}),
    ("out.test", "qrels.test.with-comments", "results.test", ["official"], {}),
    ("out.test.a", "qrels.test", "results.test", ["all_trec"], {}),
    ("out.test.aq", "qrels.test", "results.test", ["all_trec"], {"per_query": True}),
    ("out.test.aqc", "qrels.test", "results.trunc", ["all_trec"], {"per_query": True, "complete": True}),
    ("out.test.aqcM", "qrels.test", "results.trunc", ["all_trec"], {"per_query": True, "complete": True, "depth": 100}),
    ("out.test.aql", "qrels.rel_level", "results.test", ["all_trec", "relstring.20"], {"per_query": True, "level": 2}),
    ("out.test.meas_params", "qrels.test", "results.test", PARAMETERS, {"per_query": True}),
]


def lines(folder: Path, qrels: str, run: str, measures: list[str], flags: TrecEval) -> list[str]:
    source = Source(folder / run)
    return trec_lines(load_qrels(folder / qrels), open_run(source), measures, flags, tag=first_tag(source))


@pytest.mark.parametrize(("expected", "qrels", "run", "measures", "flags"), CASES)
def test_version_10(data: Path, expected, qrels, run, measures, flags) -> None:
    folder = data / "trec_eval"
    assert lines(folder, qrels, run, measures, TrecEval(**flags)) == (folder / expected).read_text().splitlines()


@pytest.mark.parametrize(("expected", "qrels", "run", "measures", "flags"), CASES)
def test_version_9(data: Path, expected, qrels, run, measures, flags) -> None:
    folder = data / "trec_eval"
    wanted = (folder / "v9" / expected).read_text().splitlines()
    assert lines(folder, qrels, run, measures, TrecEval(**flags, version="trec_eval9")) == wanted


def test_command_takes_trec_evals_flags(data: Path) -> None:
    folder = data / "trec_eval"
    done = run_command(
        "trec_eval", "-q", "-c", "-M100", "-m", "all_trec", folder / "qrels.test", folder / "results.trunc"
    )
    assert done.stdout == (folder / "out.test.aqcM").read_text()
    done = run_command(
        "trec_eval",
        "-m",
        "all_trec",
        "-mrelstring.20",
        "-q",
        "-l2",
        folder / "qrels.rel_level",
        folder / "results.test",
    )
    assert done.stdout == (folder / "out.test.aql").read_text()


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (["P.5,10", "P.20"], ["P_5", "P_10", "P_20"]),
        (["P_20", "P.10,5", "P.10"], ["P_5", "P_10", "P_20"]),
        (["iprec_at_recall..5", "iprec_at_recall_0.10"], ["iprec_at_recall_0.10", "iprec_at_recall_0.50"]),
        (["set_F.0.5", "set_F.2"], ["set_F_0.5", "set_F_2"]),
        (["relstring.3", "relstring.5"], ["relstring_3", "relstring_5"]),
        (["P", "P.7"], ["P_7"]),
        (["P.7", "P"], ["P_7"]),
    ],
)
def test_parameters_of_one_measure_are_put_together(asked: list[str], names: list[str]) -> None:
    assert [line.name for line in trec_measures(asked, TrecEval())[0]] == names


def test_evaluate_prints_trec_evals_lines(data: Path) -> None:
    folder = data / "trec_eval"
    done = run_command(
        "evaluate",
        folder / "qrels.test",
        folder / "results.test",
        "--format",
        "trec_eval",
        "-m",
        "nDCG@10",
        "-m",
        "AP",
        "-m",
        "num_rel_ret",
        "-m",
        "iprec_at_recall_0.60",
    )
    wanted = {line.split("\t")[0].strip(): line for line in (folder / "out.test.a").read_text().splitlines()}
    names = ["ndcg_cut_10", "map", "num_rel_ret", "iprec_at_recall_0.60"]
    assert done.stdout.splitlines() == [wanted[name] for name in names]
