"""What a program meets of the package: names, and types that say something."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import lqm
from lqm.api import options, types
from lqm.condensed import CondensedSet
from lqm.images import sources
from lqm.utils import given

FUNCTIONS = [name for name in lqm.__all__ if inspect.isfunction(getattr(lqm, name))]


def annotations_in(tree):
    """Every annotation of functions and classes, and every alias of types, below a tree."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                arguments = node.args
                every = (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
                yield from (each.annotation for each in every if each and each.annotation)
                if node.returns:
                    yield node.returns
            case ast.AnnAssign():
                yield node.annotation
                if is_alias(node):
                    yield node.value


def is_alias(node):
    return isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"


def named(annotation):
    """All words of an annotation, of one in quotes too."""
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    return set(
        ast.unparse(ast.parse(str(text))).replace("[", " ").replace("]", " ").replace(",", " ").split()
    )


def head_of(function):
    """The definition of a function without what it does."""
    module = ast.parse(Path(inspect.getsourcefile(function)).read_text())
    found = [
        node
        for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name == inspect.unwrap(function).__name__
    ]
    for node in found:
        node.body = []
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_are_typed_without_any(name):
    heads = head_of(inspect.unwrap(getattr(lqm, name)))
    assert heads
    for head in heads:
        every = [*annotations_in(head)]
        arguments = head.args
        count = len(arguments.args) + len(arguments.kwonlyargs) + (arguments.kwarg is not None) + 1
        assert len(every) == count, "all are typed"
        assert not [ast.unparse(each) for each in every if "Any" in named(each)]


@pytest.mark.parametrize("module", [options, types, given, sources], ids=lambda module: module.__name__)
def test_the_types_that_they_name_have_no_any_either(module):
    tree = ast.parse(Path(module.__file__).read_text())
    kinds = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) or is_alias(node)]
    found = [each for node in kinds for each in annotations_in(node)]
    assert len(found) > 1
    assert not [ast.unparse(each) for each in found if "Any" in named(each)]


def test_dir_shows_public_names_alone():
    code = "import lqm; print(*dir(lqm))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == sorted([*lqm.__all__, "__version__"])
    assert [getattr(lqm, name) for name in dir(lqm)]


def test_every_kind_of_set_has_the_short_repr():
    """A dataclass makes a long one for itself, unless it is told not to."""
    kinds = CondensedSet.__subclasses__()
    assert len(kinds) >= 2
    assert not [kind.__name__ for kind in kinds if "__repr__" in vars(kind)]
