"""Answers of language models on disk: what was paid for once is not paid for again.

A journal holds them under what was asked: endpoint, model, parameters, messages, schema, and the number of the
sample. An answer that could not be used is kept with its fault, for people to read, and asked for again. A line is
handed to the operating system as soon as its answer is there, so `kill -9` costs no more than the calls under way.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rankgauge.errors import RetrieverError
from rankgauge.formats.private import make_folders
from rankgauge.retrievers.journal import Journal
from rankgauge.testsets.chat import ChatModel, Reply

__all__ = ["AnswerCache"]


class AnswerCache:
    """A file of answers, of any models. One process at a time may use it; threads may share it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            make_folders(Path(path).absolute().parent)
        except OSError as error:
            raise RetrieverError(f"answers cannot be kept in {os.fspath(path)!r}: {error.strerror}") from None
        self._journal = Journal(path, {"chat": 1})
        self.path = self._journal.path

    @staticmethod
    def key(model: ChatModel, messages: Any, schema: Any, sample: int) -> str:
        """What decides about an answer, as a hash."""
        asked = [model.configuration, [dict(one) for one in messages], schema, sample]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]

    def get(self, key: str) -> Reply | None:
        record = self._journal.get(key, None)
        try:
            return None if record is None else Reply(**record["reply"])
        except (KeyError, TypeError):  # of a later release: it is asked again
            return None

    def add(self, key: str, name: str, reply: Reply, error: str = "") -> None:
        """Keep an answer; one with an error is never given back."""
        record: Mapping[str, Any] = {"of": name, "reply": asdict(reply), **({"error": error} if error else {})}
        self._journal.add(key, None, record)

    def round(self, name: str) -> int:
        """The number of the round that something which is asked anew in each run is in. It is the same until a round
        was ended, so that a run that was killed goes on with the answers it had."""
        record = self._journal.get(f"round of {name}", None) or {}
        number = record.get("round", 0)
        return number if isinstance(number, int) else 0

    def end_round(self, name: str) -> None:
        self._journal.add(f"round of {name}", None, {"round": self.round(name) + 1})

    def sync(self) -> None:
        """Wait until what was added is on the disk."""
        self._journal.sync()

    def close(self) -> None:
        self._journal.close()

    def __len__(self) -> int:
        return len(self._journal)

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
