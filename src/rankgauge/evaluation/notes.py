"""What a careful reader must know beside the scores, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rankgauge.engine.orders import DRAWS, MOST_ORDERS, SEED
from rankgauge.evaluation.caveats import caveats_of
from rankgauge.measures.explanations import texts
from rankgauge.words import Language

if TYPE_CHECKING:
    from rankgauge.evaluation.evaluation import Evaluation

__all__ = ["Note", "notes_of", "warnings_of"]

_FEW_QUERIES = 25
_LOW_JUDGED = 0.8

_TEXTS: dict[str, tuple[str, str]] = {
    "queries": ("queries counted: {counted} of {judged} judged", "计入查询：{judged} 个有标注查询中的 {counted} 个"),
    "missing_zero": (
        "missing from the run: {n} of {judged} judged queries, counted as empty lists",
        "运行缺少 {judged} 个有标注查询中的 {n} 个，按空列表计",
    ),
    "missing_skip": (
        "missing from the run: {n} of {judged} judged queries, left out: the mean is over the others only",
        "运行缺少 {judged} 个有标注查询中的 {n} 个，未计入：均值只含其余查询",
    ),
    "no_relevant_count": (
        "without a relevant document: {n} of {judged} judged queries, counted with the measure's value (0 for most)",
        "{judged} 个有标注查询中有 {n} 个没有相关文档，按指标自身的取值计入（多数为 0）",
    ),
    "no_relevant_skip": (
        "without a relevant document: {n} of {judged} judged queries, left out",
        "{judged} 个有标注查询中有 {n} 个没有相关文档，未计入",
    ),
    "not_judged": (
        "without judgments: {n} of the run's {run} queries, left out",
        "运行的 {run} 个查询中有 {n} 个没有标注，未计入",
    ),
    "judged_at": ("judged documents: {shares}", "已标注文档比例：{shares}"),
    "judged_low": (
        "only {share} of the first {k} documents are judged; others count as not relevant, so scores are low estimates",
        "前 {k} 个文档中只有 {share} 有标注；未标注的按不相关计，得分偏低",
    ),
    "only_relevant": (
        "the judgments list only relevant documents, so how much of the lists was judged cannot be said",
        "标注只列出相关文档，因此无法判断列表中有多少文档经过标注",
    ),
    "id_mismatch": (
        "no judged document was retrieved for any query. Do the ids agree? Run: {run!r}, judgments: {judged!r}; "
        "chunks are merged into documents with --collapse-chunks (collapse_chunks=)",
        "没有任何查询检索到有标注的文档。文档编号一致吗？运行中如 {run!r}，标注中如 {judged!r}；"
        "分块可用 --collapse-chunks（collapse_chunks=）合并为文档",
    ),
    "ties_trec": (
        "{ties}; ties are broken by document id, descending",
        "{ties}；同分按文档编号降序排列",
    ),
    "ties_trec_live": (
        "{ties}; ties are broken by document id, descending; with ties='stable' they keep the retriever's order",
        "{ties}；同分按文档编号降序排列；用 ties='stable' 可保持检索器给出的顺序",
    ),
    "ties_given": ("{ties}; the order given is kept", "{ties}；保持原有顺序"),
    "ties_stable": ("{ties}; ties keep the order of the list", "{ties}；同分保持列表中的顺序"),
    "ties_expected": (
        "{ties}; scores are expected values over all tied orders",
        "{ties}；得分为所有同分次序的期望",
    ),
    "ties": (
        "judged documents that share their score with another one: {documents}, in {queries} of {judged} queries",
        "{judged} 个查询中有 {queries} 个共 {documents} 个已标注文档与其他文档同分",
    ),
    "sampled": (
        "expected values over tied orders that are not exact: {names}; where more than {most} orders are possible, the "
        "mean is over {draws} of them, drawn with seed {seed}",
        "以下指标对同分次序的期望并非精确值：{names}；可能的次序多于 {most} 种时，"
        "取其中 {draws} 种的平均，抽取种子为 {seed}",
    ),
    "sampled_in": ("{name} (in {n} of {judged} queries)", "{name}（{judged} 个查询中的 {n} 个）"),
    "few": (
        "few queries ({n}): the intervals are wide and lean on the normal approximation",
        "查询较少（{n} 个）：区间较宽，且依赖正态近似",
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

    def phrase(key: str, **values: object) -> str:
        return _TEXTS[key][0 if language == "en" else 1].format(**{"judged": coverage.judged_queries, **values})

    def say(level: Literal["info", "warning"], key: str, **values: object) -> None:
        notes.append(Note(level, key, phrase(key, **values)))

    counted = int(evaluation.table.counted.any(axis=1).sum())
    say("info", "queries", counted=counted)
    if coverage.missing:
        say("warning", f"missing_{'skip' if contract.missing == 'skip' else 'zero'}", n=coverage.missing)
    if coverage.no_relevant:
        say("warning", f"no_relevant_{contract.no_relevant}", n=coverage.no_relevant)
    if coverage.not_judged:
        say("info", "not_judged", n=coverage.not_judged, run=coverage.run_queries)
    if coverage.id_mismatch is not None:
        say("warning", "id_mismatch", run=coverage.id_mismatch[0], judged=coverage.id_mismatch[1])
    if coverage.only_relevant:
        say("info", "only_relevant")
    elif coverage.judged_at:
        shares = ", ".join(f"Judged@{k} {100 * share:.1f} %" for k, share in coverage.judged_at.items())
        say("info", "judged_at", shares=shares)
        k, share = next(iter(coverage.judged_at.items()))
        if share < _LOW_JUDGED:
            say("warning", "judged_low", share=f"{100 * share:.1f} %", k=k)
    notes += [Note("warning", key, text) for key, text in caveats_of(evaluation, language)]
    if coverage.tied_documents:
        ties = phrase("ties", documents=coverage.tied_documents, queries=coverage.tied_queries)
        key = f"ties_{contract.ties}"
        text = phrase(f"{key}_live" if evaluation.is_live and f"{key}_live" in _TEXTS else key, ties=ties)
        notes.append(Note("info" if contract.ties == "expected" else "warning", key, text))
    if evaluation.table.sampled:
        drawn = [phrase("sampled_in", name=name, n=n) for name, n in evaluation.table.sampled.items()]
        say("info", "sampled", names=", ".join(drawn), most=MOST_ORDERS, draws=DRAWS, seed=SEED)
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
