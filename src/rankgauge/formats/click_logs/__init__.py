"""Logs of what was shown and clicked: rows, lists, counts and events, in tables and JSON Lines, and in UBI's format."""
