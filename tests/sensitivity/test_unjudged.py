"""Ranges over the labels of unjudged documents, against brute force over every labelling with the tests' own oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate
from rankgauge.engine.lists import top_lists
from rankgauge.errors import ContractError, DataError
from rankgauge.evaluation import read_run
from rankgauge.formats import load_qrels
from rankgauge.measures import Definition, Measure, all_definitions, parse_measure, parse_measures
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.record import UnjudgedRange
from rankgauge.sensitivity import additive_search, label_search
from rankgauge.sensitivity.open_documents import Pool
from rankgauge.sensitivity.unjudged import ranges_and_reasons, why_no_range
from rankgauge.words import LANGUAGES, tell
from tests.laws.settings import SETTINGS
from tests.oracles.cases import draw_measures, fast
from tests.oracles.check import oracle

DOCS = ("a", "b", "c", "d", "e", "f", "g")
MEANS = [
    d
    for d in all_definitions()
    if d.aggregate == "mean" and not {"subtopics", "characters", "no_answer"} & d.needs and d.family != "coverage"
]
FORMS = {
    form: [d.name for d in MEANS if d.form(parse_measure(SETTINGS[d.name][0])) == form]
    for form in ("additive", "first", "sorted", "")
}
Grades = Mapping[str, float]


@dataclass
class Drawn:
    """One query: its judgments and two lists."""

    grades: dict[str, float]
    a: list[str]
    b: list[str]

    def open_documents(self, depth: int | None) -> list[str]:
        return sorted({doc for doc in self.a[:depth] + self.b[:depth] if doc not in self.grades})


@st.composite
def cases(draw: st.DrawFn, most_open: int, scale: Sequence[float] = (0, 1, 2)) -> Drawn:
    lists = [draw(st.permutations(DOCS))[: draw(st.integers(0, len(DOCS)))] for _ in range(2)]
    open_docs = draw(st.permutations(DOCS))[:most_open]
    grades = {doc: draw(st.sampled_from((*scale, -1))) for doc in DOCS if doc not in open_docs}
    if draw(st.booleans()):
        grades = {doc: min(grade, 0) for doc, grade in grades.items()}
    # Documents nobody retrieved: without them there might be no grade above 0, or only such.
    return Drawn({**grades, "x": 0, **({"y": max(scale)} if draw(st.booleans()) else {})}, *lists)


def depth_of(measure: Measure) -> int | None:
    counts_all = measure.get("ideal") == "retrieved" or isinstance(measure.at, float)
    return None if counts_all or measure.at is None else int(measure.at)


def brute_force(measure: Measure, drawn: Drawn) -> tuple[float, float]:
    """Least and greatest difference over all labellings."""
    levels = sorted({0.0, *(float(grade) for grade in drawn.grades.values() if grade > 0)})
    docs = drawn.open_documents(depth_of(measure))
    values = []
    for labels in product(levels, repeat=len(docs)):
        grades = {**drawn.grades, **dict(zip(docs, labels, strict=True))}
        values.append(oracle(measure, drawn.b, grades) - oracle(measure, drawn.a, grades))
    return min(values), max(values)


def found(drawn: Drawn, measures: Sequence[Measure]) -> dict[str, UnjudgedRange]:
    ranges = ranges_and_reasons(
        Qrels({"q": drawn.grades}), {"A": {"q": drawn.a}, "B": {"q": drawn.b}}, measures, Contract(), [("A", "B")]
    )
    return {found.measure: found for found in ranges.rows}


def usable(measure: Measure) -> bool:
    return not measure.get("judged_only") and measure.get("budget") is None


def check(drawn: Drawn, measures: Sequence[Measure], *, exact: bool) -> None:
    measures = [measure for measure in measures if usable(measure)]
    ranges = found(drawn, measures)
    for measure in measures:
        low, high = brute_force(measure, drawn)
        if str(measure) not in ranges:
            assert not exact, measure
            continue
        got = ranges[str(measure)]
        assert got.documents == len(drawn.open_documents(depth_of(measure)))
        assert got.exact or not exact, measure
        if got.exact:
            assert (got.low, got.high) == pytest.approx((low, high), abs=1e-9), str(measure)
        else:
            assert got.low <= low + 1e-9, str(measure)
            assert got.high >= high - 1e-9, str(measure)


def of_form(form: str) -> list[Definition]:
    return [definition for definition in MEANS if definition.name in FORMS[form]]


def test_every_measure_is_tried() -> None:
    assert sorted(name for names in FORMS.values() for name in names) == sorted(d.name for d in MEANS)
    assert {"P", "R", "F1", "nDCG", "DCG", "RBP", "SetP", "SetF"} <= set(FORMS["additive"])
    assert set(FORMS["first"]) == {"RR", "Success"}


@pytest.mark.parametrize("form", ["additive", "first", "sorted", ""])
@fast(16)
@given(data=st.data())
def test_exact(form: str, data: st.DataObject) -> None:
    drawn = data.draw(cases(3 if form == "" else 4))
    check(drawn, draw_measures(data, of_form(form)), exact=True)


@fast(16)
@given(data=st.data())
def test_many_grades(data: st.DataObject) -> None:
    drawn = data.draw(cases(3, (0, 0.25, 1, 1.5, 4)))
    check(drawn, draw_measures(data, of_form("additive") + of_form("first")), exact=True)


@pytest.mark.parametrize("form", ["sorted", ""])
@fast(16)
@given(data=st.data())
def test_bounds_without_enumeration(form: str, data: st.DataObject) -> None:
    """Outer bounds hold the range; what is not sorted has the bounds of the measure, or no range."""
    drawn = data.draw(cases(4 if form else 3))
    chosen = draw_measures(data, of_form(form))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_search, "_LABELLINGS", 0)
        check(drawn, chosen, exact=False)
        patch.setattr(label_search, "_WORK", 0)
        check(drawn, chosen, exact=False)


@fast(16)
@given(data=st.data(), work=st.sampled_from((0, 30, 100)))
def test_bounds_of_an_unfinished_search(data: st.DataObject, work: int) -> None:
    drawn = data.draw(cases(5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(additive_search, "_WORK", work)
        check(drawn, draw_measures(data, of_form("additive")), exact=False)


ADDITIVE = [
    "P@5",
    "P(over='returned')@5",
    "R",
    "R@3",
    "R(capped=True)@4",
    "F(beta=2)@3",
    "SetP",
    "SetRelP",
    "SetF",
    "SetF(beta=0.5)",
    "nDCG",
    "nDCG@4",
    "nDCG(gain='exp')@6",
    "nDCG(gains={0:0.5,1:3})@5",
    "nDCG(ideal='returned')@6",
    "DCG@5",
    "DCG(gains={1:-1,2:0})",
    "RBP",
    "RBP(grades='scaled')",
    "SDCG(max_rel=3)@5",
    "INSQ(min_rel=-1,max_rel=3)",
    "P(rel=0)@5",
    "R(rel=2)@5",
    "nDCG(gains={1:-1,2:4})@5",
]
ARRANGED = [
    "AP",
    "AP@5",
    "Rprec",
    "ERR@5",
    "nERR@4",
    "nERR",
    "Bpref",
    "binG",
    "SetAP",
    "IPrec@0.3",
    "IPrec@1",
    "AvgIPrec",
    "Rprec(rel=2)",
]


def longer(seed: int) -> tuple[Qrels, dict[str, dict[str, list[str]]]]:
    """Queries with up to five unjudged documents, some without any relevant one."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, float]] = {}
    runs: dict[str, dict[str, list[str]]] = {"A": {}, "B": {}}
    docs = np.array([f"d{i}" for i in range(14)])
    for query in map(str, range(12)):
        grades = rng.choice([-1, 0, 0, 0, 1, 2, 3] if rng.random() < 0.7 else [-1, 0], 9)
        qrels[query] = dict(zip(rng.permutation(docs)[:9].tolist(), grades.tolist(), strict=True))
        same = int(rng.integers(1, 12))
        for name in runs:
            length = same if rng.random() < 0.7 else int(rng.integers(1, 12))
            runs[name][query] = rng.permutation(docs)[:length].tolist()
    qrels["0"] |= {"x": 0, "y": 3}
    return Qrels(qrels), runs


@pytest.mark.parametrize("a", ["A", None])
def test_search_against_enumeration(a: str | None) -> None:
    """The kernels' own values over every labelling, for more documents than the oracle has time for."""
    qrels, runs = longer(3)
    measures = parse_measures(ADDITIVE)
    pool = Pool(qrels, runs, measures, Contract())
    for measure in measures:
        problem = pool.case(measure, a, "B").problem
        low, high, exact = label_search.differences(problem) or pytest.fail(str(measure))
        wanted = label_search._each(problem, np.arange(len(problem.open)))
        assert np.allclose(low, wanted[0], rtol=0, atol=1e-9), str(measure)
        assert np.allclose(high, wanted[1], rtol=0, atol=1e-9), str(measure)
        assert exact.all()


def test_arrangements_against_enumeration() -> None:
    """The best arrangement of every multiset of labels is the best there is, for one system by itself."""
    qrels, runs = longer(4)
    measures = parse_measures(ARRANGED)
    pool = Pool(qrels, runs, measures, Contract())
    for measure in measures:
        problem = pool.case(measure, None, "B").problem
        queries = np.arange(len(problem.open))
        low, high = label_search._each(problem, queries)
        assert np.allclose(label_search._sorted(problem, queries), high), str(measure)
        assert np.allclose(-label_search._sorted(problem.reversed, queries), low), str(measure)


SMALL = Qrels({"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "c": 1}})
RUNS = {"A": {"q1": ["a", "b"], "q2": ["c", "x"]}, "B": {"q1": ["x", "a"], "q2": ["y", "c"]}}


def ranges(
    names: str, contract: Contract | None = None, qrels: Qrels = SMALL, runs: Mapping[str, object] = RUNS
) -> list[UnjudgedRange]:
    return ranges_and_reasons(qrels, runs, parse_measures(names.split()), contract or Contract(), [("A", "B")]).rows


def test_by_hand() -> None:
    """P@2: A has one relevant of two everywhere, and x of q2 may be a second; B has one, and x and y may be more."""
    (found,) = ranges("P@2")
    assert (found.low, found.observed, found.high) == (-0.25, 0.0, 0.5)
    assert (found.exact, found.documents, found.a, found.b) == (True, 3, "A", "B")
    assert found.changes_winner
    (found,) = ranges("RR")
    assert (found.low, found.observed, found.high) == (-0.5, -0.5, 0.0)
    assert not found.changes_winner


@pytest.mark.parametrize(
    ("low", "observed", "high", "changes"),
    [
        (-0.1, 0.1, 0.2, True),
        (0, 0.1, 0.2, False),
        (-0.2, -0.1, 0, False),
        (-0.2, -0.1, 0.1, True),
        (0, 0, 0.1, True),
        (0, 0, 0, False),
    ],
)
def test_winner(low: float, observed: float, high: float, changes: bool) -> None:
    assert UnjudgedRange("P@1", "a", "b", low, high, observed, True, 3).changes_winner == changes


def test_what_is_left_out() -> None:
    names = ["nDCG@5", "nDCG(judged_only=True)@5", "R(budget=9)", "Judged@5", "RBPResidual", "NumRel", "GMAP"]
    names.append("alpha_nDCG@5")
    told = ranges_and_reasons(SMALL, RUNS, parse_measures(names), Contract(), [("A", "B")])
    found, reasons = told.rows, told.reasons
    assert [row.measure for row in found] == ["nDCG@5"]
    assert sorted(reasons) == sorted(names[1:])
    assert all(tell(reason, language) for reason in reasons.values() for language in LANGUAGES)


def test_judgments_of_relevant_documents_only() -> None:
    qrels = Qrels({"q1": {"a": 1}, "q2": {"c": 1}})
    reason = why_no_range(qrels)
    assert reason is not None
    assert reason.key == "comparison.no_range_only_relevant"
    assert why_no_range(SMALL) is None
    assert ranges("P@2", qrels=qrels) == []


def test_contract() -> None:
    """Lists are cut and ordered as the contract says, and a query that does not count takes no part."""
    (found,) = ranges("R", Contract(depth=1))
    assert found.documents == 2
    runs = {"A": {"q1": ["a", "z"]}, "B": RUNS["B"]}
    (found,) = ranges("P@2", Contract(missing="skip"), runs=runs)
    assert (found.low, found.high, found.documents) == (-0.5, 0.5, 2)
    with pytest.raises(ContractError, match="missing"):
        ranges("P@2", Contract(missing="error"), runs=runs)
    with pytest.raises(DataError, match="no run named 'A'"):
        ranges("P@2", runs={"B": RUNS["B"]})
    tied = {"A": {"q1": {"a": 1.0, "z": 1.0}}, "B": RUNS["B"]}
    assert ranges("P@2", Contract(ties="expected"), runs=tied) == []
    assert ranges("P@2", Contract(ties="expected")) == ranges("P@2")


def test_a_range_holds_what_later_judgments_give(data: Path) -> None:
    """Judge some documents at random: the difference stays within the range."""
    folder = data / "dl19"
    qrels = load_qrels(folder / "qrels.txt")
    paths = {"A": str(folder / "dl19.BM25.run"), "B": str(folder / "dl19.SPLADE_P_P_ENSEMBLE_DISTIL.run")}
    measures = ["nDCG@10", "R@100", "P(rel=2)@10", "AP", "RR", "RBP", "ERR@10"]
    found = ranges(" ".join(measures), qrels=qrels, runs=paths)
    assert [row.exact for row in found] == [True, True, True, False, True, True, False]
    rng = np.random.default_rng(1)
    judged = qrels.to_dict()
    for path in paths.values():
        for query, rows in top_lists(qrels, read_run(path), Contract(), 10).items():
            for row in rows:
                judged[query].setdefault(row.doc, float(rng.integers(0, 4)))
    for row in found:
        a, b = (evaluate(judged, path, row.measure).mean[row.measure] for path in paths.values())
        assert row.low - 1e-9 <= b - a <= row.high + 1e-9, row


def test_many_queries() -> None:
    """7,000 queries, ten documents each, none of them judged but a few: seconds, not minutes."""
    rng = np.random.default_rng(0)
    qrels, a, b = {}, {}, {}
    for i in range(7000):
        qrels[str(i)] = {
            f"d{d}": int(g) for d, g in zip(rng.permutation(60)[:6], rng.choice([0, 0, 1], 6), strict=True)
        }
        a[str(i)], b[str(i)] = ([f"d{d}" for d in rng.permutation(40)[:10]] for _ in range(2))
    start = perf_counter()
    found = ranges("nDCG@10 P@10 RR AP@10", qrels=Qrels(qrels), runs={"A": a, "B": b})
    assert perf_counter() - start < 30
    assert [row.exact for row in found] == [True, True, True, False]
    assert all(-1 < row.low < row.observed < row.high < 1 for row in found)
