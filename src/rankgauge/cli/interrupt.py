"""Ctrl-C."""

from __future__ import annotations

__all__ = ["Interrupted"]


class Interrupted(BaseException):
    """Ctrl-C, past the handling of click, which would call it an error of status 1. Its text says what is kept."""
