"""The scripts in the reports for LightGBM and XGBoost print what the reports say: our code works around each defect."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

UPSTREAM = Path(__file__).parent
pytestmark = pytest.mark.frameworks


def block(name, kind):
    """Return the one block of a kind, "py" or "text", in the report of a defect."""
    text = (UPSTREAM / f"{name}.md").read_text()
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return found


def said_and_printed(name, folder):
    """Return what the report of a defect says that its script prints, and what it prints."""
    script = folder / f"{name}.py"
    script.write_text(block(name, "py"))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=600, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return block(name, "text"), done.stdout


def figures(text):
    """Return the number at the end of each line, by what stands before it."""
    return {name: float(value) for name, value in re.findall(r"^(.+?) {2,}(\d\.\d{4})$", text, re.MULTILINE)}


@pytest.mark.parametrize(
    ("name", "framework"), [("lightgbm_bagging_by_query", "lightgbm"), ("xgboost_qid_32_bits", "xgboost")]
)
def test_script_prints_what_the_text_says(name, framework, tmp_path):
    """But for the version: one that prints something else has mended, or changed, the defect."""
    pytest.importorskip(framework)
    said, printed = said_and_printed(name, tmp_path)
    assert printed.splitlines()[1:] == said.splitlines()[1:]


@pytest.mark.cluster
def test_lightgbm_on_dask_reports_one_worker(tmp_path):
    """Ports decide which; and with it, in the last digits, the bins."""
    for library in ("lightgbm", "distributed"):
        pytest.importorskip(library)
    for text in said_and_printed("lightgbm_dask_metrics", tmp_path):
        found = figures(text)
        assert found["evals_result_"] in {found["5 queries of one worker"], found["50 queries of the other"]}
        assert found["evals_result_"] != found["all 55 queries"]


@pytest.mark.cluster
def test_xgboost_on_dask_reports_a_mean_of_means(tmp_path):
    for library in ("xgboost", "distributed"):
        pytest.importorskip(library)
    for text in said_and_printed("xgboost_dask_custom_metric", tmp_path):
        found = figures(text)
        assert found["history, built-in ndcg@10"] == pytest.approx(found["all 55 queries"], abs=2e-4)
        assert found["history, the same, custom"] == pytest.approx(found["mean of the two workers"], abs=2e-4)
        assert abs(found["history, the same, custom"] - found["all 55 queries"]) > 0.05


@pytest.mark.cluster
def test_spark_splits_queries(tmp_path):
    pytest.importorskip("xgboost")
    pytest.importorskip("pyspark")
    for text in said_and_printed("xgboost_spark_split_queries", tmp_path):
        rows = re.findall(r"^ +(\d+) +(True|False) +(\d+) +(\d\.\d+)$", text, re.MULTILINE)
        found = {(records, force): (int(queries), float(apart)) for records, force, queries, apart in rows}
        assert found.keys() == {(records, force) for records in ("10000", "90", "0") for force in ("True", "False")}
        for (records, force), (queries, apart) in found.items():
            whole = force == "True" and records != "90"
            assert (queries == 60) == whole, (records, force)
            assert (apart < 1e-4) == whole, (records, force)
