"""Words stand in one place: every text exists in every language, with the same parameters."""

from __future__ import annotations

import ast
import json
import re
import string
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

import rankgauge
from rankgauge.errors import RankgaugeError
from rankgauge.words import LANGUAGES, Note, check_language, say, tell
from rankgauge.words.numbers import KINDS
from rankgauge.words.say import COUNTED, NAMED

SOURCE = Path(rankgauge.__file__).parent
FOLDER = SOURCE / "words" / "texts"
CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
# Chinese that is no text of a result: names of columns that files have, data, and what is punctuation to a tokenizer.
ALIASES = {
    "comparison/stored_scores.py",
    "model/normal_text.py",
    "retrievers/splitting.py",
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
                assert name is None or not kind or kind in KINDS or kind in ("few", COUNTED, *NAMED) or "|" in kind, (
                    language,
                    key,
                )


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


# Packages whose results are told, and what in them is part of an error message, which is English.
TOLD = (
    "engine",
    "stats",
    "record",
    "evaluation",
    "sensitivity",
    "comparison",
    "live",
    "gating",
    "monitoring/detection",
    "reports",
)
IN_ERRORS = {
    "engine/matching.py": ("its lines are not grouped", "; the ids are the same numbers"),
    "stats/latency.py": ("no calls to time",),
    "record/contradictions.py": ("",),  # nothing but faults
    "record/record.py": ("there is no comparison",),
    "live/sweep.py": ("{} folds need",),
    "gating/checks.py": ("all its answers", "its lists came", "the test set lists", "it is not known"),
    "gating/comparability.py": ("make the record", "the files of judgments"),
    "gating/targets.py": ("tag:billing", "it has no tags"),
}


def sentences(node: ast.AST) -> Iterator[str]:
    """Texts of four words and more that are no docstring and no argument of an error."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Raise) or getattr(called, "id", getattr(called, "attr", "")).endswith("Error"):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    text = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.JoinedStr):
        text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(text, str):
        if re.search(r"([A-Za-z]{2,}\W? ){3}[a-z]{2,}", text):
            yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from sentences(child)


def test_sentences_stand_in_the_texts_alone() -> None:
    stray = [
        (name, text)
        for package in TOLD
        for path in sorted((SOURCE / package).rglob("*.py"))
        for name in [str(path.relative_to(SOURCE))]
        for text in sentences(ast.parse(path.read_text()))
        if not text.startswith(IN_ERRORS.get(name, ("\0",)))
    ]
    assert stray == []


def test_a_sentence_would_be_found() -> None:
    assert list(sentences(ast.parse('x = f"{n} queries have no answer"'))) == ["{} queries have no answer"]
    assert list(sentences(ast.parse('raise DataError("there is no such file")'))) == []


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


# One word for one thing


ROOT = Path(__file__).parent.parent
TERMS = tomllib.loads((ROOT / "docs" / "terms.toml").read_text("utf-8"))["term"]
SAID = [
    *ROOT.glob("README*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *FOLDER.rglob("*.json"),
    *(SOURCE / "measures" / "texts").glob("*.json"),
]


def rejected(text: str) -> list[str]:
    """Words of a text that docs/terms.toml replaces by another."""
    patterns = [pattern for term in TERMS for key in ("not_en", "not_zh") for pattern in term.get(key, [])]
    return [found[0] for pattern in patterns for found in re.finditer(pattern, text, re.IGNORECASE)]


@pytest.mark.parametrize("path", SAID, ids=lambda path: str(path.relative_to(ROOT)))
def test_one_word_for_one_thing(path: Path) -> None:
    assert rejected(path.read_text("utf-8")) == []


def test_a_rejected_word_would_be_found() -> None:
    assert rejected("a lift of 3 %; 提升 -27.7 %；两者相当，这只是外界") == ["相当", "lift", "提升 -2", "外界"]
    assert rejected("强制提升；相当于 20 个查询；the retriever was shut down, so we cannot tell what happened") == []
