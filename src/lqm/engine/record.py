"""`run.json`, in which a run says with what it began: read, with every field of its type."""

from pathlib import Path
from typing import Any

from lqm.condensed.schema import RUN_FIELDS
from lqm.utils.own_files import read_json, require_fields

RECORD = "run.json"


def read_record(folder: Path, remedy: str) -> dict[str, Any]:
    """What is recorded of the run in a folder.

    Args:
        folder: of the run.
        remedy: what to do if it can't be used, for the sentence.

    Raises:
        FileNotFoundError: when there is none.
        LqmError: when it can't be read, is damaged, or is something else.
    """
    path = folder / RECORD
    record: dict[str, Any] = read_json(path, remedy)
    require_fields(RUN_FIELDS, record, path, remedy)
    return record
