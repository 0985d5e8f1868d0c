"""Samples drawn for checking and figures corrected by them: the draw, the estimate against its definition, coverage."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.judge_error import World, coverage, worlds

from rankgauge import Query, RankgaugeError, Sample, TestSet, corrected, draw_sample, evaluate, load_sample
from rankgauge.formats.json_values import dumps
from rankgauge.formats.labels import save_labels
from rankgauge.formats.pool import load_pool
from rankgauge.model.labels import Label, Labels
from rankgauge.stats.prediction_powered import Powered, prediction_powered
from rankgauge.testsets.rescoring import Units
from tests.cli.command import run_command

Grades = dict[str, dict[str, float]]


def made(seed: int = 0, queries: int = 40, docs: int = 8) -> tuple[Grades, Grades, dict[str, Any]]:
    """Labels by people, those of a lenient judge, and two runs."""
    rng = np.random.default_rng(seed)
    people: Grades = {f"q{i}": {f"d{j}": float(rng.binomial(2, 0.3)) for j in range(docs)} for i in range(queries)}
    judge = {q: {d: min(2.0, g + (rng.random() < 0.3)) for d, g in own.items()} for q, own in people.items()}
    runs = {
        name: {q: {d: right * g + rng.normal() for d, g in own.items()} for q, own in people.items()}
        for name, right in (("a", 0.3), ("b", 1.0))
    }
    return people, judge, runs


PEOPLE, JUDGE, RUNS = made()


def checked(sample: Sample, people: Grades = PEOPLE) -> Grades:
    return {query: people[query] for query in sample.queries}


# --- the draw ---------------------------------------------------------------------------------------------------------


def test_whole_queries_are_drawn_by_a_seed() -> None:
    sample = draw_sample(JUDGE, 12, RUNS, seed=3)
    assert sample == draw_sample(JUDGE, 12, RUNS, seed=3)
    assert sample.queries != draw_sample(JUDGE, 12, RUNS, seed=4).queries
    assert len(set(sample.queries)) == 12
    assert {pair.pair for pair in sample.pool} == {(q, d) for q in sample.queries for d in JUDGE[q]}
    assert sample.pool.queries == sample.queries, "to be labelled in this order"


def test_every_query_is_drawn_as_often() -> None:
    n, of, draws = 12, 40, 1500
    counts = Counter(query for seed in range(draws) for query in draw_sample(JUDGE, n, seed=seed).queries)
    expected = draws * n / of
    spread = (draws * n / of * (1 - n / of)) ** 0.5
    assert len(counts) == of
    assert all(abs(count - expected) < 4.5 * spread for count in counts.values())


def test_strata_are_drawn_in_proportion_and_in_turns() -> None:
    sample = draw_sample(JUDGE, 20, RUNS, measures="AP")
    f = {name: evaluate(JUDGE, run, ["AP"]).per_query["AP"].to_numpy() for name, run in RUNS.items()}
    order = np.argsort(f["b"] - f["a"], kind="stable")
    queries = list(JUDGE)
    assert {queries[i] for i in order[:10]} == {q for q, s in sample.strata.items() if s == 0}
    assert Counter(one.stratum for one in sample.drawn) == {0: 5, 1: 5, 2: 5, 3: 5}
    for n in (4, 8, 12, 16):  # who stops early has a sample of all strata too
        counts = Counter(one.stratum for one in sample.drawn[:n])
        assert all(abs(count - n // 4) <= 1 for count in counts.values())


def test_strata_by_tag() -> None:
    tags = ["x"] * 20 + ["y"] * 18 + ["z"] * 2
    asked = TestSet([Query(q, own, tags=(t,)) for (q, own), t in zip(JUDGE.items(), tags, strict=True)])
    sample = draw_sample(asked, 20, strata="tag")
    assert sample.strata["q0"] != sample.strata["q20"] == sample.strata["q39"], "too few have z for a stratum"
    assert set(Counter(one.stratum for one in sample.drawn).values()) == {10}


def test_only_the_first_documents_of_the_runs() -> None:
    sample = draw_sample(JUDGE, 15, RUNS, depth=3)
    for one in sample.drawn:
        first = {d for run in RUNS.values() for d in sorted(run[one.query], key=lambda d: -run[one.query][d])[:3]}
        assert set(one.docs) == first
    people = {q: {d: PEOPLE[q][d] for d in docs} for q, docs in ((one.query, one.docs) for one in sample.drawn)}
    found = corrected(JUDGE, people, RUNS, "nDCG@3", sample=sample)
    assert found.labels == len(sample.pool)
    whole = corrected(JUDGE, checked(sample), RUNS, "nDCG@3", sample=sample)
    assert whole == found, "labels beyond the pool do not count, for they were not asked of every query"


def test_a_sample_is_kept(tmp_path: Path) -> None:
    sample = draw_sample(JUDGE, 12, RUNS)
    sample.save(tmp_path / "sample.json")
    kept = load_sample(tmp_path / "sample.json")
    assert (kept.drawn, kept.strata, kept.labels) == (sample.drawn, sample.strata, sample.labels)
    assert corrected(JUDGE, checked(sample), RUNS, sample=tmp_path / "sample.json") == corrected(
        JUDGE, checked(sample), RUNS, sample=sample
    )
    whole = json.loads((tmp_path / "sample.json").read_text())
    for damage in ({"format": "x"}, {"drawn": [{"query": "q1"}]}, {"strata": {}}, {"depth": "x"}, {"version": 2}):
        (tmp_path / "damaged.json").write_text(json.dumps(whole | damage))
        with pytest.raises(RankgaugeError, match="this is no sample"):
            load_sample(tmp_path / "damaged.json")
    (tmp_path / "damaged.json").write_text("[]")
    with pytest.raises(RankgaugeError, match="this is no sample"):
        load_sample(tmp_path / "damaged.json")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 5}, "with fewer than 10"),
        ({"n": 41}, "the judge labelled 40"),
        ({"n": 12, "strata": "score"}, "needs runs"),
        ({"n": 12, "strata": "tag"}, "needs a test set whose queries have tags"),
        ({"n": 12, "strata": "x"}, "none of score, tag, none"),
        ({"n": 12, "depth": 3}, "give the runs too"),
        ({"n": 12, "runs": {}}, "give a run"),
        ({"n": 12, "seed": -1}, "seed"),
    ],
)
def test_mistakes_of_a_draw(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        draw_sample(JUDGE, **options)


# --- the estimate -----------------------------------------------------------------------------------------------------


def same(first: Powered, second: Powered) -> bool:
    intervals = [(one.interval.low, one.interval.high, one.value, one.bias, one.worth) for one in (first, second)]
    return np.allclose(*intervals, rtol=1e-9, atol=0)


@pytest.mark.parametrize("strata", ["none", "score"])
def test_it_is_the_estimate_of_scores_under_both_kinds_of_labels(strata: str) -> None:
    sample = draw_sample(JUDGE, 16, RUNS, strata=strata)
    found = corrected(JUDGE, checked(sample), RUNS, ["nDCG@5", "AP"], sample=sample)
    number = np.array([sample.strata[query] for query in JUDGE])
    for j, measure in enumerate(("nDCG@5", "AP")):
        scores = {}
        for name, run in RUNS.items():
            f = evaluate(JUDGE, run, [measure]).per_query[measure].to_numpy()
            y = evaluate(PEOPLE, run, [measure]).per_query[measure].to_numpy()
            scores[name] = f, np.where(np.isin(list(JUDGE), sample.queries), y, np.nan)
        for row in found.means[2 * j : 2 * j + 2]:
            assert same(row.estimate, prediction_powered(*scores[row.system], number, bounds=(0, 1)))
        f, y = (scores["b"][i] - scores["a"][i] for i in (0, 1))
        row = found.differences[j]
        assert same(row.estimate, prediction_powered(f, y, number, level=0.975, bounds=(-1, 1))), "two hold together"
        assert row.estimate.judge == pytest.approx(f.mean())
    assert (found.queries, found.checked, found.labels) == (40, 16, 16 * 8)
    assert found.drawn
    assert not found.changed


def test_with_all_queries_checked_it_is_what_people_say() -> None:
    found = corrected(JUDGE, PEOPLE, RUNS, "AP")
    for row in found.means:
        own = evaluate(PEOPLE, RUNS[row.system], ["AP"])
        assert row.estimate.value == pytest.approx(own.mean["AP"])
        assert row.estimate.judge == pytest.approx(evaluate(JUDGE, RUNS[row.system], ["AP"]).mean["AP"])
    assert [note.key for note in found.notes if note.level == "warning"] == ["correction.not_drawn"]


def test_a_judge_that_turns_the_verdict_round() -> None:
    """The judge is lenient to what the worse system returns; people put it right."""
    people = {f"q{i}": {"good": 1.0, "bad": 0.0} for i in range(60)}
    judge = {q: {"good": 0.0, "bad": 1.0} if i % 10 else own for i, (q, own) in enumerate(people.items())}
    runs = {"a": {q: ["bad", "good"] for q in people}, "b": {q: ["good", "bad"] for q in people}}
    sample = draw_sample(judge, 20, runs, "RR")
    found = corrected(judge, {q: people[q] for q in sample.queries}, runs, "RR", sample=sample)
    (row,) = found.differences
    assert (row.verdict, row.judge_verdict) == ("better", "worse")
    assert row.estimate.value == pytest.approx(0.5)
    assert not found.confirmed
    assert found.lead.key == "correction.lead_other"
    assert "the judge's alone would say worse" in found.lead.sentence()
    assert "只用评判者时则为更差" in found.lead.sentence("zh")


def test_less_is_better_turns_verdicts() -> None:
    """Unjudged@5: one run returns documents that nobody labelled."""
    people = {f"q{i}": {f"d{j}": float(j == i % 3) for j in range(6)} for i in range(60)}
    runs = {"a": {q: [f"x{j}" for j in range(3 + i % 3)] for i, q in enumerate(people)}}
    runs["b"] = {q: [f"d{j}" for j in range(5)] for q in people}
    (row,) = corrected(people, people, runs, "Unjudged@5").differences
    assert row.estimate.value < 0
    assert row.verdict == row.judge_verdict == "better"


def test_people_who_stopped_early() -> None:
    sample = draw_sample(JUDGE, 20, RUNS)
    begun = {query: PEOPLE[query] for query in sample.queries[:15]}
    begun[sample.queries[15]] = {"d0": 1.0}
    with pytest.raises(RankgaugeError, match=r"not labelled wholly: 5 queries of the sample.*39 labels lacking"):
        corrected(JUDGE, begun, RUNS, sample=sample)
    found = corrected(JUDGE, begun, RUNS, sample=sample, incomplete="skip")
    assert (found.checked, found.incomplete, found.in_order) == (15, 5, True)
    assert [note.level for note in found.notes if note.key.startswith("correction.incomplete")] == ["info"]
    del begun[sample.queries[0]]
    chosen = corrected(JUDGE, begun, RUNS, sample=sample, incomplete="skip")
    assert [note.key for note in chosen.notes if note.level == "warning"] == ["correction.incomplete"]
    few = {query: PEOPLE[query] for query in sample.queries[:9]}
    with pytest.raises(RankgaugeError, match="labelled 9 queries wholly; with fewer than 10"):
        corrected(JUDGE, few, RUNS, sample=sample, incomplete="skip")


def test_a_judge_that_was_changed_after_the_draw() -> None:
    sample = draw_sample(JUDGE, 12, RUNS)
    tuned = JUDGE | checked(sample)
    found = corrected(tuned, checked(sample), RUNS, sample=sample)
    assert [note.key for note in found.notes if note.level == "warning"] == ["correction.changed"]
    assert found.means[0].errors == 0
    with pytest.raises(RankgaugeError, match="of the sample has no label of the judge any more"):
        corrected({q: own for q, own in JUDGE.items() if q != sample.queries[0]}, checked(sample), RUNS, sample=sample)


def test_systems_that_are_the_same() -> None:
    """Nothing varies, and nothing is infinite in what is kept."""
    found = corrected(JUDGE, PEOPLE, {"a": RUNS["a"], "b": RUNS["a"]})
    (row,) = found.differences
    assert (row.estimate.value, row.estimate.worth, row.needed) == (0, None, None)
    assert row.verdict == "inconclusive", "40 queries do not prove them equivalent"
    assert json.loads(dumps(found.to_dict()))["differences"][0]["estimate"]["worth"] is None
    constant = {f"q{i}": {"d": 1.0, "e": 0.0} for i in range(64)}
    perfect = corrected(constant, constant, {"a": {q: ["d"] for q in constant}}, "RR")
    assert dumps(perfect.to_dict())


def test_few_errors_are_a_warning() -> None:
    judge = {q: {d: 2 - g for d, g in own.items()} if q in ("q3", "q7") else own for q, own in PEOPLE.items()}
    found = corrected(judge, PEOPLE, RUNS)
    (note,) = [note for note in found.notes if note.key == "correction.rare"]
    assert (note.level, note.parameters["errors"], note.parameters["n"]) == ("warning", 2, 40)
    right = corrected(PEOPLE, PEOPLE, RUNS)
    assert "correction.no_errors" in [note.key for note in right.notes]


def test_both_kinds_of_labels_in_one_file(tmp_path: Path) -> None:
    sample = draw_sample(JUDGE, 14, RUNS)
    labels = [Label(q, d, g, "gpt", "model") for q, own in JUDGE.items() for d, g in own.items()]
    labels += [Label(q, d, g, "ana") for q, own in checked(sample).items() for d, g in own.items()]
    path = tmp_path / "labels.jsonl"
    save_labels(Labels(labels), path)
    found = corrected(path, path, RUNS, sample=sample)
    assert found == corrected(JUDGE, checked(sample), RUNS, sample=sample), "people's labels are not the judge's"
    assert not found.changed


def test_turns_of_a_conversation_are_drawn_and_checked_together() -> None:
    rule = {query: f"c{int(query[1:]) // 3}" for query in JUDGE if int(query[1:]) < 36}
    sample = draw_sample(JUDGE, 10, RUNS, conversations=rule)
    turns = Counter(rule.get(query, query) for query in sample.queries)
    assert all(count == (1 if name.startswith("q") else 3) for name, count in turns.items())
    found = corrected(JUDGE, checked(sample), RUNS, "AP", sample=sample, conversations=rule)
    assert (found.conversations, found.means[0].estimate.checked) == (16, 10)
    long = {query: "long" if int(query[1:]) < 20 else query for query in JUDGE}
    uneven = corrected(JUDGE, PEOPLE, RUNS, "AP", conversations=long)
    assert uneven.effective == pytest.approx(40**2 / (20**2 + 20))
    assert "correction.uneven" in [note.key for note in uneven.notes if note.level == "warning"]
    whole = corrected(JUDGE, PEOPLE, RUNS, "AP", conversations=rule)
    assert "correction.uneven" not in [note.key for note in whole.notes]
    assert whole.means[0].estimate.value == pytest.approx(evaluate(PEOPLE, RUNS["a"], ["AP"]).mean["AP"])


@pytest.mark.parametrize(
    ("people", "options", "words"),
    [
        ({"x": {"d": 1}}, {}, "people labelled none of the judge's queries: theirs are such as 'x'"),
        (PEOPLE, {"incomplete": "x"}, "neither error nor skip"),
        (PEOPLE, {"measures": "GMAP"}, "no mean over queries"),
        (PEOPLE, {"contract": "ranx_nothing"}, "ranx_nothing"),
        (PEOPLE, {"sample": 3}, "what draw_sample gave"),
        ({}, {}, "people: it holds no labels"),
        (PEOPLE, {"runs": {}}, "give a run"),
    ],
)
def test_mistakes(people: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        corrected(JUDGE, people, **{"runs": RUNS, **options})


def test_a_judge_that_rejected_nothing() -> None:
    """What it missed is in no pool."""
    relevant = {q: {d: g for d, g in own.items() if g > 0} for q, own in JUDGE.items()}
    with pytest.raises(RankgaugeError, match="people would never see what it missed"):
        draw_sample(relevant, 12)
    found = corrected(relevant, PEOPLE, RUNS)
    assert "correction.only_relevant" in [note.key for note in found.notes if note.level == "warning"]


def test_ids_that_do_not_match() -> None:
    other = {"a": {q: ["x", "y"] for q in PEOPLE}, "b": {q: ["y"] for q in PEOPLE}}
    with pytest.raises(RankgaugeError, match=r"no run returned a labelled document: .* such as '.', labels 'd"):
        corrected(JUDGE, PEOPLE, other)


def test_a_contract_that_skips_queries_is_refused() -> None:
    from rankgauge import Contract

    with pytest.raises(RankgaugeError, match="must count with the other too"):
        corrected(JUDGE, PEOPLE, RUNS, contract=Contract(no_relevant="skip"))


# --- coverage ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known() -> dict[str, World]:
    return worlds(2500)


@pytest.mark.parametrize("judge", ["good", "lenient", "useless", "rarely all wrong", "good, rarely all wrong"])
@pytest.mark.parametrize(("n", "strata"), [(10, 1), (20, 4), (60, 4)])
def test_intervals_hold_what_they_promise(known: dict[str, World], judge: str, n: int, strata: int) -> None:
    """95 % are claimed; nDCG and AP, of a system and of the difference between two. A judge's own interval holds
    next to never where it is biased."""
    for what, (f, y) in known[judge].items():
        found = coverage(f, y, n, 150, strata=strata, difference="-" in what)
        assert found.held >= 0.9, (what, found)
        assert found.width < 1.1
    if judge == "lenient":
        assert found.judge_held < 0.1


@pytest.mark.parametrize("share", [0.3, 0.05])
@pytest.mark.parametrize("n", [10, 20, 40])
def test_differences_of_few_queries_and_errors_that_are_rare(share: float, n: int) -> None:
    """Systems that are alike on most queries, and a judge that is wrong on 2 %: an interval from few values that happen
    to be 0 and 1 must not be taken for that of a share."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(8000) < share, rng.choice([-1.0, 1.0, 1.0], 8000), 0.0)
    f = np.where(rng.random(8000) < 0.02, 0.0, y)
    assert coverage(f, y, n, 300, difference=True).held >= 0.9


@pytest.mark.parametrize("n", [10, 20])
def test_conversations_of_unequal_length(n: int) -> None:
    rng = np.random.default_rng(n)
    held, truth = 0, 1 / 2.5
    for number in range(200):
        queries = [(f"c{i}", f"c{i}-{k}") for i, size in enumerate(rng.choice([1, 2, 3, 6], 100)) for k in range(size)]
        conversation = np.array([int(name[1:]) for name, _ in queries])
        y = np.clip(rng.beta(1, 1.5, 100)[conversation] + rng.normal(0, 0.1, len(queries)), -1, 2)
        f = y + 0.2 + rng.normal(0, 0.1, 100)[conversation]
        ids = [query for _, query in queries]
        units = Units.by(ids, {query: name for name, query in queries})
        drawn = np.isin(conversation, rng.choice(100, n, replace=False))
        people = units.values(y[drawn], [query for query, own in zip(ids, drawn, strict=True) if own])
        found = prediction_powered(units.values(f, ids), people, bounds=units.bounds((-1, 2)))
        assert number or np.nanmean(units.values(f, ids)) == pytest.approx(f.mean())
        held += found.interval.low <= truth <= found.interval.high
    assert held / 200 > 0.9


# --- the commands -----------------------------------------------------------------------------------------------------


def test_the_commands(tmp_path: Path) -> None:
    def written(name: str, grades: Grades) -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{q} 0 {d} {g:.0f}\n" for q, own in grades.items() for d, g in own.items()))
        return path

    judge, runs = written("judge.txt", JUDGE), []
    for name, run in RUNS.items():
        runs.append(tmp_path / f"{name}.run")
        lines = (f"{q} Q0 {d} 0 {s:.9f} {name}\n" for q, own in run.items() for d, s in own.items())
        runs[-1].write_text("".join(lines))
    sample, pool = tmp_path / "sample.json", tmp_path / "pool.jsonl"
    done = run_command("testset", "draw", judge, *runs, "-n", 16, "--sample", sample, "-o", pool)
    assert done.stdout.splitlines()[0] == "16 queries drawn of 40, 128 documents to be labelled, seed 0"
    drawn = load_sample(sample)
    assert load_pool(pool).queries == drawn.queries
    people = written("people.txt", checked(drawn))
    given = ("testset", "correct", judge, people, *runs, "--sample", sample)
    found = corrected(JUDGE, checked(drawn), RUNS, sample=drawn)
    for language in ("en", "zh"):
        shown = run_command(*given, "--lang", language, status=0 if found.confirmed else 1).stdout
        assert shown.splitlines()[0] in found.lead.sentence(language)  # type: ignore[arg-type]
        assert len(shown.splitlines()) <= 25
    as_json = json.loads(run_command(*given, "--json", status=None).stdout)
    assert as_json["differences"][0]["estimate"]["value"] == pytest.approx(found.differences[0].estimate.value)
    assert run_command("testset", "draw", judge, *runs, "--sample", judge, status=2).stderr.count("is an input") == 1
    assert "two" in run_command("testset", "draw", judge, "--sample", pool, "-o", pool, status=2).stderr
    people.write_text("".join(people.read_text().splitlines(keepends=True)[:-1]))
    assert "--incomplete skip" in run_command(*given, status=2).stderr
