"""No path, user or machine is named in what a user may give away: a set, an export, a page, an event file."""

import base64
import binascii
import io
import json
import os
import re
import shutil
import socket
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import lqm
from lqm.condensed.export import EXPORTS, NODE_EXPORTS, export
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.utils.errors import DataError

TOKEN = "secretplace"
TINY = {"steps": 2, "network": "convnet:width=4:depth=1", "real_batch": 4}
NODES = {"steps": 2, "width": 4}


def parts(content):
    """The bytes of a file, and all that is packed in them: members of archives, text of PNG, base64."""
    yield content
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            yield from (archive.read(name) for name in archive.namelist())
    for found in re.finditer(rb"zTXt|iTXt|iCCP", content):
        for start in range(found.end(), found.end() + 120):
            try:
                yield zlib.decompressobj().decompress(content[start:])
            except zlib.error:
                continue
    for found in re.findall(rb"[A-Za-z0-9+/]{40,}={0,2}", content):
        try:
            yield base64.b64decode(found + b"=" * (-len(found) % 4))
        except binascii.Error:
            continue


def leaks(folder):
    """The files below a folder in which, or in whose names, the token is."""
    forms = [TOKEN.encode(code) for code in ("utf-8", "utf-16-le", "utf-32-le")]
    return [
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if TOKEN in path.relative_to(folder).as_posix().lower()
        or (
            path.is_file()
            and any(form in part.lower() for part in parts(path.read_bytes()) for form in forms)
        )
    ]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working directory whose path, user and machine have the token in their names, and data in it."""
    home = tmp_path / f"home-{TOKEN}"
    (home / "runs").mkdir(parents=True)
    for name in ("HOME", "USER", "LOGNAME", "HOSTNAME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home) if name == "HOME" else TOKEN)
    monkeypatch.setattr(socket, "gethostname", lambda: f"host-{TOKEN}")
    monkeypatch.setattr("platform.node", lambda: f"host-{TOKEN}")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def photos(place, digits):
    path = place / "photos.npz"
    images = (digits.train.images[:120] * 255).byte().numpy()
    np.savez(path, images=images, labels=digits.train.labels[:120].numpy())
    return path


@pytest.fixture
def quick(monkeypatch):
    """One protocol at a size that takes a moment."""
    protocol = EvaluationProtocol("cross-200", 1, 1, TINY["network"], full_networks=1, full_steps=1)
    monkeypatch.setitem(PROTOCOLS, "cross-200", protocol)


@pytest.fixture
def graph(place):
    draws = np.random.default_rng(0)
    edges = draws.integers(0, 60, (2, 200))
    np.savez(
        place / "graph.npz", x=draws.random((60, 5), dtype=np.float32), y=np.arange(60) % 3, edge_index=edges
    )
    return place / "graph.npz"


def test_nothing_of_images_says_where_they_are(place, photos):
    runs = place / "runs"
    common = {"settings": TINY, "compile": "off", "show_progress": False}
    made = lqm.condense(
        photos, out=runs / "run", per_class=1, tensorboard=True, evaluate_every=None, **common
    )
    lqm.condense(photos, out=runs / "again" / "run", per_class=1, **common)
    lqm.sketch(
        photos,
        out=runs / "sketch",
        encoders=1,
        max_per_class=1,
        **common | {"settings": {"network": TINY["network"]}},
    )
    lqm.write_report([runs / "run", runs / "again" / "run"], runs / "report.html")
    lqm.write_figures([runs / "run", runs / "again" / "run"], runs / "figures")
    for form in EXPORTS:
        export(made, form, runs / "exports" / form)
    made.save(runs / "saved")
    lqm.condense(photos, method="random", per_class=1, show_progress=False).save(runs / "python")
    assert any((runs / "run" / "tensorboard").iterdir())
    assert leaks(runs) == []


def test_nothing_of_an_imported_set_and_no_card_says_where_it_was(place, photos, digits, quick):
    runs = place / "runs"
    images = np.concatenate([own[:1].numpy() for own in digits.by_class])
    np.savez(place / "theirs.npz", images=images, labels=np.arange(10))
    made = lqm.import_set(place / "theirs.npz", source=photos, out=runs / "imported", show_progress=False)
    unsaved = lqm.import_set(place / "theirs.npz", source=photos, show_progress=False)
    lqm.audit(made, shadows=0, references=(), protocol="cross-200", show_progress=False)
    lqm.evaluate(made, networks="mlp", repeats=1, protocol="cross-200", show_progress=False)
    lqm.write_report([runs / "imported"], runs / "report.html")
    for form in EXPORTS:
        lqm.export_set(runs / "imported", form, runs / "exports" / form)
    lqm.export_set(unsaved, "folder", runs / "unsaved" / "folder")
    assert "theirs.npz" in (runs / "unsaved" / "folder" / "README.md").read_text()
    assert leaks(runs) == []


def test_nothing_of_a_named_source_says_in_which_folder_it_is(place, digits, quick):
    """Nor do experts and a study of it."""
    runs, data = place / "runs", place / "data"
    data.mkdir()
    images = np.pad((digits.train.images[:60, 0] * 255).byte().numpy(), ((0, 0), (10, 10), (10, 10)))
    train_x, test_x = images[:40], images[40:]
    train_y, test_y = np.arange(40) % 3, np.arange(20) % 3
    np.savez(data / "mnist.npz", train_x=train_x, train_y=train_y, test_x=test_x, test_y=test_y)
    common = {"data_dir": data, "show_progress": False}
    network = {"network": TINY["network"]}
    lqm.experts("mnist", out=runs / "experts", networks=1, epochs=1, settings=network, **common)
    made = lqm.condense("mnist", per_class=1, out=runs / "run", settings=TINY, compile="off", **common)
    lqm.export_set(made, "npz", runs / "given")
    (place / "mine.toml").write_text(
        'title = "Mine"\ncompare = "distance"\nagainst = "mean"\n[[cpu.grid]]\nsource = ["mnist"]\n'
        'method = "dm"\ndistance = ["mean", "lqm"]\nper_class = [1]\nseed = "0"\nprotocol = "cross-200"\n'
        'settings = { steps = 1, real_batch = 4, network = "convnet:width=4:depth=1" }\n'
    )
    lqm.study(place / "mine.toml", out=runs / "study", data_dir=data, show_progress=False)
    assert leaks(runs) == []


def test_nothing_of_a_graph_says_where_it_is(place, graph):
    runs = place / "runs"
    made = lqm.condense(graph, out=runs / "run", budget=3, settings=NODES, show_progress=False)
    for form in NODE_EXPORTS:
        export(made, form, runs / form)
    settings = NODES | {"epochs": 2, "classifier": "gcn:width=4"}
    options = {"classes_per_task": 1, "settings": settings, "show_progress": False}
    lqm.continual(graph, out=runs / "stream", budget=1, repeats=1, **options)
    for name in ("run", "stream"):
        page = lqm.write_report(runs / name).read_text()
        assert "not at hand" not in page, "they are found again, by what the cache says"
        lqm.write_figures(runs / name, runs / "figures" / name)
    assert leaks(runs) == []


def test_data_that_are_not_found_leave_no_path_on_the_page(place, photos, capsys):
    lqm.condense(photos, out=place / "runs" / "run", method="random", per_class=1, show_progress=False)
    photos.unlink()
    lqm.write_report(place / "runs" / "run")
    assert photos.name in capsys.readouterr().err, "the user is told where they were"
    assert leaks(place / "runs") == []


def test_an_old_set_that_says_where_its_data_are_is_shown_without(place, photos, monkeypatch):
    """And it is found there, and saved anew without."""
    made = lqm.condense(photos, method="random", per_class=1, show_progress=False)
    old = shutil.copytree(Path(made.save(place / "runs" / "old").path), place / "old")
    manifest = json.loads((old / "manifest.json").read_text())
    from lqm.condensed.artefact import write_manifest

    write_manifest(old, manifest | {"origin": {"source": str(photos)}})
    monkeypatch.setenv("LQM_CACHE", str(place / "empty"))
    page = lqm.write_report(old, place / "runs" / "report.html")
    assert "not at hand" not in page.read_text()
    lqm.load(old).save(place / "runs" / "new")
    assert leaks(place / "runs") == []


def test_data_are_found_again_where_the_machine_noted_them_and_else_are_asked_for(place, photos, monkeypatch):
    monkeypatch.chdir(place)
    lqm.condense(photos.name, out="runs/run", method="random", per_class=1, show_progress=False)
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    evaluate = {"baselines": (), "networks": "mlp", "protocol": "cross-200", "show_progress": False}
    assert lqm.evaluate("../runs/run", **evaluate).accuracy >= 0
    monkeypatch.setenv("LQM_CACHE", str(place / "another machine"))
    with pytest.raises(DataError, match=r"photos\.npz.*--source"):
        lqm.evaluate("../runs/run", **evaluate)
    assert lqm.evaluate("../runs/run", source=photos, **evaluate).accuracy >= 0
    assert lqm.evaluate("../runs/run", **evaluate).accuracy >= 0, "the place that was named is noted"


@pytest.mark.parametrize("note", ["[1]", '{"source": 3}', "[" * 100_000, '{"source": "/nowhere"}'])
def test_a_note_that_is_damaged_is_no_hindrance(place, photos, monkeypatch, note):
    lqm.condense(photos, out="runs/run", method="random", per_class=1, show_progress=False)
    (path,) = Path(os.environ["LQM_CACHE"]).glob("places/*.json")
    path.write_text(note)
    with pytest.raises(DataError, match="--source") if "nowhere" in note else monkeypatch.context():
        lqm.write_report("runs/run", source=None) if "nowhere" not in note else lqm.evaluate(
            "runs/run", baselines=()
        )
