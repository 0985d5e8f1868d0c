"""Tests that need more than Python and make: skipped with a reason where it is absent, required where everything is,
and truly hidden by `.ci/bare`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import conftest, parts

PROBE = """
import pytest

@pytest.mark.parametrize("part", [pytest.param(part, marks=pytest.mark.needs(part)) for part in {parts}])
def test_marked(part):
    pass

def test_unmarked():
    {body}
"""


def run_probe(folder: Path, needed: Sequence[str], body: str = "pass", *, bare: bool = False, **more: str) -> str:
    """What pytest says of tests that need a part each, and of one that needs none, under this project's rules."""
    file = folder / "test_probe.py"
    file.write_text(PROBE.format(parts=list(needed), body=body))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("RANKGAUGE_", "PYTEST_"))}
    clean |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "1000"}
    settings = ["-p", "tests.conftest", "-rs", "-c", parts.ROOT / "pyproject.toml", "--rootdir", folder]
    done = subprocess.run(
        [*([parts.BARE] if bare else []), sys.executable, "-m", "pytest", *settings, file],
        cwd=parts.ROOT,
        env=clean | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode not in (3, 4), done.stdout + done.stderr  # what pytest could not run
    return done.stdout


def test_a_test_without_its_part_is_skipped_with_the_reason(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    said = run_probe(tmp_path, ["data"], RANKGAUGE_DATA=str(nothing))
    assert "1 passed, 1 skipped" in said
    assert f"no data: there is nothing at {nothing}; set RANKGAUGE_DATA" in said
    said = run_probe(tmp_path, ["data"], RANKGAUGE_DATA=str(nothing), RANKGAUGE_REQUIRE_ALL="1")
    assert "1 passed, 1 error" in said
    assert "skipped although everything is required" in said
    assert "2 passed" in run_probe(tmp_path, ["data"], RANKGAUGE_REQUIRE_ALL="1", RANKGAUGE_DATA=str(tmp_path))


@pytest.mark.parametrize("body", ["pytest.skip('not today')", "pass\npytest.importorskip('no_such')"])
def test_a_skip_for_any_other_reason_is_refused_too(tmp_path: Path, body: str) -> None:
    assert re.search(r"\d skipped", run_probe(tmp_path, [], body))
    said = run_probe(tmp_path, [], body, RANKGAUGE_REQUIRE_ALL="1")
    assert "skipped although everything is required" in said
    assert re.search(r"1 (failed|error)", said)


def test_what_may_be_absent_is_a_part_with_a_reason(tmp_path: Path) -> None:
    assert set(parts.MAY_BE_ABSENT) <= set(parts.PARTS)
    assert all(parts.MAY_BE_ABSENT.values())
    said = run_probe(tmp_path, ["promtool"], RANKGAUGE_REQUIRE_ALL="1", PATH="/nowhere")
    assert re.search(r"1 passed, \d skipped", said)


def test_what_is_slow_is_there() -> None:
    """A file that was moved would come back into the quick tests unseen."""
    assert [place for place in conftest.SLOW if not (conftest.TESTS / place).exists()] == []


@pytest.mark.needs("namespaces")
def test_everything_is_hidden_on_a_bare_machine(tmp_path: Path) -> None:
    said = run_probe(tmp_path, parts.HIDDEN, bare=True)
    assert f"1 passed, {len(parts.HIDDEN)} skipped" in said
    for part in parts.HIDDEN:
        assert f"no {part}: " in said
