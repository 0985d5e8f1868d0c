"""One small cluster for each process of the tests: two executors of one core, each a Java process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from tests.parts import ROOT

_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # compiling well takes longer than these tests
_SETTINGS = {
    "spark.driver.extraJavaOptions": _LIGHT,
    "spark.executor.extraJavaOptions": _LIGHT,
    "spark.sql.codegen.wholeStage": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "2",
    "spark.sql.shuffle.partitions": "4",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "500ms",
}


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    place = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    place["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])  # for the tests' own functions
    with mock.patch.dict(os.environ, place):
        builder = SparkSession.builder.master("local-cluster[2,1,512]").appName("tests")
        for name, value in {**_SETTINGS, "spark.local.dir": str(folder)}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        session.stop()
