"""Optional libraries: errors name the extra that brings one, and say what is wrong with one that is there."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import boostplug as bp
from boostplug.comparison.report.page import template
from boostplug.core.extras import LIBRARIES, needed_by

ROOT = Path(__file__).parents[2]
ONE_RUN = {"losses": [], "baselines": "lambdarank", "frameworks": "lightgbm", "rounds": 1, "seeds": 1}

# Libraries that a process is to miss; what asks for one of them, and what is said.
ASKED = {
    ("lightgbm", "xgboost", "matplotlib", "jinja2"): {
        "bp.LGBMRanker": "boostplug.LGBMRanker needs LightGBM: pip install 'boostplug[lightgbm]'",
        "bp.XGBRanker": "boostplug.XGBRanker needs XGBoost: pip install 'boostplug[xgboost]'",
        "bp.dask.LGBMRanker": "boostplug.dask.LGBMRanker needs LightGBM: pip install 'boostplug[lightgbm,dask]'",
        "bp.dask.XGBRanker": "boostplug.dask.XGBRanker needs XGBoost: pip install 'boostplug[xgboost,dask]'",
        "model.to_lightgbm()": "Ensemble.to_lightgbm needs LightGBM: pip install 'boostplug[lightgbm]'",
        "model.to_xgboost()": "Ensemble.to_xgboost needs XGBoost: pip install 'boostplug[xgboost]'",
        "bp.compare(*parts, frameworks='xgboost')": "pip install 'boostplug[xgboost]'",
        "bp.compare(*parts)": "pip install 'boostplug[lightgbm,xgboost]'",
        "template()": "the page of a comparison needs Jinja2: pip install 'boostplug[report]'",
        "require_matplotlib()": "figures need matplotlib: pip install 'boostplug[report]'",
    },
    ("dask", "optuna", "pandas", "pyarrow"): {
        "bp.dask": "boostplug.dask needs Dask: pip install 'boostplug[dask]'",
        "bp.compare(*parts, tune=1)": "tuning needs optuna: pip install 'boostplug[tune]'",
        "bp.compare(*parts, losses=[], baselines='lambdarank', rounds=2).to_frame()": (
            "need pandas: pip install 'boostplug[report]'"
        ),
        "bp.datasets.batches_by_query(__file__, label='y', qid='q')": (
            "Parquet files are read by pyarrow: pip install 'boostplug[parquet]'"
        ),
    },
}
CODE = """
import sys
sys.modules.update(dict.fromkeys({libraries!r}))
import boostplug as bp
from boostplug.comparison.report.page import template
from boostplug.core.figures import require_matplotlib
fold = bp.datasets.load_bundled()
parts = fold.train, fold.vali, fold.test
model = bp.Ensemble([], n_features=1)
__file__ = {file!r}
for call in {calls!r}:
    try:
        eval(call)
    except ImportError as error:
        print(call, error, sep=": ")
"""


@pytest.mark.ci
@pytest.mark.parametrize("libraries", ASKED, ids=" ".join)
def test_what_needs_a_library_that_is_missing_names_its_extra(libraries, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    code = CODE.format(libraries=libraries, calls=[*ASKED[libraries]], file=str(tmp_path / "a.parquet"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    for call, message in ASKED[libraries].items():
        assert said.get(call, "no error").endswith(message), (call, said)


def write_page(path):
    result = bp.compare(*bp.datasets.load_bundled(), **ONE_RUN)
    template.cache_clear()
    result.to_html(path)


CALLS = {  # a library that is missing, and what asks for it
    "to_lightgbm": ("lightgbm", lambda path: bp.Ensemble([], n_features=1).to_lightgbm()),
    "to_xgboost": ("xgboost", lambda path: bp.Ensemble([], n_features=1).to_xgboost()),
    "simulate": ("lightgbm", lambda path: bp.clicks.simulate(bp.datasets.load_bundled().test)),
    "to_frame": ("pandas", lambda path: bp.clicks.Propensity(*[[1]] * 6).to_frame()),
    "csv": ("pandas", lambda path: bp.datasets.load_clicks(__file__)),
    "parquet": ("pyarrow", bp.datasets.load_clicks),
    "batches": ("pyarrow", lambda path: bp.datasets.batches_by_query(path, label="y", qid="q")),
    "framework": ("lightgbm", lambda path: bp.compare(*bp.datasets.load_bundled(), frameworks="lightgbm")),
    "page": ("jinja2", write_page),
    "picture": ("matplotlib", lambda path: bp.compare(*bp.datasets.load_bundled(), **ONE_RUN).plot()),
    "why": ("matplotlib", lambda path: bp.why(bp.Ensemble([], n_features=1), [[0]], 0, plot="why.svg")),
    "importance": (
        "matplotlib",
        lambda path: bp.importance(bp.Ensemble([], n_features=1), [[0]], group=[1], plot="why.svg"),
    ),
    "frameworks": ("lightgbm xgboost", lambda path: bp.compare(*bp.datasets.load_bundled())),
}


@pytest.mark.parametrize(("library", "call"), list(CALLS.values()), ids=list(CALLS))
def test_what_needs_a_missing_library_is_an_import_error(library, call, monkeypatch, tmp_path):
    path = tmp_path / "a.parquet"
    path.touch()
    for name in library.split():
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install"):
        call(path)


def test_extras_bring_the_libraries_that_they_are_named_for():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for library, (_, extra) in LIBRARIES.items():
        if extra:
            assert library in {re.match(r"[\w-]+", requirement)[0] for requirement in extras[extra]}
        else:
            names = extras.keys() - {"dev", "test"}
            assert library not in {re.match(r"[\w-]+", r)[0] for name in names for r in extras[name]}


def test_an_error_of_a_library_that_is_there_passes():
    for error in (OSError("libgomp.so.1"), ModuleNotFoundError("No module named 'narwhals'", name="narwhals")):
        with pytest.raises(type(error)) as raised, needed_by("trees need", "lightgbm"):
            raise error
        assert raised.value is error
