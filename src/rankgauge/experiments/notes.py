"""What a careful reader must know beside the scores, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rankgauge.measures.explanations import Language, texts

if TYPE_CHECKING:
    from rankgauge.experiments.evaluation import Evaluation

__all__ = ["Note", "notes_of", "warnings_of"]

_FEW_QUERIES = 25
_LOW_JUDGED = 0.8

_TEXTS: dict[str, tuple[str, str]] = {
    "queries": ("{judged} judged queries, {counted} counted", "有标注的查询 {judged} 个，计入 {counted} 个"),
    "missing_zero": (
        "{n} judged queries are missing from the run and count as an empty list",
        "运行缺少 {n} 个有标注的查询，按空列表计",
    ),
    "missing_skip": (
        "{n} judged queries are missing from the run and are left out: the mean is over the others only",
        "运行缺少 {n} 个有标注的查询，未计入：均值只含其余查询",
    ),
    "no_relevant_count": (
        "{n} judged queries have no relevant document and count with the measure's own value (0 for most)",
        "{n} 个查询没有相关文档，按指标自身的取值计入（多数为 0）",
    ),
    "no_relevant_skip": (
        "{n} judged queries have no relevant document and are left out",
        "{n} 个查询没有相关文档，未计入",
    ),
    "not_judged": ("{n} queries of the run have no judgments and are left out", "运行中有 {n} 个查询没有标注，未计入"),
    "judged_at": ("judged documents: {shares}", "已标注文档比例：{shares}"),
    "judged_low": (
        "only {share} of the first {k} documents are judged; others count as not relevant, so scores are low estimates",
        "前 {k} 个文档中只有 {share} 有标注；未标注的按不相关计，得分偏低",
    ),
    "only_relevant": (
        "the test set lists only relevant documents, so how much of the lists was judged cannot be said",
        "测试集只列出相关文档，因此无法判断列表中有多少文档经过标注",
    ),
    "ties_trec": (
        "{documents} judged documents in {queries} queries share their score with another document; "
        "ties are broken by document id, descending",
        "{queries} 个查询中有 {documents} 个已标注文档与其他文档同分；同分按文档编号降序排列",
    ),
    "ties_given": (
        "{documents} judged documents in {queries} queries share their score with another document; "
        "the order given is kept",
        "{queries} 个查询中有 {documents} 个已标注文档与其他文档同分；保持原有顺序",
    ),
    "ties_stable": (
        "{documents} judged documents in {queries} queries share their score with another document; "
        "ties keep the order of the list",
        "{queries} 个查询中有 {documents} 个已标注文档与其他文档同分；同分保持列表中的顺序",
    ),
    "ties_expected": (
        "{documents} judged documents in {queries} queries share their score with another document; "
        "scores are expected values over all tied orders",
        "{queries} 个查询中有 {documents} 个已标注文档与其他文档同分；得分为所有同分次序的期望",
    ),
    "sampled": (
        "expected over tied orders by sampling 256 orders, not exactly: {names}",
        "以下指标的期望由 256 次抽样得到，并非精确值：{names}",
    ),
    "few": (
        "{n} queries are few: the intervals are wide and lean on the normal approximation",
        "只有 {n} 个查询：区间较宽，且依赖正态近似",
    ),
    "caution": ("{name}: {text}", "{name}：{text}"),
}


@dataclass(frozen=True)
class Note:
    """One remark. Warnings could change what a reader concludes; the rest is for the record."""

    level: Literal["info", "warning"]
    key: str
    text: str


def notes_of(evaluation: Evaluation, language: Language = "en") -> list[Note]:
    """All remarks on an evaluation."""
    coverage, contract = evaluation.coverage, evaluation.contract
    notes: list[Note] = []

    def say(level: Literal["info", "warning"], key: str, **values: object) -> None:
        template = _TEXTS[key][0 if language == "en" else 1]
        notes.append(Note(level, key, template.format(**values)))

    counted = int(evaluation.table.counted.any(axis=1).sum())
    say("info", "queries", judged=coverage.judged_queries, counted=counted)
    if coverage.missing:
        say("warning", f"missing_{'skip' if contract.missing == 'skip' else 'zero'}", n=coverage.missing)
    if coverage.no_relevant:
        say("warning", f"no_relevant_{contract.no_relevant}", n=coverage.no_relevant)
    if coverage.not_judged:
        say("info", "not_judged", n=coverage.not_judged)
    if coverage.only_relevant:
        say("info", "only_relevant")
    elif coverage.judged_at:
        shares = ", ".join(f"Judged@{k} {100 * share:.1f} %" for k, share in coverage.judged_at.items())
        say("info", "judged_at", shares=shares)
        k, share = next(iter(coverage.judged_at.items()))
        if share < _LOW_JUDGED:
            say("warning", "judged_low", share=f"{100 * share:.1f} %", k=k)
    if coverage.tied_documents:
        say(
            "info" if contract.ties == "expected" else "warning",
            f"ties_{contract.ties}",
            documents=coverage.tied_documents,
            queries=coverage.tied_queries,
        )
    if evaluation.table.sampled:
        say("info", "sampled", names=", ".join(evaluation.table.sampled))
    if 2 <= counted < _FEW_QUERIES:
        say("info", "few", n=counted)
    for measure in evaluation.measures:
        if measure.caution:
            cautions = texts(language).get("cautions", {})
            say("warning", "caution", name=measure, text=cautions.get(measure.caution, measure.caution))
    return notes


def warnings_of(evaluation: Evaluation, language: Language = "en") -> list[str]:
    """The remarks that could change a conclusion."""
    return [note.text for note in notes_of(evaluation, language) if note.level == "warning"]
