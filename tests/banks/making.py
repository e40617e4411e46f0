"""What tests of sketches of images and of graphs share."""

import numpy as np
import torch


def plain_loss(distance, real, synthetic):
    """The definition, with numpy's quantiles."""
    if distance == "mean":
        return (real.mean(dim=0) - synthetic.mean(dim=0)).square().sum()
    k = len(synthetic)
    levels = (2 * np.arange(k) + 1) / (2 * k)
    quantiles = torch.from_numpy(np.quantile(real.double().numpy(), levels, axis=0, method="hazen")).float()
    return (quantiles - synthetic.sort(dim=0).values).square().sum() / k
