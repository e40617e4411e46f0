import numpy as np
import pytest
import torch
from PIL import Image

from lqm.condensed import CondensedImages
from lqm.condensed.sheet import contact_sheet


@pytest.mark.parametrize("channels", [1, 3])
def test_a_contact_sheet_shows_every_image_at_its_place(tmp_path, channels):
    values = torch.tensor([0.0, 0.2, 0.4, 0.6])
    images = values.view(4, 1, 1, 1).expand(4, channels, 8, 8)
    condensed = CondensedImages(images, torch.tensor([0, 0, 1, 1]), ("a", "b"), {})
    contact_sheet(condensed, tmp_path / "sheet.png")
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape == (108, 108, 3)
    centres = [sheet[y, x, 0] for y in (28, 80) for x in (28, 80)]
    assert centres == [0, 51, 102, 153]
