"""The commands: one thin function each. Torch is imported when a command needs it, so that help is quick."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn

import tyro

from lqm import __version__
from lqm.errors import LqmError, StoppedError
from lqm.names import choose


def condense(
    source: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="SOURCE")],
    /,
    *,
    out: Path,
    method: str = "dm",
    distance: str = "lqm",
    per_class: int = 10,
    seed: int = 0,
    set_: Annotated[
        tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(name="set", metavar="NAME=VALUE")
    ] = (),
    device: str = "auto",
) -> None:
    """Learn a small synthetic set from a large one; a stopped run goes on where it was.

    Example: lqm condense digits --method dm --distance lqm --per-class 10 --out runs/digits

    Args:
        source: What to condense: digits.
        out: Folder for the run and its result.
        method: How it is learned: dm.
        distance: What is matched: lqm, mean, lqm-ad, wasserstein, energy, ...; any other word lists them.
        per_class: Synthetic pictures of each class.
        seed: Everything random follows from it.
        set_: A setting of the method, such as steps=500; repeat it for more.
        device: Where to compute: auto, cpu, cuda, ...
    """
    from lqm import api
    from lqm.report.figures import contact_sheet
    from lqm.settings import parse_assignments

    small = api.condense(
        source,
        method=method,
        distance=distance,
        per_class=per_class,
        seed=seed,
        settings=parse_assignments(set_),
        out=out,
        device=device,
    )
    sheet = out / "pictures.png"
    contact_sheet(small, sheet)
    settings = {"steps": small.manifest["steps"], **small.manifest["settings"]}
    print("settings: " + ", ".join(f"{name}={value}" for name, value in settings.items()))
    print(
        f"{len(small.labels)} pictures of {len(small.class_names)} classes in {out}; they look like {sheet}"
    )
    print(f"next: lqm evaluate {out}")


def evaluate(
    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FOLDER")],
    /,
    *,
    protocol: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None,
    seed: int = 0,
    baselines: bool = True,
    device: str = "auto",
) -> None:
    """Train fresh networks on a condensed set, test them, and compare with real pictures.

    Example: lqm evaluate runs/digits

    Args:
        folder: A run, or a saved condensed set.
        protocol: How networks are trained: quick-200, field-1000; by default what the set asks for.
        seed: Of the networks and of their training.
        baselines: Also score random real pictures and the whole training set.
        device: Where to compute: auto, cpu, cuda, ...
    """
    from rich.console import Console

    from lqm import api
    from lqm.report.tables import score_table

    found = api.evaluate(folder, protocol=protocol, seed=seed, baselines=baselines, device=device)
    Console().print(score_table(found.rows, found.protocol))


def demo(*, out: Path = Path("runs/demo"), seed: int = 0) -> None:
    """Condense handwritten digits by mean and by quantile matching; print a table, draw pictures.

    Example: lqm demo

    Args:
        out: Folder for the runs, the pictures and the report.
        seed: Everything random follows from it.
    """
    from lqm.demo import demo as run_demo

    run_demo(out, seed)


COMMANDS: dict[str, Callable[..., Any]] = {"condense": condense, "evaluate": evaluate, "demo": demo}


def main() -> None:
    """Entry point: a mistake of the user's ends in one sentence and a non-zero exit, never in a traceback."""
    # Threads that wait for each other in a long busy loop starve when the machine has other work: beside two
    # other processes a step of DM took 9 times as long. GNU OpenMP reads this when torch is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    try:
        _dispatch(sys.argv[1:])
    except StoppedError as error:
        _fail(error, 128 + error.signal_number)
    except LqmError as error:
        _fail(error, 1)
    except KeyboardInterrupt:
        _fail("stopped; what was saved before is intact", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        _fail(error, 1)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        _fail("there is not enough memory for this; try a smaller width, real_batch or per_class", 1)


def _dispatch(words: list[str]) -> None:
    if words == ["--version"]:
        print(f"lqm {__version__}")
        return
    if words and not words[0].startswith("-"):
        choose(words[0], COMMANDS, "command")
    tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog="lqm",
        description="Make a small dataset stand in for a large one.\n\nExample: lqm demo",
        args=words or ["--help"],
    )


def _fail(message: object, code: int) -> NoReturn:
    print(f"lqm: {message}", file=sys.stderr)
    sys.exit(code)
