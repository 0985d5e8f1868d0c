"""`click_labels` and `rankgauge testset clicks`: the right model, grades and intervals that hold, refusals, remarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankgauge import ClickLabels, Query, RankgaugeError, TestSet, click_labels
from rankgauge.formats.labels import load_labels
from rankgauge.model.labels import LabelPolicy
from rankgauge.reports import report
from rankgauge.reports.click_labels import click_report
from rankgauge.words import LANGUAGES
from tests.cli.command import run_command

QUERIES, DOCS, DEPTH = 30, 10, 6


def attraction() -> np.ndarray:
    return np.random.default_rng(11).beta(1, 3, (QUERIES, DOCS))


def simulated(model: str, lists: int, seed: int = 0, *, fixed: bool = False) -> pl.DataFrame:
    """A row for each document of lists whose order varies, or never does."""
    rng = np.random.default_rng(seed)
    a = attraction()
    pleases = np.random.default_rng(12).beta(4, 2, (QUERIES, DOCS))
    query = rng.integers(0, QUERIES, lists)
    noise = np.zeros((lists, DOCS)) if fixed else rng.normal(0, 4, (lists, DOCS))
    doc = np.argsort(np.arange(DOCS) + noise, axis=1)[:, :DEPTH]
    attracts = rng.random(doc.shape) < a[query[:, None], doc]
    if model == "pbm":
        clicked = attracts & (rng.random(doc.shape) < 1 / np.arange(1, DEPTH + 1) ** 0.8)
    else:
        clicked, on = np.zeros_like(attracts), np.ones(lists, dtype=bool)
        for rank in range(DEPTH):
            clicked[:, rank] = on & attracts[:, rank]
            pleased = rng.random(lists) < (1 if model == "cascade" else pleases[query, doc[:, rank]])
            on &= ~(clicked[:, rank] & pleased) & ((rng.random(lists) < 0.9) | (model == "cascade"))
    return pl.DataFrame(
        {
            "list": np.repeat(np.arange(lists), DEPTH),
            "query": [f"query {one}" for one in np.repeat(query, DEPTH)],
            "doc": [f"d{one}" for one in doc.ravel()],
            "position": np.tile(np.arange(1, DEPTH + 1), lists),
            "clicked": clicked.ravel(),
        }
    )


@pytest.fixture(scope="module")
def log() -> pl.DataFrame:
    return simulated("pbm", 6000)


@pytest.fixture(scope="module")
def found(log: pl.DataFrame) -> ClickLabels:
    return click_labels(log)


def grade_of(relevance: float) -> int:
    return int(np.argmin([abs(np.log2(1 + 8 * relevance) - grade) for grade in range(4)]))


def test_grades_and_their_intervals(found: ClickLabels) -> None:
    assert found.model == "pbm"
    assert found.informative
    truth = {(f"query {q}", f"d{d}"): value for (q, d), value in np.ndenumerate(attraction())}
    right = [label.low <= grade_of(truth[label.pair]) <= label.high for label in found.labels]
    assert np.mean(right) > 0.94
    grades = np.array([label.grade for label in found.labels])
    best = np.array([grade_of(truth[label.pair]) for label in found.labels])
    assert np.mean(np.abs(grades - best)) < 0.25
    assert np.corrcoef(grades, best)[0, 1] > 0.8
    assert {label.kind for label in found.labels} == {"clicks"}
    assert {label.judge for label in found.labels} == {"clicks-pbm"}
    assert found.labels[0].rubric == "relevance>=0.05178,0.2286,0.5821"
    assert sum(found.grades.values()) == len(found.labels)
    assert found.labels.grades(LabelPolicy())["query 1"]


@pytest.mark.parametrize("model", ["cascade", "dbn"])
def test_the_model_that_made_the_clicks_is_chosen(model: str) -> None:
    made = click_labels(simulated(model, 5000, seed=4))
    assert made.model == model
    assert [one.model for one in made.tried][-1] == "rank"
    assert [one.perplexity for one in made.tried[:-1]] == sorted(one.perplexity for one in made.tried[:-1])
    assert all(len(one.by_rank) == DEPTH for one in made.tried)


@pytest.mark.parametrize("model", ["pbm", "cascade", "dbn", "coec"])
def test_every_model_orders_documents(model: str, log: pl.DataFrame) -> None:
    made = click_labels(log, model=model, scale=10)
    truth = {(f"query {q}", f"d{d}"): value for (q, d), value in np.ndenumerate(attraction())}
    given = [truth[label.pair] for label in made.labels]
    assert np.corrcoef([label.grade for label in made.labels], given)[0, 1] > 0.7


def test_the_same_log_gives_the_same_labels(log: pl.DataFrame, found: ClickLabels) -> None:
    again = click_labels(log)
    assert again.labels == found.labels
    assert again.tried == found.tried
    turned = log.with_columns(place=pl.col("list").hash()).sort("place", "position", descending=[False, True])
    assert {(label.pair, label.grade) for label in click_labels(turned, model="pbm").labels} == {
        (label.pair, label.grade) for label in found.labels
    }


def test_pairs_that_were_shown_too_rarely_get_no_label(log: pl.DataFrame) -> None:
    few = log.head(3000)
    all_ = click_labels(few, model="pbm", least_impressions=1)
    some = click_labels(few, model="pbm", least_impressions=15)
    shown = {(q, d): n for q, d, n in few.group_by("query", "doc").len().iter_rows()}
    assert all_.refused == 0
    assert {label.pair for label in all_.labels} == set(shown)
    assert {label.pair for label in some.labels} == {pair for pair, n in shown.items() if n >= 15}
    assert some.refused + len(some.labels) == some.pairs == len(shown)
    assert some.open_labels <= all_.open_labels
    none = click_labels(few, least_impressions=10**6)
    assert not none.labels
    assert next(note.key for note in none.notes) == "clicks.no_labels"


def test_where_grades_begin(log: pl.DataFrame) -> None:
    equal = click_labels(log, cuts="quantiles", model="pbm", scale=4)
    assert max(equal.grades.values()) - min(equal.grades.values()) <= 2
    own = click_labels(log, cuts=(0.9,), scale=1, model="pbm")
    assert own.cuts == (0.9,)
    assert any(note.key == "clicks.one_grade" for note in own.notes)
    fine = click_labels(log, model="pbm", scale=1)
    assert fine.cuts == pytest.approx(((2**0.5 - 1) / 2,))


def test_labels_of_a_test_set(log: pl.DataFrame) -> None:
    a = attraction()
    known = TestSet(
        [
            Query("Query  0", {f"d{d}": int(a[0, d] > 0.25) for d in range(DOCS)}, id="first"),
            Query("something else", {"d1": 1}, id="query 1"),
            Query("never asked", {"d1": 1}, id="third"),
        ]
    )
    made = click_labels(log, test_set=known, model="pbm")
    assert {label.query for label in made.labels} == {"first", "query 1"}
    assert made.unknown_queries == QUERIES - 2
    assert made.unlabelled_queries == 1
    assert made.agreement is not None
    assert made.agreement.queries == 1
    assert made.agreement.pairs == 11
    assert made.agreement.tau is not None
    assert made.agreement.tau > 0.5
    assert click_labels(log, test_set=TestSet([Query("x", {})]), model="pbm").agreement is None


def test_positions_that_never_vary() -> None:
    """Then nothing tells position and relevance apart; what does not need it is chosen."""
    fixed = simulated("pbm", 2000, fixed=True)
    made = click_labels(fixed)
    assert made.model != "pbm"
    assert "pbm" not in {one.model for one in made.tried}
    assert made.positions.apart == tuple(range(2, DEPTH + 1))
    keys = {note.key for note in made.notes}
    assert keys & {"clicks.pbm_left_out", "clicks.not_identified"}
    forced = click_labels(fixed, model="pbm")
    assert "clicks.not_identified" in {note.key for note in forced.notes if note.level == "warning"}


def test_it_is_told_why_another_model_than_the_best_was_taken() -> None:
    """The star stands beside the best one, or there is a line that says why it does not."""
    log, told = simulated("pbm", 300), {}
    for seed in range(2):
        made = click_labels(log, seed=seed)
        shown = report(click_report(made), format="terminal")
        told[made.model == made.tried[0].model] = "was used: the simplest" in shown
    assert told == {True: False, False: True}


def test_clicks_at_random_are_called_so() -> None:
    log = simulated("pbm", 3000)
    noise = np.random.default_rng(1).random(len(log)) < 0.2 / log["position"].to_numpy()
    made = click_labels(log.with_columns(clicked=pl.Series(noise)))
    assert made.informative is False or made.open_labels == 0
    keys = {note.key for note in made.notes}
    assert "clicks.uninformative" in keys or "clicks.one_grade" in keys
    shown = report(click_report(made), format="terminal")
    assert shown.splitlines()[1].startswith("warning: held-out clicks")
    assert shown.count("held-out clicks are not predicted") == 1


def test_counts_know_no_lists(log: pl.DataFrame) -> None:
    counted = log.group_by("query", "doc", "position").agg(
        pl.len().alias("impressions"), pl.col("clicked").sum().alias("clicks")
    )
    made, whole = click_labels(counted, model="pbm"), click_labels(log, model="pbm")
    assert made.lists is None
    assert {(label.pair, label.grade, label.low) for label in made.labels} == {
        (label.pair, label.grade, label.low) for label in whole.labels
    }
    assert {one.model for one in made.tried} == {"pbm", "coec", "rank"}
    with pytest.raises(RankgaugeError, match="needs to know what was shown together"):
        click_labels(counted, model="dbn")


def test_one_query_one_list_no_click() -> None:
    rows = [{"list": "a", "query": "q", "doc": doc, "clicked": 0} for doc in "xyz"]
    made = click_labels(rows, least_impressions=1)
    assert made.model == "coec"
    assert made.tried == []
    assert made.informative is None
    assert {(label.low, label.high) for label in made.labels} == {(0, 3)}
    more = [{**row, "list": f"list {number}"} for number in range(15) for row in rows]
    assert [label.grade for label in click_labels(more).labels] == [0, 0, 0]
    one = click_labels(rows[:1], least_impressions=1)
    assert len(one.labels) == 1


def test_relevant_without_a_click_is_told() -> None:
    """Documents that were hardly shown are drawn towards the mean, whose grade counts as relevant."""
    rows = [
        {"list": f"{q} {number}", "query": q, "doc": doc, "clicked": int(doc == f"d{number}")}
        for q in ("q1", "q2")
        for number in range(3)
        for doc in (f"d{number}", f"x{number}", f"y{number}")
    ]
    made = click_labels(rows, least_impressions=1, model="coec")
    zero = [label for label in made.labels if "clicks=0" in label.reason]
    relevant = [label for label in zero if label.grade]
    assert (made.unclicked, made.unclicked_relevant) == (len(zero), len(relevant)) == (12, 12)
    note = next(note for note in made.notes if note.key == "clicks.unclicked_relevant")
    assert note.parameters == {"n": 12, "unclicked": 12}
    assert made.to_dict()["unclicked_relevant"] == 12
    often = [{**row, "list": f"{row['list']} {again}", "clicked": 0} for again in range(40) for row in rows[:9]]
    seldom = click_labels([*rows[:9], *often], model="coec")
    assert seldom.unclicked_relevant == 0
    assert "clicks.unclicked_relevant" not in {note.key for note in seldom.notes}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"model": "best"}, "`model='best'` is none of auto, pbm, cascade, dbn, coec"),
        ({"scale": 0}, "`scale=0` must be a whole number from 1 to 20"),
        ({"least_impressions": 0}, "`least_impressions=0` must be a whole number from 1 to 1000000000"),
        ({"cuts": (0.5, 0.2, 0.7)}, "rising numbers between 0 and 1"),
        ({"cuts": (0.5,)}, "`cuts=` has 1 numbers"),
        ({"cuts": "thirds"}, "or 'quantiles'"),
        ({"least_dwell": -1}, "`least_dwell=-1` must be a number of seconds"),
        ({"most_per_session": True}, "`most_per_session=True`"),
        ({"test_set": 7}, "`test_set` must be a TestSet"),
        ({"format": "xml"}, "`format='xml'` is none of csv"),
        ({"colums": {}}, "did you mean columns"),
        ({"log": 7}, "`log` is a int"),
        ({"log": []}, "holds no clicks"),
    ],
)
def test_arguments_that_cannot_be(arguments: dict[str, Any], said: str) -> None:
    rows = [{"list": "a", "query": "q", "doc": "d", "clicked": 0}]
    with pytest.raises(RankgaugeError, match=said.replace("(", r"\(")):
        click_labels(**{"log": rows, **arguments})


# The command line


@pytest.fixture(scope="module")
def path(log: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clicks") / "log.csv"
    log.head(12_000).write_csv(path)
    return path


def test_the_command(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "labels.jsonl"
    for language in LANGUAGES:
        done = run_command("testset", "clicks", path, "--model", "pbm", "-o", target, "--lang", language)
        assert done.stdout.count("\n") <= 25
    assert "pbm (position-based) *" in run_command("testset", "clicks", path, "--model", "pbm").stdout
    saved = load_labels(target)
    assert saved == click_labels(path, model="pbm").labels
    data = json.loads(run_command("testset", "clicks", path, "--json", "--model", "pbm").stdout)
    assert data["labels"] == len(saved)
    assert data["model"] == "pbm"
    done = run_command("testset", "clicks", path, "-o", "-", "--model", "coec")
    assert json.loads(done.stdout.splitlines()[0])["judge"] == "clicks-coec"
    assert "coec (over expected) *" in done.stderr


def test_the_exit_status(path: Path, tmp_path: Path) -> None:
    done = run_command("testset", "clicks", path, "--least-impressions", "1000000", status=1)
    assert "--least-impressions" in done.stdout
    assert "there is no such file" in run_command("testset", "clicks", tmp_path / "no", status=2).stderr
    (tmp_path / "empty").touch()
    assert "the file is empty" in run_command("testset", "clicks", tmp_path / "empty", status=2).stderr
    assert "is an input too" in run_command("testset", "clicks", path, "-o", path, status=2).stderr
    assert "--columns" in run_command("testset", "clicks", path, "--columns", "doc", status=2).stderr
    assert "0.05,0.2,0.5" in run_command("testset", "clicks", path, "--cuts", "a,b", status=2).stderr
    assert "--cuts" in run_command("testset", "clicks", path, "--cuts", "0.1,0.2", status=2).stderr
    assert "--scale 99" in run_command("testset", "clicks", path, "--scale", "99", status=2).stderr


def test_no_next_step_with_labels_that_say_little(path: Path, tmp_path: Path) -> None:
    target, source = tmp_path / "labels.jsonl", tmp_path / "noise.csv"
    assert "Next: " in run_command("testset", "clicks", path, "-o", target).stderr
    log = simulated("pbm", 3000)
    noise = np.random.default_rng(1).random(len(log)) < 0.2 / log["position"].to_numpy()
    log.with_columns(clicked=pl.Series(noise).cast(pl.Int8)).write_csv(source)
    done = run_command("testset", "clicks", source, "-o", target, status=1)
    assert "these labels say little about relevance" in " ".join(done.stdout.split())
    assert done.stderr == f"wrote {target}\n"


def test_standard_input_and_columns(path: Path) -> None:
    data = path.read_bytes().replace(b"list,query,doc,position,clicked", b"l,was,ding,wo,ja", 1)
    named = ("list=l", "query=was", "doc=ding", "rank=wo", "clicked=ja")
    given = [word for pair in named for word in ("--columns", pair)]
    done = run_command("testset", "clicks", "-", *given, "--model", "pbm", "--json", stdin=data)
    assert json.loads(done.stdout)["impressions"] == 12_000
