"""What every result object can do: be kept as JSON, be shown as a report."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from rankgauge.formats.sources import write_whole
from rankgauge.registry import Registry

__all__ = ["REPORTERS", "Result"]

# By name, because reports stand after results: nothing here may import them.
REPORTERS: Registry[Callable[..., str]] = Registry(
    "reporter", "rankgauge.reporters", {"report": "rankgauge.reports.writing:report"}
)


class Result:
    """A result that can be written down and shown."""

    def to_json(self) -> str:
        """The result document as JSON."""
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result document, whole or not at all."""
        write_whole(path, self.to_json().encode())

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: str | None = None,  # noqa: A002 - what every such function calls it
        language: str = "en",
        digits: int = 4,
        detail: Literal["answer", "evidence", "audit"] = "evidence",
    ) -> str:
        """The result as a text, or written to a file whose ending tells the format: .html .md .tex .csv .txt."""
        return REPORTERS["report"](self, path, format=format, language=language, digits=digits, detail=detail)
