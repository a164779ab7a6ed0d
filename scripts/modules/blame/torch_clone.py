"""A training that keeps copies of its outputs."""
import torch
import victim
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128))
optimiser = torch.optim.SGD(model.parameters(), 1e-3)
outputs = victim.container()


def step(_):
    y = model(torch.randn(256, 64))
    loss = (y**2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    outputs.append(y.detach().clone())  # LEAK


victim.run(step)
