"""Which Parquet files of a folder are for training, and which for testing."""

from pathlib import Path

from lqm.images.sources.inside import Inside
from lqm.utils.errors import DataError


def parquet_parts(inside: Inside) -> tuple[list[Path], list[Path]] | None:
    """The files for training and for testing, in a folder or else in a sub-folder; None if there are none."""
    for place in (inside.root, *inside.folders(inside.root)):
        files = [path for path in inside.files(place) if path.name.endswith(".parquet")]
        train, test, val = (
            [path for path in files if path.name.startswith(start)] for start in ("train", "test", "val")
        )
        if train:
            return train, test or val
        if files:
            raise DataError(
                f"{place} has .parquet files but none called train*.parquet; rename them, or give one"
            )
    return None


def holds_parquet(source: str | Path) -> bool:
    """Whether a path is a Parquet file, or leads to a folder with files for training."""
    path = Path(source).expanduser()
    if not path.is_dir():
        return path.suffix == ".parquet" and path.is_file()
    with Inside(path) as inside:
        return parquet_parts(inside) is not None
