"""`rankgauge judge-next` as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from importlib.resources import files
from pathlib import Path

import pytest

from tests.cli.command import Done, run_command, run_process

EXAMPLE = Path(str(files("rankgauge") / "example"))
QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1, "d": 0}}
A = {"q1": ["a", "b", "x"], "q2": ["d", "c", "y"]}
B = {"q1": ["x", "a", "z"], "q2": ["c", "v", "w"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lists in (("qrels", QRELS), ("a", A), ("b", B)):
        (tmp_path / f"{name}.json").write_text(json.dumps(lists))
    queries = [
        {"id": query, "query": f"What about {query}? " + "really " * 20, "relevance_scores": grades}
        for query, grades in QRELS.items()
    ]
    for query in queries:
        query["relevant_docs"] = [doc for doc, grade in QRELS[str(query["id"])].items() if grade]
    (tmp_path / "testset.json").write_text(json.dumps({"queries": queries}))
    return tmp_path


def command(folder: Path, *arguments: object, qrels: str = "qrels.json", status: int = 0) -> Done:
    runs = (f"A={folder / 'a.json'}", f"B={folder / 'b.json'}")
    return run_command("judge-next", folder / qrels, *runs, *arguments, status=status)


def test_table(folder: Path) -> None:
    lines = command(folder, "-m", "DCG@3", "-n", "2").stdout.splitlines()
    assert lines[0].split("  ") == ["query", "document", "rank in A", "rank in B", "influence"]
    assert lines[2].split()[:3] == ["q2", "v", "2"]
    assert "2 of 5 unjudged documents are shown" in lines[-2]
    assert lines[-1] == "DCG@3, B - A: labels could turn the sign of the difference"
    assert [line.split()[:4] for line in lines if line.startswith("DCG@3 ")] == [["DCG@3", "B", "-", "A"]]


def test_chinese(folder: Path) -> None:
    done = command(folder, "-m", "DCG@3", "--lang", "zh")
    assert "A 中的名次" in done.stdout
    assert "共 5 个未标注文档" in done.stdout


def test_one_run(folder: Path) -> None:
    done = run_command("judge-next", folder / "qrels.json", f"B={folder / 'b.json'}", "-m", "P@3")
    assert "4 of 4 unjudged documents are shown; by themselves they carry 100 % of the range" in done.stdout
    assert "P@3      B        0.3333  0.3333    1.0000" in done.stdout


def test_json(folder: Path) -> None:
    record = json.loads(command(folder, "-m", "DCG@3", "-m", "Judged@3", "--json", qrels="testset.json").stdout)
    assert record["documents"] == len(record["candidates"]) == 5
    assert record["candidates"][0]["ranks"] == {"A": None, "B": 2}
    assert record["candidates"][0]["text"].startswith("What about q2?")
    assert record["ranges"][0]["exact"]
    assert record["ranges"][0]["changes_winner"]
    assert list(record["left_out"]) == ["Judged@3"]


def test_csv_and_trec(folder: Path) -> None:
    done = command(folder, "-m", "DCG@3", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert (rows[0]["query"], rows[0]["document"], rows[0]["rank in B"]) == ("q2", "v", "2")
    assert "unjudged documents are shown" in done.stderr
    target = folder / "next.run"
    assert command(folder, "-m", "DCG@3", "--format", "trec", "-o", target).stdout == ""
    lines = [line.split() for line in target.read_text().splitlines()]
    assert lines[0][:4] == ["q2", "Q0", "v", "1"]
    assert command(folder, "-m", "DCG@3", "-o", folder / "again.run").stdout == ""
    assert (folder / "again.run").read_bytes() == target.read_bytes()
    scores = [float(line[4]) for line in lines]
    assert scores == sorted(scores, reverse=True)


def test_texts_of_queries(folder: Path) -> None:
    done = command(folder, "-m", "DCG@3", qrels="testset.json")
    assert "What about q1? really" in done.stdout
    assert "…" in done.stdout


def test_outer_bounds_are_marked(data: Path) -> None:
    runs = [f"{name}={data / 'dl19' / f'dl19.{name}.run'}" for name in ("BM25", "OPEN_AI_ADA2")]
    done = run_command("judge-next", data / "dl19" / "qrels.txt", *runs, "-m", "AP", "-m", "infAP", "-n", "3")
    assert "* an outer bound" in done.stdout
    assert "AP, OPEN_AI_ADA2 - BM25: that labels turn the sign of the difference is not ruled out" in done.stdout
    assert "infAP is left out: there are too many labellings" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-m", "nothing@3"), "nothing"),
        (("-n", "0"), "-n"),
        (("-m", "Judged@3"), "it measures the judgments themselves"),
        (("--corpus", "texts.jsonl"), "--corpus has no use here"),
        (("--format", "pdf"), "pdf"),
        (("-o", "next.html"), "known are .json, .txt, .csv, .run, .trec, or choose one with --format"),
    ],
)
def test_errors(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = command(folder, *arguments, status=2)
    assert words in done.stderr
    assert done.stdout == ""


def test_judgments_of_relevant_documents_only() -> None:
    done = run_command("judge-next", EXAMPLE / "testset.json", EXAMPLE / "bm25.run", status=2)
    assert "which documents are unjudged is unknown; add the documents you rejected with grade 0" in done.stderr


def test_nothing_to_judge(folder: Path) -> None:
    (folder / "done.json").write_text(json.dumps({"q1": ["a", "b"], "q2": ["c", "d"]}))
    done = run_command("judge-next", folder / "qrels.json", folder / "done.json", "-m", "DCG@3")
    assert "Nothing to judge" in done.stdout


def test_chunks(folder: Path) -> None:
    (folder / "chunks.json").write_text(json.dumps({"q1": ["a#1", "x#1", "x#2"], "q2": ["c#4"]}))
    arguments = ("judge-next", folder / "qrels.json", folder / "chunks.json", "-m", "P@3", "--json")
    record = json.loads(run_command(*arguments, "--collapse-chunks", "^([^#]+)").stdout)
    assert [(row["query"], row["doc"]) for row in record["candidates"]] == [("q1", "x")]
    assert record["contract"]["collapse"] == "regex ^([^#]+)"


def test_in_a_process(folder: Path) -> None:
    done = run_process("judge-next", folder / "qrels.json", folder / "missing.json")
    assert done.status == 2
    assert "there is no such file" in done.stderr
