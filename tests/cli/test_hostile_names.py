"""Names from outside never command a terminal, and never stop a command."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from lqm.engine.panel import Panel
from lqm.engine.progress import Progress
from lqm.utils.log import warn
from lqm.utils.terminal import visible

HOSTILE = "a\x1b[31mb\x07\x9bc\u202ed\re"
TINY = ("--set", "steps=2", "--set", "network=convnet:width=8", "--set", "real_batch=8")
COMMAND = [sys.executable, "-c", "from lqm.cli.main import main; main()"]


@pytest.fixture
def photos(tmp_path):
    """Class folders whose names command a terminal, below a folder of such a name."""
    draws = np.random.default_rng(0)
    for label in range(2):
        folder = tmp_path / f"{HOSTILE}\n" / f"{label}{HOSTILE}"
        folder.mkdir(parents=True)
        for number in range(10):
            pixels = draws.integers(0, 255, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
    return tmp_path / f"{HOSTILE}\n"


def assert_harmless(*texts):
    for text in texts:
        hidden = set(text) & {"\x1b", "\x07", "\x9b", "\u202e", "\r"}
        assert not hidden, text


def test_hidden_characters_are_shown():
    assert visible(HOSTILE + "\n\udcff\u200d") == (
        "a\\x1b[31mb\\x07\\x9bc\\u202ed\\re" + "\\n\\udcff" + "\u200d"
    )
    assert visible("déjà vu, 数字, 👍") == "déjà vu, 数字, 👍"


def test_every_command_shows_hostile_names_by_their_escapes(type_in, tmp_path, photos):
    run = tmp_path / f"run{HOSTILE}"
    condense = ("condense", photos, "--per-class", 1, "--out", run, *TINY)
    commands = [
        condense,
        (*condense, "--seed", 1),
        ("evaluate", run, "--protocol", f"x{HOSTILE}"),
        ("evaluate", run, "--baselines", f"x{HOSTILE}"),
        ("audit", run, "--references", f"x{HOSTILE}"),
        ("audit", run, "--source", f"x{HOSTILE}"),
        ("compare", run),
        ("runs", tmp_path),
        ("export", run, "--to", "npz", "--out", tmp_path / f"set{HOSTILE}.npz"),
        ("export", run, "--to", f"x{HOSTILE}", "--out", tmp_path / "set"),
        ("report", run, "--out", tmp_path / f"page{HOSTILE}.html"),
        ("figures", tmp_path / f"none{HOSTILE}"),
        ("condense", f"no{HOSTILE}"),
        ("condense", "digits", "--per-class", f"1{HOSTILE}"),
        ("condense", "digits", f"--{HOSTILE}"),
        ("condense", "digits", "--seed", "0", "--tensorboard", HOSTILE),
        ("sketch", photos, "--encoders", HOSTILE),
        ("recipes", HOSTILE),
        (HOSTILE,),
        (f"-{HOSTILE}",),
    ]
    for words in commands:
        _, printed, error = type_in(*words)
        assert printed + error
        assert_harmless(printed, error)
    (run / "manifest.json").write_text(f'{{"method": "{HOSTILE!a}"')
    assert_harmless(*type_in("runs", tmp_path)[1:], *type_in("evaluate", run)[1:])


def test_progress_and_warnings_show_hostile_names_by_their_escapes(capsys):
    warn(f"{HOSTILE}\nx")
    with Progress(HOSTILE, 1) as bar:
        bar.update(1, {HOSTILE: 1.0})
    found = capsys.readouterr().err
    assert_harmless(found)
    assert found.count("\n") == 2


def test_the_panel_shows_hostile_names_by_their_escapes():
    from rich.console import Console

    console = Console(width=100, no_color=True)
    panel = Panel(HOSTILE, 3, 0, console, None)
    panel.update(1, {HOSTILE: 1.0})
    with console.capture() as shown:
        console.print(panel.drawn())
    assert_harmless(shown.get())


@pytest.mark.parametrize("language", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_letters_that_the_terminal_has_not_stop_no_command(tmp_path, language):
    name = os.fsdecode(b"caf\xc3\xa9 \xff \xe6\x95\xb0")
    environment = os.environ | language | {"PYTHONCOERCECLOCALE": "0"}
    for words in (["runs", str(tmp_path / name)], ["recipes", "--help"], [name]):
        done = subprocess.run([*COMMAND, *words], capture_output=True, env=environment, check=False)
        assert b"Traceback" not in done.stderr
        assert done.stdout + done.stderr
