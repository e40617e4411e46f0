"""Networks by a spec such as `convnet:width=64:depth=2`, or as modules of the user's own."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.sentences import reason
from lqm.utils.settings import options_of, spelled, typed_options

Network = TypeVar("Network", bound=nn.Module)
Inputs = TypeVar("Inputs")


class NetworkTable(dict[str, type[Network]], Generic[Network, Inputs]):
    """Networks by name; the options of a spec are the arguments of a constructor that have a default.

    A user's module of the class `base` is used as it is, any other one by way of `wrap`. For messages,
    `inputs` names the first argument of a constructor, such as `shape`, and `data` `images of shape {}`.

    Example:
        >>> from lqm.graphs.networks import NETWORKS
        >>> NETWORKS.check("gcn:depth=3:width=064"), NETWORKS.describe("appnp:hops=5")
        ('gcn:width=64:depth=3', 'APPNP-2 of width 256, 5 hops')
        >>> NETWORKS.check("gcn:bias=no"), NETWORKS.describe("gcn:bias=no")
        ('gcn:bias=false', 'GCN-2 of width 256, no bias')
    """

    def __init__(
        self,
        networks: Mapping[str, type[Network]],
        base: type[Network],
        wrap: Callable[[str, nn.Module, Inputs, int], Network],
        *,
        inputs: str,
        data: str,
    ) -> None:
        super().__init__(networks)
        self._base, self._wrap, self._inputs, self._data = base, wrap, inputs, data

    def make(self, spec: str | Callable[[Inputs, int], nn.Module], inputs: Inputs, classes: int) -> Network:
        """The network that a spec names or a function makes, with fresh weights.

        Args:
            spec: such as `convnet`, `convnet:width=64:depth=2` or `gcn:depth=3`; or a function of `inputs`
                and `classes` that returns a module.
            inputs: channels, height and width of an image, or the number of features of a node.
            classes: number of classes.

        Raises:
            ConfigError: when there is no such network, or it can't be made for these inputs.
        """
        if not isinstance(spec, str):
            return self._make_own(spec, inputs, classes)
        name, options = self._read(spec)
        return self[name](inputs, classes, **options)

    def check(self, spec: str) -> str:
        """The spec in canonical form: the options that were given, in the order of the constructor."""
        return spelled(*self._read(spec))

    def describe(self, spec: str) -> str:
        """A network's title for tables, with the options that differ from their default and are not in it."""
        name, given = self._read(spec)
        title: str = self[name].title  # type: ignore[attr-defined]
        usual = {option: parameter.default for option, parameter in options_of(self[name]).items()}
        differences = [
            f"no {option}" if value in ("none", False) else option if value is True else f"{value} {option}"
            for option, value in given.items()
            if value != usual[option] and f"{{{option}}}" not in title
        ]
        return ", ".join([title.format_map(usual | given), *differences])

    def _make_own(self, make: Callable[[Inputs, int], nn.Module], inputs: Inputs, classes: int) -> Network:
        name, arguments = f"the network {factory_name(make)}", f"{self._inputs} and classes"
        if isinstance(make, nn.Module):
            raise ConfigError(f"{name} is a module; give a function of {arguments} that makes a fresh one")
        try:
            module = make(inputs, classes)
        except Exception as error:
            raise ConfigError(
                f"{name} can't be made for {self._data.format(inputs)} and {classes} classes "
                f"({reason(error)}); it should be a function of {arguments} that returns a module"
            ) from error
        if isinstance(module, self._base):
            return module
        if not isinstance(module, nn.Module):
            given = type(module).__name__
            raise ConfigError(f"{name} is made as a {given}; it should be made as a torch module")
        return self._wrap(name, module, inputs, classes)

    def _read(self, spec: str) -> tuple[str, dict[str, Any]]:
        name, *words = spec.split(":")
        return name, typed_options("network", name, choose(name, self, "network"), words)


def factory_name(factory: Callable[..., Any]) -> str:
    """The name of a factory in manifests, such as `own:my_network`."""
    return f"own:{getattr(factory, '__qualname__', type(factory).__qualname__)}"


@torch.no_grad()
def probe(
    name: str,
    module: nn.Module,
    run: Callable[[torch.device], Any],
    classes: int,
    *,
    records: str,
    data: str,
    right: str,
) -> Tensor:
    """Logits [2, classes] of a module that is run once in evaluation mode, to refuse it before long work.

    `run` calls the module with two records on its device. For messages, `name` is the network's, `records`
    such as `nodes`, `data` such as `2 nodes of 20 features`, and `right` what the module should do.
    """
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        output = run(next((p.device for p in module.parameters()), torch.device("cpu")))
    except Exception as error:
        raise ConfigError(f"{name} fails on {data} ({reason(error)}); {right}") from error
    finally:
        for part, training in modes:
            part.training = training
    if not isinstance(output, Tensor) or output.shape != (2, classes):
        given = list(output.shape) if isinstance(output, Tensor) else f"a {type(output).__name__}"
        raise ConfigError(f"{name} gives {given} for 2 {records} of {classes} classes; {right}")
    return output


def run_and_record(
    run: Callable[[], Any], layers: Iterable[nn.Module]
) -> tuple[Any, list[tuple[nn.Module, Any]], dict[nn.Module, Any]]:
    """What `run` gives, calls of these layers with their first input in order, and their last outputs."""
    calls: list[tuple[nn.Module, Any]] = []
    outputs: dict[nn.Module, Any] = {}

    def begin(layer: nn.Module, inputs: tuple[Any, ...]) -> None:
        calls.append((layer, inputs[0] if inputs else None))

    def end(layer: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        outputs[layer] = output

    handles = [
        handle
        for layer in layers
        for handle in (layer.register_forward_pre_hook(begin), layer.register_forward_hook(end))
    ]
    try:
        return run(), calls, outputs
    finally:
        for handle in handles:
            handle.remove()
