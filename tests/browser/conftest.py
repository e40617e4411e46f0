"""A real browser, and reports in it, opened from disk."""

import os
import shutil
from contextlib import contextmanager

import pytest
import torch

import lqm
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.recipes import Recipe
from tests.browser.waiting import wait_until
from tests.report.making import chosen, tiny_source
from tests.studies.making import line, small_study, write_study

EVIL = "<script>alert(1)</script>"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    path = os.environ.get("LQM_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("there is no Chromium here; install the system's package, or name one in LQM_CHROMIUM")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@contextmanager
def tiny_work(folder):
    """Everything at a size that takes a second, with a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LQM_CACHE", str(folder / "cache"))
        protocol = EvaluationProtocol(
            "tiny", epochs=10, networks=2, network="convnet:width=8", full_networks=1, learning_rate=0.1
        )
        patch.setitem(PROTOCOLS, "tiny", protocol)
        settings = {"steps": 12, "network": "convnet:width=8", "real_batch": 32}
        patch.setattr(
            "lqm.recipes.fitting_recipe",
            lambda source, method, per_class, **_: Recipe("tiny", method, per_class, settings, "tiny"),
        )
        yield


@pytest.fixture(scope="session")
def digits_report(folder):
    """The digits by two distances, beside real images."""
    with tiny_work(folder):
        source, out = lqm.load_source("digits"), folder / "digits"
        options = {"per_class": 10, "show_progress": False}
        for distance, baselines in {"mean": (), "lqm": ("random", "herding", "full")}.items():
            condensed = lqm.condense(source, distance=distance, out=out / distance, **options)
            lqm.evaluate(condensed, baselines=baselines, show_progress=False)
        return lqm.write_report([out / "mean", out / "lqm"], out / "report.html", source=source)


@pytest.fixture(scope="session")
def evil_report(folder):
    """Mosaics of classes with hostile names, judged in two ways, with evaluations along the way."""
    with tiny_work(folder):
        draws = torch.Generator().manual_seed(0)
        images = [
            lqm.Images(torch.rand(30, 3, 8, 8, generator=draws), torch.arange(30) % 3) for _ in range(2)
        ]
        names = (
            EVIL,
            "a very long name of a class that does not fit beside an axis",
            "Ünïcödé & \"quotes\" 'too'",
        )
        source = lqm.ImageSource("<b>evil</b>", *images, names)
        settings = {
            "steps": 4,
            "network": "convnet:width=8:depth=2",
            "student_batch": 8,
            "student_steps": 1,
            "mosaic": 2,
        }
        condensed = lqm.condense(
            source,
            method="idm",
            per_class=2,
            settings=settings,
            out=folder / "<i>evil",
            evaluate_every=2,
            show_progress=False,
        )
        lqm.evaluate(condensed, source=source, show_progress=False, baselines=("random",))
        lqm.evaluate(condensed, source=source, networks="mlp:width=8", show_progress=False, baselines=())
        return lqm.write_report(folder / "<i>evil", source=source)


@pytest.fixture(scope="session")
def large_report(folder):
    """More classes than a chart shows, more images of each than a line holds, of large classes."""
    source = tiny_source(classes=35, each=210)
    chosen(source, folder / "large", 25)
    return lqm.write_report(folder / "large", source=source)


@pytest.fixture(scope="session")
def graph_report(folder):
    with tiny_work(folder):
        for distance in ("mean", "lqm"):
            condensed = lqm.condense(
                "digits-knn",
                distance=distance,
                budget=30,
                settings={"steps": 3, "width": 16},
                out=folder / f"nodes-{distance}",
                show_progress=False,
            )
            lqm.evaluate(condensed, protocol="graph-quick", show_progress=False, baselines=())
        return lqm.write_report([folder / "nodes-mean", folder / "nodes-lqm"], folder / "nodes.html")


@pytest.fixture(scope="session")
def stream_report(folder):
    with tiny_work(folder):
        runs = {
            "cat": {"budget": 4, "settings": {"steps": 3, "width": 16, "epochs": 5}},
            "joint": {"settings": {"epochs": 5}},
        }
        for method, options in runs.items():
            lqm.continual(
                "digits-knn", method=method, repeats=2, out=folder / method, show_progress=False, **options
            )
        return lqm.write_report([folder / method for method in runs], folder / "streams.html")


@pytest.fixture(scope="session")
def study_report(folder):
    """A study with three sides, two budgets, a failed cell, and hostile names."""
    evil = small_study() + [
        line(side, seed, 0.4 + 0.1 * seed, source=EVIL, axes={"method": "a" * 60})
        for side in ("mean", "wasserstein")
        for seed in range(3)
    ]
    evil.append(line("lqm", 9, 0, state="failed", scores={}, sentence=EVIL))
    return lqm.write_report(write_study(folder / "study", evil))


@pytest.fixture
def opened(browser):
    """Opens a report from disk; the browser must complain of nothing and ask for nothing else."""

    @contextmanager
    def open_page(path, *, width=1280, height=900, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        wait_until(
            page,
            "[...document.querySelectorAll('.plot')].every(p => !p.clientWidth || p.querySelector('svg'))",
        )
        try:
            yield page
        finally:
            context.close()
            assert complaints == []
        assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]

    return open_page
