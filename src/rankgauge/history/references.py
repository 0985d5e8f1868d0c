"""A baseline by what people call it: a file, or a name in the history. Files need no database."""

from __future__ import annotations

import os

from rankgauge.errors import DataError
from rankgauge.experiments.baseline import Baseline, is_file_name, load_baseline

__all__ = ["find_baseline"]


def find_baseline(reference: str | os.PathLike[str], history: str | os.PathLike[str] | None = None) -> Baseline:
    """The baseline in a file, or the current one of a name."""
    if not isinstance(reference, str) or is_file_name(reference):
        return load_baseline(reference)
    from rankgauge.history.baselines import gate_baseline
    from rankgauge.history.store import History

    try:
        opened = History.open(history, create=False)
    except DataError as error:
        raise DataError(
            f"{error}; the baseline {reference!r} is looked for there: make it with "
            f"rankgauge baseline set {reference} RECORD.json, or give a file"
        ) from None
    with opened:
        return gate_baseline(opened, reference)
