"""What ends a command from outside: Ctrl-C, a reader that went away."""

from __future__ import annotations

__all__ = ["Interrupted", "ReaderGone"]


class Interrupted(BaseException):
    """Ctrl-C, past the handling of click, which would call it an error of status 1. Its text says what is kept."""


class ReaderGone(BaseException):
    """Nobody reads the output any more, past the handling of click, for which that is status 1."""
