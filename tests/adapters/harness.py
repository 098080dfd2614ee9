"""Each framework as the conformance suite drives it: one small set, one objective, every route to a model."""

from dataclasses import dataclass
from inspect import signature
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from versions import version_of

import boostplug as bp
from boostplug.core import threads

lgb, xgb = (pytest.importorskip(library) for library in ("lightgbm", "xgboost"))  # what imports this file skips, too

LOSS = bp.MPBoost()


def make(seed=0, n_queries=16, noise=1.0):
    """Return features, grades and group sizes; with much noise a validation metric peaks after a few rounds."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, 9, n_queries)
    X = np.round(rng.normal(size=(group.sum(), 4)), 2)
    y = np.clip(np.round(X[:, 0] - 0.5 * X[:, 1] + noise * rng.normal(size=len(X)) + 1), 0, 4)
    return X, y, group


X, Y, GROUP = make()
QID = np.repeat(np.arange(len(GROUP)) + 7, GROUP)
VX, VY, VGROUP = make(1, noise=3.0)
VQID = np.repeat(np.arange(len(VGROUP)), VGROUP)
PER_QUERY = np.arange(len(GROUP)) + 1.0  # a weight of each query
VALID = (VX, VY, VQID)


@dataclass(frozen=True)
class Spy(bp.Loss):
    """MPBoost that logs what it was asked; the log outlives the frameworks' copies of the objective."""

    log = []  # noqa: RUF012 (shared on purpose)
    traits = bp.Traits(hessian="exact")

    def compute_value(self, scores, queries):
        return LOSS.value(scores, queries)

    def compute_gradient_hessian(self, scores, queries, scale):
        g, h = LOSS.gradient_hessian(scores, queries)
        entry = {"scores": scores.copy(), "queries": queries, "g": g, "h": h, "threads": threads.get_num_threads()}
        self.log.append(SimpleNamespace(**entry))
        return g, h


@dataclass(frozen=True)
class Misses(bp.Metric):
    """1 - NDCG: an error."""

    k: int = 5
    greater_is_better = False

    def compute_per_query(self, scores, queries):
        return 1 - bp.NDCG(self.k).compute_per_query(scores, queries)


@dataclass(frozen=True)
class ThreadCount(bp.Metric):
    """The number of threads it was given."""

    def compute_per_query(self, scores, queries):
        return np.full(queries.n_queries, float(threads.get_num_threads()))


def best_round(values, patience, *, greater):
    """Return the first round (from 1) whose value is not beaten in the next `patience` rounds."""
    values = np.array(values) if greater else -np.array(values)
    best = 0
    for i in range(1, len(values)):
        if values[i] > values[best]:
            best = i
        elif i - best >= patience:
            break
    return best + 1


def gradient_of(data):
    return LOSS(np.linspace(0, 1, len(Y)), data)[0]


class Framework:
    """What both share: our ranker, and the routes from a loss to predictions."""

    def ranker(self, loss=LOSS, **params):
        return self.Ranker(objective=loss, **{**self.estimator, **params})

    def fit(self, loss=LOSS, x=X, y=Y, *, metric=None, patience=None, valid=None, **more):
        """Fit our ranker; arguments of `fit` go there, all others are the ranker's.

        `valid` is (X, y, qid) or (X, y, qid, weight), or lists of each.
        """
        more |= self.stopping(metric, patience)
        of_fit = {name: more.pop(name) for name in [*more] if name in signature(self.Ranker.fit).parameters}
        of_fit = {"qid": None if "group" in of_fit else QID, **self.quiet, **of_fit}
        if valid is not None:
            rows, labels, qid, *weight = [part if isinstance(part, list) else [part] for part in valid]
            of_fit["eval_set"] = list(zip(rows, labels, strict=True))
            of_fit |= ({} if qid[0] is None else {"eval_qid": qid}) | ({self.set_weights: weight[0]} if weight else {})
        return self.ranker(loss, **more).fit(x, y, **of_fit)

    def routes(self):
        def train(loss, n_jobs=1, **of):
            return self.train(loss, self.data(n_jobs=n_jobs, **of), n_jobs=n_jobs)[0]

        def update(loss, n_jobs=1, **of):
            return self.update(loss, self.data(n_jobs=n_jobs, **of), n_jobs)

        def ranker(loss, label=Y, weight=None, **more):
            return self.fit(loss, y=label, sample_weight=weight, **more)

        def ranker_group(loss, label=Y, weight=None, **more):
            return self.fit(loss, y=label, sample_weight=weight, qid=None, group=GROUP, **more)

        return {"train": train, "update": update, "ranker": ranker, "ranker, group": ranker_group}

    def history(self, ranker):
        return next(iter(self.histories(ranker)))


class LightGBM(Framework):
    """Weights are per row; `best` counts from 1."""

    name = "lightgbm"
    frames = ("pandas", "polars", "pyarrow") if version_of("lightgbm") >= (4, 7) else ("pandas",)
    digits = 1e-12  # of metrics in histories
    trees: ClassVar = {"num_leaves": 4, "min_data_in_leaf": 1}
    estimator: ClassVar = {"verbose": -1, "n_jobs": 1, "num_leaves": 4, "min_child_samples": 1, "n_estimators": 5}
    size = "num_leaves"
    Ranker, Plain = bp.LGBMRanker, lgb.LGBMRanker
    kinds = (lgb.Dataset,)
    start, start_of_sets, set_weights = "init_score", "eval_init_score", "eval_sample_weight"
    metric_parameter, default_metrics = "metric", ["NDCG@10"]
    quiet: ClassVar = {}
    categories: ClassVar = {"min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.1}  # few rows are split
    modes = (
        {"boosting": "dart"},
        {"linear_tree": True},
        {"use_quantized_grad": True, "quant_train_renew_leaf": True},
        {"data_sample_strategy": "goss"},
        {"monotone_constraints": [1, 0, 0, 0], "extra_trees": True, "bagging_fraction": 0.7, "bagging_freq": 1},
    )
    unrepeatable = ("dart",)  # under a callable: docs/compatibility.md
    changes: ClassVar = {
        "set_label": (lambda d: d.set_label(4 - Y), {"label": 4 - Y}),
        "set_field label": (lambda d: d.set_field("label", 4 - Y), {"label": 4 - Y}),
        "set_weight": (lambda d: d.set_weight(np.repeat(PER_QUERY, GROUP)), {"weight": PER_QUERY}),
        "set_field weight": (lambda d: d.set_field("weight", np.repeat(PER_QUERY, GROUP)), {"weight": PER_QUERY}),
        "set_group": (lambda d: d.set_group([len(Y)]), {"group": [len(Y)]}),
        "set_field group": (lambda d: d.set_field("group", [len(Y)]), {"group": [len(Y)]}),
    }
    set_label = staticmethod(lambda data, label: data.set_field("label", label))

    @staticmethod
    def data(kind=lgb.Dataset, data=X, label=Y, group=GROUP, weight=None, n_jobs=1, **more):
        weight = None if weight is None else np.repeat(weight, group)
        params = {"verbosity": -1, **({} if n_jobs is None else {"num_threads": n_jobs})}
        more = {"free_raw_data": False, "params": params, **more}
        return kind(data, label, group=group, weight=weight, **more).construct()

    def params(self, n_jobs=1, **more):
        return {"verbosity": -1, **({} if n_jobs is None else {"num_threads": n_jobs}), **self.trees, **more}

    def train(self, loss, data=None, rounds=5, *, valid=False, metric=None, patience=None, n_jobs=1, **params):
        """Return model, and history by metric of the validation set (True) or the training set (a dataset)."""
        history, data = {}, self.data(n_jobs=n_jobs) if data is None else data
        callbacks = [] if patience is None else [lgb.early_stopping(patience, verbose=False)]
        more = {}
        if valid is not False:
            valid = data.create_valid(VX, VY, group=VGROUP) if valid is True else valid
            more = {"valid_sets": [valid], "valid_names": ["v"], "feval": metric}
            callbacks.append(lgb.record_evaluation(history))
        more |= {"init_model": params.pop("init_model", None)}
        more |= {"keep_training_booster": params.pop("keep_training_booster", False)}
        params = {"objective": loss, **self.params(n_jobs, **params)}
        booster = lgb.train(params, data, rounds, callbacks=callbacks, **more)
        return booster, history.get("v", {})

    @staticmethod
    def predict(model, rows=X):
        return model.predict(rows)

    def update(self, loss, data, n_jobs=1):
        booster = lgb.Booster(self.params(n_jobs, objective="none"), data)
        for _ in range(5):
            booster.update(fobj=loss)
        return booster

    def plain(self, loss, label=Y, weight=None, n_jobs=1):
        weight = None if weight is None else np.repeat(weight, GROUP)
        ranker = lgb.LGBMRanker(objective=loss, metric="None", **{**self.estimator, "n_jobs": n_jobs})
        return ranker.fit(X, label, group=GROUP, sample_weight=weight)

    def routes(self):
        return {**super().routes(), "lgb.LGBMRanker": self.plain}

    def stopping(self, metric, patience):
        """Return the arguments that evaluate a metric, and stop after so many rounds without a better value."""
        callbacks = {} if patience is None else {"callbacks": [lgb.early_stopping(patience, verbose=False)]}
        return callbacks if metric is None else {"eval_metric": metric, **callbacks}

    @staticmethod
    def rounds_of_best(model):
        return model.best_iteration_ if isinstance(model, lgb.LGBMModel) else model.best_iteration

    @staticmethod
    def cv(loss, data, rounds, metric, patience=None, **params):
        params = {"objective": loss, "verbosity": -1, "num_threads": 1, "metric": "None", "num_leaves": 4, **params}
        callbacks = [] if patience is None else [lgb.early_stopping(patience, verbose=False)]
        folds = bp.group_folds(QID, 3, shuffle=True, random_state=0)
        return lgb.cv(params, data, rounds, folds=folds, feval=metric, callbacks=callbacks)[f"valid {metric.name}-mean"]

    continues = "init_model"
    objective = "lambdarank"

    @staticmethod
    def booster(ranker):
        return ranker.booster_

    def n_rounds(self, ranker):
        return self.booster(ranker).num_trees()

    @staticmethod
    def first(n):
        """Return the argument of `predict` for the first n rounds."""
        return {"num_iteration": n}

    @staticmethod
    def histories(ranker):
        return ranker.evals_result_.values()

    suffixes = ("txt",)

    def loaded(self, path, rows=X):
        """Return the predictions of the saved model by every way to load it."""
        return [lgb.Booster(model_file=path).predict(rows), lgb.Booster(model_str=path.read_text()).predict(rows)]


class XGBoost(Framework):
    """Weights are per query; `best` counts from 0; metrics have six decimals."""

    name = "xgboost"
    frames = ("pandas", "polars", "pyarrow")
    digits = 1e-6
    trees: ClassVar = {"max_depth": 2, "min_child_weight": 0.1}
    estimator: ClassVar = {"n_jobs": 1, "max_depth": 2, "min_child_weight": 0.1, "n_estimators": 5}
    size = "max_depth"
    Ranker, Plain = bp.XGBRanker, xgb.XGBRanker
    kinds = (xgb.DMatrix, xgb.QuantileDMatrix)
    start, start_of_sets, set_weights = "base_margin", "base_margin_eval_set", "sample_weight_eval_set"
    metric_parameter, default_metrics = "eval_metric", ["pre_NDCG@10"]
    quiet: ClassVar = {"verbose": False}
    categories: ClassVar = {"enable_categorical": True}
    modes = (
        {"booster": "dart", "rate_drop": 0.2, "verbosity": 0},  # 3.4 warns that the two names are deprecated
        {"booster": "gblinear", "verbosity": 0},
        {"num_parallel_tree": 2},
        {"monotone_constraints": "(1,0,0,0)", "grow_policy": "lossguide", "max_leaves": 4, "subsample": 0.7},
    )
    unrepeatable = ()
    changes: ClassVar = {
        "set_label": (lambda d: d.set_label(4 - Y), {"label": 4 - Y}),
        "set_info label": (lambda d: d.set_info(label=4 - Y), {"label": 4 - Y}),
        "set_weight": (lambda d: d.set_weight(PER_QUERY), {"weight": PER_QUERY}),
        "set_info weight": (lambda d: d.set_info(weight=PER_QUERY), {"weight": PER_QUERY}),
        "set_group": (lambda d: d.set_group([len(Y)]), {"group": [len(Y)]}),
        "set_info qid": (lambda d: d.set_info(qid=np.zeros(len(Y), int)), {"group": [len(Y)]}),
    }
    set_label = staticmethod(lambda data, label: data.set_label(label))

    @staticmethod
    def data(kind=xgb.QuantileDMatrix, data=X, label=Y, group=GROUP, weight=None, n_jobs=1, **more):
        return kind(data, label, group=group, weight=weight, nthread=n_jobs, **more)

    def params(self, n_jobs=1, **more):
        base = {"objective": "rank:pairwise", "base_score": 0.0, "disable_default_eval_metric": True}
        return {**base, **({} if n_jobs is None else {"nthread": n_jobs}), **self.trees, **more}

    def train(self, loss, data=None, rounds=5, *, valid=False, metric=None, patience=None, n_jobs=1, **params):
        """Return model, and history by metric of the validation set (True) or the training set (a dataset)."""
        history, data, more = {}, self.data(n_jobs=n_jobs) if data is None else data, {}
        if valid is not False:
            valid = xgb.DMatrix(VX, VY, group=VGROUP, nthread=n_jobs) if valid is True else valid
            several = (lambda s, d: [m(s, d) for m in metric]) if isinstance(metric, list) else metric
            more = {"evals": [(valid, "v")], "custom_metric": several, "evals_result": history}
        init = {"xgb_model": params.pop("init_model")} if "init_model" in params else {}
        booster = xgb.train(
            self.params(n_jobs, **params), data, rounds, obj=loss, early_stopping_rounds=patience, verbose_eval=False,
            **more, **init,
        )  # fmt: skip
        return booster, history.get("v", {})

    @staticmethod
    def predict(model, rows=X):
        return model.predict(xgb.DMatrix(rows, nthread=1) if isinstance(model, xgb.Booster) else rows)

    def update(self, loss, data, n_jobs=1):
        booster = xgb.Booster(self.params(n_jobs), [data])
        for i in range(5):
            booster.update(data, i, fobj=loss)
        return booster

    def stopping(self, metric, patience):
        """Return the arguments that evaluate a metric, and stop after so many rounds without a better value."""
        stop = {} if patience is None else {"early_stopping_rounds": patience}
        return stop if metric is None else {"eval_metric": metric, **stop}

    @staticmethod
    def rounds_of_best(model):
        return model.best_iteration + 1

    @staticmethod
    def cv(loss, data, rounds, metric, patience=None, **params):
        params = {**XGBoost().params(), **params}
        table = xgb.cv(
            params, data, rounds, nfold=3, obj=loss, custom_metric=metric, early_stopping_rounds=patience,
            as_pandas=False,
        )  # fmt: skip
        return table[f"test-pre_{metric.name}-mean"]

    continues = "xgb_model"
    objective = "rank:ndcg"

    @staticmethod
    def booster(ranker):
        return ranker.get_booster()

    def n_rounds(self, ranker):
        return self.booster(ranker).num_boosted_rounds()

    @staticmethod
    def first(n):
        """Return the argument of `predict` for the first n rounds."""
        return {"iteration_range": (0, n)}

    @staticmethod
    def histories(ranker):
        return ranker.evals_result().values()

    suffixes = ("json", "ubj")

    def loaded(self, path, rows=X):
        """Return the predictions of the saved model by every way to load it."""
        models = [xgb.XGBRanker(), bp.XGBRanker(objective=LOSS), xgb.Booster()]
        for model in models:
            model.load_model(path)
        models.append(xgb.Booster(model_file=models[-1].save_raw(path.suffix[1:])))
        return [self.predict(model, rows) for model in models]


FRAMEWORKS = {framework.name: framework for framework in (LightGBM(), XGBoost())}
every_framework = pytest.mark.parametrize("F", FRAMEWORKS.values(), ids=FRAMEWORKS)
