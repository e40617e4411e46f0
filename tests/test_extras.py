"""A plain install has no PyG, PyArrow, matplotlib and Ray: what needs none of them works, the rest asks."""

import json
import subprocess
import sys

import pytest

import lqm

# Runs commands one after the other where the packages of the extras can't be imported.
_PROGRAM = """
import contextlib, io, json, sys
sys.modules.update(dict.fromkeys(("torch_geometric", "pyarrow", "matplotlib", "ray")))
import lqm
from lqm.cli.main import main

found = {}
for name, words in json.loads(sys.argv[1]).items():
    printed, warned, code = io.StringIO(), io.StringIO(), 0
    sys.argv = ["lqm", *words]
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(warned):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    found[name] = code, printed.getvalue(), warned.getvalue()
try:
    lqm.load_graph("digits-knn").to_pyg()
except lqm.LqmError as error:
    found["pyg"] = str(error)
print(json.dumps(found))
"""
_TINY = ["--set", "steps=2", "--set", "network=convnet:width=8", "--set", "real-batch=16"]
_TINY_STREAM = ["--budget", "2", "--repeats", "1", "--set", "steps=2", "--set", "epochs=2"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A folder, and what commands in it did without extras: exit code, output and messages of each."""
    place = tmp_path_factory.mktemp("plain")
    (place / "some.parquet").write_bytes(b"PAR1")
    commands = {
        "condense": ["condense", "digits", "--per-class", "1", *_TINY, "--out", "set"],
        "folder": ["export", "set", "--to", "folder", "--out", "photos"],
        "condense folder": ["condense", "photos", "--per-class", "1", *_TINY, "--out", "again"],
        "report": ["report", "set", "--out", "page.html"],
        "continual": ["continual", "digits-knn", *_TINY_STREAM, "--out", "stream"],
        "parquet": ["condense", "some.parquet", "--out", "x"],
        "export parquet": ["export", "set", "--to", "parquet", "--out", "x.parquet"],
        "figures": ["figures", "set", "--to", "figures"],
        "ray": ["sketch", "digits", "--engine", "ray", "--out", "far"],
    }
    program = [sys.executable, "-c", _PROGRAM, json.dumps(commands)]
    ran = subprocess.run(program, cwd=place, capture_output=True, text=True, timeout=280)
    assert ran.returncode == 0, ran.stderr
    return place, json.loads(ran.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", ["condense", "folder", "report", "continual"])
def test_what_needs_no_extra_works_without_them(plain, name):
    _, found = plain
    code, _, warned = found[name]
    assert code == 0, warned


def test_a_set_made_without_extras_is_a_set_like_others(plain):
    place, _ = plain
    assert len(lqm.load(place / "set").labels) == 10
    assert (place / "page.html").exists()


def test_a_folder_of_images_is_not_taken_for_parquet(plain):
    _, found = plain
    _, _, warned = found["condense folder"]
    assert "pyarrow" not in warned


def test_a_stream_has_all_but_its_heat_map(plain):
    place, found = plain
    _, printed, warned = found["continual"]
    assert "no heat map" in warned
    assert "pip install 'lqm[figures]'" in warned
    assert "all matrices and what was kept are in stream" in printed
    assert (place / "stream" / "result.json").exists()


@pytest.mark.parametrize(
    ("name", "extra"),
    [("parquet", "parquet"), ("export parquet", "parquet"), ("figures", "figures"), ("ray", "ray")],
)
def test_what_needs_an_extra_names_it_in_one_sentence(plain, name, extra):
    _, found = plain
    code, _, warned = found[name]
    assert code == 1
    assert len(warned.splitlines()) == 1
    assert f"which is not installed; pip install 'lqm[{extra}]'" in warned


def test_pygs_data_names_its_extra(plain):
    _, found = plain
    assert "pip install 'lqm[graphs]'" in found["pyg"]
