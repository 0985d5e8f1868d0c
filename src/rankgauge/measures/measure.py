"""A measure as a value: a name, its parameters and its depth. Its text is its identity and parses back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from rankgauge.arguments import named_arguments
from rankgauge.errors import MeasureError
from rankgauge.model.ranked import Floats, RankedGrades

__all__ = ["AGGREGATES", "Aggregate", "Definition", "Form", "Kernel", "Law", "Measure", "Parameter", "Value"]

Value = bool | int | float | str | tuple[tuple[float, float], ...] | None
Aggregate = Literal["mean", "sum", "geometric"]
AGGREGATES = get_args(Aggregate)
Kernel = Callable[[RankedGrades, "Measure"], Floats]
Form = Literal["additive", "first", "sorted", ""]
"""How a score depends on who has which grade; see `Definition.form`."""


class Law:
    """Laws a measure can declare; the tests check each declared law over the whole registry."""

    BOUNDED = "between 0 and 1"
    PERFECT = "a perfect list scores 1"
    MONOTONE = "raising a relevant document one rank never lowers the score"
    GAIN = "raising the grade of a retrieved document never lowers the score when the ideal is fixed"
    BLIND = "the order of documents below the depth does not matter"
    UNJUDGED = "an unjudged document behaves like a judged non-relevant one"
    EMPTY_ZERO = "an empty list scores 0"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure: its type, default and what it means."""

    name: str
    kind: type
    default: Value
    help: str
    choices: tuple[Value, ...] = ()
    least: float | None = None
    most: float | None = None

    def check(self, measure: str, value: Any) -> Value:
        """The value in its canonical type, or a `MeasureError`."""
        if self.kind is dict:
            return self._gains(measure, value)
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if self.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None and self.default is None:
            return None
        if type(value) is not self.kind:
            raise MeasureError(
                f"{measure}: {self.name}={value!r} is not {_KINDS[self.kind]}; "
                f"example: {measure}({self.name}={_EXAMPLES[self.kind]})"
            )
        if self.choices and value not in self.choices:
            raise MeasureError(f"{measure}: {self.name}={value!r} is not one of {', '.join(map(repr, self.choices))}")
        checked: Any = value
        low = self.least is not None and checked < self.least
        high = self.most is not None and checked > self.most
        if low or high or (self.kind is float and not math.isfinite(checked)):
            bounds = "a finite number" if self.least is None else f"at least {self.least:g}"
            if self.most is not None:
                bounds = f"between {self.least:g} and {self.most:g}"
            raise MeasureError(f"{measure}: {self.name}={value!r} must be {bounds}")
        result: Value = checked
        return result

    def _gains(self, measure: str, value: Any) -> Value:
        if value is None:
            return None
        pairs = value.items() if isinstance(value, Mapping) else value
        try:
            gains = tuple(sorted((float(grade), float(gain)) for grade, gain in pairs))
        except (TypeError, ValueError):
            raise MeasureError(
                f"{measure}: {self.name}={value!r} maps no grades to gains; example: {self.name}={{1: 1, 2: 3}}"
            ) from None
        return gains or None


_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "True or False"}
_EXAMPLES = {int: "2", float: "0.5", str: "'exp'", bool: "True"}


@dataclass(frozen=True)
class Definition:
    """Everything the registry knows of a measure, whatever its parameters.

    `at` names what stands behind the `@`: a depth `k`, or something else such as a recall level.
    """

    name: str
    kernel: Kernel
    formula: str
    parameters: tuple[Parameter, ...] = ()
    at: Parameter | None = None
    at_required: bool = False
    aggregate: Aggregate = "mean"
    spellings: tuple[str, ...] = ()
    """Other names beside trec_eval's, compared without case, spaces, hyphens and underscores; `name@k` and `name_k`
    follow by rule."""
    variants: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """Names that stand for this measure with some parameters set, such as capped recall."""
    trec: str | None = None
    """The name in trec_eval's output without a depth, and with one (`{at}` is the depth)."""
    trec_at: str | None = None
    renamed: tuple[str, str] | None = None
    """(parameter, name): the name that is printed when that parameter is set, as `F(beta=2)` beside `F1`."""
    family: str = "other"
    laws: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    """Inputs beyond judgments and run: `texts`."""
    ties: Literal["exact", "orders"] = "orders"
    """How the expected value over tied orders is found: by a closed form of the kernel, or by going through orders."""
    cut_through_ties: Callable[[Measure], bool] = lambda measure: False
    """Whether the orders have to be gone through after all where a list is cut within a tie."""
    lower_is_better: bool = False
    form: Callable[[Measure], Form] = lambda measure: ""
    """What is proven of the score as a function of the grades, while the list and the other judgments stay:

    - `additive`: (sum over documents of weight(rank) f(grade)) / D with weight(1) the greatest; D depends on n and on
      the multiset of the grades that count, never falls when a grade of greater f takes the place of another, and is
      0 (which makes the score 0) only where no document has f above 0.
    - `first`: the greatest weight(rank) over the relevant documents, whatever else is judged.
    - `sorted`: where two documents exchange their grades, the score is no lower with the greater grade first (a
      document that was not retrieved stands last).
    """
    relevance: bool = True
    """Whether relevance is binary here, so that the threshold `rel` applies."""
    source: str = ""
    check: Callable[[Measure], None] | None = None
    caution: Callable[[Measure], str | None] | None = None
    """The key of a warning that every print of this measure carries, or None."""

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)

    def __call__(self, at: int | float | None = None, **values: Any) -> Measure:
        return Measure.make(self, at, values)


@named_arguments
@dataclass(frozen=True)
class Measure:
    """One measure with its parameters set, such as `nDCG(gain='exp')@10`. Hashable; equal when its name is equal."""

    definition: Definition = field(compare=False, repr=False)
    name: str
    values: tuple[tuple[str, Value], ...] = ()
    """Parameters that differ from their default, in the definition's order."""
    at: int | float | None = None

    @staticmethod
    def make(definition: Definition, at: Any, values: Mapping[str, Any]) -> Measure:
        known = [p.name for p in definition.parameters]
        extra = [name for name in values if name not in known]
        if extra:
            takes = ", ".join(known) or "none"
            raise MeasureError(f"{definition.name} has no parameter {extra[0]!r}; it takes: {takes}")
        kept = []
        for parameter in definition.parameters:
            if parameter.name in values:
                value = parameter.check(definition.name, values[parameter.name])
                if value != parameter.default:
                    kept.append((parameter.name, value))
        if at is not None:
            if definition.at is None:
                raise MeasureError(f"{definition.name} takes no depth: write {definition.name} without '@{at}'")
            at = definition.at.check(definition.name, at)
        elif definition.at_required:
            sample = "10" if definition.at is not None and definition.at.kind is int else "0.5"
            raise MeasureError(f"{definition.name} needs a value behind @: write {definition.name}@{sample}")
        measure = Measure(definition, definition.name, tuple(kept), at)
        if definition.check is not None:
            definition.check(measure)
        return measure

    def get(self, parameter: str) -> Any:
        """The value of a parameter, set or default."""
        for name, value in self.values:
            if name == parameter:
                return value
        found = self.definition.parameter(parameter)
        return None if found is None else found.default

    def is_set(self, parameter: str) -> bool:
        return any(name == parameter for name, _ in self.values)

    def with_values(self, **values: Any) -> Measure:
        """The same measure with some parameters changed."""
        return Measure.make(self.definition, self.at, {**dict(self.values), **values})

    def with_at(self, at: int | float | None) -> Measure:
        return Measure.make(self.definition, at, dict(self.values))

    def score(self, ranked: RankedGrades) -> Floats:
        """One number for each query."""
        if self.get("judged_only"):
            ranked = ranked.judged_only()
        return self.definition.kernel(ranked, self)

    def exact_over_ties(self, ranked: RankedGrades) -> bool:
        """Whether the kernel's value is the exact expectation over the orders that ties leave open."""
        if not ranked.has_ties:
            return True
        cut = ranked.limit is not None and (self.get("judged_only") or self.definition.cut_through_ties(self))
        return self.definition.ties == "exact" and not cut

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and greatest score of a query, where they are known."""
        return (0.0, 1.0) if Law.BOUNDED in self.definition.laws else None

    @property
    def caution(self) -> str | None:
        return None if self.definition.caution is None else self.definition.caution(self)

    @property
    def trec_name(self) -> str | None:
        """The name trec_eval prints, where it has this measure (it never shows the relevance threshold)."""
        if any(name != "rel" or not self.definition.relevance for name, _ in self.values):
            return None
        if self.at is None:
            return self.definition.trec
        return self.definition.trec_at and self.definition.trec_at.format(at=self.at)

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={_text(value)}" for name, value in self.values)
        renamed = self.definition.renamed
        name = renamed[1] if renamed is not None and self.is_set(renamed[0]) else self.name
        text = f"{name}({inside})" if inside else name
        return text if self.at is None else f"{text}@{_text(self.at)}"


def _text(value: Value) -> str:
    """A value that reads back as the same one; whole numbers without a point."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{_text(grade)}: {_text(gain)}" for grade, gain in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(value)
