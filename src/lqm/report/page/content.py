"""What the page says of condensed sets of one source."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedImages
from lqm.engine.progress import warn
from lqm.graphs.sources.notes import counted
from lqm.origins import source_of
from lqm.report.cases import Case, read_cases, size_of
from lqm.report.history import evaluation_curve, metric_curves
from lqm.report.latents import latents_of
from lqm.report.page.explorer import explorer
from lqm.report.page.gallery import gallery
from lqm.report.page.learning import learning
from lqm.report.page.matched import statistic
from lqm.report.page.summary import answers, type_of_records
from lqm.report.standing import Bar, Standing, standings
from lqm.report.tables import percent, protocol_in_words
from lqm.scores import Kind
from lqm.utils.errors import ConfigError, DataError

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


def page_of_sets(runs: Sequence[Path], source: Any, data_dir: str | Path | None) -> Page:
    """Everything about sets of images, or of nodes.

    Raises:
        LqmError: when a set is damaged, or they are of different sources.
    """
    cases = read_cases(runs)
    _require_one_source(cases)
    found_again = next((case for case in cases if case.manifest.get("origin")), cases[0])
    data, missing = real_data(found_again.kind, found_again.manifest, source, data_dir)
    latents = latents_of(cases, data) if data else None
    judged = standings(cases)
    logged = learning(
        [metric_curves(case.folder, steps=case.manifest["steps"]) for case in cases],
        [evaluation_curve(case.folder, case.manifest["steps"]) for case in cases],
    )
    images = [case.condensed for case in cases if isinstance(case.condensed, CondensedImages)]
    shown = gallery(images, data) if images else None
    tested = None if data is None else len(data.test.labels if images else data.test)
    curves = explorer(latents) if latents else None
    words = {
        "title": f"{cases[0].manifest['source']['name']}, condensed",
        "lead": _lead(cases, data),
        "cases": [_facts(case) for case in cases],
        "class_names": cases[0].condensed.class_names,
        "answers": answers(cases, judged[0] if judged else None, latents, tested),
        "standings": [_standing(found, cases) for found in judged],
        "records": type_of_records(cases),
        "gallery": shown,
        "latents": latents,
        "explorer": curves,
        "budgets": None if images else _budgets(cases, data),
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


def _require_one_source(cases: Sequence[Case]) -> None:
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


def real_data(
    kind: Kind, manifest: Mapping[str, Any], source: Any, data_dir: str | Path | None
) -> tuple[Any, str]:
    """The real data; or none, and the reason, if they are not where they were and were not named."""
    try:
        return source_of(kind, manifest, source, data_dir), ""
    except DataError as error:
        if source is not None or data_dir is not None:
            raise
        warn(f"{error}; the page is made without the real data")
        return None, str(error)


def _lead(cases: Sequence[Case], source: Any) -> str:
    """What became what, in a sentence."""
    records = type_of_records(cases)
    classes = counted(len(cases[0].condensed.class_names), "class", "classes")
    sizes = sorted({int((case.condensed.labels >= 0).sum()) for case in cases})
    cells = max(case.manifest.get("mosaic", 1) for case in cases) ** 2
    condensed = " or ".join(f"{size:,}" for size in sizes)
    mosaics = f", mosaics of {cells}" if cells > 1 else ""
    if source is None:
        return f"{condensed} synthetic {records} of {classes}{mosaics}."
    real = len(source.train.labels if records == "images" else source.train)
    share = " or ".join(_in_percent(size / real) for size in sizes)
    return f"{real:,} real training {records} of {classes} became {condensed} ({share}){mosaics}."


def _in_percent(share: float) -> str:
    """A share with the two digits that tell small ones apart.

    Example:
        >>> _in_percent(0.00123), _in_percent(0.0694), _in_percent(1.0)
        ('0.12 %', '6.9 %', '100 %')
    """
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def _facts(case: Case) -> Content:
    manifest = case.manifest
    distance = manifest["distance"]
    return {
        "label": case.label,
        "folder": str(case.folder),
        "method": manifest["method"],
        "distance": distance["name"] if distance else "none",
        "size": size_of(manifest),
        "seed": manifest["seed"],
        "steps": f"{manifest['steps']:,}",
        "time": str(timedelta(seconds=round(manifest["seconds"]))),
        "recipe": manifest.get("recipe") or "none",
    }


def _standing(found: Standing, cases: Sequence[Case]) -> Content:
    full = found.full
    return {
        "words": protocol_in_words(found.protocol, full.records if full else None) + seeds_in_words(found),
        "full": full is not None,
        "judged": [found.of_case(number) for number in range(len(cases))],
        "spoken": ", ".join(f"{bar.name} {percent(bar.accuracy)} %" for bar in reversed(found.bars)),
        "rows": [
            {
                "name": bar.name,
                "records": f"{bar.records:,}",
                "networks": len(bar.accuracies),
                "accuracy": _accuracy(bar),
                "cvm": [statistic(match) for match in (bar.before, bar.after)],
                "extremes": [f"{100 * match.extremes:.2f}" for match in (bar.before, bar.after)],
                "by_class": [percent(share) for share in bar.by_class],
            }
            for bar in reversed(found.bars)
        ],
        "missing": [case.label for number, case in enumerate(cases) if found.of_case(number) is None],
    }


def _accuracy(bar: Bar) -> str:
    return f"{percent(bar.accuracy)} ± {percent(bar.deviation)}"


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
            "said": _accuracy(bar),
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


def _budgets(cases: Sequence[Case], source: Any) -> Content:
    """Nodes of each class: condensed, and real ones to learn from."""
    classes = len(cases[0].condensed.class_names)

    def counts(labels: Any) -> list[int]:
        found: list[int] = labels[labels >= 0].bincount(minlength=classes).tolist()
        return found

    real = [len(nodes) for nodes in source.by_class] if source else None
    return {"sets": [counts(case.condensed.labels) for case in cases], "real": real}


def _loading(case: Case) -> str:
    """The lines of Python that read a set."""
    use = (
        "dataset = small.dataset()"
        if isinstance(case.condensed, CondensedImages)
        else "data = small.to_pyg()"
    )
    return f"import lqm\nsmall = lqm.load({str(case.folder)!r})\n{use}"
