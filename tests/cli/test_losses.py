"""`rankgauge losses` and `compare --stage` as a user meets them."""

from __future__ import annotations

import csv
import io
import json
from importlib.resources import files
from pathlib import Path

import pytest

from rankgauge import Record, load_run, load_testset
from rankgauge.reports.tables import width_of
from rankgauge.words import LANGUAGES
from tests.cli.command import Done, run_command, run_terminal

EXAMPLE = Path(str(files("rankgauge") / "example"))
STAGES = ("--stage", f"candidates={EXAMPLE / 'bm25.run'}", "--stage", f"reranked={EXAMPLE / 'hybrid.run'}")


def command(*arguments: object, status: int = 0) -> Done:
    return run_command("losses", EXAMPLE / "testset.json", *STAGES, "-k", 3, *arguments, status=status)


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """An index that lacks five relevant documents which no list has."""
    runs = [load_run(EXAMPLE / f"{name}.run").to_dict() for name in ("bm25", "hybrid")]
    held = {doc for run in runs for docs in run.values() for doc in docs}
    relevant = {doc for query in load_testset(EXAMPLE / "testset.json") for doc in query.relevant}
    (tmp_path / "ids.txt").write_text("\n".join(sorted(held | relevant - set(sorted(relevant - held)[:5]))))
    return tmp_path / "ids.txt"


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_screen(language: str, indexed: Path) -> None:
    arguments = ("losses", EXAMPLE / "testset.json", *STAGES, "-k", 3, "--indexed", indexed, "--lang", language)
    lines = run_terminal(*arguments).stdout.splitlines()
    assert len(lines) <= 25
    assert max(map(width_of, lines)) <= 80
    text = "\n".join(lines)
    assert text.index({"en": "at most +0.3294 R@3", "zh": "至多 +0.3294"}[language]) < text.index("█")
    assert {"en": "not in the index", "zh": "不在索引中"}[language] in text


def test_details_and_data(indexed: Path) -> None:
    text = command("--indexed", indexed, "--details").stdout
    assert "By query:" in text
    assert "share by grade" in " ".join(text.split())
    assert "contract: default" in text
    rows = list(csv.DictReader(io.StringIO(command("--indexed", indexed, "-f", "csv").stdout)))
    assert [(row["place"], row["stage"], row["documents"]) for row in rows] == [
        ("index", "", "5"),
        ("stage", "candidates", "20"),
        ("stage", "reranked", "2"),
        ("rank", "", "29"),
        ("found", "", "31"),
    ]
    record = Record.from_dict(json.loads(command("--indexed", indexed, "--json").stdout))
    assert record.losses[0].documents == 87
    assert sorted(record.provenance.inputs) == ["indexed", "judgments", "run:reranked", "stage:candidates"]


def test_files_of_all_kinds(tmp_path: Path) -> None:
    for ending in ("html", "md", "tex", "csv", "txt", "json"):
        done = command("-o", tmp_path / f"losses.{ending}", "--lang", "en")
        assert done.stdout == ""
        assert done.stderr.startswith("31 of 56 missed relevant documents reached candidates")
        assert (tmp_path / f"losses.{ending}").stat().st_size > 200
    assert (tmp_path / "losses-documents.csv").read_text().count("\n") == 57
    assert "█" not in (tmp_path / "losses.tex").read_text()
    shown = run_command("report", tmp_path / "losses.json", "--lang", "en").stdout
    assert shown == (tmp_path / "losses.txt").read_text()
    assert "losses: holds" in run_command("verify", tmp_path / "losses.json").stdout
    found = json.loads((tmp_path / "losses.json").read_text())
    found["losses"][0]["mean"] += 0.1
    (tmp_path / "losses.json").write_text(json.dumps(found))
    assert "losses: does NOT hold" in run_command("verify", tmp_path / "losses.json", status=1).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", 100), "--budget needs the texts of the documents: give them with --corpus"),
        (("--ties", "expected"), "choose --ties trec"),
        (("--indexed", "nowhere"), "nowhere: there is no such file"),
        (("--stage", f"candidates={EXAMPLE / 'bm25.run'}"), "two runs are named 'candidates'"),
        (("-k", 0), "0 is not in the range x>=1"),
    ],
)
def test_mistakes_are_told(arguments: tuple[object, ...], said: str) -> None:
    assert said in " ".join(command(*arguments, status=2).stderr.split())


def test_comparisons_tell_where_each_run_lost(tmp_path: Path) -> None:
    both = (f"a={EXAMPLE / 'hybrid.run'}", f"b={EXAMPLE / 'bm25.run'}")
    arguments = ("compare", EXAMPLE / "testset.json", *both, "-m", "R@3", "--lang", "en", *STAGES[:2])
    text = " ".join(run_command(*arguments).stdout.split())
    assert "a: 31 of 56 missed relevant documents reached candidates, but not the first 3 of a" in text
    assert "b: 29 of 57 missed relevant documents reached candidates, but not the first 3 of b" in text
    run_command(*arguments, "-o", tmp_path / "record.json", "-m", "AP")
    assert "losses: holds" in run_command("verify", tmp_path / "record.json").stdout
    assert [found.system for found in Record.load(tmp_path / "record.json").losses] == ["a", "b"]
    clash = run_command("compare", EXAMPLE / "testset.json", *both, "--stage", f"a={EXAMPLE / 'bm25.run'}", status=2)
    assert "a stage and a run are both named 'a'" in clash.stderr
    split = ("compare", EXAMPLE / "testset.json", *both, "-m", "R@3", "--rerank", "--lang", "en")
    assert "rankgauge losses QRELS --stage a=FILE" in " ".join(run_command(*split).stdout.split())
