"""The lines of a study: written, read back, and refused if they are none."""

import json

import pytest

from lqm.api.study_banks import bank_seconds
from lqm.studies.lines import CellLine, StudyHead, read_cells, write_cell
from lqm.utils.errors import ArtifactError

HEAD = StudyHead("mine", "A question", "cpu")


def line(cell="a", **fields):
    axes = {"source": "digits", "distance": "lqm", "per_class": 10}
    return CellLine(HEAD, cell, axes, 0, scores={"convnet": (0.5, 0.75)}, **fields)


def test_lines_come_back_as_they_were_and_the_last_of_a_cell_counts(tmp_path):
    path = tmp_path / "cells.jsonl"
    assert read_cells(path) == []
    failed = CellLine(HEAD, "b", {"source": "digits"}, 0, state="failed", sentence="no memory")
    for each in (failed, line(), line("b", transfer=-0.1)):
        write_cell(path, each)
    assert read_cells(path) == [line("b", transfer=-0.1), line()]
    assert line().accuracy() == 0.625
    assert line().networks == 2


def test_a_torn_or_damaged_line_costs_its_cell_alone(tmp_path, capsys):
    path = tmp_path / "cells.jsonl"
    write_cell(path, line("a"))
    write_cell(path, line("b"))
    first, second = path.read_text().splitlines()
    path.write_text(first.replace("0.75", "0.95") + "\n" + second + "\n" + first[:40])
    assert [each.cell for each in read_cells(path)] == ["b"]
    assert "line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change", [{"scores": {"convnet": [1.5]}}, {"seed": "x"}, {"cell": None}, {"axes": 3}]
)
def test_a_line_that_is_none_of_a_study_is_named(tmp_path, change):
    path = tmp_path / "cells.jsonl"
    write_cell(path, line())
    record = json.loads(path.read_text()) | change
    del record["checksum"]
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(ArtifactError, match="line 1"):
        read_cells(path)


def test_the_number_of_a_line_counts_damaged_ones_before_it(tmp_path):
    path = tmp_path / "cells.jsonl"
    path.write_text('{"torn\n{"study": 3}\n')
    with pytest.raises(ArtifactError, match="line 2"):
        read_cells(path)


def test_a_line_that_is_none_of_a_bank_is_named(tmp_path):
    (tmp_path / "banks.jsonl").write_text('{"bank": "a", "seconds": 2}\n{"bank": "a", "seconds": 3}\n')
    assert bank_seconds(tmp_path) == {"a": 5}
    (tmp_path / "banks.jsonl").write_text('{"bank": "a", "seconds": "x"}\n')
    with pytest.raises(ArtifactError, match="line 1"):
        bank_seconds(tmp_path)
