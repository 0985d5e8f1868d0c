"""The part of a record that a comparison adds: rows with verdicts, groups, and what could turn a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.stats.differences import another_winner
from rankgauge.stats.intervals import Interval
from rankgauge.stats.settings import Settings, Verdict
from rankgauge.words import Language, Note, tell

__all__ = [
    "Agreement",
    "Change",
    "Changes",
    "ComparisonResult",
    "Rerank",
    "RerankRow",
    "Row",
    "Slice",
    "Standing",
    "Tied",
    "TiedRange",
    "TiedScore",
    "Unjudged",
    "UnjudgedRange",
]

LOCATIONS = {"wilcoxon": Note("comparison.pseudo_median"), "sign": Note("comparison.median")}
"""What the tests that are not about means are about."""
_SAME = 1e-9  # means closer than this are the same


@dataclass(frozen=True)
class Row:
    """One measure and pair. The difference is b minus a; the verdict is about b, seen from a."""

    measure: str
    a: str
    b: str
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    """At 1 - alpha, adjusted like the p-value: it excludes 0 exactly if the corrected p-value is below alpha."""
    relative_change: float | None
    """Difference over the size of a's mean, so that it has the sign of the difference."""
    p_value: float | None
    p_corrected: float | None
    effect: float | None
    """Mean difference over the standard deviation of the differences (Cohen's d for pairs)."""
    wins: int
    ties: int
    losses: int
    queries: int
    p_equivalent: float | None
    detectable: float | None
    verdict: Verdict
    conversations: int | None = None
    """How many independent conversations the queries belong to; None where every query stands alone."""
    design_effect: float | None = None
    """How many times larger the variance of the difference is than with independent queries."""

    @property
    def note(self) -> Note:
        """The verdict and its evidence, to be told."""
        key: str = self.verdict
        if self.p_value is None:
            key = "no_test"
        elif self.ties == self.queries:
            key = "identical"
        elif self.verdict == "inconclusive" and self.detectable is None:
            key = "nothing_detectable"
        values: dict[str, Any] = {
            "measure": self.measure,
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "interval": None if self.interval is None else [self.interval.low, self.interval.high],
            "p": self.p_corrected,
            "detectable": self.detectable,
            "n": self.queries,
        }
        method = "" if self.interval is None else self.interval.method
        test = next((name for name in LOCATIONS if method.startswith(name)), "")
        if test and self.verdict in ("better", "worse"):
            key = "not_by_means"
            values |= {"test": test, "what": LOCATIONS[test], "verdict": Note(f"comparison.verdict_{self.verdict}")}
        return Note(f"comparison.{key}", values)

    def sentence(self, language: Language = "en") -> str:
        """The verdict in words."""
        return tell(self.note, language)


@dataclass(frozen=True)
class Slice:
    """A row for the queries with one tag."""

    tag: str
    row: Row


@dataclass(frozen=True)
class Standing:
    """Where one system stands by one measure."""

    system: str
    mean: float
    """Over the queries that count for every system, which are those of the verdicts."""
    letters: str
    """Systems that share a letter are not significantly different; empty where a to z do not suffice."""
    ranks: tuple[int, int]
    """The first and last rank it can hold, given which systems are significantly better and worse."""

    @property
    def label(self) -> str:
        """Its letters, or its ranks where there are no letters."""
        first, last = self.ranks
        return self.letters or (f"{first}-{last}" if first < last else str(first))


@dataclass(frozen=True)
class Change:
    """One query and its scores under both systems."""

    query: str
    a: float
    b: float
    difference: float


@dataclass(frozen=True)
class Changes:
    """The queries that gained and lost most from a to b; gaining is what is better for the measure."""

    measure: str
    a: str
    b: str
    gained: list[Change]
    lost: list[Change]


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b of two measures or of two systems, better scores first; None where one of them is constant."""

    kind: Literal["measures", "systems"]
    a: str
    b: str
    over: Literal["systems", "queries"]
    """What is ordered: systems by their means, or queries by their scores."""
    of: str
    """The system or measure whose scores of single queries these are; empty for means."""
    tau: float | None


@dataclass(frozen=True)
class _Range:
    """The least and greatest mean of score_b - score_a."""

    measure: str
    a: str
    b: str
    low: float
    high: float
    observed: float
    """The mean difference under the judgments and in the order as they are."""

    @property
    def changes_winner(self) -> bool:
        """Whether some order or labelling (of an outer bound: perhaps) gives the difference another sign."""
        return another_winner(self.observed, self.low, self.high)


@dataclass(frozen=True)
class TiedRange(_Range):
    """Over all orders of tied documents; the ties of two systems are independent of each other."""


@dataclass(frozen=True)
class UnjudgedRange(_Range):
    """Over all labellings of the unjudged documents."""

    exact: bool
    """Whether both ends are reached by a labelling; if not, the true range lies within."""
    documents: int
    """Unjudged documents that one of the two retrieved within the depth, over all queries that count."""


@dataclass(frozen=True)
class Unjudged:
    """Ranges over the labels of unjudged documents, and for each measure without one the reason."""

    rows: list[UnjudgedRange]
    reasons: dict[str, Note] = field(default_factory=dict)

    @property
    def reason(self) -> Note | None:
        """The one reason why no measure has a range."""
        alike = list(self.reasons.values())
        return alike[0] if alike and not self.rows and all(one == alike[0] for one in alike) else None


@dataclass(frozen=True)
class TiedScore:
    """The least, expected and greatest mean of one system over all orders of its tied documents."""

    measure: str
    system: str
    low: float
    expected: float
    high: float
    observed: float
    """The mean in the order of the contract."""
    sampled: bool = False
    """Whether the expected value comes from sampled orders."""


@dataclass(frozen=True)
class Tied:
    """Scores and differences over all orders of tied documents."""

    systems: list[TiedScore]
    rows: list[TiedRange]
    skipped: list[str] = field(default_factory=list)
    """Measures of which the extreme orders are not known."""


@dataclass(frozen=True)
class RerankRow:
    """Means of one measure over the queries that count for both systems."""

    measure: str
    before: float
    after: float
    ceiling: float
    """Of the best list of candidates."""
    perfect: float
    """Of the best list the judgments allow."""

    @property
    def share(self) -> float | None:
        """How much of what reordering could win was won; None where there was nothing to win."""
        room = self.ceiling - self.before
        return (self.after - self.before) / room if room > _SAME else None

    @property
    def notes(self) -> list[Note]:
        """What the order made of the candidates, and what no order could."""
        figures = {"measure": self.measure, "before": self.before, "after": self.after, "ceiling": self.ceiling}
        if self.after < self.before - _SAME:
            notes = [Note("comparison.rerank_lost", figures)]
        elif self.share is None:
            notes = [Note("comparison.rerank_no_room", figures)]
        else:
            gained = {"share": self.share, "room": self.ceiling - self.before}
            notes = [Note("comparison.rerank_gained", {**figures, **gained})]
        if self.perfect - self.ceiling > _SAME:
            beyond = {"measure": self.measure, "missing": self.perfect - self.ceiling}
            notes.append(Note("comparison.rerank_beyond", beyond))
        return notes


@dataclass(frozen=True)
class Rerank:
    """Before and after a reranker for all measures, the recall of the candidates, and documents that were none."""

    before: str
    after: str
    rows: list[RerankRow]
    recall: float
    not_candidates: int
    not_candidate_queries: int

    @property
    def notes(self) -> list[Note]:
        """What the candidates allowed, and what the order made of it."""
        notes = [Note("comparison.rerank_recall", {"share": self.recall})]
        notes += [note for row in self.rows for note in row.notes]
        if self.not_candidates:
            counts = {"n": self.not_candidates, "queries": self.not_candidate_queries}
            values = {**counts, "before": self.before, "after": self.after}
            notes.append(Note("comparison.rerank_not_candidates", values, "warning"))
        return notes

    def sentences(self, language: Language = "en") -> list[str]:
        return [tell(note, language) for note in self.notes]


@dataclass(frozen=True)
class ComparisonResult:
    """Systems compared on the same queries."""

    settings: Settings
    baseline: str | None
    rows: list[Row]
    groups: dict[str, list[Standing]] = field(default_factory=dict)
    """By measure the systems, best first; only where all pairs were compared."""
    changes: list[Changes] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    agreement: list[Agreement] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    unjudged: Unjudged | None = None
    tied: Tied | None = None
    rerank: Rerank | None = None

    @property
    def family(self) -> int:
        """How many rows were tested, and so corrected for."""
        return sum(row.p_value is not None for row in self.rows)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((row.a, row.b) for row in self.rows))

    @property
    def all_pairs(self) -> bool:
        """Whether every system was compared with every other."""
        return self.baseline is None or len(self.pairs) == 1
