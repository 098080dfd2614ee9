"""MPBoost (Zhu et al., CIKM 2009), Section 5."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from boostplug.core.arrays import Floats
from boostplug.data.queries import Queries
from boostplug.losses import BinaryDistance, LinearDistance, LogDistance, LogisticDistance
from boostplug.metrics import DCG, NDCG
from boostplug.rankers import MPBoostRanker
from studies.replication.figures import Curves, Means
from studies.replication.judging.claims import ahead, ahead_of_published, bounded, chosen_near, near_published
from studies.replication.judging.curve_claims import lasts, overfits_early, overfits_less, settles, worsens
from studies.replication.papers.letor import (
    MQ2008,
    OHSUMED,
    PUBLISHED,
    RANKBOOST,
    ada_rank,
    published,
)
from studies.replication.protocol import (
    About,
    Check,
    Citation,
    Claim,
    Protocol,
    not_tested,
    on,
    on_own,
    paragraphs,
)
from studies.replication.training.study import Learner, Measure, Study
from studies.replication.training.task import marks
from studies.sources import BundledFolds, Fifths, OwnSplit, QueryFolds, Source

_CUTOFFS = range(1, 11)
_AT = tuple(f"NDCG@{k}" for k in _CUTOFFS)
_PUBLISHED_AT = ("NDCG@1", "NDCG@3", "NDCG@5", "NDCG@10")
_DDFS = ("LDD", "LOGDD", "LOGITDD")
_ROWS = ("RankBoost", "ListNet", "AdaRank-NDCG")
_OHSUMED, _MQ2008, _WEB, _IMAT = "OHSUMED", "MQ2008", "MSLR", "IMAT2009"
_YANDEX, _YANDEX_FIVE, _BUNDLED = "Yandex", "Yandex, five grades", "bundled set"
_ROUNDS, _FEWER_ROUNDS = 500, 300

# The parameters of Figure 2 first: traces are of the first candidate.
_GRIDS = {
    "BINARY": (BinaryDistance(),),
    "LDD": tuple(LinearDistance(alpha=alpha) for alpha in (0.2, 0.05, 0.1, 0.4, 0.8)),
    "LOGDD": tuple(LogDistance(lam=lam) for lam in (3.0, 0.25, 0.5, 1.0, 2.0)),
    "LOGITDD": tuple(LogisticDistance(beta=beta) for beta in (0.5, 0.125, 0.25, 1.0, 2.0)),
}


def _stumps(rounds: int, candidates: int) -> tuple[Learner, ...]:
    """Return the learners on stumps: the four distances, and the baselines."""
    return (
        *(
            Learner(name=name, ranker=MPBoostRanker, grid=tuple({"distance": d} for d in distances[:candidates]))
            for name, distances in _GRIDS.items()
        ),
        RANKBOOST,
        ada_rank("AdaRank-NDCG", NDCG(5), rounds),
    )


@dataclass(frozen=True, kw_only=True)
class FormulaNDCG(NDCG):
    """NDCG by the formula of Section 5.2: LETOR's discounts, without padding of lists shorter than k.

    Queries with an ideal DCG of 0, which the formula cannot normalise, are left out.
    """

    convention: Literal["letor"] = "letor"
    empty: Literal["skip"] = "skip"

    def compute_per_query(self, scores: Floats, queries: Queries) -> Floats:
        """Return the NDCG of each query."""
        dcg = DCG(self.k, convention=self.convention, gain=self.gain, ties=self.ties).compute_per_query
        ideal = queries.remember(("formula's ideal DCG", self.k, self.gain), lambda: dcg(queries.labels, queries))
        undefined: Floats = np.full(len(ideal), np.nan)
        return np.divide(dcg(scores, queries), ideal, out=undefined, where=ideal > 0)


def _measures(ndcg: Callable[[int], NDCG]) -> tuple[Measure, ...]:
    """Return NDCG at each cut-off, with parameter and round chosen by NDCG@5."""
    return tuple(Measure(at, ndcg(k), ndcg(5)) for k, at in zip(_CUTOFFS, _AT, strict=True))


_SCRIPT_MEASURES = _measures(partial(NDCG, convention="letor", ties="order", empty=0))
"""NDCG as LETOR's scripts compute it."""


def _study(name: str, source: Source, rounds: int, candidates: int = 5) -> Study:
    measures = _measures(FormulaNDCG) if name in {_IMAT, _YANDEX, _YANDEX_FIVE} else _SCRIPT_MEASURES
    return Study(
        name=name,
        source=source,
        rounds=rounds,
        learners=_stumps(rounds, candidates),
        measures=measures,
        traces=("bound", "misordering"),
        published=published(name, _ROWS, measures),
    )


_FIGURE_3, _FIGURE_4, _FIGURE_5 = "Section 5.3.1, Figure 3", "Section 5.3.2, Figure 4", "Section 5.3.3, Figure 5"
_NEARLY_ALL = Citation(
    _FIGURE_3,
    "the three versions of magnitude-preserving MPBoost algorithms outperform nearly all baselines in NDCG@1 to "
    "NDCG@10 by 1 point to 6 points gain",
)
_LAG = Citation(
    _FIGURE_3,
    "MPBoost.LDD and MPBoost.LOGDD lag behind ListNet and AdaRank-NDCG by about 0.5% in NDCG@1",
)
_BEST = Citation(_FIGURE_3, "MPBoost.LOGITDD consistently achieves the best NDCG accuracy across NDCG@1 to NDCG@10")
_BINARY_AHEAD = Citation(
    _FIGURE_3, "MPBoost.BINARY … outperforms RankBoost in all metrics except for NDCG@6 and NDCG@7"
)
_WEB_1_AHEAD = Citation(
    _FIGURE_4,
    "an average of 0.16% and 0.13% NDCG advantage is gained by MPBoost.LOGDD and MPBoost.LOGITDD over MPBoost.BINARY",
)
_WEB_1_BEHIND = Citation(_FIGURE_4, "MPBoost.LDD lags behind MPBoost.BINARY by an average of 0.24% NDCG")
_WEB_2_AHEAD = Citation(
    _FIGURE_5,
    "MPBoost with magnitude-preserving loss functions significantly outperform the version with binary labels by an "
    "average of 1.5% (MPBoost.LDD), 2.2% (MPBoost.LOGDD) and 1.8% (MPBoost.LOGITDD)",
)
_WEB_2_TOP = Citation(_FIGURE_5, "MPBoost.LOGITDD performs the best in NDCG@1 and NDCG@2")
_WEB_2_REST = Citation(_FIGURE_5, "MPBoost.LOGDD achieves the best in the rest positions")
_ALL_THREE = Citation(
    "Section 5.4",
    "In the experiment on three datasets, all three versions of MPBoost with DDF outperform MPBoost with binary labels",
)
_OVER_RANKBOOST = Citation(
    "Section 5.4",
    "MPBoost.BINARY and the other three versions of MPBoost with magnitude-preserving property consistently outperform "
    "RankBoost in OHSUMED dataset",
)
_LOGARITHM = Citation("Section 5.4", "the logarithm-based one achieved the best performance in two datasets")
_LINEAR = Citation("Section 5.4", "the linear-based one fall behind the other two in all three datasets")
_ALPHA = Citation(
    "Section 5.4",
    "forcing the parameter α to take pretty small values (e.g. the best α in the Web-2 dataset was in average 0.062)",
)
_OVERFITTING = Citation(
    "Section 5.5", "In our experiments, we observe that MPBoost with binary label suffers from overfitting"
)
_AS_TRAINING_GOES_ON = Citation(
    "Section 5.5", "MPBoost with magnitude-preserving properties perform well as training goes on"
)
_PEAK = Citation(
    "Section 5.5, Figure 6",
    "MPBoost.BINARY suffers from serious overfitting problem after peaking at around the 90th iteration",
)
_STABLE = Citation(
    "Section 5.5, Figure 6",
    "MPBoost.LDD, MPBoost.LOGDD and MPBoost.LOGITDD can achieve comparatively stable ranking accuracies as the number "
    "of training rounds increase and avoid the overfitting issue to some extent",
)
_LONG = Citation("Section 5.5", "the performance on test set does not degrade after sufficient long time of training")

_EACH = "at each of NDCG@1 to 10 and on average"
_GAIN = "+.01 to +.06"
_EACH_PUBLISHED = " at each of NDCG@1, 3, 5, 10 and on average"


def _ahead(
    source: Citation, more: str, first: str, others: Sequence[str], at: Sequence[str] = _AT, share: float = 1.0
) -> Claim:
    """Return the claim that a method is ahead of others at each cut-off and on average."""
    about: About = "own variants" if {first, *others} <= _GRIDS.keys() else "other methods"
    judge = partial(ahead, learners=(first,), others=tuple(others), measures=at, share=share)
    return Claim(source, about, f"{first} is ahead of {more}", judge, _GAIN if source is _NEARLY_ALL else "")


def _on_average(source: Citation, first: str, second: str, published: str = "", *, behind: bool = False) -> Claim:
    """Return the claim that a distance is ahead of another in the average of NDCG@1 to 10, or, in words, behind."""
    text = f"{second} is behind {first}" if behind else f"{first} is ahead of {second}"
    judge = partial(ahead, learners=(first,), others=(second,), measures=_AT, share=0.0)
    return Claim(source, "own variants", f"{text}, NDCG@1 to 10 averaged", judge, published)


def _above_binary(source: Citation, gains: Mapping[str, str]) -> tuple[Claim, ...]:
    """Return the claims that distances beat BINARY, with the paper's gains."""
    return tuple(_on_average(source, name, "BINARY", gain) for name, gain in gains.items())


_LINEAR_LAST = tuple(_on_average(_LINEAR, name, "LDD", behind=True) for name in ("LOGDD", "LOGITDD"))
_AMONG_DISTANCES = (*_LINEAR_LAST, _on_average(_LOGARITHM, "LOGDD", "LOGITDD"))
"""Section 5.4: LDD is last everywhere, LOGDD first on the two sets of the web; that it leads LDD is judged with LDD."""


_BASELINES = ("RankBoost", "AdaRank-NDCG")
_OF_LETOR = (
    *(
        _ahead(
            _NEARLY_ALL,
            "RankBoost and AdaRank-NDCG, as trained here, and of BINARY, of each at nine of NDCG@1 to 10 (nearly all) "
            "and on average",
            name,
            (*_BASELINES, "BINARY"),
            share=0.9,
        )
        for name in _DDFS
    ),
    _ahead(_BEST, f"RankBoost and AdaRank-NDCG, as trained here, {_EACH}", "LOGITDD", _BASELINES),
    _ahead(_BEST, f"BINARY, LDD and LOGDD {_EACH}", "LOGITDD", ("BINARY", "LDD", "LOGDD")),
    _ahead(
        _BINARY_AHEAD,
        "the RankBoost that is trained here at each of NDCG@1 to 5 and 8 to 10, and on their average (whether it is "
        "not at 6 and 7 is not judged)",
        "BINARY",
        _BASELINES[:1],
        (*_AT[:5], *_AT[7:]),
    ),
    *(
        _ahead(_OVER_RANKBOOST, f"the RankBoost that is trained here {_EACH}", name, _BASELINES[:1])
        for name in ("BINARY", *_DDFS)
    ),
    *_above_binary(_ALL_THREE, dict.fromkeys(_DDFS, "")),
    *_LINEAR_LAST,
)
"""Sections 5.3.1 and 5.4 on OHSUMED, of the methods that are trained here."""


def _of_table(source: Citation, name: str, rows: Sequence[str], at: str = _EACH_PUBLISHED, share: float = 1.0) -> Claim:
    """Return the comparison of a method with rows of LETOR's table."""
    judge = partial(ahead_of_published, learners=(name,), rows=rows, measures=_PUBLISHED_AT, share=share)
    text = f"{name} is ahead of LETOR's {'RankBoost' if len(rows) == 1 else 'RankBoost, ListNet and AdaRank-NDCG'}"
    gain = _GAIN if source is _NEARLY_ALL else ""
    return Claim(source, "other methods", f"{text}{at}", judge, gain)


_THREE_OF_FOUR = ", of each at three of NDCG@1, 3, 5 and 10, which are published (nearly all), and on average"
_OF_TABLE = (
    *(_of_table(_NEARLY_ALL, name, _ROWS, _THREE_OF_FOUR, 0.75) for name in _DDFS),
    *(
        Claim(
            _LAG,
            "figures",
            f"NDCG@1 of {name} is .005 below LETOR's {row}, to within .004 (about)",
            partial(near_published, learners=(name,), measure="NDCG@1", row=row, tolerance=0.004, offset=-0.005),
            f"about -.005 (LETOR: {PUBLISHED[_OHSUMED][row]['NDCG@1']:.4f})",
        )
        for name in ("LDD", "LOGDD")
        for row in ("ListNet", "AdaRank-NDCG")
    ),
    _of_table(_BEST, "LOGITDD", _ROWS),
    _of_table(_BINARY_AHEAD, "BINARY", _ROWS[:1]),
    *(_of_table(_OVER_RANKBOOST, name, _ROWS[:1]) for name in ("BINARY", *_DDFS)),
)
_OF_WEB_1 = (
    *_above_binary(_WEB_1_AHEAD, {"LOGDD": "+.0016", "LOGITDD": "+.0013"}),
    _on_average(_WEB_1_BEHIND, "BINARY", "LDD", ".0024 behind", behind=True),
    *_above_binary(_ALL_THREE, {"LDD": "-.0024 (Section 5.3.2)"}),
    *_AMONG_DISTANCES,
)
"""Sections 5.3.2 and 5.4 on real-valued grades."""
_OF_WEB_2 = (
    *_above_binary(_WEB_2_AHEAD, {"LDD": "+.015", "LOGDD": "+.022", "LOGITDD": "+.018"}),
    _ahead(
        _WEB_2_TOP,
        "BINARY, LDD and LOGDD at NDCG@1 and 2 and on their average",
        "LOGITDD",
        ("BINARY", "LDD", "LOGDD"),
        _AT[:2],
    ),
    _ahead(
        _WEB_2_REST,
        "BINARY, LDD and LOGITDD at each of NDCG@3 to 10 and on their average",
        "LOGDD",
        ("BINARY", "LDD", "LOGITDD"),
        _AT[2:],
    ),
    *_AMONG_DISTANCES,
)
"""Sections 5.3.3 and 5.4 on a private set of five grades."""
_BEST_ALPHA = Claim(
    _ALPHA,
    "figures",
    "the α that validation chooses is .062 on average, to within .038: as far as .1, the grid's second",
    partial(chosen_near, measure="NDCG@5", learner="LDD", parameter="distance.alpha", value=0.062, tolerance=0.038),
    ".062",
)
_SETTLE = tuple(
    Claim(
        _AS_TRAINING_GOES_ON,
        "rounds",
        f"{name}'s mean test NDCG@5 does not significantly worsen from its best round to the last, nor by a tenth of "
        "what it has won since the first",
        partial(settles, measure="NDCG@5", learner=name),
    )
    for name in _DDFS
)


def _of_rounds(rounds: int) -> tuple[Claim, ...]:
    """Return the claims of Section 5.5 about rounds, of BINARY and of the distances, for all experiments."""
    binary = Claim(
        _OVERFITTING,
        "rounds",
        "BINARY's mean test NDCG@5 is best before the last round, and worse at the last",
        partial(overfits_early, measure="NDCG@5", learners=("BINARY",), by=marks(rounds)[-2]),
    )
    return (binary, *_SETTLE)


_OF_FIGURE_6 = (
    Claim(
        _PEAK,
        "rounds",
        "BINARY's test NDCG@5 is lower after the last round than after round 100, the nearest to 90 on record",
        partial(worsens, measure="NDCG@5", learner="BINARY", since=100),
    ),
    *(
        Claim(
            _STABLE,
            "rounds",
            f"from its best round to the last, {name} loses less test NDCG@5 than BINARY from its own",
            partial(overfits_less, measure="NDCG@5", learner=name, others=("BINARY",)),
        )
        for name in _DDFS
    ),
    *(
        Claim(
            _LONG,
            "rounds",
            f"{name}'s test NDCG@5 after the last round is no point (.01) lower than after round 100",
            partial(lasts, measure="NDCG@5", learner=name, since=100, tolerance=0.01),
        )
        for name in _DDFS
    ),
)
_THEOREM_1 = tuple(
    Check(
        "Theorem 1",
        f"{name}'s share of misordered pairs in training is at most the product of Z_t",
        partial(bounded, learner=learner, curve="misordering", bound="bound"),
    )
    for learner, name in zip(_GRIDS, ("BINARY", "LDD (.2)", "LOGDD (3)", "LOGITDD (.5)"), strict=True)
)
_BY_CUTOFF = Means(
    number="", title="test NDCG@k", measures=tuple(zip(map(str, _CUTOFFS), _AT, strict=True)), axis="k", unit="NDCG@k"
)
_CURVES = Curves(
    number="Figure 6",
    title="test NDCG@5 over rounds",
    measures=("NDCG@5",),
    unit="NDCG@5",
    learners=("BINARY", *_DDFS),
)

_NOT_TESTED = not_tested(
    """
    Section 6 | The parameters in these DDFs can be easily adapted to meet requirements of different ranking
    algorithms | Of the ease there is no measure, and other ranking algorithms are not in the paper.

    Section 3.2.1 | when the numerical difference between ratings is large, it's very difficult to tune a good α
    value to map all rating differences into a proper interval. We will show these findings in the experiment | Of
    the difficulty there is no measure; the value that was chosen is judged (Section 5.4).

    Section 3.2.2 | LOGDD is much smoother than LDD in term of the output value, as shown in Figure 2 | It is about
    two formulas, and no measure of smoothness is given.

    Section 3.2.3 | it's easier to tune the related parameters | Of the ease there is no measure.

    Section 4 | The empirical analysis in Section 5 also substantiates the result | The result is a low misordering
    loss; Section 5 has NDCG alone, and does not say what is low.

    Section 5.3.1 | nearly all baselines in NDCG@1 to NDCG@10 by 1 point to 6 points gain | That they are ahead is
    judged; the size is not, since the words do not say which curve gains how much, and Figure 3 has no numbers.
    Over LETOR's rows, at 1, 3, 5 and 10, our gains stand beside that claim.

    Section 5.3.2 | the advantage of MPBoost with magnitude-preserving loss functions is not as clear as that in
    OHSUMED | It compares two data sets, of which Web-1 (IMAT2009) is not at hand.

    Section 5.5 | suffers from serious overfitting problem after peaking at around the 90th iteration | That BINARY
    worsens after the peak is judged; the round itself is read off a curve of private data, and what is serious is
    not said. The round of our best stands there.

    Section 5.4 | the saturation problem appears quite often | Neither a saturated value nor how often is said; so
    too that LOGDD has a moderate range.

    Section 5.5 | the empirical error will keep decreasing in the training phase | It is said of boosting, not of an
    experiment.
    """
)

_DEVIATIONS = paragraphs(
    """
    Figures 3 to 6 have no numbers; published figures are those in the text, and LETOR's table (at 1, 3, 5 and 10)
    for the methods that the paper takes from it. RankBoost and AdaRank-NDCG are trained here too.

    Parameters: of their values the paper gives those of Figure 2 (.2, 3, .5) and Web-2's alpha (.062, Section 5.4);
    the grids are Figure 2's and four others each, alpha .05 to .8, lambda .25 to 3, beta .125 to 2. Rounds: no
    number; 500 at most, 300 on Yandex and IMAT2009 for their time. The paper tunes "these parameters
    independently", the rounds among them; here NDCG@5 on validation, its criterion, chooses parameter and round
    together, for every method and measure.

    Condition (9), distances of about 1, "should be considered during the tuning" in the paper. Here it bounds no
    grid: grades a point apart are .05 apart by the least alpha, and four apart are log(13) = 2.6 apart by Figure
    2's lambda.

    RankBoost as trained here is the variant of continuous features. LETOR's rows come of rounds chosen by MAP on
    validation, ours by NDCG@5, AdaRank-NDCG's too. Thresholds of stumps lie midway between values of a feature; the
    paper's appendix has the values themselves, which part training documents alike.

    The paper contradicts itself twice, and each sentence is judged as it stands: all three versions are ahead of
    BINARY on all sets (5.4), but LDD is behind on Web-1 (5.3.2); BINARY is ahead of RankBoost consistently (5.4),
    but not at NDCG@6 and 7 (5.3.1). That it is not ahead at these two is not judged by itself.

    The alpha of Web-2 is that of its 1,779 private features; Yandex can only show whether a small one is best there
    too. The claim asks for .1 at most, the grid's floor is .05.

    NDCG on LETOR's sets and MSLR is that of LETOR's scripts, where a list shorter than k and one without relevant
    documents count 0, and ties stand in the order of the file. On Yandex and IMAT2009, of short lists, it is the
    formula of Section 5.2: the same discounts, but short lists count as they are; lists without relevant documents
    are left out, ties are in expectation.

    Web-1 is IMAT2009, which is not at hand (with it, folds are drawn here). Yandex stands in for it: the same
    search engine's judgements, real-valued too (244 values, means over assessors), of other queries and 50
    features, 8 of them constant; its grades, 0 to .61, are scaled to 0 to 4.

    Web-2 is private. Yandex in five grades (thresholds .07, .14, .41, .61; 53, 19, 27, 1.5 and .4 % of the
    documents) stands in for it, in five folds of queries like the paper's, and a sample of MSLR, of graded web
    search as well, in one fold: there what needs folds, rounds and the chosen alpha, is not judged.

    Figure 6 has a point every ten rounds; curves here are of rounds 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, …,
    so that round 100 stands for the 90th. A DDF's curve is that of the candidate that validation chose.

    Traces (bound, misordering) are of the parameters of Figure 2; drawn are medians over folds.

    MQ2008 is not in the paper: what it says of OHSUMED, at hand here, is judged on MQ2008 besides. AdaRank-NDCG is
    trained on NDCG@5. On the bundled set rounds are 60, candidates two.
    """
)

_WEB_FOLDERS = OwnSplit(("mslrweb10k", "mslrweb30k", "mslrsample", "mslr"))

MPBOOST = Protocol(
    name="mpboost",
    paper=(
        "Zhu, Chen, Zhu, Wang, Wang, Chen. A general magnitude-preserving boosting algorithm for search ranking. CIKM "
        "2009."
    ),
    studies=(
        _study(_OHSUMED, OHSUMED, _ROUNDS),
        _study(_MQ2008, MQ2008, _ROUNDS),
        _study(_WEB, _WEB_FOLDERS, _ROUNDS),
        _study(_IMAT, QueryFolds(("imat2009",), n_queries=9124), _FEWER_ROUNDS),
        _study(_YANDEX, Fifths(("yandex",), scale=4.0 / 0.61), _FEWER_ROUNDS),
        _study(_YANDEX_FIVE, Fifths(("yandex",), edges=(0.07, 0.14, 0.41, 0.61)), _FEWER_ROUNDS),
        _study(_BUNDLED, BundledFolds(), 60, candidates=2),
    ),
    claims=(
        *on_own(_OHSUMED, *_OF_TABLE, *_OF_LETOR, *_of_rounds(_ROUNDS)),
        *on(_MQ2008, *_OF_LETOR, *_of_rounds(_ROUNDS)),
        *on_own(_IMAT, *_OF_WEB_1, *_of_rounds(_FEWER_ROUNDS)),
        *on(_YANDEX, *_OF_WEB_1, *_of_rounds(_FEWER_ROUNDS)),
        *on(_YANDEX_FIVE, *_OF_WEB_2, _BEST_ALPHA, *_OF_FIGURE_6),
        *on(_WEB, *_OF_WEB_2),
        *on(_BUNDLED, *_OF_LETOR, *_SETTLE),
    ),
    theorems=tuple(
        check
        for study in (_OHSUMED, _MQ2008, _IMAT, _YANDEX, _YANDEX_FIVE, _WEB, _BUNDLED)
        for check in on(study, *_THEOREM_1)
    ),
    not_tested=_NOT_TESTED,
    deviations=_DEVIATIONS,
    figures=(
        *(
            replace(_BY_CUTOFF, number=number, study=study)
            for number, study in (
                ("Figure 3", _OHSUMED),
                ("Figure 4", _IMAT),
                ("Figure 4", _YANDEX),
                ("Figure 5", _YANDEX_FIVE),
                ("Figure 5", _WEB),
                ("Figure 3", _BUNDLED),
            )
        ),
        *(replace(_CURVES, study=study) for study in (_YANDEX_FIVE, _WEB, _YANDEX, _OHSUMED, _MQ2008, _BUNDLED)),
        *(
            replace(
                _CURVES,
                number="Theorem 1",
                title="product of Z_t, parameters of Figure 2",
                study=study,
                measures=("bound",),
                unit="product of Z_t",
                part="trace",
            )
            for study in (_OHSUMED, _YANDEX, _BUNDLED)
        ),
    ),
)
