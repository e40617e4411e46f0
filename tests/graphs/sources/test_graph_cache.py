"""A kept graph whose matrices lead outside of their memory is made again."""

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from lqm.graphs.sources import load_graph
from lqm.utils.files import short_hash

SPEC = "synthetic:nodes=40,features=3,classes=2,degree=4"


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: {"indptr": torch.tensor([0] + [10**6] * 39 + [0], dtype=torch.int32)},
        lambda tensors: {"indices": tensors["indices"] + 40},
        lambda tensors: {"features": tensors["features"][:5]},
        lambda tensors: {"features": tensors["features"].double()},
        lambda tensors: {"labels": tensors["labels"].float()},
    ],
)
def test_a_kept_graph_that_is_none_is_made_again(tmp_path, monkeypatch, capsys, change):
    monkeypatch.setenv("LQM_CACHE", str(tmp_path))
    made = load_graph(SPEC, show_progress=False)
    (path,) = (tmp_path / "graphs").iterdir()
    with safe_open(path, framework="pt") as file:
        notes = file.metadata()
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    save_file(tensors | change(tensors), path, notes)
    key = path.name.partition(".")[0]
    path.rename(path.with_name(f"{key}.{short_hash(path.read_bytes())}.safetensors"))
    assert load_graph(SPEC, show_progress=False).fingerprint == made.fingerprint
    assert "cache" in capsys.readouterr().err
