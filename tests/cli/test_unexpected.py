"""A fault of this program itself is an error like others: status 2 and one line. Status 1 is a verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from rankgauge.cli.app import app
from tests.cli.command import run_command, run_process


def commands() -> Iterator[list[str]]:
    """All of them, with those in groups."""
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ([name, own] for own in command.list_commands(context))
        else:
            yield [name]


class Panic(BaseException):
    """What libraries in Rust raise is no `Exception`."""


@pytest.mark.parametrize("fault", [RuntimeError, KeyError, RecursionError, Panic])
def test_in_every_command(fault: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = click.Command.make_context

    def broken(self: click.Command, *arguments: object, **rest: object) -> click.Context:
        if isinstance(self, click.Group):
            return plain(self, *arguments, **rest)  # type: ignore[arg-type]
        raise fault("a thing\nbroke, password=abc123")

    monkeypatch.setattr(click.Command, "make_context", broken)
    found = list(commands())
    assert len(found) > 25
    for words in found:
        said = run_command(*words, status=2).stderr
        assert said.startswith(f"rankgauge: unexpected error: {fault.__name__}: "), words
        assert said.count("\n") == 1
        assert "abc123" not in said
        assert said.endswith("(this is a fault of rankgauge; RANKGAUGE_DEBUG=1 shows where it is)\n")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no folder that is in use")
def test_a_working_folder_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    said = "rankgauge: the working folder was removed, so that no file can be found or written; change to one that is"
    for words in commands():
        assert run_command(*words, status=2).stderr.startswith(said), words
    assert run_command("--help").stdout.startswith("Usage")
    assert run_process("history", "list").stderr.startswith(said)


def test_a_working_folder_that_is_removed_meanwhile(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    code = f"""
import os
import rankgauge.cli.explain as explain
from rankgauge.cli import main

def broken(*arguments, **rest):
    os.rmdir({str(folder)!r})
    os.getcwd()

explain.contracts.callback = broken
main()
"""
    command = [sys.executable, "-c", code, "contracts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("rankgauge: the working folder was removed")


BROKEN = """
import rankgauge.cli.explain as explain
from rankgauge.cli import main

def broken(*arguments, **rest):
    raise RuntimeError("a thing broke")

explain.contracts.callback = broken
main()
"""


@pytest.mark.parametrize("debug", ["", "1"])
def test_where_it_is(debug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_DEBUG", debug)
    command = [sys.executable, "-c", BROKEN, "contracts"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "unexpected error: RuntimeError: a thing broke" in done.stderr
    assert ("Traceback" in done.stderr) == ("in broken" in done.stderr) == bool(debug)


@pytest.mark.parametrize(
    ("command", "statuses"),
    [
        ("measures", {"0", "141"}),
        ("measures --json", {"0", "141"}),
        ("gate absent.json --baseline absent.json 2> /dev/full", {"2"}),
        ("no-such-command 2> /dev/full", {"2"}),
    ],
)
def test_what_nobody_reads_is_no_verdict(command: str, statuses: set[str]) -> None:
    """1 is a regression: a reader that went away, or a log on a full disk, is none."""
    script = f"{sys.executable} -m rankgauge {command} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in statuses
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr
