"""Sketches of graphs: what many random encoders leave behind of the nodes of each class."""

import torch
from torch import Tensor

from lqm.banks import Shard
from lqm.graphs.encoders import Encoder
from lqm.utils.errors import ArtifactError

_REMEMBERED = 64


def remembered_weights(encoder: Encoder) -> Tensor:
    """A few weights by which an encoder that is drawn again is known to be the same."""
    return encoder.weights[0].flatten()[:_REMEMBERED]


def require_same_weights(encoder: Encoder, shard: Shard) -> None:
    """Refuse an encoder that was not drawn alike when the sketch was made.

    Raises:
        ArtifactError: if its weights are others.
    """
    if not torch.equal(remembered_weights(encoder).cpu(), shard["weights"]):
        raise ArtifactError(
            "this version of numpy draws other encoders than the one that made the sketch; make it again"
        )
