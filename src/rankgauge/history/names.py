"""Names of baselines and addresses of databases, as people type them. They need no database."""

from __future__ import annotations

import re

from rankgauge.errors import DataError

__all__ = ["REMEDY", "UnknownBaselineError", "check_name", "looks_like_address"]

REMEDY = "give a file, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
# What no path has: a database's name and then slashes or a colon, or a colon and an @ within one part.
_ADDRESS = re.compile(
    r"^\s*(?:\w+[+\w]*:/{2}|(?:postgres\w*|psql|sqlite|mysql|mariadb|mssql|oracle)(?:\+\w*)?(?::|\s*//))|:[^/\\]*@",
    re.IGNORECASE,
)
_NAME = re.compile(r"\w[\w@+:-]{0,99}")


class UnknownBaselineError(DataError):
    """There is no baseline of that name, or no such file, yet."""


def check_name(name: str) -> None:
    """Raise `DataError` for what is no name of a baseline."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DataError(
            f"{name!r} is no name for a baseline: letters, digits and - _ @ + : name one, without the dots and slashes "
            "that would make it look like a file"
        )


def looks_like_address(text: str) -> bool:
    """Whether a text is meant as the address of a database, be it well formed or not."""
    return _ADDRESS.search(text) is not None
