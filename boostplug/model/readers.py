"""Readers of exported models: each scores rows by the arithmetic of the search engine that loads the text.

They follow the sources of the engines, and share no code with the writers, which they check:

- Solr: ``MultipleAdditiveTreesModel`` and ``SolrPluginUtils.invokeSetters``
- plugins of Elasticsearch and OpenSearch: ``XGBoostJsonParser`` and ``NaiveAdditiveDecisionTree``
- RankLib: ``RankerFactory``, ``Ensemble`` and ``Split``
- Vespa: ``LightGBMParser`` and ``XGBoostParser``, which make expressions in double precision
"""

import json
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boostplug.core.checks import check_choice, check_instance, check_number, column_names, scores_of_rows, shown
from boostplug.data.tables import is_frame, read_features, schema_of
from boostplug.model.formats import ABOVE_ZERO

Floats = NDArray[Any]

_TOLERANCE = 1e-5  # of the largest absolute score: what sums of hundreds of trees in single precision cost
_LISTED = 3  # differing rows in a message
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
    offset: str | float | None = None,
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
        1.5.9), "opensearch-ltr" (since 3.8.0) and "vespa", and "zero" for "solr" and "ranklib". Pass "zero" for an
        older plugin of Elasticsearch or OpenSearch.
    offset : float or "auto", optional
        What the engine's scores have on top of `scores`. "auto": what `export` has added as the first tree, so that no
        score is below 0. Default: such a tree or nothing for "elasticsearch-ltr" and "opensearch-ltr", else 0.

    Raises
    ------
    AssertionError
        If a score differs by more than 1e-5 of the largest absolute score. The message counts the rows and lists the
        first three.
    ValueError
        If the text is not in the engine's format, or names features that X does not have.

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
        try:
            model = read(text, columns)
        except (LookupError, TypeError, ValueError, AttributeError, SyntaxError, RecursionError) as error:
            raise ValueError(f"text is no model that {to} reads ({type(error).__name__}: {error})") from error
        read_scores = _scores(model._replace(zero=model.zero or missing == "zero"), columns.values)
        shifts = [0.0] if offset in (None, "auto") else [check_number("offset", offset, otherwise=", 'auto', or None")]
        if offset == "auto" or (offset is None and to in ABOVE_ZERO):
            shifts += [float(tree.number[0]) for tree in model.trees[:1] if tree.feature[0] < 0]  # what export adds
        near = np.array([_near(read_scores, expected + shift) for shift in shifts])
    chosen = int(near.sum(axis=1).argmax())
    expected, near = expected + shifts[chosen], near[chosen]
    if offset == "auto" and (read_scores < 0.0).any():
        raise AssertionError(
            f"{(read_scores < 0.0).sum()} of {len(read_scores)} rows score below 0; pass offset='auto' to export"
        )
    rows = np.flatnonzero(~near).tolist()
    if rows:
        listed = "; ".join(f"row {k}: {read_scores[k]:.9g} in {to}, {expected[k]:.9g} expected" for k in rows[:_LISTED])
        raise AssertionError(f"{len(rows)} of {len(read_scores)} rows differ: {listed}")


def _near(scores: Floats, expected: Floats) -> NDArray[np.bool_]:
    tolerance = _TOLERANCE * np.abs(expected).max(initial=0.0)
    return np.asarray((np.abs(scores - expected) <= tolerance) | (scores == expected))


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


def _tree(root: Any, read: _Node, weight: float = 1.0) -> _Tree:
    splits, children = [], []
    waiting = [root]
    for node in waiting:  # grows by the children of each split
        entry = read(node)
        if isinstance(entry, _Split):
            splits.append(entry)
            children.append((len(waiting), len(waiting) + 1))
            waiting += [entry.left, entry.right]
        else:
            splits.append(_Split(-1, entry, None, None))
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

    trees = [_tree(tree["root"], read, _number(tree["weight"])) for tree in model["params"]["trees"]]
    return _Model(trees, inclusive=True, zero=True)


def _plugin(text: str, columns: _Columns, settings: tuple[str, ...] = (), *, directions: bool = False) -> _Model:
    """Return a model of type ``model/xgboost+json``, with settings of the model; `directions` must be in splits."""
    model = _json(text)
    model = {"splits": model} if isinstance(model, list) else model
    _only(model, ("splits", *settings))
    objective = model.get("objective", "rank:ndcg")
    if objective not in (*_SCORES, *_PROBABILITIES):
        known = ", ".join((*_SCORES, *_PROBABILITIES))
        raise ValueError(f"objective must be one of {known}; got {shown(objective)}")
    trees = _xgboost_trees(model["splits"], columns, directions=directions)
    return _Model(trees, link=_sigmoid if objective in _PROBABILITIES else None)


def _xgboost_trees(roots: list[Any], columns: _Columns, *, directions: bool = False) -> list[_Tree]:
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
    return [_tree(root, read) for root in roots]


def _ranklib(text: str, columns: _Columns) -> _Model:
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
    trees = [_tree(tree[0], read, _number(tree.get("weight"))) for tree in ensemble.iter("tree")]
    return _Model(trees, product=np.float64, inclusive=True, zero=True)


def _vespa(text: str, columns: _Columns) -> _Model:
    model = _json(text)
    if isinstance(model, list):
        return _Model(_xgboost_trees(model, columns), np.float64, np.float64)
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

    trees = [_tree(tree["tree_structure"], read) for tree in model["tree_info"]]
    objective = model["objective"]
    if objective.startswith("binary") or objective == "cross_entropy":
        return _Model(trees, np.float64, np.float64, link=_sigmoid)
    return _Model(trees, np.float64, np.float64, link=np.exp if objective in {"poisson", "gamma", "tweedie"} else None)


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


_SCORES = ("binary:logitraw", "rank:ndcg", "rank:map", "rank:pairwise", "reg:linear")
_PROBABILITIES = ("binary:logistic", "reg:logistic")
_ENGINES: dict[str, tuple[Callable[[str, _Columns], _Model], tuple[str, ...]]] = {
    "solr": (_solr, ("zero",)),
    "elasticsearch-ltr": (partial(_plugin, settings=("objective",), directions=True), ("nan", "zero")),
    "opensearch-ltr": (partial(_plugin, settings=("objective",)), ("nan", "zero")),
    "ranklib": (_ranklib, ("zero",)),
    "vespa": (_vespa, ("nan",)),
}
