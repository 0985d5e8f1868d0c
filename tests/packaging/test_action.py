"""The GitHub action: what it measures, what it tells, and when it stops the job."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankgauge import Record
from tests.docs.ci import Checkout
from tests.packaging.action import run_action
from tests.packaging.clean import Clean
from tests.parts import ROOT

HELD = {"rules": "plan.toml", "baseline": "baseline.json"}
# Nothing but rubbish for so many of the 120 queries: the loss is that share of what there was.
RANKING = (
    "def ranked(query):\n    return [query.replace('text', 'doc') if int(query[5:]) >= {} else 'rubbish', 'other']\n"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    checkout = Checkout(tmp_path_factory.mktemp("made"))
    checkout.set_baseline()
    checkout.bash("rankgauge run plan.toml")  # an old record, which must never be taken for a new one
    return checkout


@pytest.fixture
def checkout(made: Checkout, tmp_path: Path) -> Checkout:
    return Checkout(tmp_path, made)


@pytest.mark.parametrize(
    ("lost", "more", "status", "verdict"),
    [
        (0, "", "0", "pass"),
        (120, "", "1", "regression"),
        (4, "", "0", "inconclusive"),
        (4, "--on-inconclusive report", "3", "inconclusive"),
    ],
)
def test_verdicts(checkout: Checkout, lost: int, more: str, status: str, verdict: str) -> None:
    checkout.write("search/ranking.py", RANKING.format(lost))
    ended = run_action(checkout.folder, checkout.env, {**HELD, "gate-arguments": more})
    assert ended.outputs == {"status": status, "verdict": verdict, "record": "record.json"}, ended.log
    assert ended.failed == (status != "0")
    assert Record.load(checkout.folder / "record.json").systems[0].name == "search"
    assert "nDCG@10" in ended.log  # of the record
    assert "nDCG@10" in (checkout.folder / "summary.md").read_text()
    failures = ElementTree.parse(checkout.folder / "gate.xml").findall(".//failure")
    assert bool(failures) == (status == "1")


def test_files_are_evaluated_too(checkout: Checkout) -> None:
    for name in ("testset.json", "bm25.run"):
        shutil.copy(ROOT / "src" / "rankgauge" / "example" / name, checkout.folder)
    given = {"command": "evaluate", "arguments": "testset.json search=bm25.run -m no-such", "record": "out.json"}
    ended = run_action(checkout.folder, checkout.env, given)
    assert ended.outputs["verdict"] == "error"
    given["arguments"] = "testset.json 'the search=bm25.run' -m nDCG@10"
    ended = run_action(checkout.folder, checkout.env, {**given, "gate-arguments": "--target 'nDCG@10 >= 0.4'"})
    assert ended.outputs == {"status": "0", "verdict": "pass", "record": "out.json"}, ended.log
    assert Record.load(checkout.folder / "out.json").systems[0].name == "the search"


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"command": "demo"}, "command: 'demo' is neither evaluate nor run"),
        ({"arguments": "'plan.toml"}, "arguments: No closing quotation"),
        ({"arguments": "--help"}, "run wrote no record to record.json"),
        ({"record": "no/such/folder.json"}, "record: no/such/folder.json: No such file or directory"),
        ({"record": "a\nverdict=pass"}, "is no name of a file"),
        ({"rules": "", "baseline": ""}, "there is nothing to hold the record against"),
    ],
)
def test_no_verdict_without_a_record_of_now(checkout: Checkout, inputs: dict[str, str], told: str) -> None:
    """A record that was left there earlier is not judged in its place, and a verdict does not stay."""
    (checkout.folder / "gate.xml").write_text("<?xml version='1.0'?><testsuites tests='1' failures='0' errors='0'/>")
    ended = run_action(checkout.folder, checkout.env, {**HELD, **inputs})
    assert ended.failed
    assert ended.outputs["verdict"] == "error"
    assert ended.outputs["status"] == "2"
    assert told in ended.log
    assert not list(checkout.folder.rglob("*.part"))
    junit = checkout.folder / "gate.xml"
    assert not junit.exists() or ElementTree.parse(junit).findall(".//error")


@pytest.mark.parametrize(
    "names",
    [
        ("extras",),
        ("arguments",),
        ("gate-arguments",),
        ("rules", "baseline", "history", "junit", "record"),
    ],
    ids=" ".join,
)
def test_nothing_given_is_carried_out(checkout: Checkout, names: tuple[str, ...]) -> None:
    evil = "\"; touch owned; $(touch owned) `touch owned` '; touch owned; #"
    done_before = () if "extras" in names else ("Install rankgauge",)
    ended = run_action(checkout.folder, checkout.env, HELD | dict.fromkeys(names, evil), done_before=done_before)
    assert ended.failed
    assert not (checkout.folder / "owned").exists()


def test_a_baseline_of_a_history(checkout: Checkout, tmp_path: Path) -> None:
    place = str(tmp_path / "team.db")
    checkout.set_baseline(RANKGAUGE_HISTORY=place)
    (checkout.folder / ".rankgauge" / "history.db").unlink()  # where it would be looked for otherwise
    ended = run_action(checkout.folder, checkout.env, {"baseline": "main", "history": place})
    assert ended.outputs["verdict"] == "pass", ended.log


@pytest.mark.needs("registry")
def test_it_installs_itself(checkout: Checkout, tmp_path_factory: pytest.TempPathFactory) -> None:
    """All steps, in an environment that has the dependencies of the core alone."""
    clean = Clean(tmp_path_factory.mktemp("clean"), "-r", ROOT / "pyproject.toml")
    env = {**clean.env, "GITHUB_STEP_SUMMARY": checkout.env["GITHUB_STEP_SUMMARY"]}
    ended = run_action(checkout.folder, env, {**HELD, "extras": "http"}, done_before=())
    assert ended.outputs == {"status": "0", "verdict": "pass", "record": "record.json"}, ended.log
    assert "httpx" in clean.run("python", "-c", "import httpx, rankgauge; print(httpx.__name__, rankgauge.__path__)")
