"""Fitted rankers on collections: predictions, scores, copies."""

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import delayed
from distributed import get_client
from numpy.typing import NDArray
from sklearn.base import clone

from boostplug.core.checks import check_instance
from boostplug.dask.collections import checked_collection, parts_of
from boostplug.data.inputs import Inputs
from boostplug.estimators.inputs import FIT, columns_to_judge
from boostplug.metrics import NDCG, Metric


class RankerOnCollections:
    """Mixin for a ranker of one machine, which predicts and scores the partitions where they lie."""

    client: Any

    def to_local(self) -> Any:
        """Return the fitted ranker of one machine."""
        raise NotImplementedError

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
            As for `predict` of the ranker of one machine. Predictions with several numbers per row, such as those of
            LightGBM's `pred_leaf`, are a DataFrame or an array with two dimensions.

        Raises
        ------
        ValueError
            If X has not the columns that `fit` had.
        """
        model = self.to_local()
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return model.predict(X, *args, **kwargs)
        X = checked_collection(X, _name_of(model))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a frame that does not know its categories makes some up
            few = _few_rows(X) if isinstance(X, dd.DataFrame) else np.zeros((1, X.shape[1]), X.dtype)
            some = np.asarray(model.predict(few, *args, **kwargs))
        predict = partial(_predictions, example=some, args=args, kwargs=kwargs)
        shared = delayed(model)  # once in the graph, whatever the number of partitions
        if isinstance(X, dd.DataFrame):
            return X.map_partitions(predict, shared, meta=predict(X._meta, model))  # noqa: SLF001
        shape = {"drop_axis": 1} if some.ndim == 1 else {"chunks": (X.chunks[0], some.shape[1:])}
        return X.map_blocks(predict, shared, **shape, dtype=some.dtype, meta=some[:0])

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
    ) -> float:
        """Return a metric over all queries; of data in memory too. Which one, `metric` or the default of `fit`."""
        model = self.to_local()
        if not isinstance(X, (da.Array, dd.DataFrame)):
            return float(model.score(X, y, sample_weight, qid=qid, group=group, metric=metric, labels=labels))
        self._refuse({"group": group})
        metric = Metric.parse(metric) if isinstance(metric, str) else metric
        metric = model._first_metric() or NDCG(10) if metric is None else metric  # noqa: SLF001
        check_instance("metric", metric, Metric, "NDCG(10)")
        columns = columns_to_judge(model._columns_by_role)  # noqa: SLF001
        given = Inputs(X=X, y=y, qid=qid, weight=sample_weight, labels=labels, columns=columns, arguments=FIT)
        return parts_of(self._client(), given.split(), local=_name_of(model)).score(model, metric)

    def _client(self) -> Any:
        return get_client() if self.client is None else self.client

    def _refuse(self, arguments: Mapping[str, Any]) -> None:
        """Raise for arguments that the ranker of one machine takes."""
        for name, value in arguments.items():
            if value is not None:
                raise TypeError(
                    f"boostplug.dask.{type(self).__name__} takes no {name}: workers know only their own rows; see the "
                    "guide on clusters, or train on one machine"
                )

    def __sklearn_clone__(self) -> Any:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        shared = {"client": params.pop("client")}  # a connection is not copied
        return type(self)(**{name: clone(value, safe=False) for name, value in params.items()}, **shared)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # type: ignore[dict-item]


def _name_of(model: Any) -> str:
    return "boostplug." + type(model).__name__


def _few_rows(X: Any) -> Any:
    """Return rows as a frame may hold them; a column of text may be one of missing values, and its partitions say."""
    few = X._meta_nonempty  # noqa: SLF001
    return few.assign(**dict.fromkeys(few.select_dtypes(["object", "string"]).columns, np.nan))


def _predictions(part: Any, model: Any, *, example: NDArray[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    empty = part.shape[0] == 0
    values = example[:0] if empty else np.asarray(model.predict(part, *args, **kwargs))
    if not hasattr(part, "index"):
        return values
    return pd.DataFrame(values, part.index) if values.ndim == 2 else pd.Series(values, part.index)
