"""A forward hook that keeps activations."""
import torch
import victim
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128))
optimiser = torch.optim.SGD(model.parameters(), 1e-3)
activations = victim.container()


def hook(_module, _inputs, output):
    activations.append(output.detach().clone())  # LEAK


model[1].register_forward_hook(hook)


def step(_):
    loss = (model(torch.randn(128, 64)) ** 2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


victim.run(step)
