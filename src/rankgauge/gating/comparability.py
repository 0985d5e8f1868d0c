"""May a record be held against a baseline at all? Refusals with reason and remedy, and what to warn of."""

from __future__ import annotations

import datetime
from collections.abc import Collection

from rankgauge.errors import DataError
from rankgauge.gating.baseline import Baseline
from rankgauge.gating.evidence import check_age, dubious
from rankgauge.gating.rules import GateRules
from rankgauge.record import Record
from rankgauge.record.comparability import Difference, differences
from rankgauge.words import Note, tell

__all__ = ["check_comparable", "check_directions", "remark"]


def remark(key: str, **parameters: object) -> Note:
    """A warning of the gate."""
    return Note(f"gate.{key}", parameters, "warning")


def check_comparable(
    record: Record, system: str, baseline: Baseline, rules: GateRules, now: datetime.datetime
) -> list[Note]:
    """Raise `DataError` with reason and remedy where the two must not be compared; else what to warn of."""
    remarks = check_age(baseline.name, baseline.created, rules.max_age, now, _remedy(baseline))
    remarks += dubious(record, system, baseline)
    if baseline.record is None:
        return remarks
    for side, what in ((record, "the record"), (baseline.record, f"the baseline {baseline.name}")):
        if not side.queries:
            raise DataError(
                f"{what} holds no scores of single queries, so the two cannot be paired; "
                "write it with rankgauge evaluate ... -o record.json"
            )
    found = {difference.kind: difference for difference in differences(record, baseline.record)}
    if "contract" in found:
        raise DataError(
            f"the record and the baseline {baseline.name} were counted differently "
            f"({tell(found['contract'].note, 'en')}), so their scores are not the same quantity; score both under one "
            f"contract, or {_remedy(baseline)}"
        )
    remarks += _test_set(record, baseline, found.get("judgments"), found.get("queries"), "testset" in rules.allow)
    remarks += _corpus(baseline, found.get("corpus"), "corpus" in rules.allow)
    # Two systems of different names may be one that was renamed, or a slip of the hand.
    other = baseline.system_for(system).name
    return remarks if other == system else [*remarks, remark("other_name", own=system, other=other)]


def check_directions(record: Record, baseline: Baseline, measures: Collection[str]) -> None:
    """Two records that do not agree whether more or less is better have no winner."""
    assert baseline.record is not None
    for difference in differences(record, baseline.record):
        if difference.kind == "direction" and difference.measure is not None and difference.measure in measures:
            lower = record.measure(difference.measure).lower_is_better
            own, other = ("less", "more") if lower else ("more", "less")
            raise DataError(
                f"of {difference.measure} {own} is better in the record, but {other} in the baseline {baseline.name}"
            )


def _remedy(baseline: Baseline) -> str:
    name = baseline.name if "." not in baseline.name and "/" not in baseline.name else "NAME"
    return f"make the record the new baseline: rankgauge baseline set {name} RECORD"


def _test_set(
    record: Record, baseline: Baseline, judgments: Difference | None, queries: Difference | None, allowed: bool
) -> list[Note]:
    if judgments is None:  # which of one test set's queries count is looked at measure by measure
        return []
    if judgments.told < 2 and queries is None:
        return [remark("judgments_unknown")]
    assert baseline.record is not None
    here, there = set(record.queries), set(baseline.record.queries)
    common = len(here & there)
    if not allowed:
        told = "the files of judgments differ" if judgments.told == 2 else "their queries differ"
        told = tell(judgments.note, "en") if judgments.note.key == "comparability.versions" else told
        raise DataError(
            f"the record and the baseline {baseline.name} are of different test sets ({told}; {len(here)} and "
            f"{len(there)} queries, {common} in common); {_remedy(baseline)}, or compare the common queries knowingly "
            "with `allow='testset'`"
        )
    return [remark("test_set_differs", own=len(here), other=len(there), common=common)]


def _corpus(baseline: Baseline, corpus: Difference | None, allowed: bool) -> list[Note]:
    if corpus is None:
        return []
    if corpus.told < 2:
        return [remark("corpus_unknown")]
    if not allowed:
        raise DataError(
            f"the record and the baseline {baseline.name} searched different documents (the hashes of the corpus "
            f"differ), so a change may come from these; {_remedy(baseline)}, or compare knowingly with `allow='corpus'`"
        )
    return [remark("corpus_differs")]
