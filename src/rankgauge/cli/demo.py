"""`rankgauge demo`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.showing import detail_of, terminal_look
from rankgauge.words import Language, say

if TYPE_CHECKING:
    from rankgauge.demo.showcase import Showcase

__all__ = ["demo"]

_ERASED = "\r\x1b[2K"


@click.command()
@click.option(
    "--report",
    metavar="FILE.html",
    default="rankgauge-demo.html",
    show_default=True,
    help="Where to write the report; - for none.",
)
@click.option("--chinese", is_flag=True, help="Search a small Chinese collection instead: a city's service desk.")
@options.details
@options.lang
def demo(report: str, chinese: bool, details: bool, language: Language) -> None:
    """Search Python's standard library with four retrievers, offline: quality, significance, latency and tuning.

    BM25, dense, hybrid and reranked are compared, the weight of the hybrid and ef_search are tuned, and the report is
    written as one HTML page. --chinese shows the same for a small Chinese collection.
    """
    from rankgauge.demo.showcase import check_showcase, chinese_showcase, stdlib_showcase
    from rankgauge.reports import report as written

    shown = sys.stderr.isatty()

    def progress(step: str) -> None:
        if shown:
            known = step in ("stdlib", "reading", "index", "weight", "ef_search")
            text = say(f"demo.{step}", language) if known else say("demo.asking", language, name=step)
            click.echo(f"{_ERASED}{text} ...", err=True, nl=False)

    def show(key: str, found: Showcase) -> None:
        if shown:
            click.echo(_ERASED, err=True, nl=False)
        look = terminal_look()
        title = say(key, language, documents=found.documents, queries=len(found.test_set))
        echo(title + "\n")
        click.echo(written(found.record, language=language, digits=3, detail=detail_of(details), **look))

    check_showcase(report=report != "-")
    found, which = (chinese_showcase(progress), "_chinese") if chinese else (stdlib_showcase(progress), "")
    show(f"demo.title{which}", found)
    if report != "-":
        written(found.record, report, format="html", language=language)
        echo(say("demo.report_only" if details else f"demo.report{which}", language, path=report))
    echo(say(f"demo.next{which}", language))
