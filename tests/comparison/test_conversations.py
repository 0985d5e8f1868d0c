"""Conversations from end to end: what is independent is told once, and reaches every interval, test and gate."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankgauge import (
    Query,
    Record,
    TestSet,
    compare,
    compare_scores,
    compare_stored,
    evaluate,
    evaluate_retriever,
    gate,
    power,
    verify,
)
from rankgauge.errors import DataError
from rankgauge.live.choosing import held_out
from rankgauge.words import LANGUAGES, tell
from tests.cli.command import run_command
from tests.stats.conversations import clusters_of, lengths


def made(
    conversations: int = 24, seed: int = 1
) -> tuple[TestSet, dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Turns of conversations: whether a document is found goes together within a conversation."""
    rng = np.random.default_rng(seed)
    clusters = clusters_of(lengths(rng, conversations))
    hard = rng.random(conversations)
    queries, first, second = [], {}, {}
    for i, own in enumerate(clusters):
        name = f"c{own}_turn{i}"
        queries.append(Query(f"question {i}", {"d1": 1}, name, conversation=f"c{own}"))
        for run, shift in ((first, 0.0), (second, 0.15)):
            rank = 0 if rng.random() < 0.2 + 0.7 * hard[own] + shift * (own % 3 == 0) else int(rng.integers(1, 9))
            docs = [f"x{j}" for j in range(9)]
            docs.insert(rank, "d1")
            run[name] = {doc: float(10 - j) for j, doc in enumerate(docs)}
    return TestSet(queries), first, second


TESTED, FIRST, SECOND = made()
ALONE = TestSet(replace(query, conversation="") for query in TESTED)
RULE = r"^(c\d+)_"


def test_intervals_are_wider_and_say_why() -> None:
    plain, turns = evaluate(ALONE, FIRST, ["RR", "Success@1"]), evaluate(TESTED, FIRST, ["RR", "Success@1"])
    for name in ("RR", "Success@1"):
        assert turns.mean[name] == plain.mean[name]
        assert turns.interval[name].high - turns.interval[name].low > 1.1 * (
            plain.interval[name].high - plain.interval[name].low
        )
    note = next(note for note in turns.notes if note.key == "conversations.clustered")
    assert (note.parameters["n"], note.parameters["conversations"]) == (len(TESTED), 24)
    for language in LANGUAGES:
        assert "24" in tell(note, language)
    assert turns.record.conversations == TESTED.conversations
    assert not plain.record.conversations


def test_all_ways_to_tell_are_one(tmp_path: Path) -> None:
    told = evaluate(TESTED, FIRST, "RR").interval["RR"]
    path = tmp_path / "turns.json"
    path.write_text(json.dumps(TESTED.conversations))
    for rule in (RULE, TESTED.conversations, path):
        assert evaluate(ALONE, FIRST, "RR", conversations=rule).interval["RR"] == told
    assert evaluate(ALONE.qrels, FIRST, "RR", conversations=RULE).interval["RR"] == told
    assert evaluate(ALONE.with_conversations(RULE), FIRST, "RR").interval["RR"] == told
    assert ALONE.with_conversations(RULE) == TESTED
    assert evaluate(TESTED, FIRST, "RR", conversations={}).interval["RR"] == evaluate(ALONE, FIRST, "RR").interval["RR"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("(", "no regular expression"),
        ("zzz", "gives no conversation"),
        ({"a": "b"}, "gives no conversation"),
        (3, "mapping"),
        ("^.+$", "takes the whole id, so every query is a conversation of its own; put a group"),
    ],
)
def test_rules_that_fit_nothing(rule: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        evaluate(ALONE, FIRST, "RR", conversations=rule)  # type: ignore[arg-type]


def test_conversations_of_one_turn_change_nothing() -> None:
    """To the last bit: the records are the same but for the conversations they name."""
    single = TestSet(replace(query, conversation=f"own {i}") for i, query in enumerate(TESTED))
    measures = ["RR", "Success@1", "nDCG@10"]
    with_turns = compare(single, {"a": FIRST, "b": SECOND}, measures).to_record(provenance=False)
    without = compare(ALONE, {"a": FIRST, "b": SECOND}, measures).to_record(provenance=False)
    assert replace(with_turns, conversations={}, created="") == replace(without, created="")


@pytest.mark.parametrize("test", ["randomization", "t", "bootstrap", "wilcoxon", "sign"])
def test_compare_takes_conversations(test: str) -> None:
    runs = {"a": FIRST, "b": SECOND}
    (row,) = compare(
        TESTED, runs, "RR", test=test, samples=2000 if test in ("randomization", "bootstrap") else None
    ).rows
    (plain,) = compare(ALONE, runs, "RR", test=test).rows
    assert row.difference == plain.difference
    assert (row.wins, row.ties, row.losses, row.effect) == (plain.wins, plain.ties, plain.losses, plain.effect)
    assert row.conversations == 24
    assert row.design_effect is not None
    assert plain.conversations is None
    assert row.p_value != plain.p_value


def test_a_record_goes_on(tmp_path: Path) -> None:
    """Kept, read, verified, and compared with another record: the conversations stay."""
    testset = tmp_path / "turns.json"
    TESTED.save(testset)
    for name, run in (("a", FIRST), ("b", SECOND)):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
        evaluate(testset, tmp_path / f"{name}.json", "RR", name=name).save(tmp_path / f"record-{name}.json")
    again = Record.load(tmp_path / "record-a.json")
    assert again.conversations == TESTED.conversations
    assert all(finding.holds for finding in verify(again))
    runs = {name: tmp_path / f"{name}.json" for name in "ab"}
    compare(testset, runs, "RR").save(tmp_path / "both.json")
    assert all(finding.holds for finding in verify(tmp_path / "both.json"))
    stored = compare_stored([tmp_path / "record-a.json", tmp_path / "record-b.json"])
    assert stored.rows == compare(TESTED, {"a": FIRST, "b": SECOND}, "RR").rows
    assert stored.record.conversations == TESTED.conversations
    # By a rule that the test set does not hold, the record knows it too.
    ALONE.save(tmp_path / "alone.json")
    ruled = evaluate(tmp_path / "alone.json", tmp_path / "a.json", "RR", name="a", conversations=RULE)
    ruled.save(tmp_path / "ruled.json")
    assert all(finding.holds for finding in verify(tmp_path / "ruled.json"))


def test_scores_from_elsewhere() -> None:
    scores = {"a": [0.1, 0.2, 0.3, 0.4] * 5, "b": [0.2, 0.2, 0.4, 0.6] * 5}
    ids = [f"c{i // 4}-{i}" for i in range(20)]
    found = compare_scores(scores, queries=ids, conversations=r"^(c\d)")
    assert found.rows[0].conversations == 5
    assert found.record.conversations["c0-1"] == "c0"


def test_gate_takes_conversations() -> None:
    old, new = evaluate(TESTED, FIRST, "RR").record, evaluate(TESTED, SECOND, "RR").record
    plain = gate(evaluate(ALONE, SECOND, "RR").record, evaluate(ALONE, FIRST, "RR").record, max_loss="5%")
    turns = gate(new, old, max_loss="5%", targets=["RR >= baseline + 1%"])
    (rule, target), (other,) = turns.rules, plain.rules
    assert rule.values["conversations"] == 24
    assert other.values["conversations"] is None
    assert rule.values["upper"] - rule.values["lower"] > other.values["upper"] - other.values["lower"]
    assert target.values["low"] is not None
    told = [note for note in turns.remarks if note.key.startswith("conversations.")]
    assert {"conversations.gated"} <= {note.key for note in told}
    for language in LANGUAGES:
        assert all(tell(note, language) for note in told)


def test_power_counts_conversations() -> None:
    runs = {"a": FIRST, "b": SECOND}
    (turns,), (plain,) = power(TESTED, runs, "RR", difference=0.05), power(ALONE, runs, "RR", difference=0.05)
    each = len(TESTED) / 24
    assert turns.conversations is not None
    assert turns.queries == pytest.approx(turns.conversations * each, abs=1)
    assert turns.design_effect == pytest.approx(turns.queries / plain.queries, rel=0.1)
    for language in LANGUAGES:
        assert str(turns.conversations) in turns.sentence(language)
    (asked,) = power(TESTED, runs, "RR", queries=turns.queries)
    assert asked.difference == pytest.approx(0.05, rel=0.02)


def test_live_and_folds() -> None:
    lists = {query.text: FIRST[query.id] for query in TESTED}
    live = evaluate_retriever(lambda query, k: list(lists[query].items())[:k], TESTED, 10, "RR")
    assert live.record.conversations == TESTED.conversations
    assert live.interval["RR"] == evaluate(TESTED, FIRST, "RR").interval["RR"]
    worse = evaluate_retriever(lambda query, k: list(lists[query].items())[1:k], TESTED, 10, "RR")
    held = held_out([live, worse], 0, [0, 1], 5, 0)
    assert held is not None
    assert held.mean == pytest.approx(live.mean["RR"])  # whichever folds, the first is chosen
    few = TestSet(query for query in TESTED if query.conversation in ("c0", "c1", "c2"))
    short = evaluate_retriever(lambda query, k: list(lists[query].items())[:k], few, 10, "RR")
    assert held_out([short, short], 0, [0, 1], 5, 0) is None  # three conversations cannot be five folds


def test_one_conversation_has_no_interval() -> None:
    one = TestSet(replace(query, conversation="same") for query in TESTED)
    found = evaluate(one, FIRST, "RR")
    assert found.interval["RR"] is None
    assert any("one conversation" in warning for warning in found.warnings)


def test_command_line(tmp_path: Path) -> None:
    TESTED.save(tmp_path / "turns.json")
    ALONE.save(tmp_path / "alone.json")
    for name, run in (("a", FIRST), ("b", SECOND)):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    shown = run_command("evaluate", tmp_path / "turns.json", tmp_path / "a.json", "-m", "RR").stdout
    assert f"{len(TESTED)} queries in 24 conversations" in shown
    ruled = run_command(
        "evaluate", tmp_path / "alone.json", tmp_path / "a.json", "-m", "RR", "--conversations", RULE
    ).stdout
    assert ruled == shown
    found = json.loads(
        run_command(
            "compare",
            tmp_path / "alone.json",
            tmp_path / "a.json",
            tmp_path / "b.json",
            "--conversations",
            RULE,
            "--json",
        ).stdout
    )
    assert found["comparison"]["rows"][0]["conversations"] == 24
