"""What joins the English and the Chinese site, as hooks of mkdocs: links between the two, and the switch of language.

Each site is a build of its own (mkdocs.yml, mkdocs.zh.yml), so mkdocs takes a link into the other one for broken.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError

DOCS = Path(__file__).parent
NAMES = {"en": "English", "zh": "简体中文"}
_TARGET = re.compile(r"\]\((?P<path>[^()\s:#]+)(?P<anchor>#[^()\s]*)?\)")
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_CHINESE = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef“”]"
_WRAP = re.compile(rf"(?<={_CHINESE})\n *(?={_CHINESE})|(?<=[，。；：、）])\n *(?=[`A-Za-z\[])")
_ELSEWHERE = "elsewhere:"
"""A scheme of its own, which mkdocs leaves alone while it looks at the links of a page."""


def _prefix(config: Any) -> str:
    """Where a site lies below docs/, and also below site/."""
    folder = Path(config.docs_dir).relative_to(DOCS).as_posix()
    return "" if folder == "." else f"{folder}/"


def on_startup(*, command: str, dirty: bool) -> None:
    logging.getLogger("jieba").setLevel(logging.WARNING)  # else it tells how it loads its dictionary


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Links to pages and pictures of the other site lead there."""
    prefix = _prefix(config)

    def lead(found: re.Match[str]) -> str:
        source = posixpath.join("/", prefix, posixpath.dirname(page.file.src_uri), found["path"])
        target = PurePosixPath(posixpath.normpath(source)).relative_to("/").as_posix()
        other = target.startswith("zh/") if not prefix else not target.startswith(prefix)
        if not other:
            return found[0]
        if not (DOCS / target).is_file():
            raise PluginError(f"{prefix}{page.file.src_uri}: there is no docs/{target}")
        here = posixpath.join("/", prefix, posixpath.dirname(page.url))
        url = posixpath.relpath(f"/{target.removesuffix('.md')}", here) + (".html" if target.endswith(".md") else "")
        return f"]({_ELSEWHERE}{url}{found['anchor'] or ''})"

    return _TARGET.sub(lead, _unwrapped(markdown))


def _unwrapped(markdown: str) -> str:
    """The end of a source line is a blank to a browser, and Chinese has no blanks."""
    return "".join(part if part.startswith("```") else _WRAP.sub("", part) for part in _FENCED.split(markdown))


def on_page_context(context: dict[str, Any], *, page: Any, config: Any, nav: Any) -> dict[str, Any]:
    """The switch leads to the same page in the other language, or to its first page if there is none."""
    prefix = _prefix(config)
    up = posixpath.relpath("/", posixpath.join("/", prefix, posixpath.dirname(page.url)))
    config.extra["alternate"] = [
        {"name": name, "lang": language, "link": f"{_ELSEWHERE}{up}/{folder}{_same(folder, page)}"}
        for language, name in NAMES.items()
        for folder in ["" if language == "en" else f"{language}/"]
    ]
    return context


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    return output.replace(f'="{_ELSEWHERE}', '="')


def _same(folder: str, page: Any) -> str:
    return page.url if (DOCS / folder / page.file.src_uri).is_file() else "index.html"
