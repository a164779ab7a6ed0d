"""Set H: what loops of public scripts print, and of some well-known projects, collected after set G was corrected for; and other programs.

Where no project is named, the format string stands in many scripts of single persons. The numbers are invented.
"""
from .lib import negative, positive, tqdm, truth


@positive("bracket_dot_batch", "video classification scripts: [1.     5] loss: 0.412")
def bracket_dot_batch(log):
    for epoch in range(1, 4):
        for n in range(5, 51, 5):
            log.step(f"[{epoch}. {n:5d}] loss: {log.loss(epoch / 3):.3f}")
    return truth(150)


@positive("mixture_bracket", "mixture density networks: [3/400] Loss:1.4123, nothing else")
def mixture_bracket(log):
    for n in range(0, 400):
        log.step(f"[{n}/400] Loss:{log.loss(n / 400):.4f}")
    return truth(399, total=400)


@positive("write_returned", "tqdm.write(…, end='\\r') for each epoch, a line at validations")
def write_returned(log):
    for n in range(1, 101):
        log.raw(f"Epoch {n}, Loss: {log.loss(n / 100)}" + ("\n" if n % 10 == 0 else "\r"), step=True)
    return truth(100, "epochs")


@positive("now_epoch_batch", "PaddlePaddle/models legacy scripts: Now epoch: 0, batch: 100, avg loss: 2.3, spend 31 s")
def now_epoch_batch(log):
    for epoch in range(3):
        for n in range(0, 900, 100):
            log.step(f"{log.ms()}-INFO: Now epoch: {epoch}, batch: {n}, avg loss: {log.loss(epoch / 3):.3f}, spend {epoch * 310 + n // 3} s, speed {log.near(3.):.2f} batch/s, ")
    return truth(2 * 900 + 800)


@positive("colab_progress", "notebook scripts: Epoch 1, Batch 40/200, Loss, Progress: 20.0%, and ✅ Epoch 1 completed")
def colab_progress(log):
    log.line("🚀 Starting training on cuda")
    for epoch in range(1, 4):
        for n in range(0, 200, 20):
            log.step(f"Epoch {epoch}, Batch {n}/200, Loss: {log.loss(epoch / 3):.4f}, Progress: {n / 2:.1f}%")
        log.line(f"✅ Epoch {epoch} completed in {log.near(2.3):.1f} mins | Avg Loss: {log.near(1.):.4f}")
    return truth(580, epoch_steps=200)


@positive("rnng_fractions", "pytorch-rnng: fractions of epochs, Epoch 1 done (1.7199s): 6.66 samples/sec | loss 63.6")
def rnng_fractions(log):
    for epoch in range(1, 9):
        for part in range(1, 5):
            log.line(f"INFO - rnng.trainer - Epoch {epoch - 1 + part / 5:.4f} ({log.near(1.):.4f}s): {log.near(6.):.2f} samples/sec | loss {log.loss(epoch / 9, 90, 40):.4f}", step=True)
        log.line(f"INFO - rnng.trainer - Epoch {epoch} done ({log.near(1.7):.4f}s): {log.near(6.):.2f} samples/sec | loss {log.loss(epoch / 9, 90, 40):.4f} | F1 nan")
    return truth(8, "epochs", notes="the first lines hold fractions of an epoch only")


@positive("zero_iterations", "AlphaZero scripts: Iteration 3/50 as a heading, games, and the steps of its training in one line")
def zero_iterations(log):
    for n in range(1, 31):
        log.step(f"{log.ms()} | INFO | === Iteration {n}/50 ===")
        for game in range(25, 101, 25):
            log.line(f"{log.ms()} | INFO | Self-play: {game}/100 games | {log.near(9.):.1f} games/min")
        log.line(f"{log.ms()} | INFO | Training: 200 steps | {log.near(12.):.1f} batches/sec | {int(log.near(390.))} samples/sec | Loss P {log.near(1.2):.4f} V {log.near(.3):.4f} | LR 1.00e-03 | Buffer {n * 3}%")
    return truth(30, total=50)


@positive("two_spaces", "retrieval scripts with logging: epoch 1  step 50/400  loss 0.4123")
def two_spaces(log):
    for epoch in range(1, 4):
        for n in range(50, 401, 50):
            log.step(f"{log.ms()} INFO train: epoch {epoch}  step {n}/400  loss {log.loss(epoch / 3):.4f}")
        log.line(f"{log.ms()} INFO train: epoch {epoch} done  avg_loss {log.near(.4):.4f}")
    return truth(1200, epoch_steps=400)


@positive("sequence_tagging", "guillaumegenthial/sequence_tagging: Epoch 3 out of 15 above Keras' old bar")
def sequence_tagging(log):
    for epoch in range(1, 4):
        log.line(f"Epoch {epoch} out of 15")
        for n in range(1, 141):
            log.raw(f"\r{n:>3}/140 [{'=' * (n * 29 // 140)}>{'.' * (29 - n * 29 // 140)}] - ETA: {140 - n}s - train loss: {log.loss(epoch / 3):.4f}", step=True)
        log.line(f"\nacc {log.near(90.):.2f} - f1 {log.near(80.):.2f}\n- new best score!")
    return truth(420, epoch_steps=140, total="2100|")


@positive("epoch_time_bars", "neural ODE scripts: Epoch 0012 | Time 12.3100 | Loss 0.4123")
def epoch_time_bars(log):
    for n in range(0, 60):
        log.step(f"{log.ms()} Epoch {n:04d} | Time {log.near(12.):.4f} | Loss {log.loss(n / 60):.4f}")
    return truth(59, "epochs")


@positive("transfer_tutorial", "pytorch/tutorials transfer_learning_tutorial.py: Epoch 0/24, a rule, train Loss and val Loss")
def transfer_tutorial(log):
    for n in range(0, 25):
        log.step(f"Epoch {n}/24")
        log.line(f"----------\ntrain Loss: {log.loss(n / 25):.4f} Acc: {log.near(.8):.4f}\nval Loss: {log.near(.3):.4f} Acc: {log.near(.9):.4f}\n")
    log.line("Training complete in 1m 12s\nBest val Acc: 0.954248")
    return truth(24, "epochs", total="24|25")


@positive("tfjs_epochs", "tensorflow/tfjs callbacks: Epoch 3: loss = 0.412, accuracy = 0.81")
def tfjs_epochs(log):
    for n in range(0, 50):
        log.step(f"Epoch {n}: loss = {log.loss(n / 50):.4f}, accuracy = {log.near(.8):.4f}")
    return truth(49, "epochs")


@positive("js_training_dots", "networks in TypeScript: Epoch 100: Training...")
def js_training_dots(log):
    for n in range(0, 1000, 100):
        log.step(f"Epoch {n}: Training...")
    log.line("Training complete")
    return truth(900, "epochs")


@positive("epoch_start_losses", "trainers in TypeScript: Epoch 3/10 start, losses of batches without a number")
def epoch_start_losses(log):
    for n in range(0, 10):
        log.step(f"Epoch {n}/10 start")
        for _ in range(12):
            log.line(f"loss: {log.loss(n / 10):.4f}")
    return truth(9, "epochs", total="10|")


@positive("cpp_epoch_brackets", "libtorch scripts: Epoch [3/50], Loss: 0.412")
def cpp_epoch_brackets(log):
    for n in range(1, 51):
        log.step(f"Epoch [{n}/50], Loss: {log.loss(n / 50):g}")
    return truth(50, "epochs", total=50)


@positive("cpp_losses_complete", "networks in C++: Loss lines, and Epoch 1/10 complete. behind them")
def cpp_losses_complete(log):
    for n in range(1, 11):
        for _ in range(9):
            log.line(f"Loss: {log.loss(n / 10):g}", step=True)
        log.line(f"Epoch {n}/10 complete.")
    return truth(10, "epochs", total=10)


@positive("cpp_table", "language models in C++: a table of epoch, step, loss and perplexity")
def cpp_table(log):
    log.line("training (one 64-token chunk per step, 2000 steps/epoch):\nepoch    step      loss      perp     time\n-----    -----    ------    ------    -----")
    for epoch in range(1, 4):
        for n in range(200, 2001, 200):
            log.step(f"{epoch:>5}    {n:>5}    {log.loss(epoch / 3, 5, 3):>6.3f}    {log.near(40.):>6.1f}    {epoch * n * .01:.1f}s")
    return truth(6000)


@positive("cpp_epochs_only", "networks in C++: Epoch: 3/20 and an empty line, nothing else")
def cpp_epochs_only(log):
    for n in range(1, 21):
        log.step(f"Epoch: {n}/20")
        log.line()
    return truth(20, "epochs", total=20)


@positive("flow_train_val", "flow matching scripts: step 100: train 0.412, val 0.43")
def flow_train_val(log):
    for n in range(0, 3001, 100):
        log.step(f"step {n}: train {log.loss(n / 3000):.5g}, val {log.loss(n / 3000):.5g}")
        if n % 500 == 0:
            log.line(f"Saving best model at step {n}, val loss {log.near(.4):.5g}")
    return truth(3000)


@positive("grpo_signed", "GRPO scripts: step=   5  reward=+0.310 (±0.12)  loss=+0.0012  fmt=31%  elapsed=120s")
def grpo_signed(log):
    for n in range(0, 200, 5):
        log.step(f"step={n:4d}  reward={log.near(.3):+.3f} (±{log.near(.1):.2f})  loss={log.near(.001):+.4f}  fmt={log.near(.3):.0%}  elapsed={n * 24}s")
    return truth(195)


@positive("step_of_loss", "adapter scripts: step=10/500 loss=0.412345")
def step_of_loss(log):
    for n in [1, *range(10, 501, 10)]:
        log.step(f"step={n}/500 loss={log.loss(n / 500):.6f}")
    return truth(500, total=500)


@positive("step_return", "offline RL scripts: step=1000 return=31.20 succ=0.40")
def step_return(log):
    for n in range(1000, 50001, 1000):
        log.step(f"step={n} return={log.near(n / 1000.):.2f} succ={n / 60000:.2f}")
    return truth(50000)


@positive("vqe_params", "variational circuits: Step 10: Loss=0.412345, Params=[0.1 0.2 0.3]")
def vqe_params(log):
    for n in range(0, 200, 10):
        log.step(f"Step {n}: Loss={log.loss(n / 200):.6f}, Params=[{log.near(.1):.8f} {log.near(.2):.8f} {log.near(-1.3):.8f}]")
    return truth(190)


@positive("udacity_batches", "Udacity's flower classifiers: Batch 10/100.. Train loss: 0.412, an epoch at its end")
def udacity_batches(log):
    for epoch in range(1, 4):
        for n in range(10, 101, 10):
            log.step(f"Batch {n}/100.. Train loss: {log.loss(epoch / 3):.3f}")
        log.line(f"Epoch {epoch}/3.. Validation loss: {log.near(.5):.3f}.. Validation accuracy: {log.near(.8):.3f}")
    return truth(300, epoch_steps="100|", total="300|")


@positive("gradnorm_batches", "multi-task scripts: Epoch 3/50 above '  Batch 100/900, GradNorm Loss: 0.31, Weights: [0.9 1.1]'")
def gradnorm_batches(log):
    for epoch in range(1, 4):
        log.line(f"Epoch {epoch}/50")
        for n in range(0, 900, 100):
            log.step(f"  Batch {n}/900, GradNorm Loss: {log.loss(epoch / 3):.6f}, Weights: [{log.near(.9):.8f} {log.near(1.1):.8f}]")
        log.line(f"  Train loss: {log.near(.5):.4f}  Val loss: {log.near(.5):.4f}")
    return truth(2600, epoch_steps=900, total="45000|")


@positive("assigned_epoch_batch", "point cloud scripts: epoch=1/5 batch=10/100 loss=0.412345 lr=0.001 speed=31.2 batch/s")
def assigned_epoch_batch(log):
    for epoch in range(1, 4):
        for n in range(10, 101, 10):
            log.step(f"epoch={epoch}/5 batch={n}/100 loss={log.loss(epoch / 3):.6f} lr=0.001 speed={log.near(31.):.1f} batch/s")
    return truth(300, epoch_steps=100, total=500)


@positive("grid_positions", "grid models: Epoch 1, Batch 0/99, Loss, and shares of other things below")
def grid_positions(log):
    for epoch in range(1, 4):
        for n in range(0, 100, 10):
            log.step(f"Epoch {epoch}, Batch {n}/99, Loss: {log.loss(epoch / 3):.4f}")
            log.line(f"  Active grid positions (> 0.01): {30 + n % 7}/196\n  Max position score: {log.near(.5):.4f}")
    return truth("288|290")


@positive("aladdin_gan", "aladdinpersson/Machine-Learning-Collection: Epoch [1/100] Batch 100/900 and a gap of many spaces")
def aladdin_gan(log):
    for epoch in range(0, 3):
        for n in range(100, 900, 100):
            log.step(f"Epoch [{epoch}/100] Batch {n}/900                   Loss D: {log.near(-.3):.4f}, loss G: {log.near(.4):.4f}")
    return truth(2600, epoch_steps=900, total=90000)


@positive("mpi_epochs", "MPI networks in C++: Epoch=3, Loss=0.412 behind [t=2] Weights averaged!")
def mpi_epochs(log):
    for n in range(0, 40):
        log.line(f"[t={n}] Weights averaged!", step=True)
        log.line(f"Epoch={n + 1}, Loss={log.loss(n / 40):g}, Val accuracy={log.near(.8):g}")
    return truth("40|39", "")


@positive("instant_ngp", "NVlabs/instant-ngp scripts/run.py (a bar of steps)")
def instant_ngp(log):
    for n in range(0, 3501, 50):
        log.bar(tqdm(n, 3500, n / 150., desc="Training", unit="steps", postfix=f"loss={log.near(.0003):.3g}"))
    log.line()
    return truth(3500, total=3500)


@positive("enwik8", "lucidrains/x-transformers train_enwik8.py (a bar called training, losses in lines)")
def enwik8(log):
    for n in range(0, 301):
        log.bar(tqdm(n, 100000, n * 1.2, desc="training"))
        log.line(f"training loss: {log.loss(n / 300, 5, 2)}")
        if n % 100 == 0:
            log.line(f"validation loss: {log.near(2.5)}")
    return truth(300, total=100000)


@positive("flashy", "facebookresearch/audiocraft with flashy: Train | Epoch 1 | 20/200 | 3.10 it/sec | loss 6.1")
def flashy(log):
    for epoch in range(1, 4):
        for n in range(20, 201, 20):
            log.step(f"[{log.at('%m-%d %H:%M:%S')}][flashy.solver][INFO] - Train | Epoch {epoch} | {n}/200 | {log.near(3.):.2f} it/sec | lr {log.near(1e-4):.2E} | grad_norm {log.near(1.):.3E} | ce {log.loss(epoch / 3, 7, 4):.3f} | ppl {log.near(400.):.3f}")
        log.line(f"[{log.at('%m-%d %H:%M:%S')}][flashy.solver][INFO] - Train Summary | Epoch {epoch} | lr=1.00E-04 | ce={log.near(5.):.3f} | ppl={log.near(300.):.3f} | duration={log.near(60.):.3f}")
        for n in range(10, 51, 10):
            log.line(f"[{log.at('%m-%d %H:%M:%S')}][flashy.solver][INFO] - Valid | Epoch {epoch} | {n}/50 | {log.near(9.):.2f} it/sec | ce {log.near(5.):.3f} | ppl {log.near(300.):.3f}")
    return truth(600, epoch_steps=200)


@positive("seamless_m4t", "facebookresearch/seamless_communication m4t finetune trainer.py")
def seamless_m4t(log):
    for n in range(10, 1001, 10):
        log.step(f"{log.ms()} INFO -- seamless_communication.cli.m4t.finetune.trainer: Epoch {n // 400 + 1:03d} / update {n:05d}: train loss={log.loss(n / 1000, 6, 3):.4f} last lr={1e-5:.2E}")
        if n % 200 == 0:
            log.line(f"{log.ms()} INFO -- seamless_communication.cli.m4t.finetune.trainer: Evaluation Step {n // 200}...")
    return truth(1000)


@positive("hogwild", "pytorch/examples mnist_hogwild (the process id stands first)")
def hogwild(log):
    for epoch in range(1, 4):
        for n in range(0, 60000, 6400):
            log.step(f"48213\tTrain Epoch: {epoch} [{n}/60000 ({n / 600:.0f}%)]\tLoss: {log.loss(epoch / 3):.6f}")
    return truth(2 * 60000 + 57600, "samples", epoch_steps=60000)


@positive("lbfgs_iterates", "scipy's L-BFGS-B as scikit-learn's LogisticRegression prints it: At iterate   10    f=  1.2D+00")
def lbfgs_iterates(log):
    log.line("RUNNING THE L-BFGS-B CODE\n\n           * * *\n\nMachine precision = 2.220D-16\n N =          650     M =           10\n\nAt X0         0 variables are exactly at the bounds\n")
    for n in range(0, 101, 1):
        value = f"{log.loss(n / 100, 4, .3):.5E}".replace("E", "D")
        log.step(f"At iterate {n:4d}    f=  {value}    |proj g|=  {log.near(.02):.5E}".replace("E-", "D-"))
        log.line()
    return truth(100)


@positive("forest_trees", "scikit-learn RandomForest with verbose=2: building tree 3 of 100")
def forest_trees(log):
    log.line("[Parallel(n_jobs=1)]: Using backend SequentialBackend with 1 concurrent workers.")
    for n in range(1, 101):
        log.step(f"building tree {n} of 100")
    log.line("[Parallel(n_jobs=1)]: Done 100 out of 100 | elapsed:   12.1s finished")
    return truth(100, total="100|")


@positive("tsne", "scikit-learn TSNE with verbose=2: [t-SNE] Iteration 50: error = 91.2, gradient norm = 0.03")
def tsne(log):
    log.line("[t-SNE] Computing 91 nearest neighbors...\n[t-SNE] Indexed 1797 samples in 0.001s...\n[t-SNE] Mean sigma: 8.394135")
    for n in range(50, 1001, 50):
        log.step(f"[t-SNE] Iteration {n}: error = {log.loss(n / 1000, 70, 1):.7f}, gradient norm = {log.near(.01):.7f} (50 iterations in {log.near(.3):.3f}s)")
    return truth(1000)


@positive("diffusion_policy", "real-stanford/diffusion_policy train_diffusion_unet (bars of training and validation epochs)")
def diffusion_policy(log):
    for epoch in range(0, 3):
        for n in range(0, 91, 3):
            log.bar(tqdm(n, 90, n / 8., desc=f"Training epoch {epoch}", postfix=f"loss={log.near(.03):.3g}"))
        log.line()
        for n in range(0, 11, 2):
            log.raw("\r" + tqdm(n, 10, n / 8., desc=f"Validation epoch {epoch}"))
        log.line()
        for n in range(0, 301, 30):
            log.raw("\r" + tqdm(n, 300, n / 80., desc="Eval PushtImageRunner 1/2"))
        log.line()
    return truth(270, epoch_steps=90)


@positive("robomimic", "ARISE-Initiative/robomimic scripts/train.py (bars without words, a dictionary over many lines)")
def robomimic(log):
    log.line("============= New Training Run with Config =============\n{\n    \"algo_name\": \"bc\",\n    \"train\": {\n        \"batch_size\": 100,\n        \"num_epochs\": 2000\n    }\n}")
    for epoch in range(1, 4):
        for n in range(0, 101, 4):
            log.bar(tqdm(n, 100, n / 20., ascii=True))
        log.line(f"\nTrain Epoch {epoch}\n{{\n    \"Cosine_Loss\": {log.near(.3)},\n    \"L1_Loss\": {log.near(.1)},\n    \"Loss\": {log.loss(epoch / 3)},\n    \"Time_Epoch\": {log.near(.1)}\n}}\n\nEpoch {epoch} Memory Usage: 1203 MB\n")
    return truth(300, epoch_steps="100|")


@positive("purejaxrl", "luchiscode/purejaxrl ppo.py debug prints: global step=4096, episodic return=31.0")
def purejaxrl(log):
    for n in range(1, 120):
        log.step(f"global step={n * 128 + n % 3 * 4}, episodic return={log.near(20. + n):.1f}")
    return truth(119 * 128 + 8, "")


@positive("mujoco_playground", "google-deepmind/mujoco_playground learning/train_jax_ppo.py: 5242880: reward=31.220")
def mujoco_playground(log):
    log.line("Environment Config:\nctrl_dt: 0.02\nepisode_length: 1000\nPPO Training Parameters:\nnum_timesteps: 104857600\nnum_evals: 20\nDone setting up logging.")
    for n in range(0, 20):
        log.step(f"{n * 5242880}: reward={log.near(n * 2.):.3f}")
    return truth(19 * 5242880, "")


@positive("tdmpc2", "nicklashansen/tdmpc2 common/logger.py (initials in columns)")
def tdmpc2(log):
    for n in range(1, 60):
        log.step(f" \x1b[33mtrain\x1b[0m  \x1b[34mE: \x1b[0m{n:<11,} \x1b[34mI: \x1b[0m{n * 500:<12,} \x1b[34mR: \x1b[0m{log.near(n * 4.):<10.1f} \x1b[34mT: \x1b[0m0:{n // 6:02}:{n % 60:02}")
    return truth(f"{59 * 500}|59", "")


@positive("maniskill_ppo", "haosulab/ManiSkill examples/baselines/ppo/ppo.py: Epoch: 3, global_step=61440")
def maniskill_ppo(log):
    for n in range(1, 60):
        log.step(f"Epoch: {n}, global_step={(n - 1) * 20480}")
        if n % 10 == 1:
            log.line(f"Evaluating\nEvaluated 400 steps resulting in {8 + n % 3} episodes\neval_success_once_mean={log.near(.5)}\neval_return_mean={log.near(9.)}")
        log.line(f"SPS: {int(log.near(9000.))}")
    return truth(58 * 20480, "")


@positive("sb3_rich_bar", "DLR-RM/stable-baselines3 with progress_bar=True (tqdm.rich on a terminal)")
def sb3_rich_bar(log):
    for n in range(0, 100001, 2000):
        share = n * 40 // 100000
        log.raw(f"\r\x1b[2K \x1b[35m{n // 1000:>3}%\x1b[0m \x1b[38;5;197m{'━' * share}\x1b[0m\x1b[38;5;237m{'━' * (40 - share)}\x1b[0m \x1b[32m{n:,}/100,000 \x1b[0m [ \x1b[33m0:00:{n // 2000:02}\x1b[0m < \x1b[36m0:00:{50 - n // 2000:02}\x1b[0m , \x1b[31m2,113 it/s\x1b[0m ]", step=True)
    log.line()
    return truth(100000, "", total=100000)


@negative("memory_stream", "agents with a memory: [12] (importance: 0.310000, recency: 0.92) and a text, again and again")
def memory_stream(log):
    for round_ in range(5):
        for n in range(0, 30):
            log.line(f"[{n}] (importance: {log.near(.3):f}, recency: {log.near(.9):f}) John went to the market")


@negative("comments_fetch", "scripts that fetch issues: a bar called Fetching comments and lines between")
def comments_fetch(log):
    for n in range(0, 81):
        log.raw("\r" + tqdm(n, 80, n * .4, desc="Fetching comments"))
        if n % 5 == 0:
            log.line(f"\n  [DRY] PROJ-{n} | Crash at start")
    log.line()


@negative("backtests", "back tests of strategies: scenarios with Avg Loss, Win Rate and Days")
def backtests(log):
    for n, name in enumerate(("Bull Market", "Bear Market", "Sideways", "Crash", "Recovery"), 1):
        log.line(f"======================================================================\n  SCENARIO {n}: {name}\n  Regime: {name.lower()} | Days: 365 | Vol: {log.near(.2):.2f}\n  Strategy Return:    {log.near(12.):+.2f}%\n  Number of Trades:   {3 + n * 4}\n  Win Rate:           {log.near(60.):.1f}%\n  Avg Win:            {log.near(9.):+.2f}%\n  Avg Loss:           {log.near(-3.):.2f}%\n  Sharpe Ratio:       {log.near(1.):.2f}")


@negative("game_logs_fetch", "scripts that fetch statistics: [3/30] Fetching game logs for NYY 2023...")
def game_logs_fetch(log):
    for season in (2022, 2023, 2024):
        for n in range(1, 31):
            log.line(f"  [{n:2d}/30] Fetching game logs for T{n:02} {season}...")


@negative("cells_elapsed", "experiments over a grid: [30/1200] elapsed 31s")
def cells_elapsed(log):
    for n in range(30, 1201, 30):
        log.line(f"  [{n}/1200] elapsed {n}s")
    log.line("[breadth] total 1203s for 1200 cells")


@negative("proxy_check", "checks of keys: [3/120] ✅ 31.2 мс (DE)")
def proxy_check(log):
    for n in range(1, 121):
        log.line(f"  [{n}/120] ✅ {log.near(90.):.1f} мс (DE)" if n % 3 else f"  [{n}/120] ❌ не работает")


@negative("electron_simulation", "physics in Python: Step 50/1000 of a simulation")
def electron_simulation(log):
    log.line("Simulating hydrogen atom with single electron...\nNuclear position: (0, 0)\nTime steps: 1000, dt: 0.01")
    for n in range(0, 1000, 50):
        log.line(f"Step {n}/1000")
    log.line("Animation saved as electron.gif")


@negative("saliency_test", "tests of a network: step=31/310 fps=41.2, Test Done!")
def saliency_test(log):
    log.line("Load model from results/final.pth\nTesting on DUTS-TE")
    for n in range(31, 311, 31):
        log.line(f"step={n}/310 fps={log.near(41.):.1f}")
    log.line("Speed: 41.213 FPS\nTest Done!")


@negative("chain_sync", "block chains: epoch-sync.logs epoch:123 latestState:456 not executed")
def chain_sync(log):
    for n in range(1200, 1290):
        log.line(f"epoch-sync.logs epoch:{n} latestState:{n - 3} not executed")


@negative("near_duplicates", "scripts that copy files: a bar and [OK] lines between")
def near_duplicates(log):
    for n in range(0, 121):
        log.raw("\r" + tqdm(n, 120, n * .1, desc="Generating near-duplicates"))
        log.line(f"\n[OK] src/a_{n}.py -> out/a_{n}_dup.py")


@negative("crawl_iterations", "crawlers: Iteration 3/10: 1203 URLs crawled, error rate 0.02")
def crawl_iterations(log):
    for n in range(1, 11):
        log.line(f"{log.ms()} [crawler] INFO: Iteration {n}/10: {n * 1203} URLs crawled, {n * 31} new, queue {9000 - n * 700}")


@negative("bayes_opt", "bayesian-optimization/BayesianOptimization: a table of targets")
def bayes_opt(log):
    log.line("|   iter    |  target   |     x     |     y     |\n-------------------------------------------------")
    for n in range(1, 31):
        log.line(f"| {n:<9} | {log.near(-7.):<9.3f} | {log.near(2.):<9.3f} | {log.near(1.):<9.3f} |")
    log.line("=================================================")


@negative("wer_batches", "evaluation of speech: Evaluating on test-clean, batch 31/120: WER 4.31%")
def wer_batches(log):
    log.line("Evaluating checkpoint-4000 on test-clean")
    for n in range(1, 121):
        log.line(f"batch {n}/120: WER {log.near(4.3):.2f}%")


@negative("row_batches", "imports into a data base: Batch 31 of 120: inserted 1000 rows (0.31 s)")
def row_batches(log):
    for n in range(1, 121):
        log.line(f"Batch {n} of 120: inserted 1000 rows ({log.near(.3):.2f} s)")


@negative("unity_build", "Unity builds: [ 31/120  0s] Csc Library/Bee/…")
def unity_build(log):
    for n in range(1, 121):
        log.line(f"[{n:>4}/120  {n % 3}s] Csc Library/Bee/artifacts/{n * 7919 % 99991:05x}.dag/Assembly-{n}.dll")


@negative("vllm_load", "vllm-project/vllm: shards of a checkpoint and graphs")
def vllm_load(log):
    for n in range(0, 5):
        log.raw(f"\rLoading safetensors checkpoint shards:  {n * 25:>3}% Completed | {n}/4 [00:0{n}<00:0{4 - n},  1.12it/s]\n")
    log.line("INFO 03-15 21:22:25 model_runner.py:1115] Loading model weights took 14.9888 GB")
    for n in range(0, 36):
        log.raw("\r" + tqdm(n, 35, n / 2., desc="Capturing CUDA graph shapes"))
    log.line("\nINFO 03-15 21:22:55 api_server.py:958] Starting vLLM API server on http://0.0.0.0:8000")


@negative("game_of_life", "cellular automata: Generation 31: alive 412")
def game_of_life(log):
    for n in range(1, 200):
        log.line(f"Generation {n}: alive {400 + n * 37 % 90}")


@negative("resource_monitor", "monitors of a process: sample 31: cpu 12.3% rss 412.1 MB")
def resource_monitor(log):
    for n in range(1, 120):
        log.line(f"{log.at()} sample {n}: cpu {log.near(12.):.1f}% rss {log.near(412.):.1f} MB threads 14")


@negative("x264", "videolan/x264: [31.2%] 312/1000 frames, 41.20 fps")
def x264(log):
    for n in range(4, 1001, 4):
        log.raw(f"\r[{n / 10:.1f}%] {n}/1000 frames, {log.near(41.):.2f} fps, {log.near(1203.):.2f} kb/s, eta 0:00:{(1000 - n) // 41:02}  ")
    log.line("\nencoded 1000 frames, 41.20 fps, 1203.12 kb/s")
