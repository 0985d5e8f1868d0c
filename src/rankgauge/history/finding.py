"""Finding records: by reference, and by what they must match."""

from __future__ import annotations

import re
from typing import Any

from rankgauge.errors import DataError, MeasureError
from rankgauge.history.location import Location
from rankgauge.history.rows import Stored
from rankgauge.history.schema import means, records
from rankgauge.history.sql import sa
from rankgauge.history.times import Moment, as_moment

__all__ = ["find", "light", "matching", "measure_names", "of_means", "stored_of", "within"]

_LATEST = re.compile(r"latest(?:~(\d{1,9}))?", re.IGNORECASE)
_UID = re.compile(r"[0-9a-f]{6,64}", re.IGNORECASE)
_LARGEST = 2**31 - 1
_LIGHT = [column for column in records.c if column.name != "document"]


def light() -> sa.Select[Any]:
    """All of a record but its document."""
    return sa.select(*_LIGHT)


def stored_of(row: sa.Row[Any], *, new: bool = False, labelled: bool = False) -> Stored:
    return Stored(**row._mapping, new=new, labelled=labelled)


def within(
    wanted: sa.Select[Any], moment: sa.Column[Any], since: Moment | None, until: Moment | None
) -> sa.Select[Any]:
    """since <= moment < until."""
    since, until = as_moment(since), as_moment(until)
    if since is not None:
        wanted = wanted.where(moment >= since)
    return wanted if until is None else wanted.where(moment < until)


def matching(
    wanted: sa.Select[Any],
    *,
    label: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    system: str | None = None,
    measure: str | None = None,
) -> sa.Select[Any]:
    """Records with the label, made since <= created < until, that have a mean of the system and the measure."""
    wanted = within(wanted, records.c.created, since, until)
    if label is not None:
        wanted = wanted.where(records.c.label == label)
    if system is not None or measure is not None:
        inner = sa.select(means.c.record_id).where(means.c.record_id == records.c.id)
        wanted = wanted.where(of_means(inner, system, measure).exists())
    return wanted


def of_means(wanted: sa.Select[Any], system: str | None, measure: str | None) -> sa.Select[Any]:
    """Means of the system and the measure."""
    if system is not None:
        wanted = wanted.where(means.c.system == system)
    return wanted if measure is None else wanted.where(means.c.measure.in_(measure_names(measure)))


def measure_names(measure: str) -> list[str]:
    """How a measure may be named in records: as this project spells it, or as scores from elsewhere were named."""
    from rankgauge.measures import parse_measure  # here, for it takes numpy, which a list does without

    try:
        known = str(parse_measure(measure))
    except MeasureError:
        return [measure]
    return list(dict.fromkeys([known, measure]))


def find(connection: sa.Connection, reference: str, location: Location, label: str | None = None) -> Stored:
    """The one record that a reference means."""
    text = reference.strip()
    latest = _LATEST.fullmatch(text)
    if latest:
        back = int(latest[1] or 0)
        wanted = matching(light(), label=label)
        wanted = wanted.order_by(records.c.created.desc(), records.c.id.desc()).limit(1).offset(back)
        row = connection.execute(wanted).one_or_none()
        if row is None:
            counted = matching(sa.select(sa.func.count()).select_from(records), label=label)
            count = connection.execute(counted).scalar()
            which = "" if label is None else f" with the label {label!r}"
            raise DataError(f"{location}: there is no record {text!r}: it holds {count}{which}")
        return stored_of(row)
    if text.isascii() and text.isdigit() and int(text) <= _LARGEST:
        row = connection.execute(light().where(records.c.id == int(text))).one_or_none()
        if row is not None:
            return stored_of(row)
    if _UID.fullmatch(text):
        wanted = light().where(records.c.uid.startswith(text.lower())).limit(3)
        rows = connection.execute(wanted).all()
        if len(rows) == 1:
            return stored_of(rows[0])
        if rows:
            both = ", ".join(str(row.id) for row in rows)
            raise DataError(f"{location}: several records begin with {text!r} ({both}, ...); give more of it")
    raise DataError(
        f"{location}: there is no record {text!r}; name one by its number in 'rankgauge history list', by six or more "
        "characters of its uid, or as latest, latest~1, ..."
    )
