"""Webhooks, e-mail and the services of Apprise, which reads their addresses and sends to them."""

from __future__ import annotations

import logging
import re
import threading
import warnings
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from rankgauge.extras import optional

__all__ = ["APPRISE"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LOGGERS: Final = ("apprise", "requests", "urllib3.connectionpool", "urllib3.util.retry")
_KNOWN = "write an Apprise address (mailto://, slack://, json://, ...) or an https:// webhook"


class _Apprise:
    def fault(self, address: str) -> str | None:
        scheme = _SCHEME.match(address)
        if scheme is None:
            return f"does not begin with a scheme; {_KNOWN}"
        name = scheme[1].lower()
        with _captured():
            _library()
            if name not in ("http", "https") and name not in _schemes():
                return f"begins with a scheme that Apprise does not know; {_KNOWN}"
            try:
                if _plugin(address) is not None:
                    return None
            except Exception:  # what it says may repeat the address
                pass
        return f"begins with {name}:// but is incomplete or misspelt; compare it with Apprise's page on {name}://"

    def send(self, address: str, title: str, body: str, *, incident: int, event: str) -> str | None:
        with _captured() as said:
            library = _library()
            with _captured():  # while it tries to understand an address it says things that are no reasons
                plugin = _plugin(address)
            if plugin is not None and _notify(library, plugin, title, body, incident, event):
                return None
        return "; ".join(said) or "the service did not take it"


APPRISE = _Apprise()


def _notify(library: Any, plugin: Any, title: str, body: str, incident: int, event: str) -> bool:
    if plugin.schema in ("json", "jsons"):
        plugin.payload_extras.update(incident=incident, event=event)
    sender = library.Apprise(asset=plugin.asset)
    sender.add(plugin)
    good = event in ("recovered", "healthy")
    kind = library.NotifyType.SUCCESS if good else library.NotifyType.WARNING
    return bool(sender.notify(title=title, body=body, notify_type=kind, body_format=library.NotifyFormat.TEXT))


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
