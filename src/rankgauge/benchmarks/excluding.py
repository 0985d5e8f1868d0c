"""Documents that do not count for a query, such as the page that a question of BRIGHT was taken from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from rankgauge.model.run import Run

__all__ = ["exclusion_name", "without_excluded"]


def exclusion_name(name: str, excluded: Mapping[str, Sequence[str]]) -> str:
    """What a contract says of them: the benchmark, and which documents they are."""
    listed = json.dumps(sorted((query, sorted(docs)) for query, docs in excluded.items()), ensure_ascii=False)
    return f"{name} {hashlib.sha256(listed.encode()).hexdigest()[:12]}"


def without_excluded(run: Run, excluded: Mapping[str, Sequence[str]]) -> tuple[Run, int]:
    """The run without them, and how many there were. A query whose list held nothing else has an empty one."""
    import polars as pl

    rows = [(query, doc) for query, docs in excluded.items() for doc in docs]
    apart = pl.DataFrame(rows, schema={"query": pl.String, "doc": pl.String}, orient="row").unique()
    kept = run.frame.join(apart, on=["query", "doc"], how="anti", maintain_order="left")
    emptied = set(run.queries) - set(kept["query"].unique())
    empty = [query for query in run.queries if query in emptied]
    return Run.of_frame(kept, run.name, empty=empty), len(run.frame) - len(kept)
