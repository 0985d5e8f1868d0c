"""What a judge answered, as grades: each is one of the scale, or there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankgauge.testsets.chat import Reply
from rankgauge.testsets.chat_json import json_in
from rankgauge.testsets.chat_requests import UnusableError
from rankgauge.testsets.rubric import Rubric
from rankgauge.words.visible import clipped

__all__ = ["Verdict", "schema_for", "verdicts_in"]

_MOST_REASON = 400


@dataclass(frozen=True)
class Verdict:
    """The grade of one document, of its criteria, and why."""

    grade: int
    reason: str = ""
    criteria: Mapping[str, int] = field(default_factory=dict)


def schema_for(rubric: Rubric, criteria: Sequence[str], documents: int, *, reasons: bool) -> dict[str, Any]:
    """The JSON schema of an answer: an object for one document, or a list of them by their numbers. The reason stands
    first, for a model says what it has thought only if it has."""
    grade = {"type": "integer", "enum": list(range(rubric.lowest, rubric.highest + 1))}
    parts: dict[str, Any] = {"document": {"type": "integer"}} if documents > 1 else {}
    if reasons:
        parts["reason"] = {"type": "string"}
    if criteria:
        parts["criteria"] = _object({str(number): grade for number in range(1, len(criteria) + 1)})
    parts["grade"] = grade
    one = _object(parts)
    return one if documents == 1 else _object({"grades": {"type": "array", "items": one}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """As strict modes want it: all is required and nothing else allowed."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def verdicts_in(reply: Reply, rubric: Rubric, criteria: Sequence[str], documents: int) -> dict[int, Verdict]:
    """The verdicts of a reply by the number of the document, from 1. Those of a list that lack a grade of the scale
    are left out; an `UnusableError` where none is left."""
    if reply.refusal or reply.finish == "content_filter":
        raise UnusableError("refused")
    if not reply.text.strip():
        raise UnusableError("cut" if reply.finish == "length" else "empty")
    if documents == 1 and reply.text.strip().lstrip("-").isdigit():  # the grade alone
        return {1: _verdict({"grade": reply.text.strip()}, rubric, criteria)}
    try:
        found = json_in(reply.text)
    except ValueError as error:
        raise UnusableError("cut" if reply.finish == "length" else "no_json", str(error)) from None
    if documents == 1:
        listed = found.get("grades")
        inner = listed[0] if isinstance(listed, list) and len(listed) == 1 else found
        return {1: _verdict(inner, rubric, criteria)}
    return _of_list(found, rubric, criteria, documents)


def _of_list(found: Mapping[str, Any], rubric: Rubric, criteria: Sequence[str], documents: int) -> dict[int, Verdict]:
    listed = found.get("grades")
    if not isinstance(listed, list):
        raise UnusableError("no_grade")
    verdicts: dict[int, Verdict] = {}
    twice, first = set(), None
    for item in listed:
        number = _whole(item.get("document")) if isinstance(item, Mapping) else None
        if number is None or not 1 <= number <= documents:
            continue
        if number in verdicts:
            twice.add(number)  # nobody knows which is meant
        try:
            verdicts[number] = _verdict(item, rubric, criteria)
        except UnusableError as error:
            first = first or error
    found_ones = {number: verdict for number, verdict in verdicts.items() if number not in twice}
    if not found_ones:
        raise first or UnusableError("no_grade")
    return found_ones


def _verdict(item: Any, rubric: Rubric, criteria: Sequence[str]) -> Verdict:
    if not isinstance(item, Mapping) or "grade" not in item:
        raise UnusableError("no_grade")
    grade = _graded(item["grade"], rubric)
    reason = item.get("reason")
    own: dict[str, int] = {}
    if criteria:
        given = item.get("criteria")
        if not isinstance(given, Mapping):
            raise UnusableError("no_grade", "criteria")
        for number, name in enumerate(criteria, start=1):
            if str(number) not in given:
                raise UnusableError("no_grade", name)
            own[name] = _graded(given[str(number)], rubric)
    return Verdict(grade, clipped(reason.strip(), _MOST_REASON) if isinstance(reason, str) else "", own)


def _graded(value: Any, rubric: Rubric) -> int:
    grade = _whole(value)
    if grade is None:
        raise UnusableError("no_grade", clipped(repr(value), 40))
    if not rubric.lowest <= grade <= rubric.highest:
        raise UnusableError("out_of_scale", str(grade))
    return grade


def _whole(value: Any) -> int | None:
    """A whole number, also as 2.0 or "2"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.lstrip("-").isdigit() and text.isascii() and len(text) < 6 else None
    return (
        int(value)
        if isinstance(value, int | float) and value == value and abs(value) < 1e6 and value == int(value)
        else None
    )
