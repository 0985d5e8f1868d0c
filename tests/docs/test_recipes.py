"""The recipes of the pages on gates, carried out: a ranker that was broken, here or behind a URL, must not pass."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.docs.ci import GOOD, PAGES, RUBBISH, Checkout, yaml_blocks
from tests.history.conftest import server  # noqa: F401 - a fixture
from tests.packaging.action import ACTION
from tests.parts import ROOT, found
from tests.retrievers.servers import Asked, Reply, calls

PLAIN = "rankgauge run plan.toml && rankgauge gate record.json --rules plan.toml --baseline baseline.json"
ENGLISH, CHINESE = (list(yaml_blocks(page)) for page in PAGES)
BY_ACTION, IN_GIT, IN_DATABASE = (block for block in ENGLISH if "jobs" in block)
BY_ACTION_IN_CHINESE, IN_CHINESE, _ = (block for block in CHINESE if "jobs" in block)
(GITLAB,) = (block["gate"] for block in ENGLISH if "gate" in block)
PUBLISHED, LOCAL = (block["repos"][0] for block in ENGLISH if "repos" in block)
(HOOK,) = LOCAL["hooks"]


def commands(workflow: dict[str, Any]) -> list[str]:
    return [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "run" in step]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with a baseline."""
    checkout = Checkout(tmp_path_factory.mktemp("made"))
    checkout.set_baseline()
    return checkout


@pytest.fixture
def checkout(made: Checkout, tmp_path: Path) -> Checkout:
    return Checkout(tmp_path, made)


def test_before_a_commit(checkout: Checkout) -> None:
    """The module that the plan names stays as it is; what it imports is changed."""
    assert re.search(HOOK["files"], "search/ranking.py")
    assert "PASS" in checkout.bash(HOOK["entry"]).stdout
    assert "PASS" in checkout.bash(PLAIN).stdout
    checkout.write("search/ranking.py", RUBBISH)
    assert "REGRESSION" in checkout.bash(PLAIN, status=1).stdout
    assert "REGRESSION" in checkout.bash(HOOK["entry"], status=1).stdout


def test_before_a_commit_with_a_cache(checkout: Checkout) -> None:
    checkout.plan(calls="cache = true")
    for ranking, status in ((GOOD, 0), (RUBBISH, 1), (GOOD, 0)):
        checkout.write("search/ranking.py", ranking)
        checkout.bash(PLAIN, status=status)
    told = (checkout.folder / "record.json").read_text()
    assert re.search(r'"cached":\s*120', told)  # which are proven to be current, and so taken


def test_a_redeploy_behind_a_url(checkout: Checkout) -> None:
    given: list[str] = []

    def answer(asked: Asked) -> Reply:
        right = asked.body["query"].replace("text", "doc")
        return Reply({"hits": [{"id": one} for one in (given or [right])]})

    with calls(answer) as service:
        system = f'use = "http"\nparameters = {{ url = "{service.url}" }}'
        checkout.plan(system)
        checkout.bash(PLAIN)
        given.append("rubbish")
        assert "REGRESSION" in checkout.bash(PLAIN, status=1).stdout
        # Who asks for a cache is told no verdict on answers of an earlier server.
        given.clear()
        checkout.plan(system, "cache = true")
        checkout.bash(PLAIN)
        given.append("rubbish")
        told = checkout.bash(PLAIN, status=2).stdout
        assert "120 cached answers of search" in told
        assert "rankgauge run PLAN.toml --fresh" in told
        assert "--allow cached" in told
        assert "REGRESSION" in checkout.bash(HOOK["entry"], status=1).stdout


def test_workflow_with_a_baseline_in_git(checkout: Checkout) -> None:
    assert IN_GIT[True]["push"] == {"branches": ["main"]}
    ran, done = checkout.job(IN_GIT, "pull_request")
    assert done.returncode == 0, done.stdout
    assert ran == commands(IN_GIT)
    checkout.write("search/ranking.py", RUBBISH)
    ran, done = checkout.job(IN_GIT, "push")
    assert (ran, done.returncode) == (commands(IN_GIT), 1)
    assert "nDCG@10" in (checkout.folder / "summary.md").read_text()
    assert "<failure" in (checkout.folder / GITLAB["artifacts"]["reports"]["junit"]).read_text()
    assert checkout.step(commands(IN_CHINESE)[-1]).returncode == 1


def test_workflow_by_the_action(checkout: Checkout) -> None:
    ran, done = checkout.job(BY_ACTION, "pull_request")
    assert (ran, done.returncode) == (["./vendor/rankgauge"], 0), done.stdout
    checkout.write("search/ranking.py", RUBBISH)
    ran, done = checkout.job(BY_ACTION, "push")
    assert done.returncode == 1
    assert "REGRESSION" in done.stdout
    assert "nDCG@10" in (checkout.folder / "summary.md").read_text()


def test_hooks_of_the_page_are_there() -> None:
    """What they do is tried with pre-commit itself, elsewhere."""
    known = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    asked = {hook["id"]: hook for hook in PUBLISHED["hooks"]}
    assert asked.keys() == known.keys()
    assert asked["rankgauge-gate"]["args"] == known["rankgauge-gate"]["args"]


def test_inputs_of_the_page_are_those_of_the_action() -> None:
    page = PAGES[0].read_text(encoding="utf-8")
    table = page[page.index("| input | default |") : page.index("Its outputs are")]
    rows = [line.split("|") for line in table.splitlines()[2:] if line]
    told = {name: row[2].strip(" `") for row in rows for name in re.findall(r"`([\w-]+)`", row[1])}
    assert told == {name: given["default"] for name, given in ACTION["inputs"].items()} | {
        "history": "$RANKGAUGE_HISTORY"  # what an empty one stands for
    }
    assert BY_ACTION["jobs"]["gate"]["steps"][1] == BY_ACTION_IN_CHINESE["jobs"]["gate"]["steps"][1]


def test_the_other_pages_say_the_same() -> None:
    assert GITLAB["script"] == commands(IN_GIT)
    assert json.loads(json.dumps(CHINESE).replace(" --lang zh", "")) == json.loads(json.dumps(ENGLISH))


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A history in PostgreSQL where there is one, else in SQLite: the steps are the same."""
    if found("postgresql"):
        address: str = request.getfixturevalue("server").new()
        return address
    return str(tmp_path / "shared.db")


def test_workflow_with_a_history(checkout: Checkout, database: str) -> None:
    secrets = {"RANKGAUGE_HISTORY": database}
    checkout.set_baseline(**secrets)
    (checkout.folder / "baseline.json").unlink()
    ran, done = checkout.job(IN_DATABASE, "pull_request", secrets)
    assert done.returncode == 0, done.stdout
    assert "[guard,postgresql]" in ran[0]
    assert "--baseline main" in ran[-1]
    ran, done = checkout.job(IN_DATABASE, "push", secrets)
    assert (ran[-1].split()[1:3], done.returncode) == (["baseline", "promote"], 0)
    assert "main version 2" in done.stdout
    checkout.write("search/ranking.py", RUBBISH)
    for command in ran[-2:]:
        done = checkout.step(command, **secrets)
    assert done.returncode == 1
    assert "main stays at version 2" in done.stdout
