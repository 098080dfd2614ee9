"""Writes the reference pages from the registries: `python docs/generate.py`."""

import inspect
import sys
from pathlib import Path
from typing import Any

from boostplug.datasets import RankingData
from boostplug.losses import LOSSES, Loss, PairwiseLoss
from boostplug.metrics import METRICS, Metric
from boostplug.model.ensemble import Ensemble
from boostplug.pairs import Pairs
from boostplug.plug.preferences import set_pairs
from boostplug.queries import Queries
from boostplug.rankers import RANKERS, ReferenceRanker
from boostplug.selection.search import suggest
from boostplug.values import Range

REFERENCE = Path(__file__).parent / "reference"
SET_PAIRS = "set_pairs(dataset, pairs, *, labelled=None)"
SUGGEST = "suggest(trial, loss, *, prefix='objective__')"
_NOTE = "<!-- Made by docs/generate.py from the registries; do not edit. -->\n\n"


def entry(thing: Any, call: str | None = None) -> str:
    """Return a heading with the signature, and the docstring."""
    name = call or f"{thing.__name__}{inspect.signature(thing)}"
    return f"### `{name}`\n\n```text\n{inspect.getdoc(thing)}\n```\n\n"


def signature_of(kind: type) -> str:
    """Return the class with its parameters and defaults, without types."""
    parameters = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in inspect.signature(kind).parameters.values()
    ]
    return f"{kind.__name__}({', '.join(parameters)})"


def losses() -> str:
    """Return the page of losses."""
    table = ["| loss | Hessian kind | shift-invariant | couples queries |", "|---|---|---|---|"]
    for variants in LOSSES.values():
        for loss in variants:
            shift = "yes" if loss.shift_invariant else "no"
            couples = "yes" if loss.couples_queries else "no"
            table.append(f"| `{loss!r}` | {loss.hessian_kind} | {shift} | {couples} |")
    classes = dict.fromkeys(type(loss) for variants in LOSSES.values() for loss in variants)
    distances = dict.fromkeys(
        type(loss.distance) for variants in LOSSES.values() for loss in variants if hasattr(loss, "distance")
    )
    body = "".join(entry(kind, signature_of(kind)) for kind in (*classes, PairwiseLoss))
    body += entry(Loss, "Loss, the base of losses of your own")
    extra = "".join(entry(kind, signature_of(kind)) for kind in distances)
    search = f"## Searching\n\n{_spaces()}{entry(suggest, SUGGEST)}"
    return f"# Losses\n\n{_NOTE}" + "\n".join(table) + f"\n\n{body}## Distances\n\n{extra}{search}"


def _spaces() -> str:
    """Return a table of what the losses' parameters are drawn from, of all variants of a loss together."""
    rows = ["| loss | parameter | drawn from |", "|---|---|---|"]
    for variants in LOSSES.values():
        space = {name: drawn for loss in variants for name, drawn in loss.search_space.items()}
        rows += [f"| `{type(variants[0]).__name__}` | `{name}` | {_words(drawn)} |" for name, drawn in space.items()]
    return "\n".join(rows) + "\n\n"


def _words(space: Range | tuple[Any, ...]) -> str:
    if not isinstance(space, Range):
        return ", ".join(f"`{choice!r}`" for choice in space)
    return f"{space.low:g} to {space.high:g}" + (", by its logarithm" if space.log else "")


def metrics() -> str:
    """Return the page of metrics."""
    table = ["| metric | name in the frameworks' logs | higher is better |", "|---|---|---|"]
    for kind in METRICS.values():
        metric = kind()
        better = "yes" if metric.greater_is_better else "no"
        table.append(f"| `{signature_of(kind)}` | {metric.name} | {better} |")
    body = entry(Metric, "Metric, the base of all and of metrics of your own")
    body += "".join(entry(kind, signature_of(kind)) for kind in METRICS.values())
    return f"# Metrics\n\n{_NOTE}" + "\n".join(table) + f"\n\n{body}"


def data() -> str:
    """Return the page of `Queries`, pairs and whole data sets."""
    call = "Queries(labels, *, group=None, qid=None, weight=None, pairs=None, labelled=None)"
    pairs = entry(Pairs, "Pairs(winner, loser, *, weight=None, margin=None)")
    whole = entry(RankingData, signature_of(RankingData))
    whole += entry(RankingData.from_frame, "RankingData.from_frame(frame, *, label, qid='qid', weight=None)")
    return f"# Queries and pairs\n\n{_NOTE}{entry(Queries, call)}{pairs}{entry(set_pairs, SET_PAIRS)}{whole}"


def rankers() -> str:
    """Return the page of the reference rankers and their model."""
    body = "".join(entry(type(settings[0]), signature_of(type(settings[0]))) for settings in RANKERS.values())
    methods = "".join(
        entry(function, f"{name}{_plain_signature(function)}")
        for name, function in vars(ReferenceRanker).items()
        if inspect.isfunction(function) and not name.startswith("_")
    )
    model = entry(Ensemble, "Ensemble(rounds, *, n_features, feature_names=None)")
    for name in ("predict", "staged_predict", "first", "save", "load", "to_lightgbm", "to_xgboost"):
        function = inspect.getattr_static(Ensemble, name)
        function = getattr(function, "__func__", function)
        model += entry(function, f"Ensemble.{name}{_plain_signature(function)}")
    return f"# Reference rankers\n\n{_NOTE}{body}## Methods of all of them\n\n{methods}## The model\n\n{model}"


def _plain_signature(function: Any) -> str:
    """Return the parameters and defaults of a method, without self and types."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()][1:]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


PAGES = {"losses.md": losses, "metrics.md": metrics, "queries.md": data, "rankers.md": rankers}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page().rstrip("\n") + "\n")
        print(f"wrote reference/{name}", file=sys.stderr)


if __name__ == "__main__":
    main()
