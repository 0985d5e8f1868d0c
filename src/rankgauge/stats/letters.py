"""Letter display: systems that share a letter cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["letter_display"]


def letter_display(n: int, different: Sequence[tuple[int, int]]) -> list[str]:
    """Letters for items 0 to n - 1, so that two share one exactly if they are not among the `different` pairs.

    Insert and absorb (Piepho 2004): begin with one group of all; each different pair splits the groups that hold both;
    groups inside others are dropped. Give the items best first, and the letters come in that order.
    """
    groups = [frozenset(range(n))]
    for i, j in different:
        split = []
        for group in groups:
            split += [group - {i}, group - {j}] if i in group and j in group else [group]
        groups = [g for k, g in enumerate(split) if not any(g < h or (g == h and k > m) for m, h in enumerate(split))]
    groups.sort(key=sorted)
    return ["".join(_letter(k) for k, group in enumerate(groups) if i in group) for i in range(n)]


def _letter(k: int) -> str:
    """a to z, then aa, ab and so on in brackets, so that letters stay apart."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    return alphabet[k] if k < 26 else f"({alphabet[k // 26 - 1]}{alphabet[k % 26]})"
