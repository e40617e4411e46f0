import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = sorted(ROOT.glob("constraints*.txt"))


def _lines(path):
    text = path.read_text().replace(" \\\n", " ")
    return [line for line in text.splitlines() if not line.startswith("#")]


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_pin_is_one_version_with_the_hashes_of_its_wheels():
    for path in FILES:
        for line in _lines(path):
            assert re.fullmatch(r"[\w.-]+==[\w.+]+( +--hash=sha256:[0-9a-f]{64})+", line), (path.name, line)


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {_plain(re.match(r"[\w.-]+", requirement)[0]) for requirement in asked} - {"lqm"}
    pinned = {_plain(line.split("==")[0]) for line in _lines(ROOT / "constraints.txt")}
    assert names - pinned == set()


def test_make_installs_by_hash_alone():
    made = (ROOT / "Makefile").read_text()
    assert "--require-hashes" in made
    assert "PIP_CONSTRAINT" not in made
