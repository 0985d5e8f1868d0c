"""Why does my number differ from theirs? Try every contract and every variant of the measure, and list what fits."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.engine.matching import match
from rankgauge.engine.scoring import counted_queries, has_relevant, score_queries
from rankgauge.errors import DataError, MeasureError
from rankgauge.evaluation.inputs import read_judgments, read_run
from rankgauge.formats import load_run
from rankgauge.measures import Law, Measure, parse_measure
from rankgauge.measures.presets import PRESETS
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools, RankedGrades
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet

__all__ = ["Claim", "Reconciliation", "Variant", "reconcile"]

_ORDERS: tuple[dict[str, str], ...] = (
    {},
    {"scores": "float32"},
    {"ties": "stable"},
    {"ties": "given"},
    {"ties": "expected"},
)
_MOST_GRADES = 6
_RECALLS = ("R", "Success", "AllRel")
"""Three measures that are all called recall: the share of the relevant documents, any of them (recall_any, hit rate),
all of them (recall_all)."""


@dataclass(frozen=True)
class Claim:
    """The figure to be explained, with the digits it was shown with."""

    value: float
    digits: int
    percent: bool = False

    @staticmethod
    def of(text: str) -> Claim:
        plain = text.strip().removesuffix("%").strip()
        try:
            value = float(plain)
        except ValueError:
            raise DataError(f"`value={text!r}` is no number; example: 0.6542") from None
        if not math.isfinite(value):
            raise DataError(f"`value={text!r}` is no finite number")
        digits = len(plain.partition(".")[2]) if "e" not in plain.lower() else 12
        return Claim(value, digits, percent=text.strip().endswith("%"))

    def is_percentage(self, bounded: bool) -> bool:
        return self.percent or (bounded and self.value > 1)

    def fits(self, value: float, *, bounded: bool) -> bool:
        """Whether a value rounds to the figure; a figure above 1 of a measure up to 1 is read as a percentage."""
        scale = 100.0 if self.is_percentage(bounded) else 1.0
        return abs(value * scale - self.value) <= 0.5 * 10.0**-self.digits * (1 + 1e-9)


@dataclass(frozen=True)
class Variant:
    """One way to count: the measure, the contract, and which queries were averaged."""

    measure: Measure
    contract: Contract
    queries: str
    """`all`, `graded` for only those with graded labels, or `one` where those without a relevant document count 1."""
    value: float
    changes: tuple[str, ...]
    """What differs from the default, for people to read."""
    presets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reconciliation:
    """Variants that give the figure, plainest first; and the nearest ones if none does."""

    claim: Claim
    measure: Measure
    tried: int
    matches: list[Variant] = field(default_factory=list)
    nearest: list[Variant] = field(default_factory=list)

    def __repr__(self) -> str:
        first = next(iter(self.matches or self.nearest), None)
        told = ""
        if first is not None:
            how = ", ".join(first.changes) or "the defaults"
            told = f", {'first' if self.matches else f'nearest {first.value:.{self.claim.digits}f}'}: {how}"
        return f"Reconciliation({self.measure}={self.claim.value}: {len(self.matches)} of {self.tried} variants{told})"


@named_arguments
def reconcile(
    qrels: Qrels | TestSet | Mapping[str, Any] | str | os.PathLike[str] | Any,
    run: Run | Mapping[str, Any] | str | os.PathLike[str] | Any,
    measure: str | Measure,
    value: str | float,
) -> Reconciliation:
    """Find the conventions under which `measure` has `value`, to the digits shown.

    Judgments and run are of any kind that `evaluate` takes.

    Variants that score every query alike on this data are one: the plainest stands for them, with all presets' names.
    """
    asked = parse_measure(measure)
    claim = Claim.of(str(value))
    judgments, _ = read_judgments(qrels)
    lists = load_run(run) if isinstance(run, str | os.PathLike) else read_run(run)  # whole, for it is scored many times
    silent = bool(judgments.no_answer)
    alike = [asked, *_alike(asked)]
    presets = {key: names for one in alike for key, names in _preset_names(one, silent).items()}
    groups: dict[bytes, Variant] = {}
    tried = 0
    for order, drop_self in itertools.product(_ORDERS, (False, True)):
        contract = Contract(duplicates="first").with_changes(**order, drop_self=drop_self)
        ranked = match(judgments, lists, contract).ranked
        choices = list(dict.fromkeys(choice for one in alike for choice in _measure_variants(one, ranked)))
        values, _ = score_queries(ranked, choices)
        rows = byte_order(ranked.queries)
        for j, choice in enumerate(choices):
            found = has_relevant(ranked, choice)
            for full, queries in _countings(contract, silent=silent, without=not found.all()):
                mask = _mask(ranked, choice, full, queries == "graded")
                if not mask.any():
                    continue
                tried += 1
                column = np.where(found, values[:, j], 1.0) if queries == "one" else values[:, j]
                variant = Variant(
                    choice,
                    full,
                    queries,
                    aggregate(choice.definition.aggregate, column, mask, rows),
                    _changes(asked, choice, full, queries),
                    tuple(presets.get((choice, full), ())) if queries == "all" else (),
                )
                scores = column.round(12) + 0.0  # an average over tied orders ends in other digits
                key = str(choice).encode() + mask.tobytes() + scores.tobytes()
                groups[key] = _plainer(groups.get(key, variant), variant)
    return _result(claim, asked, list(groups.values()), tried)


def _countings(contract: Contract, *, silent: bool, without: bool) -> Iterator[tuple[Contract, str]]:
    """Which queries count, and how. That those without a relevant document count as 1 is tried where there are such."""
    answers = ("skip", "count") if silent else ("skip",)
    for missing, no_answer in itertools.product(("zero", "skip"), answers):
        own = contract.with_changes(missing=missing, no_answer=no_answer, duplicates="error")
        for no_relevant, queries in itertools.product(("count", "skip"), ("all", "graded")):
            yield own.with_changes(no_relevant=no_relevant), queries
        if without:
            yield own, "one"


def _plainer(one: Variant, other: Variant) -> Variant:
    """Of two variants with the same scores, the one with fewer changes, under the names of both."""
    first = one if len(one.changes) <= len(other.changes) else other
    return replace(first, presets=tuple(dict.fromkeys((*one.presets, *other.presets))))


def _result(claim: Claim, asked: Measure, variants: list[Variant], tried: int) -> Reconciliation:
    bounded = Law.BOUNDED in asked.definition.laws
    matches = [variant for variant in variants if claim.fits(variant.value, bounded=bounded)]
    matches.sort(key=lambda v: (not v.presets, len(v.changes)))  # known tools' conventions first
    nearest: list[Variant] = []
    if not matches:
        goal = claim.value / 100 if claim.is_percentage(bounded) else claim.value
        nearest = sorted(variants, key=lambda v: (abs(v.value - goal), len(v.changes)))[:5]
    return Reconciliation(claim, asked, tried, matches, nearest)


def _preset_names(asked: Measure, silent: bool) -> dict[tuple[Measure, Contract], list[str]]:
    named: dict[tuple[Measure, Contract], list[str]] = {}
    for preset in PRESETS.values():
        try:
            measure = preset.apply(asked)
        except MeasureError:
            continue
        contract = preset.contract.with_changes(
            missing="zero" if preset.contract.missing == "error" else preset.contract.missing,
            no_answer=preset.contract.no_answer if silent else "skip",
        )
        named.setdefault((measure, contract), []).append(preset.name)
    return named


def _mask(ranked: RankedGrades, measure: Measure, contract: Contract, graded: bool) -> Bools:
    mask = counted_queries(ranked, [measure], contract)[:, 0]
    if graded:
        labelled = (ranked.judged_grades != 0) & (ranked.judged_grades != 1)
        mask &= np.bincount(ranked.judged_owner[labelled], minlength=len(ranked)) > 0
    return mask


def _measure_variants(asked: Measure, ranked: RankedGrades) -> Iterator[Measure]:
    """The measure under every setting of the parameters that tools disagree on; parameters the caller set stay."""
    top = float(ranked.judged_grades.max(initial=0.0))
    grades = sorted({float(g) for g in np.unique(ranked.judged_grades) if g > 0})[:_MOST_GRADES]
    options: dict[str, list[object]] = {
        "rel": [1.0, *[g for g in grades if g != 1.0], 0.0],
        "judged_only": [False, True],
        "gain": ["linear", "exp"],
        "discount": ["log2(i+1)", "log2(i)"],
        "ideal": ["judged", "retrieved", "returned"],
        "over": ["k", "returned"],
        "capped": [False, True],
        "norm": ["R", "min"],
        "rule": ["trec_eval10", "trec_eval9"],
        "max_grade": [max(top, 1.0), 4.0] if asked.name in ("ERR", "nERR") else [],
        "grades": ["binary", "linear"] if asked.name == "AP" else ["binary", "scaled"],
    }
    chosen = [
        [(p.name, value) for value in options.get(p.name, [])]
        for p in asked.definition.parameters
        if options.get(p.name) and not asked.is_set(p.name)
    ]
    seen: set[Measure] = set()
    for combination in itertools.product(*chosen):
        values = dict(combination)
        if values.get("grades") == "linear":
            values["max_grade"] = max(top, 1.0)
        try:
            variant = asked.with_values(**values)
            variant.score(ranked)
        except (MeasureError, DataError):
            continue
        if variant not in seen:
            seen.add(variant)
            yield variant


def _alike(asked: Measure) -> Iterator[Measure]:
    """Other measures that go by the same name."""
    if asked.name in _RECALLS and asked.at is not None and not {name for name, _ in asked.values} - {"rel"}:
        for name in _RECALLS:
            if name != asked.name:
                yield parse_measure(f"{name}@{asked.at}").with_values(**dict(asked.values))


def _changes(asked: Measure, measure: Measure, contract: Contract, queries: str) -> tuple[str, ...]:
    default = Contract()
    changes = [] if measure.name == asked.name else [f"measure={measure.with_values()}"]
    changes += [f"{name}={value!r}" for name, value in measure.values if (name, value) not in asked.values]
    for name, value in contract.to_dict().items():
        if value != getattr(default, name):
            changes.append(f"{name}={value}")
    if queries != "all":
        changes.append({"graded": "queries=graded", "one": "no_relevant=1"}[queries])
    return tuple(changes)
