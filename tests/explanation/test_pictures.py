"""Pictures of why and importance show the numbers of their tables."""

import numpy as np
import pytest
from explanation.models import QID, X, fitted

import boostplug as bp
from boostplug.weak_rankers import Feature

pytest.importorskip("matplotlib")

WIDE = bp.Ensemble([[(Feature(k), 1.0 + k) for k in range(20)]], n_features=20)


def bars(axes):
    """Return the start and the end of each bar, from top to bottom."""
    return [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]


def names(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return the axes that a call draws, which gets a path."""
    saved = []
    monkeypatch.setattr("boostplug.explanation.explain.save_figure", lambda figure, path: saved.append(figure))

    def axes_of(call, *arguments, **more):
        frame = call(*arguments, **more, plot=tmp_path / "picture.svg")
        return frame, saved.pop().axes[0]

    return axes_of


def test_steps_lead_from_one_score_to_the_other(drawn):
    model, rows = fitted("lightgbm, categories")
    (pair, of_pair), (one, of_one) = drawn(bp.why, model, rows, 3, 9), drawn(bp.why, model, rows, 3)
    scores = model.predict(rows)
    for frame, axes, start, end in (
        (pair, of_pair, 0.0, scores[3] - scores[9]),
        (one, of_one, one.attrs["base"], scores[3]),
    ):
        found = bars(axes)
        np.testing.assert_allclose([stop - begin for begin, stop in found], frame["contribution"], atol=1e-9)
        np.testing.assert_allclose([begin for begin, _ in found], [start, *(stop for _, stop in found[:-1])], atol=1e-9)
        assert found[-1][1] == pytest.approx(end, abs=1e-9)
        assert f"{end:.4g}" in axes.get_title()
    colour = rows["colour"].iloc[[3, 9]].tolist()
    assert f"colour = {colour[0]} | {colour[1]}" in names(of_pair)
    assert f"colour = {colour[0]}" in names(of_one)


def test_small_contributions_share_a_row(drawn):
    frame, axes = drawn(bp.why, WIDE, np.array([[1.0] * 20, [0.0] * 20]), 0, 1)
    assert len(bars(axes)) == 15
    assert names(axes)[-1] == "6 others"
    assert bars(axes)[-1][1] == pytest.approx(frame["contribution"].sum())


def test_bars_are_the_most_important_features(drawn):
    frame, axes = drawn(bp.importance, WIDE, np.random.default_rng(0).normal(size=(40, 20)), group=[20, 20])
    assert names(axes) == [*frame["feature"].head(15)]
    np.testing.assert_allclose([end for _, end in bars(axes)], frame["importance"].head(15))
    assert axes.get_title() == "importance of 15 of 20 features"
    assert axes.get_xlabel().startswith("mean distance of contributions")


def test_names_are_cut_and_what_is_invisible_is_escaped(drawn):
    long = bp.Ensemble([[(Feature(0), 1.0)]], n_features=2, feature_names=["x" * 200, "\u202e$a_b$"])
    _, axes = drawn(bp.importance, long, np.array([[0.0, 1.0], [1.0, 0.0]]), group=[2])
    assert names(axes) == ["x" * 47 + "…", "\\u202e$a_b$"]


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_files_are_the_same_each_time_and_replace_only_pictures(suffix, tmp_path):
    model, rows = fitted("lightgbm, a loss")
    path = tmp_path / f"picture{suffix}"
    for draw in (lambda: bp.why(model, rows, 0, 1, plot=path), lambda: bp.importance(model, rows, qid=QID, plot=path)):
        draw()
        first = path.read_bytes()
        assert first[:5] in (b"<?xml", b"\x89PNG\r")
        draw()
        assert path.read_bytes() == first
        path.write_text("notes")
        with pytest.raises(FileExistsError, match="holds something else"):
            draw()
        assert path.read_text() == "notes"
        path.unlink()


@pytest.mark.parametrize("plot", ["why.pdf", "why"])
def test_other_suffixes_are_refused(plot):
    model, rows = fitted("lightgbm, a loss")
    for draw in (lambda: bp.why(model, rows, 0, 1, plot=plot), lambda: bp.importance(model, X, qid=QID, plot=plot)):
        with pytest.raises(ValueError, match=r"plot must end with \.svg or \.png"):
            draw()
