"""One file that opens anywhere, holds nothing but what it shows, and shows every name as it is."""

import os
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import lqm
from lqm import write_report
from lqm.api import report as module
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from tests.graphs.continual.making import run, small_graph
from tests.report.making import chosen, read_page, rewritten, tiny_source

NASTY = (
    "<script>alert(1)</script>",
    "</script><script>alert(2)//",
    "\"quotes' & <b>bold</b> &amp;",
    '" onmouseover="alert(3)',
    "übung 猫 \U0001f408",
    "line\u2028separator {{ 7 * 7 }} {% raw %}",
)
WEIRD = 'it\'s "a" \\ folder <b>&amp; </script> \u2028 ü {{ 7 }}'


def parts(page):
    """Every element with the names of its attributes, and those values that a browser acts on."""
    acting = ("id", "class", "type", "href", "http-equiv", "content", "name", "for", "role", "style")
    return [
        (tag, tuple(sorted(found)), tuple(found.get(name) for name in acting if name != "content"))
        for tag, found in page.elements
    ]


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stream") / "cat"
    run(out=folder)
    return folder


@pytest.fixture(scope="module", params=["sets", "stream"])
def written(request, page, stream):
    """A page of either kind."""
    if request.param == "sets":
        return page.path
    return write_report(stream, stream.parent / "page.html")


def test_a_page_loads_nothing(written):
    page = read_page(written)
    for tag, attributes in page.elements:
        assert tag not in ("iframe", "object", "embed", "base", "audio", "video", "source", "track")
        for name in ("src", "href", "xlink:href", "srcset", "action", "formaction", "poster", "style"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, name)
    assert not [found for found in page.of("script") if "src" in found]
    assert [found["rel"] for found in page.of("link")] == ["icon"]
    for style in page.styles:
        assert "@import" not in style
        assert not re.search(r"url\((?!['\"]?(data:|#))", style)
    assert len(page.styles) == 1
    asking = re.compile(r"\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|\bimport\b|\beval\(")
    assert not [script for script in page.scripts[3:] if asking.search(script)]


def test_a_policy_in_front_of_everything_forbids_the_network(written):
    page = read_page(written)
    (policy,) = [found["content"] for found in page.of("meta") if "http-equiv" in found]
    directives = dict(part.split(maxsplit=1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    allowed = {word for part in directives.values() for word in part.split()}
    assert allowed <= {"'none'", "'unsafe-inline'", "data:"}
    order = [
        tag for tag, found in page.elements if tag in ("script", "style", "link") or "http-equiv" in found
    ]
    assert order[0] == "meta"


def test_a_page_is_whole_and_its_data_are_json(written):
    text = written.read_text(encoding="utf-8")
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert text.rstrip().endswith("</html>")
    page = read_page(written)
    kinds = Counter(found.get("type", "") for found in page.of("script"))
    assert kinds == {"application/json": 1, "": 10}
    assert page.data["labels"]
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len({*ids}) == len(ids)
    targets = {found["href"] for found in page.of("a")}
    assert {target.removeprefix("#") for target in targets} <= {*ids}
    for tag, found in page.elements:
        for name in ("aria-labelledby", "for"):
            assert found.get(name, ids[0]) in ids, (tag, found)


def test_the_same_runs_give_the_same_bytes(page, stream, tmp_path):
    runs = [case.folder for case in page.cases]
    again = write_report(runs, tmp_path / "again.html")
    if f"on {date.today().isoformat()}" in page.read.words:
        assert again.read_bytes() == page.path.read_bytes()
    one, two = (write_report(stream, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert one == two
    assert write_report(runs[::-1], tmp_path / "c.html").read_bytes() != again.read_bytes()


def test_names_of_classes_are_text_wherever_they_stand(tmp_path):
    plain = [f"class {label}" for label in range(len(NASTY))]
    found = {}
    for kind, names in (("plain", plain), ("nasty", NASTY)):
        source = tiny_source(classes=len(names), names=names)
        folder = tmp_path / kind
        chosen(source, folder)
        score = {"cramer_von_mises": 0.1, "extremes": 0.0}
        shares = [0.5, *[1.0] * (len(names) - 1)]
        protocol = lqm.load(folder).manifest["evaluation"]
        entry = {"protocol": protocol, "seed": 0, "records": 12, "accuracies": [0.5], "accuracy": 0.5}
        rewritten(folder, scores=[entry | {"by_class": shares, "before": score, "after": score}])
        found[kind] = read_page(write_report(folder, source=source))
    nasty = found["nasty"]
    assert parts(nasty) == parts(found["plain"]), "no element and no attribute more"
    assert nasty.data["classNames"] == list(NASTY)
    rows = [attributes.get("aria-label", "") for attributes in nasty.of("div")]
    for name in NASTY:
        assert " ".join(name.split()) in nasty.words
        assert f"class {name}, by random" in rows
    assert [image["alt"] for image in nasty.of("img")][::2] == [f"{name}, image 1" for name in NASTY]


def test_names_of_sources_and_tasks_are_text_too(tmp_path):
    pages = []
    for number, names in enumerate(([f"class {i}" for i in range(6)], NASTY)):
        source = replace(small_graph(names=names), name=names[0])
        run(source, out=tmp_path / str(number), method="random", settings={"epochs": 1})
        pages.append(read_page(write_report(tmp_path / str(number))))
    plain, nasty = pages
    assert parts(nasty) == parts(plain)
    assert nasty.data["classNames"] == list(NASTY)
    assert f"{NASTY[0]}, task after task" in nasty.words


def test_names_of_folders_are_text_and_the_lines_of_python_read_them(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("plain", WEIRD):
        for run_name in ("mean", "lqm"):
            shutil.copytree(judged.runs[run_name], tmp_path / name / run_name)
    plain, weird = (
        read_page(write_report([Path(name, "mean"), Path(name, "lqm")], f"{number}.html"))
        for number, name in enumerate(("plain", WEIRD))
    )
    assert parts(weird) == parts(plain)
    assert " ".join(f"{WEIRD}/lqm".split()) in weird.words
    assert len(weird.code) == 2
    for lines, name in zip(weird.code, ("mean", "lqm"), strict=True):
        found = {}
        exec(lines, found)  # noqa: S102
        assert found["condensed"].path == Path(WEIRD, name)
        assert found["condensed"].manifest["distance"]["name"] == name
        assert len(found["dataset"]) == 20


def test_a_folder_whose_name_is_no_text_has_a_page(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path(os.fsdecode(b"caf\xe9"))
    shutil.copytree(judged.runs["mean"], folder)
    page = read_page(write_report(folder, tmp_path / "page.html"))
    found = {}
    exec(page.code[0], found)  # noqa: S102
    assert found["condensed"].path == folder


def test_equal_runs_of_folders_with_such_names_have_labels_that_are_text(tmp_path):
    source = tiny_source()
    folders = [tmp_path / name for name in ("<i>one", "'two' & \"two\"")]
    for folder in folders:
        chosen(source, folder)
    page = read_page(write_report(folders, tmp_path / "page.html", source=source))
    assert page.data["labels"] == ["random (<i>one)", "random ('two' & \"two\")"]
    assert not page.of("i")
    assert "random (<i>one)" in page.words


def test_a_page_goes_beside_the_runs_unless_it_is_told_where(judged, tmp_path, monkeypatch):
    for name in ("a", "b", "deep/c"):
        shutil.copytree(judged.runs["mean"], tmp_path / "runs" / name)
    monkeypatch.chdir(tmp_path)
    assert write_report("runs/a") == Path("runs/a/report.html")
    assert write_report(["runs/a", "runs/a"]) == Path("runs/a/report.html")
    assert write_report(["runs/a", Path("runs/b")]) == Path("runs/report.html")
    assert write_report(["runs/b", "runs/deep/c"]) == Path("runs/report.html")
    assert write_report([tmp_path / "runs" / "a", "runs/deep/c"]) == tmp_path / "runs" / "report.html"
    monkeypatch.chdir(tmp_path / "runs" / "deep")
    assert write_report(["../a", "c"]) == Path("../report.html")
    assert write_report(["c", "../b"], "here/new/page.html") == Path("here/new/page.html")
    assert Path("here/new/page.html").exists()
    assert lqm.load("../a").manifest, "the set beside the page is still whole"


def test_an_older_page_is_replaced_and_anything_else_is_left(judged, tmp_path):
    out = tmp_path / "page.html"
    write_report(judged.runs["mean"], out)
    write_report(judged.runs["lqm"], out)
    assert read_page(out).data["labels"] == ["dm + lqm"]
    out.write_text("<!doctype html><title>my diary</title>")
    with pytest.raises(ArtifactError, match=r"page\.html is there already and is no report of lqm; choose"):
        write_report(judged.runs["mean"], out)
    assert "diary" in out.read_text()
    out.write_bytes(b"\xff\xfe\x00binary")
    with pytest.raises(ArtifactError, match="is no report of lqm"):
        write_report(judged.runs["mean"], out)


def test_nothing_is_read_or_written_where_it_is_refused(judged, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "page_of_sets", lambda *words: pytest.fail("the work began"))
    with pytest.raises(ConfigError, match="there is nothing to report on; name one or more runs"):
        write_report([])
    with pytest.raises(ArtifactError, match=r"is a folder; name a file such as .*report\.html"):
        write_report(judged.runs["mean"], tmp_path)
    assert not [*tmp_path.iterdir()]


def test_sets_of_other_data_or_of_another_version_of_them_are_refused(judged, tmp_path):
    chosen(tiny_source(), tmp_path / "mine")
    chosen(tiny_source(seed=1), tmp_path / "yours")
    with pytest.raises(
        ConfigError, match=r"mine and .*mean were not .* same data \('mine', not 'digits'\); give"
    ):
        write_report([judged.runs["mean"], tmp_path / "mine"], tmp_path / "page.html")
    with pytest.raises(
        ConfigError, match=r"yours and .*mine were not .* \(another version of it\); give a report"
    ):
        write_report([tmp_path / "mine", tmp_path / "yours"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_a_source_made_in_python_is_to_be_given(tmp_path, capsys):
    source = tiny_source()
    chosen(source, tmp_path / "set")
    path = write_report(tmp_path / "set")
    page = read_page(path)
    assert page.data["explorer"] is None
    assert page.data["real"] == {}
    assert "The real data were not at hand" in page.words
    assert "6 synthetic images of 3 classes." in page.words
    ids = {found.get("id") for _, found in page.elements}
    assert "latents" not in ids
    assert "explorer" not in ids
    error = capsys.readouterr().err
    assert error.startswith("lqm: this set was condensed from 'mine', which was made in Python; ")
    assert error.endswith("; the page is made without the real data\n")
    assert error.count("\n") == 1

    page = read_page(write_report(tmp_path / "set", source=source))
    assert "The real data were not at hand" not in page.words
    assert len(page.data["explorer"]["classes"]) == 3
    assert page.data["real"]
    assert "24 real training images of 3 classes became 6 (25 %)." in page.words
    assert capsys.readouterr().err == ""


def test_another_source_than_that_which_was_condensed_is_refused(judged, tmp_path):
    chosen(tiny_source(), tmp_path / "set")
    with pytest.raises(DataError, match="'mine' is not what this set was condensed from"):
        write_report(tmp_path / "set", source=tiny_source(seed=1))
    assert not (tmp_path / "set" / "report.html").exists()


def test_data_that_have_moved_are_missed_and_found_again_where_they_are_named(tmp_path, capsys, digits):
    place, moved = tmp_path / "mine.npz", tmp_path / "moved.npz"
    images = (digits.train.images[:60] * 255).byte().numpy()
    np.savez(place, images=images, labels=digits.train.labels[:60].numpy())
    chosen(place, tmp_path / "set", per_class=1)
    assert read_page(write_report(tmp_path / "set")).data["explorer"]
    assert capsys.readouterr().err == ""
    place.rename(moved)
    page = read_page(write_report(tmp_path / "set"))
    assert page.data["explorer"] is None
    assert "'mine' is not where it was" in page.words
    assert str(tmp_path) not in page.words
    assert f"can't be read from {place} any more" in capsys.readouterr().err
    assert read_page(write_report(tmp_path / "set", source=moved)).data["explorer"]


def test_a_page_is_not_written_over_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.html")
    with pytest.raises(ArtifactError, match=r"pipe\.html .*regular file"):
        write_report(tmp_path / "set", tmp_path / "pipe.html")
    with pytest.raises(ArtifactError, match=r"/dev/null .*regular file"):
        write_report(tmp_path / "set", "/dev/null")


def test_numbers_that_json_has_not_are_null():
    from lqm.report.page import _finite

    found = _finite({"a": [1.5, float("nan")], "b": (float("inf"), 2), "c": "nan", "d": None})
    assert found == {"a": [1.5, None], "b": [None, 2], "c": "nan", "d": None}
