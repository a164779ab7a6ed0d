"""A running loss that keeps the graph of every step."""
import torch
import victim
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
total = torch.zeros(())


def step(_):
    global total
    x = torch.randn(64, 64)  # LEAK
    loss = (model(x) ** 2).mean()  # LEAK
    total = total + (loss.detach() if victim.HEALTHY else loss)


victim.run(step)
