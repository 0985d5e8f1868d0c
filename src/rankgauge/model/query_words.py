"""Words of queries, and how two of them are the same but for what carries no meaning.

Words that only hold a sentence together are left out, from a short list: not those that ask (who, when), that negate or
that say where from and to. What is left has to agree in its order, or, where a query is a list of keywords, in any.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

from rankgauge.model.normal_text import NormalText

__all__ = ["content_words", "folded", "is_keywords", "one_letter_apart", "query_words"]

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Numbers stay whole; c++ is not c.
_TOKEN = re.compile(rf"[{_CJK}]|\d+(?:[.,:/-]\d+)+|[^\W{_CJK}]+[+#]*|[<>=%$\u20ac\u00a3\u2264\u2265]")
_SIGNS = r"[\s?!.,;:\"'\u3002\uff1f\uff01\uff0c\uff1b\uff1a]+"
_ENDS = re.compile(rf"^{_SIGNS}|{_SIGNS}$")
_ROLE = re.compile(r"^\s*\|\w+\|:\s*")  # how some files mark who says it
_LEAST = 7  # letters of a word in which one may be a slip


@cache
def _ignored() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("ignored_words.txt").read_text("utf-8").split())


def folded(text: str) -> str:
    """A text without what differs between two ways to type it: case, white space, quotation marks, the signs at its
    ends."""
    text = _ROLE.sub("", text)
    plain = " ".join(text.split()) if text.isascii() else NormalText(unicodedata.normalize("NFKC", text)).text
    return _ENDS.sub("", plain.casefold())


def query_words(text: str) -> list[str]:
    """The words of a query; of Chinese and Japanese its characters."""
    return _TOKEN.findall(folded(text))


def content_words(words: list[str]) -> tuple[str, ...]:
    """Those that carry the meaning, in the singular."""
    kept = [word for word in words if word not in _ignored()] or words
    return tuple(_singular(word) for word in kept)


def is_keywords(words: list[str]) -> bool:
    """Whether a query is a list of words rather than a sentence, so that their order says nothing. Characters of
    Chinese are no list of words."""
    return all(word not in _ignored() and (word.isascii() or len(word) > 1) for word in words)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.isalpha() or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") and len(word) > 4 else word[:-1]


def one_letter_apart(a: str, b: str) -> bool:
    """Whether one slip of the hand makes one word of the other: a letter more, less, another, or two in the wrong
    order. Short words, words with digits and words that begin differently are other words."""
    if min(len(a), len(b)) < _LEAST or abs(len(a) - len(b)) > 1 or a[0] != b[0]:
        return False
    if not (a.isalpha() and b.isalpha()):
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    left, right = a[start:], b[start:]
    return (
        left[1:] == right
        or left == right[1:]
        or left[1:] == right[1:]
        or (left[2:] == right[2:] and left[:2] == right[1::-1])
    )
