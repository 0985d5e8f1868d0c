"""Records for the tests of the history: like real ones, cheap to make, each a little different."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.model import Contract
from rankgauge.record import InputFile, Mean, Provenance, Record, ScoredMeasure, SystemResult
from rankgauge.stats.intervals import Interval

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
) -> Record:
    """The record of day `number`: scores drawn from its own seed, moved by `shift`."""
    random = np.random.default_rng(number)
    scores = {(s, m): np.clip(random.random(queries) + shift, 0, 1) for s in systems for m in measures}
    means = {key: float(own.mean()) for key, own in scores.items()}
    return Record(
        kind="evaluation",
        created=(created or START + datetime.timedelta(days=number)).isoformat(timespec="seconds"),
        rankgauge="0.1.0",
        preset="default",
        contract=Contract(**(contract or {})),
        measures=[ScoredMeasure(m, "mean", False, (0.0, 1.0)) for m in measures],
        queries=[f"q{i}" for i in range(queries)],
        systems=[
            SystemResult(
                s,
                {
                    m: Mean(means[s, m], Interval(means[s, m] - 0.1, means[s, m] + 0.1, 0.95, "t"), queries)
                    for m in measures
                },
                {m: scores[s, m].tolist() for m in measures},
            )
            for s in systems
        ],
        provenance=Provenance(
            {} if test_set is None else {"judgments": InputFile("测试集.json", test_set)},
            "3.11.0",
            "linux",
            f"{number:040x}",
        ),
    )
