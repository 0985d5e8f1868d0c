"""A chart: a Vega-Lite specification and its data.

Specifications are files, `templates/charts/NAME.json`, with names in braces for what is filled in: `{w_NAME}` a word of
the charts, `{color_NAME}` a colour, anything else what the caller gives. A page fills what is still open, such as
{measure}, {a} and {b}, for every choice of its reader; {sign} is -1 where lower is better.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.visible import visible
from rankgauge.words import Language, group, say

if TYPE_CHECKING:
    from rankgauge.stats.intervals import Interval

__all__ = [
    "CATEGORIES",
    "GREY",
    "LINE",
    "SHEETS",
    "VERDICTS",
    "Chart",
    "Row",
    "Spec",
    "colors",
    "counted",
    "ends",
    "fill",
    "forest_spec",
    "plain",
    "rounded",
    "shown",
    "spec_of",
    "theme",
    "words_of",
]

Spec = dict[str, Any]
Row = dict[str, Any]
LINE = 26
"""Height of one line of a forest plot."""
_DIGITS = 6


@dataclass(frozen=True)
class Chart:
    """A specification without its data, and the data."""

    name: str
    title: str
    spec: Spec
    rows: list[Row]
    height: int
    measure: str | None = None
    about: str = ""
    """What stands below the title: the measure and the number of queries."""


def shown(value: Any) -> Any:
    """Data whose texts can be drawn, all with their controls spelled out."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {shown(key): shown(entry) for key, entry in value.items()}
    return [shown(entry) for entry in value] if isinstance(value, list | tuple) else value


@cache
def _file(name: str) -> Spec:
    text = (Path(__file__).parent / "templates" / "charts" / f"{name}.json").read_text(encoding="utf-8")
    found: Spec = json.loads(text)
    return found


_COLORS = _file("colors")
CATEGORIES: list[str] = _COLORS["categories"]
"""Middle tones, three times as light or as dark as either background, and apart for the colour-blind."""
GREY: str = _COLORS["grey"]
VERDICTS: dict[str, str] = _COLORS["verdicts"]
SHEETS: dict[str, str] = {mode: ink["sheet"] for mode, ink in _COLORS["ink"].items()}
"""The backgrounds."""


def theme(mode: Literal["light", "dark"], *, background: str | None = None) -> Spec:
    """Vega-Lite's configuration. Marks have their own colours, good on both backgrounds; texts have the theme's."""
    found: Spec = fill(_file("theme"), {**_COLORS["ink"][mode], "categories": CATEGORIES, "background": background})
    return found


def words_of(language: Language) -> Callable[..., str]:
    """The charts' words in a language, by name."""

    def words(name: str, /, **parameters: Any) -> str:
        return say(f"chart.{name}", language, **parameters)

    return words


@cache
def _common(language: Language) -> dict[str, Any]:
    """Words and colours."""
    words = {f"w_{name}": text for name, text in group("chart", language).items()}
    words |= {f"w_verdict_{code}": say(f"comparison.verdict_{code}", language) for code in VERDICTS}
    tones = {**VERDICTS, "grey": GREY, "accent": CATEGORIES[0]}
    return words | {f"color_{name}": tone for name, tone in tones.items()}


def spec_of(name: str, language: Language, digits: int = 4, /, **known: Any) -> Spec:
    """A specification in the words of a language and the digits of the tables, with what is known filled in."""
    found: Spec = fill(_file(name), {**_common(language), "digits": digits, **known})
    return found


def counted(queries: Iterable[int], language: Language, measure: str | None = None) -> str:
    """nDCG@10 · 135 queries; from the least to the greatest number where they differ."""
    words, known = words_of(language), sorted({n for n in queries if n})
    parts = [plain(measure)] if measure else []
    if known:
        n = "–".join(dict.fromkeys((str(known[0]), str(known[-1]))))
        parts.append(words("one_query" if n == "1" else "n_queries", n=n))
    return " · ".join(parts)


def fill(value: Any, known: Mapping[str, Any]) -> Any:
    """Put what is known into a specification; a text that is nothing but a name becomes the value itself."""
    if isinstance(value, dict):
        return {key: fill(entry, known) for key, entry in value.items()}
    if isinstance(value, list):
        return [fill(entry, known) for entry in value]
    if not isinstance(value, str):
        return value
    if value[1:-1] in known and value == f"{{{value[1:-1]}}}":
        return known[value[1:-1]]
    return re.sub(r"\{(\w+)\}", lambda found: str(known.get(found[1], found[0])), value)


def forest_spec(language: Language, digits: int, title: str, margin: float | None) -> Spec:
    """Differences with intervals, the zero line and the band of differences that do not matter."""
    spec = spec_of("forest", language, digits, title=title, margin=margin or 0.0, below=-(margin or 0.0))
    return spec if margin else spec | {"layer": spec["layer"][1:]}


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def ends(interval: Interval | None) -> Row:
    """The ends of an interval; an open one has no number."""
    known = {} if interval is None else {"low": interval.low, "high": interval.high}
    return {end: rounded(known[end]) if end in known and math.isfinite(known[end]) else None for end in ("low", "high")}


def plain(name: str) -> str:
    """A name as it may stand in a specification: Vega-Lite puts titles into expressions and does not escape a backslash
    there."""
    return visible(name).replace("\\", "∖")


def colors(systems: Sequence[str]) -> list[str]:
    """A colour for each system, the same in every chart."""
    return [CATEGORIES[i % len(CATEGORIES)] for i in range(len(systems))]
