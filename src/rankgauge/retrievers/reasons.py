"""Why a pass is not valid, in English and Chinese.

Records hold the English text; a report in Chinese finds the fixed words in it again, and leaves what the retriever
itself said as it is.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["reason", "translated"]

_TEXTS: Final = {
    "failed": (
        "{failed} of {asked} queries failed, more than the {share} allowed; most often: {error}",
        "{asked} 个查询中有 {failed} 个失败，超过允许的 {share}；最常见的原因：{error}",
    ),
    "unreachable": (
        "{failed} of {asked} queries reached nobody, so the other {rest} were not asked: {error}",
        "{asked} 个查询中有 {failed} 个连接不上，因此其余 {rest} 个未再请求：{error}",
    ),
    "interrupted": ("interrupted: {done} of {asked} queries were asked", "已中断：{asked} 个查询中已请求 {done} 个"),
    "versions": (
        "not asked: {n} versions in a row reached nobody ({error})",
        "未请求：连续 {n} 个版本连接不上（{error}）",
    ),
}


def _pattern(english: str) -> re.Pattern[str]:
    text = re.escape(english).replace(r"\{error\}", "(?P<error>.*)")
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[0-9.]+%?)", text), re.DOTALL)


_PATTERNS: Final = [(_pattern(english), chinese) for english, chinese in _TEXTS.values()]


def reason(key: str, **values: object) -> str:
    """One of the reasons, in English."""
    return _TEXTS[key][0].format(**values)


def translated(text: str, language: str) -> str:
    """A text with the reason that it holds in another language."""
    if language == "zh":
        for pattern, chinese in _PATTERNS:
            if found := pattern.search(text):
                return text[: found.start()] + chinese.format(**found.groupdict()) + text[found.end() :]
    return text
