"""Gate, baseline and history where something is wrong: bytes that are no text, damaged files, no place to write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from rankgauge.history.store import History
from rankgauge.record import Record
from tests.cli.command import run_command
from tests.gating.test_gate import BASE, NOISE, counting, made
from tests.history.records import make_record


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "RANKGAUGE_HISTORY"):
        monkeypatch.delenv(name, raising=False)


def written(name: str, record: Record | dict[str, Any]) -> str:
    Path(name).write_text(json.dumps(record.to_dict() if isinstance(record, Record) else record))
    return name


def two() -> None:
    written("base.json", made({"nDCG@10": BASE, "RR": BASE}))
    written("new.json", made({"nDCG@10": BASE * 0.98 + NOISE / 20, "RR": BASE * 0.98 + NOISE / 20}))


def refused(*arguments: object) -> str:
    return run_command(*arguments, status=2).stderr


def test_bytes_that_are_no_text() -> None:
    """The shell hands on what it is given; a real process, for its streams refuse what these tests' do not."""
    two()
    run_command("baseline", "set", "main", "base.json", "--note", "first")
    odd = b"\xff\xfe"
    commands: list[list[bytes]] = [
        [b"gate", b"new.json", b"--baseline", odd],
        [b"gate", b"new.json", b"--baseline", odd + b".json"],
        [b"gate", b"new.json", b"--baseline", b"base.json", b"-m", odd],
        [b"gate", b"new.json", b"--baseline", b"main", b"--history", odd + b".db"],
        [b"baseline", b"set", odd, b"base.json"],
        [b"baseline", b"set", b"main", b"base.json", b"--note", odd],
        [b"baseline", b"show", odd],
        [b"history", b"list", b"--label", odd],
        [b"history", b"list", b"--system", odd],
        [b"history", b"trend", odd],
        [b"history", b"show", odd],
        [b"history", b"add", b"new.json", b"--label", odd],
    ]
    code = (
        "import os, sys\nfrom rankgauge.cli import main\n"
        "for line in sys.stdin.buffer.read().split(b'\\n'):\n"
        "    sys.argv = ['rankgauge', *map(os.fsdecode, line.split(b'\\0'))]\n"
        "    try:\n        main()\n    except SystemExit as stop:\n        print(stop.code, flush=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"\n".join(map(b"\0".join, commands)), capture_output=True, check=False
    )
    assert done.stdout.split() == [b"2"] * len(commands), done
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == len(commands)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda r: r["systems"][0]["means"]["RR"].update(value=0.99), "the mean is 0.99"),
        (lambda r: r["queries"].__setitem__(1, "q0"), "query 'q0' stands twice"),
        (lambda r: r.update(created="yesterday"), "'created' is 'yesterday', which is no time"),
        (lambda r: r.update(created="0001-01-01T00:00:00+23:00"), "which is no time"),
        (lambda r: r.update(created="9999-12-31T23:59:59-23:00"), "which is no time"),
        (lambda r: r.pop("contract"), "missing required field `contract`"),
        (lambda r: r["systems"][0]["per_query"]["RR"].__setitem__(0, 1e308), "damaged"),
    ],
)
def test_damaged_records_are_named(change: Any, told: str) -> None:
    two()
    record = json.loads(Path("new.json").read_text())
    change(record)
    written("bad.json", record)
    for command in (
        ["gate", "bad.json", "--baseline", "base.json"],
        ["gate", "base.json", "--baseline", "bad.json"],
        ["baseline", "set", "main", "bad.json"],
        ["history", "add", "bad.json"],
    ):
        message = refused(*command)
        assert "bad.json" in message
        assert told in message
        assert "the record is damaged" in message


def test_deep_files_and_files_without_the_table() -> None:
    Path("deep.json").write_text("[" * 100_000)
    assert "nested too deeply" in refused("gate", "deep.json", "--target", "RR >= 0.1")
    Path("deep.toml").write_text("x = " + "[" * 100_000)
    two()
    assert "deep.toml" in refused("gate", "new.json", "--rules", "deep.toml")
    Path("plan.toml").write_text("x = 1\n")
    assert 'begin it with a line [gate], and below it max_loss = "5%"' in refused(
        "gate", "new.json", "--rules", "plan.toml"
    )


def test_missing_queries() -> None:
    two()
    base = Record.load("base.json")
    worst = set(np.argsort(BASE)[:20].tolist())
    written("silent.json", counting(base, lambda i: i not in worst))
    done = run_command("gate", "silent.json", "--baseline", "base.json", "--junit", "gate.xml", status=1)
    assert done.stdout.startswith("FAIL: ours breaks a rule: missing <= 0")
    assert ElementTree.parse("gate.xml").getroot().get("failures") == "1"
    done = run_command("gate", "silent.json", "--baseline", "base.json", "--allow", "missing")
    assert "only because that was allowed" in done.stdout


def test_errors_reach_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier run left there must not be taken for this one's verdict."""
    two()
    files = ["--junit", "gate.xml", "--summary", "gate.md"]
    run_command("gate", "new.json", "--baseline", "base.json", *files)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    message = refused("gate", "new.json", "--baseline", "nobody", *files, "-f", "junit", "-o", "out.xml")
    for name in ("gate.xml", "out.xml"):
        root = ElementTree.parse(name).getroot()
        assert (root.get("tests"), root.get("errors"), root.get("failures")) == ("1", "1", "0")
        error = root.find("testsuite/testcase/error")
        assert error is not None
        assert f"rankgauge: {error.get('message')}\n" == message
    for name in ("gate.md", "step.md"):
        text = Path(name).read_text()
        assert text.startswith("### ❌ ERROR: no verdict was reached")
        assert "'nobody'" in text
    before = Path("base.json").read_bytes()
    assert "an input too" in refused("gate", "new.json", "--baseline", "base.json", "--junit", "base.json")
    assert Path("base.json").read_bytes() == before
    assert "does not exist" in refused("gate", "new.json", "--baseline", "nobody", "--junit", "no/such.xml")


def test_an_unwritable_summary_does_not_change_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    two()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/such/file")
    done = run_command("gate", "new.json", "--baseline", "base.json")
    assert "warning: the summary was not added to no/such/file" in done.stderr
    assert done.stdout.startswith("PASS")


def test_remedies_fit_the_fault() -> None:
    two()
    assert "make it with rankgauge baseline set main" in refused("gate", "new.json", "--baseline", "main")
    for name in ("two words", "a,b"):
        message = refused("gate", "new.json", "--baseline", name)
        assert f"'{name}' is no name for a baseline" in message
        assert "looked for" not in message
    Path("notes.db").write_text("no database at all " * 100)
    message = refused("gate", "new.json", "--baseline", "main", "--history", "notes.db")
    assert "nor any SQLite database" in message
    assert "looked for" not in message


@pytest.mark.parametrize(
    "address",
    [
        " postgresql://u:s3cret@127.0.0.1:1/x",
        "postgresql:/u:s3cret@h/x",
        "postgresql//u:s3cret@h/x",
        "postgresql:u:s3cret@h/x",
        "u:s3cret@h/x",
        "u:s3/cret@h/x",
        "postgres://u:s3cret@h",
        "postgresql://u@h?password=s3cret",
    ],
)
def test_addresses_that_are_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    two()
    for message in (
        refused("history", "list", "--history", address),
        refused("baseline", "set", "main", "base.json", "--history", address),
        refused("gate", "new.json", "--baseline", "main", "--history", address),
        refused("gate", "new.json", "--baseline", address),
        refused("evaluate", "x", "y", "--keep", "--history", address),
    ):
        assert not any(secret in message for secret in ("s3cret", "s3/cret", "cret@"))
    monkeypatch.setenv("RANKGAUGE_HISTORY", address)
    assert "cret" not in refused("history", "list")
    if address.startswith(("postgresql:/u", "postgresql//", "u:s3cret")):
        assert "this looks like an address" in refused("history", "list", "--history", address)


def test_looser_promotions_need_a_reason() -> None:
    two()
    run_command("baseline", "set", "main", "base.json", "--max-loss", "4%")
    promote = ("baseline", "promote", "main", "new.json")
    for options, told in (
        (["--max-loss", "10%"], "--max-loss 10%"),
        (["--alpha", "0.2"], "--alpha 0.2"),
        (["-m", "RR"], "--measure RR"),
        (["--on-inconclusive", "pass"], "--on-inconclusive pass"),
        (["--allow", "corpus"], "--allow corpus"),
        (["--max-errors", "3"], "--max-errors 3"),
    ):
        message = refused(*promote, *options)
        assert f"looser rules than the baseline's own ({told})" in message
        assert "--note" in message
    done = run_command(*promote, "--max-loss", "10%", "--on-inconclusive", "pass", "--note", "a new index")
    assert "promoted by looser rules (max_loss=10%, on_inconclusive=pass): a new index" in done.stdout
    shown = run_command("baseline", "show", "main").stdout
    assert "rules of the promotion: max_loss 0.1, alpha 0.05, on_inconclusive pass\n" in shown
    assert "[max_loss=10%, on_inconclusive=pass] a new index" in shown
    told = json.loads(run_command("baseline", "show", "main", "--json").stdout)
    assert (told["max_loss"], told["used"]["max_loss"], told["looser"][0]) == (0.04, 0.1, "max_loss=10%")
    again = written("again.json", made({"nDCG@10": BASE * 0.97, "RR": BASE * 0.97}))
    done = run_command(
        "baseline", "promote", "main", again, "--max-loss", "3%", "-m", "RR", "-m", "ndcg@10", status=None
    )
    assert done.status in (0, 1)  # stricter needs no reason


def test_measures_of_the_rules_are_replaced() -> None:
    two()
    Path("gate.toml").write_text('[gate]\nbaseline = "base.json"\nmeasures = ["RR", "nDCG@10"]\n')
    told = json.loads(run_command("gate", "new.json", "--rules", "gate.toml", "-m", "RR", "--json").stdout)
    assert [rule["name"] for rule in told["rules"]] == ["RR"]


def test_labels_of_records_that_are_there() -> None:
    bare, named = written("bare.json", make_record(1)), written("named.json", make_record(2))
    run_command("history", "add", bare)
    run_command("history", "add", named, "--label", "old")
    done = run_command("history", "add", bare, named, "--label", "new")
    assert done.stdout.splitlines() == [
        "bare.json: record 1 is the same already, and now has the label new",
        "named.json: record 2 is the same already, and keeps its label old; it is not new",
    ]
    with History.open() as history:
        assert [record.label for record in history.records()] == ["old", "new"]
    assert run_command("history", "add", bare, "--label", "new").stdout.endswith("is the same already\n")
    assert "其标签仍为 old" in run_command("history", "add", named, "--label", "new", "--lang", "zh").stdout


def test_forced_comparisons_begin_with_the_warning() -> None:
    first, second = make_record(1), make_record(1, test_set="b" * 64).to_dict()
    for measure, values in second["systems"][0]["per_query"].items():
        second["systems"][0]["per_query"][measure] = [value / 2 for value in values]
        second["systems"][0]["means"][measure]["value"] /= 2
    run_command("history", "add", written("a.json", first), written("b.json", second))
    text = run_command("history", "diff", "2", "1", "--force").stdout
    assert text.startswith("WARNING: the records are not comparable (judgments: the files differ)")
    assert "Take " not in text
    assert "建议采用" not in run_command("history", "diff", "2", "1", "--force", "--lang", "zh").stdout


def test_hostile_names_in_lists_and_trends() -> None:
    run_command("history", "add", written("a.json", make_record(1, systems=("a\x1b[31m\nb",))))
    run_command("baseline", "set", "main", "a.json", "--note", "\x1b[2J")
    for command in (
        ["history", "list"],
        ["history", "trend", "AP"],
        ["baseline", "list"],
        ["baseline", "show", "main"],
    ):
        text = run_command(*command).stdout
        assert "\x1b" not in text
        assert "a\\x1b[31m\\nb" in text


def test_a_lone_surrogate_in_json() -> None:
    written("new.json", made({"RR": BASE}, "a\ud800"))
    told = json.loads(run_command("gate", "new.json", "--baseline", "new.json", "--json").stdout)
    assert told["system"] == "a\ud800"


def test_help_tells_of_blanks_and_levels() -> None:
    text = " ".join(run_command("gate", "--help").stdout.split())
    assert 'tag:"odd tag" R@10 >= 0.6' in text
    assert "Chance that a loss as large as the max loss surely passes" in text


def test_run_check_looks_at_the_gate(tmp_path: Path) -> None:
    Path("testset.json").write_text(json.dumps([{"id": "q", "query": "text", "relevant_docs": ["d"]}]))
    plan = 'testset = "testset.json"\nmeasures = ["R@5"]\n[[system]]\nname = "s"\nuse = "checked_module:search"\n'
    Path("checked_module.py").write_text("def search(query, k):\n    return []\n")
    Path("plan.toml").write_text(plan + '[gate]\ntargets = ["RR >= 0.5"]\nfloors = ["tag:x R@5 >= 0.5"]\n')
    message = refused("run", "plan.toml", "--check")
    assert "gate.targets: the plan has no measure 'RR'; it has: R@5" in message
    assert "gate.floors: 'tag:x R@5 >= 0.5': no query of the test set is tagged 'x'; it has no tags" in message
    assert os.getcwd() == str(tmp_path)


FILES = ["--junit", "gate.xml", "--summary=gate.md", "-o", "page.html"]


@pytest.mark.parametrize(
    "words",
    [
        ["gate", "new.json", "--baseline", "base.json", "-f", "xyz", *FILES],
        ["gate", "new.json", "--baseline", "base.json", "--lang", "xx", *FILES],
        ["gate", "new.json", "--baseline", "base.json", "--no-such-option", *FILES],
        ["gate", "new.json", "--baseline", "base.json", "--max-errors", "few", *FILES],
        ["gate", "new.json", "--baseline", "base.json", "--json", "-f", "html", *FILES],
        ["gate", "new.json", "another.json", "--baseline", "base.json", *FILES],
        ["gate", *FILES],
        ["gate", "missing.json", "--baseline", "base.json", *FILES],
        ["gate", "new.json", *FILES],
        ["gate", "new.json", "--baseline", "nobody", *FILES],
        ["gate", "new.json", "--rules", "missing.toml", *FILES],
        ["gate", "new.json", "--baseline", "base.json", *FILES, "--summary"],
        ["--max-size", "much", "gate", "new.json", "--baseline", "base.json", *FILES],
        ["--no-such-option", "gate", "new.json", "--baseline", "base.json", *FILES],
        ["gate", "new.json", "--baseline", "base.json", "--max-loss", "never", *FILES],
    ],
    ids=lambda words: " ".join(word for word in words if word not in FILES),
)
def test_no_older_verdict_stays_after_a_mistake(words: list[str]) -> None:
    two()
    run_command("gate", "new.json", "--baseline", "base.json", *FILES)
    assert "errors=" not in Path("gate.xml").read_text() or 'errors="0"' in Path("gate.xml").read_text()
    kept = {name: Path(name).read_bytes() for name in ("new.json", "base.json")}
    run_command(*words, status=2)
    assert not Path("page.html").exists()
    assert "<error" in Path("gate.xml").read_text()
    assert "no verdict" in Path("gate.md").read_text().lower()
    assert {name: Path(name).read_bytes() for name in kept} == kept


def test_only_outputs_of_an_earlier_gate_are_removed() -> None:
    """An input that is named as an output, or a baseline that only a file of rules names, stays."""
    two()
    Path("rules.toml").write_text('[gate]\nbaseline = "base.json"\n')
    before = Path("base.json").read_bytes()
    refused("gate", "new.json", "--rules", "rules.toml", "-o", "base.json", "-f", "xyz")
    refused("gate", "new.json", "--baseline", "base.json", "--junit", "base.json", "--lang", "xx")
    refused("gate", "new.json", "--baseline=base.json", "--summary=./base.json", "--lang", "xx")
    assert Path("base.json").read_bytes() == before
    run_command("gate", "new.json", "--rules", "rules.toml", "-o", "gate.json")
    run_command("gate", "--help", "-o", "gate.json")
    run_command("report", "gate", "-o", "gate.json", status=2)
    assert Path("gate.json").exists()
    refused("gate", "new.json", "--rules", "rules.toml", "-ogate.json", "--lang", "xx")
    assert not Path("gate.json").exists()


class _Panic(BaseException):
    """What libraries in Rust raise is no `Exception`."""


@pytest.mark.parametrize("fault", [OSError(28, "No space left"), MemoryError(), RuntimeError("x"), _Panic("x")])
def test_no_failure_leaves_the_files_without_a_word(fault: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of the files must not need the log to see that there was no verdict."""
    two()
    files = ["--junit", "gate.xml", "--summary", "gate.md"]
    run_command("gate", "new.json", "--baseline", "base.json", *files)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")

    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr("rankgauge.cli.gate.rules_of", broken)
    monkeypatch.setattr("rankgauge.cli._drop_output", lambda: None)  # these tests' output has no number
    run_command("gate", "new.json", "--baseline", "base.json", *files, status=2)
    assert ElementTree.parse("gate.xml").findall(".//error")
    for name in ("gate.md", "step.md"):
        assert "no verdict was reached" in Path(name).read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["--target", "password=hunter2-Zq9"],
        ["--alpha", "password=hunter2-Zq9"],
        ["--system", "api_key=hunter2-Zq9"],
        ["--baseline", "records?api_key=hunter2-Zq9"],
    ],
    ids=lambda words: words[0],
)
def test_no_secret_of_the_command_line_reaches_the_files(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    two()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "step.md")
    refused("gate", "new.json", "--baseline", "base.json", *words, "--junit", "gate.xml", "--summary", "gate.md")
    for name in ("gate.xml", "gate.md", "step.md"):
        text = Path(name).read_text()
        assert "hunter2" not in text
        assert "***" in text or "\\*\\*\\*" in text
