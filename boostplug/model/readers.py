"""Readers of exported models: each scores rows by the arithmetic of the search engine that loads the text.

They follow the sources of the engines, and share no code with the writers, which they check:

- Solr: ``MultipleAdditiveTreesModel`` and ``SolrPluginUtils.invokeSetters``
- plugins of Elasticsearch and OpenSearch: ``XGBoostJsonParser`` and ``NaiveAdditiveDecisionTree``
- RankLib: ``RankerFactory``, ``Ensemble`` and ``Split``
- Vespa: ``LightGBMParser`` and ``XGBoostParser``, which make expressions in double precision
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import check_choice, check_instance, column_names, scores_of_rows, shown
from boostplug.data.tables import is_frame, read_features, schema_of

Floats = NDArray[Any]

_TOLERANCE = 1e-5  # of the largest absolute score: what sums of hundreds of trees in single precision cost
_LISTED = 3  # differing rows in a message
_JAVA_NUMBER = re.compile(r"[+-]?(NaN|Infinity|((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[fFdD]?)", re.ASCII)
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


_Node = Callable[[Any, str], _Split | float]  # from a node of the text and its place: a split, or the value of a leaf


class _Tree(NamedTuple):
    """A tree in arrays, one entry per node. Node 0 is the root, and leaves have feature -1."""

    weight: float
    feature: NDArray[np.int64]
    number: Floats  # threshold of a split, value of a leaf
    children: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    categories: dict[int, tuple[int, ...]]


class _Model(NamedTuple):
    """A model as an engine holds it, and the arithmetic of that engine."""

    trees: list[_Tree]
    kind: Any = np.float32
    product: Any = np.float32  # type in which a tree's output is multiplied by its weight and added
    inclusive: bool = False  # a value on the threshold goes left
    zero: bool = False  # a missing value is 0
    link: Callable[[Floats], Floats] | None = None


class _Columns(NamedTuple):
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


def check_export(
    text: str,
    to: str,
    X: Any,
    scores: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
) -> None:
    """Check that a search engine that loads an exported model will compute the same scores.

    The text is read as the engine reads it, and X is scored by the engine's arithmetic: its precision, its side for a
    value on a threshold, its treatment of missing values.

    Parameters
    ----------
    text : str
        Model in the engine's format, as `bp.export` returns it.
    to : {"solr", "elasticsearch-ltr", "opensearch-ltr", "ranklib", "vespa"}
    X : array, sparse matrix or DataFrame
        Rows of features. NaN stands for a feature that the engine does not find. Categories of a DataFrame are texts in
        Vespa, and codes in the other engines.
    scores : array
        Scores of these rows by the model that was exported.
    feature_names : sequence of str, optional
        Names of the columns of X, by default those of a DataFrame, else those in the text (XGBoost's are f0, f1, …).
    missing : {"zero", "nan"}, optional
        Value of features that the engine does not find. The default is "nan" for "elasticsearch-ltr" (since version
        1.5.9), "opensearch-ltr" (since 3.3) and "vespa", and "zero" for "solr" and "ranklib". Pass "zero" for an older
        plugin of Elasticsearch or OpenSearch.

    Raises
    ------
    AssertionError
        If a score differs by more than 1e-5 of the largest absolute score. The message counts the rows and lists the
        first three.
    ValueError
        If the engine would refuse the text; the message names the reason and the place.

    Examples
    --------
    >>> import boostplug as bp
    >>> tree = '[{"nodeid": 0, "depth": 0, "split": "f0", "split_condition": 0.5, "yes": 1, "no": 2, "missing": 1,'
    >>> tree += ' "children": [{"nodeid": 1, "leaf": -1}, {"nodeid": 2, "leaf": 1}]}]'
    >>> bp.testing.check_export(tree, "opensearch-ltr", [[0.4], [0.5]], [-1.0, 1.0])
    """
    check_choice("to", to, tuple(_ENGINES))
    check_instance("text", text, str, "what export returns")
    read, choices = _ENGINES[to]
    if missing is not None:
        check_choice("missing", missing, choices, f" for {to!r}")
    columns = columns_of(X, feature_names)
    expected = scores_of_rows(scores, len(columns.values), finite=False)
    with np.errstate(over="ignore", invalid="ignore"):
        model = read(text, columns)
        found = _scores(model._replace(zero=model.zero or missing == "zero"), columns.values)
        near = np.abs(found - expected) <= _TOLERANCE * np.abs(expected).max(initial=0.0)
    rows = np.flatnonzero(~near & (found != expected)).tolist()
    if rows:
        listed = "; ".join(f"row {k}: {found[k]:.9g} in {to}, {expected[k]:.9g} expected" for k in rows[:_LISTED])
        raise AssertionError(f"{len(rows)} of {len(found)} rows differ: {listed}")


def columns_of(X: Any, feature_names: Sequence[str] | None = None) -> _Columns:
    """Return the columns of a table as numbers; a category is its code."""
    names = [str(name) for name in (column_names(X) if feature_names is None else feature_names)]
    X = read_features(X)
    categories = {k: [*map(str, texts)] for k, texts in (schema_of(X).categories or {}).items()}
    if is_frame(X):
        columns = [x.cat.codes.replace(-1, np.nan) if hasattr(x, "cat") else x for _, x in X.items()]
        X = np.column_stack([np.asarray(x, np.float64) for x in columns])
    return _Columns(np.asarray(X.toarray() if hasattr(X, "nnz") else X, np.float64), names or None, categories)


def _scores(model: _Model, X: NDArray[np.float64]) -> NDArray[np.float64]:
    rows: Floats = X.astype(model.kind)
    if model.zero:
        rows[np.isnan(rows)] = 0
    total: Floats = np.zeros(len(rows), model.kind)
    for tree in model.trees:
        output = tree.number.astype(model.kind)[_leaves(tree, rows, inclusive=model.inclusive)]
        weight = model.product(model.kind(tree.weight))
        total = (total + output.astype(model.product) * weight).astype(model.kind)
    return np.asarray(total if model.link is None else model.link(total), np.float64)


def _leaves(tree: _Tree, X: Floats, *, inclusive: bool) -> NDArray[np.int64]:
    """Return the leaf of each row. All rows go down one level at a time."""
    nodes = np.zeros(len(X), np.int64)
    thresholds = tree.number.astype(X.dtype)
    rows = np.arange(len(X))
    while len(rows := rows[tree.feature[nodes[rows]] >= 0]):
        here = nodes[rows]
        x, threshold = X[rows, tree.feature[here]], thresholds[here]
        left = (x <= threshold) if inclusive else (x < threshold)
        for node, codes in tree.categories.items():
            left = np.where(here == node, np.isin(x, codes), left)
        left = np.where(np.isnan(x), tree.missing_left[here], left)
        nodes[rows] = tree.children[here, np.where(left, 0, 1)]
    return nodes


def _tree(root: Any, place: str, read: _Node, weight: float = 1.0) -> _Tree:
    splits, children = [], []
    waiting = [(root, place)]
    for node, here in waiting:  # grows by the children of each split
        found = read(node, here)
        if isinstance(found, _Split):
            splits.append(found)
            children.append((len(waiting), len(waiting) + 1))
            waiting += [(found.left, f"{here}, left"), (found.right, f"{here}, right")]
        else:
            splits.append(_Split(-1, found, None, None))
            children.append((0, 0))
    return _Tree(
        weight,
        np.array([split.feature for split in splits]),
        np.array([split.threshold for split in splits]),
        np.array(children),
        np.array([split.missing_left for split in splits]),
        {k: split.categories for k, split in enumerate(splits) if split.categories is not None},
    )


def _solr(text: str, columns: _Columns) -> _Model:
    model = _fields(_json(text), "the model", ("class", "name", "features", "params"))
    if model["class"] != _SOLR_CLASS:
        _refuse("the model", f"class must be {_SOLR_CLASS}; got {shown(model['class'])}")
    names = [_fields(x, f"feature {k}", ("name",), ())["name"] for k, x in enumerate(_list(model, "features"))]
    by_name = columns.by_name(names)
    used = {name: _column(name, by_name, "features") for name in names}
    if len(used) < len(names) or not names:
        _refuse("features", f"must be different names, at least one; got {shown(names)}")

    def read(node: Any, place: str) -> _Split | float:
        node = _fields(node, place, (), ("feature", "threshold", "left", "right", "value"))
        value = _text_number(node.get("value", "0"), f"{place}, value")
        if "feature" in node:
            _fields(node, place, ("threshold", "left", "right"))
            threshold = np.float32(_text_number(node["threshold"], f"{place}, threshold")) + np.float32(1e-6)
            children = (node["left"], node["right"])
            return _Split(used[node["feature"]], float(threshold), *children) if node["feature"] in used else 0.0
        if node.keys() & {"left", "right"}:
            _refuse(place, "has left or right but no feature")
        return value

    trees = []
    for k, tree in enumerate(_list(_fields(model["params"], "params", ("trees",), ()), "trees")):
        _fields(tree, f"tree {k}", ("weight", "root"), ())
        trees.append(_tree(tree["root"], f"tree {k}", read, _text_number(tree["weight"], f"tree {k}, weight")))
    return _Model(trees, inclusive=True, zero=True)


def _plugin(text: str, columns: _Columns, settings: tuple[str, ...] = (), fields: tuple[str, ...] = ()) -> _Model:
    """Return a model of type ``model/xgboost+json``, with settings of the model and fields of splits that one needs."""
    model = _json(text)
    model = _fields(model if isinstance(model, dict) else {"splits": model}, "the model", ("splits",), settings)
    objective, zero = model.get("objective", "rank:ndcg"), model.get("missing_as_zero", False)
    if objective not in (*_SCORES, *_PROBABILITIES):
        _refuse(
            "the model", f"objective must be one of {', '.join((*_SCORES, *_PROBABILITIES))}; got {shown(objective)}"
        )
    if not isinstance(zero, bool):
        _refuse("the model", f"missing_as_zero must be true or false; got {shown(zero)}")
    trees = _xgboost_trees(model, columns, ("depth", *fields))
    return _Model(trees, zero=zero, link=_sigmoid if objective in _PROBABILITIES else None)


def _xgboost_trees(model: dict[str, Any], columns: _Columns, fields: tuple[str, ...]) -> list[_Tree]:
    by_name = columns.by_name()

    def read(node: Any, place: str) -> _Split | float:
        node = _fields(node, place, ("nodeid",), _XGBOOST_FIELDS)
        if "leaf" in node:
            return _number(node, "leaf", place)
        _fields(node, place, ("split", "split_condition", "yes", "no", "children", *fields))
        children = [_fields(child, f"{place}, child", ("nodeid",)) for child in _list(node, "children", place)]
        ids = [child["nodeid"] for child in children]
        if len(ids) != 2 or ids != [node["yes"], node["no"]]:
            _refuse(place, f"children must be the nodes {node['yes']} (yes) and {node['no']} (no); got {ids}")
        if node.get("missing", node["no"]) not in ids:
            _refuse(place, f"missing must be one of the children {ids}; got {shown(node['missing'])}")
        missing_left = node.get("missing") == node["yes"]
        threshold = float(np.float32(_number(node, "split_condition", place)))  # older versions of Vespa do not round
        left, right = children
        return _Split(_column(node["split"], by_name, place), threshold, left, right, missing_left)

    return [_tree(root, f"tree {k}", read) for k, root in enumerate(_list(model, "splits", least=1))]


def _ranklib(text: str, columns: _Columns) -> _Model:
    n_features = columns.values.shape[1]
    lines = [line.strip() for line in text.splitlines()] or [""]
    if (kind := lines[0].replace("## ", "").strip()).upper() not in {"LAMBDAMART", "MART"}:
        _refuse("line 1", f"must name the kind of model, as in ## LambdaMART; got {shown(kind)}")
    xml = "".join(line for line in lines if not line.startswith("#"))  # RankLib keeps the spaces between tags of a line
    try:
        ensemble = ET.fromstring(xml)  # noqa: S314 (the user's own model)
    except ET.ParseError as error:
        raise ValueError(f"text is not valid XML: {error}") from error

    def read(node: ET.Element, place: str) -> _Split | float:
        if node.text or not len(node):
            _refuse(place, "must start with an element, without text or spaces before it")
        if node[0].tag.lower() != "feature":
            return _text_number(node[0].text, f"{place}, {node[0].tag}")
        if len(node) < 4 or any(child.tail for child in node[:3]):
            _refuse(place, "must hold feature, threshold and two splits, without text or spaces between them")
        feature = _text_number(node[0].text, f"{place}, feature")
        if feature not in range(1, n_features + 1):
            _refuse(place, f"feature must be a number from 1 to {n_features}; got {feature:g}")
        return _Split(int(feature) - 1, _text_number(node[1].text, f"{place}, threshold"), node[2], node[3])

    trees = []
    for k, tree in enumerate(ensemble.iter("tree")):
        if tree.text or not len(tree):
            _refuse(f"tree {k}", "must start with a split, without text or spaces before it")
        trees.append(_tree(tree[0], f"tree {k}", read, _text_number(tree.get("weight"), f"tree {k}, weight")))
    return _Model(trees, product=np.float64, inclusive=True, zero=True)


def _vespa(text: str, columns: _Columns) -> _Model:
    model = _json(text)
    if isinstance(model, list):
        return _Model(_xgboost_trees({"splits": model}, columns, ()), np.float64, np.float64)
    _fields(model, "the model", ("objective", "feature_names", "tree_info"))
    if "pandas_categorical" not in model:  # null is allowed
        _refuse("the model", "has no pandas_categorical")
    for value in (value for values in model["pandas_categorical"] or () for value in values):
        if not isinstance(value, str):
            _refuse("pandas_categorical", f"a category must be a text, since Vespa reads others as null; got {value}")
    names = _list(model, "feature_names")
    by_name = columns.by_name(names)
    lists = model["pandas_categorical"] or []
    _fields(model, "the model", ["feature_infos"] if lists else [])
    with_values = [name for name in names if lists and (model["feature_infos"].get(name) or {}).get("values")]
    texts = dict(zip(with_values, lists, strict=False))

    def codes(threshold: str, name: str, here: list[str] | None, place: str) -> tuple[int, ...]:
        """Return the codes in X of the categories that go left: Vespa compares their texts."""
        left = tuple(map(int, threshold.split("||")))
        if name in texts and (here is None or not {*left} <= {*range(len(texts[name]))}):
            _refuse(
                place, f"splits {name!r} by codes {threshold} of {shown(texts[name])}; X must hold categories there"
            )
        known = [texts[name][code] if name in texts else str(code) for code in left]
        return left if here is None else tuple(code for code, text in enumerate(here) if text in known)

    def read(node: Any, place: str) -> _Split | float:
        node = _fields(node, place, ())
        if node.get("left_child") is None and node.get("right_child") is None:
            return _number(_fields(node, place, ("leaf_value",)), "leaf_value", place)
        _fields(node, place, ("split_feature", "threshold", "decision_type", "left_child", "right_child"))
        if node["split_feature"] not in range(len(names)):
            _refuse(place, f"split_feature must be below {len(names)}; got {shown(node['split_feature'])}")
        by_category = node["decision_type"] == "=="  # else Vespa takes <, where LightGBM has <=
        name = names[node["split_feature"]]
        feature = _column(name, by_name, place)
        here = columns.categories.get(feature)
        if not by_category and here is not None:
            _refuse(place, f"splits {name!r} by numbers, and X holds categories there")
        return _Split(
            feature,
            np.nan if by_category else _number(node, "threshold", place),
            node["left_child"],
            node["right_child"],
            node.get("default_left") is True,
            codes(str(node["threshold"]), name, here, place) if by_category else None,
        )

    trees = []
    for k, tree in enumerate(_list(model, "tree_info", least=1)):
        trees.append(_tree(_fields(tree, f"tree {k}", ("tree_structure",))["tree_structure"], f"tree {k}", read))
    objective = str(model["objective"])
    if objective.startswith("binary") or objective == "cross_entropy":
        return _Model(trees, np.float64, np.float64, link=_sigmoid)
    return _Model(trees, np.float64, np.float64, link=np.exp if objective in {"poisson", "gamma", "tweedie"} else None)


def _sigmoid(scores: Floats) -> Floats:
    return (1.0 / (1.0 + np.exp(-scores.astype(np.float64)))).astype(scores.dtype)


def _json(text: str) -> Any:
    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is not a JSON number")

    try:
        return json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"text is not valid JSON: {error}") from error


def _fields(value: Any, place: str, required: Collection[str], optional: Collection[str] | None = None) -> Any:
    """Return a JSON object that has the required fields, and no others than the optional ones if these are listed."""
    if not isinstance(value, dict):
        _refuse(place, f"must be an object; got {shown(value)}")
    for name in required:
        if value.get(name) is None:
            _refuse(place, f"has no {name}")
    for name in value:
        if optional is not None and (value[name] is None or name not in (*required, *optional)):
            _refuse(place, f"{name} is unknown or null")
    return value


def _list(value: dict[str, Any], field: str, place: str = "the model", least: int = 0) -> list[Any]:
    if not isinstance(value[field], list) or len(value[field]) < least:
        _refuse(place, f"{field} must be a list{' that is not empty' if least else ''}; got {shown(value[field])}")
    return list(value[field])


def _column(name: Any, columns: dict[str, int], place: str) -> int:
    if not isinstance(name, str) or name not in columns:
        _refuse(place, f"unknown feature {shown(name)}")
    return columns[name]


def _number(value: dict[str, Any], field: str, place: str) -> float:
    """Return a number of JSON, or a text that is one."""
    number = value[field]
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return float(number)
    return _text_number(number, f"{place}, {field}")


def _text_number(text: Any, place: str) -> float:
    """Return the number in a text, as Java's ``Float.parseFloat`` reads it."""
    if not isinstance(text, str) or not _JAVA_NUMBER.fullmatch(text.strip()):
        _refuse(place, f"must be a number in a text; got {shown(text)}")
    return float(text.strip().rstrip("fFdD"))


def _refuse(place: str, reason: str) -> NoReturn:
    raise ValueError(f"{place}: {reason}")


_SCORES = ("binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear")
_PROBABILITIES = ("binary:logistic", "reg:logistic")
_ENGINES: dict[str, tuple[Callable[[str, _Columns], _Model], tuple[str, ...]]] = {
    "solr": (_solr, ("zero",)),
    "elasticsearch-ltr": (partial(_plugin, settings=("objective",), fields=("missing",)), ("nan", "zero")),
    "opensearch-ltr": (partial(_plugin, settings=("objective", "missing_as_zero")), ("nan", "zero")),
    "ranklib": (_ranklib, ("zero",)),
    "vespa": (_vespa, ("nan",)),
}
