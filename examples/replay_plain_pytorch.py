"""Digits, two classes at a time, with and without a memory: `python examples/replay_plain_pytorch.py`."""

import torch
from torch.utils.data import DataLoader, TensorDataset

import lqm
from lqm.replay import CondensedMemory

TASKS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
source = lqm.load_source("digits")


def learn(memory):
    """The accuracy on all classes so far, after each task."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    accuracies = []
    for task in range(len(TASKS)):
        mine = torch.isin(source.train.labels, torch.tensor(TASKS[task]))
        dataset = TensorDataset(source.train.images[mine], source.train.labels[mine])
        for _ in range(10):
            for images, labels in DataLoader(dataset, batch_size=32, shuffle=True):
                loss = torch.nn.functional.cross_entropy(model(images), labels)
                if memory is not None and len(memory):
                    old_images, old_labels = memory.buffer.tensors
                    loss = loss + torch.nn.functional.cross_entropy(model(old_images), old_labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        if memory is not None:
            memory.update(dataset)  # condenses the two new classes; their real images are not needed again
        so_far = torch.isin(source.test.labels, torch.tensor(TASKS[: task + 1]))
        right = model(source.test.images[so_far]).argmax(dim=1) == source.test.labels[so_far]
        accuracies.append(right.float().mean().item())
    return accuracies


memory = CondensedMemory(
    100,
    total_classes=10,
    settings={"steps": 20, "network": "convnet:width=16:depth=2", "learning_rate": 3.0},
    augmentation=source.augmentation,
)
for name, kept in (("no memory", None), ("condensed", memory)):
    print(f"{name:10}", *(f"{accuracy:6.1%}" for accuracy in learn(kept)))
print(memory)
