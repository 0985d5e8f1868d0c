"""trec_eval's own lines, under its own names where it has the measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankgauge.errors import DataError
from rankgauge.measures import find_measure
from rankgauge.record import Record
from rankgauge.reports.document import Report
from rankgauge.visible import visible

__all__ = ["render"]


def render(report: Report, **_: Any) -> str:
    """Means, and before them each query's scores where the report was built with them.

    Every name is what trec_eval prints, but for controls, which would break or forge a line: they are spelled out.
    """
    if report.record is None:
        raise DataError("only the scores of a record can be written as trec_eval does")
    return "".join(f"{line}\n" for line in _lines(report.record, "per_query" in report.data))


def _lines(record: Record, per_query: bool) -> Iterator[str]:
    known = {about.name: find_measure(about.name) for about in record.measures}  # scores from elsewhere: any name
    printed = {name: (measure and measure.trec_name) or visible(name) for name, measure in known.items()}
    sums = {about.name: about.aggregate == "sum" for about in record.measures}

    def line(name: str, query: str, value: float) -> str:
        shown = str(round(value)) if sums[name] else f"{value:6.4f}"
        return f"{printed[name]:<22}\t{visible(query)}\t{shown}"

    for system in record.systems:
        if per_query:
            for i in sorted(range(len(record.queries)), key=lambda i: record.queries[i].encode(errors="surrogatepass")):
                for name in known:
                    counted = system.counted.get(name)
                    if counted is None or counted[i]:
                        yield line(name, record.queries[i], system.per_query[name][i])
        if len(record.systems) > 1:
            yield f"{'runid':<22}\tall\t{visible(system.name)}"
        for name in known:
            yield line(name, "all", system.means[name].value)
