"""`Comparison`: the runs with their statistics, differences to a reference, and the best method on validation."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from boostplug.comparison.choosing import Choice, choose_then_use
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.inputs.leaks import notes_on_strong_columns
from boostplug.comparison.significance import Pooled, holm, pooled_test
from boostplug.comparison.summary import Outcome
from boostplug.comparison.training.baselines import best_columns
from boostplug.comparison.training.plan import TrainingPlan
from boostplug.comparison.training.runs import Method, MethodRun
from boostplug.core.arrays import Floats
from boostplug.core.cached import cached_property
from boostplug.core.values import label
from boostplug.losses import Loss

FoldSeed = tuple[int, int]
MethodPairs = Mapping[int, tuple[Method, Method]]
"""Two methods for each fold, of which the first is compared with the second."""

FLIPS = 20_000
LEVEL = 0.95  # of intervals
_LEAST_GAIN = 1e-12  # difference of two values of the metric; a smaller one is only rounding


@dataclass(eq=False)
class Comparison:
    """The runs of a comparison, with its data, settings and methods."""

    data: LoadedData
    plan: TrainingPlan
    methods: Sequence[Method]
    runs: Sequence[MethodRun] = ()
    jobs: int = 1
    incumbent: str | Loss | None = None  # argument of `compare`
    interrupted: bool = False
    tries: Mapping[int, Method] = field(default_factory=dict)
    """The method that tries each number of leaves before all trainings."""
    sizes: Mapping[int, float] = field(default_factory=dict)
    """Values on validation of the numbers of leaves that were tried."""
    asked: Sequence[Method] = ()
    """The methods before tuning names them anew and equal ones become one."""
    half: Sequence[MethodRun] = ()
    """Runs of the challenger with the first seed and half of the training queries."""
    _choices: dict[Any, Choice[Method]] = field(default_factory=dict, init=False)

    @cached_property
    def best_columns(self) -> list[str]:
        """The best single column of each fold."""
        return best_columns(self.data.alone, self.plan.valid_metric)

    @property
    def sign(self) -> int:
        """1 if higher is better by the metric, -1 if lower is."""
        return 1 if self.plan.metric.greater_is_better else -1

    @property
    def n_planned(self) -> int:
        """Number of runs of each method."""
        return len(self.data.folds) * len(self.plan.seeds)

    def runs_of(self, method: Method) -> list[MethodRun]:
        """Return the runs of a method."""
        return [run for run in self.runs if (run.framework, run.method) == method.key]

    def finished(self, method: Method) -> dict[FoldSeed, MethodRun]:
        """Return the runs of a method that did not fail, by fold and seed."""
        return {(run.fold, run.seed): run for run in self.runs_of(method) if run.error is None}

    def reference_of(self, method: Method) -> Method | None:
        """Return the reference of a method: what is in use, else its framework's incumbent or LambdaMART.

        Without any, a method that needs no framework has that of the first framework. None for the reference itself.
        """
        references = [m for m in self.methods if m.is_reference]
        in_use = [m for m in references if not m.is_trained]
        own = [m for m in references if m.framework == method.framework]
        reference = next(iter(in_use or own or ([] if method.is_trained else references)), None)
        return None if reference == method else reference

    def n_at_cap(self, method: Method) -> int:
        """Return the number of runs of a method that reached the cap of rounds, so that more rounds might be better."""
        if self.plan.patience is None or not method.is_trained:
            return 0
        return sum(run.rounds_trained == self.plan.rounds for run in self.finished(method).values())

    @property
    def weights(self) -> list[Floats]:
        """The weights of the test queries of each fold; those of weight 0 count for nothing."""
        tests = [test.queries for test in self.data.tests]
        return [np.ones(q.n_queries) if q.query_weight is None else q.query_weight for q in tests]

    def n_defined(self) -> int:
        """Return the number of test queries on which the metric is defined; a query in several folds counts once."""
        metric = self.plan.metric
        defined = [~np.isnan(metric.per_query(np.zeros(p.queries.n_rows), p.queries)) for p in self.data.tests]
        found = [c[d & (w > 0)] for c, d, w in zip(self.data.codes, defined, self.weights, strict=True)]
        return len(np.unique(np.concatenate(found)))

    def n_repeated(self) -> int:
        """Return the number of repetitions of test queries in further folds."""
        codes = np.concatenate(self.data.codes)
        return len(codes) - len(np.unique(codes))

    def contrast(self, pairs: MethodPairs) -> Pooled | None:
        """Return the difference of the two methods of each fold, over the runs that both finished.

        Folds have equal weights, and so have the queries of a fold: the test is of the difference in the table. A query
        in several folds counts once, by its mean over them.
        """
        ours, theirs = self.paired(pairs)
        return self.test(ours, theirs) if ours else None

    def paired(
        self, pairs: MethodPairs, value: Callable[[MethodRun], Floats] | None = None
    ) -> tuple[dict[int, Floats], dict[int, Floats]]:
        """Return the values of the two methods of each fold, means over the runs that both finished.

        `value` returns those of a run, by default the metric on each test query.
        """
        ours, theirs = list[MethodRun](), list[MethodRun]()
        for fold, (one, other) in pairs.items():
            a, b = self.finished(one), self.finished(other)
            both = [run for run in a if run in b and run[0] == fold]
            ours, theirs = [*ours, *(a[run] for run in both)], [*theirs, *(b[run] for run in both)]
        return self._means(ours, value), self._means(theirs, value)

    def _means(
        self, runs: Sequence[MethodRun], value: Callable[[MethodRun], Floats] | None = None
    ) -> dict[int, Floats]:
        """Return the mean over runs of their values, by fold; by default of the metric on each test query."""
        folds = sorted({run.fold for run in runs})
        value = value or (lambda run: run.per_query[self.plan.metric.name])
        return {f: np.mean([value(run) for run in runs if run.fold == f], axis=0) for f in folds}

    def test(self, a: Mapping[int, Floats], b: Mapping[int, Floats], flips: int = FLIPS) -> Pooled:
        """Return the test of the difference a - b, of values of each test query by fold."""
        return pooled_test(
            [*a.values()],
            [*b.values()],
            weight=[self.data.tests[f].queries.query_weight for f in a],
            codes=[self.data.codes[f] for f in a],
            counts="sets",
            level=LEVEL,
            flips=flips,
        )

    def counts(self, pairs: MethodPairs) -> tuple[int, int]:
        """Return on how many test queries the first of two methods has better values, and on how many worse ones."""
        ours, theirs = self.paired(pairs)
        gains = np.concatenate([self.sign * (ours[f] - theirs[f]) * (self.weights[f] > 0) for f in ours])
        return int((gains > _LEAST_GAIN).sum()), int((gains < -_LEAST_GAIN).sum())

    def doubled(self, method: Method) -> dict[str, Any] | None:
        """Return what all training queries are worth on test beside half of them, for the runs of the first seed.

        None where more rounds might change it.
        """
        done = self.finished(method)
        half = [run for run in self.half if run.error is None and run.method == method.name]
        whole = [done[run.fold, run.seed] for run in half if (run.fold, run.seed) in done]
        if not half or len(whole) < len(self.data.folds) or self.n_at_cap(method):
            return None
        test = self.test(self._means(whole), self._means(half), flips=1)  # without its p
        return {"difference": test.difference, "interval": test.interval}

    def mean_of_seeds(self, method: Method, runs: Sequence[FoldSeed]) -> dict[str, Any] | None:
        """Return the test values of the mean of a method's models over seeds; None where a fold has a single seed."""
        done = {run: found for run, found in self.finished(method).items() if len(found.scores)}
        by_fold = {f: [done[run] for run in runs if run in done and run[0] == f] for f in sorted({f for f, _ in runs})}
        if min(map(len, by_fold.values()), default=0) < 2:
            return None
        scores = {fold: np.mean([run.scores for run in found], axis=0) for fold, found in by_fold.items()}
        values = {m.name: [float(m(scores[f], self.data.tests[f].queries)) for f in by_fold] for m in self.plan.metrics}
        return {"models": min(map(len, by_fold.values())), "test": {name: _mean(of) for name, of in values.items()}}

    def p_of(self, contrast: Pooled | None, *methods: Method) -> float | None:
        """Return p of a difference; None if one of the methods ended at the cap of rounds."""
        return None if contrast is None or any(map(self.n_at_cap, methods)) else contrast.p

    def notes_on_columns(self) -> list[str]:
        """Return a note on columns that rank almost as well alone as the best trained method."""
        means = self.validation_means(*self.candidates())
        trained = {method: mean for method, mean in means.items() if method.is_trained}
        if not trained:
            return []
        return notes_on_strong_columns(self.data.leaks, trained[self.best_method(trained)], self.plan.valid_metric)

    def candidates(self) -> tuple[list[Method], list[FoldSeed]]:
        """Return the methods that may be chosen, and the runs that all of them finished; none if no run is finished.

        Candidates are the methods that finished all their runs. If there are none, or if the comparison was
        interrupted, they are the methods with the run that most methods finished.
        """
        done = {method: set(self.finished(method)) for method in self.methods}
        found = [method for method, runs in done.items() if len(runs) == self.n_planned]
        everywhere = sorted({run for runs in done.values() for run in runs})
        if everywhere and (not found or self.interrupted):
            most = max(everywhere, key=lambda run: sum(run in runs for runs in done.values()))
            found = [method for method, runs in done.items() if most in runs]
        common = sorted(set.intersection(*(done[method] for method in found))) if found else []
        means = self.validation_means(found, common)
        return [method for method in found if np.isfinite(means[method])], common

    def validation_means(self, methods: Sequence[Method], runs: Sequence[FoldSeed]) -> dict[Method, float]:
        """Return the mean of the validation values of each method over runs that it has finished."""
        return {m: float(np.mean([self.finished(m)[run].validation for run in runs])) for m in methods}

    def choice(self, among: Sequence[Method], references: Sequence[Method], runs: Sequence[FoldSeed]) -> Choice[Method]:
        """Return the best method and the best of the references, by runs that all of them finished.

        In one split, validation values choose. With several folds, a fold's methods are chosen by the other folds' test
        values: the models behind these have neither trained nor stopped on their queries.
        """
        key = tuple(among), tuple(references), tuple(runs)
        if key in self._choices:
            return self._choices[key]
        methods, folds = [*dict.fromkeys([*among, *references])], sorted({fold for fold, _ in runs})
        validation = self.validation_means(methods, runs)
        if len(folds) == 1:
            pair = self.best_method(validation), self.best_method({m: validation[m] for m in references})
            return Choice(*pair, {folds[0]: pair})
        values = {m: self._means([self.finished(m)[run] for run in runs]) for m in methods}
        found = choose_then_use(
            [self.sign * np.array([values[m][f] for m in methods]) for f in folds],
            [self.weights[f] for f in folds],
            [self.data.codes[f] for f in folds],
            [methods.index(m) for m in references],
            self.sign * np.array([validation[m] for m in methods]),
        )
        pairs = {folds[i]: (methods[ours], methods[theirs]) for i, (ours, theirs) in found.pairs.items()}
        best, incumbent = methods[found.best], methods[found.incumbent]
        self._choices[key] = Choice(best, incumbent, pairs, found.p, found.widening)
        return self._choices[key]

    def best_method(self, means: dict[Method, float]) -> Method:
        """Return the method with the best mean; the first one of ties."""
        return (max if self.plan.valid_metric.greater_is_better else min)(means, key=means.__getitem__)

    @cached_property
    def rows(self) -> dict[Method, dict[str, Any]]:
        """The row of each method in the document, with Holm's p for those of each reference."""
        rows = {method: self._row(method) for method in self.methods}
        for reference in rows:
            tested = [m for m, row in rows.items() if row["p"] is not None and self.reference_of(m) == reference]
            for method, p in zip(tested, holm([rows[m]["p"] for m in tested]).tolist(), strict=True):
                rows[method]["p_holm"] = p
        for row in rows.values():
            if row["difference"] is not None:
                row["outcome"] = Outcome.from_test(row["difference"], row["p_holm"], self.sign)
        return rows

    @property
    def n_tests(self) -> dict[str, int]:
        """The number of tests against each reference, for which Holm's method corrects, by its title."""
        references = [self.reference_of(method) for method, row in self.rows.items() if row["p"] is not None]
        return dict(Counter(reference.title for reference in references if reference is not None))

    def _row(self, method: Method) -> dict[str, Any]:
        """Return a method's means over runs, its difference to its reference, and its runs."""
        done, reference = [*self.finished(method).values()], self.reference_of(method)
        folds = range(0 if reference is None else len(self.data.folds))
        contrast = self.contrast(dict.fromkeys(folds, (method, reference or method)))
        return {
            **method.names,
            "objective": str(method.objective),
            "built_in": isinstance(method.objective, str),
            "reference": reference and reference.title,
            "runs_planned": self.n_planned,
            "runs_finished": len(done),
            "runs_at_cap": self.n_at_cap(method),
            "validation": _mean_and_spread([run.validation for run in done]),
            "test": {m.name: _mean_and_spread([run.test[m.name] for run in done]) for m in self.plan.metrics},
            "difference": contrast and contrast.difference,
            "interval": contrast and [*contrast.interval],
            "z": contrast and contrast.z,
            "p": self.p_of(contrast, method, reference or method),
            "p_holm": None,
            "outcome": None,
            "seconds_per_round": _mean([run.seconds_per_round for run in done if run.seconds_per_round is not None]),
            "rounds": _mean([run.rounds for run in done]) if method.is_trained else None,
            "errors": list(dict.fromkeys(run.error for run in self.runs_of(method) if run.error)),
            "runs": [run.document() for run in self.runs_of(method)],
        }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _mean_and_spread(values: Sequence[float]) -> dict[str, float | None]:
    """Return mean and standard deviation (ddof 1; None for a single value)."""
    return {"mean": _mean(values), "spread": float(np.std(values, ddof=1)) if len(values) > 1 else None}


def named_by_tuning(methods: Sequence[Method], runs: Sequence[MethodRun]) -> tuple[list[Method], list[MethodRun]]:
    """Return methods and runs with the names of what tuning drew, such as "QBRank(.466), tuned"."""
    named: dict[tuple[str, str], Method] = {}
    for method in methods:
        settings = [run.tuned for run in runs if (run.framework, run.method) == method.key and run.tuned]
        drawn = {setting.objective for setting in settings}
        new = method
        if any(setting.parameters for setting in settings):
            objective = drawn.pop() if len(drawn) == 1 else method.objective
            of_loss = label(objective) if isinstance(objective, Loss) and objective != method.objective else method.name
            new = replace(method, name=f"{of_loss}, tuned", objective=objective)
        if any(new.key == other.key for other in named.values()):
            new = replace(new, name=f"{new.name} (from {method.name})")
        named[method.key] = new
    return [*named.values()], [replace(run, method=named[run.framework, run.method].name) for run in runs]


def without_equal(
    methods: Sequence[Method], runs: Sequence[MethodRun]
) -> tuple[list[Method], list[MethodRun], list[str]]:
    """Return methods and runs without those that gave the scores of another method in every run, and notes on them."""
    scores = {
        method: {(run.fold, run.seed): run.scores for run in runs if (run.framework, run.method) == method.key}
        for method in methods
    }
    left, notes = list(methods), []
    for one, other in combinations(methods, 2):
        a, b = scores[one], scores[other]
        if one.framework != other.framework or not a or a.keys() != b.keys() or not {one, other} <= {*left}:
            continue
        if all(len(a[run]) and np.array_equal(a[run], b[run]) for run in a):
            kept, gone = (other, one) if other.is_reference else (one, other)
            left.remove(gone)
            notes.append(f"{gone.title} has the scores of {kept.title} in every run, so both are one row.")
    names = {method.key for method in left}
    return left, [run for run in runs if (run.framework, run.method) in names], notes
