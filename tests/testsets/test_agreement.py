"""Agreement of label sets: published figures, other libraries, and `compare` under each set as the oracle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score, confusion_matrix, recall_score
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from rankgauge import Query, RankgaugeError, TestSet, agreement, compare
from rankgauge.formats.labels import save_labels
from rankgauge.model.labels import Label, Labels
from tests.cli.command import run_command

Grades = dict[str, dict[str, float]]


def judged(seed: int, queries: int = 12, docs: int = 10, right: float = 0.6, raters: int = 3) -> list[Grades]:
    """Sets of grades of the same pairs, which agree on a share of them."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, (queries, docs), p=[0.5, 0.2, 0.2, 0.1])
    made = []
    for _ in range(raters):
        own = np.where(rng.random(truth.shape) < right, truth, rng.integers(0, 4, truth.shape))
        made.append({f"q{i}": {f"d{j}": float(g) for j, g in enumerate(row)} for i, row in enumerate(own.tolist())})
    return made


def flat(grades: Grades) -> list[float]:
    return [grade for docs in grades.values() for grade in docs.values()]


def runs_of(seed: int, grades: Grades, systems: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        f"s{k}": {q: {d: g * k / 3 + rng.normal() for d, g in docs.items()} for q, docs in grades.items()}
        for k in range(systems)
    }


# --- figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.needs("data")
def test_published_figures_of_an_llm_judge(data: Path) -> None:
    """LLMJudge benchmark: willia-umbrela1 has a kappa of .2863 and an ordinal alpha of .4918."""
    folder = data / "llmjudge"
    people, judge = folder / "human.qrels.txt", folder / "submissions" / "willia-umbrela1.txt"
    pair = agreement([people, judge]).pairs[0]
    assert round(pair.kappa.value or 0, 4) == 0.2863
    assert round(pair.coefficients["krippendorff_alpha_ordinal"].value or 0, 4) == 0.4918
    assert (pair.pairs, pair.queries, sum(map(sum, pair.confusion))) == (4423, 25, 4423)
    shown = run_command("testset", "agreement", people, judge).stdout
    assert shown.splitlines()[0] == "fair agreement (kappa 0.29 [0.16, 0.41])"
    assert len(shown.splitlines()) <= 25


@pytest.mark.needs("data")
def test_labels_outside_the_scale_are_told_and_counted(data: Path) -> None:
    folder = data / "llmjudge"
    found = agreement({"people": folder / "human.qrels.txt", "llama": folder / "submissions" / "RMITIR-llama70B.txt"})
    assert found.outside == {"people": 0, "llama": 2}
    assert found.pairs[0].pairs == 4421
    (note,) = found.notes
    assert (note.key, note.level) == ("agreement.outside", "warning")
    assert "2 labels outside the scale 0 to 3 left out" in note.sentence()


@pytest.mark.parametrize("seed", range(4))
def test_two_sets_as_scikit_learn(seed: int) -> None:
    a, b, _ = judged(seed)
    pair = agreement({"a": a, "b": b}, rel=2).pairs[0]
    x, y = np.array(flat(a)), np.array(flat(b))
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(x, y))
    weighted = pair.coefficients["cohen_kappa_quadratic"].value
    assert weighted == pytest.approx(cohen_kappa_score(x, y, weights="quadratic"))
    assert pair.confusion == confusion_matrix(x, y).tolist()
    assert pair.sensitivity is not None
    assert pair.specificity is not None
    assert pair.bias is not None
    assert pair.sensitivity.value == pytest.approx(recall_score(x >= 2, y >= 2))
    assert pair.specificity.value == pytest.approx(recall_score(x < 2, y < 2))
    assert pair.bias.value == pytest.approx((y - x).mean())
    for own in pair.by_grade:
        assert own.mean.value == pytest.approx((y[x == own.grade] - own.grade).mean())
        assert own.mean.n == (x == own.grade).sum()
    for mean in (pair.sensitivity, pair.specificity, pair.bias):
        assert mean.interval is not None
        assert mean.interval.low < mean.value < mean.interval.high


@pytest.mark.parametrize("seed", range(3))
def test_several_sets_as_krippendorff_and_statsmodels(seed: int) -> None:
    sets = judged(seed)
    found = agreement(dict(zip("abc", sets, strict=True)))
    rows = np.array([flat(one) for one in sets])
    assert found.overall["fleiss_kappa"].value == pytest.approx(fleiss_kappa(aggregate_raters(rows.T)[0]))
    del sets[1]["q0"], sets[2]["q3"]["d1"]  # not all labelled everything
    found = agreement(dict(zip("abc", sets, strict=True)))
    pairs = [(q, d) for q, docs in sets[0].items() for d in docs]
    rows = np.array([[one.get(q, {}).get(d, np.nan) for q, d in pairs] for one in sets])
    for level in ("nominal", "ordinal"):
        name = "krippendorff_alpha" + ("" if level == "nominal" else "_ordinal")
        expected = krippendorff.alpha(rows, level_of_measurement=level)
        assert found.overall[name].value == pytest.approx(expected, abs=1e-10)
    assert found.shared == int((~np.isnan(rows)).all(axis=0).sum())
    assert [(pair.only_reference, pair.only_other) for pair in found.pairs] == [(10, 0), (1, 0)]


# --- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_verdicts_are_those_of_compare_under_each_set(seed: int) -> None:
    people, model, _ = judged(seed, queries=25, right=0.75)
    del model["q0"]["d0"]  # which people labelled alone: it counts under neither
    del people["q1"]
    runs = runs_of(seed, people)
    found = agreement({"people": people, "model": model}, runs, ["nDCG@5", "AP"])
    pair = found.pairs[0]
    shared = {q: docs.keys() & model[q].keys() for q, docs in people.items()}
    rows = {}
    for name, grades in (("people", people), ("model", model)):
        kept = {q: {d: grades[q][d] for d in people[q] if d in docs} for q, docs in shared.items()}
        rows[name] = compare(kept, runs, ["nDCG@5", "AP"])
    expected = [
        (a.measure, a.a, a.b, a.verdict, b.verdict)
        for a, b in zip(rows["people"].rows, rows["model"].rows, strict=True)
        if a.verdict != b.verdict
    ]
    assert [(one.measure, one.a, one.b, one.reference, one.other) for one in pair.changes] == expected
    assert found.changed == len(expected)
    assert found.comparisons == 12
    for rank in pair.ranks:
        x, y = ([one.mean[rank.measure] for one in rows[name].evaluations] for name in ("people", "model"))
        assert rank.tau == pytest.approx(kendalltau(x, y).statistic)
    assert expected
    assert found.lead.parameters["changes"].key == "agreement.changes"
    assert found.lead_status == "warn"
    both = zip(rows["people"].rows, rows["model"].rows, strict=True)
    assert found.undecided == sum(a.verdict == b.verdict == "inconclusive" for a, b in both)


def test_verdicts_that_are_inconclusive_by_both_are_no_reassurance() -> None:
    few = {f"q{i}": {"d1": i % 2, "d2": 1 - i % 2} for i in range(4)}
    runs = {"a": {q: ["d2", "d1"] for q in few}, "b": {q: ["d1", "d2"] for q in few}}
    found = agreement({"people": few, "model": few}, runs, "RR")
    assert (found.changed, found.comparisons, found.undecided) == (0, 1, 1)
    assert found.lead_status is None
    assert "1 comparison is inconclusive with either judge: too little to tell" in found.lead.sentence()
    assert "1 个比较都尚无定论" in found.lead.sentence("zh")
    assert found.to_dict()["undecided"] == 1
    # Beside one that is decided.
    many = {f"q{i}": {"d1": 1, "d2": 0, "d3": 0} for i in range(12)}
    runs = {"a": {q: ["d2", "d1"] for q in many}, "b": {q: ["d1", "d2"] for q in many}}
    runs["c"] = {q: ["d1" if i else "d3", "d2"] for i, q in enumerate(many)}
    mixed = agreement({"people": many, "model": many}, runs, "RR")
    assert (mixed.changed, mixed.comparisons, mixed.undecided) == (0, 3, 1)
    assert "3 comparisons have the same verdict with either judge, but 1 of them inconclusive" in mixed.lead.sentence()
    assert mixed.lead_status == "pass"
    sure = agreement({"people": many, "model": many}, {name: runs[name] for name in "ab"}, "RR")
    assert sure.lead.sentence().endswith("; 1 comparison has the same verdict with either judge")


def test_a_judge_that_turns_the_order_round() -> None:
    people = {f"q{i}": {"d1": 1, "d2": 0} for i in range(12)}
    model = {q: {"d1": 0, "d2": 1} for q in people}
    runs = {"a": {q: ["d2", "d1"] for q in people}, "b": {q: ["d1", "d2"] for q in people}}
    found = agreement({"people": people, "model": model}, runs, "RR")
    (change,) = found.pairs[0].changes
    assert change.reversed
    assert (change.reference, change.other) == ("better", "worse")
    assert [rank.tau for rank in found.pairs[0].ranks] == [-1.0]
    assert found.lead.sentence() == (
        "poor agreement (kappa −1.00); the verdict of 1 of 1 comparison changes with the judge"
    )
    assert found.lead.sentence("zh").startswith("一致性差（kappa −1.00")


# --- sets of every kind -----------------------------------------------------------------------------------------------


def test_judges_of_one_file_of_labels(tmp_path: Path) -> None:
    a, b, c = judged(0)
    kinds = {"gpt": ("model", a), "ana": ("person", b), "ben": ("person", c)}
    labels = [
        Label(q, d, g, judge, kind)  # type: ignore[arg-type]
        for judge, (kind, grades) in kinds.items()
        for q, docs in grades.items()
        for d, g in docs.items()
    ]
    save_labels(Labels(labels), tmp_path / "labels.jsonl")
    for given in (Labels(labels), tmp_path / "labels.jsonl", [tmp_path / "labels.jsonl"]):
        found = agreement(given)
        assert [one.name for one in found.sets] == ["ana", "ben", "gpt"], "people first"
        assert found.pairs[1].kappa.value == pytest.approx(cohen_kappa_score(flat(b), flat(a)))
    as_json = run_command("testset", "agreement", tmp_path / "labels.jsonl", "--json").stdout
    assert json.loads(as_json)["format"] == "rankgauge.agreement"
    save_labels(Labels([label for label in labels if label.judge == "gpt"]), tmp_path / "model.jsonl")
    test_set = TestSet([Query(q, docs) for q, docs in b.items()])
    mixed = agreement({"set": test_set, "model": tmp_path / "model.jsonl"})
    assert mixed.pairs[0].kappa == agreement({"set": b, "model": a}).pairs[0].kappa
    several = agreement({"a": a, "labels": tmp_path / "labels.jsonl"})
    assert [(note.key, note.parameters["n"]) for note in several.notes] == [("agreement.combined", 3)]


def said_by(judge: str, grades: Grades, *, adjudicates: bool = False) -> list[Label]:
    return [Label(q, d, g, judge, adjudicates=adjudicates) for q, docs in grades.items() for d, g in docs.items()]


def test_labels_that_adjudicate_are_no_further_judge(tmp_path: Path) -> None:
    """Who adjudicates sees conflicts alone: as a judge, or as what one of the judges says, it would flatter them."""
    a, b, model = judged(1)
    settled = {q: {d: b[q][d] for d in docs if a[q][d] != b[q][d]} for q, docs in a.items()}
    n = sum(map(len, settled.values()))
    ana, ben, cho = said_by("ana", a), said_by("ben", b), said_by("cho", settled, adjudicates=True)
    before = agreement(Labels([*ana, *ben]))
    for last in (cho, said_by("ana", settled, adjudicates=True)):  # also one of the judges may adjudicate
        found = agreement(Labels([*ana, *ben, *last]))
        assert [one.name for one in found.sets] == ["ana", "ben"]
        assert found.pairs == before.pairs
        assert [(note.key, note.parameters["n"]) for note in found.notes] == [("agreement.adjudicated", n)]
        assert found.to_dict()["adjudicated"] == n
    # `testset adjudicate` writes into the first of several files of labels.
    for name, labels in {"ana": [*ana, *cho], "ben": ben, "all": [*ana, *ben, *cho], "cho": cho}.items():
        save_labels(Labels(labels), tmp_path / f"{name}.jsonl")
    apart = agreement([tmp_path / "ana.jsonl", tmp_path / "ben.jsonl"])
    assert apart.pairs == before.pairs
    assert [note.key for note in apart.notes] == ["agreement.adjudicated"]
    shown = run_command("testset", "agreement", tmp_path / "all.jsonl").stdout
    assert f"{n} labels that adjudicate left out" in " ".join(shown.split())
    assert "cho" not in shown
    # Both judges as one set: there the adjudication is the grade.
    final = {q: {**docs, **settled[q]} for q, docs in a.items()}
    combined = agreement({"people": tmp_path / "all.jsonl", "model": model})
    assert combined.pairs[0].kappa == agreement({"people": final, "model": model}).pairs[0].kappa
    assert [(note.key, note.parameters["n"]) for note in combined.notes] == [("agreement.combined", 2)]
    with pytest.raises(RankgaugeError, match="all of its labels adjudicate"):
        agreement([tmp_path / "ben.jsonl", tmp_path / "cho.jsonl"])
    with pytest.raises(RankgaugeError, match="only 'ana' gave them beside those that adjudicate"):
        agreement(Labels([*ana, *cho]))


def test_one_judge_name_of_two_kinds_is_two_judges() -> None:
    labels = [Label("q", f"d{i}", i % 2, "x", kind) for i in range(6) for kind in ("model", "person")]
    found = agreement(Labels(labels))
    assert [one.name for one in found.sets] == ["x (person)", "x (model)"]
    assert found.pairs[0].kappa.value == 1


def test_what_agreement_cannot_be_told_of() -> None:
    ones = {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 1}}
    found = agreement({"a": ones, "b": ones})
    assert found.lead.key == "agreement.lead_constant"
    assert found.pairs[0].specificity is None
    single = agreement({"a": {"q": {"d1": 0, "d2": 1, "d3": 1}}, "b": {"q": {"d1": 0, "d2": 1, "d3": 0}}})
    assert single.lead.key == "agreement.lead_no_interval"
    assert [note.key for note in single.notes] == ["agreement.one_query"]
    binary = {f"q{i}": {"d1": 0, "d2": 1} for i in range(5)}
    graded = {q: {"d1": 0, "d2": 3} for q in binary}
    other = agreement({"a": binary, "b": graded})
    assert [note.key for note in other.notes if note.level == "warning"] == ["agreement.other_scale"]
    known = agreement({"a": binary, "b": graded}, scale=(0, 3))
    assert known.outside == {"a": 0, "b": 0}
    assert known.pairs[0].sensitivity is not None
    assert known.pairs[0].sensitivity.value == 1
    half = agreement({"a": graded, "b": {q: {"d1": 0, "d2": 2.5} for q in binary}})
    assert half.outside["b"] == 5, "only whole grades are grades where the reference has no others"


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ({"a": {"q": {"d": 1}}, "b": {"q": {"e": 1}}}, {}, "labelled no pair in common"),
        ({"a": {"q": {"d": 1}}, "b": {"q": {}}}, {}, "b: it holds no labels"),
        ({"a": {"q": {"d": 1}}}, {}, "nothing to agree with"),
        ({}, {}, "there are no labels"),
        (Labels([Label("q", "d", 1, "ana")]), {}, "labels of two judges or more are needed, and only 'ana' gave them"),
        (Labels([]), {}, "it holds none"),
        ({"a": {"q": {"d": float("nan")}}, "b": {"q": {"d": 1}}}, {}, "finite number"),
        ({"a": {"q": {"d": 1}}, "b": {"q": {"d": 7}}}, {}, "b: no label lies between 0 and 1"),
        ({"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}}, {"scale": (3, 0)}, "the least grade must lie below"),
        ({"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}}, {"scale": "0-3"}, "must be the least and the highest"),
        ({"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}}, {"runs": {"x": {"q": ["d"]}}}, "give 2 runs or more"),
        (
            {name: {"q": {f"d{i}": i / 100 for i in range(99)}} for name in "ab"},
            {},
            "there are 99 different grades, which look like scores",
        ),
        (["nowhere", "nowhere"], {}, "there is no such file"),
        (
            {"a": {"q": {"d": 1}}, "b": {"q": {"d": 1}}},
            {"runs": {"x": {"q": ["e"]}, "y": {"q": ["f"]}}},
            "no run returned a labelled document",
        ),
    ],
)
def test_mistakes(given: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        agreement(given, **options)


def test_the_command(tmp_path: Path) -> None:
    people = {f"q{i}": {"d1": 1, "d2": 0} for i in range(12)}
    for name, relevant in (("people", "d1"), ("model", "d2")):
        lines = (f"{q} 0 {d} {int(d == relevant)}\n" for q, docs in people.items() for d in docs)
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    for name, order in (("a", ("d2", "d1")), ("b", ("d1", "d2"))):
        lines = (f"{q} Q0 {d} {i} {5 - i} {name}\n" for q in people for i, d in enumerate(order))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [f"{name}={tmp_path / f'{name}.txt'}" for name in ("people", "model")]
    runs = [word for name in "ab" for word in ("--run", tmp_path / f"{name}.run")]
    done = run_command("testset", "agreement", *files, *runs, "-m", "RR", status=1)
    assert "better (+0.5000)" in done.stdout
    assert "worse (−0.5000)" in done.stdout
    assert run_command("testset", "agreement", *files, "--lang", "zh", "--details").status == 0
    for language in ("en", "zh"):  # the remedy by the name of the option
        (tmp_path / "two.txt").write_text("".join(f"q{i} 0 d1 {1 + (i == 0)}\n" for i in range(30)))
        (tmp_path / "one.txt").write_text("".join(f"q{i} 0 d1 {i % 2}\n" for i in range(30)))
        command = ("testset", "agreement", tmp_path / "one.txt", tmp_path / "two.txt", "--lang", language)
        assert "--scale" in run_command(*command).stdout
    wrong = run_command("testset", "agreement", *files, "--scale", "x", status=2)
    assert "write the least and the highest grade" in wrong.stderr
    alone = run_command("testset", "agreement", files[0], status=2)
    assert "give two or more" in alone.stderr
    (tmp_path / "empty.jsonl").write_text("")
    assert run_command("testset", "agreement", files[0], tmp_path / "empty.jsonl", status=2).stderr


def test_names_with_controls_are_shown_spelled_out() -> None:
    grades = {"q": {"d1": 0, "d2": 1}, "r": {"d": 1}}
    found = agreement({"a\x1b[2J": grades, "b\n": {"q": {"d1": 0}, "r": {"d": 1}}})
    from rankgauge.reports import report
    from rankgauge.reports.agreement import agreement_report

    shown = report(agreement_report(found), format="terminal")
    assert "\x1b" not in shown
