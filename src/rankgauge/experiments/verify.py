"""Does a record still hold? Its inputs are hashed again and its scores recomputed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.experiments.comparison import compare
from rankgauge.experiments.evaluation import evaluate
from rankgauge.formats import Source, load_chunk_mapping, load_corpus
from rankgauge.model.contract import Contract

__all__ = ["Finding", "verify"]

_SAME = 1e-9


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    what: str
    holds: bool
    detail: str = ""


def verify(record: Mapping[str, Any], *, folder: Path | None = None) -> list[Finding]:
    """Recompute a record from its inputs. `folder` is where relative paths are looked up (default: as written)."""
    if record["contract"] is None:
        raise DataError("this record is of scores from elsewhere: there are no runs to score again")
    inputs: Mapping[str, Mapping[str, str]] = record["provenance"]["inputs"]
    if "judgments" not in inputs or not any(key.startswith("run:") for key in inputs):
        raise DataError("this record does not name the files it was made from, so it cannot be computed again")
    findings, paths = [], {}
    for key, entry in inputs.items():
        path = Path(entry["path"])
        path = folder / path if folder is not None and not path.is_absolute() else path
        paths[key] = str(path)
        if not path.exists():
            findings.append(Finding(key, False, f"{path} is gone"))
        elif Source(path).sha256() != entry["sha256"]:
            findings.append(Finding(key, False, f"{path} has changed"))
        else:
            findings.append(Finding(key, True, f"{path} is unchanged"))
    missing = [finding for finding in findings if not finding.holds and finding.detail.endswith("gone")]
    if missing:
        return findings
    try:
        return findings + _recomputed(record, paths)
    except RankgaugeError as error:
        return [*findings, Finding("scores", False, str(error))]


def _recomputed(record: Mapping[str, Any], paths: Mapping[str, str]) -> list[Finding]:
    settings = dict(record["contract"])
    settings.pop("preset")
    rule = settings.pop("collapse", None)
    choices: dict[str, Any] = {"contract": Contract(**settings)}
    if rule is not None:
        if "collapse_chunks" in paths:
            choices["collapse_chunks"] = load_chunk_mapping(paths["collapse_chunks"])
        elif str(rule).startswith("regex "):
            choices["collapse_chunks"] = str(rule).removeprefix("regex ")
        else:
            raise DataError("the mapping of chunks is not among the record's inputs")
    if "corpus" in paths:
        choices["corpus"] = load_corpus(paths["corpus"])
    measures = [measure["name"] for measure in record["measures"]]
    findings = []
    for system in record["systems"]:
        found = evaluate(paths["judgments"], paths[f"run:{system['name']}"], measures, name=system["name"], **choices)
        off = [
            f"{name} was {system['means'][name]['value']:.6f} and is {found.mean[name]:.6f}"
            for name in measures
            if not _same(system["means"][name]["value"], found.mean[name])
        ]
        for j, name in enumerate(measures):
            kept = system["per_query"].get(name, [])
            now = found.table.values[:, j].tolist()
            if len(kept) != len(now) or not all(map(_same, kept, now)):
                off.append(f"{name}: scores of single queries differ")
        findings.append(Finding(f"scores of {system['name']}", not off, "; ".join(off) or "all the same"))
    if record["kind"] == "comparison":
        findings.append(_comparison(record, paths, measures, choices))
    return findings


def _comparison(
    record: Mapping[str, Any], paths: Mapping[str, str], measures: list[str], choices: Mapping[str, Any]
) -> Finding:
    part = record["comparison"]
    chosen = {key: part["settings"][key] for key in ("test", "correction", "alpha", "margin", "seed", "baseline")}
    samples = part["settings"]["samples"] or None
    runs = {system["name"]: paths[f"run:{system['name']}"] for system in record["systems"]}
    found = compare(paths["judgments"], runs, measures, samples=samples, **chosen, **choices)
    off = [
        f"{old['measure']}, {old['a']} and {old['b']}"
        for old, new in zip(part["rows"], found.rows, strict=False)
        if old["verdict"] != new.verdict
        or not _same(old["difference"], new.difference)
        or not _same(old["p_corrected"], new.p_corrected, 1e-6)
    ]
    if len(part["rows"]) != len(found.rows):
        off.append("the number of rows")
    return Finding("comparison", not off, "; ".join(off) or "all the same")


def _same(a: float | None, b: float | None, tolerance: float = _SAME) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
