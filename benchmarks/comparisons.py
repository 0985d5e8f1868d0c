"""Randomization tests beside ranx's Fisher test, per permutation and pair; and the size of a large HTML report."""

from __future__ import annotations

import json
import time

import numpy as np

QUERIES, MEASURES, SYSTEMS, PERMUTATIONS = 6980, 5, 5, 100_000
PEER_PERMUTATIONS = 2000


def main() -> None:
    from ranx.statistical_tests import fisher_randomization_test

    from rankgauge.comparison import Comparison
    from rankgauge.comparison.rows import System
    from rankgauge.measures import parse_measure
    from rankgauge.record import ScoredMeasure
    from rankgauge.stats.settings import Settings

    rng = np.random.default_rng(0)
    base = rng.random((QUERIES, MEASURES))
    values = [np.clip(base + rng.normal(0, 0.1, base.shape), 0, 1) for _ in range(SYSTEMS)]
    systems = {f"s{i}": System(f"s{i}", v, np.ones(v.shape, dtype=bool)) for i, v in enumerate(values)}
    start = time.perf_counter()
    settings = Settings.of(samples=PERMUTATIONS)
    measures = [ScoredMeasure.of(parse_measure(f"nDCG@{j + 1}")) for j in range(MEASURES)]
    found = Comparison([str(i) for i in range(QUERIES)], measures, systems, settings)
    own = time.perf_counter() - start
    a, b = values[0][:, 0].copy(), values[1][:, 0].copy()
    fisher_randomization_test(a, b, n_permutations=10)  # it is compiled on first use
    start = time.perf_counter()
    fisher_randomization_test(a, b, n_permutations=PEER_PERMUTATIONS)
    peer = time.perf_counter() - start
    print(
        json.dumps(
            {
                "rows": len(found.rows),
                "seconds": own,
                "microseconds": 1e6 * own / len(found.rows) / PERMUTATIONS,
                "ranx_microseconds": 1e6 * peer / PEER_PERMUTATIONS,
            }
        )
    )


if __name__ == "__main__":
    main()
