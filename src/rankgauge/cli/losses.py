"""`rankgauge losses`."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.evaluate import input_paths, named_runs
from rankgauge.cli.keeping import Keeping, keeping
from rankgauge.cli.showing import charts_option, chosen_format, format_option, show
from rankgauge.words import Language

__all__ = ["losses"]


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.option(
    "--stage",
    "stages",
    metavar="NAME=RUN",
    multiple=True,
    required=True,
    help="The list of one stage; give it for each, first to last. The last one is what the reader gets.",
)
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="Documents that the reader gets.")
@click.option(
    "--indexed",
    metavar="FILE",
    help="Ids of the documents in the index: one on each line, a JSON list, or JSON Lines with _id.",
)
@click.option(
    "--budget", type=click.IntRange(1), metavar="N", help="Characters that fit into the prompt; needs --corpus."
)
@options.counting
@options.input_formats
@keeping
@format_option("How to show the result. Default: by the ending of --output, else for a terminal.", "json")
@options.json_flag
@charts_option
@options.details
@options.digits
@options.lang
@options.output
def losses(
    qrels: str,
    stages: tuple[str, ...],
    k: int,
    indexed: str | None,
    budget: int | None,
    qrels_format: str | None,
    run_format: str | None,
    keep: bool,
    history: str | None,
    label: str | None,
    form: str | None,
    as_json: bool,
    charts: str | None,
    details: bool,
    digits: int,
    language: Language,
    output: str | None,
    **choices: Any,
) -> None:
    """Where each relevant document was lost, and how much improving that stage could gain at most in recall.

    Every relevant document has one place: not in the corpus (--corpus), not in the index (--indexed), not in the list
    of a stage, ranked below k, cut by the budget, or found.
    """
    from rankgauge.comparison.losses import losses as find_losses
    from rankgauge.evaluation import hashed, signatures
    from rankgauge.formats import load_judgments, open_run

    form = chosen_format(form, as_json, output)
    *earlier, last = named_runs(stages)
    given = input_paths(qrels, stages, output)
    paths: dict[str, str | None] = {key: path for key, path in given.items() if key in ("judgments", f"run:{last}")}
    paths |= {f"stage:{name}": given[f"run:{name}"] for name in earlier}
    paths |= {"corpus": choices["corpus"], "collapse_chunks": choices["collapse_chunks"], "indexed": indexed}
    before = signatures(paths)
    kept = Keeping(keep, history, label)
    choices |= options.read_choices(choices)
    opened = {name: open_run(path, run_format) for name, path in named_runs(stages).items()}
    found = find_losses(load_judgments(qrels, qrels_format), opened, k, indexed=indexed, budget=budget, **choices)
    record = found.to_record(inputs=hashed(paths, before), lists=keep or form in ("json", "html"))
    show(record, form, charts=charts, digits=digits, language=language, output=output, details=details)
    kept.store(record, language)
