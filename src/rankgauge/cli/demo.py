"""`rankgauge demo`."""

from __future__ import annotations

import sys
from typing import Any

import click

from rankgauge.cli import options

__all__ = ["demo"]

_WORDS = {
    "en": {
        "start": "Searching Python's standard library: the docstrings of this interpreter, questions a programmer "
        "would ask, and judgments from 0 to 3.",
        "stdlib": "reading docstrings",
        "index": "building indexes: BM25, and latent semantic analysis for the dense part",
        "system": "asking {name}",
        "weight": "tuning the weight of the dense part",
        "ef_search": "tuning ef_search of an approximate index",
        "size": "{documents} documents, {queries} questions",
        "chinese": "Now in Chinese, where words have to be found first (jieba): {documents} answers of a city's "
        "service desk, {queries} questions",
        "report": "The report is in {path}: open it in a browser.",
        "end": "Small example files are in {folder}. Next: rankgauge explain nDCG@10; rankgauge compare --help; "
        "rankgauge init",
    },
    "zh": {
        "start": "检索 Python 标准库：文档取自当前解释器的 docstring，问题是程序员会问的，标注等级为 0 到 3。",
        "stdlib": "读取 docstring",
        "index": "建立索引：BM25，以及稠密部分所用的潜在语义分析",
        "system": "查询 {name}",
        "weight": "调整稠密部分的权重",
        "ef_search": "调整近似索引的 ef_search",
        "size": "{documents} 篇文档，{queries} 个问题",
        "chinese": "再看中文，需要先分词（jieba）：某市服务台的 {documents} 条答复，{queries} 个问题",
        "report": "报告已写入 {path}，可用浏览器打开。",
        "end": "小型示例文件位于 {folder}。接下来可试：rankgauge explain nDCG@10；rankgauge compare --help；"
        "rankgauge init",
    },
}


@click.command()
@click.option(
    "--report",
    metavar="FILE.html",
    default="rankgauge-demo.html",
    show_default=True,
    help="Where to write the report; - for none.",
)
@options.lang
def demo(report: str, language: str) -> None:
    """Search Python's standard library with four retrievers, offline: quality, significance, latency and tuning.

    BM25, dense, hybrid and reranked are compared, the weight of the hybrid and ef_search are tuned, and the report is
    written as one HTML page. A second, small collection is Chinese.
    """
    from importlib.resources import as_file, files

    from rankgauge.demo.showcase import chinese_showcase, stdlib_showcase
    from rankgauge.reports.comparison import render
    from rankgauge.reports.tables import terminal_width
    from rankgauge.words import check_language

    words, chosen = _WORDS[language], check_language(language)

    def say(what: str) -> None:
        if sys.stderr.isatty():
            text = words[what] if what in words else words["system"].format(name=what)
            click.echo(f"  {text} ...", err=True)

    looks: dict[str, Any] = {"digits": 3, "language": chosen, "width": terminal_width(), "details": False}
    click.echo(words["start"] + "\n")
    found = stdlib_showcase(say)
    click.echo(words["size"].format(documents=found.documents, queries=len(found.test_set)) + "\n")
    click.echo(render(found.record, "table", **looks))
    small = chinese_showcase()
    click.echo(words["chinese"].format(documents=small.documents, queries=len(small.test_set)) + "\n")
    click.echo(render(small.record, "table", **looks))
    if report != "-":
        from rankgauge.formats.sources import write_whole
        from rankgauge.reports.html import render_html

        write_whole(report, render_html(found.record, chosen).encode())
        click.echo(words["report"].format(path=report))
    with as_file(files("rankgauge") / "example") as folder:
        click.echo(words["end"].format(folder=folder))
