"""The steps of action.yml: `measure` makes the record, `gate` holds it against the baseline.

What the user gave comes in variables, and goes on as arguments of a program; no shell reads it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

RANKGAUGE = (sys.executable, "-m", "rankgauge")


def given(name: str) -> str:
    return os.environ.get(name, "").strip()


def words(name: str) -> list[str]:
    """Arguments that are written as in a shell, which does not see them."""
    try:
        return shlex.split(given(name))
    except ValueError as error:
        raise SystemExit(stop(f"{name.lower()}: {error}: {given(name)!r}")) from None


def stop(message: str) -> int:
    print(f"rankgauge: {message}", file=sys.stderr)
    tell(status="2", verdict="error")
    return 2


def tell(**outputs: str) -> None:
    """Set the outputs of this step."""
    path = os.environ.get("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in outputs.items())


def withdraw() -> None:
    """Remove the JUnit file that an earlier job left in this workspace: a later step would take it for this one's."""
    junit = Path(given("JUNIT") or "gate.xml")
    try:
        if junit.is_file() and b"<testsuites" in junit.read_bytes()[:1000]:
            junit.unlink()
    except OSError as error:
        print(f"rankgauge: warning: junit: {junit}: {error.strerror or error}", file=sys.stderr)


def measure() -> int:
    """The record in one piece, or none: what an earlier step left there is never taken for it."""
    withdraw()
    command, record = given("COMMAND"), given("RECORD")
    if command not in ("evaluate", "run"):
        return stop(f"command: {command!r} is neither evaluate nor run")
    if not record or len(record.splitlines()) > 1:
        return stop(f"record: {record!r} is no name of a file")
    part = Path(f"{record}.part")
    try:
        with open(part, "wb") as file:
            status = subprocess.run([*RANKGAUGE, command, *words("ARGUMENTS"), "--json"], stdout=file).returncode
        if status != 0:
            return stop(f"{command} ended with status {status}, so there is no record to judge")
        os.replace(part, record)
    except OSError as error:
        return stop(f"record: {record}: {error.strerror or error}")
    finally:
        part.unlink(missing_ok=True)
    status = subprocess.run([*RANKGAUGE, "report", record]).returncode
    if status != 0:
        return stop(f"{command} wrote no record to {record}")
    tell(record=record)
    return 0


def gate() -> int:
    """The gate's own exit status. It adds the summary to the page of the job itself."""
    withdraw()
    options = [("--rules", given("RULES")), ("--baseline", given("BASELINE"))]
    # Not as an argument: it may hold a password, which a list of processes would show.
    history = {"RANKGAUGE_HISTORY": given("HISTORY")} if given("HISTORY") else {}
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "gate.json"
        status = subprocess.run(
            [
                *(*RANKGAUGE, "gate", given("RECORD")),
                *(word for option, value in options if value for word in (option, value)),
                *words("ARGUMENTS"),
                *("--junit", given("JUNIT") or "gate.xml", "--format", "json", "--output", str(found)),
            ],
            env={**os.environ, **history},
        ).returncode
        judged = status in (0, 1, 3) and found.is_file()
        verdict = json.loads(found.read_text(encoding="utf-8"))["status"] if judged else "error"
    tell(status=str(status), verdict=verdict)
    return status


if __name__ == "__main__":
    sys.exit({"measure": measure, "gate": gate}[sys.argv[1]]())
