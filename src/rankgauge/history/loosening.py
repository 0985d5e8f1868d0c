"""Promotions by looser rules than the baseline was set with: allowed, but never without a trace."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.errors import DataError
from rankgauge.gating.rules import DEFAULT_MAX_LOSS, GateRules
from rankgauge.record import Record

__all__ = ["loosened", "require_reason"]


def loosened(rules: GateRules, max_loss: float | None, baseline: Record) -> list[str]:
    """What makes the rules looser than the baseline's own max loss and the defaults, each as its argument."""
    kept, found = DEFAULT_MAX_LOSS if max_loss is None else max_loss, []
    if rules.max_loss is not None and rules.max_loss > kept:
        found.append(f"max_loss={100 * rules.max_loss:g}%")
    if rules.alpha > GateRules.alpha:
        found.append(f"alpha={rules.alpha:g}")
    if rules.measures:
        means = [about.name for about in baseline.measures if about.aggregate == "mean"]
        chosen = {baseline.measure_name(name, "the baseline") for name in rules.measures}
        if not chosen.issuperset(means):
            found += [f"measures={name}" for name in rules.measures]
    if rules.on_inconclusive == "pass":
        found.append("on_inconclusive=pass")
    if rules.max_errors:
        found.append(f"max_errors={rules.max_errors}")
    return found + [f"allow={name}" for name in rules.allow]


def require_reason(looser: Sequence[str], note: str | None, *, force: bool) -> None:
    """Raise `DataError` where a promotion by force or by looser rules comes without a reason."""
    if (note or "").strip():
        return
    if force:
        raise DataError("a promotion by force is kept with its reason: give one with `note=`")
    if looser:
        told = ", ".join(f"`{rule}`" for rule in looser)
        raise DataError(
            f"a promotion by looser rules than the baseline's own ({told}) is kept with its reason: give one with "
            "`note=`"
        )
