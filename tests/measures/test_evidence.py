"""Evidence that is needed together: figures by hand, spellings, groups from every kind of input, ties."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Query, TestSet, evaluate, parse_measure, reconcile
from rankgauge.errors import DataError
from tests.oracles.cases import fast, judgments, qrels_frame, run_frame, runs

RUN = {"q": ["a", "x", "b", "y", "c"]}
QRELS = {"q": {"a": 1, "b": 1, "c": 1, "n": 0}}


def values(qrels: object, run: object, *measures: str) -> list[float]:
    return list(evaluate(qrels, run, list(measures)).mean.values())


def test_figures_by_hand() -> None:
    assert values(QRELS, RUN, "AllRel@4", "AllRel@5", "AllRel", "Success@1") == [0, 1, 1, 1]
    assert values(QRELS, RUN, "SetEM", "SetEM@3", "SetF", "SetR@3") == [0, 0, pytest.approx(0.75), pytest.approx(2 / 3)]
    assert values(QRELS, {"q": ["c", "a", "b"]}, "SetEM", "SetEM@2") == [1, 0]
    assert values({"q": {"n": 0}}, {"q": ["n"]}, "AllRel", "SetEM", "StRecall", "AllGroups") == [0, 0, 0, 0]
    assert values({"q": {"a": 2, "b": 1}}, {"q": ["a", "x", "b"]}, "AllRel(rel=2)@2", "AllRel@2") == [1, 0]


@pytest.mark.parametrize(
    ("spelled", "name"),
    [
        ("recall_all@5", "AllRel@5"),
        ("recall_all_5", "AllRel@5"),
        ("hit_all@3", "AllRel@3"),
        ("FullEvidence@10", "AllRel@10"),
        ("full_evidence@10", "AllRel@10"),
        ("all_relevant", "AllRel"),
        ("recall_any@5", "Success@5"),
        ("hit_any@5", "Success@5"),
        ("GroupRecall@5", "StRecall@5"),
        ("group_recall@5", "StRecall@5"),
        ("ndcg_any@5", "nDCG(discount='log2(i)')@5"),
        ("sp_em", "SetEM"),
        ("sp_f1", "SetF"),
        ("support_f1", "SetF"),
        ("sp_prec", "SetP"),
        ("sp_recall", "SetR"),
    ],
)
def test_spellings(spelled: str, name: str) -> None:
    assert str(parse_measure(spelled)) == name


@fast(25)
@given(data=st.data(), ties=st.sampled_from(("trec", "expected")))
def test_without_groups_each_document_is_one(data: st.DataObject, ties: str) -> None:
    qrels = data.draw(judgments())
    run = data.draw(runs(list(qrels)))
    for judged, listed in ((qrels, run), (qrels_frame(qrels), run_frame(run))):
        found = evaluate(judged, listed, ["GroupRecall@3", "R@3", "AllGroups@3", "AllRel@3"], ties=ties)
        table = found.table.values
        assert table[:, 0].tolist() == pytest.approx(table[:, 1].tolist(), abs=1e-12)
        assert table[:, 2].tolist() == pytest.approx(table[:, 3].tolist(), abs=1e-12)
        assert found.coverage.ungrouped
        assert "evidence.ungrouped" in {note.key for note in found.notes}


def test_other_diversity_measures_still_ask_for_subtopics() -> None:
    with pytest.raises(DataError, match="needs judgments by subtopic"):
        evaluate(QRELS, RUN, "alpha_nDCG@5")


def test_groups_of_a_test_set_and_of_a_trec_file(tmp_path: Path) -> None:
    """Two hops; the second is served by either of two documents."""
    hops = {"1": ("a",), "2": ("b", "c")}
    test_set = TestSet(
        [
            Query("who wrote it, and when?", {"a": 1, "b": 1, "c": 1}, "q1", groups=hops),
            Query("plain", {"d": 1, "e": 1}, "q2"),
        ]
    )
    run = {"q1": {"a": 3.0, "x": 2.0, "c": 1.0}, "q2": {"d": 2.0, "x": 1.0}}
    (tmp_path / "qrels").write_text("q1 1 a 1\nq1 2 b 1\nq1 2 c 1\nq2 d d 1\nq2 e e 1\n")
    lines = (f"{q} Q0 {doc} 0 {score} r\n" for q, docs in run.items() for doc, score in docs.items())
    (tmp_path / "run").write_text("".join(lines))
    wanted = {"StRecall@2": [0.5, 0.5], "AllGroups@2": [0, 0], "AllGroups@3": [1, 0], "AllRel@3": [0, 0]}
    for judged, listed in ((test_set, run), (tmp_path / "qrels", tmp_path / "run"), (test_set, tmp_path / "run")):
        found = evaluate(judged, listed, list(wanted))
        assert {name: found.per_query[name].to_list() for name in wanted} == wanted
        assert not found.coverage.ungrouped
        record = type(found.record).from_dict(found.record.to_dict())
        assert record.systems[0].means["AllGroups@3"].value == 0.5


def test_ties_in_closed_form() -> None:
    """200 tied documents, three of them relevant, one document of each of two groups among the first 50."""
    docs = [f"d{i}" for i in range(200)]
    run = {"q": dict.fromkeys(docs, 1.0)}
    all_three = math.comb(197, 47) / math.comb(200, 50)
    found = evaluate({"q": {"d3": 1, "d70": 1, "d9": 1}}, run, ["AllRel@50"], ties="expected")
    assert found.mean["AllRel@50"] == pytest.approx(all_three, rel=1e-12)
    test_set = TestSet([Query("q", {"d3": 1, "d70": 1, "d9": 1}, groups={"a": ["d3"], "b": ["d70", "d9"]})])
    found = evaluate(test_set, run, ["StRecall@50", "AllGroups@2"], ties="expected")
    none_of_two = math.comb(198, 50) / math.comb(200, 50)
    assert found.mean["StRecall@50"] == pytest.approx((0.25 + 1 - none_of_two) / 2, rel=1e-12)
    pairs = list(combinations(range(200), 2))
    both = sum(3 in pair and (9 in pair or 70 in pair) for pair in pairs)
    assert found.mean["AllGroups@2"] == pytest.approx(both / len(pairs), rel=1e-9)
    assert not found.table.sampled


# --- conventions of benchmarks, from their formulas -------------------------------------------------------------------


def longmemeval(ranking: Sequence[str], gold: Mapping[str, float], k: int) -> tuple[float, float, float]:
    """recall_any, recall_all and ndcg_any: the second rank weighs as much as the first."""
    inside = [doc in gold for doc in ranking[:k]]
    weights = np.array([1.0, 1.0, *(1 / math.log2(rank) for rank in range(3, k + 1))])[:k]
    ideal = weights[: len(gold)].sum()
    return float(any(inside)), float(sum(inside) == len(gold)), float((weights[: len(inside)] * inside).sum() / ideal)


def sampled(seed: int, *, graded: bool = False) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(12)]
    qrels, run = {}, {}
    for i in range(30):
        chosen = rng.permutation(docs).tolist()
        qrels[f"q{i}"] = {doc: float(rng.integers(1, 3)) if graded else 1.0 for doc in chosen[: rng.integers(1, 5)]}
        run[f"q{i}"] = rng.permutation(docs).tolist()
    return qrels, run


def test_longmemeval() -> None:
    assert longmemeval(["n", "b", "a"], {"a": 1, "b": 1}, 5) == (1, 1, pytest.approx((1 + 1 / math.log2(3)) / 2))
    qrels, run = sampled(0)
    theirs = np.mean([longmemeval(run[q], qrels[q], 5) for q in qrels], axis=0)
    ours = evaluate(qrels, run, ["recall_any@5", "recall_all@5", "ndcg_any@5"])
    assert list(ours.mean.values()) == pytest.approx(theirs.tolist(), rel=1e-12)
    assert evaluate(qrels, run, "nDCG@5", contract="longmemeval").mean["nDCG@5"] == pytest.approx(theirs[2], rel=1e-12)
    found = reconcile(qrels, run, "nDCG@5", f"{theirs[2]:.6f}")
    assert found.matches[0].presets == ("longmemeval",)
    assert str(found.matches[0].measure) == "nDCG(discount='log2(i)')@5"


def test_questions_without_evidence_count_as_1() -> None:
    """LoCoMo gives such a question full recall; so does torchmetrics with empty_target_action='pos'."""
    qrels, run = sampled(1)
    for query in ("q3", "q11"):
        qrels[query] = {"n": 0.0}
    recalls = [
        sum(doc in run[q][:5] for doc in gold) / len(gold) if any(gold.values()) else 1.0 for q, gold in qrels.items()
    ]
    found = reconcile(qrels, run, "R@5", f"{np.mean(recalls):.6f}")
    assert found.matches[0].changes == ("no_relevant=1",)
    assert all("no_relevant=1" in variant.changes for variant in found.matches)
    assert found.matches[0].presets == ()


def test_supporting_facts() -> None:
    """HotpotQA and MuSiQue: exact match, F1, precision and recall of the set of supporting paragraphs."""
    rng = np.random.default_rng(2)
    docs, qrels, run, wanted = list("abcdefg"), {}, {}, []
    for i in range(40):
        gold, picked = (set(rng.permutation(docs)[: rng.integers(1, 4)].tolist()) for _ in range(2))
        qrels[f"q{i}"], run[f"q{i}"] = dict.fromkeys(gold, 1), sorted(picked)
        both = len(gold & picked)
        p, r = both / len(picked), both / len(gold)
        wanted.append((float(gold == picked), 2 * p * r / (p + r) if both else 0.0, p, r))
    found = values(qrels, run, "sp_em", "sp_f1", "sp_prec", "sp_recall")
    assert found == pytest.approx(np.mean(wanted, axis=0).tolist(), rel=1e-12)
    assert 0 < found[0] < 1


@pytest.mark.parametrize(("told", "meant"), [("R@2", "AllRel@2"), ("AllRel@2", "Success@2"), ("Success@2", "R@2")])
def test_reconcile_knows_what_is_called_recall(told: str, meant: str) -> None:
    """recall, recall_any and recall_all go by one name in papers."""
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}, "q3": {"d": 1, "e": 1}, "q4": {"f": 1}}
    run = {"q1": ["a", "b"], "q2": ["c"], "q3": ["d", "x"], "q4": ["x"]}
    value = evaluate(qrels, run, meant).mean[meant]
    found = reconcile(qrels, run, told, f"{value:.4f}")
    assert str(found.matches[0].measure) == meant
    assert found.matches[0].changes == (f"measure={meant}",)
    assert repr(found).startswith(f"Reconciliation({told}={value:g}: ")
