"""What the measures mean, in English and Chinese: texts, result sentences, scenario targets and worked examples.

The texts lie in `texts/LANGUAGE.json`: one entry for each measure, in the order of the registry. Formulas stand in the
definitions, and in the texts of a language that words them differently. Sentences are templates with {value},
{percent}, {k}, {inverse} and {rel}.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from rankgauge.measures.measure import Definition, Measure, Parameter
from rankgauge.measures.notation import parse_measure
from rankgauge.words import Language, Note, check_language, has_text, numbers, say, template

__all__ = [
    "TARGETS",
    "caution_of",
    "describe",
    "parameter_help",
    "sentence",
    "targets_for",
    "texts",
]

_TEXTS = Path(__file__).parent / "texts"
# Parameters that change the figure, but not what its sentence says.
_SAME_READING = frozenset(
    {"rel", "gain", "gains", "discount", "judged_only", "rule", "p", "T", "min_rel", "max_rel", "alpha", "hit", "noise"}
    | {"miss", "threshold"}
)

TARGETS: dict[str, dict[str, float]] = {
    "qa": {"R@5": 0.8, "R@10": 0.9, "RR": 0.7, "nDCG@10": 0.8},
    "general": {"R@5": 0.6, "R@10": 0.8, "RR": 0.6, "nDCG@10": 0.7},
    "exploratory": {"R@5": 0.4, "R@10": 0.7, "RR": 0.5, "nDCG@10": 0.6},
}
"""Reference values by scenario; a mean above them is usually good enough for that scenario."""


@cache
def texts(language: Language) -> dict[str, Any]:
    """All texts of a language."""
    found: dict[str, Any] = json.loads((_TEXTS / f"{check_language(language)}.json").read_text("utf-8"))
    return found


def describe(definition: Definition, language: Language) -> dict[str, str]:
    """Title, formula, meaning, use, range and sentence; a measure from outside has only its name and formula."""
    found: dict[str, str] = texts(language).get(definition.name, {})
    plain = {
        "title": definition.name,
        "meaning": "",
        "use": "",
        "range": "",
        "sentence": template("measures.sentence", language),
    }
    return {**plain, "formula": definition.formula, **found}


def parameter_help(definition: Definition, parameter: Parameter, language: Language) -> str:
    """What a parameter means, in a language."""
    known: dict[str, str] = texts(language).get("parameters", {})
    return known.get(f"{definition.name}.{parameter.name}", known.get(parameter.name, parameter.help))


def sentence(measure: Measure, value: float, language: Language, digits: int = 3) -> str:
    """One plain sentence about a result."""
    entry = describe(measure.definition, language)
    text = entry["sentence"] if measure.at is not None else entry.get("sentence_all", entry["sentence"])
    if any(name not in _SAME_READING for name, _ in measure.values):
        text = template("measures.sentence", language)
    if measure.name == "RR" and value <= 0:
        return say("measures.sentence_nothing_found", language)
    rel = measure.get("rel")
    return text.format(
        value=numbers.score(value, 0 if measure.definition.aggregate == "sum" else digits),
        percent=numbers.percent(value),
        k="" if measure.at is None else numbers.plain(measure.at),
        inverse=numbers.score(1 / value, 1) if value > 0 else "∞",
        rel="" if rel is None else numbers.plain(rel),
    )


def caution_of(measure: Measure) -> Note | str | None:
    """What every print of a measure warns of; a measure from outside brings its own words."""
    if measure.caution is None:
        return None
    key = f"measures.caution_{measure.caution}"
    return Note(key) if has_text(key) else measure.caution


def targets_for(measure: Measure) -> dict[str, float]:
    """Target of each scenario for a measure, where the reference table has one (whatever its threshold)."""
    found = {}
    for scenario, goals in TARGETS.items():
        for name, goal in goals.items():
            target = parse_measure(name)
            if target.name == measure.name and target.at == measure.at and set(dict(measure.values)) <= {"rel"}:
                found[scenario] = goal
    return found
