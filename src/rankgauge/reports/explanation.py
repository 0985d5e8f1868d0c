"""Explanations of measures and contracts, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.engine.orders import DRAWS, MOST_ORDERS
from rankgauge.measures import Definition, Measure, all_definitions, parse_measure
from rankgauge.measures.explanations import (
    caution_of,
    describe,
    parameter_help,
    sentence,
    targets_for,
    texts,
)
from rankgauge.measures.presets import PRESETS
from rankgauge.measures.worked import example, worked_example
from rankgauge.reports.tables import Table, render_terminal, wrapped
from rankgauge.words import LANGUAGES, Language, Note, check_language, say, tell
from rankgauge.words.numbers import plain

__all__ = [
    "contracts_json",
    "explain",
    "explanation_json",
    "measures_json",
    "render_contracts",
    "render_measures",
]


def _word(name: str, language: Language) -> str:
    return say(f"measures.{name}", language)


def _spellings(measure: Measure) -> list[str]:
    """Names for this very measure: those of its definition, or of the variant that its parameters make."""
    own = dict(measure.values)
    variants = [name for name, values in measure.definition.variants.items() if dict(values) == own]
    return variants if own else list(measure.definition.spellings)


def _variants(definition: Definition) -> list[str]:
    """Names that stand for the measure with parameters."""
    return [f"{name} = {_called(definition.name, values)}" for name, values in definition.variants.items()]


def _called(name: str, parameters: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in parameters.items())})"


def render_measures(language: Language, *, width: int | None = None) -> str:
    """Which measure to use when, then all of them by family, each with what it is and other spellings."""
    known = texts(language)
    families = dict(known.get("families", {}))
    by_family: dict[str, list[Definition]] = {family: [] for family in families}
    for definition in all_definitions():
        by_family.setdefault(definition.family, []).append(definition)
    column = 4 + max(len(definition.name + _behind(definition)) for definition in all_definitions())
    lines = [_word("which", language), *(f"  {line}" for line in known.get("which", {}).values())]
    for family, definitions in by_family.items():
        lines += ["", families.get(family, family)] if definitions else []
        for definition in definitions:
            name = f"  {definition.name}{_behind(definition)}".ljust(column)
            also = say("measures.also", language, names=list(definition.spellings[:3])) if definition.spellings else ""
            lines.append(name + describe(definition, language)["title"] + also)
    indents = {line: " " * column if line.startswith("  ") else "" for line in lines}
    return "".join(f"{wrapped(line, width, indents[line])}\n" for line in lines)


def _behind(definition: Definition) -> str:
    if definition.at is None:
        return ""
    return f"@{definition.at.name}" if definition.at_required else f"[@{definition.at.name}]"


def _parameters(measure: Measure, language: Language) -> list[str]:
    definition = measure.definition
    listed = []
    for parameter in definition.parameters:
        about = {"name": parameter.name, "default": repr(parameter.default)}
        about["help"] = parameter_help(definition, parameter, language)
        if measure.is_set(parameter.name):
            value = repr(measure.get(parameter.name))
            listed.append(say("measures.parameter_set", language, value=value, **about))
        else:
            listed.append(say("measures.parameter", language, **about))
    if definition.at is not None:
        about = {"label": f"@{definition.at.name}", "text": parameter_help(definition, definition.at, language)}
        listed.append(say("measures.labelled", language, **about))
    return listed


@named_arguments
def explain(measure: str | Measure, language: Language = "en") -> str:
    """What a measure means, in any of its spellings: formula, worked example, range, use and scenario targets."""
    measure, language = parse_measure(measure), check_language(language)
    entry, definition = describe(measure.definition, language), measure.definition
    value = float(measure.score(example(measure))[0])
    lines = [f"{measure}: {entry['title']}", ""]

    def add(name: str, *content: str) -> None:
        content = tuple(part for part in content if part)
        label = _word(name, language)
        if len(content) == 1:
            lines.append(say("measures.labelled", language, label=label, text=content[0]))
        elif content:
            lines.append(say("measures.list_of", language, label=label))
            lines.extend(f"  {part}" for part in content)

    add("meaning", entry["meaning"])
    add("formula", entry["formula"])
    if definition.parameter("gain"):
        lines.append("  gain(g) = 2^g - 1" if measure.get("gain") == "exp" else "  gain(g) = g")
    for parameter in definition.parameters:
        if measure.is_set(parameter.name) and parameter.name != "gain":
            chosen = f"{parameter.name}={measure.get(parameter.name)!r}"
            help_ = parameter_help(definition, parameter, language)
            lines.append("  " + say("measures.labelled", language, label=chosen, text=help_))
    lines.append("  " + _word("notation", language))
    add("range", entry["range"])
    add("use", entry["use"])
    add("example", *worked_example(measure, language))
    add("reading", sentence(measure, value, language))
    caution = caution_of(measure)
    add("caution", tell(caution, language) if isinstance(caution, Note) else caution or "")
    targets = targets_for(measure)
    scenarios = texts(language).get("scenarios", {})
    add("targets", "; ".join(f"{scenarios.get(name, name)} > {plain(goal)}" for name, goal in targets.items()))
    add("parameters", *_parameters(measure, language))
    add("spellings", ", ".join(_spellings(measure)))
    add("variants", *_variants(definition))
    add("trec", measure.trec_name or "")
    ties = "spans.ties" if "characters" in definition.needs else f"measures.ties_{definition.ties}"
    add("ties", say(ties, language, most=MOST_ORDERS, draws=DRAWS))
    add("source", definition.source)
    return "\n".join(lines) + "\n"


def _entry(definition: Definition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "formula": definition.formula,
        "family": definition.family,
        "depth": "required" if definition.at_required else "optional" if definition.at else "none",
        "parameters": [{"name": p.name, "default": p.default, "help": p.help} for p in definition.parameters],
        "spellings": list(definition.spellings),
        "variants": {name: dict(values) for name, values in definition.variants.items()},
        "aggregate": definition.aggregate,
        "source": definition.source,
        **{language: describe(definition, language) for language in LANGUAGES},
    }


def measures_json() -> str:
    return json.dumps([_entry(d) for d in all_definitions()], ensure_ascii=False, indent=2)


def explanation_json(measure: Measure) -> str:
    entry = {
        "measure": str(measure),
        **_entry(measure.definition),
        "targets": targets_for(measure),
        "trec_eval": measure.trec_name,
        "example": {language: worked_example(measure, language) for language in LANGUAGES},
    }
    return json.dumps(entry, ensure_ascii=False, indent=2)


def render_contracts(language: Language, *, width: int | None = None) -> str:
    rows = []
    for preset in PRESETS.values():
        own = "; ".join(_called(name, values) for name, values in preset.parameters.items() if values)
        rows.append([preset.name, preset.about(language), own])
    return render_terminal(
        Table([_word(name, language) for name in ("contract", "about", "parameters")], rows, 3), width=width
    )


def contracts_json() -> str:
    listed = [
        {
            "name": preset.name,
            **{language: preset.about(language) for language in LANGUAGES},
            "contract": preset.contract.to_dict(),
            "parameters": {name: dict(values) for name, values in preset.parameters.items()},
        }
        for preset in PRESETS.values()
    ]
    return json.dumps(listed, ensure_ascii=False, indent=2)
