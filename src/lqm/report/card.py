"""The dataset card of an export: a README in the form of the Hugging Face hub."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lqm.condensed import CondensedImages, CondensedNodes, CondensedSet
from lqm.condensed.described import IMPORTED
from lqm.condensed.privacy import copies_warning
from lqm.evaluation.audit.stored import audit_in
from lqm.evaluation.labels import mosaics_of
from lqm.evaluation.markdown import markdown
from lqm.evaluation.table import scores_in
from lqm.report.commands import command_of

UNKNOWN = "unknown"
_TAGS = ("dataset-distillation", "dataset-condensation", "synthetic", "lqm")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
# Otherwise classes that are called train or test would be taken for parts.
_ONE_SPLIT = (
    "configs:",
    "- config_name: default",
    "  data_files:",
    "  - split: train",
    '    path: "*/*.png"',
)
_LOADING = {
    "folder": """from datasets import load_dataset

# Labels are numbered by the names of the folders; classes.json has the numbers of the set.
data = load_dataset("imagefolder", data_files={{"train": {files}}}, split="train")
""",
    "parquet": """from datasets import load_dataset

data = load_dataset("parquet", data_files={name}, split="train")
""",
    "npz": """import numpy as np

data = np.load({name})
""",
    "torch": """from safetensors.torch import load_file

data = load_file({name})
""",
}

InWords = Callable[[Mapping[str, Any]], str]


def dataset_card(condensed: CondensedSet, form: str, name: str, licence: str, in_words: InWords) -> str:
    """The card of a set.

    Args:
        condensed: the set.
        form: of the export.
        name: of the folder or file.
        licence: under which it is given away.
        in_words: a protocol in words, from what a manifest has of it.
    """
    sections = {
        "Use": _use(condensed),
        "Expected accuracy": _accuracy(condensed, in_words),
        "How it was made": _made(condensed),
        "Load it": _loading(form, name),
        "Privacy": _privacy(condensed),
        "Licence": _licence(licence),
    }
    body = "\n\n".join(f"## {title}\n\n" + "\n".join(lines) for title, lines in sections.items() if lines)
    return (
        f"{_front_matter(condensed, form, licence)}\n# {_title(condensed)}\n\n{_what(condensed)}\n\n{body}\n"
    )


def _front_matter(condensed: CondensedSet, form: str, licence: str) -> str:
    """YAML, whose strings are written as JSON has them."""
    many = _count(condensed)
    size = next((words for limit, words in _SIZES if many < limit), "n>1M")
    kinds = {CondensedImages: "image-classification", CondensedNodes: "graph-ml"}
    task = next(
        (task for kind, task in kinds.items() if isinstance(condensed, kind)), "tabular-classification"
    )
    lines = [
        "---",
        f"license: {json.dumps(licence)}",
        f"pretty_name: {json.dumps(_title(condensed))}",
        *("task_categories:", f"- {task}"),
        *("size_categories:", f"- {size}"),
        *("tags:", *(f"- {tag}" for tag in _TAGS)),
        *(_ONE_SPLIT if form == "folder" else ()),
        "---",
    ]
    return "\n".join(lines) + "\n"


def _count(condensed: CondensedSet) -> int:
    return len(condensed.labels) * int(condensed.manifest.get("mosaic", 1)) ** 2


def _title(condensed: CondensedSet) -> str:
    source = condensed.manifest.get("source", {}).get("name")
    return f"{source}, condensed" if source else "A condensed set"


def _what(condensed: CondensedSet) -> str:
    kind = "images" if isinstance(condensed, CondensedImages) else "records"
    source = condensed.manifest.get("source", {}).get("name")
    stands = f", which stand in for the training set of {_text(source)}" if source else ""
    cells = f", cut from {mosaics:,} mosaics" if (mosaics := mosaics_of(condensed)) else ""
    return (
        f"{_count(condensed):,} {kind} of {len(condensed.class_names)} classes{cells}{stands}: a result of "
        "dataset condensation (dataset distillation). Train on all of them; test on real data."
    )


def _use(condensed: CondensedSet) -> list[str]:
    lines = []
    if isinstance(condensed, CondensedImages):
        lines += [*_normalisation(condensed.manifest.get("preprocessing", {}))]
        soft = condensed.soft_labels is not None
        lines.append(
            "- Labels: soft, a share of each class for each image."
            if soft
            else "- Labels: hard, a class number for each image."
        )
        if condensed.learning_rate is not None:
            lines.append(f"- Learning rate: train by SGD at {condensed.learning_rate!r}, which was learned.")
    names = ", ".join(map(_text, condensed.class_names[:100]))
    more = ", ..." if len(condensed.class_names) > 100 else ""
    return [*lines, f"- Classes, from 0 on: {names}{more}."]


def _normalisation(preprocessing: Mapping[str, Any]) -> Iterator[str]:
    if "kind" in preprocessing:
        yield (
            "- Normalisation: ZCA whitening by the real training images, of training and test images alike; "
            "the forms npz and torch carry it."
        )
    elif preprocessing:
        mean, std = (", ".join(f"{value:.4f}" for value in preprocessing[part]) for part in ("mean", "std"))
        yield (
            f"- Normalisation: subtract {mean} from each channel in [0, 1] and divide by {std}, of training "
            "and test images alike; in the form torch that is done."
        )


def _accuracy(condensed: CondensedSet, in_words: InWords) -> list[str]:
    rows = scores_in(condensed.manifest)
    if not rows:
        asked = condensed.manifest.get("evaluation")
        way = [f"The protocol to evaluate it by is {in_words(asked)}."] if asked else []
        return ["It was not evaluated; `lqm evaluate` does that.", *way]
    table = markdown(
        ("trained on", "records", "test accuracy %", "protocol", "network"),
        [
            (
                row.training_set,
                f"{row.records:,}",
                row.spread.percent(),
                str(row.protocol["name"]),
                row.network,
            )
            for row in rows
        ],
    )
    ways = dict.fromkeys(in_words(row.protocol) for row in rows)
    return [table, "", *(f"- {way}" for way in ways)]


def _made(condensed: CondensedSet) -> list[str]:
    manifest = condensed.manifest
    if "method" not in manifest:
        return ["Its manifest does not say it."]
    lines = [f"- Method: {_text(manifest['method'])}"]
    if manifest["method"] == IMPORTED:
        settings = manifest["settings"]
        file, digest = settings.get("file", "arrays"), settings["sha256"]
        lines[0] += f" from {_text(file)}, SHA-256 {_text(digest)}: made by other software than lqm"
    elif distance := manifest.get("distance"):
        lines[0] += f" with the distance {_text(distance['name'])}"
    if "seed" in manifest and manifest["method"] != IMPORTED:
        lines.append(f"- Seed: {manifest['seed']}; steps: {manifest.get('steps', 0):,}")
    if fingerprint := manifest.get("source", {}).get("fingerprint"):
        lines.append(f"- Real data: {_text(manifest['source']['name'])}, SHA-256 {_text(fingerprint)}")
    if version := manifest.get("environment", {}).get("lqm"):
        lines.append(f"- Software: lqm {_text(version)}, torch {_text(manifest['environment'].get('torch'))}")
    command = command_of(manifest)
    return [*lines, *(("", "```sh", command, "```") if command else ())]


def _loading(form: str, name: str) -> list[str]:
    if form not in _LOADING:
        return []
    return [
        "```python",
        _LOADING[form].format(name=json.dumps(name), files=json.dumps(f"{name}/*/*.png")).rstrip(),
        "```",
    ]


def _privacy(condensed: CondensedSet) -> list[str]:
    found = audit_in(condensed.manifest)
    warning = copies_warning(condensed.manifest, "RUN")
    lines = [found.verdict] if found else ["It was not audited; `lqm audit` finds out what it gives away."]
    if warning:
        lines.append(f"Note: {warning.removeprefix('warning: ')}.")
    return [*lines, "Condensation by itself is no formal guarantee of privacy."]


def _licence(licence: str) -> list[str]:
    if licence != UNKNOWN:
        return [f"{_text(licence)}. The terms of the real data may hold as well."]
    return ["Unknown: none was given. The terms of the real data may hold."]


def _text(word: object) -> str:
    """A word out of a manifest, in one line and without what Markdown takes for its own."""
    line = " ".join(str(word).encode("utf-8", "replace").decode().split())
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in line)
