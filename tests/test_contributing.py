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
    script = """
import lqm
tiny = {"steps": 2, "width": 4}
small = lqm.condense("digits", distance="range", per_class=2, settings=tiny, show_progress=False)
print(lqm.__file__, small.manifest["distance"]["name"])
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(copy / "__init__.py"), "range"]
