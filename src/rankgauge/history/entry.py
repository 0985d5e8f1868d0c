"""A record as the rows it becomes in the database."""

from __future__ import annotations

import datetime
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import DataError, FormatError
from rankgauge.evaluation.old_identity import canonical, identity_of
from rankgauge.evaluation.old_record import check_record
from rankgauge.gate.parts import contradictions
from rankgauge.gate.targets import LARGEST

__all__ = ["Entry", "check_label", "entry_of", "moment"]

_LONGEST = 500
_LEVEL = 6


@dataclass(frozen=True)
class Entry:
    """The columns of `records`, and those of `means` but for the record's number."""

    row: dict[str, Any]
    means: list[dict[str, Any]]


def entry_of(record: Mapping[str, Any], label: str | None = None, name: str = "the record") -> Entry:
    """The rows of a record, or a `FormatError` that says what is wrong with it."""
    checked = check_record(dict(record), name)
    try:
        document = canonical(checked)
    except (TypeError, ValueError) as error:
        raise FormatError(name, [f"it cannot be written as JSON: {error}"]) from None
    if "contract" not in checked:
        raise FormatError(name, ["there is no contract: the record is damaged"])
    identity, rows = identity_of(checked), _means(checked, name)
    _check_whole(checked, name)
    git = checked["provenance"].get("git")
    row = {
        "uid": hashlib.sha256(document).hexdigest(),
        "created": moment(checked.get("created"), name),
        "stored": datetime.datetime.now(datetime.UTC),
        "kind": checked["kind"],
        "label": check_label(label),
        "test_set": identity.test_set,
        "corpus": identity.corpus,
        "contract": identity.contract,
        "git": git if isinstance(git, str) else None,
        "rankgauge": str(checked.get("rankgauge", "")),
        "queries": len(checked["queries"]) or max((mean["queries"] for mean in rows), default=0),
        "document": zlib.compress(document, _LEVEL),
    }
    return Entry(row, rows)


def _check_whole(record: Mapping[str, Any], name: str) -> None:
    """A record that says two things at once is refused."""
    try:
        faults = list(contradictions(record))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        faults = ["its scores are not what they should be"]
    if faults:
        raise FormatError(name, [f"{fault}: the record is damaged" for fault in faults])


def _means(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for system in record["systems"]:
        for measure, mean in system["means"].items():
            where = f"system {system['name']!r}, measure {measure!r}"
            for text in (system["name"], measure):
                _check_text(text, f"{name}: a system's or measure's name")
            if (system["name"], measure) in rows:
                raise FormatError(name, [f"{where}: two systems have the same name"])
            try:
                bounds = mean.get("interval") or {}
                row = {
                    "system": system["name"],
                    "measure": measure,
                    "value": float(mean["value"]),
                    "low": _end(bounds.get("low")),
                    "high": _end(bounds.get("high")),
                    "queries": int(mean["queries"]),
                    "position": len(rows),
                }
            except (AttributeError, KeyError, TypeError, ValueError):
                raise FormatError(name, [f"{where}: the mean is damaged"]) from None
            if not abs(row["value"]) < LARGEST:
                raise FormatError(name, [f"{where}: the mean is no number that can be drawn"])
            rows[system["name"], measure] = row
    return list(rows.values())


def _end(value: Any) -> float | None:
    """An end of an interval; one without a bound has none."""
    return None if value is None or not abs(float(value)) < LARGEST else float(value)


def moment(text: Any, name: str) -> datetime.datetime:
    """When a record was made; without a zone it is taken as UTC."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise FormatError(
            name, [f"'created' is {text!r}, which is no time such as 2026-01-31T12:00:00+00:00: the record is damaged"]
        ) from None
    return found.replace(tzinfo=datetime.UTC) if found.tzinfo is None else found.astimezone(datetime.UTC)


def check_label(label: str | None) -> str | None:
    """A label as it can be stored and shown."""
    if label is None:
        return None
    if not label.strip():
        raise DataError("a label needs at least one letter")
    _check_text(label, "the label")
    return label.strip()


def _check_text(text: str, what: str) -> None:
    """PostgreSQL stores no zero byte, no half of a surrogate pair, and has no index for very long texts."""
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise DataError(f"{what} holds characters that cannot be stored: {text!r}")
    if len(text) > _LONGEST:
        raise DataError(f"{what} is {len(text)} characters long; at most {_LONGEST} can be stored")
