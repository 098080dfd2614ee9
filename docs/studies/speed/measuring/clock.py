"""Clocks: calls in turns, and work in fresh processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from math import log
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import boostplug

__all__ = ["ask_process", "call_in_process", "foreseen", "growing", "in_turns", "seconds_of", "turn_by_turn"]

# Where boostplug and the studies are imported from.
_PACKAGES = [str(Path(boostplug.__file__).parents[1]), str(Path(__file__).parents[3])]
_CALL = """
import importlib, json, sys
module, function, arguments = sys.argv[1:]
print(json.dumps(getattr(importlib.import_module(module), function)(*json.loads(arguments))))
"""
_TURNS = 3
_ENOUGH = 1.0  # seconds of calls of one size
_AS_EXPECTED = 3.0  # times what was foreseen

_Result = TypeVar("_Result")


def in_turns(calls: Mapping[str, Callable[[], object]], number: int) -> dict[str, float]:
    """Return the median seconds of `number` calls or more of each, in three turns, which spread a noisy moment.

    The first call of each turn does not count. After it, the threads of the call before sleep, and caches are warm.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_TURNS):
        for name, call in calls.items():
            call()
            times[name] += [seconds_of(call) for _ in range(-(-number // _TURNS))]
    return {name: median(seconds) for name, seconds in times.items()}


def turn_by_turn(calls: Mapping[str, Callable[[], _Result]], number: int, uncounted: int) -> dict[str, list[_Result]]:
    """Return the results of `number` turns, each a call of every one, after some that do not count."""
    turns = [{name: call() for name, call in calls.items()} for _ in range(uncounted + number)]
    return {name: [turn[name] for turn in turns[uncounted:]] for name in calls}


def growing(calls: Mapping[int, Callable[[], object]], number: int, *, longest: float) -> dict[int, float]:
    """Return the median seconds of calls by size, up to the first size that would take more than `longest`.

    Long calls are made less often than `number`: once, if the call took what `foreseen` says and compiled nothing.
    """
    seconds: dict[int, float] = {}
    for n, call in sorted(calls.items()):
        expected = foreseen(seconds, n)
        if expected > longest:
            break
        first = seconds_of(call)
        again = int(_ENOUGH / first) or int(not 0.0 < first < _AS_EXPECTED * expected)
        times = [seconds_of(call) for _ in range(min(number, again))]
        seconds[n] = median(times or [first])
    return seconds


def foreseen(seconds: Mapping[int, float], n: int) -> float:
    """Return the seconds that a size will take, by the growth over the two largest that were measured; 0 for fewer."""
    if len(seconds) < 2:
        return 0.0
    (k, earlier), (m, last) = list(seconds.items())[-2:]
    exponent: float = log(last / earlier) / log(m / k)
    most: float = last * (n / m) ** exponent
    return most


def seconds_of(call: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = perf_counter()
    call()
    return perf_counter() - start


def call_in_process(function: Callable[..., Any], *arguments: str | int, **environment: str) -> Any:
    """Return what a function of a module returns in JSON's types, called by `ask_process`."""
    return ask_process(_CALL, function.__module__, function.__name__, json.dumps(arguments), **environment)


def ask_process(program: str, *arguments: object, **environment: str) -> Any:
    """Return what a Python program prints as JSON, run in a process of its own with this boostplug.

    Raises RuntimeError with the last line of its errors if it fails.
    """
    paths = [*_PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-P", "-c", program, *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)  # noqa: S603 (our own programs)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise RuntimeError(f"a process that measures ended with status {done.returncode}: {reason}")
    return json.loads(done.stdout.splitlines()[-1])
