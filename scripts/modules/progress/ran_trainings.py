"""Formats of public trainings that ran for docs/STEPS.md and docs/METHOD.md, and of others in the same repositories."""
from .lib import clock, negative, positive, tqdm, truth
from .script_formats import by_epoch, counted


def every(stride, name, source, text, epochs, length, stop, end=None, first=None, unit="steps", **more):
    """A line at each multiple of `stride`, in epochs of `length` of which the end is not printed. The last one stops at `stop`."""

    @positive(name, source)
    def write(log):
        for e in range(epochs):
            for n in range(stride if first is None else first, (stop if e == epochs - 1 else length) + 1, stride):
                log.tick(1)
                log.step(text(log, e + 1, n, e / epochs))
            if end and e < epochs - 1:
                log.line(end(log, e + 1, e / epochs))
        return truth(str((epochs - 1) * length + n), unit, **more)



every(8, "cifar100_small_batches", "weiaicunzai/pytorch-cifar100 train.py, batches of 8", lambda log, e, n, p: f"Training Epoch: {e} [{n}/3200]\tLoss: {log.loss(p, 4.7):0.4f}\tLR: {.1 * n / 3200:0.6f}", 3, 3200, 1600, end=lambda log, e, p: f"epoch {e} training time consumed: {log.near(60.):.2f}s\nEvaluating Network.....\nTest set: Epoch: {e}, Average loss: {log.loss(p):.4f}, Accuracy: {p:.4f}, Time consumed:{log.near(9.):.2f}s\n", unit="samples", epoch_steps=3200)
counted("pygcn", "tkipf/pygcn pygcn/train.py", lambda log, n, p: f"Epoch: {n:04d} loss_train: {log.loss(p):.4f} acc_train: {p:.4f} loss_val: {log.loss(p):.4f} acc_val: {p * .9:.4f} time: {log.near(.02):.4f}s", 1, 400, 1, unit="epochs")
every(100, "informer_iters", "zhouhaoyi/Informer2020 exp/exp_informer.py", lambda log, e, n, p: f"\titers: {n}, epoch: {e} | loss: {log.loss(p):.7f}\n\tspeed: {log.near(.06):.4f}s/iter; left time: {log.near(150.):.4f}s", 4, 267, 200, end=lambda log, e, p: f"Epoch: {e} cost time: {log.near(16.)}\nEpoch: {e}, Steps: 267 | Train Loss: {log.loss(p):.7f} Vali Loss: {log.loss(p):.7f} Test Loss: {log.loss(p):.7f}\nValidation loss decreased ({log.loss(p):.6f} --> {log.loss(p):.6f}).  Saving model ...\nUpdating learning rate to {1e-4 / 2 ** (e - 1)}")
every(10, "tutorial_vae", "yunjey/pytorch-tutorial variational_autoencoder/main.py", lambda log, e, n, p: f"Epoch[{e}/15], Step [{n}/469], Reconst Loss: {log.near(11000.):.4f}, KL Div: {log.near(2400.):.4f}", 4, 469, 220, total=7035, epoch_steps=469)
every(100, "tutorial_language_model", "yunjey/pytorch-tutorial language_model/main.py", lambda log, e, n, p: f"Epoch [{e}/5], Step[{n}/1549], Loss: {log.loss(p, 9.2):.4f}, Perplexity: {log.near(300.):5.2f}", 3, 1549, 800, first=0, total=7745, epoch_steps=1549)
counted("tutorial_first_epoch", "yunjey/pytorch-tutorial recurrent_neural_network/main.py, stopped in its first epoch", lambda log, n, p: f"Epoch [1/2], Step [{n}/600], Loss: {log.loss(p):.4f}", 100, 500, 100, total=1200, epoch_steps=600)
every(10, "supcon", "HobbitLong/SupContrast main_supcon.py", lambda log, e, n, p: f"Train: [{e}][{n}/800]\tBT {log.near(.2):.3f} ({log.near(.2):.3f})\tDT {log.near(.01):.3f} ({log.near(.01):.3f})\tloss {log.loss(p, 4.8):.3f} ({log.loss(p, 4.8):.3f})", 3, 800, 400, end=lambda log, e, p: f"epoch {e}, total time {log.near(160.):.2f}", epoch_steps=800)
by_epoch("cost_every_thousand", "graykode/nlp-tutorial: Epoch: 1000 cost = 0.3", lambda log, e, n, s, p: f"Epoch: {n:04d} cost = {log.loss(p):.6f}", 1, 5001, 1000, first=1000, stop=5000, unit="epochs|steps")
counted("jax_epoch_in_sec", "google/jax examples/mnist_classifier.py", lambda log, n, p: f"Epoch {n} in {log.near(2.):0.2f} sec\nTraining set accuracy {p * .9}\nTest set accuracy {p * .88}", 0, 9, 1, unit="epochs")
by_epoch("ddp_rank_iter", "pytorch/examples distributed/minGPT-ddp/mingpt/trainer.py", lambda log, e, n, s, p: f"[RANK0] Epoch {e} | Iter {n} | Train Loss {log.loss(p, 4.2):.5f}", 3, 230, 100, stop=200, end=lambda log, e, p: f"[RANK0] Epoch {e} | Iter 0 | Eval Loss {log.loss(p, 4.2):.5f}\nSnapshot saved at epoch {e}", estimate=300)


@positive("fabric_small_batches", "Lightning-AI/pytorch-lightning examples/fabric/image_classifier/train_fabric.py, batches of 16")
def fabric(log):
    for e in range(1, 4):
        for k in [0] + list(range(9, 375, 10)):
            log.tick(1)
            log.step(f"Train Epoch: {e} [{k * 16}/6000 ({100. * k / 375:.0f}%)]\tLoss: {log.loss(e / 4):.6f}")
        log.line(f"\nTest set: Average loss: {log.loss(e / 4):.4f}, Accuracy: ({20 * e}%)\n")
    return truth(str(12000 + 369 * 16), "samples", epoch_steps=6000)


@positive("dpo_pipe_in_blocks", "huggingface/trl trl/scripts/dpo.py into a pipe: bars at once, lines in blocks of 8 KiB")
def dpo_in_blocks(log):
    held = ""
    for n in range(0, 646):
        log.raw("\r" + tqdm(n, 700, n * .1 + .01), step=n > 0)
        if n and n % 10 == 0:
            held += f"{{'loss': '{log.loss(n / 700, .7, .6):.4f}', 'grad_norm': '{log.near(11.):.2f}', 'learning_rate': '4.9e-06', 'entropy': '6.653', 'num_tokens': '{56 * n}', 'logits/chosen': '{log.near(.004):.6f}', 'rewards/accuracies': '0.6', 'epoch': '{n / 3000:.6f}'}}\n"
            if len(held) > 8192:
                log.raw(held)
                held = ""
    return truth("645", "steps", total=700)


@positive("fit_in_a_loop", "keras-team/keras-io examples/nlp/addition_rnn.py: a bar for each call of fit")
def fit_in_a_loop(log):
    for iteration in range(1, 4):
        log.line(f"\nIteration {iteration}")
        for n in range(1, 1408 if iteration < 3 else 700, 6):
            part = (iteration + n / 1407) / 30
            log.raw(f"\r\x1b[1m{n:4d}/1407\x1b[0m \x1b[32m━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━━━━\x1b[0m \x1b[1m17s\x1b[0m 20ms/step - accuracy: {part:.4f} - loss: {log.loss(part, 2.):.4f}", step=True)
        if iteration < 3:
            log.raw(f"\r\x1b[1m1407/1407\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m28s\x1b[0m 20ms/step - accuracy: {part:.4f} - loss: {log.loss(part, 2.):.4f} - val_accuracy: {part:.4f} - val_loss: {log.loss(part, 2.):.4f}\n")
            for k in range(10):
                log.line(f"Q {log.random.randint(1, 999)}+{log.random.randint(1, 999)} T {log.random.randint(1, 1998)} \x1b[91m☒ {log.random.randint(1, 1998)}\x1b[0m")
    return truth(str(2 * 1407 + n), "steps", epoch_steps=1407)


@positive("pyro_step_and_loss", "pyro-ppl/pyro examples/lda.py, hmm.py: columns Step and Loss behind milliseconds")
def pyro_step_and_loss(log):
    stamp = 2538
    log.line(f"{stamp:9d} Generating data")
    log.line(f"{stamp + 1766:9d} ----------------------------------------")
    log.line(f"{stamp + 1768:9d} Training on 400 documents")
    log.line(f"{stamp + 1768:9d} Step\tLoss")
    for n in range(0, 800, 10):
        stamp += log.random.randint(3000, 6000)
        log.step(f"{stamp:9d} {n:>5d}\t{log.loss(n / 800, 220515., 190000.)}")
    return truth("790", "steps")


@positive("zoo_dqn_tables", "DLR-RM/rl-baselines3-zoo train.py --algo dqn: tables after every fourth episode")
def zoo_dqn_tables(log):
    for line in ("========== CartPole-v1 ==========", "Seed: 3138814862", "OrderedDict([('batch_size', 64),", "             ('buffer_size', 100000),", "             ('train_freq', 256)])", "Using 1 environments", "Overwriting n_timesteps with n=50000"):
        log.line(line)
    steps, rule = 0, "-" * 34
    for episodes in range(4, 640, 4):
        steps += log.random.randint(60, 130)
        rows = [("rollout/", ""), ("   ep_len_mean", f"{log.near(22.):.1f}"), ("   exploration_rate", f"{max(.04, 1 - steps / 8000):.3f}"), ("time/", ""), ("   episodes", episodes), ("   fps", 1000 + episodes % 90), ("   time_elapsed", episodes // 64), ("   total_timesteps", steps)]
        if steps > 1000:
            rows += [("train/", ""), ("   learning_rate", "0.0023"), ("   loss", f"{log.loss(.5):.3f}"), ("   n_updates", steps // 2)]
        log.line(rule)
        for name, value in rows:
            log.raw(f"| {name:<20}| {value!s:<9}|\n", step=name.strip() == "total_timesteps")
        log.line(rule)
    return truth(str(steps), "timesteps")


@positive("predictions_between_epochs", "huggingface/accelerate examples/nlp_example.py: predictions of each evaluation, then its epoch")
def predictions_between_epochs(log):
    for e in range(3):
        for _ in range(13):
            digits = [str(log.random.randint(0, 1)) for _ in range(32)]
            log.line("=====  tensor([" + ", ".join(digits[:24]) + ",\n        " + ", ".join(digits[24:]) + "])")
        log.step(f"epoch {e}: {{'accuracy': {log.near(.6):.4f}, 'f1': {log.near(.7):.4f}}}")
    return truth("2", "epochs")


@positive("transformer_epoch_bars", "jadore801120/attention-is-all-you-need-pytorch train.py: a bar for each pass, gone at its end")
def transformer_epoch_bars(log):
    for e in range(3):
        log.line(f"[ Epoch {e} ]")
        for n in range(0, 228 if e < 2 else 100, 9):
            log.raw("\r" + tqdm(n, 227, n * .2 + .01, desc="  - (Training)   "), step=n > 0)
        if e < 2:
            log.raw("\r" + " " * 80 + "\r")
            log.line(f"  - (Training)   ppl: {log.near(90.): 8.5f}, accuracy: {30 + e:3.3f} %, lr: {.0001 * (e + 1):8.5f}, elapse: {log.near(.8):3.3f} min")
            for n in range(0, 8):
                log.raw("\r" + tqdm(n, 8, n * .1 + .01, desc="  - (Validation) "))
            log.raw("\r" + " " * 80 + "\r")
            log.line(f"  - (Validation) ppl: {log.near(90.): 8.5f}, accuracy: {30 + e:3.3f} %, lr: {.0001 * (e + 1):8.5f}, elapse: {log.near(.1):3.3f} min")
    return truth(str(2 * 227 + n), "steps", epoch_steps=227)


@negative("beam_search_bar", "jadore801120/attention-is-all-you-need-pytorch translate.py: a bar of sentences")
def beam_search_bar(log):
    log.line("[Info] Trained model state loaded.")
    for n in range(0, 1001, 7):
        log.raw("\r" + tqdm(n, 1000, n * .2 + .01, desc="  - (Test)"))
    log.line("\n[Info] Finished.")


@negative("zoo_enjoy", "DLR-RM/rl-baselines3-zoo enjoy.py: episodes of a trained agent")
def zoo_enjoy(log):
    log.line("Loading latest experiment, id=1")
    log.line("Loading logs/dqn/CartPole-v1_1/CartPole-v1.zip")
    for _ in range(40):
        log.line(f"Episode Reward: {log.near(480.):.2f}")
        log.line(f"Episode Length {log.random.randint(300, 500)}")


@negative("labelled_predictions", "huggingface/accelerate: predictions of an evaluation alone")
def labelled_predictions(log):
    for _ in range(60):
        log.line("=====  tensor([" + ", ".join(str(log.random.randint(0, 1)) for _ in range(24)) + "])")
    log.line(f"accuracy {log.near(.6):.4f} in {clock(71)}")
