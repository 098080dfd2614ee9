"""What is called: a target for each public name, each with the strategy of its calls."""

import json
from dataclasses import dataclass
from functools import partial
from inspect import signature

from fuzz.source import HOSTILE, Ranking, arguments, array, calls, chosen, numbers_text
from fuzz.values import FAR, LOSS_NAMES, METRIC_NAMES, POSITIVE, constructed, loss, metric, plain_loss, pools
from hypothesis.strategies import SearchStrategy

import boostplug as bp
from boostplug.rankers import RANKERS
from boostplug.testing import PROPERTIES

__all__ = ["BAD_LINES", "TARGETS", "Target", "metric", "target", "trained_loss"]


@dataclass(frozen=True)
class Target:
    """Some public names and how they are called.

    Attributes
    ----------
    name : str
    covers : tuple of str
        Public names: of `boostplug.__all__`, or with their module ("datasets.load_letor").
    strategy : SearchStrategy
        Of texts.
    weight : float
        How many of 1,000 calls are of this target.
    """

    name: str
    covers: tuple[str, ...]
    strategy: SearchStrategy[str]
    weight: float


TARGETS: dict[str, Target] = {}


def target(*covers, weight, name=None):
    """Make a function of dice that returns the text of a call a target."""

    def register(build):
        own = name or build.__name__
        TARGETS[own] = Target(own, covers, calls(build), weight)
        return build

    return register


# Values: losses, distances, metrics


@target(*("BinaryDistance", "LinearDistance", "LogDistance", "LogisticDistance"), weight=15)
def distances(dice):
    name, parameter = dice.one(
        (("LogDistance", "lam"), ("LinearDistance", "alpha"), ("LogisticDistance", "beta"), ("BinaryDistance", "x"))
    )
    given = "" if parameter == "x" else f"{parameter}={dice.one(HOSTILE if dice.percent(60) else POSITIVE + FAR)}"
    gaps = numbers_text([dice.one(("1.0", "0.5", "3", "1e-9", "1e9", "1e300", "1e-320")) for _ in range(dice.below(4))])
    if dice.percent(50):
        return f"distance = bp.{name}({given})\ncheck_value(distance)"
    return (
        f"distance = bp.{name}({given})\nvalues = distance(np.array({gaps}, dtype=float))\n"
        "assert (values >= 0).all() and not np.isnan(values).any()"
    )


_SPELT = (  # of losses; {0} is a number or something hostile
    *("'mpboost'", "'QBRank'", "'ndcg-boost'", "'.7*ndcg-boost+.3*qbrank'", "'2*(ranknet+mpboost)/3'", "'RankNet'"),
    *("'RankNet(sigmoid={0})'", "'{0}*ranknet + squared-error'", "'AdaRank(metric=NDCG({0}), base=MPBoost())'"),
    *("'MPBoost(distance=LogDistance(lam={0}))'", "'LossSum(parts=(RankNet(),), weights=({0},))'", "'NDCG({0})'"),
    *("'{0}'", "'ranknet({0})'", "'({0}'", "'ranknet-{0}'", "'ranknet*ranknet'", "'ranknet+{0}'", "'-{0}*ranknet'"),
    *("'ranknet[{0}]'", "'ranknet.sigmoid'", "'ranknet/{0}'", "'(lambda: ranknet)()'", "'{0},ranknet'", "'\\x00'"),
)


@target(
    *LOSS_NAMES,
    weight=40,
)
def loss_values(dice):
    if dice.percent(15):
        parts = dice.one(HOSTILE) if dice.spoils() else f"({loss(dice)}, {loss(dice)})"
        weights = dice.one((*HOSTILE, "None", "(1, 2)", "[0.5, 0]", "np.array([1.0, 2.0])", "(1, 2, 3)", "('1', 2)"))
        return f"check_value(bp.LossSum(parts={parts}, weights={weights}))"
    text = f"loss = {loss(dice)}\ncheck_value(loss)"
    if dice.percent(20):
        number = dice.one(("1", "2.5", "0", "1e-300", "1e400", "9**9**9", "None", "inf", "True", "1j", "()", "*", "a"))
        name = dice.one(HOSTILE) if dice.percent(30) else dice.one(_SPELT).format(number)
        text += f"\nassert all(isinstance(loss, bp.Loss) for loss in bp.Loss.parse({name}))"
    return text


@target(
    *METRIC_NAMES,
    weight=30,
)
def metric_values(dice):
    return f"metric = {metric(dice)}\ncheck_value(metric)"


@target("Metric", weight=30, name="Metric.parse")
def parse(dice):
    name = dice.one(METRIC_NAMES)
    cutoff = dice.one(("", "@10", "@3", "@None", "@0", "@-1", "@2.5", "@x", "@", "@1e400", "@" + "9" * 50, "@1@2"))
    options = dice.subset(
        (
            *("letor", "standard", "linear", "exp2", "order", "average", "relevant=2", "empty=0", "empty=skip", "full"),
            *("k=3", "relevant=nan", "relevant=1e999", "max_grade=1001", "gain=numpy.sqrt", "x", "=", "k=", "pooled=1"),
            *("pooled=True", "pooled", "p=50", "p=0", "half", "\\x00", "(", ")", "relevant=0x10", "relevant=1_0"),
        ),
        2,
    )
    text = name + cutoff + (f"({','.join(options)})" if options else "")
    text = dice.one((text, text, text, text, text.lower(), f" {text} ", f"pre_{text}", text[:-1], text + ")", text * 2))
    argument = dice.one(HOSTILE) if dice.spoils() else f"'{text}'"
    return f"metric = bp.Metric.parse({argument})\ncheck_value(metric)"


# Data


@target("Pairs", weight=45)
def pairs(dice):
    n = dice.below(5)
    rows = [str(dice.below(4)) for _ in range(n)]
    others = [str((int(row) + 1 + dice.below(3)) % 4) for row in rows]
    kinds = ("{}", "np.array({}, dtype=int)", "np.array({}, dtype=np.uint8)", "np.array({}, dtype='>i4')")
    given = []
    for values in (rows, others):
        if dice.spoils():
            given.append(array(dice, values, spoilt=True))
        else:
            given.append(dice.one(kinds).format(numbers_text(values)))
    for name, pool in (("weight", ("1.0", "0", "0.5", "1e300")), ("margin", ("1.0", "0.25", "1e300", "1e-300"))):
        if dice.percent(40):
            given.append(f"{name}={array(dice, [dice.one(pool) for _ in range(n)])}")
    return f"pairs = bp.Pairs({', '.join(given)})\ncheck_pairs(pairs)"


_OF_CLICKS = {
    "rule": ("'skip_above'", "'skip_next'", "'all_unclicked'"),
    "max_weight": ("10.0", "1", "1e100"),
    "min_impressions": ("1", "2", "100", "2**62"),
}
_OF_LOGS = {"query": ("'q'", "'d'", "None"), "document": ("'d'",), "ranker": ("'x'",), "impressions": ("'n'", "'p'")}
_LOG_ROWS = ("a,1,0,1,x", "a,2,1,3,y", "b,1,0,2,x", "b,2,1,1,z", "c,7,1,1,", "a,3,0,9,NA", "NA,1,1,1,w")
_BAD_LOG_ROWS = (
    *("a,0,1,1,x", "a,1.5,1,1,x", "a,1,2,1,x", "a,1,nan,1,x", "a,1,,1,x", ",1,1,1,x", "a,one,1,1,x", "a,1,1e400,1,x"),
    *(
        "a,1,1",
        "a,1,1,1,x,y",
        "1e17,1,1,1,x",
        "\\x00,1,1,1,x",
        '"a,1,1,1,x',
        "\\xff,1,1",
        "a,1,True,1,x",
        "a,9**9,1,1,x",
    ),
)


@target("Pairs", "datasets.ClickLog", "datasets.load_clicks", weight=45)
def click_pairs(dice):
    data = Ranking(dice)
    name, of_queries = data.of_queries()
    pages = f"{name}={of_queries()}"
    if dice.percent(20):
        consumed = array(dice, data.values(dice.one((("0", "1", "0"), ("0", "2.5", "1e300", "0")))))
        options = {"n_negatives": ("1", "5", "2**40"), "random_state": ("0", "None", "np.random.default_rng(0)")}
        given = [consumed, pages, *([f"weight={data.weight()}"] if dice.percent(25) else [])]
        options = arguments(dice, options)
        return f"pairs = bp.Pairs.from_implicit({', '.join(given)}{options and ', '}{options})\ncheck_pairs(pairs)"
    if dice.percent(25):
        return _log_file(dice)
    places = [str(place) for size in data.sizes for place in range(1, size + 1)][:: dice.one((1, 1, -1))]
    columns = [pages, *([] if dice.percent(10) else [f"position={array(dice, places, coarser=False)}"])]
    clicked = array(dice, data.values(dice.one((("0", "1"), ("0", "0", "1"), ("0", "2", "7")))))
    if dice.percent(40):
        columns.append(f"impressions={array(dice, data.values(('7', '9', '30')), coarser=False)}")
    given = [clicked, *columns]
    if dice.percent(30):
        given = [f"datasets.ClickLog({', '.join(given)})", *columns[: dice.percent(5)]]
    if dice.percent(40):
        given.append(f"row={array(dice, data.values(('0', '3', '5', '40')), coarser=False)}")
    if dice.percent(30):
        shares = array(dice, ["1.0", "0.5", "0.01", "1e-300", *["0.3"] * dice.one((40, 1))])
        given.append(f"propensity={dice.one((*HOSTILE, shares)) if dice.percent(10) else shares}")
    if dice.percent(25):
        given.append(f"weight={data.weight()}")
    options = arguments(dice, _OF_CLICKS)
    return f"pairs = bp.Pairs.from_clicks({', '.join(given)}{options and ', '}{options})\ncheck_pairs(pairs)"


def _log_file(dice):
    """Return the text of a call that reads a log from a file, at times with a bad row, and lists its pairs."""
    rows = dice.subset(_LOG_ROWS, 70) + ([dice.one(_BAD_LOG_ROWS)] if dice.spoils() else [])
    lines = dice.one(("\\n", "\\r\\n")).join(["q,p,c,n,d", *rows])
    content = f"b'{lines}'"
    name = dice.one(("'log.csv'", "'log.csv.gz'", "'log.parquet'", "'log'"))
    if name == "'log.csv.gz'" or dice.percent(3):
        content = dice.one((f"gzip.compress({content})", f"gzip.compress({content})", f"gzip.compress({content})[:-5]"))
    path = dice.one(HOSTILE) if dice.percent(3) else f"file({content}, {name})"
    if name == "'log.parquet'" and dice.percent(80):
        columns = {"q": "['b', 'a', 'b', 'a']", "p": "[1, 2, 2, 1]", "c": "[0, 1, 1, 0]", "n": "[1, 2, 3, 4]"}
        if dice.spoils():
            columns[dice.one(tuple(columns))] = dice.one(_BAD_COLUMNS)
        table = ", ".join(f"{column!r}: {text}" for column, text in columns.items())
        path = f"parquet({{{table}}}) / '0.parquet'"
    given = {"clicked": "'c'", "position": "'p'", "qid": "'q'"} | chosen(dice, _OF_LOGS)
    texts = ", ".join(f"{name}={text}" for name, text in given.items())
    return f"log = datasets.load_clicks({path}, {texts})\npairs = bp.Pairs.from_clicks(log)\ncheck_pairs(pairs)"


@target("Queries", weight=120)
def queries(dice):
    data = Ranking(dice)
    text = f"queries = {data.queries(pairs=25, weight=50)}\ncheck_queries(queries)"
    if dice.percent(10):
        text += f"\ncheck_queries(queries.of_rows(np.arange(queries.n_rows) % 2 == 0, keep_empty={dice.percent(50)}))"
    return text


@target("group_folds", weight=25)
def group_folds(dice):
    data = Ranking(
        dice, sizes=dice.one(((2, 3, 1), (2, 2, 2, 2), (5, 2, 0, 1), (3,) * 6, (1,) * 5, (3, 2), (0, 1), ()))
    )
    ids = data.queries() if dice.percent(30) else data.qid()
    n_splits = dice.one(HOSTILE) if dice.spoils() else dice.one(("2", "3", "5"))
    options = arguments(
        dice, {"shuffle": ("True", "False"), "random_state": ("0", "7", "None", "np.random.default_rng(1)")}
    )
    return f"n = {n_splits}\nfolds = bp.group_folds({ids}, n{options and ', '}{options})\ncheck_folds(folds, n)"


@target("set_num_threads", weight=3)
def set_num_threads(dice):
    return f"try:\n    bp.set_num_threads({dice.one(HOSTILE)})\nfinally:\n    bp.set_num_threads(None)"


@target("warmup", weight=0.1)
def warmup(dice):
    return f"done = bp.warmup({dice.one(HOSTILE)})\nassert done.n_compiled >= 0 < done.n_found + done.n_compiled"


@target("make_scorer", weight=15)
def make_scorer(dice):
    data = Ranking(dice)
    name, of_queries = data.of_queries()
    given = [data.features(), data.labels()]
    if not dice.percent(10):
        given.append(f"{name}={of_queries()}")
    if dice.percent(25):
        given.append(f"sample_weight={data.weight()}")
    argument = dice.one(HOSTILE) if dice.spoils() else metric(dice)
    return f"scorer = bp.make_scorer({argument})\nrepr(scorer), float(scorer(Constant(), {', '.join(given)}))"


@target("datasets", "datasets.make_ranking", "datasets.RankingData", weight=10)
def make_ranking(dice):
    options = arguments(
        dice,
        {
            "n_features": ("1", "2", "11"),
            "mean_list_size": ("1", "2.5", "10"),
            "n_grades": ("2", "5", "40"),
            "noise": ("0", "0.5", "100", "1e300"),
            "missing": ("0", "0.05", "0.4"),
            "empty_queries": ("0", "1", "0.5"),
            "random_state": ("0", "2**40", "None", "np.random.RandomState(0)", "np.random.default_rng(0)"),
        },
    )
    n = (
        dice.one([h for h in HOSTILE if h not in {"2**63", "np.uint64(2**64 - 1)", "10**400"}])
        if dice.spoils()
        else "3"
    )
    return f"data = datasets.make_ranking({n}{options and ', '}{options})\ncheck_ranking_data(data)"


@target("RankingData", weight=25)
def ranking_data(dice):
    data = Ranking(dice)
    name, text = data.of_queries()
    if dice.percent(15):
        frame = dice.one(("pd.DataFrame({0})", "pl.DataFrame({0})", "pa.table({0})"))
        columns = ", ".join(f"'{key}': {numbers_text(data.values(('0', '1', '2')))}" for key in ("a", "grade"))
        ids = numbers_text([str(q) for q, size in enumerate(data.sizes) for _ in range(size)])
        label = dice.one(HOSTILE) if dice.spoils() else "'grade'"
        whole = frame.format(f"{{{columns}, 'qid': {ids}}}")
        return f"data = bp.RankingData.from_frame({whole}, label={label})\ncheck_queries(data.queries)"
    given = [data.features(), data.labels(), f"{name}={text()}"]
    if dice.percent(10):
        given.append(f"{'qid' if name == 'group' else 'group'}={(data.qid if name == 'group' else data.group)()}")
    if dice.percent(30):
        given.append(f"weight={data.weight()}")
    if dice.percent(20):
        given.append(f"feature_names={dice.one(HOSTILE) if dice.spoils() else dice.one(('None', str(['a', 'b'])))}")
    return (
        f"data = bp.RankingData({', '.join(given)})\ncheck_queries(data.queries)\n"
        "assert data.group.sum() == data.n_rows == len(data.qid) == data.X.shape[0]"
    )


@target("datasets.load_bundled", "datasets.Fold", weight=0.1)
def load_bundled(dice):
    return f"for data in datasets.load_bundled({dice.one(('', '', HOSTILE[0]))}):\n    check_ranking_data(data)"


# What losses and metrics compute


@target(
    "Loss",
    *LOSS_NAMES,
    weight=260,
)
def derivatives(dice):
    data = Ranking(dice)
    return (
        f"loss = {loss(dice)}\nqueries = {data.queries()}\nscores = {data.scores()}\n"
        f"check_derivatives(loss, scores, queries, {dice.below(5)})"
    )


_MODERATE = ((("0", "1", "2", "3", "4")), ("0.5", "1.25", "2.0", "0.0"), ("1e3", "0"), ("1e-3", "2e-3"))


@target("testing", "testing.PROPERTIES", weight=60)
def properties(dice):
    data = Ranking(dice, grades=dice.one(_MODERATE))
    data.weight = partial(data.weight, ("0", "1", "2.5"))
    scores = numbers_text(data.values(dice.one((("0.0", "1.0", "-0.5"), ("3.0", "-3.0"), ("30.0", "-30.0")))))
    prop = dice.below(len(PROPERTIES))
    by_row = ("random_state", "truncation", "norm")  # with these the row order matters
    return (
        f"loss = {plain_loss(dice, without=by_row)}\nqueries = {data.queries()}\n"
        f"scores = np.array({scores}, dtype=float)\n"
        f"check_property(loss, scores, queries, testing.PROPERTIES[{prop}], {dice.below(5)})"
    )


@target("Loss", weight=30, name="Loss: a user's own")
def own_loss(dice):
    data = Ranking(dice)
    what = dice.one(
        (
            *("", "gradient nan", "gradient huge", "hessian zero", "hessian negative", "hessian infinite"),
            *(
                "short",
                "one",
                "three",
                "nothing",
                "strings",
                "columns",
                "lists",
                "integers",
                "value short",
                "value nan",
            ),
        )
    )
    text = f"loss, queries, scores = Wrong({what!r}), {data.queries(pairs=0)}, {data.scores()}\n"
    return text + dice.one(("loss.value(scores, queries)", "loss.gradient_hessian(scores, queries)"))


@target("Metric", *METRIC_NAMES, weight=160)
def metric_calls(dice):
    data = Ranking(dice)
    scores = data.scores()
    if dice.percent(15):
        name, of_queries = data.of_queries()
        given = [data.labels(), scores, *([] if dice.percent(10) else [f"{name}={of_queries()}"])]
        given += [f"weight={data.weight()}"] if dice.percent(25) else []
        given += [f"labelled={data.labelled()}"] if dice.percent(25) else []
        return f"value = {metric(dice)}.score({', '.join(given)})\nassert type(value) is float"
    if dice.percent(10):
        scores = f"with_infinities({scores}, {dice.one(('np.inf', '-np.inf', '[np.inf, -np.inf]'))})"
    return (
        f"metric = {metric(dice)}\nqueries = {data.queries(pairs=3)}\nscores = {scores}\n"
        f"check_metric(metric, scores, queries, {dice.below(5)})"
    )


# Files


_LINES = (
    *("2 qid:1 1:0.5 2:1", "0 qid:1 1:0.1", "1 qid:2 2:3 # doc", "0 qid:2 1:NULL 3:1e-3 #docid = G1", "0.5 qid:3 1:2"),
    *("# a comment", "", "-1 qid:10 4:nan", "1e3 qid:x1 2:-0", "0 qid:4"),
)
BAD_LINES = (
    *(
        "2",
        "qid:1 1:1",
        "2 qid:",
        "2 qid:1 1",
        "2 qid:1 :1",
        "2 qid:1 1:",
        "2 qid:1 1:x",
        "2 qid:1 x:1",
        "nan qid:1 1:1",
    ),
    *("inf qid:1 1:1", "1e400 qid:1 1:1", "2 qid:1 1:1e400", "2 qid:1 2:1 1:1", "2 qid:1 1:1 1:2", "2 qid:1 -1:1"),
    *("2 qid:1 99999999999999999999:1", "2 qid:1 100000000:1", "2 qid:1 0:1", "2 qid:1 1:1 qid:2", "2 1:1 qid:1"),
    *("2 qid:" + "9" * 60 + " 1:1", "2 qid:1 1:0x10", "2 qid:1 1:1_0", "2 qid:1 1:1e", "2,qid:1,1:1", "\\x00"),
    *(
        "2 qid:1 1:1\\x00",
        "\\xff\\xfe",
        "2 qid:1 1:1\\r",
        "2 qid:1 1:1\\x0c",
        "2 qid:\\xc3\\xa9 1:1",
        "2 qid:1 1:1\\xe2\\x80\\xa8",
    ),
    *("2 qid:1 1:1 #docid = " + "x" * 300, "2\\tqid:1\\t1:1", "  2 qid:1 1:1  ", "2 qid:1 1:1 2", "2 qid:1\\xa01:1"),
    *("\\xef\\xbb\\xbf2 qid:1 1:1", "2 qid:-5 1:1", "2 qid:1.5 1:1", "+2 qid:1 1:+1", "2 qid:1 1:.5", "2 qid:1 1:5."),
)


def _letor(dice):
    """Return the text of a file's bytes: lines, often with one that is not as it should be."""
    lines = [dice.one(_LINES) for _ in range(dice.one((3, 1, 2, 5, 8, 0)))]
    if not dice.percent(15):
        lines.sort(key=lambda line: line.partition("qid:")[2].partition(" ")[0])
    if dice.spoils():
        lines.insert(dice.below(len(lines) + 1), dice.one(BAD_LINES))
    ends = ("\\r", "\\x0c", "\\n\\n", "\\x00", "\\x85") if dice.spoils() else ("\\n", "\\n", "\\r\\n")
    end = dice.one(ends)
    text = f"b'{end.join(lines)}{dice.one((end, ''))}'"
    if dice.spoils():
        text = dice.one(
            (
                *(
                    f"{text}[:-1]",
                    f"{text}[3:]",
                    f"gzip.compress({text})",
                    f"gzip.compress({text})[:-5]",
                    f"{text} * 2",
                ),
                *(f"b'\\x1f\\x8b' + {text}", f"{text}.decode('latin1').encode('utf-16')", "b''", "bytes(range(256))"),
                *("b' ' * 10000", "b'PK\\x03\\x04' + bytes(100)", "b'BZh91AY&SY' + bytes(50)", "b'\\xfd7zXZ\\x00'"),
                *("b'{}'", f"gzip.compress({text}) + b'x'", f"gzip.compress(gzip.compress({text}))"),
            )
        )
    return text


_LETOR = {
    "n_features": ("None", "1", "3", "10", "1000"),
    "sparse": ("False", "True"),
    "zero_based": ("'auto'", "True", "False"),
}


def _loading(dice):
    # widths that are taken at their word: memory is the caller's
    options = arguments(dice, _LETOR)
    for most in ("1e308", "2**63", "np.uint64(2**64 - 1)", "10**400"):
        options = options.replace(f"n_features={most}", "n_features=5")
    return f"{options and ', '}{options}"


_OF_RUNS = (
    *(
        "1 Q0 a 1 2.5 t",
        "1 Q0 b 2 1e-3 t",
        "1 Q0 c 3 -2 t",
        "2 Q0 a 1 7 t",
        "2\\tQ0\\tb\\t2\\t7\\tt",
        "x Q0 d9 1 .5 t",
        "",
    ),
)
_OF_QRELS = ("1 0 a 1", "1 0 b 0", "1 0 z 2", "2 0 a -1", "2\\t0\\tz\\t1", "y 0 a 1", "x 0 d9 4", "")
_OF_NAMES = ("{0}", "np.array({0})", "pd.Series({0})", "np.array({0}, dtype=object)", "pl.Series({0})")
_BAD_OF_TREC = (
    *("1 Q0 a 1 nan t", "1 Q0 d 1 1e999 t", "1 Q0 d 1 1_0 t", "1 Q0 d 1 high t", "1 Q0 d 1 2.5", "1 Q0 a 1 2.5 t t"),
    *(
        "1 0 d x",
        "1 0 d 1e999",
        "1 0",
        "1",
        "\\x00",
        "\\xff\\xfe",
        "1 0 \\xe9 1",
        "1 Q0 \\xc2\\xa0 1 1e300 t",
        "1 0 d 1e300",
    ),
    *("1 0 d\\x0ce 1", "1 Q0 d 1 0x10 t", "1 0 d 1\\r1 0 e 1"),
)


def _trec(dice, pool):
    lines = dice.subset(pool, 70)
    if dice.spoils():
        lines = [*lines, dice.one(_BAD_OF_TREC + _OF_RUNS + _OF_QRELS)]
    content = f"b'{'{0}'.join(lines)}'".format(dice.one(("\\n", "\\n", "\\r\\n", "\\r")))
    return dice.one((content, content, content, f"gzip.compress({content})", f"gzip.compress({content})[:-4]"))


def _trec_call(dice):
    if dice.percent(50):
        depth = dice.one((*HOSTILE, "1", "None")) if dice.spoils() else dice.one(("None", "7"))
        return (
            f"run = datasets.load_run(file({_trec(dice, _OF_RUNS)}, 'a.run'))\n"
            f"qrels = datasets.load_qrels(file({_trec(dice, _OF_QRELS)}, 'qrels'))\n"
            f"found = run.judge(qrels, depth={depth})\ncheck_queries(found.queries)\n"
            "check_metric(bp.Bpref(empty=0), found.scores, found.queries, 1)"
        )
    data = Ranking(dice)
    options = [f"qid={data.qid()}"]
    if dice.percent(50):
        names = [f"'d{i}'" for i in range(data.n)]
        options.append(
            f"doc_ids={dice.one(HOSTILE) if dice.spoils() else dice.one(_OF_NAMES).format(numbers_text(names))}"
        )
    path = dice.one(("'out'", "'out.gz'"))
    if dice.percent(50):
        options += [f"tag={dice.one((*HOSTILE, 'chr(55296)'))}"] if dice.spoils() else []
        saved = f"datasets.save_run(folder() / {path}, {data.scores()}, {', '.join(options)})"
        return f"{saved}\nlen(datasets.load_run(folder() / {path}))"
    options += [f"labelled={data.labelled()}"] if dice.percent(30) else []
    return f"datasets.save_qrels(folder() / {path}, {data.labels()}, {', '.join(options)})"


@target(
    *("datasets.load_letor", "datasets.load_run", "datasets.load_qrels", "datasets.save_run", "datasets.save_qrels"),
    *("datasets.Run", "datasets.Qrels", "datasets.JudgedRun"),
    weight=60,
)
def load_letor(dice):
    if dice.percent(25):
        return _trec_call(dice)
    name = dice.one(("'data.txt'", "'data.txt'", "'data.txt.gz'", "'data.svm'", "'data.bz2'"))
    side = ""
    if dice.percent(25):
        suffix = dice.one(("query", "group", "weight", "position"))
        content = dice.one((*("3", "2\\n1", "1 1 1", "", "0 3", "-1", "x", "1.5", "9" * 30, "2\\x00", "1e1", "\\xff"),))
        side = f", {suffix}=b'{content}'"
    path = dice.one(HOSTILE) if dice.percent(3) else f"file({_letor(dice)}, {name}{side})"
    return f"data = datasets.load_letor({path}{_loading(dice)})\ncheck_ranking_data(data)"


@target("datasets.load_fold", "datasets.load_folds", weight=12)
def load_folds(dice):
    if dice.percent(50):
        dice.calm()
    parts = [
        dice.one(("'train.txt'", "'train.txt'", "'train.txt.gz'")),
        dice.one(("'vali.txt'", "'valid.txt'")),
        "'test.txt'",
    ]
    if dice.percent(7):
        parts = parts[1:]
    inside = dice.one(("Fold1", "Fold1", "Fold2", "Fold01", "x"))
    files = "".join(f"\nfile({_letor(dice)}, '{inside}/' + {part})" for part in parts)
    clean = "import shutil\nshutil.rmtree(folder() / 'f', ignore_errors=True)\n"
    files = files.replace(f"'{inside}/'", f"'f/{inside}/'")
    where = dice.one(HOSTILE) if dice.percent(3) else "folder() / 'f'"
    if dice.percent(50):
        loading = f"folds = datasets.load_folds({where}{_loading(dice)})\n"
        return f"{clean}{files}\n{loading}for fold in folds:\n    for data in fold:\n        check_ranking_data(data)"
    where = where if where != "folder() / 'f'" else f"folder() / 'f' / '{inside}'"
    return f"{clean}{files}\nfor data in datasets.load_fold({where}{_loading(dice)}):\n    check_ranking_data(data)"


_COLUMNS = {
    "x": ("[0.5, 1.0, None, 2.0]", "[1, 2, 3, 4]", "[True, None, False, True]", "np.eye(4, dtype=np.float32)[0]"),
    "y": ("[2, 0, 1, 0]", "[0.5, 1.0, -1.0, 0.0]", "[True, False, True, False]", "[0, 0, 0, 0]"),
    "q": (
        *("['a', 'a', 'b', 'c']", "[1, 1, 2**60, -5]", "pd.Categorical(['a', 'b', 'b', 'b'])", "[-1, -2, -2, 7]"),
        *("[1.0, 1.0, 2.0, 3.0]", "np.array([2**64 - 1, 1, 1, 1], np.uint64)", "['', '', 'é', 'x' * 100]"),
    ),
    "w": ("[1.0, 2.0, 0.0, 1e-100]", "[1, 1, 2, 3]", "[None, 1.0, 1.0, 1.0]"),
}
_BAD_COLUMNS = (
    *("['a', 'b', 'c', 'd']", "[None] * 4", "[[1], [2], [3], [4]]", "[b'a'] * 4", "[1e300, -1e300, 0.0, np.inf]"),
    *("[np.nan, 1.0, 2.0, 3.0]", "[1, 2, 1, 2]", "['a', 'b', 'a', None]", "[0.5, 0.5, 1e17, 3.0]", "[-1, 0, 1, 2]"),
    *("pd.date_range('2020', periods=4)", "pd.to_timedelta([1, 2, 3, 4])", "[{'a': 1}] * 4", "[Decimal('1.5')] * 4"),
    *(
        "[True, True, False, None]",
        "np.arange(4, dtype=np.float16)",
        "pa.nulls(4)",
        "pa.array([2**63] * 4, pa.uint64())",
    ),
)


@target("datasets.batches_by_query", "datasets.QueryBatches", weight=20)
def batches_by_query(dice):
    options = {
        "rows": ("1", "2", "3", "100", "2**62"),
        "weight": ("'w'", "None"),
        "features": ("['x']", "['x', 'w']", "None", "['z']"),
    }
    tables = [_table(dice) for _ in range(dice.one((1, 1, 1, 2)))]
    path = dice.one(HOSTILE) if dice.percent(3) else f"parquet({', '.join(tables)})"
    given = {"label": "'y'", "qid": "'q'"} | chosen(dice, options)
    texts = ", ".join(f"{name}={text}" for name, text in given.items())
    return f"found = datasets.batches_by_query({path}, {texts})\ncheck_batches(found)"


def _table(dice):
    """Return the text of a table of four rows, at times with a column that is not as it should be, or without one."""
    columns = {name: dice.one(texts) for name, texts in _COLUMNS.items() if name in "yq" or dice.percent(70)}
    if dice.spoils():
        columns[dice.one(("x", "y", "q", "w", "z"))] = dice.one(_BAD_COLUMNS)
    if dice.percent(3):
        columns.pop(dice.one(tuple(columns)))
    return f"{{{', '.join(f'{name!r}: {text}' for name, text in columns.items())}}}"


_OF_FRAMES = {  # numbers and ids of six rows, as pandas and Dask take them
    "x": ("np.arange(6.0)", "[0.5, np.nan, 1.0, 2.0, 3.0, 4.0]", "[1, 2, 3, 4, 5, 6]"),
    "q": (
        *("[1, 1, 2, 1, 2, 3]", "[1, 1, 1, 2, 2, 2]", "list('abcabc')", "[2**60, -5, 7, 7, 2**60, -5]", "[0] * 6"),
        *("pd.Categorical(list('ababab'))", "pd.date_range('2020', periods=6)", "[0.5, 0.5, 1e17, 3.0, 3.0, 1e17]"),
        *(
            "np.array([2**64 - 1, 1] * 3, np.uint64)",
            "pd.array([1, 2, 1, 2, 1, 2], dtype='Int64')",
            "[True, False] * 3",
        ),
        *(
            "['1', 1, 1.0, '1', 1, 2]",
            "[1, 2, None, 1, 2, 3]",
            "list('ab') * 2 + [None, 'a']",
            "[np.inf, 1, 2, 1, 2, 3]",
        ),
    ),
}


@target("dask", weight=5)
def on_dask(dice):
    table = ", ".join(f"{name!r}: {dice.one(texts)}" for name, texts in _OF_FRAMES.items())
    frame = f"dd.from_pandas(pd.DataFrame({{{table}}}), npartitions={dice.one(('1', '2', '3'))}, sort=False)"
    given = dice.one(HOSTILE) if dice.spoils() else "frame"
    qid = dice.one(HOSTILE) if dice.spoils() else "'q'"
    if dice.percent(30):
        kind = dice.one(("bp.dask.XGBRanker", "bp.dask.LGBMRanker"))
        made = arguments(dice, {"max_bin": ("31", "255"), "time_out": ("1", "5")})
        return f"frame = {frame}\n{kind}(objective=bp.MPBoost(), {made}).fit({given}, {dice.one(HOSTILE)}, qid={qid})"
    if dice.percent(30):
        return f"frame = {frame}\nbp.dask.check_partitions({given}, {qid})"
    parts = arguments(dice, {"npartitions": ("1", "2", "5", "None")})
    whole = f"bp.dask.partition_by_query({given}, {qid}, {parts})"
    alone = "{'scheduler': 'sync', 'dataframe.shuffle.method': 'tasks'}"  # whatever clients other tests have
    return f"frame = {frame}\nwith dask.config.set({alone}):\n    check_whole({whole}, frame, {qid})"


# Models


def _weak(dice, n_features):
    feature = dice.one((*map(str, range(n_features)), "0"))
    kind = dice.below(3)
    number = partial(dice.one, ("0.5", "0.0", "-1.5", "1e-30", "1e30", "5e-324", "-0.0", "3"))
    if kind == 0:
        below = f", below={number()}, above={number()}" if dice.percent(30) else ""
        threshold = dice.one(("0.5", "0.0", "-1.0", "1.0", "-np.inf", "1e-300", "1e300", "5e-324"))
        return f"Stump({feature}, {threshold}{below})"
    if kind == 1:
        return f"Feature({feature})"
    return (
        f"Tree([{feature}, -1, -1], [{number()}, 0.0, 0.0], [1, -1, -1], [2, -1, -1], "
        f"[0.0, {number()}, {number()}], [{dice.one(('True', 'False'))}, False, False])"
    )


def _ensemble(dice, *, kinds=(0, 1, 2)):
    n_features = dice.several(3, 1)
    rounds = []
    for _ in range(dice.below(4)):
        terms = []
        for _ in range(dice.several(2)):
            weak = dice.one(HOSTILE) if dice.spoils() else _weak(dice, n_features)
            weight = dice.one(HOSTILE) if dice.spoils() else dice.one(("1.0", "-0.5", "2", "1e-9", "1e30", "0.0"))
            terms.append(f"({weak}, {weight})")
        rounds.append(f"[{', '.join(terms)}]")
    names = ""
    if dice.percent(30):
        pool = ("'a'", "'b'", "'c'", "'x y'", "'{\"'", "'\\u00e9'", "''", "'a,b'", "'[<'", "'\\n'", "'qid'")
        names = f", feature_names={numbers_text([dice.one(pool) for _ in range(n_features)])}"
    width = dice.one(HOSTILE) if dice.spoils() else str(n_features)
    return f"bp.Ensemble([{', '.join(rounds)}], n_features={width}{names})"


@target("Ensemble", weight=50)
def ensemble(dice):
    text = f"model = {_ensemble(dice)}\n"
    if dice.percent(40):
        data = Ranking(dice, sizes=(4,))
        return text + f"scores = model.predict({data.features(dice.several(3, 1))})\nassert np.isfinite(scores).all()"
    return text + dice.one(("check_ensemble(model)", f"check_ensemble(model.first({dice.one((*HOSTILE, '1', '0'))}))"))


@target("Ensemble", weight=12, name="Ensemble.to_lightgbm, to_xgboost")
def exports(dice):
    X = "np.random.default_rng(0).integers(-2, 3, (6, model.n_features)) / 2"
    text = f"model = {_ensemble(dice)}\n"
    if dice.percent(50):
        return text + f"X = {X}\nbooster_agrees(model, model.to_lightgbm(), X, 1e-12)"
    data = "xgb.DMatrix(X, feature_names=booster.feature_names, nthread=1)"
    return text + f"X = {X}\nbooster = model.to_xgboost()\nbooster_agrees(model, booster, {data}, 1e-5, X)"


def _saved(dice):
    """Return the document of a saved model, with an entry that is not as it should be in most cases."""
    stump = {"weight": 1.0, "kind": "stump", "feature": 0, "threshold": 0.5, "below": 0.0, "above": 1.0}
    tree = {
        "weight": -0.5,
        "kind": "tree",
        "feature": [0, -1, -1],
        "threshold": ["-inf", 0.0, 0.0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "value": [0.0, 1.0, 2.0],
        "missing_left": [True, False, False],
    }
    terms = [stump, tree, {"weight": 2, "kind": "feature", "feature": 1}]
    document = {
        "format": "boostplug.Ensemble",
        "version": 1,
        "n_features": 2,
        "feature_names": dice.one((None, ["a", "b"])),
        "rounds": [[dice.one(terms)] for _ in range(dice.below(3))],
    }
    if dice.percent(75):
        document = _replaced(dice, json.loads(json.dumps(document)))
    return document


_JSON = (
    *(
        None,
        True,
        -1,
        0,
        1,
        2,
        3,
        1.5,
        1e308,
        -1e308,
        5e-324,
        2**53,
        2**63,
        2**70,
        10**400,
        "",
        "-inf",
        "inf",
        "nan",
        "x",
    ),
    *(
        [],
        {},
        [[]],
        [1],
        [None],
        ["a", "a"],
        "a" * 1000,
        [0] * 100,
        {"kind": "stump"},
        50_000_000,
        10**12,
        "\x00",
        "\ud800",
    ),
)


def _replaced(dice, document):
    """Return the document with one of its entries, at any depth, replaced, gone or doubled."""
    at, path = document, []
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = dice.one(keys)
        path.append((at, key))
        if not isinstance(at[key], (dict, list)) or dice.percent(25):
            break
        at = at[key]
    if not path:
        return document
    at, key = path[-1]
    what = dice.below(6)
    if what == 5:
        del at[key]
    elif what == 4 and isinstance(at, dict):
        at[dice.one(("x", "weight ", ""))] = dice.one(_JSON)
    else:
        at[key] = dice.one(_JSON)
    return document


@target("Ensemble", "load", weight=60, name="Ensemble.load, load")
def load(dice):
    document = _saved(dice)
    if dice.percent(25):
        return f"model = bp.Ensemble.from_dict({document!r})\ncheck_ensemble(model)"
    text = json.dumps(document)
    content = repr(text.encode())
    if dice.spoils():
        cut = dice.below(len(text))
        content = dice.one(
            (
                *(repr(text[:cut].encode()), repr(text[cut:].encode()), f"{content} * 2", "b''", "b'null'", "b'[]'"),
                *("b'[' * 100000", "b'{\"a\":' * 100000", "bytes(range(256))", f"b'\\xef\\xbb\\xbf' + {content}"),
                *(
                    f"{content}.decode().encode('utf-16')",
                    f"gzip.compress({content})",
                    "b'NaN'",
                    "b'1e999'",
                    "b'9' * 9999",
                ),
                *(repr(text.replace("1.0", "NaN").encode()), repr(text.replace("1.0", "1e999").encode())),
                *(repr(text.replace("1.0", "-0.0").encode()), repr((text[:-1] + ', "version": 1}').encode())),
            )
        )
    path = dice.one(HOSTILE) if dice.percent(3) else f"file({content}, 'model.json')"
    function = dice.one(("bp.load", "bp.Ensemble.load"))
    return f"model = {function}({path})\ncheck_ensemble(model)"


# Rankers

_TRAINABLE = (
    (3,),
    (2, 3),
    (4, 1),
    (3, 0, 2),
    (5, 2, 0, 1),
    (8, 5),
    (2, 2, 2, 2),
    (12,),
    (6, 7, 1),
    (40,),
    (1,),
    (0, 1),
)


def fit_text(
    dice, ranker, *, pairs, weight="sample_weight", group=True, labelled=True, more=None, n_features=2, extras=None
):
    """Return the text of a fit and what is checked then."""
    data = Ranking(dice, sizes=dice.one(_TRAINABLE), grades=dice.one(_MODERATE) if dice.percent(70) else None)
    name, of_queries = data.of_queries() if group else ("qid", data.qid)
    text = f"ranker = {ranker}\nX = {data.features(n_features)}\ny = {data.labels()}\n"
    given = ["X", "y", f"{name}={of_queries()}"]
    if dice.percent(5):
        given.pop()
    if dice.percent(25):
        given.append(f"{weight}={data.weight()}")
    if dice.percent(10) and labelled:
        given.append(f"labelled={data.labelled()}")
    if dice.percent(pairs):
        given.append(f"pairs={data.pairs()}")
        if dice.percent(30):
            given[1] = "None"
    if dice.percent(20):
        other = Ranking(dice, sizes=dice.one(_TRAINABLE), grades=data.grades)
        sets = f"[({other.features(n_features)}, {other.labels()})]"
        given.append(f"eval_set={dice.one(HOSTILE) if dice.spoils() else sets}")
        name, of_queries = other.of_queries() if group else ("qid", other.qid)
        given.append(f"eval_{name}={dice.one(HOSTILE) if dice.spoils() else f'[{of_queries()}]'}")
    elif dice.percent(5):
        given.append("eval_set=[(X, y)]")
    if more:
        options = arguments(dice, more)
        given += [options] if options else []
    given += extras or []
    return text + f"ranker.fit({', '.join(given)})\n"


_FIT = {
    "eval_metric": ("bp.NDCG(3)", "[bp.MAP(), bp.NDCG(1)]", "bp.PairError()", "None"),
    "early_stopping_rounds": ("1", "2", "None"),
    "verbose": ("False", "0"),
}
_CHECK = ("check_fitted(ranker, X)", "check_fitted(ranker, X, folder())", "check_scored(ranker, X, y)")


def _afterwards(dice):
    """Return what is asked of a fitted ranker: to predict its own rows or others, or a score."""
    if dice.percent(15):
        return f"scores = ranker.predict({Ranking(dice, sizes=(3,)).features(dice.several(3, 1))})"
    if dice.percent(15):
        return f"check_scored(ranker, X, y, metric={dice.one(HOSTILE) if dice.spoils() else metric(dice)})"
    return dice.one(_CHECK)


def reference(kind):
    """Add the target of a reference ranker."""
    name = kind.__name__
    takes_pairs = "pairs" in signature(kind.fit).parameters and name not in {"AdaRankRanker", "NDCGBoostRanker"}

    @target(name, weight=14 if takes_pairs else 12, name=name)
    def build(dice):
        if dice.percent(40):
            dice.calm()
        options = {parameter: texts for parameter, texts in pools(kind).items() if parameter != "n_estimators"}
        ranker = f"bp.{name}({', '.join(filter(None, ('n_estimators=2', arguments(dice, options))))})"
        text = fit_text(dice, ranker, pairs=20 if takes_pairs or dice.percent(10) else 0, more=_FIT)
        return text + _afterwards(dice)


for kind in dict.fromkeys(type(ranker) for rankers in RANKERS.values() for ranker in rankers):
    reference(kind)


_LIGHTGBM = {
    "eval_metric": ("bp.NDCG(3)", "[bp.MAP(), bp.NDCG(1)]", "bp.PairError()", "'ndcg'", "None"),
    "eval_at": ("(1, 3)", "[2]"),
    "init_score": ("None", "np.zeros(3)", "np.zeros(12)"),
}
_METRICS_OF_XGBOOST = ("", "", ", eval_metric=bp.NDCG(3)", ", eval_metric=[bp.MAP(), 'ndcg@2']")


def trained_loss(dice):
    return (
        loss(dice) if dice.percent(50) else dice.one(("bp.MPBoost()", "bp.QBRank()", "bp.NDCGBoost()", "bp.RankNet()"))
    )


def _objective(dice):
    if dice.percent(40):
        dice.calm()
    return dice.one(HOSTILE) if dice.spoils() else trained_loss(dice)


@target("LGBMRanker", weight=30)
def lgbm_ranker(dice):
    own = f"objective={_objective(dice)}, n_estimators=2, num_leaves=3, min_child_samples=1, n_jobs=1, verbose=-1"
    return fit_text(dice, f"bp.LGBMRanker({own})", pairs=15, labelled=False, more=_LIGHTGBM) + _afterwards(dice)


@target("XGBRanker", weight=30)
def xgb_ranker(dice):
    own = f"objective={_objective(dice)}, n_estimators=2, max_depth=2, n_jobs=1"
    own += f", eval_metric={dice.one(HOSTILE)}" if dice.spoils() else dice.one(_METRICS_OF_XGBOOST)
    quiet = ["verbose=False"]
    return fit_text(dice, f"bp.XGBRanker({own})", pairs=15, labelled=False, extras=quiet) + _afterwards(dice)


_NAMES = (
    *("objective", "objective__hessian", "objective__sigmoid", "objective__distance", "objective__distance__lam", "x"),
    *("objective__base__sigmoid", "metric", "metric__k", "loss__sigmoid", "n_estimators", "", "distance__lam", "__"),
    *("objective__", "objective__x", "classifier", "gain", "margin", "eval_metric", "eval_metric__k"),
)
_RANKERS = (
    *("bp.LGBMRanker(objective={})", "bp.XGBRanker(objective={})", "bp.QuadraticBoundRanker(loss={})"),
    *("bp.RankBoostRanker()", "bp.AdaRankRanker()", "bp.MPBoostRanker()", "bp.NDCGBoostRanker()", "bp.QBRankRanker()"),
)


@target("LGBMRanker", "XGBRanker", weight=25, name="get_params, set_params, clone")
def params(dice):
    ranker = dice.one(_RANKERS).format(trained_loss(dice))
    name = dice.one(_NAMES)
    if dice.percent(20):
        return (
            f"ranker = {ranker}\nassert repr(sklearn.base.clone(ranker)) == repr(ranker)\nranker.get_params(deep=True)"
        )
    setting = f"ranker.set_params(**{{{name!r}: {dice.one(HOSTILE)}}})"
    return f"ranker = {ranker}\n{setting}\nranker.get_params(deep=True), repr(ranker)"


@target("suggest", weight=8)
def suggest(dice):
    trial = dice.one(HOSTILE) if dice.spoils() else f"Trial({dice.below(4)})"
    argument = dice.one(HOSTILE) if dice.spoils() else trained_loss(dice)
    prefix = dice.one(("", "", ", prefix=''", ", prefix='loss__'", ", prefix=None", ", prefix=1"))
    return f"loss = bp.suggest({trial}, {argument}{prefix})\ncheck_value(loss)"


# Datasets of the frameworks


def _dataset(dice, *, weighted=True):
    """Return the text of a dataset that its framework takes, and its ranking."""
    data = Ranking(dice, sizes=dice.one(((3,), (2, 3), (1,), (4, 1), (3, 2, 2), (6,))), grades=dice.one(_MODERATE))
    labels, sizes = numbers_text(data.values(data.grades)), list(data.sizes)
    X = f"np.arange({2 * data.n}.0).reshape(-1, 2)"
    if dice.percent(50):
        weight = numbers_text(data.values(dice.one((("1.0",), ("0", "1", "2.5"), ("1e-30", "2e-30"), ("1e30", "1")))))
        weight = f", weight={weight}" if weighted and dice.percent(30) else ""
        return (
            data,
            f"lgb.Dataset({X}, {labels}, group={sizes}{weight}, params=QUIET).construct()",
        )
    weight = numbers_text(data.values(dice.one((("1.0",), ("0", "1", "2.5"), ("1e-30", "2e-30"))), len(sizes)))
    weight = f", weight={weight}" if weighted and dice.percent(30) else ""
    return data, f"xgb.DMatrix({X}, {labels}, group={sizes}{weight}, nthread=1)"


@target("Loss", weight=40, name="Loss, called by a framework")
def objective(dice):
    data, dataset = _dataset(dice)
    if dice.percent(25):
        labels = data.labels()
        weight = dice.one(("None", data.weight()))
        return (
            f"g, h = ({loss(dice)})({labels}, {data.scores()}, {weight}, {data.group()})\nassert np.isfinite(g).all()"
        )
    if dice.spoils():
        return f"({loss(dice)})({dice.one(HOSTILE)}, {dice.one((dataset, *HOSTILE))})"
    return f"loss, dataset = {loss(dice)}, {dataset}\ncheck_objective(loss, {data.scores()}, dataset)"


@target("Metric", weight=25, name="Metric, called by a framework")
def feval(dice):
    data, dataset = _dataset(dice)
    second = dice.one(HOSTILE) if dice.spoils() else dataset
    return (
        f"metric = {metric(dice)}\nname, value = metric({data.scores()}, {second})[:2]\n"
        "assert np.isfinite(value) and isinstance(name, str)"
    )


@target("set_pairs", weight=25)
def set_pairs(dice):
    data, dataset = _dataset(dice)
    kind = dice.one((bp.MPBoost, bp.RankNet, bp.QBRank, bp.NDCGBoost))
    first = dice.one(HOSTILE) if dice.spoils() else dataset
    labelled = f", labelled={data.labelled()}" if dice.percent(25) else ""
    text = f"dataset = {first}\nbp.set_pairs(dataset, {data.pairs()}{labelled})\n"
    if dice.percent(25):
        rows = numbers_text(sorted({str(dice.below(data.n)) for _ in range(data.n)}, key=int))
        return text + (
            f"part = dataset.subset({rows}).construct() if isinstance(dataset, lgb.Dataset) "
            f"else dataset.slice({rows}, allow_groups=True)\n"
            f"{constructed(dice, kind)}(np.zeros(len({rows})), part)"
        )
    return text + f"check_objective({constructed(dice, kind)}, {data.scores()}, dataset)"


@target("set_labels", weight=25)
def set_labels(dice):
    data, dataset = _dataset(dice)
    names = ["click", "sale"] + (["a b", "", "x:y"] if dice.percent(20) else [])
    values = [dice.one(HOSTILE) if dice.spoils() else data.scores() for _ in range(2)]
    labels = ", ".join(f"{dice.one(names)!r}: {value}" for value in values)
    kind = dice.one((bp.MPBoost, bp.QBRank, bp.SquaredError, bp.Correlation))
    bound = f"{constructed(dice, kind)}.on({dice.one(names)!r}) + bp.RankNet().on('click')"
    text = f"dataset = {dataset}\nbp.set_labels(dataset, {{{labels}}})\n"
    if dice.percent(30):
        return text + f"name, value = bp.PairError().on({dice.one(names)!r})({data.scores()}, dataset)[:2]"
    return text + f"check_objective({bound}, {data.scores()}, dataset)"


@target("Unbiased", "set_positions", weight=30)
def set_positions(dice):
    data, dataset = _dataset(dice)
    base = constructed(dice, dice.one((bp.RankNet, bp.MPBoost, bp.QBRank, bp.NDCGBoost, bp.LambdaRank)))
    method = dice.one(("unbiased_lambdamart", "ips", "kurennoy", "additive"))
    given = {"base": base, "method": repr(method)}
    if (method in {"ips", "kurennoy"}) != dice.percent(5):
        given["propensity"] = dice.one(
            ("[1.0, 0.5, 0.3]", "1 / np.arange(1.0, 9.0)", "[1.0]", "[0.0, 1.0]", "[2.0] * 8")
        )
    for name, values in (("max_weight", ("1", "1e9", "3.0")), ("p", ("0", "2", "1e9")), ("ridge", ("1e-9", "10.0")),
                         ("max_position", ("1", "3", "200")), ("examination", ("'independent'",))):  # fmt: skip
        if dice.percent(20):
            given[name] = dice.one(HOSTILE) if dice.spoils() else dice.one(values)
    loss = f"bp.Unbiased({', '.join(f'{name}={text}' for name, text in given.items())})"
    places = numbers_text([str(1 + dice.below(8)) for _ in range(data.n)])
    text = f"dataset = {dataset}\nbp.set_positions(dataset, {dice.one(HOSTILE) if dice.spoils() else places})\n"
    if dice.percent(30):
        return text + f"model = lgb.train({{'objective': {loss}, 'verbose': -1, 'num_threads': 1}}, dataset, 2)"
    return text + f"check_objective({loss}, {data.scores()}, dataset)"


_SIMULATED = {
    "model": ("'position'", "'cascade'", "'dbn'"),
    "eta": ("0", "1.0", "2", "100"),
    "noise": ("0", "1", "0.1"),
    "ranker": ("'random'", "np.arange(len(data.y))", "['random', data.y]", "data.X[:, 0]"),
    "sessions": ("1", "30"),
    "max_position": ("1", "3", "None"),
}
_ESTIMATED = {
    "method": ("'randomised'", "'swapped'", "'harvesting'", "'em'"),
    "X": ("None", "data.X"),
    "max_position": ("2", "3", "None"),
    "max_weight": ("1", "1e9"),
    "n_bootstrap": ("2", "3"),
    "confidence": ("0.5", "0.999"),
}
_EVALUATED = {
    "metric": ("bp.DCG(3)", "'Precision@2'", "bp.NDCG(3)", "bp.MAP()", "bp.DCG()"),
    "method": ("'ips'", "'snips'", "'clipped'"),
    "propensity": ("[1.0, 0.5, 0.3]", "1 / np.arange(1.0, 40.0)", "[0.0] * 40", "[1e-300] * 40", "None"),
    "eta": ("0", "1.0", "20", "None"),
    "max_weight": ("1", "1e9"),
    "n_bootstrap": ("1", "3"),
    "confidence": ("0.5",),
}


@target("clicks", weight=20)
def clicks(dice):
    text = "data = bp.datasets.make_ranking(6, random_state=0)\n"
    text += f"log = bp.clicks.simulate(data, random_state=1, {arguments(dice, _SIMULATED)})\n"
    what = dice.below(3)
    if what == 0:
        return text + "assert log.position.min() >= 1 and set(log.clicked) <= {0.0, 1.0}"
    if what == 1:
        text += f"found = bp.clicks.propensity(log, {arguments(dice, _ESTIMATED)})\n"
        return text + "assert found.propensity[0] == 1.0 and not np.isinf(found.propensity).any() and str(found)"
    scores = dice.one(("data.y[log.document]", "np.zeros(log.n_rows)", "{'a': log.position, 'b': -log.position}"))
    scores = dice.one(HOSTILE) if dice.spoils() else scores
    text += f"found = bp.clicks.evaluate({scores}, log, {arguments(dice, _EVALUATED)})\n"
    return text + "assert str(found)"


@target("MPBoost", "QBRank", weight=8, name="lgb.train, xgb.train")
def train(dice):
    _, dataset = _dataset(dice)
    made_loss, made_metric = trained_loss(dice), metric(dice)
    return (
        f"data, loss, metric = {dataset}, {made_loss}, {made_metric}\n"
        "if isinstance(data, lgb.Dataset):\n"
        "    own = {'objective': loss, 'verbose': -1, 'num_threads': 1, 'min_data_in_leaf': 1, 'num_leaves': 3}\n"
        "    model = lgb.train(own, data, 2, valid_sets=[data], feval=metric)\n"
        "    scores = model.predict(np.arange(8.0).reshape(-1, 2))\n"
        "else:\n"
        "    own = {'nthread': 1, 'disable_default_eval_metric': 1, 'max_depth': 2}\n"
        "    model = xgb.train(own, data, 2, obj=loss, custom_metric=metric, evals=[(data, 'v')], verbose_eval=False)\n"
        "    scores = model.predict(xgb.DMatrix(np.arange(8.0).reshape(-1, 2), nthread=1))\n"
        "assert np.isfinite(scores).all()"
    )


# Properties of a loss


@target("testing", "testing.check_loss", "testing.example_data", "testing.suited_data", "testing.suited", weight=0.4)
def check_loss(dice):
    broken = {
        "value nan": ("shapes_and_types",),
        "value short": ("shapes_and_types",),
        "gradient nan": ("shapes_and_types",),
        "short": ("shapes_and_types",),
        "nothing": ("shapes_and_types",),
        "strings": ("shapes_and_types",),
        "raises": ("shapes_and_types",),
        "hessian zero": ("hessian_is_positive",),
        "hessian negative": ("hessian_is_positive",),
        "gradient turned": ("gradient_is_the_values",),
        "hessian double": ("hessian_is_its_kind",),
    }
    if dice.percent(20):
        return f"property_broken({dice.one((*HOSTILE, 'bp.MPBoost()', 'bp.RankNet()', 'Wrong()'))})"
    what = dice.one(tuple(broken))
    return f"property_broken(Wrong({what!r}), {broken[what]!r})"
