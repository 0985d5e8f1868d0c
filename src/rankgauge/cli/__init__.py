"""The command line: a thin skin over the library. The only place that knows exit statuses."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run a command. Everything the user can mend ends with a message and status 2, never with a traceback."""
    from rankgauge.cli.app import app
    from rankgauge.errors import RankgaugeError

    try:
        app()
        sys.stdout.flush()
    except RankgaugeError as error:
        print(f"rankgauge: {error}", file=sys.stderr)
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
    except KeyboardInterrupt:
        print("rankgauge: interrupted", file=sys.stderr)
        sys.exit(130)
    except MemoryError:
        print("rankgauge: out of memory", file=sys.stderr)
        sys.exit(2)
