"""Public benchmarks as reports: the catalogue, one entry, what was fetched, and a run beside published figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.mteb_results import MtebScores
from rankgauge.benchmarks.running import BenchmarkResult, Figure
from rankgauge.benchmarks.stored import BenchmarkSet
from rankgauge.formats.limits import written
from rankgauge.reports.document import Block, Cell, Column, Notes, Paragraph, Report, Table, Text
from rankgauge.words import Note
from rankgauge.words.numbers import count

__all__ = [
    "benchmark_dict",
    "benchmark_report",
    "catalogue_report",
    "families_report",
    "fetched_report",
    "mteb_report",
    "run_report",
]

_NARROW = 24  # characters of the name of a measure in a list
_SCREEN, _SHOWN = 22, 20  # lines of a list that fit a screen, and those shown first of a longer one


def _word(name: str, /, **parameters: Any) -> Note:
    return Note(f"benchmarks.{name}", parameters)


def families_report(listed: Sequence[Benchmark]) -> Report:
    """One line for each family."""
    by_family: dict[str, list[Benchmark]] = {}
    for one in listed:
        by_family.setdefault(one.family, []).append(one)
    columns = [
        Column(_word("family")),
        Column(_word("sets"), "count"),
        Column(_word("languages")),
        Column(_word("measure")),
        Column(_word("about"), detail="evidence"),
    ]
    rows: list[list[Cell]] = [
        [family, len(sets), _languages(sets), sets[0].measures[0], _word(f"about_{family}")]
        for family, sets in by_family.items()
    ]
    return Report(
        _word("title_list"), [Table("families", columns, rows, light=True), Paragraph(_word("list_hint"), "hint")]
    )


def _languages(sets: Sequence[Benchmark]) -> str:
    codes = list(dict.fromkeys(code for one in sets for code in one.languages))
    return ", ".join(codes) if len(codes) <= 3 else f"{', '.join(sorted(codes)[:2])}, ... ({len(codes)})"


def catalogue_report(listed: Sequence[Benchmark]) -> Report:
    """One line for each set."""
    columns = [
        Column(_word("name")),
        Column(_word("queries"), "count", drop=1),
        Column(_word("documents"), "count", drop=2),
        Column(_word("measure"), most=_NARROW),
        Column(_word("bm25"), "score"),
        Column(_word("licence"), drop=3),
    ]
    rows = [_line(one) for one in listed]
    if len(rows) <= _SCREEN:
        return Report(_word("title_list"), [Table("benchmarks", columns, rows, light=True)])
    blocks: list[Block] = [
        Table("benchmarks", columns, rows[:_SHOWN], light=True),
        Paragraph(_word("more", n=len(rows) - _SHOWN), "hint"),
        Table("more_benchmarks", columns, rows[_SHOWN:], detail="evidence", light=True),
    ]
    return Report(_word("title_list"), blocks)


def _line(one: Benchmark) -> list[Cell]:
    bm25 = None if one.bm25 is None else one.bm25.figures.get(one.measures[0])
    counts = [one.counts.get(name) for name in ("queries", "documents")]
    return [one.name, *counts, one.measures[0], bm25, one.licence or ""]


def benchmark_report(one: Benchmark) -> Report:
    """All that the catalogue says of one benchmark."""
    return Report(Note("benchmarks.title_run", {"title": one.title}), list(_about(one)))


def _about(one: Benchmark) -> Iterator[Block]:
    yield Paragraph(_word(f"about_{one.family}"))
    entries: list[tuple[Text, Text]] = [
        (_word("split"), one.split),
        (_word("languages"), ", ".join(one.languages)),
        *((_word(name), count(n)) for name, n in one.counts.items()),
        (_word("measures"), ", ".join(one.measures)),
        (_word("contract"), _contract(one)),
        (_word("licence"), _licence(one)),
        (_word("home"), one.home),
    ]
    entries += [(_word("measure"), _word("tagged", measure=measure, tag=tag)) for measure, tag in one.tagged.items()]
    if one.ir_datasets:
        entries.append((_word("ir_datasets"), one.ir_datasets))
    entries += [(_word("huggingface"), f"datasets/{own.path}") for own in one.huggingface]
    entries += [(_word("download"), _download(own.url, own.bytes)) for own in one.downloads]
    if one.mteb:
        entries.append((_word("mteb"), one.mteb))
    yield Notes([_word("fact", name=name, value=value) for name, value in entries if value])
    if one.bm25 is not None:
        rows: list[list[Cell]] = [[name, value] for name, value in one.bm25.figures.items()]
        columns = [Column(_word("measure")), Column(_word("bm25_published"), "score")]
        yield Table("bm25", columns, rows, light=True)
        yield Paragraph(_word("published_by", system=one.bm25.system, source=one.bm25.source), "hint")
    notes = [_word(name) for name, holds in (("closed", one.closed), ("excludes", one.excludes)) if holds]
    if one.bm25 is None:
        notes.append(_word("no_bm25"))
    hint = "show_hint" if one.ir_datasets or one.huggingface else "show_hint_by_hand"
    yield Notes([*notes, _word(hint, name=one.name)])


def _licence(one: Benchmark) -> Text:
    """What is known of it; sets of one's own have no page that could state one."""
    return one.licence or _word("not_stated" if one.home else "own_licence")


def _contract(one: Benchmark) -> Text:
    choices = ", ".join(f"{name}={value}" for name, value in one.choices.items())
    return _word("contract_preset", name=one.preset, choices=choices) if choices else one.preset


def _download(url: str, size: int | None) -> Text:
    return url if size is None else _word("bytes", url=url, size=written(size))


def benchmark_dict(one: Benchmark) -> dict[str, Any]:
    """The same for programs."""
    plain = {name: value for name, value in vars(one).items() if isinstance(value, str | bool | None)}
    bm25 = None if one.bm25 is None else dict(vars(one.bm25))
    return {
        **plain,
        "languages": list(one.languages),
        "measures": list(one.measures),
        "tagged": dict(one.tagged),
        "contract": one.contract.to_dict(),
        "counts": dict(one.counts),
        "huggingface": [vars(own) for own in one.huggingface],
        "downloads": [vars(own) for own in one.downloads],
        "files": {what: list(names) for what, names in one.files.items()},
        "bm25": bm25,
    }


def fetched_report(loaded: BenchmarkSet) -> Report:
    """What was fetched, and under which licence."""
    judgments = sum(len(query.grades) for query in loaded.test_set)
    about = {"n": len(loaded.test_set), "judgments": judgments, "folder": str(loaded.folder)}
    blocks: list[Block] = [
        Paragraph(Note("benchmarks.fetched", about), "lead"),
        Paragraph(_word("licence_is", licence=_licence(loaded.benchmark))),
        Notes(loaded.notes),
    ]
    return Report(Note("benchmarks.title_fetched", {"title": loaded.benchmark.title}), blocks)


def run_report(result: BenchmarkResult) -> Report:
    """The official figures beside the published ones."""
    return Report(Note("benchmarks.title_run", {"title": result.benchmark.title}), list(_run(result)))


def _run(result: BenchmarkResult) -> Iterator[Block]:
    own, first = result.benchmark, result.figures[0]
    about: dict[str, Any] = {"system": result.evaluation.name, "measure": first.measure, "value": first.value}
    about["n"] = first.queries
    if first.bm25 is None:
        yield Paragraph(_word("lead", **about), "lead")
    else:
        beside = {"bm25": first.bm25, "difference": first.value - first.bm25}
        yield Paragraph(_word("lead_bm25", **about, **beside), "lead")
    models = list(dict.fromkeys(model for one in result.figures for model in one.mteb or {}))
    published = own.bm25 is not None
    columns = [
        Column(_word("measure")),
        Column(_word("figure"), "score"),
        Column(_word("interval"), "score"),
        Column(_word("counted"), "count", drop=1),
        *([Column(_word("bm25_published"), "score")] if published else []),
        *(Column(model, "score") for model in models),
    ]
    yield Table("figures", columns, [_figure(one, models, published) for one in result.figures], light=True)
    if own.bm25 is not None:
        yield Paragraph(_word("published_by", system=own.bm25.system, source=own.bm25.source), "hint")
    yield Paragraph(_word("licence_is", licence=_licence(own)))
    yield Notes(result.notes)


def _figure(one: Figure, models: Sequence[str], published: bool) -> list[Cell]:
    ends = None if one.interval is None else (one.interval.low, one.interval.high)
    name: Cell = _word("measure_tag", measure=one.measure, tag=one.tag) if one.tag else one.measure
    theirs: Mapping[str, float] = one.mteb or {}
    cells: list[Cell] = [name, one.value, ends, one.queries]
    return [*cells, *([one.bm25] if published else []), *(theirs.get(model) for model in models)]


def mteb_report(found: Sequence[MtebScores], measures: Sequence[str]) -> Report:
    """Result files of MTEB as a table."""
    several = len({one.subset for one in found}) > 1
    columns = [
        Column(_word("model")),
        Column(_word("task")),
        Column(_word("split")),
        *([Column(_word("subset"))] if several else []),
        Column(_word("main"), "score"),
        *(Column(measure, "score") for measure in measures),
    ]
    rows: list[list[Cell]] = [
        [
            one.model,
            one.task,
            one.split,
            *([one.subset] if several else []),
            one.main,
            *(one.figures.get(measure) for measure in measures),
        ]
        for one in found
    ]
    return Report(_word("title_results"), [Table("results", columns, rows, light=True)])
