"""Settings that are not printed have no effect: the set is the same bit for bit, whatever they are."""

import pytest
import torch

import lqm
from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.graphs.methods import METHODS as GRAPH_METHODS
from lqm.images.methods import METHODS
from lqm.utils.effects import BANK, conditions_of, effective

# Other values of settings that have no effect beside the defaults of their methods here.
OTHERS = {
    "init_steps": 3,
    "mosaic_init": "whole",
    "growth": 7,
    "label_learning_rate": 9.0,
    "expert_alpha": 0.9,
    "warm_up": 5,
    "network_rate": 0.5,
    "train_batch": 3,
    "inner": 2,
    "real_batch": 99,
    "expert_rate": 0.5,
    "expert_optimizer": "gsam",
    "classified": True,
    "expert_epochs": 5,
    "pseudo_threshold": 0.7,
    "pseudo_among": "task",
}
# Of methods that follow experts: the shortest that there is.
STUDENT = {"student_steps": 1, "max_start": 1, "experts": 1, "expert_epochs": 1, "zca": False}
NETWORK = "convnet:width=4:depth=2"


def condensed(digits, method, bank=None, **settings):
    tiny = {"steps": 2, "network": NETWORK} | ({} if bank else {"real_batch": 8})
    return lqm.condense(
        digits, method=method, per_class=1, settings=tiny | settings, experts=bank, show_progress=False
    ).data


def unshown(kind, given, *in_place):
    """Other values of the settings that are not printed."""
    shown, known = effective(kind(**given), None, *in_place), conditions_of(kind)
    found = {name: value for name, value in OTHERS.items() if name in known and name not in shown}
    assert found
    return found


@pytest.fixture(scope="module")
def bank(digits, tmp_path_factory):
    """A bank of one expert with two snapshots."""
    folder = tmp_path_factory.mktemp("bank")
    lqm.experts(
        digits,
        networks=1,
        epochs=1,
        network=NETWORK,
        out=folder,
        settings={"zca": False},
        show_progress=False,
    )
    return folder


@pytest.mark.parametrize(
    ("method", "given"),
    [("dm", {}), ("idm", {"mosaic": 1}), ("dsa", {"outer": 1}), ("cafe", {"outer": 1, "init": "random"})],
)
def test_what_is_not_printed_changes_nothing(digits, method, given):
    others = unshown(METHODS[method].settings, given)
    assert torch.equal(condensed(digits, method, **given), condensed(digits, method, **given, **others))


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("mtt", STUDENT),
        ("ftd", STUDENT),
        ("tesla", STUDENT | {"labels": "hard"}),
        ("datm", STUDENT | {"init": "noise", "first_max_start": None, "labels": "hard", "min_start": 0}),
        ("dance", {"mosaic": 1, "pairs": 1}),
    ],
)
def test_beside_a_bank_what_is_not_printed_changes_nothing(digits, bank, method, given):
    others = unshown(METHODS[method].settings, given, BANK)
    first = condensed(digits, method, bank, **given)
    assert torch.equal(first, condensed(digits, method, bank, **given, **others))


@pytest.mark.parametrize("method", ["cat", "puma"])
def test_of_a_stream_what_is_not_printed_changes_nothing(method):
    kind = CONTINUAL_METHODS[method].learning
    given = {"steps": 1, "epochs": 2, "classifier": "gcn:width=8:depth=2"}
    results = [
        lqm.continual(
            "digits-knn",
            method=method,
            budget=4,
            repeats=1,
            settings=given | others,
            show_progress=False,
        )
        for others in ({}, unshown(kind, {}))
    ]
    first, second = (result.matrices.nan_to_num() for result in results)
    assert torch.equal(first, second)


@pytest.mark.parametrize("kind", [spec.settings for spec in (*METHODS.values(), *GRAPH_METHODS.values())])
def test_conditions_name_settings_of_the_same_class(kind):
    names = {*effective(kind()), *conditions_of(kind)}
    for marks in conditions_of(kind).values():
        assert all(mark.setting in names or " " in mark.setting for mark in marks)


def test_a_class_with_another_default_keeps_the_conditions():
    datm = METHODS["datm"].settings
    assert "classified" in effective(datm())
    assert "classified" not in effective(datm(init="noise"))
    assert "label_learning_rate" not in effective(METHODS["mtt"].settings())
    assert "growth" not in effective(METHODS["mtt"].settings())
