"""`max_memory`: less memory, and the same set."""

import hashlib
import json
from pathlib import Path

import psutil
import pytest

import lqm
from lqm.utils.errors import ConfigError
from tests.faults.children import start

WIDE = {"steps": 2, "network": "convnet:width=256", "real_batch": 16}
CASES = {
    "dm": ("digits", {"method": "dm", "per_class": 100, "settings": WIDE, "compile": "off"}),
    "datadam": ("digits", {"method": "datadam", "per_class": 100, "settings": WIDE, "compile": "off"}),
    "idm": (
        "digits",
        {
            "method": "idm",
            "per_class": 20,
            "settings": WIDE | {"student_batch": 16, "students": 1},
            "compile": "off",
        },
    ),
    "characteristic": (
        "digits",
        {"method": "dm", "distance": "characteristic", "per_class": 100, "settings": WIDE, "compile": "off"},
    ),
    "cat": (
        "synthetic:nodes=20000,classes=8,features=16",
        {"method": "cat", "budget": 16, "settings": {"steps": 2, "width": 8192, "real_batch": 250}},
    ),
}


def measured(folder, case, more):
    """Condense, and note the set, the most memory, and what there was before the work."""
    source, options = CASES[case]
    data = lqm.load_graph(source) if case == "cat" else lqm.load_source(source)
    small = "synthetic:nodes=100,classes=2,features=4" if case == "cat" else "digits"
    size = {"settings": {"steps": 1, "width": 8}} if case == "cat" else {"settings": {"steps": 1}}
    lqm.condense(small, show_progress=False, **size)  # what is imported counts for neither
    Path("/proc/self/clear_refs").write_text("5")  # the most memory counts from here on
    limit = None if more is None else psutil.Process().memory_info().rss + (more << 20)
    found = lqm.condense(data, show_progress=False, out=Path(folder) / "run", max_memory=limit, **options)
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    digest = hashlib.sha256(found.data.numpy().tobytes()).hexdigest()
    config = json.loads((Path(folder) / "run" / "run.json").read_text())["config"]
    (Path(folder) / "found.json").write_text(json.dumps([digest, peak, config]))


@pytest.mark.parametrize("case", ["dm", "cat", *(pytest.param(n, marks=pytest.mark.slow) for n in CASES)])
def test_less_memory_gives_the_same_set(tmp_path, case):
    found = []
    for more in (None, 96):
        folder = tmp_path / str(more)
        folder.mkdir()
        child = start(folder, measured, str(folder), case, more)
        child.join(120)
        assert child.exitcode == 0, (folder / "messages").read_text()
        found.append(json.loads((folder / "found.json").read_text()))
    (whole, most, config), (split, less, same) = found
    assert split == whole
    assert config == same, "the limit is no part of a run's configuration"
    if case != "idm":  # whose networks, of which no part can be left out, take more than its images
        assert less < most - 20_000, f"{less} of {most} kB"


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("digits", {"per_class": 10}),
        ("digits-knn", {"settings": {"width": 8192}}),
        ("digits", {"method": "idm", "settings": {"student_batch": 100_000}}),
    ],
)
def test_what_does_not_fit_even_in_parts_is_refused_before_any_work(tmp_path, source, options):
    data = lqm.load_graph(source) if "knn" in source else lqm.load_source(source)
    limit = psutil.Process().memory_info().rss + (1 << 20)
    with pytest.raises(ConfigError, match="max-memory"):
        lqm.condense(data, out=tmp_path / "run", max_memory=limit, show_progress=False, **options)
    assert not (tmp_path / "run").exists()
