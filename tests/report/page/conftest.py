"""The page about the two small sets of digits, read again."""

from types import SimpleNamespace

import pytest

import lqm
from lqm import write_report
from lqm.evaluation.cases import latents_of
from tests.report.making import cases_of, read_page


@pytest.fixture(scope="session")
def page(judged, tmp_path_factory):
    """What the page says, its `data`, and the sets that it is about."""
    runs = [judged.runs["mean"], judged.runs["lqm"]]
    path = write_report(runs, tmp_path_factory.mktemp("page") / "report.html")
    read = read_page(path)
    cases = cases_of(runs)
    return SimpleNamespace(path=path, read=read, data=read.data, cases=cases, found=judged.found)


@pytest.fixture(scope="session")
def latents(page):
    return latents_of(page.cases, lqm.load_source("digits"))
