"""The drop-in import gives what pytrec_eval gives: its own cases, real runs, every measure, its quirks."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval as theirs

from rankgauge import RankgaugeError
from rankgauge.compat import pytrec_eval as ours

UNSAID = {"runid", "relstring"}
"""pytrec_eval gives 0 for these texts."""


def agree(qrels: Any, run: Any, measures: set[str], **flags: Any) -> dict[str, dict[str, float]]:
    """Ours, after a look that it has the same queries, names and figures as theirs."""
    expected = theirs.RelevanceEvaluator(qrels, measures, **flags).evaluate(run)
    got = ours.RelevanceEvaluator(qrels, measures, **flags).evaluate(run)
    assert set(got) == set(expected)
    for query, values in expected.items():
        wanted = {name: value for name, value in values.items() if name not in UNSAID}
        assert got[query] == pytest.approx(wanted, rel=1e-12, abs=1e-12), query
    return got


def test_the_same_names() -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert all(ours.supported_nicknames[name] == theirs.supported_nicknames[name] for name in ours.supported_nicknames)


@pytest.mark.needs("data")
def test_its_own_cases(data: Path) -> None:
    for case in json.loads((data / "pytrec_eval" / "expected_cases.json").read_text())["cases"]:
        got = ours.RelevanceEvaluator(case["qrels"], {case["measure"]}).evaluate(case["run"])
        assert got[case["query"]][case["measure"]] == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.needs("data")
@pytest.mark.parametrize("level", [1, 2])
def test_every_measure_on_a_real_run_with_ties(data: Path, level: int) -> None:
    folder = data / "robust03"
    files = (folder / name for name in ("qrels.txt.gz", "rutcor03100.run.gz"))
    lines, run_lines = (gzip.decompress(path.read_bytes()).decode().splitlines() for path in files)
    qrels, run = ours.parse_qrel(lines), ours.parse_run(run_lines)
    assert qrels == theirs.parse_qrel(lines)
    assert run == theirs.parse_run(run_lines)
    got = agree(qrels, run, theirs.supported_measures, relevance_level=level)
    for name in next(iter(got.values())):
        values = [scores[name] for scores in got.values()]
        expected = theirs.compute_aggregated_measure(name, values)
        assert ours.compute_aggregated_measure(name, values) == pytest.approx(expected, rel=1e-12)


def test_odd_inputs_and_spellings() -> None:
    draw = random.Random(7)
    docs = [f"d{i}" for i in range(12)]
    for _ in range(60):
        qrels = {f"q{i}": {d: draw.randint(-1, 3) for d in draw.sample(docs, 6)} for i in range(3)} | {"none": {}}
        run = {f"q{i}": {d: draw.randint(0, 3) / 2 for d in draw.sample(docs, draw.randint(0, 9))} for i in range(1, 5)}
        agree(qrels, run, {"map", "ndcg_cut.3,5", "ndcg_cut_2", "P_5", "recall.10", "recip_rank", "set_F", "gm_map"})
        agree(qrels, run, {"map", "ndcg", "bpref"}, judged_docs_only_flag=True)
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate({}) == {}


def test_scores_are_compared_as_float32() -> None:
    run = {"q": {"a": 1.0, "b": 1.0 + 1e-9}}
    assert agree({"q": {"a": 1}}, run, {"recip_rank"})["q"]["recip_rank"] == 0.5
    assert agree({"q": {"b": 1}}, run, {"recip_rank"})["q"]["recip_rank"] == 1.0


@pytest.mark.parametrize(
    ("measures", "level", "words"),
    [({"nope"}, 1, "no measure 'nope'"), ("map", 1, "not a text"), ({"map"}, 0, "1 or more")],
)
def test_mistakes_are_named(measures: Any, level: int, words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        ours.RelevanceEvaluator({"q": {"a": 1}}, measures, level)


@pytest.mark.parametrize("line", ["q Q0 d 1 x t", "q Q0 d 1 2", "q Q0 d 1 2 t\nq Q0 d 2 3 t"])
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(RankgaugeError, match="run, line"):
        ours.parse_run(line.splitlines())
