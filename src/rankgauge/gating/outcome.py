"""What came of a gate: the status of each rule and of all, and what follows from it. Nothing else decides that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.arguments import named_arguments
from rankgauge.errors import counted
from rankgauge.formats.json_values import dumps
from rankgauge.gating.baseline import Baseline
from rankgauge.gating.rules import GateRules
from rankgauge.record.result import Result
from rankgauge.words import Note, tell

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FORMAT", "GateResult", "Kind", "Rule", "Status", "together"]

FORMAT = "rankgauge.gate"
VERSION = 2
_FIGURES = {"before": "base", "now": "new", "change": "change", "at_worst": "worst", "queries": "n"}
"""Columns of a frame, and the values of a measure's rule that they hold."""
Status = Literal["pass", "regression", "broken", "inconclusive"]
Kind = Literal["measure", "threshold", "target", "floor", "latency", "errors", "judged", "missing"]


@dataclass(frozen=True)
class Rule:
    """One rule and what came of it. `broken` is said of rules that no statistics can excuse."""

    kind: Kind
    name: str
    status: Status
    values: Mapping[str, Any]
    """The figures behind it."""
    note: Note


@named_arguments
@dataclass(frozen=True, repr=False)
class GateResult(Result):
    """What the gate found."""

    system: str
    baseline: Baseline | None
    settings: GateRules
    rules: Sequence[Rule]
    remarks: Sequence[Note] = ()
    """What to know beside the rules; all of them are warnings."""
    created: str = ""

    @property
    def status(self) -> Status:
        """What the figures say: `regression` if a measure surely lost more than the max relative loss, else `broken` if
        another rule does not hold, else `inconclusive` if for some measure the queries do not suffice, else `pass`."""
        found = {rule.status for rule in self.rules}
        order: tuple[Status, ...] = ("regression", "broken", "inconclusive")
        return next((status for status in order if status in found), "pass")

    @property
    def accepted(self) -> bool | None:
        """What follows from it: True to go on, False to stop, None if it is left to the caller
        (`on_inconclusive="report"`)."""
        return together(self.accepts(rule) for rule in self.rules)

    def accepts(self, rule: Rule) -> bool | None:
        """What follows from one rule. By `auto` an inconclusive one stops the gate if the loss that was observed is
        itself beyond the max relative loss."""
        if rule.status != "inconclusive":
            return rule.status == "pass"
        if self.settings.on_inconclusive == "auto":
            return bool(rule.values["mean"] >= 0)
        return {"pass": True, "fail": False, "report": None}[self.settings.on_inconclusive]

    @property
    def decisive(self) -> list[Rule]:
        """The rules that made the status and the acceptance what they are."""
        status, accepted = self.status, self.accepted
        return [rule for rule in self.rules if rule.status == status and self.accepts(rule) is accepted]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: numbers, keys and parameters."""
        import msgspec

        baseline = self.baseline
        created = None if baseline is None or baseline.created is None else baseline.created.isoformat()
        rules: list[dict[str, Any]] = msgspec.to_builtins(list(self.rules))
        return {
            "format": FORMAT,
            "version": VERSION,
            "created": self.created,
            "status": self.status,
            "accepted": self.accepted,
            "system": self.system,
            "baseline": None
            if baseline is None
            else {"name": baseline.name, "number": baseline.version, "system": baseline.system, "created": created},
            "settings": self.settings.to_dict(),
            "rules": rules,
            "remarks": msgspec.to_builtins(list(self.remarks)),
        }

    def to_json(self) -> str:
        return dumps(self.to_dict()).decode()

    def to_frame(self) -> pl.DataFrame:
        """One row for each rule: its status, what follows from it, why, and the means of a measure with its relative
        change."""
        import polars as pl

        rows = [
            {
                "kind": rule.kind,
                "rule": rule.name,
                "status": rule.status,
                "accepted": self.accepts(rule),
                **{name: rule.values.get(key) for name, key in _FIGURES.items() if rule.kind == "measure"},
                "why": tell(rule.note, "en"),
            }
            for rule in self.rules
        ]
        schema = {"kind": pl.String, "rule": pl.String, "status": pl.String, "accepted": pl.Boolean}
        figures = dict.fromkeys(_FIGURES, pl.Float64)
        return pl.DataFrame(rows, schema={**schema, **figures, "queries": pl.Int64, "why": pl.String})

    def __repr__(self) -> str:
        decided = {True: "accepted", False: "not accepted", None: "left open"}[self.accepted]
        return f"GateResult({self.system!r}: {self.status}, {decided}; {counted(len(self.rules), 'rule')})"


def together(decisions: Iterable[bool | None]) -> bool | None:
    """Several decisions as one: False if one stops it, None if one leaves it open, True if all let it through."""
    found = list(decisions)
    return False if False in found else None if None in found else True
