"""Which conversation each query belongs to, by a rule on the queries' ids or by a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rankgauge.errors import DataError

__all__ = ["conversations_by"]


def conversations_by(rule: str | Mapping[str, str], queries: Sequence[str]) -> dict[str, str]:
    """The conversation of each query that has one. The rule is a mapping from query to conversation, or a regular
    expression whose first group (or whole match) in a query's id is the conversation: `^(.+)_turn` of `c7_turn3` is c7.
    """
    if isinstance(rule, Mapping):
        found = {query: str(rule[query]) for query in queries if rule.get(query) not in (None, "")}
        told = f"a mapping of {len(rule)} queries"
    elif isinstance(rule, str):
        try:
            pattern = re.compile(rule)
        except re.error as error:
            raise DataError(f"`conversations={rule!r}` is no regular expression: {error}") from None
        matches = {query: match for query in queries if (match := pattern.search(query)) is not None}
        found = {query: match.group(1 if pattern.groups else 0) or "" for query, match in matches.items()}
        found, told = {query: name for query, name in found.items() if name}, repr(rule)
    else:
        raise DataError(
            "`conversations` must be a mapping from query to conversation, or a regular expression whose first group "
            f"in a query's id is its conversation, not a {type(rule).__name__}"
        )
    if isinstance(rule, str) and len(found) > 1 and all(query == name for query, name in found.items()):
        raise DataError(
            f"`conversations`: {told} takes the whole id, so every query is a conversation of its own; put a group "
            f"around what the turns of one have in common, such as '^(.+)_', for ids such as {queries[0]!r}"
        )
    if rule and queries and not found:
        raise DataError(f"`conversations`: {told} gives no conversation of any query, such as {queries[0]!r}")
    return found
