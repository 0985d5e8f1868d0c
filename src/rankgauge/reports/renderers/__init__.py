"""Renderers: each writes a `Report` in one format. A further format is one more file, or an entry point of the group
`rankgauge.renderers`."""

from __future__ import annotations

from typing import Protocol

from rankgauge.errors import DataError
from rankgauge.registry import Registry
from rankgauge.reports.document import Detail, Report
from rankgauge.words import Language

__all__ = ["RENDERERS", "Renderer", "format_of"]


class Renderer(Protocol):
    """A report in one format; what a format has no use for, it ignores."""

    def __call__(
        self,
        report: Report,
        *,
        language: Language = ...,
        digits: int = ...,
        detail: Detail = ...,
        width: int | None = ...,
        color: bool = ...,
    ) -> str: ...


_ENDINGS = {"txt": "terminal", "md": "markdown", "tex": "latex", "htm": "html", "xml": "junit"}
RENDERERS: Registry[Renderer] = Registry(
    "report format",
    "rankgauge.renderers",
    {
        "terminal": "rankgauge.reports.renderers.terminal:render",
        "markdown": "rankgauge.reports.renderers.markdown:render",
        "latex": "rankgauge.reports.renderers.latex:render",
        "csv": "rankgauge.reports.renderers.csv:render",
        "html": "rankgauge.reports.renderers.html:render",
        "notebook": "rankgauge.reports.renderers.notebook:render",
        "junit": "rankgauge.reports.renderers.junit:render",
        "trec_eval": "rankgauge.reports.renderers.trec_eval:render",
    },
    {**_ENDINGS, "text": "terminal", "plain": "terminal"},
)


def format_of(path: str, *others: str) -> str:
    """The format that a file's ending tells: one of the usual endings, or the name of a format. `others` are endings
    that the caller knows beside them."""
    ending = path.lower().removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]
    found = _ENDINGS.get(ending, ending)
    if found not in RENDERERS:
        known = ", ".join(f".{known}" for known in [*_ENDINGS, "csv", "html", *others])
        raise DataError(f"{path}: the ending tells no report format; known are {known}, or choose one with `format=`")
    return found
