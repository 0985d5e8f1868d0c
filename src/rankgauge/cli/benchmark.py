"""`rankgauge benchmark`: public benchmarks, their official measures, and runs on them."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.bars import bars
from rankgauge.cli.testset_showing import show, wrote
from rankgauge.words import Language

__all__ = ["benchmark"]

_folder = click.option(
    "--folder", metavar="FOLDER", help="Where the benchmark is kept. Default: benchmarks/NAME in this folder."
)


@click.group()
def benchmark() -> None:
    """Public benchmarks: list them, get them, and run a retriever under their official measures."""


@benchmark.command("list")
@click.argument("family", required=False)
@click.option("--language", "code", metavar="CODE", help="Only those in this language, such as zh.")
@options.json_flag
@options.details
@options.lang
def list_command(family: str | None, code: str | None, as_json: bool, details: bool, language: Language) -> None:
    """The families of the catalogue, or all sets of one FAMILY with size, main measure and published BM25."""
    from rankgauge.benchmarks import list_benchmarks
    from rankgauge.reports.benchmarks import benchmark_dict, catalogue_report, families_report

    found = list_benchmarks(family=family, language=code)
    built = families_report(found) if family is None and code is None else catalogue_report(found)
    data: Any = {"benchmarks": [benchmark_dict(one) for one in found]} if as_json else {}
    show(built, data, as_json, None, language, details=details)


@benchmark.command("show")
@click.argument("name")
@options.json_flag
@options.lang
def show_command(name: str, as_json: bool, language: Language) -> None:
    """What the benchmark NAME is: measures, contract, licence, where it comes from, published BM25 figures."""
    from rankgauge.benchmarks import find_benchmark
    from rankgauge.reports.benchmarks import benchmark_dict, benchmark_report

    found = find_benchmark(name)
    show(benchmark_report(found), benchmark_dict(found), as_json, None, language)


@benchmark.command()
@click.argument("name")
@click.option(
    "--from",
    "local",
    metavar="PATH",
    help="A downloaded folder, or zip or tar archive, as its makers lay it out; nothing is downloaded then.",
)
@click.option(
    "--source",
    type=click.Choice(["auto", "ir_datasets", "huggingface"]),
    default="auto",
    show_default=True,
    help="What downloads it; auto takes what is installed.",
)
@_folder
@options.json_flag
@options.lang
def fetch(name: str, local: str | None, source: str, folder: str | None, as_json: bool, language: Language) -> None:
    """Get the benchmark NAME, and keep it as a folder with testset.json and corpus.jsonl.

    Without a network the error says what to download from where, and --from takes it.
    """
    from rankgauge.benchmarks import fetch_benchmark
    from rankgauge.reports.benchmarks import fetched_report

    with bars() as tell:
        found = fetch_benchmark(
            name,
            folder,
            local=local,
            source=source,
            progress=None if tell is None else lambda done, total: tell(name, done, total),
        )
    data = {"benchmark": found.benchmark.name, "folder": str(found.folder), "licence": found.benchmark.licence}
    show(fetched_report(found), data, as_json, None, language)


@benchmark.command("run")
@click.argument("name")
@click.argument("run", metavar="[RUN]", required=False)
@click.option(
    "--retriever",
    metavar="RETRIEVER",
    help="Ask a retriever instead: a built-in one such as bm25, module:attribute, or a plan with one [[system]].",
)
@click.option(
    "-p",
    "--parameter",
    "given",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the retriever, such as b=0.4.",
)
@click.option("-k", type=click.IntRange(1), help="Documents to ask for. Default: what the deepest measure needs.")
@click.option("--concurrency", type=click.IntRange(1), default=1, show_default=True, help="Calls at a time.")
@click.option(
    "--beside", metavar="PATH", help="Results of MTEB, a file or a folder: their figures on the same task stand beside."
)
@_folder
@click.option("-o", "--output", metavar="FILE", help="Write the record to this file, as JSON.")
@options.json_flag
@options.digits
@options.lang
def run_command(
    name: str,
    run: str | None,
    retriever: str | None,
    given: tuple[str, ...],
    k: int | None,
    concurrency: int,
    beside: str | None,
    folder: str | None,
    output: str | None,
    as_json: bool,
    digits: int,
    language: Language,
) -> None:
    """Score RUN, or a retriever, with the official measures of the benchmark NAME and under its contract.

    The figures stand beside what is published of BM25, as a check whether they can be right. FOLDER is what `fetch`
    wrote, or a folder as the benchmark's makers lay it out.
    """
    from rankgauge.benchmarks import run_benchmark
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports.benchmarks import run_report

    if (run is None) == (retriever is None):
        raise click.UsageError("give a RUN, or --retriever: one of them")
    options.refuse_overwriting(output, [run] if run else [])
    with bars() as tell:
        found = run_benchmark(
            name,
            run,
            retriever=retriever,
            parameters=_parameters(given),
            folder=folder,
            k=k,
            concurrency=concurrency,
            beside=beside or (),
            progress=None if tell is None else lambda done, total: tell(str(retriever), done, total),
        )
    if output is not None:
        write_whole(output, found.record.to_json().encode())
    show(run_report(found), found.to_dict(), as_json, None, language, digits=digits)
    if output is not None:
        wrote(output, language)


def _parameters(given: tuple[str, ...]) -> dict[str, Any]:
    """Values as a plan has them: numbers and truth values where they read as such, else texts."""
    import json

    found: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{text!r}: write a parameter as KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


@benchmark.command()
@click.argument("path")
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="A measure to show, such as nDCG@10."
)
@options.json_flag
@options.lang
def results(path: str, measures: tuple[str, ...], as_json: bool, language: Language) -> None:
    """Result files of MTEB, a file or a folder, as a table under this project's names of measures."""
    from rankgauge.benchmarks import load_mteb_results
    from rankgauge.measures import parse_measures
    from rankgauge.reports.benchmarks import mteb_report

    names = [str(measure) for measure in parse_measures(measures or ("nDCG@10", "R@100"))]
    found = load_mteb_results(path)
    data = {"results": [{**vars(one), "figures": one.figures} for one in found]} if as_json else {}
    show(mteb_report(found, names), data, as_json, None, language)
