"""The pytest plugin in real pytest runs, each in a process and a folder of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TESTS = """
import os
from pathlib import Path

LOSS = int(os.environ.get("LOSS", "0"))
HERE = Path(__file__).parent

def search(query, k):
    number = int(query.split()[1])
    found = [f"d{number}", "x", "y"]
    return found if number >= LOSS else ["x", "y", f"d{number}"]

def test_search(rankgauge):
    rankgauge.assert_no_regression(search, HERE / "testset.json", baseline=os.environ.get("BASELINE", "main"),
                                   measures=["RR"], k=5, concurrency=2)

def test_targets(rankgauge):
    targets = ["R@3 >= 0.99", "RR >= 0.5"]
    result = rankgauge.assert_targets(search, HERE / "testset.json", targets, latency=["p95 <= 10s"])
    assert [rule.kind for rule in result.rules] == ["target", "target", "latency", "errors"]

def test_nothing_of_it():
    assert True
"""


@dataclass(frozen=True)
class Ran:
    status: int
    out: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = [{"id": f"q{i}", "query": f"question {i}", "relevant_docs": [f"d{i}"]} for i in range(80)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "test_quality.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nrankgauge_history = kept/history.db\naddopts = -p no:cacheprovider\n"
    )
    (tmp_path / "kept").mkdir()
    return tmp_path


def ran(folder: Path, *arguments: str, installed: bool = False, **env: str) -> Ran:
    """A run of pytest. The plugins of other packages, which take seconds, are loaded only where ours is `installed`."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "RANKGAUGE", "COV"))}
    alone = [] if installed else ["-p", "rankgauge.pytest_plugin"]
    only = {} if installed else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *alone, *arguments],
        cwd=folder,
        env={**clean, **only, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout + done.stderr)


def test_from_the_first_baseline_to_a_regression(folder: Path) -> None:
    first = ran(folder)
    assert first.status == 1
    assert "rankgauge baseline set main" in first.out
    assert "pytest --rankgauge-set-baseline" in first.out
    assert "During handling" not in first.out
    assert "2 passed" in first.out
    assert ran(folder, "--rankgauge-set-baseline").status == 0
    assert (folder / "kept" / "history.db").exists()
    assert ran(folder).status == 0
    lost = ran(folder, "-k", "search", LOSS="20")
    assert lost.status == 1
    assert "REGRESSION: search lost more than 5 % against main (version 1) in RR" in lost.out
    assert re.search(r"RR +1\.0000 +0\.8333 +−16\.7 %", lost.out)
    assert "rankgauge.assert_no_regression(" in lost.out  # the line of the test, and no line of the plugin
    assert "pytest_plugin.py" not in lost.out
    missed = ran(folder, "-k", "targets", LOSS="79")
    assert missed.status == 1
    assert "MISSED" in missed.out


def test_it_is_found_when_installed(folder: Path) -> None:
    (folder / "test_quality.py").write_text("def test_it(rankgauge):\n    assert rankgauge.assert_targets\n")
    assert ran(folder, installed=True).status == 0


def test_an_inconclusive_result_is_a_warning(folder: Path) -> None:
    ran(folder, "-k", "search", "--rankgauge-set-baseline", BASELINE="base.json")
    inconclusive = ran(folder, "-k", "search", BASELINE="base.json", LOSS="4")  # 3.3 % are lost on 4 of 80 queries
    assert inconclusive.status == 0
    assert "InconclusiveWarning: PASS, BUT INCONCLUSIVE: search" in inconclusive.out
    assert "test_quality.py" in inconclusive.out
    assert (
        ran(
            folder,
            "-k",
            "search",
            "-W",
            "error::rankgauge.pytest_plugin.InconclusiveWarning",
            BASELINE="base.json",
            LOSS="4",
        ).status
        == 1
    )


def test_a_file_as_the_baseline(folder: Path) -> None:
    missing = ran(folder, "-k", "search", BASELINE="base.json").out
    assert "there is no such file" in missing
    assert "pytest --rankgauge-set-baseline" in missing
    assert ran(folder, "-k", "search", "--rankgauge-set-baseline", BASELINE="base.json").status == 0
    assert json.loads((folder / "base.json").read_text())["format"] == "rankgauge.baseline"
    assert ran(folder, "-k", "search", BASELINE="base.json").status == 0
    assert ran(folder, "-k", "search", BASELINE="base.json", LOSS="30").status == 1
    assert not (folder / "kept" / "history.db").exists()


def test_another_history(folder: Path) -> None:
    assert ran(folder, "-k", "search", "--rankgauge-set-baseline", "--rankgauge-history", "other.db").status == 0
    assert (folder / "other.db").exists()
    assert not (folder / "kept" / "history.db").exists()
    assert ran(folder, "-k", "search", "--rankgauge-history", "other.db").status == 0


def test_mistakes_are_told_without_a_traceback(folder: Path) -> None:
    (folder / "test_quality.py").write_text(
        "def test_it(rankgauge):\n    rankgauge.assert_targets(lambda q, k: [], 'testset.json', ['R@3 is good'])\n"
    )
    done = ran(folder)
    assert done.status == 1
    assert "rankgauge: 'R@3 is good' is no target" in done.out
    assert "Traceback" not in done.out
    assert "During handling" not in done.out
    assert "pytest_plugin.py" not in done.out


def test_no_cost_where_it_is_not_used(folder: Path) -> None:
    (folder / "test_quality.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    loaded = [name for name in sys.modules if name.startswith('rankgauge')]\n"
        "    assert sorted(loaded) == ['rankgauge', 'rankgauge.lazy', 'rankgauge.pytest_plugin', 'rankgauge.version']\n"
        "    assert not {'numpy', 'scipy', 'polars', 'sqlalchemy'} & set(sys.modules)\n"
    )
    done = ran(folder)
    assert done.status == 0, done.out
