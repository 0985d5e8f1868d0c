"""Words stand in one place: every text exists in every language, with the same parameters."""

from __future__ import annotations

import ast
import json
import re
import string
from dataclasses import asdict
from pathlib import Path

import pytest

import rankgauge
from rankgauge.errors import RankgaugeError
from rankgauge.words import LANGUAGES, Note, check_language, say, tell
from rankgauge.words.numbers import KINDS

SOURCE = Path(rankgauge.__file__).parent
FOLDER = SOURCE / "words" / "texts"
CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
# Chinese that is no text of a result: names of columns that files have, data, and what is punctuation to a tokenizer.
ALIASES = {
    "comparison/stored_scores.py",
    "retrievers/text.py",
    "words/say.py",
}


def texts(language: str) -> dict[str, str]:
    return {
        f"{path.stem}.{name}": text
        for path in sorted((FOLDER / language).glob("*.json"))
        for name, text in json.loads(path.read_text("utf-8")).items()
    }


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
    note = Note("evaluation.all_lists", {"n": 3, "length": 1})
    assert tell(note, "en") == "all 3 lists end after 1 document"
    names = Note("evaluation.names_and_more", {"names": ["AP", "RR"], "more": 2, "all": 4})
    told = {
        language: say("evaluation.whole_lists", language, lists=note, names=names, example="AP@3")
        for language in LANGUAGES
    }
    assert "AP, RR and 2 more" in told["en"]
    assert "AP、RR 等 4 个指标" in told["zh"]


def test_a_note_survives_json() -> None:
    note = Note("a.b", {"inner": Note("c.d", {"n": 1}), "list": [Note("e.f"), "x"], "plain": {"key": 1}})
    assert Note(**json.loads(json.dumps(asdict(note)))) == note


def test_chinese_stands_in_the_texts_alone() -> None:
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if any(
            isinstance(node, ast.Constant) and isinstance(node.value, str) and CHINESE.search(node.value)
            for node in ast.walk(ast.parse(path.read_text()))
        )
    }
    assert found == ALIASES


def keys_in_code() -> set[str]:
    """Keys that stand whole in the code."""
    groups = {path.stem for path in (FOLDER / "en").glob("*.json")}
    return {
        node.value
        for path in SOURCE.rglob("*.py")
        if path != SOURCE / "__init__.py"  # which names modules
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[a-z]+\.[a-z_0-9]*[a-z0-9]", node.value)  # one that ends in _ is the beginning of several
        and node.value.split(".")[0] in groups
    }


def test_every_key_of_the_code_has_a_text() -> None:
    assert not keys_in_code() - texts("en").keys()
