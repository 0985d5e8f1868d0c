"""Labels with their judges, and the policies that make judgments of them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import DataError
from rankgauge.model.labels import KINDS, Label, LabelPolicy, Labels

labels = st.builds(
    Label,
    st.sampled_from(["q1", "q2"]),
    st.sampled_from(["d1", "d2"]),
    st.sampled_from([None, 0.0, 1.0, 2.0]),
    st.sampled_from(["ana", "bo", "gpt"]),
    st.sampled_from(KINDS),
)


def said(*grades: float | None, judge: str = "ana", kind: Any = "person") -> list[Label]:
    return [Label("q", "d", grade, judge, kind) for grade in grades]


@pytest.mark.parametrize(
    ("combine", "expected"), [("majority", 1.0), ("latest", 3.0), ("mean", 1.75), ("lowest", 1.0), ("highest", 3.0)]
)
def test_combining(combine: Any, expected: float) -> None:
    voices = [Label("q", "d", grade, name) for grade, name in ((1, "a"), (1, "b"), (2, "c"), (3, "e"))]
    assert Labels(voices).grades(LabelPolicy(combine=combine)) == {"q": {"d": expected}}


def test_people_before_models_and_ties_to_the_lower_grade() -> None:
    both = Labels([*said(3, judge="gpt", kind="model"), *said(1), *said(2, judge="bo")])
    assert both.grades() == {"q": {"d": 1.0}}
    assert both.grades(LabelPolicy(prefer=("model", "person"))) == {"q": {"d": 3.0}}
    assert both.grades(LabelPolicy(prefer=("clicks",))) == {}
    assert both.grades(LabelPolicy(prefer=(), combine="mean")) == {"q": {"d": 2.0}}
    assert [label.judge for label in both.conflicts()[("q", "d")]] == ["ana", "bo"]
    assert both.sources == {("model", "gpt"): 1, ("person", "ana"): 1, ("person", "bo"): 1}


def test_a_judge_has_one_voice_and_may_take_it_back() -> None:
    assert Labels(said(1, 2)).grades() == {"q": {"d": 2.0}}
    assert Labels(said(1, 2, None)).grades() == {}
    assert Labels(said(1, None, 0)).grades() == {"q": {"d": 0.0}}
    assert not Labels(said(1, 2)).conflicts()


def test_the_latest_by_time_where_all_have_one() -> None:
    late = Label("q", "d", 2, "ana", time="2026-05-02T00:00:00+02:00")
    early = Label("q", "d", 1, "bo", time="2026-05-01T23:00:00+00:00")
    assert Labels([early, late]).grades(LabelPolicy(combine="latest")) == {"q": {"d": 1.0}}  # 23:00 is after 22:00
    assert Labels([late, early]).version == Labels([early, late]).version


@given(st.lists(labels, max_size=30))
def test_reading_twice_changes_nothing(given: list[Label]) -> None:
    once = Labels(given)
    again = once.added([once.voices[pair][i] for pair in once.voices for i in range(len(once.voices[pair]))])
    assert again == once
    for combine in ("majority", "latest", "mean"):
        assert again.grades(LabelPolicy(combine=combine)) == once.grades(LabelPolicy(combine=combine))
    assert Labels(once) == once
    assert set(once.voices) == {
        (query, doc) for query, docs in once.grades(LabelPolicy(prefer=())).items() for doc in docs
    }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"query": ""}, "needs `query`"),
        ({"grade": float("nan")}, "no finite number"),
        ({"grade": True}, "no finite number"),
        ({"grade": "2"}, "no finite number"),
        ({"kind": "robot"}, "none of person, model"),
        ({"time": "yesterday"}, "no time"),
    ],
)
def test_mistakes(values: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        Label(**{"query": "q", "doc": "d", "grade": 1, "judge": "ana", **values})


@pytest.mark.parametrize("wrong", ["text", {"q": 1}, [("q", "d", 1)], 3])
def test_no_labels(wrong: Any) -> None:
    with pytest.raises(DataError, match="Label"):
        Labels(wrong)
    with pytest.raises(DataError, match="none of"):
        LabelPolicy(combine="median")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="twice"):
        LabelPolicy(prefer=("person", "person"))


def test_the_latest_adjudication_settles() -> None:
    """It is a role of the label: Ana's own review stays one of those that disagree."""
    reviews = [Label("q", "d", 0, "ana"), Label("q", "d", 2, "bo"), Label("q", "d", 2, "cho")]
    settled = Labels([*reviews, Label("q", "d", 1, "ana", adjudicates=True), Label("q", "d", 0, "bo")])
    assert Labels(reviews).grades() == {"q": {"d": 2.0}}
    assert list(Labels(reviews).conflicts()) == [("q", "d")]
    assert settled.grades() == {"q": {"d": 1.0}}  # also after a later review
    assert settled.grades(LabelPolicy(combine="highest", prefer=())) == {"q": {"d": 1.0}}
    assert not settled.conflicts()
    assert settled.sources == {("person", "ana"): 1, ("person", "bo"): 1, ("person", "cho"): 1}
    again = settled.added([Label("q", "d", 3, "cho", adjudicates=True)])
    assert again.grades() == {"q": {"d": 3.0}}
    undone = again.added([Label("q", "d", None, name, adjudicates=True) for name in ("ana", "cho")])
    assert undone.grades() == {"q": {"d": 0.0}}  # ana 0, bo 0, cho 2
    assert list(undone.conflicts()) == [("q", "d")]
    assert [(one.judge, one.grade) for one in undone.history("q", "d")][-2:] == [("ana", None), ("cho", None)]
    assert undone.history("q", "other") == []
    model = Label("q", "d", 3, "gpt", "model", adjudicates=True)
    assert Labels([*reviews, model]).grades() == {"q": {"d": 2.0}}  # of models, and people come before these


def test_a_remark_of_a_person_is_kept_without_a_grade() -> None:
    remark = Label("q", "d", None, "ana", reason="cut off")
    assert list(Labels([remark])) == [remark]
    assert Labels([remark]).grades() == {}
    later = Label("q", "d", 1, "ana", reason="cut off after all")
    assert len(Labels([remark, later, later, Label("q", "d", 1, "ana")])) == 2
    assert len(Labels([Label("q", "d", 1, "gpt", "model", reason=text) for text in ("a", "b")])) == 1


def test_adjudicates_is_a_truth_value() -> None:
    with pytest.raises(DataError, match="neither true nor false"):
        Label("q", "d", 1, "ana", adjudicates="yes")  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be set here")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/Los_Angeles"])
def test_times_without_a_zone_mean_the_same_on_every_machine(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times = ["2026-01-01T12:00:00", "2026-01-01T12:30:00Z"]
    said_at = [Label("q", "d", grade, f"judge {grade}", time=at) for grade, at in enumerate(times, start=1)]
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        assert Labels(said_at).grades(LabelPolicy.named("latest")) == {"q": {"d": 2.0}}
        assert Labels(said_at[::-1]).grades(LabelPolicy.named("latest")) == {"q": {"d": 2.0}}
    time.tzset()


def test_the_first_and_last_times_there_are() -> None:
    times = ["9999-12-31T23:59:59-23:00", "0001-01-01", "9999-12-31T23:59:59", "0001-01-01T00:00:00+23:00"]
    voices = [Label("q", "d", grade, f"judge {grade}", time=at) for grade, at in enumerate(times)]
    assert [label.grade for label in Labels(voices).voices["q", "d"]] == [3, 1, 2, 0]


@pytest.mark.parametrize("name", ["grade", "low", "high"])
def test_numbers_too_large_for_a_float(name: str) -> None:
    values: dict[str, Any] = {"query": "q", "doc": "d", "grade": 1, "judge": "ana", name: 10**400}
    with pytest.raises(DataError, match="too large a number"):
        Label(**values)
