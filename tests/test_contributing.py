"""The examples of CONTRIBUTING.md, followed to the letter in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lqm

PACKAGE = Path(lqm.__file__).parent
ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
FILES = re.findall(r"`src/(lqm/\S+?/(?!__)\w+\.py)`[^`]*?:\n\n```python\n(.*?)```", PAGE, flags=re.DOTALL)
LINES = re.findall(r"table of `src/(\S+)`:\n\n```python\n(.*?)```", PAGE, flags=re.DOTALL)
CONTRACT = "contract/test_*methods.py"


@pytest.fixture
def follow(tmp_path):
    """Writes the file and the table's line of an example into a copy; gives a way to run Python on it."""

    def written(number):
        shutil.copytree(PACKAGE, tmp_path / "lqm")
        path, content = FILES[number]
        (tmp_path / path).write_text(content)
        table, line = (tmp_path / LINES[number][0]), LINES[number][1]
        name = re.search(r"\w+", line.partition(":")[2])[0]
        module = path.removesuffix(".py").replace("/", ".")
        text = table.read_text()
        text = text.replace("\nfrom lqm.", f"\nfrom {module} import {name}\nfrom lqm.", 1)
        table.write_text(re.sub(r"(?m)^([A-Z]+: dict\[.*\{)$", lambda m: m[1] + "\n" + line.rstrip(), text))
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}

        def run(*words):
            done = subprocess.run(
                [sys.executable, *words],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        where = run("-c", "import lqm; print(lqm.__file__)").strip()
        assert where == str(tmp_path / "lqm" / "__init__.py"), "the tests are of the copy"
        return run

    return written


def passed(run, names, *tests):
    """How many tests of these names pass, and none fails."""
    plain = ("-p", "no:cacheprovider", "-p", "no:xdist")
    files = [str(path) for test in tests for path in (ROOT / "tests").glob(test)]
    found = run("-m", "pytest", *plain, "-k", names, *files)
    return int(re.search(r"(\d+) passed", found)[1])


def test_adding_a_distance_takes_one_file_and_one_line(follow):
    run = follow(0)
    assert passed(run, "range and not mmd", "distances/test_distances.py", CONTRACT) >= 14


@pytest.mark.slow
def test_adding_a_method_takes_one_page_and_one_line(follow):
    run = follow(1)
    kept = (
        "import lqm; "
        "small = dict(steps=4, kept=2, network='convnet:width=8', real_batch=16); "
        "made = lqm.condense('digits', method='dm-kept', per_class=1, settings=small, show_progress=False); "
        "print(len(made.labels), made.manifest['method'])"
    )
    assert run("-c", kept).split() == ["10", "dm-kept"]
    assert passed(run, "dm-kept", CONTRACT) >= 5
