"""Damaged records: refused with the place, or harmless; nothing but a `RankgaugeError` comes out."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest

import rankgauge
from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.record import Record
from rankgauge.words import Note

QRELS = {f"q{i}": {"d1": 2, "d2": 1, "d3": 0} for i in range(4)}
RUNS: dict[str, dict[str, dict[str, float]]] = {
    "a": {f"q{i}": {"d1": 3.0, "d9": 2.0, "d2": 1.0} for i in range(4)},
    "b": {f"q{i}": {"d9": 3.0, "d3": 3.0, "d1": float(i)} for i in range(4)},
    "c": {f"q{i}": {"d2": 2.0} for i in range(3)},
}
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2,
    10**40,
    1e99,
    "",
    "xyz",
    "nDCG@10",
    [],
    [1],
    {},
    {"key": 3},
    "DELETED",
    "TWICE",
]


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notes as they are outside these tests, where a damaged one is no mistake in a test."""
    monkeypatch.setattr(Note.__post_init__, "paused", True)  # msgspec keeps the function itself


@pytest.fixture(scope="module", params=["evaluation", "comparison"])
def document(request: pytest.FixtureRequest) -> dict[str, Any]:
    measures = ["nDCG@10", "RR", "NumRet"]
    if request.param == "evaluation":
        return rankgauge.evaluate(QRELS, RUNS["c"], measures).record.to_dict()
    return rankgauge.compare(QRELS, RUNS, measures[:2]).record.to_dict()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*path, key)
        yield from places(item, (*path, key))


def damaged(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    found = copy.deepcopy(document)
    inside: Any = found
    for key in path[:-1]:
        inside = inside[key]
    if value == "DELETED":
        del inside[path[-1]]
    elif value == "TWICE" and isinstance(inside, list):
        inside.append(inside[path[-1]])
    else:
        inside[path[-1]] = value
    return found


@pytest.mark.usefixtures("unchecked")
def test_no_damage_ends_in_a_traceback(document: dict[str, Any]) -> None:
    every = [(path, value) for path in places(document) for value in VALUES]
    for path, value in random.Random(0).sample(every, 250):
        try:
            record = Record.from_dict(damaged(document, path, value))
            assert Record.from_dict(record.to_dict()).to_dict() == record.to_dict()
            for form in ("terminal", "html"):
                rankgauge.report(record, format=form, language="zh")
            rankgauge.gate(record, record, system=record.systems[0].name)
        except RankgaugeError:
            continue
        except Exception as error:
            pytest.fail(f"{path} = {value!r}: {error!r}")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("systems", 0, "means", "RR", "interval", "low"),
            2,
            "systems[0].means.RR.interval: 2 to 1 at 0.95 is no interval",
        ),
        (("systems", 0, "means", "RR", "interval", "level"), 7, "is no interval"),
        (("systems", 0, "means", "RR", "queries"), -5, "systems[0].means.RR: a mean of -5 queries"),
        (("contract", "depth"), 10**40, "contract.depth: the number is too large"),
        (("queries",), [], "system 'a', nDCG@10: not 0 scores"),
        (("comparison", "rows", 0, "a"), "xyz", "the comparison is of 'xyz', which is no system of the record"),
        (("comparison", "notes", 0, "parameters"), {}, "comparison.notes[0]: the note"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_is_said(path: tuple[Any, ...], value: Any, said: str) -> None:
    document = rankgauge.compare(QRELS, RUNS, ["nDCG@10", "RR"]).record.to_dict()
    with pytest.raises(FormatError) as caught:
        Record.from_dict(damaged(document, path, value), "r.json")
    assert said in str(caught.value)


@pytest.mark.usefixtures("unchecked")
def test_a_note_of_a_later_release_is_shown_by_its_key() -> None:
    document = rankgauge.evaluate(QRELS, RUNS["c"], ["RR"]).record.to_dict()
    document["systems"][0]["notes"].append({"key": "evaluation.later", "parameters": {"n": 3}, "level": "warning"})
    assert "evaluation.later" in rankgauge.report(Record.from_dict(document), format="markdown")
