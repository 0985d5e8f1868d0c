"""The table of a paper: systems by measures, the best of each in bold, letters for significant differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rankgauge.comparison.verdicts import MIRRORED
from rankgauge.record import Record
from rankgauge.reports.columns import value_of
from rankgauge.words import Note, has_text, numbers

__all__ = ["Paper", "PaperCell", "paper_of"]

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class PaperCell:
    """A mean as it is printed."""

    text: str
    best: bool
    beaten: list[str]
    """The letters of the systems that it is significantly better than."""


@dataclass(frozen=True)
class Paper:
    """The table in the record's own order, and what its caption has to say."""

    measures: list[tuple[str, bool]]
    """Names, and whether smaller is better."""
    systems: list[tuple[str, str, list[PaperCell]]]
    """The letter, which is empty where no difference is significant, the name and its means."""
    caption: list[Note]


def paper_of(record: Record, digits: int) -> Paper:
    """The table of a record."""
    beaten = _beaten(record, _letters(record))
    letters = _letters(record) if beaten else {}
    printed: dict[tuple[str, str], str] = {}
    best: dict[str, str] = {}
    for about in record.measures:
        ordered = sorted(record.systems, key=lambda system: system.means[about.name].value)
        for system in ordered:
            value = value_of(about, system.means[about.name].value)
            printed[about.name, system.name] = str(value) if isinstance(value, int) else numbers.score(value, digits)
        shown = [printed[about.name, system.name] for system in ordered]
        if len(set(shown)) > 1:  # what is printed alike is alike
            best[about.name] = shown[0 if about.lower_is_better else -1]
    systems = [
        (
            letters.get(system.name, ""),
            system.name,
            [
                PaperCell(
                    printed[about.name, system.name],
                    printed[about.name, system.name] == best.get(about.name),
                    beaten.get((about.name, system.name), []),
                )
                for about in record.measures
            ],
        )
        for system in record.systems
    ]
    return Paper(
        [(about.name, about.lower_is_better) for about in record.measures],
        systems,
        list(_caption(record, bool(beaten))),
    )


def _letters(record: Record) -> dict[str, str]:
    """A letter for each system of a comparison, or two where they do not suffice."""
    if record.comparison is None or not record.comparison.rows:
        return {}
    names = [system.name for system in record.systems]
    pairs = [first + second for first in _ALPHABET for second in _ALPHABET]
    return dict(zip(names, _ALPHABET if len(names) <= len(_ALPHABET) else pairs, strict=False))


def _beaten(record: Record, letters: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """By measure and system the letters of those it is better than, in their order."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in [] if record.comparison is None else record.comparison.rows:
        for winner, loser, verdict in ((row.b, row.a, row.verdict), (row.a, row.b, MIRRORED[row.verdict])):
            if verdict == "better" and loser in letters:
                found.setdefault((row.measure, winner), []).append(letters[loser])
    return {place: sorted(beaten) for place, beaten in found.items()}


def _caption(record: Record, significant: bool) -> Iterator[Note]:
    queries = max((mean.queries for system in record.systems for mean in system.means.values()), default=0)
    yield Note("paper.means", {"n": queries})
    if any(about.lower_is_better for about in record.measures):
        yield Note("paper.lower")
    if len(record.systems) > 1:
        yield Note("paper.best")
    compared = record.comparison
    if compared is None or not compared.rows:
        if len(record.systems) > 1:
            yield Note("paper.untested")
        return
    settings = compared.settings
    test = Note(f"paper.test_{settings.test}")
    if not has_text(test.key):  # one that was registered from elsewhere
        test = Note("paper.test", {"name": settings.test})
    way = settings.correction if compared.family > 1 else "one"
    correction = Note(f"paper.correction_{way}", {"n": compared.family})
    yield Note(
        "paper.letters" if significant else "paper.none",
        {"test": test, "correction": correction, "alpha": settings.alpha},
    )
    if compared.baseline is not None:
        yield Note("paper.baseline", {"a": compared.baseline})
