"""Who reviews what: queries are shared out evenly, and some of the documents go to two people, each without the other,
so that their agreement is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from rankgauge.errors import DataError
from rankgauge.testsets.review.queued import QueuedPair

__all__ = ["shared_out", "shuffled"]

T = TypeVar("T")


def shuffled(seed: int, *names: str) -> bytes:
    """A key that puts names into a random order, the same wherever and however often it is asked for."""
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()


def shared_out(
    items: Sequence[QueuedPair], reviewers: Sequence[str], overlap: float, seed: int
) -> tuple[list[QueuedPair], int]:
    """The items with their reviewers, and how many have two. A query's documents go to the reviewer who has least so
    far; those that are doubled are drawn at random, and go also to the one of the others who has least."""
    names = _checked(reviewers, overlap)
    if not names:
        return list(items), 0
    load = dict.fromkeys(names, 0)
    sizes: dict[str, int] = {}
    for one in items:
        sizes[one.query] = sizes.get(one.query, 0) + 1
    first: dict[str, str] = {}
    for query, size in sizes.items():
        first[query] = min(names, key=lambda name: (load[name], names.index(name)))
        load[first[query]] += size
    n = max(1, round(overlap * len(items))) if overlap > 0 and items else 0
    drawn = {one.pair for one in sorted(items, key=lambda one: shuffled(seed, "twice", *one.pair))[:n]}
    shared = []
    for one in items:
        own = [first[one.query]]
        if one.pair in drawn:
            second = min((name for name in names if name != own[0]), key=lambda name: (load[name], names.index(name)))
            load[second] += 1
            own.append(second)
        shared.append(replace(one, reviewers=tuple(own)))
    return shared, n


def _checked(reviewers: Sequence[str], overlap: float) -> list[str]:
    listed = not isinstance(reviewers, str) and isinstance(reviewers, Iterable)
    if not listed or not all(isinstance(name, str) and name for name in reviewers):
        raise DataError(f"`reviewers` must be a list of names, not {reviewers!r}"[:200])
    names = list(reviewers)
    if len(set(names)) < len(names):
        raise DataError(f"`reviewers={names!r}` names somebody twice"[:200])
    if isinstance(overlap, bool) or not isinstance(overlap, int | float) or not 0 <= overlap <= 1:
        raise DataError(f"`overlap={overlap!r}` is a share of the documents: a number from 0 to 1"[:200])
    if overlap > 0 and len(names) < 2:
        raise DataError("an overlap needs two reviewers or more: name them with `reviewers=`")
    return names
