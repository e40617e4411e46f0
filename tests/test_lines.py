"""Logs: damage is named by file and line, and costs no other line."""

import errno
import json
import os

import pytest

from lqm.utils import lines as lines_module
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import limited_to
from lqm.utils.lines import append_lines, last_line, read_lines

RECORDS = [{"step": 0, "loss": 1.5}, {"step": 1, "loss": 0.1}, {"step": 2, "note": "sixteen letters!"}]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "metrics.jsonl"
    append_lines(path, RECORDS[:1])
    append_lines(path, RECORDS[1:])
    return path


def test_what_is_appended_is_read_and_is_json(log):
    assert read_lines(log) == RECORDS
    assert last_line(log) == RECORDS[-1]
    stored = [json.loads(line) for line in log.read_text().splitlines()]
    assert [{k: v for k, v in line.items() if k != "checksum"} for line in stored] == RECORDS
    assert len({line["checksum"] for line in stored}) == 3


def test_every_flipped_bit_is_named_and_costs_its_line_alone(log, capsys):
    content = log.read_bytes()
    starts = [0, *(i + 1 for i, byte in enumerate(content) if byte == ord("\n"))]
    for place in range(len(content)):
        number = sum(start <= place for start in starts)
        for bit in range(8):
            log.write_bytes(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
            found = read_lines(log)
            error = capsys.readouterr().err
            if content[place] == ord("\n"):
                assert [r for r in RECORDS if r in found] == found, "two lines in one, or a torn last one"
                assert len(found) == (1 if number < 3 else 2)
                assert number == 3 or f"(line {number})" in error
            else:
                assert found == [record for i, record in enumerate(RECORDS, 1) if i != number]
                assert f"{log}" in error
                assert f"(line {number})" in error


def test_lines_of_earlier_versions_are_read(log):
    old = [{"step": 7, "loss": 3.0}, {"step": 8, "accuracies": [0.5], "protocol": "tiny"}]
    log.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in old) + log.read_bytes())
    assert read_lines(log) == [*old, *RECORDS]


def test_a_line_that_is_being_written_is_no_damage(log, capsys):
    with log.open("ab") as file:
        file.write(b'{"step": 3, "lo')
    assert read_lines(log) == RECORDS
    assert last_line(log) == RECORDS[-1]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "odd",
    [
        b"[" * 100_000,
        b'{"step": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b"7",
        b"null",
        b'{"step": "2"}',
        b'{"step": true}',
        b'{"step": NaN}',
        b'{"step": 1e400}',
        b'{"step": -1}',
        b'{"step": 1' + b"0" * 5000 + b"}",
        b'{"loss": 1}',
        b"\xff\xfe",
        b'"' + b"x" * 10**6 + b'"',
        b"\0" * 4096,
    ],
)
def test_what_is_no_record_is_named_and_the_rest_is_read(log, capsys, odd):
    content = log.read_bytes()
    log.write_bytes(content + odd + b"\n" + content)
    assert read_lines(log) == [*RECORDS, *RECORDS]
    assert "(line 4)" in capsys.readouterr().err
    assert last_line(log) == RECORDS[-1]


def test_a_pipe_is_a_sentence_and_a_large_log_too(tmp_path, log):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArtifactError, match=r"pipe.*regular"):
        read_lines(tmp_path / "pipe")
    assert last_line(tmp_path / "pipe") is None
    with log.open("ab") as file:
        file.truncate(2**40)
    with limited_to("1MB"), pytest.raises(DataError, match=f"{log}"):
        read_lines(log)
    assert read_lines(tmp_path / "none") == []


def test_a_full_disk_leaves_the_log_as_it_was(log, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = log.read_bytes()
    monkeypatch.setattr(lines_module.os, "fsync", full)
    with pytest.raises(ArtifactError, match=f"{log} could not be written: No space left"):
        append_lines(log, RECORDS)
    assert log.read_bytes() == before


def test_nothing_is_appended_through_a_link_or_to_a_pipe(tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"")
    (tmp_path / "metrics.jsonl").symlink_to(precious)
    os.mkfifo(tmp_path / "evaluations.jsonl")
    for name in ("metrics.jsonl", "evaluations.jsonl"):
        with pytest.raises(ArtifactError, match=name):
            append_lines(tmp_path / name, [{"step": 0}])
    assert precious.read_bytes() == b""
