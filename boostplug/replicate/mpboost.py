"""MPBoost (Zhu et al., CIKM 2009), Section 5."""

from boostplug.losses import BinaryDistance, LinearDistance, LogDistance, LogisticDistance, MPBoost
from boostplug.metrics import NDCG
from boostplug.rankers import AdaRankRanker, MPBoostRanker, RankBoostRanker
from boostplug.replicate.figures import ByCutoff, Curves, Distances
from boostplug.replicate.letor import MQ2008, OHSUMED, published
from boostplug.replicate.protocol import Protocol
from boostplug.replicate.sources import BundledFolds, OwnSplit, QueryFolds, RealGrades
from boostplug.replicate.study import Learner, Measure, Source, Study
from boostplug.replicate.trees import TreeLearner

__all__ = ["MPBOOST"]

_CUTOFFS = range(1, 11)
_AT = tuple(f"NDCG@{k}" for k in _CUTOFFS)
_PUBLISHED_AT = ("NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10")
_DDFS = ("LDD", "LOGDD", "LOGITDD")
_OTHERS = ("LDD", "LOGDD", "BINARY", "RankBoost", "AdaRank-NDCG")
_ROWS = ("RankBoost", "ListNet", "AdaRank-NDCG")
_OHSUMED, _MQ2008, _WEB, _IMAT = "OHSUMED", "MQ2008", "MSLR", "IMAT2009"
_REAL, _BUNDLED = "synthetic, real grades", "bundled set"

# The parameters of Figure 2 first: traces are theirs.
_ALPHAS = (0.2, 0.05, 0.1, 0.4, 0.8)
_LAMBDAS = (3.0, 0.25, 0.5, 1.0, 2.0)
_BETAS = (0.5, 0.125, 0.25, 1.0, 2.0)


def _stumps(rounds: int, candidates: int) -> tuple[Learner, ...]:
    """Return the four distances on stumps, and the baselines."""
    grids = {
        "BINARY": (BinaryDistance(),),
        "LDD": tuple(LinearDistance(alpha=alpha) for alpha in _ALPHAS[:candidates]),
        "LOGDD": tuple(LogDistance(lam=lam) for lam in _LAMBDAS[:candidates]),
        "LOGITDD": tuple(LogisticDistance(beta=beta) for beta in _BETAS[:candidates]),
    }
    return (
        *(
            Learner(name=name, ranker=MPBoostRanker, grid=tuple({"distance": distance} for distance in distances))
            for name, distances in grids.items()
        ),
        Learner(name="RankBoost", ranker=RankBoostRanker, params={"variant": "continuous"}),
        Learner(
            name="AdaRank-NDCG",
            ranker=AdaRankRanker,
            params={"metric": NDCG(5), "patience": rounds, "negated": False},
        ),
    )


def _trees(candidates: int) -> tuple[Learner, ...]:
    """Return the same distances as an objective of LightGBM, with every other candidate, and lambdarank."""
    grids = {
        "BINARY": (BinaryDistance(),),
        "LDD": (LinearDistance(alpha=1.0),),
        "LOGDD": tuple(LogDistance(lam=lam) for lam in _LAMBDAS[::2][:candidates]),
        "LOGITDD": tuple(LogisticDistance(beta=beta) for beta in _BETAS[::2][:candidates]),
    }
    return (
        *(
            Learner(
                name=name,
                ranker=TreeLearner,
                grid=tuple({"objective": MPBoost(distance=distance, normalization="none")} for distance in distances),
            )
            for name, distances in grids.items()
        ),
        Learner(name="lambdarank", ranker=TreeLearner, params={"objective": "lambdarank"}),
    )


def _measures() -> tuple[Measure, ...]:
    """Return NDCG as LETOR's scripts compute it, and with ties in expectation; NDCG@5 on validation chooses."""
    script = {k: NDCG(k, convention="letor", ties="order", empty=0) for k in _CUTOFFS}
    expected = {k: NDCG(k, convention="letor", empty=0) for k in (1, 3, 5, 10)}
    return (
        *(Measure(f"NDCG@{k}", metric, script[5]) for k, metric in script.items()),
        *(
            Measure(f"NDCG@{k}", metric, expected[5], "ties in expectation, on validation too")
            for k, metric in expected.items()
        ),
    )


def _study(name: str, source: Source, rounds: int, candidates: int = 5) -> Study:
    measures = _REAL_MEASURES if name in {_IMAT, _REAL} else _measures()
    return Study(
        name=name,
        source=source,
        rounds=rounds,
        learners=_stumps(rounds, candidates),
        measures=measures,
        traces=("z", "bound", "misordering"),
        published=published(name, _ROWS, measures),
    )


def _tree_study(name: str, source: Source, rounds: int, candidates: int = 3) -> Study:
    return Study(name=f"{name}, trees", source=source, rounds=rounds, learners=_trees(candidates), measures=_measures())


_REAL_MEASURES = tuple(Measure(f"NDCG@{k}", NDCG(k), NDCG(5)) for k in _CUTOFFS)


def _by_cutoff(number: str, study: str) -> ByCutoff:
    return ByCutoff(
        number=number,
        title="test NDCG@k",
        study=study,
        measures=tuple(zip(map(float, _CUTOFFS), _AT, strict=True)),
        axis="k",
        unit="NDCG@k",
    )


_WEB_FOLDERS = OwnSplit(("mslrweb10k", "mslrweb30k", "mslrsample", "mslr"))

MPBOOST = Protocol(
    name="mpboost",
    paper=(
        "Zhu, Chen, Zhu, Wang, Wang, Chen. A general magnitude-preserving boosting algorithm for search ranking. CIKM "
        "2009."
    ),
    studies=(
        _study(_OHSUMED, OHSUMED, 500),
        _tree_study(_OHSUMED, OHSUMED, 200),
        _study(_MQ2008, MQ2008, 500),
        _tree_study(_MQ2008, MQ2008, 200),
        _study(_WEB, _WEB_FOLDERS, 500),
        _tree_study(_WEB, _WEB_FOLDERS, 200),
        _study(_IMAT, QueryFolds(("imat2009",), n_queries=9124), 300),
        _study(_REAL, RealGrades(beside=(OHSUMED.folder, MQ2008.folder)), 100),
        _study(_BUNDLED, BundledFolds(), 60, candidates=2),
        _tree_study(_BUNDLED, BundledFolds(), 60, candidates=1),
    ),
    claims=(),
    deviations=(
        (
            "Figures 3 to 6 have no numbers; published figures are those in the text, and LETOR's table for the "
            "methods that the paper takes from it."
        ),
        (
            "Parameters: the paper tunes them on validation and gives Figure 2's alone (.2, 3, .5); the grids are "
            "those and four others each, alpha .05 to .8, lambda .25 to 3, beta .125 to 2. Rounds: no number; 500 at "
            "most on LETOR sets and MSLR. NDCG@5 on validation chooses both, for every method and measure."
        ),
        "Figure 6 has a point every ten rounds; curves here are of rounds 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, …",
        "Traces (z, bound, misordering) are medians over folds, of the parameters of Figure 2.",
        (
            "Web-2 is private: its claims are judged on MSLR, which has its grades, 0 to 4, but other queries and "
            "features, in one fold."
        ),
        (
            "Web-1 is IMAT2009, in folds drawn here; the synthetic set stands beside it, or in its place. Their NDCG "
            "has the discount 1/log2(1+j) and ties in expectation: the script counts a list shorter than k as 0."
        ),
        "MQ2008 is not in the paper, which says nothing of trees either. AdaRank-NDCG is that of `adarank`.",
        (
            "Trees: LightGBM, learning rate .05, 15 leaves, at most 200 rounds, the Newton step; candidate and round "
            "chosen as above, of three each for LOGDD (.5, 2, 3) and LOGITDD (.25, .5, 2). LDD has one (1), since "
            "alpha but rescales the scores of Newton's steps."
        ),
    ),
    figures=(
        Distances(
            number="Figure 2",
            title="directed distances",
            unit="distance",
            functions=(
                ("LDD, .2", LinearDistance(alpha=_ALPHAS[0])),
                ("LOGDD, 3", LogDistance(lam=_LAMBDAS[0])),
                ("LOGITDD, .5", LogisticDistance(beta=_BETAS[0])),
            ),
        ),
        _by_cutoff("Figure 3", _OHSUMED),
        _by_cutoff("Figure 4", _IMAT),
        _by_cutoff("Figure 4", _REAL),
        _by_cutoff("Figure 5", _WEB),
        _by_cutoff("Figure 3", _BUNDLED),
        *(
            Curves(
                number="Figure 6",
                title="test NDCG@5 over rounds",
                study=study,
                measures=("NDCG@5",),
                unit="NDCG@5",
                learners=("BINARY", *_DDFS),
            )
            for study in (_WEB, _OHSUMED, _MQ2008, _BUNDLED)
        ),
    ),
)
