"""Messages of the library name Python arguments; the command line names its own options."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankgauge import evaluate
from rankgauge.cli.flags import in_flags
from rankgauge.errors import RankgaugeError
from tests.cli.command import run_command

ADVICE = "remove it, or keep the better one with `duplicates='first'`"


@pytest.mark.parametrize(
    ("command", "message", "shown"),
    [
        ("evaluate", "count them with `missing='zero'`", "count them with --missing zero"),
        ("evaluate", "give them with `corpus=`; then go on", "give them with --corpus; then go on"),
        ("evaluate", "leave out `stream=True` here", "leave out --stream here"),
        ("evaluate", "`collapse_chunks='('` is bad", "--collapse-chunks '(' is bad"),
        ("evaluate", "`depth=10` and `measures=['AP', 'RR']`", "--depth 10 and --measure AP --measure RR"),
        ("evaluate", "`rel=N`", "--rel N"),
        ("evaluate", "write nDCG(rel=2)@10", "write nDCG(rel=2)@10"),
        ("evaluate", "`qrels=` is empty", "QRELS is empty"),
        ("testset candidates", "name it with `columns={'text': 'its name'}`", "name it with --column text='its name'"),
        ("convert", "say which with `kind='run'`", "say which with --as run"),
        ("evaluate", ADVICE, "remove it, or keep the better one with --duplicates first"),
        ("trec_eval", ADVICE, "remove it"),
        ("trec_eval", "remove it, or\n  give `duplicates=`", "remove it"),
        ("trec_eval", "give one, or\ngive `duplicates=`", "give one, or\ngive `duplicates=`"),
        ("trec_eval", "可以删除，或用\n  `duplicates=`", "可以删除"),
        ("trec_eval", "give `corpus=`", "give `corpus=`"),
        ("history add", "`seed=3` is no seed", "`seed=3` is no seed"),
        ("", "no `seed=3`", "no `seed=3`"),
    ],
)
def test_arguments_become_options(command: str, message: str, shown: str) -> None:
    assert in_flags(message, [*command.split(), "file", "--nothing"]) == shown


@pytest.fixture
def repeated(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 2.0 t\nq Q0 d 2 1.0 t\n")
    return str(tmp_path / "qrels"), str(tmp_path / "run")


def test_repeats_name_only_what_the_command_has(repeated: tuple[str, str]) -> None:
    hint = "remove the repeats, or keep the better one of each with"
    with pytest.raises(RankgaugeError, match=f"{hint} `duplicates='first'`"):
        evaluate(*repeated)
    assert f"{hint} --duplicates first\n" in run_command("evaluate", *repeated, status=2).stderr
    done = run_command("trec_eval", *repeated, status=2)
    assert done.stderr.endswith("hint: remove the repeats\n")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_files_from_pipes(tmp_path: Path) -> None:
    """`<(zcat qrels.gz)` is a pipe: it can be read only once, and not sought in."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "run").write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n")
    for command in (
        "evaluate -m RR {0} {1}",
        "reconcile -m RR --value 0.5 {0} {1}",
        "trec_eval -m recip_rank {0} {1}",
        "convert {0} - --to json",
    ):
        piped = command.format(*(f"<(cat {tmp_path / name})" for name in ("qrels", "run")))
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m rankgauge {piped}"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
        assert done.returncode == 0, done.stderr
        assert "0.50" in done.stdout or '"d1"' in done.stdout


def test_an_unknown_language_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_LANG", "zh_CN.UTF-8")
    assert "如何选择指标" in run_command("measures").stdout
    monkeypatch.setenv("RANKGAUGE_LANG", "fr")
    assert "'fr' is not one of" in run_command("measures", status=2).stderr
    monkeypatch.delenv("RANKGAUGE_LANG")
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    assert "Which measure for what" in run_command("measures").stdout
