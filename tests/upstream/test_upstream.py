"""The reports for LightGBM and XGBoost hold their scripts, and the scripts print what the reports say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

UPSTREAM = Path(__file__).parent
SCRIPTS = sorted(path.with_suffix(".py") for path in UPSTREAM.glob("*.md"))
LIMIT = 600  # seconds; what hangs fails


def said(name):
    """Return what the text of a defect says that its script prints."""
    (block,) = re.findall(r"^```text\n(.*?)^```", (UPSTREAM / f"{name}.md").read_text(), re.DOTALL | re.MULTILINE)
    return block


def printed(name):
    """Return what a script prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, UPSTREAM / f"{name}.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def figures(text):
    """Return the number at the end of each line, by what stands before it."""
    return {name: float(value) for name, value in re.findall(r"^(.+?) {2,}(\d\.\d{4})$", text, re.MULTILINE)}


def test_every_defect_has_a_text_and_a_script():
    assert SCRIPTS
    assert {*SCRIPTS} == {*UPSTREAM.glob("lightgbm_*.py"), *UPSTREAM.glob("xgboost_*.py")}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_text_holds_the_script(script):
    blocks = re.findall(r"^```py\n(.*?)^```", script.with_suffix(".md").read_text(), re.DOTALL | re.MULTILINE)
    assert blocks == [script.read_text()]


@pytest.mark.frameworks
@pytest.mark.parametrize(
    ("name", "framework"), [("lightgbm_bagging_by_query", "lightgbm"), ("xgboost_qid_32_bits", "xgboost")]
)
def test_script_prints_what_the_text_says(name, framework):
    """But for the version: one that prints something else has mended, or changed, the defect."""
    pytest.importorskip(framework)
    pytest.importorskip("pandas")
    assert printed(name).splitlines()[1:] == said(name).splitlines()[1:]


@pytest.mark.frameworks
@pytest.mark.cluster
def test_lightgbm_on_dask_reports_one_worker():
    """Ports decide which; and with it, in the last digits, the bins."""
    for library in ("lightgbm", "distributed"):
        pytest.importorskip(library)
    for text in (said("lightgbm_dask_metrics"), printed("lightgbm_dask_metrics")):
        found = figures(text)
        assert found["evals_result_"] in {found["5 queries of one worker"], found["50 queries of the other"]}
        assert found["evals_result_"] != found["all 55 queries"]


@pytest.mark.frameworks
@pytest.mark.cluster
def test_xgboost_on_dask_reports_a_mean_of_means():
    for library in ("xgboost", "distributed"):
        pytest.importorskip(library)
    for text in (said("xgboost_dask_custom_metric"), printed("xgboost_dask_custom_metric")):
        found = figures(text)
        assert found["history, built-in ndcg@10"] == pytest.approx(found["all 55 queries"], abs=2e-4)
        assert found["history, the same, custom"] == pytest.approx(found["mean of the two workers"], abs=2e-4)
        assert abs(found["history, the same, custom"] - found["all 55 queries"]) > 0.05


@pytest.mark.frameworks
@pytest.mark.cluster
def test_spark_splits_queries():
    pytest.importorskip("xgboost")
    pytest.importorskip("pyspark")
    for text in (said("xgboost_spark_split_queries"), printed("xgboost_spark_split_queries")):
        rows = re.findall(r"^ +(\d+) +(True|False) +(\d+) +(\d\.\d+)$", text, re.MULTILINE)
        found = {(records, force): (int(queries), float(apart)) for records, force, queries, apart in rows}
        assert found.keys() == {(records, force) for records in ("10000", "90", "0") for force in ("True", "False")}
        for (records, force), (queries, apart) in found.items():
            whole = force == "True" and records != "90"
            assert (queries == 60) == whole, (records, force)
            assert (apart < 1e-4) == whole, (records, force)
