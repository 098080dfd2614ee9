"""The command line: what it prints where, and its exit statuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import boostplug as bp
from boostplug import cli
from boostplug.datasets import letor, make_ranking
from boostplug.experiments.result import CompareResult
from boostplug.experiments.training import FRAMEWORKS

runner = CliRunner()
QUICK = ["--rounds", "2", "--seeds", "1", "--threads", "1", "--frameworks", "lightgbm"]


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


def test_compare_prints_the_table_and_writes_the_files(folder, tmp_path):
    files = ["--json", str(tmp_path / "out.json"), "--report", str(tmp_path / "out.html")]
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, *files])
    assert outcome.exit_code == 0, outcome.output
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["data"]["name"].endswith("/Fold1")
    assert [row["method"] for row in document["methods"]][:2] == ["lambdarank", "rank_xendcg"]
    for row in document["methods"]:
        assert f"lightgbm   {row['method']} " in outcome.stdout
    assert "schema" not in outcome.stdout
    assert outcome.stderr == ""
    assert "</html>" in (tmp_path / "out.html").read_text()
    assert str(folder.parent) not in outcome.stdout + (tmp_path / "out.json").read_text()


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
    assert len(by_files) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--losses", "nope"], "there is no loss 'nope'; there are: mpboost"),
        (["--frameworks", "catboost"], "frameworks must be of lightgbm, xgboost"),
        (["--metric", "auc"], "there is no metric 'auc'"),
        (["--data", "nowhere"], "there is no folder nowhere"),
        (["--data", "a.txt"], "--data: a.txt is a file; --data takes one fold"),
        (["--data", "."], "only a.txt; rename the file, or name the three files by --train, --valid and --test"),
        (["--train", ".", "--valid", "a.txt", "--test", "a.txt"], "give a fold's folder by --data"),
        (["--train", "a.txt", "--valid", "a.txt", "--test", "b"], "--test: there is no file b; check the path"),
        (["--train", "nowhere.txt"], "--valid and --test missing"),
        (["--train", "nowhere.txt", "--valid", "b", "--test", "c"], "nowhere.txt"),
        (["--data", ".", "--train", "a"], "exclude each other"),
        (["--json", "no/such/out.json"], "--json: there is no folder no/such for out.json"),
        (["--json", "."], "--json: . is a folder; name a file in it"),
        (["--report", "."], "--report: . is a folder"),
        (["--report", f"{'x' * 300}.html"], "File name too long"),
        (["--json", "out", "--report", "../run/out"], "--json and --report name the same file"),
        (["--learning-rate", "0"], "learning_rate must be a finite number above 0; got 0.0; the default is 0.1"),
        (["--learning-rate", "nan"], "learning_rate must be a finite number above 0; got nan"),
        (["--learning-rate", "-1"], "learning_rate must be a finite number above 0; got -1.0"),
        (["--rounds", "0"], "rounds"),
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


def test_an_output_that_cannot_be_written_is_known_before_training(tmp_path, monkeypatch):
    kept, link = tmp_path / "kept.json", tmp_path / "link.html"
    kept.write_text("as it was")
    link.symlink_to(tmp_path / "new.html")
    cli._check_outputs({"--json": kept, "--report": link})
    assert (kept.read_text(), link.is_symlink(), link.exists()) == ("as it was", True, False)

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(OSError, match=r"--json: .*kept.json cannot be written \(Permission denied\); name another"):
        cli._check_outputs({"--json": kept, "--report": None})


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


def test_ctrl_c_exits_with_130(folder, monkeypatch):
    run = FRAMEWORKS["lightgbm"].run

    def stop_at_ours(self, objective, *args):
        if not isinstance(objective, str):
            raise KeyboardInterrupt
        return run(self, objective, *args)

    monkeypatch.setattr(FRAMEWORKS["lightgbm"], "run", stop_at_ours)
    outcome = runner.invoke(cli.app, ["compare", "--data", str(folder), *QUICK, "--losses", "mpboost"])
    assert outcome.exit_code == 130
    assert "INCOMPLETE: interrupted after 3 of 7 runs" in outcome.stdout


def test_ctrl_c_while_loading_exits_with_130(folder, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "_load", stop)
    assert runner.invoke(cli.app, ["compare"]).exit_code == 130


def test_files_that_count_features_from_0_in_part(folder, tmp_path, monkeypatch):
    for name in ("train", "vali", "test"):
        text = (folder / f"{name}.txt").read_text()
        (tmp_path / name).write_text(text if name != "train" else text.replace(" 1:", " 0:1 1:", 1))
    opened = []
    monkeypatch.setattr(letor, "_open", lambda path, plain=letor._open: opened.append(path.name) or plain(path))
    (parts,), name = cli._load(None, *(tmp_path / name for name in ("train", "vali", "test")))
    assert opened == ["train", "vali", "test"]
    assert name == "train, vali, test"
    assert [part.X.shape[1] for part in parts] == [7, 7, 7]
    assert not parts[1].X[:, 0].any()


def test_version():
    outcome = runner.invoke(cli.app, ["--version"])
    assert (outcome.exit_code, outcome.stdout) == (0, f"boostplug {bp.__version__}\n")


def test_importing_the_command_line_is_cheap():
    heavy = ("numpy", "numba", "lightgbm", "rich.progress")
    code = f"import sys, boostplug.cli; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
