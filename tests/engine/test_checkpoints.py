"""A run goes on from a checkpoint of its own or from none, and its logs lose nothing but what is damaged."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

import lqm
from lqm.engine import RunFolder, run
from lqm.engine.checkpoint import latest_checkpoint, save_checkpoint
from lqm.utils.errors import ArtifactError
from lqm.utils.files import short_hash

SETTINGS = {"steps": 4, "network": "convnet:width=4:depth=1", "real_batch": 8}


class Sum:
    """Adds up the numbers of the steps, and the seed."""

    def __init__(self, seed=0):
        self.total = torch.zeros(2)
        self.seed = seed

    def step(self, i):
        self.total += i + 100 * self.seed
        return {"loss": float(i)}

    def state(self):
        return {"total": self.total}

    def load_state(self, state):
        self.total = state["total"].clone()


def advance(path, steps, seed=0):
    method = Sum(seed)
    with RunFolder(path, {"seed": seed}, {}) as folder:
        run(method, steps, folder, checkpoint_seconds=0, show_progress=False)
    return method.total


def newest(path):
    return max((path / "checkpoints").glob("*.safetensors"))


def replace_newest(path, content, name=None):
    """Put other bytes in the place of the newest checkpoint, under a name that has their hash."""
    old = newest(path)
    old.unlink()
    new = old.with_name(f"{name or old.name.split('.')[0]}.{short_hash(content)}.safetensors")
    new.write_bytes(content)
    return new


def test_a_checkpoint_of_another_seed_is_named_and_not_gone_on_from(tmp_path, capsys):
    straight = advance(tmp_path / "straight", 6)
    advance(tmp_path / "run", 3)
    advance(tmp_path / "other", 5, seed=1)
    foreign = newest(tmp_path / "other")
    shutil.copy(foreign, tmp_path / "run" / "checkpoints")
    assert advance(tmp_path / "run", 6).equal(straight)
    assert f"{foreign.name} is of another run" in capsys.readouterr().err


def test_a_checkpoint_under_the_name_of_another_step_is_not_gone_on_from(tmp_path, capsys):
    straight = advance(tmp_path / "straight", 6)
    advance(tmp_path / "run", 3)
    replace_newest(tmp_path / "run", newest(tmp_path / "run").read_bytes(), "step-000000005")
    assert advance(tmp_path / "run", 6).equal(straight)
    assert "another step" in capsys.readouterr().err


def test_runs_of_earlier_versions_go_on_from_their_checkpoints_and_from_no_others(tmp_path, capsys):
    straight = advance(tmp_path / "straight", 6)
    for name in ("run", "spoiled"):
        advance(tmp_path / name, 3)
        record = json.loads((tmp_path / name / "run.json").read_text())
        del record["id"]
        (tmp_path / name / "run.json").write_text(json.dumps(record))
        for path in (tmp_path / name / "checkpoints").iterdir():
            tensors = load_file(path)
            path.unlink()
            save_checkpoint(path.parent, int(path.name[5:14]), tensors)
    assert advance(tmp_path / "run", 6).equal(straight)
    assert "another" not in capsys.readouterr().err
    advance(tmp_path / "new", 5, seed=1)
    shutil.copy(newest(tmp_path / "new"), tmp_path / "spoiled" / "checkpoints")
    assert advance(tmp_path / "spoiled", 6).equal(straight)
    assert "another run" in capsys.readouterr().err


def test_a_checkpoint_without_an_origin_is_not_taken_for_one_of_a_new_run(tmp_path, capsys):
    straight = advance(tmp_path / "straight", 6)
    advance(tmp_path / "run", 3)
    save_checkpoint(tmp_path / "run" / "checkpoints", 5, {"total": torch.ones(2)})
    assert advance(tmp_path / "run", 6).equal(straight)
    assert "another run" in capsys.readouterr().err


def test_a_state_without_a_tensor_is_one_sentence(tmp_path):
    with RunFolder(tmp_path / "run", {"seed": 0}, {}) as folder:
        path = folder.save(3, {"sum": torch.zeros(2)})
        with pytest.raises(ArtifactError, match=f"{path.name} .*total"):
            run(Sum(), 6, folder, show_progress=False)


@pytest.mark.parametrize(
    ("source", "options", "name"),
    [
        ("digits", {"per_class": 1, "settings": SETTINGS}, "images"),
        ("digits", {"per_class": 1, "settings": SETTINGS}, "momentum"),
        ("digits-knn", {"budget": 10, "settings": {"steps": 4, "width": 8}}, "features"),
        ("digits-knn", {"budget": 10, "settings": {"steps": 4, "width": 8}}, "adam.exp_avg"),
    ],
)
def test_a_tensor_of_another_shape_or_type_is_one_sentence(tmp_path, source, options, name):
    def condense(steps):
        settings = options["settings"] | {"steps": steps}
        return lqm.condense(source, out=out, **options | {"settings": settings}, show_progress=False)

    out = tmp_path / "run"
    condense(4)
    for spoil in (lambda x: x[:1], lambda x: x.flatten(), lambda x: x.double(), None):
        state = load_file(newest(out))
        if name not in state:
            pytest.skip("this method keeps no such moment")
        if spoil is None:
            del state[name]
        else:
            state[name] = spoil(state[name])
        if name not in ("images", "features") and (spoil is None or state[name].dtype == torch.float64):
            continue  # moments may be missing, and are brought to the type of their tensor
        path = save_checkpoint(out / "checkpoints", 5, state, _id(out))
        with pytest.raises(ArtifactError, match=f"{path.name} does not hold a state of this run"):
            condense(8)
        path.unlink()
    condense(8)


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 64, b"\2\0\0\0\0\0\0\0[]", b"[" * 100_000])
def test_bytes_that_are_no_checkpoint_are_one_sentence(tmp_path, content):
    advance(tmp_path / "run", 3)
    path = replace_newest(tmp_path / "run", content)
    with pytest.raises(ArtifactError, match=path.name):
        advance(tmp_path / "run", 6)


def test_names_that_are_no_checkpoints_are_passed_over(tmp_path):
    advance(tmp_path / "run", 3)
    for name in ("step-9.a.b.safetensors", "step-000000009.x.safetensors", "step-x.y.safetensors"):
        (tmp_path / "run" / "checkpoints" / name).write_bytes(b"x")
    assert latest_checkpoint(tmp_path / "run" / "checkpoints", print, _id(tmp_path / "run")).step == 3


def _id(path):
    return json.loads((path / "run.json").read_text())["id"]


def test_a_damaged_line_in_the_middle_is_named_on_resume_and_all_others_stay(tmp_path, capsys):
    advance(tmp_path / "run", 5)
    log = tmp_path / "run" / "metrics.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join([*lines[:2], lines[2].replace(b"2.0", b"9.0"), *lines[3:]]))
    advance(tmp_path / "run", 7)
    error = capsys.readouterr().err
    assert f"{log}" in error
    assert "(line 3)" in error
    assert [json.loads(line)["step"] for line in log.read_bytes().splitlines()] == [0, 1, 3, 4, 5, 6]


def test_lines_of_any_types_do_not_stop_a_resumed_run(tmp_path):
    straight = advance(tmp_path / "straight", 6)
    advance(tmp_path / "run", 3)
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 0, "seconds": "long", "loss": [1]}\n{"step": 1, "seconds": NaN}\n[]\n')
    (tmp_path / "run" / "evaluations.jsonl").write_text('{"step": 1, "accuracy": "high"}\n' + "[" * 9999)
    assert advance(tmp_path / "run", 6).equal(straight)


def test_nothing_is_said_to_be_done_that_was_not_saved(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise ArtifactError("the disk is full")

    with RunFolder(tmp_path / "run", {"seed": 0}, {}) as folder:
        monkeypatch.setattr(folder, "save", full)
        with pytest.raises(ArtifactError, match="full"):
            run(Sum(), 3, folder, name="sum")
    assert "3/3" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"7",
        b'{"config": 1}',
        b'{"config": {}, "environment": []}',
        b'{"config": {"settings": 1}, "environment": {}}',
        b"[" * 10**5,
        b"\xff",
        b"",
    ],
)
def test_a_record_of_wrong_types_is_one_sentence(tmp_path, content):
    advance(tmp_path / "run", 2)
    (tmp_path / "run" / "run.json").write_bytes(content)
    with pytest.raises(ArtifactError, match=r"run\.json is damaged"):
        advance(tmp_path / "run", 3)


def test_an_origin_and_a_configuration_that_are_no_utf8_are_kept(tmp_path):
    config = {"seed": 0, "source": {"name": "caf\udce9"}}
    for _ in range(2):
        with RunFolder(tmp_path / "run", config, {}) as folder:
            folder.log([(0, {"loss": 1.0})])
            folder.log_evaluation(1, {"accuracy": 0.5, "protocol": "caf\udce9"})
    assert folder.evaluations()[-1]["protocol"] == "caf\udce9"


@pytest.mark.parametrize(
    "odd", ['{"step": 1}', '{"step": 1, "accuracy": "x", "protocol": "p"}', '{"step": 1, "accuracy": 1}']
)
def test_an_evaluation_that_cant_be_shown_is_none(tmp_path, odd):
    with RunFolder(tmp_path / "run", {"seed": 0}, {}) as folder:
        (tmp_path / "run" / "evaluations.jsonl").write_text(odd + "\n")
        assert folder.evaluations() == []
        folder.log_evaluation(2, {"accuracy": 0.5, "deviation": None, "protocol": "tiny"})
        assert folder.evaluations()[-1]["accuracy"] == 0.5
