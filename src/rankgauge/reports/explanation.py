"""Explanations of measures and contracts, for people and for programs."""

from __future__ import annotations

import json
from typing import Any

from rankgauge.engine.orders import DRAWS, MOST_ORDERS
from rankgauge.measures import Definition, Measure, all_definitions
from rankgauge.measures.explanations import describe, parameter_help, sentence, targets_for, texts
from rankgauge.measures.presets import PRESETS
from rankgauge.measures.worked import example, worked_example
from rankgauge.reports.tables import Table, render_terminal
from rankgauge.words import LANGUAGES, Language

__all__ = [
    "contracts_json",
    "explanation_json",
    "measures_json",
    "render_contracts",
    "render_explanation",
    "render_measures",
]

_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "formula": "formula",
        "meaning": "meaning",
        "range": "range",
        "use": "when to use",
        "parameters": "parameters",
        "spellings": "also written",
        "variants": "variants by name",
        "trec": "in trec_eval",
        "targets": "good enough for",
        "example": "worked example",
        "reading": "read as",
        "source": "source",
        "caution": "warning",
        "default": "default",
        "here": "here",
        "which": "Which measure for what",
        "name": "measure",
        "title": "what it is",
        "family": "family",
        "contract": "contract",
        "about": "how it counts",
        "ties": "tied scores",
        "exact": "expected value over tied orders is exact",
        "orders": "expected value over tied orders is exact for queries with up to {most:,} orders; "
        "else over {draws} drawn ones",
        "notation": "h_k relevant in the first k; R all relevant; n retrieved; g_i grade at rank i; rel_i: g_i >= rel",
    },
    "zh": {
        "formula": "公式",
        "meaning": "含义",
        "range": "取值范围",
        "use": "何时使用",
        "parameters": "参数",
        "spellings": "其他写法",
        "variants": "有名称的变体",
        "trec": "trec_eval 名称",
        "targets": "参考目标",
        "example": "计算示例",
        "reading": "解读",
        "source": "出处",
        "caution": "警告",
        "default": "默认",
        "here": "此处",
        "which": "如何选择指标",
        "name": "指标",
        "title": "名称",
        "family": "类别",
        "contract": "契约",
        "about": "计算约定",
        "ties": "同分处理",
        "exact": "同分次序的期望值为精确值",
        "orders": "次序不超过 {most:,} 种的查询，同分次序的期望值为精确值；更多时取抽取的 {draws} 种次序的平均",
        "notation": "h_k 前 k 个中的相关数；R 全部相关数；n 检索数；g_i 第 i 名的等级；rel_i：g_i >= rel",
    },
}


def _spellings(measure: Measure) -> list[str]:
    """Names for this very measure: those of its definition, or of the variant that its parameters make."""
    own = dict(measure.values)
    variants = [name for name, values in measure.definition.variants.items() if dict(values) == own]
    return variants if own else list(measure.definition.spellings)


def _variants(definition: Definition) -> list[str]:
    """Names that stand for the measure with parameters."""
    return [
        f"{name} = {definition.name}({', '.join(f'{k}={v!r}' for k, v in values.items())})"
        for name, values in definition.variants.items()
    ]


def render_measures(language: Language, *, width: int | None = None) -> str:
    """All measures by family, and which to use when."""
    words, known = _WORDS[language], texts(language)
    families = known.get("families", {})
    rows = []
    for definition in sorted(
        all_definitions(), key=lambda d: list(families).index(d.family) if d.family in families else 99
    ):
        name = definition.name + _behind(definition)
        rows.append(
            [
                name,
                describe(definition, language)["title"],
                families.get(definition.family, definition.family),
                ", ".join(definition.spellings[:3]),
            ]
        )
    table = render_terminal(
        Table([words["name"], words["title"], words["family"], words["spellings"]], rows, 4), width=width
    )
    which = "".join(f"  {line}\n" for line in known.get("which", {}).values())
    return f"{table}\n{words['which']}\n{which}"


def _behind(definition: Definition) -> str:
    if definition.at is None:
        return ""
    return f"@{definition.at.name}" if definition.at_required else f"[@{definition.at.name}]"


def _colon(language: Language) -> str:
    return "：" if language == "zh" else ": "


def _parameters(measure: Measure, language: Language) -> list[str]:
    definition, words = measure.definition, _WORDS[language]
    listed = []
    for parameter in definition.parameters:
        state = f"{words['default']} {parameter.default!r}"
        if measure.is_set(parameter.name):
            state = f"{words['here']} {measure.get(parameter.name)!r}, {state}"
        listed.append(f"{parameter.name} ({state}): {parameter_help(definition, parameter, language)}")
    if definition.at is not None:
        listed.append(f"@{definition.at.name}: {parameter_help(definition, definition.at, language)}")
    return listed


def render_explanation(measure: Measure, language: Language) -> str:
    words, entry, definition = _WORDS[language], describe(measure.definition, language), measure.definition
    value = float(measure.score(example(measure))[0])
    lines = [f"{measure}: {entry['title']}", ""]

    def say(label: str, *content: str) -> None:
        content = tuple(part for part in content if part)
        if content:
            colon = _colon(language)
            lines.append(
                f"{words[label]}{colon}".rstrip() if len(content) > 1 else f"{words[label]}{colon}{content[0]}"
            )
            lines.extend(f"  {part}" for part in content if len(content) > 1)

    say("meaning", entry["meaning"])
    say("formula", entry["formula"])
    if definition.parameter("gain"):
        lines.append("  gain(g) = 2^g - 1" if measure.get("gain") == "exp" else "  gain(g) = g")
    for parameter in definition.parameters:
        if measure.is_set(parameter.name) and parameter.name != "gain":
            chosen = f"{parameter.name}={measure.get(parameter.name)!r}"
            lines.append(f"  {chosen}{_colon(language)}{parameter_help(definition, parameter, language)}")
    lines.append(f"  ({words['notation']})")
    say("range", entry["range"])
    say("use", entry["use"])
    say("example", *worked_example(measure, language))
    say("reading", sentence(measure, value, language))
    if measure.caution:
        say("caution", texts(language).get("cautions", {}).get(measure.caution, measure.caution))
    targets = targets_for(measure)
    scenarios = texts(language).get("scenarios", {})
    say("targets", "; ".join(f"{scenarios.get(name, name)} > {goal:g}" for name, goal in targets.items()))
    say("parameters", *_parameters(measure, language))
    say("spellings", ", ".join(_spellings(measure)))
    say("variants", *_variants(definition))
    say("trec", measure.trec_name or "")
    say("ties", words[definition.ties].format(most=MOST_ORDERS, draws=DRAWS))
    say("source", definition.source)
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
    words = _WORDS[language]
    rows = []
    for preset in PRESETS.values():
        own = "; ".join(
            f"{name}({', '.join(f'{k}={v!r}' for k, v in values.items())})"
            for name, values in preset.parameters.items()
            if values
        )
        rows.append([preset.name, getattr(preset, language), own])
    return render_terminal(Table([words["contract"], words["about"], words["parameters"]], rows, 3), width=width)


def contracts_json() -> str:
    listed = [
        {
            "name": preset.name,
            "en": preset.en,
            "zh": preset.zh,
            "contract": preset.contract.to_dict(),
            "parameters": {name: dict(values) for name, values in preset.parameters.items()},
        }
        for preset in PRESETS.values()
    ]
    return json.dumps(listed, ensure_ascii=False, indent=2)
