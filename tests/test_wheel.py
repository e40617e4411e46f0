"""The wheel, in an environment that has its dependencies and no source tree."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built by the backend that pyproject.toml names, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    [found] = folder.glob("lqm-*.whl")
    return found


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel):
    package = ROOT / "src" / "lqm"
    ours = {
        f"lqm/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {"lqm/py.typed", "lqm/recipes/digits.toml", "lqm/report/page/templates/base.html.j2"} <= ours
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA"))).decode()
    assert inside == ours
    for line in ("Keywords: IPC", "Provides-Extra: graphs", "License-Expression: MIT"):
        assert line in metadata


def test_the_wheel_works_outside_of_the_source_tree(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    [packages] = (tmp_path / "env" / "lib").glob("python*/site-packages")
    # What is installed here is found behind the wheel; a path file of a folder that is named so is not read,
    # so the editable install stays out.
    (packages / "rest.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, "--quiet", str(wheel)], check=True, capture_output=True, timeout=120)
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def ran(*words):
        found = subprocess.run(words, cwd=tmp_path, env=plain, capture_output=True, text=True, timeout=280)
        assert found.returncode == 0, found.stderr
        return found.stdout

    where = ran(python, "-c", "import lqm; print(lqm.__file__)")
    assert Path(where.strip()).is_relative_to(packages)
    lqm = tmp_path / "env" / "bin" / "lqm"
    assert "0.1.0" in ran(lqm, "--version")
    assert "dm-10" in ran(lqm, "recipes")
    ran(lqm, "condense", "digits", "--set", "steps=2", "--out", "runs/digits")
    assert (tmp_path / "runs" / "digits" / "manifest.json").exists()
