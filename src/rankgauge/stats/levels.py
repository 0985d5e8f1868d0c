"""What a level, a power and a number of draws or queries may be: one place for all tests."""

from __future__ import annotations

from numbers import Real

from rankgauge.errors import DataError

__all__ = ["check_alpha", "check_number", "check_power", "check_whole"]

_LARGEST = 10**300
"""Larger whole numbers are no floating-point numbers."""
_LEAST_ALPHA = 1e-6
"""Below, no figure is worth its digits: bounds so far out are nothing that a few hundred queries tell."""


def check_number(name: str, value: object) -> None:
    """Refuse what is no number, True among them."""
    if isinstance(value, bool) or not isinstance(value, Real) or (isinstance(value, int) and abs(value) > _LARGEST):
        raise DataError(f"{name} must be a number, not {repr(value)[:80]}")


def check_alpha(alpha: float) -> None:
    """Refuse what is no level of a test, NaN and True among them."""
    check_number("alpha", alpha)
    if not _LEAST_ALPHA <= alpha < 0.5:
        raise DataError(f"alpha {alpha:g} must lie between {_LEAST_ALPHA:g} and 0.5; 0.05 is usual")


def check_power(power: float, alpha: float) -> None:
    check_alpha(alpha)
    if isinstance(power, bool) or not isinstance(power, int | float) or not alpha < power < 1:
        raise DataError(f"power {power!r} must be a number above alpha ({alpha:g}) and below 1; 0.8 is usual")


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """The value as an int; 150.0 is one, 150.5 is not."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        raise DataError(f"{name} must be a whole number, not {value!r}")
    number = int(value)
    if number > _LARGEST:
        raise DataError(f"{name} is too large a number")
    if number < least or (most is not None and number > most):
        extent = f"at least {least}" if most is None else f"between {least} and {most}"
        raise DataError(f"{name} is {number}; it must be {extent}")
    return number
