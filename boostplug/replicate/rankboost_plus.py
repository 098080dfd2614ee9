"""RankBoost+ (Connamacher et al., Machine Learning 109, 2020), Section 5."""

from dataclasses import replace

from boostplug.losses import BinaryDistance, MPBoost
from boostplug.metrics import NDCG, PairError
from boostplug.rankers import RankBoostRanker
from boostplug.rankers.base import Round, Rounds, Training
from boostplug.replicate.letor import MQ2007, MQ2008, OHSUMED, PUBLISHED, measures
from boostplug.replicate.protocol import Protocol
from boostplug.replicate.sources import BundledFolds, BundledQueries, MovieLensUsers, SingleQueries
from boostplug.replicate.study import Learner, Measure, Source, Study
from boostplug.replicate.trees import TreeLearner

__all__ = ["RANKBOOST_PLUS", "HaltingRankBoost"]

_ORDER = ("Rb+", "Rb-c", "Rb-d")
_ERRORS = (Measure("R1", PairError("full", pooled=True)), Measure("R2", PairError("half", pooled=True)))
_OF_ONE_QUERY = (*_ERRORS, *(Measure(f"NDCG@{k}", NDCG(k)) for k in (3, 5, 7)))
_LETOR = (*_ERRORS, *measures(1, 3, 5, 7, 10, mean_ndcg=True))
_MOVIELENS, _WEB, _BUNDLED = "MovieLens-100k", "MSLR queries", "bundled set, queries"
_GOES_ON, _STRATEGIES = ", Rb-d goes on", ", strategies"

# RankBoost's loss E1 is MPBoost's of the binary distance; E2 is one of stumps alone.
_TREES = (
    Learner(name="lambdarank", ranker=TreeLearner),
    Learner(
        name="E1 on trees",
        ranker=TreeLearner,
        params={"objective": MPBoost(distance=BinaryDistance(), normalization="none")},
    ),
)


class HaltingRankBoost(RankBoostRanker):
    """Discrete RankBoost that halts where (14) is undefined, without the stump that makes it so (Figure 4).

    Where that is the first stump, it is kept, as the authors' program does: without it nothing would be ranked.
    ``history_`` also has ``halted``: 1 from there on, in a round that adds nothing.
    """

    def _rounds(self, training: Training) -> Rounds:
        rounds, last = super()._rounds(training), None
        while True:
            try:
                done = next(rounds)
            except StopIteration as stop:
                return str(stop.value)
            undefined = bool(done.record["undefined"])
            if undefined and last is not None:
                yield Round((), {**last.record, "halted": 1.0})
            else:
                last = Round(done.terms, {**done.record, "halted": float(undefined)})
                yield last
            if undefined:
                return "(14) is undefined"


_PLUS = Learner(name="Rb+", ranker=RankBoostRanker, params={"variant": "plus"})


def _learners(*, halting: bool = True, record_e2: bool = False) -> tuple[Learner, ...]:
    params = {"record_e2": True} if record_e2 else {}
    discrete = HaltingRankBoost if halting else RankBoostRanker
    return (
        _PLUS,
        Learner(name="Rb-c", ranker=RankBoostRanker, params={"variant": "continuous", **params}),
        Learner(name="Rb-d", ranker=discrete, params={"variant": "discrete", **params}),
    )


def _of_single_queries(name: str, source: Source, rounds: int) -> tuple[Study, ...]:
    """Return the studies of tasks that are one query each: the paper's, and two that vary it."""
    main = Study(
        name=name,
        source=source,
        rounds=rounds,
        learners=_learners(record_e2=True),
        measures=_OF_ONE_QUERY,
        traces=("e1", "e2", "r1", "r2", "bound", "halted"),
    )
    optimal = Learner(name="Rb+, optimal", ranker=RankBoostRanker, params={"variant": "plus", "strategy": "optimal"})
    return (
        main,
        replace(
            main,
            name=name + _GOES_ON,
            learners=_learners(halting=False, record_e2=True),
            traces=("e1", "e2", "undefined"),
        ),
        replace(main, name=name + _STRATEGIES, learners=(_PLUS, optimal), traces=("e1", "e2")),
    )


RANKBOOST_PLUS = Protocol(
    name="rankboost-plus",
    paper="Connamacher, Pancha, Liu, Ray. RankBoost+: an improvement to RankBoost. Machine Learning 109, 2020.",
    studies=(
        *_of_single_queries(_MOVIELENS, MovieLensUsers(), 200),
        *_of_single_queries(_WEB, SingleQueries(("mslrweb10k", "mslrweb30k", "mslrsample", "mslr")), 200),
        *(
            Study(
                name=name,
                source=source,
                rounds=300,
                learners=_learners(),
                measures=_LETOR,
                published={"Rb-c": PUBLISHED[name]["RankBoost"]},
            )
            for name, source in (("MQ2007", MQ2007), ("MQ2008", MQ2008), ("OHSUMED", OHSUMED))
        ),
        *(
            Study(name=f"{name}, in LightGBM", source=source, rounds=300, learners=_TREES, measures=_LETOR)
            for name, source in (("MQ2007", MQ2007), ("MQ2008", MQ2008), ("OHSUMED", OHSUMED))
        ),
        *_of_single_queries(_BUNDLED, BundledQueries(most=20), 100),
        Study(name="bundled set", source=BundledFolds(), rounds=100, learners=_learners(), measures=_LETOR),
        Study(name="bundled set, in LightGBM", source=BundledFolds(), rounds=100, learners=_TREES, measures=_LETOR),
    ),
    claims=(),
    deviations=(),
    figures=(),
)
