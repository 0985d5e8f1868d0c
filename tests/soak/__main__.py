"""`make soak`: SOAK_KILLS kills of each command (30), then SOAK_MINUTES of a monitor under faults (60), half of them on
PostgreSQL where that is here. What was lost is told at the end; the exit status is 1 if anything was. SOAK_SEED draws
the same faults again."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.parts import found
from tests.soak.faults import soak
from tests.soak.kills import COMMANDS, kill_command


def main() -> int:
    kills, minutes = int(os.environ.get("SOAK_KILLS", "30")), float(os.environ.get("SOAK_MINUTES", "60"))
    seed = int(os.environ.get("SOAK_SEED", time.time_ns() % 1_000_000))
    folder = Path(tempfile.mkdtemp(prefix="rankgauge-soak-"))
    print(f"soak: {kills} kills of each command, {minutes:g} min of faults, SOAK_SEED={seed}, in {folder}", flush=True)
    lost: list[str] = []
    for name in COMMANDS if kills else ():
        done = kill_command(name, folder / name.replace(" ", "-"), kills, seed)
        lost += [f"{name}: {what}" for what in done.lost]
        print(f"{name}: {done.kills} killed, {done.ended} ended, {len(done.lost)} lost", flush=True)
    databases = [False, True] if found("postgresql") is not None else [False]
    for number, server in enumerate(databases if minutes > 0 else []):
        place = folder / ("faults-postgresql" if server else "faults-sqlite")
        came = soak(place, minutes / len(databases), seed + number, server=server)
        lost += [f"monitor on {came.database}: {what}" for what in came.lost]
        drawn = ", ".join(f"{name} {count}" for name, count in sorted(came.faults.items()))
        print(f"monitor on {came.database}: {came.faults.total()} faults ({drawn})")
        print(
            f"  {came.starts} starts, {came.checks} checks ({came.spooled} spooled first), {came.incidents} incidents, "
            f"{came.alerts} alerts taken ({came.repeated} more than once), {came.no_room} checks told as lost for want "
            f"of room on the disk, {len(came.lost)} lost",
            flush=True,
        )
    if not lost:
        shutil.rmtree(folder)
        print("lost: nothing")
        return 0
    print(f"lost: {len(lost)} (SOAK_SEED={seed}; files are left in {folder})")
    print("\n".join(f"- {what}" for what in lost))
    return 1


if __name__ == "__main__":
    sys.exit(main())
