"""The recipes of docs/guides/clusters.md, each in a process of its own: Spark and Ray, where they are installed."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "clusters"
HERE = Path(__file__).parent

pytestmark = [pytest.mark.cluster, pytest.mark.ci]


def needs(engine):
    """Skip where an engine, or what it stands on, is missing."""
    for package in ("xgboost", "pandas", "pyarrow", engine):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if engine == "pyspark" and shutil.which("java") is None:
        pytest.skip("there is no java, on which Spark stands")


def said_by(script, *arguments, cwd):
    """Return what a script prints last."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, EXAMPLES, HERE))),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, script, *map(str, arguments)],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """What all cases on Spark gave; one session for all."""
    needs("pyspark")
    return json.loads(said_by(HERE / "spark_job.py", cwd=tmp_path_factory.mktemp("spark")))


@pytest.mark.parametrize("case", ["job", "weighted job", "job of AdaRank", "whole"])
def test_spark_trains_what_one_machine_does(spark, case):
    """A barrier job, and XGBoost's own class told to repartition and with one Arrow batch for each partition."""
    assert spark[case] <= 1e-6


def test_metrics_on_spark_are_of_all_queries(spark):
    reported, true = spark["metric"]
    assert reported == pytest.approx(true, abs=1e-6)


def test_an_error_on_one_worker_of_spark_ends_the_job(spark):
    """Rather than to hang; the other cases ran in the same session, before and after it."""
    assert "failed barrier" in spark["failure"]


def test_ray_trains_what_one_machine_does(tmp_path):
    """Though a worker is killed in the middle of it; and refuses files of which two hold one query."""
    needs("ray")
    found = json.loads(said_by(HERE / "ray_job.py", tmp_path, cwd=tmp_path))
    assert found["killed"]
    assert found["whole"] <= 1e-6
    assert "queries in several files: [{'qid': " in found["split"]


@pytest.mark.parametrize("engine", ["pyspark", "ray"])
def test_the_example_runs(engine, tmp_path):
    needs(engine)
    script = EXAMPLES / f"{'spark' if engine == 'pyspark' else engine}_ranker.py"
    assert len(script.read_text().splitlines()) < 90
    assert said_by(script, cwd=tmp_path).split("NDCG@10 ")[1] > "0.5"
