"""The spool: a check is written to a file as soon as it is complete, and ingested into the history from there, once.

Should the database be away, or the process die, the next start finds the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from rankgauge.errors import RankgaugeError
from rankgauge.formats.leftovers import remove_leftovers
from rankgauge.formats.private import make_folders
from rankgauge.formats.sources import write_whole
from rankgauge.monitoring.loop.observing import Observation
from rankgauge.record import Record
from rankgauge.record.record import name_parts

__all__ = ["Spooled", "spool", "spooled"]

_VERSION = 1


def spool(observation: Observation, folder: Path) -> Path:
    """Write the observation to a file of its own, whole or not at all. Files are numbered: clocks can be set back."""
    make_folders(folder)
    remove_leftovers(folder)
    numbers = [int(path.name[:6]) for path in folder.glob("*.json") if path.name[:6].isdecimal()]
    path = folder / f"{max(numbers, default=0) + 1:06}-{observation.token}.json"
    content = msgspec.to_builtins(replace(observation, record=None), str_keys=True)
    content["record"] = None if observation.record is None else observation.record.to_dict()
    write_whole(path, json.dumps({"version": _VERSION, **content}).encode())
    return path


@dataclass(frozen=True)
class Spooled:
    """Observations that wait to be ingested, oldest first, and files that cannot be."""

    waiting: list[tuple[Path, Observation]] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)
    """Set aside under this name: they cannot be read."""
    later: list[Path] = field(default_factory=list)
    """Left where they are: a later release wrote them."""


def spooled(folder: Path, monitor: str) -> Spooled:
    """What waits for a monitor."""
    found = Spooled()
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            content = json.loads(path.read_bytes())
            if content.pop("version") > _VERSION:
                found.later.extend([path] if content.get("monitor") == monitor else [])
                continue
            observation = _observation(content)
        except (AttributeError, KeyError, TypeError, ValueError, msgspec.ValidationError, RankgaugeError):
            found.damaged.append(path.rename(path.with_suffix(".damaged")))
            continue
        if observation.monitor == monitor:
            found.waiting.append((path, observation))
    return found


def _observation(content: dict[str, Any]) -> Observation:
    record = content.pop("record")
    name_parts()
    observation = msgspec.convert({**content, "record": None}, Observation)
    return observation if record is None else replace(observation, record=Record.from_dict(record))
