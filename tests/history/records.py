"""Records for the tests of the history: like real ones, cheap to make, each a little different."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

START = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


def make_record(
    number: int = 0,
    *,
    systems: Sequence[str] = ("search",),
    measures: Sequence[str] = ("nDCG@10", "AP"),
    queries: int = 20,
    created: datetime.datetime | None = None,
    test_set: str | None = "a" * 64,
    contract: Mapping[str, Any] | None = None,
    shift: float = 0.0,
) -> dict[str, Any]:
    """The record of day `number`: scores drawn from its own seed, moved by `shift`."""
    random = np.random.default_rng(number)
    scores = {(s, m): np.clip(random.random(queries) + shift, 0, 1) for s in systems for m in measures}
    inputs = {} if test_set is None else {"judgments": {"path": "测试集.json", "sha256": test_set}}
    return {
        "format": "rankgauge.record",
        "version": 1,
        "kind": "evaluation",
        "created": (created or START + datetime.timedelta(days=number)).isoformat(timespec="seconds"),
        "rankgauge": "0.1.0",
        "contract": {
            "preset": "default",
            "ties": "trec",
            "scores": "float64",
            "missing": "zero",
            "no_relevant": "count",
            "duplicates": "error",
            **(contract or {}),
        },
        "measures": [
            {"name": m, "aggregate": "mean", "formula": "", "targets": {}, "lower_is_better": False} for m in measures
        ],
        "queries": [f"q{i}" for i in range(queries)],
        "systems": [
            {
                "name": s,
                "means": {
                    m: {
                        "value": float(scores[s, m].mean()),
                        "interval": {
                            "low": float(scores[s, m].mean()) - 0.1,
                            "high": float(scores[s, m].mean()) + 0.1,
                            "level": 0.95,
                            "method": "t",
                        },
                        "queries": queries,
                        "sentence": {"en": f"{m} of {s}", "zh": f"{s} 的 {m}"},
                    }
                    for m in measures
                },
                "per_query": {m: scores[s, m].tolist() for m in measures},
                "counted": {},
                "coverage": None,
                "notes": {"en": [], "zh": []},
            }
            for s in systems
        ],
        "provenance": {"inputs": inputs, "python": "3.11.0", "platform": "linux", "git": f"{number:040x}"},
    }
