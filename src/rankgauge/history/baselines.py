"""Named baselines in the history: set, promoted, and never overwritten.

`set` makes a record the baseline and the anchor. `promote` lets a later record take its place if it holds against the
baseline and against the anchor, so that many small losses, each allowed, cannot add up.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError
from rankgauge.evaluation.old_identity import uid_of
from rankgauge.gate.baseline import Baseline, baseline_of, choose_system, is_file_name, load_baseline
from rankgauge.gate.gate import GateResult, gate
from rankgauge.gate.rules import GateRules
from rankgauge.gate.targets import parse_share, parse_target
from rankgauge.history.loosening import loosened, require_reason, used
from rankgauge.history.references import UnknownBaselineError, check_name
from rankgauge.history.schema import baselines, records
from rankgauge.history.sql import sa
from rankgauge.history.store import History

__all__ = [
    "Promotion",
    "StoredBaseline",
    "all_baselines",
    "baseline_record",
    "current_baseline",
    "gate_baseline",
    "promote_baseline",
    "set_baseline",
    "versions_of",
]


@dataclass(frozen=True)
class StoredBaseline:
    """One version of a baseline."""

    name: str
    version: int
    action: str
    """`set` or `promote`."""
    record_id: int
    uid: str
    system: str
    created: datetime.datetime
    """When the record was measured."""
    set_at: datetime.datetime
    note: str | None
    margin: float | None
    targets: tuple[str, ...]
    forced: str | None
    """What the gate had said where it was overridden."""
    anchor_id: int
    used: Mapping[str, Any] | None = None
    """The rules that a promotion was held to; None for what was set."""
    looser: tuple[str, ...] = ()
    """What of them was looser than the baseline's own, as options."""


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
        found = [result.accepted for result in self.results]
        return False if False in found else None if None in found else True


def set_baseline(
    history: History,
    name: str,
    record: Mapping[str, Any],
    *,
    system: str | None = None,
    margin: str | float | None = None,
    targets: tuple[str, ...] | None = None,
    note: str | None = None,
) -> StoredBaseline:
    """Make a record the baseline and the anchor, whatever it scores. Margin and targets not given stay as they were."""
    check_name(name)
    chosen = choose_system(record, system)["name"]
    baseline_of(record, name, system=chosen)
    given = None if margin is None else parse_share(margin)
    wanted = None if targets is None else tuple(parse_target(target).text for target in targets)
    with history.begin() as connection:
        before = _latest(connection, name)
        if before is not None:
            given = before.margin if given is None else given
            wanted = before.targets if wanted is None else wanted
        stored = history.add(record, connection=connection)
        settings = {"margin": given, "targets": list(wanted or ())}
        number = 1 if before is None else before.version + 1
        _insert(connection, name, number, stored.id, chosen, "set", note, settings, stored.id)
        made = _latest(connection, name)
    assert made is not None
    return made


def promote_baseline(
    history: History,
    name: str,
    record: Mapping[str, Any],
    *,
    system: str | None = None,
    rules: GateRules | None = None,
    force: bool = False,
    note: str | None = None,
) -> Promotion:
    """Let a record take the place of the baseline, if it holds against it and against the anchor, or by force.

    Force, and rules that are looser than the baseline's own, need a note.
    """
    require_reason([], note, force=force)
    before, old = current_baseline(history, name), gate_baseline(history, name)
    wanted = replace(rules or GateRules(), system=system or (rules.system if rules else None))
    assert old.record is not None
    looser = loosened(wanted, before.margin, old.record)
    require_reason(looser, note, force=force)
    results = [gate(record, old, rules=wanted)]
    if before.anchor_id != before.record_id:
        anchored = replace(wanted, targets=(), floors=(), latency=(), scenario=None, min_judged=None, max_age=None)
        results.append(gate(record, replace(gate_baseline(history, name, anchor=True), targets=()), rules=anchored))
    tried = Promotion(results[0], results[1] if len(results) > 1 else None, None)
    if tried.accepted is not True and not force:
        return tried
    chosen = choose_system(record, wanted.system)["name"]
    if uid_of(record) == before.uid and chosen == before.system and not force:
        return replace(tried, stored=before)  # it is the baseline already
    with history.begin() as connection:
        now = _latest(connection, name)
        if now is None or now.version != before.version:
            raise DataError(f"the baseline {name} was changed meanwhile; look at it and promote again")
        stored = history.add(record, connection=connection)
        settings: dict[str, Any] = {"margin": before.margin, "targets": list(before.targets)}
        settings |= {"used": used(tried.against_current.settings), "looser": looser}
        if tried.accepted is not True:
            settings["forced"] = next(r.status for r in tried.results if r.accepted is not True)
        number = before.version + 1
        _insert(connection, name, number, stored.id, chosen, "promote", note, settings, before.anchor_id)
        made = _latest(connection, name)
    return replace(tried, stored=made)


def current_baseline(history: History, name: str) -> StoredBaseline:
    """The highest version of a name."""
    check_name(name)
    with history.read() as connection:
        found = _latest(connection, name)
        if found is not None:
            return found
        known = list(connection.execute(sa.select(baselines.c.name).distinct().order_by(baselines.c.name)).scalars())
    there = f"there are: {', '.join(known)}" if known else "it has none yet"
    raise UnknownBaselineError(
        f"{history.location} has no baseline {name!r}; {there}; make one: rankgauge baseline set {name} RECORD.json"
    )


def versions_of(history: History, name: str) -> list[StoredBaseline]:
    """All versions, newest first."""
    current_baseline(history, name)
    wanted = _rows().where(baselines.c.name == name).order_by(baselines.c.version.desc())
    with history.read() as connection:
        return [_stored(row) for row in connection.execute(wanted)]


def all_baselines(history: History) -> list[StoredBaseline]:
    """The current version of every name."""
    with history.read() as connection:
        found: dict[str, StoredBaseline] = {}
        for row in connection.execute(_rows().order_by(baselines.c.name, baselines.c.version)):
            found[row.name] = _stored(row)
    return list(found.values())


def gate_baseline(history: History, name: str, *, anchor: bool = False) -> Baseline:
    """A baseline with its scores, for a gate; with `anchor`, the record that was last set by hand."""
    now = current_baseline(history, name)
    if anchor:
        was = next(version for version in versions_of(history, name) if version.action == "set")
        shown, chosen = f"{name}'s anchor", was
    else:
        shown, chosen = name, now
    record = history.document(chosen.record_id)
    return Baseline(
        shown, record, chosen.system, margin=now.margin, targets=now.targets, version=chosen.version, note=chosen.note
    )


def baseline_record(
    history: History, reference: str, folder: Path | None = None
) -> tuple[Mapping[str, Any], str | None]:
    """Record and system of a baseline that is a name in the history, or a file, looked for in `folder`."""
    path = Path(reference) if folder is None else folder / reference
    in_file = path.is_file() or is_file_name(reference)
    found = load_baseline(path) if in_file else gate_baseline(history, reference)
    if found.record is None:
        raise DataError(f"{reference} has only means; a record or an exported baseline with its scores is needed here")
    return found.record, found.system


def _rows() -> sa.Select[Any]:
    return sa.select(baselines, records.c.uid, records.c.created).join(records, records.c.id == baselines.c.record_id)


def _latest(connection: sa.Connection, name: str) -> StoredBaseline | None:
    wanted = _rows().where(baselines.c.name == name).order_by(baselines.c.version.desc()).limit(1)
    row = connection.execute(wanted).one_or_none()
    return None if row is None else _stored(row)


def _stored(row: sa.Row[Any]) -> StoredBaseline:
    settings = json.loads(row.settings)
    return StoredBaseline(
        row.name,
        row.version,
        row.action,
        row.record_id,
        row.uid,
        row.system,
        row.created,
        row.set_at,
        row.note,
        settings.get("margin"),
        tuple(settings.get("targets") or ()),
        settings.get("forced"),
        row.anchor_id,
        settings.get("used"),
        tuple(settings.get("looser") or ()),
    )


def _insert(
    connection: sa.Connection,
    name: str,
    version: int,
    record_id: int,
    system: str,
    action: str,
    note: str | None,
    settings: Mapping[str, Any],
    anchor_id: int,
) -> None:
    try:
        connection.execute(
            sa.insert(baselines).values(
                name=name,
                version=version,
                record_id=record_id,
                system=system,
                action=action,
                set_at=datetime.datetime.now(datetime.UTC),
                note=(note or "").strip() or None,
                settings=json.dumps(settings, ensure_ascii=False),
                anchor_id=anchor_id,
            )
        )
    except sa.exc.IntegrityError:  # on a server two may come this far at once
        raise DataError(f"the baseline {name} was changed meanwhile; look at it and try again") from None
