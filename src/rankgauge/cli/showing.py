"""How results are shown: the formats come from the registry of renderers, JSON is the record itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from rankgauge.cli.echo import echo
from rankgauge.cli.options import PartOf
from rankgauge.reports.renderers import RENDERERS
from rankgauge.words import Language, Note, say, tell

if TYPE_CHECKING:
    from rankgauge.record import Record
    from rankgauge.reports.document import Detail

__all__ = [
    "charts_option",
    "chosen_format",
    "detail_of",
    "format_option",
    "latex_option",
    "scenario_option",
    "show",
    "tell_hints",
    "terminal_look",
]

F = TypeVar("F", bound=Callable[..., Any])
_NO_REMARKS = ("csv", "latex", "trec_eval")
"""Formats without a place for warnings."""


def format_option(text: str, *more: str) -> Callable[[F], F]:
    """-f, --format: a renderer, or one of `more`."""
    return click.option("-f", "--format", "form", type=PartOf(RENDERERS, *more), help=text)


scenario_option = click.option(
    "--scenario",
    type=click.Choice(["precise", "general", "exploratory"]),
    help="Show the means beside the reference values of a scenario: see 'rankgauge explain nDCG'.",
)
latex_option = click.option(
    "--latex",
    type=click.Choice(["paper", "details"]),
    help="Of -f latex: systems by measures with the best in bold and letters for significant differences (paper, the "
    "default), or every table that --details shows.",
)
charts_option = click.option("--charts", metavar="DIR", help="Write every chart as PNG and SVG into this folder.")


def chosen_format(
    form: str | None,
    as_json: bool,
    output: str | None,
    endings: Mapping[str, str] | None = None,
    *,
    latex: str | None = None,
) -> str:
    """The format asked for, else the one that the output's ending tells, else that of a terminal. `endings` are those
    of a command with formats of its own; `latex` is a kind of LaTeX, which asks for that format."""
    if latex is not None:
        if form is None and not as_json and output in (None, "-"):
            return "latex"
        found = chosen_format(form, as_json, output, endings)
        if found != "latex":
            raise click.UsageError(f"--latex {latex} goes with -f latex or -o file.tex, not with the format {found}")
        return found
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other")
    if as_json or form is not None:
        return "json" if as_json else str(form)
    if output is None:
        return "terminal"
    from rankgauge.formats.sources import unpacked_name
    from rankgauge.reports.renderers import format_of

    ending = os.path.splitext(unpacked_name(output).lower())[1]
    known = {"": "terminal", ".json": "json", **(endings or {})}
    if endings is not None and ending not in known:
        listed = ", ".join(filter(None, known))
        raise click.UsageError(f"{output}: the ending tells no format; known are {listed}, or choose one with --format")
    return known.get(ending) or format_of(output, "json")


def detail_of(details: bool) -> Detail | None:
    """How much --details shows; None is what a format shows by itself."""
    return "evidence" if details else None


def terminal_look(output: str | None = None, stream: TextIO | None = None) -> dict[str, Any]:
    """Width and colour as `report` takes them: those of the terminal, none in a file. NO_COLOR and TERM=dumb switch
    colours off, FORCE_COLOR on (no-color.org, force-color.org)."""
    from rankgauge.reports.tables import terminal_width

    stream, to_file = stream or sys.stdout, output not in (None, "-")
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    wanted = stream.isatty() or bool(os.environ.get("FORCE_COLOR"))
    return {"width": terminal_width(stream, to_file=to_file), "color": wanted and not plain and not to_file}


def show(
    record: Record,
    form: str,
    *,
    language: Language,
    digits: int = 4,
    output: str | None = None,
    charts: str | None = None,
    per_query: bool = False,
    details: bool = False,
    scenario: str | None = None,
    latex: str | None = None,
) -> None:
    """Print a record, or write it whole and say what was decided; its charts go into a folder of their own."""
    if charts:
        from rankgauge.reports.drawing import save_charts

        drawn = save_charts(record, charts, language, digits=digits)
        echo(say("live.wrote_charts", language, n=len(drawn), path=charts), err=True)
    from rankgauge.formats.sources import write_whole

    if form == "json":
        write_whole(output or "-", record.to_json().encode())
        _tell_written(record, output, language)
        return
    from rankgauge.cli.flags import in_flags
    from rankgauge.reports import report
    from rankgauge.reports.build import record_report
    from rankgauge.reports.cells import Look, note_line
    from rankgauge.reports.next_step import next_step

    built = record_report(record, per_query=per_query, scenario=scenario)
    look = {"format": form, "language": language, "digits": digits, **terminal_look(output)}
    look["detail"] = detail_of(details if latex is None else latex == "details")
    if form == "terminal":  # where advice can name the options of the command
        write_whole(output or "-", in_flags(report(built, **look), sys.argv[1:]).encode())
    else:
        report(built, output or "-", **look)
    _tell_written(record, output, language)
    if form == "terminal" and not details and output is None and sys.stdout.isatty():
        tell_hints(Note("answer.hint"), next_step(record), language, **terminal_look())
    for caution in built.cautions if form in _NO_REMARKS else ():
        echo(f"rankgauge: {note_line(caution, Look(language))}", err=True)


def tell_hints(more: Note | None, step: Note | None, language: Language, *, width: int | None, color: bool) -> None:
    """What else there is, faintly, and what to do next, below a result on a terminal."""
    from rankgauge.reports.tables import wrapped

    told = [(wrapped(tell(hint, language), width, "  "), hint is more) for hint in (more, step) if hint is not None]
    if told:
        click.echo("\n" + "\n".join(click.style(text, dim=True) if faint and color else text for text, faint in told))


def _tell_written(record: Record, output: str | None, language: Language) -> None:
    """The verdict and the path of what was written, for people who look at the terminal."""
    if output in (None, "-"):
        return
    if record.comparison is not None:
        from rankgauge.comparison import summary_notes

        for i, note in enumerate(summary_notes(record)):
            if i == 0 or note.key == "comparison.no_ids":
                echo(tell(note, language), err=True)
    elif record.losses:
        from rankgauge.comparison.loss_notes import lead_notes

        echo(tell(lead_notes(record.losses[0])[0], language), err=True)
    echo(say("live.wrote", language, path=output), err=True)
