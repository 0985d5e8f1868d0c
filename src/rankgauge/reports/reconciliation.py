"""The outcome of a reconciliation, for people and for programs."""

from __future__ import annotations

import json

from rankgauge.evaluation.reconcile import Reconciliation, Variant
from rankgauge.measures.measure import Law
from rankgauge.reports.tables import Table, render_terminal, wrapped
from rankgauge.words import Language, say
from rankgauge.words.numbers import score

__all__ = ["as_json", "render"]

_SHOWN = 15


def render(found: Reconciliation, language: Language, *, width: int | None = None) -> str:
    variants = found.matches or found.nearest
    claimed = score(found.claim.value, found.claim.digits)
    title = say(
        "reconcile.found" if found.matches else "reconcile.none",
        language,
        tried=found.tried,
        claimed=claimed,
        measure=found.measure,
    )
    nothing = say("reconcile.nothing", language)
    rows = [
        [str(v.measure), ", ".join(v.changes) or nothing, ", ".join(v.presets), score(v.value, 8)]
        for v in variants[:_SHOWN]
    ]
    heads = [say(f"reconcile.{name}", language) for name in ("measure", "changes", "presets", "value")]
    text = f"{wrapped(title, width)}\n\n{render_terminal(Table(heads, rows, 3), width=width)}"
    if found.claim.is_percentage(Law.BOUNDED in found.measure.definition.laws):
        share = score(found.claim.value / 100, found.claim.digits + 2)
        text += wrapped(say("reconcile.percent", language, claimed=claimed, share=share), width) + "\n"
    if len(variants) > _SHOWN:
        text += wrapped(say("reconcile.more", language, n=len(variants) - _SHOWN), width) + "\n"
    return text


def as_json(found: Reconciliation) -> str:
    def entry(variant: Variant) -> dict[str, object]:
        return {**vars(variant), "measure": str(variant.measure), "contract": variant.contract.to_dict()}

    return json.dumps(
        {
            "measure": str(found.measure),
            "claimed": found.claim.value,
            "digits": found.claim.digits,
            "tried": found.tried,
            "matches": [entry(v) for v in found.matches],
            "nearest": [entry(v) for v in found.nearest],
        },
        ensure_ascii=False,
        indent=2,
    )
