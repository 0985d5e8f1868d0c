"""The outcome of a reconciliation, for people and for programs."""

from __future__ import annotations

import json

from rankgauge.evaluation.reconcile import Reconciliation, Variant
from rankgauge.measures.measure import Law
from rankgauge.reports.tables import Table, render_terminal
from rankgauge.words import Language

__all__ = ["as_json", "render"]

_SHOWN = 15
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "found": "{value} for {measure} comes out of these ({tried} variants tried, those of known tools first)",
        "none": "none of {tried} variants gives {value} for {measure}; the nearest are",
        "more": "... and {n} more (--json lists all)",
        "measure": "measure",
        "changes": "differs from the default in",
        "value": "value",
        "presets": "as in",
        "nothing": "nothing",
        "percent": "{value} is read as {value} %, that is {share}",
    },
    "zh": {
        "found": "以下算法使 {measure} 等于 {value}（共试 {tried} 种，已知工具的约定在前）",
        "none": "{tried} 种算法都不能使 {measure} 等于 {value}；最接近的是",
        "more": "……还有 {n} 种（--json 列出全部）",
        "measure": "指标",
        "changes": "与默认契约的差别",
        "value": "取值",
        "presets": "等同于",
        "nothing": "无",
        "percent": "{value} 按百分数理解，即 {share}",
    },
}


def render(found: Reconciliation, language: Language, *, width: int | None = None) -> str:
    words = _WORDS[language]
    variants = found.matches or found.nearest
    title = words["found" if found.matches else "none"].format(
        n=len(found.matches),
        tried=found.tried,
        value=f"{found.claim.value:.{found.claim.digits}f}",
        measure=found.measure,
    )
    rows = [
        [str(v.measure), ", ".join(v.changes) or words["nothing"], ", ".join(v.presets), f"{v.value:.8f}"]
        for v in variants[:_SHOWN]
    ]
    table = Table([words["measure"], words["changes"], words["presets"], words["value"]], rows, 3)
    text = f"{title}\n\n{render_terminal(table, width=width)}"
    if found.claim.is_percentage(Law.BOUNDED in found.measure.definition.laws):
        share = f"{found.claim.value / 100:.{found.claim.digits + 2}f}"
        text += words["percent"].format(value=f"{found.claim.value:.{found.claim.digits}f}", share=share) + "\n"
    if len(variants) > _SHOWN:
        text += words["more"].format(n=len(variants) - _SHOWN) + "\n"
    return text


def as_json(found: Reconciliation) -> str:
    def entry(variant: Variant) -> dict[str, object]:
        return {
            "measure": str(variant.measure),
            "value": variant.value,
            "changes": list(variant.changes),
            "contract": variant.contract.to_dict(),
            "queries": variant.queries,
            "presets": list(variant.presets),
        }

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
