"""AdaRank (Xu & Li, SIGIR 2007), Section 4, on LETOR's data and beside LETOR's published figures."""

from typing import Any, Literal

from boostplug.losses import AdaRank, NDCGBoost
from boostplug.metrics import MAP, NDCG, Metric
from boostplug.rankers import AdaRankRanker, RankBoostRanker
from boostplug.studies.replication.checked import Bounded, Close
from boostplug.studies.replication.claims import Ahead, Citation, Claim
from boostplug.studies.replication.curve_claims import ClimbsToPeak
from boostplug.studies.replication.figures import ByGroup, Curves, Figure
from boostplug.studies.replication.groups import (
    AheadOverGroups,
    GainsMore,
    KindError,
    OfQueries,
    QueriesByPairs,
    by_thousands,
)
from boostplug.studies.replication.letor import (
    BM25,
    MQ2007,
    MQ2008,
    OHSUMED,
    PUBLISHED,
    measures,
    measures_by_ties,
    rank_svm,
)
from boostplug.studies.replication.protocol import Protocol
from boostplug.studies.replication.sources import BundledFolds
from boostplug.studies.replication.study import ByMeasure, Learner, Measure, Source, Study
from boostplug.studies.replication.task import STEADY
from boostplug.studies.replication.trees import TreeLearner

__all__ = ["ADARANK"]

_ROUNDS = 300
_CLOSE = 0.01
_CUTOFFS = (1, 3, 5, 10)
_SVM, _BOOST = "Ranking SVM", "RankBoost"
_COMPARED = ("AdaRank-MAP", "AdaRank-NDCG", _BOOST, _SVM, "BM25")
_FIGURE_2 = ("MAP", *(f"NDCG@{k}" for k in _CUTOFFS))
_OWN = "OHSUMED"
_LETOR = "LETOR's measures"
_KINDS = (("d-n", 2, 0), ("d-p", 2, 1), ("p-n", 1, 0))
_LAST_GROUP = 10  # thousand pairs
_FEW = 3000  # pairs: the paper's 0-1k, 1k-2k and 2k-3k
_ERRORS, _BY_PAIRS = "errors on pairs", "by pairs of the query"
_FEW_PAIRS, _MANY_PAIRS = f"MAP below 3k, {_BY_PAIRS}", f"MAP from 3k, {_BY_PAIRS}"
_SECTION_2, _SECTION_5 = "Section 4.2, Figure 2", "Section 4.5"
_TRACES = ("bound", "train_metric", f"{STEADY}train_metric")


def _learners(relevant: int, *more: Learner) -> tuple[Learner, ...]:
    """Return the learners, AdaRank-MAP trained with grades of `relevant` and more as relevant."""
    patient: dict[str, Any] = {"negated": False, "patience": _ROUNDS}
    literal: dict[str, Any] = {"negated": False, "stop": "paper", "no_repeat": False}
    metrics: dict[str, Metric] = {"MAP": MAP(relevant=relevant), "NDCG": NDCG(5)}
    return (
        *(
            Learner(name=f"AdaRank-{name}{how}", ranker=AdaRankRanker, params={"metric": metric, **params})
            for how, params in (("", patient), (", literal", literal))
            for name, metric in metrics.items()
        ),
        Learner(name=_BOOST, ranker=RankBoostRanker, params={"variant": "continuous"}),
        rank_svm(_SVM),
        *more,
    )


_TREES = (
    Learner(name="lambdarank", ranker=TreeLearner),
    Learner(name="AdaRank on trees", ranker=TreeLearner, params={"objective": AdaRank(base=NDCGBoost())}),
)


def _papers_measures(relevant: int) -> tuple[Measure, ...]:
    """Return Figure 2's measures as the paper defines them, ties in expectation, and in the file's order."""

    def of(ties: Literal["average", "order"], group: str) -> tuple[Measure, ...]:
        metrics: dict[str, Metric] = {"MAP": MAP(relevant=relevant, ties=ties)}
        metrics |= {f"NDCG@{k}": NDCG(k, ties=ties) for k in _CUTOFFS}
        return tuple(Measure(name, metric, metrics["MAP"], group) for name, metric in metrics.items())

    return (*of("average", ""), *of("order", "ties in the file's order"))


def _parts_of_ohsumed() -> tuple[Measure, ...]:
    """Return the measures of Figures 6 and 8: errors on kinds of pairs, MAP on queries by their number of pairs."""
    own = MAP(relevant=2)
    few, many = (name.partition(",")[0] for name in (_FEW_PAIRS, _MANY_PAIRS))
    return (
        *(
            Measure(kind, KindError(ties="half", pooled=True, high=high, low=low), own, _ERRORS)
            for kind, high, low in _KINDS
        ),
        Measure(few, OfQueries(own, 0, _FEW), own, _BY_PAIRS),
        Measure(many, OfQueries(own, _FEW), own, _BY_PAIRS),
        *(
            Measure(name, OfQueries(own, least, below), own, _BY_PAIRS)
            for name, least, below in by_thousands(_LAST_GROUP)
        ),
    )


_GROUPS = tuple((name, f"{name}, {_BY_PAIRS}") for name, _, _ in by_thousands(_LAST_GROUP))
_ACCURACY = ByMeasure(name="Figure 2", unit="mean over test queries", measures=tuple((key, key) for key in _FIGURE_2))
_OHSUMED_EXTRAS = (
    _ACCURACY,
    ByMeasure(
        name="Figure 6", unit="share of misordered pairs", measures=tuple((k, f"{k}, {_ERRORS}") for k, *_ in _KINDS)
    ),
    QueriesByPairs(name="Figure 7", unit="queries", last=_LAST_GROUP),
    ByMeasure(name="Figure 8", unit="MAP", measures=_GROUPS),
)


def _claims(study: str, *, bm25: bool = False) -> tuple[Claim, ...]:
    """Return the claims of Sections 4.2 and 4.5 that are about any data set."""
    own_data = study == _OWN
    others = (*(("BM25",) if bm25 else ()), _SVM, _BOOST)
    said = ", ".join(others)
    outperform = tuple(
        Ahead(
            study=study,
            text=f"{learner} is ahead of {said} at each of {', '.join(_FIGURE_2)}, and on their average",
            source=Citation(
                _SECTION_2,
                "both AdaRank.MAP and AdaRank.NDCG outperform BM25, Ranking SVM, and RankBoost in terms of all "
                "measures",
            ),
            about="other methods",
            own_data=own_data,
            learners=(learner,),
            others=others,
            measures=_FIGURE_2,
        )
        for learner in ("AdaRank-MAP", "AdaRank-NDCG")
    )
    significant = tuple(
        Ahead(
            study=study,
            text=(
                f"{learner} is ahead of {other} at {measure} by a paired t-test, p < .05: by Student's 95 % interval "
                "over test queries, drawn within folds that weigh the same"
            ),
            source=Citation("Section 4.2", words),
            about="other methods",
            own_data=own_data,
            published=published,
            learners=(learner,),
            others=(other,),
            measures=(measure,),
        )
        for learner, measure, published, words in (
            (
                "AdaRank-MAP",
                "MAP",
                "p-value < 0.05",
                (
                    "We conducted significant tests (t-test) on the improvements of AdaRank.MAP over BM25, Ranking "
                    "SVM, and RankBoost in terms of MAP. The results indicate that all the improvements are "
                    "statistically significant (p-value < 0.05)"
                ),
            ),
            (
                "AdaRank-NDCG",
                "NDCG@5",
                "",
                (
                    "We also conducted t-test on the improvements of AdaRank.NDCG over BM25, Ranking SVM, and "
                    "RankBoost in terms of NDCG@5. The improvements are also statistically significant"
                ),
            ),
        )
        for other in others
    )
    trained = tuple(
        Ahead(
            study=study,
            text=(
                f"Trained on {measure}, AdaRank is better at {measure} in training than trained on {other}, each after "
                "the round that validation MAP chose"
            ),
            source=Citation(f"{_SECTION_5}, {figure}", words),
            about="own variants",
            own_data=own_data,
            learners=(f"AdaRank-{measure.partition('@')[0]}",),
            others=(f"AdaRank-{other.partition('@')[0]}",),
            measures=(measure,),
            part="train",
        )
        for figure, measure, other, words in (
            ("Figure 9", "MAP", "NDCG@5", "AdaRank.MAP trained with MAP performs better in terms of MAP"),
            ("Figure 10", "NDCG@5", "MAP", "AdaRank.NDCG trained with NDCG@5 performs better in terms of NDCG@5"),
        )
    )
    climbs = ClimbsToPeak(
        study=study,
        text="The training MAP of AdaRank-MAP never falls from any round to the next before its highest, which is not "
        "the first, of all rounds",
        source=Citation(
            f"{_SECTION_5}, Figure 11",
            "the ranking accuracy of AdaRank.MAP steadily improves, as the training goes on, until it reaches to the "
            "peak",
        ),
        about="rounds",
        own_data=own_data,
        curve=f"{STEADY}train_metric",
        learner="AdaRank-MAP",
    )
    return (*outperform, *significant, *trained, climbs)


def _of_parts() -> tuple[Claim, ...]:
    """Return the claims of Figures 6 and 8."""
    kinds = tuple(f"{kind}, {_ERRORS}" for kind in ("d-n", "d-p"))
    few = Citation(
        f"{_SECTION_5}, Figure 8",
        "AdaRank.MAP performs particularly better than RankBoost for queries with small numbers of document pairs "
        "(e.g., “0-1k”, “1k-2k”, and “2k-3k”)",
    )
    similar = Citation(f"{_SECTION_5}, Figure 8", "For AdaRank.NDCG, similar results can be observed")
    points = Citation(
        f"{_SECTION_5}, Figure 8",
        "the average MAP of AdaRank.MAP over the groups is two points higher than RankBoost",
    )
    return (
        *(
            Ahead(
                study=_OWN,
                text=f"{learner} misorders fewer d-n and d-p pairs of the test parts than {_SVM} and {_BOOST}",
                source=Citation(
                    f"{_SECTION_5}, Figure 6",
                    "AdaRank.MAP and AdaRank.NDCG make fewer errors for “d-n” and “d-p”",
                ),
                about="other methods",
                own_data=True,
                learners=(learner,),
                others=(_SVM, _BOOST),
                measures=kinds,
            )
            for learner in ("AdaRank-MAP", "AdaRank-NDCG")
        ),
        AheadOverGroups(
            study=_OWN,
            text=f"AdaRank-MAP's test MAP, averaged over groups of queries, is within {_CLOSE} of RankBoost's + .02",
            source=points,
            about="figures",
            own_data=True,
            published="two points",
            learner="AdaRank-MAP",
            other=_BOOST,
            measures=tuple(key for _, key in _GROUPS),
            lead=0.02,
            tolerance=_CLOSE,
        ),
        AheadOverGroups(
            study=_OWN,
            text="AdaRank-NDCG's test MAP, averaged over groups of queries, is ahead of RankBoost's",
            source=similar,
            about="other methods",
            own_data=True,
            learner="AdaRank-NDCG",
            other=_BOOST,
            measures=tuple(key for _, key in _GROUPS),
        ),
        *(
            GainsMore(
                study=_OWN,
                text=(
                    f"{learner} is ahead of RankBoost in test MAP on queries of fewer than 3,000 pairs, and by more "
                    "than on the others"
                ),
                source=source,
                about="other methods",
                own_data=True,
                learner=learner,
                other=_BOOST,
                measure=_FEW_PAIRS,
                than=_MANY_PAIRS,
            )
            for learner, source in (("AdaRank-MAP", few), ("AdaRank-NDCG", similar))
        ),
    )


def _theorems(study: str) -> tuple[Bounded, ...]:
    """Return what holds whatever the data."""
    return tuple(
        Bounded(
            study=study,
            text=f"The training metric of {learner} is nowhere below its bound",
            where="Theorem 1",
            curve="bound",
            bound="train_metric",
            learner=learner,
        )
        for learner in ("AdaRank-MAP", "AdaRank-NDCG")
    )


def _baselines(name: str, measures: tuple[str, ...]) -> tuple[Close, ...]:
    """Return the comparison with LETOR's table."""
    rows = {"AdaRank-MAP": "AdaRank-MAP", "AdaRank-NDCG": "AdaRank-NDCG", _BOOST: _BOOST, _SVM: "RankSVM"}
    return tuple(
        Close(
            study=f"{name}, {_LETOR}",
            text=f"{measure} of {learner} is within {_CLOSE} of LETOR's",
            where=f"LETOR's table of {name}",
            published=f"{PUBLISHED[name][row][measure]:.4f}",
            measure=measure,
            learner=learner,
            row=row,
            tolerance=_CLOSE,
        )
        for learner, row in rows.items()
        if row in PUBLISHED[name]
        for measure in measures
    )


def _accuracy(study: str) -> Figure:
    """Return Figure 2."""
    return ByGroup(
        number="Figure 2", title="accuracy on test", study=study, extra="Figure 2", axis="measure", rows=_COMPARED
    )


def _plots(study: str) -> tuple[Figure, ...]:
    """Return the paper's figures of accuracy and of rounds."""
    trained = ("AdaRank-MAP", "AdaRank-NDCG")
    return (
        _accuracy(study),
        *(
            Curves(
                number=number,
                title=f"{measure} in training, trained on MAP or on NDCG@5",
                study=study,
                measures=(measure,),
                part="train",
                learners=trained,
                unit=measure,
            )
            for number, measure in (("Figure 9", "MAP"), ("Figure 10", "NDCG@5"))
        ),
        Curves(
            number="Figure 11",
            title="training MAP of AdaRank-MAP over rounds",
            study=study,
            measures=("MAP",),
            part="train",
            learners=("AdaRank-MAP",),
            unit="MAP",
        ),
    )


def _stand_in(name: str, source: Source, rounds: int = _ROUNDS) -> Study:
    """Return a study of a data set that is not the paper's, all relevant grades counting in MAP."""
    return Study(
        name=name,
        source=source,
        rounds=rounds,
        learners=_learners(1),
        measures=_papers_measures(1),
        traces=_TRACES,
        extras=(_ACCURACY,),
    )


def _letor_study(name: str, source: Source, *, mean_ndcg: bool) -> Study:
    """Return a study by LETOR's conventions, beside LETOR's published table."""
    return Study(
        name=f"{name}, {_LETOR}",
        source=source,
        rounds=_ROUNDS,
        learners=_learners(1),
        measures=measures_by_ties(*_CUTOFFS, mean_ndcg=mean_ndcg),
        published=PUBLISHED[name],
    )


ADARANK = Protocol(
    name="adarank",
    paper="Xu, Li. AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.",
    studies=(
        Study(
            name=_OWN,
            source=OHSUMED,
            rounds=_ROUNDS,
            learners=_learners(2, BM25),
            measures=(*_papers_measures(2), *_parts_of_ohsumed()),
            traces=_TRACES,
            extras=_OHSUMED_EXTRAS,
        ),
        _stand_in("MQ2007", MQ2007),
        _stand_in("MQ2008", MQ2008),
        _letor_study(_OWN, OHSUMED, mean_ndcg=False),
        _letor_study("MQ2007", MQ2007, mean_ndcg=True),
        _letor_study("MQ2008", MQ2008, mean_ndcg=True),
        *(
            Study(name=f"{name}, in LightGBM", source=source, rounds=_ROUNDS, learners=_TREES, measures=scripts)
            for name, source, scripts in (
                (_OWN, OHSUMED, measures(*_CUTOFFS)),
                ("MQ2007", MQ2007, measures(*_CUTOFFS, mean_ndcg=True)),
                ("MQ2008", MQ2008, measures(*_CUTOFFS, mean_ndcg=True)),
            )
        ),
        _stand_in("bundled set", BundledFolds(), 100),
        Study(
            name="bundled set, in LightGBM",
            source=BundledFolds(),
            rounds=100,
            learners=_TREES,
            measures=measures(*_CUTOFFS),
        ),
    ),
    claims=(
        *_claims(_OWN, bm25=True),
        *_of_parts(),
        *(claim for name in ("MQ2007", "MQ2008", "bundled set") for claim in _claims(name)),
    ),
    theorems=tuple(check for name in (_OWN, "MQ2007", "MQ2008", "bundled set") for check in _theorems(name)),
    baselines=(
        *_baselines(_OWN, ("MAP", "NDCG@10")),
        *(check for name in ("MQ2007", "MQ2008") for check in _baselines(name, ("MAP", "MeanNDCG"))),
    ),
    not_tested=(
        (
            Citation(
                "Abstract",
                "Experimental results on four benchmark datasets show that AdaRank significantly outperforms the "
                "baseline methods of BM25, Ranking SVM, and RankBoost",
            ),
            (
                "It sums up Sections 4.2 to 4.4 (and says more than 4.3 and 4.4 do); of the four data sets OHSUMED "
                "alone is at hand, and is judged by the words of Section 4.2. Sections 1 and 5 say the same."
            ),
        ),
        (
            Citation(
                "Section 1",
                "the ranking accuracy in terms of the performance measure can be continuously improved during the "
                "training process",
            ),
            "What Theorem 1 is said to indicate; Section 4.5 tries it, and Figure 11 is judged by its words.",
        ),
        (
            Citation(
                "Section 4.3, Figures 3 and 4",
                "AdaRank.MAP and AdaRank.NDCG outperform BM25, Ranking SVM, and RankBoost in terms of all measures on "
                "both WSJ and AP",
            ),
            "The data are not at hand: TREC's WSJ and AP, with the features of Table 2.",
        ),
        (
            Citation("Section 4.3", "all the improvements in terms of MAP are statistically significant"),
            "WSJ and AP, as above.",
        ),
        (
            Citation(
                "Section 4.3",
                "However only some of the improvements in terms of NDCG@5 are statistically significant, although "
                "overall the improvements on NDCG scores are quite high (1-2 points)",
            ),
            "WSJ and AP, as above.",
        ),
        (
            Citation(
                "Section 4.4, Figure 5",
                "AdaRank.MAP and AdaRank.NDCG outperform all the baselines in terms of all measures",
            ),
            "The data are not at hand: 50 queries of TREC's .Gov with 14 features.",
        ),
        (
            Citation(
                "Section 4.4",
                "Some of the improvements are not statistically significant. This is because we have only 50 queries",
            ),
            ".Gov, as above; which of them is not said.",
        ),
        (
            Citation(_SECTION_5, "can naturally focus upon the training on the tops by optimizing MAP and NDCG@5"),
            "The paper's reason for Figure 6, which is judged; it names no measure of focus.",
        ),
        (
            Citation(
                _SECTION_5,
                "can effectively avoid creating a model biased towards queries with more document pairs",
            ),
            "The paper's conclusion from Figure 8, which is judged; it names no measure of bias.",
        ),
        (
            Citation(
                _SECTION_5,
                "AdaRank can indeed enhance ranking performance in terms of a measure by using the measure in training",
            ),
            "The paper's conclusion from Figures 9 and 10, which are judged.",
        ),
        (
            Citation(_SECTION_5, "The result agrees well with Theorem 1"),
            "Figure 11 is judged, Theorem 1 is checked; what agrees well is not said.",
        ),
        (
            Citation(f"{_SECTION_5}, Figure 7", "the numbers of document pairs really vary from query to query"),
            (
                "It says of the data, not of a method, and gives no number: it cannot fail. Figure 7 is drawn from the "
                "first fold's training part."
            ),
        ),
        (
            Citation(
                "Section 3.4",
                "the learning process of AdaRank is more efficient than those of the existing learning algorithms",
            ),
            "It follows from orders of growth, not from times, and RankBoost as it is here needs no pairs' list.",
        ),
    ),
    deviations=(
        (
            "OHSUMED is LETOR 3.0's, with its 45 features and five folds (three parts to train on, one to validate, "
            "one to test), in place of the features of Table 2 and four random parts. MQ2008 (and MQ2007, from a "
            "user's folder) are not in the paper and stand in."
        ),
        (
            "The paper's figures are bar charts without numbers. The measures of Figure 2, which the text does not "
            "list, are taken to be MAP and NDCG@1, 3, 5 and 10."
        ),
        (
            "Choice made after a result: the first version of this page counted grades of 1 and more as relevant in "
            "MAP, as LETOR does, and AdaRank-MAP came out at .4463 against RankBoost's .4430, p = .39. The paper "
            "counts grade 2 on OHSUMED; so do training, validation and test now, for the paper's claims. That "
            "AdaRank-MAP is then ahead of RankBoost was known when this was changed."
        ),
        (
            "Choice made after a result: that version judged by LETOR's scripts alone, with their NDCG and tied "
            "documents in the file's order. The paper's NDCG and the expected value over ties came with its MAP."
        ),
        (
            "Choice made after a result: the first results of Figures 2, 9 and 10, by LETOR's measures, were published "
            "before the claims were written anew. By point values in training, Figures 9 and 10 had held on OHSUMED "
            "(.4503 against .4486, .4788 against .4739); by the interval they are level."
        ),
        (
            "Choice made after a result: each of the paper's t-tests is a claim, as that against RankBoost was in the "
            "first version of this protocol, from which the others were absent. A version between had the worst of the "
            "three decide for “all the improvements”, and was level; with one of the three level, “all” is not shown."
        ),
        (
            "Choice made after a result: on a second reading, “For AdaRank.NDCG, similar results can be observed” is "
            "about both sentences before it, and is judged of both; the average over groups had been left out. No "
            "number is printed for AdaRank.NDCG, so it must be ahead by the interval; within a point of two points, by "
            "which AdaRank.MAP is judged, it would have held (+.0105), as was seen first. That its measure is MAP too "
            "is our reading."
        ),
        (
            "Choice made after a result: on a second reading, the steady climb of Figure 11 is judged from any round "
            "to the next. It had been judged on the rounds that curves record (1, 2, 3, 5, 7, 10, …), which came to "
            "the same verdicts."
        ),
        (
            "The tolerance of .01 for LETOR's rows was set for MAP when prototypes of RankBoost and AdaRank were known "
            "(.4407 to .4438 on OHSUMED); NDCG@10 and MeanNDCG took it over, first stored together with their results. "
            "“Two points” took it over when that claim was written, before its first stored run."
        ),
        (
            "T-tests are read off Student's 95 % interval of the paired differences over test queries; queries are "
            "drawn within folds, which weigh the same. The paper does not say what its units are."
        ),
        (
            "MAP and NDCG are as the paper defines them, discount 1/log2(1 + j), the expected value over tied "
            "documents, in training, in validation and on test. Queries on which a measure is undefined are left out: "
            "of OHSUMED's 106, 5 for MAP, which have no document of grade 2, and 1 for NDCG; of MQ2008's 784, 220 for "
            "both. The table of ties in the file's order stands beside; the order of LETOR's files leaks relevance. "
            "LETOR's own conventions have studies of their own, beside LETOR's published table."
        ),
        (
            "Each feature is chosen once at most, as long as one is better than none, and the rounds up to the best in "
            "training stay. The literal algorithm of Figure 1, which stops after a few rounds, stands beside, in the "
            "tables. That the literal one is worse on LETOR's MAP was known when this one was chosen for the claims."
        ),
        (
            "The round is chosen by validation MAP for every learner and measure, as in LETOR; the paper stops where "
            "the measure no longer improves, and does not say on which part."
        ),
        (
            "BM25 is LETOR's feature of title and abstract as it is; the paper tunes its parameters on one trial. The "
            "sets MQ2007 and MQ2008 are judged without BM25. Ranking SVM has squared hinges, and C of 1e-6 to 1e-2 "
            "chosen on validation; on OHSUMED the smallest is chosen in most folds, and the grid was left as it was. "
            "RankBoost is the variant of real-valued weights α = ½ ln((1 + r) / (1 - r)), on stumps, at most 255 "
            "thresholds of a feature; the paper does not say which. All methods have 300 rounds at most (100 on the "
            "bundled set)."
        ),
        (
            "Figure 6: pairs of all test queries of a fold together, a tie half an error; the interval is that of the "
            "jackknife over 20 blocks of a fold's queries. Figure 8: test queries, groups of 1,000 pairs up to 10,000 "
            "and one of more; the paper does not say on which part."
        ),
        (
            "Figure 11 is of all five folds; the paper shows one trial. The curve of training MAP that is drawn ends "
            "at its best round, where the model is cut."
        ),
        (
            "In the studies by LETOR's measures AdaRank is trained on the same metrics as elsewhere (grades of 1 and "
            "more relevant in MAP): the expected value over ties, and NDCG@5 with the discount 1/log2(1 + j)."
        ),
        (
            "The studies in LightGBM are not in the paper: AdaRank's weights of queries on the gradient of "
            "NDCG_Boost's loss, beside lambdarank, by LETOR's measures. No claim is about them."
        ),
    ),
    figures=(
        *(figure for study in (_OWN, "bundled set") for figure in _plots(study)),
        *(_accuracy(study) for study in ("MQ2007", "MQ2008")),
        ByGroup(
            number="Figure 6",
            title="misordered pairs of test queries, by their grades",
            study=_OWN,
            extra="Figure 6",
            axis="grades: definitely (d), partially (p), not relevant (n)",
            rows=_COMPARED,
        ),
        ByGroup(
            number="Figure 7",
            title="training queries of the first fold",
            study=_OWN,
            extra="Figure 7",
            axis="document pairs of the query",
        ),
        ByGroup(
            number="Figure 8",
            title="test MAP by number of document pairs",
            study=_OWN,
            extra="Figure 8",
            axis="document pairs of the query",
            rows=("AdaRank-MAP", _BOOST),
        ),
    ),
)
