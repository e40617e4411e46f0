"""The example of CONTRIBUTING.md, followed to the letter in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lqm

PACKAGE = Path(lqm.__file__).parent
PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


def test_adding_a_distance_takes_one_file_and_one_line(tmp_path):
    file, line = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    name = re.findall(r"`src/lqm/distances/([a-z]+)\.py`", PAGE.read_text())[0]
    copy = tmp_path / "lqm"
    shutil.copytree(PACKAGE, copy)
    (copy / "distances" / f"{name}.py").write_text(file)
    table = copy / "distances" / "__init__.py"
    text = table.read_text()
    text = text.replace(
        "from lqm.distances.mean", f"from lqm.distances.{name} import Range\nfrom lqm.distances.mean"
    )
    table.write_text(text.replace('    "mean": Mean(),\n', f'    "mean": Mean(),\n{line}'))
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"}
    where = [sys.executable, "-c", "import lqm; print(lqm.__file__)"]
    found = subprocess.run(where, env=environment, capture_output=True, text=True, check=True).stdout.strip()
    assert found == str(copy / "__init__.py"), "the tests below are of the copy"
    tests = [PAGE.parent / "tests" / "distances" / "test_distances.py", PAGE.parent / "tests" / "contract"]
    plain = ["-p", "no:cacheprovider", "-p", "no:xdist"]
    words = [sys.executable, "-m", "pytest", *plain, "-k", "range and not mmd", *tests]
    done = subprocess.run(
        words, env=environment, cwd=PAGE.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout
    properties_and_contract = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert properties_and_contract >= 14
