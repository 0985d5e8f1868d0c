"""The three parts of the monitor: the loop brings detection and alerts together, which know nothing of each other."""

from __future__ import annotations

import pytest

from tests.test_architecture import GRAPH

PARTS = ("detection", "alerts", "loop")


def part_of(module: str) -> str | None:
    return next((part for part in PARTS if module.startswith(f"rankgauge.monitoring.{part}")), None)


@pytest.mark.parametrize("part", ["detection", "alerts"])
def test_the_parts_know_nothing_of_each_other(part: str) -> None:
    modules = [module for module in GRAPH if part_of(module) == part]
    assert len(modules) > 5
    for module in modules:
        assert {part_of(other) for other in GRAPH[module]} <= {part, None}, module


def test_detection_needs_no_database() -> None:
    """It is computation alone, and runs without the extra that brings the history."""
    import subprocess
    import sys

    code = "import sys, rankgauge.monitoring.detection.watch; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
