"""The command line as a user meets it."""

from __future__ import annotations

import csv
import io
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from rankgauge import __version__
from rankgauge.cli.app import _COMMANDS
from rankgauge.measures import all_definitions
from rankgauge.measures.presets import PRESETS
from rankgauge.reports.tables import width_of
from rankgauge.words import LANGUAGES
from tests.cli.command import run_command, run_process

EXAMPLE = Path(str(files("rankgauge") / "example"))
SET, BM25, HYBRID = EXAMPLE / "testset.json", EXAMPLE / "bm25.run", EXAMPLE / "hybrid.run"


def test_table_has_a_row_for_each_system() -> None:
    done = run_command("evaluate", SET, f"bm25={BM25}", f"hybrid={HYBRID}", "-m", "nDCG@10", "-m", "R@5,10")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["30 queries, best first by nDCG@10", ""]
    head = lines[2].split()
    assert (head[:2], head[-2:]) == (["system", "nDCG@10"], ["R@5", "R@10"])
    assert [line.split()[0] for line in lines[3:5]] == ["hybrid", "bm25"]  # the best first
    assert "●" in lines[3]
    details = run_command("evaluate", SET, BM25, "-m", "nDCG@10", "--details", "--scenario", "general").stdout
    assert "queries counted: 30 of 30 judged" in details
    assert "contract: default" in details
    assert "Targets: general search" in details
    assert "contract" not in done.stdout
    assert "Targets" not in done.stdout


def test_one_system_gets_sentences_in_two_languages() -> None:
    done = run_command("evaluate", SET, BM25, "-m", "RR")
    assert "the first relevant document sits at a harmonic-mean rank of 1.7" in done.stdout
    done = run_command("evaluate", SET, BM25, "-m", "RR", "--lang", "zh")
    assert "调和平均为 1.7" in done.stdout


def test_formats() -> None:
    arguments = ("evaluate", SET, f"a={BM25}", f"b={HYBRID}", "-m", "nDCG@10", "-m", "NumQ", "--digits", "3")
    rows = list(csv.DictReader(io.StringIO(run_command(*arguments, "--format", "csv").stdout)))
    assert [(row["system"], row["measure"]) for row in rows] == [
        ("a", "nDCG@10"),
        ("a", "NumQ"),
        ("b", "nDCG@10"),
        ("b", "NumQ"),
    ]
    assert float(rows[0]["low"]) < float(rows[0]["value"]) < float(rows[0]["high"])
    assert rows[1]["value"] == "30"
    markdown = run_command(*arguments, "--format", "markdown").stdout
    assert "| system | nDCG@10 |" in markdown
    latex = run_command(*arguments, "--format", "latex").stdout
    assert "\\toprule" in latex
    record = json.loads(run_command(*arguments, "--json").stdout)
    assert record["format"] == "rankgauge.record"
    assert [system["name"] for system in record["systems"]] == ["a", "b"]
    assert len(record["provenance"]["inputs"]["run:a"]["sha256"]) == 64
    trec = run_command(*arguments, "--format", "trec_eval").stdout
    assert "ndcg_cut_10           \tall\t0." in trec


def test_per_query() -> None:
    done = run_command("evaluate", SET, BM25, "-m", "RR", "-q", "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["system", "query", "RR"]
    assert len(rows) == 31
    assert "q07" in run_command("evaluate", SET, BM25, "-m", "RR", "-q").stdout


def test_output_file_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "record.json.gz"
    done = run_command("evaluate", SET, BM25, "--json", "-o", target)
    assert not done.stdout
    import gzip

    assert json.loads(gzip.decompress(target.read_bytes()))["kind"] == "evaluation"
    assert [path.name for path in tmp_path.iterdir()] == ["record.json.gz"]
    done = run_command("evaluate", SET, BM25, "-o", tmp_path / "no" / "where", status=2)
    assert "does not exist" in done.stderr


def test_the_ending_of_an_output_tells_its_format(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    run_command("evaluate", SET, BM25, "-m", "AP", "-o", record)
    commands: list[tuple[Any, ...]] = [
        ("evaluate", SET, BM25, "-m", "AP"),
        ("compare", SET, BM25, HYBRID, "-m", "AP"),
        ("gate", record, "--target", "AP >= 0"),
        ("report", record),
    ]
    for command in commands:
        for name in ("x.xyz", "x.xyz.gz", "x.parquet"):
            told = run_command(*command, "-o", tmp_path / name, status=2).stderr
            assert f"{name}: the ending tells no report format; known are .txt, .md," in told
            assert ".json, or choose one with --format" in told
            assert not (tmp_path / name).exists()
        assert "did you mean 'terminal'?" in run_command(*command, "-f", "text", status=2).stderr
    for name in ("x.txt", "x", "x.txt.gz"):
        run_command("evaluate", SET, BM25, "-m", "AP", "-o", tmp_path / name)
    assert (tmp_path / "x.txt").read_text() == (tmp_path / "x").read_text()
    run_command("evaluate", SET, BM25, "-m", "AP", "--json", "-o", tmp_path / "x.txt")
    assert json.loads((tmp_path / "x.txt").read_text())["kind"] == "evaluation"


def test_output_never_replaces_what_is_no_file(tmp_path: Path) -> None:
    """Links keep pointing where they did, and pipes stay pipes."""
    import os
    import threading

    (tmp_path / "target.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("target.csv")
    run_command("evaluate", SET, BM25, "-m", "AP", "-f", "csv", "-o", tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "target.csv").read_text().startswith("system,")
    os.mkfifo(tmp_path / "pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    run_command("evaluate", SET, BM25, "-m", "AP", "-f", "csv", "-o", tmp_path / "pipe")
    reader.join(timeout=20)
    assert received[0].startswith(b"system,")
    assert (tmp_path / "pipe").is_fifo()


def test_output_must_not_be_an_input(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.json", tmp_path / "x.run"
    qrels.write_bytes(SET.read_bytes())
    run.write_bytes(BM25.read_bytes())
    for output in (qrels, run):
        assert "is an input too" in run_command("evaluate", qrels, f"x={run}", "-o", output, status=2).stderr
    assert "is an input too" in run_command("convert", run, run, status=2).stderr
    assert run.read_bytes() == BM25.read_bytes()


def test_inflated_variants_warn_in_every_format() -> None:
    measure = "nDCG(ideal='retrieved')@10"
    for form in ("csv", "latex", "trec_eval"):
        done = run_command("evaluate", SET, BM25, "-m", measure, "-f", form)
        assert f"warning: {measure}: " in done.stderr
    assert run_command("evaluate", SET, BM25, "-m", measure, "-f", "latex").stdout.startswith("% warning: ")


def test_full_standard_output() -> None:
    import subprocess
    import sys

    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rankgauge", "evaluate", str(SET), str(BM25)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.decode() == "rankgauge: the output cannot be written: No space left on device\n"


def test_standard_input() -> None:
    by_path = run_command("evaluate", SET, f"x={BM25}", "--json")
    piped = run_command("evaluate", SET, "x=-", "--json", stdin=BM25.read_bytes())
    assert json.loads(piped.stdout)["systems"] == json.loads(by_path.stdout)["systems"]
    assert "only once" in run_command("evaluate", "-", "-", status=2).stderr


def test_options_reach_the_contract() -> None:
    done = run_command(
        "evaluate",
        SET,
        BM25,
        "--json",
        "--missing",
        "skip",
        "--ties",
        "expected",
        "--rel",
        "2",
        "--depth",
        "5",
        "--no-relevant",
        "skip",
        "--duplicates",
        "first",
        "-m",
        "P@5",
    )
    record = json.loads(done.stdout)
    wanted = {"missing": "skip", "ties": "expected", "depth": 5, "no_relevant": "skip", "duplicates": "first"}
    assert {key: record["contract"][key] for key in wanted} == wanted
    assert [measure["name"] for measure in record["measures"]] == ["P(rel=2)@5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", SET, BM25, "-m", "ndgc@10"), "did you mean nDCG"),
        (("evaluate", SET, BM25, "--contract", "trek_eval"), "did you mean trec_eval"),
        (("evaluate", SET, BM25, "--ties", "random"), "--ties"),
        (("evaluate", SET), "Missing argument"),
        (("evaluate", SET, BM25, BM25), "two runs are named"),
        (("evaluate", SET, "=x"), "NAME=FILE"),
        (("evalute",), "Did you mean 'evaluate'?"),
        (("evaluate", SET, BM25, "--json", "-f", "csv"), "exclude each other"),
        (("explain", "nonsense"), "unknown measure"),
        (("trec_eval", "-m", "nonsense", SET, BM25), "trec_eval has no measure"),
        (("trec_eval", "-m", "P.x", SET, BM25), "no numbers"),
        (("reconcile", SET, BM25, "-m", "AP", "--value", "abc"), "no number"),
        (("evaluate", SET, BM25, "--run-format", "word"), "no such format"),
        (("evaluate", SET, BM25, "-m", "R(budget=100)"), "--corpus"),
    ],
)
def test_mistakes_end_with_status_2(arguments: tuple, message: str) -> None:
    assert message in run_command(*arguments, status=2).stderr


def test_help_lists_every_command_once() -> None:
    lines = run_command("--help").stdout.splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"  [a-z][\w-]+ +[A-Z]", line)]
    assert sorted(listed) == sorted(_COMMANDS)
    assert lines.index("Begin:") < next(i for i, line in enumerate(lines) if line.startswith("  evaluate "))


@pytest.mark.parametrize("command", [*_COMMANDS])
def test_every_command_has_help(command: str) -> None:
    assert "Usage: rankgauge" in run_command(command, "--help").stdout


def test_measures_and_contracts_are_listed() -> None:
    for lang in ("en", "zh"):
        listed = run_command("measures", "--lang", lang).stdout
        assert all(definition.name in listed for definition in all_definitions())
        assert all(name in run_command("contracts", "--lang", lang).stdout for name in PRESETS)
    assert len(json.loads(run_command("measures", "--json").stdout)) == len(all_definitions())
    assert len(json.loads(run_command("contracts", "--json").stdout)) == len(PRESETS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_measures_begin_with_which_to_use(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first screen is advice; each measure is named once, and no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = run_command("measures", "--lang", language).stdout.splitlines()
    assert any("nDCG@k" in line for line in lines[:10])
    assert all(width_of(line) <= 80 for line in lines)
    for definition in all_definitions():
        assert sum(re.match(rf"  {definition.name}[@\[ ]", line) is not None for line in lines) == 1


@pytest.mark.parametrize("definition", all_definitions(), ids=lambda d: d.name)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_measure_is_explained(definition, lang: str) -> None:
    name = definition.name + ("@0.5" if definition.name == "IPrec" else "@10" if definition.at_required else "")
    text = run_command("explain", name, "--lang", lang).stdout
    assert text.startswith(f"{name}: ")
    labels = {"en": ("formula", "range", "worked example"), "zh": ("公式", "取值范围", "计算示例")}[lang]
    assert all(label in text for label in labels)
    assert f"{name} = " in text


def test_explain_shows_targets_and_gain() -> None:
    text = run_command("explain", "nDCG(gain='exp')@10").stdout
    assert "gain(g) = 2^g - 1" in text
    assert "= 0.7011" in text
    assert "precise question answering > 0.8" in run_command("explain", "ndcg_cut_10").stdout


def test_collapse_chunks(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 d1 1\n")
    (tmp_path / "run").write_text("q Q0 d2#1 1 9 t\nq Q0 d2#2 2 8 t\nq Q0 d1#1 3 7 t\n")
    (tmp_path / "map.json").write_text('{"d2#1": "d2", "d2#2": "d2", "d1#1": "d1"}')
    for rule in (r"^(.+)#\d+$", tmp_path / "map.json"):
        done = run_command(
            "evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR", "--collapse-chunks", rule, "--json"
        )
        assert json.loads(done.stdout)["systems"][0]["means"]["RR"]["value"] == 0.5
    (tmp_path / "map.json").write_text("[]")
    done = run_command(
        "evaluate", tmp_path / "qrels", tmp_path / "run", "--collapse-chunks", tmp_path / "map.json", status=2
    )
    assert "chunks are one object" in done.stderr


def test_reconcile() -> None:
    exact = json.loads(
        run_command("evaluate", SET, BM25, "-m", "nDCG(gain='exp')@10", "--missing", "skip", "--json").stdout
    )
    value = exact["systems"][0]["means"]["nDCG(gain='exp')@10"]["value"]
    found = json.loads(run_command("reconcile", SET, BM25, "-m", "nDCG@10", "--value", f"{value:.6f}", "--json").stdout)
    assert any(match["measure"] == "nDCG(gain='exp')@10" for match in found["matches"])
    percent = run_command("reconcile", SET, BM25, "-m", "nDCG@10", "--value", f"{100 * value:.2f}")
    assert "gain='exp'" in percent.stdout
    assert "none of" in run_command("reconcile", SET, BM25, "-m", "nDCG@10", "--value", "0.999999", status=1).stdout
    assert (
        "种算法"
        in run_command("reconcile", SET, BM25, "-m", "AP", "--value", "0.9", "--lang", "zh", status=None).stdout
    )


def test_convert(tmp_path: Path) -> None:
    done = run_command("convert", SET, tmp_path / "qrels.txt", status=2)
    assert "trec cannot hold the texts of 30 queries" in done.stderr
    assert "--lossy" in done.stderr
    assert not list(tmp_path.iterdir())
    run_command("convert", SET, tmp_path / "qrels.txt", "--lossy")
    run_command("convert", SET, tmp_path / "beir", "--to", "beir")
    run_command("convert", BM25, tmp_path / "run.parquet")
    run_command("convert", tmp_path / "beir", tmp_path / "back.json")
    wanted = json.loads(run_command("evaluate", SET, f"x={BM25}", "--json").stdout)["systems"][0]["means"]
    for qrels in ("qrels.txt", "beir", "back.json"):
        got = json.loads(run_command("evaluate", tmp_path / qrels, f"x={tmp_path / 'run.parquet'}", "--json").stdout)
        assert got["systems"][0]["means"] == wanted
    assert run_command("convert", BM25, "-", "--to", "trec").stdout.startswith("q01 Q0 ")
    assert "say which format" in run_command("convert", BM25, "-", status=2).stderr
    assert "--as run" in run_command("convert", "-", tmp_path / "x.csv", stdin=b'{"q": {"d": 1}}', status=2).stderr
    spaced = tmp_path / "spaced.json"
    spaced.write_text('[{"query": "two words", "relevant_docs": ["d"]}]')
    assert "white space" in run_command("convert", spaced, tmp_path / "y.txt", status=2).stderr


def test_version_and_completion() -> None:
    assert run_command("--version").stdout == f"rankgauge {__version__}\n"
    assert "_RANKGAUGE_COMPLETE" in run_command("completion", "bash").stdout


def test_as_a_process() -> None:
    done = run_process("evaluate", SET, BM25, "-m", "RR")
    assert done.status == 0
    assert "RR" in done.stdout
    done = run_process("evaluate", SET, "nowhere")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == "rankgauge: nowhere: there is no such file\n"


def test_the_locale_chooses_the_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "指标" in run_command("evaluate", SET, BM25).stdout
    monkeypatch.setenv("RANKGAUGE_LANG", "en")
    assert "measure" in run_command("evaluate", SET, BM25).stdout


def test_the_page_of_an_evaluation_holds_texts_and_lists(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run_command("evaluate", SET, BM25, "-m", "RR", "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "copy a file with its permissions" in text  # a query
    assert "shutil.copymode" in text  # relevant, and not found


def test_a_misspelled_measure_keeps_its_depth() -> None:
    done = run_command("evaluate", SET, BM25, "-m", "nDGC@10", status=2)
    assert "did you mean nDCG@10" in done.stderr
