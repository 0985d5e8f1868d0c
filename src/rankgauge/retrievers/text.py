"""From text to index terms: English by words and stems, Chinese by jieba, both within one text."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from rankgauge.errors import MissingExtraError
from rankgauge.extras import check_installed, optional
from rankgauge.retrievers.checks import Choices, check_choice

__all__ = [
    "LANGUAGES",
    "TextLanguage",
    "Tokenizer",
    "check_text",
    "chinese_terms",
    "english_terms",
    "has_chinese",
    "identifiers",
    "is_stop_word",
    "plain_words",
    "terms_by_script",
    "tokenizer_for",
]

Tokenizer = Callable[[str], list[str]]
LANGUAGES = ("auto", "en", "zh")
TextLanguage = Annotated[str, "Language of the texts; auto goes by their script.", Choices(LANGUAGES)]

_WORD = re.compile(r"\w+(?:\.\w+)*")
_PLAIN = re.compile(r"[^\W_]+(?:[._'\u2019-][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
# The places inside camelCase and HTTPServer where a new word begins.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_HAN_RUN = re.compile(f"[{_HAN}]+")

_STOP = frozenset(Path(__file__).with_name("stop_words.txt").read_text("utf-8").split())
_local = threading.local()
_STEMMER = ("Stemmer", "stemming", "PyStemmer")
_CHINESE = ("jieba", "Chinese text", "jieba")


def english_terms(text: str) -> list[str]:
    """Lower-case stems without stop words. An identifier gives itself and its parts.

    os.path gives os.path, os and path; snake_case and camelCase give their words too.
    """
    stem = _stemmer()
    terms = []
    for word in _WORD.findall(text):
        lower = word.lower()
        parts = _parts(word)
        if len(parts) > 1:
            terms.append(lower)
        terms += [stem(part) for part in parts if part not in _STOP]
    return terms


def identifiers(text: str) -> list[str]:
    """The words of several parts, such as os.path, snake_case and camelCase, in lower case."""
    return [word.lower() for word in _WORD.findall(text) if len(_parts(word)) > 1]


def chinese_terms(text: str) -> list[str]:
    """Words and the shorter words within them, as jieba finds them, without stop words; Latin text as in English."""
    cut = _jieba().cut_for_search
    terms, end = [], 0
    for run in _HAN_RUN.finditer(text):
        terms += english_terms(text[end : run.start()])
        terms += [word for word in cut(run[0]) if word not in _STOP]
        end = run.end()
    return terms + english_terms(text[end:])


def terms_by_script(text: str) -> list[str]:
    """Every part of a text by its own script: what has no Chinese in it is read as English, without jieba."""
    return chinese_terms(text) if _HAN_RUN.search(text) else english_terms(text)


def has_chinese(text: str) -> bool:
    return _HAN_RUN.search(text) is not None


def is_stop_word(word: str) -> bool:
    """Whether a word, in lower case, says nothing of what a text is about."""
    return word in _STOP


def plain_words(text: str) -> list[str]:
    """Words in lower case as they stand, stop words too. Chinese ones are those of jieba; without it, pairs of
    characters."""
    found, end = [], 0
    for run in _HAN_RUN.finditer(text):
        found += _PLAIN.findall(text[end : run.start()].lower())
        found += _chinese_words(run[0])
        end = run.end()
    return found + _PLAIN.findall(text[end:].lower())


def _chinese_words(run: str) -> list[str]:
    try:
        return list(_jieba().cut(run))
    except MissingExtraError:
        return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


def tokenizer_for(language: str) -> Tokenizer:
    """The tokenizer of a language. `auto` goes by the script of each part of a text, documents and queries alike, so
    that a corpus may mix languages."""
    check_choice("language", language, LANGUAGES)
    if language == "zh":
        _jieba()
        return chinese_terms
    _stemmer()
    return english_terms if language == "en" else terms_by_script


def check_text(language: str = "auto") -> None:
    """Raise an error unless the tokenizer of a language is installed. What `auto` needs, its texts decide."""
    check_installed(*_STEMMER)
    if language == "zh":
        check_installed(*_CHINESE)


def _parts(word: str) -> list[str]:
    if word.isascii() and word.isalnum() and (word.islower() or word.isupper()):
        return [word.lower()]
    return [part.lower() for piece in _PART.findall(word) for part in _HUMP.split(piece)]


def _stemmer() -> Callable[[str], str]:
    """Snowball's English stemmer; one for each thread, for it must not be shared."""
    found: Callable[[str], str] | None = getattr(_local, "stem", None)
    if found is None:
        library = optional(*_STEMMER)
        found = _local.stem = library.Stemmer("english").stemWord
    return found


_loading = threading.Lock()


def _jieba() -> Any:
    with _loading:
        return _load_jieba()


@cache
def _load_jieba() -> Any:
    """A tokenizer of our own, ready to use.

    jieba's own start logs to the terminal, and reads and writes a cache in the folder for temporary files, where
    others can write too; the dictionary is read from the package instead.
    """
    cutter = optional(*_CHINESE).Tokenizer()
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    return cutter
