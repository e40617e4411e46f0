"""Requests: what Python's keyword arguments fill and the command line parses is the same."""

from dataclasses import FrozenInstanceError, fields
from inspect import Parameter, signature

import pytest
import tyro

import lqm
from lqm.api import options, requests
from lqm.cli.commands import COMMANDS

PAIRS = [
    (requests.CondenseRequest, options.CondenseOptions, {"source"}),
    (requests.SketchRequest, options.SketchOptions, {"source", "out"}),
    (requests.ExpertsRequest, options.ExpertsOptions, {"source", "out"}),
    (requests.ContinualRequest, options.ContinualOptions, {"source"}),
]


@pytest.mark.parametrize(("request_type", "keywords", "explicit"), PAIRS)
def test_the_keywords_that_are_typed_are_the_fields_of_the_request(request_type, keywords, explicit):
    of_the_source = {"test", "class_names"}
    typed = keywords.__annotations__.keys() - of_the_source
    assert {field.name for field in fields(request_type)} - explicit == typed


@pytest.mark.parametrize(("request_type", "keywords", "explicit"), PAIRS)
def test_a_request_cant_be_changed(request_type, keywords, explicit):
    request = request_type(source="digits")
    with pytest.raises(FrozenInstanceError):
        request.source = "mnist"


@pytest.mark.parametrize("name", ["condense", "sketch", "experts", "continual"])
def test_a_command_has_the_defaults_of_python(name):
    """But for what it says is its own: several seeds may be listed."""
    command = tyro.cli(COMMANDS[name], args=["digits-knn"])
    (request_type,) = [base for base in type(command).__bases__ if base.__module__ == requests.__name__]
    own = {"condense": {"seed": "0"}}.get(name, {})
    for field in fields(request_type):
        if field.name != "source":
            assert getattr(command, field.name) == own.get(field.name, field.default), field.name


@pytest.mark.parametrize("name", ["evaluate", "audit", "study", "report", "figures"])
def test_a_command_that_is_a_function_has_the_defaults_of_python_too(name):
    function = getattr(lqm, {"report": "write_report", "figures": "write_figures"}.get(name, name))
    typed = signature(COMMANDS[name]).parameters
    shared = [parameter for parameter in signature(function).parameters.values() if parameter.name in typed]
    assert len(shared) >= 3
    for parameter in shared:
        if parameter.default is not Parameter.empty:
            assert as_typed(typed[parameter.name].default) == as_typed(parameter.default), parameter.name


def as_typed(default):
    """A default as the command line would have it: an empty list is nothing, and a list of one its word."""
    words = default if isinstance(default, tuple) else (default,)
    return None if not words else ",".join(words) if isinstance(words[0], str) else words[0]


@pytest.mark.parametrize(
    ("unknown", "right"),
    [({"perclass": 3}, "'perclass'; it should be per_class="), ({"steps": 3}, r"settings={'steps': \.\.\.}")],
)
def test_an_unknown_keyword_is_a_type_error_that_says_what_is_right(unknown, right):
    with pytest.raises(TypeError, match=right):
        lqm.condense("digits", **unknown)


def test_names_of_earlier_versions_are_still_found():
    assert lqm.CondensedPictures is lqm.CondensedImages
    assert lqm.Pictures is lqm.Images
