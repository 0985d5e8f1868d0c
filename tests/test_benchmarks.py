"""What `make bench` says of figures: which bars they met, and cost against size."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.bars import Bars
from benchmarks.chart import bars_of, save_picture
from benchmarks.costs import Cost


def test_missed_bars_are_listed_at_the_end() -> None:
    bars = Bars()
    assert str(bars.times("files", 13.25, 12)) == "13.2x (at least 12x)"
    assert bars.told() == "All 1 bars were met."
    assert "MISSED" in str(bars.most("memory", 500, 400, " MB"))
    assert bars.told() == "1 of 2 bars were missed:\n    memory: 500 MB (at most 400 MB, MISSED)"
    assert [bar["met"] for bar in bars.to_list()] == [True, False]


def test_cost_against_size(tmp_path: Path) -> None:
    sizes = {rows: {"marco": Cost(rows / 1e5, 50.0 + rows / 1e4, rows / 1e5)} for rows in (10_000, 1_000_000)}
    small, large = (line for line in bars_of(sizes).splitlines() if ",000 " in line and "#" in line)
    assert small.count("#") < large.count("#")
    pytest.importorskip("vl_convert")
    assert save_picture(sizes, tmp_path / "chart.svg")
    assert "lists of 1,000, 1 judged" in (tmp_path / "chart.svg").read_text()
