"""What commands say to people. Tables, pages and JSON come finished from the renderers and go out as they are."""

from __future__ import annotations

from typing import IO

import click

from rankgauge.visible import visible_lines
from rankgauge.words import Language, say

__all__ = ["echo", "tell_imports"]


def echo(text: str = "", *, err: bool = False, file: IO[str] | None = None) -> None:
    """A text of ours, whose ends of lines are meant; names from elsewhere in it have their controls spelled out."""
    click.echo(visible_lines(text), err=err, file=file)


def tell_imports(plan: str, language: Language) -> None:
    """Name the modules of a plan whose code is about to run, where a command only looks at it."""
    from rankgauge.plans.plan import modules_of

    if modules := modules_of(plan):
        echo(say("live.imports", language, modules=modules), err=True)
