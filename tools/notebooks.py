"""Run the notebooks of `examples/` and store what they show: `python -m tools.notebooks [NAME ...]`.

Each runs in an empty folder, with a cache of its own and without data sets, as it would for a stranger. What
depends on the machine or the moment, such as times of cells, is not stored.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

EXAMPLES = Path(__file__).parent.parent / "examples"
SECONDS = 120


def executed(path: Path, folder: Path) -> NotebookNode:
    """A notebook after all its cells have run in a folder; an error of a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    hidden = {"LQM_CACHE": str(folder / "cache"), "LQM_DATA": str(folder / "data")}
    before = {name: os.environ.get(name) for name in hidden}
    os.environ |= hidden
    try:
        client = NotebookClient(notebook, timeout=SECONDS, record_timing=False, kernel_name="python3")
        client.execute(cwd=str(folder))
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
    return cleaned(notebook)


def cleaned(notebook: NotebookNode) -> NotebookNode:
    """The same without what a machine leaves in it, and with every cell called by its place."""
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        for output in cell.get("outputs", []):
            output.pop("transient", None)
    return notebook


def main(names: list[str]) -> None:
    """Run the notebooks of these names, or all, and write them."""
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        with TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
