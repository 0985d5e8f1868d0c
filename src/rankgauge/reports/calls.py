"""Live figures of a record as tables: latency and throughput beside quality, and the versions of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.reports.calls_facts import (
    WORDS,
    calls_sentences,
    failed_versions,
    figure,
    left_out,
    live_notes,
    milliseconds,
    scored,
    served,
    shown_value,
    sweep_sentences,
    sweeps_of,
)
from rankgauge.reports.tables import Table, render_csv, render_latex, render_markdown, render_terminal
from rankgauge.words import Language

__all__ = ["calls_files", "calls_parts", "calls_table"]

Record = Mapping[str, Any]


def _qualities(record: Record) -> list[str]:
    return [measure["name"] for measure in record["measures"] if measure["aggregate"] != "sum"]


def calls_table(record: Record, digits: int, language: Language) -> Table:
    """One row for each live system: its first measure, and what its calls took."""
    words, measures = WORDS[language], _qualities(record)[:1]  # all of them stand in the table of means
    systems = [system for system in record["systems"] if system.get("calls")]
    again = any(system["calls"].get("repeated") for system in systems)  # a column that is seldom filled
    rows = []
    for system in systems:
        calls = system["calls"]
        latency = calls["latency"] or {}
        rows.append(
            [
                system["name"],
                *(f"{system['means'][measure]['value']:.{digits}f}" for measure in measures),
                *(milliseconds(latency.get(key)) for key in ("p50", "p95", "p99")),
                figure(calls["throughput"]),
                str(calls["concurrency"]),
                str(latency.get("count", 0)),
                str(len(calls["failed"])),
                *([str(calls.get("repeated", 0))] if again else []),
                str(calls["cached"]),
            ]
        )
    times = ["p50 ms", "p95 ms", "p99 ms"]
    rest = [
        words[key] for key in ("rate", "concurrency", "timed", "failed", *(["repeated"] if again else []), "cached")
    ]
    return Table([words["system"], *measures, *times, *rest], rows)


def _sweep_table(sweep: Record, digits: int, language: Language) -> Table:
    words, names = WORDS[language], list(sweep["versions"][0]["parameters"])
    exact = any(version["ann_recall"] is not None for version in sweep["versions"])
    rows = []
    for version in sweep["versions"]:
        on_front = version["on_front"] and version["p50"] is not None
        marks = [("best", version["label"] == sweep["best"]), ("front", on_front)]
        recall = [version["ann_recall"]] if exact else []
        rows.append(
            [
                version["label"],
                *(shown_value(version["parameters"][name]) for name in names),
                words["comma"].join(words[key] for key, holds in marks if holds),
                scored(version["mean"], version["interval"], digits),
                milliseconds(version["p50"]),
                milliseconds(version["p95"]),
                figure(version["throughput"]),
                *("-" if share is None else f"{share:.{digits}f}" for share in recall),
            ]
        )
    head = [words["version"], *names, words["mark"], sweep["measure"], "p50 ms", "p95 ms", words["rate"]]
    head += [words["recall"]] if exact else []
    return Table(head, rows, 2 + len(names))


def _plain(value: Any) -> str:
    """A cell of a CSV file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else shown_value(value)


def _calls_cells(record: Record) -> Table:
    """For spreadsheets: seconds, and plain numbers."""
    measures, times, rows = _qualities(record), ("p50", "p95", "p99"), []
    for system in record["systems"]:
        calls = system.get("calls")
        if calls:
            latency = calls["latency"] or {}
            cells = [system["means"][measure]["value"] for measure in measures]
            cells += [*(latency.get(key) for key in times), calls["throughput"], calls["concurrency"]]
            cells += [latency.get("count", 0), len(calls["failed"]), calls.get("repeated", 0), calls["cached"]]
            rows.append([system["name"], *map(_plain, cells)])
    rest = ("throughput", "concurrency", "timed", "failed", "repeated", "cached")
    return Table(["system", *measures, *(f"{key}_seconds" for key in times), *rest], rows)


def _sweep_cells(sweep: Record) -> Table:
    names, rows = list(sweep["versions"][0]["parameters"]), []
    keys = ("p50", "p95", "throughput", "ann_recall", "on_front")
    start = [sweep["system"], sweep["measure"]]
    for version in sweep["versions"]:
        bounds = version["interval"] or {}
        cells = [*(version["parameters"][name] for name in names), version["mean"], bounds.get("low")]
        cells += [bounds.get("high"), *(version[key] for key in keys), version["label"] == sweep["best"]]
        rows.append([*start, version["label"], *map(_plain, cells), _plain(version.get("timed_before", 0)), ""])
    if held := sweep["held_out"]:
        bounds = held["interval"] or {}
        known = [held["mean"], bounds.get("low"), bounds.get("high")]
        rows.append([*start, "held out", *[""] * len(names), *map(_plain, known), *[""] * (len(keys) + 3)])
    for label, reason in (sweep.get("failed") or {}).items():
        rows.append([*start, label, *[""] * (len(names) + len(keys) + 5), reason])
    # A parameter may have any name, that of another column too.
    given = [f"parameter.{name}" for name in names]
    head = [
        "system",
        "measure",
        "version",
        *given,
        "mean",
        "low",
        "high",
        "p50_seconds",
        "p95_seconds",
        *keys[2:],
        "best",
        "timed_before",
        "failed",
    ]
    return Table(head, rows, 3)


def calls_parts(
    record: Record,
    form: str,
    *,
    digits: int = 4,
    language: Language = "en",
    width: int | None = None,
    color: bool = False,
) -> list[str]:
    """The tables as texts in one of the forms table, markdown and latex; none for a record of files.

    A CSV file holds one table, that of the scores; `calls_files` has the others.
    """
    sweeps = sweeps_of(record)
    if form == "csv":
        return []
    words, parts = WORDS[language], []
    colon, warning = words["colon"], words["warning"]

    def add(title: str, table: Table | None, lines: Sequence[str]) -> None:
        lines = [" ".join(line.split()) for line in lines]
        if form == "latex":
            text = "".join(f"% {line}\n" for line in [title, *lines]) + ("" if table is None else render_latex(table))
        elif form == "markdown":
            drawn = "" if table is None else render_markdown(table) + ("\n" if lines else "")
            text = f"**{title}**\n\n{drawn}" + "".join(f"- {line}\n" for line in lines)
        else:
            drawn = "" if table is None else render_terminal(table, width=width, color=color)
            text = f"{title}\n{drawn}" + "".join(f"{line}\n" for line in lines)
        parts.append(text)

    remarks = [f"{warning}{colon}{line}" for line in left_out(record, language)]
    remarks += [f"{warning}{colon}{name}{colon}{text}" for name, text in live_notes(record, language)]
    remarks += calls_sentences(record, language)
    if served(record) or remarks:
        table = calls_table(record, digits, language) if served(record) else None
        add(words["calls"], table, remarks)
    for sweep in sweeps:
        title = words["sweep"].format(system=sweep["system"])
        lines = [f"{warning}{colon}{line}" for line in failed_versions(sweep, language)]
        add(title, _sweep_table(sweep, digits, language), [*sweep_sentences(sweep, language, digits), *lines])
    return parts


def calls_files(record: Record, name: str) -> dict[str, str]:
    """What belongs beside a CSV file of scores, by file name: summary-calls.csv beside summary.csv, and so on."""
    ending = next((end for end in (".csv.gz", ".csv") if name.lower().endswith(end)), "")
    stem, ending = name[: len(name) - len(ending)], name[len(name) - len(ending) :]
    tables = {"calls": _calls_cells(record)} if served(record) else {}
    for number, sweep in enumerate(sweeps_of(record), start=1):
        tables["sweep" if number == 1 else f"sweep-{number}"] = _sweep_cells(sweep)
    return {f"{stem}-{kind}{ending}": render_csv(table) for kind, table in tables.items()}
