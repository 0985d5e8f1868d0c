"""What every command of `rankgauge testset` shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from rankgauge.cli.echo import echo
from rankgauge.words import Language, say

__all__ = ["next_step", "show", "wrote"]


def show(
    built: Any,
    data: dict[str, Any],
    as_json: bool,
    output: str | None,
    language: Language,
    *,
    details: bool = False,
    digits: int = 4,
) -> None:
    """The report, or the same as JSON; where the test set goes to standard output, on standard error."""
    import sys

    from rankgauge.cli.flags import in_flags
    from rankgauge.cli.showing import detail_of, terminal_look
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports import report

    if as_json:
        text = dumps(data).decode()
    else:
        look = terminal_look(stream=sys.stderr if output == "-" else sys.stdout)
        look |= {"detail": detail_of(details), "digits": digits}
        text = in_flags(report(built, format="terminal", language=language, **look), sys.argv[1:])
    if output == "-":
        click.echo(text, err=True, nl=False)
    else:
        write_whole("-", text.encode())
    if output is not None and output != "-":
        wrote(output, language)


def wrote(path: str, language: Language) -> None:
    """That a file was written."""
    echo(say("spans.wrote", language, path=path), err=True)


def next_step(what: str, language: Language, **paths: str | Sequence[str] | None) -> None:
    """The command to go on with, as it can be pasted; what is not known is named in capitals."""
    import shlex

    listed = {name: [path] if isinstance(path, str) else path for name, path in paths.items()}
    named = {name: name.upper() if own is None else " ".join(map(shlex.quote, own)) for name, own in listed.items()}
    echo(say(f"testsets.next_{what}", language, **named), err=True)
