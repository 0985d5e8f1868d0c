"""What the partitions found, put together on the driver into what the kernels see."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from rankgauge import errors
from rankgauge.engine.hits import Hits, assemble
from rankgauge.engine.match_frames import JudgmentIndex
from rankgauge.engine.matching import Matched, checked_ids, marked_no_answer
from rankgauge.errors import RankgaugeError
from rankgauge.model.judgments import Qrels
from rankgauge.model.ordering import rank_rows
from rankgauge.model.ranked import RankedGrades
from rankgauge.model.run import Run
from rankgauge.spark.partitions import Matching, arrow, packed, unpacked

__all__ = ["Answers", "answers_in", "error_of", "put_together", "with_edges"]

_KINDS = ("error", "counts", "lists", "hits", "sample", "seen", "edges", "ungrouped")


Answers = list[tuple[str, bytes]]


def with_edges(answers: Answers, qrels: Qrels, work: Matching) -> Answers | None:
    """What was found in rows as they lie, with the queries that stand in several partitions matched here. None where
    these are not only the first and the last of their partitions."""
    parts = _sorted(answers)
    if parts["ungrouped"]:
        return None
    if parts["error"] or not parts["seen"]:
        return answers
    seen = np.sort(np.concatenate([np.frombuffer(hashes, dtype=np.uint64) for hashes in parts["seen"]]))
    several = np.unique(seen[1:][seen[1:] == seen[:-1]])
    if not len(several):
        return answers
    edges = pl.concat(map(unpacked, parts["edges"])) if parts["edges"] else pl.DataFrame({"query": []})
    edges = edges.filter(np.isin(edges["query"].hash().to_numpy(), several))
    split = edges["query"].unique()
    if len(split) != len(several):
        return None
    index, apart = JudgmentIndex.kept(qrels), pl.col("query").is_in(split.implode())
    owners = index.query_numbers.filter(apart)["owner"].implode()
    own = pl.col("judgment").is_in(index.rows.filter(pl.col("owner").is_in(owners))["judgment"].implode())
    first = [query for count in parts["counts"] for query in json.loads(count)[1]]
    kept = [("counts", json.dumps([len(np.unique(seen)) - len(split), first]).encode())]
    kept += [("lists", packed(unpacked(pack).filter(~apart))) for pack in parts["lists"]]
    kept += [("hits", packed(unpacked(pack).filter(~own))) for pack in parts["hits"]]
    kept += [("sample", pack) for pack in parts["sample"]]
    return kept + [answer for batch in work(arrow(edges)) for answer in answers_in(batch)]


def answers_in(table: Any) -> Answers:
    """Rows of Arrow as what partitions told."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _sorted(answers: Iterable[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    parts: dict[str, list[bytes]] = {what: [] for what in _KINDS}
    for what, pack in answers:
        parts[what].append(pack)
    return parts


def put_together(answers: Iterable[tuple[str, bytes]], qrels: Qrels, name: str) -> Matched:
    """All parts as one, in whatever order they come."""
    parts = _sorted(answers)
    if parts["error"]:
        raise error_of([json.loads(fault) for fault in parts["error"]], name)
    counts = [json.loads(count) for count in parts["counts"]]
    ranked = _ranked(JudgmentIndex.kept(qrels), parts["lists"], parts["hits"])
    matched = Matched(ranked, sum(queries for queries, _ in counts))
    first = sorted(query for _, queries in counts for query in queries)[:5]

    def sample() -> pl.DataFrame:
        found = [unpacked(rows).select("query", "doc", "score") for rows in parts["sample"]]
        return rank_rows(pl.concat(found), "query", "doc", "score")

    return marked_no_answer(checked_ids(matched, qrels, first, name, sample), qrels)


def _ranked(index: JudgmentIndex, lists: Sequence[bytes], found: Sequence[bytes]) -> RankedGrades:
    """All parts as one `RankedGrades`."""
    n = len(index.judged.queries)
    in_run, retrieved, top = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), np.full(n, np.nan)
    for pack in lists:
        rows = unpacked(pack).join(index.query_numbers, on="query", maintain_order="left")
        owner = rows["owner"].to_numpy()
        in_run[owner] = True
        retrieved[owner], top[owner] = rows["retrieved"].to_numpy(), rows["top"].to_numpy()
    owners, grades = index.rows["owner"].to_numpy(), index.rows["grade"].to_numpy()
    parts = []
    for pack in found:
        rows = unpacked(pack)
        judgment, above, tied, met = (rows[name].to_numpy() for name in ("judgment", "above", "tied", "tie_met"))
        parts.append(Hits(owners[judgment], above, tied, grades[judgment], judgment, met))
    return assemble(index.judged, parts, in_run, retrieved, index.subtopics, top=top)


def error_of(faults: Sequence[Mapping[str, Any]], name: str) -> RankgaugeError:
    """What the partitions complained of, as one error."""
    pairs = sorted((query, doc) for fault in faults for query, doc in fault.get("pairs", ()))
    if pairs:
        return Run({"": {}}, name=name).describe_repeats(pairs, sum(fault.get("total", 0) for fault in faults))
    fault = min(faults, key=lambda fault: str(fault["message"]))
    kind: type[RankgaugeError] = getattr(errors, fault["kind"], RankgaugeError)
    return kind(f"{name}: {fault['message'].removeprefix('run: ')}")
