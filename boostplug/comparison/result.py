"""`CompareResult`: the finished runs of a comparison, their document, and its writers."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult

from boostplug.comparison import recommendation
from boostplug.comparison.comparison import Comparison, FoldSeed
from boostplug.comparison.decision import Decision, decide
from boostplug.comparison.document import as_document, not_run
from boostplug.comparison.examples import examples, most_important, reasons
from boostplug.comparison.inputs.columns import TODAY
from boostplug.comparison.report.page import page
from boostplug.comparison.report.picture import picture
from boostplug.comparison.report.table import frame, markdown, render, text
from boostplug.comparison.report.words import advice
from boostplug.comparison.summary import Outcome, as_json
from boostplug.comparison.training.baselines import COLUMN
from boostplug.comparison.training.runs import Method
from boostplug.comparison.training.store import Store, path_with_runs
from boostplug.core.cached import cached_property
from boostplug.core.checks import check_integer
from boostplug.core.extras import imported
from boostplug.core.files import write_file
from boostplug.model.boosters import as_booster
from boostplug.model.mean import mean_model

_FRAMES = "DataFrames of a comparison need"


class CompareResult:
    """Result of `boostplug.compare`: prints as a table, and writes JSON, HTML, Markdown and pictures.

    Parameters
    ----------
    outcomes : Comparison
        The data, the methods, and the runs.
    notes : sequence of str
        Notes in addition to those of the runs.
    store : Store
        The file of the runs, if there is one.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended the comparison before all runs were done.
    command : str or None
        The shell command that made the comparison.
    """

    def __init__(self, outcomes: Comparison, notes: Sequence[str] = (), store: Store | None = None) -> None:
        self.outcomes, self.store = outcomes, store or Store(None)
        self.interrupted = outcomes.interrupted
        self.command: str | None = None
        of_runs = (note for method in outcomes.methods for run in outcomes.runs_of(method) for note in run.notes)
        self._notes = list(dict.fromkeys([*notes, *of_runs]))

    @property
    def kept(self) -> Path | None:
        """The file with the results of its trainings, if `compare` has a `store` and it holds any."""
        return path_with_runs(self.store)

    @property
    def failed(self) -> bool:
        """Whether a run failed; the table names it, with the reasons below."""
        return any(run.error for run in self.outcomes.runs)

    @property
    def not_run(self) -> list[dict[str, Any]]:
        """The planned runs that did not end, each by framework, method, fold (from 0) and seed."""
        return not_run(self.outcomes)

    @property
    def runs(self) -> Any:
        """The runs as a pandas DataFrame: method, fold, seed, rounds, times, metrics, error, setting and curve."""
        rows = []
        for run in self.outcomes.runs:
            found = run.document()
            test = found.pop("test")
            rows.append({**run.names, **found, **test})
        return imported("pandas", _FRAMES).DataFrame(rows)

    @property
    def per_query(self) -> Any:
        """The metrics of each test query as a pandas DataFrame, a row per run and query; NaN where undefined.

        Weighted data have a column with the weights of queries.
        """
        pd = imported("pandas", _FRAMES)
        frames = []
        for run in self.outcomes.runs:
            if run.error is None:
                test = self.outcomes.data.tests[run.fold]
                weight = test.queries.query_weight
                queries = {"query": test.ids} | ({} if weight is None else {"weight": weight})
                frames.append(
                    pd.DataFrame({**run.names, "fold": run.fold, "seed": run.seed, **queries, **run.per_query})
                )
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    @cached_property
    def _decision(self) -> Decision | None:
        found, doubts = decide(self.outcomes), self.outcomes.data.reasons
        if found is None:
            return None
        found = replace(found, outcome=Outcome.DOUBTFUL if doubts else found.outcome, reasons=doubts)
        return replace(found, importance=most_important(self.outcomes, found.recommended))

    @property
    def document(self) -> dict[str, Any]:
        """All results except the values of single queries, in JSON's types: the content of `to_json` and the report."""
        return as_document(self.outcomes, self._decision, self._notes, self.command)

    @property
    def recommendation(self) -> str:
        """The recommendation in words: keep the incumbent or replace it, why, and the lines of code."""
        return "\n".join(advice(self.document))

    @property
    def best(self) -> Any:
        """The recommended method as an unfitted estimator, with its parameters and mean best round.

        Fit it with ``result.best.fit(X, y, qid=qid)``, for example on all data. Fitted on the training part of a run
        with its seed and rounds, it gives the scores of that run. It is an `LGBMRanker`, `XGBRanker` or `LinearRanker`
        of this package, also for built-in objectives. Where columns of a table were left out, `features` names the
        others: fit it on the same table, ``result.best.fit(frame, "grade", qid="query")``. If `tune` chose different
        settings in each fold, it has those of the first. It has no weights: pass those of the data to `fit`, divided by
        their mean as in the comparison, ``result.best.fit(X, y, qid=qid, sample_weight=weight / weight.mean())``.

        Raises
        ------
        ValueError
            If no run is finished, or a column is recommended.
        """
        return recommendation.estimator(**recommendation.estimator_of(self.outcomes, *self._recommended))

    @property
    def _recommended(self) -> tuple[Method, Sequence[FoldSeed]]:
        if self._decision is None:
            raise ValueError("nothing is best: no run is finished (the table names the reasons)")
        ours = self._decision.recommended
        if ours.objective in (COLUMN, TODAY):
            raise ValueError(f"no model is best: {ours.name} is recommended, which needs no training")
        return ours, self._decision.runs

    @property
    def model(self) -> Any:
        """The recommended method's models, one of each seed and fold, as one ordinary booster: their mean.

        It needs no other training, and `document`'s ``["recommendation"]["mean_of_seeds"]`` has its values on test.
        With several folds its models have seen test queries of other folds.

        Raises
        ------
        ValueError
            As `best` does.
        """
        ours, runs = self._recommended
        done = self.outcomes.finished(ours)
        return mean_model([as_booster(done[run].model.encode()) for run in runs if run in done])

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, a row per method, in the order of the printed one.

        Columns:

        - framework, method, objective;
        - each metric's mean and, named ``… ±``, its standard deviation over the runs; the validation value;
        - the difference to the framework's own LambdaMART, the ends of its interval, z, p and Holm's p;
        - seconds per round, rounds, runs finished, planned and ended at the cap of rounds;
        - the outcome against the reference: better, worse, level, at the cap; errors.

        p is missing if a run of the method or of its reference ended at the cap.
        """
        return frame(self.document)

    def to_json(self, path: str | Path) -> None:
        """Write everything except the values of single queries to a JSON file.

        Raises
        ------
        FileExistsError
            If `path` holds something else than an earlier result; so do `to_html` and `to_markdown`.
        """
        write_file(path, as_json(self.document))

    def to_html(self, path: str | Path) -> None:
        """Write one self-contained HTML page to send to those who decide; it loads nothing from the network.

        It has the recommendation, the differences with their intervals, the columns that order most, ten queries whose
        order changes most and why, all methods, learning curves, and the set-up with the call that repeats the
        comparison.

        Raises
        ------
        ImportError
            If Jinja2 is not installed: ``pip install 'boostplug[report]'``.
        """
        found, why, decision = list[Any](), list[Any](), self._decision
        if decision and decision.compares:
            table, swaps = examples(self.outcomes, decision.pairs, 10)
            rows, why = iter(table.to_dict("records")), reasons(self.outcomes, decision.pairs, swaps)
            found = [[*islice(rows, swap.n_rows)] for swap in swaps]
        today = datetime.now().astimezone().date().isoformat()
        write_file(path, page({**self.document, "examples": found, "reasons": why, "date": today}))

    def plot(self, path: str | Path | None = None) -> Any:
        """Return the first screen of the page as a figure of matplotlib, and write it to a file if `path` is given.

        It has the first sentence of the recommendation, and the differences to what is in use with their intervals:
        the recommended method first, then what is in use, then the others by their difference.

        Parameters
        ----------
        path : str or Path, optional
            File that ends with .svg or .png.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install 'boostplug[report]'``.
        ValueError
            If `path` has another suffix.
        FileExistsError
            If `path` holds something else than a picture.
        """
        return picture(self.document, path)

    def examples(self, n: int = 10) -> Any:
        """Return the test queries whose order a change would alter most, as a pandas DataFrame to look at.

        A query's order changes by the sum over its documents of the difference of 1 / log2(1 + place) between the
        challenger and what is in use, 0 below the tenth place; labels do not matter. Scores are means over seeds.

        Parameters
        ----------
        n : int, default=10
            Number of queries; those whose order stays are left out.

        Returns
        -------
        DataFrame
            A row for each document among the ten best of the new or of the old order, with the index of the features,
            if these are a DataFrame. Columns: query, change of the metric, new and old place, label, new and old
            score, and up to four features: those that differ most between the documents that move up and those that
            move down. The largest change of the order comes first, and in a query the new order.

        Raises
        ------
        ValueError
            If there is nothing to compare: nothing is in use, or it is itself the best, or no run is finished.
        """
        n = check_integer("n", n, 1)
        if self._decision is None or not self._decision.compares:
            raise ValueError(
                "there are no examples: no finished method stands beside one that is in use; name what is in use "
                "(today= or incumbent=), or see result.recommendation"
            )
        return examples(self.outcomes, self._decision.pairs, n)[0]

    def to_markdown(self, path: str | Path | None = None) -> str | None:
        """Write the table and the lines below it as Markdown; without `path`, return it."""
        found = markdown(self.document)
        if path is None:
            return found
        write_file(path, found)
        return None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from render(self.document, options)

    def __repr__(self) -> str:
        outcomes, n = self.outcomes, len(self.outcomes.methods)
        done = sum(run.error is None for run in outcomes.runs)
        return f"CompareResult({n} methods, {done} of {outcomes.n_planned * n} runs); print it for the table"

    def __str__(self) -> str:
        return text(self.document)
