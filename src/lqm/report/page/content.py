"""The page of condensed sets of one source."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from torch import Tensor

from lqm.condensed import CondensedImages, CondensedNodes
from lqm.condensed.described import IMPORTED
from lqm.evaluation.cases import Case
from lqm.evaluation.faults import faults_of
from lqm.evaluation.history import evaluation_curve, metric_curves
from lqm.evaluation.labels import distance_of, size_of
from lqm.evaluation.latents import Latents
from lqm.evaluation.standing import Standing, standings
from lqm.report.page.banner import verdicts
from lqm.report.page.differences import differences_of_sets
from lqm.report.page.explorer import explorer
from lqm.report.page.gallery import RealImages, gallery
from lqm.report.page.learning import learning
from lqm.report.page.maps import maps
from lqm.report.page.privacy import privacy, what_it_gives_away
from lqm.report.page.standings import standing_bars, standing_table
from lqm.report.page.summary import answers, type_of_records
from lqm.utils.errors import ConfigError
from lqm.utils.paths import shown_path
from lqm.utils.places import without_places
from lqm.utils.sentences import counted

Content = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """A template's name, its variables, and what its charts are drawn from, ready for JSON."""

    template: str
    variables: Content
    data: Content


@dataclass(frozen=True, eq=False)
class Real:
    """What the page shows of the real data: sizes, features under a fresh network, and more by domain.

    Attributes:
        by_class: of nodes: how many training nodes each class has.
        images: of images: the training images.
        inits: of images: what each set was before its first step, where its seed says that.
    """

    train: int
    test: int
    latents: Latents
    by_class: list[int] | None = None
    images: RealImages | None = None
    inits: Sequence[Tensor | None] = ()


def require_one_source(cases: Sequence[Case]) -> None:
    """Refuse sets of different data, by the name of the first which does not fit."""
    first = cases[0]
    for case in cases[1:]:
        source, expected = case.manifest["source"], first.manifest["source"]
        if source != expected:
            one, other = source["name"], expected["name"]
            apart = f"'{one}', not '{other}'" if one != other else "another version of it"
            raise ConfigError(
                f"{case.folder} and {first.folder} were not condensed from the same data ({apart}); "
                "give a report to each"
            )
        if _form(case) != _form(first):
            raise ConfigError(
                f"{case.folder} and {first.folder} have records of other shapes or classes, though they say "
                "that they were condensed from the same data; give a report to each"
            )


def _form(case: Case) -> tuple[Any, ...]:
    """What records of the same data have in common."""
    return type(case.condensed), case.condensed.data.shape[1:], case.condensed.class_names


def page_of_sets(
    cases: Sequence[Case], real: Real | None, missing: str = "", source: Any | None = None
) -> Page:
    """Everything about sets of one source; `missing` is why there are no real data."""
    latents = real.latents if real else None
    ranked = standings(cases)
    shown_first = ranked[0] if ranked else None
    logged = learning(
        [metric_curves(case.folder, steps=case.manifest["steps"]) for case in cases],
        [evaluation_curve(case.folder, case.manifest["steps"]) for case in cases],
    )
    images = [case.condensed for case in cases if isinstance(case.condensed, CondensedImages)]
    shown = gallery(images, real.images if real else None, real.inits if real else ()) if images else None
    galleries = shown["sets"] if shown else []
    curves = explorer(latents) if latents else None
    audits, differences = privacy(cases), differences_of_sets(cases)
    tables = [standing_table(found, cases) for found in ranked]
    projected = maps(latents) if latents else None
    variables = {
        "title": f"{cases[0].manifest['source']['name']}, condensed",
        "lead": _lead(cases, real),
        "cases": [_facts(case) for case in cases],
        "class_names": cases[0].condensed.class_names,
        "verdicts": verdicts(cases, shown_first),
        "warnings": _warnings(cases, shown_first, source),
        "answers": [
            *answers(cases, shown_first, latents, real.test if real else None),
            *what_it_gives_away(cases, audits),
        ],
        "audits": audits,
        "standings": tables,
        "differences": differences,
        "records": type_of_records(cases),
        "gallery": shown,
        "latents": latents,
        "explorer": curves,
        "maps": projected,
        "budgets": _budgets(cases, real) if isinstance(cases[0].condensed, CondensedNodes) else None,
        "learning": logged,
        "of_what": "",
        "sizes_differ": len({case.records for case in cases}) > 1,
        "missing": missing,
        "loading": [_loading(case) for case in cases],
        "manifests": [shown_record(case.manifest) for case in cases],
    }
    data = {
        "labels": [case.label for case in cases],
        "classNames": cases[0].condensed.class_names,
        "standings": [standing_bars(found, cases) for found in ranked],
        "real": shown["real"] if shown else {},
        # The images themselves are in the text of the page.
        "images": [[[tile["records"] for tile in own] for own in tiles] for tiles in galleries],
        "inits": shown["inits"] if shown else None,
        "explorer": curves,
        "maps": projected,
        "confusion": [table["confusion"] for table in tables],
        "budgets": variables["budgets"],
        "learning": logged,
        "differences": differences and [table["pairs"] for table in differences["tables"]],
    }
    return Page("sets.html.j2", variables, data)


def shown_record(stored: Content) -> str:
    """A manifest or result as others may see it: those of older versions say where the data stand."""
    origin = {"origin": without_places(stored["origin"])} if "origin" in stored else {}
    return json.dumps(stored | origin, indent=2, ensure_ascii=False)


def _lead(cases: Sequence[Case], real: Real | None) -> str:
    records = type_of_records(cases)
    classes = counted(len(cases[0].condensed.class_names), "class", "classes")
    sizes = sorted({int((case.condensed.labels >= 0).sum()) for case in cases})
    cells = max(case.manifest.get("mosaic", 1) for case in cases) ** 2
    condensed = " or ".join(f"{size:,}" for size in sizes)
    mosaics = f", mosaics of {cells}" if cells > 1 else ""
    if real is None:
        return f"{condensed} synthetic {records} of {classes}{mosaics}."
    share = " or ".join(_in_percent(size / real.train) for size in sizes)
    return f"{real.train:,} real training {records} of {classes} became {condensed} ({share}){mosaics}."


def _in_percent(share: float) -> str:
    """A share in percent: 0.12 %, 6.9 %, 100 %."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def _facts(case: Case) -> Content:
    manifest = case.manifest
    made = {
        "seed": manifest["seed"],
        "steps": f"{manifest['steps']:,}",
        "time": str(timedelta(seconds=round(manifest["seconds"]))),
    }
    if manifest["method"] == IMPORTED:
        made = dict.fromkeys(made, "unknown")
    return {
        "label": case.label,
        "folder": shown_path(case.folder),
        "method": manifest["method"],
        "distance": distance_of(manifest) or "none",
        "size": size_of(manifest),
        **made,
        "recipe": manifest.get("recipe") or "none",
    }


def _warnings(cases: Sequence[Case], standing: Standing | None, source: Any | None) -> list[str]:
    """What is wrong with each set, a line each, after its name where there are several."""
    return [
        f"{case.label}: " * (len(cases) > 1) + line
        for number, case in enumerate(cases)
        for line in faults_of(
            case.condensed, case.evaluator, source, standing.of_case(number) if standing else None
        )
    ]


def _budgets(cases: Sequence[Case], real: Real | None) -> Content:
    """Nodes of each class: condensed, and real ones to learn from."""
    classes, every = len(cases[0].condensed.class_names), [case.condensed.labels for case in cases]
    counts = [labels[labels >= 0].bincount(minlength=classes).tolist() for labels in every]
    return {"sets": counts, "real": real.by_class if real else None}


def _loading(case: Case) -> str:
    """The lines of Python that load a set."""
    nodes = isinstance(case.condensed, CondensedNodes)
    use = "data = condensed.to_pyg()" if nodes else "dataset = condensed.dataset()"
    if "learning_rate" in case.manifest.get("training", {}):
        use += "\nlearning_rate = condensed.learning_rate  # of SGD"
    return f"import lqm\ncondensed = lqm.load({shown_path(case.folder)!r})\n{use}"
