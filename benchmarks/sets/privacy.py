"""What sets give away, as Markdown tables: python -m benchmarks.sets.privacy --out runs/privacy.

Each row is a condensation and its audit. What is finished in the folder, every network that was trained and
every shadow set is not done again. Cora is the file `--cora`, and MNIST
in the folder `--mnist`, if these are given.
"""

from itertools import product
from pathlib import Path
from typing import Any

import tyro

import lqm
from lqm.evaluation.audit.nearest import Gap
from lqm.evaluation.audit.result import CONTROL, DISTANCE, LOSS, OWN, RATIO, Audit
from lqm.evaluation.audit.stored import audit_in

_HEADER = (
    "set | steps | near copies (exact) | traceable | nearer to training % (chance) | distance attack, area | "
    "it finds at 1 % | at 0.1 % | loss attack, area | its control | likelihood ratio, area"
)


def main(
    out: Path,
    mnist: str | None = None,
    cora: str | None = None,
    digits: bool = True,
    shadows: int = 8,
    shadow_steps: int = 30,
    protocol: str | None = None,
    only: tuple[str, ...] = (),
    seed: int = 0,
) -> None:
    plans: list[tuple[str, str, dict[str, Any]]] = []
    if digits:
        plans += [("digits", name, how) for name, how in _images((30, 300), "digits")]
    if cora:
        plans += [(cora, name, how) for name, how in _nodes((5, 300))]
    if mnist:
        plans += [("mnist", name, how | {"data_dir": mnist}) for name, how in _images((30, 100), "mnist")]
    print(f"| {_HEADER} |")
    print("|" + "---|" * (_HEADER.count("|") + 1))
    if only:
        plans = sorted((plan for plan in plans if plan[1] in only), key=lambda plan: only.index(plan[1]))
    for source, name, how in plans:
        folder = out / Path(source).stem / name
        condensed = lqm.condense(source, out=folder, seed=seed, show_progress=False, **how)
        found = audit_in(condensed.manifest)
        if found is None or not any(DISTANCE in name for name in found.own.attacks):
            steps = min(shadow_steps, condensed.manifest["steps"])
            found = lqm.audit(
                folder, shadows=shadows, steps=steps, references=(), protocol=protocol, show_progress=False
            )
        print(f"| {Path(source).stem}, {_row(name, condensed.manifest['steps'], found)} |", flush=True)


def _images(steps: tuple[int, ...], source: str) -> list[tuple[str, dict[str, Any]]]:
    plans: list[tuple[str, dict[str, Any]]] = [("random", {"method": "random"})]
    for distance, init, count in product(("mean", "lqm"), ("random", "noise"), steps):
        name = f"dm-{distance}-{'real' if init == 'random' else init}-{count}"
        plans.append((name, {"distance": distance, "settings": {"init": init, "steps": count}}))
    if source == "digits":
        small = {"steps": 30, "network": "convnet:width=8"}
        plans.append(("dm-lqm-real-width8-30", {"distance": "lqm", "settings": small}))
        plans.append(("idm-lqm-real-20", {"method": "idm", "settings": {"steps": 20}}))
        cells = {"steps": 20, "mosaic": 2}
        plans.append(("idm-lqm-mosaics-20", {"method": "idm", "settings": cells}))
    return plans


def _nodes(steps: tuple[int, ...]) -> list[tuple[str, dict[str, Any]]]:
    plans: list[tuple[str, dict[str, Any]]] = [("random", {"method": "random", "budget": "2%"})]
    for distance, init, count in product(("mean", "lqm"), ("random", "noise"), steps):
        name = f"cat-{distance}-{'real' if init == 'random' else init}-{count}"
        settings = {"init": init, "steps": count}
        plans.append((name, {"distance": distance, "budget": "2%", "settings": settings}))
    return plans


def _row(name: str, steps: int, found: Audit) -> str:
    own = found.sets[OWN]
    copies = own.copies
    assert copies is not None
    gaps = [gap for view, gap in own.gaps.items() if not view.endswith("network")]
    near = max(
        (found for name, found in own.attacks.items() if DISTANCE in name), key=lambda each: each.area.value
    )
    by_network = [own.attacks.get(attack) for attack in (LOSS, CONTROL, RATIO)]
    cells = [
        name.rpartition("-")[0] or name,
        f"{steps:,}",
        f"{copies.near} of {copies.records} ({copies.exact})",
        f"{copies.traceable} of {copies.records}",
        "; ".join(map(_nearer, gaps)),
        near.area.shown("{:.3f}".format),
        *(rate.shown(lambda share: f"{100 * share:.1f}") if rate else "too few" for rate in near.rates),
        *(each.area.shown("{:.3f}".format) if each else "-" for each in by_network),
    ]
    return " | ".join(cells)


def _nearer(gap: Gap) -> str:
    low, high = (100 * bound for bound in gap.chance)
    return f"{gap.nearer.shown(lambda share: f'{100 * share:.0f}')} ({low:.0f} to {high:.0f})"


if __name__ == "__main__":
    tyro.cli(main)
