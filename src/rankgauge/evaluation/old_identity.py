"""What a record's scores are scores of: the hashes that tell whether two records measure the same quantity."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Identity", "canonical", "identity_of", "uid_of"]


@dataclass(frozen=True)
class Identity:
    """The test set, the documents and the contract of a record, each as a hash, or `None` where nothing is known."""

    test_set: str | None
    corpus: str | None
    contract: str | None


def canonical(value: Any) -> bytes:
    """The one way to write a JSON value: keys in order, no spaces, UTF-8. What is equal is the same bytes.

    Numbers are written so that they read back as the very same; NaN, which JSON lacks, is a `ValueError`.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # A lone surrogate, which JSON can hold as an escape, has no UTF-8.
    return text.encode("utf-8", errors="surrogatepass")


def uid_of(record: Mapping[str, Any]) -> str:
    """The name a record has by its content: SHA-256 of its canonical JSON."""
    return hashlib.sha256(canonical(record)).hexdigest()


def identity_of(record: Mapping[str, Any]) -> Identity:
    """The hashes of a record's judgments, corpus and contract."""
    inputs = record["provenance"].get("inputs") or {}
    contract = record["contract"]
    return Identity(
        test_set=_hash(inputs, "judgments"),
        corpus=_hash(inputs, "corpus"),
        contract=None if contract is None else hashlib.sha256(canonical(contract)).hexdigest(),
    )


def _hash(inputs: Mapping[str, Any], name: str) -> str | None:
    described = inputs.get(name)
    found = described.get("sha256") if isinstance(described, Mapping) else None
    return found if isinstance(found, str) and found else None
