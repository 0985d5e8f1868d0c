"""Messages of the library, which name Python arguments, in the words of the command line.

The library writes an argument in backquotes: `missing='zero'`, `lossy=True`, `system=`. The command that was called
tells which of its options that is. Advice behind ", or", in Chinese too, that names an argument the command lacks is
left out.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence

import click

from rankgauge.visible import visible

__all__ = ["in_flags"]

_ARGUMENT = re.compile(r"`(?P<name>[a-z_]+)=(?P<value>[^`]*)`")
_REST = r"[^`;\uff1b\n]*(?:\n  [^`;\uff1b\n]*)?"  # of the line, and of the next one where a wrapped text goes on
_OR_ZH = r"\uff0c\u6216"  # ", or" in Chinese
_ADVICE = re.compile(rf"(?:, or(?: |\n  )|{_OR_ZH}){_REST}{_ARGUMENT.pattern}(?: \([^)\n]*\))?")


def in_flags(message: str, words: Sequence[str]) -> str:
    """The message with the options of the command that `words`, those behind the program's name, call."""
    if not _ARGUMENT.search(message):
        return message
    options = {option.name: option for option in _command(words).params}
    options |= {flag.lstrip("-").replace("-", "_"): one for one in [*options.values()] for flag in one.opts}
    message = _ADVICE.sub(lambda found: found[0] if found["name"] in options else "", message)
    return _ARGUMENT.sub(
        lambda found: _flag(options[found["name"]], found["value"]) if found["name"] in options else found[0], message
    )


def _command(words: Sequence[str]) -> click.Command:
    from rankgauge.cli.app import app

    command: click.Command = app
    for word in words:
        found = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        command = found or command
    return command


def _flag(option: click.Parameter, value: str) -> str:
    if isinstance(option, click.Argument):
        return option.human_readable_name
    name = max(option.opts, key=len)
    if not value or (isinstance(option, click.Option) and option.is_flag):
        return name
    try:
        read = ast.literal_eval(value)
    except (ValueError, SyntaxError):  # a place for one, such as N
        return f"{name} {value}"
    if isinstance(read, Mapping):
        return visible(" ".join(f"{name} {key}={shlex.quote(str(one))}" for key, one in read.items()))
    values = read if isinstance(read, list | tuple) else [read]
    return visible(" ".join(f"{name} {shlex.quote(str(one))}" for one in values))
