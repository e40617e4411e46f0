"""Train a model of your own on a condensed set, as in `python examples/train_on_condensed.py runs/digits`."""

import sys

import torch

import lqm

torch.manual_seed(0)
condensed = lqm.load(sys.argv[1])
model = torch.nn.Sequential(
    torch.nn.Flatten(),
    torch.nn.Linear(condensed.images[0].numel(), 128),
    torch.nn.ReLU(),
    torch.nn.Linear(128, len(condensed.class_names)),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
if condensed.learning_rate is not None:  # learned together with the images
    optimizer = torch.optim.SGD(model.parameters(), lr=condensed.learning_rate)
for _ in range(100):
    for images, labels in torch.utils.data.DataLoader(condensed.dataset(), batch_size=32, shuffle=True):
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
test = lqm.load_source(**condensed.manifest["origin"]).test
right = model(condensed.normalised(test.images)).argmax(dim=1) == test.labels
print(f"trained on {len(condensed.labels)} images, right on {right.float().mean():.1%} of {len(right)} real")
