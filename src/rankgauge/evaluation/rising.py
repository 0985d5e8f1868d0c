"""Runs whose scores rise down every list: distances, whose best document would be scored as the worst."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from rankgauge.engine.match_mappings import text_score
from rankgauge.formats import RunParts
from rankgauge.model.contract import Contract
from rankgauge.model.run import Run

__all__ = ["rising_list"]

_CHANCE = math.log(1000)
"""Lists in any order would all rise less often than once in so many runs."""
_HEAD = 1000


def rising_list(run: Run | RunParts, contract: Contract) -> str | None:
    """A query whose list rises, where the scores of all lists do and are what orders them; None for files of TREC text,
    whose order of lines means nothing."""
    if contract.ties == "given" or not isinstance(run, Run):
        return None
    if run.mapping is not None:
        try:
            return _rising((query, list(docs.values())) for query, docs in run.mapping.items())
        except TypeError:  # a text among numbers, which alone would have been refused
            raise text_score(run.mapping, run.name) from None
    head = run.frame.head(_HEAD)
    return None if _rising(_lists(head.rows())) is None else _rising(_lists(run.frame.rows()))


def _lists(rows: Sequence[tuple[str, str, float]]) -> Iterator[tuple[str, list[float]]]:
    lists: dict[str, list[float]] = {}
    for query, _, score, *_ in rows:
        lists.setdefault(query, []).append(score)
    yield from lists.items()


def _rising(lists: Iterable[tuple[str, Sequence[float]]]) -> str | None:
    first, surprise = None, 0.0
    for query, scores in lists:
        if len(scores) > 1 and scores[0] != scores[-1]:
            if any(a > b for a, b in pairwise(scores)):
                return None
            first = first or query
            surprise += math.lgamma(len(scores) + 1)  # a list in any order rises once in n! times
        elif any(score != scores[0] for score in scores):
            return None
    return first if surprise > _CHANCE else None
