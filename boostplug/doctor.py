"""Checks of `boostplug doctor`: installed libraries, whether they work, and the remedy if not.

Libraries are tried in processes of their own, at once: one that ends its process, hangs or prints spoils no more than
its own line. This module itself imports none of them, so that it works where NumPy does not.
"""

import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from shutil import which
from typing import Any

from boostplug.core.extras import LIBRARIES, install, is_installed, remedy_of
from boostplug.core.files import write_file
from boostplug.core.text import visible
from boostplug.version import __version__

__all__ = ["N_TRIALS", "Diagnosis", "doctor", "run_trial"]

SCHEMA = "boostplug.doctor/1"

_CORE = ("numpy", "scipy", "numba", "sklearn", "typer", "rich")
_FRAMEWORKS = ("lightgbm", "xgboost")
_OTHERS = ("pandas", "polars", "pyarrow", "matplotlib", "optuna", "dask", "distributed")
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # what a module is installed as, where that is not its name
_PACKAGES = str(Path(__file__).parents[1])  # where this boostplug is imported from
N_TRIALS = 3 + len(_FRAMEWORKS)
"""Trials of `doctor`."""

_TIMEOUT = 120.0  # seconds: compiling takes some on a slow machine, and waits for another process that compiles
_GPU_TIMEOUT = 10.0
_MARK = "boostplug-doctor:"  # before what a process answers, among what libraries print
_PROGRAM = "import sys; from boostplug.doctor import run_trial; run_trial(*sys.argv[1:])"
_FEATURES = ("avx2", "avx512f", "amx-bf16", "neon", "sve")  # of processors, as LLVM calls them
_CONFLICTING = {"libomp", "libiomp"}  # OpenMP runtimes that end or hang a process that holds both


class Diagnosis:
    """Result of the checks: prints as text to paste into a report, and writes JSON.

    Attributes
    ----------
    document : dict
        All of it in JSON's types; the user's home stands in it as ``~``.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document: dict[str, Any] = _without_home(document)

    @property
    def problems(self) -> list[str]:
        """Installed libraries that do not work, each with its remedy."""
        found: list[str] = self.document["problems"]
        return found

    def to_json(self, path: Path) -> None:
        """Write the document."""
        write_file(path, json.dumps(self.document, indent=1, ensure_ascii=False) + "\n")

    def __str__(self) -> str:
        return "\n".join(_lines(visible(self.document)))


def doctor(progress: Callable[[str, int], object] | None = None) -> Diagnosis:
    """Look at what boostplug works with on this machine, and try it.

    Parameters
    ----------
    progress : callable, optional
        Called as ``progress(description, steps)``; the steps are `N_TRIALS` in all.

    Returns
    -------
    Diagnosis
    """
    advance = progress or (lambda _description, _steps: None)
    there = [name for name in (*_CORE, *_OTHERS, *_FRAMEWORKS) if is_installed(name)]
    trials: dict[str, Callable[[], dict[str, Any]]] = {
        "imports": lambda: _imports(there),
        "kernels": lambda: _answers("kernels"),
        **{name: lambda name=name: _answers(name) for name in _FRAMEWORKS if name in there},  # type: ignore[misc]
        "gpu": lambda: {"gpus": _gpus()},
    }
    found: dict[str, dict[str, Any]] = {}
    advance("trying libraries and trainings", N_TRIALS - len(trials))
    with ThreadPoolExecutor(len(trials)) as pool:
        names = {pool.submit(trial): name for name, trial in trials.items()}
        for future in as_completed(names):
            found[names[future]] = future.result()
            advance("", 1)
    least = _least()
    document = {
        "schema": SCHEMA,
        "boostplug": __version__,
        "python": {"version": platform.python_version(), "implementation": platform.python_implementation()},
        "system": platform.platform(),
        "libraries": {
            name: {"version": _version(name, found["imports"]), "least": least.get(_DISTRIBUTIONS.get(name, name))}
            for name in (*_CORE, *_FRAMEWORKS, *_OTHERS)
        },
        "trials": found,
        "environment": {
            name: value for name, value in os.environ.items() if name.startswith(("NUMBA_", "OMP_", "KMP_"))
        },
    }
    return Diagnosis({**document, "problems": [*_problems(document)], "hints": [*_hints(document)]})


# Trials, each in its own process: `run_trial` prints each answer as soon as there is one.


def run_trial(what: str, *names: str) -> None:
    """Try something in this process, and print what was found, a line of JSON each."""
    trial = {"imports": _try_imports, "kernels": _try_kernels, "lightgbm": _try_lightgbm, "xgboost": _try_xgboost}
    for answer in trial[what](*names):
        sys.stdout.write(f"\n{_MARK}{json.dumps(answer)}\n")
        sys.stdout.flush()


def _try_imports(*names: str) -> Iterator[dict[str, Any]]:
    from boostplug.core.extras import failed_imports

    for name in names:
        error = failed_imports([name]).get(name)
        if error is None:
            yield {name: {"version": str(getattr(sys.modules[name], "__version__", ""))}}
        else:
            yield {name: _import_failure(name, error)}
    with suppress(Exception):  # it comes with scikit-learn
        from threadpoolctl import threadpool_info

        openmp = [library for library in threadpool_info() if library["user_api"] == "openmp"]
        yield {"openmp": [{"runtime": library["prefix"], "path": library["filepath"]} for library in openmp]}


def _try_kernels() -> Iterator[dict[str, Any]]:
    from boostplug.comparison.machine import machine

    yield {"machine": machine()}
    with suppress(Exception):
        from llvmlite import binding

        features = binding.get_host_cpu_features()
        yield {
            "processor": binding.get_host_cpu_name(),
            "features": [name for name in _FEATURES if features.get(name)],
        }
    from boostplug.core.threads import get_num_threads, set_num_threads

    yield {"threads": get_num_threads(), "limit": _limit()}
    set_num_threads(2)
    yield {"set_num_threads": get_num_threads()}
    set_num_threads(None)
    import boostplug.warm_up  # noqa: F401 (all that has kernels)
    from boostplug.kernels.base.compiling import compiled_so_far
    from boostplug.rankers import RankBoostRanker

    yield _trained(RankBoostRanker(n_estimators=4))
    kernels = compiled_so_far()
    yield {"in_memory": kernels.in_memory, "folders": [str(folder) for folder in kernels.folders]}


def _try_lightgbm() -> Iterator[dict[str, Any]]:
    from boostplug.estimators.lightgbm import LGBMRanker
    from boostplug.losses import QBRank

    few = {"n_estimators": 2, "min_child_samples": 1, "min_child_weight": 0.0, "verbose": -1}
    yield _trained(LGBMRanker(objective=QBRank(), **few))
    import lightgbm as lgb
    import numpy as np

    for device in ("gpu", "cuda"):
        data = lgb.Dataset(np.arange(40.0).reshape(-1, 1), np.arange(40.0))
        try:
            lgb.train({"objective": "regression", "device_type": device, "verbose": -1}, data, 1)
        except Exception as error:  # noqa: BLE001 (LightGBM's own, or what its library throws)
            yield {device: str(error).splitlines()[0]}
        else:
            yield {device: "trains"}


def _try_xgboost() -> Iterator[dict[str, Any]]:
    from boostplug.estimators.xgboost import XGBRanker
    from boostplug.losses import QBRank

    yield _trained(XGBRanker(objective=QBRank(), n_estimators=2, min_child_weight=0.0))
    import xgboost as xgb

    info = xgb.build_info()
    yield {"cuda": info.get("CUDA_VERSION") if info.get("USE_CUDA") else None, "nccl": bool(info.get("USE_NCCL"))}


def _trained(ranker: Any) -> dict[str, Any]:
    """Return the NDCG@10 of a ranker on queries whose first feature is the grade: 1."""
    import numpy as np

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = np.column_stack([y, rng.normal(size=60)])
    qid = np.repeat([1, 2, 3], 20)
    return {"ndcg": float(ranker.fit(X, y, qid=qid).score(X, y, qid=qid))}


def _limit(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return how many cores' time a container gives its processes (Linux's control groups); None without a limit."""
    with suppress(OSError, ValueError):
        quota, period = (root / "cpu.max").read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = (
            (root / "cpu" / f"cpu.cfs_{name}_us").read_text(encoding="ascii") for name in ("quota", "period")
        )
        return None if int(quota) <= 0 else int(quota) / int(period)
    return None


def _gpus() -> list[str]:
    """Return the GPUs that NVIDIA's driver tells of."""
    command = which("nvidia-smi")
    if command is None:
        return []
    query = ["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(  # noqa: S603 (the driver's own)
            [command, *query], capture_output=True, text=True, timeout=_GPU_TIMEOUT, check=True
        )
        return [line.strip() for line in done.stdout.splitlines() if line.strip()]
    return []


def _imports(names: Iterable[str]) -> dict[str, Any]:
    """Return what comes of importing libraries one after the other, in a new process after one that has ended it."""
    left = list(names)
    found: dict[str, Any] = {}
    while left:
        answers = _answers("imports", *left)
        found |= answers
        undone = [name for name in left if name not in answers]
        if undone:
            found[undone[0]] = {"error": answers.get("error") or "its import ends the process"}
        left = undone[1:]
    found.pop("error", None)
    return found


def _answers(what: str, *names: str) -> dict[str, Any]:
    """Return what `run_trial` says in a process of its own; ``error`` where it does not come to its end."""
    paths = [_PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-P", "-c", _PROGRAM, what, *names]
    found: dict[str, Any] = {}
    try:
        done = subprocess.run(  # noqa: S603 (our own program)
            command, env=environment, capture_output=True, timeout=_TIMEOUT, check=False
        )
        output, error = done.stdout, _reason_of_failure(done.returncode, done.stderr.decode(errors="replace"))
    except subprocess.TimeoutExpired as late:
        output, error = late.stdout or b"", f"no end within {_TIMEOUT:g} seconds"
    for line in output.decode(errors="replace").splitlines():
        if line.startswith(_MARK):
            found |= json.loads(line.removeprefix(_MARK))
    return {**found, "error": error} if error else found


def _reason_of_failure(status: int, said: str) -> str:
    """Return why a process has failed; empty where it has not."""
    if status == 0:
        return ""
    if status < 0:
        with suppress(ValueError):
            return f"the process is ended by {signal.Signals(-status).name}"
    last = (said.strip().splitlines() or [f"status {status}"])[-1]
    return last.strip()


def _import_failure(name: str, error: Exception) -> dict[str, str]:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return {"error": reason, "remedy": remedy_of(_DISTRIBUTIONS.get(name, name), error)}


# Conclusions


def _least() -> dict[str, str]:
    """Return the oldest version of each library that this package names, by what it is installed as."""
    with suppress(metadata.PackageNotFoundError):
        lines = metadata.requires("boostplug") or ()
        named = (re.match(r"([\w-]+)(?:\[.*?\])?\s*>=\s*([\d.]+)", line) for line in lines)
        return {found[1]: found[2] for found in named if found}
    return {}


def _version(name: str, imported: Mapping[str, Any]) -> str | None:
    """Return what version of a library is there; None for none, empty where it cannot be told."""
    if found := imported.get(name, {}).get("version"):
        return str(found)
    return (_installed_version(_DISTRIBUTIONS.get(name, name)) or "") if is_installed(name) else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _is_old(library: Mapping[str, Any]) -> bool:
    version, least = library["version"], library["least"]
    return bool(version and least and _numbers(version) < _numbers(least))


def _problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is installed and does not work, with what to do."""
    trials = document["trials"]
    broken = set()
    for name, library in document["libraries"].items():
        shown, found = _shown(name), trials["imports"].get(name, {})
        named = _DISTRIBUTIONS.get(name, name)
        if library["version"] is None and name in _CORE:
            broken.add(name)
            yield f"{shown} is missing, and nothing works without it: pip install '{named}>={library['least'] or 0}'"
        elif "error" in found:
            broken.add(name)
            remedy = found.get("remedy") or f"pip install --force-reinstall {named}"
            yield f"{shown} cannot be imported ({found['error']}): {remedy}"
        elif _is_old(library):
            least = library["least"]
            yield f"{shown} {library['version']} is older than {least}: pip install --upgrade '{named}>={least}'"
    for name in ("kernels", *_FRAMEWORKS):
        found, what = trials.get(name), f"{_shown(name)} does" if name in _FRAMEWORKS else "the reference rankers do"
        if found is None or name in broken or broken.intersection(_CORE):
            continue
        if "ndcg" not in found:
            yield f"{what} not train ({found.get('error', 'it says nothing')}): report it with this text"
        elif found["ndcg"] != 1.0:
            yield f"{what} not learn what is given away (NDCG@10 {found['ndcg']:.3f}, not 1): report it with this text"
    runtimes = {library["runtime"] for library in trials["imports"].get("openmp", ())}
    if runtimes >= _CONFLICTING:
        yield (
            f"two OpenMP runtimes that do not get on are loaded together ({' and '.join(sorted(_CONFLICTING))}), which "
            "ends or hangs processes: install all libraries by pip alone or by conda alone"
        )


def _hints(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what works and could work better."""
    kernels, environment = document["trials"]["kernels"], document["environment"]
    if all(document["libraries"][name]["version"] is None for name in _FRAMEWORKS):
        yield f"no framework is installed, the reference rankers alone train: {install(*_FRAMEWORKS)}"
    if kernels.get("in_memory"):
        yield (
            "compiled code cannot be kept on disk, since no folder can be written to: every process compiles for "
            "seconds; set NUMBA_CACHE_DIR to a folder that can be written to"
        )
    if environment.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        yield "NUMBA_DISABLE_JIT is set, so that nothing is compiled and all takes a hundred times as long: unset it"
    threads, cores = kernels.get("threads"), kernels.get("machine", {}).get("cores")
    limit = kernels.get("limit")
    asked = environment.get("OMP_NUM_THREADS")
    if asked is not None and not re.match(r"\s*[1-9]\d*\s*(,|$)", asked):
        yield f"OMP_NUM_THREADS is {asked!r}, which is no number of threads, and is passed over: set it to {cores}"
    most = min(value for value in (cores, limit, threads) if value is not None) if threads else None
    if most is not None and threads > max(1, -(-most // 1)):
        yield (
            f"{threads} threads share the time of {most:g} cores and wait for each other: set "
            f"OMP_NUM_THREADS={max(1, int(most))}"
        )
    installed = _installed_version("boostplug")
    if installed is None:
        yield "boostplug is not installed but imported from a folder: the oldest versions it takes are not known here"
    elif installed != __version__:
        yield f"version {installed} is installed and {__version__} imported: pip install the folder anew"


def _installed_version(distribution: str) -> str | None:
    """Return the version that a library is installed in; None where nothing says it."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(distribution)
    return None


def _shown(name: str) -> str:
    return LIBRARIES[name].shown if name in LIBRARIES else _DISTRIBUTIONS.get(name, name)


def _without_home(value: Any) -> Any:
    """Return a document with the user's home as ``~``: it is pasted where all can read it."""
    if isinstance(value, dict):
        return {key: _without_home(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_home(item) for item in value]
    home = str(Path.home())
    return value.replace(home, "~") if isinstance(value, str) and len(home) > 1 else value


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text."""
    trials = document["trials"]
    kernels, machine = trials["kernels"], trials["kernels"].get("machine", {})
    python = document["python"]
    yield f"boostplug {document['boostplug']}, {python['implementation']} {python['version']}, {document['system']}"
    memory = "" if machine.get("memory_gib") is None else f", {machine['memory_gib']:g} GiB"
    processor = [machine.get("processor", "processor unknown"), kernels.get("processor"), *kernels.get("features", ())]
    yield f"{', '.join(filter(None, processor))}; {machine.get('cores', '?')} cores{memory}"
    yield f"GPU: {'; '.join(trials['gpu']['gpus']) or 'none seen'}"
    yield from ("", "Libraries")
    for name, library in document["libraries"].items():
        version = library["version"]
        least = f"{library['least']} or newer" if library["least"] else ""
        state = "not installed" if version is None else "broken" if "error" in trials["imports"].get(name, {}) else ""
        state = state or ("too old" if _is_old(library) else "works")
        yield f"  {_DISTRIBUTIONS.get(name, name):<13} {version or '-':<12} {state:<14} {least}".rstrip()
    yield from ("", "Trainings, which must reach an NDCG@10 of 1")
    yield f"  RankBoostRanker: {_of_training(kernels)}"
    for name in _FRAMEWORKS:
        found = trials.get(name)
        build = {"lightgbm": _lightgbm_build, "xgboost": _xgboost_build}[name]
        said = f"not installed ({install(name)})" if found is None else f"{_of_training(found)}{build(found)}"
        yield f"  {_shown(name)}: {said}"
    yield from ("", "Threads")
    asked = document["environment"].get("OMP_NUM_THREADS")
    chosen = "all cores, as OMP_NUM_THREADS is not set" if asked is None else f"OMP_NUM_THREADS={asked}"
    limit = "none" if kernels.get("limit") is None else f"{kernels['limit']:g} cores"
    yield f"  boostplug's: {kernels.get('threads', '?')} ({chosen}); numba's own are not used"
    yield f"  after set_num_threads(2): {kernels.get('set_num_threads', '?')}; a container's limit: {limit}"
    runtimes = [f"{library['runtime']} ({library['path']})" for library in trials["imports"].get("openmp", ())]
    yield f"  OpenMP: {', '.join(runtimes) or 'none loaded'}"
    policy = document["environment"].get("OMP_WAIT_POLICY", "not set")
    yield f"  OMP_WAIT_POLICY is {policy}: the command line sets passive; on a busy machine, set it for scripts too"
    yield from ("", "Compiled code")
    yield f"  in {', '.join(kernels.get('folders', ())) or 'no folder'}"
    others = {name: value for name, value in document["environment"].items() if name.startswith(("NUMBA_", "KMP_"))}
    for name, value in others.items():
        yield f"  {name}={value}"
    todo = [*document["problems"], *document["hints"]]
    yield from ("", "What to do" if todo else "All is well.")
    yield from (f"  {number}. {line}" for number, line in enumerate(todo, start=1))


def _of_training(found: Mapping[str, Any]) -> str:
    if "ndcg" not in found:
        return f"fails ({found.get('error', 'no answer')})"
    return "works" if found["ndcg"] == 1.0 else f"reaches {found['ndcg']:.3f}"


def _lightgbm_build(found: Mapping[str, Any]) -> str:
    devices = [f"{device}: {found[device].rstrip('.')}" for device in ("gpu", "cuda") if device in found]
    return f"; device_type {'; '.join(devices)}" if devices else ""


def _xgboost_build(found: Mapping[str, Any]) -> str:
    if "nccl" not in found:
        return ""
    cuda = found["cuda"]
    return "; built without CUDA" if cuda is None else f"; built with CUDA {'.'.join(map(str, cuda))}"
