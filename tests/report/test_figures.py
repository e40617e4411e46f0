import torch
from PIL import Image

from lqm.images.evaluation import EvaluationProtocol, LatentMatch, Score
from lqm.report.figures import ecdf_figure
from lqm.report.tables import score_markdown, score_table


def test_the_ecdf_figure_is_a_picture(tmp_path):
    draws = torch.Generator().manual_seed(0)
    sets = {"mean": torch.randn(10, generator=draws), "lqm": torch.randn(10, generator=draws)}
    ecdf_figure(torch.randn(50, generator=draws), sets, tmp_path / "ecdf.png", "a feature")
    with Image.open(tmp_path / "ecdf.png") as image:
        assert image.size[0] > image.size[1]
        assert len(image.convert("RGB").getcolors(1_000_000)) > 3


def test_tables_show_scores_with_their_protocol():
    protocol = EvaluationProtocol("quick", epochs=300, networks=2, network="convnet:width=32")
    rows = {"random": Score(100, (0.5, 0.7), LatentMatch(0.123, 0.0456), LatentMatch(0.3, 0.0))}
    markdown = score_markdown(rows, protocol)
    assert "| random | 100 | 60.0 ± 10.0 | 0.123 | 0.300 | 4.56 | 0.00 |" in markdown
    assert "300 epochs" in markdown
    assert score_table(rows, protocol).row_count == 1
