"""Targets that compare: `bp.compare` on small data, and the command line in this process."""

from fuzz.source import HOSTILE
from fuzz.targets import BAD_LINES, target, trained_loss
from typer.main import get_command

from boostplug.cli import app

__all__: list[str] = []

_SIZES = ("(3, 4, 2)", "(2, 3)", "(4, 1, 2, 3)", "(5, 3)", "(3, 3, 3, 3, 3)", "(12,)", "(3,)")
_GRADES = ("(0, 1, 2)", "(0, 1)", "(0.5, 1.25, 3)", "(0, 10, 20)", "(0, 4)")
_FAR_GRADES = (
    *("(7,)", "(0,)", "(0, 1.7e9 + 60e3)", "(1.7e9, 1.7e9 + 60e3)", "(1e38, 0)", "(1e300, 0)", "(0.1, 0.1 + 1e-9)"),
    *("(1e-30, 2e-30)", "(0, 31)", "(0, 1e-5)", "(-1, 0, 2)"),
)
_FORMS = (
    *("'array'", "'array'", "'array'", "'single'", "'csr'", "'csc'", "'frame'", "'categorical'", "'ordered'"),
    *("'polars'", "'arrow'", "'tuple'", "'mapping'", "'labelled'"),
)
_FORMS_OF_XGBOOST = tuple(form for form in _FORMS if form not in {"'categorical'", "'ordered'"})  # which it refuses
_PART_WEIGHTS = ("'query'", "'row'", "1.0", "0.125", "1e-6", "1e6", "1e-30", "1e30", "1 / 3")
_BAD_PART_WEIGHTS = ("0.0", "-1.0", "np.nan", "np.inf", "1e101", "1e-101")
_BAD_VALUES = ("np.nan", "np.inf", "-np.inf", "1e38", "1e39", "-1e300", "5e-324", "1e-40", "2**53 + 1.0")
_CATEGORIES = ("'bca'", "'cba'", "'abcd'", "'ab'", "'xyz'", "'a'")
_COLUMNS = ("'ba'", "('a', 'c')", "('a', 'a')", "('A', 'b')", "(0, 1)", "('a', 'qid')", "('<img src=x>', 'b')")
_TREES = {
    "num_leaves": ("2", "3", "4"),
    "min_rows": ("1", "0", "1"),
    "learning_rate": ("0.1", "1.0", "1e-9"),
    "l2": ("0", "1", "1e9"),
    "row_fraction": ("1", "0.5", "1e-9"),
    "column_fraction": ("1", "0.5"),
    "max_depth": ("0", "1"),
    "max_bin": ("2", "255"),
}
_OF_LIGHTGBM = (
    *("'boosting': 'dart'", "'boosting': 'rf'", "'boosting': 'goss'", "'data_sample_strategy': 'goss'"),
    *("'extra_trees': True", "'linear_tree': True", "'monotone_constraints': [1, 0]", "'feature_contri': [1.0, 0.5]"),
    *("'bagging_fracton': 0.5", "'x': 1", "'verbosity': 2", "'lambda_l1': -1", "'min_data_in_bin': 1"),
    *("'zero_as_missing': True", "'use_missing': False", "'categorical_feature': [1]", "'max_cat_to_onehot': 1"),
    *("'label_gain': [0, 1, 3]", "'lambdarank_truncation_level': 2", "'num_leaves': 'three'", "'path_smooth': 1.0"),
    *("'forcedsplits_filename': 'nowhere.json'", "'input_model': 'x'", "'linear_lambda': 1.0", "'force_row_wise': 1"),
    *("'min_data_in_leaf': np.array([1, 2])", "'subsample_freq': 2", "'cegb_tradeoff': 0.5", "'max_delta_step': 0.1"),
    *("'bagging_by_query': True", "'interaction_constraints': [[0], [1]]", "'saved_feature_importance_type': 1"),
)
_OF_XGBOOST = (
    *("'booster': 'dart'", "'booster': 'gblinear'", "'rate_drop': 0.5", "'tree_method': 'exact'", "'eta_': 0.1"),
    *("'tree_method': 'approx'", "'monotone_constraints': (1, 0)", "'num_parallel_tree': 2", "'max_leafs': 3"),
    *("'sampling_method': 'gradient_based'", "'colsample_bynode': 0.5", "'grow_policy': 'depthwise'", "'gamma': 1"),
    *("'lambdarank_num_pair_per_sample': 1", "'ndcg_exp_gain': False", "'missing': 0", "'nthread': 0", "'alpha': 0.1"),
    *("'interaction_constraints': [[0], [1]]", "'process_type': 'update'", "'max_delta_step': 1", "'x': None"),
    *("'multi_strategy': 'multi_output_tree'", "'max_cat_to_onehot': 1", "'feature_types': ['c', 'q']", "'eta': 'x'"),
)


def _params(dice, framework):
    """Return the text of `params`."""
    given = [f"{name!r}: {dice.one(values)}" for name, values in _TREES.items() if dice.percent(20)]
    given += [] if any("min_rows" in text for text in given) or dice.percent(10) else ["'min_rows': 1"]
    if dice.percent(30):
        pool = _OF_XGBOOST if framework == "xgboost" else _OF_LIGHTGBM
        more = dict.fromkeys(dice.one(pool) for _ in range(dice.several(2, 1)))
        given.append(f"{framework!r}: {{{', '.join(more)}}}")
    if dice.spoils():
        name = dice.one((*_TREES, "lightgbm", "xgboost", "num_leafs", "seed", "objective"))
        given.append(f"{name!r}: {dice.one(HOSTILE)}")
    return f"{{{', '.join(given)}}}"


def _parts(dice, forms):
    """Return the texts of three parts of one form, one of them at times as it should not be; and whether it is not."""
    form = dice.one(forms)
    grades = dice.one(_FAR_GRADES if dice.spoils() else _GRADES)
    weight = dice.one(("None", "None", "None", *_PART_WEIGHTS))
    if form == "'tuple'":
        weight = "None"
    options = []
    for number in range(3):
        given = {"seed": str(number), "sizes": dice.one(_SIZES), "form": form, "grades": grades, "weight": weight}
        if dice.percent(60):
            given["first"] = str(10 * number)
        options.append({k: v for k, v in given.items() if v not in {"None", "(0, 1, 2)", "'array'"} or k == "seed"})
    spoilt = dice.spoils()
    if spoilt:
        name, values = dice.one(
            (
                *(("form", _FORMS), ("form", _FORMS), ("weight", _PART_WEIGHTS + _BAD_PART_WEIGHTS)),
                *(("value", _BAD_VALUES), ("grades", _GRADES + _FAR_GRADES), ("seed", ("0", "1"))),
                *(("categories", _CATEGORIES), ("columns", _COLUMNS), ("sizes", ("()", "(0,)", "(0, 3)", "(1, 1)"))),
            )
        )
        value = dice.one(values)
        changed = options[dice.below(3)]
        changed[name] = value
        if name in {"categories", "columns"} and changed.get("form", "'array'") not in {"'categorical'", "'ordered'"}:
            for given in options:
                given["form"] = "'categorical'"
    return [f"part({', '.join(f'{k}={v}' for k, v in given.items())})" for given in options], form, spoilt


def _options(dice, framework):
    """Return the texts of what comes beside the data; all but what `QUICK` says stands in it."""
    given = {"losses": f"[{trained_loss(dice)}]" if dice.percent(30) else dice.one(_LOSSES_OF_COMPARE)}
    given["baselines"] = dice.one(_BASELINES[framework])
    if framework != "lightgbm":
        given["frameworks"] = repr(framework)
    for name, values in _COMPARED.items():
        if dice.percent(15):
            given[name] = dice.one(values)
    if dice.percent(60):
        given["params"] = _params(dice, framework)
    if dice.spoils():
        name = dice.one((*_COMPARED, "losses", "baselines", "frameworks", "store", "tune", "jobs", "x"))
        far = {"rounds", "tune", "jobs", "num_threads", "seeds", "minutes"}
        given[name] = dice.one([text for text in HOSTILE if name not in far or text not in _MANY])
    return given


_LOSSES_OF_COMPARE = (
    *("bp.MPBoost()", "bp.RankNet()", "bp.QBRank()", "bp.NDCGBoost()", "bp.ListNet()", "bp.LambdaRank()", "'mpboost'"),
    *("{'<img src=x>': bp.RankNet()}", "{'a|b': bp.MPBoost()}", "{'$_{%\\\\': bp.MPBoost()}", "'ranknet+mpboost'"),
    *("bp.SquaredError(centred=True)", "bp.AdaRank()", "Wrong('')", "Wrong('raises')", "Wrong('gradient nan')"),
)
_BASELINES = {
    "lightgbm": ("'lambdarank'", "'lambdarank'", "[]", "['lambdarank', 'regression']", "'rank_xendcg'"),
    "xgboost": ("'rank:ndcg'", "'rank:ndcg'", "[]", "['rank:ndcg', 'reg:squarederror']", "'rank:pairwise'"),
}
_COMPARED = {
    "rounds": ("1", "3"),
    "seeds": ("2", "[7, 3]"),
    "metric": ("'NDCG@10'", "bp.PairError()", "bp.MAP()", "bp.KendallTau()", "'ERR'", "bp.DCG(2)"),
    "metrics": ("'NDCG@2'", "[bp.MAP(), 'MRR']", "()", "bp.RPrecision()"),
    "early_stopping_rounds": ("None", "1"),
    "data": ("'x'", "'<img src=x>'", "'\\u202e|\\n`'", "'_{$%'"),
    "store": ("folder() / 'kept'",),
    "minutes": ("1e-9", "1"),
}
_MANY = {  # of trainings, of trials or of processes: time is the caller's
    *("2**63", "np.uint64(2**64 - 1)", "10**400", "1e308", "1e16", "2", "np.int64(2)", "np.int8(3)"),
    *("[1.0, 2.0]", "range(3)", "np.True_", "True"),
}
_SPOILING = ("", "cut", "more", "empty", "gone", "text")


@target("compare", weight=15)
def compare(dice):
    resumed = dice.percent(20)
    if resumed:
        dice.calm()  # what returns is checked
    framework = dice.one(("lightgbm", "lightgbm", "xgboost"))
    parts, form, spoilt = _parts(dice, _FORMS if framework == "lightgbm" or dice.percent(5) else _FORMS_OF_XGBOOST)
    options = _options(dice, framework)
    if form == "'labelled'" and not spoilt:
        options |= {"label": "'y'"} | ({"weight": "'w'"} if "weight=" in parts[0] else {})
    own = ", ".join(f"{name}={text}" for name, text in options.items())
    text = f"given = QUICK | dict({own})\nparts = {', '.join(parts)}\n"
    if resumed and "store" not in options:
        return f"{text}check_resumed(parts, {dice.one((*_SPOILING, 'loss', 'seeds'))!r}, **given)"
    if "store" in options:
        text = f"import shutil\nshutil.rmtree(folder() / 'kept', ignore_errors=True)\n{text}"
    if spoilt and dice.percent(10):
        place = dice.below(3)
        text += f"parts = [*parts[:{place}], {dice.one(HOSTILE)}, *parts[{place + 1}:]]\n"
    folds = dice.one(_CALLS)
    text += f"result = bp.compare({folds}, **given)\ncheck_comparison(result"
    text += ", folder()" if dice.percent(30) else ""
    return text + (", same_data=True)" if folds in _SAME_DATA and not spoilt else ")")


_SAME_DATA = ("parts[0], parts[0], parts[0]", "parts[0], parts[1], parts[1]", "parts[1], parts[0], parts[1]")
_CALLS = (
    *(*["*parts"] * 12, "[tuple(parts)]", "[tuple(parts), tuple(parts)]", "[tuple(parts), tuple(parts[::-1])]"),
    *(*_SAME_DATA, "parts[0]"),
)

# The command line

_FILES = {
    "train.txt": ("letor()", "letor(0, (3, 1))", "letor(0, (4, 4, 4))", "letor(end='\\r\\n')", "letor(grades=(0, 1))"),
    "vali.txt": ("letor(1, first=10)", "letor(1, (3, 3), first=10)"),
    "test.txt": ("letor(2, first=20)", "letor(2, (5,), first=20)"),
}
_BAD_FILES = (
    *("b''", "b'\\n'", "bytes(range(256))", "b'2 qid:1 1:1'", "b'# nothing\\n'", "letor()[:-3]", "letor()"),
    *("letor(grades=(0, 1.7e9))", "letor(grades=(7,))", "b'nan qid:1 1:1\\n'", "b'1 qid:1 1:inf\\n0 qid:1 1:1\\n'"),
    *(
        "letor(first=-5)",
        "b'1 1:1\\n'",
        "letor().replace(b'qid', b'query')",
        "gzip.compress(letor())",
        "'-> train.txt'",
    ),
    *("letor() + b'2 qid:0 1:1\\n'", "letor() + b'2 qid:77 1:1 9:2\\n'", "letor(grades=(-1, 0, 1))"),
    *("letor().replace(b'0 ', b'x ')", "b'2 qid:1 99999999:1\\n1 qid:1 1:1\\n'", "b'1 qid:\\xff 1:1\\n'"),
)
_PATHS = (
    *(
        "train.txt",
        "vali.txt",
        "test.txt",
        "link.txt",
        "./train.txt",
        "fold/../train.txt",
        "fold/train.txt",
    ),
    *(
        "nowhere.txt",
        "missing/x.json",
        ".",
        "fold",
        "",
        "-",
        "old.json",
        "old.html",
        "new.json",
        "new.html",
        "a\\u202eb",
    ),
    *("/dev/null", "/dev/full", "train.txt/x", "x" * 300, "store", "store/x.json", "~", "kept", "<b>.html", "new.json"),
    *("fold/new.json", "FOLD", "link_to_fold/train.txt", "to_nowhere", "kept/compare-000000000000.results"),
)
_WORDS = {
    "--losses": (
        *("mpboost", "RankNet,MPBoost", ".7*ndcg-boost + .3*qbrank", "'MPBoost(distance=LogDistance(lam=2))'", "", ","),
        *("nothing", "ranknet)", "ranknet,ranknet", "[red]x[/red]", "\\x1b[31m", "ranknet/0", "\\u202e"),
    ),
    "--baselines": ("lambdarank", "regression", "rank:ndcg", "", "x", "lambdarank,lambdarank"),
    "--frameworks": ("lightgbm", "lightgbm", "xgboost", "", "catboost", "lightgbm,", "LightGBM"),
    "--metric": ("NDCG@3", "MAP", "PairError", "NDCG", "ndcg@0", "x", "", "ERR@2", "MAP(relevant=9)", "NDCG@10,MAP"),
    "--resume": ("",),
}
_NUMBERS = ("1", "0", "-1", "x", "", "nan", "1e3")


_OF_PATHS = {"--data", "--train", "--valid", "--test", "--report", "--json", "--store"}
_OPTIONS = {
    option.opts[0]: _WORDS.get(option.opts[0], _PATHS if option.opts[0] in _OF_PATHS else _NUMBERS)
    for option in get_command(app).commands["compare"].params
}
_USUAL = (
    *("--losses", "mpboost", "--baselines", "lambdarank", "--frameworks", "lightgbm", "--rounds", "1", "--seeds", "1"),
    *("--metric", "NDCG@3", "--threads", "1"),
)
_REFUSED = (  # what ends before anything is measured, trained or compiled
    *("'warmup', 'x'", "'nothing'"),
    *("'replicate', 'nothing', '--json', {0}", "'replicate', 'nothing'", "{0}"),
    *("'replicate', 'mpboost', '--data', {0}, '--processes', '0'", "'replicate', 'x', '--figures', {0}", "'--help'"),
    *("'replicate', 'nothing', '--data', {0}, '--figures', {0}", "'replicate', 'nothing', '--json', {0}, '--keep'"),
    *("'doctor', {0}", "'doctor', '--json'", "'doctor', '--json', 'missing/x'", "'--version'", "'--versions'"),
    *("'compare', {0}", "'compare', '--help'"),
)
_BESIDE = {  # an output that may be written anew, a store with others' files, and links
    "old.json": "b'{}'",
    "old.html": "b'old'",
    "kept/x": "b'something else'",
    "link.txt": "'-> test.txt'",
    "to_nowhere": "'-> nowhere'",
    "link_to_fold": "'-> fold'",
}


@target("compare", weight=6, name="command line")
def command_line(dice):
    files = {name: dice.one(contents) for name, contents in _FILES.items()}
    inside = {f"fold/{name}": text for name, text in files.items() if dice.percent(97)}
    if dice.spoils():
        where = dice.one((files, inside))
        line = f"letor() + b'{dice.one(BAD_LINES)}\\n'"
        where[dice.one(tuple(where))] = dice.one((*_BAD_FILES, *[line] * 5))
    if dice.percent(20):
        inside |= {f"folds/Fold{i}/{name}": text for i in (1, 2) for name, text in files.items()}
    texts = ", ".join(f"{name!r}: {content}" for name, content in (files | inside | _BESIDE).items())
    text = f"files = {{{texts}}}\n"
    if dice.percent(15):
        return f"{text}command(*[{dice.one(_REFUSED).format(_quoted(dice.one(_PATHS)))}], files=files)"
    return text + _compare_text(dice)


def _quoted(text):
    """Return the text of a string in which an escape stays one."""
    return repr(text).replace("\\\\", "\\")


def _compare_text(dice):
    source = dice.one(
        (
            *(
                ("--data", "fold"),
                ("--data", "."),
                ("--train", "train.txt", "--valid", "vali.txt", "--test", "test.txt"),
            ),
            *(("--train", "fold/train.txt", "--valid", "fold/vali.txt", "--test", "link.txt"), ("--data", "folds")),
        )
    )
    given = [*_USUAL, *source]
    for _ in range(dice.several(2)):
        output = dice.one(("--json", "--report", "--store"))
        given += [output, dice.one(_PATHS if dice.spoils() else ("new.json", "new.html", "old.json", "kept"))]
    if dice.percent(20):
        given.append("--resume")
    if dice.spoils() or dice.percent(30):
        name = dice.one(tuple(_OPTIONS))
        given += [name, dice.one(_OPTIONS[name])]
    if dice.spoils():
        given.insert(dice.below(len(given)), dice.one(("--x", "-h", "", "--", "x", "--no-resume", "\\udcff", "--json")))
    arguments = ", ".join(map(_quoted, given))
    text = f"given = [{arguments}]\ncommand('compare', *given, files=files)"
    if dice.percent(25):
        text = f"given = [{arguments}, '--store', 'kept']\ndone = command('compare', *given, files=files)\n"
        text += f"spoil_store(done.folder / 'kept', {dice.one(_SPOILING)!r})\n"
        text += "command('compare', *given, '--resume', keep=True)"
    return text
