"""A vision fine-tuning on a CPU, in small: images are decoded by loader workers, processed into tensors, and trained on.

    python simulate_training.py                  leaks: each processed batch refers to itself, and collections are switched off
    python simulate_training.py --cleanup        the same, with `del` and gc.collect() after each batch
    python simulate_training.py --gc-every 10    the same, with a collection every 10 steps
    python simulate_training.py --workers 0      the same, without loader workers

Switching collections off is what large trainers do for even steps; a batch that refers to itself is what a processor's output
with a back reference is.
"""

import argparse
import gc
import time

import torch

SIDE = 96


class Images(torch.utils.data.Dataset):
    """As a decoder gives them: bytes, from red to blue."""

    def __len__(self):
        return 1 << 20

    def __getitem__(self, place):
        image = torch.arange(3 * SIDE * SIDE, dtype=torch.int64) * (place % 7 + 1) % 256
        return image.to(torch.uint8).reshape(3, SIDE, SIDE)


class Processed(dict):
    """The batch as the model takes it. It knows itself, as a mapping with attributes often does."""

    def __init__(self, images):
        super().__init__(pixels=images.float() / 255)
        self.data = self


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cleanup", action="store_true")
    parser.add_argument("--gc-every", type=int, default=0)
    parser.add_argument("--pace", type=float, default=0.02)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 1)
    )
    optimizer = torch.optim.AdamW(model.parameters())
    loader = torch.utils.data.DataLoader(Images(), batch_size=args.batch, num_workers=args.workers)
    gc.disable()
    for step, images in zip(range(1, args.steps + 1), loader):
        processed = Processed(images)
        loss = model(processed["pixels"]).square().mean()
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        if args.cleanup:
            del processed
            gc.collect()
        elif args.gc_every and step % args.gc_every == 0:
            gc.collect()
        print(f"step {step} loss {loss.item():.4f}", flush=True)
        time.sleep(args.pace)


if __name__ == "__main__":
    main()
