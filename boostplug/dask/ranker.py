"""Fitted rankers on collections: predictions, scores, copies."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import get_client
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from boostplug.dask.collections import check_collection, partitioned_set
from boostplug.estimators.inputs import RankingScore, inputs_to_judge, metric_of_score
from boostplug.metrics import Metric


class RankerOnCollections(RankingScore):
    """Mixin for a ranker of one machine, which predicts and scores the partitions where they lie."""

    client: Any
    _dtype: type
    """Of predictions."""
    _local: type
    """Class of the ranker of one machine."""

    def to_local(self) -> Any:
        """Return the fitted ranker of one machine, with the same model and parameters, which needs no cluster.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        check_is_fitted(self)
        ranker = self._local(**self._local_params())
        vars(ranker).update(fitted_state(self))
        return ranker

    @property
    def position_bias_(self) -> NoReturn:  # type: ignore[override]
        """Raise an AttributeError: no machine holds all pages."""
        remedy = "call loss.position_bias(ranker.predict(X), queries) on pages in memory"
        raise AttributeError(
            f"position_bias_ is not known after a fit on Dask, as no machine holds all pages; {remedy}"
        )

    def export(self) -> Any:
        """Return ``to_local().export()``: a ranker of the plain framework that predicts the same."""
        return self.to_local().export()

    def predict(self, X: Any, *args: Any, **kwargs: Any) -> Any:
        """Return predictions: for a collection a lazy one in its partitions, a Series with its index or an array.

        Parameters
        ----------
        X : dask.dataframe.DataFrame, dask.array.Array, or in memory, of shape (n_rows, n_features)
            In partitions of any kind: predictions need no complete queries. A column named qid is left out.
        *args, **kwargs
            As for `predict` of the ranker of one machine. On a collection, predictions must be one number per row: for
            others, such as LightGBM's `pred_leaf`, call ``to_local().predict`` on each partition.

        Raises
        ------
        ValueError
            If X has not the columns that `fit` had; on a collection when the predictions are computed.
        """
        model = self.to_local()
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return model.predict(X, *args, **kwargs)
        X = check_collection(X, self._local_name())
        predict = partial(_predictions, dtype=self._dtype, args=args, kwargs=kwargs)
        shared = delayed(model)  # once in the graph, whatever the number of partitions
        if isinstance(X, dd.DataFrame):
            return X.map_partitions(predict, shared, meta=pd.Series(dtype=self._dtype))
        return X.map_blocks(predict, shared, drop_axis=1, dtype=self._dtype, meta=np.empty(0, self._dtype))

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        metric: Metric | str | None = None,
        labels: Mapping[str, Any] | None = None,
        labelled: Any = None,
    ) -> float:
        """Return a metric over all queries; of data in memory too. Which one, `metric` or the default of `fit`."""
        model = self.to_local()
        if not isinstance(X, (da.Array, dd.DataFrame)):
            more = {"metric": metric, "labels": labels, "labelled": labelled}
            return float(model.score(X, y, sample_weight, qid=qid, group=group, **more))
        self._check_absent({"group": group, "labelled": labelled})
        judge = metric_of_score(metric)
        inputs = inputs_to_judge(self, X=X, y=y, qid=qid, weight=sample_weight, labels=labels)
        return partitioned_set(self._client(), inputs.take_columns(), local=self._local_name()).score(model, judge)

    def _local_name(self) -> str:
        """Return the name of the ranker that takes data in memory, for messages."""
        return f"boostplug.{self._local.__name__}"

    def _client(self) -> Any:
        return get_client() if self.client is None else self.client

    def _local_params(self) -> dict[str, Any]:
        """Return the parameters of the ranker of one machine."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        return {name: value for name, value in params.items() if name not in {"client", "time_out"}}

    def _check_absent(self, arguments: Mapping[str, Any]) -> None:
        """Raise for arguments that only the ranker of one machine takes."""
        for name, value in arguments.items():
            if value is not None:
                what = f"boostplug.dask.{type(self).__name__} takes no {name}"
                raise TypeError(f"{what}; see the guide on clusters, or train on one machine")

    def __sklearn_clone__(self) -> Any:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        shared = {"client": params.pop("client")}  # a connection is not copied
        return type(self)(**{name: clone(value, safe=False) for name, value in params.items()}, **shared)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # type: ignore[dict-item]


def fitted_state(ranker: Any) -> dict[str, Any]:
    """Return what a ranker has from `fit`, and not from its parameters."""
    state = {name: value for name, value in vars(ranker).items() if "_" in (name[0], name[-1])}
    return {name: value for name, value in state.items() if name != "_other_params"}


def _predictions(part: Any, model: Any, *, dtype: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    values = model.predict(part, *args, **kwargs) if part.shape[0] else np.empty(0, dtype)
    return pd.Series(values, part.index) if hasattr(part, "index") else values
