"""`rankgauge gate` and `rankgauge baseline` as a CI job runs them: statuses, formats, files, and stale baselines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from rankgauge.record import Record
from tests.cli.command import run_command, run_process
from tests.gating.test_gate import BASE, NOISE, TABLE, WIDE, made, served

EXAMPLE = Path(str(files("rankgauge") / "example"))
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_STEP_SUMMARY", "RANKGAUGE_HISTORY"):
        monkeypatch.delenv(name, raising=False)


def written(name: str, record: Record) -> str:
    record.save(name)
    return name


def two(share: float, noise: np.ndarray = NOISE / 20) -> str:
    """A record at a share of the baseline's scores, and that baseline, base.json."""
    written("base.json", made({"nDCG@10": BASE, "RR": BASE}))
    return written("new.json", made({"nDCG@10": BASE * share + noise, "RR": BASE * share + noise}))


UNSURE_WITHIN, UNSURE_BEYOND, LOST = (0.98, WIDE), (0.93, WIDE), (0.85, NOISE)


@pytest.mark.parametrize(
    ("case", "statuses"),
    [
        ((1.0, NOISE / 20), {"auto": 0, "pass": 0, "fail": 0, "report": 0}),
        (UNSURE_WITHIN, {"auto": 0, "pass": 0, "fail": 1, "report": 3}),
        (UNSURE_BEYOND, {"auto": 1, "pass": 0, "fail": 1, "report": 3}),
        (LOST, {"auto": 1, "pass": 1, "fail": 1, "report": 1}),
    ],
)
def test_statuses(case: tuple[float, np.ndarray], statuses: dict[str, int]) -> None:
    """The table of --help, cell by cell."""
    record = two(*case)
    for on_inconclusive, status in statuses.items():
        run_command("gate", record, "--baseline", "base.json", "--on-inconclusive", on_inconclusive, status=status)
    run_command("gate", record, "--baseline", "base.json", status=statuses["auto"])


def test_headlines() -> None:
    arguments = ("--baseline", "base.json")
    assert run_command("gate", two(1.0, NOISE / 20), *arguments).stdout.startswith("PASS: ours holds against base.json")
    assert run_command("gate", two(*UNSURE_WITHIN), *arguments).stdout.startswith("PASS, BUT INCONCLUSIVE: ours")
    assert run_command("gate", two(*UNSURE_BEYOND), *arguments, status=1).stdout.startswith("FAIL: ours seems")
    done = run_command("gate", two(*UNSURE_BEYOND), *arguments, "--on-inconclusive", "report", status=3)
    assert done.stdout.startswith("INCONCLUSIVE: ours")
    done = run_command("gate", two(*LOST), *arguments, status=1)
    assert done.stdout.startswith("REGRESSION: ours lost more than 5 % against base.json in nDCG@10, RR")
    done = run_command("gate", two(*LOST), *arguments, "--lang", "zh", status=1)
    assert done.stdout.startswith("退化：ours 在 nDCG@10、RR 上变差超过 5 %（相对基线 base.json）")


def test_one_measure_and_a_wide_margin() -> None:
    record = two(*LOST)
    done = run_command("gate", record, "--baseline", "base.json", "-m", "mrr", "--max-loss", "30%", "--json")
    told = json.loads(done.stdout)
    assert [rule["name"] for rule in told["rules"]] == ["RR"]
    assert told["settings"]["max_loss"] == 0.3
    assert done.stderr == "PASS: ours holds against base.json\n"  # the log tells it too


def test_rules_beside_the_baseline() -> None:
    written("new.json", served(["q3"]))
    arguments = ["gate", "new.json", "--baseline", "new.json"]
    assert "1 query failed" in run_command(*arguments, status=1).stdout
    run_command(*arguments, "--max-errors", "1", "--max-latency", "p95 <= 200ms", "--min-judged", "90%")
    assert "180 ms" in run_command(*arguments, "--max-errors", "1", "--max-latency", "p95 < 180ms", status=1).stdout
    run_command(*arguments, "--max-errors", "1", "--target", "RR >= 0.99", status=1)
    run_command(*arguments, "--max-errors", "1", "--floor", "tag:billing RR >= 0.99", status=1)
    done = run_command(*arguments, "--floor", "tag:invoice RR >= 0.1", status=2)
    assert "its tags are: billing, other, rare" in done.stderr


def test_without_a_baseline() -> None:
    written("new.json", made({"nDCG@10": BASE}))
    assert "give --baseline" in run_command("gate", "new.json", status=2).stderr
    run_command("gate", "new.json", "--target", "nDCG@10 >= 0.1")
    run_command("gate", "new.json", "--scenario", "precise", status=1)


def test_junit(tmp_path: Path) -> None:
    record = two(*LOST)
    run_command("gate", record, "--baseline", "base.json", "--target", "RR >= 0.1", "--junit", "gate.xml", status=1)
    suite = ElementTree.parse("gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "2", "0")
    cases = list(suite.iter("testcase"))
    assert [case.get("name") for case in cases] == ["no regression in nDCG@10", "no regression in RR", "RR >= 0.1"]
    failure = cases[0].find("failure")
    assert failure is not None
    assert failure.get("type") == "regression"
    assert "worse by more than 5 %" in str(failure.get("message"))
    record = two(*UNSURE_BEYOND)
    done = run_command(
        "gate", record, "--baseline", "base.json", "--on-inconclusive", "report", "-f", "junit", "-o", "g.xml", status=3
    )
    assert done.stdout == ""
    assert done.stderr.startswith("INCONCLUSIVE")
    assert ElementTree.parse("g.xml").getroot().get("skipped") == "2"


def test_junit_of_names_that_xml_cannot_hold() -> None:
    record = made({"nDCG@10": BASE}, "a\x00<b>&\x1b\ud800")
    written("new.json", record)
    out = run_command("gate", "new.json", "--baseline", "new.json", "-f", "junit").stdout
    assert ElementTree.fromstring(out.encode()).find(".//testcase") is not None


def test_summaries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "step.md"
    page.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    run_command("gate", two(*LOST), "--baseline", "base.json", "--summary", "own.md", status=1)
    text = page.read_text()
    assert text.startswith("before\n### ❌ REGRESSION: ours")
    assert "| nDCG@10 |" in text
    assert Path("own.md").read_text() in text
    run_command("gate", two(*UNSURE_WITHIN), "--baseline", "base.json", "-f", "markdown", "-o", "own.md")
    assert Path("own.md").read_text().startswith("### ⚠️ PASS, BUT INCONCLUSIVE")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "such"))
    done = run_command("gate", "new.json", "--baseline", "base.json")
    assert "warning: the summary was not added" in done.stderr
    assert done.stdout.startswith("PASS, BUT INCONCLUSIVE")


def test_rules_from_a_file() -> None:
    record = two(1.0, NOISE / 20)
    Path("gate.toml").write_text(
        '[gate]\nbaseline = "base.json"\nmax_loss = "3%"\ntargets = "RR >= 0.1"\nmeasures = ["RR"]\n'
    )
    done = run_command("gate", record, "--rules", "gate.toml", "--target", "nDCG@10 >= 0.1", "--json")
    told = json.loads(done.stdout)
    assert [rule["name"] for rule in told["rules"]] == ["RR", "RR >= 0.1", "nDCG@10 >= 0.1"]
    assert told["settings"]["max_loss"] == 0.03
    done = run_command("gate", record, "--rules", "gate.toml", "-m", "nDCG@10", "--max-loss", "7%", "--json")
    assert json.loads(done.stdout)["rules"][0]["name"] == "nDCG@10"
    assert json.loads(done.stdout)["settings"]["max_loss"] == 0.07
    Path("gate.toml").write_text("[gate]\nmax_los = 1\nlatency = 3\n")
    done = run_command("gate", record, "--rules", "gate.toml", status=2)
    assert "2 faults" in done.stderr
    assert "did you mean max_loss?" in done.stderr
    Path("gate.toml").write_text("x = 1")
    assert "no table [gate]" in run_command("gate", record, "--rules", "gate.toml", status=2).stderr
    assert TABLE


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--baseline", "nothing.json"], "there is no such file"),
        (["--baseline", "main"], "rankgauge baseline set main"),
        (["--baseline", "base.json", "--max-loss", "lots"], "write 5% or 0.05"),
        (["--baseline", "base.json", "--max-loss", "100%"], "max_loss"),
        (["--baseline", "base.json", "--target", "RR is good"], "is no target"),
        (["--baseline", "base.json", "--max-age", "3d"], "days ago"),
        (["--baseline", "base.json", "--max-latency", "p95 <= 2s"], "no latency"),
        (["--baseline", "base.json", "-m", "P@5"], "it has: nDCG@10, RR"),
        (["--baseline", "base.json", "--junit", "new.json"], "an input too"),
    ],
)
def test_what_the_user_can_mend(arguments: list[str], told: str) -> None:
    two(1.0)
    assert told in run_command("gate", "new.json", *arguments, status=2).stderr


def test_stale_baselines_say_how_to_go_on() -> None:
    shutil.copy(EXAMPLE / "testset.json", ".")
    for name in ("bm25", "hybrid"):
        run_command("evaluate", "testset.json", f"search={EXAMPLE / name}.run", "-m", "nDCG@10", "-o", f"{name}.json")
    run_command("baseline", "set", "main", "bm25.json")
    run_command("gate", "hybrid.json", "--baseline", "main")
    queries = json.loads(Path("testset.json").read_text())
    queries = queries["queries"] if isinstance(queries, dict) else queries
    Path("testset.json").write_text(json.dumps(queries[:-2]))
    run_command("evaluate", "testset.json", f"search={EXAMPLE / 'bm25.run'}", "-m", "nDCG@10", "-o", "later.json")
    done = run_command("gate", "later.json", "--baseline", "main", status=2)
    assert "different test sets" in done.stderr
    assert "rankgauge baseline set main RECORD" in done.stderr
    done = run_command("gate", "later.json", "--baseline", "main", "--allow", "testset")
    assert "only because that was allowed" in done.stdout
    run_command(
        "evaluate",
        "testset.json",
        f"search={EXAMPLE / 'bm25.run'}",
        "-m",
        "nDCG@10",
        "--missing",
        "skip",
        "-o",
        "l.json",
    )
    assert "missing: 'skip' and 'zero'" in run_command("gate", "l.json", "--baseline", "main", status=2).stderr


def test_baselines() -> None:
    two(0.98)
    written("lost.json", made({"nDCG@10": BASE * 0.8, "RR": BASE * 0.8}))
    assert "there is no history" in run_command("baseline", "list", status=2).stderr
    done = run_command(
        "baseline", "set", "main", "base.json", "--max-loss", "4%", "--target", "RR >= 0.2", "--note", "start"
    )
    assert done.stdout == "main version 1: ours of 2026-05-01, max relative loss 4 %\n"
    told = json.loads(run_command("gate", "new.json", "--baseline", "main", "--json").stdout)
    assert told["settings"]["max_loss"] == 0.04
    assert told["rules"][-1]["name"] == "RR >= 0.2"
    assert told["baseline"] == {
        "name": "main",
        "number": 1,
        "system": "ours",
        "created": "2026-05-01T12:00:00+00:00",
    }
    assert run_command("baseline", "promote", "main", "new.json").stdout.endswith(
        "main version 2: ours of 2026-05-01, max relative loss 4 %\n"
    )
    done = run_command("baseline", "promote", "main", "lost.json", status=1)
    assert done.stdout.endswith("main stays at version 2\n")
    assert "main's anchor (version 1)" in done.stdout
    assert "--note" in run_command("baseline", "promote", "main", "lost.json", "--force", status=2).stderr
    done = run_command("baseline", "promote", "main", "lost.json", "--force", "--note", "cheaper", "--lang", "zh")
    assert "仍强制提升：cheaper" in done.stdout
    shown = run_command("baseline", "show", "main").stdout
    assert "[regression] cheaper" in shown
    assert "test set: aaaaaaaaaaaa" in shown
    told = json.loads(run_command("baseline", "show", "main", "--json").stdout)
    assert [version["version"] for version in told["versions"]] == [3, 2, 1]
    assert set(told["means"]) == {"nDCG@10", "RR"}
    assert "main" in run_command("baseline", "list").stdout
    assert json.loads(run_command("baseline", "list", "--json").stdout)[0]["forced"] == "regression"
    run_command("baseline", "export", "main", "-o", "exported.json")
    told = json.loads(run_command("gate", "lost.json", "--baseline", "exported.json", "--json").stdout)
    assert told["settings"]["max_loss"] == 0.04


def test_a_promotion_that_cannot_tell() -> None:
    two(*UNSURE_BEYOND)
    run_command("baseline", "set", "main", "base.json", "--history", "own.db")
    arguments = ("baseline", "promote", "main", "new.json", "--history", "own.db")
    assert "INCONCLUSIVE" in run_command(*arguments, "--on-inconclusive", "report", status=3).stdout
    told = json.loads(run_command(*arguments, "--json", status=1).stdout)
    assert told["stored"] is None
    assert told["gates"][0]["status"] == "inconclusive"


def test_a_real_process() -> None:
    """The statuses that a shell sees, and a history by environment."""
    import os

    two(*LOST)
    env = {**os.environ, "RANKGAUGE_HISTORY": "elsewhere.db"}
    assert run_process("baseline", "set", "main", "base.json", env=env).status == 0
    assert Path("elsewhere.db").exists()
    done = run_process("gate", "new.json", "--baseline", "main", env=env)
    assert (done.status, done.stderr) == (1, "")
    assert run_process("gate", "new.json", "--baseline", "main").status == 2


def test_files_need_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess
    import sys

    two(1.0)
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; sys.argv = ['rankgauge', 'gate', 'new.json', *sys.argv[1:]]\n"
        "from rankgauge.cli import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code, "--baseline", "base.json"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([sys.executable, "-c", code, "--baseline", "main"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"it is in the extra rankgauge[guard]" in done.stderr
