"""`rankgauge convert`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo

__all__ = ["convert"]

_FORMATS = "trec, json, jsonl, csv, tsv, parquet, beir, or a tool such as ragas, squad or quepid"


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--lossy", is_flag=True, help="Drop what the target cannot hold.")
@click.option("--from", "form", metavar="FORMAT", help=f"Format of IN, if detection is wrong: {_FORMATS}.")
@click.option("--to", metavar="FORMAT", help="Format of OUT, if its ending does not tell.")
@click.option(
    "--as", "kind", type=click.Choice(["run", "judgments", "testset"]), help="What IN holds, if that is not clear."
)
def convert(source: str, target: str, lossy: bool, form: str | None, to: str | None, kind: str | None) -> None:
    """Convert a run, judgments or a test set from IN to OUT; either may be - for standard input or output.

    The ending of OUT tells the format (.txt .run .qrels .json .jsonl .csv .tsv .parquet, each with .gz or .zst). What
    the target cannot hold is named first, and wants --lossy.
    """
    from rankgauge.formats.convert import convert as convert_file

    options.refuse_overwriting(target, [source])
    loaded = convert_file(source, target, lossy=lossy, form=form, to=to, kind=kind)
    if target != "-":
        n = len(loaded.content)
        echo(f"{target}: {loaded.written} of {n} {'query' if n == 1 else 'queries'}", err=True)
