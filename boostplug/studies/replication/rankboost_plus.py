"""RankBoost+ (Connamacher et al., Machine Learning 109, 2020), Section 5."""

from dataclasses import replace
from typing import Any

from boostplug.losses import BinaryDistance, MPBoost
from boostplug.metrics import NDCG, PairError
from boostplug.rankers import RankBoostRanker
from boostplug.rankers.base import Round, Rounds, Training
from boostplug.studies.replication.checked import Bounded, Check, Close, Monotone
from boostplug.studies.replication.claims import About, Ahead, Apart, Citation, Claim, Nearer, Ranked
from boostplug.studies.replication.curve_claims import (
    Closes,
    ConvergesAlike,
    DropsEarly,
    EndsFirst,
    EndsInOrder,
    HaltsAbove,
    Moves,
    OverfitsEarly,
    OverfitsLess,
    Settles,
    Turns,
)
from boostplug.studies.replication.figures import Curves, Figure, Ranks
from boostplug.studies.replication.letor import MQ2007, MQ2008, OHSUMED, PUBLISHED, measures
from boostplug.studies.replication.protocol import Protocol
from boostplug.studies.replication.sources import BundledFolds, BundledQueries, MovieLensUsers, SingleQueries
from boostplug.studies.replication.study import Learner, Measure, Source, Study
from boostplug.studies.replication.trees import TreeLearner

__all__ = ["RANKBOOST_PLUS", "HaltingRankBoost"]

_ORDER = ("Rb+", "Rb-c", "Rb-d")
_ERRORS = (Measure("R1", PairError("full", pooled=True)), Measure("R2", PairError("half", pooled=True)))
_OF_ONE_QUERY = (*_ERRORS, *(Measure(f"NDCG@{k}", NDCG(k)) for k in (3, 5, 7)))
_LETOR = (*_ERRORS, *measures(1, 3, 5, 7, 10, mean_ndcg=True))
_MOVIELENS, _WEB, _BUNDLED = "MovieLens-100k", "MSLR queries", "bundled set, queries"
_ROUNDS, _FEW_ROUNDS = 200, 100
_LETORS = 0.01  # how far from a published MAP
_EXAMPLE = "MovieLens-100k, user 21, fold 3"
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


_BOTH = ("R1", "R2")
_CUTOFFS = ("NDCG@3", "NDCG@5", "NDCG@7")
_TABLE_1 = (*_BOTH, *_CUTOFFS)
_GENERALLY = 0.75  # four of five
_NAMED = "R1, R2, NDCG@3, NDCG@5 and NDCG@7"
_RESULTS = "Section 5, Results and discussion"


def _said(where: str, words: str, about: About = "other methods") -> dict[str, Any]:
    """Return how a claim says where it is from."""
    return {"source": Citation(where, words), "about": about}


def _of_many_tasks(study: str, *, own: bool) -> tuple[Claim, ...]:
    """Return what the paper claims of a set of tasks: Table 1 and Figure 3."""
    ranked = _said(
        f"{_RESULTS}, Table 1",
        "over the two domains, Rankboost+ has the smallest average rank while Rb-d has the largest average rank, with "
        "Rb-c in between",
    )
    significantly = (
        "We see that Rankboost+ significantly outperforms both Rb-d and Rb-c on R2, indicated by the absence of "
        "connecting bars between algorithms."
    )
    same = "The same figure is obtained for MovieLens and also if R1 is used"
    also = {"R1": same, "R2": same if own else significantly}
    of_others = {"R1": f"{significantly} {same}", "R2": f"{significantly} {same}" if own else significantly}
    return (
        *(
            Ranked(
                study=study,
                text=f"Mean ranks on test {measure} ascend: Rb+, Rb-c, Rb-d",
                measure=measure,
                order=_ORDER,
                own_data=own,
                **ranked,
            )
            for measure in _TABLE_1
        ),
        Nearer(
            study=study,
            text=f"Rb-c's mean rank is nearer to that of Rb+ than to that of Rb-d, at four of {_NAMED}",
            measures=_TABLE_1,
            learner="Rb-c",
            near="Rb+",
            far="Rb-d",
            share=_GENERALLY,
            own_data=own,
            **_said(f"{_RESULTS}, Table 1", "but generally closer to Rankboost+ than to Rb-d"),
        ),
        *(
            Apart(
                study=study,
                text=f"On test {measure}, Rb+ is ahead of both by more than the critical difference",
                measure=measure,
                learner="Rb+",
                others=("Rb-c", "Rb-d"),
                own_data=own,
                **_said(f"{_RESULTS}, Figure 3", also[measure]),
            )
            for measure in _BOTH
        ),
        *(
            Apart(
                study=study,
                text=(
                    f"On test {measure}, no bar connects Rb-c and Rb-d either: Rb-c is ahead by more than the critical "
                    'difference (read from "between algorithms"; not said of this pair)'
                ),
                measure=measure,
                learner="Rb-c",
                others=("Rb-d",),
                own_data=own,
                **_said(f"{_RESULTS}, Figure 3", of_others[measure]),
            )
            for measure in _BOTH
        ),
        Ahead(
            study=study,
            text="Rb+ has a lower test R1 and R2 than Rb-c, and than Rb-d",
            learners=("Rb+",),
            others=("Rb-c", "Rb-d"),
            measures=_BOTH,
            own_data=own,
            **_said(_RESULTS, "indicating that Rankboost+ outperforms the baselines under all conditions"),
        ),
        Ahead(
            study=study,
            text=f"Rb-c is better than Rb-d on average over {_NAMED}",
            learners=("Rb-c",),
            others=("Rb-d",),
            measures=_TABLE_1,
            average=True,
            own_data=own,
            **_said(
                _RESULTS,
                "Our results also confirm the observation that Rb-c indeed performs better in practice than Rb-d",
            ),
        ),
    )


def _of_training(study: str, *, own: bool) -> tuple[Claim, ...]:
    """Return what the paper sees in Figure 2's training sets, and in Figure 4."""
    middle = f"{_RESULTS}, Figure 2 (middle)"
    rises = "Rb-d in fact increases E2, though it does minimize E1."
    better = "As expected, on E1, Rb-d and Rb-c are better minimizers than Rankboost+."
    common: dict[str, Any] = {"study": study, "own_data": own}
    return (
        DropsEarly(
            text="In most tasks E2 of Rb+ makes half of its way down from 1 in the first tenth of the rounds",
            curve="e2",
            learner="Rb+",
            start=1.0,
            **common,
            **_said(middle, "we observe that Rankboost+ reduces E2 quickly, as the theory suggests", "rounds"),
        ),
        Moves(
            text="In most tasks E2 of Rb-d ends above where it was after the first round",
            curve="e2",
            learner="Rb-d",
            **common,
            **_said(middle, rises, "rounds"),
        ),
        EndsFirst(
            text="In most tasks Rb-d ends with the lowest E1",
            curve="e1",
            learner="Rb-d",
            others=("Rb+", "Rb-c"),
            **common,
            **_said(middle, rises, "rounds"),
        ),
        Turns(
            text="In most tasks E2 of Rb-c falls, then rises",
            curve="e2",
            learner="Rb-c",
            **common,
            **_said(
                middle,
                "Rb-c decreases E2 initially; however, because it does not minimize E2 exactly, eventually E2 starts "
                "increasing.",
                "rounds",
            ),
        ),
        EndsFirst(
            text="In most tasks Rb+ ends with the highest E1",
            curve="e1",
            learner="Rb+",
            others=("Rb-c", "Rb-d"),
            lowest=False,
            **common,
            **_said(middle, better, "rounds"),
        ),
        HaltsAbove(
            study=study,
            text=(
                "There are trainings in which Rb-d halts since (14) is undefined, and of these some that end with an "
                "E1 above that at which Rb-c ends"
            ),
            curve="e1",
            learner="Rb-d",
            other="Rb-c",
            **_said(
                "Appendix B, Figure 4",
                "However, this situation does occur in practice. … we halt Rb-d and return the ensemble ranker that "
                "existed prior to the iteration that makes (14) undefined. This ensemble is clearly not at the minimum "
                "E1 value as the plot for Rb-c demonstrates.",
                "rounds",
            ),
        ),
    )


def _of_test(study: str, *, own: bool, rounds: int) -> tuple[Claim, ...]:
    """Return what the paper sees in Figure 2's test sets."""
    top, bottom = f"{_RESULTS}, Figure 2 (top)", f"{_RESULTS}, Figure 2 (bottom)"
    speed = "when measuring test set R2, Rankboost+ converges around the same speed as Rb-d and Rb-c"
    stays = "but the average error does not significantly increase after a certain point"
    less = "which indicates that Rankboost+ overfits less severely than Rb-d or Rb-c"
    same = "The same effect is observed in the NDCG results."
    tends = "Rankboost+ achieves a high NDCG on the test set and tends not to overfit"
    common: dict[str, Any] = {"study": study, "own_data": own}
    return (
        *(
            EndsInOrder(
                text=f"After the last round test {measure} is smallest for Rb+, then for Rb-c, then for Rb-d",
                measure=measure,
                order=_ORDER,
                **common,
                **_said(
                    top,
                    "On the test sets, Rankboost+ produces the smallest R1 and R2, and Rb-d the largest, with Rb-c in "
                    "between.",
                    "rounds",
                ),
            )
            for measure in _BOTH
        ),
        ConvergesAlike(
            text=(
                "Mean test R2 of Rb+ makes nine tenths of its way to its best in half to twice as many rounds as "
                "that of Rb-c and of Rb-d"
            ),
            measure="R2",
            learner="Rb+",
            others=("Rb-c", "Rb-d"),
            **common,
            **_said(top, speed, "rounds"),
        ),
        *(
            claim
            for measure, place, settling, overfitting in (("R2", top, stays, less), ("NDCG@5", bottom, tends, same))
            for claim in (
                Settles(
                    text=(
                        f"Mean test {measure} of Rb+ does not significantly worsen from its best round to the last, "
                        "nor by a tenth of what it has won since the first"
                    ),
                    measure=measure,
                    learner="Rb+",
                    **common,
                    **_said(place, settling, "rounds"),
                ),
                OverfitsLess(
                    text=(
                        f"From the best round to the last, test {measure} of Rb+ worsens less than that of Rb-c and "
                        "of Rb-d"
                    ),
                    measure=measure,
                    learner="Rb+",
                    others=("Rb-c", "Rb-d"),
                    **common,
                    **_said(place, overfitting, "rounds"),
                ),
            )
        ),
        OverfitsEarly(
            text=(
                "Mean test NDCG@5 of Rb-d and of Rb-c is best within the first tenth of the rounds, and worse at the "
                "end"
            ),
            measure="NDCG@5",
            learners=("Rb-d", "Rb-c"),
            by=rounds // 10,
            **common,
            **_said(bottom, "while both Rb-d and Rb-c start overfitting after a few iterations", "rounds"),
        ),
        Closes(
            text="In most tasks test R1 and R2 of Rb+ end nearer than a tenth of their distance after the first round",
            curve="R1",
            to="R2",
            learner="Rb+",
            part="test",
            **common,
            **_said(top, "R2 and R1 converge over boosting iterations.", "rounds"),
        ),
    )


def _of_letor(study: str) -> tuple[Claim, ...]:
    """Return what the paper says of its Table 2, without significance."""
    table = f"{_RESULTS}, Table 2"
    both = "for MQ2007 and MQ2008, again, both Rankboost+ and Rb-c generally outperform Rb-d"
    but = (
        "In these two datasets, Rankboost+ is generally as good as or better than Rb-c with the exception of NDCG on "
        "MQ2008."
    )
    as_good, named = (_TABLE_1, f"four of {_NAMED}") if study == "MQ2007" else (_BOTH, "both R1 and R2")
    outperform = tuple(
        Ahead(
            study=study,
            text=f"{learner} is better than Rb-d at four of {_NAMED}",
            learners=(learner,),
            others=("Rb-d",),
            measures=_TABLE_1,
            share=_GENERALLY,
            own_data=True,
            **_said(table, both),
        )
        for learner in ("Rb+", "Rb-c")
    )
    no_worse = Ahead(
        study=study,
        text=f"Rb+ is no worse than Rb-c at {named}",
        learners=("Rb+",),
        others=("Rb-c",),
        measures=as_good,
        share=_GENERALLY,
        equal=True,
        own_data=True,
        **_said(table, but),
    )
    exception = Ahead(
        study=study,
        text="The exception: Rb-c is better than Rb+ on average over NDCG@3, NDCG@5 and NDCG@7",
        learners=("Rb-c",),
        others=("Rb+",),
        measures=_CUTOFFS,
        average=True,
        own_data=True,
        **_said(table, but),
    )
    return (*outperform, no_worse, *((exception,) if study == "MQ2008" else ()))


def _of_strategies(study: str) -> tuple[Claim, ...]:
    """Return what the paper says of Algorithm 2 beside the whole descent."""
    said = _said(
        "Section 4, Implementing Rankboost+",
        "we have an alternative, faster version that does not as significantly affect the convergence speed or "
        "generalization",
        "own variants",
    )
    return (
        ConvergesAlike(
            study=study + _STRATEGIES,
            text=(
                "Mean test R2 of Algorithm 2 makes nine tenths of its way to its best in half to twice as many "
                "rounds as that of the descent in all directions"
            ),
            measure="R2",
            learner="Rb+",
            others=("Rb+, optimal",),
            **said,
        ),
        Ahead(
            study=study + _STRATEGIES,
            text=f"Algorithm 2 is no worse than the descent in all directions on average over {_NAMED}",
            learners=("Rb+",),
            others=("Rb+, optimal",),
            measures=_TABLE_1,
            average=True,
            equal=True,
            **said,
        ),
    )


def _theorems(study: str) -> tuple[Check, ...]:
    """Return what the paper proves of training errors."""
    optimal = "Rb+, optimal"
    return (
        *(
            Bounded(study=study, text=text, where=where, curve=curve, bound=bound, learner=learner)
            for where, text, curve, bound, learner in (
                ("Theorem 1", "R1 of Rb-d is, up to where it halts, nowhere above the bound", "r1", "bound", "Rb-d"),
                ("Section 2", "R1 of Rb-d is nowhere above E1", "r1", "e1", "Rb-d"),
                ("Section 2", "R1 of Rb-c is nowhere above E1", "r1", "e1", "Rb-c"),
                ("Theorem 2", "R2 of Rb+ is nowhere above the bound", "r2", "bound", "Rb+"),
                ("Theorem 2", "E2 of Rb+ is nowhere above the bound", "e2", "bound", "Rb+"),
                ("Proposition 2", "R2 of Rb+ is nowhere above E2", "r2", "e2", "Rb+"),
                ("Section 3.2", "E1 of Rb+ is nowhere above E2", "e1", "e2", "Rb+"),
            )
        ),
        Monotone(study=study, text="E1 of Rb-d never rises", where="Observation 1", curve="e1", learner="Rb-d"),
        Monotone(study=study, text="E2 of Rb+ never rises", where="Theorem 3", curve="e2", learner="Rb+"),
        Monotone(
            study=study + _STRATEGIES,
            text="E2 of Rb+ never rises where it descends in all directions",
            where="Theorem 3",
            curve="e2",
            learner=optimal,
        ),
    )


_NOT_TESTED = (
    (
        Citation(
            "Section 4, Figure 1",
            "At around 30 iterations, the more efficient implementation has one iteration that takes longer, which is "
            "the step where a linearly independent subset is chosen, but then it runs at the approximately the same "
            "speed as Rb-d or Rb-c.",
        ),
        "Times are never the same twice and so no part of these results; boostplug bench rankers measures them.",
    ),
    (
        Citation(
            "Section 4, Implementing Rankboost+",
            (
                "The latter will only be needed for the first few iterations, until S is fixed, so there is not "
                "significant computational cost."
            ),
        ),
        "The same; how many rounds need it is not recorded here either.",
    ),
    (
        Citation(
            "Section 4, Implementing Rankboost+",
            "to achieve the best results with Rankboost+ requires that the set of rankers chosen should be linearly "
            "independent",
        ),
        "The paper runs no experiment on dependent sets.",
    ),
    (
        Citation(
            "Section 4, Implementing Rankboost+",
            "This operation will produce a set that is maximal with high probability.",
        ),
        "Said of the diagonal of a QR decomposition; here stumps are tested one by one, by Gram-Schmidt.",
    ),
    (
        Citation("Section 4, Implementing Rankboost+", "the highest weights are assigned to the first several rankers"),
        "Said in passing, without data or number; the weight of each ranker by round is not recorded here.",
    ),
    (
        Citation(
            "Section 3.4",
            "In practice, we expect the behavior of Rankboost+ to converge to the behavior of Rb-c as we include more "
            "linearly dependent weak rankers in the ensemble.",
        ),
        "An expectation; the paper runs no experiment on it.",
    ),
    (
        Citation(
            "Section 3.4",
            "This behavior is unlikely to be observed in practice because it requires a very large number of linearly "
            "dependent rankers and rounds of the algorithm.",
        ),
        "The same.",
    ),
    (
        Citation(
            "Section 3.3, Theorem 3",
            "Rankboost+ is a coordinate descent algorithm that converges to the global minimum",
        ),
        "That E2 never rises is checked; that it comes to its minimum is not, but for two stumps in a unit test.",
    ),
    (
        Citation(
            "Section 3.4",
            "in this situation Rb-c may not find the weak ranker and weight that minimizes E2, and may even choose a "
            "ranker and weight pair that increases E2",
        ),
        "A possibility; what follows from it, that E2 of Rb-c rises in the end, is judged.",
    ),
    (
        Citation(
            "Section 5, Empirical evaluation",
            (
                "Our empirical hypothesis is that Rankboost+ will significantly outperform Rb-d on real data. We "
                "hypothesize that it will also outperform Rb-c but possibly with a smaller margin."
            ),
        ),
        "A hypothesis. What the paper finds of it is judged: that Rb+ is apart from both, and Rb-c between.",
    ),
    (
        Citation(
            _RESULTS,
            "These results align well with the theoretical analysis above and confirm our empirical hypothesis.",
        ),
        "A summary: what it sums up is judged.",
    ),
    (
        Citation(
            _RESULTS,
            "it still does not outperform Rankboost+ because, as explained above, it only approximately optimizes E2",
        ),
        "An explanation; the order of the two is judged, and that E2 of Rb-c rises.",
    ),
    (
        Citation(
            _RESULTS,
            (
                "as an ensemble grows, we may expect the number of ties to decrease. Thus, a lower R2 also means "
                "a lower R1."
            ),
        ),
        "An expectation; R1 less R2 is half the share of ties, and that it shrinks is judged.",
    ),
    (
        Citation(_RESULTS, "Rankboost+ achieves a high NDCG on the test set"),
        "What is high is not said; mean ranks by NDCG are judged.",
    ),
    (
        Citation(
            f"{_RESULTS}, Table 2",
            "However, since we used the single specified train/test/validation partitions for these datasets, these "
            "differences are not statistically significant.",
        ),
        "That a difference is not significant tells nothing of the methods; intervals stand with Table 2's claims.",
    ),
    (
        Citation(
            "Introduction",
            "the empirical results are in excellent agreement with what the theory predicts",
        ),
        "A summary: what it sums up is judged.",
    ),
    (
        Citation(
            "Introduction",
            (
                "our experiments show that it significantly outperforms both Rb-d and Rb-c in a number of real-world "
                "ranking tasks"
            ),
        ),
        "The same.",
    ),
    (
        Citation(
            _RESULTS,
            "Taken together, these results show that the theoretical results for Rankboost+ also have an impact in "
            "practice.",
        ),
        "The same.",
    ),
    (
        Citation(
            "Conclusion",
            "Finally, we demonstrate empirically that the theoretical conclusions carry over to improvements on real "
            "ranking tasks.",
        ),
        "The same.",
    ),
    (
        Citation(
            "Appendix B, Figure 4",
            (
                "Figure 4 demonstrates that halting Rb-d and returning the ensemble without this ranker violates "
                "Observation 1 and Theorem 1."
            ),
        ),
        (
            "Of Observation 1, an end above Rb-c's E1 is judged. Of Theorem 1, the bound with the round that is left "
            "out is not recorded here."
        ),
    ),
    (
        Citation("Appendix C, Tables 3 and 4", "Raw mean performance of algorithms over all datasets"),
        "The numbers of Tables 1 to 4 are not in the text at hand, so that none of ours is compared with them.",
    ),
)


_ON_A_SECOND_READING = (
    (
        "Choice made after a result: six of the 23 quotations judged were corrected when they were read a second time "
        "beside the paper. The judge changed of five, as follows. Of the sixth, on bars between Rb-c and Rb-d, more "
        "is quoted now."
    ),
    (
        "Choice made after a result: what Table 2 shows generally is asked at four of its five measures, on a second "
        "reading of the words. R1 and R2 had stood apart from NDCG, which asks for each of two and of three. By R1 and "
        "R2 it held on MQ2008 that Rb+ and Rb-c outperform Rb-d, by NDCG it was level; by all five it is level."
    ),
    (
        "Choice made after a result: that NDCG on MQ2008 is the exception is judged on average, not at each cut-off, "
        "on a second reading of the words. It was level, and is."
    ),
    (
        "Choice made after a result: that Rb-c indeed performs better in practice is judged on average, not at each of "
        "five measures, on a second reading of the words. It held on MovieLens and was level on MSLR, and so it is."
    ),
    (
        "Choice made after a result: of halts it is asked that some end with an E1 above Rb-c's, not that they do so "
        "for most users on whom Rb-d halts, on a second reading of the words, which are of one example. For most it "
        "was level (30 of 77 users); that some do holds."
    ),
    (
        "Choice made after a result: Algorithm 2 is set beside the whole descent on average, not at each of five "
        "measures, on a second reading of the words. It was level on both sets, and is."
    ),
)


def _figures(study: str) -> tuple[Figure, ...]:
    return (
        Curves(number="Figure 2, top", title="test errors", study=study, measures=_BOTH, unit="share of pairs"),
        Curves(
            number="Figure 2, middle",
            title="E1 and E2 in training",
            study=study,
            measures=("e1", "e2"),
            part="trace",
            unit="loss (logarithmic)",
            logarithmic=True,
        ),
        Curves(number="Figure 2, bottom", title="test NDCG@5", study=study, measures=("NDCG@5",), unit="NDCG@5"),
        Ranks(number="Figure 3", title="mean ranks", study=study, measures=_TABLE_1),
    )


RANKBOOST_PLUS = Protocol(
    name="rankboost-plus",
    paper="Connamacher, Pancha, Liu, Ray. RankBoost+: an improvement to RankBoost. Machine Learning 109, 2020.",
    studies=(
        *_of_single_queries(_MOVIELENS, MovieLensUsers(), _ROUNDS),
        Study(
            name=_EXAMPLE,
            source=MovieLensUsers(examples=((21, 3),)),
            rounds=_ROUNDS,
            learners=(
                Learner(name="Rb-d, going on", ranker=RankBoostRanker, params={"variant": "discrete"}),
                Learner(name="Rb-c", ranker=RankBoostRanker, params={"variant": "continuous"}),
                Learner(name="Rb-d, halted", ranker=HaltingRankBoost, params={"variant": "discrete"}),
            ),
            measures=_ERRORS,
            traces=("e1",),
        ),
        *_of_single_queries(_WEB, SingleQueries(("mslrweb10k", "mslrweb30k", "mslrsample", "mslr")), _ROUNDS),
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
        *_of_single_queries(_BUNDLED, BundledQueries(most=20), _FEW_ROUNDS),
        Study(name="bundled set", source=BundledFolds(), rounds=100, learners=_learners(), measures=_LETOR),
        Study(name="bundled set, in LightGBM", source=BundledFolds(), rounds=100, learners=_TREES, measures=_LETOR),
    ),
    claims=(
        *_of_many_tasks(_MOVIELENS, own=True),
        *_of_training(_MOVIELENS, own=True),
        *_of_test(_MOVIELENS, own=True, rounds=_ROUNDS),
        *_of_many_tasks(_WEB, own=False),
        *_of_letor("MQ2007"),
        *_of_letor("MQ2008"),
        *_of_strategies(_MOVIELENS),
        *_of_strategies(_WEB),
        *_of_many_tasks(_BUNDLED, own=False),
        *_of_training(_BUNDLED, own=False),
        *_of_test(_BUNDLED, own=False, rounds=_FEW_ROUNDS),
        *_of_strategies(_BUNDLED),
    ),
    theorems=tuple(check for study in (_MOVIELENS, _WEB, _BUNDLED) for check in _theorems(study)),
    baselines=tuple(
        Close(
            study=study,
            text=f"MAP of Rb-c is within {_LETORS:g} of the RankBoost that LETOR publishes",
            where=f"LETOR's baselines, {study}",
            measure="MAP",
            learner="Rb-c",
            tolerance=_LETORS,
            published=f"{PUBLISHED[study]['RankBoost']['MAP']:.4f}",
        )
        for study in ("MQ2007", "MQ2008", "OHSUMED")
    ),
    not_tested=_NOT_TESTED,
    deviations=(
        "Rounds: the paper's text gives no number; 200 on single queries and users, 300 on LETOR sets.",
        (
            "MovieLens: the paper counts 367 users with at least 100 ratings, u.data holds 364; those without a "
            "feature make no task."
        ),
        (
            "MSLR: the paper takes the 300 queries of MSLR-WEB10K with the most critical pairs below 50,000; of a "
            "smaller set it is a quarter of the queries. The sample at hand is of MSLR-WEB30K."
        ),
        (
            "MQ2008: the paper counts about 37,500 critical pairs, and about 10,000 in MQ2007; MQ2008's test parts "
            "hold 80,925, its training parts 44,450 to 52,325."
        ),
        "Folds of rows within users and queries: ours, seeded; the paper does not give its own.",
        (
            "Rb-d halts where (14) is undefined, as for the paper's Figure 4 and in its authors' program, which "
            "keeps the stump where it is the first; the studies in which Rb-d goes on stand beside. There, of that "
            "first stump, and in Rb-c and Rb+, an infinite weight is computed as if half a pair were ranked otherwise."
        ),
        (
            "Theorem 1 assumes that (14) is well-defined in all rounds. Where Rb-d halts, its bound is checked as it "
            "was before that round, and stays there."
        ),
        (
            "Rb+ is Algorithm 2 wherever it is not said to be optimal. The authors' program stops when one stump is "
            "chosen twice in a row, the paper and ours do not."
        ),
        (
            "Choice made after a result: that Rb-d halts. Results of an Rb-d that goes on had been seen before it was "
            "read that the paper's does not."
        ),
        (
            "NDCG has the gain 2^r - 1. On users and queries its discount is 1/log2(1+j) (the paper does not say), and "
            "it is the expected value over tied documents; on LETOR sets it is that of LETOR's scripts. Which cut-offs "
            "Table 2 ranks by is not said; 3, 5 and 7 as in Table 1."
        ),
        (
            '"Generally" is read as: by three quarters of the measures, which is four of five and both of two. "As '
            'good as or better" is: means that are no worse, within intervals that hold 0.'
        ),
        (
            'Other words without a number: "quickly" is half of the way in a tenth of the rounds, "around the same '
            'speed" within a factor of 2, "does not significantly increase" an interval that holds 0 and stays below a '
            'tenth of what was won, "a few iterations" a tenth of the rounds, "converge" (of R2 and R1) to less than '
            "a tenth of their first distance."
        ),
        (
            '"This occurs for both R1 … and R2" follows on Table 1, which has NDCG too: that ranks by NDCG are claimed '
            'to be in the same order, and as near, is our reading. So is that "between algorithms" is also between '
            "Rb-c and Rb-d. Equal values share a rank."
        ),
        (
            '"Outperforms the baselines under all conditions" is what the paper concludes from ranks; it is judged on '
            "means, beside the ranks, and so counts once more what they say."
        ),
        (
            "The speed of Algorithm 2 is judged by R2 on test, as the speed of Figure 2 is; E2 in training would be as "
            "near to the words."
        ),
        (
            "The middle part of Figure 2, and that R2 and R1 converge, are read as: in most tasks; the mean of Rb-d's "
            "E2 would be that of a few tasks. The other parts are judged by means. E1 and E2 of a task are medians "
            "over its folds, in figures over tasks and folds."
        ),
        (
            "E2 before the first round is 1: half of the way is counted from there; that E2 of Rb-d increases, and "
            "that of Rb-c falls first, from its value after round 1, which is harder for Rb-c, softer for Rb-d."
        ),
        "Curves are recorded after rounds 1, 2, 3, 5, 7, 10, 15, 20, 30, …; a best round of a curve is one of these.",
        (
            "Choice made after a result: medians, and counts of tasks, of E1 and E2 by round, after the mean of "
            "Rb-d's E2 had left all bounds."
        ),
        (
            "Choice made after a result: Figure 4's example is the first training, by user and fold, that halts within "
            "the first tenth of the rounds; it was looked for among those of MovieLens."
        ),
        (
            "Table 2 ranks by fold, without a test of significance; here differences of R1 and R2, shares of all pairs "
            "of a test part, are over blocks of queries, and so are those of NDCG beside them; alone they are over "
            "queries."
        ),
        "OHSUMED and losses on LightGBM's trees are not in the paper; nothing is claimed of them.",
        (
            f"Choice made after a result: the {_LETORS:g} within which MAP is to be of LETOR's RankBoost, after .0031 "
            "and .0019 had been seen."
        ),
        (
            "Choice made after a result: the bundled set's results with halts had been seen when these claims were "
            "written."
        ),
        (
            "Choice made after a result: the 50 documents of Figure 1, after 100 had been tried, on which dependence "
            "comes too late to see what follows it. Its times stand on the page alone."
        ),
        *_ON_A_SECOND_READING,
        (
            "Choice made after a result: the first results, by other and softer rules, had been seen when these claims "
            "were written, but none on rounds other than the last and the best, on early stops, on convergence or on "
            "Algorithm 2 beside the whole descent."
        ),
    ),
    figures=(
        *_figures(_MOVIELENS),
        Curves(
            number="Figure 2, middle, without Rb-d",
            title="E1 and E2 of Rb+ and Rb-c in training",
            study=_MOVIELENS,
            measures=("e1", "e2"),
            part="trace",
            unit="loss (logarithmic)",
            learners=("Rb+", "Rb-c"),
            logarithmic=True,
        ),
        Curves(
            number="Figure 4",
            title="an early stop of Rb-d",
            study=_EXAMPLE,
            measures=("e1",),
            part="trace",
            unit="E1 in training",
        ),
        *_figures(_WEB),
        *_figures(_BUNDLED),
    ),
)
