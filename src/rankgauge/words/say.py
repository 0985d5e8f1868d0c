"""`say`: a text of a language with its parameters filled in."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from rankgauge.arguments import named_arguments
from rankgauge.errors import RankgaugeError
from rankgauge.visible import visible
from rankgauge.words.numbers import KINDS, in_kind

__all__ = ["LANGUAGES", "Language", "Note", "check_language", "group", "has_text", "listed", "say", "tell", "template"]

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
_FEW = 6  # names that a sentence of :few holds at most
NAMED = ("test", "correction")
"""What is told by its name in a language, such as {test:test}."""
COUNTED = "n"
"""A number of things: 1,234, where the language has no plural to write it in."""
_TEXTS = Path(__file__).parent / "texts"


@named_arguments
@dataclass(frozen=True)
class Note:
    """Something to be said, without words: a key and what its text needs. Warnings could change what a reader
    concludes; the rest is for information."""

    key: str
    parameters: dict[str, Any] = field(default_factory=dict)
    """Texts, numbers, lists of them, and further notes."""
    level: Literal["info", "warning"] = "info"

    def __post_init__(self) -> None:
        # A note read from JSON has its inner notes as objects there.
        object.__setattr__(self, "parameters", {name: _restored(value) for name, value in self.parameters.items()})

    def sentence(self, language: Language = "en") -> str:
        """The note in words."""
        return tell(self, language)


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict) and value.keys() == {"key", "parameters", "level"} and isinstance(value["key"], str):
        return Note(value["key"], dict(value["parameters"]), value["level"])
    return value


def check_language(name: str) -> Language:
    """A language that there are texts in, or an error that names them."""
    for known in LANGUAGES:
        if name == known:
            return known
    raise RankgaugeError(f"unknown language {name!r}; known are: {', '.join(LANGUAGES)}")


@cache
def _groups(language: Language) -> Mapping[str, Path]:
    """The file of each group of texts."""
    return {path.stem: path for path in (_TEXTS / check_language(language)).glob("*.json")}


@cache
def _texts(name: str, language: Language) -> Mapping[str, str]:
    """The texts of a group, which is read when something of it is first said."""
    path = _groups(language).get(name)
    texts: dict[str, str] = {} if path is None else json.loads(path.read_text("utf-8"))
    return texts


def template(key: str, language: Language) -> str:
    """The text itself, with its parameters open."""
    within, _, name = key.partition(".")
    texts = _texts(within, language)
    if name not in texts:
        raise KeyError(key)
    return texts[name]


def group(name: str, language: Language) -> dict[str, str]:
    """All texts of a group by their names, with their parameters open."""
    return dict(_texts(name, language))


def has_text(key: str) -> bool:
    """Whether there is a text of that key."""
    within, _, name = key.partition(".")
    return name in _texts(within, LANGUAGES[0])


def say(key: str, language: Language, /, **parameters: Any) -> str:
    """The text of a key in a language."""
    return _Filled(language).vformat(template(key, language), (), parameters)


def tell(note: Note, language: Language, *, digits: int | None = None) -> str:
    """A note in words; one of a later release, whose text is not here, by its key. `digits` are those of scores, where
    they are not to be as many as the text itself asks for."""
    if not has_text(note.key):
        return note.key
    return _Filled(language, digits).vformat(template(note.key, language), (), note.parameters)


def listed(items: Sequence[Any], language: Language) -> str:
    """Items one after the other, as the language joins them."""
    return ("、" if check_language(language) == "zh" else ", ").join(map(str, items))


class _Filled(string.Formatter):
    """Fills parameters in: numbers by their kind, lists joined, notes told. Whatever a name from elsewhere holds, the
    text has the lines of its template and no controls."""

    def __init__(self, language: Language, digits: int | None = None) -> None:
        self.language, self.digits = language, digits

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Note):
            value = tell(value, self.language, digits=self.digits)
        if format_spec in NAMED:
            key = f"names.{format_spec}_{value}"
            value = template(key, self.language) if has_text(key) else value  # or one from elsewhere
            return visible(str(value))
        if format_spec in KINDS:
            return visible(in_kind(value, format_spec, self.digits))
        if format_spec == "few" and isinstance(value, list | tuple) and len(value) > _FEW:
            return say(
                "report.and_more", self.language, names=value[: _FEW - 1], rest=len(value) - _FEW + 1, n=len(value)
            )
        if isinstance(value, list | tuple):
            return listed([self.format_field(item, format_spec) for item in value], self.language)
        if format_spec == COUNTED or "|" in format_spec:
            number = f"{value:,}" if isinstance(value, int) else visible(str(value))
            if format_spec == COUNTED:
                return number
            one, many = format_spec.split("|")
            return f"{number} {one if value == 1 else many}"
        return "" if value is None else visible(str(value))
