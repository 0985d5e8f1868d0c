"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["digits", "json_flag", "lang", "output"]

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


def output(command: F) -> F:
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write to this file, whole or not at all, instead of standard output (.gz and .zst compress).",
    )(command)
