"""Formats of training scripts in public repositories, found by their format strings."""
from .lib import positive, truth

SOURCE = "public training script: "


def counted(name, form, text, first, last, every, total="", unit="steps", before=(), **more):
    """A log of one line for each count from `first` to `last`; `text` makes it from the log, the count and the share of the run."""

    @positive(name, SOURCE + form)
    def write(log):
        for line in before:
            log.line(line)
        for n in range(first, last + 1, every):
            log.tick(2)
            for k, line in enumerate(text(log, n, n / last).split("\n")):
                log.line(line, step=k == 0)
        return truth(str(n), unit, total=total, **more)


def by_epoch(name, form, text, epochs, length, every, first=0, first_epoch=1, stop=None, end=None, total="", unit="steps", epoch_steps="", estimate=None, before=()):
    """A log whose counts restart with each epoch. The last epoch stops at `stop`; `end` makes the line after an epoch."""

    @positive(name, SOURCE + form)
    def write(log):
        for line in before:
            log.line(line)
        for e in range(epochs):
            part = e / epochs
            until = stop if stop is not None and e == epochs - 1 else length + first - 1
            for n in range(first, until + 1, every):
                log.tick(1)
                log.step(text(log, e + first_epoch, n, e * length + n, part))
            if end and e < epochs - 1:
                log.line(end(log, e + first_epoch, part))
        right = {(epochs - 1) * length + n} | ({(epochs - 1) * estimate + n} if estimate else set())
        return truth("|".join(map(str, sorted(right))), unit, total=total, epoch_steps=epoch_steps)


by_epoch("script_batch_is_samples", "Epoch: 1 | Batch: 640/60000 (1%) | Loss: 0.3", lambda log, e, n, s, p: f"Epoch: {e} | Batch: {n}/60000 ({n / 600:.0f}%) | Loss: {log.loss(p):.6f}", 3, 60000, 6400, first_epoch=1, stop=32000, unit="samples|steps", epoch_steps=60000)
by_epoch("script_epoch_batch_pipe", "Epoch: 0 | Batch: 100 | Loss: 0.3", lambda log, e, n, s, p: f"Epoch: {e} | Batch: {n} | Loss: {log.loss(p)}", 4, 938, 100, first_epoch=0, stop=500, estimate=1000)
by_epoch("script_epoch_batch_acc", "Epoch: 1 | Batch: 10 |  Loss: (0.3) | Acc: (91.2%) (64/70)", lambda log, e, n, s, p: f"Epoch: {e} | Batch: {n} |  Loss: ({log.loss(p):.4f}) | Acc: ({log.near(90.):.2f}%) ({(n + 1) * 115}/{(n + 1) * 128})", 3, 391, 10, stop=200, estimate=400)
counted("script_train_preparing", "[TRAIN] Step 1/200 - Preparing batch... and its loss", lambda log, n, p: f"INFO:fed:[TRAIN] Step {n}/200 - Preparing batch...\nINFO:fed:[TRAIN] Step {n}/200 - Loss: {log.loss(p):.4f} ({log.near(1.2):.2f}s)", 1, 200, 1, total=200)
counted("script_train_scalars", "[train] step=10 loss=0.3 lr=0.0001", lambda log, n, p: f"{log.ms()} [train] step={n} loss={log.loss(p):.4f} lr={1e-4:.4f} grad_norm={log.near(.9):.4f}", 10, 900, 10)
counted("script_train_complete", "[Train] Step 3/100 and [Train] Step 3 complete: {...}", lambda log, n, p: f"[Train] Step {n}/100\n[Train] Step {n} complete: {{'loss': {log.loss(p):.5f}, 'reward': {log.near(.4):.3f}}}", 0, 99, 1, total=100)
counted("script_train_colon", "[train] step: 100, loss: 0.312", lambda log, n, p: f"[{log.at()}] [train] step: {n}, loss: {log.loss(p):.3f}", 0, 8000, 100)
by_epoch("script_step_of_loader", "[Train] Step 5/120, Loss: 0.3, the epoch in its own line", lambda log, e, n, s, p: f"{log.at()} INFO [Train] Step {n}/120, Loss: {log.loss(p):.4f}", 4, 120, 5, first=5, stop=85, end=lambda log, e, p: f"{log.at()} INFO Epoch {e} average training loss: {log.loss(p):.4f}\n{log.at()} INFO Validation: loss {log.loss(p):.4f}", epoch_steps=120)
counted("script_step_then_metrics", "[Train] step 100, its metrics in lines of their own", lambda log, n, p: f"INFO - [Train] step {n}\nINFO - loss: {log.loss(p):.5f}\nINFO - accuracy: {.9 * p:.4f}", 99, 5099, 100)
counted("script_iter_in_bracket", "[iter 3 : loss : 0.3, time: 1.2]", lambda log, n, p: f"[iter {n} : loss : {log.loss(p):f}, time: {log.near(12.):f}]", 1, 90, 1, unit="steps|epochs")
counted("script_iter_brackets", "[Iter 100/800000] [vgg loss: 0.3] [l1 loss: 0.1]", lambda log, n, p: f"[Iter {n}/800000] [vgg loss: {log.loss(p):f}] [l1 loss: {log.loss(p):f}] [g loss: {log.near(.8):f}] [d loss: {log.near(.7):f}]", 0, 20000, 100, total=800000)
counted("script_iter_rewards", "[iter 3] avg rewards: -2.1 avg slowdowns: 3.2", lambda log, n, p: f"[iter {n}] avg rewards: {-log.near(3.):0.3f}\tavg slowdowns: {log.near(4.):0.3f}, etnropies {log.near(1.):0.2f}, fjc: {100 + n % 7}\navg usages [{log.near(.5):.8f} {log.near(.5):.8f}]", 0, 150, 1)
counted("script_iter_loss", "[Iter 250] Loss 0.3", lambda log, n, p: f"[Iter {n}] Loss {log.loss(p):f}", 0, 20000, 250)
counted("script_iter_student", "[Iter 3/200] [S loss: 0.3] [Train Stu Acc: 71.2%]", lambda log, n, p: f"[Iter {n}/200] [S loss: {log.loss(p):.6f}] [Train Stu Acc: {90 * p:.4f}%] [Test top1 acc: {80 * p:.4f}%] [Time: {log.near(.4):.6f} s] ", 1, 160, 1, total=200)
counted("script_step_elapsed", "step: 20, loss: 0.3, elapsed time: 1.2 seconds.", lambda log, n, p: f"INFO:root:step: {n}, loss: {log.loss(p):.5f}, elapsed time: {log.near(3.):.5f} seconds.", 20, 4000, 20)
counted("script_step_average", "step: 20, loss: 0.3, avg_loss: 0.3", lambda log, n, p: f"{log.ms()} - trainer - INFO - step: {n}, loss: {log.loss(p):.5f}, avg_loss: {log.loss(p):.5f}", 1, 700, 1)
counted("script_step_similarity", "step: 3, loss: 0.3, similarity: 0.9", lambda log, n, p: f"step: {n}, loss: {log.loss(p):.10f}, similarity: {p:.10f}", 0, 999, 1)
counted("script_step_l2", "Step: 1000, Loss: 3e-1, Test L2 error: 0.1, Time (secs): 12.1", lambda log, n, p: f"Step: {n}, Loss: {log.loss(p):.4e}, Test L2 error: {log.loss(p, 1., .01):.4f}, Time (secs): {log.near(12.):.4f}", 0, 90000, 1000)
by_epoch("script_train_pipe_cost", "TRAIN | epoch 0 | batch 3 | loss 0.3 | cost 0.2s", lambda log, e, n, s, p: f"INFO:root:TRAIN | epoch {e} | batch {n} | loss {log.loss(p)} | cost {log.near(.2):.5f}s", 3, 250, 1, first_epoch=0, stop=120, estimate=249)
by_epoch("script_train_pipe_of", "Train | Epoch 0/5, Batch 3/200  Loss: 0.3", lambda log, e, n, s, p: f"Train | Epoch {e}/5, Batch {n}/200  Loss: {log.loss(p):.3f}, Acc: {log.near(.8):.3f}", 3, 200, 1, first_epoch=0, stop=90, total="1000", epoch_steps=200)
by_epoch("script_global_iteration", "Train | epoch 1/5 | global iteration 250/1000 | step 50/200 | loss_total 0.3", lambda log, e, n, s, p: f"Train | epoch {e}/5 | global iteration {s}/1000 | step {n}/200 | loss_total {log.loss(p):.6f} | loss_reverse_degradation {log.loss(p):.6f} | step {log.near(.4):.3f}s | eta 00:{40 - s // 50:02d}:10", 3, 200, 10, first=10, stop=100, total=1000, epoch_steps="")


@positive("script_epoch_accuracy", SOURCE + "Train | Epoch 3 | Accuracy 0.8, the same for Valid")
def epoch_accuracy(log):
    for e in range(40):
        log.line(f"{f'Epoch {e}':-^60}")
        log.step(f"Train | Epoch {e} | Accuracy {.9 * e / 40:.4f}")
        log.line(f"Valid | Epoch {e} | Accuracy {.8 * e / 40:.4f}")
    return truth("39", "epochs")


counted("script_epoch_losses", "Train | Epoch 3 | train_loss: 0.3, classification_loss: 0.2", lambda log, n, p: f"Train | Epoch {n} | train_loss: {log.loss(p)}, classification_loss: {log.loss(p)}, discrimination_loss_U: {log.loss(p)}, discrimination_loss_L: {log.loss(p)}", 0, 120, 1, unit="epochs")
by_epoch("script_batches_ms", "Train | epoch   1 |   200/ 2983 batches | ms/batch 12.1 | loss  5.1", lambda log, e, n, s, p: f"I0311 09:14:02.318104 1404 train.py:88] Train | epoch {e:3d} | {n:5d}/ 2983 batches | ms/batch {log.near(12.):5.2f} | loss {log.loss(p, 6.):5.2f} | ppl {log.near(200.):8.2f}", 3, 2983, 200, first=200, stop=1000, epoch_steps=2983)
counted("script_step_bracket", "[step 100] loss=0.3 aed=0.2 ctc=0.4", lambda log, n, p: f"[step {n}] loss={log.loss(p):.4f} aed={log.loss(p):.4f} ctc={log.loss(p):.4f} lr={2e-4:.2e} {log.near(9.):.1f} it/s", 50, 6000, 50)
by_epoch("script_stage_step", "  [Stage 1 | Ep 1 | Step 50] Loss: 0.3 (Avg: 0.4) | LR: 1e-4", lambda log, e, n, s, p: f"  [Stage 1 | Ep {e} | Step {s}] Loss: {log.loss(p):.4f} (Avg: {log.loss(p):.4f}) | LR: {1e-4:.2e}", 3, 400, 50, first=50)
counted("script_eval_at", "[step 100] loss=0.3 between [Eval @ step 500] loss=0.3 ppl=1.2", lambda log, n, p: f"INFO [step {n}] loss={log.loss(p):.4f} ppl={log.near(9.):.2f}" + (f"\n\n[Eval @ step {n}] loss={log.loss(p):.4f} ppl={log.near(9.):.2f}" if n % 500 == 0 else ""), 20, 3000, 20)
by_epoch("script_initials_bracket", "[E1|S100] loss=0.3 gcl=0.2 lr=1e-4", lambda log, e, n, s, p: f"{log.ms()} INFO [E{e}|S{s}] loss={log.loss(p):.4f} gcl={log.loss(p):.4f} anchor={log.loss(p):.4f} lr={1e-4:.2e}", 3, 300, 20, first=20)
counted("script_number_bracket", "[1200] loss=0.3 time_per_iter=0.2s eta=1h", lambda log, n, p: f"[{n}] loss={log.loss(p):.4f} time_per_iter={log.near(.2):.4f}s eta={3 - 2 * p:.2f}h", 100, 9000, 100)
by_epoch("script_glued_names", "[e0 it100 step100] loss=0.3  iter_time=0.2s", lambda log, e, n, s, p: f"[e{e} it{n} step{s}] loss={log.loss(p):.4f}  iter_time={log.near(.2):.3f}s", 3, 500, 50, first_epoch=0)
counted("script_step_vram", "[STEP 10] loss=0.3 roll=0.4 ppl=1.2 vram=812/900MB", lambda log, n, p: f"[STEP {n}] loss={log.loss(p):.6f} roll={log.loss(p):.6f} ppl={log.near(9.):.2f} vram={log.near(8000.):.0f}/9000MB grad={log.near(.9):.2f}", 5, 800, 5)
counted("script_ep_loss", "Ep 5 Loss: 0.3", lambda log, n, p: f"Ep {n} Loss: {log.loss(p):.4f}", 5, 100, 5, unit="epochs")
counted("script_ep_score", "Ep   12 | score= 210.0 | dots= 30 | ghosts=2", lambda log, n, p: f"Ep {n:4d} | score={log.near(210.):6.1f} | dots={30 + n % 9:3d} | ghosts={n % 4} | epsilon={1 - p:.3f}", 0, 400, 1, unit="epochs|episodes|steps")
counted("script_ep_reward", "Ep 3/500, reward=21.00", lambda log, n, p: f"Ep {n}/500, reward={log.near(21.):.2f}", 1, 320, 1, total=500, unit="epochs|episodes|steps")
counted("script_ep_train_val", "Ep 001 | Train: 0.3 | Val Loss: 0.3 | Val MSE: 0.2", lambda log, n, p: f"Ep {n:03d} | Train: {log.loss(p):.4f} | Val Loss: {log.loss(p):.4f} | Val MSE: {log.loss(p):.4f}", 1, 70, 1, unit="epochs")
by_epoch("script_ep_step", "Ep 1 (Step 000005): Train 9.1 | Val 9.2 | tok 10240", lambda log, e, n, s, p: f"Ep {e} (Step {s:06d}): Train {log.loss(p, 9.):.3f} | Val {log.loss(p, 9.):.3f} | tok {s * 1024}", 3, 200, 5)
counted("script_selfplay", "ep   100 | selfplay decided 90%, len 30 | vs 2 random: 60%", lambda log, n, p: f"ep {n:5d} | selfplay decided {log.near(90.):.0f}%, len {log.near(30.):.0f} | vs 2 random: {60 + 30 * p:.0f}% | vs 2 greedy: {30 + 30 * p:.0f}% | {n / 10:.0f}s", 100, 9000, 100, unit="epochs|episodes|steps")
counted("script_wins", "Ep 100/1000  wins=41 losses=40 draws=19  eps=0.9  time=1.2s", lambda log, n, p: f"Ep {n}/10000  wins={int(n * .5)} losses={int(n * .4)} draws={int(n * .1)}  eps={1 - p * .9:.4f}  time={n / 90:.1f}s", 1000, 10000, 1000, total=10000, unit="epochs|episodes|steps")
counted("script_minibatch_pipe", "Minibatch    100  | loss  0.50 | err rate  3.20%", lambda log, n, p: f"Minibatch {n: >6}  | loss {log.loss(p): >5.2f} | err rate {90 - 80 * p: >5.2f}%", 0, 5000, 100)


@positive("script_minibatch_return", SOURCE + "minibatch 3: 4/200, lr=0.1 with a carriage return")
def minibatch_return(log):
    for n in range(600):
        log.raw(f"minibatch {n}: {n % 200}/200, lr={.1:0.5f}\r\n", step=True)
    return truth("599", "steps")


by_epoch("script_minibatch_seconds", "Minibatch 3: 0.123 sec and End epoch 0: 12.3 sec", lambda log, e, n, s, p: f"Minibatch {n}: {log.near(.12):.3f} sec", 4, 100, 1, first_epoch=0, stop=60, end=lambda log, e, p: f"End epoch {e}: {log.near(12.):.3f} sec", before=("Epoch 0 of training",))
counted("script_minibatch_done", "Minibatch 3 Done!", lambda log, n, p: f"Minibatch {n} Done!", 1, 400, 1, before=("Start training the generator",))
counted("script_minibatch_of", "minibatch 3 of 200: runnning_loss : 0.3,", lambda log, n, p: f"minibatch {n} of 200: runnning_loss : {log.loss(p):.4f}, ", 0, 199, 1, total=200)


@positive("script_update_steps", SOURCE + "Update 3/976 completed. Total steps: 6144/2000000")
def update_steps(log):
    for n in range(1, 301):
        log.step(f"Update {n}/976 completed. Total steps: {n * 2048}/2000000")
    return truth(f"300|{300 * 2048}", "steps|timesteps", total="976|2000000")


@positive("script_update_variance", SOURCE + "Update 02/50 | Steps:   4,096 | ExplVar: +0.1")
def update_variance(log):
    for n in range(1, 45):
        log.step(f"Update {n:02d}/50 | Steps: {n * 2048:7,d} | ExplVar: {n / 60:+7.4f} | Clip: {log.near(.1):.3f} | KL: {log.near(.01):.4f} | Ret: {log.near(9.):.2f}")
    return truth(f"44|{44 * 2048}", "", total="50|")


@positive("script_tokens_line", SOURCE + "Ep 1 (Step 000100): Train loss 3.1, Val loss 3.2 and Tokens seen: 102400 (0.05%)")
def tokens_line(log):
    for n in range(0, 3001, 100):
        log.step(f"Ep {1 + n // 1600} (Step {n:06d}): Train loss {log.loss(n / 3000, 9.):.3f}, Val loss {log.loss(n / 3000, 9.):.3f}")
        log.line(f"Tokens seen: {n * 1024} ({n / 300:.2f}%)")
    return truth("3000", "steps")


counted("script_global_step_tokens", "Epoch: 1, Global step: 100, Tokens seen: 10240, Train loss: 3.1", lambda log, n, p: f"Epoch: {1 + n // 800}, Global step: {n}, Tokens seen: {n * 1024}, Train loss: {log.loss(p, 9.):.3f}, Val loss: {log.loss(p, 9.):.3f}", 0, 2500, 50)
counted("script_step_tokens", "Epoch: 1/3, Step: 100, Train Loss: 3.1, Tokens Seen: 10240", lambda log, n, p: f"Epoch: {1 + n // 900}/3, Step: {n}, Train Loss: {log.loss(p, 9.):.4f}, Valid Loss: {log.loss(p, 9.):.4f}, Tokens Seen: {n * 512}", 0, 2600, 100)
counted("script_go_epoch", "Epoch 10: avg loss = 0.3 (Go)", lambda log, n, p: f"Epoch {n}: avg loss = {log.loss(p):.4f}", 0, 490, 10, unit="epochs")
counted("script_go_error", "Epoch 2000 - Error sum: 0.1 (Go)", lambda log, n, p: f"Epoch {n} - Error sum: {log.loss(p):.4f}", 0, 58000, 2000, unit="epochs")
counted("script_julia_bias", "Epoch 10 | Bias (Std): 0.1 | Bias (End): 0.1 (Julia)", lambda log, n, p: f"Epoch {n} | Bias (Std): {log.loss(p):.4f} | Bias (End): {log.loss(p):.4f}", 10, 500, 10, unit="epochs")
by_epoch("script_cuda_iter", "Epoch 1/5, Iter 100/1875, Loss: 0.3, Test Accuracy: 91.2% (CUDA)", lambda log, e, n, s, p: f"Epoch {e}/5, Iter {n}/1875, Loss: {log.loss(p):.4f}, Test Accuracy: {90 * p:.2f}%", 3, 1875, 100, first=101, stop=900, total=9375, epoch_steps=1875)
counted("script_c_epoch", "Epoch 3 | loss=0.3 | train_acc=0.9 | test_acc=0.9 | lr=0.01 (C)", lambda log, n, p: f"Epoch {n} | loss={log.loss(p):.4f} | train_acc={.9 * p:.3f} | test_acc={.9 * p:.3f} | lr={.01:.6f}", 1, 60, 1, unit="epochs")
counted("script_epoch_runtime", "Epoch 3 train runtime: 1234 ms (C++)", lambda log, n, p: f"Epoch {n} train runtime: {log.near(1200.):.0f} ms\nEpoch {n} test accuracy: {90 * p:.2f}", 0, 40, 1, unit="epochs")
by_epoch("script_worker_batches", "worker 0, epoch: [1/10], batches: [10/200], loss: 0.3", lambda log, e, n, s, p: f"{log.ms()} INFO train.py:24 worker 0, epoch: [{e}/10], batches: [{n}/200], loss: {log.loss(p):f}", 3, 200, 10, first_epoch=0, stop=120, total=2000, epoch_steps=200)
by_epoch("script_dashes", "epoch-0 | iter-500 | loss: 0.3", lambda log, e, n, s, p: f"[{log.at()}] epoch-{e} | iter-{n} | loss: {log.loss(p):.4f}", 3, 3000, 500, first=500, first_epoch=0, stop=2000, estimate=None)
by_epoch("script_pairs", "[1/10, 20/200] Loss = 0.3", lambda log, e, n, s, p: f"[{e}/10, {n}/200] Loss = {log.loss(p)}", 3, 200, 10, first_epoch=0, stop=120, total=2000, epoch_steps=200)
counted("script_tracker", "Iteration 100: train loss: 0.3", lambda log, n, p: f"INFO:loss:Iteration {n}: train loss: {log.loss(p):.4f}", 100, 7000, 100)
