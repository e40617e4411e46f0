"""Runs that die, in each way of encoding the real side."""

import pytest

import lqm
from lqm.engine.probes import compile_problem

from .children import Death, digests, run_to_death

NETWORK = "convnet:width=8:depth=2"
QUEUE = {"student_batch": 16, "student_steps": 2, "queue_interval": 2, "queue_limit": 4}
WINDOW = {"steps": 12, "reuse": 3, "window": 2}
IMAGES = {"network": NETWORK, "real_batch": 8}
SHALLOW = {"network": "convnet:width=8:depth=1", "real_batch": 8}
NODES = {"width": 16}
LOOPS = {"outer": 2, "inner": 1, "warm_up": 5}
SHORT = {"student_steps": 2, "max_start": 2, "expert_epochs": 1, "experts": 2, "real_batch": 64}
LEARNED = {"zca": True, "labels": "learned", "ema": 0.9, "gradient": "two-pass"}

MODES = {
    "queue-idm": ("digits", {"method": "idm", "settings": {"steps": 12} | IMAGES | QUEUE}),
    "window-cat": ("digits-knn", {"settings": WINDOW | NODES}),
    "sketch-dm": ("digits", {"sketch": "dm", "settings": {"steps": 12}}),
    "sketch-idm": ("digits", {"sketch": "idm", "settings": {"steps": 12}}),
    "sketch-cat": ("digits-knn", {"sketch": "cat", "settings": {"steps": 12}}),
    "gradients-dsac": ("digits", {"method": "dsac", "settings": {"steps": 12} | IMAGES | LOOPS}),
    "trajectories-mtt": (
        "digits",
        {"method": "mtt", "settings": {"steps": 12, "network": NETWORK} | SHORT | LEARNED},
    ),
    "compiled-dm": ("digits", {"method": "dm", "compile": "on", "settings": {"steps": 12} | SHALLOW}),
}


def run_options(mode, out, sketches):
    """What `lqm.condense` is told."""
    source, options = MODES[mode]
    size = {"per_class": 2} if source == "digits" else {"budget": 20}
    more = {"sketch": str(sketches / options["sketch"])} if "sketch" in options else {}
    return source, {
        **options,
        **size,
        **more,
        "out": str(out),
        "show_progress": False,
        "checkpoint_seconds": 0,
    }


@pytest.fixture(scope="module")
def sketches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sketches")
    options = {"encoders": 3, "max_per_class": 8, "show_progress": False}
    for method in ("dm", "idm"):
        own = {"settings": {"student_batch": 16}} if method == "idm" else {}
        lqm.sketch("digits", out=folder / method, method=method, network=NETWORK, **options, **own)
    lqm.sketch("digits-knn", out=folder / "cat", settings=NODES, **options)
    return folder


@pytest.mark.parametrize("mode", MODES)
def test_a_run_killed_and_taken_up_again_ends_with_the_same_sha256(tmp_path, sketches, mode, capsys):
    """It dies while it writes its fifth checkpoint."""
    if "compiled" in mode and (problem := compile_problem()):
        pytest.skip(f"torch can't compile here: {problem}")
    out = tmp_path / "run"
    source, options = run_options(mode, out, sketches)
    run_to_death(tmp_path, Death(("replace",), 5, where="checkpoints"), lqm.condense, source, **options)
    assert not (out / "manifest.json").exists()
    lqm.condense(source, **options)
    assert "step 4 of 12" in capsys.readouterr().err
    source, options = run_options(mode, tmp_path / "straight", sketches)
    condensed = lqm.condense(source, **options)
    assert digests(out) == digests(tmp_path / "straight")
    assert condensed.manifest["environment"].get("compile", False) == ("compiled" in mode)
    lqm.load(out)
