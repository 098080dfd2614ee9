"""The command `boostplug`; what it computes with is imported inside the commands."""

import codecs
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from boostplug.core.text import visible
from boostplug.core.version import __version__

_FAILED, _REFUSED, _INTERRUPTED = 1, 2, 130  # exit statuses
_STORE = Path("boostplug-compare")  # default folder of finished trainings
_MOST_THREADS = 1024
_PLAIN = dict(zip("─│–…±Δ×≥≤→↓", "-|-.~Dx><>v", strict=True))  # for terminals that know ASCII alone

_ResultFile = Annotated[Path | None, typer.Option(dir_okay=False, writable=True, help="Write the result as JSON.")]

app = typer.Typer(
    help="Learning-to-rank losses in LightGBM and XGBoost, and reference rankers.\n\n"
    "Start with 'boostplug compare', which compares our losses with lambdarank and rank:ndcg on a small bundled set. "
    "'boostplug doctor' checks your installation.",
    invoke_without_command=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line."""
    # LightGBM's threads otherwise wait in a busy loop: beside other busy processes a training then takes many times as
    # long. It counts for libraries that this process, and those that it starts, load from now on.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    codecs.register_error("boostplug", _in_plain_characters)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="boostplug")
    app()


def _in_plain_characters(error: UnicodeError) -> tuple[str, int]:
    """Return ASCII in place of the characters that the stream's encoding lacks, such as box lines on Windows."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boostplug {__version__}")
        raise typer.Exit


@app.callback()
def _command(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback acts)
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _names(text: str) -> list[str]:
    """Return the texts between commas, except commas within parentheses."""
    found, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += character
    return [name.strip() for name in found if name.strip()]


def _numbers_or_column(text: str) -> str | list[float] | tuple[str, str]:
    """Return numbers that are separated by commas, the name of a column, or "time" and the one after ``time:``."""
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        return ("time", text[len("time:") :]) if text.startswith("time:") else text


def _file(help_: str) -> Any:
    return typer.Option(exists=True, dir_okay=False, help=help_)


def _list(help_: str) -> Any:
    return typer.Option(parser=_names, metavar="A,B", help=help_)


def _number(help_: str, *names: str, least: int = 1, most: int | None = None) -> Any:
    return typer.Option(*names, min=least, max=most, help=help_)


@app.command()
def compare(
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="A folder: one fold (train, vali and test file), or Fold*. Or a CSV or Parquet file, split by query. "
            "Default: the bundled set.",
        ),
    ] = None,
    train: Annotated[Path | None, _file("Training file, LETOR, CSV or Parquet; with --valid and --test.")] = None,
    valid: Annotated[Path | None, _file("Validation file.")] = None,
    test: Annotated[Path | None, _file("Test file.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, in CSV and Parquet.")] = None,
    qid: Annotated[str, typer.Option(help="Column of the query ids, in CSV and Parquet.")] = "qid",
    weight: Annotated[str | None, typer.Option(help="Column of weights, in CSV and Parquet.")] = None,
    position: Annotated[
        str | None, typer.Option(help="Column of positions, for losses that learn from clicks.")
    ] = None,
    propensity: Annotated[
        Any,
        typer.Option(
            parser=_numbers_or_column,
            metavar="NUMBERS",
            help="How likely users look at position 1, 2, …: 1,0.5,0.33. Clicks then choose and judge by DCG, and the "
            "default losses learn from clicks.",
        ),
    ] = None,
    labels: Annotated[Any, _list("Columns of more labels, for losses such as 'QBRank().on(sale)'.")] = None,
    features: Annotated[Any, _list("Columns that are features. Default: all others.")] = None,
    drop: Annotated[Any, _list("Columns to leave out, separated by commas.")] = None,
    split: Annotated[
        Any,
        typer.Option(
            parser=_numbers_or_column,
            metavar="SHARES",
            help="Of one CSV or Parquet file: shares of the queries for training, validation and test, or the column "
            "that says train, valid or test of each row, or time:COLUMN, to train before and test after. Default: "
            "0.6,0.2,0.2.",
        ),
    ] = None,
    losses: Annotated[
        Any,
        _list(
            "Names, separated by commas; or with parameters, and sums: 'mpboost, .7*ndcg-boost + "
            ".3*SquaredError(centred=True)'; module:name for a loss of your own in module.py; or 'all'. Default: those "
            "that we recommend; with --propensity, losses that correct none, some or all of the position bias."
        ),
    ] = None,
    baselines: Annotated[Any, _list("Built-in objectives, such as lambdarank,rank:ndcg. Default: all.")] = None,
    incumbent: Annotated[
        str | None,
        typer.Option(
            help="The method in use, by its name in the table ('QBRank in lightgbm' where both frameworks have it): it "
            "is kept unless another is significantly better. Default: the better LambdaMART."
        ),
    ] = None,
    frameworks: Annotated[Any, _list("lightgbm,xgboost, or one of them. Default: those that are installed.")] = None,
    rounds: Annotated[int, _number("Boosting rounds at most; early stopping ends most trainings before.")] = 1000,
    seeds: Annotated[int, _number("How many seeds.")] = 3,
    metric: Annotated[
        str, typer.Option(help="Metric of early stopping, differences and p: NDCG@10, MAP, MRR, ERR@10, …")
    ] = "NDCG@10",
    early_stopping_rounds: Annotated[
        int,
        _number(
            "Rounds without a better validation value before training stops; 0: never.", "--early-stopping", least=0
        ),
    ] = 30,
    num_leaves: Annotated[int | None, _number("Leaves of a tree.", "--leaves", least=2)] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    tune: Annotated[
        int, _number("Settings tried per method on the validation part before its runs (optuna).", least=0)
    ] = 0,
    num_threads: Annotated[
        int | None,
        _number(
            "Threads of all trainings together. Default: OMP_NUM_THREADS, or all cores; one each on small data.",
            "--threads",
            most=_MOST_THREADS,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        _number(
            "Processes that train at once and share the threads. Default: on small data one per core.",
            most=_MOST_THREADS,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            writable=True,
            help="Write an HTML page to send: recommendation, figures, tables, how to make it again.",
        ),
    ] = None,
    json: _ResultFile = None,
    store: Annotated[
        Path | None,
        typer.Option(
            writable=True,
            help="File of JSON lines, or folder for it, that keeps the result of each training as it finishes. "
            f"Default: the folder {_STORE} in the current one; results are removed from it when all is done.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from what --store keeps of this comparison after it was ended.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(help="Time budget in minutes, after which no training starts; --resume goes on. Default: none."),
    ] = None,
) -> None:
    """Find out which loss ranks best on your data, beside the built-in objectives.

    boostplug compare --data rows.csv --label grade --qid query --report report.html

    boostplug compare --data FOLDER --losses "CRR(), QBRank(preference_weight=0.3), my_losses:MyLoss"

    FOLDER holds LETOR files, such as train.txt, vali.txt and test.txt. Progress goes to stderr. After Ctrl-C, a crash
    or a failed run, the same command with --resume continues.

    Exit status: 0, also if --minutes ended it; 1 if a run failed or a file could not be written; 2 for invalid options;
    130 after Ctrl-C or SIGTERM.
    """
    arguments = locals()  # by the names that `boostplug.compare` has for them, except these:
    paths = {name: arguments.pop(name) for name in ("data", "train", "valid", "test")}
    outputs = {f"--{name}": arguments.pop(name) for name in ("json", "report")}
    trees = {name: arguments.pop(name) for name in ("num_leaves", "learning_rate")}
    arguments["params"] = {name: value for name, value in trees.items() if value is not None}
    arguments["early_stopping_rounds"] = early_stopping_rounds or None
    _compare(paths, outputs, store, arguments)


def _compare(
    paths: Mapping[str, Path | None], outputs: Mapping[str, Path | None], store: Path | None, arguments: dict[str, Any]
) -> None:
    """Compare on the data of some paths, write and print the result, and exit with its status.

    Parameters
    ----------
    paths : mapping
        By the options that name them, as `outputs`.
    outputs : mapping
    store : Path or None
        As the user named it.
    arguments : dict
        Further ones of `boostplug.compare`.
    """
    with _reported("compare", "interrupted before any training"):
        _check_outputs(outputs)
        folder = store or (_STORE if os.access(Path(), os.W_OK) else None)
        if folder is None:
            _complain("compare", "finished trainings are not kept, as the current folder is read-only; name a --store")
        from boostplug.cli.own_losses import with_own_losses
        from boostplug.comparison.compare import compare as run
        from boostplug.comparison.console import progress_bar

        arguments["losses"] = with_own_losses("--losses", arguments["losses"])
        with progress_bar(True, 1) as advance:
            advance("reading the data", 0)
            parts, name = _load(*paths.values())
        result = run(*parts, **{**arguments, "store": folder}, data=name, progress=True)
        result.runs.command = shlex.join(["boostplug", *sys.argv[1:]])
        result.runs.data.paths = {option: str(path) for option, path in paths.items() if path is not None}
    if result.interrupted and not any(method["runs_finished"] for method in result.document["methods"]):
        _complain("compare", "interrupted before any training had finished")
        _keep_or_remove(result, done=False, named=store is not None)
        raise typer.Exit(_INTERRUPTED)
    unwritten = _deliver("compare", result, {outputs["--json"]: result.to_json, outputs["--report"]: result.to_html})
    failed = result.failed or unwritten
    done = not (failed or result.interrupted or result.out_of_time)
    _keep_or_remove(result, done=done, named=store is not None)
    if result.interrupted:
        raise typer.Exit(_INTERRUPTED)
    if failed:
        raise typer.Exit(_FAILED)


def _keep_or_remove(result: Any, *, done: bool, named: bool) -> None:
    """Remove a comparison's results from the default folder when all is done; else say where they are."""
    if not done and result.kept is not None:
        what = "interrupted; " if result.interrupted else "the time is up; " if result.out_of_time else ""
        _complain("compare", f"{what}the finished trainings are kept in {result.kept}: add --resume to continue")
    elif result.kept is None or not named:
        if not result.store.remove():
            _complain("compare", f"{result.kept} stays: it also holds trainings that this comparison did not ask for")
        with suppress(OSError):  # results of others are in it
            _STORE.rmdir()


@app.command()
def replicate(
    paper: Annotated[str, typer.Argument(help="rankboost-plus, adarank, mpboost, ndcg-boost or qbrank.")],
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True, help="Folder with the paper's data sets (docs/guides/replicate.md). Default: the bundled set."
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            writable=True,
            help="Write the result as JSON; what is done so far is kept beside it meanwhile.",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(file_okay=False, writable=True, help="Draw the paper's figures into this folder, PNG and SVG."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, writable=True, help="Write what is printed to this file, as Markdown (.md) or LaTeX (.tex)."
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print each claim, all tables, and what differs from the paper.")
    ] = False,
    processes: Annotated[
        int | None, typer.Option(min=1, max=_MOST_THREADS, help="Processes of one thread. Default: all cores.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave what is finished beside --json, so that new claims need no training.")
    ] = False,
) -> None:
    """Run a paper's experiments again: the verdict on each of its claims, and the main table.

    With --json, the same command goes on where it was after Ctrl-C or a crash. Where stderr is no terminal, a line
    there follows a finished task, at most every 30 seconds.

    Exit status: 0; 1 if a task failed or a file could not be written; 2 for invalid options; 130 after Ctrl-C or
    SIGTERM.
    """
    kept = "" if json is None else "; the same command goes on where it was"
    with _reported("replicate", f"interrupted{kept}"):
        if output is not None and output.suffix not in (".md", ".tex"):
            raise ValueError(f"--output must end with .md or .tex; got {output}")
        _check_outputs({"--json": json, "--figures": figures, "--output": output})
        from boostplug.replication import replicate as run

        if figures is not None:
            from boostplug.replication.drawing import require_matplotlib

            require_matplotlib()
        result = run(paper, data, json=json, num_processes=processes, keep=keep, progress=True)
    shown = result.full if full else result.summary
    unwritten = _deliver("replicate", shown, {figures: result.to_figures, output: shown.to_file})
    if unwritten or result.failed:
        raise typer.Exit(_FAILED)


@app.command()
def export(
    model: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Model file of LightGBM, XGBoost or Ensemble.save.")
    ],
    to: Annotated[
        str, typer.Option(help="solr, elasticsearch-ltr, opensearch-ltr, ranklib, vespa, or xgboost (UBJSON or JSON).")
    ],
    output: Annotated[Path, typer.Option(dir_okay=False, writable=True, help="File to write.")],
    feature_names: Annotated[
        Any, _list("The engine's names of the features, in the order of the columns. Default: the model's.")
    ] = None,
    missing: Annotated[
        str | None, typer.Option(help="zero or nan: what the engine holds where a feature is missing.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the model in Solr.")] = None,
) -> None:
    """Write a model as a search engine takes it; docs/guides/search_engines.md has the requests that upload it.

    boostplug export model.txt --to solr --output model.json

    Exit status: 0; 1 if the file could not be written; 2 for invalid options, and models that the engine cannot hold.
    """
    with _reported("export"):
        from boostplug.cli.models import is_export, read_model, write_model
        from boostplug.core.files import is_same_file

        if is_same_file(output, model):
            raise ValueError(f"--output: {output} is the model itself; name another file")
        _check_outputs({"--output": None if is_export(output) else output})
        from boostplug.model.export import export as run

        found = run(read_model(model), to, feature_names=feature_names, missing=missing, name=name)
    if _deliver("export", f"{to}: {output}", {output: partial(write_model, found)}):
        raise typer.Exit(_FAILED)


@app.command()
def warmup() -> None:
    """Compile all that losses, metrics and reference rankers use, and keep it for later processes.

    For images of containers and new environments: a minute or two, once for each kind of processor, and some seconds if
    all is there. docs/guides/images.md says where it is kept, and how an image keeps it that is built elsewhere.

    Exit status: 0; 1 if it cannot be kept; 130 after Ctrl-C or SIGTERM, after which the same command goes on.
    """
    with _reported("warmup", "interrupted; the same command goes on where it was", refused=_FAILED):
        from boostplug.cli.warm_up import warmup as run

        def show(name: str, n_compiled: int, seconds: float) -> None:
            typer.echo(f"{name}: {n_compiled} compiled, {seconds:.1f} s", err=True)

        done = run(show)
    if _deliver("warmup", done):
        raise typer.Exit(_FAILED)


@app.command()
def doctor(json: _ResultFile = None) -> None:
    """Check your installation: versions, a small training in each framework, threads, compiled code.

    It takes some seconds, and longer the first time. You can paste its text into a report: the home folder is shown as
    ~. docs/guides/troubleshooting.md explains what it may find.

    Exit status: 0; 1 if there is a problem, or the file could not be written; 2 for invalid options; 130 after Ctrl-C
    or SIGTERM.
    """
    with _reported("doctor"):
        _check_outputs({"--json": json})
        from boostplug.cli.doctor import TRAININGS
        from boostplug.cli.doctor import doctor as run
        from boostplug.comparison.console import progress_bar

        with progress_bar(True, len(TRAININGS)) as advance:
            found = run(advance)
    unwritten = _deliver("doctor", found, {json: found.to_json})
    if unwritten or found.document["problems"]:
        raise typer.Exit(_FAILED)


@contextmanager
def _reported(command: str, interrupted: str = "interrupted", *, refused: int = _REFUSED) -> Iterator[None]:
    """Run a command: its warnings and errors become messages, and SIGTERM ends it as Ctrl-C does.

    Parameters
    ----------
    command : str
    interrupted : str
        The message after Ctrl-C.
    refused : int
        The exit status after invalid input.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_args, **_more: _complain(command, str(message))
            yield
    except KeyboardInterrupt:
        _complain(command, interrupted)
        raise typer.Exit(_INTERRUPTED) from None
    except RuntimeError as error:  # a process has died
        _complain(command, str(error))
        raise typer.Exit(_FAILED) from None
    except (ValueError, OSError, ImportError) as error:
        _complain(command, str(error))
        raise typer.Exit(refused) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _complain(command: str, message: str) -> None:
    typer.echo(visible(f"boostplug {command}: {message}"), err=True)


def _deliver(command: str, result: Any, files: Mapping[Path | None, Callable[[Path], object]] | None = None) -> bool:
    """Write files, print the result, complain about those that fail, and return whether one has failed."""
    failed = False
    outputs: dict[Any, Callable[[Any], object]] = {**(files or {}), "the result": lambda _: _print(result)}
    for output, write in outputs.items():
        try:
            if output is not None:
                write(output)
        except OSError as error:
            _complain(command, f"{output} could not be written ({error.strerror or error})")
            failed = True
    return failed


def _print(result: Any) -> None:
    """Print a result: in a terminal to fit it, otherwise as wide as it needs."""
    from rich.console import Console

    console = Console()
    try:
        if console.is_terminal and hasattr(result, "__rich_console__"):
            console.print(result)
        else:
            typer.echo(visible(str(result)))
    except OSError as error:
        sys.stdout = StringIO()  # Python flushes it when it ends, which would fail again
        if not isinstance(error, BrokenPipeError):  # the reader, such as head, has read enough
            raise


def _check_outputs(outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs, before anything is trained, that cannot be written, or that may replace data."""
    paths = {option: path for option, path in outputs.items() if path is not None}
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise ValueError(f"{' and '.join(paths)} name the same file; name two")
    for option, path in paths.items():
        if path.is_file() and path.resolve().suffix not in (".json", ".html", ".md", ".tex"):
            raise ValueError(
                f"{option}: {path} exists and may hold data; remove it, or name a file that ends with .json, .html, "
                ".md or .tex"
            )
        with suppress(FileNotFoundError, NotADirectoryError):  # another error, such as a name too long, is reported
            path.lstat()
            continue
        if not os.access(path.absolute().parent, os.W_OK):
            raise ValueError(f"{option}: no folder {path.parent} can be written to; make it, or name a file elsewhere")


def _load(data: Path | None, train: Path | None, valid: Path | None, test: Path | None) -> tuple[list[Any], str]:
    """Return the folds that the options name, or the paths of tables, and their name."""
    from boostplug.comparison.inputs.data import folds_of_folder, name_of_folder
    from boostplug.data.files import is_table_file
    from boostplug.datasets import Fold, load_bundled
    from boostplug.datasets.letor import load_files

    files = [path for path in (train, valid, test) if path is not None]
    if len(files) not in (0, 3) or (files and data is not None):
        raise ValueError("--train, --valid and --test go together, without --data; pass all three, or only --data")
    if files:
        name = ", ".join(path.name for path in files)
        return ([*files], name) if any(map(is_table_file, files)) else ([[Fold(*load_files(files))]], name)
    if data is None:
        return [[load_bundled()]], "the bundled set"
    if is_table_file(data):
        return [data], data.name
    try:
        return [folds_of_folder(data)], name_of_folder(data)
    except (FileNotFoundError, NotADirectoryError) as error:
        what = str(error).partition("; ")[0]  # the rest is for Python
        raise FileNotFoundError(
            f"--data: {what}; name the three files by --train, --valid and --test, or a CSV or Parquet file by --data"
        ) from None
