"""`lqm experts`: networks trained on the real images, for methods that need them."""

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from lqm.api.requests import ExpertsRequest
from lqm.cli.arguments import Assignments, run_folder, settings_of
from lqm.cli.output import WorkOutput
from lqm.utils.log import say

if TYPE_CHECKING:
    from lqm.banks import Experts


@dataclass(frozen=True, kw_only=True)
class TrainExperts(WorkOutput, ExpertsRequest):
    """Train networks on the real images, with a snapshot after each epoch.

    Example: lqm experts digits --networks 5 --epochs 20 --out runs/experts

    Attributes:
        set_: A setting of the training, such as batch=64; repeat it for more. docs/methods.md lists them.
    """

    set_: Assignments = ()

    def __call__(self) -> None:
        """Train them, and print what to do with them."""
        from lqm.api.experts import train_experts

        folder = Path(self.out) if self.out else run_folder(str(self.source), "experts")
        shared = {field.name: getattr(self, field.name) for field in fields(ExpertsRequest)}
        shared |= {"out": folder, "settings": settings_of(self.set_), "show_progress": not self.quiet}
        request = ExpertsRequest(**shared)
        if self.dry_run:
            from lqm.api.dry_run import dry_bank
            from lqm.cli.planned import print_plan

            print_plan(self, "experts", [(dry_bank(request), 1)])
            return
        made = train_experts(request)
        names = ("data_dir", "size", "test_fraction", "augmentation")
        given = [(f"--{name.replace('_', '-')}", getattr(self, name)) for name in names]
        words = [str(word) for pair in given if pair[1] is not None for word in pair]
        words += _use(made, str(folder))
        following = shlex.join(["lqm", "condense", str(self.source), *words])
        count = f"{made.networks} networks with {made.epochs + 1} snapshots each"
        if self.json:
            from lqm.cli.documents import ExpertsDocument

            self.document(
                ExpertsDocument(
                    folder=str(folder),
                    source=made.config["source"]["name"],
                    networks=made.networks,
                    epochs=made.epochs,
                    bytes=sum(path.stat().st_size for path in folder.iterdir()),
                    next=following,
                )
            )
            return
        say(f"{count} in {folder}" + ("" if self.quiet else f"; next: {following}"))


def _use(made: "Experts", folder: str) -> list[str]:
    """The words of a condensation by experts: MTT's have no momentum, and may be whitened."""
    own = made.config["settings"]
    whitened = own.get("zca", False)
    words = ["--network", own["network"], "--experts", folder]
    if own.get("momentum") != 0 and not whitened:
        return ["--method", "dance", *words, "--set", f"pairs={made.networks}"]
    epochs = min(2, made.epochs)
    settings = [
        f"experts={made.networks}",
        f"expert_epochs={epochs}",
        f"max_start={made.epochs - epochs + 1}",
    ]
    settings.append(f"zca={str(whitened).lower()}")
    return ["--method", "mtt", *words, *(word for each in settings for word in ("--set", each))]
