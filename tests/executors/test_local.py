import pytest
import torch

import lqm
from lqm.executors import InProcess, Processes
from lqm.executors.folders import packed_files, unpack_files
from tests.executors.toy import pieces, squares, work

EXPECTED = {(f"piece {n}", part): float((n + part) ** 2) for n in range(4) for part in range(3)}


@pytest.mark.parametrize("executor", [InProcess(), Processes(1), Processes(2)])
def test_every_executor_gives_the_same_results(tmp_path, executor):
    found = [*executor.map(work(tmp_path), pieces(4))]
    assert squares(found) == EXPECTED
    for n in range(4):
        parts = [result.notes["part"] for piece, result in found if piece.name == f"piece {n}"]
        assert parts == [0, 1, 2]


def test_a_piece_that_fails_in_another_process_is_reported_and_the_others_go_on(tmp_path):
    found = squares(Processes(2).map(work(tmp_path), pieces(4, piece2={"fails": True})))
    assert found.pop(("piece 2",)) == "number 13 can't be squared; leave it out"
    assert found == {name: value for name, value in EXPECTED.items() if name[0] != "piece 2"}


def test_a_process_that_dies_costs_its_piece_alone(tmp_path):
    found = squares(Processes(1).map(work(tmp_path), pieces(4, piece1={"dies": 1})))
    assert "SIGKILL" in found.pop(("piece 1",))
    assert found == {name: value for name, value in EXPECTED.items() if name[0] != "piece 1"}


def test_data_of_this_process_are_not_looked_for_in_others(tmp_path):
    with pytest.raises(lqm.LqmError, match="own process"):
        next(Processes(2).map(work(tmp_path, data=object(), findable=False), pieces(2)))


def test_the_threads_of_a_work_are_those_of_its_pieces_and_of_nothing_after(tmp_path):
    before = torch.get_num_threads()
    found = InProcess().map(work(tmp_path, threads=before + 1), pieces(1))
    next(found)
    assert torch.get_num_threads() == before + 1
    found.close()
    assert torch.get_num_threads() == before


def test_a_folder_comes_back_as_it_was(tmp_path):
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "below").mkdir(parents=True)
    (source / "below" / "a.json").write_text("{}")
    (source / ".lock").write_text("held")
    (copy / "old").mkdir(parents=True)
    (copy / "old" / "b.json").write_text("stale")
    unpack_files(packed_files(source), copy)
    assert [path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()] == [
        "below/a.json"
    ]
    assert (copy / "below" / "a.json").read_text() == "{}"


@pytest.mark.parametrize("name", ["../out", "/etc/passwd", "a/../../b"])
def test_no_file_of_a_worker_is_written_outside_of_its_folder(tmp_path, name):
    with pytest.raises(lqm.LqmError, match="no such file"):
        unpack_files({name: torch.zeros(1, dtype=torch.uint8)}, tmp_path / "run")
    assert not [*tmp_path.iterdir()]
