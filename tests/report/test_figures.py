import numpy as np
import pytest
import torch
from PIL import Image

from lqm.condensed import CondensedSet
from lqm.images.evaluation import EvaluationProtocol, LatentMatch, Score
from lqm.report.figures import contact_sheet, ecdf_figure
from lqm.report.tables import score_markdown, score_table


@pytest.mark.parametrize("channels", [1, 3])
def test_a_contact_sheet_shows_every_picture_at_its_place(tmp_path, channels):
    values = torch.tensor([0.0, 0.2, 0.4, 0.6])
    images = values.view(4, 1, 1, 1).expand(4, channels, 8, 8)
    small = CondensedSet(images, torch.tensor([0, 0, 1, 1]), ("a", "b"), {})
    contact_sheet(small, tmp_path / "sheet.png")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape == (108, 108, 3)
    centres = [sheet[y, x, 0] for y in (28, 80) for x in (28, 80)]
    assert centres == [0, 51, 102, 153]


def test_the_ecdf_figure_is_a_picture(tmp_path):
    draws = torch.Generator().manual_seed(0)
    sets = {"mean": torch.randn(10, generator=draws), "lqm": torch.randn(10, generator=draws)}
    ecdf_figure(torch.randn(50, generator=draws), sets, tmp_path / "ecdf.png", "a feature")
    with Image.open(tmp_path / "ecdf.png") as image:
        assert image.size[0] > image.size[1]
        assert len(image.convert("RGB").getcolors(1_000_000)) > 3


def test_tables_show_scores_with_their_protocol():
    protocol = EvaluationProtocol("quick", epochs=300, networks=2, width=32)
    rows = {"random": Score(100, (0.5, 0.7), LatentMatch(0.123, 0.0456), LatentMatch(0.3, 0.0))}
    markdown = score_markdown(rows, protocol)
    assert "| random | 100 | 60.0 ± 10.0 | 0.123 | 0.300 | 4.56 | 0.00 |" in markdown
    assert "300 epochs" in markdown
    assert score_table(rows, protocol).row_count == 1
