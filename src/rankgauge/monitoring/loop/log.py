"""The lines of a monitor's log: sentences for people, or JSON objects for programs."""

from __future__ import annotations

import datetime
import json
from typing import Any, Literal

import msgspec

from rankgauge.formats.secrets import masked, masked_value
from rankgauge.words import Language, Note, tell

__all__ = ["LogFormat", "json_line", "level_of", "log_line"]

LogFormat = Literal["text", "json"]
_ERRORS = {"lost", "unavailable", "hangs", "failed_step", "alert_given_up", "holder_idle", "left_hanging"}
_WARNINGS = {
    *(
        "abandoned",
        "alert_failed",
        "channel_absent",
        "clock_back",
        "clock_forward",
        "damaged",
        "invalid",
        "later_release",
    ),
    *("lease_lost", "missed", "opened", "partly", "replaced", "slow", "spooled", "undelivered_health", "unheld"),
}


def log_line(note: Note, language: Language, form: LogFormat = "text", now: datetime.datetime | None = None) -> str:
    """A note as one line of the log, without what looks like a secret; as JSON with its time, which is now by
    default."""
    if form == "text":
        return masked(tell(note, language))
    return json_line(level_of(note), note.key, tell(note, language), note.parameters, now)


def level_of(note: Note) -> str:
    """info, warning or error."""
    name = note.key.removeprefix("monitor.")
    return "error" if name in _ERRORS else "warning" if name in _WARNINGS else note.level


def json_line(
    level: str, key: str, message: str, parameters: dict[str, Any] | None = None, now: datetime.datetime | None = None
) -> str:
    """One line of the log as a JSON object, without what looks like a secret."""
    moment = now or datetime.datetime.now(datetime.UTC)
    # In ASCII, and so without anything that steers a terminal.
    return json.dumps(
        {
            "time": moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level,
            "key": key,
            "message": masked(message),
            "parameters": masked_value(msgspec.to_builtins(parameters or {}, str_keys=True, enc_hook=str)),
        }
    )
