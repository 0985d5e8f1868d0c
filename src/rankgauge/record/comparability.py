"""May the scores of two records be compared? Only scores of the same queries, counted alike, are one quantity.

This says what differs. What follows from it is for the caller: a gate refuses or remarks, a comparison can be forced, a
monitor takes up a new reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rankgauge.record.identity import identity_of
from rankgauge.record.record import Record
from rankgauge.words import Note

__all__ = ["Difference", "differences"]

Kind = Literal["contract", "judgments", "queries", "corpus", "aggregate", "direction"]


@dataclass(frozen=True)
class Difference:
    """One thing that two records do not have in common, or that cannot be checked."""

    kind: Kind
    note: Note
    told: int = 2
    """How many of the two records tell it: with 2 they differ, with fewer it is not known whether they do."""
    measure: str | None = None
    """The measure that is aggregated differently (`aggregate`), or better in the other direction (`direction`)."""


def differences(own: Record, other: Record) -> list[Difference]:
    """What two records do not have in common: contract, judgments, queries, corpus, what they say of their measures.

    Where neither names its judgments that is told (nothing proves that they are the same), but not where neither names
    a corpus, which lists from files do without.
    """
    return [*_contract(own, other), *_inputs(own, other), *_measures(own, other)]


def _contract(own: Record, other: Record) -> Iterator[Difference]:
    a, b = _settings(own), _settings(other)
    if a == b:
        return
    changed = [
        Note("comparability.setting", {"name": name, "own": a.get(name), "other": b.get(name)})
        for name in {**a, **b}
        if a.get(name) != b.get(name)
    ]
    told = sum(record.contract is not None for record in (own, other))
    yield Difference("contract", Note("comparability.contract", {"settings": changed}), told)


def _settings(record: Record) -> dict[str, Any]:
    """The choices that could matter: how queries without an answer count does not where there are none."""
    if record.contract is None:
        return {}
    found = {"preset": record.preset, **asdict(record.contract)}
    if not any(system.coverage is not None and system.coverage.no_answer for system in record.systems):
        del found["no_answer"]
    return found


def _inputs(own: Record, other: Record) -> Iterator[Difference]:
    a, b = identity_of(own), identity_of(other)
    told = sum(hash_ is not None for hash_ in (a.test_set, b.test_set))
    here_labels, there_labels = own.provenance.test_set, other.provenance.test_set
    if here_labels is not None and there_labels is not None:  # what it says is known, whatever file it came from
        if here_labels.version != there_labels.version:
            what = "labels" if here_labels.policy == there_labels.policy else "policies"
            versions: dict[str, Any] = {"own": here_labels.version[:12], "other": there_labels.version[:12]}
            versions |= {"policy": Note(f"comparability.{what}")}
            yield Difference("judgments", Note("comparability.versions", versions))
    elif told < 2 or a.test_set != b.test_set:
        yield Difference("judgments", Note(f"comparability.judgments{'' if told == 2 else '_unknown'}"), told)
    here, there = set(own.queries), set(other.queries)
    if here != there:
        counts = {"own": len(here), "other": len(there), "common": len(here & there)}
        yield Difference("queries", Note("comparability.queries", counts))
    if a.corpus != b.corpus:
        told = sum(hash_ is not None for hash_ in (a.corpus, b.corpus))
        yield Difference("corpus", Note(f"comparability.corpus{'' if told == 2 else '_unknown'}"), told)


def _measures(own: Record, other: Record) -> Iterator[Difference]:
    theirs = {about.name: about for about in other.measures}
    for about in own.measures:
        there = theirs.get(about.name)
        if there is None:
            continue
        if about.aggregate != there.aggregate:
            hows = {"measure": about.name, "own": about.aggregate, "other": there.aggregate}
            yield Difference("aggregate", Note("comparability.aggregate", hows), measure=about.name)
        if about.lower_is_better != there.lower_is_better:
            better = "lower" if about.lower_is_better else "higher"
            note = Note(f"comparability.{better}_is_better", {"measure": about.name})
            yield Difference("direction", note, measure=about.name)
