"""Requests: what Python's keyword arguments fill and the command line parses is the same."""

from dataclasses import FrozenInstanceError, fields

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
    assert {field.name for field in fields(request_type)} - explicit == keywords.__annotations__.keys()


@pytest.mark.parametrize(("request_type", "keywords", "explicit"), PAIRS)
def test_a_request_cant_be_changed(request_type, keywords, explicit):
    request = request_type(source="digits")
    with pytest.raises(FrozenInstanceError):
        request.source = "mnist"


@pytest.mark.parametrize("name", ["condense", "sketch", "experts", "continual"])
def test_a_command_has_the_defaults_of_python(name):
    """But for those that it says are its own: lists of budgets and seeds, and five repeats of a stream."""
    command = tyro.cli(COMMANDS[name], args=["digits-knn"])
    (request_type,) = [base for base in type(command).__bases__ if base.__module__ == requests.__name__]
    own = {"condense": {"seed": "0"}, "continual": {"repeats": 5}}.get(name, {})
    for field in fields(request_type):
        if field.name != "source":
            assert getattr(command, field.name) == own.get(field.name, field.default), field.name


def test_an_unknown_keyword_is_a_type_error():
    with pytest.raises(TypeError, match="perclass"):
        lqm.condense("digits", perclass=3)


def test_names_of_earlier_versions_are_still_found():
    assert lqm.CondensedPictures is lqm.CondensedImages
    assert lqm.Pictures is lqm.Images
