"""The command line: its options, what it prints where, and its exit statuses."""

import json
import os
import signal
import subprocess
import sys
from html import unescape
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reports import write_letor
from typer.testing import CliRunner

import boostplug as bp
from boostplug.cli import app as cli
from boostplug.comparison import compare as comparing
from boostplug.comparison.result import CompareResult

runner = CliRunner()
QUICK = ["--rounds", "2", "--seeds", "1", "--threads", "1", "--frameworks", "lightgbm"]
ONE = [*QUICK, "--losses", "QBRank", "--baselines", "lambdarank"]


@pytest.fixture(autouse=True)
def current(tmp_path, monkeypatch):
    """The current folder, one of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    fold = tmp_path_factory.mktemp("toy") / "Fold1"
    fold.mkdir()
    for seed, name in enumerate(("train", "vali", "test")):
        write_letor(fold / f"{name}.txt", bp.datasets.make_ranking(25, mean_list_size=10, missing=0, random_state=seed))
    return fold


def replace_compare(monkeypatch, call):
    """Replace `compare` by a function of the same options."""

    def compare(*parts, **arguments):
        return call(**arguments)

    compare.__signature__, compare.__doc__ = signature(comparing.compare), comparing.compare.__doc__
    monkeypatch.setattr(comparing, "compare", compare)


@pytest.fixture
def asked(monkeypatch):
    """What `compare` is called with, in place of a comparison."""
    seen = {}

    def stop(**arguments):
        seen.update(arguments)
        raise ValueError("enough")

    replace_compare(monkeypatch, stop)

    def run(*options):
        outcome = runner.invoke(cli.app, ["compare", *options])
        assert (outcome.exit_code, outcome.stderr) == (2, "boostplug compare: enough\n"), outcome.output
        return seen

    return run


def test_every_parameter_of_compare_is_an_option_with_its_default(asked):
    known = {p.name: p.default for p in signature(comparing.compare).parameters.values() if p.kind is p.KEYWORD_ONLY}
    del known["data"], known["progress"]
    found = asked()
    assert {name: found[name] for name in known} == known
    helped = runner.invoke(cli.app, ["compare", "--help"], terminal_width=200).stdout
    assert all(f"--{name.replace('_', '-')}" in helped for name in known)


ADARANK = "AdaRank(metric=NDCG(5), base=QBRank())"


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("rounds", "7", 7),
        ("seeds", "3", 3),
        ("seeds", "1,2", (1, 2)),
        ("early_stopping_rounds", "none", None),
        ("params", "num_leaves=7, learning_rate=.1,path=a", {"num_leaves": 7, "learning_rate": 0.1, "path": "a"}),
        ("metric", "MAP", "MAP"),
        ("metrics", "NDCG@5,MAP", ("NDCG@5", "MAP")),
        ("split", "0.5,0.25,0.25", (0.5, 0.25, 0.25)),
        ("split", "fold", "fold"),
        ("split", "time,day", ("time", "day")),
        ("propensity", "1,0.5", (1.0, 0.5)),
        ("drop", "a", ("a",)),
        ("features", "a, 5", ("a", "5")),
        ("losses", "all", "all"),
        ("losses", "qbrank", ["qbrank"]),
        ("losses", f"{ADARANK},,RankNet", [ADARANK, "RankNet"]),
        ("losses", ".5*RankNet()+.5*QBRank()", [".5*RankNet()+.5*QBRank()"]),
    ],
)
def test_an_option_is_read_as_its_annotation_says(asked, option, text, value):
    assert asked(f"--{option.replace('_', '-')}", text)[option] == value


def test_compare_prints_the_table_and_writes_the_files(folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/boostplug", "compare", "--data", "my folder"])
    tables = []
    parts = {"train": "train", "valid": "vali", "test": "test"}
    files = [f"--{part}={folder}/{name}.txt" for part, name in parts.items()]
    for data in (["--data", str(folder.parent)], files):
        outputs = ["--json", "out.json", "--report", "out.html", "--picture", "out.svg"]
        outcome = runner.invoke(cli.app, ["compare", *data, *ONE, *outputs])
        assert (outcome.exit_code, outcome.stderr) == (0, ""), outcome.output
        assert "</svg>" in Path("out.svg").read_text()
        lines = [line.split() for line in outcome.stdout.splitlines() if line.startswith(" lightgbm ")]
        tables.append([words[:4] for words in lines])  # without times
        assert json.loads(Path("out.json").read_text())
        assert "boostplug compare --data 'my folder'" in unescape(Path("out.html").read_text())
    assert tables[0] == tables[1]
    assert [words[1] for words in tables[0]] == ["lambdarank", "QBRank"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "'nowhere' does not exist"),
        (["--train", ".", "--valid", "a.txt", "--test", "a.txt"], "'.' is a directory"),
        (["--train", "a.txt"], "--train, --valid and --test go together, without --data"),
        (["--data", ".", "--train", "a.txt"], "--train, --valid and --test go together, without --data"),
        (["--json", "no/such/out.json"], "--json: no folder no/such can be written to"),
        (["--json", "."], "'.' is a directory"),
        (["--picture", "a.pdf"], "--picture must end with .svg or .png; got a.pdf"),
        (["--rounds", "0"], "rounds"),
        (["--seeds", "1e12"], "--seeds"),
        (["--losses", "QBRank(hessian='x', a)"], "QBRank(hessian='x', a)"),
        (["--losses", "Unbiased()"], "position"),
        (["--nonsense"], "nonsense"),
    ],
)
def test_what_makes_no_sense_exits_with_2(arguments, message, current):
    (current / "a.txt").write_text("1 qid:1 1:1\n")
    (current / "link.json").symlink_to("a.txt")
    outcome = runner.invoke(cli.app, ["compare", *arguments])
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr.replace("\n", " ")
    assert sorted(path.name for path in current.iterdir()) == ["a.txt", "link.json"]


PAGE, RESULT, MODEL = "<!doctype html>", '{\n "schema": "boostplug.compare/5"}', "tree\nversion=v4\n"


@pytest.mark.parametrize(
    ("option", "fine"),
    [
        ("--report", [PAGE, "<html>"]),
        ("--json", [RESULT, '{"schema":"boostplug.replicate/3"}']),
        ("--model", [MODEL, '{"learner":{', "{L" + "\0" * 7 + "\x07learner{L"]),
    ],
)
def test_outputs_replace_files_of_their_kind_only(asked, current, option, fine):
    for k, content in enumerate([*fine, "", "\n"]):
        (current / f"fine{k}").write_text(content)
        asked(option, f"fine{k}")
    asked(option, "new.csv")
    asked(option, os.devnull)
    others = {"a.csv": "a,b\n1,2\n", "a.html": "1 qid:1 1:1\n", "a.json": '{"id": 1}\n', "store": '{"key": "a"}\n'}
    for name, content in others.items():
        (current / name).write_text(content)
    (current / "link").symlink_to("a.csv")
    for name in (*others, "link"):
        outcome = runner.invoke(cli.app, ["compare", option, name])
        assert (outcome.exit_code, outcome.stdout) == (2, ""), name
        assert outcome.stderr.startswith(f"boostplug compare: {option}: {name} holds something else; name")
    assert {name: (current / name).read_text() for name in others} == others


def test_a_picture_replaces_only_a_picture(asked, current):
    svg = b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE svg PUBLIC>'
    for name, old in (("a.svg", svg), ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")):
        (current / name).write_bytes(old)
        asked("--picture", name)
        (current / f"b{name}").write_text('<?xml version="1.0"?>\n<note/>')
        outcome = runner.invoke(cli.app, ["compare", "--picture", f"b{name}"])
        assert outcome.exit_code == 2
        assert f"--picture: b{name} holds something else" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--json out --report ./out", "--report: out is the file of --json too"),
        ("--report out --model ../{folder}/out", "out is the file of --report too"),
        ("--store out --json out", "--json: out is the file of --store too"),
        ("--store . --json compare.jsonl", "--json: compare.jsonl is the file of --store too"),
        *((f"--data a.csv --model {name}", "is the file of --data too") for name in ("../{folder}/a.csv", "s", "h")),
        ("--train a.csv --valid a.csv --test b.csv --json b.csv", "--json: b.csv is the file of --test too"),
    ],
)
def test_no_file_is_both_input_and_output_or_two_outputs(arguments, message, current):
    for name in ("a.csv", "b.csv"):
        (current / name).touch()
    (current / "s").symlink_to("a.csv")
    (current / "h").hardlink_to("a.csv")
    outcome = runner.invoke(cli.app, ["compare", *arguments.format(folder=current.name).split()])
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert message in outcome.stderr


def test_a_model_that_is_not_advised_leaves_no_file_and_exits_with_1(current):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"qid": np.arange(900) // 6, "old": rng.random(900), "some": rng.random(900)})
    sold = frame["old"] + 0.4 * rng.random(900) > 0.8
    frame.assign(label=sold * 1, sold=sold).to_csv("shop.csv", index=False)
    data = [*ONE, "--data", "shop.csv", "--label", "label", "--split", "0.6,0.2,0.2", "--model"]
    score = ["--today", "old", "--drop", "sold"]
    for target, more, words in (
        ("earlier.txt", score, "column old is recommended, which needs no training; no file is left there"),
        (os.devnull, score, "column old is recommended, which needs no training; no file is left there"),
        ("earlier.txt", ["--drop", "old"], "why not to rely on this yet; no file is left there"),
        ("new.txt", ["--drop", "old"], "why not to rely on this yet; no file is left there"),
    ):
        Path("earlier.txt").write_text(MODEL)
        outcome = runner.invoke(cli.app, ["compare", *data, target, *more])
        assert outcome.exit_code == 1, outcome.output
        assert words in outcome.stderr
        assert Path("earlier.txt").exists() == (target != "earlier.txt")
        assert not Path("new.txt").exists()
    assert Path(os.devnull).exists()
    assert runner.invoke(cli.app, ["compare", *data, "earlier.txt", "--drop", "old", "--keep", "sold"]).exit_code == 0
    assert Path("earlier.txt").exists()


@pytest.mark.parametrize(
    ("broken", "error", "stdout", "stderr"),
    [
        (
            (CompareResult, "to_json"),
            OSError(28, "No space left"),
            "lambdarank",
            "out.json could not be written (No space",
        ),
        ((bp.QBRank, "gradient_hessian"), RuntimeError("broken on purpose"), "broken on purpose", ""),
    ],
)
def test_what_fails_at_the_end_exits_with_1_and_loses_nothing_else(folder, monkeypatch, broken, error, stdout, stderr):
    def fail(*_args, **_more):
        raise error

    monkeypatch.setattr(*broken, fail)
    files = ["--json", "out.json", "--report", "out.html"]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *ONE, *files])
    assert outcome.exit_code == 1
    assert stdout in outcome.stdout
    assert "lambdarank" in outcome.stdout
    assert stderr in outcome.stderr
    assert "</html>" in Path("out.html").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_130(monkeypatch, number):
    before = signal.getsignal(signal.SIGTERM)
    replace_compare(monkeypatch, lambda **_: signal.raise_signal(number))
    outcome = runner.invoke(cli.app, ["compare"])
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (130, "", "boostplug compare: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.ci
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a shell")
@pytest.mark.parametrize("closed", [">&- 2>&-", "| true"])
def test_closed_outputs(closed):
    code = "import sys; from boostplug.cli import main; main()"
    command = f'"$0" -c "{code}" compare --data nothing {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.ci
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_closed_stdout_is_no_failure_and_a_full_disk_behind_it_is(current):
    bp.Ensemble([[(bp.weak_rankers.Stump(0, 0.5), 1.0)]], n_features=1).save("model.json")
    command = [sys.executable, "-m", "boostplug.cli", "export", "model.json", "--to", "ranklib", "--output", "out.xml"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    reader, writer = os.pipe()
    os.close(reader)
    with Path("/dev/full").open("wb") as full, os.fdopen(writer, "wb") as closed:
        for stdout, status, said in ((closed, 0, ""), (full, 1, "could not be printed (No space left on device)\n")):
            done = subprocess.run(
                command, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
            )
            assert done.returncode == status, done.stderr
            assert done.stderr.endswith(said)
            assert done.stderr.count("\n") == status
    assert Path("out.xml").exists()


def test_without_a_command_it_shows_where_to_start_and_loads_no_library():
    outcome = runner.invoke(cli.app, [])
    assert outcome.exit_code == 0
    assert "Start with 'boostplug compare'" in outcome.stdout
    outcome = runner.invoke(cli.app, ["--version"])
    assert (outcome.exit_code, outcome.stdout) == (0, f"boostplug {bp.__version__}\n")


def test_warmup_says_what_it_has_called(monkeypatch):
    from boostplug.rankers import warm_up

    monkeypatch.setattr(warm_up, "warmup", lambda progress: progress("mpboost", 1.25))
    outcome = runner.invoke(cli.app, ["warmup"])
    assert (outcome.exit_code, outcome.stderr) == (0, "mpboost: 1.2 s\n")


LOSSES = '''
import boostplug as bp

class Flat(bp.RankNet):
    """RankNet by another name."""

def both():
    return 0.5 * Flat() + 0.5 * bp.QBRank()

ready = Flat(sigmoid=0.5)
number = 3
'''


def test_losses_of_your_own(asked, current, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (current / "toy_losses.py").write_text(LOSSES)
    (current / "toy_syntax.py").write_text("def def\n")
    flat, ready, both, other = asked("--losses", "toy_losses:Flat,toy_losses:ready,toy_losses:both, ranknet")["losses"]
    assert (type(flat).__name__, ready.sigmoid) == ("Flat", 0.5)
    assert both == 0.5 * flat + 0.5 * bp.QBRank()
    assert other == "ranknet"
    for text, message in {
        "toy_absent:Flat": "ModuleNotFoundError: No module named 'toy_absent'",
        "toy_losses:Huber": "has no attribute 'Huber'",
        "toy_losses:number": "must be a Loss such as my_losses:MyLoss; got 3",
        "toy_losses:Flat(sigmoid=2)": "write module:name",
        "toy_syntax:Flat": "SyntaxError: invalid syntax (toy_syntax.py, line 1)",
    }.items():
        outcome = runner.invoke(cli.app, ["compare", *QUICK, "--losses", text])
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert outcome.stderr.startswith(f"boostplug compare: --losses: {text}")
        assert message in outcome.stderr
        assert outcome.stderr.count("\n") == 1
    for module in ("toy_losses", "toy_syntax"):
        sys.modules.pop(module, None)


@pytest.mark.ci
def test_several_processes_train_a_loss_of_your_own(current):
    """-P keeps the current folder off Python's path, as the script does. The output has no Greek letters."""
    (current / "toy_losses.py").write_text(LOSSES)
    options = [*QUICK, "--baselines", "lambdarank", "--jobs", "2", "--losses", "toy_losses:Flat, toy_losses:both"]
    command = [sys.executable, "-P", "-m", "boostplug.cli", "compare", *options]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ".5 Flat + .5 QBRank" in done.stdout
