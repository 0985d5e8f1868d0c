"""Does a record still hold? Its inputs are hashed again and its scores recomputed."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.comparison.comparing import compare_runs
from rankgauge.comparison.losses import Losses, losses
from rankgauge.comparison.rerank import rerank_of
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.evaluation import GivenChunks, Scoring, make_plan, record_of
from rankgauge.formats import Source, load_judgments
from rankgauge.measures import parse_measure
from rankgauge.measures.presets import PRESETS
from rankgauge.record import Note, Record, as_record
from rankgauge.stats.settings import Settings
from rankgauge.words import Language, say

__all__ = ["Finding", "verify"]

_SAME = 1e-9
_SHOWN = 5
_CIRCUMSTANCES = ("created", "rankgauge", "version", "provenance")  # not results
_PARTS = ("systems", "comparison", "losses")  # compared by themselves


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    what: Note
    holds: bool
    detail: Note

    def sentence(self, language: Language = "en") -> str:
        return say("verify.holds" if self.holds else "verify.fails", language, what=self.what, detail=self.detail)


@named_arguments
def verify(record: Record | Any, *, folder: str | os.PathLike[str] | None = None) -> list[Finding]:
    """Recompute a record (or that of a result, or of a file) from its inputs. `folder` is where relative paths are
    looked up (default: as written)."""
    record = as_record(record)
    if record.contract is None:
        raise DataError("this record is of scores from elsewhere: there are no runs to score again")
    live = [system.name for system in record.systems if system.calls is not None]
    if live:
        raise DataError(
            f"this record is of live retrievers ({', '.join(live)}), which cannot be computed again: they may answer "
            "otherwise now. What can be is a record of the lists they gave: let the plan write them, "
            '[outputs] runs = "runs"; score these, rankgauge evaluate TESTSET runs/NAME.run -o record.json; verify that'
        )
    inputs = record.provenance.inputs
    if any(system.traces for system in record.systems):
        raise DataError(
            "this record is of traces, which verify does not score again; score them once more, rankgauge "
            "evaluate-traces ... -o again.json, and compare the means"
        )
    if "judgments" not in inputs or not any(key.startswith("run:") for key in inputs):
        raise DataError("this record does not name the files it was made from, so it cannot be computed again")
    findings, paths = [], {}
    for system in record.systems:
        if f"run:{system.name}" not in inputs:
            raise DataError(
                f"the run of {system.name!r} was no file (standard input, say), so it cannot be scored again"
            )
    for key, entry in inputs.items():
        path = Path(entry.path)
        path = Path(folder) / path if folder is not None else path  # which an absolute path overrides
        paths[key] = str(path)
        there = path.exists()
        same = there and Source(path).sha256() == entry.sha256
        state = "unchanged" if same else "changed" if there else "missing"
        findings.append(
            Finding(Note("verify.input", {"role": key}), same, Note(f"verify.{state}", {"path": str(path)}))
        )
    if any(finding.detail.key == "verify.missing" for finding in findings):
        return findings
    try:
        return findings + _recomputed(record, paths)
    except RankgaugeError as error:
        return [*findings, Finding(Note("verify.recomputed"), False, Note("verify.failed", {"error": str(error)}))]


def _recomputed(record: Record, paths: Mapping[str, str]) -> list[Finding]:
    """The record made anew, and compared part by part with the one that was kept: numbers and keys, never words."""
    assert record.contract is not None
    rule: str | Path | None = None
    if record.contract.collapse is not None:
        if "collapse_chunks" in paths:
            rule = Path(paths["collapse_chunks"])
        elif record.contract.collapse.startswith("regex "):
            rule = record.contract.collapse.removeprefix("regex ")
        else:
            raise DataError("the mapping of chunks is not among the record's inputs")
    again = _again(record, paths, rule).to_dict()
    again["preset"] = record.preset if record.preset in PRESETS else "custom"
    kept = record.to_dict()
    findings = [
        _finding(Note("verify.scores", {"system": system["name"]}), list(_unlike(system, other)))
        for system, other in zip(kept["systems"], again["systems"], strict=True)
    ]
    rest = {key: value for key, value in kept.items() if key not in (*_CIRCUMSTANCES, *_PARTS)}
    off = [path for key, value in rest.items() for path in _unlike(value, again.get(key), key)]
    findings.append(_finding(Note("verify.about"), off))
    if record.losses:
        findings.append(_finding(Note("losses.verified"), list(_unlike(kept["losses"], again["losses"]))))
    if record.comparison is not None:
        findings.append(_finding(Note("verify.comparison"), list(_unlike(kept["comparison"], again["comparison"]))))
    return findings


def _again(record: Record, paths: Mapping[str, str], rule: str | Path | None) -> Record:
    """The record from its inputs, under the contract it names."""
    assert record.contract is not None
    plan = make_plan([measure.name for measure in record.measures], replace(record.contract, collapse=None))
    scoring = Scoring(
        plan,
        rule,
        paths.get("corpus"),
        chunks=_chunks(record, paths),
        overlap=record.contract.overlap,
        conversations=record.conversations,
    )
    runs = {system.name: paths[f"run:{system.name}"] for system in record.systems}
    found = record.comparison
    if record.losses and found is None:  # of lists alone: those of live systems are not computed again
        return _losses_again(record, paths, rule).to_record(inputs={}, lists=bool(record.lists))
    if found is None:
        judgments = load_judgments(paths["judgments"])
        scored = [scoring.evaluation(judgments, run, name) for name, run in runs.items()]
        return record_of(scored, per_query=bool(record.queries), test_set=judgments if record.tags else None)
    settings = Settings.of(**asdict(found.settings) | {"samples": found.settings.samples or None})
    stages = {key.removeprefix("stage:"): path for key, path in paths.items() if key.startswith("stage:")}
    compared = compare_runs(paths["judgments"], runs, scoring, settings, found.baseline, stages)
    return compared.to_record(
        slices=bool(found.slices),
        uncertainty=found.unjudged is not None,
        lists=bool(record.lists),
        rerank=None if found.rerank is None else rerank_of(compared),
    )


def _chunks(record: Record, paths: Mapping[str, str]) -> GivenChunks | None:
    """What the ids of the runs stand for, where labels were brought onto chunks."""
    assert record.contract is not None
    if record.contract.overlap is None:
        return None
    if record.contract.chunk_ids is not None:
        return re.compile(record.contract.chunk_ids)
    own = {role.removeprefix("chunks:"): path for role, path in paths.items() if role.startswith("chunks:")}
    if "chunks" not in paths and not own:
        raise DataError("the chunks are not among the record's inputs")
    return paths.get("chunks", own)


def _losses_again(record: Record, paths: Mapping[str, str], rule: str | Path | None) -> Losses:
    """Where documents were lost, from the lists of all stages."""
    assert record.contract is not None
    (own,) = record.losses
    stages = {name: paths.get(f"stage:{name}") or paths.get(f"run:{name}") for name in own.stages}
    for name, path in stages.items():
        if path is None:
            raise DataError(f"the list of {name!r} was no file, so where documents were lost cannot be told again")
    return losses(
        paths["judgments"],
        stages,
        own.k,
        corpus=paths.get("corpus"),
        indexed=paths.get("indexed"),
        budget=own.budget,
        contract=replace(record.contract, collapse=None),
        rel=parse_measure(own.measure).get("rel"),
        collapse_chunks=rule,
    )


def _finding(what: Note, off: list[str]) -> Finding:
    if not off:
        return Finding(what, True, Note("verify.same"))
    places = {"places": off[:_SHOWN]}
    if len(off) <= _SHOWN:
        return Finding(what, False, Note("verify.different", places))
    return Finding(what, False, Note("verify.different_more", {**places, "more": len(off) - _SHOWN}))


def _unlike(kept: Any, now: Any, path: str = "") -> Iterator[str]:
    """Where two parts of records differ, numbers up to rounding."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in {**kept, **now}:
            place = f"{path}.{key}" if path else str(key)
            if key not in kept or key not in now:
                yield place
            else:
                yield from _unlike(kept[key], now[key], place)
    elif isinstance(kept, list | tuple) and isinstance(now, list | tuple):
        if len(kept) != len(now):
            yield path
        for i, (one, other) in enumerate(zip(kept, now, strict=False)):
            yield from _unlike(one, other, f"{path}[{i}]")
    elif isinstance(kept, int | float) and isinstance(now, int | float) and not isinstance(kept, bool):
        if not math.isclose(kept, now, rel_tol=_SAME, abs_tol=_SAME):
            yield path
    elif kept != now:
        yield path
