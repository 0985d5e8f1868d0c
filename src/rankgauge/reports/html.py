"""A record as one HTML file that works offline: words, tables, charts and every query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rankgauge.errors import MissingExtraError
from rankgauge.reports.charts import converter
from rankgauge.reports.html_data import data_of, script_json
from rankgauge.reports.html_view import view_of
from rankgauge.reports.html_words import PAGE
from rankgauge.words import Language

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_html"]

_SCRIPTS = ("base.js", "charts.js", "changes.js", "queries.js", "start.js")


def render_html(record: Mapping[str, Any], language: Language = "en") -> str:
    """The page. Texts are escaped by the template, data by `script_json`; nothing is fetched when it is opened."""
    environment = _environment()
    page = environment.get_template("report.html").render(
        w=PAGE[language],
        view=view_of(record, language),
        style=_file("report.css"),
        data=script_json(data_of(record, language)),
        runtime=_runtime(),
        script="\n".join(_file(name) for name in _SCRIPTS),
    )
    # Half of a surrogate pair can stand in JSON but not in a file.
    return re.sub("[\ud800-\udfff]", "\ufffd", page)


@cache
def _file(name: str) -> str:
    return (files("rankgauge.reports") / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("the HTML report needs jinja2: pip install 'rankgauge[report]'") from None
    return Environment(
        loader=FunctionLoader(_file), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@cache
def _runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, made once for each process, for it takes a second."""
    bundle: str = converter().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return re.sub(r"</(script)", r"<\\/\1", bundle, flags=re.IGNORECASE)
