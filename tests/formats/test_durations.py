"""Durations: every unit, short and written out, and what is none."""

from __future__ import annotations

import datetime

import pytest

from rankgauge.formats.durations import UNITS, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250us", 0.00025),
        ("250 µs", 0.00025),
        ("200ms", 0.2),
        ("1.5s", 1.5),
        (".5 sec", 0.5),
        ("15m", 900),
        ("15 min", 900),
        ("12h", 43200),
        ("1 hour", 3600),
        ("2 Hours", 7200),
        ("90d", 90 * 86400),
        (" 4w ", 4 * 604800),
        ("2 weeks", 2 * 604800),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "d", "7", "-1d", "1e3s", "7 moons", "d7", "7d 3h", "١", "nans", "7ss", "1 days ago"]
)
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        parse_duration(text)


def test_longer_than_any() -> None:
    for text in ("99999999999d", "9" * 400 + "w"):
        with pytest.raises(OverflowError):
            parse_duration(text)


def test_units_of_the_caller() -> None:
    assert parse_duration("5ms", ("ms", "s")).total_seconds() == 0.005
    for unit in UNITS.keys() - {"ms", "s"}:
        with pytest.raises(ValueError, match="is no duration"):
            parse_duration(f"5{unit}", ("ms", "s"))
