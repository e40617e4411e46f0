"""Our defaults, against a table of the papers' constants that was written down from the papers alone.

A row is `setting: value`. Where ours differs on purpose the row is `setting: Differs(paper, ours, why)`. Rows
of methods that are not registered wait until they are.
"""

from dataclasses import asdict, replace
from typing import Any, NamedTuple

import pytest

from lqm.graphs.continual import CONTINUAL_METHODS
from lqm.graphs.evaluation import PROTOCOLS as GRAPH_PROTOCOLS
from lqm.graphs.methods import METHODS as GRAPH_METHODS
from lqm.graphs.networks import make_network
from lqm.images.evaluation import PROTOCOLS
from lqm.images.methods import METHODS
from lqm.recipes import load_recipes
from lqm.utils.settings import make_settings


class Differs(NamedTuple):
    """What a paper has, what we have, and why."""

    paper: Any
    ours: Any
    why: str


# A ConvNet of depth 3 and width 128 with instance norm, which is what the name alone stands for.
CONVNET = "convnet"

GRADIENTS = {
    "steps": 1_000,
    "learning_rate": 0.1,
    "momentum": 0.5,
    "real_batch": 256,
    "network": CONVNET,
    "network_rate": 0.01,
    "train_batch": 256,
    "gradient_distance": "row-cosine",
}
TRAJECTORIES = {
    "learning_rate": 100.0,
    "momentum": 0.5,
    "real_batch": 256,
    "init": "random",
    "network": CONVNET,
    "expert_epochs": 2,
    "min_start": 0,
    "max_start": 20,
    "rate_learning_rate": 1e-5,
    "experts": 100,
    "expert_rate": 0.01,
    "zca": True,
}
CAFE = {
    "steps": 2_000,
    "learning_rate": 0.1,
    "momentum": 0.5,
    "real_batch": 256,
    "init": "noise",
    "network": CONVNET,
    "layer_weight": 0.1,
    "class_weight": 0.01,
    "query_batch": 128,
    "accuracy_window": 10,
    "outer_range": 0.04,
    "inner_range": 0.03,
    "network_rate": 0.01,
    "train_batch": 256,
    "augmented": False,
}
IMAGES = {
    # Zhao & Bilen, WACV 2023, and its published code.
    "dm": {
        "steps": 20_000,
        "learning_rate": 1.0,
        "momentum": 0.5,
        "real_batch": 256,
        "init": "random",
        "network": CONVNET,
        "update": "summed",
    },
    # Sajedi et al., ICCV 2023; the code has 20,000 steps, power 1 and batch norm, against its paper's table.
    "datadam": {
        "steps": 8_000,
        "learning_rate": 1.0,
        "momentum": 0.5,
        "real_batch": 64,
        "init": "random",
        "network": CONVNET,
        "power": 4.0,
        "attention": "mean",
        "attention_weight": 100.0,
        "embedding_weight": 0.01,
    },
    # Zhao, Li, Qin & Yu, CVPR 2023: the published command for CIFAR-10 at 10 images per class.
    "idm": {
        "steps": 20_000,
        "learning_rate": 0.2,
        "momentum": 0.5,
        "real_batch": 256,
        "init": "random",
        "network": CONVNET,
        "mosaic": 2,
        "class_weight": 0.5,
        "queue_start": 3,
        "queue_interval": 30,
        "queue_limit": 100,
        "students": 2,
        "student_steps": 10,
        "student_batch": 256,
    },
    # Zhao, Mopuri & Bilen, ICLR 2021.
    "dc": {
        "steps": 1_000,
        "learning_rate": 0.1,
        "momentum": 0.5,
        "real_batch": 256,
        "init": "noise",
        "network": CONVNET,
    },
    # Zhao & Bilen, ICML 2021: DC with siamese augmentation, which begins with real images.
    "dsa": {
        "steps": 1_000,
        "learning_rate": 0.1,
        "momentum": 0.5,
        "real_batch": 256,
        "init": "random",
        "network": CONVNET,
    },
    # Wang et al., CVPR 2022, and its published code.
    "cafe": CAFE,
    "cafe-dsa": CAFE | {"augmented": True},
    # Lee et al., ICML 2022: DC and DSA with the sum of the gradients of all classes after a warm-up.
    "dcc": GRADIENTS | {"init": "random", "granularity": "sum", "warm_up": 250},
    "dsac": GRADIENTS | {"init": "random", "granularity": "sum", "warm_up": 250, "augmented": True},
    # Kim et al., ICML 2022; its rate is 0.0005 times the images per class, here 10.
    "idc": {
        "steps": 2_000,
        "outer": 100,
        "learning_rate": 0.005,
        "momentum": 0.5,
        "real_batch": 64,
        "synthetic_batch": 128,
        "network": CONVNET,
        "mosaic": 2,
        "gradient_distance": "conv-squared",
        "train_images": 2_000,
        "train_batch": 64,
        "cutmix": 0.5,
    },
    # Cazenavette et al., CVPR 2022; CIFAR-10 at 10 images a class.
    "mtt": TRAJECTORIES | {"steps": 5_000, "student_steps": 30, "rate": 0.001},
    # Du et al., CVPR 2023.
    "ftd": TRAJECTORIES
    | {"steps": 5_000, "student_steps": 30, "rate": 0.001, "ema": 0.9995}
    | {"expert_optimizer": "gsam", "expert_alpha": 0.3},
    # Cui et al., ICML 2023; what its code does not say is that of MTT.
    "tesla": TRAJECTORIES | {"steps": 10_000, "student_steps": 30, "rate": 0.001, "gradient": "two-pass"},
    # Guo et al., ICLR 2024.
    "datm": TRAJECTORIES
    | {"steps": 10_000, "student_steps": 80, "student_batch": 100, "rate": 0.01, "classified": True}
    | {"first_max_start": 10, "growth": 1_000, "labels": "learned", "label_learning_rate": 2.0}
    | {"threshold": 1.0, "expert_optimizer": "gsam", "expert_alpha": 0.3},
    # Zhang et al., IJCAI 2024; its rate is 0.01 times the images per class, here 10.
    "dance": {
        "steps": 10_000,
        "learning_rate": 0.1,
        "momentum": 0.5,
        "real_batch": 128,
        "network": CONVNET,
        "mosaic": 2,
    },
    # Zhang et al., AAAI 2024; its rate belongs to a loss of another scale.
    "m3d": {
        "steps": 10_000,
        "momentum": 0.5,
        "real_batch": 128,
        "network": CONVNET,
        "mosaic": 2,
        "kept": 5,
        "synthetic_batch": 200,
    },
    # Wang et al., CVPR 2025.
    "ncfm": {
        "steps": 20_000,
        "learning_rate": 0.001,
        "weight_decay": 5e-4,
        "optimizer": "adamw",
        "real_batch": 1024,
        "network": CONVNET,
        "mosaic": 2,
        "pairs": 20,
        "class_weight": 1.0,
        "sampler": "normal",
        "sampler_rate": 1e-3,
    },
}

UNAPPLIED = Differs(
    2, 1, "the code is given a second layer and never applies it; ours counts what is applied"
)
GRAPHS = {
    # Liu et al., ICDM 2023; 5,000 steps for CoraFull, 3,000 for all other graphs. 0 real nodes means all.
    "cat": {
        "steps": 3_000,
        "learning_rate": 1e-3,
        "hops": 1,
        "width": 512,
        "depth": UNAPPLIED,
        "activation": "relu",
        "updates": 1,
        "real_batch": 0,
        "init": "random",
    },
    # Liu et al. 2024.
    "puma": {
        "steps": 100,
        "learning_rate": 1e-3,
        "hops": 1,
        "width": 4_096,
        "depth": UNAPPLIED,
        "activation": "relu",
        "updates": 10,
        "real_batch": 0,
        "init": "random",
    },
}

CHOSEN = "chosen on validation nodes; the recipe cat-paper has the paper's"

# The classifiers that CaT's and PUMA's code train on a stream of tasks.
STREAMS = {
    "finetuning": {
        "classifier": "gcn:width=256:depth=2",
        "epochs": 500,
        "classifier_rate": 0.01,
        "classifier_decay": 5e-4,
    },
    "joint": {
        "classifier": "gcn:width=256:depth=2",
        "epochs": 500,
        "classifier_rate": 0.005,
        "classifier_decay": 5e-4,
    },
    "cat": {
        "classifier": Differs("gcn:width=256:depth=2", "appnp:width=64:depth=2:hops=20:bias=false", CHOSEN),
        "epochs": 500,
        "classifier_rate": Differs(0.005, 1e-3, CHOSEN),
        "classifier_decay": 5e-4,
        "retrain": Differs(False, True, CHOSEN),
        "edge_free": False,
        "train_in_memory": True,
    },
    "puma": {
        "classifier": "gcn:width=512:depth=3:bias=false",
        "epochs": 500,
        "classifier_rate": 1e-3,
        "classifier_decay": 5e-4,
        "retrain": True,
        "edge_free": True,
        "train_in_memory": True,
        "pseudo_labels": Differs("test", "none", "test nodes are transductive, so only if a user asks"),
        "pseudo_threshold": 0.0,
    },
}

# IDM's published commands: class weight, real batch, interval of new networks, steps of training.
IDM_COMMANDS = {
    ("cifar10", 1): (0.5, 5000, 5, 10),
    ("cifar10", 10): (0.5, 256, 30, 10),
    ("cifar10", 50): (0.1, 256, 30, 10),
    ("cifar100", 1): (0.5, 5000, 5, 10),
    ("cifar100", 10): (0.1, 256, 30, 50),
    ("cifar100", 50): (0.1, 256, 30, 10),
    ("tinyimagenet", 1): (0.5, 256, 30, 10),
    ("tinyimagenet", 10): (0.5, 256, 30, 10),
    ("tinyimagenet", 50): (0.8, 256, 30, 50),
}


def rows(table, registered):
    """Method, setting and value of all rows whose method is there."""
    return [
        (name, *row) for name, settings in table.items() if name in registered for row in settings.items()
    ]


def default_of(settings, name):
    """The value of a setting; `init` used to be called `start`."""
    values = asdict(settings)
    return values["start"] if name == "init" and name not in values else values[name]


def check(found, expected):
    if isinstance(expected, Differs):
        assert expected.paper != expected.ours, "a row like all others would do"
        expected = expected.ours
    assert found == expected


@pytest.mark.parametrize(("method", "name", "expected"), rows(IMAGES, METHODS))
def test_defaults_for_images_are_the_papers(method, name, expected):
    check(default_of(METHODS[method].settings(), name), expected)


@pytest.mark.parametrize(("method", "name", "expected"), rows(GRAPHS, GRAPH_METHODS))
def test_the_papers_recipes_for_graphs_are_the_papers(method, name, expected):
    recipe = load_recipes("graphs").get(f"{method}-paper")
    check(
        default_of(make_settings(GRAPH_METHODS[method].settings, recipe.settings if recipe else {}), name),
        expected,
    )


@pytest.mark.parametrize(("method", "name", "expected"), rows(STREAMS, CONTINUAL_METHODS))
def test_defaults_for_streams_are_the_papers(method, name, expected):
    check(default_of(CONTINUAL_METHODS[method].learning(), name), expected)


@pytest.mark.parametrize(("source", "per_class"), IDM_COMMANDS)
def test_recipes_of_idm_are_its_published_commands(source, per_class):
    recipe = load_recipes(source)[f"idm-{per_class}"]
    found = make_settings(METHODS["idm"].settings, recipe.settings)
    varied = (found.class_weight, found.real_batch, found.queue_interval, found.student_steps)
    assert varied == IDM_COMMANDS[source, per_class]
    common = IMAGES["idm"].keys() - {"class_weight", "real_batch", "queue_interval", "student_steps"}
    assert {name: default_of(found, name) for name in common} == {
        name: IMAGES["idm"][name] for name in common
    }


def test_the_fields_evaluation_is_that_of_dm_and_idm():
    protocol = PROTOCOLS["field-1000"]
    assert (protocol.epochs, protocol.networks, protocol.network) == (1000, 5, CONVNET)
    assert (protocol.learning_rate, protocol.momentum) == (0.01, 0.9)
    assert (protocol.weight_decay, protocol.batch) == (5e-4, 256)


def test_lqm_was_evaluated_after_2000_epochs_and_datadam_after_1800_in_batches_of_64():
    field, lqm, datadam = (PROTOCOLS[name] for name in ("field-1000", "field-2000", "datadam-1800"))
    assert lqm == replace(field, name="field-2000", epochs=2000)
    assert datadam == replace(field, name="datadam-1800", epochs=1800, networks=10, batch=64)


def test_the_evaluation_of_graphs_is_that_of_cat():
    protocol = GRAPH_PROTOCOLS["cat-500"]
    assert (protocol.epochs, protocol.networks) == (500, 5)
    weights = [tuple(w.shape) for w in make_network(protocol.network, 7, 3).parameters() if w.ndim == 2]
    assert weights == [(7, 256), (256, 3)]
    assert (protocol.learning_rate, protocol.weight_decay) == (0.005, 5e-4)
