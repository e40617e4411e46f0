"""Runs that die, in each way of looking at the real side."""

import hashlib
import json
import os
import signal
import subprocess
import sys

import pytest

import lqm
from lqm.engine.probes import compile_problem

# For each run that it is given, forks a process that dies while it writes its fifth checkpoint.
SCRIPT = """
import json, os, signal, sys, traceback, torch
torch.set_num_threads(1)
import lqm
# What every child would import and read anew.
import torch._dynamo, torch._inductor.compile_fx
condense, sources = lqm.condense, (lqm.load_source("digits"), lqm.load_graph("digits-knn"))
rename, count = os.replace, 0
def deadly(*paths):
    global count
    count += "checkpoints" in str(paths[1])
    if count == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(*paths)
for source, options in json.load(sys.stdin):
    child = os.fork()
    if not child:
        os.replace = deadly
        try:
            condense(source, **options)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

NETWORK = "convnet:width=8:depth=2"
QUEUE = {"student_batch": 16, "student_steps": 2, "queue_interval": 2, "queue_limit": 4}
SHARED = {"steps": 12, "reuse": 3, "window": 2}
IMAGES = {"network": NETWORK, "real_batch": 8}
SHALLOW = {"network": "convnet:width=8:depth=1", "real_batch": 8}
NODES = {"width": 16}

MODES = {
    "window-dm": ("digits", {"method": "dm", "settings": SHARED | IMAGES}),
    "window-datadam": ("digits", {"method": "datadam", "settings": SHARED | IMAGES}),
    "window-idm": ("digits", {"method": "idm", "settings": SHARED | IMAGES | QUEUE}),
    "window-cat": ("digits-knn", {"settings": SHARED | NODES}),
    "sketch-dm": ("digits", {"sketch": "dm", "settings": {"steps": 12}}),
    "sketch-idm": ("digits", {"sketch": "idm", "settings": {"steps": 12}}),
    "sketch-cat": ("digits-knn", {"sketch": "cat", "settings": {"steps": 12}}),
    "compiled-dm": ("digits", {"method": "dm", "compile": "on", "settings": SHARED | SHALLOW}),
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


@pytest.fixture(scope="module")
def killed(tmp_path_factory, sketches):
    """The folder of each run that was killed."""
    folder = tmp_path_factory.mktemp("killed")
    modes = [mode for mode in MODES if "compiled" not in mode or not compile_problem()]
    runs = [run_options(mode, folder / mode, sketches) for mode in modes]
    environment = os.environ | {"LQM_CACHE": str(folder / "cache")}
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(runs),
        capture_output=True,
        text=True,
        env=environment,
        timeout=250,
    )
    assert child.stdout.split() == [str(-signal.SIGKILL)] * len(modes), child.stderr
    return folder


def digest(out):
    (data,) = out.glob("data-*.safetensors")
    return hashlib.sha256(data.read_bytes()).hexdigest()


@pytest.mark.parametrize("mode", MODES)
def test_a_run_killed_and_taken_up_again_ends_with_the_same_sha256(tmp_path, killed, sketches, mode, capsys):
    if "compiled" in mode and (problem := compile_problem()):
        pytest.skip(f"torch can't compile here: {problem}")
    out = killed / mode
    assert not (out / "manifest.json").exists()
    assert len(list(out.glob("checkpoints/step-*"))) > 0
    source, options = run_options(mode, out, sketches)
    lqm.condense(source, **options)
    assert "going on from step 4 of 12" in capsys.readouterr().err
    source, options = run_options(mode, tmp_path / "straight", sketches)
    condensed = lqm.condense(source, **options)
    assert digest(out) == digest(tmp_path / "straight")
    assert condensed.manifest["environment"].get("compile", False) == ("compiled" in mode)
    lqm.load(out)
