"""Attributes of objects that are not ours, which may raise anything when they are looked at."""

from __future__ import annotations

from typing import Any

__all__ = ["attribute"]


def attribute(given: Any, name: str, default: Any = None) -> Any:
    """An attribute, or the default where there is none or it cannot be had."""
    try:
        return getattr(given, name, default)
    except Exception:  # of a property, or of __getattr__
        return default
