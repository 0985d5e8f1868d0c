"""Where the history is: a file of SQLite, or a PostgreSQL server."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError
from rankgauge.formats.secrets import masked_address, register_secret
from rankgauge.formats.spellings import scrub
from rankgauge.history.names import REMEDY, connection_string, looks_like_address
from rankgauge.history.sql import sa

__all__ = ["DEFAULT", "VARIABLE", "Location", "file_identity", "resolve"]

VARIABLE = "RANKGAUGE_HISTORY"
DEFAULT = ".rankgauge/history.db"
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")
_SECRET = ("password", "sslpassword")


@dataclass(frozen=True)
class Location:
    """A database's address. Its text never shows a password."""

    url: sa.URL
    path: Path | None
    """The file, if it is one."""
    default: bool = False
    """Whether nobody chose it: then its folder is made as well."""
    name: str | None = None
    """How messages name it; None: by its path or address."""

    def anchored(self) -> Location:
        """The same place, whatever the working folder will be; messages name it as before."""
        if self.path is None or self.path.is_absolute() or str(self.path).startswith("file:"):
            return self
        path = self.path.absolute()
        return replace(self, url=self.url.set(database=str(path)), path=path, name=str(self.path))

    @property
    def sqlite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @property
    def memory(self) -> bool:
        return self.sqlite and self.path is None

    def __str__(self) -> str:
        if self.path is not None:
            return masked_address(self.name or str(self.path))
        if self.memory:
            return "the history in memory"
        # A password may stand among the options too; of them only where the server is is told.
        where = {key: value for key, value in self.url.query.items() if key in ("host", "port", "service")}
        return self.url.set(drivername="postgresql", query=where).render_as_string(hide_password=True)

    def __repr__(self) -> str:
        return f"Location({str(self)!r})"

    def scrubbed(self, text: str) -> str:
        """A driver's message without the password, should it hold it."""
        return scrub(text, self.secrets)

    @property
    def secrets(self) -> list[str]:
        known = (self.url.password, *(self.url.query.get(name) for name in _SECRET))
        return [str(secret) for secret in known if secret]


def resolve(text: str | os.PathLike[str] | None = None) -> Location:
    """The place asked for, else the one the environment names, else `.rankgauge/history.db` under this folder."""
    given = (os.fspath(text) if text else os.environ.get(VARIABLE, "")).strip()
    if not given:
        return _file(Path(DEFAULT), default=True)
    try:
        given.encode()
    except UnicodeEncodeError:
        raise DataError(f"{masked_address(given)!r} holds bytes that are no text in UTF-8; name another file") from None
    scheme = _SCHEME.match(given)
    options = None if scheme else connection_string(given)
    if options and not Path(given).exists():
        return _server(options, given)
    if scheme is None:
        if looks_like_address(given) and not Path(given).exists():
            raise DataError(f"{masked_address(given)}: this looks like an address of a database, but is none; {REMEDY}")
        return _file(Path(given))
    try:
        url = sa.make_url(given)
    except (sa.exc.ArgumentError, ValueError):  # its message may repeat the address
        raise DataError(f"{masked_address(given)} is no address of a database; {REMEDY}") from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        if url.database in (None, "", ":memory:"):
            return Location(url, None)
        return Location(url, Path(str(url.database)))
    if backend in ("postgresql", "postgres"):
        if not url.database:
            raise DataError(f"{masked_address(given)} names no database; {REMEDY}")
        return _known(Location(url.set(drivername="postgresql+psycopg"), None))
    raise DataError(f"{masked_address(given)}: a history cannot be kept in {backend!r}; {REMEDY}")


def _server(options: Mapping[str, str], given: str) -> Location:
    """The server that a libpq connection string names."""
    rest = {key: value for key, value in options.items() if key not in ("user", "password", "dbname")}
    user, password, database = (options.get(key) or None for key in ("user", "password", "dbname"))
    if not database and "service" not in rest:
        raise DataError(f"{masked_address(given)} names no database: add dbname=; {REMEDY}")
    host, port = rest.get("host", ""), rest.get("port", "")
    if host and "," not in host and not host.startswith("/") and (not port or port.isdecimal()):
        del rest["host"]
        rest.pop("port", None)
        place: dict[str, Any] = {"host": host, "port": int(port) if port else None}
    else:  # several servers, or a socket
        place = {}
    url = sa.URL.create("postgresql+psycopg", user, password, database=database, query=rest, **place)
    return _known(Location(url, None))


def _known(location: Location) -> Location:
    """The location, whose passwords no message shows from now on."""
    for secret in location.secrets:
        register_secret(secret)
    return location


def _file(path: Path, *, default: bool = False) -> Location:
    if str(path) == ":memory:":
        return Location(sa.make_url("sqlite://"), None)
    return Location(sa.URL.create("sqlite", database=str(path)), path, default)


def file_identity(path: Path | None) -> tuple[int, int] | None:
    """What a file is, whatever its name: its device and number there. None where there is none."""
    try:
        status = None if path is None else os.stat(path)
    except OSError:
        return None
    return None if status is None else (status.st_dev, status.st_ino)
