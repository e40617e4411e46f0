"""An estimate of many kinds of cells takes no longer than it may."""

from lqm.api import study_estimate
from lqm.api.cells import Place
from lqm.api.costs import Cost
from lqm.studies.files import load_study

STUDY = """
[[grid]]
source = "digits"
method = ["random", "dm"]
per_class = [1, 2, 3]
seed = "0..1"
protocol = "quick-200"
"""


def test_after_so_many_seconds_kinds_are_taken_from_those_that_are_like_them(tmp_path, monkeypatch):
    now, asked = [0.0], []

    def measured(cell, place):
        now[0] += 1.0
        asked.append((cell.axes["method"], cell.axes["per_class"]))
        return Cost(seconds={"random": 10.0, "dm": 100.0}[cell.axes["method"]])

    monkeypatch.setattr(study_estimate.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(study_estimate, "_measured", measured)
    (path := tmp_path / "many.toml").write_text(STUDY)
    cells = load_study(path).cells
    found = study_estimate.estimate(cells, Place(tmp_path / "out"), shown=False, seconds=1.5)
    assert sorted(asked) == [("dm", 1), ("random", 1)], "those that differ most, and no more"
    assert sum(each.measured for each in found) == 2
    assert [each.count for each in found] == [2] * 6
    assert sum(each.seconds for each in found) == 6 * 10 + 6 * 100
    assert not (tmp_path / "out").exists()

    asked.clear()
    found = study_estimate.estimate(cells, Place(tmp_path / "out"), shown=False)
    assert len(asked) == 6
    assert all(each.measured for each in found)
