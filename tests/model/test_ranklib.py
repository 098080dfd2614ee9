"""RankLib reads an ensemble as our reader does. The environment variable BOOSTPLUG_RANKLIB_JAR names its jar.

Java 17 makes the jar from the sources (https://github.com/codelibs/ranklib) and commons-math3 3.6.1 of Maven Central:
``javac -encoding UTF-8 -d classes -cp commons-math3-3.6.1.jar $(find src/main/java -name '*.java')`` and
``jar --create --file ranklib.jar -C classes .``
"""

import os
import shutil
import subprocess

import numpy as np
import pytest

import boostplug as bp
from boostplug.testing import check_export

JAR = os.environ.get("BOOSTPLUG_RANKLIB_JAR")

pytestmark = [
    pytest.mark.skipif(not JAR, reason="BOOSTPLUG_RANKLIB_JAR does not name a jar of RankLib"),
    pytest.mark.skipif(not shutil.which("java"), reason="java is not installed"),
]

TREES = 40
VALUES = np.array([-2.5, -0.1, 0.0, 0.1, 0.3, 1.0, 7.25, 1e-30, 3e7])


def tree(rng, depth):
    """Return a random tree as XML. Its thresholds are values of the rows."""
    if not depth or rng.random() < 0.2:
        return f"<output> {rng.normal():.17g} </output>"
    feature, threshold = rng.integers(1, 4), rng.choice(VALUES)
    sides = [f'<split pos="{side}">{tree(rng, depth - 1)}</split>' for side in ("left", "right")]
    return f"<feature> {feature} </feature><threshold> {threshold} </threshold>{''.join(sides)}"


def ensemble(rng):
    trees = [
        f'<tree id="{k + 1}" weight="{rng.random():.17g}">\n<split>{tree(rng, 5)}</split>\n</tree>'
        for k in range(TREES)
    ]
    return "## LambdaMART\n## No. of trees = 40\n\n<ensemble>\n" + "\n".join(trees) + "\n</ensemble>\n"


def rows(rng):
    """Return values on the thresholds, their neighbours in single precision, values between those, and missing ones."""
    X = rng.choice(VALUES, (600, 3))
    single = X.astype(np.float32)
    X[200:400] = np.nextafter(single, np.where(rng.random(X.shape) < 0.5, np.inf, -np.inf).astype(np.float32))[200:400]
    X[400:] = np.nextafter(single.astype(np.float64), np.inf)[400:]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 2] = np.where(np.isnan(X[:, 2]), 0.0, X[:, 2])  # RankLib refuses rows that end before a feature of the model
    return X


def scores_of_ranklib(text, X, folder):
    lines = (
        " ".join(["0", "qid:1", *(f"{k + 1}:{x:.17g}" for k, x in enumerate(row) if not np.isnan(x))]) for row in X
    )
    for name, content in (("model", text), ("rows", "\n".join(lines) + "\n")):
        (folder / name).write_text(content)
    command = [
        "java",
        "-cp",
        JAR,
        "ciir.umass.edu.eval.Evaluator",
        "-load",
        "model",
        "-rank",
        "rows",
        "-score",
        "scores",
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return np.loadtxt(folder / "scores", usecols=2)


@pytest.mark.parametrize("seed", range(3))
def test_ranklib_computes_the_same_scores(seed, tmp_path):
    rng = np.random.default_rng(seed)
    text, X = ensemble(rng), rows(rng)
    scores = scores_of_ranklib(text, X, tmp_path)
    assert len(np.unique(scores)) > 100
    check_export(text, "ranklib", X, scores)
    for row in range(len(X)):  # alone, since the tolerance is beside the largest score
        check_export(text, "ranklib", X[row : row + 1], scores[row : row + 1])


@pytest.mark.parametrize(
    "broken",
    [
        ("## LambdaMART", "## LightGBM"),
        ("</feature><threshold>", "</feature> <threshold>"),
        ("<split><feature>", "<split> <feature>"),
        ("\n<split>", " <split>"),
        ("<threshold> ", "<threshold> x"),
        ('weight="', 'factor="'),
        ("</ensemble>", ""),
    ],
    ids=str,
)
def test_both_refuse(broken, tmp_path):
    text = ensemble(np.random.default_rng(0)).replace(*broken)
    X = np.zeros((1, 3))
    with pytest.raises(ValueError, match=r"line 1|tree 0|XML"):
        check_export(text, "ranklib", X, [0.0])
    with pytest.raises(subprocess.CalledProcessError):
        scores_of_ranklib(text, X, tmp_path)


def test_ranklib_scores_an_export_as_the_model_does(tmp_path):
    lgb = pytest.importorskip("lightgbm")
    data = bp.datasets.make_ranking(40, n_features=3, missing=0.0, random_state=0)
    train = lgb.Dataset(data.X, data.y, group=data.group)
    booster = lgb.train({"objective": bp.QBRank(), "num_leaves": 15, "verbose": -1, "num_threads": 1}, train, 40)
    X = data.X.astype(np.float32)
    scores = scores_of_ranklib(bp.export(booster, to="ranklib"), X, tmp_path)
    expected = booster.predict(X.astype(np.float64))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
