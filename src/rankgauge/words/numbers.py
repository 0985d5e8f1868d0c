"""How numbers are written: the one place that rounds."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.words.visible import shortened

__all__ = [
    "KINDS",
    "MINUS",
    "bounds",
    "figure",
    "glance",
    "in_kind",
    "interval",
    "milliseconds",
    "p_value",
    "percent",
    "plain",
    "score",
    "signed",
]

MINUS = "−"
"""The sign of negative numbers, for people; programs read a hyphen."""
_SECOND = 0.9995
"""From here on three digits of milliseconds would read 1e+03 ms."""
_UNITS = ((3600, "h"), (60, "min"))
_P_DIGITS = 4


def score(value: float, digits: int = 4) -> str:
    """0.7123, as trec_eval prints it."""
    return f"{value:.{digits}f}"


def signed(value: float, digits: int = 4) -> str:
    """+0.0123; a difference."""
    return f"{value:+.{digits}f}"


def plain(value: float) -> str:
    """A number as short as it can be: 0.01, 5, 1e-06."""
    return f"{value:g}"


def percent(share: float, digits: int = 1) -> str:
    """81.3 %, of a share between 0 and 1."""
    return f"{100 * share:.{digits}f} %"


def signed_percent(share: float) -> str:
    """+12.3 %, of a relative change."""
    return f"{100 * share:+.1f} %"


def p_value(p: float | None, digits: int = _P_DIGITS) -> str:
    """0.0312; < 0.0001; - where nothing was tested."""
    if p is None:
        return "-"
    return score(p, digits) if p >= 10**-digits else f"< {10**-digits:.{digits}f}"


def related_p(p: float | None) -> str:
    """= 0.0312, or < 0.0001: to stand after the letter p."""
    return p_value(p) if p is not None and p < 10**-_P_DIGITS else f"= {p_value(p)}"


def bounds(ends: Sequence[float | None] | None, digits: int = 4, written: Callable[[float, int], str] = signed) -> str:
    """[-0.0123, +0.0456]; an open end is an infinity sign; nothing where there is no interval."""
    if ends is None:
        return ""
    low, high = ends
    left = "-∞" if low is None or low == -math.inf else written(low, digits)
    right = "∞" if high is None or high == math.inf else written(high, digits)
    return f"[{left}, {right}]"


def interval(ends: Sequence[float | None], digits: int = 4) -> str:
    """[0.4123, 0.5456], of a mean."""
    return bounds(ends, digits, score)


def figure(value: float) -> str:
    """Three digits that count, never as a power of ten: 0.800, 12.3, 1429."""
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:#.3g}" if size >= 0.0001 else f"{value:.4f}"


def glance(value: float) -> str:
    """One decimal, so that the figures of a column stand below each other: 0.1, 12.3; less in one digit: 0.003."""
    return f"{value:.1g}" if 0.0001 <= value < 0.05 else f"{value:.1f}"


def small(value: float) -> str:
    """0.0123, or in four digits where that would show nothing or too much: 2.5e-05, 3e+08."""
    return f"{value:.4f}" if 0.001 <= value < 1e6 else f"{value:.4g}"


def chance(share: float) -> str:
    """Whole percents, but never rounded to certainty: > 99.9 %."""
    if 0.005 <= share <= 0.995:
        return f"{100 * share:.0f} %"
    return "< 0.1 %" if share < 0.001 else "> 99.9 %" if share > 0.999 else f"{100 * share:.1f} %"


def milliseconds(seconds: float) -> str:
    """12.3 ms, in three digits."""
    return f"{float(f'{seconds * 1000:.3g}'):g} ms"


def rough(number: float) -> str:
    """1,200, of about so many: in two digits."""
    return f"{float(f'{number:.2g}'):,.0f}"


def latency(seconds: float) -> str:
    """120 ms, or 1.50 s from a second on."""
    return milliseconds(seconds) if seconds < _SECOND else f"{seconds:.2f} s"


def count(value: float) -> str:
    """10,000."""
    return f"{value:,.0f}"


def span(seconds: float) -> str:
    """A time in the unit that suits it: 2.4 s, 15 min, 3.5 h."""
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{seconds / size:.3g} {unit}"


def moment(time: datetime.datetime | str) -> str:
    """2026-03-01 12:00 UTC, of a time or of its ISO text."""
    found = datetime.datetime.fromisoformat(time) if isinstance(time, str) else time
    return f"{found.astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"


def _typeset(write: Callable[..., str]) -> Callable[..., str]:
    """The same with a minus sign where a hyphen would be too short, for sentences."""
    return lambda *values: write(*values).replace("-", MINUS)


KINDS: dict[str, Callable[[Any], str]] = {
    "score": score,
    "score2": _typeset(lambda value: score(value, 2)),
    "score3": lambda value: score(value, 3),
    "small": small,
    "signed": _typeset(signed),
    "signed_plain": _typeset(lambda value: f"{value:+g}"),
    "plain": plain,
    "plain4": lambda value: f"{value:.4g}",
    "rough": rough,
    "percent": percent,
    "percent0": lambda share: percent(share, 0),
    "percent_plain": lambda share: f"{100 * share:g} %",
    "signed_percent": _typeset(signed_percent),
    "chance": chance,
    "p": p_value,
    "related_p": related_p,
    "bounds": _typeset(bounds),
    "interval": _typeset(interval),
    "interval2": _typeset(lambda ends: interval(ends, 2)),
    "ms": milliseconds,
    "time": latency,
    "count": count,
    "span": span,
    "moment": moment,
    "figure_ms": lambda seconds: f"{figure(1000 * seconds)} ms",
    "quoted": repr,
    "short": shortened,
}
"""What can stand behind a parameter in a text."""
_SCORES: dict[str, Callable[..., str]] = {
    "score": score,
    "score2": score,
    "score3": score,
    "signed": _typeset(signed),
    "bounds": _typeset(bounds),
    "interval": _typeset(interval),
}
"""Kinds whose digits a reader may choose."""


def in_kind(value: Any, kind: str, digits: int | None = None) -> str:
    """A value in the way of its kind; scores in so many digits, where that is not left to the kind."""
    return KINDS[kind](value) if digits is None or kind not in _SCORES else _SCORES[kind](value, digits)
