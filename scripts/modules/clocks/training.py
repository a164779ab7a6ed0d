"""A training without a framework, whose memory grows with one clock and whose other clocks run beside it.

    training.py GROWS SPACING STEPS_PER_SECOND SECONDS

GROWS is steps, evaluation, checkpoint, epoch, tokens or both (an evaluation and a checkpoint at the same moment). Every
run has evaluations, checkpoints and epochs, SPACING seconds apart, each at moments of its own except for `both`.
"""

import random
import sys
import time

import leveloff

# Growth in a second, by whatever clock.
BYTES_PER_SECOND = 2 << 20
LEVEL = 100 << 20
TOKENS_PER_STEP = (100, 4000)

grows, spacing, pace, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
level = bytearray(b"x") * LEVEL
kept = []


def keep(size):
    kept.append(bytearray(b"x") * int(size))


def evaluate():
    with leveloff.phase("eval"):
        scratch = bytearray(b"x") * (8 << 20)
        time.sleep(0.1)
        if grows in ("evaluation", "both"):
            keep(spacing * BYTES_PER_SECOND)
        del scratch


def checkpoint():
    if grows == "checkpoint":
        keep(spacing * BYTES_PER_SECOND)
    leveloff.mark("checkpoint")


def main():
    chance = random.Random(f"{grows} {spacing} {pace}")
    mean_tokens = sum(TOKENS_PER_STEP) / 2
    epoch_steps = round(spacing * pace)
    every = max(1, epoch_steps)
    step = tokens = 0
    # Thirds of the spacing apart, so that no two of them are at one moment.
    at_checkpoint, at_epoch = (0, every // 3) if grows == "both" else (every // 3, 2 * every // 3)
    started = time.monotonic()
    while (now := time.monotonic() - started) < seconds:
        step += 1
        # A block of tokens is long or short for a while, as when a data set is sorted by length.
        longest = TOKENS_PER_STEP[1] if int(now / (1.7 * spacing)) % 2 else TOKENS_PER_STEP[1] // 8
        fresh = chance.randint(TOKENS_PER_STEP[0], longest)
        tokens += fresh
        if grows == "steps":
            keep(BYTES_PER_SECOND / pace)
        elif grows == "tokens":
            keep(BYTES_PER_SECOND / pace * fresh / mean_tokens)
        if grows == "tokens":
            # What only the output tells: the package has no word for tokens.
            print(f"step {step} tokens {tokens} loss {1 / step:.4f}", flush=True)
        else:
            if step % every == at_epoch % every and grows == "epoch":
                keep(spacing * BYTES_PER_SECOND)
            leveloff.step(step, epoch=(step - at_epoch) / every, epoch_steps=epoch_steps)
            if step % every == 0:
                evaluate()
            if step % every == at_checkpoint % every:
                checkpoint()
        time.sleep(max(0, step / pace - (time.monotonic() - started)))


main()
