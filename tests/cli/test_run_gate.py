"""`rankgauge run` applies the plan's [gate] table to what it has measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge.record import Record
from tests.cli.command import run_command

N = 60
PLAN = """
testset = "questions.json"
measures = ["RR"]
[[system]]
name = "own"
use = "{module}:search"
[outputs]
record = "{record}"
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    entries = [{"id": f"q{i}", "query": f"query {i}", "relevant_docs": [f"d{i}"]} for i in range(N)]
    Path("questions.json").write_text(json.dumps(entries))
    name = f"gated_{abs(hash(tmp_path))}"
    Path(f"{name}.py").write_text(
        "def search(query, k):\n    i = int(query.split()[1])\n    return [f'd{i + SHIFT}', f'd{i}']\nSHIFT = 0\n"
        "def worse(query, k):\n    i = int(query.split()[1])\n    return [f'd{i + 1}', f'd{i}']\n"
    )
    Path("plan.toml").write_text(PLAN.format(module=name, record="base.json"))
    run_command("run", "plan.toml")
    return name


def write(module: str, gate: str, search: str = "search", more: str = "") -> None:
    plan = PLAN.format(module=module, record="record.json").replace(":search", f":{search}")
    Path("plan.toml").write_text(plan + gate + more)


def test_a_gate_that_holds(module: str) -> None:
    write(module, '[gate]\nbaseline = "base.json"\nmax_loss = "5%"\n')
    told = run_command("run", "plan.toml")
    assert "PASS" in told.stdout
    assert "RR" in told.stdout


def test_a_gate_that_stops(module: str) -> None:
    write(module, '[gate]\nbaseline = "base.json"\n', "worse")
    told = run_command("run", "plan.toml", status=1)
    assert "REGRESSION" in told.stdout
    assert Record.load("record.json").systems[0].means["RR"].value == 0.5  # written all the same
    as_json = run_command("run", "plan.toml", "--json", status=1)
    assert Record.from_dict(json.loads(as_json.stdout))
    assert "REGRESSION" in as_json.stderr.upper()
    only = run_command("run", "plan.toml", "--no-gate")
    assert "REGRESSION" not in only.stdout


def test_rules_without_a_baseline(module: str) -> None:
    write(module, '[gate]\ntargets = ["RR >= 0.9"]\n')
    assert "PASS" in run_command("run", "plan.toml").stdout
    write(module, '[gate]\ntargets = ["RR >= 0.9"]\n', "worse")
    run_command("run", "plan.toml", status=1)


@pytest.mark.parametrize("rules", ['max_loss = "5%"', 'targets = ["RR >= baseline - 5%"]'])
def test_a_table_without_the_baseline_it_needs_is_left_to_gate(module: str, rules: str) -> None:
    write(module, f"[gate]\n{rules}\n", "worse")
    told = run_command("run", "plan.toml")
    assert "[gate] table names no baseline, so it is not applied" in told.stderr


def test_what_the_gate_needs_is_looked_for_first(module: str) -> None:
    write(module, '[gate]\nbaseline = "gone.json"\n')
    assert "gone.json" in run_command("run", "plan.toml", status=2).stderr
    write(module, '[gate]\nbaseline = "base.json"\n', more=f'[[system]]\nname = "b"\nuse = "{module}:worse"\n')
    told = run_command("run", "plan.toml", status=2).stderr
    assert 'system = "own" under [gate], or give --no-gate' in told
    assert not Path("record.json").exists()


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ('system = "other"\ntargets = ["RR >= 0.9"]', "the plan has no system 'other'; it has: own, own2"),
        ('targets = ["RR >= 0.9"]', "write system = \"own\" under [gate], or give --no-gate"),
        ('system = "own"\nbaseline = "gone.json"', "gone.json"),
    ],
)
def test_check_looks_at_the_gate_and_nothing_is_asked_in_vain(module: str, gate: str, said: str) -> None:
    write(module, f"[gate]\n{gate}\n", more=f'[[system]]\nname = "own2"\nuse = "{module}:worse"\n')
    Path("record.json").unlink(missing_ok=True)
    for words in (["--check"], []):
        assert said in " ".join(run_command("run", "plan.toml", *words, status=2).stderr.split())
    assert not Path("record.json").exists()
    assert "no faults" in run_command("run", "plan.toml", "--check", "--no-gate").stdout
