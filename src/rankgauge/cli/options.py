"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

__all__ = ["digits", "json_flag", "lang", "output", "refuse_overwriting"]

F = TypeVar("F", bound=Callable[..., Any])


def _default_language() -> str:
    """Chinese where the environment speaks it: RANKGAUGE_LANG first, then the locale."""
    for name in ("RANKGAUGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def lang(command: F) -> F:
    """--lang: `language` is "en" or "zh"."""
    return click.option(
        "--lang",
        "language",
        type=click.Choice(["en", "zh"]),
        default=_default_language,
        show_default="from the locale",
        help="Language of results and explanations.",
    )(command)


def json_flag(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def digits(command: F) -> F:
    return click.option(
        "--digits", type=click.IntRange(0, 15), default=4, show_default=True, help="Digits after the point."
    )(command)


def refuse_overwriting(output: str | None, inputs: Iterable[str]) -> None:
    """An output that is one of the inputs is a slip of the hand."""
    from rankgauge.errors import DataError

    if output is None or not os.path.exists(output):
        return
    for path in inputs:
        if os.path.exists(path) and os.path.samefile(path, output):
            raise DataError(f"{output} is an input too; name another file for the output")


def output(command: F) -> F:
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to this file, whole or not at all, instead of standard output (.gz and .zst compress).",
    )(command)
