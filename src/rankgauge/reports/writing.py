"""`report`: a result in a format, as a text or as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError
from rankgauge.reports.document import Detail, Report
from rankgauge.reports.renderers import RENDERERS, format_of
from rankgauge.stats.levels import check_whole
from rankgauge.words import check_language

if TYPE_CHECKING:
    import os

    from rankgauge.gating.outcome import GateResult
    from rankgauge.record import Record

__all__ = ["report"]


@named_arguments
def report(
    result: Record | GateResult | Report | Any,
    path: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - what every such function calls it
    language: str = "en",
    digits: int = 4,
    detail: Detail | None = None,
    per_query: bool = False,
    width: int | None = None,
    color: bool = False,
) -> str:
    """A result as a text: a record or its file, anything that has a `.record`, or what a gate found.

    With a `path` it is written too, whole or not at all (`-` is standard output); its ending tells the format (.html
    .md .tex .csv .txt .xml) unless one is named. Beside a CSV file of scores the tables of calls and sweeps are files
    of their own. `detail` is how much is shown, "answer", "evidence" or "audit", each format having its own default;
    a page shows everything.
    """
    chosen = check_language(language)
    digits = check_whole("digits", digits, 0, 15)
    if detail not in (None, *get_args(Detail)):
        raise DataError(f"detail is one of {', '.join(get_args(Detail))}, not {detail!r}")
    if width is not None:
        check_whole("width", width, 1)
    name = None if path is None else as_path("path", path)
    form = format or ("terminal" if name in (None, "-") else format_of(str(name)))
    render = RENDERERS[form]
    built = result if isinstance(result, Report) else _built(result, per_query)
    asked: dict[str, Any] = {} if detail is None else {"detail": detail}
    text = render(built, language=chosen, digits=digits, width=width, color=color, **asked)
    if name is not None:
        from rankgauge.formats.sources import write_whole

        write_whole(name, text.encode())
        if form == "csv" and name != "-":
            from rankgauge.reports.renderers.csv import companions

            for beside, content in companions(built, name, digits=digits).items():
                write_whole(beside, content.encode())
    return text


def _built(result: Any, per_query: bool) -> Report:
    from rankgauge.reports.build import report_of  # here, for it takes much that a list of records does without

    return report_of(result, per_query=per_query)
