"""The files that `rankgauge gate` is asked to write: what an earlier run left there must not be taken for its verdict.

They are read from the words of the command line, before these are understood: a mistake in an option is no reason to
leave yesterday's PASS where a CI service looks for today's.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankgauge.cli.echo import echo
from rankgauge.errors import RankgaugeError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["append_step", "tell_failure", "withdraw"]

_OPTIONS = {"--junit": "junit", "--summary": "markdown", "--output": None, "-o": None}
"""The option of each file, and what is written there; None where the ending or --format says."""
_ENDINGS = {".xml": "junit", ".md": "markdown"}
"""What tells of a failure; files of other formats are only removed."""
_FORMATS = ("--format", "-f")
_HELP = ("--help", "-h")
_MARK = b"rankgauge.gate"
_BEGINNING = 4096


def withdraw(words: Sequence[str]) -> None:
    """Remove what an earlier gate wrote to the files named in the words. What the command reads stays, whatever it is
    called, and so does JSON that no gate has written."""
    if not _gate(words) or any(word in _HELP for word in words):
        return
    from pathlib import Path  # every command passes here, and most need none

    named = [path for _, path in _named(words, _OPTIONS)]
    read = [word.partition("=")[2] if word.startswith("--") else word for word in words]
    for path in map(Path, named):
        inputs = [Path(word) for word in read if word and word not in named]
        try:
            if path.is_file() and not any(_same(path, other) for other in inputs) and _ours(path):
                path.unlink()
        except OSError:
            continue  # it is told when it is written


def _gate(words: Sequence[str]) -> bool:
    """Whether the command is the gate: the first word that is neither an option nor its value."""
    before = ""
    for word in words:
        if not word.startswith("-") and before != "--max-size":
            return word == "gate"
        before = word
    return False


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False


def _ours(path: Path) -> bool:
    """Baselines and records are JSON too, and may be named where the words do not tell: in a file of rules."""
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    return not beginning.lstrip().startswith((b"{", b"[")) or _MARK in beginning


def tell_failure(words: Sequence[str], message: str) -> None:
    """Write into the files that no verdict could be reached."""
    if not _gate(words):
        return
    from rankgauge.formats.secrets import masked
    from rankgauge.reports import report
    from rankgauge.reports.gate import gate_error

    behind = words[words.index("gate") + 1 :]
    record = next((word for word in behind if not word.startswith("-")), "gate")
    built = gate_error(masked(message), masked(record))
    wanted = [form for _, form in _named(words, dict.fromkeys(_FORMATS))]
    for option, path in _named(words, _OPTIONS):
        form = _OPTIONS[option] or (wanted[-1] if wanted else _ENDINGS.get(os.path.splitext(path)[1].lower()))
        if form not in _ENDINGS.values() or path == "-" or os.path.exists(path):
            continue
        try:
            report(built, path, format=form)
        except RankgaugeError as error:  # the first error is the one to be told
            echo(f"rankgauge: {error}", err=True)
    append_step(report(built, format="markdown"))


def append_step(text: str) -> None:
    """Add to the page of a GitHub job, which other steps write to as well. The verdict does not depend on it."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        echo(
            f"rankgauge: warning: the summary was not added to {path} ($GITHUB_STEP_SUMMARY): "
            f"{error.strerror or error}",
            err=True,
        )


def _named(words: Sequence[str], options: Sequence[str] | dict[str, str | None]) -> list[tuple[str, str]]:
    """What options are given, each with its option: `--junit FILE`, `--junit=FILE`, `-o FILE`, `-oFILE`."""
    found = []
    for number, word in enumerate(words):
        for option in options:
            if word == option and number + 1 < len(words):
                found.append((option, words[number + 1]))
            elif option.startswith("--") and word.startswith(f"{option}="):
                found.append((option, word.partition("=")[2]))
            elif not option.startswith("--") and word.startswith(option) and len(word) > len(option) and word[1] != "-":
                found.append((option, word.removeprefix(option)))
    return found
