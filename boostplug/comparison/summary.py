"""The summary of a comparison as dataclasses, and the only conversion of values to JSON's types.

`CompareResult.document` is a `Comparison`, `CompareResult.details` is a `Details`: the keys are the fields, in their
order.
"""

from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np

SCHEMA = "boostplug.compare/3"
SIGNIFICANT = 0.05  # a smaller p is significant
FEWEST_QUERIES = 30  # on test; with fewer, "no significant difference" has no meaning

Numbers = list[float | None]


@dataclass(frozen=True, kw_only=True)
class MethodName:
    """The name of a method and that of its framework."""

    framework: str
    method: str

    @property
    def key(self) -> tuple[str, str]:
        """Both names."""
        return self.framework, self.method


@dataclass(frozen=True, kw_only=True)
class Size:
    """The size of a part of the data."""

    queries: int
    documents: int


@dataclass(frozen=True, kw_only=True)
class Data:
    """Data of the comparison; sizes are of all folds together."""

    name: str
    folds: int
    features: int
    train: Size
    valid: Size
    test: Size
    weighted: bool = field(default=False, metadata={"written": "where set"})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the comparison."""

    metric: str
    validation_metric: str
    metrics: list[str]
    greater_is_better: bool
    lower_is_better: list[str]
    seeds: list[int]
    rounds: int
    early_stopping_rounds: int | None
    params: dict[str, Any]
    tune: int
    num_threads: int
    jobs: int
    minutes: float | None = None

    @property
    def sign(self) -> int:
        """1 if higher is better by the metric, -1 if lower is."""
        return 1 if self.greater_is_better else -1


@dataclass(frozen=True, kw_only=True)
class Test:
    """Test of the differences, and its number of queries."""

    __test__ = False  # pytest must not collect it

    kind: str
    flips: int
    correction: str
    comparisons: dict[str, int]
    queries: int
    repeated: int
    interval: str
    level: float


@dataclass(frozen=True, kw_only=True)
class PlannedRun(MethodName):
    """A planned run."""

    fold: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean over runs and its standard deviation; None without runs."""

    mean: float | None
    spread: float | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Setting chosen by tuning: the objective in words, its drawn values, and the framework's parameters.

    `failed` is the number of other settings whose training failed; `failure` is the first one's reason.
    """

    objective: str
    drawn: dict[str, Any]
    parameters: dict[str, Any]
    failed: int = field(default=0, metadata={"written": "where set"})
    failure: str = field(default="", metadata={"written": "where set"})


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """One run."""

    fold: int
    seed: int
    rounds: int
    rounds_trained: int
    seconds_per_round: float | None
    validation: float | None
    test: dict[str, float | None]
    error: str | None
    tuned: Setting | None
    curve: Any  # the metric on the validation part after each round, an array


@dataclass(frozen=True, kw_only=True)
class MethodSummary(MethodName):
    """A method: its means over runs, its difference to the framework's reference, and its runs."""

    objective: str
    built_in: bool
    reference: str | None
    runs_planned: int
    runs_finished: int
    runs_at_cap: int
    validation: Mean
    test: dict[str, Mean]
    difference: float | None
    interval: Numbers | None
    z: float | None
    p: float | None
    p_holm: float | None
    outcome: "Outcome | None" = None
    seconds_per_round: float | None
    rounds: float | None
    errors: list[str]
    runs: list[RunSummary]


class Outcome(StrEnum):
    """Outcome on test of a method against its reference, or of a challenger against the incumbent."""

    BETTER = "better"
    WORSE = "worse"
    LEVEL = "level"  # no significant difference
    AT_CAP = "at the cap"  # no verdict: a training ended at the cap of rounds
    TOO_FEW = "too few queries"  # no verdict: only huge differences are significant on so few
    CLICKS = "clicks"  # no verdict: the labels are clicks, without propensities
    UNCHALLENGED = "unchallenged"  # the incumbent itself is best on validation
    NO_INCUMBENT = "no incumbent"  # not among the methods, or without a finished run

    @property
    def is_clear(self) -> bool:
        """Whether there is a significant difference."""
        return self in (Outcome.BETTER, Outcome.WORSE)

    @classmethod
    def from_test(cls, difference: float, p: float, sign: int, n_queries: int | None = None) -> "Outcome":
        """Return the outcome of a test; p is NaN at the cap of rounds, `sign` is -1 if lower is better."""
        if isnan(p):
            return cls.AT_CAP
        if p < SIGNIFICANT:
            return cls.BETTER if difference * sign > 0 else cls.WORSE
        return cls.TOO_FEW if n_queries is not None and n_queries < FEWEST_QUERIES else cls.LEVEL


@dataclass(frozen=True, kw_only=True)
class Challenger(MethodName):
    """The method that is compared with the incumbent."""

    validation: float
    test: float | None


@dataclass(frozen=True, kw_only=True)
class Recommendation(MethodName):
    """The challenger if it is significantly better than the incumbent on test, else the incumbent.

    The challenger is the best method on validation. If that is not significantly better, it is the best on validation
    among the methods of the incumbent's framework that are, by Holm's p. `difference`, `interval` and `p` compare the
    challenger with the incumbent. p is corrected for `comparisons` tests, 0 for the best on validation.
    """

    outcome: Outcome
    incumbent: MethodName | None
    challenger: Challenger
    objective: str
    validation: float
    test: float | None
    runs: int
    among: int
    difference: float | None
    interval: Numbers | None
    p: float | None
    comparisons: int
    queries: int | None
    within_one_standard_error: list[MethodName]
    rounds: int
    params: dict[str, Any]
    code: str


@dataclass(frozen=True, kw_only=True)
class FrameworkDifference(MethodName):
    """The best method of a framework on validation, against the recommended method of another framework."""

    reference_framework: str
    reference: str
    difference: float
    interval: Numbers
    p: float
    queries: int


class Contrast(NamedTuple):
    """A difference to the reference."""

    reference: str
    difference: float
    interval: tuple[float, float] | None
    p: float  # NaN at the cap of rounds

    @classmethod
    def from_summary(cls, found: MethodSummary | Recommendation | FrameworkDifference) -> "Contrast | None":
        """Return the difference of a method, with the table's Holm's p or its own; None without a reference."""
        if isinstance(found, Recommendation):
            beside = None if found.incumbent is None else found.incumbent.method
        else:
            beside = found.reference
        if beside is None or found.difference is None:
            return None
        p = getattr(found, "p_holm", found.p)
        low, high = found.interval or (None, None)
        ends = None if low is None or high is None or isnan(low) else (low, high)  # NaN if there is one query
        return cls(beside, found.difference, ends, nan if p is None else p)

    def outcome(self, document: "Comparison") -> Outcome:
        """Return the outcome in the table, from p and the sign of the difference."""
        if "test" in document.clicks:
            return Outcome.CLICKS
        return Outcome.from_test(self.difference, self.p, document.settings.sign)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The summary of a comparison, without the values of single queries."""

    schema: str = SCHEMA
    versions: dict[str, str]
    data: Data
    settings: Settings
    test: Test
    interrupted: bool
    out_of_time: bool
    not_run: list[PlannedRun]
    warnings: list[str]
    notes: list[str]
    methods: list[MethodSummary]
    recommendation: Recommendation | None
    call: str
    command: str | None
    clicks: tuple[str, ...] = field(default=(), metadata={"written": "where set"})
    """Parts ("valid", "test") that clicks without propensities judge, so that nothing is recommended."""
    between_frameworks: tuple[FrameworkDifference, ...] = field(default=(), metadata={"written": "where set"})

    @property
    def is_partial(self) -> bool:
        """Whether Ctrl-C or a budget left out runs."""
        return self.interrupted or self.out_of_time

    @property
    def frameworks(self) -> list[str]:
        """The frameworks of the methods, in their order."""
        return list(dict.fromkeys(method.framework for method in self.methods))


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The metric on the validation part after each round of a run."""

    fold: int
    seed: int
    best_round: int
    values: Numbers


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Documents with similar predicted probabilities: mean prediction, mean label / max_grade, share of documents."""

    predicted: float
    observed: float
    share: float


@dataclass(frozen=True, kw_only=True)
class MethodDetails(MethodName):
    """Details of a method with a finished run; see `boostplug.comparison.report.details`."""

    curves: list[Curve] = field(default_factory=list)
    cutoffs: Numbers = field(default_factory=list)
    bins: list[Bin] = field(default_factory=list)
    positions: Numbers = field(default_factory=list)
    importances: Numbers = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class PartDigest:
    """A part of a fold with the digest of its values."""

    part: str
    fold: int
    queries: int
    documents: int
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class Details:
    """Details that a report shows in addition to `Comparison`."""

    methods: list[MethodDetails] = field(default_factory=list)
    cutoffs: list[int] = field(default_factory=list)
    cutoff_metric: str = "NDCG"
    features: list[str] = field(default_factory=list)
    tied_below: float = 0.0
    python: str = ""
    command: str | None = None
    data: list[PartDigest] = field(default_factory=list)


def to_json(value: Any, *, finite: bool = False) -> Any:
    """Return a value in JSON's types: dataclasses as dictionaries, arrays as lists, NumPy's numbers as Python's.

    With `finite`, NaN and infinite numbers become None, because JSON has none, and other objects their ``repr``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in fields(value) if not f.metadata or getattr(value, f.name)}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key) if finite else key: to_json(item, finite=finite) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item, finite=finite) for item in value]
    if not finite or value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    return repr(value)
