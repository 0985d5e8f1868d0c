"""Queries that the baseline scored and the record does not: a system that is silent on its worst queries must not pass.

A contract may skip queries without an answer. Then their scores leave the mean, and the mean rises.
"""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.evaluation.old_identity import identity_of
from rankgauge.gate.checks import Rule, Sides
from rankgauge.gate.comparability import Remark

__all__ = ["check_missing"]

_NAMED = 5
_KEPT = 20


def check_missing(sides: Sides, measures: Iterable[str], *, allowed: bool) -> tuple[list[Rule], list[Remark]]:
    """A broken rule if queries are missing, or the remark that says so where that was allowed; else nothing."""
    lost = _missing(sides, measures)
    if not lost:
        return [], []
    shown = ", ".join(lost[:_NAMED]) + (", ..." if len(lost) > _NAMED else "")
    one = len(lost) == 1
    if allowed:
        remark = (
            f"{len(lost)} {'query' if one else 'queries'} that the baseline scored {'is' if one else 'are'} missing in "
            f"the record ({shown}) and left out of every comparison, ONLY BECAUSE THAT WAS ALLOWED: nothing is known "
            f"about {'it' if one else 'them'}, and the worst {'is' if one else 'are'} easily among what is missing",
            f"基线计入的 {len(lost)} 个查询在记录中缺失（{shown}），所有比较均未包括它们，仅因已明确允许："
            "它们的情况无从得知，而缺失的往往正是最差的",
        )
        return [], [remark]
    message = {
        "en": f"{len(lost)} {'query' if one else 'queries'} that the baseline scored {'is' if one else 'are'} missing "
        f"({shown}); --allow missing goes on without {'it' if one else 'them'}",
        "zh": f"基线计入的 {len(lost)} 个查询缺失（{shown}）；加 --allow missing 则不计它们，照常比较",
    }
    values = {"value": len(lost), "operator": "<=", "goal": 0, "met": False, "queries": lost[:_KEPT]}
    return [Rule("missing", "missing <= 0", "broken", values, message)], []


def _missing(sides: Sides, measures: Iterable[str]) -> list[str]:
    """Queries that some measure counts in the baseline, but not in the record, in the baseline's order.

    Of another test set only the common queries can be missing.
    """
    assert sides.other is not None
    own, other = identity_of(sides.record).test_set, identity_of(sides.other).test_set
    expected = set(sides.other["queries"])
    if own is None or own != other:
        expected &= set(sides.record["queries"])
    lost: set[str] = set()
    for measure in measures:
        new, old = sides.scores(measure)
        lost |= {query for query in old if query in expected and query not in new}
    return [query for query in sides.other["queries"] if query in lost]
