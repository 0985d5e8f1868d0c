"""What is to be scored and how: measure names, contract preset and single choices resolved into one plan."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from rankgauge.errors import ContractError
from rankgauge.measures import Measure, parse_measures
from rankgauge.measures.presets import find_preset
from rankgauge.model.contract import Contract

__all__ = ["DEFAULT_MEASURES", "Plan", "make_plan"]

_HIGHEST = sys.float_info.max  # larger whole numbers are no floating-point numbers
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "R@10", "P@10")


@dataclass(frozen=True)
class Plan:
    """Measures and contract of an evaluation, after preset, options and threshold have been applied."""

    measures: Sequence[Measure]
    asked: Sequence[Measure]
    contract: Contract
    preset: str = "default"
    threshold: float | None = None
    """The score that a list's first document needs for the query to count as answered."""


def make_plan(
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
) -> Plan:
    """Resolve measure names, contract preset and single choices into one plan."""
    asked = parse_measures(measures)
    if isinstance(contract, Contract):
        base, name, resolved = contract, "custom", list(asked)
    elif contract is None or isinstance(contract, str):
        preset = find_preset(contract or "default")
        base, name, resolved = preset.contract, preset.name, [preset.apply(measure) for measure in asked]
    else:
        raise ContractError(f"contract={contract!r} is neither the name of a preset nor a Contract")
    if rel is not None:
        _check_number("rel", rel)
        resolved = [
            m.with_values(rel=rel)
            if m.definition.relevance and m.definition.parameter("rel") and not m.is_set("rel")
            else m
            for m in resolved
        ]
    if threshold is not None:
        _check_number("threshold", threshold)
        resolved = [
            m.with_values(threshold=threshold)
            if m.definition.parameter("threshold") and not m.is_set("threshold")
            else m
            for m in resolved
        ]
    else:
        threshold = next((m.get("threshold") for m in resolved if m.is_set("threshold")), None)
    changed = base.with_changes(ties=ties, missing=missing, no_relevant=no_relevant, duplicates=duplicates, depth=depth)
    return Plan(resolved, asked, changed, name, threshold)


def _check_number(name: str, value: Any) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not -_HIGHEST <= value <= _HIGHEST:
        raise ContractError(f"{name}={repr(value)[:40]} must be a number")
