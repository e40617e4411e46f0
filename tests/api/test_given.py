"""Data out of a program: arrays, datasets, frames and graphs are condensed and evaluated as they are."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_digits
from torch.utils.data import Dataset, TensorDataset

import lqm
from lqm.images.evaluation import PROTOCOLS
from lqm.utils.errors import ConfigError, DataError, LqmError

DIGITS = load_digits()
X, Y = (DIGITS.images[:400] / 16).astype(np.float32), DIGITS.target[:400]
BYTES = (X * 255).round().astype(np.uint8)
SMALL = {"per_class": 1, "settings": {"steps": 2, "network": "convnet:width=4", "real_batch": 8}}
QUIET = {"show_progress": False}


class Items(Dataset):
    def __len__(self):
        return len(Y)

    def __getitem__(self, index):
        return Image.fromarray(BYTES[index]), f"digit {Y[index]}"


def make(*data, **options):
    return lqm.condense(*data, **SMALL | QUIET | options)


def accuracy(condensed, *source, **options):
    usual = {"baselines": (), "protocol": "tiny", **QUIET}
    return lqm.evaluate(condensed, *source, **usual | options).accuracy


@pytest.fixture(autouse=True)
def tiny_evaluation(monkeypatch, tiny_protocol):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)


@pytest.fixture(scope="module")
def hub():
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    names = [f"digit {n}" for n in range(10)]
    features = datasets.Features({"label": datasets.ClassLabel(names=names), "picture": datasets.Image()})
    rows = {"label": Y.tolist(), "picture": [Image.fromarray(image) for image in BYTES]}
    return datasets.Dataset.from_dict(rows, features=features)


@pytest.fixture
def frame(tmp_path):
    paths = [tmp_path / f"{number}.png" for number in range(60)]
    for image, path in zip(BYTES, paths, strict=False):
        Image.fromarray(image).save(path)
    kinds = np.where(Y[:60] % 2, "odd", "even")
    return pd.DataFrame({"path": [str(path) for path in paths], "label": kinds})


def test_arrays_are_condensed_and_evaluated_in_two_lines():
    condensed = make(X, Y)
    assert repr(condensed) == "CondensedImages(10 of 10 classes, 1x8x8, dm + lqm)"
    assert condensed.class_names == tuple("0123456789")
    assert 0 <= accuracy(condensed) <= 1


def test_a_set_that_is_loaded_is_given_its_data_again(tmp_path):
    made = make(X, Y, class_names=[f"digit {n}" for n in range(10)], test_fraction=0.3)
    made.save(tmp_path / "set")
    loaded = lqm.load(tmp_path / "set")
    assert accuracy(loaded, (X, Y), test_fraction=0.3) == accuracy(made)
    with pytest.raises(DataError, match="made in Python"):
        accuracy(loaded)
    with pytest.raises(DataError, match="is not what this set was condensed from"):
        accuracy(loaded, (X, Y))
    with pytest.raises(ConfigError, match="give that too"):
        accuracy(loaded, test_fraction=0.3)


@pytest.mark.parametrize(
    "form",
    [
        lambda x: x,
        lambda x: torch.from_numpy(x),
        lambda x: x[:, None],
        lambda x: x[..., None],
        lambda x: torch.from_numpy(x)[:, None].requires_grad_(),
        lambda x: torch.from_numpy(x).bfloat16().float(),
    ],
    ids=["N,H,W", "tensor", "N,C,H,W", "N,H,W,C", "with gradient", "floats"],
)
def test_every_layout_of_arrays_is_the_same_images(form):
    source = lqm.load_source(form(X), Y, **QUIET)
    expected = lqm.load_source("digits").train.images.shape[1:]
    assert source.train.images.shape[1:] == expected
    assert len(source.train.labels) + len(source.test.labels) == len(Y)
    ours = torch.cat([source.train.images, source.test.images]).flatten(1)
    own = torch.from_numpy(X).flatten(1)
    nearest = torch.cdist(ours.float(), own).amin(dim=1)
    assert nearest.max() < 0.05


def test_colours_in_either_order_are_the_same():
    colours = np.stack([BYTES, BYTES // 2, 255 - BYTES], axis=1)
    first, last = (
        lqm.load_source(images, Y, **QUIET).fingerprint for images in (colours, colours.transpose(0, 2, 3, 1))
    )
    assert first == last


def test_labels_are_numbers_or_texts_of_any_array():
    texts = [f"digit {label}" for label in Y]
    names = [f"digit {n}" for n in range(10)]
    by_number = lqm.load_source(X, torch.from_numpy(Y), class_names=names, **QUIET)
    for labels in (texts, np.array(texts), np.array(texts, dtype=object), pd.Series(texts, dtype="category")):
        assert lqm.load_source(X, labels, **QUIET).fingerprint == by_number.fingerprint
    tested = {"test": (X[300:], texts[300:]), "class_names": names[::-1], **QUIET}
    reverse = lqm.load_source(X[:300], texts[:300], **tested)
    assert reverse.class_names == tuple(names[::-1])
    assert reverse.train.labels.tolist() == (9 - Y[:300]).tolist()
    assert reverse.test.labels.tolist() == (9 - Y[300:]).tolist()
    odd = lqm.load_source(X, 3 * Y[:, None] - 5, **QUIET)
    assert odd.class_names[:2] == ("-5", "-2")


def test_a_test_set_of_ones_own():
    source = lqm.load_source(X[:300], Y[:300], test=(X[300:], Y[300:]), **QUIET)
    assert torch.equal(source.test.images[:, 0], torch.from_numpy(X[300:]))
    assert source.test.labels.tolist() == Y[300:].tolist()
    assert make((X[:300], Y[:300]), test=(X[300:], Y[300:])).real.fingerprint == source.fingerprint


def test_a_dataset_of_tensors_is_its_arrays():
    dataset = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    assert make(dataset).real.fingerprint == lqm.load_source(X, Y, **QUIET).fingerprint


def test_a_torch_dataset_with_texts_as_labels():
    condensed = make(Items(), size=16)
    assert condensed.class_names == tuple(f"digit {n}" for n in range(10))
    assert condensed.images.shape == (10, 1, 16, 16)
    condensed.manifest["source"]["name"] = "dataset"
    assert 0 <= accuracy(condensed, Items()) <= 1


def test_a_hugging_face_dataset_of_one_split_or_two(hub, tmp_path):
    condensed = make(hub)
    assert condensed.class_names == tuple(f"digit {n}" for n in range(10))
    assert (
        condensed.real.fingerprint == lqm.load_source(BYTES, Y, class_names=condensed.class_names).fingerprint
    )
    both = hub.train_test_split(0.25, seed=0)
    made = make(both, out=tmp_path / "run")
    assert len(made.real.test.labels) == 100
    assert 0 <= accuracy(tmp_path / "run", both) <= 1
    with pytest.raises(DataError, match=r"splits.*a; it should have 'train'"):
        make(type(both)({"a": hub}))


def test_columns_of_a_hugging_face_dataset(hub):
    import datasets

    texts = hub.cast_column("label", datasets.Value("string"))
    assert lqm.load_source(texts, **QUIET).class_names == tuple("0123456789")
    with pytest.raises(DataError, match=r"columns label, of which none.*images"):
        make(hub.remove_columns("picture"))
    with pytest.raises(DataError, match=r"columns picture, of which none.*labels.*rename it to 'label'"):
        make(hub.remove_columns("label"))


def test_a_frame_of_paths(frame, tmp_path):
    condensed = make(frame)
    assert condensed.class_names == ("even", "odd")
    assert accuracy(condensed) == accuracy(condensed.save(tmp_path / "set"), frame)
    other = frame.rename(columns={"path": "where", "label": "Class"})
    assert lqm.load_source(other, **QUIET).fingerprint == condensed.real.fingerprint
    parts = lqm.load_source(frame[:40], test=frame[40:], **QUIET)
    assert len(parts.test.labels) == 20


def test_a_frame_that_cant_be_used_says_which_row(frame):
    frame["more"] = 1
    with pytest.raises(DataError, match=r"row 3 of the training frame names nowhere\.png, which is no file"):
        make(frame.replace(frame["path"][3], "nowhere.png"))
    with pytest.raises(DataError, match=r"columns where, label, more; it should have.*'path'"):
        make(frame.rename(columns={"path": "where"}))
    with pytest.raises(DataError, match="row 0 of the training frame has nan"):
        make(frame.assign(path=np.nan))
    with pytest.raises(DataError, match="frame is empty"):
        make(frame[:0])


def test_a_graph_of_pyg_with_names_of_its_classes():
    from torch_geometric.data import Data

    draws = torch.Generator().manual_seed(0)
    edges = torch.randint(60, (2, 150), generator=draws)
    graph = Data(torch.rand(60, 5, generator=draws), edges, y=torch.arange(60) % 2)
    options = {"budget": 4, "settings": {"steps": 2, "width": 4}, **QUIET}
    condensed = lqm.condense(graph, class_names=["theory", "vision"], **options)
    assert condensed.class_names == ("theory", "vision")
    assert 0 <= accuracy(condensed, protocol="graph-quick", repeats=1) <= 1
    with pytest.raises(ConfigError, match="a graph has labels and a split of its own; leave y out"):
        lqm.condense(graph, Y, **options)
    with pytest.raises(ConfigError, match=r"experts learn from images, and 'Data.*' is a graph"):
        lqm.experts(graph, out="nowhere", class_names=["theory", "vision"])


def test_rows_of_features_are_a_table(monkeypatch):
    """With a stand-in for the kind of data, which has tests of its own."""
    calls = []
    table = ModuleType("lqm.tabular")
    table.from_arrays = lambda *given, **words: calls.append((given, words)) or SimpleNamespace()
    monkeypatch.setitem(sys.modules, "lqm.tabular", table)
    from lqm.api.given import given_source

    rows = X.reshape(len(X), -1)
    given_source(rows, Y, {"class_names": "ab", "test_fraction": 0.5, "seed": 3})
    given_source(pd.DataFrame(rows), Y, {"test": (rows, Y)})
    (first, words), (second, more) = calls
    assert first[0] is rows
    assert words == {"class_names": "ab", "test_fraction": 0.5}
    assert isinstance(second[0], pd.DataFrame)
    assert more["test"][0] is rows


class Vectors(Dataset):
    classes = tuple(f"digit {n}" for n in range(10))

    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        number = self.numbers[index]
        return torch.from_numpy(X[number].ravel()), torch.tensor(Y[number])


def test_a_torch_dataset_of_vectors_is_a_table():
    options = {"per_class": 1, "method": "random", **QUIET}
    condensed = lqm.condense(Vectors(range(200)), test=Vectors(range(200, 300)), **options)
    rows = X.reshape(len(X), -1)
    given = lqm.condense(
        rows[:200], Y[:200], test=(rows[200:300], Y[200:300]), class_names=Vectors.classes, **options
    )
    assert isinstance(condensed, lqm.CondensedTable)
    assert torch.equal(condensed.records()[0], given.records()[0])
    assert condensed.class_names == Vectors.classes
    assert len(condensed.real.test.labels) == 100


@pytest.mark.slow
def test_a_type_checker_knows_what_becomes_of_data(tmp_path):
    api = pytest.importorskip("mypy.api")
    script = tmp_path / "script.py"
    script.write_text(
        """
from typing import assert_type
import lqm
from torch import Tensor
from torch.utils.data import Dataset

def vectors(dataset: Dataset[tuple[Tensor, int]], source: lqm.ImageSource) -> None:
    assert_type(lqm.condense(dataset), lqm.CondensedImages | lqm.CondensedTable)
    assert_type(lqm.condense(source), lqm.CondensedImages)
"""
    )
    printed, errors, code = api.run(["--strict", str(script)])
    assert (code, errors) == (0, ""), printed


@pytest.mark.parametrize(
    ("second", "sentence"),
    [
        ((torch.zeros(3), 1), "item 1 of the training set has 3 features and its first item 2"),
        ((torch.zeros(1, 8, 8), 1), "item 1 of the training set is no vector with its label"),
    ],
)
def test_a_vector_that_is_unlike_the_others_is_named(second, sentence):
    class Two(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return second if index else (torch.zeros(2), 0)

    with pytest.raises(DataError, match=sentence):
        lqm.condense(Two(), **QUIET)


def test_a_hugging_face_dataset_of_numbers_is_led_to_arrays():
    datasets = pytest.importorskip("datasets")
    for column in ([0.5] * 4, [[0.5, 1.0]] * 4):
        numbers = datasets.Dataset.from_dict({"width": column, "label": [0, 1, 0, 1]})
        with pytest.raises(DataError, match=r"rows of numbers are given as lqm.condense\(X, y\)"):
            lqm.condense(numbers, **QUIET)
    texts = datasets.Dataset.from_dict({"text": ["a"] * 4, "label": [0, 1, 0, 1]})
    with pytest.raises(DataError, match="holds images") as refused:
        lqm.condense(texts, **QUIET)
    assert "lqm.condense(X, y)" not in str(refused.value)


def test_a_frame_of_numbers_is_a_table_if_its_labels_are_named():
    frame = pd.DataFrame(X.reshape(len(X), -1)).assign(digit=Y)
    with pytest.raises(DataError, match="be a table whose column of labels is named"):
        lqm.condense(frame)
    with pytest.raises(DataError, match="no column 'digits' in the frame; its columns are 0, 1"):
        lqm.condense(frame, label="digits")
    options = {"per_class": 1, "method": "random", **QUIET}
    named = lqm.condense(frame[:200], label="digit", test=frame[200:300], **options)
    given = lqm.condense(
        X[:200].reshape(200, -1), Y[:200], test=(X[200:300].reshape(100, -1), Y[200:300]), **options
    )
    assert torch.equal(named.dataset().tensors[0], given.dataset().tensors[0])
    assert len(named.real.test.labels) == 100


@pytest.mark.parametrize("function", [lqm.sketch, lqm.experts])
def test_banks_are_made_of_arrays_and_used_with_them(function, tmp_path):
    network = "convnet:width=4"
    few = {"encoders": 2, "max_per_class": 1} if function is lqm.sketch else {"networks": 1, "epochs": 1}
    function(X, Y, out=tmp_path / "bank", settings={"network": network}, **few, **QUIET)
    if function is lqm.sketch:
        made = make(X, Y, sketch=tmp_path / "bank", settings={"steps": 2, "network": network})
        assert made.manifest["sketch"]["encoders"] == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ((X,), r"X has no labels; give them as y, as in lqm\.condense\(X, y\)"),
        (("digits", Y), "'digits' has all of its own; leave y out"),
        ((X, Y[:5]), "X has 400 images and 5 labels; give as many"),
        ((X, Y / 2), r"labels of 'arrays' are of type float64; .*y\.astype\(int\)"),
        ((X[:0], Y[:0]), r"X has shape \[0, 1, 8, 8\]; .*N > 0"),
        ((X, []), "labels of 'arrays' are empty"),
        ((X, 0 * Y), "'arrays' has only one class, '0'"),
        ((np.where(X > 0.9, np.nan, X), Y), r"X has nan at \[0, .*replace"),
        ((X - 0.5, Y), "X has pixels from -0.5 to 0.5; they should be floats in"),
        ((BYTES.astype(int), Y), "X has type int64; it should be uint8, or floats"),
        ((X.reshape(-1, 4, 4, 4), Y), r"X has shape \[400, 4, 4, 4\], in which both .* channels"),
        ((X.reshape(400, 8, 8, 1, 1), Y), r"X has shape .*images should be \[N, H, W\]"),
        ((X[:, :, :6], Y), "6x8 pixels and should be square.*size=8"),
        ((X, np.eye(10)[Y]), r"labels of 'arrays' have shape \[400, 10\]; .*y\.argmax\(1\)"),
        ((X, [None, *Y[1:].tolist()]), "among the labels of 'arrays' is None"),
        ((X, ["a", *Y[1:].tolist()]), "among the labels of 'arrays' is .*whole numbers or texts"),
        ((Items(), Y), "Items has labels of its own.*leave y out"),
        ((3,), "3 is no source; give a name, a path, arrays as X and y"),
        ((X, Y, {"test": X}), r"test set has no labels; give it as test=\(X_test, y_test\)"),
        ((X, Y, {"class_names": ["a", "b"]}), "2 class names and 10 classes"),
        ((X, Y, {"class_names": "0123456789"}), "class_names = '0123456789' can't be used"),
        ((X, Y, {"class_names": ["a"] * 10}), "a name twice"),
        ((X, Y.astype(str), {"class_names": list("abcdefghij")}), "they should be the same names"),
        (
            (X[Y < 5], Y[Y < 5], {"test": (X, Y)}),
            "labels of the test images of 'arrays' is 5, which no training",
        ),
        ((X, Y, {"test": (X[:9], Y[:9]), "test_fraction": 0.3}), "leave test_fraction out"),
        ((X, Y, {"data_dir": "data"}), "data_dir is for named sources"),
        ((X, Y, {"budget": 3}), "budget is for graphs, and 'arrays' is images"),
    ],
)
def test_what_cant_be_used_is_one_sentence(data, sentence):
    options = data[-1] if isinstance(data[-1], dict) else {}
    with pytest.raises(LqmError, match=sentence) as refused:
        make(*(part for part in data if part is not options), **options)
    assert "\n" not in str(refused.value)


def test_pixels_that_would_be_nearly_black_are_warned_of(capsys):
    lqm.load_source(DIGITS.images[:100], DIGITS.target[:100], **QUIET)
    assert (
        "X goes up to 16 of 255, which is nearly black; if 16 is white, divide it by 16"
        in capsys.readouterr().err
    )
