"""`CompareResult`: the finished runs of a comparison, what they add up to, and where it can be written."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison import recommendation
from boostplug.comparison.document import as_json, plain, versions
from boostplug.comparison.machine import machine
from boostplug.comparison.report.details import details
from boostplug.comparison.report.page import page
from boostplug.comparison.report.text import latex, markdown, render, text
from boostplug.comparison.report.words import advice
from boostplug.comparison.significance import Pooled, holm, merge_repeated, pooled_test, standard_error
from boostplug.comparison.summary import (
    Comparison,
    Data,
    Details,
    Mean,
    MethodSummary,
    Named,
    PlannedRun,
    Recommendation,
    RunSummary,
    Settings,
    Test,
    from_json,
    to_json,
)
from boostplug.comparison.training.frameworks import FRAMEWORKS, Part
from boostplug.comparison.training.runs import Method, Origin, RunOutcome, Runs
from boostplug.comparison.training.trees import Trees
from boostplug.comparison.training.tuning import tuned_objective
from boostplug.core.best_round import BestRound
from boostplug.core.extras import needed_by
from boostplug.core.files import write_file
from boostplug.losses import Loss
from boostplug.metrics import Metric

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["CompareResult", "Method", "RunOutcome"]

Floats = NDArray[np.float64]

_FLIPS = 20_000
_LEVEL = 0.95  # of intervals
_LEAST = float(np.finfo(np.float64).tiny)  # of a sum of weights that is divided by


class CompareResult:
    """What `boostplug.compare` returns: prints as a table, and writes JSON, HTML and Markdown.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended the comparison before all runs were done.
    out_of_time : bool
        Whether its budget, `minutes`, did.
    kept : Path or None
        The file that keeps the results of its trainings, where `compare` was given a `store`.
    origin : Origin
        Where the data come from, and what they are.
    """

    def __init__(
        self,
        data: Data,
        settings: Settings,
        methods: Sequence[Method],
        tests: Sequence[Part],
        metric: Metric,
        *,
        metrics: Sequence[Metric] = (),
        notes: Sequence[str] = (),
        warnings: Sequence[str] = (),
        valid_weights: Sequence[Floats | None] | None = None,
        codes: Sequence[Sequence[NDArray[np.int64]]] | None = None,
        origin: Origin | None = None,
    ) -> None:
        """Hold no runs yet.

        `valid_weights` are those of each fold's validation queries, None all 1; `codes` number the validation and the
        test queries of each fold, as `boostplug.comparison.data.query_codes` does.
        """
        self.interrupted = self.out_of_time = False
        self.kept: Path | None = None
        self._data, self._settings = data, settings
        self._methods, self._tests, self._metric = tuple(methods), tuple(tests), metric
        self._valid_weights = (None,) * len(tests) if valid_weights is None else tuple(valid_weights)
        self._metrics, self.origin = tuple(metrics), origin or Origin()
        self._valid_codes = None if codes is None else codes[0]
        self._test_codes = None if codes is None else codes[1]
        self._outcomes: list[RunOutcome] = []
        self._notes, self._warnings = list(notes), list(warnings)
        self._tested: dict[Any, Pooled] = {}  # by method and runs

    def add(self, cell: RunOutcome) -> None:
        """Add the outcome of a run, and what is to be said of it below the table, once."""
        self._outcomes.append(cell)
        self._notes += [note for note in dict.fromkeys(cell.notes) if note not in self._notes]

    @property
    def failed(self) -> bool:
        """Whether a run failed; the table names it, and the reasons stand below."""
        return any(cell.error for cell in self._outcomes)

    @property
    def not_run(self) -> list[dict[str, Any]]:
        """The runs that were planned and have not ended, each by framework, method, fold (from 0) and seed."""
        return [*map(to_json, self._not_run())]

    def _not_run(self) -> list[PlannedRun]:
        there = {(cell.method, cell.fold, cell.seed) for cell in self._outcomes}
        return [
            PlannedRun(framework=method.framework, method=method.name, fold=fold, seed=seed)
            for fold in range(len(self._tests))
            for seed in self._settings.seeds
            for method in self._methods
            if (method, fold, seed) not in there
        ]

    @property
    def document(self) -> dict[str, Any]:
        """All of it as JSON's types: what `to_json` writes and the tables show."""
        return dict(to_json(self.summary))

    @property
    def summary(self) -> Comparison:
        """All of it as values."""
        methods = [self._summary(method) for method in self._methods]
        comparisons: dict[str, int] = {}
        for framework in dict.fromkeys(row.framework for row in methods):
            tested = {i: row.p for i, row in enumerate(methods) if row.framework == framework and row.p is not None}
            comparisons[framework] = len(tested)
            for i, p in zip(tested, holm([*tested.values()]).tolist(), strict=True):
                methods[i] = replace(methods[i], p_holm=p)
        return Comparison(
            versions=versions(),
            data=self._data,
            settings=self._settings,
            test=Test(
                kind="paired randomisation over queries, two-sided",
                flips=_FLIPS,
                correction="Holm, within each framework",
                comparisons=comparisons,
                queries=self._n_defined,
                repeated=self._n_repeated,
                interval="Student's t over queries, within folds",
                level=_LEVEL,
            ),
            interrupted=self.interrupted,
            out_of_time=self.out_of_time,
            not_run=self._not_run(),
            warnings=list(self._warnings),
            notes=list(self._notes),
            methods=methods,
            recommendation=self._recommended(),
        )

    @property
    def runs(self) -> Runs:
        """What was trained, on what, and what came of each run."""
        asked = (self._metric, self._metrics, self._settings, self.origin)
        return Runs(self._methods, self._outcomes, self._tests, *asked, self._test_codes)

    @property
    def details(self) -> dict[str, Any]:
        """What a report shows beside `document`, in JSON's types, computed when it is asked for.

        Validation curves, NDCG over cut-offs, importances of features, wins and losses on single queries, times, and
        how to do it again: see `boostplug.comparison.report.details`.
        """
        return dict(plain(to_json(details(self.runs))))

    def _done(self, method: Method) -> dict[tuple[int, int], RunOutcome]:
        return self.runs.finished(method)

    def _defined(self, fold: int) -> NDArray[np.bool_]:
        queries = self._tests[fold].queries
        return ~np.isnan(self._metric.per_query(np.zeros(queries.n_rows), queries))

    @property
    def _n_defined(self) -> int:
        """Number of test queries that the metric is defined on; one that stands in several folds counts once."""
        defined = [self._defined(fold) for fold in range(len(self._tests))]
        if self._test_codes is None:
            return int(sum(map(np.sum, defined)))
        return len(np.unique(np.concatenate([c[d] for c, d in zip(self._test_codes, defined, strict=True)])))

    @property
    def _n_repeated(self) -> int:
        """How often a test query stands in one more fold."""
        if self._test_codes is None:
            return 0
        return sum(map(len, self._test_codes)) - len(np.unique(np.concatenate(self._test_codes)))

    def _summary(self, method: Method) -> MethodSummary:
        done = self._done(method)
        cells = list(done.values())
        mine = [cell for cell in self._outcomes if cell.method == method]
        reference = self._reference_of(method)
        found = None if reference in (None, method) else self._against(method, reference)
        return MethodSummary(
            framework=method.framework,
            method=method.name,
            objective=_spelt(method.objective),
            built_in=isinstance(method.objective, str),
            reference=None if reference is None or reference == method else reference.name,
            runs_planned=self._planned,
            runs_finished=len(cells),
            validation=_mean_and_spread([cell.validation for cell in cells]),
            test={name: _mean_and_spread([cell.test[name] for cell in cells]) for name in self._settings.metrics},
            difference=None if found is None else found.difference,
            interval=None if found is None else list(found.interval),
            z=None if found is None else found.z,
            p=None if found is None else found.p,
            p_holm=None,
            seconds_per_round=_mean([cell.seconds_per_round for cell in cells]),
            rounds=_mean([cell.rounds for cell in cells]),
            errors=list(dict.fromkeys(cell.error for cell in mine if cell.error)),
            runs=[RunSummary(**{f.name: getattr(cell, f.name) for f in fields(RunSummary)}) for cell in mine],
        )

    def _against(self, method: Method, reference: Method) -> Pooled | None:
        """Return the difference between two methods over the runs that both have finished.

        Each fold weighs the same, and in it each query: what is tested is the difference of the table. A query that
        stands in several folds counts once, by its mean over them.
        """
        ours, theirs = self._done(method), self._done(reference)
        common = tuple(sorted(set(ours) & set(theirs)))
        if not common:
            return None
        key = (method, reference, common)
        if key not in self._tested:
            folds = sorted({f for f, _ in common})
            a, b = (
                [
                    np.mean([cells[key].per_query[self._metric.name] for key in common if key[0] == f], axis=0)
                    for f in folds
                ]
                for cells in (ours, theirs)
            )
            self._tested[key] = pooled_test(
                a,
                b,
                weight=[self._weight(f) for f in folds],
                codes=None if self._test_codes is None else [self._test_codes[f] for f in folds],
                counts="sets",
                level=_LEVEL,
                flips=_FLIPS,
            )
        return self._tested[key]

    def _weight(self, fold: int) -> Floats:
        queries = self._tests[fold].queries
        return np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight

    def _candidates(self) -> tuple[list[Method], list[tuple[int, int]]]:
        """Return the methods among which the validation part chooses, and the runs that all of them have finished.

        Those that have finished all their runs; where none has, or not all was run, those that have got
        as far as most.
        """
        done = {method: set(self._done(method)) for method in self._methods}
        finished = [method for method, runs in done.items() if len(runs) == self._planned]
        if not finished or self.interrupted or self.out_of_time:
            everywhere = sorted({run for runs in done.values() for run in runs})
            if not everywhere:
                return [], []
            most = max(everywhere, key=lambda run: sum(run in runs for runs in done.values()))
            finished = [method for method, runs in done.items() if most in runs]
        return finished, sorted(set.intersection(*(done[method] for method in finished)))

    @property
    def _planned(self) -> int:
        return len(self._tests) * len(self._settings.seeds)

    def _chosen(self) -> tuple[Method, dict[Method, float], list[tuple[int, int]]] | None:
        """Return the method that is best on validation, what all candidates have there, and by which runs."""
        methods, runs = self._candidates()
        means = {method: float(np.mean([self._done(method)[run].validation for run in runs])) for method in methods}
        means = {method: mean for method, mean in means.items() if np.isfinite(mean)}
        if not means:
            return None
        ahead = BestRound(greater_is_better=self._metric.greater_is_better)  # of equal ones the first
        for mean in means.values():
            ahead.add(mean)
        return list(means)[ahead.number - 1], means, runs

    def _estimator(self, method: Method, runs: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """Return what `recommendation.estimator` takes: where settings differ between folds, those of the first."""
        cells = [self._done(method)[run] for run in runs]
        settings = self._settings
        objective, parameters = method.objective, {}
        if (tuned := cells[0].tuned) is not None:
            cells = [cell for cell in cells if cell.fold == cells[0].fold]
            objective, parameters = tuned_objective(objective, tuned.drawn), tuned.parameters
        trees = Trees.of(settings.params)
        kind = FRAMEWORKS[method.framework]
        seed = settings.seeds[0]
        return {
            "framework": method.framework,
            "objective": objective,
            "params": kind.params_of_run(trees, settings.num_threads, objective, seed, parameters),
            "rounds": max(1, int(np.mean([cell.rounds for cell in cells]) + 0.5)),
        }

    def _recommended(self) -> Recommendation | None:
        """Return what is best on the validation part; the test part has no say in it."""
        chosen = self._chosen()
        if chosen is None:
            return None
        method, means, runs = chosen
        reference = self._reference_of(method)
        found = None if reference in (None, method) else self._against(method, reference)
        of_estimator = self._estimator(method, runs)
        return Recommendation(
            framework=method.framework,
            method=method.name,
            objective=_spelt(of_estimator["objective"]),
            validation=means[method],
            test=float(np.mean([self._done(method)[run].test[self._metric.name] for run in runs])),
            runs=len(runs),
            among=len(means),
            within_one_standard_error=[
                Named(framework=other.framework, method=other.name)
                for other in means
                if other != method and self._is_close(method, other, runs)
            ],
            is_reference=method.is_reference,
            reference=None if reference is None else reference.name,
            difference=None if found is None else found.difference,
            interval=None if found is None else list(found.interval),
            p=None if found is None else found.p,
            queries=None if found is None else found.n_queries,
            rounds=of_estimator["rounds"],
            params=of_estimator["params"],
            code=recommendation.code(**of_estimator, weighted=self._data.weighted),
        )

    def _is_close(self, best: Method, other: Method, runs: Sequence[tuple[int, int]]) -> bool:
        """Return whether another method is within one standard error of the best on validation, by its queries."""
        differences, weight, strata, codes = [], [], [], []
        for fold in sorted({f for f, _ in runs}):
            values = [
                [self._done(method)[run].validation_per_query for run in runs if run[0] == fold]
                for method in (best, other)
            ]
            if any(of_run is None for of_method in values for of_run in of_method):
                return False
            a, b = (np.mean(of_method, axis=0) for of_method in values)  # type: ignore[arg-type]
            differences.append(a - b)
            given = self._valid_weights[fold]
            of_queries = np.ones(len(a)) if given is None else given
            weight.append(of_queries / max(_LEAST, of_queries[~np.isnan(a)].sum()))
            strata.append(np.full(len(a), fold))
            codes.append(np.arange(len(a)) if self._valid_codes is None else self._valid_codes[fold])
        d, v, s, c = map(np.concatenate, (differences, weight, strata, codes))
        if self._valid_codes is not None:
            there = ~np.isnan(d)
            d, v, s = merge_repeated(d[there], v[there], s[there], c[there])
        error = standard_error(d, weight=v, strata=s)
        mean = float(np.nansum(v * d) / v[~np.isnan(d)].sum())
        return abs(mean) <= error

    def _reference_of(self, method: Method) -> Method | None:
        return self.runs.reference_of(method)

    @property
    def recommendation(self) -> str:
        """In words: the method that is best on the validation part, what to expect of it, and its line of code."""
        return "\n".join(advice(self.summary))

    @property
    def best(self) -> Any:
        """The recommended method as an unfitted estimator, with its parameters and mean best round.

        Fitted as ``result.best.fit(X, y, qid=qid)``, on all data, say. On the training part of a run, with that run's
        seed and rounds, its scores are those of the run. An `LGBMRanker` or `XGBRanker` of this package, for built-in
        objectives too; but an ``xgboost.XGBRegressor``, whose `fit` takes no `qid`, where XGBoost's regression is best.
        Where `tune` chose other settings in each fold, those of the first. It knows no weights: those of the data go to
        its `fit`, divided by their mean as in the comparison,
        ``result.best.fit(X, y, qid=qid, sample_weight=weight / weight.mean())``.

        Raises
        ------
        ValueError
            If no run is finished.
        """
        chosen = self._chosen()
        if chosen is None:
            raise ValueError("nothing is best: no run is finished (the table names the reasons)")
        method, _, runs = chosen
        return recommendation.estimator(**self._estimator(method, runs))

    @property
    def table(self) -> Any:
        """What `to_frame` returns."""
        return self.to_frame()

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, a row per method, in the order of the printed one.

        Columns: framework, method, objective; each metric's mean and, named ``… ±``, its standard deviation over the
        runs; the validation value; the difference to the framework's own LambdaMART, the ends of its interval, its
        standardised value z, p and Holm's p; seconds per round, rounds, runs finished and planned; errors.
        """
        rows = []
        for row in self.summary.methods:
            flat: dict[str, Any] = {"framework": row.framework, "method": row.method, "objective": row.objective}
            for name, value in row.test.items():
                flat |= {name: value.mean, f"{name} ±": value.spread}
            flat |= {"validation": row.validation.mean, "difference": row.difference}
            flat["interval_low"], flat["interval_high"] = row.interval or (None, None)
            numbers = ("z", "p", "p_holm", "seconds_per_round", "rounds", "runs_finished", "runs_planned")
            rows.append(flat | {name: getattr(row, name) for name in numbers} | {"error": "; ".join(row.errors)})
        return _pandas().DataFrame(rows)

    @property
    def per_query(self) -> Any:
        """The metrics of each test query as a pandas DataFrame, a row per run and query; NaN where undefined.

        Of weighted data, with a column of the queries' weights.
        """
        pd = _pandas()
        frames = []
        for cell in self._outcomes:
            if cell.error is None:
                test = self._tests[cell.fold]
                keys = {
                    "framework": cell.method.framework,
                    "method": cell.method.name,
                    "fold": cell.fold,
                    "seed": cell.seed,
                }
                weight = test.queries.query_weight
                weighted = {} if weight is None else {"weight": weight}
                frames.append(pd.DataFrame({**keys, "query": test.ids, **weighted, **cell.per_query}))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def to_json(self, path: str | Path) -> None:
        """Write everything but the values of single queries to a JSON file."""
        write_file(path, as_json(self.document))

    def to_html(self, path: str | Path) -> None:
        """Write one self-contained HTML page to be sent to whoever decides; it fetches nothing.

        The recommendation, the differences with their intervals, all methods, learning curves, single queries won and
        lost, NDCG over cut-offs, importances, times, what it was made of, and how to make it again.
        """
        write_file(path, page(self.summary, from_json(Details, self.details), machine()))

    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Write the table and what stands below it as Markdown; without `path`, return it."""
        return _written(markdown(self.summary), path)

    def to_latex(
        self, path: str | Path | None = None, *, caption: str | None = None, label: str | None = None
    ) -> str | None:
        r"""Write the table for LaTeX; without `path`, return it.

        It needs the package booktabs. Each framework's best values are bold; differences come with their intervals.
        What stands below the printed table is in comments.

        Parameters
        ----------
        path : str or path-like, optional
        caption, label : str, optional
            With either, a ``table`` environment holds the ``tabular``. The caption is LaTeX as it stands.
        """
        return _written(latex(self.summary, caption, label), path)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield from render(self.summary, console, options)

    def __repr__(self) -> str:
        done, planned = sum(cell.error is None for cell in self._outcomes), self._planned * len(self._methods)
        return f"CompareResult({len(self._methods)} methods, {done} of {planned} runs); print it for the table"

    def __str__(self) -> str:
        return text(self.summary)


def _written(text: str, path: str | Path | None) -> str | None:
    """Write a text to a file, or return it where there is none."""
    if path is None:
        return text
    write_file(path, text)
    return None


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _mean_and_spread(values: Sequence[float]) -> Mean:
    """Return mean and standard deviation (ddof 1; None for a single value)."""
    return Mean(mean=_mean(values), spread=float(np.std(values, ddof=1)) if len(values) > 1 else None)


def _spelt(objective: Loss | str) -> str:
    return repr(objective) if isinstance(objective, Loss) else objective


def _pandas() -> Any:
    with needed_by("DataFrames of a comparison need", "pandas"):
        import pandas as pd
    return pd
