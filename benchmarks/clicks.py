"""Labels from clicks: a log of 10 million impressions, whole process; and the position-based model beside that of CLAX.

The log is simulated, so that the truth is known: 20,000 queries of which few are frequent, 20 documents each, of which
10 are shown in an order that varies; examination falls with the rank.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FOLDER = Path(__file__).parent / "data"
IMPRESSIONS = 10_000_000
QUERIES, DOCS, DEPTH = 20_000, 20, 10
_TOGETHER = 100_000  # lists that are simulated at a time
_LEAST = 100  # impressions of pairs that are held against the truth


def truth() -> tuple[np.ndarray, np.ndarray]:
    """Attraction of every pair, and examination of every rank."""
    attraction = np.random.default_rng(0).beta(1, 4, QUERIES * DOCS)
    return attraction, 1 / np.arange(1, DEPTH + 1) ** 0.7


def simulate(impressions: int, seed: int = 1) -> pl.DataFrame:
    """A row for each document that was shown."""
    rng = np.random.default_rng(seed)
    attraction, examination = truth()
    share = 1 / np.arange(1, QUERIES + 1)
    parts = []
    for first in range(0, impressions // DEPTH, _TOGETHER):
        lists = min(_TOGETHER, impressions // DEPTH - first)
        query = rng.choice(QUERIES, lists, p=share / share.sum())
        noisy = np.arange(DOCS)[None, :] + rng.normal(0, 4, (lists, DOCS))
        doc = np.argsort(noisy, axis=1)[:, :DEPTH]
        pair = query[:, None] * DOCS + doc
        clicked = (rng.random(pair.shape) < attraction[pair]) & (rng.random(pair.shape) < examination)
        parts.append(
            pl.DataFrame(
                {
                    "list": np.repeat(np.arange(first, first + lists), DEPTH),
                    "query": np.repeat(query, DEPTH),
                    "doc": pair.ravel(),
                    "position": np.tile(np.arange(1, DEPTH + 1), lists),
                    "clicked": clicked.ravel().astype(np.int8),
                }
            )
        )
    ids = [pl.format("search {}", "list").alias("list"), pl.format("query {}", "query").alias("query")]
    return pl.concat(parts).with_columns(*ids, pl.format("doc-{}", "doc").alias("doc"))


def write(impressions: int = IMPRESSIONS) -> list[Path]:
    """The log as CSV and as JSON Lines, if they are not there yet."""
    FOLDER.mkdir(exist_ok=True)
    paths = [FOLDER / f"clicks_{impressions}.{ending}" for ending in ("csv", "jsonl", "parquet")]
    if not all(path.exists() for path in paths):
        log = simulate(impressions)
        log.write_csv(paths[0])
        log.write_ndjson(paths[1])
        log.write_parquet(paths[2])
    return paths


def error_of(relevance: np.ndarray, shown: np.ndarray) -> float:
    """Root of the mean squared error of the attraction of pairs that were shown often enough."""
    often = shown >= _LEAST
    return float(np.sqrt(((relevance - truth()[0])[often] ** 2).mean()))


def arrays(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs and clicks of every list, and how often each pair was shown."""
    log = pl.read_parquet(path)
    pair = log["doc"].str.slice(4).cast(pl.Int32).to_numpy().reshape(-1, DEPTH)
    return pair, log["clicked"].to_numpy().reshape(-1, DEPTH) == 1, np.bincount(pair.ravel(), minlength=QUERIES * DOCS)


def own(path: Path) -> dict[str, float]:
    """The fit alone, from arrays."""
    from rankgauge.stats.click_models import ClickLog, position_based

    pair, clicked, shown = arrays(path)
    start = time.perf_counter()
    fitted = position_based(ClickLog.of(pair, clicked, QUERIES * DOCS))
    return {"seconds": time.perf_counter() - start, "error": error_of(fitted.attraction, shown)}


def clax(path: Path) -> dict[str, float]:
    """The same with clax-models, by gradients, with its own settings."""
    import jax.numpy as jnp
    import torch
    from clax import PositionBasedModel, Trainer
    from flax import nnx
    from optax import adamw
    from torch.utils.data import DataLoader, Dataset

    pair, clicked, shown = arrays(path)

    class Lists(Dataset):  # type: ignore[misc]
        def __init__(self, rows: slice) -> None:
            self.pair, self.clicked = pair[rows], clicked[rows]

        def __len__(self) -> int:
            return len(self.pair)

        def __getitems__(self, rows: list[int]) -> Any:
            return self.pair[rows], self.clicked[rows]

    def batch(found: Any) -> dict[str, Any]:
        pairs, clicks = found
        return {
            "positions": np.broadcast_to(np.arange(1, DEPTH + 1), pairs.shape),
            "query_doc_ids": pairs,
            "clicks": clicks.astype(np.float32),
            "mask": np.ones(pairs.shape, dtype=bool),
        }

    def loader(rows: slice, shuffle: bool) -> Any:
        return DataLoader(Lists(rows), batch_size=4096, shuffle=shuffle, collate_fn=batch)

    torch.manual_seed(0)
    cut = len(pair) * 9 // 10
    start = time.perf_counter()
    model = PositionBasedModel(query_doc_pairs=QUERIES * DOCS, positions=DEPTH + 1, rngs=nnx.Rngs(0))
    trainer = Trainer(optimizer=adamw(0.003), epochs=50)
    trainer.train(model, loader(slice(0, cut), True), loader(slice(cut, None), False))
    seconds = time.perf_counter() - start
    every = np.arange(QUERIES * DOCS).reshape(-1, DEPTH)
    asked = {key: jnp.asarray(value) for key, value in batch((every, np.zeros(every.shape))).items()}
    relevance = np.exp(np.asarray(model.predict_relevance(asked))).ravel()
    return {"seconds": seconds, "error": error_of(relevance, shown)}


if __name__ == "__main__":
    tool, size = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else IMPRESSIONS
    if tool == "write":
        print("\n".join(map(str, write(size))))
    elif tool == "clax" and find_spec("clax") is None:
        print("{}")
    else:
        print(json.dumps({"own": own, "clax": clax}[tool](write(size)[2])))
