"""Benchmark clicks: a call of `Unbiased` beside its base's, and pairs from a large log."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boostplug.data.pairs import Pairs
from boostplug.data.queries import Queries
from boostplug.losses import LambdaRank, Loss, MPBoost, QBRank, RankNet, Unbiased
from studies.speed.benchmark import Benchmark, Column, Row, Setting
from studies.speed.measuring.clock import in_turns, seconds_of
from studies.speed.measuring.data import scores_of

__all__ = ["Clicks"]

_ROWS, _SIZES = 1_000_000, (10, 40, 120)
_IMPRESSIONS, _PAGE, _SHOWN_AGAIN = 10_000_000, 10, 10
_CALLS = 9
_MOST = 1.6  # times the base
_BASES: tuple[Loss, ...] = (RankNet(), QBRank(), MPBoost(), LambdaRank())
_CALL, _PAIRS = "A call on pages of {}", "Pairs from a log"

_Method = Callable[..., Unbiased]


class Clicks(Benchmark):
    """A call of `Unbiased` around several losses beside its base's, and `Pairs.from_clicks`.

    A page has one document at each position, scores are normal, and one row in ten to twenty has a click. *Merged*
    passes `row=`: each document is shown on ten pages, and all clicks on two documents become one pair.
    """

    name = "clicks"
    title = "learning from clicks: a call of Unbiased, pairs from a log"
    columns = (
        Column("rows", "rows", "given"),
        Column("milliseconds", "ms"),
        Column("share", "of the base's", "ratio", 2),
        Column("seconds", "s", digits=2),
        Column("pairs", "pairs", "given"),
    )

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._calls = setting.count(_CALLS, 3)
        self._log = _log(setting.count(_IMPRESSIONS // _PAGE, 20))

    def run(self) -> Iterator[Row]:
        """Measure all of it once."""
        for size in _SIZES:
            self.setting.say(f"pages of {size}")
            yield from self._of_calls(size)
        self.setting.say("pairs from clicks")
        yield from self._of_pairs()

    def _of_calls(self, size: int) -> Iterator[Row]:
        pages = _pages(self.setting.count(_ROWS // size, 10), size)
        scores = scores_of(pages)
        for base in _BASES:
            losses = {base.name: base} | {f"{base.name}, {name}": made(base=base) for name, made in _methods(size)}
            seconds = in_turns(
                {name: partial(loss.gradient_hessian, scores, pages) for name, loss in losses.items()}, self._calls
            )
            for name, taken in seconds.items():
                values = {"rows": pages.n_rows, "milliseconds": 1e3 * taken}
                if name == base.name:
                    yield Row(_CALL.format(size), name, values)
                else:
                    values["share"] = taken / seconds[base.name]
                    yield Row(_CALL.format(size), name, values, {"share": _MOST})

    def _of_pairs(self) -> Iterator[Row]:
        log = self._log
        documents = np.arange(len(log["clicked"])) % (len(log["clicked"]) // _SHOWN_AGAIN)
        for rule in ("skip_above", "skip_next", "all_unclicked"):
            for name, more in ((rule, {}), (f"{rule}, merged", {"row": documents})):
                found: list[Pairs] = []
                call = partial(_made_into, found, rule=rule, **log, **more)
                taken = seconds_of(call)
                yield Row(_PAIRS, name, {"rows": len(documents), "seconds": taken, "pairs": len(found[0].winner)})


def _made_into(found: list[Pairs], **arguments: Any) -> None:
    found.append(Pairs.from_clicks(**arguments))


def _methods(size: int) -> Iterator[tuple[str, _Method]]:
    """Yield the methods, by name."""
    propensity = 1.0 / np.arange(1.0, size + 1)
    yield "unbiased_lambdamart", partial(Unbiased, method="unbiased_lambdamart")
    yield "additive", partial(Unbiased, method="additive")
    yield "ips", partial(Unbiased, method="ips", propensity=propensity)


def _pages(n_pages: int, size: int) -> Queries:
    """Return pages with clicks, of which there are fewer further down."""
    rng = np.random.default_rng(0)
    place = np.tile(np.arange(1, size + 1), n_pages)
    relevance = 0.1 + 0.6 / (1.0 + np.exp(-rng.normal(size=len(place))))
    clicked = (rng.random(len(place)) < relevance / place).astype(np.float64)
    return Queries(clicked, group=np.full(n_pages, size), position=place)


def _log(n_pages: int) -> Mapping[str, NDArray[Any]]:
    """Return what `Pairs.from_clicks` takes."""
    pages = _pages(n_pages, _PAGE)
    assert pages.position is not None
    return {"clicked": pages.labels, "group": np.full(n_pages, _PAGE), "position": pages.position}
