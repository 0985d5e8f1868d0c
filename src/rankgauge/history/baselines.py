"""Named baselines in the history: set, promoted, and never overwritten.

`set` makes a record the baseline and the anchor. `promote` lets a later record take its place if it holds against the
baseline and against the anchor, so that many small losses, each allowed, cannot add up.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.gating.baseline import Baseline, baseline_of, is_file_name, load_baseline
from rankgauge.gating.freshness import check_measured
from rankgauge.gating.gate import gate
from rankgauge.gating.outcome import GateResult, together
from rankgauge.gating.rules import DEFAULT_MAX_LOSS, GateRules
from rankgauge.history.names import UnknownBaselineError, check_name
from rankgauge.history.rows import Settings, StoredBaseline
from rankgauge.history.schema import baselines
from rankgauge.history.sql import sa
from rankgauge.history.store import History, opened
from rankgauge.record import Record, as_record
from rankgauge.record.identity import uid_of

__all__ = [
    "Promotion",
    "baseline_file",
    "current_baseline",
    "gate_baseline",
    "promote_baseline",
    "scored_baseline",
    "set_baseline",
]


@dataclass(frozen=True)
class Promotion:
    """What the gates said, and the new version, or None if it was refused."""

    against_current: GateResult
    against_anchor: GateResult | None
    """None while the baseline itself is the anchor."""
    stored: StoredBaseline | None

    @property
    def results(self) -> list[GateResult]:
        return [result for result in (self.against_current, self.against_anchor) if result is not None]

    @property
    def accepted(self) -> bool | None:
        """False if a gate stops it, None if one leaves it open, True if all let it through."""
        return together(result.accepted for result in self.results)


@named_arguments
def set_baseline(
    history: History | str | os.PathLike[str] | None,
    name: str,
    record: Record | Any,
    *,
    system: str | None = None,
    max_loss: str | float | None = None,
    targets: str | Sequence[str] | None = None,
    note: str | None = None,
    allow: str | Sequence[str] | None = None,
) -> StoredBaseline:
    """Make a record (or that of a result, or of a file) the baseline and the anchor, whatever it scores. Max loss and
    targets not given stay as they were. Cached answers, which may be those of an older system, are taken with
    `allow="cached"` only. The history is an open one, or its place."""
    check_name(name)
    record = as_record(record)
    if system is None and record.invalid:
        # The only one that is left is seldom the one that was meant, and would be held against it from now on.
        raise DataError(
            f"the record lacks {', '.join(map(repr, record.invalid))}, which could not be evaluated; measure again, or "
            "name another one with `system=`"
        )
    chosen = record.system(system).name
    baseline_of(record, name, system=chosen)
    given = GateRules.of(max_loss=max_loss, targets=targets, allow=allow)
    cached = check_measured(record, chosen, allowed="cached" in given.allow)
    allowed, wanted = given.max_loss, None if targets is None else [target.text for target in given.targets]
    with opened(history) as history, history.begin() as connection:
        before = _latest(history, name, connection)
        if before is not None:
            allowed = before.max_loss if allowed is None else allowed
            wanted = list(before.targets) if wanted is None else wanted
        row = {"name": name, "version": 1 if before is None else before.version + 1, "system": chosen}
        row |= {"action": "set", "note": note, "max_loss": allowed, "anchor_id": None}
        settings = Settings(tuple(wanted or ()), ("allow=cached",) if cached else ())
        return _insert(history, connection, record, row, settings)


@named_arguments
def promote_baseline(
    history: History | str | os.PathLike[str] | None,
    name: str,
    record: Record | Any,
    *,
    system: str | None = None,
    rules: GateRules | Mapping[str, Any] | None = None,
    force: bool = False,
    note: str | None = None,
) -> Promotion:
    """Let a record take the place of the baseline, if it holds against it and against the anchor, or by force.

    Force, and rules that are looser than the baseline's own, need a note. Record and history are as in `set_baseline`.
    """
    _require_reason([], note, force=force)
    record, chosen = as_record(record), GateRules.given(rules)
    chosen = chosen if system is None else replace(chosen, system=system)
    with opened(history, create=False) as history:
        return _promoted(history, name, record, chosen, force, note)


def _promoted(
    history: History, name: str, record: Record, wanted: GateRules, force: bool, note: str | None
) -> Promotion:
    before, old = current_baseline(history, name), gate_baseline(history, name)
    assert old.record is not None
    looser = _loosened(wanted, before.max_loss, old.record)
    _require_reason(looser, note, force=force)
    results = [gate(record, old, rules=wanted)]
    if before.anchor_id != before.record_id:
        anchored = replace(wanted, targets=(), floors=(), latency=(), scenario=None, min_judged=None, max_age=None)
        results.append(gate(record, replace(gate_baseline(history, name, anchor=True), targets=()), rules=anchored))
    tried = Promotion(results[0], results[1] if len(results) > 1 else None, None)
    if tried.accepted is not True and not force:
        return tried
    chosen = record.system(wanted.system).name
    if uid_of(record) == before.uid and chosen == before.system and not force:
        return replace(tried, stored=before)  # it is the baseline already
    with history.begin() as connection:
        now = _latest(history, name, connection)
        if now is None or now.version != before.version:
            raise DataError(f"the baseline {name} was changed meanwhile; look at it and promote again")
        row = {"name": name, "version": before.version + 1, "system": chosen}
        row |= {"action": "promote", "note": note, "max_loss": before.max_loss, "anchor_id": before.anchor_id}
        forced = next((r.status for r in tried.results if r.accepted is not True), None)
        settings = Settings(before.targets, tuple(looser), tried.against_current.settings.to_dict(), forced)
        return replace(tried, stored=_insert(history, connection, record, row, settings))


def _loosened(rules: GateRules, max_loss: float | None, baseline: Record) -> list[str]:
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


def _require_reason(looser: Sequence[str], note: str | None, *, force: bool) -> None:
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


def current_baseline(history: History, name: str) -> StoredBaseline:
    """The highest version of a name."""
    check_name(name)
    found = history.baselines(name)
    if found:
        return found[0]
    known = [one.name for one in history.baselines()]
    there = f"there are: {', '.join(known)}" if known else "it has none yet"
    raise UnknownBaselineError(
        f"{history.location} has no baseline {name!r}; {there}; make one: rankgauge baseline set {name} RECORD.json"
    )


def gate_baseline(history: History, name: str, *, anchor: bool = False) -> Baseline:
    """A baseline with its scores, for a gate; with `anchor`, the record that was last set by hand."""
    now = chosen = current_baseline(history, name)
    if anchor:
        chosen = next(version for version in history.baselines(name) if version.action == "set")
    return Baseline(
        f"{name}'s anchor" if anchor else name,
        history.record(chosen.record_id),
        chosen.system,
        max_loss=now.max_loss,
        targets=now.targets,
        version=chosen.version,
        note=chosen.note,
    )


def scored_baseline(history: History, reference: str, folder: Path) -> Baseline:
    """A baseline with its scores that is a file, looked for in `folder`, or a name in the history."""
    return baseline_file(reference, folder) or gate_baseline(history, reference)


def baseline_file(reference: str, folder: Path) -> Baseline | None:
    """A baseline with its scores that is a file in `folder`; None for what is a name in the history."""
    path = folder / reference
    if not (is_file_name(reference) or path.is_file()):
        return None
    found = load_baseline(path)
    if found.record is None:
        raise DataError(f"{reference} has only means; a record with its scores is needed here")
    return found


def _latest(history: History, name: str, connection: sa.Connection) -> StoredBaseline | None:
    return next(iter(history.baselines(name, connection=connection)), None)


def _insert(
    history: History, connection: sa.Connection, record: Record, row: dict[str, Any], settings: Settings
) -> StoredBaseline:
    """Store a version with its record, which is the anchor where the row names none."""
    number = history.add(record, connection=connection).id
    row |= {"record_id": number, "anchor_id": row["anchor_id"] or number, "note": (row["note"] or "").strip() or None}
    row |= {"set_at": datetime.datetime.now(datetime.UTC), "settings": settings}
    try:
        connection.execute(sa.insert(baselines).values(row))
    except sa.exc.IntegrityError:  # on a server two may come this far at once
        raise DataError(f"the baseline {row['name']} was changed meanwhile; look at it and try again") from None
    return history.baselines(row["name"], connection=connection)[0]
