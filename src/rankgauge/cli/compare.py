"""`rankgauge compare` and `rankgauge compare-scores`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.evaluate import check_standard_input, named_runs
from rankgauge.cli.keeping import Keeping, keeping
from rankgauge.stats.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankgauge.comparison import Comparison

__all__ = ["compare", "compare_scores"]

_FORMATS = ("table", "json", "csv", "markdown", "latex", "html")

_TESTING = (
    click.option("--baseline", metavar="NAME", help="Compare all others with this system, instead of all pairs."),
    click.option(
        "--test",
        type=options.PartOf(TESTS),
        default="randomization",
        show_default=True,
        help="Randomization, t and bootstrap are about the mean difference; wilcoxon and sign are not.",
    ),
    click.option(
        "--correction",
        type=click.Choice(CORRECTIONS),
        default="holm",
        show_default=True,
        help="For the comparisons shown: holm and max-t bound the chance of any false alarm, bh the share of them.",
    ),
    click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of tests and intervals."),
    click.option(
        "--margin", type=float, default=0.01, show_default=True, help="A difference below this would not matter."
    ),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random draws."),
    click.option(
        "--samples",
        type=int,
        metavar="N",
        help="Random draws. Default: 100000, bootstrap 10000; fewer beyond 7000 queries.",
    ),
)

_SHOWING = (
    click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(_FORMATS),
        help="How to show the result. Default: by the ending of --output, else a table.",
    ),
    options.json_flag,
    click.option("--charts", metavar="DIR", help="Write every chart as PNG and SVG into this folder."),
    options.digits,
    options.lang,
    options.output,
)


def _testing(command: Any) -> Any:
    for option in reversed(_TESTING):
        command = option(command)
    return command


def _showing(command: Any) -> Any:
    for option in reversed(_SHOWING):
        command = option(command)
    return command


@click.command()
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@options.scoring
@_testing
@click.option("--rerank", is_flag=True, help="Two runs, before=CANDIDATES after=RERANKED: split the change.")
@click.option("--ablation", metavar="NAME", help="The full system; all others are it with a part taken away.")
@click.option("--by", type=click.Choice(["tag"]), help="Also compare within each tag of the test set.")
@click.option(
    "--quick", is_flag=True, help="Leave out the ranges over unjudged documents and tied orders, and result lists."
)
@options.input_formats
@keeping
@_showing
def compare(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    rerank: bool,
    ablation: str | None,
    by: str | None,
    quick: bool,
    qrels_format: str | None,
    run_format: str | None,
    keep: bool,
    history: str | None,
    label: str | None,
    form: str | None,
    as_json: bool,
    charts: str | None,
    digits: int,
    language: str,
    output: str | None,
    **choices: Any,
) -> None:
    """Compare runs on the same judgments: which differences are real, which cannot be told with this test set.

    Each row is one measure and pair: the difference with an interval, a p-value corrected for all rows shown, and a
    verdict: better, worse, equivalent (within the margin), or cannot tell.
    """
    from rankgauge.comparison import compare as compare_runs
    from rankgauge.errors import DataError
    from rankgauge.evaluation import DEFAULT_MEASURES, make_plan
    from rankgauge.formats import load_judgments, open_run

    form = options.chosen_form(form, as_json, output, _FORMATS)
    named = named_runs(runs)
    options.refuse_overwriting(output, [qrels, *named.values()])
    check_standard_input([qrels, *named.values()], stream=False)
    if rerank and len(named) != 2:
        raise DataError("--rerank compares exactly two runs: before=CANDIDATES after=RERANKED")
    if ablation is not None:
        if choices["baseline"] not in (None, ablation):
            raise DataError("--ablation names the baseline; leave out --baseline")
        choices["baseline"] = ablation
    kept = Keeping(keep, history, label)
    wanted = measures or DEFAULT_MEASURES
    make_plan(wanted, choices.get("contract"))
    sides = {key: choices[key] for key in ("corpus", "collapse_chunks")}
    choices |= options.read_choices(choices)
    opened = {name: open_run(path, run_format) for name, path in named.items()}
    comparison = compare_runs(load_judgments(qrels, qrels_format), opened, wanted, **choices)
    split = None
    if rerank:
        from rankgauge.comparison.rerank import rerank_of

        split = rerank_of(comparison)
    paths = {"judgments": qrels, **{f"run:{name}": path for name, path in named.items()}, **_files(sides)}
    record = _show(
        comparison,
        paths,
        form,
        charts,
        digits,
        language,
        output,
        slices=by == "tag",
        whole=not quick,
        rerank=split,
        keep=keep,
    )
    kept.store(record, language)


def _files(sides: Mapping[str, str | None]) -> dict[str, str]:
    import os

    return {key: path for key, path in sides.items() if path and os.path.exists(path)}


@click.command("compare-scores")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@_testing
@click.option("--lower-is-better", is_flag=True, help="Smaller scores are better, such as latency.")
@click.option("-m", "--measure", metavar="NAME", help="Which measure, where the file holds several.")
@click.option(
    "--force", is_flag=True, help="Compare records although their contracts or test sets differ; the result is on you."
)
@_showing
def compare_scores(
    files: tuple[str, ...],
    lower_is_better: bool,
    measure: str | None,
    force: bool,
    form: str | None,
    as_json: bool,
    charts: str | None,
    digits: int,
    language: str,
    output: str | None,
    **choices: Any,
) -> None:
    """Compare per-query scores that were computed before: a CSV, or records.

    A CSV has one column for each system and one row for each query (a column `query` names it), or the columns query,
    system, value and perhaps measure. Records are those that `evaluate -o record.json` writes.
    """
    from rankgauge.comparison.stored_scores import compare_stored

    form = options.chosen_form(form, as_json, output, _FORMATS)
    options.refuse_overwriting(output, files)
    comparison = compare_stored(files, measure=measure, force=force, lower_is_better=lower_is_better, **choices)
    paths = {f"scores:{i}": path for i, path in enumerate(files, start=1)}
    _show(comparison, paths, form, charts, digits, language, output)


def _show(
    comparison: Comparison,
    paths: Mapping[str, str],
    form: str,
    charts: str | None,
    digits: int,
    language: str,
    output: str | None,
    *,
    slices: bool = False,
    whole: bool = True,
    rerank: Any = None,
    keep: bool = False,
) -> dict[str, Any]:
    """Print the record of a comparison, or write it whole; the record."""
    from pathlib import Path

    from rankgauge.comparison.comparison_record import comparison_record
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import Source, write_whole
    from rankgauge.reports.comparison import render
    from rankgauge.reports.tables import terminal_width
    from rankgauge.words import check_language

    keep = keep or form in ("json", "html")
    inputs = {
        key: {"path": path, "sha256": Source(path).sha256()} for key, path in paths.items() if Path(path).is_file()
    }
    record = comparison_record(
        comparison,
        inputs=inputs if keep else None,
        provenance=keep,
        slices=slices,
        uncertainty=whole,
        lists=keep and whole,
        rerank=rerank,
    )
    chosen = check_language(language)
    if charts:
        from rankgauge.reports.charts import save_charts

        save_charts(record, charts, chosen)
    if form == "json":
        data = dumps(record)
    elif form == "html":
        from rankgauge.reports.html import render_html

        data = render_html(record, chosen).encode()
    else:
        width = terminal_width(to_file=output is not None)
        data = render(record, form, digits=digits, language=chosen, width=width).encode()
    write_whole(output or "-", data)
    return record
