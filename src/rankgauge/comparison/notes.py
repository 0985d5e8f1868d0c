"""What a careful reader must know beside the rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from rankgauge.comparison.groups import out_of_order
from rankgauge.comparison.systems import ComparedSystems
from rankgauge.evaluation.conversations import FEW_CONVERSATIONS, effect_note
from rankgauge.evaluation.notes import FEW_QUERIES, notes_of
from rankgauge.evaluation.scores import Scores
from rankgauge.record import Note, Standing, Tied, TiedRange, Unjudged, UnjudgedRange
from rankgauge.record.comparison import LOCATIONS

__all__ = ["notes_of_comparison", "notes_on_calls", "uncertainty_notes"]

_SAID = (
    *("evaluation.few", "evaluation.only_relevant"),
    *("conversations.clustered", "conversations.few", "conversations.one"),
    "synthetic.mixed",
)
"""What is said of the comparison itself."""


def notes_of_comparison(
    compared: ComparedSystems,
    groups: Mapping[str, Sequence[Standing]],
    evaluations: Sequence[Scores],
    remarks: Sequence[Note],
) -> list[Note]:
    """Notes on the tests, on how the scores came together, on what was excluded, and on the scores themselves."""
    lower = [measure.name for measure in compared.measures if measure.lower_is_better]
    fewest = min((row.queries for row in compared.rows), default=0)
    few = 2 <= fewest < FEW_QUERIES and compared.clusters is None
    return [
        *_on_tests(compared),
        *_on_conversations(compared),
        *remarks,
        *([_note("info", "lower", names=lower)] if lower else []),
        *([_note("info", "few", n=fewest)] if few else []),
        *_on_queries(compared, groups, _without_answer(evaluations)),
        *_on_scores(evaluations),
        *_on_synthetic(evaluations),
    ]


def _note(level: Literal["info", "warning"], key: str, /, **values: Any) -> Note:
    return Note(f"comparison.{key}", values, level)


def _on_tests(compared: ComparedSystems) -> Iterator[Note]:
    settings, family = compared.settings, sum(row.p_value is not None for row in compared.rows)
    most = max((row.conversations or row.queries for row in compared.rows), default=0)
    draws: Note | str = ""
    if settings.samples:
        draws = _note("info", "draws", n=settings.samples, seed=settings.seed)
    if settings.test == "randomization" and settings.samples and most < 60 and 2**most <= settings.samples:
        draws = _note("info", "all_signs", n=2**most)
    least = settings.least_samples(family)
    if settings.samples and settings.samples < min(least, 2 ** min(most, 64)):
        yield _note("warning", "unresolved", n=family, least=least, samples=settings.samples)
    if settings.correction == "none" and family > 1:
        yield _note("warning", "uncorrected", n=family, one=round(1 / settings.alpha))
    about = {"level": 1 - settings.alpha, "test": settings.test, "draws": draws}
    if family > 1:
        yield _note("info", "family", n=family, correction=settings.correction, **about)
    else:
        yield _note("info", "one", **about)
    if settings.test in LOCATIONS:
        yield _note("warning", "not_a_mean", test=settings.test, what=LOCATIONS[settings.test])


def _on_conversations(compared: ComparedSystems) -> Iterator[Note]:
    """What is independent are conversations, not their turns."""
    told = [row for row in compared.rows if row.conversations is not None]
    if not told:
        return
    most = max(told, key=lambda row: row.queries)
    effect = effect_note([row.design_effect for row in told])
    about = {"n": most.queries, "conversations": most.conversations, "effect": effect}
    yield Note("conversations.compared", about)
    fewest = min(row.conversations or 0 for row in told)
    if fewest < FEW_CONVERSATIONS:
        yield Note("conversations.few", {"n": fewest}, "warning")


def _without_answer(evaluations: Sequence[Scores]) -> dict[str, int]:
    """By measure: queries that do not count because they have no answer, which is said elsewhere."""
    table = evaluations[0].table if evaluations else None
    if table is None or table.no_answer is None:
        return {}
    return {name: int((table.no_answer & ~table.counted[:, j]).sum()) for j, name in enumerate(table.measures)}


def _on_queries(
    compared: ComparedSystems, groups: Mapping[str, Sequence[Standing]], without_answer: Mapping[str, int]
) -> Iterator[Note]:
    """Queries that a pair or all pairs had to do without, and orders that contradict the means."""
    if not compared.all_pairs or len(compared.pairs) == 1:
        for row in compared.rows:
            if left := len(compared.queries) - row.queries - without_answer.get(row.measure, 0):
                yield _note("warning", "excluded", measure=row.measure, a=row.a, b=row.b, n=left)
        return
    for measure in compared.measures:
        queries = next(row.queries for row in compared.rows if row.measure == measure.name)
        if left := len(compared.queries) - queries - without_answer.get(measure.name, 0):
            yield _note("warning", "excluded_from_all", measure=measure.name, n=left, rest=queries)
        shown = groups.get(measure.name, [])
        against, circle = out_of_order(shown, compared.rows, measure.name, lower_is_better=measure.lower_is_better)
        if against or circle:
            key = "circle" if circle else "not_in_the_order_of_means"
            yield _note("warning", key, measure=measure.name, test=compared.settings.test)


def _on_scores(evaluations: Sequence[Scores]) -> Iterator[Note]:
    """Notes on the scores."""
    said = {own.name: [note for note in notes_of(own) if note.key not in _SAID] for own in evaluations}
    yield from _by_system(said)


def notes_on_calls(evaluations: Sequence[Scores]) -> Iterator[Note]:
    """Notes on the calls of live retrievers and on the lists they gave."""
    yield from _by_system({own.name: () if own.calls is None else own.calls.notes for own in evaluations})


def _by_system(notes: Mapping[str, Iterable[Note]]) -> Iterator[Note]:
    """Each note once where all systems share it, else with the systems it is about."""
    shared: list[tuple[Note, list[str]]] = []
    for name, own in notes.items():
        for note in own:
            names = next((names for known, names in shared if known == note), None)
            if names is None:
                shared.append((note, names := []))
            names.append(name)
    for note, names in shared:
        if len(names) == len(notes):
            yield note
        else:
            yield _note(note.level, "some_systems", systems=names, note=note)


def _on_synthetic(evaluations: Sequence[Scores]) -> Iterator[Note]:
    """The means over real queries and over synthetic ones, of all systems together."""
    if any(evaluation.synthetic for evaluation in evaluations):
        from rankgauge.evaluation.synthetic import synthetic_notes, systems_note  # most queries are real

        told = ((own.name, note) for own in evaluations for note in synthetic_notes(own))
        if mixed := {name: note for name, note in told if note.key == "synthetic.mixed"}:
            yield systems_note(mixed)


def uncertainty_notes(unjudged: Unjudged, tied: Tied) -> list[Note]:
    """Warnings where unjudged documents or tied orders could make the other system the winner."""
    found: list[tuple[str, UnjudgedRange | TiedRange]] = [
        *(("unjudged_flips" if row.exact else "unjudged_may_flip", row) for row in unjudged.rows),
        *(("ties_flip", row) for row in tied.rows),
    ]
    return [
        _note("warning", key, measure=row.measure, a=row.a, b=row.b, bounds=[row.low, row.high])
        for key, row in found
        if row.changes_winner
    ]
