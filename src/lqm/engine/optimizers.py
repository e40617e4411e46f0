"""One way to save and to load what an optimiser keeps of each tensor."""

from collections.abc import Mapping

import torch
from torch import Tensor

_ADAM = ("step", "exp_avg", "exp_avg_sq")
_MOMENTS: dict[type[torch.optim.Optimizer], tuple[str, ...]] = {
    torch.optim.SGD: ("momentum_buffer",),
    torch.optim.Adam: _ADAM,
    torch.optim.AdamW: _ADAM,
}


def save_moments(
    optimizer: torch.optim.Optimizer, parameters: Mapping[str, Tensor], key: str
) -> dict[str, Tensor]:
    """The moments of some parameters, by `key`, in which `{name}` and `{moment}` are filled in.

    Args:
        optimizer: SGD, Adam or AdamW; before its first step it has no moments.
        parameters: the tensors that it moves, by name.
        key: such as `adam.{name}.{moment}`.
    """
    return {
        key.format(name=name, moment=moment): optimizer.state[parameter][moment]
        for name, parameter in parameters.items()
        for moment in _MOMENTS[type(optimizer)]
        if moment in optimizer.state[parameter]
    }


def load_moments(
    optimizer: torch.optim.Optimizer,
    parameters: Mapping[str, Tensor],
    key: str,
    state: Mapping[str, Tensor],
) -> None:
    """Give an optimiser the moments that `save_moments` found under the same key.

    Raises:
        ValueError: when one can't be of its parameter, or is missing though another one is there.
    """
    optimizer.state.clear()
    for name, parameter in parameters.items():
        moments = _MOMENTS[type(optimizer)]
        found = [state.get(key.format(name=name, moment=moment)) for moment in moments]
        if any(saved is None for saved in found) and any(saved is not None for saved in found):
            raise ValueError(f"it has some of {', '.join(moments)}, and not the others")
        for moment, saved in zip(moments, found, strict=True):
            if saved is not None:
                _require_moment(moment, saved, parameter)
                # Adam counts its steps on the CPU, unless it is fused.
                count = saved.ndim == 0 and not optimizer.defaults.get("fused")
                place = torch.device("cpu") if count else parameter.device
                optimizer.state[parameter][moment] = saved.to(place, copy=True)


def _require_moment(moment: str, saved: Tensor, parameter: Tensor) -> None:
    count = moment == "step"
    shape, dtype = (torch.Size(), torch.float32) if count else (parameter.shape, parameter.dtype)
    if (saved.shape, saved.dtype) != (shape, dtype):
        raise ValueError(f"'{moment}' is {saved.dtype} {list(saved.shape)}, not {dtype} {list(shape)}")
    if moment in ("step", "exp_avg_sq") and (saved < 0).any():
        raise ValueError(f"'{moment}' has numbers below 0")
