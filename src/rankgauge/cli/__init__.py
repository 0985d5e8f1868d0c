"""The command line: a thin skin over the library. The only place that knows exit statuses."""

from __future__ import annotations

import gc
import os
import sys

from rankgauge.cli.interrupt import Interrupted
from rankgauge.errors import RankgaugeError

__all__ = ["main"]

_DEBUG = "RANKGAUGE_DEBUG"
_LONGEST = 500


def main() -> None:
    """Run a command. Whatever goes wrong ends with a message and status 2, never with a traceback: 1 is a verdict."""
    gc.set_threshold(10_000)  # importing makes much and no garbage: a tenth of the time of a short command
    try:
        _open_streams()
        from rankgauge.cli.app import app

        app(prog_name="rankgauge")
        sys.stdout.flush()
    except SystemExit:
        raise
    except (KeyboardInterrupt, Interrupted) as stop:  # first, for it may come while the names below are imported
        _ignore_more()
        print(f"rankgauge: {stop if str(stop) else 'interrupted'}", file=sys.stderr)
        sys.exit(130)
    except RankgaugeError as error:
        from rankgauge.cli.flags import in_flags

        print(f"rankgauge: {in_flags(str(error), sys.argv[1:])}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.filename is None:  # standard output on a full disk, say
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            place = "the output cannot be written"
        else:
            place = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        print(f"rankgauge: {place}: {error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("rankgauge: out of memory", file=sys.stderr)
        sys.exit(2)
    except BaseException as error:  # a panic of a library in Rust is no Exception
        _unexpected(error)
        sys.exit(2)


def _unexpected(error: BaseException) -> None:
    """A fault of this program, in one line; where it happened is shown to those who ask."""
    from rankgauge.formats.secrets import masked
    from rankgauge.words.visible import visible

    if os.environ.get(_DEBUG):
        import traceback

        print(masked("".join(traceback.format_exception(error))), file=sys.stderr)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    hint = f"this is a fault of rankgauge; {_DEBUG}=1 shows where it is"
    print(f"rankgauge: unexpected error: {visible(masked(said))[:_LONGEST]} ({hint})", file=sys.stderr)


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
