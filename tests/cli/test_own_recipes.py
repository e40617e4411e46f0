"""`lqm recipes PATH`: the recipes that suit data of one's own, whatever form they have."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import lqm
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.images.evaluation import PROTOCOLS
from lqm.tabular.evaluation import PROTOCOLS as TABLE_PROTOCOLS


def folder(path):
    for name in ("cat", "dog"):
        (path / name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(path / name / "0.png")


def arrays(path):
    np.savez(path, images=np.zeros((4, 8, 8), np.uint8), labels=np.arange(4) % 2)


def graph(path):
    edges = np.array([[0, 1], [1, 2]])
    np.savez(path, x=np.zeros((3, 2), np.float32), y=np.arange(3) % 2, edge_index=edges)


def images(path):
    """As the Hugging Face hub has them."""
    condensed = lqm.condense("digits", method="random", per_class=1, show_progress=False)
    lqm.export_set(condensed, "parquet", path)


def numbers(path):
    pq.write_table(pa.table({"height": [1.0, 2.0], "weight": [3.0, 4.0], "kind": [0, 1]}), path)


def text(path):
    path.write_text("height,weight,kind\n1.0,3.0,a\n2.0,4.0,b\n")


@pytest.mark.parametrize(
    ("write", "name", "protocols"),
    [
        (folder, "photos", PROTOCOLS),
        (arrays, "images.npz", PROTOCOLS),
        (images, "images.parquet", PROTOCOLS),
        (graph, "graph.npz", GRAPH_PROTOCOLS),
        (text, "rows.csv", TABLE_PROTOCOLS),
        (numbers, "rows.parquet", TABLE_PROTOCOLS),
    ],
)
def test_data_of_ones_own_have_recipes(type_in, tmp_path, write, name, protocols):
    write(path := tmp_path / name)
    code, printed, error = type_in("recipes", path)
    assert code == 0, error
    assert f"lqm condense {path}" in " ".join(printed.split())
    found = json.loads(type_in("recipes", path, "--json")[1])["recipes"]
    assert found
    assert {entry["source"] for entry in found} == {str(path)}
    assert {entry["protocol"] for entry in found} <= {*protocols}


def test_names_and_paths_that_lead_nowhere(type_in, tmp_path):
    assert "cat-paper" in type_in("recipes", "digits-knn")[1]
    assert "there is no" in type_in("recipes", tmp_path / "none.npz")[2]


def test_sets_in_the_form_of_mnist_have_its_recipes(type_in):
    found = json.loads(type_in("recipes", "kmnist", "--json")[1])["recipes"]
    mnist = json.loads(type_in("recipes", "mnist", "--json")[1])["recipes"]
    assert found == [entry | {"source": "kmnist"} for entry in mnist]
