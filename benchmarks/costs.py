"""What a whole process costs, and the facts about the machine that the figures are of."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.peers import MEASURES

__all__ = ["ASKED", "OWN", "WITHOUT_NATIVE", "Cost", "best", "machine", "measure"]

OWN = [str(Path(sys.executable).with_name("rankgauge")), "evaluate"]
ASKED = [part for name in MEASURES for part in ("-m", name)]
WITHOUT_NATIVE = ["env", "RANKGAUGE_NATIVE=0"]
"""Before a command: NumPy and polars alone."""
_PACKAGES = ("rankgauge", "rankgauge-native", "numpy", "polars", "pytrec-eval-terrier", "ir-measures", "ranx")


@dataclass
class Cost:
    seconds: float
    """By the clock."""
    megabytes: float
    """Peak memory."""
    cpu: float = 0.0
    """Seconds of all processors together: steadier than the clock where others use the machine too."""


def measure(command: list[str]) -> Cost:
    """The cost of a process. This one stays small, for a child's peak starts at its parent's."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return Cost(seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def best(commands: dict[str, list[str]], rounds: int) -> dict[str, Cost]:
    """The least times and the largest peak of several rounds in which all take turns."""
    found: dict[str, Cost] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            cost = measure(command)
            known = found.get(name, cost)
            found[name] = Cost(
                min(known.seconds, cost.seconds), max(known.megabytes, cost.megabytes), min(known.cpu, cost.cpu)
            )
    return found


def machine() -> dict[str, object]:
    """Processor, memory and versions."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "load": [round(load, 2) for load in os.getloadavg()],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in _PACKAGES},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
