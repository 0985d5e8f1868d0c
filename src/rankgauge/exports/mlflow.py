"""`log_mlflow`: a record as runs of MLflow, one for each system."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, RankgaugeError
from rankgauge.extras import optional
from rankgauge.record import Record, SystemResult, as_record

__all__ = ["log_mlflow", "metric_name"]

_REFUSED = re.compile(r"[^\w.\-]+", re.ASCII)
_AT_ONCE = 500  # metrics that MLflow takes in one call: 1,000 at most


@named_arguments
def log_mlflow(
    result: Any,
    *,
    experiment: str = "rankgauge",
    tracking_uri: str | None = None,
    run_id: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Log a record, or a result that has one, and return the id of each system's run in MLflow.

    Each system is a run of the experiment, which is made where it does not exist: the means and the ends of their
    confidence intervals are metrics (`nDCG@10` is `nDCG_at_10`, then `nDCG_at_10.ci_low` and `.ci_high`), the contract
    and the hashes of the inputs are parameters, `record.json` and `per_query.csv` are artifacts. `run_id` logs to a run
    that you have begun instead, such as that of a training; the record has one system then.
    """
    record = as_record(result, "result")
    check_text("experiment", experiment)
    check_text("run_id", run_id)
    if run_id is not None and len(record.systems) != 1:
        raise DataError(f"`run_id` names one run, but the record has {len(record.systems)} systems; leave it out")
    mlflow = optional("mlflow", "log_mlflow()", "mlflow-skinny", "mlflow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its database, in words about its own code
        try:
            client = mlflow.MlflowClient(tracking_uri=tracking_uri)
            if run_id is not None:
                _log(client, run_id, record, record.systems[0], tags or {})
                return {record.systems[0].name: run_id}
            found = client.get_experiment_by_name(experiment)
            place = client.create_experiment(experiment) if found is None else found.experiment_id
            made = {}
            for system in record.systems:
                made[system.name] = client.create_run(place, run_name=system.name).info.run_id
                _log(client, made[system.name], record, system, tags or {})
                client.set_terminated(made[system.name])
            return made
        except mlflow.exceptions.MlflowException as error:
            raise RankgaugeError(f"MLflow refuses the record: {str(error).splitlines()[0]}") from error


def metric_name(measure: str) -> str:
    """A measure's name as MLflow takes it, of letters, digits and `_.-`: `AP(rel=2)@10` is `AP_rel_2_at_10`."""
    return _REFUSED.sub("_", measure.replace("@", " at ")).strip("_")


def _log(client: Any, run: str, record: Record, system: SystemResult, tags: Mapping[str, str]) -> None:
    from mlflow.entities import Metric, Param, RunTag

    now = int(_created(record) * 1000)
    metrics = [Metric(name, value, now, 0) for name, value in _metrics(system)]
    about = {"rankgauge": record.rankgauge, "rankgauge.system": system.name, **tags}
    for start in range(0, len(metrics), _AT_ONCE):
        client.log_batch(run, metrics=metrics[start : start + _AT_ONCE])
    client.log_batch(
        run,
        params=[Param(name, value) for name, value in _parameters(record, system)],
        tags=[RunTag(name, str(value)) for name, value in about.items()],
    )
    client.log_text(run, record.to_json(), "record.json")
    if record.queries:
        own = record.per_query.filter(record.per_query["system"] == system.name)
        client.log_text(run, own.write_csv(), "per_query.csv")


def _created(record: Record) -> float:
    from datetime import datetime

    return datetime.fromisoformat(record.created).timestamp()


def _metrics(system: SystemResult) -> Iterator[tuple[str, float]]:
    for measure, mean in system.means.items():
        name = metric_name(measure)
        yield name, mean.value
        if mean.interval is not None:
            yield f"{name}.ci_low", mean.interval.low
            yield f"{name}.ci_high", mean.interval.high
    if system.calls is not None and system.calls.latency is not None:
        yield "latency_p50_ms", system.calls.latency.p50 * 1000
        yield "latency_p95_ms", system.calls.latency.p95 * 1000


def _parameters(record: Record, system: SystemResult) -> Iterator[tuple[str, str]]:
    yield "queries", str(max((mean.queries for mean in system.means.values()), default=0))
    if record.contract is not None:
        for name, value in vars(record.contract).items():
            yield f"contract.{name}", str(value)
    for role, file in record.provenance.inputs.items():
        if role in ("judgments", "corpus", f"run:{system.name}"):
            yield f"{role.split(':')[0]}.file", os.path.basename(file.path)
            yield f"{role.split(':')[0]}.sha256", file.sha256
