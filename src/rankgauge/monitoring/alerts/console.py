"""The console as an alert channel."""

from __future__ import annotations

import sys

__all__ = ["CONSOLE"]


class _Console:
    def fault(self, address: str) -> None:
        return None

    def send(self, address: str, title: str, body: str, *, incident: int, event: str) -> str | None:
        """Onto standard error: standard output is for results, and alphabets a terminal lacks are escaped there."""
        try:
            print(f"{title}\n{body}\n", file=sys.stderr, flush=True)
        except (OSError, ValueError) as error:
            return f"the console cannot be written to: {error}"
        return None


CONSOLE = _Console()
