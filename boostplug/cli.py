"""The command `boostplug`; what it computes with is imported inside the commands."""

import codecs
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from io import TextIOWrapper
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType
from typing import Annotated, Any

import typer

from boostplug.core.extras import LIBRARIES, install, is_installed
from boostplug.core.files import is_same_file, stream_of
from boostplug.core.text import visible
from boostplug.version import __version__

_FAILED, _REFUSED, _INTERRUPTED, _TERMINATED = 1, 2, 130, 143  # exit statuses
_STORE = Path("boostplug-compare")  # default folder of finished trainings
_MOST_THREADS = 1024
_PLAIN = dict(zip("─│–…±Δ×≥≤→↓", "-|-.~Dx><>v", strict=True))  # for terminals that know ASCII alone

_Threads = Annotated[
    int | None, typer.Option(min=1, max=_MOST_THREADS, help="Threads. Default: OMP_NUM_THREADS, or all cores.")
]
_ResultFile = Annotated[Path | None, typer.Option(help="Write the result as JSON.")]

app = typer.Typer(
    help="Learning-to-rank losses in LightGBM and XGBoost, and reference rankers.",
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
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed: else a file of results takes its number, and what C code prints
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (as long as the process)
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="boostplug")
    app()


def _in_plain_characters(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for the characters that a stream's encoding lacks."""
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
    """Learning-to-rank losses in LightGBM and XGBoost."""
    if context.invoked_subcommand is None:
        typer.echo(_next_steps())


def _next_steps() -> str:
    """Return what a new user may do, found without importing a framework."""
    frameworks = ("lightgbm", "xgboost")
    found = [LIBRARIES[name].shown for name in frameworks if is_installed(name)]
    absent = [name for name in frameworks if not is_installed(name)]
    have = f"Found: {' and '.join(found)}." if found else "Found: neither LightGBM nor XGBoost."
    get = f" To get {' and '.join(LIBRARIES[name].shown for name in absent)}: {install(*absent)}" if absent else ""
    return f"""\
boostplug {__version__}: learning-to-rank losses for LightGBM and XGBoost

  boostplug compare                 our losses beside lambdarank and rank:ndcg on a small bundled set
  boostplug compare --data rows.csv --label grade --qid query   the same on your data: CSV, Parquet or LETOR files
  boostplug doctor                  checks your installation, and says what to do

In Python:
  import boostplug as bp
  booster = lgb.train({{"objective": bp.CRR()}}, dataset)        # LightGBM
  booster = xgb.train({{"base_score": 0}}, matrix, obj=bp.CRR())  # XGBoost

{have}{get}
All commands: boostplug --help. Documentation: {_documentation()}"""


def _documentation() -> str:
    """Return where the documentation is: at the project's address, or in its sources where none is settled yet."""
    addresses: list[str] = []
    with suppress(metadata.PackageNotFoundError):
        addresses = metadata.metadata("boostplug").get_all("Project-URL", [])
    found = dict(line.split(", ", 1) for line in addresses)
    address = found.get("Documentation", found.get("Repository", ".invalid"))
    return "docs/index.md in the sources" if ".invalid" in address else address


@app.command()
def compare(
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder: one fold (train, vali and test file), or Fold*. Or a CSV or Parquet file, split by query. "
            "Default: the bundled set."
        ),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Training file, LETOR, CSV or Parquet; with --valid and --test.")
    ] = None,
    valid: Annotated[Path | None, typer.Option(help="Validation file.")] = None,
    test: Annotated[Path | None, typer.Option(help="Test file.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, in CSV and Parquet.")] = None,
    qid: Annotated[str, typer.Option(help="Column of the query ids, in CSV and Parquet.")] = "qid",
    weight: Annotated[str | None, typer.Option(help="Column of weights, in CSV and Parquet.")] = None,
    position: Annotated[
        str | None, typer.Option(help="Column of the places where users saw the rows, for losses on clicks.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Columns of more labels, for losses such as 'QBRank().on(sale)'.")
    ] = None,
    features: Annotated[str | None, typer.Option(help="Columns that are features. Default: all others.")] = None,
    drop: Annotated[str | None, typer.Option(help="Columns to leave out, separated by commas.")] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Of one CSV or Parquet file: shares of the queries for training, validation and test, or the column "
            "that says train, valid or test of each row. Default: 0.6,0.2,0.2."
        ),
    ] = None,
    losses: Annotated[
        str | None,
        typer.Option(
            help="Names, separated by commas; or with parameters, and sums: "
            "'mpboost, .7*ndcg-boost + .3*SquaredError(centred=True)'; or 'all'. Default: those that we recommend."
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            help="Two losses, separated by a semicolon: trains their sums along a grid of weights. "
            "'QBRank().on(click); QBRank().on(sale)'"
        ),
    ] = None,
    baselines: Annotated[
        str | None, typer.Option(help="Built-in objectives, such as lambdarank,rank:ndcg. Default: all.")
    ] = None,
    frameworks: Annotated[
        str | None, typer.Option(help="lightgbm,xgboost, or one of them. Default: those that are installed.")
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Boosting rounds at most; early stopping ends most trainings before.")
    ] = 1000,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 3,
    metric: Annotated[
        str, typer.Option(help="Metric of early stopping, differences and p: NDCG@10, MAP, MRR, ERR@10, …")
    ] = "NDCG@10",
    early_stopping: Annotated[
        int, typer.Option(min=0, help="Rounds without a better validation value before training stops; 0: never.")
    ] = 30,
    leaves: Annotated[int | None, typer.Option(min=2, help="Leaves of a tree.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    tune: Annotated[
        int, typer.Option(min=0, help="Settings tried per method on the validation part before its runs (optuna).")
    ] = 0,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST_THREADS,
            help="Threads of all trainings together. Default: OMP_NUM_THREADS, or all cores; one each on small data.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST_THREADS,
            help="Processes that train at once and share the threads. Default: on small data one per core.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write an HTML page to send: recommendation, figures, tables, how to make it again."),
    ] = None,
    json: _ResultFile = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the result of each training as it finishes. "
            f"Default: {_STORE} in the current folder, removed when all is done."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from what --store keeps of this comparison after it was ended.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(help="Time budget in minutes; --resume goes on from there. Default: none."),
    ] = None,
) -> None:
    """Find out which loss ranks best on your data, beside the built-in objectives.

    boostplug compare --data rows.csv --label grade --qid query --report report.html

    boostplug compare --data FOLDER --losses "CRR(), QBRank(preference_weight=0.3)"

    FOLDER holds LETOR files, such as train.txt, vali.txt and test.txt. Progress goes to stderr. After Ctrl-C, a crash
    or a failed run, the same command with --resume continues.

    Exit status: 0, also if --minutes ended it; 1 if a run failed or a file could not be written; 2 for invalid options;
    130 after Ctrl-C, 143 after SIGTERM.
    """
    paths = {"data": data, "train": train, "valid": valid, "test": test}
    folder: Path | None = None
    hint = "; add --resume to go on"
    with _reported("compare", "interrupted before any training", lambda: hint * (folder is not None)) as signals:
        files = {f"--{option}": path for option, path in paths.items()}
        _check_outputs({"--json": json, "--report": report}, _files_read(files, store or _STORE))
        folder = _check_store(store, needed=resume)
        from boostplug.comparison.compare import compare as run
        from boostplug.comparison.console import progress_bar

        with progress_bar(True, 1) as advance:
            advance("reading the data", 0)
            parts, name = _load(data, train, valid, test)
        params = {"num_leaves": leaves, "learning_rate": learning_rate}
        result = run(
            *parts,
            label=label,
            qid=qid,
            weight=weight,
            position=position,
            labels=_names(labels) or (),
            features=_names(features),
            drop=_names(drop) or (),
            split=_shares(split),
            losses=_split(losses),
            sweep=None if sweep is None else sweep.split(";"),
            baselines=_split(baselines),
            frameworks=_split(frameworks),
            rounds=rounds,
            seeds=seeds,
            metric=metric,
            early_stopping_rounds=early_stopping or None,
            params={key: value for key, value in params.items() if value is not None},
            tune=tune,
            num_threads=threads,
            jobs=jobs,
            progress=True,
            data=name,
            store=folder,
            resume=resume,
            minutes=minutes,
        )
        result.runs.data.paths = {option: str(path) for option, path in paths.items() if path is not None}
    if result.interrupted and not any(method["runs_finished"] for method in result.document["methods"]):
        _complain("compare", "interrupted before any training had finished")
        _keep_or_remove(result, folder, done=True, named=store is not None)
        raise typer.Exit(signals())
    unwritten = _write("compare", {json: result.to_json, report: result.to_html}) | _show("compare", result)
    failed = result.failed or unwritten
    _keep_or_remove(
        result, folder, done=not (failed or result.interrupted or result.out_of_time), named=store is not None
    )
    if result.interrupted:
        raise typer.Exit(signals())
    if failed:
        raise typer.Exit(_FAILED)


def _keep_or_remove(result: Any, folder: Path | None, *, done: bool, named: bool) -> None:
    """Remove what a comparison keeps, when all is done, from the default folder; else say where it is."""
    if not done and result.kept is not None:
        what = "interrupted; " if result.interrupted else "the time is up; " if result.out_of_time else ""
        _complain("compare", f"{what}the finished trainings are kept in {folder}: add --resume to go on from them")
    elif done and not named:
        if result.kept is not None:
            result.kept.unlink(missing_ok=True)
        with suppress(OSError):  # others' results are in it
            _STORE.rmdir()


@app.command()
def replicate(
    paper: Annotated[str, typer.Argument(help="rankboost-plus, adarank, mpboost, ndcg-boost or qbrank.")],
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with the paper's data sets (docs/guides/replicate.md). Default: the bundled set."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the result as JSON; what is done so far is kept beside it meanwhile.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Draw the paper's figures into this folder, PNG and SVG.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=_MOST_THREADS, help="Processes of one thread. Default: all cores.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave what is finished beside --json, so that new claims need no training.")
    ] = False,
) -> None:
    """Run a paper's experiments again: each of its claims beside ours, and whether it holds.

    With --json, the same command goes on where it was after Ctrl-C or a crash. Where stderr is no terminal, a line
    there says every 30 seconds where things stand.

    Exit status: 0; 1 if a task failed or a file could not be written; 2 for invalid options; 130 after Ctrl-C, 143
    after SIGTERM.
    """
    kept = "" if json is None else "; the same command goes on where it was"
    with _reported("replicate", f"interrupted{kept}", lambda: kept):
        _check_outputs({"--json": json}, {"--data": _files_below(data)} if data and json and json.exists() else {})
        from boostplug.replication import replicate as run

        if figures is not None:
            from boostplug.comparison.report.drawing import require_matplotlib

            _check_folder("--figures", figures)
            _refuse_same({"--json": json, "--figures": figures})
            require_matplotlib()
        result = run(paper, data, json=json, num_processes=processes, keep=keep, progress=True)
    unwritten = _write("replicate", {figures: result.to_figures}) | _show("replicate", result)
    if unwritten or result.failed:
        raise typer.Exit(_FAILED)


@app.command()
def warmup() -> None:
    """Compile all that losses, metrics and reference rankers use, and keep it for later processes.

    For images of containers and new environments: a minute or two, once for each kind of processor, and some seconds if
    all is there. docs/guides/images.md says where it is kept, and how an image keeps it that is built elsewhere.

    Exit status: 0; 1 if it cannot be kept; 130 after Ctrl-C, 143 after SIGTERM, after which the same command goes on.
    """
    with _reported("warmup", "interrupted; the same command goes on where it was", refused=_FAILED):
        from boostplug.warm_up import warmup as run

        def show(name: str, n_compiled: int, seconds: float) -> None:
            typer.echo(f"{name}: {n_compiled} compiled, {seconds:.1f} s", err=True)

        done = run(show)
    if _show("warmup", done):
        raise typer.Exit(_FAILED)


@app.command()
def doctor(json: Annotated[Path | None, typer.Option(help="Write what was found as JSON.")] = None) -> None:
    """Check your installation: versions, a small training in each framework, threads, compiled code.

    It takes some seconds, and longer the first time. You can paste its text into a report: the home folder is shown as
    ~. docs/guides/troubleshooting.md explains what it may find.

    Exit status: 0; 1 if there is a problem, or the file could not be written; 2 for invalid options; 130 after Ctrl-C,
    143 after SIGTERM.
    """
    with _reported("doctor", "interrupted"):
        _check_outputs({"--json": json})
        from boostplug.comparison.console import progress_bar
        from boostplug.doctor import TRAININGS
        from boostplug.doctor import doctor as run

        with progress_bar(True, len(TRAININGS)) as advance:
            found = run(advance)
    unwritten = _write("doctor", {json: found.to_json}) | _show("doctor", found)
    if unwritten or found.document["problems"]:
        raise typer.Exit(_FAILED)


@contextmanager
def _reported(
    command: str, interrupted: str, hint: Callable[[], str] = str, *, refused: int = _REFUSED
) -> Iterator[Callable[[], int]]:
    """Run a command: its warnings and errors become messages, and SIGTERM ends it as Ctrl-C does.

    Parameters
    ----------
    command : str
    interrupted : str
        What is said after Ctrl-C.
    hint : callable
        What is added to the message that a process has died.
    refused : int
        The exit status of what makes no sense.

    Yields
    ------
    callable
        Returns the exit status of what has interrupted the command.
    """
    caught: list[int] = []

    def end(number: int, _frame: object) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    def status() -> int:
        return _TERMINATED if caught else _INTERRUPTED

    before = signal.signal(signal.SIGTERM, end)
    try:
        with _plain_warnings(command):
            yield status
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        _complain(command, interrupted)
        raise typer.Exit(status()) from None
    except RuntimeError as error:  # a process has died
        _complain(command, f"{error}{hint()}")
        raise typer.Exit(_FAILED) from None
    except (ValueError, OSError, ImportError) as error:
        _complain(command, str(error))
        raise typer.Exit(refused) from None
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _plain_warnings(command: str) -> Iterator[None]:
    """Show warnings as the commands' other messages."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_args, **_more: _complain(command, str(message))
        yield


def _complain(command: str, message: str) -> None:
    from rich.console import Console

    line = visible(f"boostplug {command}: {message}")
    Console(stderr=True).print(line, style="red", markup=False, highlight=False, soft_wrap=True)


def _write(command: str, files: dict[Path | None, Callable[[Path], object]]) -> bool:
    """Write results; complain about the files that cannot be written, and return whether there are any."""
    failed = False
    for path, write in files.items():
        if path is None:
            continue
        try:
            write(path)
        except OSError as error:
            failed = True
            _complain(command, f"{path} could not be written ({error.strerror or error})")
    return failed


def _split(names: str | None) -> list[str] | None:
    """Return what stands between commas, of which those within parentheses separate nothing."""
    if names is None:
        return None
    found, depth = [""], 0
    for character in names:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += character
    return [name.strip() for name in found if name.strip()]


def _check_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Iterable[Path]] = MappingProxyType({})
) -> None:
    """Refuse, before anything is trained, files that cannot or must not be written at its end; leave them as they are.

    `inputs` are the files, by option, that the command reads, and those that would be read if they were there.
    """
    paths = _refuse_same(outputs)
    read = [(option, file) for option, files in inputs.items() for file in files]
    for option, path in paths.items():
        if str(path) == "-":
            raise ValueError(f"{option}: - stands for no file here; name one (/dev/stdout, where there is one)")
        if path.is_dir():
            raise IsADirectoryError(f"{option}: {path} is a folder; name a file in it")
        reader = next((reader for reader, file in read if is_same_file(path, file)), None)
        if reader is not None:
            raise ValueError(f"{option}: {path} is one of the files of {reader}; name another file")
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"{option}: there is no folder {path.parent} for {path.name}; make it first")
        try:
            if path.exists() and not path.is_file():  # a pipe or a device: opening one acts on it
                continue
            if stream_of(path) is not None:
                raise ValueError(f"{option}: {path} is the file that the command's own output goes to; name another")
            target = path.resolve()
            new = not target.exists()
            target.open("ab").close()
            if new:
                target.unlink()
        except OSError as error:
            raise OSError(f"{option}: {path} cannot be written ({error.strerror}); name another file") from None


def _refuse_same(outputs: Mapping[str, Path | None]) -> dict[str, Path]:
    """Return the outputs that are wanted, refusing two that are one file."""
    paths = {option: path for option, path in outputs.items() if path is not None}
    for (option, path), (other, another) in combinations(paths.items(), 2):
        if is_same_file(path, another):
            raise ValueError(f"{option} and {other} name the same file, {path}; name two")
    return paths


def _files_read(options: Mapping[str, Path | None], store: Path) -> dict[str, list[Path]]:
    """Return the files that `compare` reads, by option, with those that it would read if they were there."""
    from boostplug.datasets.letor import possible_files, side_files

    files = {
        option: [path, *possible_files(path)] if option == "--data" else [path]
        for option, path in options.items()
        if path is not None
    }
    with_sides = {option: [*own, *(side for file in own for side in side_files(file))] for option, own in files.items()}
    return {**with_sides, "--store": [store, *store.glob("*.results")]}


def _files_below(folder: Path) -> list[Path]:
    """Return the files below a folder of data sets, except JSON, which `replicate` does not read."""
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json"]


def _check_folder(option: str, path: Path) -> None:
    """Refuse a folder that can be neither made nor written to."""
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{option}: {there} is a file; name a folder")
    try:
        TemporaryFile(dir=there).close()
    except OSError as error:
        raise OSError(f"{option}: {there} cannot be written to ({error.strerror}); name another folder") from None


def _check_store(folder: Path | None, *, needed: bool) -> Path | None:
    """Return where a comparison keeps what is finished; None where it cannot and nobody has asked for it."""
    try:
        _check_folder("--store", folder or _STORE)
    except OSError as error:
        if folder is not None or needed:
            raise
        _complain("compare", f"what is finished is not kept meanwhile ({error})")
        return None
    return folder or _STORE


def _names(text: str | None) -> list[str] | None:
    """Return names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _shares(text: str | None) -> str | list[float] | None:
    """Return shares that are separated by commas, or the name of a column."""
    try:
        return None if text is None else [float(share) for share in text.split(",")]
    except ValueError:
        return text


def _load(data: Path | None, train: Path | None, valid: Path | None, test: Path | None) -> tuple[list[Any], str]:
    """Return the folds that the options name, or the paths of tables, and what to call them."""
    from boostplug.comparison.inputs.data import folds_of_folder, name_of_folder
    from boostplug.data.files import is_table_file
    from boostplug.datasets import Fold, load_bundled
    from boostplug.datasets.letor import load_files

    files = {"train": train, "valid": valid, "test": test}
    given = [name for name, path in files.items() if path is not None]
    if data is not None:
        if given:
            raise ValueError(f"--data and --{given[0]} exclude each other")
        if is_table_file(data):
            return [data], data.name
        if not data.is_dir():
            remedy = "--data takes a folder, a CSV or a Parquet file; name others by --train, --valid and --test"
            what = f"--data: {data} is a file" if data.exists() else f"--data: there is no folder {data}"
            raise FileNotFoundError(f"{what}; {remedy}")
        try:
            folds = folds_of_folder(data)
        except FileNotFoundError as error:
            what = str(error).partition("; rename the file")[0]  # what follows is for Python
            raise FileNotFoundError(
                f"--data: {what}; rename the file, or name the three files by --train, --valid and --test"
            ) from None
        return [folds], name_of_folder(data)
    if not given:
        return [[load_bundled()]], "the bundled set"
    if len(given) < len(files):
        absent = " and ".join(f"--{name}" for name in files if name not in given)
        raise ValueError(f"{absent} missing: --train, --valid and --test go together")
    for name, path in files.items():
        if path is not None and path.is_dir():
            raise IsADirectoryError(f"--{name}: {path} is a folder; name a file, or give a fold's folder by --data")
        if path is not None and not path.exists():
            raise FileNotFoundError(f"--{name}: there is no file {path}; check the path")
    paths = [path for path in files.values() if path is not None]
    name = ", ".join(path.name for path in paths)
    return ([*paths], name) if any(map(is_table_file, paths)) else ([[Fold(*load_files(paths))]], name)


def _show(command: str, result: Any) -> bool:
    """Print a result: in a terminal to fit it, otherwise as wide as it needs; return whether that failed."""
    from rich.console import Console

    console = Console()
    try:
        if console.is_terminal and hasattr(result, "__rich_console__"):
            console.print(result)
        else:
            typer.echo(visible(str(result)))
        sys.stdout.flush()
    except OSError as error:
        _silence()
        if not isinstance(error, BrokenPipeError):  # who reads has read enough
            _complain(command, f"the result could not be printed ({error.strerror or error})")
            return True
    return False


def _silence() -> None:
    """Let what is still buffered for stdout go nowhere: it would fail once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
