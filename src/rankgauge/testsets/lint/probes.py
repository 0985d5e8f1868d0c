"""Probes of judges from a file: what `rankgauge testset judge --probe N --json` printed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from rankgauge.errors import FormatError
from rankgauge.formats.json_values import read_json
from rankgauge.formats.sources import Source
from rankgauge.testsets.judge_probe import JudgeProbe

__all__ = ["read_probes"]


@dataclass(frozen=True)
class _Judge:
    """What is read of a judge."""

    probe: JudgeProbe | None = None


def read_probes(path: str | os.PathLike[str]) -> list[JudgeProbe]:
    """The probes of the judges that a result of judging tells of."""
    import msgspec

    source = Source(path)
    value = read_json(source)
    if not isinstance(value, Mapping) or value.get("format") != "rankgauge.judging":
        raise FormatError(source.name, ["this is no result of judging, as `testset judge --probe N --json` prints it"])
    try:
        judges = msgspec.convert(value.get("judges"), list[_Judge])
    except msgspec.ValidationError as error:
        raise FormatError(source.name, [f"judges: {error}"]) from None
    found = [one.probe for one in judges if one.probe is not None]
    if not found:
        raise FormatError(source.name, ["no judge was probed: judge with --probe N"])
    return found
