"""The libraries in the page are as they were published, with their licences, and part of the package."""

import hashlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import lqm

PACKAGE = Path(lqm.__file__).parent
FOLDER = PACKAGE / "report" / "page"
ROOT = PACKAGE.parents[1]
LIBRARIES = ("d3.min.js", "plot.umd.min.js")


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_has_the_hash_that_is_written_down(name):
    noted = dict(
        line.split()[::-1]
        for line in (FOLDER / "vendor" / "README.md").read_text().splitlines()
        if re.fullmatch(r" *[0-9a-f]{64}  \S+", line)
    )
    assert set(noted) == {*LIBRARIES} == {path.name for path in (FOLDER / "vendor").glob("*.js")}
    assert hashlib.sha256((FOLDER / "vendor" / name).read_bytes()).hexdigest() == noted[name]


@pytest.mark.parametrize("name", LIBRARIES)
def test_the_version_in_a_library_is_the_one_that_is_written_down(name):
    readme = (FOLDER / "vendor" / "README.md").read_text()
    version = re.search(rf"`{re.escape(name)}` \| \S+ \| (\S+) \|", readme)[1]
    assert version in (FOLDER / "vendor" / name).read_text()[:300]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_page_carries_a_library_as_it_is_behind_its_licence(page, name):
    library = (FOLDER / "vendor" / name).read_text()
    licence = (FOLDER / "vendor" / f"{name.partition('.')[0]}.LICENSE").read_text()
    assert "Copyright" in licence
    assert "Permission to use, copy, modify" in licence
    assert "*/" not in licence
    (script,) = [script for script in page.read.scripts if library.strip() in script]
    before, _, _ = script.partition(library.strip())
    assert before.strip() == f"/*\n{licence}*/"


@pytest.mark.parametrize(
    "path", sorted((*FOLDER.glob("static/*"), *FOLDER.glob("vendor/*.js"))), ids=lambda p: p.name
)
def test_no_file_that_goes_into_the_page_ends_its_own_element(path):
    text = path.read_text(encoding="utf-8").lower()
    assert "</style" not in text if path.suffix == ".css" else "</script" not in text
    assert "<!--" not in text


@pytest.fixture
def needed():
    """The files beside the code that a page is made of."""
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("templates", "static", "vendor")
        for path in (FOLDER / folder).iterdir()
    }
    assert len(found) >= 15
    return found


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no repository here")
def test_nothing_keeps_the_files_of_the_page_out_of_a_wheel(needed):
    """Hatchling takes all of a package's folder but what its settings, or git's, leave out."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel == {"packages": ["src/lqm"]}
    asked = ["git", "check-ignore", "--no-index", *sorted(needed)]
    ignored = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert (ignored.returncode, ignored.stdout) == (1, "")


def test_the_files_of_the_page_are_in_a_wheel_where_one_can_be_built(needed):
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    builder = hatchling.WheelBuilder(str(ROOT))
    found = {Path(file.relative_path).as_posix() for file in builder.recurse_included_files()}
    assert needed <= found
