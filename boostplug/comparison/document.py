"""The document of a comparison: all its results except the values of single queries, in JSON's types."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from boostplug.comparison import recommendation
from boostplug.comparison.counts import plain_counts
from boostplug.comparison.decision import Decision
from boostplug.comparison.outcomes import FLIPS, LEVEL, Outcomes
from boostplug.comparison.summary import Outcome, to_json, versions
from boostplug.comparison.training.runs import Method

SCHEMA = "boostplug.compare/5"


def as_document(
    outcomes: Outcomes, decision: Decision | None, notes: Sequence[str], command: str | None
) -> dict[str, Any]:
    """Return `CompareResult.document`."""
    data, plan = outcomes.data, outcomes.plan
    warnings, notes_on_columns, _ = outcomes.leaks
    found = {
        "schema": SCHEMA,
        "versions": versions(),
        "data": data.summary(),
        "settings": {
            "metric": plan.metric.name,
            "validation_metric": plan.valid_metric.name,
            "metrics": [m.name for m in plan.metrics],
            "greater_is_better": plan.metric.greater_is_better,
            "lower_is_better": [m.name for m in plan.metrics if not m.greater_is_better],
            "seeds": plan.seeds,
            "rounds": plan.rounds,
            "early_stopping_rounds": plan.patience,
            "params": asdict(plan.trees),
            "trees": plan.about_trees,
            "leaves_tried": [{"num_leaves": n, "validation": value} for n, value in outcomes.sizes.items()],
            "tune": plan.tune,
            "num_threads": plan.num_threads,
            "jobs": outcomes.jobs,
        },
        "test": {
            "kind": "paired randomisation over queries, two-sided",
            "flips": FLIPS,
            "correction": "Holm, over the methods with the same reference",
            "comparisons": outcomes.comparisons,
            "queries": outcomes.n_defined(),
            "repeated": outcomes.n_repeated(),
            "interval": "Student's t over queries, within folds",
            "level": LEVEL,
        },
        "interrupted": outcomes.interrupted,
        "not_run": not_run(outcomes),
        "warnings": [*data.all_warnings, *warnings],
        "notes": [*notes, *notes_on_columns],
        "methods": [*_rows(outcomes, decision).values()],
        "recommendation": None if decision is None else _recommendation(outcomes, decision),
        "call": recommendation.call(outcomes),
        "command": command,
    }
    return dict(to_json(found))


def not_run(outcomes: Outcomes) -> list[dict[str, Any]]:
    """Return the planned runs that did not end, each by framework, method, fold (from 0) and seed."""
    done = {(run.framework, run.method, run.fold, run.seed) for run in outcomes.runs}
    keys = product(range(len(outcomes.data.folds)), outcomes.plan.seeds, outcomes.methods)
    return [{**m.names, "fold": fold, "seed": seed} for fold, seed, m in keys if (*m.key, fold, seed) not in done]


def _rows(outcomes: Outcomes, decision: Decision | None) -> Mapping[Method, dict[str, Any]]:
    """Return the rows of the table; the challenger's outcome is that of the decision."""
    rows = outcomes.rows
    if decision is None:
        return rows
    decided = [*rows] if decision.outcome is Outcome.DOUBTFUL else [decision.challenger]
    return {**rows, **{m: {**rows[m], "outcome": decision.outcome} for m in decided if rows[m]["outcome"]}}


def _recommendation(outcomes: Outcomes, decision: Decision) -> dict[str, Any]:
    """Return the decision, with the code of the recommended method.

    `difference`, `interval` and `p` compare the challenger with the incumbent: with several folds, what each fold's
    other folds chose. p is corrected for `comparisons` tests, 0 where it needs no correction.
    """
    ours, best, old, contrast = decision.recommended, decision.challenger, decision.incumbent, decision.contrast
    of_estimator = recommendation.estimator_of(outcomes, ours, decision.runs)
    better, worse = (None, None) if contrast is None else outcomes.counts(decision.pairs)
    second = [m for m in decision.among if m.is_reference and m.is_trained and m not in (best, old)]
    return {
        **_values(outcomes, ours, decision),
        "outcome": decision.outcome,
        "reasons": decision.reasons,
        "incumbent": old and _values(outcomes, old, decision),
        "challenger": _values(outcomes, best, decision),
        "second": [_values(outcomes, method, decision) for method in second],
        "objective": str(of_estimator["objective"]),
        "runs": len(decision.runs),
        "among": len(decision.among),
        "difference": contrast and contrast.difference,
        "interval": contrast and contrast.interval,
        "p": decision.p,
        "comparisons": decision.comparisons,
        "queries": contrast and contrast.n_queries,
        "better": better,
        "worse": worse,
        "chosen": [method.names for method, _ in decision.pairs.values()],
        "counts": plain_counts(outcomes, decision) if decision.compares else None,
        "doubled": outcomes.doubled(best),
        "rounds": of_estimator["rounds"],
        "params": of_estimator["params"],
        "code": recommendation.lines_of(outcomes, ours, decision.runs),
        "mean_of_seeds": outcomes.mean_of_seeds(ours, decision.runs) if ours.is_trained else None,
    }


def _values(outcomes: Outcomes, method: Method, decision: Decision) -> dict[str, Any]:
    """Return a method's names, and means on validation and test over those deciding runs that it has finished."""
    done, metric = outcomes.finished(method), outcomes.plan.metric.name
    common = [done[run] for run in decision.runs if run in done] or [*done.values()]
    return {
        **method.names,
        "validation": float(np.mean([run.validation for run in common])),
        "test": float(np.mean([run.test[metric] for run in common])),
    }
