"""Sets as a stranger may seal them: whatever the manifest says, it fits its own seal."""

import hashlib
import json

import torch
from safetensors.torch import save

PROTOCOL = {
    "name": "tiny",
    "epochs": 2,
    "networks": 2,
    "network": "convnet:width=4:depth=1",
    "full_networks": 1,
    "learning_rate": 0.1,
    "weight_decay": 0.0,
}
MATCH = {"cramer_von_mises": 0.3, "extremes": 0.1}
SCORE = {"accuracies": [0.5, 0.6], "before": MATCH, "after": MATCH, "records": 4}
MANIFEST = {
    "source": {"name": "mine", "fingerprint": "0" * 64, "augmentation": ["crop"]},
    "method": "dm",
    "distance": {"name": "lqm"},
    "per_class": 2,
    "seed": 0,
    "settings": {"learning_rate": 1.0},
    "recipe": "",
    "steps": 5,
    "origin": {"source": "digits"},
    "evaluation": PROTOCOL,
    "environment": {"lqm": "0.1.0"},
    "seconds": 1.5,
    "preprocessing": {"mean": [0.5], "std": [0.25]},
    "class_names": ["a", "b"],
    "scores": [{"protocol": PROTOCOL, "seed": 0, "accuracy": 0.55, **SCORE, "baselines": {"random": SCORE}}],
}


def images():
    """Four images of two classes, as tensors."""
    draws = torch.Generator().manual_seed(0)
    return {"images": torch.rand(4, 1, 8, 8, generator=draws), "labels": torch.tensor([0, 0, 1, 1])}


def nodes():
    """Four nodes of two classes, as tensors."""
    draws = torch.Generator().manual_seed(0)
    return {
        "features": torch.rand(4, 5, generator=draws),
        "labels": torch.tensor([0, 0, 1, 1]),
        "edges": torch.tensor([[0, 1], [1, 0]]),
    }


def forge(folder, manifest=MANIFEST, tensors=None, *, data=None, file=None, text=None):
    """Write a set that no honest version would write, and whose seal is right.

    Args:
        folder: where.
        manifest: what it says, apart from format, seal and data file.
        tensors: what the data file holds; `data` is its content in their place.
        file: the name of the data file that the manifest has, if not its own.
        text: the text of the manifest with the seal `0 * 64`, if it is not to be made from `manifest`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = save(tensors or images()) if data is None else data
    digest = hashlib.sha256(content).hexdigest()
    own = f"data-{digest[:12]}.safetensors"
    (folder / own).write_bytes(content)
    head = {"format": 3, "seal": "0" * 64}
    described = {"data": {"file": own if file is None else file, "sha256": digest, "bytes": len(content)}}
    written = text if text is not None else json.dumps(head | described | manifest)
    return seal(folder, written)


def seal(folder, written):
    """Write a text with the seal `0 * 64` as a manifest that fits its seal."""
    digest = hashlib.sha256(written.encode()).hexdigest()
    (folder / "manifest.json").write_bytes(
        written.replace('"seal": "' + "0" * 64, f'"seal": "{digest}').encode()
    )
    return folder


def changed(path, value, manifest=MANIFEST):
    """A manifest with another value at a dotted path; `...` leaves it out."""
    copy = json.loads(json.dumps(manifest))
    *outer, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner = copy
    for part in outer:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return copy
