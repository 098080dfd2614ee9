"""Replication of a paper as data, fixed before anything is trained."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

from boostplug.replication.figures import Figure
from boostplug.replication.judging.study_results import StudyResults
from boostplug.replication.judging.verdicts import Verdict
from boostplug.replication.training.study import Study

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
        A literal quotation; … for what is left out.
    """

    where: str
    words: str


@dataclass(frozen=True)
class Claim:
    """A paper's claim about a study.

    Attributes
    ----------
    source : Citation
        Whose words it follows.
    about : str
        One of `ABOUT`.
    text : str
        What is judged, with its threshold.
    judge : callable
    published : str
        The paper's figure, where it prints one.
    study : str
        Its name; see `on`.
    own_data : bool
        Whether the words are about this data set, and not one for which it stands in; see `on_own`.
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
    """A result that must come out of a study if all is right: a theorem, or a published row of a method trained here.

    Attributes
    ----------
    where : str
        The theorem, section or table.
    text : str
        What is checked, with its threshold.
    judge : callable
        Its verdict is never level.
    published : str
        The figure, where one is printed.
    study : str
    """

    where: str
    text: str
    judge: Judge
    published: str = ""
    study: str = ""


@dataclass(frozen=True)
class NotTested:
    """Another claim of a paper about its experiments, in its own words, and the reason why it is not judged."""

    where: str
    words: str
    reason: str


_Part = TypeVar("_Part", Claim, Check, Figure)


def on(study: str, *parts: _Part) -> tuple[_Part, ...]:
    """Return claims, checks or figures as those of a study."""
    return tuple(replace(part, study=study) for part in parts)


def on_own(study: str, *claims: Claim) -> tuple[Claim, ...]:
    """Return claims as those of a study on the paper's own data set, about which its words are."""
    return tuple(replace(claim, own_data=True) for claim in on(study, *claims))


def paragraphs(text: str) -> tuple[str, ...]:
    """Return the paragraphs of a text, each on one line."""
    return tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


def not_tested(text: str) -> tuple[NotTested, ...]:
    """Return the claims that are not judged: a paragraph for each, with place, words and reason between |."""
    return tuple(NotTested(*paragraph.split(" | ")) for paragraph in paragraphs(text))


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A paper: its studies, its claims about them, and where ours differ.

    Attributes
    ----------
    name : str
        On the command line.
    paper : str
    studies : tuple of Study
        Those are run whose data the folder holds; without folder, those on the bundled set.
    claims : tuple of Claim
        What the paper says of its experiments.
    deviations : tuple of str
        What differs from the paper, and why.
    theorems : tuple of Check
        What the paper proves: only an error of ours can make it fail.
    baselines : tuple of Check
        Published rows of methods that are trained here too.
    not_tested : tuple of NotTested
    figures : tuple of Figure
    seed : int
        Of every ranker.
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
