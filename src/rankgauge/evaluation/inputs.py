"""Judgments and runs from whatever the caller has, and what identifies the files among them later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankgauge.errors import FormatError
from rankgauge.formats import RunParts, Source, load_judgments, load_qrels, open_run
from rankgauge.model.frames import is_frame
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import InputFile

__all__ = ["hashed", "read_judgments", "read_run", "signatures"]

Signature = tuple[int, ...]


def read_judgments(source: Any) -> tuple[Qrels, TestSet | None]:
    """Judgments, and the test set they come from, with its texts and tags, where there is one."""
    if isinstance(source, str | os.PathLike):
        source = load_qrels(source) if Path(source).is_dir() else load_judgments(source)
    return (source.qrels, source) if isinstance(source, TestSet) else (Qrels(source), None)


def read_run(source: Any, name: str | None = None, *, stream: bool = False) -> Run | RunParts:
    """A run; a file is opened to be read part by part."""
    if isinstance(source, str | os.PathLike):
        return open_run(source, stream=stream)
    if not isinstance(source, Run | Mapping) and not is_frame(source) and hasattr(source, "parts"):
        parts: RunParts = source
        return parts
    return Run(source, name=name or "run")


def signatures(paths: Mapping[str, Any]) -> dict[str, Signature]:
    """What tells that a file was written to or replaced, of those of the inputs that are files, by their role."""
    return {role: _signature(path) for role, path in _files(paths).items()}


def hashed(paths: Mapping[str, Any], before: Mapping[str, Signature] | None = None) -> dict[str, InputFile]:
    """Those of the inputs that are files, by their role, with their hashes; what was hashed before stays.

    A file that is no longer the one whose signature was taken `before` it was read is an error: the hash would be of
    something else than what was scored.
    """
    found = {role: InputFile(str(path), Source(path).sha256()) for role, path in _files(paths).items()}
    for role, signature in (before or {}).items():
        if role in paths and (role not in found or _signature(paths[role]) != signature):
            raise FormatError(os.fspath(paths[role]), ["it was changed while it was read; start again"])
    return {role: path for role, path in paths.items() if isinstance(path, InputFile)} | found


def _files(paths: Mapping[str, Any]) -> dict[str, str | os.PathLike[str]]:
    return {role: path for role, path in paths.items() if isinstance(path, str | os.PathLike) and Path(path).is_file()}


def _signature(path: str | os.PathLike[str]) -> Signature:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
