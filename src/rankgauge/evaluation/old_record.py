"""The record: the one versioned JSON document that every evaluation ends as, and all reports are made from."""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.errors import FormatError
from rankgauge.evaluation.notes import notes_of
from rankgauge.measures.explanations import sentence, targets_for
from rankgauge.model.ranked import Floats
from rankgauge.model.testset import TestSet
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.words import LANGUAGES

if TYPE_CHECKING:
    from rankgauge.comparison.comparison import Comparison
    from rankgauge.comparison.rows import Scored
    from rankgauge.evaluation.evaluation import Evaluation
    from rankgauge.model.judgments import Qrels

__all__ = ["FORMAT", "VERSION", "check_record", "load_record", "record_of", "scores_record", "tags_of"]

FORMAT = "rankgauge.record"
_KINDS = ("evaluation", "comparison")
_PARTS: dict[str, type | tuple[type, ...]] = {
    "contract": (dict, type(None)),
    "measures": list,
    "queries": list,
    "systems": list,
    "provenance": dict,
}
VERSION = 1


def record_of(
    evaluations: Sequence[Evaluation],
    *,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    per_query: bool = True,
    provenance: bool = True,
    test_set: TestSet | Qrels | None = None,
) -> dict[str, Any]:
    """The record of one or several systems scored with the same judgments and measures.

    `inputs` describes the files: {"judgments": {"path", "sha256"}, "run:NAME": {...}}. A record that is only shown, not
    kept, can do without the scores of each query, and without the commit, which takes a process to find. A `test_set`
    gives the tags of its queries.
    """
    first = evaluations[0]
    tags = {q.id: list(q.tags) for q in test_set if q.tags} if isinstance(test_set, TestSet) else {}
    return {
        **_head("evaluation"),
        "contract": {"preset": first.preset, **first.contract.to_dict()},
        "measures": [
            {
                "name": str(measure),
                "aggregate": measure.definition.aggregate,
                "formula": measure.definition.formula,
                "targets": targets_for(measure),
                "lower_is_better": measure.definition.lower_is_better,
                "bounds": measure.bounds and list(measure.bounds),
            }
            for measure in first.measures
        ],
        "queries": list(first.table.queries) if per_query else [],
        "systems": [_system(evaluation, per_query) for evaluation in evaluations],
        "provenance": _provenance(inputs, provenance),
        **({"tags": tags} if tags else {}),
    }


def tags_of(record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Query ids by tag; empty where the test set had no tags."""
    known = record.get("tags") or (record.get("comparison") or {}).get("tags") or {}
    by_tag: dict[str, list[str]] = {}
    for query, tags in known.items():
        for tag in tags:
            by_tag.setdefault(tag, []).append(query)
    return by_tag


def _head(kind: str) -> dict[str, Any]:
    from rankgauge import __version__

    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "rankgauge": __version__,
    }


def _provenance(inputs: Mapping[str, Mapping[str, Any]] | None, whole: bool) -> dict[str, Any]:
    return {
        "inputs": {name: dict(value) for name, value in (inputs or {}).items()},
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": sys.platform,
        "git": _git_commit() if whole else None,
    }


def scores_record(
    comparison: Comparison, *, inputs: Mapping[str, Mapping[str, Any]] | None = None, provenance: bool = True
) -> dict[str, Any]:
    """The record of scores from elsewhere: there is no contract, and nothing is known of judgments."""
    order = byte_order(comparison.queries)
    return {
        **_head("comparison"),
        "contract": None,
        "measures": [
            {
                "name": measure.name,
                "aggregate": measure.aggregate,
                "formula": "",
                "targets": {},
                "lower_is_better": measure.lower_is_better,
                "bounds": measure.bounds and list(measure.bounds),
            }
            for measure in comparison.measures
        ],
        "queries": list(comparison.queries),
        "systems": [
            {
                "name": system.name,
                "means": {
                    measure.name: _mean(system.values[order, j][system.counted[order, j]], measure)
                    for j, measure in enumerate(comparison.measures)
                },
                "per_query": {m.name: system.values[:, j].tolist() for j, m in enumerate(comparison.measures)},
                "counted": {
                    measure.name: system.counted[:, j].tolist()
                    for j, measure in enumerate(comparison.measures)
                    if not system.counted[:, j].all()
                },
                "coverage": None,
                "notes": {language: [] for language in LANGUAGES},
            }
            for system in comparison.systems.values()
        ],
        "provenance": _provenance(inputs, provenance),
    }


def _mean(values: Floats, measure: Scored) -> dict[str, Any]:
    value, interval = aggregate(measure.aggregate, values), mean_interval(values, bounds=measure.bounds)
    sentence = {"en": f"on average {value:.3f} over the queries", "zh": f"各查询平均为 {value:.3f}"}
    return {"value": value, "interval": _bounds(interval), "queries": len(values), "sentence": sentence}


def _system(evaluation: Evaluation, per_query: bool) -> dict[str, Any]:
    table, coverage = evaluation.table, evaluation.coverage
    counted = table.counted
    return {
        "name": evaluation.name,
        "means": {
            str(measure): {
                "value": evaluation.mean[measure],
                "interval": _bounds(evaluation.interval[measure]),
                "queries": int(counted[:, j].sum()),
                "sentence": {language: sentence(measure, evaluation.mean[measure], language) for language in LANGUAGES},
            }
            for j, measure in enumerate(evaluation.measures)
        },
        "per_query": {name: table.values[:, j].tolist() for j, name in enumerate(table.measures) if per_query},
        "counted": {
            name: counted[:, j].tolist()
            for j, name in enumerate(table.measures)
            if per_query and not counted[:, j].all()
        },
        "coverage": {
            "judged_queries": coverage.judged_queries,
            "run_queries": coverage.run_queries,
            "missing": coverage.missing,
            "no_relevant": coverage.no_relevant,
            "not_judged": coverage.not_judged,
            "tied_documents": coverage.tied_documents,
            "tied_queries": coverage.tied_queries,
            "judged_at": {str(k): share for k, share in coverage.judged_at.items()},
            "only_relevant": coverage.only_relevant,
            "id_mismatch": coverage.id_mismatch,
        },
        "notes": {
            language: [
                {"level": note.level, "key": note.key, "text": note.text} for note in notes_of(evaluation, language)
            ]
            for language in LANGUAGES
        },
    }


def _bounds(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {"low": interval.low, "high": interval.high, "level": interval.level, "method": interval.method}


def _git_commit() -> str | None:
    """The commit of the working folder, if it is under git."""
    if not any((folder / ".git").exists() for folder in (Path.cwd(), *Path.cwd().parents)):
        return None
    import subprocess

    try:
        done = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def load_record(path: str) -> dict[str, Any]:
    """A record from a file."""
    from rankgauge.formats.json_values import read_json
    from rankgauge.formats.sources import Source

    source = Source(path)
    return check_record(read_json(source), source.name)


def check_record(value: Any, name: str) -> dict[str, Any]:
    """A record of a version this release reads, or a `FormatError`. Where it does not say how a measure's queries are
    put together, or whether less is better, the usual is assumed, and the measure's entry names it under `assumed`."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FormatError(name, ["this is no rankgauge record"])
    version = value.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise FormatError(
            name, [f"record version {version!r} is not known to this release (up to {VERSION}); update rankgauge"]
        )
    faults = [
        f"{key!r} is missing or not what it should be: the record is damaged"
        for key, kind in _PARTS.items()
        if not isinstance(value.get(key), kind)
    ]
    if value.get("kind") not in _KINDS:
        faults.append(f"its kind {value.get('kind')!r} is not one of {', '.join(_KINDS)}")
    if not faults:
        wanted = {"name": str, "means": dict, "per_query": dict, "counted": dict, "notes": dict}
        for number, system in enumerate(value["systems"], start=1):
            whole = isinstance(system, dict) and all(isinstance(system.get(k), kind) for k, kind in wanted.items())
            if not whole:
                faults.append(f"system {number} is incomplete: the record is damaged")
        if value["kind"] == "comparison" and not isinstance(value.get("comparison"), dict):
            faults.append("'comparison' is missing: the record is damaged")
        faults += [
            fault for number, about in enumerate(value["measures"], 1) for fault in _measure_faults(number, about)
        ]
    if faults:
        raise FormatError(name, faults)
    return {**value, "measures": [_completed(about) for about in value["measures"]]}


_STATED: dict[str, type] = {"aggregate": str, "lower_is_better": bool}
_USUAL: dict[str, Any] = {"aggregate": "mean", "lower_is_better": False, "formula": "", "targets": {}}


def _measure_faults(number: int, about: Any) -> Iterator[str]:
    if not isinstance(about, dict) or not isinstance(about.get("name"), str):
        yield f"measure {number} has no name: the record is damaged"
        return
    for key, kind in _STATED.items():
        if key in about and not isinstance(about[key], kind):
            yield f"measure {about['name']!r}: {key!r} is {about[key]!r}: the record is damaged"
    bounds = about.get("bounds")
    numbers = isinstance(bounds, list) and all(isinstance(end, int | float) for end in bounds)
    if bounds is not None and not (numbers and len(bounds) == 2 and bounds[0] < bounds[1]):
        yield f"measure {about['name']!r}: its bounds are {bounds!r}: the record is damaged"


def _completed(about: dict[str, Any]) -> dict[str, Any]:
    assumed = [key for key in _STATED if key not in about]
    return {**_USUAL, **about, **({"assumed": assumed} if assumed else {})}
