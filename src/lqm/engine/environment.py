"""The device to compute on, and what a run's last bits depend on."""

import platform
import sys

import numpy as np
import torch

from lqm import __version__
from lqm.utils.errors import ConfigError


def resolve_device(name: str) -> torch.device:
    """The device called `name`; `auto` is a GPU where there is one.

    Raises:
        ConfigError: when there is no such device on this machine.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    kind = name.partition(":")[0]
    if kind not in ("cpu", "cuda"):
        raise ConfigError(f"device '{name}' can't be used here (not cpu or cuda); use 'auto' or 'cpu'")
    try:
        device = torch.device(name)
        torch.ones(1, device=device).sum().item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"device '{name}' can't be used here ({reason}); use 'auto' or 'cpu'") from error
    return device


def environment(device: torch.device) -> dict[str, str | int]:
    """What must be equal for two runs to be equal bit for bit."""
    accelerator = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return {
        "lqm": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
        "machine": f"{platform.system()} {platform.machine()} {_processor()}",
        "device": accelerator,
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()
