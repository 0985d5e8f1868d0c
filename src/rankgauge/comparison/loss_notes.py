"""What is to be said of losses: where most can be gained, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankgauge.comparison.lost_documents import Located
from rankgauge.record import Headroom, LossesResult, LossPlace, Note

__all__ = ["lead_notes", "notes_of_losses", "place_note", "recall_note"]


def place_note(found: LossesResult, place: LossPlace) -> Note:
    """A place in words; the first stage has nothing before it that it could drop."""
    first = place.kind == "stage" and place.stage == found.stages[0]
    known = {"stage": place.stage, "k": found.k, "budget": found.budget}
    return Note(f"losses.place_{'first' if first else place.kind}", known)


def lead_notes(found: LossesResult) -> list[Note]:
    """The part with most to gain, then the others."""
    about = {"measure": recall_note(found), "k": found.k, "mean": found.mean, "missed": found.missed}
    if not found.missed:
        return [Note("losses.all_found", {**about, "documents": found.documents})]
    best = found.largest_headroom
    if best is None:
        return [Note("losses.nothing_to_gain", about)]
    key = f"lead_{best.kind}"
    if best.kind == "order":
        key += ("_alone" if len(found.stages) == 1 else "") + ("_budget" if found.budget is not None else "")
    known = {"n": best.documents, "stage": best.stage, "before": found.stages[:-1][-1:], "gain": best.gain}
    lead = Note(f"losses.{key}", {**about, **known})
    others = [_part(part) for part in found.headroom if part is not best and part.documents]
    return [lead, *([Note("losses.others", {"parts": others})] if others else [])]


def _part(part: Headroom) -> Note:
    return Note(f"losses.part_{part.kind}", {"stage": part.stage, "gain": part.gain})


def recall_note(found: LossesResult) -> Note | str:
    """The recall that is meant, by name."""
    if found.budget is None:
        return found.measure
    return Note("losses.within", {"measure": found.measure, "budget": found.budget})


def notes_of_losses(found: LossesResult, located: Located) -> Iterator[Note]:
    """What could make the places wrong, and what k leaves no room for."""
    for kind, documents in located.outside.items():
        if documents:
            yield Note(f"losses.outside_{kind}", {"n": documents}, "warning")
    yield from _added(found, located)
    relevant = located.counts([place.key for place in found.places])
    for name, rows in zip(found.stages[:-1], located.lists[:-1], strict=True):
        empty = {query for query, size in zip(rows.queries, np.diff(rows.starts), strict=True) if not size}
        gone = sum(query in empty for query, own in zip(located.queries, relevant, strict=True) if own)
        if gone:
            yield Note("losses.missing_queries", {"stage": name, "n": gone, "queries": found.queries}, "warning")
    longest = int(np.diff(located.lists[-1].starts).max(initial=0))
    if longest <= found.k and found.place(f"stage:{found.system}").documents:
        known: dict[str, Any] = {"stage": found.system, "longest": longest, "k": found.k}
        yield Note("losses.short_lists" if len(found.stages) > 1 else "losses.short_list_alone", known)
    if crowded := int((relevant > found.k).sum()):
        about = {"n": crowded, "k": found.k, "measure": found.measure, "ceiling": found.ceiling}
        yield Note("losses.no_room", about)


def _added(found: LossesResult, located: Located) -> Iterator[Note]:
    """Documents that a list has and the one before lacks: then it was not made from that one alone."""
    for i in range(1, len(found.stages)):
        added = int(((located.ranks[i] > 0) & (located.ranks[i - 1] == 0)).sum())
        if added:
            yield Note("losses.added", {"n": added, "stage": found.stages[i], "before": found.stages[i - 1]}, "warning")
