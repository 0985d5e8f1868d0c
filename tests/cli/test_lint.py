"""`rankgauge testset lint` as a user meets it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from rankgauge import Query, TestSet, load_testset
from rankgauge.formats.pool import load_pool
from rankgauge.reports.tables import width_of
from tests.cli.command import Done, run_command

CORPUS = {
    "d1": "Hold the power button for ten seconds until the light turns green, then let it go.",
    "d2": "Refunds take five working days from the day the parcel arrives at our warehouse.",
    "d3": "Hold the power button for ten seconds until the light  turns green, then let it go.",
    "d4": "Hold the power button for ten seconds until the light turns green, then let go of it, if you can.",
}
QUERIES = [
    Query("how do I reset it", {"d1": 2, "d2": 0}, "q1", tags=("device", "multi-hop")),
    Query("when do I get my money back", {"d2": 1, "d1": 0}, "q2", tags=("money",)),
    Query("When do I get my money back?", {"d2": 1, "d4": 0}, "q3"),
    Query("how do I reset this", {"d1": 2, "gone": 1, " d2": 1}, "q4", tags=("unanswerable",)),
    Query("a query that nobody ever judged a document for", {"d2": 0}, "q5"),
    Query("..", {"d1": 1}, "q6"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    TestSet(QUERIES).save(tmp_path / "tests.json")
    TestSet(QUERIES[1:2]).save(tmp_path / "tuning.json")
    lines = [json.dumps({"_id": doc, "text": text}) for doc, text in CORPUS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 2.0 bm25\nq2 Q0 d2 1 2.0 bm25\n")
    (tmp_path / "dense.run").write_text("q1 Q0 d2 1 2.0 dense\nq2 Q0 d2 1 2.0 dense\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def lint(*arguments: object, status: int = 1) -> Done:
    return run_command("testset", "lint", "tests.json", *arguments, status=status)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_worst_fits_one_screen(folder: Path, language: str) -> None:
    everything = ("--corpus", "corpus.jsonl", "bm25.run", "dense.run", "--against", "tuning.json", "--lang", language)
    shown = lint(*everything).stdout.splitlines()
    assert len(shown) <= 25
    assert all(width_of(line) <= 80 for line in shown)
    whole = lint(*everything, "--details").stdout
    assert all(width_of(line) <= 80 for line in whole.splitlines())
    assert len(whole.splitlines()) > 40
    assert "`" not in whole


def test_json_holds_every_place(folder: Path) -> None:
    found = json.loads(lint("--json", "--corpus", "corpus.jsonl").stdout)
    assert (found["format"], found["version"], found["queries"]) == ("rankgauge.lint", 1, 6)
    kinds = {one["kind"]: one for one in found["findings"]}
    assert kinds["copied_documents"]["items"][0] == {"query": "q1", "doc": "d1", "copy": "d3", "grade": 2}
    assert kinds["missing_documents"]["command"] == "rankgauge testset drift tests.json --corpus corpus.jsonl"
    assert kinds["missing_documents"]["items"] == [{"query": "q4", "doc": "gone"}]
    assert kinds["respelled_ids"]["items"] == [{"query": "q4", "doc": " d2", "there": "d2"}]
    assert {one["check"] for one in found["not_made"]} >= {"leakage", "coverage", "labels"}
    severities = [one["severity"] for one in found["findings"]]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)


def test_every_command_runs(folder: Path) -> None:
    """As it stands there, pasted into a shell."""
    made = Query("when is the money back", {"d2": 1}, "q7", synthetic="llm:gpt-4o")
    TestSet([*QUERIES, made]).save("tests.json")
    labels = [("q2", "d2", 1, "gpt-4o"), ("q2", "d2", 0, "gpt-4o-mini"), ("q2", "d1", 9, "gpt-4o-mini")]
    labels.append(("q99", "d1", 1, "gpt-4o"))
    told = [{"query": q, "doc": d, "grade": g, "judge": j, "kind": "model"} for q, d, g, j in labels]
    Path("labels.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    inputs = ("--corpus", "corpus.jsonl", "--labels", "labels.jsonl", "--against", "tuning.json", "--difference", "0.1")
    inputs += ("--scale", "0", "3", "--probe", "judged.json")
    figures = {"equal": 0.0, "raised": 1.0, "to_highest": 1.0, "shift": 3.0}
    own = [{"kind": "repeat", "n": 50, **dict.fromkeys(figures, 0.0)}, {"kind": "order", "n": 50, **figures}]
    judges = [{"judge": "gpt-4o", "probe": {"judge": "gpt-4o", "figures": own, "stopped": ""}}, {"probe": None}]
    Path("judged.json").write_text(json.dumps({"format": "rankgauge.judging", "judges": judges}))
    found = json.loads(lint("bm25.run", "dense.run", *inputs, "--json").stdout)["findings"]
    found += json.loads(lint("bm25.run", "dense.run", "--only", "size", "--json", status=0).stdout)["findings"]
    commands = {one["kind"]: one["command"] for one in found if one["command"]}
    wanted = {"missing_documents", "copied_documents", "repeated_queries", "leaked_queries", "saturated"}
    wanted |= {"label_out_of_scale", "labels_of_others", "obeys_documents", "resolution"}
    assert wanted | {"too_few", "one_family", "judges_itself", "conflicting_labels", "no_relevant"} <= set(commands)
    for command in [part.strip() for text in commands.values() for part in re.split("&&|;", text)]:
        if "split all.json" not in command:
            assert run_command(*shlex.split(command)[1:], status=None).status in (0, 1), command
    run_command("testset", "split", "all.json", "--tune", "tune.json", "--test", "test.json")
    left = run_command("testset", "lint", "test.json", "--against", "tune.json", "--only", "leakage")
    assert left.stdout.startswith("Nothing found")


def test_the_remedy_of_documents_without_text_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TestSet([Query("where is the harbour", {"full": 1, "bare": 1}, "q")]).save("tests.json")
    Path("corpus.jsonl").write_text('{"_id": "full", "text": "by the sea"}\n{"_id": "bare", "text": ""}\n')
    told = json.loads(lint("--corpus", "corpus.jsonl", "--only", "empty-documents", "--json", status=0).stdout)
    (found,) = told["findings"]
    done = run_command(*shlex.split(found["command"])[1:], status=1)
    assert "without text" in done.stdout
    assert "'bare'" in done.stdout
    run_command(*shlex.split(found["command"])[1:], "--mend", "-o", "mended.json", status=1)


def test_queries_that_nothing_answers_send_to_their_labels(folder: Path) -> None:
    told = lint("bm25.run", "dense.run", "--corpus", "corpus.jsonl", "--only", "saturation", status=0).stdout
    assert "look at their labels first" in " ".join(told.split())
    assert "drift" not in told


def test_queries_are_left_out_by_the_command_that_is_told(folder: Path) -> None:
    near = Query("how do I reset it please", {"d1": 2}, "q8")
    odd = [Query("x", {"d1": 1}, "q9"), Query("what does d2 say", {"d2": 1}, "q10")]
    TestSet([*QUERIES, near, *odd]).save("tests.json")
    found = {one["kind"]: one for one in json.loads(lint("--corpus", "corpus.jsonl", "--json").stdout)["findings"]}
    command = "rankgauge testset lint tests.json --corpus corpus.jsonl --only {} --drop -o kept.json"
    assert found["near_queries"]["command"] == command.format("near-queries")
    for kind, gone in (("near_queries", {"q4", "q8"}), ("no_relevant", {"q5"}), ("tiny_query", {"q9"})):
        told = run_command(*shlex.split(found[kind]["command"])[1:], "--details", status=None)
        assert {query.id for query in load_testset("tests.json")} - {
            query.id for query in load_testset("kept.json")
        } == gone
        assert f"query {min(gone)} is left out" in told.stdout
    left = run_command("testset", "lint", "kept.json", "--only", "query-texts", status=None)
    assert "single letter" not in left.stdout
    lint("--only", "near-queries", "--fail-on", "warning", "--drop", "-o", "kept.json", status=0)
    lint("--drop", status=2)
    lint("--drop", "--mend", "-o", "kept.json", status=2)


def test_a_scale_is_turned_round_by_the_command_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes = [Query(f"what is {i}", {f"d{i}-{g}": g for g in (1, 2, 4, -1)}, f"q{i}") for i in range(12)]
    TestSet(codes).save("tests.json")
    ranked = [f"q{i} Q0 d{i}-{g} {g} {9 - g} a\n" for i in range(12) for g in (1, 2, 4)]
    Path("a.run").write_text("".join(ranked))
    (found,) = json.loads(lint("a.run", "--only", "direction", "--json").stdout)["findings"]
    assert found["command"] == "rankgauge testset build tests.json --regrade 1=4,2=2,4=1 -o turned.json"
    run_command(*shlex.split(found["command"])[1:])
    turned = load_testset("turned.json")
    assert dict(turned[0].grades) == {"d0-1": 4, "d0-2": 2, "d0-4": 1, "d0--1": -1}
    below = json.loads(lint("--only", "scale", "--json", status=0).stdout)["findings"][-1]
    run_command(*shlex.split(below["command"])[1:])
    assert load_testset("graded.json")[0].grades["d0--1"] == 0
    again = run_command("testset", "lint", "turned.json", "a.run", "--only", "direction", "--only", "labels")
    assert again.stdout.startswith("Nothing found")  # a grade below 0 that the set has is no slip of its labels either
    TestSet(codes).qrels.save("codes.txt")
    Path("queries.tsv").write_text("".join(f"{query.id}\t{query.text}\n" for query in codes))
    words = ("codes.txt", "a.run", "--queries", "queries.tsv", "--only", "direction", "--json")
    (found,) = json.loads(run_command("testset", "lint", *words, status=1).stdout)["findings"]
    run_command(*shlex.split(found["command"])[1:])
    assert load_testset("turned.json")[0].text == codes[0].text  # judgments alone have no texts to ask
    for wrong in ("1", "1=2,1=3", "x=1", "1=", "1=nan", ""):
        run_command("testset", "build", "tests.json", "--regrade", wrong, status=2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ('{"format": "rankgauge.lint"}', "no result of judging"),
        ('{"format": "rankgauge.judging", "judges": [{"probe": {"judge": 7}}]}', "judges: "),
        ('{"format": "rankgauge.judging", "judges": [{"probe": null}]}', "no judge was probed"),
    ],
)
def test_probes_that_are_none(folder: Path, text: str, said: str) -> None:
    Path("judged.json").write_text(text)
    assert said in lint("--probe", "judged.json", status=2).stderr
    assert "--probe" in lint("--details", "--corpus", "corpus.jsonl").stdout


def test_what_fails_is_a_choice(folder: Path) -> None:
    assert lint("--only", "repeated-queries", status=0).stdout.startswith("0 errors, 1 warning")
    lint("--only", "repeated-queries", "--fail-on", "warning", status=1)
    lint("--corpus", "corpus.jsonl", "--fail-on", "never", status=0)
    done = lint("--only", "groups", status=0)
    assert done.stdout.startswith("Nothing found in 6 queries; 1 check made")
    assert lint("--only", "leakige", status=2).stderr.startswith(
        "rankgauge: unknown check of test sets 'leakige'; did you"
    )


def test_mending_writes_another_file(folder: Path) -> None:
    before = (folder / "tests.json").read_bytes()
    done = lint("--corpus", "corpus.jsonl", "--mend", "-o", "new.json", "--json")
    assert (folder / "tests.json").read_bytes() == before
    mended = json.loads(done.stdout)["mended"]
    assert [one["kind"] for one in mended] == [
        *("empty_query", "respelled_ids", "copied_documents", "copied_documents", "repeated_queries"),
    ]
    made = {query.id: query for query in load_testset("new.json")}
    assert list(made) == ["q1", "q2", "q4", "q5"]
    assert made["q4"].grades == {"d1": 2, "gone": 1, "d2": 1, "d3": 2}
    # What is left are the near-copy, the tags, the missing document: one of them is an error.
    assert "missing_documents" in {
        one["kind"] for one in json.loads(lint("--corpus", "corpus.jsonl", "--json").stdout)["findings"]
    }
    lint("--corpus", "corpus.jsonl", "--mend", "-o", "new.json", "--only", "copied-documents", status=0)
    shown = lint("--only", "repeated-queries", "--mend", "-o", "-", status=0)
    assert json.loads(shown.stdout)[0]["id"] == "q1"
    assert "Mended: 1 change" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--mend",), "--mend and --output go together"),
        (("-o", "x.json"), "--mend and --output go together"),
        (("--mend", "-o", "tests.json"), "tests.json is an input too"),
        (("--corpus", "nowhere.jsonl"), "there is no such file"),
        (("--scale", "3", "1"), "must lie below the highest"),
        (("--labels", "corpus.jsonl"), 'it has no "query"'),
        (("--queries", "corpus.jsonl"), "names none of the queries"),
        (("-m", "nGCD@10"), "did you mean"),
    ],
)
def test_mistakes_end_with_status_2(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in lint(*arguments, status=2).stderr


def test_names_with_controls_are_shown_harmless(folder: Path) -> None:
    TestSet([Query("reset \x1b[31m it", {"d1": 1}, "q\x1b[2J"), Query("reset \x1b[31m it", {"d1": 1}, "r\n")]).save(
        "tests.json"
    )
    for language in ("en", "zh"):
        shown = lint("--lang", language, "--details", status=0).stdout
        assert "\x1b" not in shown
        assert "q\\x1b[2J" in shown


def test_what_a_person_has_to_settle(folder: Path) -> None:
    """The pool holds the places, a label of a person mends them, and the finding is gone."""
    made = [Query("how do I reset it", {"d1": 7, "d2": 0}, "q1"), Query("where is my refund", {"d2": 1}, "q2")]
    TestSet(made).save("tests.json")
    (command,) = (one["command"] for one in json.loads(lint("--scale", "0", "3", "--json").stdout)["findings"]
                  if one["kind"] == "out_of_scale")  # fmt: skip
    first, label = command.split("; ")
    run_command(*shlex.split(first)[1:], status=1)
    assert [one.pair for one in load_pool("judge.jsonl")] == [("q1", "d1")]
    run_command(*shlex.split(label)[1:], stdin=b"3\n")
    run_command("testset", "build", "tests.json", "--labels", "people.jsonl", "-o", "settled.json")
    settled = {query.id: query.grades for query in load_testset("settled.json")}
    assert settled["q1"] == {"d1": 3, "d2": 0}
    assert lint("--only", "scale", "--scale", "0", "3", "--to-judge", "tests.json", status=2).stderr
