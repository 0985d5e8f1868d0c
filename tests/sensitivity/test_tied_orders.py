"""Ranges over the orders of tied documents, against every order with the tests' own oracle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.formats import load_qrels
from rankgauge.measures import Measure, parse_measures
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.sensitivity.tied_orders import TiedRange, has_extremes, tied_ranges
from tests.laws.settings import SETTINGS
from tests.oracles import naive
from tests.oracles.cases import draw_measures, fast, judgments, runs
from tests.oracles.check import CLOSE, PLAIN, Lists, oracle

SHORT = 4


def all_means(measure: Measure, scores: dict[str, float], grades: dict[str, float], depth: int | None) -> list[float]:
    return [oracle(measure, order[:depth], grades) for order in naive.tied_orders(scores)]


def check(qrels: Lists, a: Lists, b: Lists, measures: Sequence[Measure], depth: int | None) -> None:
    contract = Contract(depth=depth)
    found = tied_ranges(Qrels(qrels), {"a": a, "b": b}, measures, contract, [("a", "b")])
    assert found.skipped == [str(m) for m in measures if not has_extremes(m, contract)]
    systems = {(row.measure, row.system): row for row in found.systems}
    rows = {row.measure: row for row in found.rows}
    for measure in (m for m in measures if has_extremes(m, contract)):
        how, ends = measure.definition.aggregate, {}
        for name, run in (("a", a), ("b", b)):
            values = [all_means(measure, run[query], grades, depth) for query, grades in qrels.items()]
            ends[name] = [naive.aggregate(how, list(map(kind, values))) for kind in (min, max)]
            if (str(measure), name) not in systems:
                assert ends[name][0] == pytest.approx(ends[name][1], **CLOSE)
                continue
            row = systems[str(measure), name]
            assert [row.low, row.high] == pytest.approx(ends[name], **CLOSE), str(measure)
            assert row.low - 1e-9 <= row.observed <= row.high + 1e-9
            if how == "mean":
                assert row.low - 1e-9 <= row.expected <= row.high + 1e-9
                expected = naive.aggregate("mean", [sum(own) / len(own) for own in values])
                assert row.sampled or row.expected == pytest.approx(expected, **CLOSE), str(measure)
        if str(measure) in rows:
            wanted = [ends["b"][0] - ends["a"][1], ends["b"][1] - ends["a"][0]]
            assert [rows[str(measure)].low, rows[str(measure)].high] == pytest.approx(wanted, **CLOSE), str(measure)


KNOWN = [d for d in PLAIN if d.form(parse_measures(SETTINGS[d.name][0])[0])]
"""The measures whose extremes are known, for most parameters."""


@pytest.mark.parametrize("half", [0, 1])
@fast(12)
@given(data=st.data(), depth=st.sampled_from((None, None, 1, 3)))
def test_all_orders(half: int, data: st.DataObject, depth: int | None) -> None:
    qrels = data.draw(judgments())
    a, b = (data.draw(runs(list(qrels), most=SHORT)) for _ in range(2))
    check(qrels, a, b, draw_measures(data, KNOWN[half::2]), depth)


def test_winner() -> None:
    assert TiedRange("P@1", "a", "b", -0.1, 0.2, 0.1).changes_winner
    assert TiedRange("P@1", "a", "b", -0.2, 0.1, -0.1).changes_winner
    assert TiedRange("P@1", "a", "b", 0.0, 0.1, 0.0).changes_winner
    assert not TiedRange("P@1", "a", "b", 0.0, 0.2, 0.1).changes_winner
    assert not TiedRange("P@1", "a", "b", 0.0, 0.0, 0.0).changes_winner


def test_without_ties_there_is_nothing_to_say() -> None:
    qrels, tied = Qrels({"q": {"d": 1}}), {"q": {"d": 1.0, "e": 1.0}}
    measures = parse_measures(["RR", "INST"])
    plain = tied_ranges(qrels, {"a": {"q": ["d", "e"]}}, measures, Contract())
    assert (plain.systems, plain.rows, plain.skipped) == ([], [], ["INST"])
    assert tied_ranges(qrels, {"a": tied}, measures, Contract(ties="given")).systems == []
    (row,) = tied_ranges(qrels, {"a": tied}, measures, Contract()).systems
    assert (row.low, row.expected, row.high, row.observed) == (0.5, 0.75, 1.0, 0.5)


def test_real_ties(data: Path) -> None:
    """rutcor03100 has many: trec_eval's rule gives it an AP of .0737, the order of the file .0582."""
    folder = data / "robust03"
    qrels = load_qrels(folder / "qrels.txt.gz")
    paths = {"rutcor": str(folder / "rutcor03100.run.gz"), "humR": str(folder / "humR03dc.run.gz")}
    found = tied_ranges(qrels, paths, parse_measures(["AP", "P@10"]), Contract(), [("rutcor", "humR")])
    (ap,) = [row for row in found.systems if (row.measure, row.system) == ("AP", "rutcor")]
    stable = evaluate(qrels, paths["rutcor"], "AP", ties="stable").mean["AP"]
    assert ap.low < stable < ap.high
    assert ap.low < ap.expected < ap.high
    assert round(ap.observed, 4) == 0.0737
