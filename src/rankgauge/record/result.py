"""What every result object can do: be kept as JSON, be shown as a report, and be displayed in a notebook."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.formats.sources import unpacked_name, write_whole
from rankgauge.registry import Registry
from rankgauge.words import LANGUAGES

if TYPE_CHECKING:
    import polars as pl

__all__ = ["REPORTERS", "Plot", "Result"]

# By name, because reports stand after results: nothing here may import them.
REPORTERS: Registry[Callable[..., Any]] = Registry(
    "reporter",
    "rankgauge.reporters",
    {"report": "rankgauge.reports.writing:report", "plot": "rankgauge.reports.plot:plot"},
)


class Plot(Protocol):
    """A chart that a notebook displays, light or dark as the notebook is."""

    def svg(self, mode: Literal["light", "dark"] = "light") -> str:
        """The chart as SVG."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart, whole or not at all: as .svg or .png, or its Vega-Lite specification as .json."""


class Result:
    """A result that can be written down and shown."""

    def to_json(self) -> str:
        """The result document as JSON."""
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """The figures as a polars data frame."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The same as `to_frame()`, as a data frame of pandas."""
        pandas = optional("pandas", "to_pandas()", "pandas", "notebook")
        return pandas.DataFrame(self.to_frame().to_dict(as_series=False))

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
        text: str = REPORTERS["report"](self, path, format=format, language=language, digits=digits, detail=detail)
        return text

    @named_arguments
    def plot(
        self,
        kind: str | None = None,
        *,
        measure: str | None = None,
        pair: tuple[str, str] | None = None,
        language: str | None = None,
        digits: int = 4,
    ) -> Plot:
        """A chart: by default what the result is about, else of a `kind` such as "means", "forest", "scatter",
        "differences", "distribution", "tags", "latency", "sweep", "setting" or "losses", and of one `measure` and
        `pair` of systems where it is about one. Notebooks display it; `save(path)` writes it as .svg or .png."""
        chosen = language or _notebook_language()
        found: Plot = REPORTERS["plot"](self, kind, measure=measure, pair=pair, language=chosen, digits=digits)
        return found

    def _repr_html_(self) -> str:
        """What Jupyter shows: the decision and its table, in the language that RANKGAUGE_LANG names."""
        page: str = REPORTERS["report"](self, format="notebook", language=_notebook_language())
        return page


def _notebook_language() -> str:
    named = os.environ.get("RANKGAUGE_LANG", "")[:2].lower()
    return named if named in LANGUAGES else "en"
