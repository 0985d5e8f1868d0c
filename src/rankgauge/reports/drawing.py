"""Charts as files: drawn by vl-convert, without a browser and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.extras import optional
from rankgauge.formats.sources import write_whole
from rankgauge.record import Record, as_record
from rankgauge.reports.chart_fitting import complete
from rankgauge.reports.chart_specs import Chart, theme
from rankgauge.reports.charts import charts_of
from rankgauge.stats.levels import check_whole
from rankgauge.words import Language, check_language

__all__ = ["converter", "drawn", "draws_chinese", "save_charts"]


@cache
def converter() -> Any:
    """vl_convert, or what to install."""
    return optional("vl_convert", "drawing charts", "vl-convert-python", "report")


@named_arguments
def save_charts(
    record: Record | Any,
    folder: str | Path,
    language: Language = "en",
    *,
    measure: str | None = None,
    pair: tuple[str, str] | None = None,
    digits: int = 4,
) -> list[Path]:
    """Write every chart of a record, or of a result that has one, as PNG and SVG into a folder, which is made if need
    be; the files written. Their names say what they hold: forest-AP.png, scatter-bm25-dense-nDCG@10.svg.

    Charts of single queries are of one `measure`, the first one by default, and of every pair that is compared, or of
    one `pair`.
    """
    _tool_for(check_language(language))
    record = as_record(record)
    if pair is not None and (not isinstance(pair, tuple | list) or len(pair) != 2):
        names = tuple(system.name for system in record.systems[:2])
        raise DataError(f"`pair` takes two names of systems, such as {names!r}, not {pair!r}")
    charts = charts_of(record, language, check_whole("digits", digits, 0, 15), measure=measure, pair=pair)
    target = Path(as_path("folder", folder))
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RankgaugeError(f"{target}: the folder cannot be made: {error.strerror or error}") from None
    written = []
    for chart in charts:
        for ending, data in drawn(chart, language).items():
            path = target / f"{chart.name}.{ending}"
            write_whole(path, data)
            written.append(path)
    return written


def drawn(
    chart: Chart,
    language: Language = "en",
    endings: Sequence[str] = ("svg", "png"),
    *,
    mode: Literal["light", "dark"] = "light",
    background: str = "white",
) -> dict[str, bytes]:
    """A chart as the contents of files, by their ending."""
    tool = _tool_for(language)
    svg: str = tool.vegalite_to_svg(complete(chart), config=theme(mode, background=background))
    made = {"svg": lambda: svg.encode(), "png": lambda: bytes(tool.svg_to_png(svg, scale=2.0))}
    return {ending: made[ending]() for ending in endings}


def _tool_for(language: Language) -> Any:
    """The converter, if it can write the language."""
    tool = converter()
    if language == "zh" and not draws_chinese(tool):
        raise RankgaugeError(
            "no font on this machine has Chinese characters: install one, such as fonts-noto-cjk, or choose "
            "language='en'"
        )
    return tool


@cache
def draws_chinese(tool: Any) -> bool:
    """Two characters that come out alike are two empty boxes."""

    def picture(character: str) -> bytes:
        text = f'<text x="4" y="40" font-size="40" font-family="sans-serif">{character}</text>'
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60">{text}</svg>'
        return bytes(tool.svg_to_png(svg))

    return picture(chr(0x67E5)) != picture(chr(0x533A))
