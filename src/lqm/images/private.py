"""A network trained by DP-SGD, as a reference point for audits; needs opacus."""

import warnings
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch.utils.data import DataLoader, TensorDataset

from lqm.engine.randomness import derive, generator, seeded
from lqm.images.evaluation import fresh_network
from lqm.images.networks import Network
from lqm.images.protocols import EvaluationProtocol
from lqm.images.sources import ImageSource
from lqm.utils.errors import ConfigError
from lqm.utils.stored_arrays import in_memory

# DP-SGD's own: the norm to which gradients are clipped, and a schedule that reaches most of its accuracy.
_CLIP, _EPOCHS, _BATCH, _RATE = 1.0, 20, 256, 0.5


def require_opacus() -> None:
    """Refuse DP-SGD where opacus is missing."""
    try:
        import opacus  # type: ignore[import-untyped, unused-ignore]  # noqa: F401
    except ImportError:
        raise ConfigError(
            "the reference dp needs opacus, which is not installed; pip install 'lqm[dp]', or leave dp out"
        ) from None


def train_privately(
    source: ImageSource, protocol: EvaluationProtocol, epsilon: float, seed: int, device: torch.device
) -> Network:
    """A network of the protocol's kind, trained on all training images with (epsilon, 1/n) privacy.

    DP-SGD (Abadi et al. 2016): each step clips every image's gradient and adds Gaussian noise, whose scale
    opacus finds for the given epsilon.
    """
    from opacus import PrivacyEngine  # type: ignore[import-untyped, unused-ignore]

    network = fresh_network(source, protocol.network, seed, 0).to(device).train()
    images = source.normalised(in_memory(source.train.images, f"the training images of '{source.name}'"))
    count = len(images)
    batch = min(_BATCH, count)
    loader = DataLoader(
        TensorDataset(images, source.train.labels), batch, generator=generator(seed, "private batches")
    )
    noise = torch.Generator(device=device).manual_seed(derive(seed, "private noise"))
    with warnings.catch_warnings(), seeded(seed, "private training"):
        warnings.simplefilter("ignore")
        engine: Any = PrivacyEngine()
        module, optimizer, batches = engine.make_private_with_epsilon(
            module=network,
            optimizer=torch.optim.SGD(network.parameters(), _RATE),
            data_loader=loader,
            target_epsilon=epsilon,
            target_delta=1 / count,
            epochs=_EPOCHS,
            max_grad_norm=_CLIP,
            noise_generator=noise,
        )
        for _ in range(_EPOCHS):
            for some, labels in batches:
                if len(labels):
                    optimizer.zero_grad()
                    F.cross_entropy(module(some.to(device)), labels.to(device)).backward()
                    optimizer.step()
    engine_network: Network = module._module
    module.remove_hooks()
    return engine_network.eval()
