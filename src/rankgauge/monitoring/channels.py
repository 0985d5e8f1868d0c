"""Alert channels: where the alerts of a plan go. Their addresses never stand in a plan, a log or a message."""

from __future__ import annotations

import difflib
import logging
import os
import re
import sys
import threading
import warnings
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from rankgauge.extras import optional
from rankgauge.formats.secrets import scrub

__all__ = ["LIMIT", "Channel", "check_alerts", "scrub"]

LIMIT: Final = 10.0
"""Seconds that one delivery may take."""
_LONGEST_REASON: Final = 300
_NAME = r"\$\{(\w+)\}"
_REFERENCE = re.compile(_NAME)
# A scheme may be read by everybody; everything behind it has to come from the environment.
_REFERENCES_ONLY = re.compile(rf"(?:[A-Za-z][A-Za-z0-9+.-]*://)?{_NAME}(?:[/:@?]?{_NAME})*/?")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
_OPEN_SCHEMES: Final = ("http", "https", "json", "jsons", "xml", "xmls", "form", "forms")
_KNOWN: Final = ("name", "url")
_LOGGERS: Final = ("apprise", "requests", "urllib3.connectionpool", "urllib3.util.retry")
_HOW = 'put the address into an environment variable, such as OPS_URL, and write url = "${OPS_URL}"'


class Channel:
    """One place that alerts go to. It shows its name; what its address holds stays inside."""

    def __init__(self, name: str, address: str, secrets: tuple[str, ...] = (), *, limit: float = LIMIT) -> None:
        self.name, self.limit = name, limit
        self._address, self._secrets = address, secrets
        self._hanging: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"Channel({self.name!r})"

    def scrub(self, text: str) -> str:
        """The text without anything of this channel's address."""
        return scrub(text, self._secrets)

    def send(self, title: str, body: str, *, incident: int, event: str) -> str | None:
        """Deliver one message: None when it is delivered, else the reason why not, which holds no secret.

        The incident's id and the event stand at the end of the body, so that a receiver can tell a message which came
        twice; to a JSON receiver they are sent as the fields `incident` and `event` as well.
        """
        body = f"{body}\n\nrankgauge incident={incident} event={event}"
        if self._address == "console":
            return _print(title, body)
        if self._hanging is not None and self._hanging.is_alive():
            return "the last sending still hangs"  # one thread may hang on a dead server, but not one for each try
        reasons: list[str | None] = []
        worker = threading.Thread(
            target=lambda: reasons.append(self._attempt(title, body, incident, event)), daemon=True
        )
        worker.start()
        worker.join(self.limit)
        if not reasons:
            self._hanging = worker
            return f"no answer within {self.limit:g} s"
        return reasons[0]

    def _attempt(self, title: str, body: str, incident: int, event: str) -> str | None:
        with _captured() as said:
            try:
                if _deliver(self._address, title, body, incident, event):
                    return None
                reason = "; ".join(said) or "the service did not take it"
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
        # Scrubbed before it is cut: half a token would not be found.
        reason = " ".join(self.scrub(reason).split())
        return reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 3]}..."


def check_alerts(value: Any, environ: Mapping[str, str] | None = None) -> tuple[list[Channel], list[str]]:
    """The channels of a plan's `[[alert]]` tables, and all faults. No fault repeats an address.

    An address is `console`, or comes from the environment (`${NAME}`), or names this machine and holds no secret.
    """
    environ = os.environ if environ is None else environ
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return [], ["alert: write each channel as its own table, [[alert]]"]
    channels: list[Channel] = []
    faults: list[str] = []
    for number, entry in enumerate(value, start=1):
        name, found = _checked_name(entry, number, [channel.name for channel in channels])
        address, secrets, more = _checked_address(entry.get("url"), environ)
        place = f"alert {name or number}"
        faults += [f"{place}: {fault}" for fault in (*_unknown_keys(entry), *found, *more)]
        channels.append(Channel(name or str(number), address, secrets))
    return ([], faults) if faults else (channels, [])


def _unknown_keys(entry: Mapping[str, Any]) -> Iterator[str]:
    for key in entry:
        if key not in _KNOWN:
            close = difflib.get_close_matches(key, _KNOWN, n=1)
            yield f"{key!r} is unknown" + (f"; did you mean {close[0]}?" if close else "; known are: name, url")


def _checked_name(entry: Mapping[str, Any], number: int, taken: list[str]) -> tuple[str, list[str]]:
    name = entry.get("name", "console" if entry.get("url") == "console" else None)
    if name is None:
        return "", ['name is missing; write one such as name = "ops": it is shown instead of the address']
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 100:
        return "", ["name must be a short text on one line"]
    if "://" in name or "${" in name:  # not repeated: it may be an address in the wrong place
        return "", ["name is shown in logs and must be no address"]
    if name in taken:
        return f"{name} ({number})", [f"two channels are named {name!r}; give them different names"]
    return name, []


def _checked_address(url: Any, environ: Mapping[str, str]) -> tuple[str, tuple[str, ...], list[str]]:
    """The address with its variables filled in, its secrets, and what is wrong with it."""
    if url is None:
        return "", (), [f"url is missing; {_HOW}"]
    if not isinstance(url, str):
        return "", (), [f"url must be a text; {_HOW}"]
    if url == "console":
        return url, (), []
    if not _REFERENCES_ONLY.fullmatch(url):
        if _harmless(url):
            return url, (), _unusable(url, "the address")
        advice = "; it may stand here only if it is on this machine, without user, password and query"
        return "", (), [f"url is written out, and it may hold a secret: {_HOW}{advice if _local(url) else ''}"]
    names = list(dict.fromkeys(_REFERENCE.findall(url)))
    unset = [name for name in names if not environ.get(name, "").strip()]
    if unset:
        return "", (), [f"the environment variable {name} is not set; set it to the address" for name in unset]
    address = _REFERENCE.sub(lambda found: environ[found[1]].strip(), url)
    if address == "console":
        return address, (), []
    secrets = (address, *(environ[name].strip() for name in names))
    return address, secrets, _unusable(address, f"the address in {' and '.join(names)}")


def _local(url: str) -> bool:
    try:
        return _LOOPBACK.fullmatch(urlsplit(url).hostname or "") is not None
    except ValueError:
        return False


def _harmless(url: str) -> bool:
    """Whether an address may stand in a plan: on this machine, of a scheme where a host is a host, nothing secret."""
    if not _local(url) or "${" in url:
        return False
    parts = urlsplit(url)
    return parts.scheme in _OPEN_SCHEMES and not (parts.query or parts.fragment or "@" in parts.netloc)


def _unusable(address: str, what: str) -> list[str]:
    """Why nothing can be sent to an address, without showing it."""
    scheme = _SCHEME.match(address)
    known = "write an Apprise address (mailto://, slack://, json://, ...) or an https:// webhook"
    if scheme is None:
        return [f"{what} does not begin with a scheme; {known}"]
    name = scheme[1].lower()
    with _captured():
        _library()
        if name not in ("http", "https") and name not in _schemes():
            return [f"{what} begins with a scheme that Apprise does not know; {known}"]
        try:
            if _plugin(address) is not None:
                return []
        except Exception:  # what it says may repeat the address
            pass
    return [f"{what} begins with {name}:// but is incomplete or misspelt; compare it with Apprise's page on {name}://"]


def _print(title: str, body: str) -> str | None:
    """Onto standard error: standard output is for results, and alphabets a terminal lacks are escaped there."""
    try:
        print(f"{title}\n{body}\n", file=sys.stderr, flush=True)
    except (OSError, ValueError) as error:
        return f"the console cannot be written to: {error}"
    return None


# Apprise


@cache
def _library() -> Any:
    """Apprise with its plugins, which it loads when first asked."""
    library = optional("apprise", "an alert channel other than the console", "apprise", "guard")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what some plugins import is deprecated
        assert "json" in _schemes()
    return library


def _schemes() -> Any:
    """The schemes of addresses that Apprise knows."""
    return optional("apprise.manager_plugins", "an alert channel", "apprise", "guard").NotificationManager()


def _plugin(address: str) -> Any:
    """Apprise's object for an address, or None when it makes no sense of it."""
    library = _library()
    asset = library.AppriseAsset(app_id="rankgauge", app_desc="rankgauge", async_mode=False, storage_mode="memory")
    asset.http_redirects = False  # a redirected POST becomes a GET, which tells nobody anything
    asset._service_timeout = 0  # the limit is this module's: Apprise's would keep the program from ending
    made = library.Apprise.instantiate(address, asset=asset)
    if made is not None or not address.lower().startswith(("http://", "https://")):
        return made
    # Not the webhook of a service that Apprise knows by its URL: a JSON document is posted there.
    parts = urlsplit(address)
    if not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    query = f"?{parts.query}" if parts.query else ""
    schema = "jsons" if parts.scheme == "https" else "json"
    made = library.Apprise.instantiate({"schema": schema, "host": host, "port": parts.port}, asset=asset)
    if made is not None:
        made.fullpath = (parts.path or "/") + query  # as written: Apprise would take the query for its own settings
        if parts.username is not None:  # as UTF-8, which the library below would not do
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            made.headers["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
    return made


def _deliver(address: str, title: str, body: str, incident: int, event: str) -> bool:
    library = _library()
    with _captured():  # while it tries to understand an address it says things that are no reasons
        plugin = _plugin(address)
    if plugin is None:
        return False
    if plugin.schema in ("json", "jsons"):
        plugin.payload_extras.update(incident=incident, event=event)
    sender = library.Apprise(asset=plugin.asset)
    sender.add(plugin)
    kind = library.NotifyType.SUCCESS if event == "recovered" else library.NotifyType.WARNING
    return bool(sender.notify(title=title, body=body, notify_type=kind, body_format=library.NotifyFormat.TEXT))


class _Capture(logging.Filter):
    """Keeps what libraries log in the threads that deliver; what other threads log passes."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        said: list[str] | None = getattr(self.thread, "said", None)
        if said is None:
            return True
        if record.levelno >= logging.WARNING:
            said.append(record.getMessage())
        return False


_CAPTURE = _Capture()


@contextmanager
def _captured() -> Iterator[list[str]]:
    """What Apprise and the libraries under it say in this thread, which no log handler gets to see."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_CAPTURE)  # a second time changes nothing
    before = getattr(_CAPTURE.thread, "said", None)
    said: list[str] = []
    _CAPTURE.thread.said = said
    try:
        yield said
    finally:
        _CAPTURE.thread.said = before
