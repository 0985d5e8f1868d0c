"""Names of baselines. They need no database."""

from __future__ import annotations

import re

from rankgauge.errors import DataError

__all__ = ["UnknownBaselineError", "check_name"]

_NAME = re.compile(r"\w[\w@+:-]{0,99}")


class UnknownBaselineError(DataError):
    """There is no baseline of that name, or no such file, yet."""


def check_name(name: str) -> None:
    """Raise `DataError` for what is no name of a baseline."""
    if not _NAME.fullmatch(name):
        raise DataError(
            f"{name!r} is no name for a baseline: letters, digits and - _ @ + : name one, without the dots and slashes "
            "that would make it look like a file"
        )
