"""Named contracts: how other tools count, so that their figures can be reproduced and told apart.

A preset sets the contract, and for some measures the parameters that the tool's measure of that name has. They stand
in `presets.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

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


_LISTED = json.loads((Path(__file__).parent / "presets.json").read_text("utf-8"))
PRESETS: dict[str, Preset] = {
    entry["name"]: Preset(**{**entry, "contract": Contract(**entry.get("contract", {}))}) for entry in _LISTED
}


def find_preset(name: str) -> Preset:
    """A preset by name."""
    if name in PRESETS:
        return PRESETS[name]
    import difflib

    close = difflib.get_close_matches(name, PRESETS, n=3, cutoff=0.4)
    nearby = f"; did you mean {', '.join(close)}?" if close else ""
    raise ContractError(f"unknown contract {name!r}{nearby} (known: {', '.join(PRESETS)})")
