"""Bars: tqdm in its many uses, Lightning, HF Trainer, Keras, YOLO, fastai, Composer, torchtune."""
from .lib import clock, filled, positive, tqdm, truth

HF = "huggingface/transformers src/transformers/trainer_callback.py (ProgressCallback), trainer.py"


def hf_run(log, total, per_epoch, log_every, eval_every, version, ncols=None, extra=None, speed=.4, stop=None, eval_total=12):
    width = ncols or 60
    for step in range(1, (stop or total) + 1):
        log.bar(tqdm(step, total, step * speed, ncols=ncols))
        if step % log_every == 0:
            values = {"loss": log.loss(step / total, 3, 1), "grad_norm": log.near(1.2), "learning_rate": 5e-5 * (1 - step / total), **(extra(step) if extra else {}), "epoch": step / per_epoch}
            text = "{" + ", ".join(f"'{k}': " + (f"'{v:.4g}'" if version == 5 else repr(round(v, 4)) if k in ("loss", "epoch") else repr(v)) for k, v in values.items()) + "}"
            log.raw("\r" + " " * width + "\r" + text + "\n")
            log.bar(tqdm(step, total, step * speed, ncols=ncols))
        if eval_every and step % eval_every == 0:
            for k in (0, 2, 3, 5, 7, 9, 10):
                log.raw("\n\r" + tqdm(k, eval_total, k * .05, ncols=ncols) + "\x1b[A")
            values = {"eval_loss": 1.9, "eval_runtime": .6123, "eval_samples_per_second": 156.8, "eval_steps_per_second": 19.6, "epoch": step / per_epoch}
            text = "{" + ", ".join(f"'{k}': " + (f"'{v:.4g}'" if version == 5 else repr(v)) for k, v in values.items()) + "}"
            log.raw("\r" + " " * width + "\r\n\r" + " " * width + "\r\x1b[A" + text + "\n")
            log.bar(tqdm(step, total, step * speed, ncols=ncols))
            log.raw("\n\r" + tqdm(eval_total, eval_total, eval_total * .05, ncols=ncols) + "\x1b[A\n\r" + " " * width + "\x1b[A")
    return stop or total


@positive("hf_v4_merged", HF + " (v4, stdout and stderr on one pipe)")
def hf_v4(log):
    log.lines("""
***** Running training *****
  Num examples = 2,400
  Num Epochs = 3
  Instantaneous batch size per device = 8
  Total train batch size (w. parallel, distributed & accumulation) = 24
  Gradient Accumulation steps = 3
  Total optimization steps = 300
  Number of trainable parameters = 124,439,808
""")
    log.bar(tqdm(0, 300, 0))
    log.raw("`loss_type=None` was set in the config but it is unrecognized. Using the default loss: `ForCausalLMLoss`.\n")
    last = hf_run(log, 300, 100, 10, 100, 4)
    log.raw("\r" + " " * 60 + "\r{'train_runtime': 121.22, 'train_samples_per_second': 59.4, 'train_steps_per_second': 2.475, 'train_loss': 1.5112, 'epoch': 3.0}\n")
    log.raw("\r" + tqdm(300, 300, 121))
    log.bar(tqdm(300, 300, 121))
    log.line()
    return truth(last, total=300, epoch_steps=100, last_epoch=3, notes="evaluation bars of 12 with ESC[A; a bar is glued to a log line; the epoch is a fraction")


@positive("hf_v5_pty", HF + " (v5 on a terminal of 100 columns)")
def hf_v5(log):
    log.pty = True
    log.bar(tqdm(0, 420, 0, ncols=99))
    last = hf_run(log, 420, 140, 20, 140, 5, ncols=99, stop=333)
    return truth(last, total=420, epoch_steps=140, last_epoch=2, notes="the log ends in the third epoch (epoch 2.29 printed last)")


@positive("hf_v5_stderr", HF + " (stderr alone: the bars without the dict lines)")
def hf_stderr(log):
    log.bar(tqdm(0, 800, 0))
    last = 0
    for step in range(2, 801, 3):
        log.bar(tqdm(step, 800, step * .05))
        last = step
        if step % 200 == 0:
            for k in (0, 4, 9, 15, 20):
                log.raw("\n\r" + tqdm(k, 20, k * .04) + "\x1b[A")
            log.raw("\n\r" + " " * 60 + "\x1b[A")
    return truth(last, total=800, notes="fast steps are skipped")


@positive("trl_grpo", "huggingface/trl trl/trainer/grpo_trainer.py on " + HF)
def trl(log):
    log.raw("\r" + tqdm(0, 500, 0, desc="Map", unit=" examples") + "\r" + tqdm(500, 500, .3, desc="Map", unit=" examples") + "\n")
    log.bar(tqdm(0, 125, 0))

    def extra(step):
        return {"num_tokens": step * 20480.0, "completions/mean_length": log.near(200.), "rewards/accuracy_reward/mean": step / 200, "reward": step / 150, "reward_std": .2, "kl": log.near(.001), "completion_length": log.near(200.)}
    last = hf_run(log, 125, 125, 5, 0, 4, extra=extra, speed=9.7)
    log.line()
    return truth(last, total=125, last_epoch=1, notes="a dataset Map bar first; slow steps (s/it)")


@positive("axolotl", "axolotl-ai-cloud/axolotl src/axolotl/logging_config.py around " + HF)
def axolotl(log):
    log.lines("""
[2025-03-11 09:14:02,318] [INFO] [axolotl.utils.data.sft.load_tokenized_prepared_datasets:184] [PID:4111] [RANK:0] Loading raw datasets...
[2025-03-11 09:14:07,012] [INFO] [axolotl.load_tokenizer:300] [PID:4111] [RANK:0] EOS: 2 / </s>
[2025-03-11 09:14:07,013] [INFO] [axolotl.load_tokenizer:301] [PID:4111] [RANK:0] BOS: 1 / <s>
[2025-03-11 09:14:20,441] [INFO] [axolotl.utils.samplers.multipack.__len__:184] [PID:4111] gather_len_batches: [412]
[2025-03-11 09:14:20,442] [INFO] [axolotl.calculate_total_num_steps:383] [PID:4111] [RANK:0] total_num_steps: 309
""")
    for k in (0, 1, 2, 3):
        log.raw("\r" + tqdm(k, 3, k * 4.1, desc="Loading checkpoint shards"))
    log.line()
    log.line("[2025-03-11 09:15:01,100] [INFO] [axolotl.train.train:173] [PID:4111] [RANK:0] Starting trainer...")
    log.bar(tqdm(0, 309, 0))
    last = hf_run(log, 309, 103, 1, 0, 4, speed=2.1, stop=160)
    return truth(last, total=309, epoch_steps=103, last_epoch=1, notes="'Loading checkpoint shards' first; total_num_steps: 309 tells the plan beforehand")


@positive("accelerate_no_trainer", "huggingface/transformers examples/pytorch/language-modeling/run_clm_no_trainer.py")
def no_trainer(log):
    def out(text):
        log.line(f"{log.at('%m/%d/%Y %H:%M:%S')} - INFO - __main__ - {text}")
    out("Distributed environment: DistributedType.NO\nNum processes: 1\nProcess index: 0\nLocal process index: 0\nDevice: cpu\n\nMixed precision type: no\n")
    for name in ("Running tokenizer on dataset", "Grouping texts in chunks of 512"):
        for n in (0, 1000, 2000, 3000, 3760):
            log.raw("\r" + tqdm(n, 3760, n / 4100, desc=name, unit=" examples"))
        log.line()
    out("***** Running training *****")
    for text in ("  Num examples = 2318", "  Num Epochs = 3", "  Instantaneous batch size per device = 8", "  Total train batch size (w. parallel, distributed & accumulation) = 8", "  Gradient Accumulation steps = 1", "  Total optimization steps = 870"):
        out(text)
    log.bar(tqdm(0, 870, 0))
    for step in range(3, 871, 3):
        log.bar(tqdm(step, 870, step * .31))
        if step % 290 == 1 or step in (291, 582, 870):
            log.raw(f"{log.at('%m/%d/%Y %H:%M:%S')} - INFO - __main__ - epoch {step // 290 - 1}: perplexity: {log.near(60.)} eval_loss: {4.1}\n")
    log.bar(tqdm(870, 870, 270))
    log.line()
    return truth(870, total=870, last_epoch=2, notes="two dataset bars first ('Running tokenizer on dataset', 'Grouping texts'); the epoch line is glued to the bar")


@positive("diffusers_lora", "huggingface/diffusers examples/text_to_image/train_text_to_image_lora.py")
def diffusers(log):
    for k in range(0, 8):
        log.raw("\r" + tqdm(k, 7, k * .4, desc="Loading pipeline components..."))
    log.line()
    def out(text):
        log.line(f"{log.at('%m/%d/%Y %H:%M:%S')} - INFO - __main__ - {text}")
    for text in ("***** Running training *****", "  Num examples = 833", "  Num Epochs = 3", "  Instantaneous batch size per device = 1", "  Total train batch size (w. parallel, distributed & accumulation) = 4", "  Gradient Accumulation steps = 4", "  Total optimization steps = 627"):
        out(text)
    log.bar(tqdm(0, 627, 0, desc="Steps"))
    last = 0
    for step in range(1, 401):
        log.bar(tqdm(step, 627, step * 1.4, desc="Steps", postfix=f"lr=0.0001, step_loss={log.near(.1, .9):.3g}"))
        last = step
        if step % 200 == 0:
            log.raw(f"{log.at('%m/%d/%Y %H:%M:%S')} - INFO - __main__ - Saved state to out/checkpoint-{step}\n")
            out("Running validation... \n Generating 4 images with prompt: a red cart.")
            for k in range(0, 31, 3):
                log.raw("\r" + tqdm(k, 30, k * .1))
            log.line()
    return truth(last, total=627, notes="the sampler's bar (30) inside validation has no label")


def lightning_epoch(log, epoch, total, ncols=None, width=70, stop=None, part=1.0):
    log.bar(tqdm(0, total, 0, desc=f"Epoch {epoch}", noinv=True, ncols=ncols))
    loss = ""
    for i in range(1, (stop or total) + 1):
        log.bar(tqdm(i, total, i * .11, desc=f"Epoch {epoch}", noinv=True, ncols=ncols, postfix=loss))
        loss = f"v_num=4, train_loss={log.loss((epoch + i / total) * part):.3f}"
        log.bar(tqdm(i, total, i * .11, desc=f"Epoch {epoch}", noinv=True, ncols=ncols, postfix=loss))
    if not stop:
        for k in range(0, 11):
            log.raw("\n\r" + tqdm(k, 10, k * .03, desc="Validation DataLoader 0", noinv=True, ncols=ncols) + "\x1b[A")
        log.raw("\n\r" + " " * width + "\x1b[A")
        log.bar(tqdm(total, total, total * .11, desc=f"Epoch {epoch}", noinv=True, ncols=ncols, postfix=loss + ", val_loss=0.611"))


def lightning_start(log):
    log.lines("""
GPU available: False, used: False
TPU available: False, using: 0 TPU cores
HPU available: False, using: 0 HPUs

  | Name  | Type       | Params | Mode 
---------------------------------------------
0 | model | Sequential | 2.8 M  | train
1 | loss  | MSELoss    | 0      | train
---------------------------------------------
2.8 M     Trainable params
0         Non-trainable params
2.8 M     Total params
11.204    Total estimated model params size (MB)
""")
    for k in (0, 1, 2):
        log.raw("\r" + tqdm(k, 2, k * .05, desc="Sanity Checking DataLoader 0", noinv=True))
    log.raw("\r" + " " * 75 + "\r")
    log.raw("\rTraining: |          | 0/? [00:00<?, ?it/s]")


LIGHTNING = "Lightning-AI/pytorch-lightning src/lightning/pytorch/callbacks/progress/"


@positive("lightning_tqdm_pipe", LIGHTNING + "tqdm_progress.py (pipe)")
def lightning_pipe(log):
    lightning_start(log)
    for epoch in range(3):
        lightning_epoch(log, epoch, 60, part=1 / 3)
    log.raw("`Trainer.fit` stopped: `max_epochs=3` reached.\n")
    log.bar(tqdm(60, 60, 7, desc="Epoch 2", noinv=True, postfix="v_num=4, train_loss=0.411, val_loss=0.611"))
    log.line()
    return truth(180, epoch_steps=60, last_epoch=2, notes="N restarts each epoch; validation bars of 10 with ESC[A; max_epochs=3 is only printed at the end")


@positive("lightning_tqdm_pty", LIGHTNING + "tqdm_progress.py (terminal of 120 columns)")
def lightning_pty(log):
    log.pty = True
    lightning_start(log)
    for epoch in range(2):
        lightning_epoch(log, epoch, 75, ncols=119, width=119, part=1 / 4)
    lightning_epoch(log, 2, 75, ncols=119, stop=31, part=1 / 4)
    return truth(2 * 75 + 31, epoch_steps=75, last_epoch=2, notes="ends within the third epoch")


def rich_bar(part, width=26):
    done = int(part * width)
    return (f"\x1b[35m{'━' * done}\x1b[0m" if done else "") + ("\x1b[90m╺\x1b[0m" if done and done < width else "") + (f"\x1b[90m{'━' * (width - done - 1)}\x1b[0m" if done < width else "")


@positive("lightning_rich_pty", LIGHTNING + "rich_progress.py (terminal)")
def lightning_rich(log):
    log.pty = True
    log.line("┏━━━┳━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━┓")
    log.line("┃\x1b[1;35m \x1b[0m\x1b[1;35m \x1b[0m\x1b[1;35m \x1b[0m┃\x1b[1;35m \x1b[0m\x1b[1;35mName \x1b[0m\x1b[1;35m \x1b[0m┃\x1b[1;35m \x1b[0m\x1b[1;35mType      \x1b[0m\x1b[1;35m \x1b[0m┃\x1b[1;35m \x1b[0m\x1b[1;35mParams\x1b[0m\x1b[1;35m \x1b[0m┃")
    log.line("┡━━━╇━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━┩")
    log.line("│\x1b[2m \x1b[0m\x1b[2m0\x1b[0m\x1b[2m \x1b[0m│ model │ Sequential │ 2.8 M  │")
    log.line("└───┴───────┴────────────┴────────┘")
    log.line("\x1b[1mTrainable params\x1b[0m: 2.8 M")
    log.raw("\x1b[?25l")
    for k in (0, 1, 2):
        log.raw(f"\r\x1b[2KSanity Checking {rich_bar(k / 2)} {k}/2 \x1b[2m0:00:00 • -:--:--\x1b[0m \x1b[2;4m0.00it/s\x1b[0m  ")
    total, last = 80, 0
    for epoch in range(4):
        for i in [*range(0, total, 2), total]:
            log.raw(f"\r\x1b[2KEpoch {epoch}/3  {rich_bar(i / total)} {i}/{total} \x1b[2m0:00:{i // 9:02d} • 0:00:{(total - i) // 9:02d}\x1b[0m \x1b[2;4m{log.near(9.):.2f}it/s\x1b[0m \x1b[3mtrain_loss: {log.loss((epoch + i / total) / 4):.3f}\x1b[0m", step=True)
            last = epoch * total + i
        for k in range(0, 21, 4):
            log.raw(f"\r\x1b[2K{'' if k == 0 else chr(27) + '[1A' + chr(27) + '[2K'}Epoch {epoch}/3  {rich_bar(1)} {total}/{total} \x1b[2m0:00:09 • 0:00:00\x1b[0m \x1b[2;4m9.01it/s\x1b[0m \x1b[3mtrain_loss: 0.512\x1b[0m\nValidation {rich_bar(k / 20)} {k}/20 \x1b[2m0:00:00 • 0:00:01\x1b[0m \x1b[2;4m31.20it/s\x1b[0m ")
        log.raw("\r\x1b[2K\x1b[1A\x1b[2K")
    log.raw(f"`Trainer.fit` stopped: `max_epochs=4` reached.\n\r\x1b[2KEpoch 3/3  {rich_bar(1)} {total}/{total} \x1b[2m0:00:09 • 0:00:00\x1b[0m \x1b[2;4m9.01it/s\x1b[0m \x1b[3mtrain_loss: 0.412\x1b[0m\n\x1b[?25h")
    return truth(last, total=4 * total, epoch_steps=total, last_epoch=3, notes="'Epoch 0/3' counts from 0 to 3: four epochs; two live lines during validation, moved with ESC[1A ESC[2K")


@positive("lightning_rich_pipe", LIGHTNING + "rich_progress.py (no terminal: the bar is drawn once, at the end)")
def lightning_rich_pipe(log):
    log.line("┏━━━┳━━━━━━━┳━━━━━━━━━━━━┳━━━━━━━━┓")
    log.line("┃   ┃ Name  ┃ Type       ┃ Params ┃")
    log.line("┡━━━╇━━━━━━━╇━━━━━━━━━━━━╇━━━━━━━━┩")
    log.line("│ 0 │ model │ Sequential │  2.8 M │")
    log.line("└───┴───────┴────────────┴────────┘")
    log.line("Trainable params: 2.8 M                                                         ")
    log.line("Non-trainable params: 0                                                         ")
    log.step("Epoch 4/4  ━━━━━━━━━━━━━━━━━ 120/120 0:00:14 • 0:00:00 8.41it/s train_loss: 0.412")
    log.line("                                                               val_loss: 0.467  ")
    return truth(600, total=600, epoch_steps=120, last_epoch=4, notes="a single line holds a step, at the very end: 5 epochs of 120; no clock while it runs. Accept none, and 600")


@positive("composer_bar", "mosaicml/composer composer/loggers/progress_bar_logger.py (pipe, 120 columns)")
def composer_bar(log):
    log.lines("""
******************************
Config:
num_gpus_per_node: 1
num_nodes: 1
rank_zero_seed: 17

******************************
""")
    total, last = 64, 0

    def draw(desc, n, size, postfix):
        rate = 4.2
        return f"{desc} {n / size * 100:3.0f}%|{filled(n / size, 25)}| {n}/{size} [{clock(n / rate)}<{clock((size - n) / rate)},  {rate:.2f}ba/s{', ' + postfix if postfix else ''}]"
    for epoch in range(4):
        for i in range(0, total + 1):
            log.bar(draw(f"{'train':15}Epoch {epoch:3}: ", i, total, f"loss/train/total={log.loss((epoch + i / total) / 4):.4f}" if i else ""))
            last = epoch * total + i
        log.line()
        for i in range(0, 21, 2):
            log.raw("\r" + draw(f"{'eval':15}Epoch {epoch:3}: ", i, 20, ""))
        log.line()
    return truth(last, epoch_steps=total, last_epoch=3, notes="'eval           Epoch   0:' bars are evaluation")


@positive("torchtune", "pytorch/torchtune recipes/lora_finetune_single_device.py")
def torchtune(log):
    log.lines("""
INFO:torchtune.utils._logging:Running LoRAFinetuneRecipeSingleDevice with resolved config:

batch_size: 2
epochs: 2
gradient_accumulation_steps: 8
max_steps_per_epoch: null
optimizer:
  lr: 0.0003

INFO:torchtune.utils._logging:Model is initialized with precision torch.bfloat16.
INFO:torchtune.utils._logging:Memory stats after model init:
	GPU peak memory active: 2.46 GiB
""")
    total, last = 150, 0
    for epoch in range(2):
        log.raw("\r" + tqdm(0, total, 0))
        for i in range(1, total + 1):
            step = epoch * total + i
            log.bar(tqdm(i, total, i * 1.2, desc=f"{epoch + 1}|{step}|Loss: {log.loss(step / 300, 2, .8)}"))
            last = step
        log.line()
        log.line(f"INFO:torchtune.utils._logging:Model checkpoint of size 2.3 GiB saved to out/epoch_{epoch}/model-00001-of-00001.safetensors")
    return truth(last, epoch_steps=total, last_epoch=2, notes="'1|37|Loss:' is epoch|global step in the bar's label")


@positive("keras2_pty", "keras-team/tf-keras tf_keras/utils/generic_utils.py (Progbar verbose=1)")
def keras2(log):
    log.pty = True
    log.line('Model: "sequential"\n_________________________________________________________________\n Layer (type)                Output Shape              Param #   \n=================================================================\n dense (Dense)               (None, 128)               100480    \n dense_1 (Dense)             (None, 10)                1290      \n=================================================================\nTotal params: 101,770\nTrainable params: 101,770\nNon-trainable params: 0\n_________________________________________________________________')
    total, epochs, last = 469, 4, 0
    for epoch in range(1, epochs + 1):
        log.line(f"Epoch {epoch}/{epochs}")
        width = 0
        for i in [1, *range(14, total, 14), total]:
            done = int(30 * i / total)
            bar = f"{i:3d}/{total} [" + ("=" * (done - 1) + (">" if i < total else "=") if done else "") + "." * (30 - done) + "]"
            loss = f" - loss: {log.loss((epoch - 1 + i / total) / 4):.4f} - accuracy: {.7 + epoch / 20:.4f}"
            info = f" - ETA: {(total - i) // 200}s{loss}" if i < total else f" - 2s 4ms/step{loss} - val_loss: 0.2113 - val_accuracy: 0.9412\n"
            log.raw("\b" * width + "\r" + bar + info, step=True)
            width = len(bar) + len(info.rstrip("\n"))
        last = epoch * total
    return truth(last, total=epochs * total, epoch_steps=total, last_epoch=epochs, notes="backspaces before each \\r; the epoch is on a line before")


@positive("keras3_pipe", "keras-team/keras keras/src/utils/progbar.py (verbose=1; \\b and \\r also on a pipe)")
def keras3(log):
    total, epochs, last = 938, 3, 0
    for epoch in range(1, epochs + 1):
        log.line(f"Epoch {epoch}/{epochs}")
        width = 0
        for i in [1, *range(11, total, 11), total]:
            done = int(20 * i / total)
            bar = f"\x1b[1m{i:3d}/{total}\x1b[0m " + (f"\x1b[32m{'━' * done}\x1b[0m" if done else "") + f"\x1b[37m{'━' * (20 - done)}\x1b[0m"
            loss = f" - accuracy: {.6 + epoch / 12:.4f} - loss: {log.loss((epoch - 1 + i / total) / 3):.4f}"
            if i < total:
                info = f" \x1b[1m{(total - i) // 240}s\x1b[0m 4ms/step{loss}"
            else:
                info = f" \x1b[1m4s\x1b[0m 4ms/step{loss} - val_accuracy: 0.9611 - val_loss: 0.1302"
            seen = len(bar) + len(info) - 34
            log.raw("\b" * width + "\r" + bar + info + (" " * max(0, width - seen)) + ("\n" if i == total else ""), step=True)
            width = seen
        last = epoch * total
    return truth(last, total=epochs * total, epoch_steps=total, last_epoch=epochs)


@positive("keras3_unknown_total", "keras-team/keras keras/src/utils/progbar.py (no length in the first epoch)")
def keras3_unknown(log):
    last = 0
    for epoch in range(1, 4):
        log.line(f"Epoch {epoch}/3")
        width = 0
        if epoch == 1:
            for i in range(1, 251, 3):
                bar = f"{i:7d}/Unknown"
                info = f" \x1b[1m{i // 20}s\x1b[0m 48ms/step - loss: {log.loss(i / 750):.4f}"
                log.raw("\b" * width + "\r" + bar + info, step=True)
                width = len(bar) + len(info) - 8
            log.raw("\b" * width + f"\r\x1b[1m250/250\x1b[0m \x1b[32m{'━' * 20}\x1b[0m\x1b[37m\x1b[0m \x1b[1m12s\x1b[0m 48ms/step - loss: 1.2112\n", step=True)
        else:
            for i in [*range(5, 250, 5), 250]:
                done = int(20 * i / 250)
                text = f"\x1b[1m{i:3d}/250\x1b[0m \x1b[32m{'━' * done}\x1b[0m\x1b[37m{'━' * (20 - done)}\x1b[0m \x1b[1m{(250 - i) // 20}s\x1b[0m 48ms/step - loss: {log.loss((epoch - 1 + i / 250) / 3):.4f}"
                log.raw("\b" * width + "\r" + text + ("\n" if i == 250 else ""), step=True)
                width = 60
        last = epoch * 250
    return truth(last, total=750, epoch_steps=250, last_epoch=3, notes="the epoch's length is unknown until the first epoch ends")


@positive("keras_verbose2", "keras-team/keras keras/src/utils/progbar.py (verbose=2: one line per epoch)")
def keras_verbose2(log):
    for epoch in range(1, 31):
        log.line(f"Epoch {epoch}/30")
        log.step(f"391/391 - {log.near(9.):.0f}s - {log.near(23.):.0f}ms/step - accuracy: {.3 + epoch / 60:.4f} - loss: {log.loss(epoch / 30):.4f} - val_accuracy: {.3 + epoch / 70:.4f} - val_loss: {log.loss(epoch / 30):.4f}")
    return truth(30 * 391, total=30 * 391, epoch_steps=391, last_epoch=30, notes="one line per epoch, always 391/391; unit epochs with 30 is accepted. The 'Epoch 1/30' line before it is accepted as the first step line")


@positive("tianshou", "thu-ml/tianshou tianshou/trainer.py, utils/progress_bar.py (ascii tqdm)")
def tianshou(log):
    last = 0
    for epoch in range(1, 7):
        for i in range(0, 10001, 250):
            log.bar(tqdm(i, 10000, i / 2400, desc=f"Epoch #{epoch}", ascii=True, postfix="" if i == 0 else f"env_episode={(epoch * 40 + i // 240)}, env_step={(epoch - 1) * 10000 + i}, gradient_step={i // 10}, len={int(log.near(120))}, n/ep=0, n/st=250, rew={log.near(120.):.2f}, update_step={(epoch - 1) * 40 + i // 250}"))
            last = (epoch - 1) * 10000 + i
        log.line()
        log.line(f"Epoch #{epoch}: test_reward: {60. * epoch:.6f} ± {9.:.6f}, best_reward: {60. * epoch:.6f} ± {9.:.6f} in #{epoch}")
    return truth(last, "timesteps", epoch_steps=10000, last_epoch=6, notes="env_step in the postfix is the composed step; unit steps is accepted")


@positive("yolov5", "ultralytics/yolov5 train.py, val.py, utils/general.py (TQDM bar_format)")
def yolov5(log):
    def bar(n, total, desc, seconds):
        return f"{desc}: {n / total * 100:3.0f}%|{filled(n / total, 10)}| {n}/{total} {clock(seconds)}"
    log.lines("""
\x1b[34m\x1b[1mtrain: \x1b[0mweights=yolov5s.pt, cfg=, data=coco128.yaml, hyp=data/hyps/low.yaml, epochs=4, batch_size=16, imgsz=640
\x1b[34m\x1b[1mhyperparameters: \x1b[0mlr0=0.01, lrf=0.01, momentum=0.937, warmup_epochs=3.0
                 from  n    params  module                                  arguments                     
  0                -1  1      3520  models.common.Conv                      [3, 32, 6, 2, 2]              
  1                -1  1     18560  models.common.Conv                      [32, 64, 3, 2]                
Model summary: 214 layers, 7235389 parameters, 7235389 gradients, 16.6 GFLOPs
Transferred 349/349 items from yolov5s.pt
""")
    for k in range(0, 129, 16):
        log.raw("\r" + f"\x1b[34m\x1b[1mtrain: \x1b[0mScanning /data/labels... {k} images, 2 backgrounds, 0 corrupt: {k / 128 * 100:3.0f}%|{filled(k / 128, 10)}| {k}/128 00:00")
    log.line()
    log.line("Image sizes 640 train, 640 val\nUsing 8 dataloader workers\nLogging results to \x1b[1mruns/train/exp\x1b[0m\nStarting training for 4 epochs...")
    total, last = 92, 0
    for epoch in range(4):
        log.line(("\n" + "%11s" * 7) % ("Epoch", "GPU_mem", "box_loss", "obj_loss", "cls_loss", "Instances", "Size"))
        log.raw(f"\r  0%|          | 0/{total} 00:00")
        for i in range(1, total + 1):
            desc = ("%11s" * 2 + "%11.4g" * 5) % (f"{epoch}/3", "3.62G", log.near(.045), log.near(.06), log.near(.017), log.random.randint(90, 330), 640)
            log.raw("\r" + bar(i, total, desc, i * .3), step=True)
            last = epoch * total + i
        log.line()
        head = ("%22s" + "%11s" * 6) % ("Class", "Images", "Instances", "P", "R", "mAP50", "mAP50-95")
        for k in range(0, 5):
            log.raw("\r" + bar(k, 4, head, k))
        log.line()
        log.line(("%22s" + "%11i" * 2 + "%11.3g" * 4) % ("all", 128, 929, .71, .63, .72, .48))
    log.line("\n4 epochs completed in 0.033 hours.")
    return truth(last, total=4 * total, epoch_steps=total, last_epoch=3, notes="'0/3' counts from 0 to 3 inclusive: four epochs; validation bars of 4 end the epoch; a label scan bar (128) comes first")


@positive("yolov8_tqdm", "ultralytics/ultralytics ultralytics/engine/trainer.py (releases with tqdm bars)")
def yolov8(log):
    log.line("Ultralytics YOLOv8.2.0 🚀 Python-3.10.12 torch-2.2.1 CPU (Generic)")
    log.line("\x1b[34m\x1b[1mengine/trainer: \x1b[0mtask=detect, mode=train, model=yolov8n.pt, data=coco8.yaml, epochs=5, batch=16, imgsz=640")
    log.line("Image sizes 640 train, 640 val\nUsing 0 dataloader workers\nLogging results to \x1b[1mruns/detect/train\x1b[0m\nStarting training for 5 epochs...")
    total, last = 58, 0
    for epoch in range(1, 6):
        log.line(("\n" + "%11s" * 7) % ("Epoch", "GPU_mem", "box_loss", "cls_loss", "dfl_loss", "Instances", "Size"))
        log.raw("\r" + tqdm(0, total, 0))
        for i in range(1, total + 1):
            desc = ("%11s" * 2 + "%11.4g" * 5) % (f"{epoch}/5", "0G", log.near(1.1), log.near(2.3), log.near(1.2), log.random.randint(9, 60), 640)
            log.bar(tqdm(i, total, i * .8, desc=desc))
            last = (epoch - 1) * total + i
        log.line()
        head = ("%22s" + "%11s" * 6) % ("Class", "Images", "Instances", "Box(P", "R", "mAP50", "mAP50-95)")
        for k in range(0, 4):
            log.raw("\r" + tqdm(k, 3, k * .5, desc=head))
        log.line()
        log.line(("%22s" + "%11i" * 2 + "%11.3g" * 4) % ("all", 48, 170, .61, .53, .62, .41))
    return truth(last, total=5 * total, epoch_steps=total, last_epoch=5, notes="'1/5' is the epoch, from 1")


@positive("ultralytics_bar", "ultralytics/ultralytics ultralytics/utils/tqdm.py, engine/trainer.py")
def ultralytics(log):
    def bar(n, total, desc, seconds):
        frac = n / total
        full = int(frac * 12)
        text = "━" * full + "─" * (12 - full)
        if full < 12 and frac * 12 - full > .5:
            text = text[:full] + "╸" + text[full + 1:]
        left = f"<{(total - n) / 6.1:.1f}s" if 0 < n < total else ""
        return f"\r\x1b[K{desc}: {frac * 100:.0f}% {text} {n}/{total} 6.1it/s {seconds:.1f}s{left}"
    log.line("Ultralytics 8.3.228 🚀 Python-3.11.7 torch-2.8.0 CPU (Generic)")
    log.line("Starting training for 4 epochs...")
    total, last = 125, 0
    for epoch in range(1, 5):
        log.line(("\n" + "%11s" * 7) % ("Epoch", "GPU_mem", "box_loss", "cls_loss", "dfl_loss", "Instances", "Size"))
        log.raw(f"\r\x1b[K: 0% ──────────── 0/{total}  0.0s")
        for i in range(1, total + 1):
            desc = ("%11s" * 2 + "%11.4g" * 5) % (f"{epoch}/4", "2.11G", log.near(1.1), log.near(2.3), log.near(1.2), log.random.randint(9, 60), 640)
            log.raw(bar(i, total, desc, i / 6.1), step=True)
            last = (epoch - 1) * total + i
        log.line()
        head = ("%22s" + "%11s" * 6) % ("Class", "Images", "Instances", "Box(P", "R", "mAP50", "mAP50-95)")
        for k in range(0, 9):
            log.raw(bar(k, 8, head, k / 6.1))
        log.line()
        log.line(("%22s" + "%11i" * 2 + "%11.3g" * 4) % ("all", 128, 929, .61, .53, .62, .41))
    return truth(last, total=4 * total, epoch_steps=total, last_epoch=4, notes="its own bar, '12% ━━── 15/125 6.1it/s 2.5s<18.0s', after \\r ESC[K")


@positive("fastai", "fastai/fastprogress fastprogress/fastprogress.py (console bars of fastai's Learner)")
def fastai(log):
    log.line("epoch     train_loss  valid_loss  accuracy  time    ")
    total, last = 120, 0
    for epoch in range(1, 6):
        for i in range(0, total + 1, 3):
            done = int(40 * i / total)
            log.raw(f"\rEpoch {epoch}/5 : |{'█' * done}{'-' * (40 - done)}| {100 * i / total:.2f}% [{i}/{total} {clock(i * .2)}<{clock((total - i) * .2)} {log.loss((epoch - 1 + i / total) / 5):.4f}]\r", step=True)
            last = (epoch - 1) * total + i
        for i in range(0, 31, 3):
            done = int(40 * i / 30)
            log.raw(f"\rEpoch {epoch}/5 : |{'█' * done}{'-' * (40 - done)}| {100 * i / 30:.2f}% [{i}/30 {clock(i * .1)}<{clock((30 - i) * .1)} {.5:.4f}]\r")
        log.raw("\r" + " " * 90 + "\r")
        log.line(f"{epoch - 1}         {log.loss(epoch / 5):.6f}    {log.loss(epoch / 5):.6f}    {.6 + epoch / 20:.6f}  00:24   ")
    return truth(last, total=5 * total, epoch_steps=total, last_epoch=5, notes="training and validation bars have the same label; validation has another total (30)")


@positive("tqdm_print_between", "tqdm/tqdm std.py with print() on stdout between (terminal)")
def tqdm_print(log):
    log.pty = True
    last = 0
    for i in range(0, 301):
        log.bar(tqdm(i, 1200, i * .2, desc="train", ncols=100, postfix=f"loss={log.loss(i / 1200):.3f}"))
        last = i
        if i % 20 == 0:
            log.raw(f"avg loss over the last 20: {log.loss(i / 1200):.4f}\n")
    return truth(last, total=1200, notes="print() glues its text to the bar")


@positive("tqdm_nested", "tqdm/tqdm std.py, nested bars (epochs outside, batches inside, leave=False)")
def tqdm_nested(log):
    log.pty = True
    last, total = 0, 90
    for epoch in range(0, 5):
        log.raw("\r" + tqdm(epoch, 10, epoch * 18, desc="Epochs", ncols=90, unit="epoch"))
        for i in range(0, total + 1, 2):
            log.raw("\n\r" + tqdm(i, total, i * .2, desc="Batches", ncols=90, unit="batch", postfix=f"loss={log.loss((epoch + i / total) / 10):.3f}") + "\x1b[A", step=True)
            last = epoch * total + i
        log.raw("\n\r" + " " * 89 + "\r\x1b[A")
    log.raw("\r" + tqdm(5, 10, 90, desc="Epochs", ncols=90, unit="epoch"))
    return truth(last, total=10 * total, epoch_steps=total, last_epoch=5, notes="the outer bar counts finished epochs (0 during the first one): 4*90+90 = 450")


@positive("tqdm_no_total", "tqdm/tqdm std.py without a total")
def tqdm_no_total(log):
    last = 0
    for i in range(0, 900, 3):
        log.bar(tqdm(i, None, i * .04, desc="training", postfix="" if i == 0 else f"loss={log.loss(i / 900):.3f}"))
        last = i
    log.line()
    return truth(last)


@positive("tqdm_scaled", "tqdm/tqdm std.py with unit_scale=True (k and M)")
def tqdm_scaled(log):
    last = 0
    for i in range(0, 1_500_001, 6000):
        log.bar(tqdm(i, 2_000_000, i / 5200, desc="Training", scale=True, unit="step", postfix=f"return={log.near(i / 9000):.1f}"))
        last = i
    return truth(last, total=2_000_000, notes="read as 1.50M of 2.00M: two or three digits, so within 0.5 %")


@positive("tqdm_epoch_desc", "hand-written: tqdm(loader, desc=f'Epoch {e}/{n}') with a validation bar")
def tqdm_epoch_desc(log):
    last, total = 0, 150
    for epoch in range(1, 4):
        for i in range(0, total + 1, 2):
            log.bar(tqdm(i, total, i * .09, desc=f"Epoch {epoch}/3 [train]", postfix="" if i == 0 else f"loss={log.loss((epoch - 1 + i / total) / 3):.4f}, lr=1.0e-03"))
            last = (epoch - 1) * total + i
        log.line()
        for i in range(0, 31, 3):
            log.raw("\r" + tqdm(i, 30, i * .04, desc=f"Epoch {epoch}/3 [valid]"))
        log.line()
        log.line(f"Epoch {epoch}: train_loss=0.{9 - epoch}112 val_loss=0.{9 - epoch}511 val_acc=0.{5 + epoch}2")
    return truth(last, total=450, epoch_steps=150, last_epoch=3)
