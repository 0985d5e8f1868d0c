"""Result files of MTEB: what it measured of a model on a task, under this project's names of measures."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import FormatError
from rankgauge.formats.limits import RECORDS
from rankgauge.formats.sources import Source

__all__ = ["MtebScores", "load_mteb_results"]

_META = "model_meta.json"
_VERSION = "mteb_version"
"""A key that result files have and others have not."""
_DEFAULT = "default"
_KEY = re.compile(r"(ndcg|map|mrr|recall|precision|hit_rate)_at_(\d+)")
_MEASURES = {"ndcg": "nDCG", "map": "AP", "mrr": "RR", "recall": "R", "precision": "P", "hit_rate": "Success"}
_ASIDE = ("evaluation_time", "hf_subset", "languages")


@dataclass(frozen=True)
class MtebScores:
    """What one result file says of one split and subset."""

    task: str
    split: str
    subset: str
    model: str = ""
    revision: str = ""
    """Of the data."""
    version: str = ""
    """Of MTEB."""
    main: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    """All figures, as MTEB names them."""

    @property
    def figures(self) -> dict[str, float]:
        """Those that this project measures too, under its names: `ndcg_at_10` is nDCG@10."""
        found = ((_KEY.fullmatch(key), value) for key, value in self.scores.items())
        return {f"{_MEASURES[key[1]]}@{key[2]}": value for key, value in found if key is not None}

    @property
    def label(self) -> str:
        """The model, or MTEB where the file does not tell it; with the subset where there are several."""
        name = self.model or "MTEB"
        return name if self.subset == _DEFAULT else f"{name} ({self.subset})"


@named_arguments
def load_mteb_results(path: str | os.PathLike[str]) -> list[MtebScores]:
    """The results of a file, or of all result files in a folder, such as `results/` with a folder for each model."""
    place = Path(as_path("path", path))
    if not place.is_dir():
        return _read(place)
    named = [file for file in sorted(place.rglob("*.json")) if file.name != _META and file.is_file()]
    files = [file for file in named if _is_result(_json(file))]
    found = [one for file in files for one in _read(file)]
    if not found:
        raise FormatError(os.fspath(place), ["it holds no result file of MTEB, such as SciFact.json"])
    return found


def _is_result(value: Any) -> bool:
    return isinstance(value, Mapping) and _VERSION in value


def _read(path: Path) -> list[MtebScores]:
    value = _json(path)
    if not _is_result(value):
        raise FormatError(os.fspath(path), ['this is no result file of MTEB: it has no "mteb_version"'])
    task = str(value.get("task_name") or value.get("mteb_dataset_name") or path.stem)
    about = {
        "model": _model(path),
        "revision": str(value.get("dataset_revision") or ""),
        "version": str(value[_VERSION] or ""),
    }
    found = [
        MtebScores(task, split, subset, main=scores.get("main_score"), scores=scores, **about)
        for split, subset, scores in (_entries(value) if "scores" in value else _old_entries(value))
    ]
    if not found:
        raise FormatError(os.fspath(path), ["it holds no scores"])
    return found


def _json(path: Path) -> Any:
    """The value of a file. MTEB writes NaN for figures that are not defined, which JSON does not know."""
    try:
        return json.loads(Source(path).text(RECORDS))
    except (ValueError, RecursionError) as error:
        raise FormatError(os.fspath(path), [f"this is no JSON: {error}"]) from None


def _entries(value: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, float]]]:
    """{"scores": {split: [{"hf_subset": ..., "ndcg_at_10": ...}]}}"""
    splits = value["scores"]
    for split, entries in splits.items() if isinstance(splits, Mapping) else ():
        for entry in entries if isinstance(entries, list) else ():
            if not isinstance(entry, Mapping):
                continue
            yield str(split), str(entry.get("hf_subset") or _DEFAULT), _numbers(entry)


def _old_entries(value: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, float]]]:
    """{"test": {"ndcg_at_10": ...}}, or {"test": {"en": {...}}}, as MTEB wrote before 1.11"""
    for split, entry in value.items():
        if isinstance(entry, Mapping):
            inner = {key: part for key, part in entry.items() if isinstance(part, Mapping)}
            for subset, scores in (inner or {_DEFAULT: entry}).items():
                yield str(split), str(subset), _numbers(scores)


def _numbers(entry: Mapping[str, Any]) -> dict[str, float]:
    return {str(key): float(value) for key, value in entry.items() if key not in _ASIDE and _is_figure(value)}


def _is_figure(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _model(path: Path) -> str:
    """What model_meta.json beside the file says, or the folder results/MODEL/REVISION/ that it is in."""
    meta = path.parent / _META
    if meta.is_file():
        value = _json(meta)
        if isinstance(value, Mapping) and isinstance(value.get("name"), str):
            return str(value["name"])
    parts = path.resolve().parent.parts
    named = [part for part in parts if "__" in part.strip("_")]
    return named[-1].replace("__", "/", 1) if named else ""
