"""Named contracts: how other tools count, so that their figures can be reproduced and told apart.

A preset sets the contract, and for some measures the parameters that the tool's measure of that name has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rankgauge.errors import ContractError
from rankgauge.measures.measure import Measure, Value
from rankgauge.model.contract import Contract
from rankgauge.words import Language, say

__all__ = ["PRESETS", "Preset", "find_preset"]


@dataclass(frozen=True)
class Preset:
    """A tool's conventions: contract, and parameters of single measures."""

    name: str
    contract: Contract
    parameters: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    package: str | None = None
    """The package on PyPI that the tests compare with."""

    def about(self, language: Language) -> str:
        """One line about it."""
        return say(f"measures.preset_{self.name}", language)

    def apply(self, measure: Measure) -> Measure:
        """The measure as this tool computes it; parameters that the caller set stay."""
        wanted = {k: v for k, v in self.parameters.get(measure.name, {}).items() if not measure.is_set(k)}
        if "norm" in wanted and measure.at is None:
            del wanted["norm"]
        return measure.with_values(**wanted) if wanted else measure


_TREC = Contract(missing="skip")
_RECALL_LEVELS = {"IPrec": {"rule": "trec_eval9"}, "AvgIPrec": {"rule": "trec_eval9"}}
_LISTED: tuple[Preset, ...] = (
    Preset("default", Contract()),
    Preset("trec_eval", _TREC),
    Preset("trec_eval9", _TREC.with_changes(scores="float32"), _RECALL_LEVELS, "pytrec-eval-terrier"),
    Preset("ir_measures", Contract(scores="float32"), _RECALL_LEVELS, "ir-measures"),
    Preset("ranx", Contract(ties="stable", missing="error"), package="ranx"),
    Preset("beir", _TREC.with_changes(scores="float32", drop_self=True), package="pytrec-eval-terrier"),
    Preset("sklearn", Contract(ties="expected"), package="scikit-learn"),
    Preset(
        "elasticsearch",
        Contract(ties="given", missing="skip"),
        {"nDCG": {"gain": "exp", "ideal": "returned"}, "DCG": {"gain": "exp"}, "P": {"over": "returned"}},
    ),
    Preset("phoenix", Contract(ties="given", missing="skip"), {"nDCG": {"ideal": "retrieved"}}),
    Preset(
        "autorag",
        Contract(ties="given", missing="error"),
        {"nDCG": {"ideal": "retrieved"}, "P": {"over": "returned"}},
    ),
    Preset(
        "medcorpus",
        Contract(ties="given", missing="skip"),
        {"nDCG": {"gain": "exp"}, "AP": {"grades": "linear", "max_grade": 2.0}},
    ),
)
PRESETS: dict[str, Preset] = {preset.name: preset for preset in _LISTED}


def find_preset(name: str) -> Preset:
    """A preset by name."""
    if name in PRESETS:
        return PRESETS[name]
    import difflib

    close = difflib.get_close_matches(name, PRESETS, n=3, cutoff=0.4)
    nearby = f"; did you mean {', '.join(close)}?" if close else ""
    raise ContractError(f"unknown contract {name!r}{nearby} (known: {', '.join(PRESETS)})")
