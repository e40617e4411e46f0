import numpy as np
import pytest
import torch

from lqm.evaluation.streams import stored_matrices
from lqm.graphs.continual import average_accuracies
from lqm.report.figures.streams import draw_average_accuracy, draw_matrices
from tests.report.figures.making import curves, drawn, stream, title


def test_a_matrix_shows_the_mean_over_repeats_in_percent(tmp_path):
    folder = stream(tmp_path / "a", repeats=3)
    figure = drawn(draw_matrices, folder)[0]["accuracy-matrix-cat-lqm"]
    mean = stored_matrices(folder).mean(dim=0)
    panel = figure.axes[0]
    shown = np.ma.filled(panel.images[0].get_array(), np.nan)
    np.testing.assert_allclose(shown, 100 * mean.numpy())
    numbers = {text.get_position(): text.get_text() for text in panel.texts}
    assert numbers == {(i, k): f"{100 * mean[k, i]:.0f}" for k in range(3) for i in range(k + 1)}
    assert title(figure) == "cat + lqm; papers: 3 tasks, class-incremental"


def test_average_accuracy_has_a_line_a_stream_with_its_spread(tmp_path):
    folders = [
        stream(tmp_path / "a", repeats=3),
        stream(tmp_path / "b", "finetuning", None, repeats=1, seed=1),
    ]
    figures, _ = drawn(draw_average_accuracy, *folders)
    panel = figures["average-accuracy"].axes[0]
    lines = curves(panel)
    assert [*lines] == ["cat + lqm", "finetuning"]
    for folder, line, shade in zip(folders, lines.values(), panel.collections, strict=True):
        averages = 100 * average_accuracies(stored_matrices(folder))
        assert [y for _, y in line] == pytest.approx(averages.mean(dim=0).tolist())
        spread = averages.std(dim=0) if len(averages) > 1 else torch.zeros(3)
        low, high = shade.get_datalim(panel.transData).intervaly
        assert low == pytest.approx((averages.mean(dim=0) - spread).min().item())
        assert high == pytest.approx((averages.mean(dim=0) + spread).max().item())


def test_streams_of_other_tasks_have_figures_of_their_own(tmp_path):
    other = stream(tmp_path / "b", tasks=4)
    text = (other / "result.json").read_text()
    (other / "result.json").write_text(text.replace('"scoring": "class"', '"scoring": "task"'))
    folders = [stream(tmp_path / "a"), other]
    assert [*drawn(draw_average_accuracy, *folders)[0]] == [
        "average-accuracy-papers",
        "average-accuracy-papers-2",
    ]
    assert [*drawn(draw_matrices, *folders)[0]] == [
        "accuracy-matrix-cat-lqm-papers",
        "accuracy-matrix-cat-lqm-papers-2",
    ]
