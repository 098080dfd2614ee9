"""Readers of exported models: which side of a split a value takes in each engine, the sums, and refused texts."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from boostplug.testing import check_export

NAN, TINY = np.nan, 5e-324
PLUGINS = ["elasticsearch-ltr", "opensearch-ltr"]
LEFT, RIGHT = -1.0, 1.0


def beside(value, kind=np.float32):
    """Return the number itself and its neighbours, in single or double precision."""
    number = kind(value)
    return float(np.nextafter(number, kind(-np.inf))), float(number), float(np.nextafter(number, kind(np.inf)))


def xgboost(threshold=0.5, split="f0", **changes):
    """Return a node whose leaves are -1 (yes) and 1 (no); a change to None removes a field."""
    leaves = [{"nodeid": 1, "leaf": LEFT}, {"nodeid": 2, "leaf": RIGHT}]
    node = {"nodeid": 0, "depth": 0, "split": split, "split_condition": threshold, "yes": 1, "no": 2, "missing": 1}
    node |= {"children": leaves} | changes
    return {name: value for name, value in node.items() if value is not None}


def solr(*trees, features=("f0",), **changes):
    return {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": "model",
        "features": [{"name": name} for name in features],
        "params": {"trees": list(trees)},
    } | changes


def solr_tree(threshold="0.5", weight="1", feature="f0", **changes):
    root = {"feature": feature, "threshold": threshold, "left": {"value": "-1"}, "right": {"value": "1"}} | changes
    return {"weight": weight, "root": root}


def ranklib(threshold="0.5", weight="1", feature="1", left="<output> -1 </output>", head="## LambdaMART\n"):
    return (
        f'{head}## two leaves\n\n<ensemble>\n  <tree id="1" weight="{weight}">\n    <split>\n'
        f"<feature> {feature} </feature>\n<threshold> {threshold} </threshold>\n"
        f'<split pos="left">{left}</split>\n<split pos="right">\n<output> 1.0 </output>\n</split>\n'
        "    </split>\n  </tree>\n</ensemble>\n"
    )


def lightgbm(threshold=0.5, objective="lambdarank", pandas_categorical=None, **changes):
    node = {"split_feature": 0, "threshold": threshold, "decision_type": "<=", "default_left": True, "split_gain": 2.0}
    node |= {"left_child": {"leaf_value": LEFT}, "right_child": {"leaf_value": RIGHT}} | changes
    tree = {"tree_index": 0, "tree_structure": {k: v for k, v in node.items() if v is not None}}
    model = {"feature_names": ["a"], "tree_info": [tree], "pandas_categorical": pandas_categorical}
    model["feature_infos"] = {"a": {"values": [0]}}
    return model | ({} if objective is None else {"objective": objective})


def check(model, to, values, expected, **keywords):
    text = model if isinstance(model, str) else json.dumps(model)
    X = np.array(values, np.float64).reshape(len(expected), -1)
    check_export(text, to, X, np.array(expected, np.float64), **keywords)


@pytest.mark.parametrize("to", PLUGINS)
@pytest.mark.parametrize("threshold", [0.1, -3.7])
def test_plugins_send_a_value_on_the_threshold_right_in_single_precision(to, threshold):
    check([xgboost(threshold)], to, beside(threshold), [LEFT, RIGHT, RIGHT])
    inside = np.nextafter(float(np.float32(threshold)), -np.inf)  # rounds to the threshold
    check([xgboost(threshold)], to, [inside], [RIGHT])


@pytest.mark.parametrize("threshold", [0.5, -20.3])
def test_solr_adds_its_slack_in_single_precision(threshold):
    loaded = np.float32(threshold) + np.float32(1e-6)
    check(solr(solr_tree(str(threshold))), "solr", beside(loaded), [LEFT, LEFT, RIGHT])


def test_the_slack_of_solr_vanishes_beside_large_thresholds_and_moves_zero():
    check(solr(solr_tree("100")), "solr", beside(100), [LEFT, LEFT, RIGHT])
    check(solr(solr_tree("0")), "solr", [0.0, -0.0, 1e-6, 1.1e-6], [LEFT, LEFT, LEFT, RIGHT])
    check(solr(solr_tree("-1e-6f")), "solr", [-0.0, 0.0, TINY, 1e-7], [LEFT, LEFT, LEFT, RIGHT])


@pytest.mark.parametrize("threshold", [0.1, -3.7])
def test_ranklib_sends_a_value_on_the_threshold_left_in_single_precision(threshold):
    check(ranklib(str(threshold)), "ranklib", beside(threshold), [LEFT, LEFT, RIGHT])
    above = np.nextafter(float(np.float32(threshold)), np.inf)
    check(ranklib(str(threshold)), "ranklib", [above], [LEFT])


@pytest.mark.parametrize("missing_left", [True, False])
def test_vespa_sends_a_value_on_the_threshold_right_in_double_precision(missing_left):
    check(lightgbm(0.1, default_left=missing_left), "vespa", beside(0.1, np.float64), [LEFT, RIGHT, RIGHT])
    single = float(np.float32(0.1))
    check([xgboost(0.1)], "vespa", beside(single, np.float64), [LEFT, RIGHT, RIGHT])


@pytest.mark.parametrize("to", [*PLUGINS, "vespa"])
@pytest.mark.parametrize(("missing", "side"), [(1, LEFT), (2, RIGHT)])
def test_missing_values_go_by_the_node_that_is_missing(to, missing, side):
    check([xgboost(0.5, missing=missing)], to, [NAN, 0.0, -0.0, 1.0], [side, LEFT, LEFT, RIGHT])


def test_missing_values_go_right_in_opensearch_and_vespa_without_a_direction():
    for to in ("opensearch-ltr", "vespa"):
        check([xgboost(0.5, missing=None)], to, [NAN], [RIGHT])


@pytest.mark.parametrize("threshold", [0.5, -0.5])
def test_missing_values_are_zeros_on_request_and_in_solr_and_ranklib(threshold):
    side = LEFT if threshold > 0 else RIGHT
    for missing in (1, 2):
        for to in PLUGINS:
            check([xgboost(threshold, missing=missing)], to, [NAN], [side], missing="zero")
    check(solr(solr_tree(str(threshold))), "solr", [NAN], [side])
    check(ranklib(str(threshold)), "ranklib", [NAN], [side])


@pytest.mark.parametrize("threshold", [0.5, -0.5])
@pytest.mark.parametrize("missing_type", ["None", "NaN", "Zero"])
def test_vespa_reads_the_direction_and_never_the_kind_of_missing_values(threshold, missing_type):
    for default_left, side in ((True, LEFT), (False, RIGHT), (None, RIGHT)):
        model = lightgbm(threshold, default_left=default_left, missing_type=missing_type)
        zero = LEFT if threshold > 0 else RIGHT
        check(model, "vespa", [NAN, 0.0, -0.0], [side, zero, zero])


def test_vespa_reads_categories():
    model = lightgbm("0||3", decision_type="==", default_left=False)
    check(model, "vespa", [0, 1, 2, 3, 0.5, -1, NAN], [LEFT, RIGHT, RIGHT, LEFT, RIGHT, RIGHT, RIGHT])
    check_export(json.dumps(model), "vespa", pd.DataFrame({"a": pd.Categorical([3, 2, 0])}), [LEFT, RIGHT, LEFT])
    model["pandas_categorical"] = [list("wxyz")]
    frame = pd.DataFrame({"a": pd.Categorical(["w", "x", "z", None], categories=list("wxyz"))})
    check_export(json.dumps(model), "vespa", frame, [LEFT, RIGHT, LEFT, RIGHT])
    model["tree_info"][0]["tree_structure"]["default_left"] = True
    check_export(json.dumps(model), "vespa", frame, [LEFT, RIGHT, LEFT, LEFT])


@pytest.mark.parametrize(
    ("infos", "lists", "sides"),
    [
        ({"b": {"values": [0, 1]}, "a": {"values": []}}, [["w", "x"]], None),  # of b, so that a's are its codes
        ({"b": {"values": [0]}, "a": {"values": [0]}}, [["u"], ["x", "w"]], [RIGHT, LEFT]),
    ],
)
def test_vespa_gives_lists_of_categories_to_the_features_with_values(infos, lists, sides):
    model = lightgbm("0", decision_type="==", split_feature=1, pandas_categorical=lists)
    model |= {"feature_names": ["b", "a"], "feature_infos": infos}
    frame = pd.DataFrame({"a": pd.Categorical(["w", "x"]), "b": pd.Categorical(["u", "v"])})
    check_export(json.dumps(model), "vespa", frame, sides or [RIGHT, RIGHT])


@pytest.mark.parametrize(
    ("objective", "scores"),
    [("lambdarank", [-1, 1]), ("binary sigmoid:1", [0.26894142, 0.73105858]), ("poisson", [0.36787944, 2.71828183])],
)
def test_vespa_transforms_scores_by_the_objective(objective, scores):
    check(lightgbm(objective=objective), "vespa", [0, 1], scores)


@pytest.mark.parametrize("to", PLUGINS)
@pytest.mark.parametrize(
    ("objective", "scores"),
    [("rank:pairwise", [-1, 1]), ("reg:linear", [-1, 1]), ("binary:logistic", [0.26894142, 0.73105858])],
)
def test_plugins_transform_scores_by_the_objective(to, objective, scores):
    check({"objective": objective, "splits": [xgboost()]}, to, [0, 1], scores)


def test_sums_are_in_single_precision_except_in_vespa():
    leaves = [{"nodeid": 0, "leaf": value} for value in (2.0**24, 1.0, -(2.0**24))]
    for to, total in ((PLUGINS[0], 0.0), (PLUGINS[1], 0.0), ("vespa", 1.0)):
        check([*leaves, {"nodeid": 0, "leaf": 5.0}], to, [0.0], [total + 5.0])
    trees = [{"weight": weight, "root": {"value": "1"}} for weight in ("16777216", "1", "-16777216", "5")]
    check(solr(*trees), "solr", [0.0], [5.0])


def test_ranklib_rounds_the_sum_once_per_tree_and_solr_the_product_too():
    """1 + ε times itself is 1 + 2ε + ε²: only Solr rounds ε² away before it adds -(1 + 2ε)."""
    factor, other = "1.00024414", "-1.00048828"  # 1 + 2⁻¹² and 1 + 2⁻¹¹
    tree = '<tree id="1" weight="{}"><split><output>{}</output></split></tree>'
    text = "## LambdaMART\n<ensemble>" + tree.format("1", other) + tree.format(factor, factor) + "</ensemble>"
    check(text, "ranklib", [0.0], [2.0**-24])
    trees = [{"weight": w, "root": {"value": v}} for w, v in (("1", other), (factor, factor))]
    check(solr(*trees), "solr", [0.0], [0.0])


def test_weights_multiply_the_trees():
    check(solr(solr_tree(weight="0.25"), solr_tree(weight="2f")), "solr", [0, 1], [-2.25, 2.25])
    check(ranklib(weight="0.25"), "ranklib", [0, 1], [-0.25, 0.25])


def test_trees_of_several_levels():
    """The second feature is read on the right of the first."""
    right = xgboost(0.0, "f1", nodeid=2, children=[{"nodeid": 3, "leaf": 10}, {"nodeid": 4, "leaf": 20}], yes=3, no=4)
    model = [xgboost(children=[{"nodeid": 1, "leaf": LEFT}, right | {"missing": 4}])]
    X, expected = [[0, 5], [1, -5], [1, 5], [NAN, 5], [1, NAN]], [LEFT, 10, 20, LEFT, 20]
    for to in (*PLUGINS, "vespa"):
        check(model, to, X, expected)
    inner = {"feature": "b", "threshold": "0", "left": {"value": "10"}, "right": {"value": "20"}}
    check(solr(solr_tree(feature="a", right=inner), features="ab"), "solr", X[:3], expected[:3])
    inner = "<feature>2</feature><threshold>0</threshold>"
    inner += '<split pos="left"><output>10</output></split><split pos="right"><output>20</output></split>'
    check(ranklib(left=inner), "ranklib", [[0, -5], [0, 5], [1, 5]], [10, 20, RIGHT])
    inner = lightgbm(0.0, split_feature=1, left_child={"leaf_value": 10}, right_child={"leaf_value": 20})
    model = lightgbm(right_child=inner["tree_info"][0]["tree_structure"]) | {"feature_names": ["a", "b"]}
    check(model, "vespa", X[:3], expected[:3])


def test_solr_ends_a_tree_with_0_at_a_feature_that_the_model_does_not_list():
    check(solr(solr_tree(feature="other"), solr_tree()), "solr", [0, 1], [LEFT, RIGHT])


def test_columns_are_found_by_name():
    frame = pd.DataFrame({"b": [0.0, 0.0], "a": [0.0, 1.0]})
    for model, to in (([xgboost(split="a")], PLUGINS[0]), (solr(solr_tree(feature="a"), features="a"), "solr")):
        check_export(json.dumps(model), to, frame, [LEFT, RIGHT])
        check_export(json.dumps(model), to, frame.to_numpy(), [LEFT, RIGHT], feature_names=["b", "a"])
    check_export(json.dumps([xgboost(split="f1")]), PLUGINS[1], scipy.sparse.csr_matrix(frame), [LEFT, RIGHT])
    with pytest.raises(ValueError, match="X must have 1 columns, one per feature name; got 2"):
        check(solr(solr_tree()), "solr", [[0, 1]], [LEFT])


def test_differences_are_counted_and_listed():
    values = np.r_[np.zeros(5), np.ones(5)]
    expected = np.repeat([LEFT, RIGHT], 5)
    expected[[2, 4, 7, 9]] = [7, -1.2, 0, 3]
    with pytest.raises(AssertionError) as error:
        check([xgboost()], PLUGINS[0], values, expected)
    listed = "row 2: -1 in elasticsearch-ltr, 7 expected; row 4: -1 in elasticsearch-ltr, -1.2 expected; "
    assert str(error.value) == f"4 of 10 rows differ: {listed}row 7: 1 in elasticsearch-ltr, 0 expected"


def test_differences_are_beside_the_largest_score():
    check([xgboost(), {"nodeid": 0, "leaf": 0}], PLUGINS[0], [0, 1], [LEFT, RIGHT + 0.9e-5])
    with pytest.raises(AssertionError, match="1 of 2 rows differ: row 0"):
        check([xgboost()], PLUGINS[0], [0, 1], [LEFT + 1.1e-5, RIGHT])


REFUSED = [
    ("opensearch-ltr", "[", "JSONDecodeError"),
    ("opensearch-ltr", [xgboost(NAN)], "NaN is not a JSON number"),
    ("opensearch-ltr", {"splits": [xgboost()], "objective": "reg:squarederror"}, "objective must be one of binary:log"),
    ("opensearch-ltr", [xgboost(), xgboost(gain=1.0)], "gain is unknown to the engine"),
    ("opensearch-ltr", [xgboost(yes=2, no=1)], r"children must be the nodes 2 \(yes\) and 1 \(no\)"),
    ("elasticsearch-ltr", [xgboost(missing=None)], "KeyError: 'missing'"),
    *((to, {"splits": [xgboost()], "missing_as_zero": True}, "missing_as_zero is unknown") for to in PLUGINS),
    ("solr", solr(solr_tree(), **{"class": "x.LinearModel"}), "class must be org.apache.solr"),
    ("solr", solr(solr_tree(), features=("f0", "f1")), "X must have 2 columns"),
    ("solr", solr(solr_tree(0.5)), "a number must be in a text; got 0.5"),
    ("ranklib", ranklib(head=""), "line 1 must name the kind of model, as in ## LambdaMART; got 'two leaves'"),
    ("ranklib", ranklib(feature="2"), "feature must be a number from 1 to 1; got ' 2 '"),
    ("ranklib", ranklib(left=" <output>1</output>"), "no text and no spaces"),
    ("vespa", lightgbm(pandas_categorical=[[1, 2]]), "must hold texts, since Vespa reads other categories as null"),
    ("vespa", lightgbm("0", decision_type="==", pandas_categorical=["ab"]), "X must hold categories there"),
    ("vespa", [xgboost(cover=3.0)], "cover is unknown to the engine"),
]


@pytest.mark.parametrize(("to", "model", "message"), REFUSED)
def test_texts_that_are_no_models_of_the_engine(to, model, message):
    with pytest.raises(ValueError, match=f"text is no model that {to} reads .*({message})"):
        check(model, to, [0.0], [LEFT])


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="to must be one of 'solr', 'elasticsearch-ltr'"):
        check([xgboost()], "lucene", [0.0], [LEFT])
    with pytest.raises(ValueError, match="missing must be one of 'zero' for 'solr'; got 'nan'"):
        check(solr(solr_tree()), "solr", [0.0], [LEFT], missing="nan")
    with pytest.raises(ValueError, match="text must be a str such as what export returns"):
        check_export([], "solr", [[0.0]], [LEFT])
    with pytest.raises(ValueError, match="scores must have shape"):
        check_export(json.dumps([xgboost()]), PLUGINS[0], [[0.0]], [LEFT, RIGHT])
