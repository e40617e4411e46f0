"""Training a network on rows, and its features and logits afterwards."""

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.methods.networks import Network
from lqm.tabular.networks import Logistic
from lqm.tabular.sources import Rows

# Rows that go through a network at once.
_AT_ONCE = 1 << 14
_ITERATIONS = 10_000


def train(
    network: Network,
    rows: Rows,
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float,
    batch: int,
    regularisation: float,
    draws: torch.Generator,
) -> None:
    """Train a network on standardised rows, in place.

    Args:
        network: by Adam; but scikit-learn fits logistic regression, to which no more than `rows` and
            `regularisation` matter.
        rows: what it learns from.
        epochs: over all rows.
        learning_rate: of Adam.
        weight_decay: of Adam, in the gradient.
        batch: rows in a step.
        regularisation: C of logistic regression, the inverse of the strength of its L2 penalty.
        draws: gives the order.
    """
    if isinstance(network, Logistic):
        _fit(network, rows, regularisation)
        return
    network.train()
    device = device_of(network)
    features, labels = rows.features.to(device), rows.labels.to(device)
    optimizer = torch.optim.Adam(network.parameters(), learning_rate, weight_decay=weight_decay, fused=True)
    for _ in range(epochs):
        for chosen in torch.randperm(len(labels), generator=draws).to(device).split(batch):
            loss = F.cross_entropy(network(features[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@torch.no_grad()
def _fit(network: Logistic, rows: Rows, regularisation: float) -> None:
    """Fit scikit-learn's logistic regression, and take its weights over; the logit of the first of two is 0.

    A class that the rows have nothing of is never predicted.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=regularisation, max_iter=_ITERATIONS)
    model.fit(rows.features.double().numpy(), rows.labels.numpy())
    weights, bias = (
        part if len(model.classes_) > 2 else np.concatenate([np.zeros_like(part), part])
        for part in (model.coef_, model.intercept_)
    )
    known = torch.from_numpy(model.classes_)
    layer = network.classifier
    assert isinstance(layer, torch.nn.Linear)
    layer.weight.zero_()
    layer.bias.fill_(-torch.inf)
    layer.weight[known] = torch.from_numpy(weights).to(layer.weight)
    layer.bias[known] = torch.from_numpy(bias).to(layer.bias)


@torch.no_grad()
def embedded(network: Network, features: Tensor) -> Tensor:
    """Latent features of standardised rows, on the CPU."""
    network.eval()
    device = device_of(network)
    return torch.cat([network.embed(part.to(device)).cpu() for part in features.split(_AT_ONCE)])


@torch.no_grad()
def logits_of(network: Network, features: Tensor) -> Tensor:
    """Logits of standardised rows, on the CPU."""
    network.eval()
    device = device_of(network)
    return torch.cat([network(part.to(device)).cpu() for part in features.split(_AT_ONCE)])


def device_of(network: Network) -> torch.device:
    """Where the weights of a network are."""
    return next(network.parameters()).device
