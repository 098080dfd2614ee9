"""Replication of a paper as data, fixed before anything is trained."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from studies.replication.figures import Figure
from studies.replication.judging.study_results import StudyResults
from studies.replication.judging.verdicts import Verdict
from studies.replication.training.study import Study

About = Literal["other methods", "own variants", "rounds", "figures", "preferences"]
ABOUT: tuple[About, ...] = get_args(About)
"""Subjects of claims: the columns of the matrix."""

Judge = Callable[[StudyResults], Verdict]
"""Returns the verdict on a finished study: a function of `claims`, `curve_claims` or `groups` with its arguments."""


@dataclass(frozen=True)
class Citation:
    """A passage of a paper.

    Attributes
    ----------
    where : str
        Section, table or figure.
    words : str
        A literal quotation; … for omissions.
    """

    where: str
    words: str


@dataclass(frozen=True)
class Claim:
    """A paper's claim about a study.

    Attributes
    ----------
    source : Citation
        The passage that it follows.
    about : str
        One of `ABOUT`.
    text : str
        The judged statement, with its threshold.
    judge : callable
    published : str
        The paper's figure, if there is one.
    study : str
        Name of the study; see `on`.
    own_data : bool
        Whether the passage is about this data set, rather than about one that it replaces; see `on_own`.
    """

    source: Citation
    about: About
    text: str
    judge: Judge
    published: str = ""
    study: str = ""
    own_data: bool = False


@dataclass(frozen=True)
class Check:
    """A result that a correct implementation must give: a theorem, or a published row of a method trained here.

    Attributes
    ----------
    where : str
        The theorem, section or table.
    text : str
        The checked statement, with its threshold.
    judge : callable
        Its verdict is never level.
    published : str
        The published figure, if there is one.
    study : str
    """

    where: str
    text: str
    judge: Judge
    published: str = ""
    study: str = ""


@dataclass(frozen=True)
class NotTested:
    """Another claim of a paper about its experiments, in its own words, with the reason why it is not tested."""

    where: str
    words: str
    reason: str


_Part = TypeVar("_Part", Claim, Check, Figure)


def on(study: str, *parts: _Part) -> tuple[_Part, ...]:
    """Return copies of claims, checks or figures for a study."""
    return tuple(replace(part, study=study) for part in parts)


def on_own(study: str, *claims: Claim) -> tuple[Claim, ...]:
    """Return copies of claims for a study on the paper's own data set."""
    return tuple(replace(claim, own_data=True) for claim in on(study, *claims))


def paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, each on one line."""
    return tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def not_tested(text: str) -> tuple[NotTested, ...]:
    """Return the claims that are not tested: a paragraph each, with place, words and reason between |."""
    return tuple(NotTested(*paragraph.split(" | ")) for paragraph in paragraphs(text))


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A paper: its studies, its claims about them, and the deviations of our studies.

    Attributes
    ----------
    name : str
        Name on the command line.
    paper : str
    studies : tuple of Study
        Only the studies whose data are in the folder are run; without a folder, those on the bundled set.
    claims : tuple of Claim
        The paper's claims about its experiments.
    deviations : tuple of str
        Differences from the paper, and their reasons.
    theorems : tuple of Check
        Results that the paper proves: they fail only through an error of ours.
    baselines : tuple of Check
        Published rows of methods that are also trained here.
    not_tested : tuple of NotTested
    figures : tuple of Figure
    seed : int
        Seed of every ranker.
    """

    name: str
    paper: str
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    deviations: tuple[str, ...]
    theorems: tuple[Check, ...] = ()
    baselines: tuple[Check, ...] = ()
    not_tested: tuple[NotTested, ...] = ()
    figures: tuple[Figure, ...] = ()
    seed: int = 0
