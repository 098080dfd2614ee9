"""The command line: what it prints where, and its exit statuses."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli import app as cli
from boostplug.comparison import compare as comparing
from boostplug.comparison import console
from boostplug.comparison.result import CompareResult
from boostplug.comparison.training.frameworks import FRAMEWORKS
from boostplug.datasets import make_ranking
from boostplug.replication import run as replicate

runner = CliRunner()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path_factory, monkeypatch):
    """A comparison keeps what is finished in the current folder."""
    monkeypatch.chdir(tmp_path_factory.mktemp("current"))


QUICK = ["--rounds", "2", "--seeds", "1", "--threads", "1", "--jobs", "1", "--frameworks", "lightgbm"]


def write(path, data):
    starts = data.queries.boundaries
    lines = []
    for q in range(data.n_queries):
        for row in range(starts[q], starts[q + 1]):
            values = " ".join(f"{i + 1}:{x:g}" for i, x in enumerate(data.X[row]) if x)
            lines.append(f"{data.y[row]:g} qid:{q} {values}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    fold = tmp_path_factory.mktemp("toy") / "Fold1"
    fold.mkdir()
    for seed, name in enumerate(("train", "vali", "test")):
        write(fold / f"{name}.txt", make_ranking(25, n_features=6, mean_list_size=10, missing=0, random_state=seed))
    return fold


def test_compare_prints_the_table_and_writes_the_files(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/boostplug", "compare", "--data", "my folder"])
    files = ["--json", str(tmp_path / "out.json"), "--report", str(tmp_path / "out.html")]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, *files])
    assert outcome.exit_code == 0, outcome.output
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["data"]["name"].endswith("/Fold1")
    assert [row["method"] for row in document["methods"]][:2] == ["lambdarank", "rank_xendcg"]
    for row in document["methods"]:
        assert re.search(rf"^ ?(lightgbm  )? {re.escape(row['method'])} ", outcome.stdout, re.MULTILINE)
    assert "schema" not in outcome.stdout
    assert outcome.stderr == ""
    page = (tmp_path / "out.html").read_text()
    assert "</html>" in page
    assert "<code>boostplug compare --data &#39;my folder&#39;</code>" in page
    assert str(folder.parent) not in outcome.stdout + (tmp_path / "out.json").read_text()


def test_losses_are_spelt_with_parameters_and_as_sums(folder, tmp_path):
    losses = ".7*ndcg-boost+.3*qbrank, QBRank(preference_weight=0.3, normalization='none'),,ranknet "
    options = ["--losses", losses, "--baselines", "", "--json", str(tmp_path / "out.json")]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, *options])
    assert outcome.exit_code == 0, outcome.output
    names = [row["method"] for row in json.loads((tmp_path / "out.json").read_text())["methods"]]
    assert names == [".7 NDCGBoost + .3 QBRank", "QBRank(.3, none)", "RankNet"]
    assert all(f"lightgbm   {name} " in outcome.stdout for name in names)
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, "--losses", "QBRank(hessian='x', a)"])
    assert outcome.exit_code == 2
    assert "no loss \"QBRank(hessian='x', a)\"" in outcome.stderr


def test_options_reach_compare_by_its_own_names(monkeypatch):
    names, seen = {*signature(comparing.compare).parameters}, {}

    def stop(*_parts, **arguments):
        seen.update(arguments)
        raise ValueError("enough")

    monkeypatch.setattr(comparing, "compare", stop)
    options = ["--split", "0.5,0.25,0.25", "--losses", "mpboost,ranknet", "--drop", "a,b", "--early-stopping", "0"]
    outcome = runner.invoke(cli.app, ["compare", *options, "--leaves", "7", "--threads", "2"])
    assert (outcome.exit_code, set(seen) - names) == (2, set())
    expected = {"split": [0.5, 0.25, 0.25], "losses": ["mpboost", "ranknet"], "drop": ["a", "b"], "num_threads": 2}
    assert seen == seen | expected | {"early_stopping_rounds": None, "params": {"num_leaves": 7}, "qid": "qid"}


def test_all_losses_leave_out_those_on_clicks(folder):
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, "--losses", "all"])
    assert outcome.exit_code == 0, outcome.output
    note = " ".join(outcome.stdout.split())
    assert re.search("Left out, since they learn from clicks at positions.*: ClickLogLoss.*, Unbiased", note)
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, "--losses", "Unbiased()"])
    assert outcome.exit_code == 2
    assert "train has none. Name their column by position= (--position)" in outcome.stderr


def test_a_folder_of_folds_and_three_files_are_the_same_data(folder, tmp_path):
    options = [*QUICK, "--losses", "mpboost", "--baselines", "lambdarank", "--json", str(tmp_path / "out.json")]
    documents = []
    for data in (
        ["--data", str(folder.parent)],
        ["--train", f"{folder}/train.txt", "--valid", f"{folder}/vali.txt", "--test", f"{folder}/test.txt"],
    ):
        outcome = runner.invoke(cli.app, ["compare", *data, *options])
        assert outcome.exit_code == 0, outcome.output
        documents.append(json.loads((tmp_path / "out.json").read_text()))
    by_folder, by_files = ([row["test"] for row in document["methods"]] for document in documents)
    assert by_folder == by_files
    assert len(by_files) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "'nowhere' does not exist"),
        (["--data", "a.txt"], "--data: there is no folder a.txt; name the three files by --train, --valid and --test"),
        (["--data", "."], "only ['a.txt']; name the three files by --train, --valid and --test"),
        (["--train", ".", "--valid", "a.txt", "--test", "a.txt"], "'.' is a directory"),
        (["--train", "a.txt", "--valid", "a.txt", "--test", "b"], "'b' does not exist"),
        (["--train", "a.txt"], "--train, --valid and --test go together, without --data"),
        (["--data", ".", "--train", "a.txt"], "--train, --valid and --test go together, without --data"),
        (["--json", "no/such/out.json"], "--json: no folder no/such can be written to"),
        (["--json", "."], "'.' is a directory"),
        (["--report", "."], "'.' is a directory"),
        (["--report", f"{'x' * 300}.html"], "File name too long"),
        (["--json", "out", "--report", "../run/out"], "--json and --report name the same file"),
        (["--store", "a.txt"], "a.txt holds no results; remove it to start anew, or name another place"),
        (["--rounds", "0"], "rounds"),
        (["--seeds", "1e12"], "--seeds"),
        (["--threads", "1000000"], "--threads"),
        (["--nonsense"], "nonsense"),
    ],
)
def test_what_makes_no_sense_exits_with_2(arguments, message, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.txt").write_text("1 qid:1 1:1\n")
    monkeypatch.chdir(folder)
    outcome = runner.invoke(cli.app, ["compare", *arguments])
    assert outcome.exit_code == 2
    assert message in outcome.stderr.replace("\n", " ")
    assert not any(name in outcome.stderr for name in ("load_fold", "load_letor"))
    assert outcome.stdout == ""
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("option", ["--json", "--report"])
@pytest.mark.parametrize("target", ["train.txt", "test.txt.query", "all.csv", "link.json", "hard", "store/a.results"])
def test_an_output_replaces_no_data_and_no_store(option, target, tmp_path, monkeypatch):
    (tmp_path / "store").mkdir()
    for name in ("train.txt", "vali.txt", "test.txt", "test.txt.query", "all.csv", "store/a.results"):
        (tmp_path / name).write_text("0 qid:1 1:0\n1 qid:1 1:1\n")
    (tmp_path / "link.json").symlink_to("train.txt")
    os.link(tmp_path / "train.txt", tmp_path / "hard")
    before = {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")}
    monkeypatch.chdir(tmp_path)
    outcome = runner.invoke(cli.app, ["compare", "--data", ".", option, target])
    assert outcome.exit_code == 2
    assert f"{option}: {target} exists and may hold data; remove it, or name a file that ends with" in outcome.stderr
    assert {path: path.is_file() and path.read_text() for path in tmp_path.rglob("*")} == before


def test_an_output_that_fails_at_the_end_loses_nothing_else(folder, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CompareResult, "to_json", fail)
    files = ["--json", str(tmp_path / "out.json"), "--report", str(tmp_path / "out.html")]
    some = ["--losses", "qbrank", "--baselines", "lambdarank"]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, *some, *files])
    assert outcome.exit_code == 1
    assert "lambdarank" in outcome.stdout
    assert "out.json could not be written (No space left on device)" in outcome.stderr
    assert "</html>" in (tmp_path / "out.html").read_text()


def test_a_failed_run_exits_with_1(folder, tmp_path, monkeypatch):
    def fail(*args):
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(bp.MPBoost, "gradient_hessian", fail)
    options = [*QUICK, "--losses", "mpboost", "--json", str(tmp_path / "out.json")]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *options])
    assert outcome.exit_code == 1
    assert "broken on purpose" in outcome.stdout
    assert "lambdarank" in outcome.stdout
    assert json.loads((tmp_path / "out.json").read_text())["methods"][-1]["errors"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_by_a_signal_and_resumed(folder, monkeypatch, number):
    run, before = FRAMEWORKS["lightgbm"].run, signal.getsignal(signal.SIGTERM)

    def stop_at_ours(self, objective, *args):
        if not isinstance(objective, str):
            signal.raise_signal(number)
        return run(self, objective, *args)

    command = ["compare", "--data", str(folder), *QUICK, "--losses", "ranknet"]
    with monkeypatch.context() as patch:
        patch.setattr(FRAMEWORKS["lightgbm"], "run", stop_at_ours)
        outcome = runner.invoke(cli.app, command)
    assert outcome.exit_code == 130
    assert signal.getsignal(signal.SIGTERM) == before
    assert "INCOMPLETE: interrupted after 3 of 4 runs" in outcome.stdout
    assert re.fullmatch(
        "boostplug compare: interrupted; the finished trainings are kept in boostplug-compare/compare-.*: "
        "add --resume to continue\n",
        outcome.stderr,
    )
    outcome = runner.invoke(cli.app, command)
    assert outcome.exit_code == 2
    assert "holds results of this very comparison: resume=True (--resume) goes on" in outcome.stderr
    trained = []
    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", lambda *args: trained.append(args[1]) or run(*args))
    outcome = runner.invoke(cli.app, [*command, "--resume"])
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    assert trained == [bp.RankNet()]
    assert "INCOMPLETE" not in outcome.stdout
    assert list(Path().iterdir()) == []  # the default store goes when all is done


def test_a_store_that_is_named_stays(folder, tmp_path):
    kept = tmp_path / "a folder" / "mit Ümlaut"
    command = ["compare", "--data", str(folder), *QUICK, "--losses", "ranknet", "--store", str(kept)]
    first = runner.invoke(cli.app, command)
    assert first.exit_code == 0, first.output
    assert len(list(kept.iterdir())) == 1
    again = runner.invoke(cli.app, [*command, "--resume", "--report", str(tmp_path / "late.html")])
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert (tmp_path / "late.html").exists()
    other = runner.invoke(cli.app, [*command, "--resume", "--learning-rate", "0.2"])
    assert other.exit_code == 2
    assert "holds no results of this comparison, only of one with other" in other.stderr
    assert other.stdout == ""


def test_a_result_that_cannot_be_printed_is_kept(folder, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cli, "_print", fail)
    some = ["--losses", "ranknet", "--baselines", "lambdarank", "--report", str(tmp_path / "out.html")]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, *some])
    assert outcome.exit_code == 1
    assert "</html>" in (tmp_path / "out.html").read_text()
    assert "the result could not be written (No space left on device)" in outcome.stderr
    assert Path("boostplug-compare").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and signals")
@pytest.mark.parametrize("full", [False, True])
def test_an_output_that_ends_early(full):
    """The reader of a pipe that has read enough is no failure, a full disk is."""
    if full and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    code = (
        "import boostplug.cli.doctor as doctor\n"
        "doctor._trained_in_new_process = lambda name: dict(ndcg=1.0, threads=1, cores=1, folders=[])\n"
        "from boostplug.cli import main; main()"
    )
    if full:
        theirs = os.open("/dev/full", os.O_WRONLY)
    else:
        ours, theirs = os.pipe()
        os.close(ours)
    command = [sys.executable, "-c", code, "doctor"]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    message = "boostplug doctor: the result could not be written (No space left on device)\n"
    assert (done.returncode, done.stderr) == ((1, message) if full else (0, ""))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and signals")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.ci
def test_closed_outputs(closed):
    code = "import sys; from boostplug.cli import main; main()"
    command = f'"$0" -c "{code}" compare --data nothing {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert ("'nothing' does not exist" in done.stderr) == ("2>&-" not in closed)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes and signals")
def test_a_process_as_a_shell_runs_it(folder):
    """SIGTERM from outside, an output without Greek letters, and no terminal."""
    code = (
        "import sys, os, signal\n"
        "from boostplug.comparison.training.frameworks import FRAMEWORKS\n"
        "run = FRAMEWORKS['lightgbm'].run\n"
        "def stop(self, objective, *args):\n"
        "    if objective == 'regression': os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return run(self, objective, *args)\n"
        "FRAMEWORKS['lightgbm'].run = stop\n"
        "from boostplug.cli import main\n"
        "main()"
    )
    arguments = ["compare", "--data", str(folder), *QUICK, "--losses", "ranknet"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, env=environment)
    assert done.returncode == 130, done.stderr
    assert b"INCOMPLETE: interrupted after 2 of 4 runs" in done.stdout
    assert b"----" in done.stdout
    assert b"D: difference in NDCG@10" in done.stdout
    assert b"kept in boostplug-compare/compare-" in done.stderr
    assert b"Traceback" not in done.stderr


def test_ctrl_c_before_the_first_result_prints_no_table(folder, monkeypatch):
    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", lambda *_: signal.raise_signal(signal.SIGINT))
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, "--report", "report.html"])
    assert (outcome.exit_code, outcome.stdout) == (130, "")
    assert outcome.stderr == "boostplug compare: interrupted before any training had finished\n"
    assert not Path("report.html").exists()
    assert not Path("boostplug-compare").exists()


def test_ctrl_c_while_loading_exits_with_130(folder, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_load", stop)
    assert runner.invoke(cli.app, ["compare"]).exit_code == 130


def test_reading_large_files_shows_a_sign_of_life(monkeypatch):
    shown = []

    @contextmanager
    def bar(*_args, **_more):
        yield lambda doing, _steps: shown.append(doing)

    def stop(*_args):
        shown.append("read")
        raise ValueError("enough")

    monkeypatch.setattr(console, "progress_bar", bar)
    monkeypatch.setattr(cli, "_load", stop)
    assert runner.invoke(cli.app, ["compare"]).exit_code == 2
    monkeypatch.setattr(replicate, "progress_bar", bar)
    monkeypatch.setattr(replicate, "_load", stop)
    assert runner.invoke(cli.app, ["replicate", "mpboost"]).exit_code == 2
    assert shown == ["reading the data", "read"] * 2


def test_version():
    outcome = runner.invoke(cli.app, ["--version"])
    assert (outcome.exit_code, outcome.stdout) == (0, f"boostplug {bp.__version__}\n")


def test_without_a_command_it_shows_where_to_start():
    outcome = runner.invoke(cli.app, [])
    assert outcome.exit_code == 0
    assert "Start with 'boostplug compare'" in outcome.stdout
