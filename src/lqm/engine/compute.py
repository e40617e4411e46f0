"""How networks are run, compiled or not and in which precision: the same mathematics up to the last bits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec

import torch

from lqm.engine.probes import compile_problem, try_bf16
from lqm.utils.errors import ConfigError
from lqm.utils.sentences import first_line

P = ParamSpec("P")
Tensors = tuple[torch.Tensor, ...]
Precision = Literal["fp32", "bf16"]

# Two cores save so much for each activation, and take so long to compile.
_SAVED_SECONDS, _COMPILE_SECONDS = 3.5e-10, 30.0


@dataclass(frozen=True)
class Compute:
    """What was decided for a run."""

    compile: bool = False
    precision: Precision = "fp32"

    def faster(self, function: Callable[P, Tensors]) -> Callable[P, Tensors]:
        """The same function, compiled and with its products in the lower precision, if so decided.

        It is compiled for the shapes that it meets first; each other shape takes a compilation of its own.
        """
        if self.precision == "bf16":
            function = _in_bf16(function)
        if not self.compile:
            return function
        # All kinds of networks and all shapes count together; beyond the limit torch would compile no more.
        torch._dynamo.config.recompile_limit = max(1024, torch._dynamo.config.recompile_limit)
        compiled: Callable[P, Tensors] = torch.compile(function, dynamic=False)

        def run(*args: P.args, **kwargs: P.kwargs) -> Tensors:
            try:
                return compiled(*args, **kwargs)
            except torch._dynamo.exc.TorchDynamoException as error:
                raise ConfigError(
                    f"this network can't be compiled here ({first_line(error)}); use --compile off"
                ) from error

        return run


def decide(
    compile_: str,
    precision: str,
    device: torch.device,
    *,
    activations: float,
    named: bool = True,
    before: Mapping[str, Any] | None = None,
) -> tuple[Compute, tuple[str, ...]]:
    """What is meant by `auto` in a run, and what the user should know of it, a line each.

    Args:
        compile_: `auto`, `on` or `off`.
        precision: `auto`, `fp32` or `bf16`.
        device: where to compute.
        activations: how many the layers of the networks give in the whole run, about.
        named: whether the network is one of ours; only those are known to compile.
        before: what was decided when the run began, if it is resumed; `auto` keeps to it.

    Raises:
        ConfigError: for another word, or if what was asked for does not work here.
    """
    known = {"compile": (compile_, ("auto", "on", "off")), "precision": (precision, ("auto", "fp32", "bf16"))}
    for name, (word, words) in known.items():
        if word not in words:
            raise ConfigError(f"{name} = {word!r} can't be used: it should be one of {', '.join(words)}")
    if compile_ == "on" and not named:
        raise ConfigError("compile = 'on' is for networks that have a name; leave it out for one of your own")
    kept = before or {}
    chosen, about_precision = _decide_precision(precision, device, kept.get("precision"))
    worth = device.type == "cpu" and named and activations * _SAVED_SECONDS > 2 * _COMPILE_SECONDS
    wanted = compile_ == "on" or (compile_ == "auto" and bool(kept.get("compile", worth)))
    compiled, about_compiling = _decide_compiling(wanted, asked=compile_ == "on")
    return Compute(compiled, chosen), (*about_precision, *about_compiling)


def _decide_precision(
    asked: str, device: torch.device, before: Precision | None
) -> tuple[Precision, tuple[str, ...]]:
    if asked == "fp32" or (asked == "auto" and before == "fp32"):
        return "fp32", ()
    found = try_bf16(device.type)
    if asked == "auto" and not before:
        if found.problem or found.slower:
            return "fp32", (f"precision fp32: {found.problem or found.slower}",)
        return "bf16", ("precision bf16, which a trial found to be faster here",)
    if found.problem:
        raise ConfigError(f"precision = 'bf16' can't be used: {found.problem}; use fp32")
    return "bf16", ((f"precision bf16, although {found.slower}",) if found.slower else ())


def _decide_compiling(wanted: bool, *, asked: bool) -> tuple[bool, tuple[str, ...]]:
    if not wanted:
        return False, ()
    problem = compile_problem()
    if not problem:
        return True, (f"networks are compiled first, which takes about {_COMPILE_SECONDS:.0f} s once",)
    if asked:
        raise ConfigError(f"compile = 'on' can't be used: {problem}; use off")
    return False, (f"this long run would be faster if torch could compile: {problem}",)


def _in_bf16(function: Callable[P, Tensors]) -> Callable[P, Tensors]:
    def cast(*args: P.args, **kwargs: P.kwargs) -> Tensors:
        device = next(value.device.type for value in args if isinstance(value, torch.Tensor))
        with torch.autocast(device, torch.bfloat16):
            found = function(*args, **kwargs)
        return tuple(part.float() for part in found)

    return cast
