"""The command line: a thin skin over the library. The only place that knows exit statuses."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import redirect_stderr, suppress
from typing import NoReturn, TextIO, cast

from rankgauge.cli.ending import end_without, threads
from rankgauge.cli.folder import NO_FOLDER, folder_is_there
from rankgauge.cli.interrupt import Interrupted, ReaderGone
from rankgauge.cli.streams import Masked
from rankgauge.errors import RankgaugeError
from rankgauge.visible import visible_message

__all__ = ["main"]

_DEBUG = "RANKGAUGE_DEBUG"
_LONGEST = 500
_PIPE = 141
"""As a shell tells that nobody read the output any more: 128 and SIGPIPE. 1 would be a verdict."""


def main() -> None:
    """Run a command. Whatever goes wrong ends with a message and status 2, never with a traceback: 1 is a verdict."""
    gc.set_threshold(1_000_000)  # importing makes much and no garbage: a tenth of the time of a short command
    _open_streams()
    before = threads()
    try:
        with redirect_stderr(cast(TextIO, Masked(sys.stderr))):
            _main()
    except SystemExit as stop:
        end_without(before, stop.code)
        raise
    end_without(before, 0)


def _main() -> None:
    try:
        from rankgauge.cli.app import app

        app(prog_name="rankgauge")
        sys.stdout.flush()
    except SystemExit:
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # the status stands, read or not
            _drop_output()
        raise
    except (KeyboardInterrupt, Interrupted) as stop:  # first, for it may come while the names below are imported
        _ignore_more()
        _complain(str(stop) or "interrupted")
        sys.exit(130)
    except RankgaugeError as error:
        from rankgauge.cli.flags import in_flags

        _fail(in_flags(str(error), sys.argv[1:]))
    except (BrokenPipeError, ReaderGone):
        _drop_output()
        sys.exit(_PIPE)
    except OSError as error:
        if error.filename is not None:
            place = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
            _fail(f"{place}: {error.strerror or error}")
        elif isinstance(error, FileNotFoundError) and not folder_is_there():  # removed since the start
            _fail(NO_FOLDER)
        else:  # standard output on a full disk, say
            _drop_output()
            _fail(f"the output cannot be written: {error.strerror or error}")
    except UnicodeEncodeError as error:
        _fail(_unwritable(error))
    except MemoryError:
        _fail("out of memory")
    except BaseException as error:  # a panic of a library in Rust is no Exception
        _fail(_unexpected(error))


def _fail(message: str) -> NoReturn:
    """End with status 2, told on standard error and, of a gate, in the files where its verdict was to be."""
    from rankgauge.cli.verdicts import tell_failure

    with suppress(OSError, MemoryError):  # the first error is the one to be told
        tell_failure(sys.argv[1:], message)
    _complain(message)
    sys.exit(2)


def _unexpected(error: BaseException) -> str:
    """A fault of this program, in one line; where it happened is shown to those who ask."""
    from rankgauge.formats.secrets import masked

    if os.environ.get(_DEBUG):
        import traceback

        traceback.print_exception(error)
    said = masked(" ".join(f"{type(error).__name__}: {error}".split()))[:_LONGEST]
    return f"unexpected error: {said} (this is a fault of rankgauge; {_DEBUG}=1 shows where it is)"


def _complain(message: str) -> None:
    as_json = getattr(sys.stderr, "complain", None)
    with suppress(OSError, ValueError):  # a log on a full disk, or closed, must not change the status
        if as_json is not None:
            as_json(visible_message(message))
        else:
            from rankgauge.cli.echo import in_lines

            print(in_lines(f"rankgauge: {visible_message(message)}", sys.stderr), file=sys.stderr, flush=True)


def _drop_output() -> None:
    """Let what is still to be written go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unwritable(error: UnicodeEncodeError) -> str:
    """Half of a surrogate pair, which JSON can hold as an escape; or a letter that the terminal's encoding lacks."""
    from rankgauge.words.visible import shortened

    letter = ascii(error.object[error.start])
    if error.encoding.lower() != "utf-8":
        return f"the output is to be {error.encoding}, which has no {letter}; set PYTHONIOENCODING=utf-8"
    whole = shortened(error.object, 100)
    return f"{whole!r} holds {letter}, half of a surrogate pair, which only JSON can hold; mend it in the input"


def _open_streams() -> None:
    """Where the shell has closed standard output or error, what goes there is dropped.

    At once, for the first file to be opened would take the number of the closed one, and what a library prints would
    stand in it.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _ignore_more() -> None:
    """A second Ctrl-C while the program ends anyway would only bring a traceback."""
    import signal
    import threading

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
