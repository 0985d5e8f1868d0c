"""Intervals drawn on a terminal: 0 is named, and what excludes it does not touch it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.reports.cells import Look
from rankgauge.reports.columns import answer, scale_of
from rankgauge.reports.document import Column, Drawn, Table
from rankgauge.reports.renderers.terminal import render_table


def drawn(*ends: tuple[float, float], width: int = 40, zero: bool = True) -> list[str]:
    """The lines of a table of differences in the middle of their intervals, and of its scale."""
    scale = scale_of(list(ends), [])
    rows = [("x", Drawn(sum(pair) / 2, pair, scale, zero=zero)) for pair in ends]
    table = Table("t", [Column("name"), Column(answer("means"), "plot")], rows, light=True)
    return render_table(table, Look("en", minus="−"), detail="answer", width=width).splitlines()[1:]


@pytest.mark.parametrize(
    ("ends", "labels"),
    [
        ([(-0.2, 0.2), (0.1, 0.2)], ["−0.20", "0", "+0.20"]),
        ([(-0.154, 0.017)], ["−0.15", "0"]),  # +0.02 would stand on the 0
        ([(-0.02, 0.2)], ["0", "+0.20"]),
        ([(-0.3, -0.2)], ["−0.30", "0"]),  # the scale reaches to 0
        ([(0.2, 0.3)], ["0", "+0.30"]),
    ],
)
def test_zero_is_named_below_its_place(ends: list[tuple[float, float]], labels: list[str]) -> None:
    *bars, scale = drawn(*ends, width=26)
    assert scale.split() == labels
    place = next(
        i for i, sign in enumerate(scale) if sign == "0" and scale[i - 1] in " " and scale[i + 1 : i + 2] != "."
    )
    assert all(bar[place : place + 1] in "┊┼├┤●" for bar in bars)


def test_scores_have_no_zero() -> None:
    assert drawn((0.2, 0.7), zero=False)[-1].split() == ["0.2000", "0.7000"]


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 1)), min_size=1, max_size=4), st.integers(20, 60))
def test_an_interval_that_excludes_zero_does_not_touch_it(found: list[tuple[float, float]], width: int) -> None:
    ends = [(low, low + wide) for low, wide in found]
    *bars, scale = drawn(*ends, width=width)
    for (low, high), bar in zip(ends, bars, strict=True):
        assert bar.count("●") == 1
        if (low > 0 or high < 0) and {"├", "┤"} <= set(bar):
            assert (bar.index("┊") < bar.index("├")) is (low > 0)
    assert len(scale) <= width
