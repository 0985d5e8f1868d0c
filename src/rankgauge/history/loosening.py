"""Promotions by looser rules than the baseline was set with: allowed, but never without a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.errors import DataError
from rankgauge.gate.rules import DEFAULT_MARGIN, GateRules
from rankgauge.gate.targets import measure_in

__all__ = ["loosened", "require_reason", "used"]


def loosened(rules: GateRules, margin: float | None, baseline: Mapping[str, Any]) -> list[str]:
    """What makes the rules looser than the baseline's own margin and the defaults, each as its option."""
    usual, kept, found = GateRules(), DEFAULT_MARGIN if margin is None else margin, []
    if rules.margin is not None and rules.margin > kept:
        found.append(f"--margin {100 * rules.margin:g}%")
    if rules.alpha > usual.alpha:
        found.append(f"--alpha {rules.alpha:g}")
    if rules.measures:
        means = [measure["name"] for measure in baseline["measures"] if measure["aggregate"] == "mean"]
        chosen = {measure_in(baseline, name, "the baseline") for name in rules.measures}
        if not chosen.issuperset(means):
            found += [f"-m {name}" for name in rules.measures]
    if rules.on_inconclusive == "pass":
        found.append("--on-inconclusive pass")
    if rules.max_errors:
        found.append(f"--max-errors {rules.max_errors}")
    return found + [f"--allow {name}" for name in rules.allow]


def require_reason(looser: Sequence[str], note: str | None, *, force: bool) -> None:
    """Raise `DataError` where a promotion by force or by looser rules comes without a reason."""
    if (note or "").strip():
        return
    if force:
        raise DataError("a promotion by force is kept with its reason: give one with --note")
    if looser:
        raise DataError(
            f"a promotion by looser rules than the baseline's own ({', '.join(looser)}) is kept with its reason: give "
            "one with --note"
        )


def used(rules: GateRules) -> dict[str, Any]:
    """The rules a promotion was held to, to be kept with it."""
    return {
        "margin": rules.margin,
        "alpha": rules.alpha,
        "measures": list(rules.measures),
        "on_inconclusive": rules.on_inconclusive,
        "allow": list(rules.allow),
        "max_errors": rules.max_errors or 0,
        "targets": [target.text for target in (*rules.targets, *rules.floors)],
        "latency": [limit.text for limit in rules.latency],
    }
