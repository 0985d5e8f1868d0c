"""The commands of `rankgauge testset` that build, cut, merge and compare test sets, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge import Label, Labels, Query, TestSet, load_pool, save_labels
from tests.cli.command import run_command

QUERIES = [Query(f"how to do thing {i}", {f"d{i}": 1, "x": 0}, f"q{i}", ("odd",) if i % 2 else ()) for i in range(12)]
LABELS = Labels([Label("q1", "d1", 0, "ana"), Label("q1", "d1", 2, "bo"), Label("q2", "y", 1, "gpt", "model")])


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TestSet(QUERIES).save("set.json")
    save_labels(LABELS, "labels.jsonl")
    Path("sheet.csv").write_text("query,doc,grade,judge\nq3,d3,2,ana\nq99,d1,1,ana\n")
    for name in ("a", "b"):
        lists = {query.id: {f"d{i}": 3.0, f"{name}{i}": 2.0, "x": 1.0} for i, query in enumerate(QUERIES)}
        Path(f"{name}.json").write_text(json.dumps(lists))


def told(*words: object, status: int = 0) -> dict[str, object]:
    found: dict[str, object] = json.loads(run_command("testset", *words, "--json", status=status).stdout)
    return found


def test_build_show_diff() -> None:
    done = run_command("testset", "build", "set.json", "--labels", "labels.jsonl", "-o", "built.json")
    told_of = " ".join(done.stdout.split())
    assert "1 document with labels that contradict each other" in told_of
    assert "takes the lower of two grades that equally many labels give" in told_of
    assert "rankgauge testset adjudicate TESTSET --labels FILE" in told_of
    assert done.stderr == "wrote built.json\n"
    made = TestSet.load("built.json")
    assert made[1].grades["d1"] == 0
    people = {("person", "ana"): 1, ("person", "bo"): 1}
    assert made.labels.sources == {("import", "set.json"): 24, **people, ("model", "gpt"): 1}
    words = ("testset", "build", "built.json", "--policy", "people-first+highest", "-o", "other.json")
    said = run_command(*words, "--lang", "zh").stdout
    assert "仲裁" in said
    assert "票数相同" not in said  # a tie is a matter of majorities alone
    assert TestSet.load("other.json")[1].grades["d1"] == 2
    assert TestSet.load("other.json").labels == made.labels
    found = told("show", "other.json")
    assert found["policy"] == {"prefer": ["person", "model", "clicks", "import"], "combine": "highest"}
    assert found["version"] == TestSet.load("other.json").version
    done = run_command("testset", "diff", "built.json", "other.json", status=1)
    assert "1 grade changed" in done.stdout
    assert "bo (person)" in done.stdout
    assert "the policy is another one" in done.stdout
    assert run_command("testset", "diff", "built.json", "built.json").stdout == "both say the same\n"


def test_labels_of_other_queries() -> None:
    done = run_command("testset", "build", "set.json", "--labels", "sheet.csv", status=2)
    assert "sheet.csv: there are labels of query 'q99'" in done.stderr
    assert "--skip-unknown" in done.stderr
    found = told("build", "set.json", "--labels", "sheet.csv", "--skip-unknown", "-o", "built.json")
    assert found["skipped_labels"] == 1
    assert TestSet.load("built.json")[3].grades["d3"] == 2


def test_labels_on_another_scale_than_imports() -> None:
    TestSet([Query("towels", {"d1": 100, "d2": 0}, "q1")]).save("fine.json")
    save_labels(Labels([Label("q1", "d1", 3, "ana")]), "few.jsonl")
    words = ("testset", "build", "fine.json", "--labels", "few.jsonl")
    assert "imported grades go up to 100, other labels only up to 3" in " ".join(run_command(*words).stdout.split())
    assert "--regrade" in run_command(*words).stdout
    assert "导入的等级最高为 100" in run_command(*words, "--lang", "zh").stdout
    assert "imported grades" not in run_command(*words, "--regrade", "100=3").stdout


def test_merged_scales() -> None:
    TestSet([Query("towels", {"d1": 100, "d2": 0}, "z1")]).save("fine.json")
    words = ("testset", "merge", "set.json", "fine.json")
    said = " ".join(run_command(*words).stdout.split())
    assert "the grades of 'fine.json' go up to 100, those of 'set.json' only up to 1" in said
    assert "'fine.json' 的等级最高为 100" in run_command(*words, "--lang", "zh").stdout
    assert "go up to" not in run_command("testset", "merge", "set.json", "set.json").stdout


def test_queries_alone() -> None:
    Path("queries.tsv").write_text("q1\treset password\nq2\tbilling\n")
    save_labels(Labels([Label("q1", "d1", 1, "ana")]), "few.jsonl")
    run_command("testset", "build", "queries.tsv", "--from", "queries", "--labels", "few.jsonl", "-o", "built.json")
    assert [dict(query.grades) for query in TestSet.load("built.json")] == [{"d1": 1}, {}]


def test_texts_of_judgments_alone() -> None:
    """What is built of judgments and texts can be run."""
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 2\n")
    Path("queries.tsv").write_text("q1\treset password\nq2\tbilling\n")
    words = ("testset", "build", "qrels.txt", "--queries", "queries.tsv")
    run_command(*words, "--regrade", "1=2,2=1", "-o", "built.json")
    built = TestSet.load("built.json")
    assert [query.text for query in built] == ["reset password", "billing"]
    assert [dict(query.grades) for query in built] == [{"d1": 2}, {"d2": 1}]
    Path("queries.tsv").write_text("7\treset password\n")
    assert "names none of the queries" in run_command(*words, status=2).stderr
    assert "is an input too" in run_command(*words, "-o", "queries.tsv", status=2).stderr


def test_merge() -> None:
    Path("log.csv").write_text("query,result_count\nnew thing,0\nnew thing,0\nHow to do thing 1?,0\n")
    found = told("candidates", "log.csv", "--testset", "set.json", "-o", "new.json")
    assert found["known"] == 1
    done = run_command("testset", "merge", "set.json", "new.json", status=2)
    assert "1 query has no label yet" in done.stderr
    assert "--unreviewed" in done.stderr
    done = run_command("testset", "merge", "set.json", "new.json", "--unreviewed", "-o", "all.json")
    assert "1 query joined; 0 were known already" in done.stdout
    assert len(TestSet.load("all.json")) == 13
    second = [Query("how to do thing 1", {"d1": 2}, "q1"), Query("How to do thing 2", {"d": 1}, "other")]
    TestSet(second).save("b2.json")
    done = run_command("testset", "merge", "set.json", "b2.json", status=2)
    assert "document 'd1' has the grades 1 and 2" in done.stderr
    assert "--conflicts first" in done.stderr
    done = run_command(
        "testset", "merge", "set.json", "b2.json", "--conflicts", "labels", "--policy", "highest", "-o", "m.json"
    )
    assert "asks the same as one with another id" in done.stdout
    assert TestSet.load("m.json")[1].grades["d1"] == 2
    assert run_command("testset", "merge", "set.json", status=2).stderr.endswith("give two test sets or more\n")


def test_split_and_sample() -> None:
    run_command("testset", "split", "set.json", "--tune", "t1.json", "--test", "t2.json", "--by", "tag")
    parts = [TestSet.load(path) for path in ("t1.json", "t2.json")]
    assert sorted(query.id for part in parts for query in part) == sorted(query.id for query in QUERIES)
    found = told(
        *("split", "set.json", "--tune", "t1.json", "--test", "t2.json"),
        *("--by", "difficulty", "--run", "a.json", "--measure", "RR", "--share", "0.25"),
    )
    assert found["tune"] == [query.id for query in TestSet.load("t1.json")]
    words = ("split", "set.json", "--tune", "t1.json", "--test")
    assert "give --run" in run_command("testset", *words, "t2.json", "--by", "difficulty", status=2).stderr
    assert "both name" in run_command("testset", *words, "t1.json", status=2).stderr
    assert "is an input too" in run_command("testset", *words, "set.json", status=2).stderr
    Path("log.csv").write_text("query,count\nhow to do thing 4,9\nhow to do thing 5,1\n")
    run_command("testset", "sample", "set.json", "-n", "2", "--weights", "log.csv", "-o", "few.json")
    assert {query.id for query in TestSet.load("few.json")} == {"q4", "q5"}
    Path("weights.json").write_text('{"q7": 1}')
    run_command("testset", "sample", "set.json", "-n", "1", "--weights", "weights.json", "-o", "few.json")
    assert [query.id for query in TestSet.load("few.json")] == ["q7"]
    done = run_command("testset", "sample", "set.json", "-n", "13", "-o", "few.json", status=2)
    assert "from 1 to 12" in done.stderr


def test_pool() -> None:
    done = run_command("testset", "pool", "a.json", "b.json", "--testset", "set.json", "-k", "3", "-o", "pool.jsonl")
    assert "24 documents of 12 queries to judge, from the first 3 of 2 systems" in done.stdout
    assert len(load_pool("pool.jsonl")) == 24
    found = told("pool", "a.json", "--testset", "set.json", "--labels", "labels.jsonl", "-o", "p.jsonl")
    assert (found["pairs"], found["judged"]) == (12, 24)


def test_candidates_in_both_languages() -> None:
    Path("log.csv").write_text("query,result_count,clicks\nnew thing,0,0\nother,3,0\nother,3,0\nclicked,3,1\n")
    done = run_command("testset", "candidates", "log.csv")
    assert "2 candidates among 3 queries of 4 searches" in done.stdout
    assert "rankgauge testset merge" in " ".join(done.stdout.split())
    assert "无点击" in run_command("testset", "candidates", "log.csv", "--lang", "zh").stdout
    found = told("candidates", "log.csv", "--reason", "no-results", "-n", "5")
    assert found["reasons"] == {"no-results": 1}
    assert "give a log" in run_command("testset", "candidates", status=2).stderr
    assert "no ROLE=NAME" in run_command("testset", "candidates", "log.csv", "--column", "text", status=2).stderr
    Path("odd.csv").write_text("phrase,n\nx,1\n")
    done = run_command("testset", "candidates", "odd.csv", status=2)
    assert "no column holds the queries" in done.stderr
    assert "wrote" not in run_command("testset", "candidates", "log.csv", "-o", "-").stderr


def test_default_outputs_fit_a_screen() -> None:
    """80 columns and 25 lines."""
    run_command("testset", "build", "set.json", "--labels", "labels.jsonl", "-o", "built.json")
    words = [("show", "built.json"), ("diff", "set.json", "built.json"), ("pool", "a.json", "b.json", "-o", "p.jsonl")]
    for command in words:
        for language in ("en", "zh"):
            done = run_command("testset", *command, "--lang", language, status=None)
            assert len(done.stdout.splitlines()) <= 25, command
