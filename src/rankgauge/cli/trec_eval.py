"""`rankgauge trec_eval`: trec_eval's flags, measures and output."""

from __future__ import annotations

import click

from rankgauge.cli.quick import begin_quickly

__all__ = ["trec_eval"]


@click.command("trec_eval")
@click.argument("qrels", metavar="QRELS")
@click.argument("run", metavar="RUN")
@click.option(
    "-m",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure as trec_eval writes it, such as P.5,10 or ndcg_cut; or official (default), set, all_trec.",
)
@click.option("-q", "per_query", is_flag=True, help="Print every query too.")
@click.option("-n", "no_summary", is_flag=True, help="Print no summary.")
@click.option(
    "-c", "complete", is_flag=True, help="Average over all judged queries: one that the run lacks counts zero."
)
@click.option("-l", "level", type=float, metavar="N", help="Least grade that counts as relevant.")
@click.option("-M", "depth", type=click.IntRange(1), metavar="N", help="Cut every list after N documents.")
@click.option("-J", "judged_only", is_flag=True, help="Drop documents nobody judged.")
@click.option("--v9", is_flag=True, help="Follow trec_eval 9: float32 scores, other recall levels.")
def trec_eval(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    per_query: bool,
    no_summary: bool,
    complete: bool,
    level: float | None,
    depth: int | None,
    judged_only: bool,
    v9: bool,
) -> None:
    """Print what trec_eval prints, line by line."""
    begin_quickly(qrels, [run], single=v9)
    from rankgauge.evaluation.trec_eval import TrecEval, trec_lines
    from rankgauge.formats import Source, load_qrels, open_run
    from rankgauge.formats.trec import first_tag

    flags = TrecEval(
        per_query, not no_summary, complete, level, depth, judged_only, "trec_eval9" if v9 else "trec_eval"
    )
    source = Source(run)
    lines = trec_lines(load_qrels(qrels), open_run(source), measures or ["official"], flags, tag=first_tag(source))
    click.echo("\n".join(lines))
