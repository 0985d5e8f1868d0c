"""Letters and rank ranges against brute force, and within bounds however many systems there are."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge.stats import letters as module
from rankgauge.stats.letters import letter_display, rank_ranges

Pairs = set[tuple[int, int]]


def groups_of(shown: list[str]) -> dict[str, set[int]]:
    return {letter: {i for i, own in enumerate(shown) if letter in own} for letter in sorted(set("".join(shown)))}


def maximal_groups(n: int, different: Pairs) -> list[set[int]]:
    """All groups without a different pair that nothing can be added to, by trying every subset."""
    fitting = [
        set(group)
        for size in range(1, n + 1)
        for group in combinations(range(n), size)
        if not any(pair in different for pair in combinations(group, 2))
    ]
    return [group for group in fitting if not any(group < other for other in fitting)]


def check(n: int, different: Pairs, shown: list[str]) -> None:
    """Two share a letter exactly if they are not different, and no letter could be given to one more."""
    assert all(shown)
    for i, j in combinations(range(n), 2):
        assert bool(set(shown[i]) & set(shown[j])) == ((i, j) not in different)
    for letter, group in groups_of(shown).items():
        for other in set(range(n)) - group:
            assert any((min(i, other), max(i, other)) in different for i in group), letter


def relations(most: int) -> st.SearchStrategy[tuple[int, Pairs]]:
    return st.integers(1, most).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.sampled_from([*combinations(range(n), 2)])) if n > 1 else st.just(set())
        )
    )


@given(relations(8))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_relation_of_few_systems(case: tuple[int, Pairs]) -> None:
    """Up to 8 systems have at most 18 groups (3^2 * 2), so there are always letters, and no more than groups."""
    n, different = case
    shown = letter_display(n, sorted(different))
    assert shown is not None
    check(n, different, shown)
    possible = maximal_groups(n, different)
    assert all(group in possible for group in groups_of(shown).values())


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_intervals_get_every_group(reach: list[int]) -> None:
    """Where a system is alike to those down to some place that never rises, the letters are all the maximal groups."""
    n, last, different = len(reach), 0, set()
    for i, more in enumerate(reach):
        last = max(last, min(i + more, n - 1))
        different |= {(i, j) for j in range(last + 1, n)}
    shown = letter_display(n, sorted(different))
    assert shown is not None
    assert sorted(map(sorted, groups_of(shown).values())) == sorted(map(sorted, maximal_groups(n, different)))
    assert [own[0] for own in shown] == sorted(own[0] for own in shown)


@pytest.mark.parametrize("n", [16, 20, 40, 100])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.5, 0.9, 1.0, "pairs"])
def test_the_work_is_bounded(n: int, share: float | str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more groups than letters, also where there are 2^(n/2) maximal ones (`pairs`)."""
    rng = random.Random(n)
    if share == "pairs":
        different = {(i, i + 1) for i in range(0, n, 2)}
    else:
        different = {pair for pair in combinations(range(n), 2) if rng.random() < share}
    grown, compared = [], []
    real, bits = module._grown, module._bits
    monkeypatch.setattr(module, "_grown", lambda *given: grown.append(1) or real(*given))
    monkeypatch.setattr(module, "_bits", lambda value: compared.append(value.bit_count()) or bits(value))
    shown = letter_display(n, sorted(different))
    assert len(grown) <= 26
    assert sum(compared) <= 26 * n * (n + 2)
    if shown is None:
        assert len(grown) == 26
    else:
        check(n, different, shown)
    if share in (0.0, "pairs") and n <= 40:
        assert shown is not None


def test_no_more_letters_than_the_alphabet() -> None:
    assert letter_display(26, list(combinations(range(26), 2))) == list("abcdefghijklmnopqrstuvwxyz")
    assert letter_display(27, list(combinations(range(27), 2))) is None


def test_letters_come_in_order() -> None:
    assert letter_display(3, [(0, 2)]) == ["a", "ab", "b"]
    assert letter_display(3, []) == ["a", "a", "a"]
    assert letter_display(3, [(0, 1), (0, 2), (1, 2)]) == ["a", "b", "c"]
    assert letter_display(3, [(2, 0), (1, 0)]) == ["a", "b", "b"]


@given(relations(6))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_rank_ranges_hold_every_order_that_agrees_with_the_pairs(case: tuple[int, Pairs]) -> None:
    """Pairs (i, j) with i < j, i the winner: whatever the true order is, each rank lies in its range."""
    from itertools import permutations

    n, beats = case
    ranges = rank_ranges(n, beats)
    for order in permutations(range(n)):
        place = {item: rank for rank, item in enumerate(order, start=1)}
        if all(place[i] < place[j] for i, j in beats):
            assert all(first <= place[item] <= last for item, (first, last) in enumerate(ranges))
    every = [*combinations(range(n), 2)]
    assert rank_ranges(n, every) == [(i, i) for i in range(1, n + 1)]
    assert rank_ranges(n, []) == [(1, n)] * n
