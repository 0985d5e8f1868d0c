"""A record as the rows it becomes in the database."""

from __future__ import annotations

import datetime
import hashlib
import math
import zlib
from typing import Any

from rankgauge.arguments import check_text
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.limits import RECORDS
from rankgauge.record import Record
from rankgauge.record.identity import canonical, identity_of

__all__ = ["check_label", "entry_of"]

_LONGEST = 500
_LEVEL = 6


Row = dict[str, Any]


def entry_of(record: Record, label: str | None, name: str) -> tuple[Row, list[Row]]:
    """The columns of `records`, and those of `means` but for the record's number; `name` is what messages call it."""
    try:
        document = canonical(record.to_dict())
    except (TypeError, ValueError) as error:
        raise FormatError(name, [f"it cannot be written as JSON: {error}"]) from None
    packed = zlib.compress(document, _LEVEL)
    if len(document) > RECORDS.of(len(packed)):  # it could not be read again
        raise FormatError(name, [RECORDS.exceeded(len(packed))])
    identity, rows = identity_of(record), _means(record, name)
    row = {
        "uid": hashlib.sha256(document).hexdigest(),
        "created": record.created_at,
        "stored": datetime.datetime.now(datetime.UTC),
        "kind": record.kind,
        "label": check_label(label),
        "test_set": identity.test_set,
        "corpus": identity.corpus,
        "contract": identity.contract,
        "git": record.provenance.git,
        "rankgauge": record.rankgauge,
        "queries": len(record.queries) or max((mean["queries"] for mean in rows), default=0),
        "document": packed,
    }
    return row, rows


def _means(record: Record, name: str) -> list[Row]:
    rows: list[Row] = []
    for system in record.systems:
        for measure, mean in system.means.items():
            for text in (system.name, measure):
                _check_text(text, f"{name}: a system's or measure's name")
            ends = (None, None) if mean.interval is None else (mean.interval.low, mean.interval.high)
            # An end of an interval without a bound has none.
            low, high = (end if end is not None and math.isfinite(end) else None for end in ends)
            row = {"system": system.name, "measure": measure, "value": mean.value, "low": low, "high": high}
            rows.append({**row, "queries": mean.queries, "position": len(rows)})
    return rows


def check_label(label: str | None) -> str | None:
    """A label as it can be stored and shown."""
    if label is None:
        return None
    check_text("label", label)
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
