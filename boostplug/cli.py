"""The command `boostplug`; what it computes with is imported inside the commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from boostplug.version import __version__

__all__ = ["app", "main"]

_FAILED, _INTERRUPTED = 1, 130  # exit statuses

app = typer.Typer(
    help="Learning-to-rank losses in LightGBM and XGBoost, and reference rankers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line."""
    app()


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"boostplug {__version__}")
        raise typer.Exit


@app.callback()
def _command(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Learning-to-rank losses in LightGBM and XGBoost."""


@app.command()
def compare(
    data: Annotated[
        Path | None,
        typer.Option(help="One fold (train, vali and test file), or a folder of Fold*. Default: the bundled set."),
    ] = None,
    train: Annotated[Path | None, typer.Option(help="Training file of LETOR lines; with --valid and --test.")] = None,
    valid: Annotated[Path | None, typer.Option(help="Validation file.")] = None,
    test: Annotated[Path | None, typer.Option(help="Test file.")] = None,
    losses: Annotated[str | None, typer.Option(help="Names, separated by commas. Default: all losses.")] = None,
    baselines: Annotated[str | None, typer.Option(help="Names, separated by commas. Default: all built-ins.")] = None,
    frameworks: Annotated[
        str | None, typer.Option(help="lightgbm,xgboost, or one of them. Default: those that are installed.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Boosting rounds at most.")] = 100,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 3,
    metric: Annotated[
        str, typer.Option(help="Stops training early; the difference and its p-value are about it.")
    ] = "NDCG@10",
    early_stopping: Annotated[
        int, typer.Option(min=0, help="Rounds without a better validation value before training stops; 0: never.")
    ] = 30,
    leaves: Annotated[int | None, typer.Option(min=2, help="Leaves of a tree.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    tune: Annotated[
        int, typer.Option(min=0, help="Settings tried per method on the validation part before its runs (optuna).")
    ] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: OMP_NUM_THREADS, or all cores.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the table as an HTML page.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result as JSON.")] = None,
) -> None:
    """Compare our losses with the frameworks' built-in objectives, in one table.

    Exit status: 0; 1 if a run failed (the table shows the others) or a file could not be written; 2 for what makes no
    sense; 130 after Ctrl-C.
    """
    try:
        _check_outputs({"--json": json, "--report": report})
        from boostplug.experiments.compare import compare as run

        folds, name = _load(data, train, valid, test)
        params = {"num_leaves": leaves, "learning_rate": learning_rate}
        result = run(
            folds,
            losses=_split(losses),
            baselines=_split(baselines),
            frameworks=_split(frameworks),
            rounds=rounds,
            seeds=seeds,
            metric=metric,
            early_stopping_rounds=early_stopping or None,
            params={key: value for key, value in params.items() if value is not None},
            tune=tune,
            num_threads=threads,
            data=name,
        )
    except (ValueError, OSError, ImportError) as error:
        _complain("compare", str(error))
        raise typer.Exit(2) from None
    unwritten = _write("compare", {json: result.to_json, report: result.to_html})
    _show(result)
    if result.interrupted:
        raise typer.Exit(_INTERRUPTED)
    if result.failed or unwritten:
        raise typer.Exit(_FAILED)


@app.command()
def bench(
    what: Annotated[str, typer.Argument(help="rankers: the reference rankers on shapes of known data sets.")],
    scale: Annotated[float, typer.Option(min=0.0, help="Rounds relative to the benchmark's own.")] = 1.0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads. Default: OMP_NUM_THREADS, or all cores.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the result as JSON.")] = None,
) -> None:
    """Measure what things cost on this machine: seconds, peak memory, growth.

    Exit status: 0; 1 if a file could not be written; 2 for what makes no sense.
    """
    try:
        _check_outputs({"--json": json})
        from boostplug.experiments.bench import bench as run
        from boostplug.threads import threads_of_framework

        with threads_of_framework(threads):
            result = run(what, scale=scale)
    except (ValueError, OSError, ImportError) as error:
        _complain("bench", str(error))
        raise typer.Exit(2) from None
    typer.echo(str(result))
    if _write("bench", {json: result.to_json}):
        raise typer.Exit(_FAILED)


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
    processes: Annotated[int | None, typer.Option(min=1, help="Processes of one thread. Default: all cores.")] = None,
) -> None:
    """Run a paper's experiments again: each of its claims beside ours, and whether it holds.

    With --json, the same command goes on where it was after Ctrl-C or a crash.

    Exit status: 0; 1 if a task failed or a file could not be written; 2 for what makes no sense; 130 after Ctrl-C.
    """
    try:
        _check_outputs({"--json": json})
        if figures is not None and figures.exists() and not figures.is_dir():
            raise NotADirectoryError(f"--figures: {figures} is a file; name a folder")
        from boostplug.replicate import replicate as run

        result = run(paper, data, json=json, num_processes=processes)
    except KeyboardInterrupt:
        kept = "" if json is None else "; the same command goes on where it was"
        _complain("replicate", f"interrupted{kept}")
        raise typer.Exit(_INTERRUPTED) from None
    except (ValueError, OSError, ImportError) as error:
        _complain("replicate", str(error))
        raise typer.Exit(2) from None
    _show(result)
    if _write("replicate", {figures: result.to_figures}) or result.failed:
        raise typer.Exit(_FAILED)


def _complain(command: str, message: str) -> None:
    from rich.console import Console

    line = f"boostplug {command}: {message}"
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
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _check_outputs(outputs: dict[str, Path | None]) -> None:
    """Refuse, before anything is trained, files that cannot be written at its end; leave them as they are."""
    paths = {option: path for option, path in outputs.items() if path is not None}
    if len({path.resolve() for path in paths.values()}) < len(paths):
        raise ValueError(f"{' and '.join(paths)} name the same file, {next(iter(paths.values()))}; name two")
    for option, path in paths.items():
        if path.is_dir():
            raise IsADirectoryError(f"{option}: {path} is a folder; name a file in it")
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"{option}: there is no folder {path.parent} for {path.name}; make it first")
        target = path.resolve()
        try:
            if target.exists() and not target.is_file():  # a pipe or a device: opening one acts on it
                continue
            new = not target.exists()
            target.open("ab").close()
            if new:
                target.unlink()
        except OSError as error:
            raise OSError(f"{option}: {path} cannot be written ({error.strerror}); name another file") from None


def _load(data: Path | None, train: Path | None, valid: Path | None, test: Path | None) -> tuple[list[Any], str]:
    """Return the folds that the options name, and what to call them."""
    from boostplug.datasets import Fold, load_bundled, load_fold, load_folds
    from boostplug.datasets.letor import load_files

    files = {"train": train, "valid": valid, "test": test}
    given = [name for name, path in files.items() if path is not None]
    if data is not None:
        if given:
            raise ValueError(f"--data and --{given[0]} exclude each other")
        if not data.is_dir():
            remedy = "--data takes one fold, or a folder of Fold*; name files by --train, --valid and --test"
            what = f"--data: {data} is a file" if data.exists() else f"--data: there is no folder {data}"
            raise FileNotFoundError(f"{what}; {remedy}")
        try:
            folds = load_folds(data) if any(path.is_dir() for path in data.glob("Fold*")) else [load_fold(data)]
        except FileNotFoundError as error:
            what = str(error).partition("; rename the file")[0]  # what follows is for Python
            raise FileNotFoundError(
                f"--data: {what}; rename the file, or name the three files by --train, --valid and --test"
            ) from None
        return folds, "/".join(
            data.resolve().parts[-2:] if data.resolve().name.startswith("Fold") else [data.resolve().name]
        )
    if not given:
        return [load_bundled()], "the bundled set"
    if len(given) < len(files):
        absent = " and ".join(f"--{name}" for name in files if name not in given)
        raise ValueError(f"{absent} missing: --train, --valid and --test go together")
    for name, path in files.items():
        if path is not None and path.is_dir():
            raise IsADirectoryError(f"--{name}: {path} is a folder; name a file, or give a fold's folder by --data")
        if path is not None and not path.exists():
            raise FileNotFoundError(f"--{name}: there is no file {path}; check the path")
    paths = [path for path in files.values() if path is not None]
    return [Fold(*load_files(paths))], ", ".join(path.name for path in paths)


def _show(result: Any) -> None:
    """Print the table: in a terminal to fit it, otherwise as wide as it needs."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        console.print(result)
    else:
        typer.echo(str(result))


if __name__ == "__main__":
    main()
