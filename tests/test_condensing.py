import json
import os
import re
import shutil
import signal
import sys
from dataclasses import dataclass, replace

import pytest
import torch

import lqm
from lqm.distances.mean import Mean
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.images.evaluation import PROTOCOLS
from lqm.images.students import Student
from lqm.utils.errors import ArtifactError, ConfigError, DataError, StoppedError


def condense(tiny, **options):
    options = {"per_class": 2, "settings": tiny, "show_progress": False, **options}
    return lqm.condense("digits", **options)


def test_accuracy_is_the_mean_over_the_protocols_networks(tmp_path, tiny, tiny_protocol, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "quick-200", tiny_protocol)
    condense(tiny).save(tmp_path / "digits-2")
    found = lqm.evaluate(tmp_path / "digits-2", show_progress=False, baselines=())
    assert found.accuracy == pytest.approx(sum(found.score.accuracies) / 2)
    assert found.baselines == {}


def test_condensing_in_memory_and_in_a_folder_gives_the_same_set(tmp_path, tiny):
    assert condense(tiny).images.equal(condense(tiny, out=tmp_path / "run").images)


def test_the_manifest_tells_everything_needed_to_make_and_use_the_set(tiny, digits):
    manifest = condense(tiny).manifest
    assert manifest["source"] == {
        "name": "digits",
        "fingerprint": digits.fingerprint,
        "augmentation": ["color", "crop", "cutout", "scale", "rotate"],
    }
    assert manifest["method"] == "dm"
    assert manifest["distance"] == {
        "name": "lqm",
        "statistic": "cramer-von-mises",
        "weighted": False,
        "interpolation": "hazen",
    }
    assert manifest["steps"] == 6
    assert manifest["settings"]["network"] == "convnet:width=8"
    assert manifest["seconds"] > 0
    assert manifest["origin"] == {"source": "digits"}
    assert manifest["settings"]["momentum"] == 0.5
    assert manifest["preprocessing"] == {"mean": digits.mean.tolist(), "std": digits.std.tolist()}
    assert manifest["evaluation"]["name"] in PROTOCOLS
    assert manifest["environment"]["torch"] == torch.__version__
    assert manifest["environment"]["lqm"] == lqm.__version__
    json.dumps(manifest)


def test_settings_come_from_the_paper_then_the_recipe_then_the_user(digits):
    def settings(**given):
        settings = {"steps": 1, **given}
        return lqm.condense(digits, per_class=1, settings=settings, show_progress=False).manifest["settings"]

    assert settings()["momentum"] == 0.5
    assert settings()["learning_rate"] == 0.3
    assert settings(learning_rate=0.7)["learning_rate"] == 0.7


def test_a_recipe_by_name_brings_method_and_budget(digits):
    def made(**options):
        return lqm.condense(digits, settings={"steps": 1}, show_progress=False, **options).manifest

    assert made(recipe="dm-1")["per_class"] == 1
    assert made(recipe="dm-1")["recipe"] == "dm-1"
    with pytest.raises(ConfigError, match=r"'dm-1'.*method.*'dm'.*'idm'"):
        made(recipe="dm-1", method="idm")
    with pytest.raises(ConfigError, match=r"'dm-1'.*per_class\b.*\b1\b.*\b3\b"):
        made(recipe="dm-1", per_class=3)


def test_what_matches_nothing_takes_no_distance(digits):
    condensed = lqm.condense(digits, method="random", per_class=2, show_progress=False)
    assert condensed.manifest["distance"] is None
    with pytest.raises(ConfigError, match=r"'random'.*leave the distance out"):
        lqm.condense(digits, method="random", distance="lqm", per_class=2)


def test_a_longer_run_takes_up_a_finished_one_and_equals_a_straight_one(tmp_path, tiny):
    condense(tiny, out=tmp_path / "run")
    longer = condense(tiny | {"steps": 9}, out=tmp_path / "run")
    assert longer.images.equal(condense(tiny | {"steps": 9}).images)
    assert lqm.load(tmp_path / "run").manifest["steps"] == 9


def test_a_damaged_result_is_made_again_from_the_checkpoint(tmp_path, tiny, capsys):
    before = condense(tiny, out=tmp_path / "run")
    next((tmp_path / "run").glob("data-*")).write_bytes(b"spoiled")
    with pytest.raises(ArtifactError):
        lqm.load(tmp_path / "run")
    again = condense(tiny, out=tmp_path / "run")
    assert again.images.equal(before.images)
    assert re.search(rf"{tmp_path / 'run'}.*checkpoint", capsys.readouterr().err)


def test_scores_join_the_manifest_in_memory_and_on_disk(tmp_path, tiny, tiny_protocol, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    condensed = condense(tiny, out=tmp_path / "run")
    found = lqm.evaluate(condensed, protocol="tiny", baselines=("random", "full"), show_progress=False)
    assert set(found.baselines) == {"random", "full"}
    (score,) = lqm.load(tmp_path / "run").manifest["scores"]
    assert score["accuracy"] == found.accuracy
    assert score["protocol"]["name"] == "tiny"
    unsaved = lqm.evaluate(condense(tiny), protocol="tiny", show_progress=False, baselines=())
    assert unsaved.condensed.manifest["scores"][0]["accuracy"] == found.accuracy


def test_two_evaluations_of_the_same_set_both_stay(tmp_path, tiny, tiny_protocol, monkeypatch):
    for name in ("first", "second"):
        monkeypatch.setitem(PROTOCOLS, name, replace(tiny_protocol, name=name))
    condensed = condense(tiny, out=tmp_path / "run")
    for name in ("first", "second"):
        lqm.evaluate(condensed, protocol=name, show_progress=False, baselines=())
    assert [s["protocol"]["name"] for s in lqm.load(tmp_path / "run").manifest["scores"]] == [
        "first",
        "second",
    ]


def test_a_score_that_cant_be_noted_is_still_given(tmp_path, tiny, tiny_protocol, monkeypatch, capsys):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    condensed = condense(tiny, out=tmp_path / "run")
    shutil.rmtree(tmp_path / "run")
    assert lqm.evaluate(condensed, protocol="tiny", show_progress=False, baselines=()).accuracy >= 0
    assert str(tmp_path / "run") in capsys.readouterr().err


def test_the_result_of_another_run_is_never_taken_for_this_ones(tmp_path, tiny):
    mean = condense(tiny, distance="mean", out=tmp_path / "run")
    with pytest.raises(ArtifactError, match=f"{tmp_path / 'run'} .*run"):
        condense(tiny).save(tmp_path / "run")
    condense(tiny).write(tmp_path / "run")
    assert condense(tiny, distance="mean", out=tmp_path / "run").images.equal(mean.images)


def test_another_augmentation_is_another_run(tmp_path, tiny, digits):
    condense(tiny, out=tmp_path / "run")
    other = replace(digits, augmentation=("rotate",))
    with pytest.raises(ConfigError, match=r"source\.augmentation"):
        lqm.condense(other, per_class=2, settings=tiny, out=tmp_path / "run", show_progress=False)


def test_a_set_of_ones_own_source_says_how_to_evaluate_it(tmp_path, tiny, digits):
    source = replace(digits, name="mine", origin=None)
    condensed = lqm.condense(source, per_class=2, settings=tiny, show_progress=False)
    condensed.save(tmp_path / "set")
    with pytest.raises(DataError, match=r"'mine'.*in Python"):
        lqm.evaluate(tmp_path / "set", baselines=())


def test_what_is_no_distance_is_refused_before_any_work(tiny):
    @dataclass(frozen=True)
    class Weighted(Mean):
        weights: object = torch.ones(3)

    for wrong in (Mean, object()):
        with pytest.raises(ConfigError, match=r"(Mean|object).*distance"):
            condense(tiny, distance=wrong)
    with pytest.raises(ConfigError, match=r"'mean'.*Tensor"):
        condense(tiny, distance=Weighted())


def test_other_data_under_the_same_name_is_refused(tiny, digits):
    condensed = condense(tiny)
    other = replace(digits, test=lqm.Images(1 - digits.test.images, digits.test.labels))
    with pytest.raises(DataError, match=r"'digits'.*labels.*'digits'"):
        lqm.evaluate(condensed, source=other, show_progress=False, baselines=())


def test_a_source_in_memory_is_condensed_and_evaluated(tiny, tiny_protocol, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    draws = torch.Generator().manual_seed(0)
    images = lqm.Images(torch.rand(30, 3, 12, 12, generator=draws), torch.arange(30) % 3)
    source = lqm.ImageSource("mine", images, images, ("a", "b", "c"))
    condensed = lqm.condense(source, per_class=2, settings=tiny, show_progress=False)
    found = lqm.evaluate(condensed, source=source, protocol="tiny", show_progress=False, baselines=())
    assert found.score.records == 6


def test_public_names_are_all_there():
    for name in lqm.__all__:
        assert getattr(lqm, name)
    with pytest.raises(AttributeError, match="no attribute 'condens'"):
        lqm.condens  # noqa: B018


def test_stopping_at_a_baseline_keeps_the_score_of_the_set(tmp_path, tiny, tiny_protocol, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    condensed = condense(tiny, out=tmp_path / "run")

    step, steps = torch.optim.SGD.step, []

    def stop_after_the_set(*args, **options):
        steps.append(1)
        if len(steps) > 6:
            raise KeyboardInterrupt
        return step(*args, **options)

    # On the set, 2 networks learn from one batch an epoch, in epochs 0 to 2.
    monkeypatch.setattr(torch.optim.SGD, "step", stop_after_the_set)
    with pytest.raises(KeyboardInterrupt):
        lqm.evaluate(condensed, protocol="tiny", baselines=("random", "full"), show_progress=False)
    assert len(lqm.load(tmp_path / "run").manifest["scores"]) == 1


def test_results_read_well_at_the_prompt(tiny, tiny_protocol, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "tiny", tiny_protocol)
    found = lqm.evaluate(condense(tiny), protocol="tiny", show_progress=False, baselines=())
    assert "| condensed | 20 |" in str(found)
    assert f"{100 * found.accuracy:.1f}" in str(found)
    assert len(repr(found)) < 1500
    assert {"condense", "evaluate", "load", "load_source"} <= set(dir(lqm))


def test_going_on_is_logged(tmp_path, tiny, capsys):
    condense(tiny, out=tmp_path / "run")
    condense(tiny | {"steps": 8}, out=tmp_path / "run")
    assert "step 6 of 8" in capsys.readouterr().err


def test_what_cant_be_used_leaves_no_folder_behind(tmp_path, digits):
    wrong = [("dm", {"network": "convnet:depth=5"}), ("idm", {"mosaic": 7}), ("datadam", {"network": "mlp"})]
    for method, settings in wrong:
        with pytest.raises(ConfigError):
            lqm.condense(digits, method=method, settings=settings, out=tmp_path / "run", show_progress=False)
        assert not (tmp_path / "run").exists()


def test_another_network_of_the_users_own_is_another_run_whatever_it_is_called(tmp_path, digits):
    def condense_with(width):
        def mine(shape, classes):
            return torch.nn.Sequential(
                torch.nn.Flatten(),
                torch.nn.Linear(64, width),
                torch.nn.ReLU(),
                torch.nn.Linear(width, classes),
            )

        settings = {"steps": 2, "real_batch": 8}
        return lqm.condense(
            digits, per_class=1, network=mine, settings=settings, out=tmp_path / "run", show_progress=False
        )

    condense_with(4)
    with pytest.raises(ConfigError, match=r"settings\.network"):
        condense_with(5)


@pytest.fixture
def unreadable(tmp_path):
    """A folder that tells whether it was read: it holds no images."""
    (tmp_path / "cat").mkdir()
    with pytest.raises(DataError):
        lqm.condense(tmp_path)
    return tmp_path


def test_mistakes_are_found_before_the_source_is_read(unreadable):
    for wrong in ({"method": "dm", "settings": {"step": 1}}, {"per_class": 0}, {"distance": "lqn"}):
        with pytest.raises(ConfigError):
            lqm.condense(unreadable, **wrong)


def test_the_start_is_chosen_in_the_open_and_goes_on_where_it_was_stopped(
    tmp_path, tiny, capsys, monkeypatch
):
    settings = tiny | {"start": "herding", "start_steps": 5}
    straight = condense(settings)
    learn, count = Student.learn, []

    def stop_at_third(self, *batch):
        count.append(1)
        if len(count) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return learn(self, *batch)

    monkeypatch.setattr(Student, "learn", stop_at_third)
    with pytest.raises(StoppedError, match="step 3 of 5"):
        condense(settings, out=tmp_path / "run")
    resumed = condense(settings, out=tmp_path / "run")
    assert len(count) == 5
    assert resumed.images.equal(straight.images)
    longer = condense(settings | {"steps": 8}, out=tmp_path / "run", show_progress=True)
    assert len(count) == 5, "a run that has begun needs no start"
    assert longer.images.equal(condense(settings | {"steps": 8}).images)
    assert "=herding" in capsys.readouterr().err


def test_a_network_may_be_named_in_its_own_argument(tiny, digits):
    by_argument = condense({"steps": 2, "real_batch": 8}, network="mlp:width=8")
    by_setting = condense({"steps": 2, "real_batch": 8, "network": "mlp:width=8"})
    assert by_argument.images.equal(by_setting.images)
    assert by_argument.manifest["settings"]["network"] == "mlp:width=8"


def test_another_distance_is_named_as_such(tmp_path, tiny):
    condense(tiny, out=tmp_path / "run")
    with pytest.raises(ConfigError, match=r"distance\.name.*'lqm'.*'mean'"):
        condense(tiny, distance="mean", out=tmp_path / "run")


def test_what_is_no_source_says_how_to_make_one():
    with pytest.raises(ConfigError, match=r"object.* is no source; give a name, a path, arrays as X and y"):
        lqm.condense(object())


@pytest.fixture
def quick(tiny_protocol, monkeypatch):
    """The protocols that sets ask for by default, at a size that takes no time."""
    monkeypatch.setitem(PROTOCOLS, "quick-200", replace(tiny_protocol, name="quick-200"))
    whole = GRAPH_PROTOCOLS["unbiased-500"]
    monkeypatch.setitem(GRAPH_PROTOCOLS, "unbiased-500", replace(whole, epochs=2, networks=2))


def evaluations(folder):
    return [json.loads(line) for line in (folder / "evaluations.jsonl").read_text().splitlines()]


QUEUE = {"student_batch": 16, "student_steps": 1, "queue_interval": 2, "queue_limit": 3}
FOLLOWED = {
    "dm": {"method": "dm", "settings": {"steps": 5, "network": "convnet:width=8", "real_batch": 16}},
    "idm": {
        "method": "idm",
        "settings": {"steps": 5, "network": "convnet:width=8", "real_batch": 16} | QUEUE,
    },
    "start": {
        "method": "dm",
        "settings": {"steps": 5, "network": "mlp:width=8", "start": "herding", "start_steps": 3},
    },
    "herding": {"method": "herding", "settings": {"steps": 5, "network": "convnet:width=8"}},
    "random": {"method": "random"},
    "cat": {"source": "digits-knn", "method": "cat", "settings": {"steps": 5, "width": 16}},
    "k-centre of nodes": {"source": "digits-knn", "method": "k-centre"},
}


@pytest.mark.parametrize("case", FOLLOWED.values(), ids=FOLLOWED)
def test_evaluations_along_the_way_change_no_byte_of_the_set(tmp_path, case, quick):
    options = {"source": "digits", "show_progress": False, **case}
    if options["source"] == "digits":
        options["per_class"] = 2
    source = options.pop("source")
    plain = lqm.condense(source, **options, out=tmp_path / "plain")
    judged = lqm.condense(source, **options, out=tmp_path / "judged", evaluate_every=2)
    assert judged.manifest["data"]["sha256"] == plain.manifest["data"]["sha256"]
    assert "scores" not in plain.manifest
    lines = evaluations(tmp_path / "judged")
    steps = [2, 4, 5] if "settings" in case else [1]
    assert [line["step"] for line in lines] == steps
    found = lqm.evaluate(plain, show_progress=False, baselines=())
    last = lines[-1]
    assert last == {
        "step": steps[-1],
        "accuracy": found.accuracy,
        "deviation": found.score.deviation,
        "accuracies": list(found.score.accuracies),
        "protocol": found.protocol.name,
        "cramer_von_mises": found.score.before.cramer_von_mises,
        "extremes": found.score.before.extremes,
        "checksum": last["checksum"],
    }
    assert judged.manifest["scores"] == found.condensed.manifest["scores"], "the last one is noted as well"
    assert lqm.load(tmp_path / "judged").manifest["scores"] == json.loads(
        json.dumps(judged.manifest["scores"])
    )
    config = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("plain", "judged")]
    assert config[0] == config[1], "it is no part of what makes a run"


def test_a_condensation_by_a_sketch_is_evaluated_along_the_way(tmp_path, quick):
    sketch = tmp_path / "sketch"
    lqm.sketch(
        "digits", out=sketch, encoders=3, max_per_class=2, network="convnet:width=8", show_progress=False
    )
    options = {"sketch": sketch, "per_class": 2, "settings": {"steps": 3}, "show_progress": False}
    plain = lqm.condense("digits", **options)
    judged = lqm.condense("digits", **options, out=tmp_path / "run", evaluate_every=2)
    assert judged.images.equal(plain.images)
    assert [line["step"] for line in evaluations(tmp_path / "run")] == [2, 3]


def test_the_evaluation_of_the_last_step_is_free_afterwards(tmp_path, tiny, quick, monkeypatch):
    condensed = condense(tiny, out=tmp_path / "run", evaluate_every=4)
    monkeypatch.setattr(torch.optim.SGD, "step", lambda *_, **__: pytest.fail("trained again"))
    found = lqm.evaluate(tmp_path / "run", show_progress=False, baselines=())
    assert found.accuracy == evaluations(tmp_path / "run")[-1]["accuracy"]
    again = condense(tiny, out=tmp_path / "run", evaluate_every=2)
    assert again.images.equal(condensed.images)
    assert len(evaluations(tmp_path / "run")) == 2, "a finished run is left as it is"


def test_evaluations_are_shown_without_a_folder_too(tiny, quick, capsys):
    condense(tiny | {"steps": 2}, evaluate_every=5, show_progress=True)
    assert re.search(r"dm \+ lqm: evaluated by .*: \d+\.\d %.* at step 2", capsys.readouterr().err)


def test_a_source_in_memory_is_evaluated_along_the_way(tmp_path, tiny, quick, digits):
    source = replace(digits, name="mine", origin=None)
    lqm.condense(
        source, per_class=1, settings=tiny, evaluate_every=6, out=tmp_path / "run", show_progress=False
    )
    assert [line["step"] for line in evaluations(tmp_path / "run")] == [6]


def test_event_files_have_what_the_json_lines_have(tmp_path, tiny, quick):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    condense(tiny, out=tmp_path / "run", evaluate_every=3, tensorboard=True)
    read = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    metrics = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    loss = [(event.step, event.value) for event in read.Scalars("loss")]
    assert loss == [(line["step"], pytest.approx(line["loss"])) for line in metrics]
    for name in ("accuracy", "cramer_von_mises", "extremes"):
        found = [(event.step, event.value) for event in read.Scalars(f"evaluation/{name}")]
        assert found == [(line["step"], pytest.approx(line[name])) for line in evaluations(tmp_path / "run")]


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "often"])
def test_what_cant_be_followed_is_refused_before_any_work(unreadable, monkeypatch, wrong):
    run = unreadable / "run"
    with pytest.raises(ConfigError, match=rf"evaluate_every\b.*{wrong}.*whole number"):
        lqm.condense(unreadable, evaluate_every=wrong, out=run)
    with pytest.raises(ConfigError, match=r"tensorboard.*folder"):
        lqm.condense(unreadable, tensorboard=True)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigError, match=r"pip install 'lqm\[tensorboard\]'"):
        lqm.condense(unreadable, tensorboard=True, out=run)
    assert not run.exists()


def test_a_finished_run_says_that_nothing_is_left_to_follow(tmp_path, tiny, capsys):
    options = {"per_class": 2, "settings": tiny, "out": tmp_path / "run"}
    lqm.condense("digits", **options, show_progress=False)
    capsys.readouterr()
    lqm.condense("digits", **options, evaluate_every=2)
    assert "no steps left" in capsys.readouterr().err
    assert not (tmp_path / "run" / "evaluations.jsonl").exists()
