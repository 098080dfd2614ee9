"""Runs cells of the matrix in a process of its own, which a framework may abort: `python cells.py RESULTS < CELLS`.

A cell is a kind of table, an entrance and a kind of column. The file of results gets a line in JSON before each cell
and one after it.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from inputs.columns import GRADE, KINDS, N_DOCUMENTS, N_QUERIES, POSITION, QUERY
from inputs.tables import PARTS, REFERENCE, TABLES, Input

ROUNDS = 3
REMEDY = r"drop|astype|make it|leave out"
ENDED = "the process ended"  # the outcome of a cell that aborts it


# --- the entrances: each returns numbers that depend on the features ----------------------------------------------


def ranker(name, **more):
    import boostplug as bp

    if name == "LGBMRanker":
        more |= {"verbose": -1, "min_child_samples": 1, "min_data_per_group": 1, "cat_smooth": 1.0}
    else:
        more |= {"max_depth": 3, "enable_categorical": True, "verbosity": 0}
    kind = getattr(bp.dask if "client" in more else bp, name)
    more |= {} if "client" in more else {"n_jobs": 1}
    return kind(objective=bp.QBRank(), n_estimators=ROUNDS, **more)


def fitted(name, X, **more):
    quiet = {"verbose": False} if name == "XGBRanker" else {}
    return ranker(name).fit(X, GRADE, qid=QUERY, **quiet, **more)


def fit_predict(name, given):
    return fitted(name, given.features()).predict(given.features())


def eval_set(name, given):
    train = given if given.kind.becomes != "refused" else given.plain()
    model = fitted(name, train.features(), eval_set=[(given.features(), GRADE)], eval_qid=[QUERY])
    results = model.evals_result_ if name == "LGBMRanker" else model.evals_result()
    return [value for by_metric in results.values() for values in by_metric.values() for value in values]


def score(name, given):
    model = fitted(name, (given if given.kind.becomes != "refused" else given.plain()).features())
    TRAININGS.clear()
    return [model.score(given.features(), GRADE, qid=QUERY)]


def reference_ranker(given):
    import boostplug as bp

    model = bp.RankBoostRanker(n_estimators=ROUNDS, random_state=0).fit(given.features(), GRADE, qid=QUERY)
    return [*model.predict(given.features()), model.score(given.features(), GRADE, qid=QUERY)]


def of_ranking_data(data):
    """Return the scores of a ranker on a `RankingData`, which a comparison would train on."""
    model = ranker("LGBMRanker").fit(data.X, data.y, group=data.group)
    return model.predict(data.X)


def ranking_data(given):
    import boostplug as bp

    return of_ranking_data(bp.RankingData(given.features(), GRADE, qid=QUERY))


def from_clicks(given):
    import boostplug as bp

    log = bp.datasets.ClickLog(GRADE, group=[N_DOCUMENTS] * N_QUERIES, position=POSITION)
    return of_ranking_data(bp.RankingData.from_clicks(given.features(), log))


def numbers_of(document):
    """Return the metrics of each method of a comparison."""
    errors = [error for method in document["methods"] for error in method["errors"]]
    if errors:
        raise RuntimeError(f"a run failed: {errors[0]}")
    for text in document["warnings"]:
        if "'c'" in text:
            warnings.warn(text, UserWarning, stacklevel=2)
    runs = [run for method in document["methods"] for run in method["runs"]]
    return [value for run in runs for value in (run["validation"], *run["test"].values())]


def compare(given):
    import boostplug as bp

    columns = {} if given.table.in_parts else {"label": "grade", "qid": "query_id"}
    if given.table.is_file and given.table.in_parts:
        data = [given.features(rows) for rows in PARTS.values()]
    elif given.table.in_parts:
        data = [(given.features(rows), GRADE[rows], QUERY[rows]) for rows in PARTS.values()]
    else:
        data = [given.whole()]
    result = bp.compare(
        *data, **columns, losses=[bp.QBRank()], baselines="lambdarank", rounds=2, seeds=1, progress=False, jobs=1,
        num_threads=1,
    )  # fmt: skip
    return numbers_of(result.document)


def command_line(given):
    from typer.testing import CliRunner

    from boostplug.cli.app import app

    if given.table.in_parts:
        data = [text for part, rows in PARTS.items() for text in (f"--{part}", str(given.features(rows)))]
    else:
        data = ["--data", str(given.whole()), "--label", "grade", "--qid", "query_id"]
    result = given.folder / "result.json"
    options = {
        "losses": "QBRank()", "baselines": "lambdarank", "rounds": 2, "seeds": 1, "num-threads": 1, "jobs": 1,
        "json": result, "store": tempfile.mkdtemp(dir=given.folder),
    }  # fmt: skip
    outcome = CliRunner().invoke(app, ["compare", *data, *(f"--{name}={value}" for name, value in options.items())])
    lines = outcome.stderr.strip().splitlines()
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    if outcome.exit_code == 2 and len(lines) == 1:
        raise ValueError(lines[0])
    if outcome.exit_code:
        raise RuntimeError(f"exit status {outcome.exit_code}: {outcome.output}")
    return numbers_of(json.loads(result.read_text()))


def load_clicks(given):
    import boostplug as bp

    return bp.datasets.load_clicks(given.whole(), clicked="grade", qid="query_id").clicked


@cache
def client():
    from distributed import Client, LocalCluster

    return Client(LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None))


def dask_ranker(name, given):
    import dask.dataframe as dd

    ddf = dd.from_pandas(given.whole(), npartitions=2)
    features = ddf[[*"abc"]]
    return ranker(name, client=client()).fit(features, ddf["grade"], qid=ddf["query_id"]).predict(features).compute()


@dataclass(frozen=True)
class Entrance:
    """An entrance: what it does with an input, and which kinds of tables it takes."""

    run: Callable[[Input], Any]
    takes: Callable[[str], bool]
    like: str = ""
    """Another entrance, which gives the same numbers; empty: itself."""


def _in_memory(table):
    return not TABLES[table].is_file


RANKERS = ("LGBMRanker", "XGBRanker")
ENTRANCES = {
    **{name: Entrance(partial(fit_predict, name), _in_memory) for name in RANKERS},
    **{f"{name}, eval_set": Entrance(partial(eval_set, name), _in_memory) for name in RANKERS},
    **{f"{name}, score": Entrance(partial(score, name), _in_memory) for name in RANKERS},
    "RankBoostRanker": Entrance(reference_ranker, lambda table: _in_memory(table) and "sparse" not in table),
    "RankingData": Entrance(ranking_data, _in_memory),
    "RankingData.from_clicks": Entrance(from_clicks, _in_memory),
    "compare": Entrance(compare, lambda table: True),
    "command line": Entrance(command_line, lambda table: TABLES[table].is_file, like="compare"),
    "load_clicks": Entrance(load_clicks, lambda table: TABLES[table].is_file and TABLES[table].named),
    **{
        f"dask {name}": Entrance(partial(dask_ranker, name), lambda table: table == "pandas", like=name)
        for name in RANKERS
    },
}


def kinds_of(table):
    """Return the kinds of columns that a kind of table can hold."""
    return [name for name, kind in KINDS.items() if TABLES[table].holds(kind)]


def expected(table, entrance, kind):
    """Return "scores" or "refused"."""
    becomes = KINDS[kind].becomes_in_files if TABLES[table].is_file else ""
    becomes = becomes or KINDS[kind].becomes
    nothing = all(level is None for level in KINDS[kind].levels)
    if entrance.startswith("dask") and KINDS[kind].numpy == "object" and KINDS[kind].ordered is None and not nothing:
        becomes = "refused"  # dask.dataframe turns all objects into text
    if entrance == "load_clicks":  # it does not read other columns
        return "scores"
    refused = becomes == "refused" or (becomes == "category" and entrance == "RankBoostRanker")
    return "refused" if refused else "scores"


# --- what came out ------------------------------------------------------------------------------------------------

TRAININGS = []  # of the cell that runs now


def count_trainings():
    import lightgbm
    import xgboost

    for booster in (lightgbm.Booster, xgboost.Booster):

        def update(self, *args, original=booster.update, **kwargs):
            TRAININGS.append(self)
            return original(self, *args, **kwargs)

        booster.update = update


def refusal(error, named):
    """Return "refused" for an error that says which column, and what to do; else what is wrong with it."""
    text = f"{type(error).__name__}: {error}"
    if type(error) is not ValueError:
        return text
    if error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        return f"an error in the handling of another one: {text}"
    if not re.search("'c'" if named else r"\b2\b", text):
        return f"does not name the column: {text}"
    if not re.search(REMEDY, text):
        return f"says no remedy: {text}"
    return "refused after a training" if TRAININGS else "refused"


def outcome(table, entrance, kind, folder):
    """Return "scores", "refused", or in words what else came out of a cell."""
    TRAININGS.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)  # LightGBM before 4.7
        try:
            found = np.asarray(ENTRANCES[entrance].run(Input(TABLES[table], KINDS[kind], folder)), dtype=float)
        except Exception as error:  # noqa: BLE001 (any of them is an outcome)
            return refusal(error, TABLES[table].named)
    said = [f"{w.category.__name__}: {w.message}" for w in caught]
    if KINDS[kind].warns and entrance != "load_clicks":
        if not any(text.startswith("UserWarning") and "'c'" in text for text in said):
            return f"no warning names the column: {said}"
    elif said:
        return f"a warning: {said[0]}"
    if expected(table, entrance, kind) == "refused":
        return "accepted"
    plain = reference(TABLES[table].named, ENTRANCES[entrance].like or entrance, kind)
    same = found.shape == plain.shape and np.allclose(found, plain, rtol=0, atol=1e-6)
    return "scores" if same else f"other scores: {found[:4].tolist()}, of the plain table {plain[:4].tolist()}"


@cache
def reference(named, entrance, kind):
    """Return the numbers of the plain table."""
    if entrance == "load_clicks":
        return GRADE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(ENTRANCES[entrance].run(Input(REFERENCE[named], KINDS[kind])), dtype=float)


def main(results):
    count_trainings()
    with tempfile.TemporaryDirectory() as folder, Path(results).open("a", encoding="utf-8", buffering=1) as file:
        for cell in map(tuple, json.load(sys.stdin)):
            print(json.dumps([cell, ENDED]), file=file)
            print(json.dumps([cell, outcome(*cell, Path(folder))]), file=file)


def run_apart(cells):
    """Return the outcome of each cell, from one process, and another one after each abort."""
    found, tests = {}, Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests.parent), str(tests)]), "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.jsonl")
        while rest := [cell for cell in cells if cell not in found]:
            done = subprocess.run(
                [sys.executable, __file__, results], input=json.dumps(rest), env=environment, capture_output=True,
                text=True, check=False,
            )  # fmt: skip
            lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
            before = len(found)
            found |= {tuple(cell): outcome for cell, outcome in map(json.loads, lines)}
            assert len(found) > before, done.stderr
    return found


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    os._exit(0)  # without waiting for the threads of a cluster
