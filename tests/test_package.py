"""The package as a whole: its public names, its imports, its wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import boostplug as bp

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "boostplug"


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if name != "__init__":
            yield name, path


def test_all_is_exactly_the_public_names():
    listed = set(bp.__all__)
    for name in listed:
        assert getattr(bp, name) is not None
    submodules = {name for name in vars(bp) if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()}
    assert {name for name in vars(bp) if not name.startswith("_")} - submodules <= listed
    assert listed <= set(dir(bp))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = bp.nonsense


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout


LIBRARIES = ["lightgbm", "xgboost", "sklearn", "scipy.stats", "matplotlib", "pandas", "rich", "typer", "dask"]
USE = "q = bp.Queries([1, 0], group=[2])\nbp.RankNet().value([0.0, 0.0], q), bp.NDCG()([0, 1], q), bp.MAP()([0, 1], q)"


@pytest.mark.parametrize(
    ("code", "unloaded"),
    [("", ["numpy", "scipy", "numba", *LIBRARIES]), (USE, LIBRARIES)],
    ids=["import", "losses and metrics"],
)
def test_what_is_not_used_is_not_loaded(code, unloaded):
    assert (
        run(f"import sys, boostplug as bp\n{code}\nprint([m for m in {unloaded} if m in sys.modules])").strip() == "[]"
    )


@pytest.mark.ci
def test_wheel_works_outside_the_tree(tmp_path):
    """Build the wheel, unpack it elsewhere, and train with it there."""
    pytest.importorskip("build")
    lgb = pytest.importorskip("lightgbm")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "site")
    assert {"boostplug/py.typed", "boostplug/__init__.pyi", "boostplug/dask/__init__.pyi"} <= set(names)
    assert all(name.startswith(("boostplug/", "boostplug-")) for name in names)
    assert {f"boostplug/{path.relative_to(PACKAGE)}" for _, path in modules()} <= set(names)
    assert {f"boostplug/comparison/report/page.{kind}" for kind in ("css", "html", "js")} <= set(names)
    code = (
        "import boostplug as bp, lightgbm as lgb, numpy as np\n"
        f"assert bp.__file__.startswith({str(tmp_path)!r}), bp.__file__\n"
        "X = np.arange(60.0).reshape(-1, 1); y = np.arange(60) % 3\n"
        "data = lgb.Dataset(X, y, group=[30, 30])\n"
        "lgb.train({'objective': bp.MPBoost(), 'verbose': -1, 'num_threads': 1}, data, 2)\n"
        "print(bp.__version__)"
    )
    env = {"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin", "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def there(code):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert there(code).strip() == bp.__version__
    assert lgb.__version__
    said = there(WITHOUT_FRAMEWORKS)
    assert said.startswith("1.0 1.0\n")
    for framework in ("lightgbm", "xgboost"):
        assert f"pip install 'boostplug[{framework}]'\n" in said
    assert "Start with 'boostplug compare'" in said


WITHOUT_FRAMEWORKS = """
import sys
sys.modules.update(lightgbm=None, xgboost=None)
import boostplug as bp
from boostplug.cli.app import app
y, qid = [2, 1, 0, 1, 0], [1, 1, 1, 2, 2]
ranker = bp.AdaRankRanker(n_estimators=2).fit([[grade, 1.0] for grade in y], y, qid=qid)
print(bp.NDCG(10).score(y, y, qid=qid), ranker.score([[grade, 1.0] for grade in y], y, qid=qid))
for name in ("LGBMRanker", "XGBRanker"):
    try:
        getattr(bp, name)
    except ImportError as error:
        print(error)
app([])
"""
