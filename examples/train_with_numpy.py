"""Train on an exported set with NumPy alone: python examples/train_with_numpy.py small.npz test.npz.

Both files hold `images` [N, C, H, W] in [0, 1] and `labels` [N]. `lqm export RUN --to npz` writes
the first, with the mean and the standard deviation by which images are to be normalised, or with
what whitens them (zca).
"""

import sys

import numpy as np

condensed, test = (np.load(path) for path in sys.argv[1:3])


def features(images):
    """Normalised pixels in rows, with a constant column."""
    if "whitening.mean" in condensed:
        mean, basis, spectrum = (condensed[f"whitening.{name}"] for name in ("mean", "basis", "spectrum"))
        rows = (images.reshape(len(images), -1) - mean) @ (basis / np.sqrt(spectrum + 0.1)) @ basis.T
    else:
        mean, std = (condensed[name].reshape(-1, 1, 1) for name in ("mean", "std"))
        rows = ((images - mean) / std).reshape(len(images), -1)
    return np.hstack([rows, np.ones((len(rows), 1))])


inputs, wanted = features(condensed["images"]), np.eye(len(condensed["class_names"]))[condensed["labels"]]
if "soft_labels" in condensed:
    wanted = condensed["soft_labels"]
rate = condensed.get("learning_rate", 0.1)
weights = np.zeros((inputs.shape[1], wanted.shape[1]))
for _ in range(500):
    scores = inputs @ weights
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    weights -= rate * (inputs.T @ (shares - wanted) / len(inputs) + 1e-3 * weights)
right = (features(test["images"]) @ weights).argmax(axis=1) == test["labels"]
print(f"trained on {len(inputs)} images, right on {right.mean():.1%} of {len(right)} real ones")
