"""Record what the golden cases give: `python -m tests.golden.record KIND`, such as amd, of this kind of CPU.

With names of cases it records only these anew. With `--hashes FILE` it writes the SHA-256 of each tensor
instead, to compare two commits on one machine.
"""

import argparse
import hashlib
import json
import os
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.golden.cases import CASES

FOLDER = Path(__file__).parent


def results_of(name: str) -> dict[str, Tensor]:
    """What one case gives, by `case/tensor`."""
    with tempfile.TemporaryDirectory() as folder:
        found = CASES[name](Path(folder))
    return {f"{name}/{part}": tensor.detach().cpu().contiguous() for part, tensor in found.items()}


def main() -> None:
    """Run cases on one thread, and store their tensors or the hashes of these."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", metavar="KIND")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--hashes", type=Path, metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["LQM_CACHE"] = cache
        results = {
            part: tensor for name in options.cases or CASES for part, tensor in results_of(name).items()
        }
    if options.hashes:
        hashes = {n: hashlib.sha256(t.numpy().tobytes()).hexdigest() for n, t in results.items()}
        options.hashes.write_text(json.dumps(hashes, indent=1, sort_keys=True))
    else:
        stored = FOLDER / f"stored-{options.kind}.safetensors"
        save_file((load_file(stored) if options.cases else {}) | results, stored)


if __name__ == "__main__":
    main()
