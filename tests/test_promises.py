import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "reliability.md").read_text())


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_every_promise_names_a_test(path, name):
    text = (ROOT / path).read_text()
    assert re.search(rf"^def {name or 'test_'}", text, re.MULTILINE)


def test_every_line_of_promises_has_a_test():
    rows = [
        line for line in (ROOT / "docs" / "reliability.md").read_text().splitlines() if line.startswith("|")
    ]
    promises = [row for row in rows if not row.startswith(("| promise", "|---"))]
    assert promises
    assert all("`tests/" in row for row in promises)
