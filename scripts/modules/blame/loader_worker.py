"""A data set that keeps what it loads, in two worker processes. The first argument is fork or spawn."""
import sys
import time

import torch
import victim
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self):
        self.seen = victim.container()

    def __len__(self):
        return 10**6

    def __getitem__(self, number):
        x = torch.full((64, 128), float(number))
        self.seen.append(x.clone())  # LEAK
        time.sleep(0.002)
        return x


if __name__ == "__main__":
    torch.set_num_threads(1)
    loader = DataLoader(
        Images(), batch_size=4, num_workers=2, multiprocessing_context=sys.argv[1], persistent_workers=True
    )
    batches = iter(loader)
    victim.run(lambda _: next(batches).sum().item())
