"""Steps of DM with LQM at one size, in a process of its own: python -m benchmarks.scale.growth_point SIZES.

SIZES is the JSON that `growth` makes. Prints the median seconds of a step, and the GiB that the process had
taken when all was imported and nothing done.
"""

import json
import os
import resource
import sys
import time
from statistics import median

import lqm

_WARM_UP, _STEPS = 2, 5


def main() -> None:
    sizes = json.loads(sys.argv[1])
    # Both as the command line does, before torch is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    lqm.tune_allocator()

    import torch

    from benchmarks.noise import noise
    from lqm.distances import DISTANCES
    from lqm.images.methods import METHODS
    from lqm.images.problem import ImageProblem

    imports = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    source = noise(sizes["classes"], sizes["real_batch"], sizes["size"])
    spec = METHODS["dm"]
    settings = spec.settings(network=f"convnet:width={sizes['width']}", real_batch=sizes["real_batch"])
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(sizes["per_class"],) * sizes["classes"],
        distance=DISTANCES["lqm"],
        seed=0,
        device=torch.device("cpu"),
        source=source,
    )
    method = spec.build(problem, settings)
    found = []
    for i in range(_WARM_UP + _STEPS):
        began = time.perf_counter()
        method.step(i)
        found.append(time.perf_counter() - began)
    place = {"torch": str(torch.__version__), "threads": torch.get_num_threads()}
    print(json.dumps({"seconds": median(found[_WARM_UP:]), "imports": imports, **place}))


if __name__ == "__main__":
    main()
