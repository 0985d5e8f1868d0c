"""May a record be held against a baseline at all? Only scores of the same queries, counted alike, are one quantity."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from rankgauge.errors import DataError
from rankgauge.evaluation.old_identity import identity_of
from rankgauge.gate.baseline import Baseline
from rankgauge.gate.rules import GateRules

__all__ = ["Remark", "check_comparable", "check_names"]

Remark = tuple[str, str]
"""A warning in English and Chinese."""
_CLOCKS = datetime.timedelta(hours=1)
"""How far the clocks of two machines may be apart."""


def check_comparable(
    record: Mapping[str, Any], baseline: Baseline, rules: GateRules, now: datetime.datetime
) -> list[Remark]:
    """Raise `DataError` with reason and remedy where the two must not be compared; else what to warn of."""
    remarks = _age(baseline, rules, now)
    if baseline.record is None:
        return remarks
    for side, what in ((record, "the record"), (baseline.record, f"the baseline {baseline.name}")):
        if not side["queries"]:
            raise DataError(
                f"{what} holds no scores of single queries, so the two cannot be paired; "
                "write it with rankgauge evaluate ... -o record.json"
            )
    own, other = identity_of(record), identity_of(baseline.record)
    if own.contract != other.contract:
        told = _contract(record["contract"], baseline.record["contract"])
        raise DataError(
            f"the record and the baseline {baseline.name} were counted differently ({told}), so their scores are not "
            f"the same quantity; score both under one contract, or {_remedy(baseline)}"
        )
    remarks += _same_test_set(record, baseline, own.test_set, other.test_set, "testset" in rules.allow)
    return remarks + _same_corpus(baseline, own.corpus, other.corpus, "corpus" in rules.allow)


def _remedy(baseline: Baseline) -> str:
    return f"make the record the new baseline: rankgauge baseline set {_name(baseline)} RECORD"


def _name(baseline: Baseline) -> str:
    return baseline.name if "." not in baseline.name and "/" not in baseline.name else "NAME"


def check_names(system: str, baseline: Baseline) -> list[Remark]:
    """Two systems of different names may be one that was renamed, or a slip of the hand."""
    if baseline.record is None:
        return []
    other = baseline.entry(system)["name"]
    if other == system:
        return []
    return [
        (
            f"the baseline's system is named {other!r} and the record's {system!r}; they are compared all the same",
            f"基线中的系统名为 {other!r}，记录中的为 {system!r}；仍照常比较",
        )
    ]


def _age(baseline: Baseline, rules: GateRules, now: datetime.datetime) -> list[Remark]:
    remarks: list[Remark] = []
    if baseline.created is not None and baseline.created > now + _CLOCKS:
        when = f"{baseline.created.astimezone(datetime.UTC):%Y-%m-%d %H:%M}"
        remarks.append(
            (
                f"the baseline {baseline.name} is dated {when} (UTC), which is still to come: a clock was wrong, and "
                "its age cannot be told",
                f"基线 {baseline.name} 的日期为 {when}（UTC），尚未到来：说明某个时钟有误，无法判断其新旧",
            )
        )
    if rules.max_age is None:
        return remarks
    if baseline.created is None:
        raise DataError(f"{baseline.name} does not tell when its means were measured, so its age cannot be limited")
    age = now - baseline.created
    if age > rules.max_age:
        raise DataError(
            f"the baseline {baseline.name} was measured {age.days} days ago, on {baseline.created:%Y-%m-%d}; the "
            f"oldest allowed is {rules.max_age.total_seconds() / 86400:g} days: {_remedy(baseline)}"
        )
    return remarks


def _contract(own: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> str:
    a, b = own or {}, other or {}
    return ", ".join(f"{key}: {a.get(key)!r} and {b.get(key)!r}" for key in {**a, **b} if a.get(key) != b.get(key))


def _same_test_set(
    record: Mapping[str, Any], baseline: Baseline, own: str | None, other: str | None, allowed: bool
) -> list[Remark]:
    assert baseline.record is not None
    here, there = set(record["queries"]), set(baseline.record["queries"])
    common = len(here & there)
    counts = f"{len(here)} and {len(there)} queries, {common} in common"
    if own is not None and own == other:
        return []
    known = own is not None and other is not None
    if (known or here != there) and not allowed:
        told = "the files of judgments differ" if known else "their queries differ"
        raise DataError(
            f"the record and the baseline {baseline.name} are of different test sets ({told}; {counts}); "
            f"{_remedy(baseline)}, or compare the common queries knowingly with --allow testset"
        )
    if known or here != there:
        return [
            (
                f"the test sets differ ({counts}); compared on the common queries only because that was allowed",
                f"测试集不同（查询分别为 {len(here)} 和 {len(there)} 个，共有 {common} 个）；"
                "因已明确允许，只在共有的查询上比较",
            )
        ]
    return [
        (
            "the record or the baseline does not tell the hash of its judgments; their queries have the same ids, but "
            "whether the judgments are the same cannot be checked",
            "记录或基线缺少标注文件的哈希值；两者的查询编号相同，但无法核对标注是否相同",
        )
    ]


def _same_corpus(baseline: Baseline, own: str | None, other: str | None, allowed: bool) -> list[Remark]:
    if own == other:
        return []
    if own is not None and other is not None:
        if not allowed:
            raise DataError(
                f"the record and the baseline {baseline.name} searched different documents (the hashes of the corpus "
                f"differ), so a change may come from these; {_remedy(baseline)}, or compare knowingly with "
                "--allow corpus"
            )
        return [
            (
                "the corpus differs from the baseline's; a change may come from the documents and not from the system",
                "语料与基线的不同；变化可能来自文档，而不是系统本身",
            )
        ]
    return [
        (
            "the record or the baseline does not tell the hash of its corpus; whether both searched the same documents "
            "cannot be checked",
            "记录或基线缺少语料的哈希值；无法核对两者检索的是否为同一批文档",
        )
    ]
