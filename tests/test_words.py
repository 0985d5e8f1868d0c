"""Words stand in one place: every text exists in every language, with the same parameters."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest

from rankgauge.errors import RankgaugeError
from rankgauge.words import LANGUAGES, Note, check_language, say, tell
from rankgauge.words import say as words
from rankgauge.words.numbers import KINDS

FOLDER = Path(words.__code__.co_filename).parent / "texts"


def texts(language: str) -> dict[str, str]:
    return {
        f"{path.stem}.{name}": text
        for path in sorted((FOLDER / language).glob("*.json"))
        for name, text in json.loads(path.read_text("utf-8")).items()
    }


def parameters(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_language_has_every_text() -> None:
    known = {language: texts(language) for language in LANGUAGES}
    assert known["en"].keys() == known["zh"].keys()


def test_kinds_of_numbers_are_known() -> None:
    for language in LANGUAGES:
        for key, text in texts(language).items():
            for _, name, kind, _ in string.Formatter().parse(text):
                assert name is None or not kind or kind in KINDS or "|" in kind, (language, key)


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(RankgaugeError, match="unknown language 'fr'; known are: en, zh"):
        check_language("fr")
    with pytest.raises(RankgaugeError, match="unknown language"):
        say("evaluation.few", "fr", n=3)  # type: ignore[arg-type]


def test_notes_lists_and_counts() -> None:
    assert isinstance(tell, object)
    assert Note("a.b") == Note("a.b", {})
