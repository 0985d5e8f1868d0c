"""The open incidents of a monitor, known beside its history: should that be deleted or emptied, they are missed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rankgauge.formats.private import make_folders
from rankgauge.formats.sources import write_whole
from rankgauge.history.location import Location
from rankgauge.history.monitored import OpenIncident
from rankgauge.monitoring.loop.plan import MonitorPlan

__all__ = ["OpenIncidents"]


@dataclass
class OpenIncidents:
    """What a monitor knows to be open in one history: in memory, and in a file beside the plan."""

    path: Path | None
    """None for a history in memory."""
    _known: list[OpenIncident] = field(default_factory=list)

    @staticmethod
    def of(plan: MonitorPlan, place: Location) -> OpenIncidents:
        """Of a plan and its history: another place has other incidents."""
        if place.memory:
            return OpenIncidents(None)
        where = str(place if place.path is None else place.path.resolve())
        name = hashlib.sha256(f"{plan.name}\0{where}".encode()).hexdigest()[:16]
        return OpenIncidents(plan.run.folder / ".rankgauge" / "open" / f"{name}.json")

    def known(self) -> list[OpenIncident]:
        """As this process last saw them, or another one since: the history has a row of each, open or closed by now."""
        return [*self._known, *(found for found in self._read() if found not in self._known)]

    def keep(self, found: list[OpenIncident]) -> None:
        """These are open now."""
        self._known = found
        if self.path is not None and found != self._read():
            make_folders(self.path.parent)
            write_whole(self.path, msgspec.json.encode(found))

    def _read(self) -> list[OpenIncident]:
        if self.path is None:
            return []
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=list[OpenIncident])
        except (OSError, msgspec.DecodeError):  # there is none, or it is damaged: the next check writes it anew
            return []
