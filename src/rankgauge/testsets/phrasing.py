"""Questions from headings, by the templates of a language; only where the heading says enough to ask for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from rankgauge.retrievers.text import has_chinese, is_stop_word, plain_words

__all__ = ["comparison_of", "is_common", "is_named", "is_question", "question_of", "script_of"]

_MOST_WORDS, _MOST_CHINESE = 9, 18
_MOST_NAME, _MOST_CHINESE_NAME = 4, 10
_JOINED: Final = re.compile(r"[,;:!()\uff0c\uff1b\uff1a\uff01\uff08\uff09\u3001|<>\"]")
_END: Final = re.compile(r"[ ?.!\uff1f\u3002\uff01]+$")
_ING: Final = re.compile(r"^([a-z]+)ing$")


@dataclass(frozen=True)
class _Templates:
    asks: re.Pattern[str]
    verb: re.Pattern[str]
    verbs: frozenset[str]
    how: tuple[str, ...]
    defined: str
    what: tuple[str, ...]
    compare: tuple[str, ...]
    vague: re.Pattern[str]
    """What points to something said before."""
    question: re.Pattern[str]
    unnamed: re.Pattern[str]
    """What is in no name of one thing."""
    common: frozenset[str]
    """Words that stand in texts of any subject."""


@cache
def _templates(script: str) -> _Templates:
    file = Path(__file__).with_name("templates") / f"{script}.json"
    read: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return _Templates(
        asks=re.compile(read["asks"], re.IGNORECASE),
        verb=re.compile(read["verb"], re.IGNORECASE),
        verbs=frozenset(read["verbs"]),
        how=tuple(read["how"]),
        defined=read["defined"],
        what=tuple(read["what"]),
        compare=tuple(read["compare"]),
        vague=re.compile(read["vague"], re.IGNORECASE),
        question=re.compile(read["question"], re.IGNORECASE),
        unnamed=re.compile(read["unnamed"], re.IGNORECASE),
        common=frozenset(read["common"].split()),
    )


def script_of(text: str) -> str:
    """Which templates suit a text."""
    return "zh" if has_chinese(text) else "en"


def question_of(heading: str, prose: str, chance: Random) -> str | None:
    """What somebody would ask whom the part below a heading answers; None where the heading does not tell.

    `How do I reset it?` and `Reset it` ask how; a name asks what it is, if the prose says so.
    """
    script = script_of(heading)
    known = _templates(script)
    text = _END.sub("", " ".join(heading.split()))
    if (len(text) > _MOST_CHINESE) if script == "zh" else (len(text.split()) > _MOST_WORDS):
        return None
    if known.vague.search(text) or _JOINED.search(text):
        return None
    if asked := known.asks.match(text):
        return chance.choice(known.how).format(phrase=_asking(_lowered(asked["rest"].strip())))
    if (phrase := _imperative(text, known, script)) is not None:
        return chance.choice(known.how).format(phrase=_asking(phrase))
    if is_named(text) and _defines(text, prose, known, script):
        return chance.choice(known.what).format(phrase=_lowered(text))
    return None


def _asking(phrase: str) -> str:
    """`your password` as the one who asks says it."""
    return re.sub(r"\byour\b", "my", phrase, flags=re.IGNORECASE)


def _imperative(text: str, known: _Templates, script: str) -> str | None:
    """`Reset the device` and `Resetting the device` as `reset the device`."""
    found = known.verb.match(_lowered(text))
    if found is None:
        return None
    verb, rest = found["verb"], found["rest"]
    if verb in known.verbs:
        return rest
    ending = _ING.match(verb) if script == "en" else None
    if ending is None:
        return None
    stem = ending[1]
    bases = (stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem)
    base = next((one for one in bases if one in known.verbs), None)
    return None if base is None else f"{base}{rest[len(verb) :]}"


def is_named(text: str) -> bool:
    """Whether a heading is a name: a few words, and no part of a sentence."""
    words = plain_words(text)
    if not words or _JOINED.search(text) or re.search(r"[?/\uff1f]", text):
        return False
    if _templates(script_of(text)).unnamed.search(text):
        return False
    if script_of(text) == "zh":
        return 2 <= len(text) <= _MOST_CHINESE_NAME and _imperative(text, _templates("zh"), "zh") is None
    first = _lowered(text).split()[0]
    verbs = _templates("en").verbs
    return len(words) <= _MOST_NAME and not is_stop_word(words[0]) and first not in verbs and not _ING.match(first)


def _defines(name: str, prose: str, known: _Templates, script: str) -> bool:
    """Whether a text says what something is."""
    gap = r"\s*" if script == "zh" else r"\s+"
    edge = "" if script == "zh" else r"\b"
    return re.search(rf"{edge}{re.escape(name)}{edge}{gap}{known.defined}", prose, re.IGNORECASE) is not None


def is_common(word: str) -> bool:
    """Whether a word, in lower case, says little of what a text is about."""
    return is_stop_word(word) or word in _templates(script_of(word)).common


def is_question(text: str) -> bool:
    """Whether a query is put as a question."""
    return _templates(script_of(text)).question.search(text.strip()) is not None


def comparison_of(first: str, second: str, chance: Random) -> str:
    """What asks for two things together."""
    chosen = chance.choice(_templates(script_of(first + second)).compare)
    return chosen.format(first=_lowered(first), second=_lowered(second))


def _lowered(text: str) -> str:
    """Without the capital at the beginning, unless the word has another one: `BM25` and `GitHub` stay."""
    first = text.split(" ")[0]
    return text[:1].lower() + text[1:] if first[1:] == first[1:].lower() else text
