"""Tables of a TOML file as dataclasses: all faults together, each with its place and what to write."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from rankgauge.formats.settings import read_table


@dataclass(frozen=True)
class Inner:
    name: Annotated[str, Meta(examples=["bm25"])]
    weight: float = 1.0


@dataclass(frozen=True)
class Settings:
    path: Annotated[str, Meta(examples=["testset.json"])]
    k: Annotated[int, Meta(ge=1)] = 10
    timeout: Annotated[float, Meta(gt=0)] = 30.0
    share: Annotated[float, Meta(ge=0, le=1)] = 0.05
    limit: Annotated[int, Meta(ge=2, description="a whole number, 2 or more")] | None = None
    kind: Literal["fixed", "stream"] = "fixed"
    cache: str | bool = ".rankgauge"
    names: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    token: Annotated[str, Meta(extra={"secret": True})] | None = None
    inner: Inner | None = None
    parts: list[Inner] = field(default_factory=list)


def faults(place: str = "calls", **table: Any) -> list[str]:
    return read_table({"path": "x", **table}, place, Settings)[1]


def test_a_right_table_gives_the_dataclass() -> None:
    table = {
        "path": "t.json",
        "k": 3,
        "timeout": 2,
        "cache": False,
        "parameters": {"since": datetime.date(2024, 1, 1), "most": float("inf")},
        "inner": {"name": "a"},
        "parts": [{"name": "b", "weight": 2}],
    }
    found, wrong = read_table(table, "calls", Settings)
    assert wrong == []
    assert found == Settings(
        "t.json", 3, 2.0, cache=False, parameters=table["parameters"], inner=Inner("a"), parts=[Inner("b", 2.0)]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 0}, "calls.k: must be a whole number of at least 1, not 0"),
        ({"k": 2.0}, "calls.k: must be a whole number of at least 1, not 2.0"),
        ({"k": True}, "calls.k: must be a whole number of at least 1, not True"),
        ({"timeout": 0}, "calls.timeout: must be a number above 0, not 0"),
        ({"timeout": float("inf")}, "calls.timeout: must be a finite number, not inf"),
        ({"share": float("nan")}, "calls.share: must be a finite number, not nan"),
        ({"share": 2}, "calls.share: must be a number between 0 and 1, not 2"),
        ({"limit": 1}, "calls.limit: must be a whole number, 2 or more, not 1"),
        ({"kind": "fixd"}, "calls.kind: must be one of fixed, stream, not 'fixd'"),
        ({"cache": 3}, "calls.cache: must be a text or true or false, not 3"),
        ({"names": ["a", 3]}, "calls.names: must be a list of texts, not ['a', 3]"),
        ({"names": "a"}, "calls.names: must be a list of texts, not 'a'"),
        ({"parameters": "a"}, "calls.parameters: must be a table, not 'a'"),
        ({"token": ["secret"]}, "calls.token: must be a text, not ***"),
        ({"inner": 3}, "calls.inner: must be a table, [calls.inner], not 3"),
        ({"inner": {"name": 1}}, "calls.inner.name: must be a text, not 1"),
        ({"parts": {"name": "a"}}, "calls.parts: must be a list of tables, [[calls.parts]], not {'name': 'a'}"),
        ({"parts": [{}]}, 'calls.parts 1.name: missing; write name = "bm25"'),
        ({"timout": 3}, "calls.timout: unknown; did you mean timeout?"),
    ],
)
def test_each_fault_says_its_place_and_what_to_write(given: dict[str, Any], said: str) -> None:
    assert faults(**given) == [said]


def test_at_the_top_of_a_file_a_key_stands_alone() -> None:
    assert faults("", k=0) == ["k: must be a whole number of at least 1, not 0"]


def test_an_unknown_key_that_resembles_nothing_lists_what_is_known() -> None:
    (fault,) = faults(zzz=1)
    assert fault.startswith("calls.zzz: unknown; known are: path, k, timeout")


def test_all_faults_together_and_defaults_for_what_is_faulty() -> None:
    found, wrong = read_table({"path": "t", "k": 0, "kind": 3, "kidn": 4, "share": 0.5}, "calls", Settings)
    assert len(wrong) == 3
    assert found == Settings("t", share=0.5)


def test_nothing_without_what_is_needed() -> None:
    assert read_table({"k": 0}, "calls", Settings) == (
        None,
        ["calls.k: must be a whole number of at least 1, not 0", 'calls.path: missing; write path = "testset.json"'],
    )
    assert read_table({"path": 3}, "calls", Settings) == (None, ["calls.path: must be a text, not 3"])
    assert read_table("fast", "calls", Settings) == (None, ["calls: must be a table, [calls], not 'fast'"])


def test_long_values_are_cut() -> None:
    assert len(faults(k="x" * 10_000)[0]) < 300
