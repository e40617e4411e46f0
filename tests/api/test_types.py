"""An option of another Python type is one sentence that names it, before any work and any folder."""

from dataclasses import fields

import pytest
import torch

import lqm
from lqm.api import requests
from lqm.condensed.export import export
from lqm.utils.errors import ConfigError, DataError, LqmError
from tests.condensed.forging import forge

WRONG = [
    3,
    1.5,
    "",
    [],
    [1],
    {1: 2},
    True,
    b"x",
    object(),
    float("nan"),
    -1,
    10**400,
    ("a", 3),
    "a\0b",
    "x" * 5000,
]
TINY = {"network": "convnet:width=4:depth=1"}
# The function, a source that it takes, and options with which it would end in an instant.
FUNCTIONS = {
    "condense": (lqm.condense, requests.CondenseRequest, "digits", {"per_class": 1, "method": "random"}),
    "sketch": (lqm.sketch, requests.SketchRequest, "digits", {"encoders": 1, "settings": TINY}),
    "experts": (lqm.experts, requests.ExpertsRequest, "digits", {"networks": 1, "epochs": 1}),
    "continual": (lqm.continual, requests.ContinualRequest, "digits-knn", {"budget": 5, "method": "nothing"}),
}
# What these mean is for others to know: an object may be a source, a distance or a function.
FREE = {"source", "distance", "network", "show_progress"}


def option_names():
    return [
        (name, field.name)
        for name, (_, request, *_) in FUNCTIONS.items()
        for field in fields(request)
        if field.name not in FREE
    ]


@pytest.mark.parametrize(("name", "option"), option_names())
def test_every_option_refuses_other_types_in_a_sentence(tmp_path, name, option):
    function, _, source, options = FUNCTIONS[name]
    for value in (object(), [1, 2], {1: 2}, b"x"):
        given = {"out": tmp_path / "run", "show_progress": False, **options, option: value}
        with pytest.raises(ConfigError, match=f"{option} = ") as refused:
            function(source, **given)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 400
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["out", "device", "method", "settings", "data_dir", "size", "seed"])
@pytest.mark.parametrize("value", WRONG)
def test_no_value_of_an_option_ends_in_anything_but_a_sentence(tmp_path, monkeypatch, option, value):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LqmError):
        lqm.condense(
            "digits", **{"per_class": 9999, "method": "random", "show_progress": False, option: value}
        )


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"method": 3}, "method = 3"),
        ({"device": None}, "device = None"),
        ({"per_class": "x"}, "per_class = 'x'"),
        ({"distance": 3}, "3 is no distance"),
        ({"seed": 1.5}, "seed = 1.5"),
        ({"settings": ["steps"]}, "settings = .*dictionary"),
        ({"settings": {3: 4}}, "settings = .*dictionary"),
        ({"settings": {"steps": [1]}}, "steps = "),
        ({"network": 3}, "network = 3"),
        ({"augmentation": 3}, "augmentation = 3"),
        ({"out": 3}, "out = 3.*path"),
        ({"tensorboard": "yes"}, "tensorboard = 'yes'.*true or false"),
    ],
)
def test_sentences_say_what_would_be_right(options, named):
    with pytest.raises(ConfigError, match=named):
        lqm.condense("digits", show_progress=False, **options)


@pytest.mark.parametrize(
    ("function", "options", "named"),
    [
        (lqm.sketch, {"encoders": 10**9}, "encoders"),
        (lqm.experts, {"networks": 10**9}, "networks"),
        (lqm.experts, {"networks": 10**5, "epochs": 10**5}, "10,000,000,000 snapshots"),
        (lqm.condense, {"size": 10**9}, "size"),
        (lqm.condense, {"per_class": 10**9}, "per_class"),
        (lqm.condense, {"settings": {"steps": 10**30}}, "steps"),
        (lqm.condense, {"seed": 10**30}, "seed"),
    ],
)
def test_numbers_beyond_any_reason_are_refused_before_any_work(tmp_path, function, options, named):
    with pytest.raises((ConfigError, DataError), match=named):
        function("digits", out=tmp_path / "run", show_progress=False, **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("digits", {"method": method, "per_class": 1, "settings": settings, "compile": "off"})
        for method, settings in {
            "dm": {"network": "convnet:width=4:depth=1", "real_batch": 4},
            "idm": {"network": "convnet:width=4:depth=1", "real_batch": 4, "students": 1, "student_batch": 8},
            "dc": {"network": "convnet:width=4:depth=1", "real_batch": 4, "outer": 2, "inner": 1},
            "datadam": {"network": "convnet:width=4:depth=1", "real_batch": 4},
        }.items()
    ]
    + [
        ("digits-knn", {"method": method, "budget": 10, "settings": {"width": 4}})
        for method in ("cat", "puma")
    ],
)
@pytest.mark.parametrize("rate", [1e308, 1e30, 1e20])
def test_a_learning_rate_that_cant_work_is_a_sentence(tmp_path, source, options, rate):
    settings = options["settings"] | {"steps": 3, "learning_rate": rate}
    try:
        made = lqm.condense(
            source, out=tmp_path / "run", show_progress=False, **options | {"settings": settings}
        )
    except LqmError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert made.data.isfinite().all()
        assert lqm.load(tmp_path / "run").data.equal(made.data)


@pytest.mark.parametrize("value", [3, 1.5, [1], {1: 2}, True, object(), b"x", "a\0b", "x" * 5000])
def test_what_is_loaded_shown_and_exported_is_named_by_paths(tmp_path, value):
    condensed = lqm.load(forge(tmp_path / "set"))
    for function in (
        lqm.load,
        lqm.evaluate,
        lqm.audit,
        lqm.write_report,
        condensed.save,
        lambda path: lqm.write_figures(tmp_path / "set", path),
        lambda path: lqm.write_figures(path, tmp_path / "to"),
        lambda path: lqm.write_report(tmp_path / "set", path),
        lambda path: export(condensed, "npz", path),
        lambda path: export(condensed, path, tmp_path / "out"),
        lambda path: lqm.evaluate(condensed, device=path),
        lambda path: lqm.evaluate(condensed, networks=path),
        lambda path: lqm.evaluate(condensed, baselines=path),
        lambda path: lqm.evaluate(condensed, protocol=path),
        lambda path: lqm.evaluate(condensed, data_dir=path),
        lambda path: lqm.audit(condensed, references=path),
        lambda path: lqm.audit(condensed, device=path),
        lambda path: lqm.audit(condensed, data_dir=path),
        lambda path: lqm.evaluate(condensed, seed=path if isinstance(path, str | list) else "x"),
    ):
        with pytest.raises(LqmError) as refused:
            function(value)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [3.5, [1], {1: 2}, object(), b"x"])
def test_banks_and_readers_refuse_other_types_in_a_sentence(tmp_path, value):
    for bank, options in ((lqm.Sketch, ("encoders",)), (lqm.Experts, ("networks", "epochs"))):
        with pytest.raises(ConfigError, match="path = "):
            bank(value)
        for option in options:
            with pytest.raises(ConfigError, match=f"{option} = "):
                bank(tmp_path, **{option: value})
    with pytest.raises(ConfigError, match="no path"):
        lqm.load_source("mnist", data_dir=value)


def test_an_array_is_no_option_of_a_graph():
    for option in ("features", "split", "normalise_features"):
        with pytest.raises(ConfigError, match=option):
            lqm.load_graph("digits-knn", **{option: torch.zeros(2)})
