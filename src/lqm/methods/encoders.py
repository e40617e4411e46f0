"""phi in S* = argmin D(phi(T), phi(S)): which network looks at the data at each step."""

from collections.abc import Mapping
from typing import Any, Protocol

from torch import Tensor

from lqm.methods.synthetic import Synthetic


class Encoder(Protocol):
    """A network under which features are compared.

    Attributes:
        metrics: what is worth logging about it.
    """

    @property
    def metrics(self) -> Mapping[str, float]:
        """What is worth logging about it."""
        ...

    def readouts(self, inputs: Any) -> tuple[Tensor, ...]:
        """What the encoder is asked for (features, attention maps), each [B, ...], with gradients."""
        ...

    def encode(self, inputs: Any) -> tuple[Tensor, ...]:
        """The same without gradients, for any number of records."""
        ...


class Encoders:
    """Where encoders come from; most sources need no more than `at`.

    Attributes:
        replayable: whether encoder n depends on (seed, n) alone.
        draws: whether an encoder may draw by itself from torch's own generator (dropout).
    """

    replayable = True
    draws = True

    def at(self, n: int) -> Encoder:
        """Encoder number n."""
        raise NotImplementedError

    def after(self, n: int, synthetic: Synthetic) -> None:
        """What happens after the update under encoder n: a network may train on S."""

    def finished(self, n: int) -> bool:
        """Whether a step ends with the update under encoder n, though it might have more of them."""
        return False

    def state(self) -> dict[str, Tensor]:
        """What the next encoders depend on beside (seed, n)."""
        return {}

    def growth(self, steps: int) -> int:
        """Bytes by which the state may still grow until so many steps are made."""
        return 0

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load that."""
