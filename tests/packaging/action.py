"""action.yml carried out as GitHub does: its steps one after the other, each in a bash of its own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.parts import ROOT

__all__ = ["ACTION", "Ended", "run_action"]

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
_EXPRESSION = re.compile(r"\$\{\{ (.+?) \}\}")


@dataclass(frozen=True)
class Ended:
    """What came of an action."""

    failed: bool
    outputs: dict[str, str]
    log: str


def run_action(
    folder: Path,
    env: Mapping[str, str],
    inputs: Mapping[str, str],
    *,
    done_before: Iterable[str] = ("Install rankgauge",),
    path: Path = ROOT,
) -> Ended:
    """The action at `path`, in a workspace; steps that were done before, by their names, are left out."""
    assert inputs.keys() <= ACTION["inputs"].keys()
    known = {f"inputs.{name}": inputs.get(name, given["default"]) for name, given in ACTION["inputs"].items()}
    log, failed = "", False
    for number, step in enumerate(ACTION["runs"]["steps"]):
        if "if" in step:
            asked, wanted = re.fullmatch(r"(inputs\.\S+) != '(.*)'", step["if"]).groups()  # type: ignore[union-attr]
            if known[asked] == wanted:
                continue
        if "uses" in step:
            assert step["uses"] == "actions/setup-python@v5"
            assert _filled(step["with"], known)
            continue
        if step["name"] in done_before:
            continue
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "what a user gives would be carried out"
        told = folder / f".output-{number}"
        told.touch()
        script = folder / f".step-{number}.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
            cwd=folder,
            env={**env, **_filled(step["env"], known), "GITHUB_ACTION_PATH": str(path), "GITHUB_OUTPUT": str(told)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
        log += done.stdout
        assert "Traceback" not in done.stdout or "pip install" in step["run"], done.stdout  # pip's own is not ours
        for name, _, value in (line.partition("=") for line in told.read_text().splitlines()):
            known[f"steps.{step['id']}.outputs.{name}"] = value
        for made in (told, script):
            os.unlink(made)
        if done.returncode != 0:
            failed = True
            break
    values = {name: output["value"] for name, output in ACTION["outputs"].items()}
    return Ended(failed, _filled(values, known), log)


def _filled(values: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Values with their expressions filled in: of alternatives, the first that is there."""

    def fill(found: re.Match[str]) -> str:
        names = found[1].split(" || ")
        assert all(name.startswith("steps.") or name in known for name in names), found[1]
        return next((known[name] for name in names if known.get(name)), "")

    return {name: _EXPRESSION.sub(fill, value) for name, value in values.items()}
