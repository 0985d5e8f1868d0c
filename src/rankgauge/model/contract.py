"""The contract: every choice, beside the measures themselves, that a score depends on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from rankgauge.arguments import named_arguments
from rankgauge.errors import ContractError

__all__ = ["Contract"]

Ties = Literal["trec", "given", "stable", "expected"]
Missing = Literal["zero", "skip", "error"]
NoRelevant = Literal["count", "skip"]
NoAnswer = Literal["skip", "count"]
Duplicates = Literal["error", "first"]
Precision = Literal["float64", "float32"]


@named_arguments
@dataclass(frozen=True)
class Contract:
    """How runs are ordered and which queries count. Two results are comparable when their contracts are equal.

    - `ties`: `trec` sorts by score and breaks ties by document id, both descending; `given` keeps the order of the
      list, whatever the scores; `stable` sorts by score and keeps the order of the list among ties; `expected` takes
      the expected value over all orders of tied documents.
    - `scores`: `float64`, or `float32` as trec_eval 9 compares them.
    - `missing`: a judged query that the run lacks counts `zero`, is left out (`skip`), or is an `error`.
    - `no_relevant`: a query without relevant documents counts with the measure's own value, or is left out (`skip`).
    - `no_answer`: a query that a test set marks as having no answer is left out of every mean (`skip`), except of
      measures made for it (`Handled`); or it counts as one without relevant documents (`count`), as in tools that know
      no such mark.
    - `duplicates`: a document twice in one list is an `error`, or the `first` (best ranked) is kept.
    - `depth`: lists are cut after this many documents before anything is measured.
    - `drop_self`: documents whose id equals the query's are removed (BEIR does so).
    - `collapse`: chunks were merged into documents by this rule before scoring.
    - `overlap`: labels are passages; a chunk is relevant to one if it holds at least this share of the passage, or lies
      wholly inside it.
    - `chunk_ids`: documents and places of the chunks were read from their ids by this regular expression.
    - `excluded`: documents that a benchmark does not count for a query (BRIGHT's) were taken out of the lists before
      scoring; the benchmark's name, and a hash of which they are.
    """

    ties: Ties = "trec"
    scores: Precision = "float64"
    missing: Missing = "zero"
    no_relevant: NoRelevant = "count"
    duplicates: Duplicates = "error"
    depth: int | None = None
    drop_self: bool = False
    collapse: str | None = None
    no_answer: NoAnswer = "skip"
    overlap: float | None = None
    chunk_ids: str | None = None
    excluded: str | None = None

    def __post_init__(self) -> None:
        allowed = {
            "ties": get_args(Ties),
            "scores": get_args(Precision),
            "missing": get_args(Missing),
            "no_relevant": get_args(NoRelevant),
            "duplicates": get_args(Duplicates),
            "no_answer": get_args(NoAnswer),
        }
        for name, choices in allowed.items():
            value = getattr(self, name)
            if value not in choices:
                raise ContractError(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}")
        if self.depth is not None and (not isinstance(self.depth, int) or self.depth < 1):
            raise ContractError(f"depth={self.depth!r} must be a whole number of at least 1")
        if self.overlap is not None and (
            isinstance(self.overlap, bool) or not isinstance(self.overlap, int | float) or not 0 < self.overlap <= 1
        ):
            raise ContractError(f"`overlap={self.overlap!r}` must be a share above 0 and at most 1, such as 0.5")

    def with_changes(self, **changes: Any) -> Contract:
        """The same contract with some choices changed; None leaves a choice as it is."""
        known = {field.name for field in fields(self)}
        unknown = sorted(set(changes) - known)
        if unknown:
            raise ContractError(f"a contract has no {unknown[0]!r}; it has: {', '.join(sorted(known))}")
        return replace(self, **{name: value for name, value in changes.items() if value is not None})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Contract:
        return Contract().with_changes(**values)
