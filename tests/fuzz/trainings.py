"""Targets that train by the frameworks' own functions: cross-validation, continued trainings, and exports of them."""

from fuzz.source import HOSTILE
from fuzz.targets import metric, target, trained_loss

__all__: list[str] = []

_SIZES = ("(3, 4, 2, 3)", "(2, 3, 1)", "(4, 4, 4, 4)", "(5, 3)", "(3, 1, 1, 2, 3)")


def _data(dice):
    """Return the text of a dense part with the names X, y, qid and group."""
    grades = dice.one(("(0, 1, 2)", "(0, 1)", "(0.5, 1.25, 3)"))
    return (
        f"data = part({dice.below(4)}, {dice.one(_SIZES)}, grades={grades}, weight={dice.one(_WEIGHTS)})\n"
        "X, y, group, queries = data.X, data.y, data.group, data.queries\n"
    )


_WEIGHTS = ("None", "None", "None", "'query'", "'row'", "1e-6", "0.125")
_FOLDS = (
    *("list(bp.group_folds(queries, 2))", "bp.group_folds(queries, 2)", "bp.group_folds(data.qid, 2)"),
    *("bp.group_folds(queries, 2, shuffle=True, random_state=1)", "bp.group_folds(queries, queries.n_queries)"),
)
_BAD_FOLDS = (
    *("[(np.arange(len(y)), np.arange(len(y)))] * 2", "[(np.arange(3), np.arange(3, len(y)))]", "None", "'x'"),
    *("[(np.arange(len(y)), np.arange(0))]", "[(np.arange(0), np.arange(len(y)))]", "[([0], [1])]", "[1, 2]"),
    *("[(range(2, len(y)), range(2))]", "[(np.arange(len(y))[::-1], [0, 1])]"),
    *("bp.group_folds([1, 2], 2)", "bp.group_folds(queries, 99)", "[(np.ones(len(y), bool), np.ones(len(y), bool))]"),
    *("iter(bp.group_folds(queries, 2))", "[(np.array([0.5]), np.array([1.5]))]", "[(np.array([0, 0]), [1, 1])]"),
)
_PAIRS = ("bp.Pairs([0, 1], [1, 2])", "bp.Pairs([2], [0], weight=[0.5], margin=[2.0])", "bp.Pairs([0], [len(y) - 1])")


@target("MPBoost", "group_folds", "set_pairs", weight=6, name="lgb.cv, xgb.cv")
def cv(dice):
    if dice.percent(40):
        dice.calm()
    text = _data(dice)
    loss = dice.one(HOSTILE) if dice.spoils() else trained_loss(dice)
    text += f"loss, metric = {loss}, {metric(dice) if dice.percent(40) else 'bp.NDCG(3)'}\n"
    text += f"folds = {dice.one(_BAD_FOLDS if dice.spoils() else _FOLDS)}\n"
    paired = dice.percent(15)
    pairs = f"bp.set_pairs(data, {dice.one(_PAIRS)})\n" if paired else ""
    if dice.percent(50):
        return text + pairs.join(_lightgbm_cv(dice, checked="list(" in text and not paired))
    return text + pairs.join(_xgboost_cv(dice))


def _lightgbm_cv(dice, *, checked):
    weight = dice.one(("queries.row_weight", "queries.row_weight", "None"))
    made = f"data = lgb.Dataset(X, y, group=group, weight={weight}, params=QUIET, free_raw_data=False)\n"
    params = "{**QUIET, 'objective': loss, 'min_data_in_leaf': 1, 'num_leaves': 3"
    params += f", {dice.one(_OF_LIGHTGBM)}}}" if dice.percent(20) else "}"
    more = dice.one(("folds=folds", "folds=folds", "folds=folds", "nfold=2, stratified=False", "nfold=2"))
    more += ", callbacks=[lgb.early_stopping(1, verbose=False)]" if dice.percent(20) else ""
    call = "with refused_by_lightgbm():\n    found = lgb.cv("
    if checked and "folds=" in more and "queries" in weight and "callbacks" not in more:
        call += f"{params}, data, 2, feval=metric, {more}, return_cvbooster=True)\n"
        return (
            made,
            f"{call}boosters = found.pop('cvbooster').boosters\ncheck_cv(found, boosters, X, queries, folds, metric)",
        )
    return made, f"{call}{params}, data, 2, feval=metric, {more})\ncheck_cv(found)"


_OF_LIGHTGBM = (
    *("'boosting': 'dart'", "'boosting': 'rf'", "'data_sample_strategy': 'goss'", "'linear_tree': True"),
    *("'bagging_fraction': 0.5, 'bagging_freq': 1", "'zero_as_missing': True", "'extra_trees': True"),
)


def _xgboost_cv(dice):
    weight = dice.one(("None", "None", "queries.query_weight"))
    made = f"data = xgb.DMatrix(X, y, group=group, weight={weight}, nthread=1)\n"
    params = "{'nthread': 1, 'disable_default_eval_metric': 1, 'max_depth': 2, 'verbosity': 0"
    params += f", {dice.one(_OF_XGBOOST)}}}" if dice.percent(20) else "}"
    more = dice.one(("nfold=2", "nfold=2", "nfold=2", "folds=folds", "nfold=2, stratified=True", "nfold=99"))
    more += ", early_stopping_rounds=1" if dice.percent(20) else ""
    more += ", as_pandas=False" if dice.percent(20) else ""
    return made, f"found = xgb.cv({params}, data, 2, obj=loss, custom_metric=metric, {more})\ncheck_cv(found)"


_OF_XGBOOST = (
    *("'booster': 'dart'", "'booster': 'gblinear'", "'tree_method': 'exact'", "'tree_method': 'approx'"),
    *("'base_score': 2.0", "'num_parallel_tree': 2", "'subsample': 0.5", "'objective': 'rank:pairwise'"),
)

# Continued trainings

_FRAMES = (
    *("form='array'", "form='array'", "form='frame'", "form='categorical'", "form='ordered'", "form='csr'"),
    *("form='single'", "form='polars'"),
)
_SECONDS = (  # what the second training gets in place of X: the same rows in other words
    *("form='array'", "form='frame'", "form='csr'", "form='categorical'", "form='categorical', categories='cab'"),
    *("form='ordered', categories='cba'", "form='categorical', categories='abcd'", "form='categorical', columns='ba'"),
    *("form='frame', columns='ba'", "form='frame', columns=('a', 'c')", "form='polars'"),
    *("form='categorical', categories='ab'", "form='frame', columns=('b', 'b')", "form='arrow'"),
)
_FIRST = (
    *("objective=bp.MPBoost()", "objective=bp.MPBoost()", "objective=bp.RankNet()", "objective=bp.SquaredError()"),
    *("objective={builtin}", "objective=bp.MPBoost(), learning_rate=0.5"),
)
_MODELS = {"LGBMRanker": "'lambdarank'", "XGBRanker": "'rank:ndcg'"}
_DART = {"LGBMRanker": ", boosting_type='dart'", "XGBRanker": ", booster='dart', rate_drop=0.5"}
_QUIET = {
    "LGBMRanker": "n_jobs=1, verbosity=-1, min_child_samples=1, min_split_gain=0.0",
    "XGBRanker": "n_jobs=1, max_depth=2, min_child_weight=0.01, verbosity=0",
}


def _categorical(name, frame):
    return ", enable_categorical=True" if name == "XGBRanker" and ("categ" in frame or "ordered" in frame) else ""


@target("LGBMRanker", "XGBRanker", "export", weight=8, name="init_model, xgb_model")
def continued(dice):
    if dice.percent(60):
        dice.calm()
    name = dice.one(tuple(_MODELS))
    sizes, seed = dice.one(_SIZES), dice.below(4)
    frame = dice.one(_FRAMES)
    other = dice.one(_SECONDS) if dice.percent(50) else frame
    text = f"kind, data = bp.{name}, part({seed}, {sizes}, {frame})\nX, y, qid = data.X, data.y, data.qid\n"
    text += f"other = part({seed}, {sizes}, {other}).X\n" if other != frame else "other = X\n"
    more = _categorical(name, f"{frame}{other}")
    dart = _DART[name] if dice.percent(10) else ""
    first = dice.one(_FIRST).format(builtin=_MODELS[name]) + more + dart
    if name == "XGBRanker" and dice.percent(25):
        first += f", base_score={dice.one(('2.0', '0.5', '-1e3'))}"
    if dice.percent(35) and not (name == "LGBMRanker" and dart):  # which LightGBM stops never
        small = ", max_depth=2, min_child_weight=0.01, verbosity=0" if name == "XGBRanker" else ""
        text += f"first = early_stopped(kind, X, y, qid, {first}{small})\n"
    else:
        text += f"first = kind(n_estimators=2, {_QUIET[name]}, {first})\n{_fit(name, 'first', 'X')}\n"
    mixed = ("csr" in frame) != ("csr" in other)
    return text + _continue(dice, name, more, dart, plain=not mixed, mixed=mixed)


def _fit(name, model, X, more=""):
    silent = ", verbose=False" if name == "XGBRanker" else ""
    return f"{model}.fit({X}, y, qid=qid{silent}{more})"


_STARTS = {
    "LGBMRanker": ("first", "first", "first.booster_", "first.export()", "bp.export(first.booster_)"),
    "XGBRanker": ("first", "first", "first.get_booster()", "first.export()", "bp.export(first.get_booster())"),
}
_BAD_STARTS = (
    *("xgb.Booster()", "bp.XGBRanker()", "bp.LGBMRanker()", "folder() / 'nowhere'"),
    *("file(b'tree', 'model.txt')", "str(file(b'{}', 'model.json'))", "Constant()", "b''", "{}", "[first]"),
)


def _continue(dice, name, more, dart, *, plain, mixed):
    n = dice.one((1, 2, 3))
    own = plain and dice.percent(30)  # by the framework's own function, which takes columns by their places
    start = dice.one(_BAD_STARTS + HOSTILE) if dice.spoils() and not own else dice.one(_STARTS[name])
    start = "first" if mixed else start  # a booster alone does not know whether its zeros were missing
    loss = trained_loss(dice) if dice.percent(20) else dice.one(("bp.MPBoost()", "bp.QBRank()", "bp.RankNet()"))
    text, other = f"start = {start}\n", "other"
    if own:
        other = "X"
        if name == "LGBMRanker":
            data = "lgb.Dataset(X, y, group=data.group, params=QUIET, free_raw_data=False)"
            params = "{**QUIET, 'objective': loss, 'min_data_in_leaf': 1, 'num_leaves': 3}"
            going = "start.booster_ if isinstance(start, lgb.LGBMModel) else start"
            call = f"with refused_by_lightgbm():\n    second = lgb.train({params}, {data}, {n}, init_model={going})\n"
        else:
            data = "xgb.DMatrix(X, y, group=data.group, enable_categorical=True, nthread=1)"
            params = "{'nthread': 1, 'disable_default_eval_metric': 1}"
            going = "start.get_booster() if isinstance(start, xgb.XGBModel) else start"
            call = f"second = xgb.train({params}, {data}, {n}, obj=loss, xgb_model={going})\n"
        text += f"loss = {loss}\n{call}"
    elif dice.percent(15) and not dart:
        stopped = f"fit={{{'init_model' if name == 'LGBMRanker' else 'xgb_model'!r}: start}}, objective={loss}{more}"
        text += f"second = early_stopped(kind, other, y, qid, {stopped})\n"
    else:
        keyword = "init_model" if name == "LGBMRanker" else "xgb_model"
        text += f"second = kind(n_estimators={n}, {_QUIET[name]}, objective={loss}{more}{dart})\n"
        text += f"{_fit(name, 'second', 'other', f', {keyword}=start')}\n"
    options = (
        f", X_second={other}" * (other == "other")
        + ", rescales=True" * bool(dart)
        + ", stopped=True" * ("second = early" in text)
    )
    return f"{text}if start is not None:\n    check_continued(start, second, X{options})"


# Exports


@target("export", weight=8)
def export(dice):
    if dice.spoils():
        return f"bp.export({dice.one((*HOSTILE, 'lgb.Dataset', 'xgb.Booster()', 'Constant()', 'bp.LGBMRanker()'))})"
    name = dice.one(tuple(_MODELS))
    frame = dice.one(_FRAMES)
    loss = trained_loss(dice) if dice.percent(50) else dice.one(("bp.MPBoost()", _MODELS[name]))
    grades = "" if "bp." in loss else ", grades=(0, 1, 2)"
    options = f"objective={loss}{_categorical(name, frame)}{dice.one(_KINDS[name])}"
    text = f"kind, data = bp.{name}, part({dice.below(4)}, {dice.one(_SIZES)}, {frame}{grades})\n"
    text += "X, y, qid = data.X, data.y, data.qid\n"
    if dice.percent(25) and "boosting_type='dart'" not in options:
        text += f"model = early_stopped(kind, X, y, qid, {options})\n"
    else:
        text += f"model = kind(n_estimators=3, {_QUIET[name]}, {options})\n{_fit(name, 'model', 'X')}\n"
    exported = ["model", "model", _STARTS[name][2].replace("first", "model")]
    if name == "LGBMRanker":
        exported.append("lgb.Booster(model_str=model.booster_.model_to_string())")
    else:
        exported.append("xgb.Booster(model_file=model.get_booster().save_raw())")
    return f"{text}check_export({dice.one(exported)}, X)"


_KINDS = {
    "LGBMRanker": (
        *("", "", ", boosting_type='dart'", ", linear_tree=True", ", zero_as_missing=True", ", use_missing=False"),
        ", extra_trees=True",
    ),
    "XGBRanker": (
        *("", "", ", booster='dart', rate_drop=0.5", ", booster='gblinear'", ", tree_method='exact'", ", missing=0.0"),
        *(", base_score=2.0", ", num_parallel_tree=2", ", booster='dart', num_parallel_tree=2, rate_drop=0.5"),
    ),
}
