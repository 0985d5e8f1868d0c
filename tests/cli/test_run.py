"""`rankgauge run` and `init` as a user runs them; a run that is killed goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import run_command

PLAN = """
testset = "testset.json"
measures = ["R@5"]
[serving]
k = 5
concurrency = 2
[[system]]
name = "slow"
use = "slow_search_module:search"
[outputs]
record = "record.json"
"""

SEARCH = """
import pathlib, time
log = pathlib.Path(__file__).with_name("asked.txt")
def search(query, k):
    with log.open("a") as file:
        file.write(query + "\\n")
    time.sleep(0.03)
    return [f"{query}-{i}" for i in range(k)]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": [f"text {i}-1"]} for i in range(60)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "slow_search_module.py").write_text(SEARCH)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def asked(folder: Path) -> list[str]:
    log = folder / "asked.txt"
    return log.read_text().splitlines() if log.exists() else []


def test_killed_and_started_again(folder: Path) -> None:
    command = [sys.executable, "-m", "rankgauge", "run", str(folder / "plan.toml")]
    for _ in range(2):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before, deadline = len(asked(folder)), time.monotonic() + 30
        while len(asked(folder)) < before + 12 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    everything = asked(folder)
    assert set(everything) == {f"text {i}" for i in range(60)}
    assert len(everything) <= 60 + 2 * 2  # only what was in flight at a kill is asked again
    record = json.loads((folder / "record.json").read_text())
    assert record["systems"][0]["means"]["R@5"]["value"] == 1.0
    assert record["systems"][0]["serving"]["cached"] >= 20
    assert "from the cache" in done.stdout
    run_command("run", folder / "plan.toml")
    assert len(asked(folder)) == len(everything)
    run_command("run", folder / "plan.toml", "--fresh")
    assert len(asked(folder)) == len(everything) + 60


def test_check_only_looks(folder: Path) -> None:
    done = run_command("run", "--check", folder / "plan.toml")
    assert "1 systems" in done.stdout
    assert asked(folder) == []
    assert not (folder / "record.json").exists()


def test_init_writes_a_plan_and_never_over_one(folder: Path) -> None:
    path = folder / "new.toml"
    run_command("init", path)
    assert "[[system]]" in path.read_text()
    assert "exists already" in run_command("init", path, status=2).stderr


def test_faults_are_named(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN.replace("measures", "mesures").replace("k = 5", "k = -5"))
    done = run_command("run", folder / "plan.toml", status=2)
    assert "did you mean measures?" in done.stderr
    assert "serving.k" in done.stderr
    assert "there is no such file" in run_command("run", folder / "none.toml", status=2).stderr


def test_a_system_that_fails_too_often_is_no_low_score(folder: Path) -> None:
    (folder / "broken_search_module.py").write_text("def search(query, k):\n    raise OSError('down')\n")
    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "broken_search_module") + "\n")
    done = run_command("run", folder / "plan.toml", status=2)
    assert "60 of 60 queries failed" in done.stderr
    assert "down" in done.stderr
    assert not (folder / "record.json").exists()


def test_changed_code_is_asked_again(folder: Path) -> None:
    def run() -> float:
        command = [sys.executable, "-m", "rankgauge", "run", str(folder / "plan.toml")]
        subprocess.run(command, capture_output=True, check=True, timeout=60)
        return json.loads((folder / "record.json").read_text())["systems"][0]["means"]["R@5"]["value"]

    (folder / "plan.toml").write_text(PLAN.replace("slow_search_module", "edited_module"))
    (folder / "edited_module.py").write_text("def search(query, k):\n    return ['nothing']\n")
    assert run() == 0.0
    (folder / "edited_module.py").write_text("def search(query, k):\n    return [query + '-1']\n")
    assert run() == 1.0


def test_ids_with_blanks_are_written_as_json(folder: Path) -> None:
    (folder / "plan.toml").write_text(PLAN + 'runs = "runs"\n')
    run_command("run", folder / "plan.toml")
    assert [path.name for path in (folder / "runs").iterdir()] == ["slow.json"]
    assert (
        "1.0000" in run_command("evaluate", folder / "testset.json", folder / "runs" / "slow.json", "-m", "R@5").stdout
    )
