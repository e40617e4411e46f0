"""The tables of docs/json.md, from the classes that make the documents; run it to see them."""

import re
import types
from dataclasses import fields, is_dataclass
from inspect import cleandoc
from typing import Literal, Union, get_args, get_origin, get_type_hints

from lqm.cli.documents import DOCUMENTS, PlanDocument
from lqm.cli.documents.base import Document

WORDS = {str: "string", int: "integer", float: "number", bool: "true or false", type(None): "null"}


def table_of(kind):
    """A Markdown table of the fields of a class, with the meanings that its docstring gives."""
    meanings = _meanings(kind)
    hints = get_type_hints(kind)
    rows = [
        f"| `{field.name}` | {_type(hints[field.name])} | {meanings[field.name]} |"
        for field in fields(kind)
        if kind is Document or field.name not in ("schema", "command")
    ]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows])


def classes():
    """Every class of a document, each before the entries that it holds."""
    found = [Document]
    for kind in (*DOCUMENTS.values(), PlanDocument):
        _add(kind, found)
    return found


def page():
    """All tables with their headings."""
    names = {kind: name for name, kind in DOCUMENTS.items()}
    parts = []
    for kind in classes():
        title = f"`lqm {names[kind]} --json`" if kind in names else f"`{kind.__name__}`"
        about = cleandoc(kind.__doc__).partition("\n")[0]
        parts.append(f"### {title}\n\n{about}\n\n{table_of(kind)}\n")
    return "\n".join(parts)


def _add(kind, found):
    if kind in found:
        return
    found.append(kind)
    for hint in get_type_hints(kind).values():
        for each in _classes_in(hint):
            _add(each, found)


def _classes_in(hint):
    if is_dataclass(hint):
        return [hint]
    return [each for part in get_args(hint) for each in _classes_in(part)]


def _meanings(kind):
    found = {}
    for each in reversed(kind.__mro__[:-1]):
        listed = cleandoc(each.__doc__ or "").partition("Attributes:")[2]
        for name, text in re.findall(r"^    (\w+): (.*(?:\n        .*)*)", listed, re.MULTILINE):
            found[name] = " ".join(text.split())
    return found


def _type(hint):
    origin, parts = get_origin(hint), get_args(hint)
    if hint in WORDS:
        return WORDS[hint]
    if origin is Literal:
        return " or ".join(map(str, parts))
    if origin is list:
        return f"list of {_type(parts[0])}"
    if origin is dict:
        return f"object of {_type(parts[1])}"
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type, parts))
    return f"`{hint.__name__}`"


if __name__ == "__main__":
    print(page())
