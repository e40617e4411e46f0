"""Proxy: a condensed set in place of all data while a network is tuned."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lqm.api.checking import check_options
from lqm.api.configurations import Configuration, in_words, read_configuration
from lqm.api.evaluation_result import evaluator_of
from lqm.api.proxy_result import ProxyResult, Trial
from lqm.api.types import SourceLike
from lqm.condensed import CondensedImages, CondensedSet, load_described
from lqm.engine import resolve_device
from lqm.engine.progress import Progress
from lqm.evaluation.evaluator import refuse_memory
from lqm.evaluation.origins import real_data_of
from lqm.images.evaluation import IMAGES
from lqm.images.protocols import EvaluationProtocol
from lqm.images.tuning import Found
from lqm.utils.errors import ConfigError
from lqm.utils.log import warn
from lqm.utils.memory import memory_for
from lqm.utils.settings import Count, check

__all__ = ["Configuration", "ProxyResult", "Trial", "proxy"]


@memory_for("tuning", "give networks of fewer weights, or smaller batches")
def proxy(
    condensed: str | Path | CondensedSet,
    configurations: Sequence[Configuration],
    *,
    source: SourceLike | None = None,
    data_dir: str | Path | None = None,
    repeats: int = 3,
    seed: int = 0,
    device: str = "auto",
    max_memory: str | int | None = None,
    show_progress: bool = True,
) -> ProxyResult:
    """Train configurations on a condensed set of images, and rank them by accuracy on validation images.

    Validation images are a fifth of the real training images; no test image is used. Condense with
    `validation=True`, so that the set was made without them; a set that was made of all training images is
    used too, with a warning. `ProxyResult.retrain` trains the best configuration on all training images and
    tests it once.

    Every network's accuracy is cached, so that a call that was stopped goes on, and a configuration that was
    asked before costs nothing; but not that of a network of your own.

    Args:
        condensed: a set of images, or the folder of one.
        configurations: what to train, each a dictionary with some of `network` (a spec such as
            `convnet:width=64`, or a function of shape and classes that makes a module), `epochs`,
            `learning_rate`, `momentum`, `weight_decay`, `batch`, `schedule`, `augmentation` and `cutmix`;
            what is not given is as in the protocol that the set asks for.
        source: where the real data come from, as for `evaluate`; a source that is loaded already spares the
            reading when there are many calls.
        data_dir: where named sources are, if they have moved.
        repeats: networks of each configuration, whose mean is ranked.
        seed: of the networks and of their training.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        max_memory: the most that the content of a file may take, such as `4GB`.
        show_progress: whether to show the networks and the time left.

    Raises:
        LqmError: when a configuration or the set can't be used, before any network is trained.
    """
    check_options(source=source, data_dir=data_dir, seed=seed, device=device, show_progress=show_progress)
    check("repeats", repeats, Count)
    where = resolve_device(device)
    condensed = condensed if isinstance(condensed, CondensedSet) else load_described(condensed)
    refuse_memory(condensed.manifest)
    base = evaluator_of(condensed).protocol_of(condensed)
    if not isinstance(condensed, CondensedImages):
        raise ConfigError(
            f"proxy trains networks on images, and this set is of {base.records}; use evaluate with "
            "networks=... to compare networks on it"
        )
    if isinstance(configurations, Mapping | str) or not len(configurations):
        raise ConfigError("there is no configuration to try; give a list of dictionaries, one or more")
    assert isinstance(base, EvaluationProtocol)
    asked = [read_configuration(each, base, f"configuration {n}") for n, each in enumerate(configurations)]
    whole = real_data_of(IMAGES, condensed, source, data_dir, max_memory, whole=True)
    data, unseen = whole.for_validation(), bool(condensed.manifest["source"].get("validation"))
    for candidate in asked:
        candidate.fresh(data, seed, 0)
    if not unseen:
        warn(
            "this set was condensed from all training images, and so also from those for validation; "
            "condense with validation=True to leave them out"
        )
    images = IMAGES.as_records(condensed)
    trials: list[Trial] = []
    with Progress("proxy", repeats * len(asked), shown=show_progress, each="network") as bar:
        for configuration, candidate in zip(configurations, asked, strict=True):
            found: list[Found] = []
            for index in range(repeats):
                last = candidate.accuracy(images, data, seed=seed, index=index, device=where)
                found.append(last)
                done = repeats * len(trials) + len(found)
                bar.update(done, {"accuracy": last.accuracy}, cached=last.cached)
            accuracies = tuple(each.accuracy for each in found)
            seconds = sum(each.seconds for each in found)
            trials.append(Trial(configuration, in_words(configuration), candidate, accuracies, seconds))
    return ProxyResult(tuple(trials), len(images.labels), whole, unseen, seed, where)
