"""`rankgauge demo`."""

from __future__ import annotations

import click

from rankgauge.cli import options

__all__ = ["demo"]

_MEASURES = ("nDCG@10", "R@5,10", "RR", "Success@5")
_END = {
    "en": "The files are in {folder}. Next: rankgauge explain nDCG@10; rankgauge measures; rankgauge compare --help",
    "zh": "示例文件位于 {folder}。接下来可试：rankgauge explain nDCG@10；rankgauge measures；rankgauge compare --help",
}
_REPORT = {"en": "The report is in {path}: open it in a browser.", "zh": "报告已写入 {path}，可用浏览器打开。"}


@click.command()
@click.option("--report", metavar="FILE.html", help="Also write the comparison as one HTML page.")
@options.lang
def demo(report: str | None, language: str) -> None:
    """Evaluate and compare a small bundled example, offline: two retrievers over Python's standard library."""
    from importlib.resources import as_file, files

    from rankgauge.cli.evaluate import evaluate_files, show
    from rankgauge.experiments.comparison import compare

    named = "testset.json bm25=bm25.run hybrid=hybrid.run"
    click.echo(f"$ rankgauge evaluate {named} -m {' -m '.join(_MEASURES)} --digits 3\n")
    with as_file(files("rankgauge") / "example") as folder:
        paths = {name: str(folder / f"{name}.run") for name in ("bm25", "hybrid")}
        runs = tuple(f"{name}={path}" for name, path in paths.items())
        record = evaluate_files(str(folder / "testset.json"), runs, _MEASURES)
        show(record, "table", per_query=False, digits=3, language=language, output=None)
        click.echo(f"\n$ rankgauge compare {named} -m nDCG@10\n")
        found = compare(folder / "testset.json", paths, "nDCG@10")
        for line in found.summary("zh" if language == "zh" else "en"):
            click.echo(line)
        if report is not None:
            from rankgauge.experiments.comparison_record import comparison_record
            from rankgauge.formats.sources import write_whole
            from rankgauge.reports.html import render_html

            whole = compare(folder / "testset.json", paths, _MEASURES)
            page = render_html(comparison_record(whole, provenance=False), "zh" if language == "zh" else "en")
            write_whole(report, page.encode())
            click.echo(f"\n{_REPORT[language].format(path=report)}")
        click.echo(f"\n{_END[language].format(folder=folder)}")
