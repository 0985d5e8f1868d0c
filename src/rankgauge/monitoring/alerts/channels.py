"""Alert channels: where the alerts of a plan go. Their addresses never stand in a plan, a log or a message."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from rankgauge.arguments import named_arguments
from rankgauge.formats.secrets import masked, register_secret
from rankgauge.formats.settings import unknown_key
from rankgauge.formats.spellings import scrub
from rankgauge.registry import Registry

__all__ = ["CHANNELS", "CONSOLE", "LIMIT", "Channel", "Sender", "check_alerts"]

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
_HOW = 'put the address into an environment variable, such as OPS_URL, and write url = "${OPS_URL}"'


class Sender(Protocol):
    """How messages get to the addresses of one scheme."""

    def fault(self, address: str) -> str | None:
        """What is wrong with an address, to stand behind "the address in NAME", without showing it."""

    def send(self, address: str, title: str, body: str, *, incident: int, event: str) -> str | None:
        """Deliver one message: None when it is delivered, else the reason why not. It may raise, and may take long."""


class _Console:
    def fault(self, address: str) -> None:
        return None

    def send(self, address: str, title: str, body: str, *, incident: int, event: str) -> str | None:
        """Onto standard error: standard output is for results, and alphabets a terminal lacks are escaped there."""
        try:
            print(f"{title}\n{body}\n", file=sys.stderr, flush=True)
        except (OSError, ValueError) as error:
            return f"the console cannot be written to: {error}"
        return None


CONSOLE = _Console()
_APPRISE = "rankgauge.monitoring.alerts.apprise_sender:APPRISE"
CHANNELS: Registry[Sender] = Registry(
    "alert channel",
    "rankgauge.channels",
    {
        "console": "rankgauge.monitoring.alerts.channels:CONSOLE",
        "http": _APPRISE,
        "https": _APPRISE,
        "mailto": _APPRISE,
        "mailtos": _APPRISE,
        "apprise": _APPRISE,
    },
)
"""By the scheme of an address: the console, webhooks, e-mail. Schemes that nobody registered are Apprise's."""


def _sender(address: str) -> Sender:
    """What sends to an address."""
    scheme = _SCHEME.match(address)
    name = "console" if address == "console" else "apprise" if scheme is None else scheme[1].lower()
    return CHANNELS[name if name in CHANNELS else "apprise"]


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
        title, body = masked(title), f"{masked(body)}\n\nrankgauge incident={incident} event={event}"
        if self._address == "console":
            return _sender(self._address).send(self._address, title, body, incident=incident, event=event)
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
        try:
            reason = _sender(self._address).send(self._address, title, body, incident=incident, event=event)
        except Exception as error:  # whatever the library, or another package's channel, does
            reason = f"{type(error).__name__}: {error}"
        if reason is None:
            return None
        # Scrubbed before it is cut: half a token would not be found.
        reason = " ".join(masked(self.scrub(reason)).split())
        return reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 3]}..."


@named_arguments
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
        faults += [unknown_key(place, key, _KNOWN) for key in entry if key not in _KNOWN]
        faults += [f"{place}: {fault}" for fault in (*found, *more)]
        channels.append(Channel(name or str(number), address, secrets))
    return ([], faults) if faults else (channels, [])


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
            return url, (), _faults(url, "the address")
        advice = "; it may stand here only if it is on this machine, without user, password and query"
        return "", (), [f"url is written out, and it may hold a secret: {_HOW}{advice if _local(url) else ''}"]
    names = list(dict.fromkeys(_REFERENCE.findall(url)))
    unset = [name for name in names if not environ.get(name, "").strip()]
    if unset:
        return "", (), [f"the environment variable {name} is not set; set it to the address" for name in unset]
    address = _REFERENCE.sub(lambda found: environ[found[1]].strip(), url)
    for secret in (address, *(environ[name] for name in names)):
        register_secret(secret)
    if address == "console":
        return address, (), []
    secrets = (address, *(environ[name].strip() for name in names))
    return address, secrets, _faults(address, f"the address in {' and '.join(names)}")


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


def _faults(address: str, what: str) -> list[str]:
    fault = _sender(address).fault(address)
    return [] if fault is None else [f"{what} {fault}"]
