"""A cell of a study as it is typed without one."""

import shlex
from collections.abc import Mapping
from typing import Any

from lqm.studies.cell import Cell


def command_of(cell: Cell) -> str:
    """The commands that make the same run without a study, in folders `RUN` and `BANK`."""
    seed, out = ["--seed", str(cell.seed)], ["--out", "RUN"]
    given = _words(cell.options | {"settings": cell.settings | cell.tuned})
    commands = []
    if cell.bank:
        commands.append([cell.bank.kind, *_words(cell.bank.options), "--out", "BANK"])
        given += [f"--{cell.bank.kind}", "BANK"]
    if cell.stream:
        commands.append(["continual", *given, *seed, "--repeats", "1", *out])
    else:
        commands.append(["condense", *given, *seed, *out])
        commands.append(["evaluate", "RUN", *_words(cell.evaluation | cell.compute), *seed])
    return " && ".join(shlex.join(["lqm", *words]) for words in commands)


def _words(options: Mapping[str, Any]) -> list[str]:
    """Options as they are typed, with the source first."""
    words = [str(options["source"])] if "source" in options else []
    for name, value in options.items():
        if name == "settings":
            words += [word for setting, own in value.items() for word in ("--set", f"{setting}={own}")]
        elif name != "source":
            words.append(f"--{name.replace('_', '-')}")
            if value is not True:
                words.append(",".join(map(str, value)) if isinstance(value, list) else str(value))
    return words
