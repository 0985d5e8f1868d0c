"""Standard output and error while the code of others runs in this process: it may close them, wrap or replace them as
if they were its own, and what it writes there may hold secrets."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

__all__ = ["Masked", "systems_apart"]


class Masked:
    """Standard error without secrets, whoever writes there: a message of ours, a system's log, a traceback. It stays
    open whoever closes it, and so does what lies below it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.buffer = _Bytes(self.write, stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        from rankgauge.formats.secrets import masked  # not needed by a command that says nothing

        self._stream.write(masked(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        self._stream.flush()

    def detach(self) -> io.BufferedIOBase:
        return self.buffer

    def __enter__(self) -> Masked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Bytes(io.BufferedIOBase):
    """What programs that write bytes, or wrap them in another encoding, take for the stream itself."""

    def __init__(self, write: Callable[[str], int], stream: TextIO) -> None:
        self._write, self._stream = write, stream
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._write(self._decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        """Another wrapper may still use it."""
        self.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()


@contextmanager
def systems_apart() -> Iterator[Callable[[], None]]:
    """Let what the systems of a plan print go to standard error, for it must not stand among the results. Gives what
    puts the streams back where a system has put others into their places. Nor may a system end the program: status 0
    would say that all is well."""
    out, err = sys.stdout, sys.stderr

    def restore() -> None:
        sys.stdout = sys.stderr = err

    try:
        restore()
        yield restore
    except SystemExit as stop:
        from rankgauge.errors import RetrieverError
        from rankgauge.retrievers.own_code import told

        raise RetrieverError(f"the code of a system ended the program: {told(stop)}") from None
    finally:
        sys.stdout, sys.stderr = out, err
