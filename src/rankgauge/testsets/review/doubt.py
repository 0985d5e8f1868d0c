"""How far a document's grade is in doubt: labels that differ, a judge that may have meant another grade, and what
models of the same set err by where people have labelled too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rankgauge.model.labels import Label, LabelPolicy, Labels

__all__ = ["Doubt", "doubts", "model_error"]

_LEAST_CHECKED = 10
_UNKNOWN_ERROR = 0.25
"""Of a model that nobody checked, as a share of the scale: one grade in four, or nearly, as published judges err."""


@dataclass(frozen=True)
class Doubt:
    """Why a labelled document should be reviewed."""

    why: Literal["conflict", "uncertain", "unreviewed"]
    size: float
    """A share of the scale, above 0 and at most 1."""


def doubts(labels: Labels, policy: LabelPolicy, span: float) -> dict[tuple[str, str], Doubt]:
    """The pairs whose grades are in doubt. What a person adjudicated is settled, and where one person labelled a pair,
    or all agree, nothing is in doubt."""
    error = model_error(labels, span)
    found = {}
    for pair, voices in labels.voices.items():
        doubt = _doubt_of(policy.counting(voices), span, error)
        if doubt is not None:
            found[pair] = doubt
    return found


def _doubt_of(counting: Sequence[Label], span: float, error: float) -> Doubt | None:
    if not counting or any(label.adjudicates for label in counting):
        return None
    grades = [label.grade for label in counting if label.grade is not None]
    apart = max(grades) - min(grades)
    if apart > 0:
        return Doubt("conflict", min(1.0, apart / span))
    spread = max(label.spread for label in counting)
    if spread > 0:
        return Doubt("uncertain", min(1.0, max(spread / span, 0.0 if counting[0].kind == "person" else error)))
    return Doubt("unreviewed", error) if all(label.kind == "model" for label in counting) and error > 0 else None


def model_error(labels: Labels, span: float) -> float:
    """The mean distance of a model's grade from a person's, as a share of the scale, over the pairs that have both; a
    quarter where these are too few to tell."""
    apart = []
    for voices in labels.voices.values():
        people = [one.grade for one in voices if one.kind == "person" and one.grade is not None]
        models = [one.grade for one in voices if one.kind == "model" and one.grade is not None]
        apart += [abs(model - person) for model in models for person in people]
    return min(1.0, sum(apart) / len(apart) / span) if len(apart) >= _LEAST_CHECKED else _UNKNOWN_ERROR
