"""A function that torch.compile compiles again for each shape."""
import torch
import victim

torch.set_num_threads(1)
torch._dynamo.config.recompile_limit = 10**6
torch._dynamo.config.accumulated_recompile_limit = 10**6


@torch.compile(backend="eager", dynamic=False)
def features(x):
    for _ in range(6):
        x = torch.relu(x * 1.01 + 0.1)
    return x.sum()


def step(number):
    features(torch.ones(4 + (number % 8 if victim.HEALTHY else number)))  # LEAK


victim.run(step)
