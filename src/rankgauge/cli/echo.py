"""What commands say to people. Tables, pages and JSON come finished from the renderers and go out as they are."""

from __future__ import annotations

from typing import IO

import click

from rankgauge.visible import visible_lines

__all__ = ["echo"]


def echo(text: str = "", *, err: bool = False, file: IO[str] | None = None) -> None:
    """A text of ours, whose ends of lines are meant; names from elsewhere in it have their controls spelled out."""
    click.echo(visible_lines(text), err=err, file=file)
