"""LETOR's data sets, measures and published tables, shared by several papers."""

from collections.abc import Sequence

from boostplug.metrics import MAP, NDCG, MeanNDCG, Metric
from boostplug.rankers import AdaRankRanker, RankBoostRanker
from studies.replication.training.baselines import OneFeature, RankSVM
from studies.replication.training.study import Learner, Measure
from studies.sources import LetorFolds

OHSUMED = LetorFolds(("ohsumed",), n_queries=106)
MQ2007 = LetorFolds(("mq2007",), n_queries=1692)
MQ2008 = LetorFolds(("mq2008",), n_queries=784)
GOV = {
    name: LetorFolds((name.lower(),), n_queries)
    for name, n_queries in (("TD2003", 50), ("TD2004", 75), ("HP2003", 75), ("HP2004", 75), ("NP2003", 150))
}
"""The other sets of the NDCG_Boost paper: LETOR 3.0 on the web pages of .gov."""

BM25 = Learner(name="BM25", ranker=OneFeature, params={"feature": 40})
"""OHSUMED's BM25 of title and abstract, its feature 41, as it is.

The raw values show it: feature 42 is the logarithm of feature 41, and so are 12 and 27 of 11 and 26, those of the title
and of the abstract.
"""

RANKBOOST = Learner(name="RankBoost", ranker=RankBoostRanker, params={"variant": "continuous"})

SCRIPT_MAP = MAP(ties="order", empty=0)
"""MAP as the scripts of LETOR compute it, by which LETOR chooses parameters and rounds on validation."""


def _table(columns: Sequence[str], rows: dict[str, tuple[float, ...]]) -> dict[str, dict[str, float]]:
    return {name: dict(zip(columns, row, strict=True)) for name, row in rows.items()}


PUBLISHED: dict[str, dict[str, dict[str, float]]] = {
    "OHSUMED": _table(
        ("NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10", "MAP"),
        {
            "RankBoost": (0.4632, 0.4555, 0.4494, 0.4302, 0.4411),
            "AdaRank-MAP": (0.5388, 0.4682, 0.4613, 0.4429, 0.4487),
            "AdaRank-NDCG": (0.5330, 0.4790, 0.4673, 0.4496, 0.4498),
            "ListNet": (0.5326, 0.4732, 0.4432, 0.4410, 0.4457),
            "RankSVM": (0.4958, 0.4207, 0.4164, 0.4140, 0.4334),
        },
    ),
    "MQ2007": _table(
        ("MAP", "MeanNDCG", "NDCG@5"),
        {
            "RankBoost": (0.4662, 0.5003, 0.4183),
            "AdaRank-MAP": (0.4577, 0.4891, 0.4070),
            "AdaRank-NDCG": (0.4602, 0.4914, 0.4102),
            "ListNet": (0.4652, 0.4988, 0.4170),
            "RankSVM-Struct": (0.4645, 0.4966, 0.4143),
        },
    ),
    "MQ2008": _table(
        ("MAP", "MeanNDCG", "NDCG@5"),
        {
            "RankBoost": (0.4775, 0.4850, 0.4666),
            "AdaRank-MAP": (0.4764, 0.4915, 0.4794),
            "AdaRank-NDCG": (0.4824, 0.4950, 0.4821),
            "ListNet": (0.4775, 0.4914, 0.4747),
            "RankSVM-Struct": (0.4696, 0.4832, 0.4695),
        },
    ),
}
"""Means over the test parts of the five folds: LETOR 3.0 (OHSUMED) and 4.0, by data set, method, measure."""


def measures(*cutoffs: int, mean_ndcg: bool = False) -> tuple[Measure, ...]:
    """Return MAP and NDCG at some cut-offs as LETOR's scripts compute them, with the round chosen by validation MAP.

    Parameters
    ----------
    *cutoffs : int
    mean_ndcg : bool, default False
        Add MeanNDCG.
    """
    metrics: dict[str, Metric] = {"MAP": SCRIPT_MAP}
    metrics |= {f"NDCG@{k}": NDCG(k, convention="letor", ties="order", empty=0) for k in cutoffs}
    if mean_ndcg:
        metrics["MeanNDCG"] = MeanNDCG(ties="order", empty=0)
    return tuple(Measure(name, metric, SCRIPT_MAP) for name, metric in metrics.items())


def published(name: str, rows: Sequence[str], measures: Sequence[Measure]) -> dict[str, dict[str, float]]:
    """Return some rows and measures of `PUBLISHED`; empty if it does not have the data set."""
    keys = {measure.key for measure in measures}
    table = PUBLISHED.get(name, {})
    return {row: {key: value for key, value in table[row].items() if key in keys} for row in rows if row in table}


def ada_rank(name: str, metric: Metric, rounds: int) -> Learner:
    """Return AdaRank on a metric, which chooses each feature at most once, while one is better than none."""
    return Learner(name=name, ranker=AdaRankRanker, params={"metric": metric, "patience": rounds, "negated": False})


def rank_svm(name: str) -> Learner:
    """Return Ranking SVM under a paper's name for it, with C chosen on validation."""
    return Learner(name=name, ranker=RankSVM, grid=tuple({"C": C} for C in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)))
