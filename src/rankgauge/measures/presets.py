"""Named contracts: how other tools count, so that their figures can be reproduced and told apart.

A preset sets the contract, and for some measures the parameters that the tool's measure of that name has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rankgauge.errors import ContractError
from rankgauge.measures.measure import Measure, Value
from rankgauge.model.contract import Contract

__all__ = ["PRESETS", "Preset", "find_preset"]


@dataclass(frozen=True)
class Preset:
    """A tool's conventions: contract, parameters of single measures, and one line about them in each language."""

    name: str
    contract: Contract
    en: str
    zh: str
    parameters: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    package: str | None = None
    """The package on PyPI that the tests compare with."""

    def apply(self, measure: Measure) -> Measure:
        """The measure as this tool computes it; parameters that the caller set stay."""
        wanted = {k: v for k, v in self.parameters.get(measure.name, {}).items() if not measure.is_set(k)}
        if "norm" in wanted and measure.at is None:
            del wanted["norm"]
        return measure.with_values(**wanted) if wanted else measure


_TREC = Contract(missing="skip")

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "default",
            Contract(),
            "trec_eval's order; every judged query counts, a missing one as 0",
            "采用 trec_eval 的排序；每个有标注的查询都计入，缺失的按 0 计",
        ),
        Preset(
            "trec_eval",
            _TREC,
            "trec_eval 10: score and document id descending, float64 scores, missing queries left out (-c: zero)",
            "trec_eval 10：按得分、文档编号降序，得分用 float64，缺失的查询不计入（-c 则按 0 计）",
        ),
        Preset(
            "trec_eval9",
            _TREC.with_changes(scores="float32"),
            "trec_eval 9 and pytrec_eval: scores compared as float32, recall levels as x R + 0.9 cut off",
            "trec_eval 9 与 pytrec_eval：得分按 float32 比较，召回点取 x·R + 0.9 的整数部分",
            {"IPrec": {"rule": "trec_eval9"}, "AvgIPrec": {"rule": "trec_eval9"}},
            "pytrec-eval-terrier",
        ),
        Preset(
            "ir_measures",
            Contract(scores="float32"),
            "ir_measures with pytrec_eval: as trec_eval 9, but a judged query missing from the run counts as 0",
            "ir_measures（pytrec_eval 后端）：同 trec_eval 9，但运行中缺失的查询按 0 计",
            {"IPrec": {"rule": "trec_eval9"}, "AvgIPrec": {"rule": "trec_eval9"}},
            "ir-measures",
        ),
        Preset(
            "ranx",
            Contract(ties="stable", missing="error"),
            "ranx: ties are in no fixed order there (here as listed); judgments and run must hold the same queries",
            "ranx：其同分次序不固定（此处保持传入顺序）；标注与运行的查询必须一致",
            {},
            "ranx",
        ),
        Preset(
            "beir",
            _TREC.with_changes(scores="float32", drop_self=True),
            "BEIR: pytrec_eval after removing documents whose id equals the query's; missing queries left out",
            "BEIR：先去掉与查询同编号的文档，再用 pytrec_eval；缺失的查询不计入",
            {},
            "pytrec-eval-terrier",
        ),
        Preset(
            "sklearn",
            Contract(ties="expected"),
            "scikit-learn ndcg_score and dcg_score: linear gain, expected value over tied orders",
            "scikit-learn 的 ndcg_score、dcg_score：线性增益，同分取所有次序的期望",
            {},
            "scikit-learn",
        ),
        Preset(
            "elasticsearch",
            Contract(ties="given", missing="skip"),
            "Elasticsearch _rank_eval: list order, exponential gain, ideal and P cut at the number returned",
            "Elasticsearch _rank_eval：按返回顺序，指数增益，理想列表按返回数截断，精确率除以返回数",
            {
                "nDCG": {"gain": "exp", "ideal": "returned"},
                "DCG": {"gain": "exp"},
                "P": {"over": "returned"},
            },
        ),
        Preset(
            "phoenix",
            Contract(ties="given", missing="skip"),
            "Phoenix: list order, linear gain, ideal from the retrieved documents",
            "Phoenix：按返回顺序，线性增益，理想列表只取检索到的文档",
            {"nDCG": {"ideal": "retrieved"}},
        ),
        Preset(
            "autorag",
            Contract(ties="given", missing="error"),
            "AutoRAG: list order, ideal from the retrieved documents, precision over the returned",
            "AutoRAG：按返回顺序，理想列表只取检索到的文档，精确率除以返回数",
            {"nDCG": {"ideal": "retrieved"}, "P": {"over": "returned"}},
        ),
        Preset(
            "medcorpus",
            Contract(ties="given", missing="skip"),
            "MedCorpus papers: grades 0, 1, 2; exponential gain; graded AP with weights 0.5 and 1",
            "MedCorpus：相关性 0/1/2；指数增益；分级 AP，权重 0.5 与 1.0",
            {"nDCG": {"gain": "exp"}, "AP": {"grades": "linear", "max_grade": 2.0}},
        ),
    )
}


def find_preset(name: str) -> Preset:
    """A preset by name."""
    if name in PRESETS:
        return PRESETS[name]
    import difflib

    close = difflib.get_close_matches(name, PRESETS, n=3, cutoff=0.4)
    nearby = f"; did you mean {', '.join(close)}?" if close else ""
    raise ContractError(f"unknown contract {name!r}{nearby} (known: {', '.join(PRESETS)})")
