"""`CompareResult`: the finished runs of a comparison, their summary, and its writers."""

from collections.abc import Sequence
from dataclasses import fields, replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boostplug.comparison import recommendation
from boostplug.comparison.decision import Decision, decide
from boostplug.comparison.document import as_json, versions
from boostplug.comparison.inputs.clicks import biased_verdict
from boostplug.comparison.inputs.folds import LoadedData
from boostplug.comparison.machine import machine
from boostplug.comparison.outcomes import FLIPS, LEVEL, Runs
from boostplug.comparison.report.page import page
from boostplug.comparison.report.table import frame, markdown, render, text
from boostplug.comparison.report.words import advice
from boostplug.comparison.significance import Pooled, holm
from boostplug.comparison.summary import (
    Challenger,
    Comparison,
    FrameworkDifference,
    Mean,
    MethodName,
    MethodSummary,
    Outcome,
    PlannedRun,
    Recommendation,
    RunSummary,
    Test,
    to_json,
)
from boostplug.comparison.training.kept import Kept
from boostplug.comparison.training.runs import Method, Plan, RunOutcome
from boostplug.core.extras import needed_by
from boostplug.core.files import write_file
from boostplug.losses import Loss

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


class CompareResult:
    """Result of `boostplug.compare`: prints as a table, and writes JSON, HTML and Markdown.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended the comparison before all runs were done.
    out_of_time : bool
        Whether the budget `minutes` ended it.
    runs : Runs
        The methods, the data, and the outcome of each run.
    """

    def __init__(
        self,
        data: LoadedData,
        plan: Plan,
        methods: Sequence[Method],
        *,
        jobs: int = 1,
        minutes: float | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.interrupted = self.out_of_time = False
        self.store = Kept()
        self.runs = Runs(data, plan, tuple(methods), jobs)
        self._minutes, self._notes, self._warnings = (
            minutes,
            list(notes),
            [*data.warnings, *data.doubts(), *data.shared_data()],
        )

    def add(self, outcome: RunOutcome) -> None:
        """Add the outcome of a run, and its notes, each once."""
        self.runs.outcomes.append(outcome)
        self._notes += [note for note in dict.fromkeys(outcome.notes) if note not in self._notes]

    @property
    def kept(self) -> Path | None:
        """The file with the results of its trainings, if `compare` has a `store` and it holds any."""
        return self.store.path

    @property
    def failed(self) -> bool:
        """Whether a run failed; the table names it, with the reasons below."""
        return any(run.error for run in self.runs.outcomes)

    @property
    def not_run(self) -> list[dict[str, Any]]:
        """The planned runs that did not end, each by framework, method, fold (from 0) and seed."""
        return [*map(to_json, self._not_run())]

    def _not_run(self) -> list[PlannedRun]:
        done = {(run.method, run.fold, run.seed) for run in self.runs.outcomes}
        return [
            PlannedRun(framework=method.framework, method=method.name, fold=fold, seed=seed)
            for fold in range(len(self.runs.data.folds))
            for seed in self.runs.plan.seeds
            for method in self.runs.methods
            if (method, fold, seed) not in done
        ]

    @property
    def document(self) -> dict[str, Any]:
        """The summary in JSON's types: the content of `to_json` and of the tables."""
        return dict(to_json(self.summary))

    @property
    def summary(self) -> Comparison:
        """The summary as dataclasses."""
        runs = self.runs
        rows, comparisons = self._rows()
        decision = decide(runs, rows, comparisons, partial=self._is_partial)
        return Comparison(
            versions=versions(),
            data=runs.data.summary(),
            settings=runs.plan.settings(runs.jobs, self._minutes),
            test=Test(
                kind="paired randomisation over queries, two-sided",
                flips=FLIPS,
                correction="Holm, within each framework, but for the method that is best on validation",
                comparisons=comparisons,
                queries=runs.n_defined(),
                repeated=runs.n_repeated(),
                interval="Student's t over queries, within folds",
                level=LEVEL,
            ),
            interrupted=self.interrupted,
            out_of_time=self.out_of_time,
            not_run=self._not_run(),
            warnings=list(self._warnings),
            notes=list(self._notes),
            methods=[*rows.values()],
            recommendation=None if decision is None or runs.data.biased_clicks else _recommendation(runs, decision),
            call=recommendation.call(runs),
            command=runs.command,
            clicks=runs.data.biased_clicks,
            between_frameworks=() if decision is None else self._between_frameworks(decision),
        )

    def _rows(self) -> tuple[dict[Method, MethodSummary], dict[str, int]]:
        """Return the table's rows with Holm's p, and the number of comparisons that it corrects in each framework.

        The best method on validation keeps its own p: it was chosen before the test part was read.
        """
        rows = {method: _summary(self.runs, method) for method in self.runs.methods}
        chosen = self.runs.best(partial=self._is_partial)
        comparisons: dict[str, int] = {}
        for framework in dict.fromkeys(method.framework for method in rows):
            tested = {m: row.p for m, row in rows.items() if m.framework == framework and row.p is not None}
            if chosen is not None and chosen[0] in tested:
                rows[chosen[0]] = replace(rows[chosen[0]], p_holm=tested.pop(chosen[0]))
            comparisons[framework] = len(tested)
            for method, p in zip(tested, holm([*tested.values()]).tolist(), strict=True):
                rows[method] = replace(rows[method], p_holm=p)
        sign = 1 if self.runs.plan.metric.greater_is_better else -1
        for method, row in rows.items():
            if row.difference is not None and "test" not in self.runs.data.biased_clicks:
                p = nan if row.p_holm is None else row.p_holm
                rows[method] = replace(row, outcome=Outcome.from_test(row.difference, p, sign))
        return rows, comparisons

    def _between_frameworks(self, decision: Decision) -> tuple[FrameworkDifference, ...]:
        """Return the difference of each other framework's best method to the recommended one, unless at the cap."""
        ours = decision.recommended
        return tuple(
            FrameworkDifference(
                framework=other.framework,
                method=other.name,
                reference_framework=ours.framework,
                reference=ours.name,
                **_difference(found),
                queries=found.n_queries,
            )
            for other in self.runs.best_of_frameworks(partial=self._is_partial)
            if other.framework != ours.framework
            and other != decision.challenger
            and self.runs.has_verdict(other, ours)
            and (found := self.runs.contrast(other, ours)) is not None
        )

    @property
    def _is_partial(self) -> bool:
        return self.interrupted or self.out_of_time

    @property
    def recommendation(self) -> str:
        """The recommendation in words: keep the incumbent or replace it, why, and the line of code."""
        return "\n".join(advice(self.document))

    @property
    def best(self) -> Any:
        """The recommended method as an unfitted estimator, with its parameters and mean best round.

        Fit it with ``result.best.fit(X, y, qid=qid)``, for example on all data. Fitted on the training part of a run
        with its seed and rounds, it gives the scores of that run. It is an `LGBMRanker` or `XGBRanker` of this package,
        also for built-in objectives. For XGBoost's regression it is an ``xgboost.XGBRegressor``, whose `fit` takes no
        `qid`. If `tune` chose different settings in each fold, it has those of the first. It has no weights: pass those
        of the data to `fit`, divided by their mean as in the comparison,
        ``result.best.fit(X, y, qid=qid, sample_weight=weight / weight.mean())``.

        Raises
        ------
        ValueError
            If no run is finished, or the labels are clicks and there are no propensities.
        """
        if self.runs.data.biased_clicks:
            raise ValueError(f"nothing is best: {biased_verdict(self.runs.data.biased_clicks)}")
        decision = decide(self.runs, *self._rows(), partial=self._is_partial)
        if decision is None:
            raise ValueError("nothing is best: no run is finished (the table names the reasons)")
        return recommendation.estimator(**self.runs.estimator(decision.recommended, decision.runs))

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, a row per method, in the order of the printed one.

        Columns:

        - framework, method, objective;
        - each metric's mean and, named ``… ±``, its standard deviation over the runs; the validation value;
        - the difference to the framework's own LambdaMART, the ends of its interval, z, p and Holm's p;
        - seconds per round, rounds, runs finished, planned and ended at the cap of rounds;
        - the outcome against the reference: better, worse, level, at the cap; errors.

        p is missing if a run of the method or of its reference ended at the cap.
        """
        return frame(self.document)

    @property
    def per_query(self) -> Any:
        """The metrics of each test query as a pandas DataFrame, a row per run and query; NaN where undefined.

        Weighted data have a column with the weights of queries.
        """
        pd = _pandas()
        frames = []
        for run in self.runs.outcomes:
            if run.error is None:
                test = self.runs.tests[run.fold]
                keys = {"framework": run.method.framework, "method": run.method.name}
                weight = test.queries.query_weight
                queries = {"query": test.ids} | ({} if weight is None else {"weight": weight})
                frames.append(pd.DataFrame({**keys, "fold": run.fold, "seed": run.seed, **queries, **run.per_query}))
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def to_json(self, path: str | Path) -> None:
        """Write everything except the values of single queries to a JSON file."""
        write_file(path, as_json(self.document))

    def to_html(self, path: str | Path) -> None:
        """Write one self-contained HTML page to send to those who decide; it loads nothing from the network.

        It has the recommendation, the differences with their intervals, all methods, learning curves, and the set-up
        with the call that repeats the comparison.

        Raises
        ------
        ImportError
            If Jinja2 is not installed: ``pip install 'boostplug[report]'``.
        """
        write_file(path, page(self.document, machine()))

    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Write the table and the lines below it as Markdown; without `path`, return it."""
        return _written(markdown(self.document), path)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield from render(self.document, options)

    def __repr__(self) -> str:
        runs, n = self.runs, len(self.runs.methods)
        done = sum(run.error is None for run in runs.outcomes)
        return f"CompareResult({n} methods, {done} of {runs.n_planned * n} runs); print it for the table"

    def __str__(self) -> str:
        return text(self.document)


def _summary(runs: Runs, method: Method) -> MethodSummary:
    done, outcomes = list(runs.finished(method).values()), [run for run in runs.outcomes if run.method == method]
    reference, found = runs.reference_of(method), runs.contrast(method)
    return MethodSummary(
        framework=method.framework,
        method=method.name,
        objective=_objective_text(method.objective),
        built_in=isinstance(method.objective, str),
        reference=None if reference is None or reference == method else reference.name,
        runs_planned=runs.n_planned,
        runs_finished=len(done),
        runs_at_cap=runs.n_at_cap(method),
        validation=_mean_and_spread([run.validation for run in done]),
        test={m.name: _mean_and_spread([run.test[m.name] for run in done]) for m in runs.plan.metrics},
        **_difference(found, has_verdict=runs.has_verdict(method)),
        z=None if found is None else found.z,
        p_holm=None,
        seconds_per_round=_mean([s for run in done if (s := run.seconds_per_round) is not None]),
        rounds=_mean([run.rounds for run in done]),
        errors=list(dict.fromkeys(run.error for run in outcomes if run.error)),
        runs=[RunSummary(**{f.name: getattr(run, f.name) for f in fields(RunSummary)}) for run in outcomes],
    )


def _recommendation(runs: Runs, decision: Decision) -> Recommendation:
    """Return the summary of a decision, with the code of the recommended method."""
    ours, best = decision.recommended, decision.challenger
    of_estimator = runs.estimator(ours, decision.runs)
    found = _difference(decision.found) | {"p": decision.p}
    return Recommendation(
        framework=ours.framework,
        method=ours.name,
        outcome=decision.outcome,
        incumbent=None if decision.incumbent is None else _name(decision.incumbent),
        challenger=Challenger(framework=best.framework, method=best.name, **_values(runs, best, decision)),
        objective=_objective_text(of_estimator["objective"]),
        **_values(runs, ours, decision),
        runs=len(decision.runs),
        among=len(decision.means),
        **found,
        comparisons=decision.comparisons,
        queries=None if decision.found is None else decision.found.n_queries,
        within_one_standard_error=[
            _name(other) for other in decision.means if other != best and runs.is_close(best, other, decision.runs)
        ],
        rounds=of_estimator["rounds"],
        params=of_estimator["params"],
        code=recommendation.code(**of_estimator, weighted=runs.data.summary().weighted),
    )


def _name(method: Method) -> MethodName:
    return MethodName(framework=method.framework, method=method.name)


def _values(runs: Runs, method: Method, decision: Decision) -> dict[str, Any]:
    """Return the means of a method on validation and test, over those deciding runs that it has finished."""
    done = runs.finished(method)
    common = [done[run] for run in decision.runs if run in done] or [*done.values()]
    return {
        "validation": float(np.mean([run.validation for run in common])),
        "test": float(np.mean([run.test[runs.plan.metric.name] for run in common])),
    }


def _difference(found: Pooled | None, *, has_verdict: bool = True) -> dict[str, Any]:
    """Return the fields of a difference to a reference in summaries; without a verdict p is None."""
    if found is None:
        return {"difference": None, "interval": None, "p": None}
    return {"difference": found.difference, "interval": [*found.interval], "p": found.p if has_verdict else None}


def _written(text: str, path: str | Path | None) -> str | None:
    """Write a text to a file, or return it without a path."""
    if path is None:
        return text
    write_file(path, text)
    return None


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _mean_and_spread(values: Sequence[float]) -> Mean:
    """Return mean and standard deviation (ddof 1; None for a single value)."""
    return Mean(mean=_mean(values), spread=float(np.std(values, ddof=1)) if len(values) > 1 else None)


def _objective_text(objective: Loss | str) -> str:
    return repr(objective) if isinstance(objective, Loss) else objective


def _pandas() -> Any:
    with needed_by("DataFrames of a comparison need", "pandas"):
        import pandas as pd
    return pd
