"""One of two processes that share a metric: `python -m tests.tensors.processes RANK FILE` prints what it found."""

from __future__ import annotations

import json
import sys
import warnings

import torch

warnings.simplefilter("ignore")

from rankgauge import RetrievalMetric  # noqa: E402

MEASURES = ["nDCG@5", "RR", "R@3"]


def lists() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores, grades and numbers of queries; every second document of each query lies in the other process."""
    made = torch.Generator().manual_seed(3)
    scores = torch.rand(12, 10, generator=made)
    grades = torch.randint(0, 3, (12, 10), generator=made)
    return scores, grades, torch.arange(12)[:, None].expand(12, 10)


def main(rank: int, file: str) -> None:
    torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    scores, grades, query = lists()
    found = {}
    split = RetrievalMetric(MEASURES)
    own = slice(rank, None, 2)
    for rows in (slice(0, 5), slice(5, 12)):
        split.update(scores[rows, own], grades[rows, own], indexes=query[rows, own])
    found["split"] = split.compute()
    again = split.compute()
    padded = RetrievalMetric(MEASURES, no_relevant="skip")
    padded.update(scores[rank * 4 : 4 + rank * 8], grades[rank * 4 : 4 + rank * 8] - 1)
    found["padded"] = padded.compute()
    alone = RetrievalMetric(MEASURES)
    if rank == 1:  # the other has seen nothing
        alone.update(scores.half(), grades, indexes=query)
        alone.update(scores.half(), grades)
    found["alone"] = alone.compute()
    nobody = RetrievalMetric(MEASURES)
    found["nobody"] = nobody.compute()
    assert again == found["split"]
    print(json.dumps({name: {key: float(value) for key, value in means.items()} for name, means in found.items()}))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
