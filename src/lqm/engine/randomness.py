"""All randomness is a function of (seed, purpose, step): nothing about the random state needs saving."""

import contextlib
import hashlib
from collections.abc import Iterator

import torch


def derive(seed: int, purpose: str, step: int = 0) -> int:
    """A 63-bit seed for one purpose at one step."""
    digest = hashlib.blake2b(
        f"{seed}/{purpose}/{step}".encode(errors="surrogatepass"), digest_size=8
    ).digest()
    return int.from_bytes(digest, "big") >> 1


def generator(seed: int, purpose: str, step: int = 0) -> torch.Generator:
    """A generator on the CPU, so that the draws are the same on every device."""
    return torch.Generator().manual_seed(derive(seed, purpose, step))


@contextlib.contextmanager
def seeded(seed: int, purpose: str, step: int = 0) -> Iterator[None]:
    """Seed torch's global generator inside the block, for code that draws from it (layer initialisation).

    The caller's own random state is as it was afterwards.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive(seed, purpose, step))
        yield
