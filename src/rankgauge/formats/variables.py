"""`${NAME}` in the texts of a plan: the value of an environment variable, which is used and never stored or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from rankgauge.formats.secrets import register_secret, register_secrets

__all__ = ["filled", "names_in", "register_plan", "unset_in"]

_REFERENCE = re.compile(r"\$\{(\w+)\}")


def names_in(value: Any) -> list[str]:
    """The variables that a text, or the texts of nested settings, refer to; each once."""
    if isinstance(value, str):
        return list(dict.fromkeys(_REFERENCE.findall(value)))
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return list(dict.fromkeys(name for item in inner for name in names_in(item)))


def unset_in(value: Any) -> list[str]:
    """Those of them that are not set, or empty."""
    return [name for name in names_in(value) if not os.environ.get(name, "").strip()]


def filled(value: Any) -> Any:
    """The value with the variables' values in their places; one that is not set is empty. They are secrets from now
    on: `masked` masks them."""
    if isinstance(value, str):
        for name in names_in(value):
            register_secret(os.environ.get(name, ""))
        text = _REFERENCE.sub(lambda found: os.environ.get(found[1], "").strip(), value)
        register_secrets(text)  # an address whose password came in
        return text
    if isinstance(value, Mapping):
        return {key: filled(item) for key, item in value.items()}
    return [filled(item) for item in value] if isinstance(value, list | tuple) else value


def register_plan(content: Mapping[str, Any]) -> None:
    """Register all secrets of a plan before anything of it can be shown: those written out, and the values of the
    variables that it names, by `${NAME}` or as `api_key_env`."""
    register_secrets(content)
    for name in (*names_in(content), *_named(content)):
        register_secret(os.environ.get(name, ""))


def _named(value: Any, key: str = "") -> list[str]:
    """Variables that are named by keys such as `api_key_env`."""
    if isinstance(value, str):
        return [value] if key.endswith("_env") else []
    if isinstance(value, Mapping):
        return [name for inner, item in value.items() for name in _named(item, str(inner))]
    return [name for item in value for name in _named(item, key)] if isinstance(value, list | tuple) else []
