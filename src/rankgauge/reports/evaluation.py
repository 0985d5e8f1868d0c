"""The parts of a report that every record has: means, targets, notes, and how it was counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from rankgauge.measures import find_measure
from rankgauge.measures.explanations import targets_for
from rankgauge.record import Mean, Record, ScoredMeasure
from rankgauge.reports.document import (
    Block,
    Card,
    Cards,
    Cell,
    Charts,
    Column,
    Detail,
    Estimate,
    Facts,
    Formula,
    Heading,
    Notes,
    Paragraph,
    Reading,
    Scored,
    Table,
    Text,
    data_table,
    note_about,
    said_once,
    word,
)
from rankgauge.reports.remarks import unsaid
from rankgauge.stats.intervals import Interval
from rankgauge.words import Language, Note

__all__ = [
    "cautions",
    "contract_facts",
    "ends_of",
    "mean_table",
    "means_part",
    "notes_of",
    "per_query_table",
    "provenance_part",
    "readings",
    "score_data",
    "targets_part",
]


def ends_of(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _value(about: ScoredMeasure, value: float) -> int | float:
    return round(value) if about.aggregate == "sum" else value


def _mean(about: ScoredMeasure, mean: Mean) -> Cell:
    return round(mean.value) if about.aggregate == "sum" else Estimate(mean.value, ends_of(mean.interval))


def mean_table(record: Record) -> Table:
    """One row for each system: means and intervals."""
    heads = [
        Column(about.name, "score", hint=word("lower_is_better") if about.lower_is_better else None)
        for about in record.measures
    ]
    rows = [
        (system.name, *(_mean(about, system.means[about.name]) for about in record.measures))
        for system in record.systems
    ]
    return Table("means", (Column(word("system")), *heads), rows, detail="evidence")


def means_part(record: Record) -> Iterator[Block]:
    """Means, and how to read them."""
    levels = [mean.interval.level for system in record.systems for mean in system.means.values() if mean.interval]
    compared = record.comparison is not None
    yield Heading(word("means"), "means")
    yield mean_table(record)
    detail: Detail = "audit" if compared else "evidence"
    yield Paragraph(word("means_hint", level=levels[0] if levels else 0.95), "hint", detail)
    if not compared and len(record.systems) > 1:
        yield Paragraph(word("no_verdict"), "hint", "audit")
    yield Charts("means", word("means_chart"), partial(_mean_charts, record))


def _mean_charts(record: Record, language: Language, digits: int) -> Any:
    from rankgauge.reports.charts import mean_charts  # which texts do without

    return mean_charts(record, language, digits)


def targets_part(record: Record, scenario: str | None) -> Iterator[Block]:
    """How the means stand beside the reference values of a scenario, where one is asked for."""
    if scenario is None:
        return
    from rankgauge.gating.targets import SCENARIOS  # seldom asked for

    scenario = SCENARIOS[scenario]
    goals = {about.name: goals[scenario] for about in record.measures if scenario in (goals := _targets(about.name))}
    ceilings = {name: ceiling for name in goals if (ceiling := _ceiling(record, name)) is not None}
    beyond = {name: ceiling for name, ceiling in ceilings.items() if ceiling <= goals[name]}
    rows: list[tuple[Cell, ...]] = []
    for name, goal in goals.items():
        values = [system.means[name].value for system in record.systems]
        missed = "" if name in beyond else "worse"
        rows.append((name, goal, *(Scored(value, "better" if value > goal else missed) for value in values)))
    out_of_reach = [word("target_beyond", measure=name, ceiling=ceiling) for name, ceiling in beyond.items()]
    columns = [Column(word("measure")), Column(word("target"), "plain")]
    yield Heading(word("targets_title"), "targets")
    yield Table(
        "targets",
        [*columns, *(Column(system.name, "score") for system in record.systems)],
        rows,
        word("targets_of", scenario=word(f"scenario_{scenario}")),
        out_of_reach,
    )


def _ceiling(record: Record, measure: str) -> float | None:
    """The greatest mean that any lists could have; None where it is not known to lie below 1 for every system."""
    found = [{} if system.coverage is None else system.coverage.ceilings for system in record.systems]
    return max((own[measure] for own in found), default=None) if all(measure in own for own in found) else None


def _targets(name: str) -> dict[str, float]:
    measure = find_measure(name)
    return {} if measure is None else targets_for(measure)


def readings(record: Record) -> Iterator[Block]:
    """One system's means in plain sentences."""
    if len(record.systems) == 1 and record.comparison is None:
        means = record.systems[0].means
        told = [Card(about.name, Reading(about.name, means[about.name].value)) for about in record.measures]
        yield Cards(told, "evidence")


def per_query_table(record: Record, heads: tuple[Text, Text] = (word("system"), word("query"))) -> Table:
    """Every query of every system; queries that the contract skips are left out."""
    skipped = record.contract is not None and record.contract.missing == "skip"
    rows: list[tuple[Cell, ...]] = []
    for system in record.systems:
        scores = [(about, system.per_query[about.name]) for about in record.measures]
        counted = [system.counted.get(about.name) for about in record.measures]
        for i, query in enumerate(record.queries):
            if not (skipped and all(mask is not None and not mask[i] for mask in counted)):
                rows.append((system.name, query, *(_value(about, values[i]) for about, values in scores)))
    columns = (*(Column(head) for head in heads), *(Column(about.name, "score") for about in record.measures))
    return Table("per_query", columns, rows)


def score_data(record: Record) -> Table:
    """One row for each system and measure, for spreadsheets."""
    rows: list[dict[str, Cell]] = []
    for system in record.systems:
        for about in record.measures:
            mean = system.means[about.name]
            low, high = ends_of(mean.interval) or (None, None)
            scored: dict[str, Cell] = {"value": _value(about, mean.value), "low": low, "high": high}
            rows.append({"system": system.name, "measure": about.name, **scored, "queries": mean.queries})
    return data_table("scores", rows, "score")


def notes_of(record: Record) -> list[Note]:
    """What is to be known beside the figures; what all systems share is said once."""
    if record.comparison is not None and record.comparison.notes:  # these name the systems themselves
        return record.comparison.notes
    said = said_once((note, system.name) for system in record.systems for note in system.notes)
    everyone = len(record.systems)
    return [note if len(names) == everyone else note_about(names, note) for note, names in said]


def cautions(record: Record) -> list[Note]:
    """Warnings of variants that inflate or mislead, which every print of them carries."""
    found: list[Note] = []
    for system in record.systems:
        found += [note for note in system.notes if note.key == "evaluation.caution" and note not in found]
    return found


def contract_facts(record: Record) -> Iterator[Block]:
    """How the scores were counted; scores from elsewhere have no contract."""
    if record.contract is not None:
        chosen = {name: value for name, value in asdict(record.contract).items() if value not in (None, False)}
        if all(system.no_answer is None for system in record.systems):
            del chosen["no_answer"]  # which says nothing of queries that all have one
        yield Facts(
            word("contract"), [(name, str(value)) for name, value in chosen.items()], record.preset or "", "evidence"
        )


def provenance_part(record: Record) -> Iterator[Block]:
    """Notes, then contract, formulas, inputs and what made the record."""
    notes = unsaid(notes_of(record), record)
    if notes:
        yield Heading(word("notes"), "notes")
        yield Notes(notes, detail="evidence")
    yield Heading(word("provenance"), "provenance", folded=True)
    yield from contract_facts(record)
    formulas = [(about.name, Formula(about.name, about.formula)) for about in record.measures]
    yield Facts(word("measures"), formulas, detail="audit")
    made = record.provenance
    if made.test_set is not None:
        from rankgauge.reports.labels import label_facts  # few test sets bring labels

        yield label_facts(made.test_set)
    if record.synthetic:
        from rankgauge.reports.labels import synthetic_table

        yield from synthetic_table(record)
    if made.inputs:
        columns = [Column(word(name)) for name in ("input", "path", "sha256")]
        rows = [(name, file.path, file.sha256) for name, file in made.inputs.items()]
        yield Table("inputs", columns, rows, word("inputs"), detail="audit")
    known: list[tuple[Text, str | None]] = [
        (word("created"), record.created.replace("T", " ")),
        ("rankgauge", record.rankgauge),
        ("python", made.python),
        ("platform", made.platform),
        ("git", made.git),
    ]
    yield Facts(word("environment"), [(name, value) for name, value in known if value], detail="audit")
