"""Logs in the format of User Behavior Insights (github.com/o19s/ubi, version 1): searches and events, a JSON object a
line, with or without the lines of OpenSearch's bulk format, in one file or in several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import polars as pl

from rankgauge.formats.click_logs.columns import Roles
from rankgauge.formats.click_logs.gathering import Gathered

__all__ = ["is_ubi", "take_ubi"]

_ROLES = Roles({name: name for name in ("list", "query", "doc", "rank", "action", "dwell", "session")})


class _Object(msgspec.Struct):
    object_id: str | int | None = None


class _Position(msgspec.Struct):
    ordinal: float | str | None = None


class _Attributes(msgspec.Struct):
    object: _Object | None = None
    position: _Position | None = None
    dwell_time: float | str | None = None
    session_id: str | int | None = None


class _Line(msgspec.Struct):
    action_name: str | None = None
    query_id: str | int | None = None
    user_query: str | None = None
    session_id: str | int | None = None
    client_id: str | int | None = None
    event_attributes: _Attributes | None = None
    query_response_hit_ids: list[str | int | None] | None = None
    index: Any = None
    create: Any = None
    source: Any = msgspec.field(name="_source", default=None)


_LINES = msgspec.json.Decoder(_Line)


def is_ubi(objects: Sequence[Any]) -> bool:
    """Whether objects are searches or events of UBI."""
    for found in objects:
        inner = found.get("_source", found) if isinstance(found, dict) else None
        if isinstance(inner, dict) and (
            {"query_response_hit_ids", "query_attributes"} & inner.keys()
            or {"action_name", "event_attributes"} <= inner.keys()
        ):
            return True
    return False


def take_ubi(lines: Sequence[bytes], gathered: Gathered) -> None:
    """Searches and events; lines that are neither count as broken."""
    events: list[_Line] = []
    searches: list[_Line] = []
    for text in lines:
        try:
            line = _LINES.decode(text)
            if line.source is not None:
                line = msgspec.convert(line.source, _Line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            gathered.left_out["broken"] += 1
            gathered.read += 1
            continue
        if line.action_name is not None:
            events.append(line)
        elif line.query_id is not None:
            searches.append(line)
        elif line.index is None and line.create is None:
            gathered.left_out["broken"] += 1
            gathered.read += 1
    gathered.take_hits(
        [str(line.query_id) for line in searches],
        [line.user_query for line in searches],
        [[str(doc) for doc in line.query_response_hit_ids or () if doc is not None] for line in searches],
    )
    if events:
        gathered.take(_columns(events), _ROLES)


def _columns(events: Sequence[_Line]) -> dict[str, pl.Series]:
    blank = _Attributes()
    attributes = [event.event_attributes or blank for event in events]
    values: dict[str, list[Any]] = {
        "list": [event.query_id for event in events],
        "query": [event.user_query for event in events],
        "doc": [None if one.object is None else one.object.object_id for one in attributes],
        "rank": [None if one.position is None else one.position.ordinal for one in attributes],
        "action": [event.action_name for event in events],
        "dwell": [one.dwell_time for one in attributes],
        "session": [
            event.session_id or event.client_id or one.session_id
            for event, one in zip(events, attributes, strict=True)
        ],
    }
    return {name: pl.Series(name, own, dtype=pl.String, strict=False) for name, own in values.items()}
