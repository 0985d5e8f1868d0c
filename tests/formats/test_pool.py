"""Pools on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankgauge.errors import DataError, FormatError
from rankgauge.formats.pool import load_pool, save_pool
from rankgauge.model.pool import Pool, PooledPair


def test_round_trip(tmp_path: Path) -> None:
    pool = Pool([PooledPair("q1", "d1", ("a", "b"), 3), ("q2", "d1")])
    save_pool(pool, tmp_path / "pool.jsonl")
    assert load_pool(tmp_path / "pool.jsonl") == pool
    assert pool.queries == ["q1", "q2"]


def test_each_pair_once() -> None:
    with pytest.raises(DataError, match="stands twice"):
        Pool([("q", "d"), ("q", "d")])


@pytest.mark.parametrize("line", ["[]", '{"query": "q"}', '{"query": "q", "doc": "d", "rank": 0}'])
def test_faults_name_their_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "pool.jsonl").write_text(f'{{"query": "q", "doc": "d"}}\n{line}\n')
    with pytest.raises(FormatError, match=":2: "):
        load_pool(tmp_path / "pool.jsonl")
