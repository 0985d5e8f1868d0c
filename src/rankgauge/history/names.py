"""Names of baselines and addresses of databases, as people type them. They need no database."""

from __future__ import annotations

import re

from rankgauge.errors import DataError

__all__ = ["REMEDY", "UnknownBaselineError", "check_name", "connection_string", "looks_like_address"]

REMEDY = "give a file, sqlite:///FILE, postgresql://USER:PASSWORD@HOST/DATABASE, or 'host=HOST dbname=DATABASE'"
# What no path has: a database's name and then slashes or a colon, or a colon and an @ within one part.
_ADDRESS = re.compile(
    r"^\s*(?:\w+[+\w]*:/{2}|(?:postgres\w*|psql|sqlite|mysql|mariadb|mssql|oracle)(?:\+\w*)?(?::|\s*//))|:[^/\\]*@",
    re.IGNORECASE,
)
# What libpq takes: host=db dbname='my history' password=...
_OPTION = re.compile(r"\s*(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|(?:[^\s'\\]|\\.)*)(?=\s|$)", re.DOTALL)
_OPENING = re.compile(
    r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|options|application_name|connect_timeout"
    r"|target_session_attrs|keepalives\w*|tcp_user_timeout|ssl\w+|gss\w+|channel_binding|require_auth)\s*=",
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
    return _ADDRESS.search(text) is not None or _OPENING.match(text) is not None


def connection_string(text: str) -> dict[str, str] | None:
    """The options of a libpq connection string such as `host=db dbname=history`; None for what is none."""
    if not _OPENING.match(text):
        return None
    options, end = {}, 0
    while found := _OPTION.match(text, end):
        value = found[2].removeprefix("'").removesuffix("'") if found[2].startswith("'") else found[2]
        options[found[1].lower()] = re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        end = found.end()
    return None if text[end:].strip() else options
