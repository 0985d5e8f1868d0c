"""What a gate compares with: a record's system, an exported baseline, or a plain file of means."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.gating.targets import parse_share, parse_target
from rankgauge.record import Record, SystemResult, as_record
from rankgauge.record.codec import FORMAT as RECORD_FORMAT
from rankgauge.record.contradictions import LARGEST

__all__ = ["FORMAT", "Baseline", "as_baseline", "baseline_of", "export_baseline", "is_file_name", "load_baseline"]

FORMAT = "rankgauge.baseline"
VERSION = 2


@dataclass(frozen=True)
class Baseline:
    """Scores to hold against. One without a record has only means, which are taken as thresholds."""

    name: str
    record: Record | None = None
    system: str | None = None
    """The system of the record; None where the gate's own name, or the only one, decides."""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    max_loss: float | None = None
    targets: tuple[str, ...] = ()
    version: int | None = None
    note: str | None = None
    path: str | None = None
    """The file it was read from."""

    @property
    def created(self) -> datetime.datetime | None:
        """When its scores were measured."""
        return None if self.record is None else self.record.created_at

    def system_for(self, system: str) -> SystemResult:
        """The system of the record that a system is compared with."""
        assert self.record is not None
        names = [own.name for own in self.record.systems]
        wanted = self.system
        if wanted is None:
            wanted = system if system in names else names[0] if len(names) == 1 else None
        if wanted is None:
            raise DataError(
                f"the baseline {self.name} has the systems {', '.join(names)}, and none is named {system!r}; keep one "
                f"of them as the baseline: rankgauge baseline set NAME {self.name} --system {names[0]}"
            )
        return self.record.system(wanted, f"the baseline {self.name}")


def is_file_name(text: str) -> bool:
    """Whether a baseline is meant as a file and not as a name in the history."""
    return text == "-" or Path(text).is_file() or any(c in text for c in "/\\") or ".json" in text.lower()


def baseline_of(
    record: Record,
    name: str,
    *,
    system: str | None = None,
    max_loss: float | None = None,
    targets: tuple[str, ...] = (),
) -> Baseline:
    """A record as a baseline. It must have scores of single queries."""
    if system is not None or len(record.systems) == 1:
        system = record.system(system).name
    if not record.queries:
        raise DataError(
            f"{name}: this record holds no scores of single queries, so nothing can be paired with it; write it with "
            "rankgauge evaluate ... -o record.json"
        )
    return Baseline(name, record, system, max_loss=max_loss, targets=targets)


def as_baseline(given: Any) -> Baseline | None:
    """The baseline that a caller means: a record or a result, a file, or means by measure."""
    if given is None or isinstance(given, Baseline):
        return given
    if isinstance(given, str | os.PathLike):
        return load_baseline(given)
    if isinstance(given, Mapping):
        return _read(dict(given), "the baseline")
    return baseline_of(as_record(given, "baseline", ' means such as {"nDCG@10": 0.71},'), "the baseline")


@named_arguments
def load_baseline(path: str | os.PathLike[str]) -> Baseline:
    """A baseline from a file: a record, an exported baseline, or means such as {"nDCG@10": 0.71}."""
    from rankgauge.formats.json_values import read_record
    from rankgauge.formats.limits import RECORDS
    from rankgauge.formats.sources import Source

    source = Source(path, limits=RECORDS)
    found = _read(read_record(source), source.name)
    return found if os.fspath(path) == "-" else replace(found, path=os.fspath(path))


def _read(value: Any, where: str) -> Baseline:
    """A baseline from what JSON holds of it."""
    kind = value.get("format") if isinstance(value, dict) else None
    if kind == RECORD_FORMAT:
        return baseline_of(Record.from_dict(value, where), where)
    return _imported(value, where) if kind == FORMAT else Baseline(where, thresholds=_means(value, where))


@dataclass(frozen=True)
class _Exported:
    """A baseline as its document has it."""

    record: dict[str, Any]
    name: str | None = None
    number: int | None = None
    set: str | None = None
    note: str | None = None
    max_loss: float | None = None
    targets: list[str] = field(default_factory=list)


def export_baseline(baseline: Baseline, *, set_at: str | None = None) -> dict[str, Any]:
    """A baseline as a document for version control: the one system's scores, hashes, max loss and targets."""
    if baseline.record is None or baseline.system is None:
        raise DataError(f"{baseline.name} has no scores of one system to export")
    # A gate reads neither texts, lists nor comparisons.
    system = baseline.record.system(baseline.system, f"the baseline {baseline.name}")
    left_out: dict[str, Any] = {"texts": {}, "lists": {}, "comparison": None, "sweeps": [], "invalid": {}}
    record = replace(baseline.record, kind="evaluation", systems=[system], **left_out).to_dict()
    targets = list(baseline.targets)
    made = _Exported(record, baseline.name, baseline.version, set_at, baseline.note, baseline.max_loss, targets)
    return {"format": FORMAT, "version": VERSION, **vars(made)}


def _imported(value: Mapping[str, Any], where: str) -> Baseline:
    import msgspec

    if value.get("version") != VERSION:
        raise FormatError(where, [f"baseline version {value.get('version')!r} is not known to this release"])
    try:
        found = msgspec.convert(value, _Exported)
        max_loss = None if found.max_loss is None else parse_share(found.max_loss)
        for target in found.targets:
            parse_target(target)
    except (RankgaugeError, msgspec.ValidationError) as error:
        raise FormatError(where, [str(error)]) from None
    made = baseline_of(Record.from_dict(found.record, where), where, max_loss=max_loss, targets=tuple(found.targets))
    return replace(made, name=found.name or where, version=found.number, note=found.note)


def _means(value: Any, where: str) -> dict[str, float]:
    import msgspec

    means = value.get("means", value) if isinstance(value, dict) else None
    try:
        found = msgspec.convert(means, dict[str, float])
    except msgspec.ValidationError:
        found = {}
    if not found or any(abs(number) >= LARGEST for number in found.values()):
        raise FormatError(
            where,
            ['this is no baseline: it should be a record, an exported baseline, or means such as {"nDCG@10": 0.71}'],
        )
    return found
