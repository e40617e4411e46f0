"""A study as data: a grid in a TOML file, and the cells that it asks for."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

from lqm.evaluation.labels import hash_of
from lqm.studies.cell import Bank, Cell, Study
from lqm.studies.checking import TABLES, check_block, check_scores, check_word
from lqm.studies.lines import ARM, StudyHead
from lqm.studies.scales import read_scale
from lqm.utils.errors import ConfigError
from lqm.utils.names import shown_value
from lqm.utils.numbers import whole_numbers

# Options of a cell that tell it from others, whether or not they are given as lists.
_ALWAYS = ("source", "method", "distance", "per_class", "budget")
# What an arm names together, and so are no axes of its cells.
_NAMED = ("method", "distance")
_MOST = 100_000
_EVALUATION = ("protocol", "networks", "repeats", "test_every", "baselines")
# Options of a cell that its bank has too: what the records are, and by which networks they are looked at.
_RECORDS = ("source", "size", "test_fraction", "augmentation", "features", "split", "normalise_features")
_TASKS = ("classes_per_task", "order", "order_seed", "remainder", "inter_task_edges", "split_seed")
_SHARED = (*_RECORDS, *_TASKS, "method", "network", "compile", "precision")
_BANKS: tuple[Literal["sketch"], Literal["experts"]] = ("sketch", "experts")


def read_study(name: str, content: Mapping[str, Any], scale: str | None = None) -> Study:
    """The study that a TOML file describes.

    Args:
        name: of the study.
        content: of the file.
        scale: which of the file's scales; the first if it has some and none is named.

    Raises:
        ConfigError: when something in it can't be used.

    Example:
        >>> grid = {"source": "digits", "distance": ["mean", "lqm"], "seed": "0..1"}
        >>> [cell.name for cell in read_study("mine", {"grid": [grid]}).cells]
        ['digits-mean-seed-0', 'digits-lqm-seed-0', 'digits-mean-seed-1', 'digits-lqm-seed-1']
    """
    scale, grids = read_scale(name, content, scale)
    head = StudyHead(
        name,
        check_word(name, "title", content.get("title", "")),
        scale,
        check_word(name, "compare", content.get("compare", "distance")),
        check_word(name, "against", content.get("against", "mean")),
    )
    scores = check_scores(name, content.get("paper_scores", []))
    cells = [cell for grid in grids for cell in _cells(name, grid, scores)]
    _require_apart(name, cells)
    if not {"compare", "against"}.isdisjoint(content):
        _require_compared(head, cells)
    return Study(head, tuple(sorted(cells, key=lambda cell: cell.seed)))


def chosen(cells: Sequence[Cell], only: Sequence[str]) -> list[Cell]:
    """The cells that every filter lets pass: `AXIS=VALUE,...`, or `seed=0..2`.

    Raises:
        ConfigError: for a filter that can't be read, has a value that no cell has, or lets none pass.

    Example:
        >>> cells = read_study("mine", {"grid": [{"source": ["digits", "mnist"], "seed": "0..1"}]}).cells
        >>> [cell.name for cell in chosen(cells, ["source=mnist", "seed=1"])]
        ['mnist-seed-1']
    """
    left = [*cells]
    for text in only:
        axis, equals, values = text.partition("=")
        known = sorted({name for cell in cells for name in cell.axes} | {"seed"})
        if not equals or axis not in known:
            raise ConfigError(
                f"--only {text} can't be used; give AXIS=VALUE,... with an axis of {', '.join(known)}"
            )
        there = _values(cells, axis)
        if axis == "seed":
            wanted = {*map(str, whole_numbers("--only seed=", values))}
        else:
            wanted = {values} if values in there else {*values.split(",")}
            if unknown := sorted(wanted - {*there}):
                raise ConfigError(
                    f"--only {text}: no cell has {axis}={unknown[0]}; there is {', '.join(there)}"
                )
        left = [cell for cell in left if {*_values([cell], axis)} & wanted]
        if not left:
            raise ConfigError(f"--only {text} leaves no cell; there is {axis}={','.join(there)}")
    return left


def _cells(study: str, block: Mapping[str, Any], scores: Sequence[Mapping[str, Any]]) -> Iterator[Cell]:
    """Every combination of the lists of a grid."""
    check_block(study, block)
    others = (*TABLES, *_EVALUATION, "seed", "validation", ARM)
    plain = {name: value for name, value in block.items() if name not in others}
    if "source" not in plain:
        raise ConfigError(f"study {study}: a grid names no source; give source = 'digits' or a list of them")
    settings = block.get("settings", {})
    given = block.get("seed", 0)
    seeds = whole_numbers(
        f"study {study}: seed", ",".join(map(str, given)) if isinstance(given, list) else str(given)
    )
    lists = [value for value in (*plain.values(), *settings.values()) if isinstance(value, list)]
    if math.prod(map(len, lists)) * len(seeds) > _MOST:
        raise ConfigError(f"study {study}: a grid has more than {_MOST:,} cells; give shorter lists")
    evaluation = {name: block[name] for name in _EVALUATION if name in block}
    validation = bool(block.get("validation", False))
    tune = {
        name: value if isinstance(value, list) else [value] for name, value in block.get("tune", {}).items()
    }
    for options, own in product(_combined(plain), _combined(settings)):
        named = _NAMED if ARM in block else ()
        varied = (name for name in plain if name in _ALWAYS or isinstance(plain[name], list))
        axes = {name: options[name] for name in varied if name not in named}
        axes |= {name: own[name] for name, value in settings.items() if isinstance(value, list)}
        axes |= {ARM: block[ARM]} if ARM in block else {}
        axes["source"] = _short(str(axes["source"]))
        paper = [
            score["accuracy"]
            for score in scores
            if all(axes.get(name) == value for name, value in score.items() if name != "accuracy")
        ]
        bank = _bank(block, options)
        for seed in seeds:
            yield Cell(
                name="-".join([*map(word, axes.values()), f"seed-{seed}"]),
                axes=axes,
                options=options,
                seed=seed,
                settings=own,
                evaluation=evaluation,
                tune=tune,
                bank=bank.for_validation() if bank and validation else bank,
                validation=validation,
                paper=paper[0] if paper and not validation else None,
            )


def _bank(block: Mapping[str, Any], options: Mapping[str, Any]) -> Bank | None:
    """What a cell shares with those of the same source and method."""
    for kind in _BANKS:
        if kind not in block:
            continue
        own = dict(block[kind])
        shared = {
            name: options[name]
            for name in _SHARED
            if name in options and (kind == "sketch" or name != "method")
        }
        whole = {**shared, **own}
        method = filter(None, [whole.get("method")])
        words = [kind, _short(str(whole["source"])), *method, hash_of(whole, length=8)]
        return Bank(kind, "-".join(map(word, words)), whole)
    return None


def _combined(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the values of a table, where a list stands for each of its values."""
    lists = [value if isinstance(value, list) else [value] for value in table.values()]
    for values in product(*lists):
        yield dict(zip(table, values, strict=True))


def _require_apart(study: str, cells: Sequence[Cell]) -> None:
    names: set[str] = set()
    for cell in cells:
        if cell.name in names:
            raise ConfigError(
                f"study {study}: two cells are called {cell.name}; let them differ in source, method, "
                "distance, budget, or a setting that is a list"
            )
        names.add(cell.name)


def _require_compared(head: StudyHead, cells: Sequence[Cell]) -> None:
    """Refuse a comparison that no cell of a study is part of."""
    known = _values(cells, head.axis)
    if cells and head.against not in known:
        axes = ", ".join(dict.fromkeys(axis for cell in cells for axis in cell.axes))
        there = f"{head.axis} is {_some(known)}" if known else f"its axes are {axes}"
        raise ConfigError(
            f"study {head.name} compares with {head.axis} = {shown_value(head.against)}, "
            f"which no cell has; {there}"
        )


def _values(cells: Sequence[Cell], axis: str) -> list[str]:
    """What cells have along an axis, or as their seed."""
    found = (cell.seed if axis == "seed" else cell.axes.get(axis) for cell in cells)
    return [str(value) for value in dict.fromkeys(found) if value is not None]


def _some(values: Sequence[str]) -> str:
    """The first values, with commas between."""
    return ",".join(values[:10]) + ",..." * (len(values) > 10)


def _short(source: str) -> str:
    """The name of a source, without the folder and the ending of a file."""
    path = Path(source)
    return path.stem if path.suffix or len(path.parts) > 1 else source


def word(value: object) -> str:
    """A value as a part of the name of a folder."""
    return re.sub(r"[^\w.=]+", "-", str(value).replace("%", "-percent")).strip("-.")
