"""Options that all commands share, and how they are asked for help."""

import json
import re
import signal
import subprocess
import sys

import pytest

from lqm import __version__

TINY = ("--set", "steps=2", "--set", "network=convnet:width=8", "--set", "real_batch=16")


def made(folder):
    """The files of a condensed set."""
    return {path.name for path in folder.glob("data-*.safetensors")}


def test_quiet_prints_the_result_alone(type_in, tmp_path):
    words = ("condense", "digits", "--per-class", 1, "--out", tmp_path / "run", *TINY, "--quiet")
    code, printed, error = type_in(*words)
    assert code == 0
    assert error == ""
    assert printed.count("\n") == 1
    assert "next:" not in printed


def test_a_toml_file_gives_options_and_words_win(type_in, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('source = "digits"\nper-class = 2\nseed = 1\n[set]\nsteps = 2\nreal_batch = 16\n')
    words = ("condense", "--config", path, "--out", tmp_path / "run", "--per-class", 1, "--quiet")
    assert type_in(*words, "--set", "network=convnet:width=8")[0] == 0
    config = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (config["config"]["per_class"], config["config"]["seed"], config["steps"]) == (1, 1, 2)


def test_a_record_makes_the_same_run_again(type_in, tmp_path):
    words = ("condense", "digits", "--per-class", 1, "--seed", 5, *TINY, "--out", tmp_path / "run", "--quiet")
    assert type_in(*words)[0] == 0
    again = ("condense", "--config", tmp_path / "run" / "run.json", "--out", tmp_path / "again", "--quiet")
    assert type_in(*again)[0] == 0
    assert made(tmp_path / "again") == made(tmp_path / "run") != set()


@pytest.mark.parametrize("called", ["paper", "best"])
def test_a_record_keeps_the_recipe_by_which_a_set_is_evaluated(type_in, tmp_path, called):
    words = ("digits-knn", "--budget", 10, "--recipe", called, "--set", "steps=2", "--set", "width=8")
    assert type_in("condense", *words, "--out", tmp_path / "run", "--quiet")[0] == 0
    again = ("condense", "--config", tmp_path / "run" / "run.json", "--out", tmp_path / "again", "--quiet")
    assert type_in(*again)[0] == 0
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("run", "again")]
    assert manifests[0]["recipe"] == manifests[1]["recipe"] == f"cat-{called}"
    assert manifests[0]["evaluation"] == manifests[1]["evaluation"]


@pytest.mark.parametrize("name", [3, None, "shape:weight=-1"])
def test_a_record_whose_distance_has_no_name_here_is_one_sentence(type_in, tmp_path, name):
    words = ("condense", "digits", "--per-class", 1, *TINY, "--out", tmp_path / "run", "--quiet")
    assert type_in(*words)[0] == 0
    path = tmp_path / "run" / "run.json"
    record = json.loads(path.read_text())
    record["config"]["distance"] = {"name": name}
    path.write_text(json.dumps(record))
    code, _, error = type_in("condense", "--config", path, "--out", tmp_path / "again")
    assert code
    assert "was made in Python" in error


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("stps = 2\n", "'stps'"),
        ("tensorboard = 3\n", "tensorboard = 3.*true or false"),
        ("source = \n", "no TOML file"),
        ('config = "other.toml"\n', "'config'"),
    ],
)
def test_a_file_that_cant_be_used_is_one_sentence(type_in, tmp_path, content, named):
    (path := tmp_path / "run.toml").write_text(content)
    code, _, error = type_in("condense", "digits", "--config", path, "--out", tmp_path / "run")
    assert code == 1
    assert re.search(named, error)
    assert error.count("\n") == 1


def test_a_record_of_another_command_and_a_missing_file_are_refused(type_in, tmp_path):
    (path := tmp_path / "run.json").write_text('{"config": {"experts": {"source": {"name": "digits"}}}}')
    assert "`lqm experts`" in type_in("condense", "--config", path)[2]
    assert "can't be read" in type_in("condense", "--config", tmp_path / "none.toml")[2]
    assert "takes no --config" in type_in("runs", "--config", path)[2]


def test_help_has_the_version_and_is_asked_for_in_two_ways(type_in):
    assert __version__ in type_in("--help")[1]
    assert type_in("help", "evaluate")[1] == type_in("evaluate", "--help")[1]
    assert type_in("help")[1] == type_in("--help")[1]
    assert "'evaluat'" in type_in("help", "evaluat")[2]


def test_an_unknown_option_points_to_the_help_of_its_command(type_in):
    code, printed, error = type_in("condense", "digits", "--bogus")
    assert code == 2
    assert "lqm condense --help" in printed + error


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "lqm", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"lqm {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_commands_and_options(type_in, shell):
    code, printed, _ = type_in("--tyro-print-completion", shell)
    assert code == 0
    assert {"condense", "per-class", "dry-run"} <= {*re.findall(r"[a-z]+(?:-[a-z]+)*", printed)}


def test_a_stop_is_answered_at_once(tmp_path):
    """And then the step is named after which it has stopped."""
    words = [
        "condense",
        "digits",
        "--per-class",
        "1",
        "--out",
        str(tmp_path / "run"),
        "--set",
        "steps=100000",
    ]
    child = subprocess.Popen([sys.executable, "-m", "lqm", *words], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    while "/100000" not in child.stderr.readline():
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    said = [line for line in child.stderr.read().splitlines() if line.startswith("lqm: stop")]
    assert child.wait() == 128 + signal.SIGTERM
    assert "stopping after this step" in said[0]
    assert "stopped by SIGTERM" in said[1]
    assert len(said) == 2
