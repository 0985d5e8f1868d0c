"""What every result object can do: be kept as JSON, be shown as a report."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.sources import unpacked_name, write_whole
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
        """Write the result document as JSON, whole or not at all (.gz and .zst compress)."""
        ending = os.path.splitext(unpacked_name(as_path("path", path)))[1]
        if ending.lower() not in ("", ".json"):
            raise DataError(
                f"{os.fspath(path)}: a result is kept as JSON: name a file that ends with .json; a page or a table is "
                "written by report(path)"
            )
        write_whole(path, self.to_json().encode())

    @named_arguments
    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: str | None = None,  # noqa: A002 - what every such function calls it
        language: str = "en",
        digits: int = 4,
        detail: Literal["answer", "evidence", "audit"] | None = None,
    ) -> str:
        """The result as a text, or written to a file whose ending tells the format: .html .md .tex .csv .txt."""
        return REPORTERS["report"](self, path, format=format, language=language, digits=digits, detail=detail)
