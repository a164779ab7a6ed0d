"""A small network, fitted by Lightning on random rows."""

import argparse

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint

from notes import Notes

WIDTH, BATCH, EPOCH_STEPS = 512, 64, 125
VALIDATE_EVERY, SAVE_EVERY = 100, 200


class Network(LightningModule):
    def __init__(self):
        super().__init__()
        layers = [layer for _ in range(6) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
        self.layers = torch.nn.Sequential(*layers)

    def loss(self, batch):
        return (self.layers(batch[0]) - batch[0]).square().mean()

    def training_step(self, batch, _index):
        return self.loss(batch)

    def validation_step(self, batch, _index):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


class Before(Callback):
    """Notes what is true, before leveloff's callback has its turn."""

    def __init__(self, notes):
        self.notes = notes

    def on_train_start(self, trainer, module):
        self.notes.begin(planned_steps=trainer.estimated_stepping_batches, resumed_at=trainer.global_step)

    def on_train_batch_start(self, trainer, module, batch, index):
        self.notes.keep_pace()

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        self.notes.step(trainer.global_step)

    def on_validation_start(self, trainer, module):
        self.notes.note(phase="sanity" if trainer.sanity_checking else "eval", at=trainer.global_step)

    def on_validation_end(self, trainer, module):
        self.notes.note(phase="train", at=trainer.global_step)

    def on_save_checkpoint(self, trainer, module, checkpoint):
        self.notes.note(event="checkpoint", at=trainer.global_step)


class After(Callback):
    def __init__(self, notes):
        self.notes = notes

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        self.notes.stepped(trainer.global_step)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--truth", required=True, help="directory for what is true")
    parser.add_argument("--output", required=True, help="directory for checkpoints")
    parser.add_argument("--steps", type=int, default=4 * EPOCH_STEPS)
    parser.add_argument("--resume", help="the checkpoint to go on from")
    args = parser.parse_args()

    from leveloff.lightning import LeveloffCallback

    torch.manual_seed(1)
    notes = Notes(args.truth)
    saves = ModelCheckpoint(args.output, every_n_train_steps=SAVE_EVERY, save_top_k=-1)
    trainer = Trainer(
        max_steps=args.steps, accelerator="cpu", devices=1, logger=False, default_root_dir=args.output,
        val_check_interval=VALIDATE_EVERY, check_val_every_n_epoch=None,
        callbacks=[Before(notes), LeveloffCallback(), After(notes), saves],
    )
    trainer.fit(Network(), rows(EPOCH_STEPS), rows(10), ckpt_path=args.resume)
    notes.end(ended_at=trainer.global_step)


def rows(batches):
    generator = torch.Generator().manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(batches * BATCH, WIDTH, generator=generator))
    return torch.utils.data.DataLoader(data, BATCH)


if __name__ == "__main__":
    main()
