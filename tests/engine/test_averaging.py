"""Means are added one by one in the byte order of the query ids, and every surface shows the same one, to the bit."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Qrels, Run, compare, evaluate
from rankgauge.comparison import compare_scores
from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.errors import FormatError
from rankgauge.evaluation.reconcile import reconcile
from rankgauge.evaluation.trec_eval import TrecEval, trec_lines
from rankgauge.formats import load_qrels, open_run
from rankgauge.gating.checks import Sides
from rankgauge.model.text_rows import PADDING, TextRows
from rankgauge.record import Record
from tests.oracles.cases import fast

MEASURE = "AP"
IDS = [f"{prefix}{i}" for prefix in ("q", "Q", "é", "") for i in range(75)]


def one_by_one(scores: dict[str, float]) -> float:
    total = 0.0
    for query in sorted(scores, key=str.encode):
        total += scores[query]
    return total / len(scores)


@fast(100)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300))
def test_added_one_by_one(values: list[float]) -> None:
    total = 0.0
    for value in values:
        total += value
    assert aggregate("mean", np.array(values)) == total / len(values)


@fast(100)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8))
def test_byte_order(queries: list[str]) -> None:
    assert [queries[i] for i in byte_order(queries)] == sorted(queries, key=str.encode)


@fast(100)
@given(st.lists(st.text(st.sampled_from("ab0é文"), min_size=1, max_size=9), min_size=1, max_size=8, unique=True))
def test_byte_order_of_ids_in_a_text(queries: list[str]) -> None:
    encoded = [query.encode() for query in queries]
    length = np.array([len(word) for word in encoded])
    start = np.cumsum(length) - length
    keys = np.zeros(len(queries), dtype=np.uint64)
    rows = TextRows(b"".join(encoded) + bytes(PADDING), start, length, keys, start, length, keys, np.zeros(len(keys)))
    listed = rows.queries(np.arange(len(queries)))
    assert [listed[i] for i in byte_order(listed)] == sorted(queries, key=str.encode)


@pytest.fixture(scope="module")
def sets() -> tuple[dict, dict, dict]:
    """Judgments and two runs over ids of several scripts, in no order."""
    rng = random.Random(0)
    docs = [f"d{i}" for i in range(30)]
    queries = rng.sample(IDS, len(IDS))
    qrels = {query: {doc: rng.choice((0, 0, 1, 2)) for doc in docs[:20]} | {"d29": 1} for query in queries}
    runs = [{query: {doc: rng.random() for doc in rng.sample(docs, 10)} for query in queries} for _ in range(2)]
    return qrels, *runs


def test_the_order_of_the_judgments_does_not_matter(sets: tuple[dict, dict, dict]) -> None:
    qrels, run, _ = sets
    measures = ["AP", "nDCG@5", "P@7", "GMAP", "Judged@3"]
    means = {tuple(evaluate({q: qrels[q] for q in order}, run, measures).mean.items()) for order in shuffles(qrels)}
    assert len(means) == 1
    # The fixture shows the difference: added in pairs, or in another order, the sum has other last bits.
    values = np.array(list(scores_of(qrels, run).values()))
    assert len({float(values.mean()), float(np.sort(values).mean()), aggregate("mean", values)}) > 1


def shuffles(qrels: dict) -> list[list[str]]:
    return [list(qrels), sorted(qrels), sorted(qrels, reverse=True), random.Random(1).sample(list(qrels), len(qrels))]


def scores_of(qrels: dict, run: dict) -> dict[str, float]:
    return dict(evaluate(qrels, run, [MEASURE]).per_query.iter_rows())


def test_all_surfaces_show_the_same_mean(sets: tuple[dict, dict, dict], tmp_path: Path) -> None:
    qrels, run, other = sets
    scores = scores_of(qrels, run)
    wanted = one_by_one(scores)
    evaluation = evaluate(qrels, run, [MEASURE])
    assert evaluation.mean[MEASURE] == wanted
    comparison = compare(qrels, {"a": run, "b": other}, [MEASURE])
    assert comparison.rows[0].mean_a == wanted
    assert wanted in [own.mean for own in comparison.groups[MEASURE]]
    record = json.loads(evaluation.to_json())
    assert record["systems"][0]["means"][MEASURE]["value"] == wanted
    stored = compare_scores({"a": scores.values(), "b": scores.values()}, queries=list(scores))
    assert stored.rows[0].mean_a == wanted
    assert stored.record.systems[0].means["score"].value == wanted
    found = reconcile(Qrels(qrels), Run(run), MEASURE, repr(wanted))
    assert wanted in [variant.value for variant in found.matches]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, own in qrels.items() for d, g in own.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, own in run.items() for d, s in own.items()))
    for stream in (False, True):
        assert evaluate(tmp_path / "qrels", tmp_path / "run", [MEASURE], stream=stream).mean[MEASURE] == wanted
    lines = trec_lines(load_qrels(tmp_path / "qrels"), open_run(tmp_path / "run"), ["map"], TrecEval(), tag="t")
    assert lines == [f"map                   \tall\t{wanted:6.4f}"]


def test_a_gate_compares_the_same_means(sets: tuple[dict, dict, dict]) -> None:
    qrels, run, _ = sets
    record = evaluate(qrels, run, [MEASURE]).record
    sides = Sides(record, record.systems[0], None)
    assert aggregate("mean", sides.own(MEASURE, record.queries)) == record.systems[0].means[MEASURE].value


def test_a_mean_that_is_not_its_scores_is_still_found(sets: tuple[dict, dict, dict]) -> None:
    qrels, run, _ = sets
    record = evaluate(qrels, run, [MEASURE]).record.to_dict()
    assert Record.from_dict(record).to_dict() == record
    record["systems"][0]["means"][MEASURE]["value"] += 1e-6
    with pytest.raises(FormatError, match="its scores'"):
        Record.from_dict(record)
