"""The command `boostplug`; what it computes with is imported inside the commands."""

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["app", "main"]

_FAILED, _INTERRUPTED = 1, 130  # exit statuses

app = typer.Typer(
    help="Learning-to-rank losses in LightGBM and XGBoost.",
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
        from boostplug import __version__

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

    Exit status: 0; 1 if a run failed (the table shows the others); 2 for what makes no sense; 130 after Ctrl-C.
    """
    from rich.console import Console

    errors = Console(stderr=True)
    for path in (report, json):
        if path is not None and not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {path.parent} to write {path.name} in")
    try:
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
        errors.print(f"boostplug compare: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    _show(result)
    if json is not None:
        result.to_json(json)
    if report is not None:
        result.to_html(report)
    if result.interrupted:
        raise typer.Exit(_INTERRUPTED)
    if result.failed:
        raise typer.Exit(_FAILED)


def _split(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _load(data: Path | None, train: Path | None, valid: Path | None, test: Path | None) -> tuple[list[Any], str]:
    """Return the folds that the options name, and what to call them."""
    from boostplug.datasets import load_bundled, load_fold, load_folds

    files = {"train": train, "valid": valid, "test": test}
    given = [name for name, path in files.items() if path is not None]
    if data is not None:
        if given:
            raise ValueError(f"--data and --{given[0]} exclude each other")
        if not data.is_dir():
            raise FileNotFoundError(f"there is no folder {data}; --data takes one fold, or a folder of Fold*")
        folds = load_folds(data) if any(path.is_dir() for path in data.glob("Fold*")) else [load_fold(data)]
        return folds, "/".join(
            data.resolve().parts[-2:] if data.resolve().name.startswith("Fold") else [data.resolve().name]
        )
    if not given:
        return [load_bundled()], "the bundled set"
    if len(given) < len(files):
        absent = " and ".join(f"--{name}" for name in files if name not in given)
        raise ValueError(f"{absent} missing: --train, --valid and --test go together")
    paths = [path for path in files.values() if path is not None]
    return [_load_together(paths)], ", ".join(path.name for path in paths)


def _load_together(paths: list[Path]) -> tuple[Any, ...]:
    """Return three files with one numbering of features, from 0 if any of them uses the feature 0, and one width."""
    from boostplug.datasets import load_letor

    try:
        parts, zero_based = [load_letor(path, zero_based=False) for path in paths], False
    except ValueError:
        parts, zero_based = [load_letor(path, zero_based=True) for path in paths], True
    width = max(part.n_features for part in parts)  # a file whose last features are all 0 does not name them
    return tuple(
        part if part.n_features == width else load_letor(path, n_features=width, zero_based=zero_based)
        for part, path in zip(parts, paths, strict=True)
    )


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
