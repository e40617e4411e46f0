"""What the page says of condensed sets of one source."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lqm.condensed import CondensedImages
from lqm.evaluation.cases import Case
from lqm.evaluation.history import evaluation_curve, metric_curves
from lqm.evaluation.labels import distance_of, size_of
from lqm.evaluation.latents import Latents
from lqm.evaluation.markdown import percent
from lqm.evaluation.standing import Standing, standings
from lqm.report.page.explorer import explorer
from lqm.report.page.gallery import RealImages, gallery
from lqm.report.page.learning import learning
from lqm.report.page.summary import answers, type_of_records
from lqm.utils.errors import ConfigError
from lqm.utils.sentences import counted

Content = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """What fills a template.

    Attributes:
        template: its name.
        words: what the template itself says.
        data: what the charts are drawn from, ready for JSON.
    """

    template: str
    words: Content
    data: Content


@dataclass(frozen=True, eq=False)
class Real:
    """What the page shows of the real data.

    Attributes:
        train: how many training records there are.
        test: how many test records there are.
        latents: the features of real and condensed records under a fresh network.
        by_class: of nodes: how many of each class there are to learn from.
        images: of images: the training images.
    """

    train: int
    test: int
    latents: Latents
    by_class: list[int] | None = None
    images: RealImages | None = None


def require_one_source(cases: Sequence[Case]) -> None:
    """Refuse sets of different data.

    Raises:
        ConfigError: that names the first set which does not fit.
    """
    first = cases[0]
    for case in cases[1:]:
        sources = [one.manifest["source"] for one in (case, first)]
        if sources[0] != sources[1]:
            names = [record["name"] for record in sources]
            apart = f"'{names[0]}', not '{names[1]}'" if names[0] != names[1] else "another version of it"
            raise ConfigError(
                f"{case.folder} and {first.folder} were not condensed from the same data ({apart}); "
                "give a report to each"
            )


def page_of_sets(cases: Sequence[Case], real: Real | None, missing: str = "") -> Page:
    """Everything about sets of one source.

    Args:
        cases: the sets.
        real: what the page shows of the real data.
        missing: why there are none, in words.
    """
    latents = real.latents if real else None
    judged = standings(cases)
    logged = learning(
        [metric_curves(case.folder, steps=case.manifest["steps"]) for case in cases],
        [evaluation_curve(case.folder, case.manifest["steps"]) for case in cases],
    )
    images = [case.condensed for case in cases if isinstance(case.condensed, CondensedImages)]
    shown = gallery(images, real.images if real else None) if images else None
    curves = explorer(latents) if latents else None
    words = {
        "title": f"{cases[0].manifest['source']['name']}, condensed",
        "lead": _lead(cases, real),
        "cases": [_facts(case) for case in cases],
        "class_names": cases[0].condensed.class_names,
        "answers": answers(cases, judged[0] if judged else None, latents, real.test if real else None),
        "standings": [_standing(found, cases) for found in judged],
        "records": type_of_records(cases),
        "gallery": shown,
        "latents": latents,
        "explorer": curves,
        "budgets": None if images else _budgets(cases, real),
        "learning": logged,
        "of_what": "",
        "sizes_differ": len({case.records for case in cases}) > 1,
        "missing": missing,
        "loading": [_loading(case) for case in cases],
        "manifests": [json.dumps(case.manifest, indent=2, ensure_ascii=False) for case in cases],
    }
    data_of_charts = {
        "labels": [case.label for case in cases],
        "classNames": cases[0].condensed.class_names,
        "standings": [_bars(found) for found in judged],
        "real": shown["real"] if shown else {},
        "images": _records(shown) if shown else [],
        "explorer": curves,
        "budgets": words["budgets"],
        "learning": logged,
    }
    return Page("sets.html.j2", words, data_of_charts)


def _lead(cases: Sequence[Case], real: Real | None) -> str:
    """What became what, in a sentence."""
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
    """A share with the two digits that tell small ones apart.

    Example:
        >>> _in_percent(0.00123), _in_percent(0.0694), _in_percent(1.0)
        ('0.12 %', '6.9 %', '100 %')
    """
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def _facts(case: Case) -> Content:
    manifest = case.manifest
    return {
        "label": case.label,
        "folder": str(case.folder),
        "method": manifest["method"],
        "distance": distance_of(manifest) or "none",
        "size": size_of(manifest),
        "seed": manifest["seed"],
        "steps": f"{manifest['steps']:,}",
        "time": str(timedelta(seconds=round(manifest["seconds"]))),
        "recipe": manifest.get("recipe") or "none",
    }


def _standing(found: Standing, cases: Sequence[Case]) -> Content:
    full = found.full
    return {
        "words": found.protocol.in_words(full.records if full else None) + seeds_in_words(found),
        "full": full is not None,
        "judged": [found.of_case(number) for number in range(len(cases))],
        "spoken": ", ".join(f"{bar.name} {percent(bar.accuracy)} %" for bar in reversed(found.bars)),
        "rows": [
            {
                "name": bar.name,
                "records": f"{bar.records:,}",
                "networks": len(bar.accuracies),
                "accuracy": bar.spread.percent(),
                "cvm": [match.statistic.shown(3) for match in (bar.before, bar.after)],
                "extremes": [f"{100 * match.extremes:.2f}" for match in (bar.before, bar.after)],
                "by_class": [percent(share) for share in bar.by_class],
            }
            for bar in reversed(found.bars)
        ],
        "missing": [case.label for number, case in enumerate(cases) if found.of_case(number) is None],
    }


def seeds_in_words(found: Standing) -> str:
    """Which evaluation seeds were put together, if there are several."""
    if len(found.seeds) == 1:
        return ""
    seeds = ", ".join(map(str, found.seeds))
    return f"; seeds {seeds} together" if found.paired else f"; each set by its own of the seeds {seeds}"


def _bars(found: Standing) -> list[Content]:
    return [
        {
            "name": bar.name,
            "case": bar.case,
            "size": "" if bar.name.endswith(f", {bar.records:,}") else f" ({bar.records:,})",
            "said": bar.spread.percent(),
            "accuracy": bar.accuracy,
            "deviation": bar.deviation,
            "accuracies": bar.accuracies,
            "byClass": bar.by_class,
        }
        for bar in reversed(found.bars)
    ]


def _records(shown: Content) -> list[list[list[list[Content]]]]:
    """The records of each image, by set and class; the images themselves are in the text of the page."""
    return [[[image["records"] for image in own] for own in classes] for classes in shown["sets"]]


def _budgets(cases: Sequence[Case], real: Real | None) -> Content:
    """Nodes of each class: condensed, and real ones to learn from."""
    classes = len(cases[0].condensed.class_names)

    def counts(labels: Any) -> list[int]:
        found: list[int] = labels[labels >= 0].bincount(minlength=classes).tolist()
        return found

    return {
        "sets": [counts(case.condensed.labels) for case in cases],
        "real": real.by_class if real else None,
    }


def _loading(case: Case) -> str:
    """The lines of Python that read a set."""
    use = (
        "dataset = small.dataset()"
        if isinstance(case.condensed, CondensedImages)
        else "data = small.to_pyg()"
    )
    return f"import lqm\nsmall = lqm.load({str(case.folder)!r})\n{use}"
