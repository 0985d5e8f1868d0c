"""What a gate compares with: a record's system, an exported baseline, or a plain file of means."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.evaluation.old_record import FORMAT as RECORD_FORMAT
from rankgauge.evaluation.old_record import check_record
from rankgauge.gate.parts import check_parts
from rankgauge.gate.targets import LARGEST, parse_share, parse_target

__all__ = ["FORMAT", "Baseline", "baseline_of", "choose_system", "export_baseline", "is_file_name", "load_baseline"]

FORMAT = "rankgauge.baseline"
VERSION = 1
# What a gate reads of a record; texts, lists and the comparison stay behind.
_KEPT = ("format", "version", "created", "rankgauge", "contract", "measures", "queries", "provenance", "tags")


@dataclass(frozen=True)
class Baseline:
    """Scores to hold against. One without a record has only means, which are taken as thresholds."""

    name: str
    record: Mapping[str, Any] | None = None
    system: str | None = None
    """The system of the record; None where the gate's own name, or the only one, decides."""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    margin: float | None = None
    targets: tuple[str, ...] = ()
    version: int | None = None
    note: str | None = None

    @property
    def created(self) -> datetime.datetime | None:
        """When its scores were measured."""
        return None if self.record is None else moment(self.record["created"])

    def entry(self, system: str) -> Mapping[str, Any]:
        """The system of the record that a system is compared with."""
        assert self.record is not None
        names = [entry["name"] for entry in self.record["systems"]]
        wanted = self.system
        if wanted is None:
            wanted = system if system in names else names[0] if len(names) == 1 else None
        if wanted is None:
            raise DataError(
                f"the baseline {self.name} has the systems {', '.join(names)}, and none is named {system!r}; keep one "
                f"of them as the baseline: rankgauge baseline set NAME {self.name} --system {names[0]}"
            )
        return choose_system(self.record, wanted, f"the baseline {self.name}")


def moment(text: str) -> datetime.datetime:
    """A time as records write it; without a zone it is UTC."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise DataError(f"{text!r} is no time") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)


def choose_system(record: Mapping[str, Any], name: str | None, what: str = "the record") -> Mapping[str, Any]:
    """A system of a record by its name, or the only one."""
    systems: list[Mapping[str, Any]] = record["systems"]
    names = [entry["name"] for entry in systems]
    if name is None:
        if len(systems) == 1:
            return systems[0]
        raise DataError(f"{what} has the systems {', '.join(names)}; choose one with --system")
    found = next((entry for entry in systems if entry["name"] == name), None)
    if found is None:
        raise DataError(f"{what} has no system {name!r}; it has: {', '.join(names)}")
    return found


def is_file_name(text: str) -> bool:
    """Whether a baseline is meant as a file and not as a name in the history."""
    return text == "-" or Path(text).is_file() or any(c in text for c in "/\\") or ".json" in text.lower()


def baseline_of(
    record: Mapping[str, Any],
    name: str,
    *,
    system: str | None = None,
    margin: float | None = None,
    targets: tuple[str, ...] = (),
) -> Baseline:
    """A record as a baseline. It must have scores of single queries."""
    if system is not None or len(record["systems"]) == 1:
        system = choose_system(record, system)["name"]
    if not record["queries"]:
        raise DataError(f"{name}: {_NO_SCORES}")
    return Baseline(name, record, system, margin=margin, targets=targets)


_NO_SCORES = (
    "this record holds no scores of single queries, so nothing can be paired with it; write it with "
    "rankgauge evaluate ... -o record.json"
)


def load_baseline(path: str | os.PathLike[str]) -> Baseline:
    """A baseline from a file: a record, an exported baseline, or means such as {"nDCG@10": 0.71}."""
    from rankgauge.formats.json_values import read_json
    from rankgauge.formats.sources import Source

    source = Source(path)
    value = read_json(source)
    kind = value.get("format") if isinstance(value, dict) else None
    if kind == RECORD_FORMAT:
        record = check_record(value, source.name)
        check_parts(record, source.name)
        return baseline_of(record, source.name)
    if kind == FORMAT:
        return _exported(value, source.name)
    return Baseline(source.name, thresholds=_means(value, source.name))


def export_baseline(baseline: Baseline, *, set_at: str | None = None) -> dict[str, Any]:
    """A baseline as a document for version control: the one system's scores, hashes, margin and targets."""
    if baseline.record is None or baseline.system is None:
        raise DataError(f"{baseline.name} has no scores of one system to export")
    record = {key: baseline.record[key] for key in _KEPT if key in baseline.record}
    entry = dict(choose_system(baseline.record, baseline.system, f"the baseline {baseline.name}"))
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": baseline.name,
        "number": baseline.version,
        "set": set_at,
        "note": baseline.note,
        "margin": baseline.margin,
        "targets": list(baseline.targets),
        "record": {**record, "kind": "evaluation", "systems": [entry]},
    }


def _exported(value: Mapping[str, Any], where: str) -> Baseline:
    if not isinstance(value.get("version"), int) or not 1 <= value["version"] <= VERSION:
        raise FormatError(where, [f"baseline version {value.get('version')!r} is not known to this release"])
    record = check_record(value.get("record"), where)
    check_parts(record, where)
    targets = value.get("targets") or []
    try:
        margin = None if value.get("margin") is None else parse_share(value["margin"])
        for target in targets:
            parse_target(target)
    except (RankgaugeError, AttributeError) as error:
        raise FormatError(where, [str(error)]) from None
    made = baseline_of(record, where, margin=margin, targets=tuple(targets))
    return Baseline(
        str(value.get("name") or where), made.record, made.system, {}, margin, made.targets, value.get("number")
    )


def _means(value: Any, where: str) -> dict[str, float]:
    means: Any = value.get("means", value) if isinstance(value, dict) else None
    if not isinstance(means, dict) or not means or not all(_is_number(number) for number in means.values()):
        raise FormatError(
            where,
            ['this is no baseline: it should be a record, an exported baseline, or means such as {"nDCG@10": 0.71}'],
        )
    return {str(name): float(number) for name, number in means.items()}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST
