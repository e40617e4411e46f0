"""Names of classes and of sources that are no text: a run on them is finished, saved, shown and exported."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import lqm
from lqm.condensed.export import EXPORTS, NODE_EXPORTS, export, safe_names
from lqm.images.sources import load_source

NAMES = ("\udcff", "\ud800", "a/../../b", "..", "nul\0byte", "\x1b[31m", "\x85", "con: ", "é", "\u202egnp")
TINY = {"steps": 2, "network": "convnet:width=4:depth=1", "real_batch": 4}


def finish(source, out, **options):
    """Condense, load, and write a page, all of which is text."""
    made = lqm.condense(source, out=out, show_progress=False, **options)
    again = lqm.load(out)
    assert again.class_names == made.class_names
    assert again.data.equal(made.data)
    lqm.write_report(out, out / "report.html", source=source)
    (out / "report.html").read_text("utf-8")
    (out / "manifest.json").read_text("utf-8")
    (out / "run.json").read_text("utf-8")
    return again


@pytest.fixture(scope="module")
def named(digits):
    pairs = [(image[0].numpy(), int(label)) for image, label in zip(*vars_of(digits), strict=True)]
    return lqm.from_dataset(pairs, name="mine \udcff", class_names=NAMES, show_progress=False)


def vars_of(digits):
    return digits.train.images[:300], digits.train.labels[:300]


def test_classes_whose_names_are_no_text(named, tmp_path):
    made = finish(named, tmp_path / "run", per_class=1, settings=TINY, compile="off")
    assert made.class_names == NAMES
    again = lqm.condense(
        named, out=tmp_path / "run", per_class=1, settings=TINY, compile="off", show_progress=False
    )
    assert again.data.equal(made.data), "it is finished already"


def test_every_export_of_such_classes_stays_in_its_folder(named, tmp_path):
    made = lqm.condense(named, method="random", per_class=1, show_progress=False)
    place = tmp_path / "exports"
    place.mkdir()
    for form in EXPORTS:
        export(made, form, place / form)
    assert [path.name for path in tmp_path.iterdir()] == ["exports"]
    classes = json.loads((place / "folder" / "classes.json").read_text("utf-8"))
    assert [entry["name"] for entry in classes] == list(NAMES)
    folders = [entry["folder"] for entry in classes]
    assert sorted(os.listdir(place / "folder")) == sorted([*folders, "classes.json"])
    for entry in classes:
        assert [path.name for path in (place / "folder" / entry["folder"]).iterdir()] == ["00000.png"]
        assert entry["folder"].encode()
        assert all(letter.isprintable() or letter == "\u202e" for letter in entry["folder"])
    stored = np.load(place / "npz.npz")
    assert tuple(stored["class_names"].tolist()) == NAMES


@pytest.mark.parametrize("name", [*NAMES, "", "/", "\\", ".", "~", "-rf", "a" * 300, "CON", "x."])
def test_the_name_of_a_folder_is_one_component(name):
    (safe,) = safe_names([name])
    assert Path("base", safe).resolve().parent == Path("base").resolve()
    assert "\0" not in safe
    assert 1 <= len(safe.encode()) <= 255


def test_a_folder_of_images_whose_names_are_bytes(tmp_path):
    root = os.fsencode(tmp_path) + b"/photos \xff"
    draws = np.random.default_rng(0)
    for name in (b"caf\xe9", b"dog"):
        os.makedirs(root + b"/" + name)
        for number in range(8):
            image = Image.fromarray(draws.integers(0, 255, (8, 8), dtype=np.uint8))
            with open(root + b"/" + name + b"/%d \xfe.png" % number, "wb") as file:
                image.save(file, "PNG")
    source = Path(os.fsdecode(root))
    made = finish(source, tmp_path / "run", per_class=1, settings=TINY, compile="off")
    assert "caf\udce9" in made.class_names
    assert lqm.write_figures(tmp_path / "run", tmp_path / "figures")
    assert (
        lqm.evaluate(
            tmp_path / "run", networks="mlp", protocol="cross-200", show_progress=False, baselines=()
        ).accuracy
        >= 0
    )


def test_nodes_whose_classes_are_no_text(tmp_path):
    draws = np.random.default_rng(0)
    path = tmp_path / os.fsdecode(b"graph \xff.npz")
    np.savez(
        path,
        x=draws.random((60, 5), dtype=np.float32),
        y=np.arange(60) % 3,
        edge_index=draws.integers(0, 60, (2, 200)),
        class_names=np.array(["\udcff", "a/b", ".."]),
    )
    made = finish(path, tmp_path / "run", budget=3, settings={"steps": 2, "width": 4})
    for form in NODE_EXPORTS:
        export(made, form, tmp_path / f"to-{form}")
    found = lqm.continual(
        path,
        out=tmp_path / "stream",
        budget=1,
        classes_per_task=1,
        settings={"steps": 2, "width": 4, "epochs": 2, "classifier": "gcn:width=4"},
        show_progress=False,
        repeats=1,
    )
    assert len(found.tasks) == 3
    lqm.write_report(tmp_path / "stream")


def test_the_command_line_prints_such_names(tmp_path, type_in):
    source = load_source("digits")
    out = tmp_path / os.fsdecode(b"run \xff")
    lqm.condense(source, method="random", per_class=1, out=out, show_progress=False)
    for words in (
        ("runs", tmp_path),
        ("compare", out),
        ("report", out),
        ("export", out, "--to", "npz", "--out", out / "x"),
    ):
        code, printed, error = type_in(*words)
        assert code == 0, error
        assert printed.encode()
