"""Reads the fenced blocks of a page and runs them as a reader would.

- ```python blocks of a page run in order and share their names. A ```text block right behind one shows its output.
  Those that import one of the libraries of OPTIONAL, which take gigabytes, are passed over where it is not installed.
- ```console blocks hold `$ rankgauge ...` lines, each with the output it shows, if any; `$ echo $?` shows the status
  of the command before it, which otherwise has to be 0.
- ```bash blocks hold commands alone.
- ```shell blocks (make, pip) are not run.

A line `...` in an output stands for any lines.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from unittest import mock

from tests.cli.command import run_command

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
GENERATED = (DOCS / "reference", DOCS / "zh" / "reference")
OPTIONAL = {"sentence_transformers", "torch", "torchmetrics", "transformers"}
_FENCE = re.compile(r"^(\s*)```(\S*)\s*$")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")


def written_pages() -> list[Path]:
    """Every page that a person wrote."""
    return [*READMES, *sorted(path for path in DOCS.rglob("*.md") if path.parent not in GENERATED)]


@dataclass(frozen=True)
class Block:
    language: str
    start: int
    """Index of the first line inside the fence."""
    lines: list[str]

    @property
    def end(self) -> int:
        return self.start + len(self.lines)


def blocks_of(text: str) -> list[Block]:
    found, language, start = [], None, 0
    lines = text.splitlines()
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence is None:
            continue
        assert not fence[1], f"line {number + 1}: a fence must not be indented"
        if language is None:
            language, start = fence[2], number + 1
        else:
            assert not fence[2], f"line {number + 1}: a fence opens inside another"
            found.append(Block(language, start, lines[start:number]))
            language = None
    assert language is None, "a fence is not closed"
    return found


def links_of(text: str) -> list[str]:
    """Targets of all links and pictures outside code."""
    lines = text.splitlines()
    for block in reversed(blocks_of(text)):
        del lines[block.start - 1 : block.end + 1]
    return _LINK.findall(re.sub(r"`[^`]*`", "", "\n".join(lines)))


def anchors_of(text: str) -> set[str]:
    """Anchors of a page's headings, as mkdocs makes them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


@dataclass(frozen=True)
class Shown:
    """An output on a page (lines `start` to `end`) beside what really comes out."""

    start: int
    end: int
    lines: list[str]
    real: list[str]

    @property
    def right(self) -> bool:
        return same(self.lines, self.real)


def same(shown: Sequence[str], real: Sequence[str]) -> bool:
    """Whether an output is what is shown, where `...` stands for any lines."""
    if not shown:
        return not real
    if shown[0] == "...":
        return any(same(shown[1:], real[i:]) for i in range(len(real) + 1))
    return bool(real) and shown[0] == real[0] and same(shown[1:], real[1:])


def plain(text: str) -> list[str]:
    """Lines without trailing blanks, without empty lines at the end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


@dataclass
class Command:
    text: str
    start: int
    """Index of the first line of its output."""
    shown: list[str] = field(default_factory=list)


def commands_of(block: Block) -> Iterator[Command]:
    command: Command | None = None
    unfinished = False
    for number, line in enumerate(block.lines, start=block.start):
        if unfinished and command is not None:
            command.text = f"{command.text[:-1]} {line.strip()}"
            command.start = number + 1
        elif block.language == "bash" or line.startswith("$ "):
            if command is not None:
                yield command
            command = Command(line.removeprefix("$ "), number + 1)
        else:
            assert command is not None, f"line {number + 1}: output before the first command"
            command.shown.append(line.rstrip())
        assert command is not None
        unfinished = command.text.endswith("\\")
    if command is not None:
        yield command


def run_page(path: Path) -> list[Shown]:
    """Run a page in the current folder: all its outputs, as shown and as they are."""
    blocks, outputs = blocks_of(path.read_text(encoding="utf-8")), []
    names: dict[str, object] = {"__name__": "__page__"}
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.language == "python" and not _lacking(block):
            real = _run_python(block, path, names)
            if after is not None and after.language == "text" and after.start == block.end + 3:
                outputs.append(Shown(after.start, after.end, plain("\n".join(after.lines)), real))
        elif block.language in ("console", "bash"):
            outputs += _run_console(block, path)
    return outputs


def _lacking(block: Block) -> list[str]:
    """Optional libraries that a block imports and that are not installed."""
    tree = ast.walk(ast.parse("\n".join(block.lines)))
    nodes = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
    named = [getattr(node, "module", None) or node.names[0].name for node in nodes]
    return [name for name in {*named} & OPTIONAL if importlib.util.find_spec(name) is None]


def _run_python(block: Block, path: Path, names: dict[str, object]) -> list[str]:
    code = compile("\n" * block.start + "\n".join(block.lines), str(path), "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, names)
    return plain(out.getvalue())


def _run_console(block: Block, path: Path) -> Iterator[Shown]:
    commands = list(commands_of(block))
    status = 0
    for command, after in zip_longest(commands, commands[1:]):
        place = f"{path}:{command.start}"
        if command.text == "echo $?":
            real = [str(status)]
        else:
            name, *arguments = shlex.split(command.text)
            assert name == "rankgauge", f"{place}: only rankgauge can be run here, not {name}"
            stdin = b""
            if "<" in arguments:
                at = arguments.index("<")
                stdin = Path(arguments[at + 1]).read_bytes()
                del arguments[at : at + 2]
            with mock.patch.dict(os.environ, {"COLUMNS": "80"}):  # as wide as the pages
                done = run_command(*arguments, stdin=stdin, status=None)
            status, real = done.status, plain(done.stdout + done.stderr)
            told = after is not None and after.text == "echo $?"
            assert status == 0 or told, f"{place}: {command.text}: status {status}\n{done.stderr}"
        if command.shown:
            end = command.start + len(command.shown)
            yield Shown(command.start, end, plain("\n".join(command.shown)), real)


def refresh(path: Path, outputs: Sequence[Shown]) -> None:
    """Write the real outputs into a page; those with `...` are left to a person unless all are asked for."""
    everything = os.environ.get("RANKGAUGE_UPDATE_DOCS") == "all"
    lines = path.read_text(encoding="utf-8").splitlines()
    for output in sorted(outputs, key=lambda output: -output.start):
        if not output.right and (everything or "..." not in output.lines):
            lines[output.start : output.end] = output.real
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
