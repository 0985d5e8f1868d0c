"""`rankgauge demo`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.words import Language, say

if TYPE_CHECKING:
    from rankgauge.demo.showcase import Showcase

__all__ = ["demo"]


@click.command()
@click.option(
    "--report",
    metavar="FILE.html",
    default="rankgauge-demo.html",
    show_default=True,
    help="Where to write the report; - for none.",
)
@options.lang
def demo(report: str, language: Language) -> None:
    """Search Python's standard library with four retrievers, offline: quality, significance, latency and tuning.

    BM25, dense, hybrid and reranked are compared, the weight of the hybrid and ef_search are tuned, and the report is
    written as one HTML page. A second, small collection is Chinese.
    """
    from importlib.resources import as_file, files

    from rankgauge.demo.showcase import check_showcase, chinese_showcase, stdlib_showcase
    from rankgauge.reports import report as written
    from rankgauge.reports.tables import terminal_width

    def tell(step: str) -> None:
        if sys.stderr.isatty():
            known = step in ("stdlib", "index", "weight", "ef_search")
            text = say(f"demo.{step}", language) if known else say("demo.asking", language, name=step)
            echo(f"  {text} ...", err=True)

    def show(key: str, found: Showcase) -> None:
        echo(say(key, language, documents=found.documents, queries=len(found.test_set)) + "\n")
        width = terminal_width()
        click.echo(written(found.record, language=language, digits=3, detail="answer", width=width))

    check_showcase(report=report != "-")
    echo(say("demo.start", language) + "\n")
    found = stdlib_showcase(tell)
    show("demo.size", found)
    show("demo.chinese", chinese_showcase())
    if report != "-":
        written(found.record, report, format="html", language=language)
        echo(say("demo.report", language, path=report))
    with as_file(files("rankgauge") / "example") as folder:
        echo(say("demo.end", language, folder=folder))
