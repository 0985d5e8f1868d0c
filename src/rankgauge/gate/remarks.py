"""What a gate warns of beside its rules: few queries, queries of one side only, measures that no test is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.gate.checks import Rule, Sides
from rankgauge.gate.comparability import Remark
from rankgauge.stats.noninferiority import chance_to_pass, least_queries

__all__ = ["few_queries", "left_out", "untested"]

_TOLERATED = 1.4
"""How many times alpha the chance of a false pass may be before it is warned of."""
_SLACK = 0.01
"""Two standard errors of the simulated chance: no warning for chance alone."""


def few_queries(found: Sequence[Rule], sides: Sides, margin: float, alpha: float) -> list[Remark]:
    """So few queries that can lose anything, that a loss as large as the margin often passes as sure."""
    passed = [rule for rule in found if rule.status == "pass" and rule.values["reason"] != "identical"]
    if not margin or not passed:
        return []
    bases = {rule.name: sides.paired(rule.name)[1] for rule in passed}
    chances = {name: chance_to_pass(base, margin, alpha) for name, base in bases.items()}
    name, chance = max(chances.items(), key=lambda item: item[1])
    if chance <= _TOLERATED * alpha + _SLACK:
        return []
    n = len(bases[name])
    least = least_queries(bases[name], margin, _TOLERATED * alpha, alpha)
    share, one_in = f"{100 * margin:g} %", f"{1 / margin:.0f}"
    told, rare = f"{100 * chance:.0f} %", f"{100 * _TOLERATED * alpha:.2g} %"
    enough = f"about {least} queries" if least else "more than 20,000 queries"
    enough_zh = f"约 {least} 个" if least else "两万个以上"
    return [
        (
            f"{name}: {n} queries are few for a margin of {share}: were one query in {one_in} to fail altogether, "
            f"which is a loss of {share}, about {told} of such samples would pass as sure; with {enough} like these it "
            f"is {rare}",
            f"{name}：对 {share} 的容许幅度来说，{n} 个查询偏少：若每 {one_in} 个查询中有一个完全失效"
            f"（即损失 {share}），约有 {told} 的此类样本仍会被判为确定通过；"
            f"同类查询增至{enough_zh}时，这一比例降到 {rare}",
        )
    ]


def left_out(found: Sequence[Rule], sides: Sides) -> list[Remark]:
    """Queries that count in the record, but not in the baseline."""
    for rule in found:
        new, old = sides.scores(rule.name)
        number = sum(query not in old for query in new)
        if number:
            count, them = ("1 query counts", "it is") if number == 1 else (f"{number} queries count", "they are")
            return [
                (
                    f"{count} in the record, but not in the baseline ({rule.name}); {them} left out",
                    f"有 {number} 个查询在记录中计入、在基线中未计入（{rule.name}）；比较时未包括",
                )
            ]
    return []


def untested(record: Mapping[str, Any]) -> list[Remark]:
    """Sums and geometric means, by name."""
    names = ", ".join(measure["name"] for measure in record["measures"] if measure["aggregate"] != "mean")
    if not names:
        return []
    return [
        (
            f"not tested, for no mean over the queries: {names}; give a target if a value must be reached",
            f"未做检验，因为不是各查询的均值：{names}；如须达到某个值，请为其设目标",
        )
    ]
