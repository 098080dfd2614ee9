"""XGBoost's `XGBRanker`, taking our losses and metrics."""

import copy
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from boostplug.adapters.reading import assign
from boostplug.core.checks import as_native, check_integer, check_order
from boostplug.core.extras import needed_by
from boostplug.data.inputs import CheckedInputs
from boostplug.data.pairs import Pairs
from boostplug.data.tables import (
    Schema,
    align,
    check_known_categories,
    check_same_sparsity,
    schema_of,
    with_text_categories,
)
from boostplug.estimators.columns import counting_features
from boostplug.estimators.inputs import (
    RankingScore,
    callbacks_of,
    has_labels,
    inputs_of,
    is_training_set,
    loss_of,
    metrics_of,
    relative_weight,
    sets_of_fit,
    weight_for,
)
from boostplug.estimators.parameter_names import POINTWISE, check_options, check_parameter_names, is_dart
from boostplug.estimators.parameters import for_framework, given_names, nested, resolved
from boostplug.losses import Loss
from boostplug.metrics import NDCG, Metric
from boostplug.model.boosters import set_booster
from boostplug.model.export import plain_booster, up_to_best_iteration
from boostplug.model.xgboost import set_categories

with needed_by("boostplug.XGBRanker needs", "xgboost"):
    import xgboost as xgb
    from xgboost.sklearn import ltr_metric_decorator


class XGBRanker(RankingScore, xgb.XGBRanker):
    """XGBoost's `XGBRanker` that takes our losses as `objective` and our metrics as `eval_metric`.

    All parameters and attributes are the parent's. The saved model names the objective rank:pairwise, with a base score
    of 0, and loads in the plain framework.

    Parameters
    ----------
    objective : Loss or str, default "rank:ndcg"
        One of our losses, or a ranking objective of XGBoost's, or "reg:squarederror": regression on the labels, row by
        row.
    eval_metric : Metric, str, callable or list of them, optional
        Our metrics, or what the parent takes. Default with our losses: ``NDCG(10)``.
    features : list of str, optional
        Columns of a DataFrame that are features, as for `LGBMRanker`. Default: all without another use.
    **xgboost_params
        As for `xgboost.XGBRanker`; and the loss's and the metric's parameters, such as ``objective__distance__lam``.

    Examples
    --------
    >>> import boostplug as bp
    >>> data = bp.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker = bp.XGBRanker(objective=bp.MPBoost(), n_estimators=5, max_depth=2)
    >>> ranker.fit(data.X, data.y, qid=data.qid).predict(data.X).shape == data.y.shape
    True
    """

    framework = "xgboost"

    def __init__(self, *, objective: Loss | str = "rank:ndcg", features: Any = None, **xgboost_params: Any) -> None:
        own = isinstance(objective, str) and loss_of(objective) is None
        if own and not str(objective).startswith(("rank:", POINTWISE)):
            what = f"objective={objective!r} is no ranking objective of XGBoost's"
            raise ValueError(f"{what}; pass 'rank:ndcg', or a loss such as boostplug.LambdaRank()")
        super().__init__(objective="rank:pairwise", **for_framework(xgboost_params))
        self.objective, self.features = objective, features
        self.set_params(**{name: value for name, value in xgboost_params.items() if "__" in name})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with `deep` those of the loss and the metric: ``objective__distance__lam``."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        return nested(parameters) if deep else parameters

    def set_params(self, /, **params: Any) -> "XGBRanker":
        """Set parameters, those of values by names such as ``objective__distance__lam``, ``eval_metric__k``.

        The ranker then has a new objective or metric.

        Raises
        ------
        ValueError
            If the loss or metric has no such parameter, or cannot have the value; the ranker is then as it was. Names
            without ``__`` go to XGBoost as they are.
        """
        super().set_params(**resolved(self, params, any_name=True))
        return self

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that the training gets; of metrics the names alone, which a booster knows."""
        params = for_framework(super().get_xgb_params())
        if isinstance(params.get("eval_metric"), list):
            params["eval_metric"] = [one for one in params["eval_metric"] if isinstance(one, str)] or None
        return params

    def fit(
        self,
        X: Any,
        y: ArrayLike | str | None,
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | str | None = None,
        sample_weight: ArrayLike | str | None = None,
        base_margin: ArrayLike | None = None,
        eval_set: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Any = None,
        base_margin_eval_set: Any = None,
        feature_weights: ArrayLike | None = None,
        pairs: Pairs | None = None,
        eval_pairs: Any = None,
        labels: Mapping[str, ArrayLike | str] | None = None,
        eval_labels: Any = None,
        labelled: ArrayLike | None = None,
        eval_labelled: Any = None,
        position: ArrayLike | str | None = None,
    ) -> "XGBRanker":
        """Fit the ranker. Takes the parent's parameters, of which these go further.

        Labels, ids, weights and positions may be names of columns of X, which then are no features: ``fit(frame,
        y="grade", qid="query_id")``. `predict`, `score` and validation sets know them from then on. Arguments that
        count columns, such as `feature_weights`, count those of X as it is passed.

        Parameters
        ----------
        X : array, sparse matrix, or DataFrame of pandas, polars or pyarrow, of shape (n_rows, n_features)
            Numbers and, with ``enable_categorical=True``, categories. A column named qid holds the query ids, unless
            `qid` names another.
        y : array-like of shape (n_rows,), str or None
            Grades; with our losses any numbers below 1e38, which are trained on in single precision. None: there are
            `pairs` alone.
        qid : array-like of shape (n_rows,) or str, optional
            Query id of each row; the rows of a query stand together, in any order of ids.
        eval_set : list of (X, y), optional
            Where columns were named for training, a DataFrame alone will do.
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
        sample_weight : array-like of shape (n_queries,) or (n_rows,), or str, optional
            Weights ≥ 0 per query, or per row for our losses and metrics; built-in ones get each query's mean weight.
        xgb_model : Booster, XGBModel, str or path, optional
            The model that the training continues. Its categories go by content, and new ones are an error. Its base
            score stays, and it stays as it is: the best iteration of its own training ends with that.
        verbose : bool or int, default True
            As for the parent: print validation results each round, or each `verbose` rounds.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If labels, queries, weights, features or parameters are wrong; before any training.
        """
        loss, metrics = self._objective_and_metrics(self.eval_metric)
        given = inputs_of(
            self, X=X, y=y, qid=qid, group=group, weight=sample_weight, pairs=pairs, labels=labels, labelled=labelled,
            position=position,
        )  # fmt: skip
        model, train, sets = sets_of_fit(
            self.framework, given, base_margin, partial(self._continued, xgb_model), eval_set,
            uses=(self.objective, loss, metrics), starts=base_margin_eval_set, qid=eval_qid, group=eval_group,
            pairs=eval_pairs, labels=eval_labels, labelled=eval_labelled, weight=sample_weight_eval_set,
        )  # fmt: skip
        for one in sets:
            self._check_same_sparsity(one.schema, train.schema, f"{one.where}X")
        arguments, custom, binned = self._training_arguments(X, train.columns, loss, metrics, has_labels(sets), model)
        weights = self._weights_of_features(feature_weights, X, train.columns, train.schema.n_columns)
        matrix = self._matrix(train, binned=binned, feature_weights=weights)
        evals = [
            matrix if is_training_set(one, train) else self._matrix(one, binned=binned, ref=matrix) for one in sets
        ]
        results: dict[str, Any] = {}
        with xgb.config_context(verbosity=1 if self.verbosity is None else self.verbosity):
            self._Booster = xgb.train(
                dtrain=matrix,
                evals=[(valid, f"validation_{i}") for i, valid in enumerate(evals)],
                obj=loss,
                custom_metric=self._custom_metric(custom),
                evals_result=results,
                verbose_eval=verbose,
                **arguments,
            )
        if results:
            self.evals_result_ = results
        set_categories(self._Booster, train.schema.categories)
        self._keep(X, train, loss, has_split=bool(self._Booster.get_score()), cause=None)
        return self

    def predict(self, X: Any, **kwargs: Any) -> Any:
        """Return the parent's predictions; the column of query ids is left out.

        Categories go by content; those that `fit` did not have are missing values, with a warning.

        Raises
        ------
        ValueError
            If X has not the columns that `fit` had, in their order (names count where both have some), a column is
            categorical in one of the two only, or one of the two is sparse. ``validate_features=False`` lets them pass.
            If `base_margin` has the index of X in another order.
        """
        check_order(X=X, base_margin=kwargs.get("base_margin"))
        checks = self.__sklearn_is_fitted__() and kwargs.get("validate_features", True)
        fitted = _schema_of(self) if checks else None
        features = self._features_of(X, fitted)
        if fitted is not None:
            self._check_same_sparsity(schema_of(features), fitted)
        options = {name: as_native(value) for name, value in kwargs.items()}
        scores = super().predict(with_text_categories(features), **options)
        return scores if features.shape[0] else scores.reshape(0)  # a table in XGBoost 3.4

    def save_model(self, fname: Any) -> None:
        """Save the model that `predict` uses: after early stopping, the rounds up to the best iteration.

        A plain ``xgboost.Booster`` that loads the file then predicts the same. The parent saves all rounds, and so does
        ``get_booster().save_model``. A `fit` whose `xgb_model` is the file goes on from the best iteration.

        The booster's attribute ``category_lists`` is JSON: the lists of categories by the places of their columns.

        Parameters
        ----------
        fname : str or path
            As for the parent.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        saved = copy.copy(self)
        saved.__dict__.update(_Booster=up_to_best_iteration(self.get_booster()))
        super(XGBRanker, saved).save_model(fname)

    def load_model(self, fname: Any) -> None:
        """Load a model for `predict`; the parent's, but a ranker of ours keeps its loss.

        A file names XGBoost's own objective, rank:pairwise for models of our losses: a ranker that was given a loss
        keeps it, with its ``base_score``, for a later `fit`. One that was not takes the file's objective, as the
        parent does.

        Parameters
        ----------
        fname : str, path or bytearray
            As for the parent.
        """
        kept = {name: getattr(self, name) for name in ("objective", "base_score")}
        super().load_model(fname)
        if loss_of(kept["objective"]) is not None:
            self.__dict__.update(kept)
        self.training_summary_ = self.training_summary_._replace(schema=_schema_of(self.get_booster()), sizes=None)

    def export(self) -> xgb.XGBRanker:
        """Return a fitted plain `xgboost.XGBRanker` that predicts the same, bit for bit, without this library.

        It pickles without a trace of this library, and its booster is what `boostplug.export` makes of ours: as far as
        the best iteration, under an objective that converters know. Parameters and histories come along, but of
        `eval_metric` the names alone, and no callbacks.

        In place of a loss its objective is rank:pairwise, which another `fit` would take. Its booster's is
        reg:squarederror, and so is that of a ranker which loads its file. It does not know a column named qid in
        `predict`: pass the features alone.

        Returns
        -------
        xgboost.XGBRanker

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        booster = plain_booster(self.get_booster())
        params = for_framework(self.get_params(deep=False))
        names = [metric for metric in metrics_of(self.eval_metric, "xgboost") if isinstance(metric, str)]
        params.update(
            objective=self.objective if str(self.objective).startswith("rank:") else "rank:pairwise",
            eval_metric=names or None,
            callbacks=None,
        )
        plain = xgb.XGBRanker(**params)
        set_booster(plain, booster)
        if results := getattr(self, "evals_result_", {}):
            plain.evals_result_ = copy.deepcopy(results)
        return plain

    def _continued(self, xgb_model: Any, train: CheckedInputs) -> tuple[xgb.Booster | None, CheckedInputs]:
        """Return the model to go on from, and the training set with the categories of the model."""
        if "qid" in (train.schema.names or ()):
            raise ValueError("X has a feature 'qid', which XGBoost's predict leaves out; rename it, or drop it")
        model, known = model_and_columns(xgb_model, self.get_xgb_params())
        if known is not None:
            name = "X beside xgb_model"
            check_known_categories(train.schema, known, name)
            train = train._replace(X=align(train.X, known, name, new="refused"))
            self._check_same_sparsity(train.schema, known, name)
        return model, train

    def _check_same_sparsity(self, schema: Schema, fitted: Schema, name: str = "X") -> None:
        """Raise if only one of X and the training set is sparse, where that changes scores."""
        if self.missing != 0:
            check_same_sparsity(schema, fitted, name)

    def _matrix(
        self, given: CheckedInputs, *, binned: bool, ref: xgb.DMatrix | None = None, feature_weights: Any = None
    ) -> xgb.DMatrix:
        """Return a DMatrix, or with `binned` of quantiles, whose queries our losses and metrics read.

        The trees of a model that the training continues split between quantiles of other data.
        """
        weight = weight_for(loss_of(self.objective), given.queries.query_weight)
        of_rows = self.objective == POINTWISE and weight is not None  # which XGBoost refuses beside queries
        fields = {
            "label": given.queries.labels,
            "group": None if of_rows else given.queries.group,
            "weight": relative_weight(given.queries.row_weight) if of_rows else weight,
            "base_margin": given.start,
            "feature_weights": feature_weights,
            "missing": self.missing,
            "enable_categorical": self.enable_categorical,
            "feature_types": self.feature_types,
            "nthread": self.n_jobs,
        }
        features = with_text_categories(given.X)
        if binned:
            matrix = xgb.QuantileDMatrix(features, **fields, max_bin=self.max_bin, ref=ref)
        else:
            matrix = xgb.DMatrix(features, **fields)
        assign(matrix, given.queries)
        return matrix

    def _objective_and_metrics(self, eval_metric: Any) -> tuple[Loss | None, list[Any]]:
        """Return the loss, if it is one of ours, and the metrics; refuse what is none, and options without effect."""
        loss = loss_of(self.objective)
        if loss is None and not isinstance(self.objective, str):
            raise ValueError(f"objective must be a loss or a name; got {self.objective!r}; derive a boostplug.Loss")
        metrics = metrics_of(eval_metric, "xgboost")
        if loss is not None:
            check_options("xgboost", self.get_xgb_params(), metrics)
        check_parameter_names("xgboost", given_names(getattr(self, "kwargs", None) or {}))
        return loss, metrics

    def _weights_of_features(
        self, given: ArrayLike | None, X: Any, columns: Mapping[str, str], n_features: int
    ) -> ArrayLike | None:
        """Return a weight for each feature: fit's, else the constructor's."""
        given = as_native(self.feature_weights if given is None else given)
        counted = counting_features({"feature_weights": given}, X, columns.values(), self.features)
        weights: ArrayLike | None = counted["feature_weights"]
        if weights is not None and np.shape(weights) != (n_features,):
            what = f"got shape {np.shape(weights)}"
            raise ValueError(f"feature_weights must hold {n_features} numbers, one for each feature; {what}")
        return weights

    def _training_arguments(
        self,
        X: Any,
        columns: Mapping[str, str],
        loss: Loss | None,
        metrics: list[Any],
        evaluates: bool,
        model: xgb.Booster | None,
    ) -> tuple[dict[str, Any], list[Any], bool]:
        """Return arguments of `xgb.train`, checked, the metrics that it must get as functions, and whether to bin.

        Parameters
        ----------
        X, columns
            Features as `fit` got them, and the columns that are none.
        loss : Loss or None
        metrics : list
        evaluates : bool
            Whether there are sets by which a loss of ours has its default metric.
        model : Booster or None
            The one that the training goes on from, whose base score stays.
        """
        rounds = self.early_stopping_rounds
        if rounds is not None:
            check_integer("early_stopping_rounds", rounds, 1, ", or None")
        callbacks = callbacks_of(self.callbacks)
        stops = rounds is not None or any(isinstance(one, xgb.callback.EarlyStopping) for one in callbacks)
        if stops and is_dart(self.get_xgb_params()):
            raise ValueError("booster='dart' has no best round to stop at; leave out early_stopping_rounds, or dart")
        if not metrics and loss is not None and evaluates:
            metrics = [NDCG(10)]
        built_in = [metric for metric in metrics if isinstance(metric, str)]
        custom = [metric for metric in metrics if not isinstance(metric, str)]
        params = self.get_xgb_params()
        params.pop("eval_metric", None)
        if built_in:
            params["eval_metric"] = built_in
        elif custom or loss is not None:
            params["disable_default_eval_metric"] = 1
        if loss is not None:
            params["objective"] = "rank:pairwise"
        if model is not None:
            _check_base_score(params.pop("base_score", None), model)
        elif loss is not None and params.get("base_score") is None:
            params["base_score"] = 0.0
        arguments = {
            "params": counting_features(params, X, columns.values(), self.features),
            "num_boost_round": self.get_num_boosting_rounds(),
            "early_stopping_rounds": rounds,
            "xgb_model": model,
            "callbacks": callbacks,
        }
        grows_on_bins = self.tree_method in {None, "hist", "auto"} and self.booster != "gblinear"
        return arguments, custom, model is None and grows_on_bins

    def _custom_metric(self, metrics: list[Any]) -> Callable[..., Any] | None:
        """Return one function for all metrics that are none of XGBoost's own."""
        if not metrics:
            return None
        wrapped = [m if isinstance(m, Metric) else ltr_metric_decorator(m, self.n_jobs) for m in metrics]
        return lambda scores, matrix: [m(scores, matrix) for m in wrapped]


def _schema_of(model: xgb.Booster | xgb.XGBModel) -> Schema:
    """Return what a model knows of the columns that it was trained on: one from a file less than one from `fit`."""
    if isinstance(model, XGBRanker) and model.training_summary_.schema is not None:
        return model.training_summary_.schema
    booster = model.get_booster() if isinstance(model, xgb.XGBModel) else model
    names = tuple(booster.feature_names) if booster.feature_names else None
    return Schema(booster.num_features(), names, _categories_of(booster))


def _categories_of(booster: xgb.Booster) -> dict[int, tuple[Any, ...]] | None:
    """Return a booster's categories by the places of their columns; None where they cannot be known.

    Those of our rankers have them in an attribute. Others keep them since XGBoost 3.1, and give them out by pyarrow.
    They keep none of features that were codes.
    """
    if (kept := booster.attr("category_lists")) is not None:
        return {int(place): tuple(names) for place, names in json.loads(kept).items()}
    if "c" not in (booster.feature_types or ()):
        return {}
    try:
        columns = booster.get_categories(export_to_arrow=True).to_arrow()
    except (AttributeError, ImportError):
        return None
    categories = {at: tuple(values.to_pylist()) for at, (_, values) in enumerate(columns or ()) if values is not None}
    return categories or None


def model_and_columns(xgb_model: Any, parameters: Mapping[str, Any]) -> tuple[xgb.Booster | None, Schema | None]:
    """Return a copy of fit's xgb_model to go on from, and what is known of the columns that it was trained on.

    The copy has no best round, since new trees come after that of the earlier training. A model of another booster than
    the parameters' is refused: XGBoost would drop its trees.
    """
    if xgb_model is None:
        return None, None
    given = xgb_model.get_booster() if isinstance(xgb_model, xgb.XGBModel) else xgb_model
    booster = given.copy() if isinstance(given, xgb.Booster) else xgb.Booster(model_file=given)
    own, asked = json.loads(booster.save_config())["learner"]["gradient_booster"]["name"], parameters.get("booster")
    if own != (asked or ("gbtree" if own == "gblinear" else own)):
        raise ValueError(f"booster={asked!r} would drop the trees of xgb_model; pass booster={own!r}")
    if parameters.get("process_type") != "update":  # which adds no trees
        booster.set_attr(best_iteration=None, best_score=None)
    return booster, _schema_of(xgb_model if isinstance(xgb_model, XGBRanker) else booster)


def _check_base_score(given: float | None, booster: xgb.Booster) -> None:
    """Raise where base_score is not that of the model that the training goes on from, whose scores would move."""
    parameters = json.loads(booster.save_config())["learner"]["learner_model_param"]
    own = np.ravel(json.loads(parameters["base_score"]))  # a list since XGBoost 3.1
    if given is not None and (np.float32(given) != np.float32(own)).any():
        raise ValueError(f"base_score={given!r} differs from that of xgb_model, {own[0]:g}; leave out base_score")
