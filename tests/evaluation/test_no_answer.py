"""Queries whose right result is nothing: left out of rank measures, judged by whether they were refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Contract, Qrels, Query, Record, Run, TestSet, compare, evaluate
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.evaluation.reconcile import reconcile
from rankgauge.record.comparability import differences
from rankgauge.words import LANGUAGES, tell
from tests.cli.command import run_command, run_terminal
from tests.oracles.cases import fast, run_frame

TESTS = TestSet(
    [
        Query("a", {"x": 1, "n": 0}, "q1"),
        Query("b", {"y": 1}, "q2"),
        Query("c", {}, "q3", no_answer=True),
        Query("d", {"n": 0}, "q4", no_answer=True),
    ]
)
RUN = {"q1": {"x": 0.9, "n": 0.2}, "q2": {"n": 0.5, "y": 0.4}, "q3": {"n": 0.6}, "q4": {}}


def files(folder: Path, test_set: TestSet, run: dict[str, dict[str, float]]) -> tuple[Path, Path]:
    test_set.save(folder / "tests.json")
    lines = (f"{q} Q0 {doc} 0 {score} r\n" for q, docs in run.items() for doc, score in docs.items())
    (folder / "run").write_text("".join(lines))
    return folder / "tests.json", folder / "run"


def drawn(n: int = 80, seed: int = 0, gap: float = 0.2, silent: int = 4) -> tuple[TestSet, dict[str, dict[str, float]]]:
    """Every fourth query has no answer, and scores lower on the whole."""
    rng = np.random.default_rng(seed)
    queries, run = [], {}
    for i in range(n):
        none = i % silent == 0
        queries.append(Query(f"text {i}", {} if none else {f"d{i}": 1}, f"q{i:03}", no_answer=none))
        top = rng.normal(0.5 - gap * none, 0.15)
        run[f"q{i:03}"] = {doc: float(top - 0.01 * j) for j, doc in enumerate(rng.permutation([f"d{i}", "x", "y"]))}
    return TestSet(queries), run


def test_rank_measures_leave_them_out(tmp_path: Path) -> None:
    wanted = {"RR": [1.0, 0.5], "Handled": [1, 1, 0, 1], "Handled@1": [1, 0, 0, 1]}
    wanted["Handled(threshold=0.55)"] = [1, 0, 0, 1]
    path, run_path = files(tmp_path, TESTS, RUN)
    for judged, listed in ((TESTS, RUN), (TESTS, run_frame(RUN)), (path, run_path), (TESTS.qrels, Run(RUN))):
        found = evaluate(judged, listed, list(wanted))
        assert found.mean["RR"] == 0.75
        for j, name in enumerate(wanted):
            assert found.table.values[found.table.counted[:, j], j].tolist() == wanted[name], name
        coverage = found.coverage
        assert (coverage.no_answer, coverage.no_relevant, coverage.missing, coverage.judged_queries) == (2, 0, 0, 4)
        notes = {note.key: note for note in found.notes}
        assert notes["evidence.left_out"].parameters == {"n": 2, "judged": 4}
        assert not {"evaluation.no_relevant_count", "evaluation.missing_zero"} & notes.keys()


def test_junk_and_nothing_no_longer_score_alike() -> None:
    junk = evaluate(TESTS, {**RUN, "q4": {"n": 0.3}}, ["Handled", "nDCG@10"])
    nothing = evaluate(TESTS, RUN, ["Handled", "nDCG@10"])
    assert nothing.mean["Handled"] == junk.mean["Handled"] + 0.25
    assert nothing.mean["nDCG@10"] == junk.mean["nDCG@10"]


def test_a_query_that_the_file_lacks_was_refused(tmp_path: Path) -> None:
    """Under every rule for missing queries; one with an answer is still missing."""
    path, run_path = files(tmp_path, TESTS, {"q1": RUN["q1"], "q2": RUN["q2"]})
    for missing in ("zero", "skip", "error"):
        found = evaluate(path, run_path, ["Handled"], missing=missing)
        assert found.mean["Handled"] == 1
        assert found.no_answer.refused == 2
    _, run_path = files(tmp_path, TESTS, {"q1": RUN["q1"], "q3": RUN["q3"]})
    with pytest.raises(RankgaugeError, match="1 judged queries are missing from the run, such as 'q2'"):
        evaluate(path, run_path, ["Handled"], missing="error")
    assert evaluate(path, run_path, ["Handled"], missing="skip").mean["Handled"] == pytest.approx(2 / 3)
    assert evaluate(path, run_path, ["Handled"]).mean["Handled"] == 0.5
    assert evaluate(path, run_path, ["Handled"]).coverage.missing == 1


def test_tools_that_know_no_such_mark_count_them() -> None:
    """As judgments without the mark: a query without relevant documents scores 0."""
    plain = {query.id: dict(query.grades) for query in TESTS}
    measures = ["nDCG@10", "P@1", "AP"]
    for contract in ("trec_eval", "ir_measures", "beir", "elasticsearch", Contract(no_answer="count")):
        ours, theirs = (evaluate(judged, RUN, measures, contract=contract) for judged in (TESTS, plain))
        assert dict(ours.mean) == dict(theirs.mean)
        assert ours.mean["P@1"] == 0.25
        assert "evidence.counted" in {note.key for note in ours.notes if note.level == "warning"}
    skipped = evaluate(TESTS, RUN, measures, contract=Contract(no_answer="count"), no_relevant="skip")
    assert skipped.mean["P@1"] == 0.5
    assert evaluate(TESTS, RUN, measures).mean["P@1"] == 0.5


def test_groups_and_no_answer_together(tmp_path: Path) -> None:
    """Groups make columns of the judgments, which have no row for a query without any."""
    grouped = TestSet([Query("g", {"x": 1, "y": 1}, "q0", groups={"1": ["x"], "2": ["y"]}), *TESTS])
    run = {"q0": {"y": 0.7, "x": 0.6}, **RUN}
    assert grouped.qrels.no_answer == {"q3", "q4"}
    assert set(grouped.qrels.queries) == set(run)
    path, run_path = files(tmp_path, grouped, run)
    for judged, listed in ((grouped, run), (path, run_path)):
        found = evaluate(judged, listed, ["AllGroups@2", "Handled"])
        assert found.mean["AllGroups@2"] == 1
        assert found.mean["Handled"] == 0.8


def test_judgments_can_be_marked_without_a_test_set() -> None:
    plain = {"q1": {"x": 1}, "q2": {"y": 1}}
    for judged in (plain, Qrels(plain).frame):
        qrels = Qrels(judged, no_answer=["q3", "q4"])
        assert evaluate(qrels, RUN, ["Handled"]).mean["Handled"] == 0.75
        assert qrels != Qrels(judged)
        with pytest.raises(DataError, match="query 'q1' has no answer, but also a relevant document"):
            Qrels(judged, no_answer=["q1"])
    with pytest.raises(DataError, match="`no_answer` must be a list of query ids, not 'q1'"):
        Qrels(plain, no_answer="q1")


def test_a_query_without_judgments_counts_alike_in_every_kind_of_run(tmp_path: Path) -> None:
    """A dictionary may hold a query with no judged document, which has no row in any column."""
    plain = {"q1": {"x": 1}, "q3": {}, "q2": {"y": 1}}
    _, run_path = files(tmp_path, TESTS, RUN)
    for listed in (RUN, run_frame(RUN), run_path):
        found = evaluate(plain, listed, ["RR"])
        assert list(found.table.queries) == list(plain)
        assert found.mean["RR"] == pytest.approx((1 + 0 + 0.5) / 3)


scores = st.sampled_from((None, -1.0, 0.0, 0.5, 0.75, 2.0))


@fast(60)
@given(
    tops=st.lists(st.tuples(st.booleans(), scores, st.integers(0, 2)), min_size=1, max_size=8),
    threshold=st.sampled_from((None, -1.0, 0.5, 0.6, 3.0)),
    at=st.sampled_from((None, 1, 2)),
)
def test_against_the_definition(
    tops: list[tuple[bool, float | None, int]], threshold: float | None, at: int | None
) -> None:
    """(has no answer, first score or an empty list, rank of the relevant document or 0)."""
    qrels = {f"q{i}": {} if none else {"r": 1.0} for i, (none, _, _) in enumerate(tops)}
    qrels["last"], run, wanted = {"r": 1.0}, {"last": {"r": 1.0}}, []
    for i, (none, top, rank) in enumerate(tops):
        docs = {} if top is None else {"n": top} if rank == 0 else {"r": top} if rank == 1 else {"n": top, "r": top - 1}
        run[f"q{i}"] = docs
        answered = top is not None and (threshold is None or top >= threshold)
        wanted.append(float(not answered if none else answered and (at is None or 0 < rank <= at)))
    marked = Qrels(qrels, no_answer=[f"q{i}" for i, (none, _, _) in enumerate(tops) if none])
    name = f"Handled(threshold={threshold})" if threshold is not None else "Handled"
    name += "" if at is None else f"@{at}"
    for listed in (run, run_frame(run)):
        found = evaluate(marked, listed, [name])
        assert found.table.values[:-1, 0].tolist() == wanted
        own = found.no_answer
        assert (own is None) == (not marked.no_answer)
        if own is not None and at is None:
            assert own.handled == pytest.approx(found.mean[name], abs=1e-12)
            assert own.threshold == threshold


def test_the_section() -> None:
    test_set, run = drawn()
    found = evaluate(test_set, run, ["RR", "Handled"], threshold=0.4)
    own = found.no_answer
    silent = np.array([query.no_answer for query in test_set])
    top = np.array([max(run[query.id].values()) for query in test_set])
    assert (own.unanswerable, own.answerable) == (20, 60)
    assert own.refused == int((top[silent] < 0.4).sum())
    assert own.answered == int((top[~silent] >= 0.4).sum())
    assert own.handled == found.mean["Handled"] == (own.refused + own.answered) / 80
    assert own.interval == found.interval["Handled"]
    assert own.refusal_recall == own.refused / 20
    assert own.refusal_precision == own.refused / (own.refused + 60 - own.answered)
    pairs = top[~silent][:, None] > top[silent][None, :]
    assert own.auroc == pytest.approx(pairs.mean(), abs=1e-12)
    assert own.auroc_interval.low < own.auroc < own.auroc_interval.high
    assert own.best.held_out < own.best.accuracy
    assert own.best.folds == 5
    assert list(found.mean) == ["RR", "Handled(threshold=0.4)"]


def test_a_threshold_of_a_measure_is_that_of_the_section() -> None:
    assert evaluate(TESTS, RUN, "Handled(threshold=0.55)").no_answer.threshold == 0.55
    assert evaluate(TESTS, RUN, "Handled(threshold=0.55)", threshold=0.1).no_answer.threshold == 0.1
    assert evaluate(TESTS, RUN, "RR").no_answer.threshold is None


@pytest.mark.parametrize("threshold", ["0.5", float("nan"), float("inf"), True])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    with pytest.raises(RankgaugeError, match=r"threshold=.* must be a number"):
        evaluate(TESTS, RUN, threshold=threshold)


@pytest.mark.parametrize(
    "run",
    [
        {query: list(docs) for query, docs in RUN.items()},
        {query: {doc: -float(i) for i, doc in enumerate(docs, start=1)} for query, docs in RUN.items()},
        {query: {doc: 1 / i for i, doc in enumerate(docs, start=1)} for query, docs in RUN.items()},
        {query: {doc: 1000.0 - i for i, doc in enumerate(docs)} for query, docs in RUN.items()},
    ],
    ids=["ids", "ranks", "reciprocal ranks", "counted down"],
)
def test_lists_without_scores(run: Any) -> None:
    """Only empty lists can be told from others, which is said; a threshold would say nothing."""
    found = evaluate(TESTS, run, ["Handled"])
    own = found.no_answer
    assert (own.refused, own.answered, own.scored) == (1, 2, False)
    assert own.auroc is own.auroc_interval is own.best is None
    warned = evaluate(TESTS, run, ["Handled"], threshold=0.5)
    for result, key in ((found, "unscored"), (warned, "unscored_threshold")):
        keys = [note.key for note in result.notes if note.level == "warning"]
        assert [own for own in keys if own.startswith("evidence.")] == [f"evidence.{key}"]
    cut = evaluate(TESTS, run, ["Handled"], depth=1)
    assert not cut.no_answer.scored


def test_one_kind_only() -> None:
    all_silent = TestSet([Query(q, {}, no_answer=True) for q in ("q1", "q2")])
    own = evaluate(all_silent, RUN, ["RR", "Handled"]).no_answer
    assert (own.answerable, own.unanswerable, own.auroc, own.best) == (0, 2, None, None)
    assert evaluate(TestSet(TESTS[:2]), RUN).no_answer is None


def test_records_keep_it(tmp_path: Path) -> None:
    test_set, run = drawn()
    record = evaluate(test_set, run, ["RR", "Handled"]).record
    record.save(tmp_path / "record.json")
    assert Record.load(tmp_path / "record.json").systems == record.systems
    stored = json.loads((tmp_path / "record.json").read_text())
    del stored["systems"][0]["no_answer"]
    del stored["contract"]["no_answer"]
    del stored["systems"][0]["coverage"]["no_answer"]
    assert Record.from_dict(stored).systems[0].no_answer is None, "records from before still load"
    damaged = json.loads((tmp_path / "record.json").read_text())
    damaged["systems"][0]["no_answer"]["refused"] = 21
    with pytest.raises(RankgaugeError, match="with and without an answer contradict"):
        Record.from_dict(damaged)
    damaged["systems"][0]["no_answer"]["refused"] = 5
    with pytest.raises(RankgaugeError, match="is not the share of its queries"):
        Record.from_dict(damaged)


def test_records_from_before_stay_comparable() -> None:
    """How queries without an answer count does not matter where there are none."""
    plain = TestSet(TESTS[:2])
    new = evaluate(plain, RUN, ["RR"], contract="trec_eval").record
    stored = new.to_dict()
    del stored["contract"]["no_answer"]
    assert "contract" not in {found.kind for found in differences(new, Record.from_dict(stored))}
    skipped, counted = (
        evaluate(TESTS, RUN, ["RR"], contract=Contract(no_answer=rule)).record for rule in ("skip", "count")
    )
    assert "contract" in {found.kind for found in differences(skipped, counted)}


def test_compared_systems() -> None:
    """The difference of the share handled rightly is that of its queries; nothing is said to be excluded."""
    test_set, run = drawn()
    better = {q: docs if not test_set[int(q[1:])].no_answer else {} for q, docs in run.items()}
    found = compare(test_set, {"a": run, "b": better}, ["RR", "Handled"], baseline="a")
    handled = next(row for row in found.rows if row.measure == "Handled")
    assert (handled.mean_a, handled.mean_b, handled.queries, handled.verdict) == (0.75, 1.0, 80, "better")
    ranks = next(row for row in found.rows if row.measure == "RR")
    assert (ranks.queries, ranks.difference) == (60, 0)
    assert not [note for note in found.notes if note.key.startswith("comparison.excluded")]
    assert [system.no_answer.refused for system in found.record.systems] == [0, 20]
    reasons = found.to_record(uncertainty=True).comparison.unjudged.reasons
    assert reasons["Handled"].key in ("evidence.no_range", "comparison.no_range_only_relevant")


def test_reconcile_tries_both_ways_to_count() -> None:
    counted = evaluate(TESTS, RUN, "RR", contract="trec_eval").mean["RR"]
    found = reconcile(TESTS, RUN, "RR", f"{counted:.6f}")
    assert any("trec_eval" in variant.presets for variant in found.matches)
    assert any("no_answer=count" in variant.changes for variant in found.matches)
    skipped = reconcile(TESTS, RUN, "RR", "0.75")
    assert "default" in skipped.matches[0].presets


@pytest.mark.parametrize(
    ("threshold", "sign", "told"),
    [
        (0.4, 1, None),
        (5.0, 1, "evidence.above_all"),
        (0.1, 1, "evidence.below_all"),
        (0.4, -1, "evidence.above_distances"),
        (-0.4, -1, None),
        (None, -1, None),
    ],
)
@pytest.mark.parametrize("measures", [["RR"], ["RR", "Handled"]])
def test_a_threshold_beside_all_scores_is_told(
    threshold: float | None, sign: int, told: str | None, measures: list[str]
) -> None:
    """A distance counts with a minus: a limit that was meant for it refused every query without a word."""
    scores = {"q1": 0.9, "q2": 0.5, "q3": 0.3, "q4": 0.2}
    run = {query: {"x": sign * score, "y": sign * score - 0.01} for query, score in scores.items()}
    found = evaluate(TESTS, run, measures, threshold=threshold)
    notes = [note for note in found.notes if note.key.startswith(("evidence.above", "evidence.below"))]
    assert [note.key for note in notes] == ([] if told is None else [told])
    assert all(tell(note, language) for note in notes for language in LANGUAGES)


def test_what_a_format_would_lose_is_said(tmp_path: Path) -> None:
    with pytest.raises(RankgaugeError, match="which queries have no answer"):
        TESTS.qrels.save(tmp_path / "qrels.txt", "trec")
    TESTS.qrels.save(tmp_path / "t.json")
    assert TestSet.load(tmp_path / "t.json").qrels == TESTS.qrels


@pytest.mark.parametrize("language", LANGUAGES)
def test_first_screen(tmp_path: Path, language: str) -> None:
    path, run_path = files(tmp_path, *drawn())
    shown = run_terminal("evaluate", path, run_path, "--threshold", "0.4", "--lang", language).stdout
    assert len(shown.splitlines()) <= 25
    assert "AUROC" in shown
    more = run_command("evaluate", path, run_path, "--details", "--lang", language).stdout
    assert {"en": "refusal precision", "zh": "拒答精确率"}[language] in more


def test_commands(tmp_path: Path) -> None:
    path, run_path = files(tmp_path, *drawn())
    document = json.loads(run_command("evaluate", path, run_path, "--threshold", "0.4", "--json").stdout)
    section = document["systems"][0]["no_answer"]
    assert (section["unanswerable"], section["threshold"]) == (20, 0.4)
    both = run_command("compare", path, run_path, f"other={run_path}", "-m", "Handled", "--threshold", "0.4")
    assert "AUROC" in both.stdout
    page = tmp_path / "page.html"
    run_command("evaluate", path, run_path, "-o", page)
    assert "Queries without an answer" in page.read_text()
    refused = run_command("evaluate", path, run_path, "--threshold", "nan", status=2)
    assert "must be a number" in refused.stderr
