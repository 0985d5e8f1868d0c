"""`log_opentelemetry`: the scores of single queries as evaluation events of OpenTelemetry.

Names follow the semantic conventions for generative AI (`gen_ai.evaluation.result`, open-telemetry/
semantic-conventions-genai, model/gen-ai/events.yaml) and OpenInference (span kind EVALUATOR, `input.value`,
`retrieval.documents.N.document.id`), which Phoenix reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.record import Record, SystemResult, as_record

__all__ = ["log_opentelemetry"]

_SCOPE = "rankgauge"
_EVENT = "gen_ai.evaluation.result"


@named_arguments
def log_opentelemetry(
    result: Any,
    *,
    spans: Mapping[str, tuple[int, int]] | None = None,
    tracer_provider: Any = None,
    logger_provider: Any = None,
) -> int:
    """Send one `gen_ai.evaluation.result` event for each system, query and measure, and return how many.

    `spans` gives (trace id, span id) of the retrieval that answered a query: its events belong to that span, and
    queries without one are left out. Without `spans`, each system and query gets a span of its own, of OpenInference's
    kind EVALUATOR, with the query's text and the documents as far as the record has them. The providers are those of
    the process unless others are given.
    """
    record = as_record(result, "result")
    if not record.queries:
        raise DataError("the record keeps no scores of single queries; evaluate again with them")
    trace = optional("opentelemetry.trace", "log_opentelemetry()", "opentelemetry-sdk", "opentelemetry")
    logs = optional("opentelemetry._logs", "log_opentelemetry()", "opentelemetry-sdk", "opentelemetry")
    tracer = trace.get_tracer(_SCOPE, record.rankgauge, tracer_provider)
    logger = logs.get_logger(_SCOPE, record.rankgauge, logger_provider)
    if spans is not None and (unknown := [query for query in spans if query not in set(record.queries)]):
        raise DataError(f"`spans` names the query {unknown[0]!r}, which the record does not have")
    sent = 0
    for system in record.systems:
        for row, query in enumerate(record.queries):
            events = list(_events(record, system, row))
            if not events or (spans is not None and query not in spans):
                continue
            if spans is not None:
                number, span = spans[query]
                context = trace.SpanContext(number, span, is_remote=True, trace_flags=trace.TraceFlags(1))
                within = trace.set_span_in_context(trace.NonRecordingSpan(context))
            else:
                own = tracer.start_span("rankgauge.evaluate", attributes=_span_attributes(record, system, query))
                within = trace.set_span_in_context(own)
            for attributes in events:
                logger.emit(logs.LogRecord(context=within, event_name=_EVENT, attributes=attributes))
            if spans is None:
                own.end()
            sent += len(events)
    return sent


def _events(record: Record, system: SystemResult, row: int) -> Iterator[dict[str, Any]]:
    for measure, values in system.per_query.items():
        counted = system.counted.get(measure)
        if counted is None or counted[row]:
            yield {
                "gen_ai.evaluation.name": measure,
                "gen_ai.evaluation.score.value": values[row],
                "rankgauge.system": system.name,
                "rankgauge.query": record.queries[row],
            }


def _span_attributes(record: Record, system: SystemResult, query: str) -> dict[str, Any]:
    about: dict[str, Any] = {
        "openinference.span.kind": "EVALUATOR",
        "input.value": record.texts.get(query, query),
        "metadata": json.dumps({"system": system.name, "query": query}, ensure_ascii=False),
    }
    for place, listed in enumerate(record.lists.get(query, {}).get(system.name, [])):
        about[f"retrieval.documents.{place}.document.id"] = listed.doc
        about[f"retrieval.documents.{place}.document.score"] = listed.score
    return about
