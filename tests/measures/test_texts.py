"""The explanation texts cover every measure, in both languages, and their templates can be filled."""

import json
import re
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

import pytest

from rankgauge.errors import RankgaugeError
from rankgauge.measures import Definition, Measure, all_definitions
from rankgauge.measures.explanations import sentence, texts
from rankgauge.measures.notation import parse_measure
from rankgauge.measures.presets import PRESETS
from rankgauge.words import LANGUAGES, has_text

SECTIONS = ("parameters", "families", "which", "scenarios")
KEYS = {"title", "meaning", "use", "range", "sentence"}
FIELDS = {"value": "0.543", "percent": "54.3 %", "k": "10", "inverse": "1.8", "rel": "1"}
WHICH = {"overall", "order", "few_wrong", "nothing_missed", "first_result", "every_query", "balance"}
CHINESE = re.compile(r"[\u4e00-\u9fff]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!.()]|[,;:?!()][\u4e00-\u9fff]")

DEFINITIONS = [d for d in all_definitions() if d.kernel.__module__.startswith("rankgauge.")]


@cache
def load(language: str) -> dict[str, dict[str, str]]:
    return json.loads((files("rankgauge.measures") / "texts" / f"{language}.json").read_text("utf-8"))


def has_depth(definition: Definition) -> bool:
    """Whether a depth k can stand behind the `@` (a recall level is none)."""
    return definition.at is not None and definition.at.name == "k"


def templates(entry: dict[str, str]) -> list[str]:
    return [text for key, text in entry.items() if key.startswith("sentence")]


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


def cautions_of(definition: Definition) -> set[str]:
    """Every caution key that some value of one parameter brings up."""
    tried: list[tuple[str, Any]] = [(p.name, choice) for p in definition.parameters for choice in p.choices]
    tried += [(p.name, flag) for p in definition.parameters if p.kind is bool for flag in (True, False)]
    at = 10 if has_depth(definition) else None
    found = {Measure(definition, definition.name, (pair,), at).caution for pair in tried}
    return {key for key in found if key is not None}


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_measures_are_all_there_in_the_order_of_the_registry(language: str) -> None:
    assert [name for name in load(language) if name not in SECTIONS] == [d.name for d in DEFINITIONS]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.name)
class TestMeasure:
    def test_has_exactly_its_keys(self, language: str, definition: Definition) -> None:
        optional = definition.at is not None and not definition.at_required
        found = set(load(language)[definition.name])
        if language == "zh":
            found -= {"formula"}  # only where the definition's own formula has words in it
        assert found == KEYS | ({"sentence_all"} if optional else set())

    def test_words_in_formulas_are_translated(self, language: str, definition: Definition) -> None:
        words = set(
            re.findall(
                r"[a-z]{3,}", re.sub(r"log2|max_grade|min|rel|beta|alpha|gain|prod|mult|floor", "", definition.formula)
            )
        )
        entry = load(language)[definition.name]
        if language == "zh" and words:
            assert CHINESE.search(entry["formula"]), words

    def test_templates_can_be_filled(self, language: str, definition: Definition) -> None:
        for template in templates(load(language)[definition.name]):
            assert fields(template) <= set(FIELDS)
            assert fields(template) & {"value", "percent", "inverse"}, "a sentence must show the result"
            assert not set("{}") & set(template.format(**FIELDS))

    def test_depth_is_named_only_where_there_is_one(self, language: str, definition: Definition) -> None:
        entry = load(language)[definition.name]
        assert ("k" in fields(entry["sentence"])) == has_depth(definition)
        assert "k" not in fields(entry.get("sentence_all", ""))

    def test_sentences_follow_a_name(self, language: str, definition: Definition) -> None:
        for template in templates(load(language)[definition.name]):
            text = template.format(**FIELDS)
            assert not text.endswith((".", "。"))
            assert language == "zh" or not text[0].isupper()

    def test_languages_show_the_same_fields(self, language: str, definition: Definition) -> None:
        for key, template in load(language)[definition.name].items():
            if key.startswith("sentence"):
                assert fields(template) == fields(load("en")[definition.name][key])


def test_every_text_is_written(language: str) -> None:
    for section, entry in load(language).items():
        for key, text in entry.items():
            assert isinstance(text, str), (section, key)
            assert text.strip() == text != "", (section, key)


def test_chinese_texts_are_chinese() -> None:
    for section, entry in load("zh").items():
        for key, text in entry.items():
            assert CHINESE.search(text), (section, key)
            if key == "formula" or section == "parameters":
                continue  # symbols keep their half-width signs
            assert not HALF_WIDTH.search(text), (section, key)


def test_english_texts_are_english() -> None:
    assert not [text for entry in load("en").values() for text in entry.values() if CHINESE.search(text)]


def test_cautions_cover_every_key_in_use() -> None:
    used = set().union(*(cautions_of(d) for d in DEFINITIONS))
    assert used == {"graded_ap", "ideal_retrieved", "ideal_returned", "over_returned"}
    assert all(has_text(f"measures.caution_{key}") for key in used)


def test_families_cover_every_definition(language: str) -> None:
    assert {d.family for d in DEFINITIONS} | {"other"} == set(load(language)["families"])


def test_guide_and_scenarios_are_complete(language: str) -> None:
    assert set(load(language)["which"]) == WHICH
    assert set(load(language)["scenarios"]) == {"qa", "general", "exploratory"}


def test_every_parameter_has_a_chinese_text() -> None:
    names = {p.name for d in DEFINITIONS for p in (*d.parameters, *([d.at] if d.at else []))}
    assert names <= set(load("zh")["parameters"])


def test_every_preset_has_a_line() -> None:
    for preset in PRESETS.values():
        assert preset.about("en") != preset.about("zh")


def test_an_unknown_language_is_an_error() -> None:
    unknown: Any = "fr"
    for say in (lambda: texts(unknown), lambda: sentence(parse_measure("AP"), 0.5, unknown)):
        with pytest.raises(RankgaugeError, match="unknown language 'fr'; known are: en, zh"):
            say()


def test_sentences_of_results() -> None:
    assert sentence(parse_measure("RR"), 0.0, "en") == "no query has a relevant document in its list"
    assert sentence(parse_measure("RR"), 0.0, "zh") == "没有任何查询检索到相关文档"
    assert sentence(parse_measure("R(capped=True)@10"), 0.5, "zh") == "各查询平均为 0.500"
