"""Letter display and rank ranges: what tested pairs say of the order of all systems."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase

__all__ = ["letter_display", "rank_ranges"]


def letter_display(n: int, different: Iterable[tuple[int, int]]) -> list[str] | None:
    """Letters for items 0 to n - 1, so that two share one exactly if they are not among the `different` pairs.

    Every letter stands for a group that no other item fits into. Piepho (2004) lists all such groups, of which there
    can be 3^(n/3); here groups are made only until each pair that is not different is in one. A group grows around an
    item by the one that brings most pairs that no group holds yet. Where all such groups are intervals of the order
    given, as they mostly are with systems in the order of their means, these are the same groups as his.

    None where a to z do not suffice, so the work is at most 26 groups of n steps over n items. Give the items best
    first, and the letters come in that order.
    """
    alike = [(1 << n) - 1 & ~(1 << i) for i in range(n)]  # bit j: i and j are not different
    for i, j in different:
        alike[i] &= ~(1 << j)
        alike[j] &= ~(1 << i)
    left = [own | 1 << i for i, own in enumerate(alike)]  # bit j: no group holds both i and j yet
    groups: list[int] = []
    for i in range(n):
        while left[i]:
            if len(groups) == len(ascii_lowercase):
                return None
            groups.append(_grown(i, alike, left))
            for member in _bits(groups[-1]):
                left[member] &= ~groups[-1]
    groups.sort(key=lambda group: list(_bits(group)))
    return ["".join(ascii_lowercase[k] for k, group in enumerate(groups) if group >> i & 1) for i in range(n)]


def _grown(first: int, alike: list[int], left: list[int]) -> int:
    """A group around one item to which nothing can be added, with as many pairs that are still left as it can get."""
    group, fitting = 1 << first, alike[first]
    while fitting:
        best = max(_bits(fitting), key=lambda item: (left[item] & group).bit_count())
        group |= 1 << best
        fitting &= alike[best]
    return group


def _bits(value: int) -> Iterable[int]:
    while value:
        low = value & -value
        yield low.bit_length() - 1
        value ^= low


def rank_ranges(n: int, beats: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first and last rank that each of n items can hold, given the pairs of which the first beats the second.

    From 1 + the number of items that beat it to n - the number of items that it beats.
    """
    first, last = [1] * n, [n] * n
    for winner, loser in beats:
        first[loser] += 1
        last[winner] -= 1
    return list(zip(first, last, strict=True))
