"""Synthetic queries are told apart from real ones, and records name where their judgments came from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankgauge import (
    Label,
    LabelPolicy,
    Query,
    Record,
    TestSet,
    compare,
    compare_stored,
    evaluate,
    evaluate_retriever,
    gate,
)
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.record.comparability import differences
from rankgauge.reports import report
from rankgauge.words import tell

N = 40
QUERIES = [
    Query(f"text {i}", {f"d{i}": 1, f"x{i}": 0}, f"q{i:02}", synthetic="known-item" if i % 4 == 0 else "")
    for i in range(N)
]
MIXED = TestSet(QUERIES, name="mixed")
MADE = TestSet([query for query in QUERIES if query.synthetic], name="made")
LABELLED = MIXED.with_labels([Label("q01", "d1", 2, "ana"), Label("q02", "z", 1, "m", "model")])


def found(share: int) -> dict[str, dict[str, float]]:
    """Synthetic queries are all answered; of the real ones those whose number is not a multiple of `share`."""
    hits = (i % 4 == 0 or i % share != 0 for i in range(N))
    return {query.id: {f"d{i}" if hit else "x": 1.0} for i, (query, hit) in enumerate(zip(QUERIES, hits, strict=True))}


A, B = found(2), found(3)


def means(run: dict[str, dict[str, float]]) -> tuple[float, float]:
    """By hand: real, synthetic."""
    values = np.array([float(f"d{i}" in run[query.id]) for i, query in enumerate(QUERIES)])
    made = np.array([bool(query.synthetic) for query in QUERIES])
    return float(values[~made].mean()), float(values[made].mean())


def test_each_kind_has_its_mean() -> None:
    result = evaluate(MIXED, A, ["R@1", "RR"])
    note = next(note for note in result.notes if note.key == "synthetic.mixed")
    assert note.level == "warning"
    assert (note.parameters["synthetic"], note.parameters["n"]) == (10, N)
    first = note.parameters["means"][0].parameters
    assert (first["real"], first["synthetic"]) == pytest.approx(means(A))
    assert "10 of 40 queries are synthetic" in tell(note, "en")
    assert result.record.synthetic == {query.id: "known-item" for query in MADE}
    assert Record.from_dict(json.loads(result.record.to_json())) == result.record
    assert "Real and synthetic queries apart" in report(result.record, format="terminal", detail="evidence")


def test_all_synthetic_and_none() -> None:
    notes = evaluate(MADE, A, "RR").notes
    assert [note.parameters for note in notes if note.key.startswith("synthetic")] == [
        {"n": 10, "makers": ["known-item"]}
    ]
    real = TestSet([query for query in QUERIES if not query.synthetic])
    result = evaluate(real, A, "RR")
    assert not [note for note in result.notes if note.key.startswith("synthetic")]
    assert result.record.synthetic == {}


def test_a_comparison_says_it_once() -> None:
    runs = {"a": A, "b": B}
    notes = [note for note in compare(MIXED, runs, "RR").notes if note.key.startswith("synthetic")]
    assert [note.key for note in notes] == ["synthetic.systems"]
    told = {one.parameters["system"]: one.parameters["means"].parameters for one in notes[0].parameters["systems"]}
    assert {name: (own["real"], own["synthetic"]) for name, own in told.items()} == {
        name: pytest.approx(means(run)) for name, run in runs.items()
    }
    many = {f"s{i}": A if i % 2 else B for i in range(6)}
    note = next(note for note in compare(MIXED, many, "RR").notes if note.key == "synthetic.systems")
    assert tell(note, "en").endswith(", 2 more")
    assert len(tell(note, "zh")) < 400
    assert [note.key for note in compare(MADE, runs, "RR").notes].count("synthetic.all") == 1


def test_stored_scores_say_it_too(tmp_path: Path) -> None:
    labelled = MIXED.with_labels()
    for name, run in {"a": A, "b": B}.items():
        evaluate(labelled, run, "RR", name=name).record.save(tmp_path / f"{name}.json")
    found = compare_stored([tmp_path / "a.json", tmp_path / "b.json"])
    note = next(note for note in found.notes if note.key == "synthetic.systems")
    told = {one.parameters["system"]: one.parameters["means"].parameters for one in note.parameters["systems"]}
    assert (told["b"]["real"], told["b"]["synthetic"]) == pytest.approx(means(B))
    assert found.record.synthetic == evaluate(MIXED, A, "RR").record.synthetic
    assert found.record.provenance.test_set is not None
    assert found.record.provenance.test_set.version == labelled.version


def test_a_gate_and_a_live_run_say_it() -> None:
    after, before = evaluate(MIXED, B, "RR"), evaluate(MIXED, A, "RR")
    remarks = [note for note in gate(after, before, allow=["testset"]).remarks if note.key.startswith("synthetic")]
    assert [note.key for note in remarks] == ["synthetic.mixed"]
    remarks = [note for note in gate(evaluate(MADE, A, "RR"), targets=["RR >= 0.5"]).remarks if "synth" in note.key]
    assert [note.key for note in remarks] == ["synthetic.all"]
    texts = {query.text: A[query.id] for query in QUERIES}
    live = evaluate_retriever(lambda text: list(texts[text]), MIXED, measures="RR")
    assert any("10 of 40 queries are synthetic" in said for said in live.warnings)
    assert live.record.synthetic


def test_a_kind_of_which_nothing_counts() -> None:
    queries = [replace(QUERIES[0], grades={}, no_answer=True), *QUERIES[1:4]]
    note = next(note for note in evaluate(TestSet(queries), A, "RR").notes if note.key == "synthetic.mixed")
    assert note.parameters["means"][0].key == "synthetic.no_synthetic"
    assert "RR 0.6667 and none" in tell(note, "en")


def test_records_name_policy_and_sources(tmp_path: Path) -> None:
    result = evaluate(LABELLED, A, "RR")
    told = result.record.provenance.test_set
    assert told is not None
    assert told.version == LABELLED.version
    assert told.policy == LabelPolicy()
    assert {(one.kind, one.judge): one.labels for one in told.sources} == LABELLED.labels.sources
    result.record.save(path := tmp_path / "r.json")
    assert Record.load(path) == result.record
    shown = report(result.record, format="terminal", detail="evidence")
    assert told.version[:12] in shown
    assert "ana (person): 1" in shown
    assert evaluate(MIXED, A, "RR").record.provenance.test_set is None
    older = json.loads(path.read_text())
    del older["provenance"]["test_set"], older["synthetic"]
    assert Record.from_dict(older).synthetic == {}
    older["provenance"]["test_set"] = {"version": "a", "policy": {"prefer": ["x"]}, "sources": []}
    with pytest.raises(RankgaugeError, match="damaged"):
        Record.from_dict(older)


def test_versions_are_compared(tmp_path: Path) -> None:
    """Versions say more than the hashes of files: the same test set may stand in two, and in none."""
    for number, test_set in enumerate((LABELLED, TestSet(reversed(LABELLED)).with_labels())):
        test_set.save(tmp_path / f"{number}.json")
    again = LABELLED.with_queries(reversed(LABELLED))
    again.save(tmp_path / "again.json")
    first = evaluate(tmp_path / "0.json", A, "RR").record
    assert not differences(first, evaluate(tmp_path / "again.json", A, "RR").record)
    other = evaluate(LABELLED.with_labels([Label("q03", "d3", 2, "ana")]), A, "RR").record
    policy = evaluate(LABELLED.with_labels(policy=LabelPolicy(combine="mean")), A, "RR").record
    told = [tell(found[0].note, "en") for found in (differences(first, other), differences(first, policy))]
    assert "its queries or labels differ" in told[0]
    assert "its policy differs" in told[1]
    with pytest.raises(DataError, match="versions"):
        gate(first, other)
