"""What `make bench` says of figures: which bars they met, and cost against size."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.bars import Bars
from benchmarks.chart import bars_of, save_picture
from benchmarks.costs import Cost

from benchmarks import run, shuffled


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


def test_bars_of_another_process() -> None:
    own, theirs = Bars(), Bars()
    theirs.times("a", 2, 3)
    theirs.most("b", 2, 3, " s")
    own.take(theirs.to_list())
    assert own.to_list() == theirs.to_list()
    assert [bar.what for bar in own.missed] == ["a"]


def test_what_was_not_measured_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    bars = Bars()
    bars.times("files", 13, 12)
    bars.skip("Spark: there is no Java")
    assert capsys.readouterr().out == "    skipped: Spark: there is no Java\n"
    assert bars.told() == "All 1 bars were met.\nnot measured: Spark: there is no Java"


def test_what_is_aimed_at_has_a_part() -> None:
    assert {"files", "dictionaries", "shuffled", "sizes", "arrays", "spark"} <= run.PARTS.keys()


def test_rows_in_no_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Small ones: that both ways are taken, and give figures of both shapes."""
    rng = np.random.default_rng(1)
    query = np.repeat([f"q{n}" for n in range(20)], 50)
    frame = pl.DataFrame({"query": query, "doc": [f"d{n}" for n in rng.permutation(1000)], "score": rng.random(1000)})
    frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "run.parquet")
    frame[::7].select("query", "doc", grade=pl.lit(1)).write_parquet(tmp_path / "qrels.parquet")
    shuffled.main(str(tmp_path / "qrels.parquet"), str(tmp_path / "run.parquet"))
    told = json.loads(capsys.readouterr().out)
    assert told.keys() == {"seconds", "megabytes"}
    costs = {"rankgauge": Cost(2, 400), "no module": Cost(8, 1000)}
    monkeypatch.setattr(shuffled, "best", lambda commands, rounds: costs)
    monkeypatch.setattr(shuffled, "_frames", lambda files, rounds: {name: vars(cost) for name, cost in costs.items()})
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    bars = Bars()
    shuffled.in_no_order(bars)
    assert [(bar.figure, bar.bar) for bar in bars.missed] == []
    assert [(bar["figure"], bar["bar"]) for bar in bars.to_list()] == [(4, 3), (0.4, 0.5)] * 2
