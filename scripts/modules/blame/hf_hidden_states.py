"""A Trainer of transformers with a callback that keeps the hidden states of each batch."""
import tempfile
import time

import torch
import victim
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments

torch.set_num_threads(1)
states = victim.container()


class KeepStates(TrainerCallback):
    def __init__(self):
        self.began = time.monotonic()

    def on_train_begin(self, arguments, state, control, model=None, **_):
        model.bert.encoder.register_forward_hook(self.keep)

    def keep(self, _module, _inputs, output):
        states.append(output.last_hidden_state.detach().clone())  # LEAK

    def on_step_end(self, arguments, state, control, **_):
        print(f"step {state.global_step} loss 0.5", flush=True)
        control.should_training_stop = not victim.goes_on(self.began, state.global_step)
        if not victim.STEPS:
            time.sleep(victim.PAUSE)


class Sentences(torch.utils.data.Dataset):
    def __len__(self):
        return 10**6

    def __getitem__(self, number):
        return {"input_ids": torch.randint(0, 100, (32,)), "labels": torch.tensor(number % 2)}


configuration = BertConfig(
    vocab_size=100, hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128
)
with tempfile.TemporaryDirectory() as place:
    trainer = Trainer(
        model=BertForSequenceClassification(configuration),
        args=TrainingArguments(
            place,
            per_device_train_batch_size=16,
            max_steps=10**6,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
        ),
        train_dataset=Sentences(),
        callbacks=[KeepStates()],
    )
    trainer.train()
