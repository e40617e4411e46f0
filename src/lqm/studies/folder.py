"""What a study has left behind: its folder, or the file of its lines."""

from collections.abc import Sequence
from pathlib import Path

from lqm.studies.lines import CELLS, CellLine, read_cells
from lqm.utils.errors import ArtifactError


def is_study(path: Path) -> bool:
    """Whether it is the folder of a study, or a file of lines."""
    return path.is_file() if path.suffix == ".jsonl" else (path / CELLS).is_file()


def read_results(path: Path) -> list[CellLine]:
    """The lines of a study, of which there is at least one.

    Args:
        path: of its folder, or of their file.

    Raises:
        ArtifactError: when there is none, or a line is not one of a study.
    """
    file = path if path.suffix == ".jsonl" else path / CELLS
    lines = read_cells(file)
    if not lines:
        raise ArtifactError(f"{file} has no cell of a study; `lqm study` writes a line for each that ends")
    require_one_scale(file, lines)
    return lines


def require_one_scale(file: Path, lines: Sequence[CellLine], scale: str | None = None) -> None:
    """Refuse lines of several scales, or of another one than that which is asked for.

    Raises:
        ArtifactError: naming the scales.
    """
    scales = dict.fromkeys([*(line.study.scale for line in lines), *([] if scale is None else [scale])])
    if len(scales) > 1:
        several = " and ".join(f"'{each}'" for each in scales)
        raise ArtifactError(f"{file} would mix the scales {several}; give each a folder of its own")
