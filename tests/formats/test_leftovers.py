"""Files that killed processes left behind go; those of living ones stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankgauge.formats.leftovers import remove_leftovers
from rankgauge.formats.sources import write_whole
from tests.parts import ROOT

# Stops in the middle of writing, with the temporary file there.
_WRITER = """
import os, signal, sys
from rankgauge.formats import sources
real = os.replace
def stop(*names):
    print("written", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    real(*names)
os.replace = stop
sources.write_whole(sys.argv[1], b"of the slow one")
"""


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "search.run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)  # what continues it must not come before that
    yield process
    if process.poll() is None:
        ended(process, signal.SIGKILL)


def ended(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    os.kill(process.pid, number)
    process.wait(20)
    assert process.stdout is not None
    process.stdout.close()


def grown_old(folder: Path) -> list[Path]:
    """The temporary files, an hour later."""
    found = sorted(folder.glob(".*"))
    for path in found:
        os.utime(path, (time.time() - 3600,) * 2)
    return found


def test_what_a_killed_process_left_is_removed(tmp_path: Path, writing: subprocess.Popen[bytes]) -> None:
    ended(writing, signal.SIGKILL)
    assert len(grown_old(tmp_path)) == 1
    (tmp_path / ".search.run.mine").write_text("")
    (tmp_path / ".other.run.abcdefgh").write_text("")
    grown_old(tmp_path)
    write_whole(tmp_path / "search.run", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.run.abcdefgh", ".search.run.mine", "search.run"]
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".search.run.mine", "search.run"]


def test_that_of_a_living_process_stays(tmp_path: Path, writing: subprocess.Popen[bytes]) -> None:
    """However long it takes; and what has just been begun stays too."""
    assert len(grown_old(tmp_path)) == 1
    (tmp_path / ".search.run.abcdefgh").write_text("just begun")
    write_whole(tmp_path / "search.run", b"of the quick one")
    assert len(list(tmp_path.glob(".*"))) == 2
    ended(writing, signal.SIGCONT)
    assert (tmp_path / "search.run").read_bytes() == b"of the slow one"
