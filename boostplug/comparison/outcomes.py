"""`Runs`: the finished trainings of a comparison, differences to a reference, and the best method."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.significance import Pooled, pooled_differences, pooled_test, standard_error
from boostplug.comparison.training.frameworks import FRAMEWORKS, DataPart
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.comparison.training.tuning import tuned_objective
from boostplug.core.threads import Computed
from boostplug.losses import Loss

Floats = NDArray[np.float64]
Run = tuple[int, int]
"""A fold and a seed."""
Done = dict[Run, RunOutcome]

FLIPS = 20_000
LEVEL = 0.95  # of intervals


@dataclass(eq=False)
class Runs:
    """Outcomes of a comparison, with its data and metrics."""

    data: LoadedData
    plan: Plan
    methods: Sequence[Method]
    jobs: int = 1
    command: str | None = None  # shell command that made the comparison
    incumbent: str | Loss | None = None  # argument of `compare`
    outcomes: list[RunOutcome] = field(default_factory=list)
    _tested: dict[Any, Pooled] = field(default_factory=dict)  # results by method, reference and runs

    @Computed
    def tests(self) -> list[DataPart]:
        """The test part of each fold."""
        return self.data.tests

    @Computed
    def codes(self) -> list[NDArray[np.int64]] | None:
        """`LoadedData.codes` of the test parts."""
        return self.data.codes(2)

    @Computed
    def _valid_codes(self) -> list[NDArray[np.int64]] | None:
        return self.data.codes(1)

    @property
    def n_planned(self) -> int:
        """Number of runs of each method."""
        return len(self.data.folds) * len(self.plan.seeds)

    def finished(self, method: Method) -> Done:
        """Return the runs of a method that did not fail, by fold and seed."""
        return {(run.fold, run.seed): run for run in self.outcomes if run.method == method and run.error is None}

    def reference_of(self, method: Method) -> Method | None:
        """Return the reference of a method: its framework's incumbent, else its LambdaMART, else None."""
        return next((m for m in self.methods if m.is_reference and m.framework == method.framework), None)

    def n_at_cap(self, method: Method) -> int:
        """Return the number of runs of a method that reached the cap of rounds, so that more rounds might be better."""
        if self.plan.patience is None:
            return 0
        return sum(run.rounds_trained == self.plan.rounds for run in self.finished(method).values())

    def has_verdict(self, method: Method, reference: Method | None = None) -> bool:
        """Return whether labels are unbiased, and neither a method nor its reference ended at the cap of rounds."""
        if "test" in self.data.biased_clicks:
            return False
        reference = reference or self.reference_of(method)
        return not self.n_at_cap(method) and (reference is None or not self.n_at_cap(reference))

    def n_defined(self) -> int:
        """Return the number of test queries on which the metric is defined; a query in several folds counts once."""
        metric = self.plan.metric
        defined = [~np.isnan(metric.per_query(np.zeros(p.queries.n_rows), p.queries)) for p in self.tests]
        if self.codes is None:
            return int(sum(map(np.sum, defined)))
        return len(np.unique(np.concatenate([c[d] for c, d in zip(self.codes, defined, strict=True)])))

    def n_repeated(self) -> int:
        """Return the number of repetitions of test queries in further folds."""
        return 0 if self.codes is None else sum(map(len, self.codes)) - len(np.unique(np.concatenate(self.codes)))

    def contrast(self, method: Method, reference: Method | None = None) -> Pooled | None:
        """Return the difference of a method and its reference, or another method, over the runs that both finished.

        Folds have equal weights, and so have the queries of a fold: the test is of the difference in the table. A query
        in several folds counts once, by its mean over them.
        """
        reference = reference or self.reference_of(method)
        if reference is None or reference == method:
            return None
        ours, theirs = self.finished(method), self.finished(reference)
        common = tuple(sorted(set(ours) & set(theirs)))
        if not common:
            return None
        key = (method, reference, common)
        if key not in self._tested:
            a, b = (self.fold_means(done, common) for done in (ours, theirs))
            self._tested[key] = pooled_test(
                [*a.values()],
                [*b.values()],
                weight=[weight_of(self.tests[f]) for f in a],
                codes=None if self.codes is None else [self.codes[f] for f in a],
                counts="sets",
                level=LEVEL,
                flips=FLIPS,
            )
        return self._tested[key]

    def fold_means(self, done: Done, common: Sequence[Run]) -> dict[int, Floats]:
        """Return, by fold, the metric of each test query, averaged over some runs on the fold."""
        name = self.plan.metric.name
        return {
            fold: np.mean([done[run].per_query[name] for run in common if run[0] == fold], axis=0)
            for fold in sorted({fold for fold, _ in common})
        }

    def best(self, *, partial: bool) -> tuple[Method, dict[Method, float], list[Run]] | None:
        """Return the best method on validation, the means of all candidates, and the runs behind these means."""
        methods, runs = self._candidates(partial=partial)
        means = {method: float(np.mean([self.finished(method)[run].validation for run in runs])) for method in methods}
        means = {method: mean for method, mean in means.items() if np.isfinite(mean)}
        return (self.first(means), means, runs) if means else None

    def best_of_frameworks(self, *, partial: bool) -> list[Method]:
        """Return the best method of each framework on validation, the best of all first."""
        chosen = self.best(partial=partial)
        if chosen is None:
            return []
        best, means, _ = chosen
        by_framework: dict[str, dict[Method, float]] = {best.framework: {best: means[best]}}
        for method, mean in means.items():
            by_framework.setdefault(method.framework, {})[method] = mean
        return [*map(self.first, by_framework.values())]

    def first(self, means: dict[Method, float]) -> Method:
        """Return the method with the best mean; the first one of ties."""
        return (max if self.plan.valid_metric.greater_is_better else min)(means, key=means.__getitem__)

    def is_ahead(self, method: Method, other: Method, means: dict[Method, float]) -> bool:
        """Return whether a method is better on validation than another one, which may be unfinished."""
        return other not in means or (
            method != other and self.first({other: means[other], method: means[method]}) == method
        )

    def _candidates(self, *, partial: bool) -> tuple[list[Method], list[Run]]:
        """Return the methods that may be chosen on validation, and the runs that all of them have finished.

        These are the methods that finished all their runs. If there are none, or if not all runs were done, they are
        the methods with the run that most methods finished.
        """
        done = {method: set(self.finished(method)) for method in self.methods}
        finished = [method for method, runs in done.items() if len(runs) == self.n_planned]
        if not finished or partial:
            everywhere = sorted({run for runs in done.values() for run in runs})
            if not everywhere:
                return [], []
            most = max(everywhere, key=lambda run: sum(run in runs for runs in done.values()))
            finished = [method for method, runs in done.items() if most in runs]
        return finished, sorted(set.intersection(*(done[method] for method in finished)))

    def estimator(self, method: Method, runs: Sequence[Run]) -> dict[str, Any]:
        """Return the arguments of `recommendation.estimator`, with the first fold's settings if folds differ."""
        finished, plan = self.finished(method), self.plan
        done = [finished[run] for run in runs if run in finished] or [*finished.values()]
        objective, parameters = method.objective, {}
        if (tuned := done[0].tuned) is not None:
            done = [run for run in done if run.fold == done[0].fold]
            objective, parameters = tuned_objective(objective, tuned.drawn), tuned.parameters
        kind = FRAMEWORKS[method.framework]
        params = kind.params_of_run(plan.trees, plan.num_threads, objective, plan.seeds[0], parameters)
        if method.framework == "xgboost" and self.data.has_categories:
            params["enable_categorical"] = True  # trainings set it on their DMatrix; an estimator needs the parameter
        return {
            "framework": method.framework,
            "objective": objective,
            "params": params,
            "rounds": max(1, int(np.mean([run.rounds for run in done]) + 0.5)),
        }

    def is_close(self, best: Method, other: Method, runs: Sequence[Run]) -> bool:
        """Return whether another method is within one standard error of the best on validation, over queries."""
        folds = sorted({f for f, _ in runs})
        values = [
            [[self.finished(method)[run].validation_per_query for run in runs if run[0] == f] for f in folds]
            for method in (best, other)
        ]
        if any(of_run is None for of_method in values for of_fold in of_method for of_run in of_fold):
            return False
        a, b = ([np.mean(of_fold, axis=0) for of_fold in of_method] for of_method in values)  # type: ignore[arg-type]
        weight = [weight_of(self.data.folds[f][1]) for f in folds]
        codes = None if self._valid_codes is None else [self._valid_codes[f] for f in folds]
        d, v, strata = pooled_differences(a, b, weight, codes)
        return bool(abs(v @ d) <= standard_error(d, weight=v, strata=strata))


def weight_of(part: DataPart) -> Floats:
    """Return the weight of each query of a part."""
    queries = part.queries
    return np.ones(queries.n_queries) if queries.query_weight is None else queries.query_weight
