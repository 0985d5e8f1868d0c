"""What a look came to, in the log and in the metrics."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping

from rankgauge.monitoring.ingest import Taken
from rankgauge.monitoring.metrics import Metrics
from rankgauge.monitoring.observing import Observation

__all__ = ["measure_look", "tell_look"]


def tell_look(say: Callable[..., None], seen: Observation, taken: Taken) -> None:
    """The look in the log; `say` takes a key of `WORDS` and its values."""
    for system in taken.anew:
        say("anew", system=system, number=taken.number)
    for system in taken.unheld:
        say("unheld", system=system)
    if taken.status == "abandoned":
        say("repeated", number=taken.number)
    elif taken.status == "invalid":
        say("invalid", number=taken.number, reason="; ".join(seen.invalid.values()))
    elif seen.record is None:
        say("nothing", number=taken.number)
    else:
        say("done", number=taken.number, figures=", ".join(_figures(taken)))
        for system, reason in seen.invalid.items():
            say("partly", number=taken.number, system=system, reason=reason)
    for title in taken.opened:
        say("opened", title=title)
    for title in taken.closed:
        say("closed", title=title)
    for title in taken.ended:
        say("ended", title=title)


def _figures(taken: Taken) -> list[str]:
    return [
        f"{key} {last['value']:.4f}"
        for watch in taken.watches.values()
        for key, last in watch.last.items()
        if not key.endswith(("]", " errors", " p95"))
    ]


def measure_look(metrics: Metrics, seen: Observation, taken: Taken, open_by_kind: Mapping[str, int]) -> None:
    """The look in the metrics."""
    scores, references, evidence, failed = {}, {}, {}, {}
    latency: dict[tuple[str, str | float], float | None] = {}
    for name, watch in taken.watches.items():
        for key, last in watch.last.items():
            figure = key.removeprefix(f"{name} ")
            if figure == "errors":
                failed[name] = round(last["value"] * last["queries"])
            elif figure == "p95":
                latency[name, "0.95"] = last["value"]
            else:
                measure, _, tag = figure.partition(" [")
                where = (name, measure, tag.removesuffix("]"))
                scores[where], references[where] = last["value"], last["reference"]
                detector = watch.series[key].detector
                evidence[where] = None if detector is None else detector.evidence / math.log(10)
    metrics.look(
        seen.monitor,
        status=taken.status,
        finished=datetime.datetime.fromisoformat(seen.finished),
        scores=scores,
        references=references,
        log10_evidence=evidence,
        latency=latency,
        failed=failed,
        open_incidents=open_by_kind,
    )
