"""The command `boostplug`; what it computes with is imported inside the commands."""

import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from boostplug.core.figures import check_suffix, require_matplotlib
from boostplug.core.files import check_replaceable, is_same_file, write_file
from boostplug.core.text import visible
from boostplug.core.version import __version__

_FUNCTIONS = {"compare": "boostplug.comparison.compare", "export": "boostplug.model.export"}  # by the command's name
_FAILED, _REFUSED, _INTERRUPTED = 1, 2, 130  # exit statuses
# How files begin, by the option that names one, or by their suffix.
_BEGINNINGS = {"--json": b'{"schema": "boostplug', "--report": b"<!doctype html>", "--model": b"tree\nversion"}
_BEGINNINGS[".png"] = b"\x89PNG\r\n\x1a\n\0\0\0\r"
_BEGINNINGS[".svg"] = b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE svg'


def _input(text: str) -> Any:
    return typer.Option(exists=True, dir_okay=False, metavar="FILE", help=text)


def _output(text: str) -> Any:
    return typer.Option(dir_okay=False, writable=True, metavar="FILE", help=text)


class _Commands(TyperGroup):
    """The commands; only the one that is run has the options of its function, whose import takes a second."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, full_command(name) if name in _FUNCTIONS else command, rest


app = typer.Typer(
    cls=_Commands,
    help="Learning-to-rank losses in LightGBM and XGBoost, and reference rankers.\n\n"
    "Start with 'boostplug compare', which compares our losses with lambdarank and rank:ndcg on a small bundled set. "
    "'boostplug doctor' checks your installation.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line."""
    # LightGBM's threads otherwise wait in a busy loop: beside other busy processes a training then takes many times as
    # long. It counts for libraries that this process, and those that it starts, load from now on.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a stream of Windows may lack Greek letters
    app()


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


def full_command(name: str) -> Any:
    """Return a command of `_FUNCTIONS` with an option for each parameter of its function."""
    from boostplug.cli.options import with_options

    function = getattr(import_module(_FUNCTIONS[name]), name)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name)(with_options(globals()[name], function, "data", "progress", "X"))
    return typer.main.get_command(single)


@app.command()
def compare(
    data: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            metavar="PATH",
            help="A folder: one fold (train, vali and test file), or Fold*. Or one CSV, Parquet or LETOR file, or a "
            "folder of Parquet files, split by query. Default: the bundled set.",
        ),
    ] = None,
    train: Annotated[Path | None, _input("Training file, LETOR, CSV or Parquet; with --valid and --test.")] = None,
    valid: Annotated[Path | None, _input("Validation file.")] = None,
    test: Annotated[Path | None, _input("Test file.")] = None,
    report: Annotated[Path | None, _output("Write an HTML page to send.")] = None,
    picture: Annotated[
        Path | None, _output("Write the page's first screen as a picture: FILE.svg or FILE.png.")
    ] = None,
    json: Annotated[Path | None, _output("Write the result as JSON.")] = None,
    model: Annotated[Path | None, _output("Write the recommended model: LightGBM's text, or XGBoost's JSON.")] = None,
    **arguments: Any,
) -> None:
    """Find out which loss ranks best on your data, beside the built-in objectives.

    boostplug compare --data rows.csv --label grade --qid query --report report.html

    boostplug compare --data FOLDER --losses "CRR(), QBRank(preference_weight=0.3), my_losses:MyLoss"

    FOLDER holds LETOR files, such as train.txt, vali.txt and test.txt. --report writes an HTML page to send. The other
    options are the parameters of boostplug.compare: A,B is a list, 'none' is None, and module:name is a loss of your
    own in module.py. Progress goes to stderr. A file is replaced only by one of its kind: a page, a picture, a
    result, a model.

    Exit status: 0; 1 if a run failed or a file could not be written, as --model if a column is recommended; 2 for
    invalid options; 130 after Ctrl-C or SIGTERM.
    """
    with _reported("compare"):
        from boostplug.comparison.arguments import as_store

        inputs = {"--data": data, "--train": train, "--valid": valid, "--test": test}
        inputs["--store"] = as_store(arguments["store"], resume=False)
        _check_outputs({"--json": json, "--report": report, "--picture": picture, "--model": model}, inputs)
        if report is not None:
            from boostplug.comparison.report.page import template

            template()  # an error before any training if Jinja2 is missing
        if picture is not None:
            check_suffix(picture, "--picture")
            require_matplotlib()
        files = [path for path in (train, valid, test) if path is not None]
        if len(files) not in (0, 3) or (files and data is not None):
            raise ValueError("--train, --valid and --test go together, without --data; pass all three, or only --data")
        from boostplug.cli.models import model_content
        from boostplug.comparison.compare import compare as run
        from boostplug.datasets import load_bundled

        parts: list[Any] = [*files] or [data or load_bundled()]
        if isinstance(arguments["losses"], (str, tuple)):
            arguments["losses"] = _losses(arguments["losses"])
        name = None if data else ", ".join(path.name for path in files) or "the bundled set"
        result = run(*parts, **arguments, data=name, progress=True)
        result.command = shlex.join(["boostplug", *sys.argv[1:]])
        if not (files or data):
            result.outcomes.data.reading = "train, valid, test = bp.datasets.load_bundled()\n"

        def save(path: Path) -> None:
            try:
                if (result.document["recommendation"] or {}).get("reasons"):
                    raise ValueError("the first sentence says why not to rely on this yet")  # noqa: TRY301 (as below)
                write_file(path, model_content(result.model, path))
            except ValueError as error:  # a column is recommended, or the comparison is doubtful
                check_replaceable(path, _BEGINNINGS["--model"])
                if path.is_file() and not result.interrupted:
                    path.resolve().unlink()  # of an earlier run
                raise OSError(f"{error}{'' if result.interrupted else '; no file is left there'}") from None

        status = _INTERRUPTED if result.interrupted else _FAILED * result.failed
        outputs = {json: result.to_json, report: result.to_html, picture: result.plot, model: save}
        _deliver("compare", result, outputs, status)


def _losses(given: str | tuple[str, ...]) -> str | list[Any]:
    """Return losses for `boostplug.compare`: names, and module:name as the loss itself."""
    from boostplug.cli.own_losses import own_loss

    if given == "all":
        return given
    names = [given] if isinstance(given, str) else given
    return [own_loss("--losses", name) if ":" in name else name for name in names]


@app.command()
def export(
    model: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Model file of LightGBM, XGBoost or Ensemble.save.")
    ],
    to: Annotated[str, typer.Option()],
    output: Annotated[Path, _output("File to write; of an xgboost.XGBRanker UBJSON if it ends in .ubj, else JSON.")],
    **arguments: Any,
) -> None:
    """Write a model as a search engine takes it; docs/guides/search_engines.md has the requests that upload it.

    boostplug export model.txt --to solr --output model.json

    Exit status: 0; 1 if the file could not be written; 2 for invalid options, and models that the engine cannot hold.
    """
    with _reported("export"):
        from boostplug.cli.models import model_content, read_model
        from boostplug.model.export import export as run

        _check_outputs({"--output": output}, {"MODEL": model})
        found = run(read_model(model), to, **arguments)
        content = model_content(found, output)
        _deliver("export", f"{to}: {output}", {output: lambda path: write_file(path, content)})


@app.command()
def warmup() -> None:
    """Compile all that losses, metrics and reference rankers use, and keep it for later processes.

    For images of containers and new environments: a minute or two, once for each kind of processor, and some seconds if
    all is there. docs/guides/images.md says where it is kept, and how an image keeps it that is built elsewhere.

    Exit status: 0; 1 if it cannot be kept; 130 after Ctrl-C or SIGTERM, after which the same command goes on.
    """
    with _reported("warmup", refused=_FAILED):
        warnings.filterwarnings("error", "compiled code cannot be kept")
        from boostplug.rankers.warm_up import warmup as run

        run(lambda name, seconds: typer.echo(f"{name}: {seconds:.1f} s", err=True))


@app.command()
def doctor() -> None:
    """Check your installation: versions, a small training in each framework, threads, compiled code.

    You can paste its text into a report. docs/guides/troubleshooting.md explains what it may find.

    Exit status: 0; 1 if there is a problem.
    """
    with _reported("doctor"):
        from boostplug.cli.doctor import doctor as run

        findings, problems = run()
        text = "\n".join([*findings, *(f"Problem: {problem}" for problem in problems or ["none"])])
        _deliver("doctor", text, {}, _FAILED * bool(problems))


@contextmanager
def _reported(command: str, *, refused: int = _REFUSED) -> Iterator[None]:
    """Run a command: its warnings and errors become messages, and SIGTERM ends it as Ctrl-C does.

    Parameters
    ----------
    command : str
    refused : int
        The exit status after invalid input.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_args, **_more: _complain(command, message)
            yield
    except KeyboardInterrupt:
        _complain(command, "interrupted")
        raise typer.Exit(_INTERRUPTED) from None
    except typer.Exit:  # a RuntimeError too
        raise
    except (RuntimeError, ValueError, OSError, ImportError, UserWarning) as error:  # RuntimeError: a process has died
        _complain(command, error)
        raise typer.Exit(_FAILED if isinstance(error, RuntimeError) else refused) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _complain(command: str, message: object) -> None:
    typer.echo(visible(f"boostplug {command}: {message}"), err=True)


def _deliver(command: str, result: Any, files: Mapping[Path | None, Callable[[Path], object]], status: int = 0) -> None:
    """Write files, then print the result, in a terminal to fit it; exit with `status`, or 1 if something failed."""
    from rich.console import Console

    for path, write in files.items():
        try:
            if path is not None:
                write(path)
        except OSError as error:
            _complain(command, f"{path} could not be written ({error.strerror or error})")
            status = status or _FAILED
    console = Console()
    try:
        if console.is_terminal and hasattr(result, "__rich_console__"):
            console.print(result)
        else:
            typer.echo(visible(str(result)))
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes the rest when it ends, which would fail again
        if not isinstance(error, BrokenPipeError):  # which a reader such as head leaves when it has read enough
            _complain(command, f"the result could not be printed ({error.strerror})")
            status = status or _FAILED
    if status:
        raise typer.Exit(status)


def _check_outputs(outputs: dict[str, Path | None], taken: dict[str, Path | None]) -> None:
    """Refuse outputs, before anything is trained, that replace an input, each other or a file of another kind.

    Parameters
    ----------
    outputs, taken : dict
        Files by the options that name them; `taken` are those that stay.
    """
    for option, path in outputs.items():
        if path is None or (path.exists() and not path.is_file()):  # a pipe or a device
            continue
        if not os.access(path.resolve().parent, os.W_OK):
            raise ValueError(f"{option}: no folder {path.parent} can be written to; make it, or name a file elsewhere")
        for other, used in taken.items():
            if used is not None and is_same_file(path, used):
                raise ValueError(f"{option}: {path} is the file of {other} too; name another file")
        if beginning := _BEGINNINGS.get(option) or _BEGINNINGS.get(path.suffix):
            check_replaceable(path, beginning, option)
        taken = {**taken, option: path}
