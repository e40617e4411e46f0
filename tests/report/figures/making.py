"""Runs as they stand on the disk, without the work: random images, and scores that were chosen."""

import json
from dataclasses import asdict

import numpy as np
import torch
from matplotlib.container import BarContainer, ErrorbarContainer

from lqm.api.evaluation_result import evaluator_of
from lqm.condensed import CondensedImages, CondensedNodes
from lqm.evaluation.origins import source_of
from lqm.graphs.evaluation import GraphProtocol
from lqm.images.evaluation import EvaluationProtocol
from lqm.report.figures.style import house_style
from lqm.report.figures.subjects import Drawing, LeftOut, read_subjects

IMAGES = asdict(EvaluationProtocol("tiny", epochs=2, networks=2, network="convnet:width=8"))
NODES = asdict(GraphProtocol("tiny-graph", epochs=2, networks=2))


def found(*accuracies, cvm=0.25, extremes=0.015, records=20):
    """A score; its match after the training is twice that before."""
    before = {"cramer_von_mises": cvm, "extremes": extremes}
    after = {name: 2 * value for name, value in before.items()}
    return {"records": records, "accuracies": accuracies, "before": before, "after": after, "by_class": []}


def entry(*accuracies, seed=0, baselines=None, protocol=None, **match):
    """A score as a manifest notes it."""
    mean = sum(accuracies) / len(accuracies)
    noted = {"protocol": protocol or IMAGES, "seed": seed, "accuracy": mean, **found(*accuracies, **match)}
    return noted | ({"baselines": baselines} if baselines else {})


def manifest(method="dm", distance="lqm", seed=0, scores=(), **more):
    return {
        "method": method,
        "distance": {"name": distance} if distance else None,
        "seed": seed,
        "settings": {"start": "random"},
        "steps": 300,
        "seconds": 1.0,
        "scores": [*scores],
        **more,
    }


def image_run(folder, source, *, per_class=2, seed=0, side=None, evaluations=(), names=None, **more):
    """A set of random images that claims to be condensed from a source."""
    names = names or source.class_names
    shape = (source.shape[0], side or source.shape[1], side or source.shape[2])
    draws = torch.Generator().manual_seed(seed + 1000 * per_class)
    images = torch.rand(per_class * len(names), *shape, generator=draws)
    labels = torch.arange(len(names)).repeat_interleave(per_class)
    record = {"source": source.record, "origin": {"source": source.name}, "evaluation": IMAGES}
    record |= {"preprocessing": {"mean": [0.5] * shape[0], "std": [0.5] * shape[0]}}
    condensed = CondensedImages(
        images, labels, tuple(names), record | manifest(seed=seed, per_class=per_class, **more)
    )
    condensed.save(folder)
    if evaluations:
        lines = "".join(json.dumps(line) + "\n" for line in evaluations)
        (folder / "evaluations.jsonl").write_text(lines)
    return folder


def node_run(folder, budget=4, **more):
    """A set of nodes whose graph is nowhere."""
    record = {"source": {"name": "papers", "fingerprint": "x"}, "origin": {"source": "/nowhere/papers.npz"}}
    record |= {"evaluation": NODES, "budget": budget, "counts": [budget // 2] * 2}
    labels = torch.arange(2).repeat_interleave(budget // 2)
    features = torch.rand(budget, 5, generator=torch.Generator().manual_seed(budget))
    condensed = CondensedNodes(features, labels, ("a", "b"), record | manifest("cat", **more))
    condensed.save(folder)
    return folder


def stream(folder, method="cat", distance="lqm", repeats=2, tasks=3, seed=0):
    """A result of `lqm continual`."""
    draws = np.random.default_rng(seed)
    matrices = draws.random((repeats, tasks, tasks))
    rows = [
        [[float(x) if i <= k else None for i, x in enumerate(row)] for k, row in enumerate(matrix)]
        for matrix in matrices
    ]
    config = {
        "source": {"name": "papers", "fingerprint": "x"},
        "stream": {"order": "labels", "inter_task_edges": False},
        "scoring": "class",
        "method": method,
        "distance": {"name": distance} if distance else None,
        "budget": 4,
        "seed": 0,
        "settings": {},
    }
    record = {
        "config": config,
        "tasks": [[str(task)] for task in range(tasks)],
        "repeats": repeats,
        "average_accuracy": {"each": [0.5] * repeats},
        "backward_transfer": None,
        "matrices": rows,
        "seconds": {"memory": [1.0], "learning": [1.0]},
    }
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(record))
    return folder


def subjects(folders):
    """What is drawn of runs whose data are where they were."""
    return read_subjects(
        folders, evaluator_of, lambda case, _: source_of(case.evaluator, case.manifest, None, None)
    )


def drawn(draw, *folders):
    """Figures by their names, and what was left out with the reasons."""
    with house_style():
        origins, tasks = subjects(folders)
        made = [*draw(origins or tasks)]
    figures = {one.stem: one.figure for one in made if isinstance(one, Drawing)}
    return figures, {one.what: one.why for one in made if isinstance(one, LeftOut)}


def title(figure):
    """A figure's title in one line."""
    return " ".join(figure.get_suptitle().split())


def bars(panel):
    """Heights by series and place, and the half lengths of the error bars."""
    series = [found for found in panel.containers if isinstance(found, BarContainer)]
    errors = [found for found in panel.containers if isinstance(found, ErrorbarContainer)]
    heights = {found.get_label(): [bar.get_height() for bar in found] for found in series}
    spreads = [
        [(end[1] - start[1]) / 2 for start, end in found.lines[2][0].get_segments()] for found in errors
    ]
    return heights, dict(zip(heights, spreads, strict=True))


def curves(panel):
    """The points of each line by its name."""
    return {line.get_label(): [*zip(*line.get_data(), strict=True)] for line in panel.lines}
