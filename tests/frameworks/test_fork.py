"""What becomes of a child process that is forked after its parent has used OpenMP (docs/guides/serving.md)."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="OpenMP libraries differ")

SCRIPT = """
import os, signal
import numpy as np
{imports}
rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 5))
ranker = Ranker(n_estimators=3, n_jobs={threads}).fit(X, X[:, 0] > 0, group=[100] * 200)
ranker.predict(X)
child = os.fork()
if not child:
    signal.alarm(5)
    ranker.predict(X)
    os._exit(0)
print("hangs" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGALRM else "works")
"""


@pytest.mark.parametrize("framework", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(("threads", "outcome"), [(2, "hangs"), (1, "works")])
def test_a_forked_child_works_with_one_thread_only(framework, threads, outcome):
    pytest.importorskip(framework)
    ranker = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}[framework]
    script = SCRIPT.format(imports=f"from {framework} import {ranker} as Ranker", threads=threads)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == outcome
