"""What the judgments of a record came from, where the test set kept who gave them."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.model.labels import Kind, LabelPolicy
from rankgauge.model.testset import TestSet

__all__ = ["LabelSource", "LabelledTestSet", "labelled_testset"]


@dataclass(frozen=True)
class LabelSource:
    """Of how many documents a judge gave the grade."""

    kind: Kind
    judge: str
    labels: int


@dataclass(frozen=True)
class LabelledTestSet:
    """Which version of a test set it was, and how its grades came from labels."""

    version: str
    """A hash of all that it said."""
    policy: LabelPolicy
    sources: list[LabelSource]


def labelled_testset(test_set: object) -> LabelledTestSet | None:
    """None where the test set has no labels, only grades."""
    if not isinstance(test_set, TestSet) or test_set.policy is None:
        return None
    sources = [LabelSource(kind, judge, n) for (kind, judge), n in test_set.labels.sources.items()]
    return LabelledTestSet(test_set.version, test_set.policy, sources)
