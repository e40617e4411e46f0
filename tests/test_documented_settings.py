"""The lines of settings that the docs and the notebooks show are those that the program prints."""

import json
import re
from pathlib import Path

import pytest
import torch

from lqm.api.continual import plan_stream
from lqm.api.planning import plan_condensation
from lqm.api.requests import CondenseRequest, ContinualRequest
from lqm.methods.plan import as_text

ROOT = Path(__file__).parent.parent
# A page, and what it condenses; a graph from a file has the settings of the one that needs none.
COMMANDS = [
    ("tutorial-images.md", {"source": "digits", "per_class": 10}),
    ("tutorial-images.md", {"source": "digits", "method": "dsa"}),
    ("tutorial-tabular.md", {"source": "breast-cancer", "per_class": 5}),
    ("tutorial-graphs.md", {"source": "digits-knn", "budget": "1%"}),
    ("tutorial-streams.md", {"source": "digits-knn", "budget": 4, "stream": True}),
    ("graph_stream.ipynb", {"source": "digits-knn", "budget": 20, "stream": True}),
    ("own_distance.ipynb", {"source": "digits", "per_class": 5}),
]
CHANGED = {
    "graph_stream.ipynb": {"steps": 100, "width": 64},
    "own_distance.ipynb": {"steps": 60, "network": "convnet:width=32"},
}


def words_of(page):
    """The text of a page, or of all outputs of a notebook."""
    if page.endswith(".md"):
        return (ROOT / "docs" / page).read_text()
    cells = json.loads((ROOT / "examples" / page).read_text())["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", ()))
    return "".join("".join(output.get("text", ())) for output in outputs)


@pytest.mark.parametrize(("page", "options"), COMMANDS)
def test_a_page_shows_the_settings_that_are_printed(page, options):
    options = dict(options) | {"settings": CHANGED.get(page), "show_progress": False}
    if options.pop("stream", False):
        notes = plan_stream(ContinualRequest(**options)).notes
    else:
        notes = plan_condensation(CondenseRequest(**options), torch.device("cpu")).notes
    assert re.search(rf"^lqm: {re.escape(notes[-1])}$", words_of(page), re.MULTILINE), notes[-1]


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "docs").glob("*.md")))
def test_no_page_shows_a_value_as_the_program_no_longer_prints_it(page):
    lines = re.findall(
        r"^(?:lqm: )?(?:settings|recipe [\w-]+|experts|sketch for \w+): .*", words_of(page), re.MULTILINE
    )
    assert as_text({"zca": True}) == "zca=true"
    for line in lines:
        assert not re.search(r"=(True|False|None)\b", line), line
        assert "init=random, init_steps" not in line
