"""A training whose DataLoader forks its workers again in every epoch.

    loader_training.py DATA [EPOCHS] [SECONDS]

DATA is what the workers read: `arrays` (one array, its pages stay shared), `objects` (Python objects, whose reference
counts copy pages in every worker) or `caches` (each worker also keeps what it has loaded). Prints "ready" before the
first epoch and ends after the last one, of about SECONDS each.
"""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

WORKERS = 4
BATCH = 32
ITEMS = 6400


class Arrays(Dataset):
    """64 MB in one tensor."""

    def __init__(self):
        self.data = torch.randn(ITEMS, 2500)

    def __len__(self):
        return ITEMS

    def __getitem__(self, index):
        return self.data[index]


class Objects(Arrays):
    """About 100 MB of floats and lists: reading one writes its reference count."""

    def __init__(self):
        self.data = [[float(i + j) for j in range(400)] for i in range(ITEMS)]

    def __getitem__(self, index):
        return torch.tensor(self.data[index]).repeat(6)


class Caches(Arrays):
    """A worker keeps a copy of each item that it has read: 10 KB, a quarter of the items in each worker."""

    def __init__(self):
        super().__init__()
        self.kept = {}

    def __getitem__(self, index):
        return self.kept.setdefault(index, self.data[index].clone())


def main():
    kind, epochs, seconds = (*sys.argv[1:], "10", "6")[:3]
    data = {"arrays": Arrays, "objects": Objects, "caches": Caches}[kind]()
    model = torch.nn.Linear(len(data[0]), 256)
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(data, BATCH, shuffle=True, num_workers=WORKERS, multiprocessing_context="fork")
    pause = float(seconds) / len(loader)
    print("ready", flush=True)
    step = 0
    for epoch in range(int(epochs)):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            step += 1
            time.sleep(pause)
        print(f"epoch {epoch + 1}/{epochs} step {step}", flush=True)


if __name__ == "__main__":
    main()
