"""`rankgauge demo`."""

from __future__ import annotations

import click

from rankgauge.cli import options

__all__ = ["demo"]

_MEASURES = ("nDCG@10", "R@5,10", "RR", "Success@5")
_END = {
    "en": "The files are in {folder}. Next: rankgauge explain nDCG@10; rankgauge measures; rankgauge evaluate --help",
    "zh": "示例文件位于 {folder}。接下来可试：rankgauge explain nDCG@10；rankgauge measures；rankgauge evaluate --help",
}


@click.command()
@options.lang
def demo(language: str) -> None:
    """Evaluate a small bundled example, offline: two retrievers over Python's standard library, 30 queries."""
    from importlib.resources import as_file, files

    from rankgauge.cli.evaluate import evaluate_files, show

    click.echo(
        f"$ rankgauge evaluate testset.json bm25=bm25.run hybrid=hybrid.run -m {' -m '.join(_MEASURES)} --digits 3\n"
    )
    with as_file(files("rankgauge") / "example") as folder:
        runs = tuple(f"{name}={folder / f'{name}.run'}" for name in ("bm25", "hybrid"))
        record = evaluate_files(str(folder / "testset.json"), runs, _MEASURES)
        show(record, "table", per_query=False, digits=3, language=language, output=None)
        click.echo(f"\n{_END[language].format(folder=folder)}")
