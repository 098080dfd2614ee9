"""``boostplug export``: files of models become files for search engines."""

import json
from inspect import signature
from itertools import chain

import numpy as np
import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli.app import app
from boostplug.model.engines import ENGINES
from boostplug.testing import check_export

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")


@pytest.fixture(scope="module")
def data():
    return bp.datasets.make_ranking(30, n_features=3, missing=0.0, random_state=0)


def models(data, folder):
    """Yield files of models with the models."""
    booster = lgb.train({"verbose": -1, "num_threads": 1}, lgb.Dataset(data.X, data.y), 5)
    booster.save_model(folder / "lightgbm.txt")
    yield folder / "lightgbm.txt", booster.predict
    trained = xgb.train({"nthread": 1}, xgb.DMatrix(data.X, data.y), 5)
    for name in ("xgboost.json", "xgboost.ubj"):
        trained.save_model(folder / name)
        yield folder / name, lambda X: trained.predict(xgb.DMatrix(X))
    reference = bp.RankBoostRanker(n_estimators=5).fit(data.X, data.y, group=data.group)
    reference.model_.save(folder / "reference.json")
    yield folder / "reference.json", reference.predict


def run(*options):
    return CliRunner().invoke(app, ["export", *map(str, options)])


def test_each_kind_of_file(data, tmp_path):
    X = data.X.astype(np.float32)
    for path, predict in models(data, tmp_path):
        named = ("--name", "mine", "--feature-names", "a,b,c")
        done = run(path, "--to", "solr", *named, "--output", tmp_path / "out.json")
        assert done.exit_code == 0, done.output
        assert "out" in done.output
        text = (tmp_path / "out.json").read_text()
        assert json.loads(text)["name"] == "mine"
        check_export(text, "solr", X, predict(X.astype(np.float64)), feature_names=["a", "b", "c"])


def test_a_ranker_of_xgboost(data, tmp_path):
    path, predict = next(models(data, tmp_path))
    assert run(path, "--to", "xgboost", "--output", tmp_path / "out.ubj").exit_code == 0
    ranker = xgb.XGBRanker()
    ranker.load_model(tmp_path / "out.ubj")
    np.testing.assert_allclose(ranker.predict(data.X), predict(data.X), rtol=0, atol=1e-5)


def test_options_are_those_of_the_function(data, tmp_path):
    path, predict = next(models(data, tmp_path))
    X, out = data.X.astype(np.float32), tmp_path / "out"
    options = {"--feature-names": "a,b,c", "--missing": "zero", "--name": "5", "--store": "none", "--offset": "2.5"}
    assert run(path, "--to", "solr", "--output", out, *chain(*options.items())).exit_code == 0
    found = json.loads(out.read_text())
    assert (found["name"], "store" in found) == ("5", False)
    check_export(out.read_text(), "solr", X, predict(X.astype(np.float64)) + 2.5, feature_names=["a", "b", "c"])
    out = tmp_path / "ranklib"
    assert run(path, "--to", "ranklib", "--output", out, "--offset", "auto").exit_code == 0
    check_export(out.read_text(), "ranklib", X, predict(X.astype(np.float64)), offset="auto")
    helped = " ".join(run("--help").output.split())
    options = signature(bp.export).parameters.keys() - {"model", "X"}
    assert all(f"--{name.replace('_', '-')} " in helped for name in options)
    assert all(f'"{to}", {engine.title}: ' in helped for to, engine in ENGINES.items())
    assert "Missing option" in run(path, "--output", out).output


def test_the_model_itself_is_not_replaced(data, tmp_path):
    path, _ = next(models(data, tmp_path))
    kept = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    (tmp_path / "hard").hardlink_to(path)
    for same in (path, tmp_path / "link", tmp_path / "hard"):
        done = run(path, "--to", "solr", "--output", same)
        assert done.exit_code == 2
        assert "is the file of MODEL too; name another file" in done.output
    assert path.read_bytes() == kept


@pytest.mark.parametrize("to", ["solr", "elasticsearch-ltr", "ranklib", "vespa", "xgboost"])
def test_a_file_of_another_kind_is_not_replaced(to, data, tmp_path):
    (path, _), (other, _), *_ = models(data, tmp_path)
    arguments = (path, "--to", to, "--feature-names", "a,b,c", "--output")
    for name, content in {"train.csv": "a,b\n1,2\n", "out.html": "<!doctype html>", "other.json": '{"id": 1}'}.items():
        (tmp_path / name).write_text(content)
        before = (tmp_path / name).read_bytes()
        done = run(*arguments, tmp_path / name)
        assert done.exit_code == 1
        assert f"{name} holds something else; name another file, or remove this one" in done.stderr
        assert (tmp_path / name).read_bytes() == before
    for _ in range(2):
        assert run(*arguments, tmp_path / "out.json").exit_code == 0
    if to == "xgboost":
        assert run(*arguments, other).exit_code == 0


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b'{"a": 1}', b"{L\x00", b"tree\nversion=v4\n"], ids=str)
def test_other_files_are_refused_in_one_line(content, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    done = run(path, "--to", "solr", "--output", tmp_path / "out.json")
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert str(path.name) in done.output
    assert not (tmp_path / "out.json").exists()
