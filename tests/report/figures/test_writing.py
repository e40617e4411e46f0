import re
import shutil
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib import font_manager
from PIL import Image

import lqm
from lqm import write_figures
from lqm.images.sources import load_source
from lqm.report.figures import FIGURES, STREAM_FIGURES
from lqm.report.figures.style import look, look_of_real, plain
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from tests.report.figures.making import NODES, entry, found, image_run, node_run, stream

NASTY = ("$x_1$", "<script>&", "日本語", "a\tb\x00c\ud800", r"\frac{", "", "%", "x" * 300)


@pytest.fixture
def runs(tmp_path, digits):
    """All that figures can be drawn from."""
    along = [{"step": 10, "accuracy": 0.5, "deviation": 0.1}, {"step": 20, "accuracy": 0.6, "deviation": 0.1}]
    noted = [entry(0.5, 0.6, baselines={"random": found(0.4), "full": found(0.9)})]
    sets = [
        image_run(tmp_path / str(n), digits, per_class=n, scores=noted, evaluations=along) for n in (1, 2)
    ]
    return [*sets, stream(tmp_path / "stream")]


def svg_words(path):
    tree = ElementTree.parse(path)
    return [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_all_figures_are_written_as_png_and_svg_whose_text_is_text(runs, tmp_path, capsys):
    paths = write_figures(runs, tmp_path / "new" / "figures")
    assert capsys.readouterr() == ("", ""), "nothing is left out"
    stems = {path.stem for path in paths}
    assert stems == {
        "ecdf",
        "ecdf-typical",
        "cvm",
        "extremes",
        "extremes-by-class",
        "images-dm-lqm-1-a-class",
        "images-dm-lqm-2-a-class",
        "accuracy-by-step",
        "accuracy-by-budget",
        "accuracy-matrix-cat-lqm",
        "average-accuracy",
    }
    assert all(any(stem.startswith(name) for stem in stems) for name in {**FIGURES, **STREAM_FIGURES})
    assert {path.name for path in (tmp_path / "new" / "figures").iterdir()} == {path.name for path in paths}
    for path in paths:
        if path.suffix == ".png":
            with Image.open(path) as image:
                image.load()
                assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
                assert min(image.size) >= 340
        else:
            assert svg_words(path)
            assert b"dc:date" not in path.read_bytes()
    assert "accuracy %" in svg_words(tmp_path / "new/figures/accuracy-by-step.svg")


def test_a_second_call_writes_the_same_bytes_whatever_the_users_own_settings_which_stay(runs, tmp_path):
    first = {path: path.read_bytes() for path in write_figures(runs[1:], tmp_path / "figures")}
    for path in first:
        path.write_bytes(b"old")
    with matplotlib.rc_context({"font.size": 20, "text.usetex": True, "axes.grid": True}):
        before = dict(matplotlib.rcParams)
        second = {path: path.read_bytes() for path in write_figures(runs[1:], tmp_path / "figures")}
        assert dict(matplotlib.rcParams) == before
    assert second == first


def test_names_are_never_parsed(tmp_path):
    source = SimpleNamespace(
        name="$a_b$", shape=(1, 4, 4), class_names=NASTY[:3] + NASTY[4:], record={"name": "$a_b$ <b>"}
    )
    run = image_run(tmp_path / "run", source, per_class=2, distance="$l_q$")
    paths = write_figures([run], tmp_path / "figures")
    words = svg_words(paths[1])
    assert words[-1] == "$a_b$ <b>, dm + $l_q$"
    assert words[:5] == ["$x_1$", "<script>&", "日本語", r"\frac{", "%"]
    assert words[5] == "x" * 19 + "…"
    assert paths[0].name == "images-dm-l_q.png"


def test_names_that_xml_has_not_are_drawn_all_the_same():
    assert plain(NASTY[3]) == "a b�c�"


def test_letters_that_the_font_has_not_are_no_reason_to_warn(tmp_path, recwarn):
    names = ("日本語", "한국어")
    source = SimpleNamespace(name="x", shape=(1, 4, 4), class_names=names, record={"name": "日本"})
    font_manager.findfont("DejaVu Sans")
    recwarn.clear()
    write_figures([image_run(tmp_path / "run", source)], tmp_path / "figures")
    assert not [warning for warning in recwarn if "Glyph" in str(warning.message)]


def test_looks_differ_in_colour_or_in_line_marker_and_hatch():
    assert len({look(number) for number in range(64)}) == 64
    assert len({look(number).colour for number in range(8)}) == 8
    assert len({look(number)[1:] for number in range(8)}) == 8, "in grey too"
    assert look(64) == look(0)
    assert len({str(look_of_real(number).line) for number in range(4)}) == 4


def test_data_that_are_gone_cost_only_the_figures_that_need_them(tmp_path, capsys):
    run = node_run(tmp_path / "run", scores=[entry(0.5, protocol=NODES, records=4)])
    names = [path.name for path in write_figures([run], tmp_path / "figures")]
    assert names == ["cvm.png", "cvm.svg", "extremes.png", "extremes.svg"]
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[2].partition(":")[0].strip() for line in lines] == [
        "no distributions of latent features of papers",
        "no extreme values by class of papers",
        "no contact sheets",
        "no accuracy against step",
        "no accuracy against budget",
    ]
    assert sum("name the new place with --source" in line for line in lines) == 2


def moved_run(tmp_path, name):
    """A set of images that have moved, and where they are now."""
    draws = torch.Generator().manual_seed(len(name))
    images = torch.randint(0, 256, (20, 1, 8, 8), generator=draws, dtype=torch.uint8)
    place = tmp_path / f"{name}.npz"
    np.savez(place, images=images.numpy()[:, 0], labels=np.arange(20) % 2)
    source = load_source(str(place), show_progress=False)
    run = image_run(tmp_path / f"run-{name}", source)
    manifest = lqm.load(run).manifest
    return run, place, manifest


def test_a_source_that_is_named_anew_serves_the_runs_that_came_from_it(tmp_path, digits, capsys):
    run, place, manifest = moved_run(tmp_path, "mine")
    assert manifest["origin"] == {"source": manifest["source"]["name"]}
    other = image_run(tmp_path / "digits", digits)
    names = {path.stem for path in write_figures([run, other], tmp_path / "figures", source=place)}
    assert {"ecdf-digits", f"ecdf-{manifest['source']['name']}"} <= names
    assert "no distributions" not in capsys.readouterr().err


def test_a_source_may_be_an_object(tmp_path):
    run, place, _ = moved_run(tmp_path, "mine")
    source = load_source(str(place), show_progress=False)
    assert "ecdf" in {path.stem for path in write_figures([run], tmp_path / "figures", source=source)}


def test_what_cannot_be_drawn_is_refused_before_any_work(runs, tmp_path, monkeypatch):
    def work(*_):
        pytest.fail("there was work")

    for name in FIGURES:
        monkeypatch.setitem(FIGURES, name, work)
    with pytest.raises(ConfigError, match="there is nothing to draw; name one or more runs"):
        write_figures([], tmp_path / "figures")
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(ArtifactError, match=r"file is a file; choose a folder for the figures"):
            write_figures(runs, tmp_path / place)
    with pytest.raises(ArtifactError, match=r"there is no folder .*nowhere"):
        write_figures([*runs, tmp_path / "nowhere"], tmp_path / "figures")
    (next((runs[1]).glob("data-*"))).write_bytes(b"x")
    with pytest.raises(ArtifactError, match="is damaged"):
        write_figures(runs, tmp_path / "figures")
    for text in ("{", "[]"):
        (runs[2] / "result.json").write_text(text)
        with pytest.raises(ArtifactError, match=r"result\.json"):
            write_figures(runs[2:], tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


@pytest.mark.parametrize("other", ["[[[1], 2]]", "[]", "3"])
def test_a_stream_with_other_things_than_matrices_is_refused(tmp_path, other):
    folder = stream(tmp_path / "stream")
    text = (folder / "result.json").read_text()
    (folder / "result.json").write_text(re.sub(r'"matrices": .*?\]\]\]', f'"matrices": {other}', text))
    with pytest.raises(ArtifactError, match=r"the accuracies in .*stream.result\.json are damaged"):
        write_figures([folder], tmp_path / "figures")


def test_if_nothing_at_all_can_be_drawn_that_is_an_error(tmp_path):
    with pytest.raises(DataError, match="nothing of these runs can be drawn; the lines above say"):
        write_figures(node_run(tmp_path / "run"), tmp_path / "figures")
    assert not (tmp_path / "figures").exists()


def test_a_run_that_is_given_twice_is_drawn_once(tmp_path, digits, monkeypatch):
    run = image_run(tmp_path / "run", digits)
    monkeypatch.chdir(tmp_path)
    names = [path.stem for path in write_figures(["run", run, "./run"], "figures")]
    assert names.count("images-dm-lqm") == 2


def test_a_full_disk_leaves_the_old_figure(tmp_path, digits, monkeypatch):
    run = image_run(tmp_path / "run", digits)
    write_figures([run], tmp_path / "figures")
    old = (tmp_path / "figures" / "ecdf.png").read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ArtifactError, match="No space left on device"):
        write_figures([run], tmp_path / "figures")
    assert (tmp_path / "figures" / "ecdf.png").read_bytes() == old
    shutil.rmtree(tmp_path / "figures")
