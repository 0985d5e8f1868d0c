"""Results for people: a report is built once from a record and written by a renderer, on a terminal, in a file or as a
page."""

from rankgauge.reports.writing import report

__all__ = ["report"]
