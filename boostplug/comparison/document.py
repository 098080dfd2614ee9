"""The document of a comparison: all its results except the values of single queries, in JSON's types."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from boostplug.comparison import recommendation
from boostplug.comparison.comparison import FLIPS, LEVEL, Comparison
from boostplug.comparison.counts import plain_counts
from boostplug.comparison.decision import Decision
from boostplug.comparison.summary import Outcome, to_json, versions
from boostplug.comparison.training.runs import Method

SCHEMA = "boostplug.compare/5"


def as_document(
    comparison: Comparison, decision: Decision | None, notes: Sequence[str], command: str | None
) -> dict[str, Any]:
    """Return `CompareResult.document`."""
    data, plan = comparison.data, comparison.plan
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
            "leaves_tried": [{"num_leaves": n, "validation": value} for n, value in comparison.sizes.items()],
            "tune": plan.tune,
            "num_threads": plan.num_threads,
            "jobs": comparison.jobs,
        },
        "test": {
            "kind": "paired randomisation over queries, two-sided",
            "flips": FLIPS,
            "correction": "Holm, over the methods with the same reference",
            "comparisons": comparison.n_tests,
            "queries": comparison.n_defined(),
            "repeated": comparison.n_repeated(),
            "interval": "Student's t over queries, within folds",
            "level": LEVEL,
        },
        "interrupted": comparison.interrupted,
        "not_run": not_run(comparison),
        "warnings": data.all_warnings,
        "notes": [*notes, *comparison.notes_on_columns()],
        "methods": [*_rows(comparison, decision).values()],
        "recommendation": None if decision is None else _recommendation(comparison, decision),
        "call": recommendation.call(comparison),
        "command": command,
    }
    return dict(to_json(found))


def not_run(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the planned runs that did not end, each by framework, method, fold (from 0) and seed."""
    done = {(run.framework, run.method, run.fold, run.seed) for run in comparison.runs}
    keys = product(range(len(comparison.data.folds)), comparison.plan.seeds, comparison.methods)
    return [{**m.names, "fold": fold, "seed": seed} for fold, seed, m in keys if (*m.key, fold, seed) not in done]


def _rows(comparison: Comparison, decision: Decision | None) -> Mapping[Method, dict[str, Any]]:
    """Return the rows of the table; the challenger's outcome is that of the decision."""
    rows = comparison.rows
    if decision is None:
        return rows
    decided = [*rows] if decision.outcome is Outcome.DOUBTFUL else [decision.challenger]
    return {**rows, **{m: {**rows[m], "outcome": decision.outcome} for m in decided if rows[m]["outcome"]}}


def _recommendation(comparison: Comparison, decision: Decision) -> dict[str, Any]:
    """Return the decision, with the code of the recommended method.

    `difference`, `interval` and `p` compare the challenger with the incumbent: with several folds, what each fold's
    other folds chose. p is corrected for `comparisons` tests, 0 where it needs no correction.
    """
    ours, best, old, contrast = decision.recommended, decision.challenger, decision.incumbent, decision.contrast
    of_estimator = recommendation.estimator_of(comparison, ours, decision.runs)
    better, worse = (None, None) if contrast is None else comparison.counts(decision.pairs)
    second = [m for m in decision.among if m.is_reference and m.is_trained and m not in (best, old)]
    return {
        **_values(comparison, ours, decision),
        "outcome": decision.outcome,
        "reasons": decision.reasons,
        "incumbent": old and _values(comparison, old, decision),
        "challenger": _values(comparison, best, decision),
        "second": [_values(comparison, method, decision) for method in second],
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
        "counts": plain_counts(comparison, decision) if decision.compares else None,
        "importance": decision.importance,
        "doubled": comparison.doubled(best),
        "rounds": of_estimator["rounds"],
        "params": of_estimator["params"],
        "code": recommendation.lines_of(comparison, ours, decision.runs),
        "mean_of_seeds": comparison.mean_of_seeds(ours, decision.runs) if ours.is_trained else None,
    }


def _values(comparison: Comparison, method: Method, decision: Decision) -> dict[str, Any]:
    """Return a method's names, and means on validation and test over those deciding runs that it has finished."""
    done, metric = comparison.finished(method), comparison.plan.metric.name
    common = [done[run] for run in decision.runs if run in done] or [*done.values()]
    return {
        **method.names,
        "validation": float(np.mean([run.validation for run in common])),
        "test": float(np.mean([run.test[metric] for run in common])),
    }
