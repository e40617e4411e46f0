"""`lqm sketch`: look at the real data once, for many condensations."""

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from lqm.api.requests import SketchRequest, SourceRequest
from lqm.cli.arguments import Assignments, run_folder, settings_of
from lqm.cli.output import WorkOutput
from lqm.utils.log import say

if TYPE_CHECKING:
    from lqm.banks import Sketch


@dataclass(frozen=True, kw_only=True)
class MakeSketch(WorkOutput, SketchRequest):
    """Look at the real data once, for many condensations.

    Example: lqm sketch digits --encoders 200 --out runs/sketch

    Attributes:
        set_: A setting of the method, such as network=convnet:width=64; repeat it for more.
    """

    set_: Assignments = ()

    def __call__(self) -> None:
        """Make the sketch, and print what to do with it."""
        from rich.filesize import decimal

        from lqm.api.sketch import make_sketch

        folder = Path(self.out) if self.out else run_folder(str(self.source), "sketch", self.method)
        shared = {field.name: getattr(self, field.name) for field in fields(SketchRequest)}
        shared |= {"out": folder, "settings": settings_of(self.set_), "show_progress": not self.quiet}
        request = SketchRequest(**shared)
        if self.dry_run:
            from lqm.api.dry_run import dry_bank
            from lqm.cli.planned import print_plan

            print_plan(self, "sketch", [(dry_bank(request), 1)])
            return
        made = make_sketch(request)
        size = sum(path.stat().st_size for path in folder.iterdir())
        following = shlex.join(["lqm", *self._following(made), "--sketch", str(folder)])
        if self.json:
            from lqm.cli.documents import SketchDocument

            self.document(
                SketchDocument(
                    folder=str(folder),
                    source=made.config["source"]["name"],
                    method=made.config["method"],
                    encoders=made.encoders,
                    max_per_class=made.config["max_per_class"],
                    bytes=size,
                    next=following,
                )
            )
            return
        hint = "" if self.quiet else f"; next: {following}"
        say(f"{made.encoders} encoders in {folder} ({decimal(size)}){hint}")

    def _following(self, made: "Sketch") -> list[str]:
        """The words of a command that uses the sketch, with a budget that it is fine enough for."""
        names = [field.name for field in fields(SourceRequest) if field.name not in ("source", "device")]
        given = [(name, getattr(self, name)) for name in names if name != "show_progress"]
        options = [word for name, value in given if value for word in _words(name, value)]
        most = made.config["max_per_class"]
        if self.classes_per_task is not None:
            return ["continual", str(self.source), *options, *self._stream(), "--budget", str(min(4, most))]
        if "nodes" in made.config["source"]:
            budget = ["--budget", str(max(most, made.config["source"]["classes"]))]
        else:
            if made.config["method"] == "idm":
                most //= 4  # An image may be a mosaic of so many records.
            counts = [str(count) for count in (1, 10, 50) if count <= max(1, most)]
            budget = ["--per-class", ",".join(counts)]
        return ["condense", str(self.source), *options, *budget]

    def _stream(self) -> list[str]:
        """The words that say which stream it is, and for which method it is condensed."""
        order = ("order", "order_seed", "remainder", "split_seed", "inter_task_edges")
        stream = ("method", "classes_per_task", *order)
        usual = {field.name: field.default for field in fields(SketchRequest)}
        given = [(name, getattr(self, name)) for name in stream if getattr(self, name) != usual[name]]
        return [word for name, value in given for word in _words(name, value)]


def _words(name: str, value: object) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    return [option] if value is True else [option, str(value)]
