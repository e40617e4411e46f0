"""The condensed set as files: safetensors and a manifest, every byte of both under a SHA-256."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.torch import save as save_tensors
from torch import Tensor

from lqm.condensed.old_scores import current_scores
from lqm.condensed.schema import DATA_FILE, MANIFEST_FIELDS
from lqm.condensed.tensors import read_tensors
from lqm.utils.errors import ArtifactError, ConfigError, LqmError
from lqm.utils.files import is_temporary, remove_temporaries, write_atomically
from lqm.utils.locks import folder_lock
from lqm.utils.old_names import current_config
from lqm.utils.own_files import parse_json, read_plain_file, require_fields

# 2: images may be mosaics, which a reader of 1 would train on as they are; networks are named by a spec.
# 3: nodes of a graph too.
# 4: images to be whitened, or to be learned at a rate of their own, which a reader of 3 would not know.
# 5: rows of a table, which a reader of 4 would take for nodes.
FORMAT, LATER_FORMAT, TABLE_FORMAT = 3, 4, 5
_READ = (2, 3, 4, 5)
MANIFEST = "manifest.json"
_SEAL = re.compile(rb'"seal": "([0-9a-f]{64})"')
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_SEAL = b'"seal": "' + b"0" * 64 + b'"'

Manifest = dict[str, Any]


def write_artefact(folder: Path, tensors: dict[str, Tensor], manifest: Manifest) -> Manifest:
    """Write tensors and manifest; a set that stood there before is replaced in one rename.

    The tensor file is named after its hash, so the old set stays whole until the new manifest, which
    names the new file, takes the old one's place. Scores that were noted there of the same tensors stay.
    Returns the manifest as written.
    """
    content = save_tensors({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
    digest = hashlib.sha256(content).hexdigest()
    name = f"data-{digest[:12]}.safetensors"
    written = manifest | {"data": {"file": name, "sha256": digest, "bytes": len(content)}}
    with changing(folder):
        write_atomically(folder / name, content)
        written |= _noted_beside(folder, written)
        write_manifest(folder, written)
        remove_temporaries(folder)
        for old in folder.iterdir():
            if DATA_FILE.fullmatch(old.name) and old.name != name:
                old.unlink(missing_ok=True)
    return written


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Read a manifest, change it and write it inside the block, while nobody else does.

    Raises:
        ArtifactError: when the folder can't be made, or what is in it can't be removed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with folder_lock(folder):
            yield
    except OSError as error:
        raise ArtifactError(
            f"{folder} can't be written ({error.strerror or error}); choose another folder"
        ) from error


def _noted_beside(folder: Path, manifest: Manifest) -> Manifest:
    """The scores of a manifest, with those and the audit that a folder's has of the same tensors besides."""
    try:
        before = read_manifest(folder)
    except LqmError:
        return {}  # there is no set, or it is damaged and about to be replaced
    own = manifest.get("scores", [])
    known = [(score["protocol"], score["seed"]) for score in own]
    if before.get("data") != manifest["data"]:
        return {}
    others = [s for s in before.get("scores", []) if (s["protocol"], s["seed"]) not in known]
    audit = {"audit": before["audit"]} if "audit" in before and "audit" not in manifest else {}
    return audit | ({"scores": [*others, *own]} if others else {})


def require_free(folder: Path) -> None:
    """Refuse to save where something else than a condensed set of ours stands."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ArtifactError(f"{folder} is a file; choose a folder for the condensed set")
    if (folder / "run.json").exists():
        raise ArtifactError(f"{folder} is a run's folder, which holds its own result; choose another path")
    manifest = folder / MANIFEST
    ours = manifest.exists() and _SEAL.search(read_plain_file(manifest, "choose another path"))
    others = [p for p in folder.iterdir() if not (is_temporary(p) or DATA_FILE.fullmatch(p.name))]
    if others and not ours:
        raise ArtifactError(f"{folder} holds something else than a condensed set; choose another path")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, sealed: its `seal` is the SHA-256 of all its other bytes.

    One that is there and is to be changed must be read, changed and written inside `changing`.
    """
    later = "training" in manifest or "kind" in manifest.get("preprocessing", {})
    format_ = TABLE_FORMAT if "feature_names" in manifest else LATER_FORMAT if later else FORMAT
    head = {"format": format_, "seal": "0" * 64}
    text = json.dumps(head | manifest | head, indent=2, ensure_ascii=False)
    # A name that is no UTF-8 has letters that only an escape can hold.
    content = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"
    seal = hashlib.sha256(content).hexdigest().encode()
    write_atomically(folder / MANIFEST, content.replace(_NO_SEAL, b'"seal": "' + seal + b'"', 1))


def read_artefact(folder: Path) -> tuple[dict[str, Tensor], Manifest]:
    """Read tensors and manifest, after checking every byte, field and number of them."""
    manifest = read_manifest(folder)
    path = folder / manifest["data"]["file"]
    try:
        content = read_plain_file(path, _REMEDY, follow=False, copies=2)
    except OSError as error:
        raise ArtifactError(f"{path} can't be read ({error.strerror}); {_REMEDY}") from error
    if hashlib.sha256(content).hexdigest() != manifest["data"]["sha256"]:
        raise ArtifactError(f"{path} is damaged: its SHA-256 is not the one in {MANIFEST}; {_REMEDY}")
    return read_tensors(content, path, manifest, _REMEDY), manifest


_REMEDY = "restore it from a copy, or condense again"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest alone, after checking its seal and its fields."""
    path = folder / MANIFEST
    try:
        content = read_plain_file(path, _REMEDY)
    except (FileNotFoundError, NotADirectoryError):
        raise ArtifactError(_why_no_set(folder)) from None
    found = _SEAL.search(content)
    bare = content[: found.start()] + _NO_SEAL + content[found.end() :] if found else b""
    if not found or hashlib.sha256(bare).hexdigest().encode() != found[1]:
        raise ArtifactError(f"{path} is damaged or was edited: it does not fit its own seal; {_REMEDY}")
    stored = parse_json(content, path, _REMEDY)
    format_ = stored.get("format") if isinstance(stored, dict) else None
    if isinstance(format_, int) and format_ not in _READ:
        raise ArtifactError(
            f"{path} has format {format_}, this version of lqm reads {_READ[0]} to {_READ[-1]}; "
            "use the version that wrote it"
        )
    require_fields(MANIFEST_FIELDS, stored, path, _REMEDY)
    try:
        manifest: Manifest = current_scores(current_config(stored))
    except ConfigError as error:
        raise ArtifactError(f"the settings in {path} can't be used: {error}") from None
    return manifest


def _why_no_set(folder: Path) -> str:
    """What a folder without a manifest is instead, and what to do."""
    if not folder.exists():
        return f"there is no folder {folder}; name a run or a condensed set"
    memories = sorted(folder.glob("repeat-*/memory/task-*"))
    if (folder / "result.json").exists():
        kept = f", and `lqm.load` reads what was kept of each, such as {memories[0]}" if memories else ""
        shown = f"`lqm report` and `lqm compare` show what it was worth{kept}"
        return f"{folder} is the folder of a stream of tasks; {shown}"
    if memories:
        return f"{folder} holds a stream of tasks that is not finished; give its command again"
    if any(folder.glob("encoder-*.safetensors")):
        return f"{folder} is a sketch; give it to `lqm condense` with --sketch, or name a condensed set"
    if any(folder.glob("snapshot-*.safetensors")):
        return f"{folder} holds experts; give it to `lqm condense` with --experts, or name a condensed set"
    if (folder / "run.json").exists():
        return f"{folder} holds a run that is not finished; give its command again"
    if runs := sorted(found.parent for found in folder.glob(f"*/{MANIFEST}")):
        return f"{folder} holds no condensed set but runs; name them, such as {runs[0]}"
    remedy = "name a folder that `lqm condense` or `save` has finished writing"
    return f"{folder} holds no condensed set (no {MANIFEST}); {remedy}"


def read_settled(folder: Path) -> tuple[dict[str, Tensor], Manifest]:
    """Read tensors and manifest; again, if another process has replaced the set between the two."""
    while True:
        before = _written_at(folder)
        try:
            return read_artefact(folder)
        except ArtifactError:
            if _written_at(folder) == before:
                raise


def _written_at(folder: Path) -> tuple[int, int] | None:
    """What tells one manifest of a folder from the next; None if there is none."""
    try:
        found = (folder / MANIFEST).stat()
        return found.st_ino, found.st_mtime_ns
    except OSError:
        return None
