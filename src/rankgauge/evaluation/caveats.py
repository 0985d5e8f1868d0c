"""Figures that are right by their definition, and still not what a reader takes them for: measures that look further
down than the lists go, and grades on another scale than the threshold of relevance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankgauge.measures import Measure
from rankgauge.words import Language

if TYPE_CHECKING:
    from rankgauge.evaluation.evaluation import Evaluation

__all__ = ["caveats_of"]

_FEWEST = 3  # lists of one length that are no coincidence
# Lists of this length serve measures without a depth; of other families nothing is known.
_ENOUGH = dict.fromkeys(("overall", "order", "recall", "incomplete judgments", "diversity"), 100) | {"first result": 10}
_WIDE = 5  # scales up to 4 are common, and their 1 is relevant
_MOST_NAMES = 4

_TEXTS: dict[str, tuple[str, str]] = {
    "all": ("all {n} lists end after {documents}", "全部 {n} 个列表都只有 {length} 个文档"),
    "most": (
        "{full} of {n} lists end after {documents} and none is longer",
        "{n} 个列表中有 {full} 个只有 {length} 个文档，没有更长的",
    ),
    "short_lists": (
        "{lists}, too few for {names}: what comes further down counts as not found; ask the retriever for at least "
        "{depth} documents (its k, top_k, similarity_top_k or search_kwargs)",
        "{lists}，达不到 {names} 的深度：其后的文档均按未检索到计；请让检索器至少返回 {depth} 个文档"
        "（其参数 k、top_k、similarity_top_k 或 search_kwargs）",
    ),
    "whole_lists": (
        "{lists}, and {names} can see no further: ask for longer lists{setting}, or name the depth, as in {example}",
        "{lists}，{names} 看不到其后的文档：请检索更长的列表{setting}，或写明深度，如 {example}",
    ),
    "grades_below": (
        "the highest grade is {highest}, but a document counts as relevant from {rel} on, so nothing is relevant for "
        "{names}: lower the threshold, as with --rel {example} (rel={example}), or rescale the grades",
        "最高等级为 {highest}，而 {names} 从 {rel} 起才算相关，因此没有任何相关文档：请降低阈值，"
        "如 --rel {example}（rel={example}），或换算等级",
    ),
    "grades_unit": (
        "the grades lie between 0 and 1, but only a 1 counts as relevant for {names}: if less is enough, set the "
        "threshold, as with --rel {example} (rel={example})",
        "等级在 0 到 1 之间，而 {names} 只把 1 算作相关：如果较低的等级也算相关，请设置阈值，"
        "如 --rel {example}（rel={example}）",
    ),
    "grades_wide": (
        "the grades go up to {highest}, but a document counts as relevant from 1 on for {names}: if low grades mean "
        "not relevant, set the threshold, as with --rel {example} (rel={example})",
        "等级最高为 {highest}，而 {names} 从 1 起就算相关：如果低等级意味着不相关，请设置阈值，"
        "如 --rel {example}（rel={example}）",
    ),
}


def caveats_of(evaluation: Evaluation, language: Language) -> list[tuple[str, str]]:
    """(key, remark) for each cause."""
    return [*_lists(evaluation, language), *_grades(evaluation, language)]


def _say(key: str, language: Language, **values: object) -> str:
    return _TEXTS[key][0 if language == "en" else 1].format(**values)


def _names(measures: Sequence[Measure], language: Language) -> str:
    comma, more = (", ", " and {n} more") if language == "en" else ("、", " 等 {n} 个指标")
    listed = comma.join(map(str, measures[:_MOST_NAMES]))
    over = len(measures) - _MOST_NAMES
    return listed if over <= 0 else listed + more.format(n=over if language == "en" else len(measures))


def _lists(evaluation: Evaluation, language: Language) -> list[tuple[str, str]]:
    """Lists that look cut off: most of them end after the same few documents, and there was more to be found."""
    found, coverage = evaluation.coverage.lengths, evaluation.coverage
    if found is None or not found.incomplete or found.at_longest < max(_FEWEST, found.lists / 2):
        return []
    length = found.longest
    limits = [evaluation.contract.depth, coverage.collection]  # cut on purpose, or all the documents there are
    if any(limit is not None and limit <= length for limit in limits):
        return []
    deep = [m for m in evaluation.measures if isinstance(m.at, int) and m.at > length and _ranks(m)]
    if evaluation.asked is not None and evaluation.asked <= length:
        deep = []  # it was asked for no more, which is said already
    whole = [m for m in evaluation.measures if m.at is None and _reads_on(m, length)]
    lists = _say(
        "all" if found.at_longest == found.lists else "most",
        language,
        n=found.lists,
        full=found.at_longest,
        length=length,
        documents=f"{length} document{'s' if length > 1 else ''}",
    )
    if deep:
        depth, names = max(int(m.at or 0) for m in deep), _names(deep, language)
        return [("short_lists", _say("short_lists", language, lists=lists, names=names, depth=depth))]
    if whole:
        names = _names(whole, language)
        example = next((str(m.with_at(length)) for m in whole if m.definition.at is not None), f"AP@{length}")
        setting = "" if evaluation.asked is None else " (k=)" if language == "en" else "（k=）"
        values = {"lists": lists, "names": names, "example": example, "setting": setting}
        return [("whole_lists", _say("whole_lists", language, **values))]
    return []


def _ranks(measure: Measure) -> bool:
    """Whether it is about the documents found, not about how many were returned or judged."""
    return measure.definition.family not in ("coverage", "counts", "set") and measure.get("budget") is None


def _reads_on(measure: Measure, length: int) -> bool:
    """Whether a measure of the whole list could well change with the documents after this many."""
    return _ranks(measure) and length < _ENOUGH.get(measure.definition.family, 0)


def _grades(evaluation: Evaluation, language: Language) -> list[tuple[str, str]]:
    """Grades that the threshold of relevance was not made for."""
    grades = evaluation.coverage.grades
    if grades is None:
        return []
    binary = [m for m in evaluation.measures if m.definition.relevance and m.get("rel") and m.get("grades") != "scaled"]
    above = [m for m in binary if m.get("rel") > grades.highest]
    plain = [m for m in binary if m.get("rel") == 1]  # the threshold that nobody had to choose
    many = grades.distinct >= _WIDE or grades.highest in (10, 100)
    if above:
        key, concerned = "grades_below", above
    elif grades.lowest < 1 <= grades.highest <= 1:
        key, concerned = "grades_unit", plain
    elif grades.highest >= _WIDE and many and 2 * grades.lowest < grades.highest:
        key, concerned = "grades_wide", plain
    else:
        return []
    if not concerned:
        return []
    half = grades.highest / 2
    example = math.ceil(half) if half > 0.5 else 0.5 if half > 0.25 else half
    text = _say(
        key,
        language,
        names=_names(concerned, language),
        highest=f"{grades.highest:g}",
        rel=f"{min(m.get('rel') for m in concerned):g}",
        example=f"{example:g}",
    )
    return [(key, text)]
