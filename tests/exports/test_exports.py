"""Records in MLflow and OpenTelemetry, read back from the real ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rankgauge import RankgaugeError, Record, compare, evaluate, log_mlflow, log_opentelemetry
from rankgauge.exports.mlflow import metric_name

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}, "q3": {"d1": 1}}
RUNS = {
    "old": {"q1": ["d9", "d1"], "q2": ["d3"], "q3": ["d7", "d8", "d1"]},
    "new": {"q1": ["d1", "d2"], "q2": ["d3"], "q3": ["d1"]},
}


def test_a_comparison_is_one_run_for_each_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # artifacts of a local store are put there
    compared = compare(QRELS, RUNS, ["nDCG@10", "AP(rel=2)@10"])
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    ids = log_mlflow(compared, experiment="search", tracking_uri=store, tags={"team": "search"})
    assert list(ids) == ["old", "new"]
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=store)
    run = client.get_run(ids["new"])
    mean = compared.record.systems[1].means["nDCG@10"]
    assert run.data.metrics["nDCG_at_10"] == mean.value
    assert run.data.metrics["nDCG_at_10.ci_low"] == mean.interval.low
    assert "AP_rel_2_at_10" in run.data.metrics
    assert run.data.params["contract.ties"] == "trec"
    assert run.data.tags["team"] == "search"
    assert (run.info.run_name, run.info.status) == ("new", "FINISHED")
    there = Path(client.download_artifacts(ids["new"], "record.json", str(tmp_path)))
    assert Record.load(there) == compared.record
    lines = Path(client.download_artifacts(ids["new"], "per_query.csv", str(tmp_path))).read_text().splitlines()
    assert len(lines) == 1 + len(QRELS)

    begun = client.create_run(client.get_experiment_by_name("search").experiment_id)
    one = evaluate(QRELS, RUNS["old"], ["RR"], name="old")
    assert log_mlflow(one, tracking_uri=store, run_id=begun.info.run_id) == {"old": begun.info.run_id}
    assert client.get_run(begun.info.run_id).data.metrics["RR"] == one.mean["RR"]
    with pytest.raises(RankgaugeError, match="has 2 systems"):
        log_mlflow(compared, tracking_uri=store, run_id=begun.info.run_id)
    with pytest.raises(RankgaugeError, match="MLflow refuses the record"):
        log_mlflow(one, tracking_uri=store, run_id="0" * 32)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("measure", ["nDCG(gain='exp')@10", "R(budget=4000)", "IPrec@0.1", "AP(rel=2)", "RBP(p=0.8)@5"])
def test_names_are_those_mlflow_takes(measure: str) -> None:
    from mlflow.utils.validation import _validate_metric_name  # what the store itself calls

    _validate_metric_name(metric_name(measure))


@pytest.fixture
def telemetry() -> Any:
    """Providers that keep what was sent, and what they kept."""
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, events = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(events))
    yield {"tracer_provider": tracers, "logger_provider": loggers}, spans, events
    tracers.shutdown()
    loggers.shutdown()


def test_every_score_is_an_evaluation_event(telemetry: Any) -> None:
    providers, spans, events = telemetry
    result = compare(QRELS, RUNS, ["nDCG@10", "RR"])
    assert log_opentelemetry(result, **providers) == 2 * 3 * 2
    sent = [entry.log_record for entry in events.get_finished_logs()]
    assert {entry.event_name for entry in sent} == {"gen_ai.evaluation.result"}
    got = {
        (e.attributes["rankgauge.system"], e.attributes["rankgauge.query"], e.attributes["gen_ai.evaluation.name"]): (
            e.attributes["gen_ai.evaluation.score.value"]
        )
        for e in sent
    }
    assert got["old", "q3", "RR"] == pytest.approx(1 / 3)
    made = spans.get_finished_spans()
    assert {(span.context.trace_id, span.context.span_id) for span in made} == {(e.trace_id, e.span_id) for e in sent}
    first = next(span for span in made if "old" in span.attributes["metadata"] and "q1" in span.attributes["metadata"])
    assert first.attributes["openinference.span.kind"] == "EVALUATOR"
    assert first.attributes["retrieval.documents.0.document.id"] == "d9"


def test_events_belong_to_the_spans_that_are_given(telemetry: Any) -> None:
    providers, spans, events = telemetry
    result = evaluate(QRELS, RUNS["new"], ["RR"])
    assert log_opentelemetry(result, spans={"q2": (7, 8)}, **providers) == 1
    assert not spans.get_finished_spans()
    (sent,) = events.get_finished_logs()
    assert (sent.log_record.trace_id, sent.log_record.span_id) == (7, 8)
    with pytest.raises(RankgaugeError, match="'q9', which the record does not have"):
        log_opentelemetry(result, spans={"q9": (7, 8)}, **providers)
