"""Arms and candidates: every distance is given the same choice."""

import pytest

from lqm.studies.arms import RUNGS, Arm, arms_of
from lqm.studies.grid import read_study
from lqm.studies.halving import planned
from lqm.studies.lines import StudyHead
from lqm.studies.tuned import TunedLine, read_tuned, with_choices, write_tuned
from lqm.utils.errors import ArtifactError, ConfigError

GRID = {
    "source": ["digits", "mnist"],
    "method": "dm",
    "distance": ["mean", "lqm", "wasserstein"],
    "per_class": [1, 10],
    "seed": "0..2",
    "networks": ["mlp", "convnet"],
    "baselines": ["full"],
    "sketch": {"encoders": 2},
    "settings": {"steps": 5},
    "tune": {"learning_rate": [0.1, 1.0, 10.0], "steps": [100, 300]},
}


def cells_of(*changes):
    blocks = [GRID | change for change in changes or ({},)]
    return read_study("mine", {"grid": blocks}).cells


def line_of(arm, chosen):
    return TunedLine(StudyHead("mine"), arm.name, {}, arm.key, chosen, [chosen], [{0: (0.5, None)}], 2)


def test_there_is_an_arm_for_everything_but_the_seed_with_all_combinations():
    arms = arms_of(cells_of())
    assert len(arms) == 2 * 3 * 2
    assert len({arm.name for arm in arms}) == len(arms)
    for arm in arms:
        assert arm.candidates == [
            {"learning_rate": rate, "steps": steps} for rate in (0.1, 1.0, 10.0) for steps in (100, 300)
        ]


def test_every_distance_gets_the_same_candidates_and_as_many_runs():
    by_distance = {}
    for arm in arms_of(cells_of()):
        own = by_distance.setdefault(arm.cell.axes["distance"], [])
        own.append((arm.candidates, len(planned([len(arm.candidates)], RUNGS))))
    assert by_distance["mean"] == by_distance["lqm"] == by_distance["wasserstein"]


@pytest.mark.parametrize("other", [{"steps": [100]}, {}])
def test_a_choice_that_one_distance_alone_has_is_refused(other):
    cells = cells_of({"distance": "mean"}, {"distance": "lqm", "tune": other})
    with pytest.raises(ConfigError, match="all distances the same tune"):
        arms_of(cells)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"settings": {"steps": [1, 2]}}, "steps is a list in settings and in tune"),
        ({"seed": 101}, "seed 101 is one of those that tuning takes"),
        ({"tune": {"steps": []}}, "no value for tune.steps"),
    ],
)
def test_what_cant_be_tuned_is_refused(change, match):
    with pytest.raises(ConfigError, match=match):
        arms_of(cells_of(change))


def test_a_trial_is_scored_on_validation_records_and_its_bank_is_of_the_others():
    cell = cells_of()[0]
    trial = Arm(cell).trial({"steps": 300}, 100)
    assert trial.validation
    assert trial.seed == 100
    assert trial.settings == {"steps": 300}
    assert trial.evaluation == {"networks": "mlp"}
    assert trial.bank.options == cell.bank.options | {"validation": True}
    assert trial.bank.name != cell.bank.name
    assert trial.name.endswith("-seed-100")


def test_cells_take_what_was_chosen_for_their_arm_whatever_their_seed(tmp_path):
    cells = cells_of()
    arm = arms_of(cells)[0]
    write_tuned(tmp_path / "tuned.jsonl", line_of(arm, {"learning_rate": 1.0, "steps": 300}))
    lines = read_tuned(tmp_path / "tuned.jsonl").values()
    assert [*lines] == [line_of(arm, {"learning_rate": 1.0, "steps": 300})]
    tuned = [cell for cell in with_choices(cells, lines) if cell.tuned]
    assert [cell.seed for cell in tuned] == [0, 1, 2]
    assert {cell.name for cell in tuned} == {f"{arm.name}-seed-{seed}" for seed in (0, 1, 2)}
    assert len({cell.folder for cell in tuned} | {cell.folder for cell in cells}) == len(cells) + 3
    others = with_choices(cells_of({"tune": {"learning_rate": [1.0, 2.0]}}), lines)
    assert not any(cell.tuned for cell in others)


def test_a_line_that_tells_of_something_else_is_named(tmp_path):
    from lqm.utils.lines import append_lines

    append_lines(tmp_path / "tuned.jsonl", [{"arm": 3}])
    with pytest.raises(ArtifactError, match=r"line 1 of .*chooses again"):
        read_tuned(tmp_path / "tuned.jsonl")
