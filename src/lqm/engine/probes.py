"""What this machine can do, found out by trying."""

import functools
import subprocess
import sys
from typing import NamedTuple

import torch

from lqm.utils.sentences import first_line

_SECONDS = 120.0


@functools.cache
def compile_problem() -> str | None:
    """Why torch can't compile here, or None if it can."""
    try:
        torch.compile(lambda x: x.exp() + 1, dynamic=False)(torch.zeros(8))
    except Exception as error:  # torch raises all kinds, from a missing compiler to a full disk
        return first_line(error)
    return None


class Trial(NamedTuple):
    """What speaks against a way to compute: a problem that forbids it, or that it is slower."""

    problem: str | None = None
    slower: str | None = None


@functools.cache
def try_bf16(device: str) -> Trial:
    """Whether bf16 works here, and is faster.

    It is tried in a process of its own: on some virtual machines the processor promises the instructions and
    then dies of them.
    """
    try:
        child = subprocess.run(
            [sys.executable, "-c", _TRIAL, device], capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Trial(f"bf16 could not be tried ({error})")
    if child.returncode < 0:
        return Trial(f"bf16 crashes here (signal {-child.returncode})")
    if child.returncode:
        return Trial(f"bf16 fails here ({(child.stderr.strip().splitlines() or ['no message'])[-1]})")
    single, half = map(float, child.stdout.split())
    times = f"{1000 * half:.1f} against {1000 * single:.1f} ms"
    return Trial(slower=None if half < single else f"bf16 is slower here ({times})")


# Forward and backward through a convolution and a product: the best of a few rounds, in turn.
_TRIAL = """
import sys, time, torch
from torch import nn
device = torch.device(sys.argv[1])
layers = nn.Conv2d(64, 64, 3, padding=1), nn.GroupNorm(64, 64), nn.ReLU(), nn.AvgPool2d(8), nn.Flatten()
network = nn.Sequential(*layers, nn.Linear(1024, 64)).to(device)
images = torch.randn(32, 64, 32, 32, device=device, requires_grad=True)

def seconds(half):
    began = time.perf_counter()
    with torch.autocast(device.type, torch.bfloat16, enabled=half):
        found = network(images)
    found.float().square().sum().backward()
    if device.type == "cuda":
        torch.cuda.synchronize()
    if not (torch.isfinite(found).all() and torch.isfinite(images.grad).all()):
        sys.exit("it gives numbers that are not finite")
    return time.perf_counter() - began

rounds = [(seconds(False), seconds(True)) for _ in range(8)][2:]
print(min(a for a, _ in rounds), min(b for _, b in rounds))
"""
