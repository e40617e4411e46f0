"""What tests of several kinds of networks share."""

from lqm.images.networks import Embedding, Encoder


def in_chunks(network, images):
    """The latent features, found a few images at a time unless the network needs all at once."""
    (features,) = Encoder(network, Embedding(network), whole=False).encode(images)
    return features
