"""How large a test set must be, and what a published figure with only n and a mean can mean."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.comparison.comparing import compare_runs
from rankgauge.comparison.systems import ComparedSystems
from rankgauge.errors import DataError
from rankgauge.evaluation import DEFAULT_MEASURES, Scoring, make_plan
from rankgauge.evaluation.conversations import ConversationRule
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.record import Note
from rankgauge.stats.clusters import clustered, design_effect
from rankgauge.stats.differences import Column
from rankgauge.stats.intervals import share_interval
from rankgauge.stats.levels import check_alpha, check_number, check_power, check_whole
from rankgauge.stats.power import detectable_difference, power_of, queries_needed, significant_spread
from rankgauge.stats.settings import Settings
from rankgauge.words import Language, tell

__all__ = ["Audit", "Question", "Size", "audit", "power", "size_for", "sizes_of"]


@dataclass(frozen=True)
class Size:
    """Queries, difference and power of a paired t test; two of them were given, the third follows."""

    measure: str
    deviation: float
    """Standard deviation of the per-query differences."""
    queries: int
    difference: float
    power: float
    alpha: float
    asked: str
    """What was asked for: queries, difference or power; `nothing` where the difference is more than there can be."""
    observed: int | None = None
    """How many queries the standard deviation was taken from."""
    conversations: int | None = None
    """How many conversations these queries are turns of; None where every query stands alone."""
    design_effect: float | None = None
    """How many times more queries it takes than if they were independent, up to small numbers."""

    @property
    def note(self) -> Note:
        """What follows, to be told."""
        spread: dict[str, Any] = {"spread": self.deviation}
        if self.observed is not None:
            spread["n"] = self.observed
        source = Note("comparison.spread" if self.observed is None else "comparison.spread_seen", spread)
        if self.conversations is not None:
            about = {"source": source, "conversations": self.conversations, "effect": self.design_effect}
            source = Note("conversations.power", about)
        values = {"measure": self.measure, "n": self.queries, "power": self.power, "alpha": self.alpha}
        if self.asked != "nothing":
            values["d"] = self.difference
        return Note(f"comparison.power_{self.asked}", {**values, "source": source})

    def sentence(self, language: Language = "en") -> str:
        return tell(self.note, language)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Question:
    """What is given: queries, a difference, or both; what is not given follows, with the power or for it."""

    queries: int | None = None
    difference: float | None = None
    alpha: float = 0.05
    power: float = 0.8


@named_arguments
def power(
    qrels: Any = None,
    runs: Mapping[str, Any] | None = None,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    difference: float | None = None,
    queries: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    sd: float | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    conversations: ConversationRule = None,
) -> list[Size]:
    """How many queries find a difference, what difference so many queries find, or the power of both.

    The spread of the per-query differences comes from judgments and two runs, one answer for each measure, or from
    `sd`. It is the power of the paired t test, which the randomization test shares for all but the smallest test sets.
    Where queries are turns of conversations, the answer is for conversations as long as those that were seen.
    """
    if difference is not None:
        check_number("difference", difference)
    asked = Question(queries, difference, alpha, power)
    if sd is not None:
        if runs is not None:
            raise DataError("give either judgments and two runs or `sd=`, not both")
        check_number("sd", sd)
        return [size_for(sd, asked)]
    if runs is not None and not isinstance(runs, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    if runs is None or len(runs) != 2:
        raise DataError("give judgments and two runs, or the spread of the differences with `sd=0.25`")
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel)
    scoring = Scoring(plan, collapse_chunks, corpus, conversations=conversations)
    found = compare_runs(qrels, runs, scoring, Settings.of("t"))
    return sizes_of(found, asked)


def sizes_of(comparison: ComparedSystems, asked: Question) -> list[Size]:
    """The answer for each measure of a comparison of two systems, from the spread of their differences."""
    first, second = comparison.systems.values()
    sizes = []
    for j, measure in enumerate(comparison.measures):
        column = Column(second.values[:, j] - first.values[:, j], first.counted[:, j] & second.counted[:, j])
        most = measure.widest[1] if measure.widest else math.inf
        if asked.difference is not None and abs(asked.difference) > most:
            raise DataError(f"a difference of {asked.difference:g} is more than {measure.name} can have: {most:g}")
        units = clustered(column, comparison.clusters)
        if units is column:
            found = size_for(column.deviation, asked, measure=measure.name, observed=column.n)
        else:
            found = _in_conversations(column, units, asked, measure.name)
        sizes.append(found if found.difference <= most else replace(found, asked="nothing"))
    return sizes


def _in_conversations(queries: Column, units: Column, asked: Question, measure: str) -> Size:
    """The answer for conversations, each with as many queries as those seen have on average."""
    each = queries.n / max(1, units.n)
    wanted = None if asked.queries is None else max(2, round(asked.queries / each))
    found = size_for(units.deviation, replace(asked, queries=wanted), measure=measure)
    return replace(
        found,
        deviation=queries.deviation,
        queries=math.ceil(found.queries * each - 1e-9) if asked.queries is None else asked.queries,
        observed=queries.n,
        conversations=found.queries,
        design_effect=design_effect(queries, units),
    )


def size_for(deviation: float, asked: Question, *, measure: str = "score", observed: int | None = None) -> Size:
    """What follows from two of queries, difference and power: queries needed, difference found, or the power."""
    queries, difference, alpha, power = asked.queries, asked.difference, asked.alpha, asked.power
    if not math.isfinite(deviation) or deviation <= 0:
        raise DataError(
            f"{measure}: the differences have a spread of {deviation:g}; it must be above 0, for systems that score "
            "alike on every query say nothing about the size of a test set"
        )
    if difference is not None and not (math.isfinite(difference) and difference != 0):
        raise DataError(f"difference {difference!r} must be a number other than 0")
    check_power(power, alpha)
    if queries is not None:
        queries = check_whole("queries", queries, 2)
    if queries is not None and difference is not None:
        reached = power_of(difference, deviation, queries, alpha)
        return Size(measure, deviation, queries, abs(difference), reached, alpha, "power", observed)
    if difference is not None:
        n = queries_needed(difference, deviation, alpha, power)
        return Size(measure, deviation, n, abs(difference), power, alpha, "queries", observed)
    if queries is None:
        raise DataError(
            "say which difference is to be found, `difference=0.02`, or with how many queries, `queries=150`"
        )
    found = detectable_difference(deviation, queries, alpha, power)
    assert found is not None  # only fewer than two queries find nothing
    return Size(measure, deviation, queries, found, power, alpha, "difference", observed)


@dataclass(frozen=True)
class Audit:
    """What a mean over n queries can mean, if nothing else was published. Scores lie between 0 and 1."""

    n: int
    value: float
    baseline: float | None
    alpha: float
    low: float
    high: float
    """Wilson's interval where scores are 0 or 1, the largest spread that scores with this mean can have."""
    largest_spread: float | None
    """The largest standard deviation of the per-query differences at which the gap would be significant."""
    needed_correlation: float | None
    """The least correlation of the two systems' scores that gives so small a spread, if every score is 0 or 1."""
    possible: tuple[float, float] | None = None
    """The least and greatest correlation that scores of 0 and 1 with these means can have."""

    @property
    def notes(self) -> list[Note]:
        """What that means, to be told."""
        about = {"value": self.value, "n": self.n, "level": 1 - self.alpha, "low": self.low, "high": self.high}
        said = [Note("comparison.audit_mean", about)]
        if self.baseline is None or self.largest_spread is None:
            return said
        gap = {"gap": self.value - self.baseline, "baseline": self.baseline, "spread": self.largest_spread}
        said.append(Note("comparison.audit_gap", gap))
        if self.needed_correlation is not None and self.possible is not None:
            least, greatest = self.possible
            if self.needed_correlation > greatest:
                said.append(Note("comparison.audit_never"))
            elif self.needed_correlation <= least:
                said.append(Note("comparison.audit_always"))
            else:
                needed = {"needed": self.needed_correlation, "greatest": greatest}
                said.append(Note("comparison.audit_correlation", needed))
        return [*said, Note("comparison.audit_ask")]

    def sentences(self, language: Language = "en") -> list[str]:
        return [tell(note, language) for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@named_arguments
def audit(n: int, value: float, baseline: float | None = None, *, alpha: float = 0.05) -> Audit:
    """What a published mean over n queries allows one to say."""
    for name, number in (("value", value), ("baseline", baseline)):
        if number is None:
            continue
        check_number(name, number)
        if not 0 <= number <= 1:
            raise DataError(f"{name} {number!r} must lie between 0 and 1: it is a mean of scores from 0 to 1")
    n = check_whole("n", n, 2)
    check_alpha(alpha)
    low, high = share_interval(value, n, 1 - alpha)
    spread = correlation = possible = None
    if baseline is not None:
        if baseline == value:
            raise DataError("value and baseline are the same: there is no gap to judge")
        spread = significant_spread(value - baseline, n, alpha)
        first, second = (math.sqrt(x * (1 - x) * n / (n - 1)) for x in (value, baseline))
        if first and second:
            # var(a - b) = var a + var b - 2 r sd a sd b
            correlation = (first**2 + second**2 - spread**2) / (2 * first * second)
            more, less = max(value, baseline), min(value, baseline)
            both = more * less / ((1 - more) * (1 - less))
            greatest = math.sqrt(less * (1 - more) / (more * (1 - less)))
            possible = (-math.sqrt(min(both, 1 / both)), greatest)
    return Audit(n, value, baseline, alpha, low, high, spread, correlation, possible)
