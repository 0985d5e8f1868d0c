"""Named baselines: versions, the anchor that keeps small losses from adding up, force with its reason, and races."""

from __future__ import annotations

import datetime
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import DataError
from rankgauge.gating.baseline import export_baseline
from rankgauge.gating.rules import GateRules
from rankgauge.history import baselines
from rankgauge.history.baselines import (
    current_baseline,
    gate_baseline,
    promote_baseline,
    scored_baseline,
    set_baseline,
)
from rankgauge.history.store import History
from rankgauge.record import Record
from tests.gating.test_gate import BASE, NOISE, WIDE, made


def scored(share: float, name: str = "ours", noise: np.ndarray = NOISE / 20) -> Record:
    """A record at a share of the first one's scores."""
    return made({"nDCG@10": BASE * share + (noise if share != 1 else 0)}, name)


def test_set_and_current(history: History) -> None:
    with pytest.raises(DataError, match=r"has no baseline 'main'; it has none yet.*rankgauge baseline set main"):
        current_baseline(history, "main")
    first = set_baseline(history, "main", scored(1), max_loss="3%", targets=("nDCG@10>=0.1",), note=" begin ")
    assert (first.version, first.action, first.system, first.note) == (1, "set", "ours", "begin")
    assert first.record_id == first.anchor_id
    assert first.created == datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.UTC)
    again = set_baseline(history, "main", scored(0.5))
    assert (again.version, again.max_loss, again.targets) == (2, 0.03, ("nDCG@10>=0.1",))
    assert set_baseline(history, "main", scored(0.5), max_loss=0.1, targets=()).targets == ()
    set_baseline(history, "other", scored(0.9))
    assert [(b.name, b.version) for b in history.baselines()] == [("main", 3), ("other", 1)]
    assert [b.version for b in history.baselines("main")] == [3, 2, 1]
    with pytest.raises(DataError, match="there are: main, other"):
        gate_baseline(history, "mian")
    loaded = gate_baseline(history, "other")
    assert loaded.record == scored(0.9)
    assert Record.from_dict(export_baseline(loaded)["record"]) == scored(0.9)
    found = scored_baseline(history, "other", Path())
    assert (found.record, found.system) == (scored(0.9), "ours")


def test_small_losses_do_not_add_up(history: History) -> None:
    """Each step loses 2 %, which a max relative loss of 5 % allows; against the anchor the third is too much."""
    set_baseline(history, "main", scored(1))
    first = promote_baseline(history, "main", scored(0.98))
    assert first.stored is not None
    assert (first.stored.version, first.stored.action, first.against_anchor) == (2, "promote", None)
    second = promote_baseline(history, "main", scored(0.96))
    assert second.accepted
    third = promote_baseline(history, "main", scored(0.94))
    assert third.against_current.status == "pass"
    assert third.against_anchor is not None
    assert third.against_anchor.status == "regression"
    assert third.accepted is False
    assert third.stored is None
    assert current_baseline(history, "main").version == 3
    kept = promote_baseline(history, "main", scored(0.94), force=True, note="the law asks for it").stored
    assert kept is not None
    assert (kept.version, kept.forced, kept.note) == (4, "regression", "the law asks for it")
    assert kept.anchor_id == history.baselines("main")[-1].record_id
    set_baseline(history, "main", scored(0.94))  # a new anchor
    assert promote_baseline(history, "main", scored(0.92)).accepted


def test_force_needs_a_reason(history: History) -> None:
    set_baseline(history, "main", scored(1))
    with pytest.raises(DataError, match="note="):
        promote_baseline(history, "main", scored(0.5), force=True, note=" ")


def test_promoting_what_is_there_changes_nothing(history: History) -> None:
    set_baseline(history, "main", scored(1))
    same = promote_baseline(history, "main", scored(1))
    assert same.accepted
    assert same.stored == current_baseline(history, "main")
    assert same.stored.version == 1


def test_inconclusive_promotions(history: History) -> None:
    set_baseline(history, "main", scored(1))
    inconclusive = scored(0.98, noise=WIDE)
    open_ = promote_baseline(history, "main", inconclusive, rules=GateRules.of(on_inconclusive="report"))
    assert (open_.accepted, open_.stored) == (None, None)
    assert promote_baseline(history, "main", inconclusive, rules=GateRules.of(on_inconclusive="fail")).accepted is False
    assert promote_baseline(history, "main", inconclusive).stored is not None


def test_a_renamed_system_is_still_held_against_the_anchor(history: History) -> None:
    set_baseline(history, "main", scored(1, "old"))
    assert promote_baseline(history, "main", scored(0.97, "new")).accepted
    third = promote_baseline(history, "main", scored(0.94, "newer"))
    assert third.against_anchor is not None
    assert third.against_anchor.baseline is not None
    assert third.against_anchor.baseline.system == "old"
    assert third.accepted is False


def test_names_that_look_like_files(history: History) -> None:
    for name in ("main.json", "a/b", "", "-x", "two words"):
        with pytest.raises(DataError, match="no name for a baseline"):
            set_baseline(history, name, scored(1))
    set_baseline(history, "主干-2", scored(1))


def test_a_change_in_between_is_noticed(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    set_baseline(history, "main", scored(1))
    real = baselines.gate

    def slow(*arguments: Any, **settings: Any) -> Any:
        monkeypatch.setattr(baselines, "gate", real)
        set_baseline(history, "main", scored(0.99))
        return real(*arguments, **settings)

    monkeypatch.setattr(baselines, "gate", slow)
    with pytest.raises(DataError, match="changed meanwhile"):
        promote_baseline(history, "main", scored(0.98))
    assert current_baseline(history, "main").version == 2


def test_many_at_once(database: str) -> None:
    """Versions are never lost or doubled; who comes too late is told so."""
    with History.open(database) as opened:
        set_baseline(opened, "main", scored(1))
    refused: list[str] = []

    def work(number: int) -> None:
        with History.open(database) as own:
            for i in range(4):
                try:
                    set_baseline(own, "main", scored(1 + number / 100 + i / 1000))
                except DataError as error:
                    refused.append(str(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("changed meanwhile" in message for message in refused)
    with History.open(database) as opened:
        versions = [version.version for version in opened.baselines("main")]
    assert versions == list(range(17 - len(refused), 0, -1))


def test_baselines_are_never_pruned(history: History) -> None:
    first = set_baseline(history, "main", scored(1))
    promote_baseline(history, "main", scored(0.99))
    history.add(scored(0.5))
    pruned = history.prune(keep=0)
    assert len(pruned.gone) == 1
    assert first.record_id in {record.id for record in pruned.held}
    assert gate_baseline(history, "main", anchor=True).record == scored(1)
