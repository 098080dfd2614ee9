"""`replicate`: run a paper's protocol, and judge each of its claims."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from boostplug.comparison.console import progress_bar
from boostplug.comparison.summary import versions
from boostplug.comparison.training.store import Store
from boostplug.core.checks import check_integer
from boostplug.core.threads import get_num_threads
from studies.replication.judging.study_results import StudyResults
from studies.replication.papers import PAPERS
from studies.replication.processes import in_processes
from studies.replication.protocol import Protocol
from studies.replication.result import ReplicationResult
from studies.replication.training.study import Study
from studies.replication.training.task import Job, TaskResult, run
from studies.sources import Loaded


def replicate(
    paper: str | Protocol,
    data: str | Path | None = None,
    *,
    json: str | Path | None = None,
    num_processes: int | None = None,
    keep: bool = False,
    progress: bool | None = None,
) -> ReplicationResult:
    """Run the experiments of a paper again.

    Every task (a learner on one fold of a user, a query or a data set) is a job of its own. With `json`, finished tasks
    are stored in ``<json>.parts``. After Ctrl-C, a crash or a power failure, the same call continues, and its result is
    the same as without interruption. ``<json>.parts`` is removed when the result is written, except with `keep`. Then a
    later call trains only tasks whose settings have changed, and none if only claims have.

    Parameters
    ----------
    paper : str or Protocol
        One of `PAPERS`.
    data : str or path-like, optional
        Folder that holds the paper's data sets, or is one. Default: the bundled set, without published figures.
    json : str or path-like, optional
    num_processes : int, optional
        Number of processes, each with one thread. Default: the number of threads of losses.
    keep : bool, default False
        Do not remove ``<json>.parts``.
    progress : bool, optional
        Show a progress bar with an estimate on stderr, or, if that is not a terminal, a line at most every 30 seconds.
        Default: only the bar.

    Returns
    -------
    ReplicationResult
        The same for any number of processes and interruptions.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist, or holds none of the data sets.
    ValueError
        If an argument is invalid, a file cannot be read, or ``<json>.parts`` is damaged.
    """
    protocol = paper if isinstance(paper, Protocol) else _named(paper)
    processes = get_num_threads() if num_processes is None else check_integer("num_processes", num_processes, 1)
    with progress_bar(progress, 1) as advance:
        advance("reading the data", 0)
        studies = _load(protocol, None if data is None else Path(data))
    path = None if json is None else Path(json)
    common = {"paper": protocol.name, "seed": protocol.seed, "versions": versions()}
    jobs = _jobs(studies, common)
    store = Store(None if path is None else path.with_name(path.name + ".parts"))
    results = _results(jobs, store, processes, progress)
    with progress_bar(progress, 1) as advance:
        advance("judging the claims", 0)
        finished = [StudyResults(study, loaded, _of_study(study, jobs, results)) for study, loaded in studies]
        result = ReplicationResult.from_studies(protocol, finished, name="" if data is None else str(data))
    if path is not None:
        result.to_json(path)
        if store.path is not None and not (keep or result.failed):
            store.path.unlink(missing_ok=True)
    return result


def _jobs(studies: Iterable[tuple[Study, Loaded]], common: dict[str, Any]) -> dict[str, Job]:
    """Return the job of each task, by its key and a digest of its settings."""
    return {
        f"{job.key} | {_digest(job, digest, common)}": job
        for study, digest, splits in [(study, loaded.digest, loaded.splits) for study, loaded in studies]
        for split in splits
        for learner in study.learners
        for job in [Job(study, split, learner, common["seed"])]
    }


def _results(jobs: Mapping[str, Job], store: Store, processes: int, progress: bool | None) -> dict[str, TaskResult]:
    """Return the results of all jobs by `Job.key`, stored ones and new ones."""
    kept = {name: store.get(name) for name in jobs}
    results: dict[str, TaskResult] = {jobs[name].key: found for name, found in kept.items() if found is not None}
    missing = {job.key: name for name, job in jobs.items() if kept[name] is None}
    todo = [job for job in jobs.values() if job.key in missing]
    with progress_bar(progress, len(todo)) as advance:
        for job, outcome in in_processes(run, todo, min(processes, max(1, len(todo)))):
            results[job.key] = outcome
            if "value" in outcome:  # the next run tries failed tasks again
                store.add(missing[job.key], outcome)
            advance(job.key, 1)
    return results


def _of_study(
    study: Study, jobs: Mapping[str, Job], results: Mapping[str, TaskResult]
) -> dict[tuple[str, int, str], TaskResult]:
    own = [job for job in jobs.values() if job.study is study]
    return {(job.split.task, job.split.fold, job.learner.name): results[job.key] for job in own}


def _named(paper: str) -> Protocol:
    if paper not in PAPERS:
        raise ValueError(f"there is no replication of {paper!r}; there are: {', '.join(PAPERS)}")
    return PAPERS[paper]


def _load(protocol: Protocol, folder: Path | None) -> list[tuple[Study, Loaded]]:
    if folder is not None and not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}; pass the folder that holds the data sets")
    cache = {source: source.load(folder) for source in dict.fromkeys(study.source for study in protocol.studies)}
    studies = [(study, loaded) for study in protocol.studies if (loaded := cache[study.source]) is not None]
    if not studies:
        wanted = "; ".join(dict.fromkeys(study.source.wanted for study in protocol.studies if study.source.wanted))
        raise FileNotFoundError(f"{folder} holds none of the data sets of {protocol.name}: {wanted}")
    return studies


def _digest(job: Job, data: str, common: dict[str, Any]) -> str:
    """Return a digest of everything that affects the result of a job."""
    study = job.study
    everything = (common, data, study.rounds, study.measures, study.traces, job.learner)
    return sha256(repr(everything).encode()).hexdigest()[:16]
