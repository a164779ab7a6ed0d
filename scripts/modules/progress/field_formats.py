"""Formats that were met in real runs: bars that a terminal cuts, rounded steps, steps that go on through epochs."""
from .lib import positive, tqdm, truth


@positive("cut_bars", "a bar of 80 columns that loses the last digits of its metrics, with an evaluation after each epoch")
def cut_bars(log):
    log.line("***** Running training *****")
    for epoch in range(8):
        for n in range(1, 51):
            metrics = f"loss={log.loss(epoch / 8):.{2 + n % 3}g}, lr={(epoch * 50 + n) * 2e-7:.2e}, step={epoch * 50 + n}"
            bar = f"Epoch {epoch}: {n * 2:3d}%|#| {n}/50 [00:{n // 9:02d}<00:05, {log.near(9.5):5.2f}it/s, {metrics}]"
            log.raw("\r" + bar[:79], step=True)
        log.line()
        for n in range(6):
            log.raw("\r" + tqdm(n, 5, n))
        log.line()
    return truth(400, epoch_steps=50)


@positive("rounded_step", "a count of the epoch beside a step in thousands")
def rounded_step(log):
    for step in range(1700):
        epoch, n = divmod(step, 600)
        log.raw(f"\r| Epoch: {epoch + 1}/20 ({n + 1}/600) | Loss: {log.loss(step / 1700):.4f} | {log.near(1.8):.1f} steps/s | Step: {step // 1000}k | ", step=True)
        if n == 599:
            log.line()
    return truth(1700, epoch_steps=600)


@positive("step_through_epochs", "an epoch begins with the step that ended the one before")
def step_through_epochs(log):
    for epoch in range(5):
        log.step(f"INFO Epoch {epoch} Step {epoch * 900} TRAIN info lr {.001:.5f} rank 0")
        log.step(f"INFO Epoch {epoch} Step {epoch * 900 + 900} CV info lr {.001:.5f} cv_loss {log.loss(epoch / 5):.3f} rank 0")
    return truth(4500)


@positive("terse_epochs", "a hand-written loop: ep 2 it 320 l 0.67")
def terse_epochs(log):
    for epoch in range(3):
        for it in range(0, 260, 20):
            log.step(f"ep {epoch} it {it} l {log.loss(epoch / 3):.2f}")
    return truth(760)
