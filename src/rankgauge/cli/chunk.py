"""`rankgauge chunk`."""

from __future__ import annotations

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo

__all__ = ["chunk"]

_BY = ("characters", "words", "sentences", "headings")  # rankgauge.retrievers.chunking.BY, which is slow to import


@click.command()
@click.argument("corpus", metavar="CORPUS")
@click.option("--size", type=click.IntRange(1), required=True, metavar="N", help="Most characters of a chunk.")
@click.option(
    "--overlap",
    type=click.FloatRange(0),
    default=0,
    metavar="N",
    help="Characters that a chunk repeats of the one before it; a share of the size if below 1.",
)
@click.option("--by", type=click.Choice(_BY), default="sentences", show_default=True, help="Where chunks may end.")
@click.option("-o", "--output", metavar="FILE", default="-", help="Write to this file; default: standard output.")
def chunk(corpus: str, size: int, overlap: float, by: str, output: str) -> None:
    """Cut the documents of CORPUS, JSON Lines or a BEIR folder, into chunks.

    A line is written for each: {"id": "d1#0", "doc": "d1", "start": 0, "end": 312, "text": "..."}. This is what
    --collapse-chunks of the other commands takes, and what an index can be built from.
    """
    from rankgauge.formats.chunks import save_chunks
    from rankgauge.retrievers.chunking import chunk as cut

    options.refuse_overwriting(output, [corpus])
    made = cut(corpus, size, overlap, by=by)
    save_chunks(made, output)
    if output != "-":
        echo(f"{output}: {len(made)} chunks of {len(made.by_document)} documents", err=True)
