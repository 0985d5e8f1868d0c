"""The labels and the policy of a test set in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.label_items import item_of, label_of
from rankgauge.model.labels import Label, LabelPolicy, Labels
from rankgauge.model.query import Query
from rankgauge.model.testset import TestSet

__all__ = ["labelled", "labels_items", "policy_item"]


def labels_items(labels: Labels) -> list[dict[str, Any]]:
    return [item_of(label) for label in labels]


def policy_item(policy: LabelPolicy) -> dict[str, Any]:
    return {"prefer": list(policy.prefer), "combine": policy.combine}


def labelled(queries: Sequence[Query], items: Any, policy: Any, name: str) -> TestSet:
    """A test set from its queries, labels and policy. The grades that stand with the queries are there for programs
    that know no labels; where they are not those of the labels, one of the two was edited."""
    try:
        made = TestSet.from_labels(queries, Labels(_labels(items, name), name=name), _policy(policy), name=name)
    except FormatError:
        raise
    except DataError as error:
        raise FormatError(name, [str(error).removeprefix(f"{name}: ")]) from None
    faults = [fault for before, after in zip(queries, made, strict=True) for fault in _edited(before, after)]
    if faults:
        raise FormatError(
            name,
            faults,
            hint='to change a grade, add a label; to do without labels, take "labels" and "policy" out of the file',
        )
    return made


def _labels(items: Any, name: str) -> list[Label]:
    if not isinstance(items, list):
        raise FormatError(name, ['"labels" must be a list of labels'])
    found, faults = [], []
    for number, item in enumerate(items, start=1):
        try:
            found.append(label_of(item))
        except DataError as error:
            faults.append(f"label {number}: {error}")
    if faults:
        raise FormatError(name, faults)
    return found


def _policy(value: Any) -> LabelPolicy:
    if value is None:
        return LabelPolicy()
    kinds = value.get("prefer", []) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(kinds, list) or set(value) - {"prefer", "combine"}:
        raise DataError('"policy" must be an object such as {"prefer": ["person", "model"], "combine": "majority"}')
    return LabelPolicy(**value)


def _edited(before: Query, after: Query) -> list[str]:
    docs = [doc for doc in {**before.grades, **after.grades} if before.grades.get(doc) != after.grades.get(doc)]
    return [
        f"query {before.id!r}: document {doc!r} has the grade {_told(before.grades.get(doc))}, but by its labels "
        f"{_told(after.grades.get(doc))}"
        for doc in docs
    ]


def _told(grade: float | None) -> str:
    return "none" if grade is None else f"{grade:g}"
