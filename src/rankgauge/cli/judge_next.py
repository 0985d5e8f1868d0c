"""`rankgauge judge-next`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.showing import chosen_format, terminal_look
from rankgauge.words import Language, tell

if TYPE_CHECKING:
    from rankgauge.sensitivity.judge_next import JudgingPlan

__all__ = ["judge_next"]

_FORMATS = {"table": "terminal", "json": "json", "csv": "csv", "trec": "trec"}
"""By the name used here, that of the format of reports."""
_ON_SCREEN, _IN_FILES = 10, 50
_ENDINGS = {".txt": "terminal", ".csv": "csv", ".run": "trec", ".trec": "trec"}


@click.command("judge-next")
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1),
    help=f"How many documents to show. Default: {_ON_SCREEN} in a table, else {_IN_FILES}.",
)
@options.scoring
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(list(_FORMATS)),
    help="How to show them; trec is a run whose scores are the influences. Default: by the ending of --output, else a "
    "table.",
)
@options.json_flag
@options.input_formats
@options.digits
@options.lang
@options.output
def judge_next(
    qrels: str,
    runs: tuple[str, ...],
    number: int | None,
    measures: tuple[str, ...],
    form: str | None,
    as_json: bool,
    qrels_format: str | None,
    run_format: str | None,
    digits: int,
    language: Language,
    output: str | None,
    **choices: Any,
) -> None:
    """Which documents to judge next: those whose judgments would most narrow what unjudged documents leave open.

    With several runs, what is to be narrowed is the range of the difference of each pair; with one, that of its own
    means. The influence of a document is by how much its judgment narrows the ranges on average, over all measures.
    """
    from rankgauge.cli.evaluate import input_paths, named_runs
    from rankgauge.evaluation import DEFAULT_MEASURES
    from rankgauge.formats import load_judgments, open_run
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports import report
    from rankgauge.reports.judging import judging_report
    from rankgauge.sensitivity.judge_next import judge_next as plan_judging

    if choices.pop("corpus") is not None:
        raise click.UsageError("--corpus has no use here: labels do not tell which texts fit into a context budget")
    form = chosen_format(form, as_json, output, _ENDINGS)
    form = "table" if form == "terminal" else form
    number = number or (_ON_SCREEN if form == "table" and not output else _IN_FILES)
    choices |= options.read_choices(choices)
    input_paths(qrels, runs, output)
    judgments = load_judgments(qrels, qrels_format)
    opened = {name: open_run(path, run_format) for name, path in named_runs(runs).items()}
    found = plan_judging(judgments, opened, measures or DEFAULT_MEASURES, number=number, **choices)
    if form == "json":
        data = dumps(found.to_dict())
    elif form == "trec":
        data = _trec(found)
    else:
        built, look = judging_report(found, list(opened), digits), terminal_look(output)
        data = report(built, format=_FORMATS[form], language=language, digits=digits, **look).encode()
    write_whole(output or "-", data)
    if form in ("csv", "trec"):  # these have no place for remarks
        for note in found.notes:
            echo(f"rankgauge: {tell(note, language)}", err=True)


def _trec(plan: JudgingPlan) -> bytes:
    import polars as pl

    from rankgauge.formats.convert import refuse_blanks
    from rankgauge.formats.trec import render_run
    from rankgauge.model.run import Run

    rows = [(candidate.query, candidate.doc, candidate.influence) for candidate in plan.candidates]
    schema = {"query": pl.String, "doc": pl.String, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    refuse_blanks(Run.of_frame(frame, "judge-next"), "judge-next")
    return render_run(frame, "judge-next")
