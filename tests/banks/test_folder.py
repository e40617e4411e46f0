"""A sketch as a folder: what is in it stays, and what is damaged or missing is made again alike."""

import hashlib
import json
import signal
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save

import lqm
from lqm.banks import SKETCH, BankWriter, Shard, Sketch
from lqm.utils.errors import ArtifactError, ConfigError

CONFIG = {"method": "dm", "seed": 0}
SETTINGS = {"network": "convnet:width=8:depth=2"}
TENSORS = {"grid.0.1": torch.arange(6.0).view(3, 2), "mean.0.1": torch.ones(2), "encoder.a.b": torch.zeros(1)}


def sketch(out, encoders=4, **options):
    options = {"max_per_class": 2, "real_batch": 20, "settings": SETTINGS, **options}
    return lqm.sketch("digits", out=out, encoders=encoders, show_progress=False, **options)


def files(folder):
    """The shards, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in sorted(folder.glob("encoder-*.safetensors"))}


def shard_path(folder, number):
    (path,) = folder.glob(f"encoder-{number:06d}.*.safetensors")
    return path


def flip(path):
    """Change one bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    folder = tmp_path_factory.mktemp("straight") / "sketch"
    sketch(folder)
    return list(files(folder))


def test_what_is_written_is_read_again(tmp_path):
    with BankWriter(tmp_path / "sketch", SKETCH, CONFIG, {"torch": "x"}) as writer:
        assert writer.finished() == set()
        for number in range(2):
            writer.write((number,), TENSORS)
        assert writer.finished() == {(0,), (1,)}
        assert writer.read(1)["mean.0.1"].equal(TENSORS["mean.0.1"])
    found = Sketch(tmp_path / "sketch")
    assert found.config == CONFIG
    assert found.encoders == 2
    assert set(found[1].names) == set(TENSORS)
    for name, tensor in TENSORS.items():
        assert found[1][name].equal(tensor)
    assert found[0].below("encoder").keys() == {"a.b"}


def test_a_file_bears_the_hash_of_its_content(tmp_path, straight):
    sketch(tmp_path / "sketch", 1)
    path = shard_path(tmp_path / "sketch", 0)
    assert path.name.split(".")[1] == hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    assert "encoder.weights.classifier.weight" in load_file(path)
    assert [path.name] == straight[:1], "the same whenever it is made"


def test_a_flipped_bit_is_refused_by_name_when_it_is_used_and_made_again_by_a_sketch(
    tmp_path, straight, capsys
):
    folder = tmp_path / "sketch"
    sketch(folder)
    before = files(folder)
    path = shard_path(folder, 2)
    flip(path)
    damaged = Sketch(folder)
    assert damaged[1].names
    with pytest.raises(ArtifactError, match=f"{path.name} is damaged.*let `lqm sketch` make it again"):
        damaged[2]
    settings = {"steps": 8}
    with pytest.raises(ArtifactError, match=f"{path.name} is damaged"):
        lqm.condense("digits", per_class=1, sketch=folder, settings=settings, show_progress=False)
    sketch(folder)
    assert f"{path.name} is damaged" in capsys.readouterr().err
    assert list(files(folder)) == straight
    kept = {name: time for name, time in before.items() if name != path.name}
    assert kept.items() <= files(folder).items(), "the others are not touched"
    lqm.condense("digits", per_class=1, sketch=folder, settings=settings, show_progress=False)


def test_a_file_that_is_cut_off_is_refused_before_a_run_begins(tmp_path):
    sketch(tmp_path / "sketch", 1)
    path = shard_path(tmp_path / "sketch", 0)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ArtifactError, match=f"{path.name} can't be read.*let `lqm sketch` make it again"):
        Sketch(tmp_path / "sketch")
    with pytest.raises(ArtifactError, match=f"{path.name} is damaged"):
        Shard(path, "make it again")


def test_more_encoders_leave_the_first_ones_untouched(tmp_path, straight):
    folder = tmp_path / "sketch"
    assert sketch(folder, 4).encoders == 4
    first = files(folder)
    assert list(first) == straight
    longer = sketch(folder, 8)
    assert longer.encoders == 8
    assert len(files(folder)) == 8
    assert first.items() <= files(folder).items()
    assert sketch(folder, 2).encoders == 8, "fewer are there already"


def test_a_run_goes_on_with_the_encoders_that_it_began_with(tmp_path):
    def condense(out, steps):
        options = {"sketch": tmp_path / "sketch", "settings": {"steps": steps}, "show_progress": False}
        return lqm.condense("digits", per_class=1, out=tmp_path / out, **options).images

    sketch(tmp_path / "sketch", 2)
    straight = condense("straight", 6)
    condense("run", 3)
    sketch(tmp_path / "sketch", 4)
    assert condense("run", 6).equal(straight)
    assert not condense("new", 6).equal(straight)


KILLED = """
import os, signal, sys, torch
torch.set_num_threads(1)
rename, count = os.replace, 0
def deadly(*paths):
    global count
    count += 1
    if count == 4:  # run.json, two encoders, and then
        os.kill(os.getpid(), signal.SIGKILL)
    rename(*paths)
os.replace = deadly
import lqm
lqm.sketch("digits", out=sys.argv[1], encoders=4, max_per_class=2, real_batch=20,
           settings={"network": "convnet:width=8:depth=2"}, show_progress=False)
"""


def test_a_sketch_that_was_killed_goes_on_and_ends_bit_for_bit_like_another(tmp_path, straight):
    folder = tmp_path / "sketch"
    child = subprocess.run([sys.executable, "-c", KILLED, folder], timeout=120)
    assert child.returncode == -signal.SIGKILL
    assert list(files(folder)) == straight[:2]
    left = {path.name for path in folder.iterdir()} - {"run.json", ".lock", *straight}
    assert left, "it died in the middle of a file"
    before = files(folder)
    assert sketch(folder).encoders == 4
    assert list(files(folder)) == straight
    assert before.items() <= files(folder).items()
    assert not left & {path.name for path in folder.iterdir()}, "what was left is cleared away"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 1}, "seed = 0, not 1"),
        ({"max_per_class": 3}, "max_per_class = 2, not 3"),
        ({"real_batch": 21}, "settings.real_batch = 20, not 21"),
        ({"method": "idm"}, "method = 'dm', not 'idm'"),
        ({"settings": {"network": "mlp"}}, "settings.network = 'convnet:width=8:depth=2', not 'mlp'"),
    ],
)
def test_another_configuration_in_the_same_folder_is_refused(tmp_path, options, message):
    sketch(tmp_path / "sketch", 1)
    before = files(tmp_path / "sketch")
    with pytest.raises(ConfigError, match=message):
        sketch(tmp_path / "sketch", 1, **options)
    assert files(tmp_path / "sketch") == before


def test_two_writers_at_once_are_refused(tmp_path):
    with BankWriter(tmp_path / "sketch", SKETCH, CONFIG, {}):
        with pytest.raises(ArtifactError, match="is in use by another process"):
            BankWriter(tmp_path / "sketch", SKETCH, CONFIG, {}).__enter__()
        with pytest.raises(ArtifactError, match="is in use by another process"):
            sketch(tmp_path / "sketch")
    with BankWriter(tmp_path / "sketch", SKETCH, CONFIG, {}) as writer:
        assert writer.finished() == set()


def test_a_folder_without_a_sketch_is_refused(tmp_path, tiny):
    with pytest.raises(ArtifactError, match=f"{tmp_path} .*sketch.*`lqm sketch`"):
        Sketch(tmp_path)
    with BankWriter(tmp_path / "empty", SKETCH, CONFIG, {}):
        pass
    with pytest.raises(ArtifactError, match="has no encoder yet; let `lqm sketch` go on with it"):
        Sketch(tmp_path / "empty")
    lqm.condense("digits", per_class=1, settings=tiny, out=tmp_path / "run", show_progress=False)
    with pytest.raises(ArtifactError, match="holds something else than a sketch"):
        Sketch(tmp_path / "run")
    with pytest.raises(ArtifactError, match="holds a run, not a sketch; choose another folder"):
        sketch(tmp_path / "run")
    sketch(tmp_path / "sketch", 1)
    options = {"sketch": tmp_path / "sketch", "settings": {"steps": 1}, "show_progress": False}
    lqm.condense("digits", per_class=1, out=tmp_path / "from sketch", **options)
    with pytest.raises(ArtifactError, match="holds something else than a sketch"):
        Sketch(tmp_path / "from sketch")


def test_a_run_in_the_folder_of_a_sketch_is_refused(tmp_path, tiny):
    sketch(tmp_path / "sketch", 1)
    before = files(tmp_path / "sketch")
    with pytest.raises(ArtifactError, match=r"holds a sketch.*choose another folder"):
        lqm.condense("digits", per_class=1, settings=tiny, out=tmp_path / "sketch", show_progress=False)
    assert files(tmp_path / "sketch") == before


def test_the_identity_follows_the_configuration_and_the_number_of_encoders(tmp_path):
    found = [sketch(tmp_path / "one", 1).identity, sketch(tmp_path / "one", 2).identity]
    found.append(sketch(tmp_path / "other", 2, seed=1).identity)
    found.append(sketch(tmp_path / "again", 2).identity)
    assert found[1] == found[3]
    assert found[0] != found[1] != found[2]


def test_an_encoder_that_is_missing_in_the_middle_is_named_and_made_again(tmp_path, straight):
    folder = tmp_path / "sketch"
    sketch(folder)
    shard_path(folder, 1).unlink()
    with pytest.raises(ArtifactError, match=r"encoder-000001\..* is missing.*`lqm sketch`"):
        Sketch(folder)
    with pytest.raises(ArtifactError, match=r"encoder-000001\..* is missing"):
        lqm.condense("digits", per_class=1, sketch=folder, settings={"steps": 2}, show_progress=False)
    assert Sketch(folder, 1).encoders == 1, "a run that began with the first alone goes on"
    assert sketch(folder).encoders == 4
    assert list(files(folder)) == straight


def test_encoders_of_another_sketch_and_of_another_number_are_refused_and_made_again(
    tmp_path, straight, capsys
):
    sketch(tmp_path / "other", 2, seed=1)
    for name in ("of another", "swapped"):
        folder = tmp_path / name
        sketch(folder)
        foreign = shard_path(tmp_path / "other", 1) if name == "of another" else shard_path(folder, 2)
        content, hash_ = foreign.read_bytes(), foreign.name.split(".")[1]
        shard_path(folder, 1).unlink()
        (folder / f"encoder-000001.{hash_}.safetensors").write_bytes(content)
        with pytest.raises(ArtifactError, match=r"encoder-000001.* is of another bank or has another number"):
            Sketch(folder)
        capsys.readouterr()
        sketch(folder)
        assert "encoder-000001" in capsys.readouterr().err
        assert list(files(folder)) == straight


def test_a_sketch_of_an_earlier_version_grows_by_files_of_its_own_kind(tmp_path):
    """So that one of its files which is made again has the same name, and runs by it go on."""
    folder = tmp_path / "sketch"
    with BankWriter(folder, SKETCH, CONFIG, {}):
        pass
    record = json.loads((folder / "run.json").read_text())
    del record["id"]
    (folder / "run.json").write_text(json.dumps(record))
    with BankWriter(folder, SKETCH, CONFIG, {}) as writer:
        writer.write((0,), TENSORS)
        assert writer.finished() == {(0,)}
    assert shard_path(folder, 0).read_bytes() == save(TENSORS)
    assert Sketch(folder)[0].names


@pytest.mark.parametrize(
    "content", [b"", b"x" * 100, b"\xff" * 100, b"\2\0\0\0\0\0\0\0[]", b"\x20" + b"\0" * 7 + b"[" * 32]
)
def test_bytes_that_are_no_tensors_are_one_sentence(tmp_path, content):
    path = tmp_path / f"encoder-000000.{hashlib.sha256(content).hexdigest()[:32]}.safetensors"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=f"{path.name} can't be read.*make it again"):
        Shard(path, "make it again")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [2], "data_offsets": [0, 9]},
        {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4 * 10**12]},
        {"dtype": "F32", "shape": [-2], "data_offsets": [8, 0]},
        {"dtype": "X", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2.0], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]},
        {"dtype": "F32", "data_offsets": [0, 8]},
        7,
    ],
)
def test_a_header_that_lies_is_one_sentence(tmp_path, entry):
    header = json.dumps({"x": entry}).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(8)
    path = tmp_path / f"encoder-000000.{hashlib.sha256(content).hexdigest()[:32]}.safetensors"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=f"{path.name} can't be read"):
        Shard(path, "make it again")


def test_a_tensor_that_is_not_there_is_one_sentence(tmp_path):
    with BankWriter(tmp_path / "sketch", SKETCH, CONFIG, {}) as writer:
        writer.write((0,), TENSORS)
    with pytest.raises(ArtifactError, match=r"encoder-000000.*'grid\.7\.7'"):
        Sketch(tmp_path / "sketch")[0]["grid.7.7"]


@pytest.mark.parametrize(
    "config", [{}, {"method": "dm"}, {"max_per_class": "x"}, {"source": []}, {"settings": 1}, [], 7, None]
)
def test_a_configuration_of_wrong_types_is_one_sentence(tmp_path, config):
    sketch(tmp_path / "sketch", 1)
    record = json.loads((tmp_path / "sketch" / "run.json").read_text())
    record["config"]["sketched"] = config
    (tmp_path / "sketch" / "run.json").write_text(json.dumps(record))
    with pytest.raises(ArtifactError, match=f"{tmp_path / 'sketch'}"):
        lqm.condense("digits", per_class=1, sketch=tmp_path / "sketch", show_progress=False)
