"""The real data that a set was condensed from, found again."""

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedSet
from lqm.evaluation.evaluator import Evaluator
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from lqm.utils.limits import limited_to
from lqm.utils.memory import memory_for_reading
from lqm.utils.paths import near_path
from lqm.utils.places import note_places, noted_places


def source_of(
    evaluator: Evaluator,
    manifest: Mapping[str, Any],
    source: Any,
    data_dir: str | Path | None,
    *,
    whole: bool = False,
) -> Any:
    """The source that a set was condensed from; DataError if it is not found, or is another one.

    `source` and `data_dir` are where it is now, if it is no longer where this machine has found it last, or
    where the manifest's origin has it. Of a set whose settings were to be chosen, it is the source for that:
    the records of the same validation split, and no test record; or the `whole` of it.
    """
    origin, condensed = manifest.get("origin"), manifest["source"]
    if source is None and origin is None:
        raise DataError(
            f"this set was condensed from '{condensed['name']}', which was made in Python; "
            "call lqm from there, with the data as source=..."
        )
    if source is None or isinstance(source, str | Path):
        data = _found_again(evaluator, origin or {}, source, data_dir, condensed.get("fingerprint", ""))
    else:
        data = evaluator.find_source(source)
    found = data
    if condensed.get("validation"):
        data = data.for_validation()
    if any(condensed.get(part) != value for part, value in data.identity.items()):
        raise DataError(
            f"'{data.name}' is not what this set was condensed from (its {evaluator.told_by} differ); "
            f"name the same version of '{condensed['name']}' as the source"
        )
    note_places(data.origin, condensed.get("fingerprint", ""))
    return found if whole else data


def real_data_of(
    evaluator: Evaluator,
    condensed: CondensedSet,
    source: Any = None,
    data_dir: str | Path | None = None,
    max_memory: str | int | None = None,
    *,
    whole: bool = False,
) -> Any:
    """The source of a set, read within a limit of memory, of the shape of its records, and fed like them.

    Of a set whose settings were to be chosen it is the source for that, or the `whole` one.
    """
    with limited_to(max_memory), memory_for_reading(source or condensed.manifest["source"]["name"]):
        data = source_of(evaluator, condensed.manifest, source, data_dir, whole=whole)
    require_fits(condensed, data)
    return condensed.prepared(data)


def require_fits(condensed: CondensedSet, source: Any) -> None:
    """Refuse a set whose records are not of the shape of the source's, or are of other classes.

    Raises:
        ArtifactError: when the manifest says that it was condensed from data that it can't be of.
    """
    expected = source.shape if hasattr(source, "shape") else (source.graph.width,)
    own = [*condensed.data.shape[1:]], len(condensed.class_names)
    real = [*expected], len(source.class_names)
    if own != real:
        raise ArtifactError(
            f"{condensed.path or 'this set'} has records of shape {own[0]} in {own[1]} classes, and "
            f"'{source.name}' of {real[0]} in {real[1]}; restore the set from a copy, or condense again"
        )


def _found_again(
    evaluator: Evaluator,
    origin: Mapping[str, Any],
    source: str | Path | None,
    data_dir: str | Path | None,
    fingerprint: str,
) -> Any:
    moved = {"source": source, "data_dir": data_dir}
    given = {name: str(place) for name, place in moved.items() if place is not None}
    # A source that is named anew is not looked for in the old folder.
    kept = {name: word for name, word in origin.items() if name != "data_dir" or source is None}
    noted = {} if given else noted_places(fingerprint)
    words = {**kept, **{name: near_path(place) for name, place in noted.items()}, **given}
    known = signature(evaluator.find_source).parameters
    try:
        return evaluator.find_source(**{name: word for name, word in words.items() if name in known})
    except (ConfigError, DataError) as error:
        if given:
            raise DataError(f"what the set was condensed from is not found there: {error}") from error
        raise DataError(
            f"the {evaluator.what} that this set was condensed from can't be read from {words['source']} "
            "any more; name the new place with --source, or that of a named source with --data-dir"
        ) from error
