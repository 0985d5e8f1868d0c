"""Who holds a lease: a process by its machine, number and start; one that was killed on this machine is found out."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Holder"]

_PROC = Path("/proc")


@dataclass(frozen=True)
class Holder:
    """A process. Where the system does not tell when it was started, nothing is known of its end either."""

    host: str
    pid: int
    machine: str = ""
    """This start of the machine, and the process numbers' own space: containers count for themselves."""
    started: str = ""

    @classmethod
    def here(cls) -> Holder:
        """This very process."""
        return cls(platform.node(), os.getpid(), _machine(), _started(os.getpid()) or "")

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    def gone(self) -> bool:
        """Whether it has certainly ended: it ran here, and its number is free or another's by now."""
        if not self.machine or not self.started or self.machine != _machine():
            return False
        return _started(self.pid) != self.started


def _machine() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When a process was started, in ticks since the machine's start; None where there is none, or a zombie."""
    try:
        # The name, in parentheses, may hold anything.
        fields = (_PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return None if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return None
