"""Rubric: what each grade means; Prompt: what a judge is told around it. Both are TOML files that can be replaced."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rankgauge.arguments import as_path
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.settings import read_toml

__all__ = ["SCALES", "Prompt", "Rubric", "built_in", "load_prompt", "load_rubric"]

SCALES: Final = {"binary": "binary", "0-3": "graded", "0-10": "ten"}
"""Scales and the rubrics that come with them."""
LANGUAGES: Final = ("en", "zh")
_FOLDER: Final = Path(__file__).parent / "rubrics"
_WIDEST: Final = 100
_KEYS: Final = ("name", "language", "scale", "grades", "criteria")
_PARTS: Final = ("system", "one", "several", "criteria", "reason")
_PLACES: Final = {
    "system": ("rubric",),
    "one": ("query", "documents", "criteria", "form"),
    "several": ("query", "documents", "criteria", "form"),
    "criteria": ("criteria",),
    "reason": (),
}
_FILLED: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Rubric:
    """A scale of whole grades and what they mean."""

    name: str
    lowest: int
    highest: int
    grades: Mapping[int, str]
    criteria: Mapping[str, str] = field(default_factory=dict)
    """Points that are graded too, each as an aspect of the document, and what they mean."""
    language: str = "en"

    @property
    def text(self) -> str:
        """The grades, the best first."""
        return "\n".join(f"{grade}: {self.grades[grade]}" for grade in sorted(self.grades, reverse=True))


@dataclass(frozen=True)
class Prompt:
    """The texts of a prompt, with places for what is filled in."""

    system: str
    one: str
    several: str
    criteria: str
    reason: str

    def filled(self, part: str, **values: str) -> str:
        """A part with its places filled. What is filled in is not looked at again."""
        return _FILLED.sub(lambda found: values.get(found[1], found[0]), getattr(self, part)).strip()


def version_of(rubric: Rubric, prompt: Prompt) -> str:
    """A name for what a judge is told: another rubric or another prompt has another."""
    said = [rubric.text, rubric.lowest, rubric.highest, dict(rubric.criteria)]
    said += [getattr(prompt, part) for part in _PARTS]
    digest = hashlib.sha256(json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{rubric.name} {rubric.lowest}-{rubric.highest} {digest[:8]}"


def built_in(scale: str | None, language: str = "en") -> str:
    """The file of the rubric of a scale, or without one that of the prompt: TOML to be changed, and given as a file."""
    return _own("prompt" if scale is None else SCALES[scale], language).read_text("utf-8")


def _own(name: str, language: str) -> Path:
    return _FOLDER / f"{name}-{language}.toml"


def load_rubric(given: str | os.PathLike[str] | None, scale: str | None = None, language: str = "en") -> Rubric:
    """A rubric from a file, or the one that comes with a scale and a language."""
    if scale is not None and (not isinstance(scale, str) or scale not in SCALES):
        raise DataError(f"`scale={scale!r}` is none of {', '.join(SCALES)}; a rubric of your own can have any")
    if not isinstance(language, str) or language not in LANGUAGES:
        raise DataError(f"`language={language!r}` is none of {', '.join(LANGUAGES)}")
    path = _own(SCALES[scale or "0-3"], language) if given is None else Path(as_path("rubric", given))
    rubric = _rubric(read_toml(path, "a rubric is a TOML file with `scale` and a table [grades]"), str(path))
    if given is not None and scale is not None:
        wanted = load_rubric(None, scale)
        if (wanted.lowest, wanted.highest) != (rubric.lowest, rubric.highest):
            raise DataError(
                f"the rubric {os.fspath(given)} goes from {rubric.lowest} to {rubric.highest}, which is not "
                f"`scale={scale!r}`; leave the scale out"
            )
    return rubric


def load_prompt(given: str | os.PathLike[str] | None, language: str = "en") -> Prompt:
    """A prompt from a file, or the one that comes with a language."""
    path = _own("prompt", language) if given is None else Path(as_path("prompt", given))
    content = read_toml(path, f"a prompt is a TOML file with the texts {', '.join(_PARTS)}")
    faults = [f"{key}: unknown; known are {', '.join(_PARTS)}" for key in content if key not in _PARTS]
    for part in _PARTS:
        text = content.get(part)
        if not isinstance(text, str) or not text.strip():
            faults.append(f"{part}: must be a text")
            continue
        places = _FILLED.findall(text)
        faults += [f"{part}: {{{name}}} is not known" for name in places if name not in _PLACES[part]]
        lacking = [name for name in _PLACES[part] if name not in places]
        faults += [f"{part}: {{{name}}} is missing" for name in lacking]
    if faults:
        raise FormatError(str(path), faults)
    return Prompt(**{part: content[part].strip() for part in _PARTS})


def _rubric(content: Mapping[str, Any], place: str) -> Rubric:
    """The rubric of a file; its faults together."""
    faults = [f"{key}: unknown; known are {', '.join(_KEYS)}" for key in content if key not in _KEYS]
    scale, grades, criteria = content.get("scale"), content.get("grades"), content.get("criteria", {})
    name, language = content.get("name", "own"), content.get("language", "en")
    if not isinstance(name, str) or not name.strip():
        faults.append("name: must be a text")
    if language not in LANGUAGES:
        faults.append(f"language: must be one of {', '.join(LANGUAGES)}")
    ends = (0, 0)
    if scale is None or not _is_scale(scale):
        faults.append(f"scale: must be two whole numbers, at most {_WIDEST} apart, such as [0, 3]")
    else:
        ends = (scale[0], scale[1])
    if not _texts(grades) or not grades:
        faults.append('grades: must be a table of texts, [grades], such as 3 = "It answers the query."')
        grades = {}
    if not _texts(criteria):
        faults.append("criteria: must be a table of texts, [criteria]")
        criteria = {}
    known = {}
    for key, text in grades.items():
        if not re.fullmatch(r"-?\d{1,4}", key) or (any(ends) and not ends[0] <= int(key) <= ends[1]):
            faults.append(f"grades.{key}: must be a whole number of the scale")
        else:
            known[int(key)] = text.strip()
    if any(ends) and not any(fault.startswith("grades") for fault in faults) and not {*ends} <= known.keys():
        faults.append(f"grades: the ends of the scale, {ends[0]} and {ends[1]}, need texts")
    if faults:
        raise FormatError(place, faults)
    return Rubric(name.strip(), *ends, known, {key: text.strip() for key, text in criteria.items()}, language)


def _is_scale(scale: Any) -> bool:
    return (
        isinstance(scale, list)
        and len(scale) == 2
        and all(isinstance(end, int) and not isinstance(end, bool) for end in scale)
        and 0 < scale[1] - scale[0] <= _WIDEST
    )


def _texts(table: Any) -> bool:
    return isinstance(table, Mapping) and all(
        isinstance(key, str) and key.strip() and isinstance(text, str) and text.strip() for key, text in table.items()
    )
