"""Cases published with ir_measures and pytrec_eval: per-query values and aggregates."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from rankgauge import evaluate
from rankgauge.formats import Source
from rankgauge.formats.trec import TrecRun, read_qrels
from tests.parts import DATA


def _load(name: str) -> list[dict]:
    path = DATA / name / "expected_cases.json"
    if not path.exists():
        return []
    cases = json.loads(path.read_text())
    return cases if isinstance(cases, list) else cases["cases"]


def _name(case: dict) -> str:
    return f"{case['suite']}-{case['measure']}"


def _measure(case: dict) -> str:
    """gdeval's nDCG has an exponential gain whatever its name says."""
    measure = case["measure"]
    return measure.replace("nDCG@", "nDCG(gain='exp')@") if case["provider"] == "ir_measures.gdeval" else measure


@pytest.mark.parametrize("case", _load("ir_measures") or [None], ids=lambda case: _name(case) if case else "none")
def test_ir_measures(case: dict, data: Path, tmp_path: Path) -> None:
    folder = data / "ir_measures"
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(case["qrels"] if "qrels" in case else (folder / case["qrels_file"]).read_text())
    run.write_text(case["run"] if "run" in case else (folder / case["run_file"]).read_text())
    result = evaluate(read_qrels(Source(qrels)), TrecRun(Source(run)), [_measure(case)])
    values = dict(result.per_query.rows())
    tolerance = _tolerance(case["per_query"].values())
    for query, value in case["per_query"].items():
        assert values[query] == pytest.approx(value, abs=tolerance, rel=0), query
    if case["aggregate"] is not None:
        (mean,) = result.mean.values()
        assert mean == pytest.approx(case["aggregate"], abs=_tolerance([case["aggregate"]]), rel=0)


def _tolerance(values: Iterable[float]) -> float:
    """One unit of the last digit shown (some are cut, not rounded); short figures such as 0.5 are exact."""
    digits = max(len(str(value).partition(".")[2]) for value in values)
    return 1e-9 if digits <= 2 else max(1e-12, 10.0**-digits)


@pytest.mark.parametrize("case", _load("pytrec_eval") or [None], ids=lambda case: str(case and case["measure"]))
def test_pytrec_eval(case: dict, data: Path) -> None:
    result = evaluate(case["qrels"], case["run"], [case["measure"]], contract="trec_eval9")
    value = dict(result.per_query.rows())[case["query"]]
    assert value == pytest.approx(case["expected"], abs=1e-12)
