"""--log-format json: all that goes to standard error as JSON objects, one on each line."""

from __future__ import annotations

import sys
from typing import Any, TextIO, cast

from rankgauge.monitoring.loop.log import json_line

__all__ = ["JsonLog", "log_as_json"]


class JsonLog:
    """Standard error, on which what others write (a system that prints, an alert on the console, a warning) becomes
    objects too."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def put(self, line: str) -> None:
        """A line that is an object already."""
        self._stream.write(f"{line}\n")
        self._stream.flush()

    def complain(self, message: str) -> None:
        """What ends the command."""
        self.flush()
        self.put(json_line("error", "error", message))

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if line.strip():
                self.put(json_line("info", "output", line))
        return len(text)

    def flush(self) -> None:
        begun, self._begun = self._begun, ""
        if begun.strip():
            self.put(json_line("info", "output", begun))
        self._stream.flush()


def log_as_json() -> JsonLog:
    """Standard error as such a log, until the command ends, with what is said of its end."""
    log = JsonLog(sys.stderr)
    sys.stderr = cast(TextIO, log)
    return log
