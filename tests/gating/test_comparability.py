"""What two records do not have in common: one notion for gate, compare-scores, history and monitor."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rankgauge.comparison import summary_notes
from rankgauge.comparison.stored_scores import compare_records
from rankgauge.errors import DataError
from rankgauge.model import Contract
from rankgauge.record import Record, ScoredMeasure
from rankgauge.record.comparability import differences
from rankgauge.words import LANGUAGES, tell
from tests.gating.test_gate import BASE, inputs, made

A, B, C, D = ("a" * 64, "b" * 64, "c" * 64, "d" * 64)


def found(own: Record, other: Record) -> dict[str, int]:
    kinds = {one.kind: one.told for one in differences(own, other)}
    assert kinds == {one.kind: one.told for one in differences(other, own)}  # either way round
    for one in differences(own, other):
        assert all(tell(one.note, language) for language in LANGUAGES)
    return kinds


def test_alike() -> None:
    record = made({"RR": BASE})
    assert differences(record, record) == []
    reordered = replace(record, queries=record.queries[::-1])
    assert differences(record, reordered) == []


def test_contracts() -> None:
    record = made({"RR": BASE})
    other = replace(record, contract=Contract(missing="skip", depth=10))
    assert found(record, other) == {"contract": 2}
    (difference,) = differences(record, other)
    assert tell(difference.note, "en") == "contract: missing: 'zero' and 'skip', depth: None and 10"
    assert found(record, replace(record, preset="trec_eval")) == {"contract": 2}
    assert found(record, replace(record, contract=None, preset=None)) == {"contract": 1}


@pytest.mark.parametrize(
    ("own", "other", "kinds"),
    [
        ({"judgments": A}, {"judgments": B}, {"judgments": 2}),
        ({"judgments": A}, {}, {"judgments": 1}),
        ({}, {}, {"judgments": 0}),
        ({"judgments": A, "corpus": C}, {"judgments": A, "corpus": D}, {"corpus": 2}),
        ({"judgments": A, "corpus": C}, {"judgments": A}, {"corpus": 1}),
    ],
)
def test_inputs(own: dict[str, str], other: dict[str, str], kinds: dict[str, int]) -> None:
    record = made({"RR": BASE})
    assert found(replace(record, provenance=inputs(**own)), replace(record, provenance=inputs(**other))) == kinds


def test_queries_and_measures() -> None:
    assert found(made({"RR": BASE}), made({"RR": BASE[:60]})) == {"queries": 2}
    record = made({"RR": BASE, "AP": BASE})
    other = replace(record, measures=[ScoredMeasure("RR", "sum", True, None), ScoredMeasure("P@1", "mean", True, None)])
    assert found(record, other) == {"aggregate": 2, "direction": 2}
    assert {one.measure for one in differences(record, other)} == {"RR"}


def test_stored_scores_are_refused_or_forced() -> None:
    """Another corpus may be compared, and what neither record tells stands against nothing."""
    record = made({"RR": BASE}, "a")
    bare = replace(record, provenance=inputs())
    assert compare_records([bare, replace(bare, systems=made({"RR": BASE}, "b").systems)], ["x", "y"]).rows
    other = replace(made({"RR": BASE * 0.9}, "b"), provenance=inputs(judgments=B))
    with pytest.raises(DataError, match=r"x and y are not comparable \(judgments: the files differ\)"):
        compare_records([record, other], ["x", "y"])
    with pytest.raises(DataError, match="not comparable"):
        compare_records([record, replace(other, provenance=inputs())], ["x", "y"])
    forced = compare_records([record, other], ["x", "y"], force=True)
    (note,) = summary_notes(forced.record)
    assert note.key == "comparison.no_advice"
    assert forced.summary("en") == [tell(note, "en")]
    corpora = [replace(one, provenance=inputs(judgments=A, corpus=c)) for one, c in ((record, C), (other, D))]
    assert summary_notes(compare_records(corpora, ["x", "y"]).record)[0].key != "comparison.no_advice"
