"""A repository as the pages on CI suppose it, and the steps of their YAML run in it as a CI service would."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.docs.pages import DOCS, ROOT, blocks_of
from tests.packaging.action import run_action

__all__ = ["PAGES", "QUERIES", "Checkout", "yaml_blocks"]

PAGES = [DOCS / "how-to" / "gate.md", DOCS / "zh" / "how-to" / "gate.md"]
QUERIES = 120
_PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_STAND_INS = {"actions/checkout@v4", "actions/setup-python@v5"}
_SECRET = re.compile(r"\$\{\{ secrets\.(\w+) \}\}")

PLAN = """
testset = "testset.json"
measures = ["nDCG@10", "R@10"]
[calls]
{calls}
concurrency = 4
[[system]]
name = "search"
{system}
[outputs]
record = "record.json"
[gate]
max_loss = "5%"
"""
OWN = 'use = "search.service:search"'
SERVICE = "from search.ranking import ranked\n\ndef search(query, k):\n    return ranked(query)[:k]\n"
GOOD = "def ranked(query):\n    return [query.replace('text', 'doc'), 'other']\n"
RUBBISH = "def ranked(query):\n    return ['rubbish', 'other']\n"


def yaml_blocks(page: Path) -> Iterator[dict[str, Any]]:
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.language == "yaml":
            yield yaml.safe_load("\n".join(block.lines))


class Checkout:
    """A git checkout with plan, test set, a ranker and the wheel of the pages."""

    def __init__(self, folder: Path, like: Checkout | None = None) -> None:
        self.folder = folder
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("RANKGAUGE", "GITHUB", "PIP_"))},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_SHA": "0123abc",
            # The install line is carried out as far as it can be without a network: pip reads the wheel and says what
            # it would do. That its extras exist, and suffice, is looked at elsewhere.
            **dict.fromkeys(("PIP_DRY_RUN", "PIP_NO_DEPS", "PIP_NO_INDEX", "PIP_FORCE_REINSTALL"), "1"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        if like is not None:
            shutil.copytree(like.folder, folder, dirs_exist_ok=True)
            return
        queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": [f"doc {i}"]} for i in range(QUERIES)]
        self.write("testset.json", json.dumps(queries))
        self.plan()
        self.write("search/__init__.py", "")
        self.write("search/service.py", SERVICE)
        self.write("search/ranking.py", GOOD)
        self.write(".gitignore", ".rankgauge/\nrecord.json\n__pycache__/\n")
        self._vendor()
        self.bash("git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm first")

    def plan(self, system: str = OWN, calls: str = "") -> None:
        self.write("plan.toml", PLAN.format(system=system, calls=calls))

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _vendor(self) -> None:
        """What `pip wheel` makes, without its content: pip looks at the name and the metadata."""
        name, version = _PROJECT["name"], _PROJECT["version"]
        (self.folder / "vendor").mkdir()
        info = f"{name}-{version}.dist-info"
        extras = "".join(f"Provides-Extra: {extra}\n" for extra in _PROJECT["optional-dependencies"])
        with zipfile.ZipFile(self.folder / "vendor" / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{extras}")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")

    def bash(self, script: str, status: int | None = 0, **env: str) -> subprocess.CompletedProcess[str]:
        """A script as GitHub and GitLab run it: ended by the first command that fails."""
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.folder,
            env={**self.env, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        assert status is None or done.returncode == status, f"{script}\n{done.stdout}"
        assert "Traceback" not in done.stdout
        return done

    def step(self, script: str, **env: str) -> subprocess.CompletedProcess[str]:
        """A step of a job. Of pip, the package must be found without an index, with extras that it has."""
        done = self.bash(script, status=None, **env)
        if script.startswith("pip install"):
            assert done.returncode == 0, done.stdout
            assert f"Would install {_PROJECT['name']}-{_PROJECT['version']}" in done.stdout
            asked = re.findall(r"\[([\w,]+)\]", script)[0].split(",")
            assert set(asked) <= _PROJECT["optional-dependencies"].keys()
        return done

    def job(
        self, workflow: dict[str, Any], event: str, secrets: dict[str, str] | None = None
    ) -> tuple[list[str], subprocess.CompletedProcess[str]]:
        """A workflow's job at an event, until a step fails: the commands that were run, and what came of the last."""
        # YAML 1.1 reads the key `on` as true.
        assert event in workflow[True]
        ((_, job),) = workflow["jobs"].items()
        env = {
            key: _SECRET.sub(lambda found: (secrets or {})[found[1]], value)
            for key, value in job.get("env", {}).items()
        }
        ran, done = [], None
        for step in job["steps"]:
            if step.get("uses") == "./vendor/rankgauge":
                ran.append(step["uses"])
                ended = run_action(self.folder, {**self.env, **env}, step["with"])
                done = subprocess.CompletedProcess(ran[-1], int(ended.failed), ended.log)
                if ended.failed:
                    break
            elif "uses" in step:
                assert step["uses"] in _STAND_INS
            elif step.get("if") in (None, f"github.event_name == '{event}'"):
                ran.append(step["run"])
                done = self.step(step["run"], **env)
                if done.returncode:
                    break
            else:
                assert re.fullmatch(r"github\.event_name == '\w+'", step["if"])
        assert done is not None
        return ran, done

    def set_baseline(self, **env: str) -> None:
        """The baseline as the page tells to make it."""
        self.bash(
            "rankgauge run plan.toml; rankgauge baseline set main record.json --max-loss 5%;"
            "rankgauge baseline export main -o baseline.json; rm record.json",
            **env,
        )
