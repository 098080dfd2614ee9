"""Readers of exported models: each scores rows by the arithmetic of the search engine that loads the text.

They follow the sources of the engines, and share no code with the writers, which they check:

- Solr: ``MultipleAdditiveTreesModel`` and ``SolrPluginUtils.invokeSetters``
- plugins of Elasticsearch and OpenSearch: ``XGBoostJsonParser`` and ``NaiveAdditiveDecisionTree``
- RankLib: ``RankerFactory``, ``Ensemble`` and ``Split``
- Vespa: ``LightGBMParser`` and ``XGBoostParser``, which make expressions in double precision
"""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

from boostplug.core.checks import column_names, shown
from boostplug.data.tables import as_features, is_frame, schema_of

Floats = NDArray[Any]

_SOLR_CLASS = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
_XGBOOST_FIELDS = ("nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "leaf", "children")


class _Split(NamedTuple):
    """A split as the engine reads it; its children are still in the format of the text."""

    feature: int
    threshold: float
    left: Any
    right: Any
    missing_left: bool = False
    categories: tuple[int, ...] | None = None  # of a split by category: codes that go left


_Node = Callable[[Any], _Split | float]  # from a node of the text to a split, or the value of a leaf


class Model(NamedTuple):
    """A model as an engine holds it, and the arithmetic of that engine."""

    trees: list[tuple[Any, float]]  # root, in the format of the text, and weight
    node: _Node
    kind: Any = np.float32
    product: Any = np.float32  # type in which a tree's output is multiplied by its weight and added
    inclusive: bool = False  # a value on the threshold goes left
    zero: bool = False  # a missing value is 0
    link: Callable[[Floats], Floats] | None = None

    def scores(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each row."""
        rows: Floats = X.astype(self.kind)
        if self.zero:
            rows[np.isnan(rows)] = 0
        total: Floats = np.zeros(len(rows), self.kind)
        for root, weight in self.trees:
            output = self._outputs(root, rows).astype(self.product) * self.product(self.kind(weight))
            total = (total + output).astype(self.kind)
        return np.asarray(total if self.link is None else self.link(total), np.float64)

    def _outputs(self, root: Any, X: Floats) -> Floats:
        """Return the value of each row's leaf."""
        out: Floats = np.empty(len(X), self.kind)
        waiting = [(root, np.arange(len(X)))]
        for node, rows in waiting:  # grows by the children of each split
            split = self.node(node)
            if not isinstance(split, _Split):
                out[rows] = split
                continue
            x, threshold = X[rows, split.feature], self.kind(split.threshold)
            left = (x <= threshold) if self.inclusive else (x < threshold)
            if split.categories is not None:
                left = np.isin(x, split.categories)
            left = np.where(np.isnan(x), split.missing_left, left)
            waiting += [(split.left, rows[left]), (split.right, rows[~left])]
        return out


class FeatureValues(NamedTuple):
    """Columns of X, their names, and the texts of categories by column and code."""

    values: NDArray[np.float64]
    names: list[str] | None
    categories: dict[int, list[str]]

    def by_name(self, default: Sequence[str] | None = None) -> dict[str, int]:
        """Return the column of each name. XGBoost's names f0, f1, … are the default."""
        n = self.values.shape[1]
        names = self.names or default or [f"f{k}" for k in range(n)]
        if len(names) != n:
            raise ValueError(f"X must have {len(names)} columns, one per feature name; got {n}; pass feature_names")
        return {str(name): k for k, name in enumerate(names)}


def feature_values(X: Any, feature_names: Sequence[str] | None = None) -> FeatureValues:
    """Return the columns of a table as numbers; a category is its code."""
    names = [str(name) for name in (column_names(X) if feature_names is None else feature_names)]
    X = as_features(X)
    categories = {k: [*map(str, texts)] for k, texts in (schema_of(X).categories or {}).items()}
    if is_frame(X):
        columns = [x.cat.codes.replace(-1, np.nan) if hasattr(x, "cat") else x for _, x in X.items()]
        X = np.column_stack([np.asarray(x, np.float64) for x in columns])
    return FeatureValues(np.asarray(X.toarray() if hasattr(X, "nnz") else X, np.float64), names or None, categories)


def solr(text: str, columns: FeatureValues) -> Model:
    """Return a `MultipleAdditiveTreesModel`."""
    model = _json(text)
    if model["class"] != _SOLR_CLASS:
        raise ValueError(f"class must be {_SOLR_CLASS}; got {shown(model['class'])}")
    names = [feature["name"] for feature in model["features"]]
    by_name = columns.by_name(names)
    used = {name: _column(name, by_name) for name in names}

    def read(node: Any) -> _Split | float:
        _only(node, ("feature", "threshold", "left", "right", "value"))
        if "feature" not in node:
            return _number(node["value"])
        threshold = np.float32(_number(node["threshold"])) + np.float32(1e-6)
        children = (node["left"], node["right"])
        # Solr gives 0 at a feature that the model does not list
        return _Split(used[node["feature"]], float(threshold), *children) if node["feature"] in used else 0.0

    trees = [(tree["root"], _number(tree["weight"])) for tree in model["params"]["trees"]]
    return Model(trees, read, inclusive=True, zero=True)


def plugin(text: str, columns: FeatureValues, *, directions: bool = False) -> Model:
    """Return a model of type ``model/xgboost+json``; with `directions`, each split must have one."""
    model = _json(text)
    model = {"splits": model} if isinstance(model, list) else model
    _only(model, ("splits", "objective"))
    objective = model.get("objective", "rank:ndcg")
    if objective not in _PLUGIN_LINKS:
        raise ValueError(f"objective must be one of {', '.join(_PLUGIN_LINKS)}; got {shown(objective)}")
    return _xgboost(model["splits"], columns, directions=directions)._replace(link=_PLUGIN_LINKS[objective])


def _xgboost(roots: list[Any], columns: FeatureValues, *, directions: bool = False) -> Model:
    by_name = columns.by_name()

    def read(node: Any) -> _Split | float:
        _only(node, _XGBOOST_FIELDS)
        if "leaf" in node:
            return float(node["leaf"])
        left, right = node["children"]
        if [left["nodeid"], right["nodeid"]] != [node["yes"], node["no"]]:
            raise ValueError(f"children must be the nodes {node['yes']} (yes) and {node['no']} (no)")
        missing = node["missing"] if directions else node.get("missing")
        threshold = float(np.float32(node["split_condition"]))  # older versions of Vespa do not round
        return _Split(_column(node["split"], by_name), threshold, left, right, missing == node["yes"])

    if not roots:
        raise ValueError("it holds no tree")
    return Model([(root, 1.0) for root in roots], read)


def ranklib(text: str, columns: FeatureValues) -> Model:
    """Return an ensemble of RankLib."""
    n_features = columns.values.shape[1]
    lines = [line.strip() for line in text.splitlines()] or [""]
    if (kind := lines[0].replace("## ", "").strip()).upper() not in {"LAMBDAMART", "MART"}:
        raise ValueError(f"line 1 must name the kind of model, as in ## LambdaMART; got {shown(kind)}")
    xml = "".join(line for line in lines if not line.startswith("#"))  # RankLib keeps the spaces between tags of a line

    def read(node: ET.Element) -> _Split | float:
        if node.text or any(child.tail for child in node):
            raise ValueError("RankLib takes no text and no spaces between the elements of a line")
        if node[0].tag.lower() != "feature":
            return _number(node[0].text)
        feature, threshold, left, right = node
        if int(_number(feature.text)) not in range(1, n_features + 1):
            raise ValueError(f"feature must be a number from 1 to {n_features}; got {shown(feature.text)}")
        return _Split(int(_number(feature.text)) - 1, _number(threshold.text), left, right)

    ensemble = ET.fromstring(xml)  # noqa: S314 (the user's own model)
    trees = [(tree[0], _number(tree.get("weight"))) for tree in ensemble.iter("tree")]
    return Model(trees, read, product=np.float64, inclusive=True, zero=True)


def vespa(text: str, columns: FeatureValues) -> Model:
    """Return a dump of LightGBM or XGBoost."""
    model = _json(text)
    if isinstance(model, list):
        return _xgboost(model, columns)._replace(kind=np.float64, product=np.float64)
    names, lists = model["feature_names"], model["pandas_categorical"] or []
    by_name = columns.by_name(names)
    if not all(isinstance(value, str) for values in lists for value in values):
        raise ValueError("pandas_categorical must hold texts, since Vespa reads other categories as null")
    with_values = [name for name in names if lists and (model["feature_infos"].get(name) or {}).get("values")]
    texts = dict(zip(with_values, lists, strict=False))

    def codes(threshold: str, name: str, here: list[str] | None) -> tuple[int, ...]:
        """Return the codes in X of the categories that go left: Vespa compares their texts."""
        left = tuple(map(int, threshold.split("||")))
        if name in texts and (here is None or not {*left} <= {*range(len(texts[name]))}):
            raise ValueError(f"{name!r} is split by codes of {shown(texts[name])}; X must hold categories there")
        known = [texts[name][code] if name in texts else str(code) for code in left]
        return left if here is None else tuple(code for code, category in enumerate(here) if category in known)

    def read(node: Any) -> _Split | float:
        if "split_feature" not in node:
            return float(node["leaf_value"])
        name = names[node["split_feature"]]
        feature = _column(name, by_name)
        here = columns.categories.get(feature)
        children, missing_left = (node["left_child"], node["right_child"]), node.get("default_left") is True
        if node["decision_type"] == "==":
            return _Split(feature, np.nan, *children, missing_left, codes(str(node["threshold"]), name, here))
        if here is not None:
            raise ValueError(f"{name!r} is split by numbers, and X holds categories there")
        return _Split(feature, float(node["threshold"]), *children, missing_left)  # < in Vespa, <= in LightGBM

    trees = [(tree["tree_structure"], 1.0) for tree in model["tree_info"]]
    links: dict[str, Any] = dict.fromkeys(("poisson", "gamma", "tweedie"), np.exp)
    links |= dict.fromkeys(("binary", "cross_entropy"), _sigmoid)
    objective = model["objective"]
    link = links.get("binary" if objective.startswith("binary") else objective)
    return Model(trees, read, np.float64, np.float64, link=link)


def _sigmoid(scores: Floats) -> Floats:
    return (1.0 / (1.0 + np.exp(-scores.astype(np.float64)))).astype(scores.dtype)


def _json(text: str) -> Any:
    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a JSON number")

    return json.loads(text, parse_constant=constant)


def _only(value: dict[str, Any], fields: Collection[str]) -> None:
    """Raise for fields that the engine does not know."""
    if unknown := value.keys() - {*fields}:
        raise ValueError(f"{min(unknown)} is unknown to the engine")


def _column(name: str, columns: dict[str, int]) -> int:
    if name not in columns:
        raise ValueError(f"unknown feature {shown(name)}")
    return columns[name]


def _number(text: Any) -> float:
    """Return the number in a text, as Java's ``Float.parseFloat`` reads it."""
    if not isinstance(text, str):
        raise ValueError(f"a number must be in a text; got {shown(text)}")
    return float(text.strip().rstrip("fFdD"))


_PLUGIN_LINKS: dict[str, Any] = dict.fromkeys(
    ("binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear")
)
_PLUGIN_LINKS |= dict.fromkeys(("binary:logistic", "reg:logistic"), _sigmoid)
