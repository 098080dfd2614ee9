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
    command = ["java", "-cp", JAR, "ciir.umass.edu.eval.Evaluator"]
    command += ["-load", "model", "-rank", "rows", "-score", "scores"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return np.loadtxt(folder / "scores", usecols=2)


def test_ranklib_computes_the_same_scores(tmp_path):
    rng = np.random.default_rng(0)
    text, X = ensemble(rng), rows(rng)
    scores = scores_of_ranklib(text, X, tmp_path)
    assert len(np.unique(scores)) > 100
    check_export(text, "ranklib", X, scores)
    for row in range(len(X)):  # alone, since the tolerance is beside the largest score
        check_export(text, "ranklib", X[row : row + 1], scores[row : row + 1])
