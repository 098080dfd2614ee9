"""LightGBM's `LGBMRanker`, taking our losses and metrics."""

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostplug.adapters.lightgbm import check_no_machines, check_parameters
from boostplug.adapters.reading import assign
from boostplug.core.checks import check_integer, shown
from boostplug.core.extras import needed_by
from boostplug.core.warning import warn_user
from boostplug.data.inputs import CheckedInputs
from boostplug.data.pairs import Pairs
from boostplug.data.tables import Schema, align, check_known_categories, check_unique, schema_of
from boostplug.estimators.columns import counting_features
from boostplug.estimators.inputs import (
    RankingScore,
    callbacks_of,
    has_labels,
    inputs_of,
    loss_of,
    metrics_of,
    sets_of_fit,
    weight_for,
)
from boostplug.estimators.parameter_names import GAINS_REMEDY, NO_GAIN, check_options, check_parameter_names, given_as
from boostplug.estimators.parameter_names import LIGHTGBM_ALIASES as ALIASES
from boostplug.estimators.parameters import for_framework, given_names, nested, resolved
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric
from boostplug.model.boosters import set_booster
from boostplug.model.export import export

with needed_by("boostplug.LGBMRanker needs", "lightgbm"):
    import lightgbm as lgb

_NO_FEATURE = "num_features()) > (0)"  # in LightGBM's error where no feature has a split


class LGBMRanker(RankingScore, lgb.LGBMRanker):
    """LightGBM's `LGBMRanker` that takes our losses as `objective` and our metrics as `eval_metric`.

    All parameters and attributes are the parent's. With a built-in objective it is the parent, plus what `fit` adds.

    Parameters
    ----------
    objective : Loss, str or callable, optional
        One of our losses, or anything the parent takes; None is LightGBM's lambdarank.
    features : list of str, optional
        Columns of a DataFrame that are features; all others are ignored, in `predict` and validation sets too. Labels,
        ids and weights that `fit` gets by name need not be listed. Default: all other columns.
    **lightgbm_params
        As for `lightgbm.LGBMRanker`, and the loss's parameters, such as ``objective__distance__lam``. `metric` may hold
        our metrics, which judge validation sets where `fit` gets no `eval_metric`: ``metric=bp.ChoiceLogLoss()``.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker = bp.LGBMRanker(objective=bp.MPBoost(), n_estimators=5, num_leaves=4, verbose=-1)
    >>> ranker.fit(data.X, data.y, qid=data.qid).predict(data.X).shape == data.y.shape
    True
    """

    framework = "lightgbm"

    def __init__(self, *, features: Any = None, **lightgbm_params: Any) -> None:
        super().__init__(**lightgbm_params)
        self.features = features

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with `deep` those of a loss too: ``objective__distance__lam``."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        return nested(parameters) if deep else parameters

    def set_params(self, /, **params: Any) -> "LGBMRanker":
        """Set parameters, those of a loss by names such as ``objective__distance__lam``, which make a new objective.

        Raises
        ------
        ValueError
            If the loss has no such parameter, or cannot have the value; the ranker is then as it was. Names without
            ``__`` go to LightGBM as they are.
        """
        super().set_params(**resolved(self, params, any_name=True))
        for name in ("features", *lgb.LGBMRanker._get_param_names()):  # noqa: SLF001
            self._other_params.pop(name, None)  # where it would hide an attribute that is set later
        return self

    def fit(
        self,
        X: Any,
        y: ArrayLike | str | None,
        sample_weight: ArrayLike | str | None = None,
        init_score: Any = None,
        group: ArrayLike | None = None,
        eval_set: Any = None,
        eval_names: list[str] | None = None,
        eval_sample_weight: Any = None,
        eval_init_score: Any = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        eval_at: Sequence[int] | None = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: list[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        qid: ArrayLike | str | None = None,
        eval_qid: Any = None,
        pairs: Pairs | None = None,
        eval_pairs: Any = None,
        labels: Mapping[str, ArrayLike | str] | None = None,
        eval_labels: Any = None,
        labelled: ArrayLike | None = None,
        eval_labelled: Any = None,
        position: ArrayLike | str | None = None,
    ) -> "LGBMRanker":
        """Fit the ranker. Takes the parent's parameters and these.

        Labels, ids, weights and positions may be names of columns of X, which then are no features: ``fit(frame,
        y="grade", qid="query_id")``. `predict`, `score` and validation sets know them from then on. Arguments that
        count columns, such as `categorical_feature`, count those of X as it is passed.

        Parameters
        ----------
        X : array, sparse matrix, or DataFrame of pandas, polars or pyarrow, of shape (n_rows, n_features)
            Numbers and categories. A column named qid holds the query ids, unless `qid` names another.
        y : array-like of shape (n_rows,), str or None
            Grades; with our losses any numbers below 1e38, which are trained on in single precision. None: there are
            `pairs` alone.
        qid : array-like of shape (n_rows,) or str, optional
            Query id of each row; the rows of a query stand together. Give `qid`, `group` or a column named qid.
        sample_weight : array-like of shape (n_queries,) or (n_rows,), or str, optional
            Weights per query or per row, each 0 or from 1e-100 to 1e100.
        eval_set : list of (X, y), optional
            Where columns were named for training, a DataFrame alone will do.
        eval_qid : list of array-like, optional
            Query ids of each validation set.
        pairs : Pairs, optional
            Explicit preferences between rows of X, for losses of ours that take them (`Loss.traits.pairs`).
        eval_pairs : list of Pairs or None, optional
            Those of each validation set.
        labels : mapping of str to array-like of shape (n_rows,), optional
            More labels by name, for losses and metrics that read one of them: ``bp.QBRank().on("sale")``. NaN where a
            row has no such label.
        eval_labels : list of mapping or None, optional
            Those of each validation set.
        labelled : array-like of bool of shape (n_rows,), optional
            False where a row has no label in `y`, which may be NaN there. Losses do not learn from it, and metrics
            count it as not judged. For losses and metrics of ours.
        eval_labelled : list of array-like or None, optional
            That of each validation set.
        position : array-like of int of shape (n_rows,), optional
            Where users saw each row, from 1; for losses that learn from clicks (`Unbiased`). Validation needs none.
        init_model : Booster, LGBMModel, str or path, optional
            The model that the training continues. Categories of a DataFrame go by content. Its trees read new ones as
            missing values, and new trees learn them.
        eval_metric : Metric, str, callable or list of them, optional
            Our metrics, or what the parent takes. Default: those in the parameter `metric`; without any, and with our
            losses where validation sets have labels, `NDCG` at each cut-off of `eval_at`, or ``NDCG(10)`` without it.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries, weights, features or parameters are wrong; before any training.
        """
        metrics, named = metrics_of(eval_metric, "lightgbm"), self._named_metrics()
        metrics += [metric for metric in named if isinstance(metric, str) or not metrics]
        objective, loss = self._objective_of_fit(metrics)
        if loss is not None:
            check_no_machines(self.get_params())
        given = inputs_of(
            self, X=X, y=y, qid=qid, group=group, weight=sample_weight, pairs=pairs, labels=labels, labelled=labelled,
            position=position,
        )  # fmt: skip
        init_model, train, sets = sets_of_fit(
            self.framework, given, init_score, partial(continued, init_model, feature_name), eval_set,
            uses=(objective, loss, metrics), starts=eval_init_score, qid=eval_qid, group=eval_group, pairs=eval_pairs,
            labels=eval_labels, labelled=eval_labelled, weight=eval_sample_weight,
        )  # fmt: skip
        if eval_names is not None:
            check_unique(eval_names, "eval_names")
        if init_model is not None and (init_score is not None or eval_init_score is not None):
            raise ValueError("LightGBM starts from init_model, not from init_score or eval_init_score; leave one out")
        metrics = self._evaluated(metrics, eval_at, default=loss is not None and has_labels(sets))
        if named and not any(isinstance(metric, str) for metric in metrics):
            metrics.append("None")  # else LightGBM evaluates the objective's default beside them
        assign_queries = _AssignQueries([train, *(one for one in sets if one.queries is not train.queries)])
        counted = partial(counting_features, X=X, taken=train.columns.values(), features=self.features)
        categorical = counted({"categorical_feature": categorical_feature})["categorical_feature"]
        too_few_rows = self._too_few_rows(train.queries.n_rows)
        with self._fitting(counted, too_few_rows):
            super().fit(
                train.X,
                train.queries.labels,
                sample_weight=weight_for(loss, train.queries.row_weight),
                init_score=train.start,
                group=train.queries.group,
                **_validation_data([(one.X, one.queries.labels) for one in sets]),
                eval_names=eval_names,
                eval_sample_weight=[weight_for(loss, one.queries.row_weight) for one in sets] or None,
                eval_init_score=None if eval_init_score is None else [one.start for one in sets],
                eval_group=[one.queries.group for one in sets] or None,
                eval_metric=[assign_queries.evaluated(metric) for metric in metrics] or None,
                eval_at=(1, 2, 3, 4, 5) if eval_at is None else eval_at,
                feature_name=feature_name,
                categorical_feature=categorical,
                callbacks=[assign_queries, *callbacks_of(callbacks)],
                init_model=init_model,
            )
        has_split = bool(self.booster_.feature_importance("split").any())
        self._keep(X, train, loss, has_split=has_split, cause=too_few_rows)
        if self.booster_.best_iteration > 0:  # counts rounds; the model is read by trees
            self._best_iteration = self.booster_.best_iteration = assign_queries.n_trees_after(self.booster_)
        return self

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the parent's predictions; the column of query ids is left out.

        Categories go by content; those that `fit` did not have are missing values, with a warning. A table without rows
        gets no scores.

        Raises
        ------
        ValueError
            If X has not the columns that `fit` had, in their order (names count where both have some), or a column is
            categorical in one of the two only. The parent's ``validate_features=False`` and
            ``predict_disable_shape_check=True`` let DataFrames pass.
        """
        switched = "validate_features" in kwargs or kwargs.get("predict_disable_shape_check", False)
        fitted = None if switched else self.training_summary_.schema
        features = self._features_of(X, fitted)
        if self.__sklearn_is_fitted__() and not features.shape[0]:  # which the parent refuses
            names = [*inspect.signature(super().predict).parameters][1:]
            options = {"num_threads": 1, **dict(zip(names, args, strict=False)), **kwargs}
            return self.booster_.predict(np.zeros((1, features.shape[1])), **options)[:0]
        return super().predict(features, *args, **kwargs)

    def export(self) -> lgb.LGBMRanker:
        """Return a fitted plain `lightgbm.LGBMRanker` that predicts the same, bit for bit, without this library.

        It pickles without a trace of this library, and its booster is what `boostplug.export` makes of ours: as far as
        the best iteration, under an objective that converters know. Parameters, histories and names come along, but
        no metric of ours.

        In place of a loss or function its objective is lambdarank, which another `fit` or ``booster_.refit`` would
        take. It does not know a column named qid: pass the features alone. LightGBM reads categories of pandas, and
        their codes. It refuses texts, and categories of polars and pyarrow: see docs/guides/serving.md.

        Returns
        -------
        lightgbm.LGBMRanker

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        booster = export(self.booster_)
        params = for_framework(self.get_params(deep=False))
        objective = next(iter(given_as(params, "objective").values()), None)
        known = objective is None or isinstance(objective, str)
        ours = {*ALIASES["objective"], *ALIASES["metric"]}
        params = {name: value for name, value in params.items() if name not in ours}
        if names := [metric for metric in self._named_metrics() if isinstance(metric, str)]:
            params["metric"] = names
        plain = lgb.LGBMRanker(**params, objective=objective if known else "lambdarank")
        parents = vars(plain).keys() - plain.get_params().keys() - {"_Booster", "_objective", "_other_params"}
        state = {name: value for name, value in vars(self).items() if name in parents}
        vars(plain).update(copy.deepcopy(state))
        set_booster(plain, booster)
        return plain

    @contextmanager
    def _fitting(self, counted: Callable[..., dict[str, Any]], too_few_rows: str | None) -> Iterator[None]:
        """Hand the parameters through `counted` on their way to LightGBM, and say the remedy in its errors."""
        self._counted = counted
        try:
            yield
        except lgb.basic.LightGBMError as error:
            cause = too_few_rows if _NO_FEATURE in str(error) else None
            if cause is None and NO_GAIN not in str(error):
                raise
            raise ValueError(cause or GAINS_REMEDY) from error
        finally:
            del self._counted

    def _objective_of_fit(self, metrics: list[Any]) -> tuple[Any, Loss | None]:
        """Return the objective, and the loss if it is one of ours, refusing what cannot go with it."""
        aliases = set(ALIASES["objective"][1:]).intersection(self.get_params())
        if aliases and self.objective is not None:
            raise ValueError(f"the objective is given twice: as objective and as {min(aliases)}; keep objective")
        objective = self.get_params()[min(aliases)] if aliases else self.objective
        loss = loss_of(objective)
        objective = objective if loss is None else loss  # which a text may spell
        if not (objective is None or loss is not None or isinstance(objective, str) or callable(objective)):
            raise ValueError(f"objective must be a loss, a name of LightGBM's or a function; got {shown(objective)}")
        if not aliases:
            self._objective = objective  # the parent's copy, which misses ranker.objective = …
        if loss is not None and self.class_weight is not None:
            raise ValueError(f"class_weight={shown(self.class_weight)} has no meaning in ranking; pass sample_weight")
        if loss is not None:
            check_options("lightgbm", self.get_params(), metrics)
            check_parameters(self.get_params())
        check_parameter_names("lightgbm", given_names(self._other_params))
        return objective, loss

    def _evaluated(self, metrics: list[Any], eval_at: Any, *, default: bool) -> list[Any]:
        """Return the metrics, by default NDCG at the cut-offs of LightGBM's parameter, else of fit's argument."""
        given = given_as(self.get_params(), "eval_at").values()
        cut_offs = np.ravel([*given, [] if eval_at is None else eval_at][0]).tolist()
        if default and not metrics:
            return [NDCG(check_integer("eval_at", k, 1)) for k in cut_offs] or [NDCG(10)]
        if cut_offs and metrics and all(isinstance(metric, Metric) for metric in metrics):
            what = f"eval_at={cut_offs} is for LightGBM's metrics; write cut-offs into the metrics, as NDCG(3)"
            warn_user(what)
        return metrics

    def _too_few_rows(self, n_rows: int) -> str | None:
        """Return the message that so few rows have no split into two leaves; None where the parameters allow one."""
        name, least = next(iter(given_as(self.get_params(), "min_data_in_leaf").items()), ("", None))
        if not isinstance(least, (int, float, np.number)) or n_rows >= 2 * least:
            return None
        return (
            f"LightGBM makes no split, since {n_rows} rows are fewer than 2 × {name}={least}; pass a smaller one, such "
            f"as {name}={max(1, n_rows // 10)}, or more rows"
        )

    def _named_metrics(self) -> list[Any]:
        """Return the metrics in LightGBM's own parameter `metric`, under each of its aliases that is given."""
        return metrics_of([*given_as(self.get_params(), "metric").values()], "lightgbm")

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Hand LightGBM the loss itself, as logs show it, and no default metric, which may refuse our labels."""
        params = for_framework(super()._process_params(stage))
        params = self._counted(params) if stage == "fit" else params
        if stage == "fit" and isinstance(self._objective, Loss):
            params["objective"] = self._objective
        if isinstance(self._objective, Loss) or self._named_metrics():
            params["metric"] = None  # `fit` passes them all, and `predict` needs none
        return params


class _AssignQueries:
    """Callback before each round: the loss and the metrics get the queries in full precision, with their pairs.

    `sets` holds the training set and each other one, in LightGBM's order. It counts trees, of which a round without a
    split adds none.
    """

    before_iteration = True

    def __init__(self, sets: Sequence[CheckedInputs]) -> None:
        self.sets, self.datasets = sets, list[Any]()
        self.first_round, self.n_trees = 0, list[int]()

    def __call__(self, env: Any) -> None:
        self.first_round = env.begin_iteration
        self.n_trees.append(env.model.num_trees())
        self.datasets = [env.model.train_set, *env.model.valid_sets]
        for dataset, one in zip(self.datasets, self.sets, strict=True):
            assign(dataset, one.queries)

    def n_trees_after(self, booster: lgb.Booster) -> int:
        """Return the number of trees after the best round."""
        counted = [*self.n_trees, booster.num_trees()]
        return max(1, int(counted[booster.best_iteration - self.first_round]))

    def evaluated(self, metric: Any) -> Any:
        """Return a metric as the parent calls it: one of ours as a function of arrays, which sees their Dataset."""
        if not isinstance(metric, Metric):
            return metric

        def value(labels: Any, scores: Any, weight: Any, group: Any) -> Any:  # noqa: ARG001
            return metric(scores, next(one for one in self.datasets if one.get_label() is labels))

        return value


def continued(init_model: Any, feature_name: Any, train: CheckedInputs) -> tuple[Any, CheckedInputs]:
    """Return the model to go on from, and the training set with the features as the model knows them."""
    init_model, features = model_and_features(init_model, train.X, feature_name)
    train = train._replace(X=features)
    if feature_name == "auto":
        names = [name.replace(" ", "_") for name in train.schema.names or ()]
        check_unique(names, "X, in whose names LightGBM writes a blank as _,")
    return init_model, train


def model_and_features(init_model: Any, X: Any, feature_name: Any) -> tuple[Any, Any]:
    """Return the model to go on from, and features as it knows them: LightGBM goes by places of columns alone."""
    if init_model is None:
        return None, X
    if isinstance(init_model, (str, Path)):
        init_model = lgb.Booster(model_file=init_model)
    if not isinstance(init_model, (lgb.Booster, lgb.LGBMModel)):
        raise TypeError(f"init_model must be a ranker, a Booster or a path; got {shown(init_model)}")
    model = init_model.booster_ if isinstance(init_model, lgb.LGBMModel) else init_model
    schema = schema_of(X)
    known, here = model.feature_name(), schema.names if feature_name == "auto" else tuple(feature_name)
    default = known == [f"Column_{i}" for i in range(len(known))]
    names = None if here is None or default else tuple("_".join(name.split(" ")) for name in here)
    own = init_model.training_summary_.schema if isinstance(init_model, LGBMRanker) else None
    categories = _categories_of(model, schema) if own is None or own.categories is None else own.categories
    fitted = Schema(len(known), tuple(known), categories)
    check_known_categories(schema, fitted, "X beside init_model")
    return init_model, align(X, fitted, "X beside init_model", schema=schema._replace(names=names), new="appended")


def _categories_of(model: lgb.Booster, schema: Schema) -> dict[int, tuple[Any, ...]] | None:
    """Return a model's categories by the places of their columns, as far as it knows them.

    LightGBM keeps the categories alone, in the order of the columns.
    """
    categories, places = model.pandas_categorical, sorted(schema.categories or ())
    if not categories:
        return None
    if len(categories) != len(places):
        raise ValueError(f"X has {len(places)} categorical columns, init_model {len(categories)}; pass the same ones")
    return dict(zip(places, map(tuple, categories), strict=True))


def _validation_data(sets: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    """Return the parent's arguments for validation data, under the names that its version prefers."""
    if not sets:
        return {}
    if "eval_X" in inspect.signature(lgb.LGBMRanker.fit).parameters:
        return {"eval_X": tuple(X for X, _ in sets), "eval_y": tuple(labels for _, labels in sets)}
    return {"eval_set": list(sets)}
