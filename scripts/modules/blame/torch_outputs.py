"""A training that keeps its outputs."""
import torch
import victim
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128))
optimiser = torch.optim.Adam(model.parameters())
outputs = victim.container()


def step(_):
    y = model(torch.randn(128, 64))  # LEAK
    loss = (y**2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    outputs.append(y.detach())


victim.run(step)
