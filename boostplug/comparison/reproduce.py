"""How a comparison is done again: the call in Python, and the command where there is one."""

from collections.abc import Iterator
from dataclasses import asdict
from shlex import quote
from typing import Any

from boostplug.comparison.cells import Runs
from boostplug.comparison.recommendation import expression
from boostplug.comparison.training import FRAMEWORKS
from boostplug.comparison.trees import Trees
from boostplug.core.naming import distinct_names
from boostplug.losses import LOSSES, Loss
from boostplug.metrics import Metric

__all__ = ["METRICS", "call", "command"]

METRICS = ("NDCG@5", "NDCG@10", "MAP", "KendallTau")
"""Those that `compare` shows by default."""


def call(runs: Runs) -> str:
    """Return the call of `compare` that does the same, the data by their paths or as ``train, valid, test``."""
    settings = runs.settings
    trees = _differing(settings.params)
    losses = _losses(runs)
    as_list = f"[{', '.join(map(expression, losses.values()))}]"
    as_mapping = "{" + ", ".join(f"{name!r}: {expression(loss)}" for name, loss in losses.items()) + "}"
    arguments = {
        "losses": as_list if distinct_names(list(losses.values())) == list(losses) else as_mapping,
        "baselines": repr(_baselines(runs)),
        "frameworks": repr(_frameworks(runs)),
        "rounds": repr(settings.rounds),
        "seeds": repr(_seeds(settings.seeds)),
        "metrics": f"[{', '.join(map(_metric, runs.metrics))}]",
        "metric": _metric(runs.metric),
        "early_stopping_rounds": repr(settings.early_stopping_rounds),
        **({"params": repr(trees)} if trees else {}),
        **({"tune": repr(settings.tune)} if settings.tune else {}),
        "num_threads": repr(settings.num_threads * settings.jobs),
        **({"jobs": repr(settings.jobs)} if settings.jobs > 1 else {}),
        **{name: repr(column) for name, column in runs.origin.columns.items()},
    }
    return f"bp.compare({', '.join([*_data(runs), *(f'{name}={value}' for name, value in arguments.items())])})"


def command(runs: Runs) -> str | None:
    """Return the command that does the same; None where it takes no such data, losses, metrics or settings."""
    settings, paths = runs.settings, runs.origin.paths
    trees, losses = _differing(settings.params), _losses(runs)
    if (
        paths is None
        or not {"num_leaves", "learning_rate"}.issuperset(trees)
        or not isinstance(_seeds(settings.seeds), int)
        or list(runs.metrics) != list(dict.fromkeys([*map(Metric.parse, METRICS), runs.metric]))
        or not _is_read_back(runs.metric)
        or list(losses) != distinct_names(list(losses.values()))
        or not all(map(_is_spelt, losses.values()))
        or not losses
        or not (names := _baselines(runs))
    ):
        return None
    known = [name for kind in FRAMEWORKS.values() for name in kind.baselines]
    everything = list(dict.fromkeys(loss for variants in LOSSES.values() for loss in variants))
    options = {
        **paths,
        **({} if list(losses.values()) == everything else {"losses": ", ".join(map(_spelt, losses.values()))}),
        **({} if names == known else {"baselines": ",".join(names)}),
        "frameworks": ",".join(_frameworks(runs)),
        "rounds": settings.rounds,
        "early-stopping": settings.early_stopping_rounds or 0,
        "seeds": len(settings.seeds),
        "metric": runs.metric.name,
        **({"leaves": trees["num_leaves"]} if "num_leaves" in trees else {}),
        **({"learning-rate": trees["learning_rate"]} if "learning_rate" in trees else {}),
        **({"tune": settings.tune} if settings.tune else {}),
        "threads": settings.num_threads * settings.jobs,
        **({"jobs": settings.jobs} if settings.jobs > 1 else {}),
    }
    return " ".join(["boostplug compare", *(f"--{name} {_quoted(str(value))}" for name, value in options.items())])


def _data(runs: Runs) -> Iterator[str]:
    """Yield the arguments that the data are."""
    paths = runs.origin.paths
    if paths is not None:
        yield from map(repr, paths.values()) if paths else ["bp.datasets.load_bundled()"]
    else:
        yield from ["train", "valid", "test"] if len(runs.tests) == 1 else ["folds"]


def _losses(runs: Runs) -> dict[str, Loss]:
    return {method.name: method.objective for method in runs.methods if isinstance(method.objective, Loss)}


def _baselines(runs: Runs) -> list[str]:
    return [method.objective for method in runs.methods if isinstance(method.objective, str)]


def _frameworks(runs: Runs) -> list[str]:
    return list(dict.fromkeys(method.framework for method in runs.methods))


def _seeds(seeds: list[int]) -> int | list[int]:
    return len(seeds) if seeds == list(range(len(seeds))) else list(seeds)


def _differing(params: dict[str, Any]) -> dict[str, Any]:
    """Return those of the trees' parameters that are not the defaults."""
    default = asdict(Trees())
    return {name: value for name, value in params.items() if value != default[name]}


def _metric(metric: Metric) -> str:
    return repr(metric.name) if _is_read_back(metric) else expression(metric)


def _is_read_back(metric: Metric) -> bool:
    try:
        return bool(Metric.parse(metric.name) == metric)
    except ValueError:
        return False


def _spelt(loss: Loss) -> str:
    return expression(loss, place="")


def _is_spelt(loss: Loss) -> bool:
    """Return whether the command reads a loss from how it is spelt."""
    try:
        return Loss.parse(_spelt(loss)) == (loss,)
    except ValueError:
        return False


def _quoted(text: str) -> str:
    """Return a text as a shell takes it, in double quotes where it holds single ones."""
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else quote(text)
