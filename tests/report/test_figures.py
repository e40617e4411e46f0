import torch
from PIL import Image

from lqm.report.figures import ecdf_figure


def test_the_ecdf_figure_is_a_picture(tmp_path):
    draws = torch.Generator().manual_seed(0)
    sets = {"mean": torch.randn(10, generator=draws), "lqm": torch.randn(10, generator=draws)}
    ecdf_figure(torch.randn(50, generator=draws), sets, tmp_path / "ecdf.png", "a feature")
    with Image.open(tmp_path / "ecdf.png") as image:
        assert image.size[0] > image.size[1]
        assert len(image.convert("RGB").getcolors(1_000_000)) > 3
