"""What people naturally give at the front door: taken where it is clear, else refused in words, never a traceback."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankgauge
from rankgauge import (
    Contract,
    Corpus,
    Evaluation,
    GateRules,
    History,
    Qrels,
    Query,
    Record,
    Run,
    TestSet,
    compare,
    compare_scores,
    evaluate,
    gate,
    report,
    verify,
)
from rankgauge.errors import DataError, RankgaugeError

QRELS = {f"q{i}": {"d1": 1, "d2": 0} for i in range(12)}
RUNS = {
    "a": {q: {"d2": 2.0, "d1": 1.0} for q in QRELS},
    "b": {q: {"d1": 2.0, "d2": 1.0} for q in QRELS},
}


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    """Of files, so that it can be verified; its record lies in record.json."""
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    lines = (f"{q} Q0 {d} 0 {s} b\n" for q, docs in RUNS["b"].items() for d, s in docs.items())
    (tmp_path / "run").write_text("".join(lines))
    found = evaluate(tmp_path / "qrels", tmp_path / "run", ["nDCG@10", "AP"], name="b")
    found.save(tmp_path / "record.json")
    return found


def test_a_record_may_be_a_path_or_a_result(evaluation: Evaluation, tmp_path: Path) -> None:
    record = evaluation.record
    for given in (evaluation, record, tmp_path / "record.json", str(tmp_path / "record.json")):
        assert gate(given, given).status == "pass"
        assert all(finding.holds for finding in verify(given))
        assert report(given) == report(record)
        with History.open(":memory:") as history:
            assert history.add(given).queries == 12
            assert rankgauge.set_baseline(history, "main", given).version == 1
            assert rankgauge.promote_baseline(history, "main", given).accepted
    with pytest.raises(DataError, match=r"`record` must be a record, a result that has one, or the path .* not a int"):
        verify(3)
    with pytest.raises(RankgaugeError, match="there is no such file"):
        gate("nowhere.json", evaluation)


def test_charts_of_a_result(evaluation: Evaluation, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    assert rankgauge.save_charts(evaluation, tmp_path / "charts")
    both = compare(QRELS, RUNS, ["AP"])
    with pytest.raises(DataError, match=r"`pair` takes two names of systems, such as \('a', 'b'\), not 'a'"):
        rankgauge.save_charts(both, tmp_path / "more", pair="a")
    with pytest.raises(RankgaugeError, match="unknown language"):
        rankgauge.save_charts(both, tmp_path / "more", "fr")
    assert not (tmp_path / "more").exists()


def test_a_baseline_may_be_means(evaluation: Evaluation, tmp_path: Path) -> None:
    assert gate(evaluation, {"nDCG@10": 0.3}).status == "pass"
    assert gate(evaluation, {"nDCG@10": 0.3}).to_dict() == gate(evaluation, {"means": {"nDCG@10": 0.3}}).to_dict()
    (tmp_path / "means.json").write_text('{"nDCG@10": 0.3}')
    assert gate(evaluation, tmp_path / "means.json").status == "pass"
    with pytest.raises(RankgaugeError, match="this is no baseline"):
        gate(evaluation, {"nDCG@10": "much"})
    with pytest.raises(DataError, match=r"`baseline` must be .* means such as .* not a list"):
        gate(evaluation, [0.3])


def test_rules_may_be_a_mapping(evaluation: Evaluation) -> None:
    assert gate(evaluation, rules={"targets": "AP >= 0.9"}).status == "pass"
    with History.open(":memory:") as history:
        rankgauge.set_baseline(history, "main", evaluation, targets="AP >= 0.9")
        promoted = rankgauge.promote_baseline(history, "main", evaluation, rules={"max_loss": "1%"})
        assert promoted.against_current.settings.max_loss == 0.01
    with pytest.raises(DataError, match=r"has no parameter 'target'; did you mean targets\?"):
        gate(evaluation, rules={"target": "AP >= 0.9"})
    with pytest.raises(DataError, match="`rules` must be GateRules or a mapping"):
        gate(evaluation, rules="AP >= 0.9")
    with pytest.raises(DataError, match=r"give `max_loss` among the rules"):
        gate(evaluation, evaluation, rules=GateRules(), max_loss="1%")


def test_a_moment_without_a_zone_is_utc(evaluation: Evaluation) -> None:
    now = datetime.datetime.now(datetime.UTC)
    for moment in (now, now.replace(tzinfo=None)):
        assert gate(evaluation, evaluation, max_age="3d", now=moment).status == "pass"
    late = (now + datetime.timedelta(days=4)).replace(tzinfo=None)
    with pytest.raises(DataError, match="old"):
        gate(evaluation, evaluation, max_age="3d", now=late)
    assert gate(evaluation, evaluation, max_age=datetime.timedelta(days=3)).settings.max_age is not None
    with pytest.raises(DataError, match="`now` must be a datetime"):
        gate(evaluation, evaluation, now="today")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_loss": "5%"}, r"GateRules.of\(max_loss='5%'\)"),
        ({"max_loss": 1.5}, "max_loss 1.5 must lie between 0 and 1"),
        ({"max_age": "3d"}, r"GateRules.of\(max_age='3d'\)"),
        ({"targets": ("AP > 0.1",)}, r"GateRules.of\(targets=\('AP > 0.1',\)\)"),
        ({"measures": "AP"}, r"GateRules.of\(measures='AP'\)"),
        ({"on_inconclusive": "zzz"}, "on_inconclusive is one of auto, pass, fail, report, not 'zzz'"),
        ({"alpha": 3}, "alpha 3 must lie between"),
        ({"max_errors": "1"}, "max_errors must be a whole number"),
        ({"scenario": "x"}, "scenario is one of"),
    ],
)
def test_rules_that_are_constructed_are_checked(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        GateRules(**given)


def test_a_history_may_be_a_path(evaluation: Evaluation, tmp_path: Path) -> None:
    place = tmp_path / "h.db"
    assert rankgauge.set_baseline(place, "main", evaluation).version == 1
    assert rankgauge.set_baseline(str(place), "main", evaluation).version == 2
    assert rankgauge.promote_baseline(place, "main", evaluation).accepted
    with History.open(place) as history:
        assert rankgauge.find_baseline("main", history).version == rankgauge.find_baseline("main", place).version
    with pytest.raises(DataError, match="a history is opened by a path or an address"):
        rankgauge.set_baseline(3, "main", evaluation)
    with pytest.raises(DataError, match="there is no history"):
        rankgauge.promote_baseline(tmp_path / "other.db", "main", evaluation)
    assert not (tmp_path / "other.db").exists()


def test_times_of_the_history_may_be_texts(evaluation: Evaluation) -> None:
    with History.open(":memory:") as history:
        history.add(evaluation)
        today = datetime.datetime.now(datetime.UTC)
        for since in ("7d", today - datetime.timedelta(days=1), today.replace(tzinfo=None, hour=0), "2020-01-01"):
            assert len(history.records(since=since)) == len(history.trend("AP", since=since)) == 1
        assert len(history.records(since=today.date() - datetime.timedelta(days=1))) == 1
        assert len(history.records(until=str(today.date()))) == 1  # all of the day, as the command takes it
        assert history.records(until=today.date()) == []
        assert history.prune(before="7d").gone == []
        for wrong in ("soon", 3):
            with pytest.raises(DataError, match="is no time; write a date such as"):
                history.records(since=wrong)
        with pytest.raises(DataError, match="limit must be a whole number"):
            history.records(limit="x")
        with pytest.raises(DataError, match="limit must be a whole number"):
            history.trend("AP", limit="x")
        with pytest.raises(DataError, match="keep must be a whole number"):
            history.prune(keep="x")


def test_a_plan_may_be_a_path(tmp_path: Path) -> None:
    TestSet([Query("an apple", {"d1": 1}, "1"), Query("a pear", {"d2": 1}, "2")]).save(tmp_path / "testset.json")
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "apple"}\n{"_id": "d2", "text": "pear"}\n')
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'testset = "testset.json"\ncorpus = "corpus.jsonl"\nmeasures = "RR"\n[[system]]\nname = "bm25"\nuse = "bm25"\n'
        "[calls]\ncache = false\n"
    )
    assert rankgauge.run_plan(plan).record.systems[0].means["RR"].value == 1
    assert rankgauge.run_plan(str(plan)).record.systems[0].means["RR"].value == 1
    with pytest.raises(DataError, match=r"`plan` must be a path or what load_plan gives, not a dict"):
        rankgauge.run_plan({})


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: compare(QRELS, RUNS, baseline=[1]), r"the baseline \[1\] is not among the systems: a, b"),
    (lambda: compare_scores(pl.DataFrame({"a": [1.0], "b": [2.0]})), r"`scores` .* {name: frame\[name\]"),
    (lambda: compare_scores([[1, 2], [2, 3]]), "`scores` are given by system"),
    (lambda: compare_scores({"a": {"1": 0.5}, "b": {"1": 0.7}}), "the scores of 'a' are no list of numbers"),
    (lambda: compare_scores({"a": "12", "b": "34"}), "the scores of 'a' are no list of numbers"),
    (lambda: compare_scores({"a": [1.0], "b": [2.0]}, measure=3), "`measure` must be a name, not 3"),
    (lambda: compare_scores({"a": [1.0, 2.0], "b": [2.0, 2.0]}, queries=["x", "x"]), "query 'x' stands twice"),
    (lambda: compare_scores({"a": [1.0], "b": [2.0]}, queries=["x", "y"]), "there are 2 queries, but 1 score for"),
    (lambda: compare_scores({"a": [1.0], "b": [2.0]}, queries=3), "`queries` must be a list of ids, not 3"),
    (lambda: rankgauge.compare_stored([]), "`files` names no file"),
    (lambda: rankgauge.compare_stored([3]), "must be a path, not 3"),
    (lambda: evaluate(QRELS, RUNS["a"], name=3), "`name` must be a text, not 3"),
    (lambda: Run(RUNS["a"], name=3), "`name` must be a text, not 3"),
    (lambda: TestSet([], name=3), "`name` must be a text, not 3"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), digits="x"), "digits must be a whole number, not 'x'"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), digits=-1), "digits is -1; it must be between 0 and 15"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), detail="x"), "detail is one of answer, evidence, audit, not 'x'"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), 3), "`path` must be a path, not 3"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), format="text"), "did you mean 'terminal'"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), format="md"), "did you mean 'markdown'"),
    (lambda: report(QRELS), "no report can be made of dict"),
    (lambda: rankgauge.audit(50, "0.8"), "value must be a number, not '0.8'"),
    (lambda: rankgauge.audit(50, 0.8, "0.7"), "baseline must be a number, not '0.7'"),
    (lambda: rankgauge.power(sd="0.2", queries=9), "sd must be a number, not '0.2'"),
    (lambda: rankgauge.power(sd=0.2, difference="0.1"), "difference must be a number, not '0.1'"),
    (lambda: rankgauge.power(QRELS, [1, 2], queries=9), "runs are given by name"),
    (lambda: rankgauge.judge_next(QRELS, RUNS, number="5"), "number must be a whole number, not '5'"),
    (lambda: rankgauge.judge_next(QRELS, RUNS, number=0), "number is 0; it must be at least 1"),
    (lambda: rankgauge.fuse(3), "`runs` .* not a int"),
    (lambda: rankgauge.fuse([RUNS["a"]], weights=[1, 2]), "there are 2 weights for 1 list;"),
    (lambda: rankgauge.fuse([RUNS["a"], RUNS["b"]], weights=[1]), "there is 1 weight for 2 lists;"),
    (lambda: TestSet([1]), r"query 1 is a int; give Query\("),
    (lambda: TestSet(QRELS), r"query 1 is a str; give Query\("),
    (lambda: TestSet(3), "a int is no list of queries"),
    (lambda: Query("x", ["d1"]), r"query 'x': `grades` must be a mapping"),
    (lambda: Query(3, {"d1": 1}), "`text` must be a text, not 3"),
    (lambda: Corpus(3), r"a int is no corpus; give texts by id"),
    (lambda: Corpus({"a": 3}), "document 'a' has a int for its text"),
    (lambda: rankgauge.load_qrels(QRELS), "`path` must be a path, not {"),
    (lambda: rankgauge.load_run(3), "`path` must be a path, not 3"),
    (lambda: rankgauge.load_testset(None), "`path` must be a path, not None"),
    (lambda: rankgauge.load_corpus({}), "`path` must be a path, not {}"),
    (lambda: rankgauge.load_plan(3), "`path` must be a path, not 3"),
    (lambda: rankgauge.load_monitor_plan(3), "`path` must be a path, not 3"),
    (lambda: rankgauge.load_baseline(3), "`path` must be a path, not 3"),
    (lambda: Record.load(3), "`path` must be a path, not 3"),
    (lambda: rankgauge.find_baseline(3), "must be a path, not 3"),
    (lambda: rankgauge.compare_stored(None), "`files` must be a path, not None"),
    (lambda: report(evaluate(QRELS, RUNS["a"]), width="x"), "width must be a whole number, not 'x'"),
    (lambda: rankgauge.set_baseline(":memory:", 3, evaluate(QRELS, RUNS["a"])), "3 is no name for a baseline"),
    (lambda: rankgauge.set_baseline(":memory:", "m", evaluate(QRELS, RUNS["a"]), targets=3), "'3' is no target"),
    (lambda: History.open(":memory:").add(evaluate(QRELS, RUNS["a"]), label=3), "`label` must be a text, not 3"),
    (lambda: Query("x", {"d1": 1}, tags="easy"), "`tags` must be a list such as .'easy',."),
    (lambda: TestSet([]).split("x"), "share='x' must lie between 0 and 1"),
    (lambda: rankgauge.Monitor("plan.toml", "h.db", print), r"load_monitor_plan\(path\) and History.open\(place\)"),
    (
        lambda: evaluate(QRELS, RUNS["a"], corpus=3),
        "a corpus is a mapping from document id to text, or the path of a file, not a int",
    ),
    (lambda: evaluate(QRELS, RUNS["a"], corpus={}, tokenizer=3), "`tokenizer` must be a function"),
    (lambda: rankgauge.convert(3, "x.json"), "`path` must be a path, not 3"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said[:40] for _, said in REFUSED])
def test_what_cannot_be_taken_is_refused_in_words(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        call()


def test_one_file_needs_no_list(tmp_path: Path) -> None:
    compare(QRELS, RUNS, ["AP"]).save(tmp_path / "both.json")
    assert rankgauge.compare_stored(tmp_path / "both.json").row("AP", "a", "b").verdict == "better"
    assert rankgauge.compare_stored(str(tmp_path / "both.json")).row("AP", "a", "b").verdict == "better"


def test_systems_named_by_numbers_have_a_baseline() -> None:
    found = compare(QRELS, {1: RUNS["a"], 2: RUNS["b"]}, ["AP"], baseline="1")
    assert [(row.a, row.b) for row in found.rows] == [("1", "2")]


CALLABLE = [
    name
    for name in rankgauge.__all__
    if callable(value := getattr(rankgauge, name)) and not (inspect.isclass(value) and issubclass(value, Exception))
]


@pytest.mark.parametrize("name", CALLABLE)
def test_every_public_name_says_what_was_meant(name: str) -> None:
    called = getattr(rankgauge, name)
    own = list(inspect.signature(called).parameters)[-1]
    with pytest.raises(RankgaugeError, match=rf"{name}\(\) has no parameter '{own}x'; did you mean {own}\?"):
        called(**{f"{own}x": 1})
    with pytest.raises(RankgaugeError, match=rf"{name}\(\) has no parameter 'zqzq'; it has: .*{own}"):
        called(zqzq=1)


def test_methods_say_what_was_meant(evaluation: Evaluation) -> None:
    with pytest.raises(DataError, match=r"has no parameter 'formt'; did you mean format\?"):
        evaluation.report(formt="html")  # type: ignore[call-arg]
    with pytest.raises(DataError, match=r"has no parameter 'locaton'; did you mean location\?"):
        History.open(locaton="x")  # type: ignore[call-arg]
    with History.open(":memory:") as history, pytest.raises(DataError, match=r"did you mean since\?"):
        history.records(sinc="7d")  # type: ignore[call-arg]


def test_classes_stay_what_they_are() -> None:
    assert next(iter(inspect.signature(Contract).parameters)) == "ties"
    assert Contract.__init__.__doc__ == Contract(ties="trec").__init__.__doc__  # type: ignore[misc]
    assert Query("x", {"d": 1}) == Query(text="x", grades={"d": 1})
    assert Qrels(QRELS).name == "judgments"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'grades'"):
        Query("x")  # type: ignore[call-arg]


def test_a_gate_shows_and_keeps_itself(evaluation: Evaluation, tmp_path: Path) -> None:
    result = gate(evaluation, evaluation)
    assert repr(result) == "GateResult('b': pass, accepted; 2 rules)"
    assert repr(gate(evaluation, targets="AP >= 2%")) == "GateResult('b': pass, accepted; 1 rule)"
    assert repr(gate(evaluation, targets="AP >= 1.5")).startswith("GateResult('b': broken, not accepted;")
    result.save(tmp_path / "gate.json")
    assert '"rankgauge.gate"' in (tmp_path / "gate.json").read_text()
    assert (
        result.report(tmp_path / "gate.md") == (tmp_path / "gate.md").read_text() == report(result, format="markdown")
    )


def test_plurals() -> None:
    assert repr(compare(QRELS, RUNS, ["AP"])) == "Comparison(a, b: 1 row)"
    assert repr(compare(QRELS, RUNS, ["AP", "RR"])) == "Comparison(a, b: 2 rows)"
    assert repr(TestSet([Query("x", {"d": 1})])) == "TestSet('test set': 1 query)"
    assert repr(TestSet([])) == "TestSet('test set': 0 queries)"
    assert repr(Corpus({"a": "b"})) == "Corpus('corpus': 1 document)"
    assert repr(Corpus({"a": "b", "c": ""})) == "Corpus('corpus': 2 documents)"
    told = "\n".join(
        compare_scores({"a": [0.5], "b": [0.7]}).summary() + compare_scores({"a": [0.5], "b": [0.7]}).warnings
    )
    told += report(compare_scores({"a": [0.5], "b": [0.7]}), detail="audit")
    assert "1 query is too few" in told
    assert "1 queries" not in told
    with pytest.raises(DataError, match="relevant_docs has 2 entries, but there is 1 query"):
        TestSet.from_annotations(["x"], [["a"], ["b"]])


@pytest.mark.parametrize("ending", ["html", "csv", "parquet", "md", "txt", "html.gz"])
def test_a_record_is_saved_as_json_alone(ending: str, evaluation: Evaluation, tmp_path: Path) -> None:
    for result in (evaluation, evaluation.record, gate(evaluation, evaluation)):
        with pytest.raises(DataError, match=r"a result is kept as JSON: .*\.json.*report\(path\)"):
            result.save(tmp_path / f"ev.{ending}")
    assert not (tmp_path / f"ev.{ending}").exists()


@pytest.mark.parametrize("name", ["ev.json", "EV.JSON", "ev.json.gz", "ev.json.zst", "ev"])
def test_endings_a_record_may_have(name: str, evaluation: Evaluation, tmp_path: Path) -> None:
    evaluation.save(tmp_path / name)
    assert Record.load(tmp_path / name) == evaluation.record
