"""Two small sets of digits, condensed and judged once for all tests of this folder."""

from types import SimpleNamespace

import pytest

import lqm
from lqm.images.evaluation import PROTOCOLS
from tests.report.making import PROTOCOL, SETTINGS, chosen


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    """Folders of sets, which are read and not changed, and what `lqm.evaluate` found of them.

    `mean` was judged beside random and all images, `lqm` beside random and herding and by a second seed,
    `real`, whose method is random, alone.
    """
    folder = tmp_path_factory.mktemp("judged")
    runs = {name: folder / name for name in ("mean", "lqm", "real")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LQM_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(PROTOCOLS, "quick-200", PROTOCOL)
        for distance in ("mean", "lqm"):
            lqm.condense(
                "digits",
                distance=distance,
                per_class=2,
                settings=SETTINGS,
                out=runs[distance],
                show_progress=False,
            )
        chosen("digits", runs["real"])

        def judge(name, **options):
            return lqm.evaluate(runs[name], show_progress=False, **{"baselines": ()} | options)

        found = {
            "mean": [judge("mean", baselines=("random", "full"))],
            "lqm": [judge("lqm", baselines=("random", "herding")), judge("lqm", seed=1)],
            "real": [judge("real")],
        }
    return SimpleNamespace(folder=folder, runs=runs, found=found)
