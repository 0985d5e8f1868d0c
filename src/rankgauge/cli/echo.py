"""What commands say to people. Tables, pages and JSON come finished from the renderers and go out as they are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

import click

from rankgauge.visible import visible_lines

if TYPE_CHECKING:
    from rankgauge.words import Language

__all__ = ["echo", "in_lines", "tell_imports"]


def echo(text: str = "", *, err: bool = False, file: TextIO | None = None) -> None:
    """A text of ours, whose ends of lines are meant; names from elsewhere in it have their controls spelled out."""
    stream = file or (sys.stderr if err else sys.stdout)
    click.echo(in_lines(visible_lines(text), stream), file=stream)


def in_lines(text: str, stream: TextIO) -> str:
    """The text broken at words where the stream is a terminal, each line set in as far as it was; else as it is, for
    programs that look for its lines."""
    if not stream.isatty():
        return text
    from rankgauge.reports.tables import terminal_width, wrapped  # not needed by those who only write files

    width = terminal_width(stream)
    return "\n".join(wrapped(line, width, f"{line[: len(line) - len(line.lstrip())]}  ") for line in text.split("\n"))


def tell_imports(plan: str, language: Language) -> None:
    """Name the modules of a plan whose code is about to run, where a command only looks at it."""
    from rankgauge.plans.plan import modules_of
    from rankgauge.words import say

    if modules := modules_of(plan):
        echo(say("live.imports", language, modules=modules), err=True)
