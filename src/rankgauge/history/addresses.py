"""Addresses of databases as people type them, told from paths."""

from __future__ import annotations

import re

__all__ = ["REMEDY", "looks_like_address"]

REMEDY = "give a file, sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
# What no path has: a database's name and then slashes or a colon, or a colon and an @ within one part.
_ADDRESS = re.compile(
    r"^\s*(?:\w+[+\w]*:/{2}|(?:postgres\w*|psql|sqlite|mysql|mariadb|mssql|oracle)(?:\+\w*)?(?::|\s*//))|:[^/\\]*@",
    re.IGNORECASE,
)


def looks_like_address(text: str) -> bool:
    """Whether a text is meant as the address of a database, be it well formed or not."""
    return _ADDRESS.search(text) is not None
