"""Draws what the README shows: the demo as a terminal shows it, and the first screen of its report (`make pictures`).

Latencies differ from machine to machine, so the pictures are drawn anew only when asked for; tests hold that what they
show is still what the commands print.
"""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

from rankgauge.cli.app import app
from rankgauge.reports.tables import width_of
from rankgauge.words import LANGUAGES, Language

IMAGES = Path(__file__).parent / "images"
WIDTH = 80
_TEXT = re.compile(r'(?P<start><text[^>]*?)textLength="(?P<length>[0-9.]+)"(?P<rest>[^>]*)>(?P<text>[^<]*)</text>')
NAMES: dict[Language, tuple[str, str]] = {"en": ("demo.svg", "report.png"), "zh": ("demo.zh.svg", "report.zh.png")}

COMMANDS: dict[Language, str] = {"en": "rankgauge demo", "zh": "rankgauge demo --lang zh"}


class _Terminal(io.TextIOWrapper):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def demo_output(language: Language, page: Path) -> str:
    """What `rankgauge demo` prints on a terminal of 80 columns; its report goes to `page`."""
    out = _Terminal(io.BytesIO(), "utf-8")
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    for name in ("NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    with mock.patch.dict(os.environ, environment, clear=True), mock.patch.object(sys, "stdout", out):
        app.main(["demo", "--lang", language, "--report", str(page)], prog_name="rankgauge", standalone_mode=False)
    out.flush()
    text: str = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return text.replace(str(page), "rankgauge-demo.html")


# The template's names are rich's. No font is fetched from anywhere: each reader's own monospaced one serves.
_SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def drawn(text: str, language: Language) -> str:
    """A terminal's output as an SVG, below the command that prints it on any machine."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(f"$ {COMMANDS[language]}\n\n{text.rstrip()}"), soft_wrap=False)
    made = console.export_svg(title="rankgauge", code_format=_SVG, unique_id="demo")
    return _spaced("\n".join(line.rstrip() for line in made.splitlines()) + "\n")


def _spaced(svg: str) -> str:
    """rich counts a Chinese character as one column where it takes two."""

    def tag(found: re.Match[str]) -> str:
        text = html.unescape(found["text"])
        length = float(found["length"]) / max(len(text), 1) * width_of(text)
        return f'{found["start"]}textLength="{length:g}"{found["rest"]}>{found["text"]}</text>'

    return _TEXT.sub(tag, svg)


def photograph(page: Path, picture: Path) -> None:
    """The first screen of a page, as a browser shows it."""
    from playwright.sync_api import sync_playwright

    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as tool:
        started = tool.chromium.launch(executable_path=browser, args=["--no-sandbox", "--hide-scrollbars"])
        window = started.new_page(viewport={"width": 1200, "height": 760})
        window.goto(page.as_uri())
        window.wait_for_timeout(1000)
        window.screenshot(path=str(picture))
        started.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for language in LANGUAGES:
            svg, png = NAMES[language]
            page = Path(folder) / f"{language}.html"
            (IMAGES / svg).write_text(drawn(demo_output(language, page), language), encoding="utf-8")
            photograph(page, IMAGES / png)


if __name__ == "__main__":
    main()
