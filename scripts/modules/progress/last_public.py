"""Set I: messages found in public code, collected after set H was corrected for; and other programs. The numbers are invented."""
from .lib import negative, positive, tqdm, truth


@positive("mini_batches", "classifier scripts: Epoch 1/25 | Mini-Batch    10 | Loss: 0.412 | Accuracy: 0.810")
def mini_batches(log):
    for epoch in range(1, 4):
        for n in range(10, 101, 10):
            log.step(f"Epoch {epoch}/25 | Mini-Batch {n:5d} | Loss: {log.loss(epoch / 3):.3f} | Accuracy: {log.near(.8):.3f}")
    return truth(300)


@positive("c_xor", "networks in C: Epoch  2000 | Loss: 0.0412, one line in 2000 epochs")
def c_xor(log):
    log.line("XOR network 2-4-1")
    for n in range(0, 20001, 2000):
        log.step(f"Epoch {n:5d} | Loss: {log.loss(n / 20000):.4f}")
    log.line("\nFinal predictions:\n0 xor 0 = 0.012\n0 xor 1 = 0.981")
    return truth(20000, "epochs")


@positive("tok_per_sec", "GPT-2 from scratch: step   100 | loss: 3.412345 | lr: 6.0000e-04 | norm: 0.31 | dt: 120.31ms | tok/sec: 43213.1")
def tok_per_sec(log):
    log.line(f"{log.ms()} INFO total desired batch size: 524288\n{log.ms()} INFO => calculated gradient accumulation steps: 32")
    for n in range(0, 400):
        log.step(f"{log.ms()} INFO step {n:5d} | loss: {log.loss(n / 400, 11, 4):.6f} | lr: {6e-4:.4e} | norm: {log.near(.3):.4f} | dt: {log.near(120.):.2f}ms | tok/sec: {log.near(43213.):.2f}")
        if n % 100 == 99:
            log.line(f"{log.ms()} INFO validation loss: {log.near(4.):.4f}\n{log.ms()} INFO HellaSwag accuracy: {2400 + n}/10042={log.near(.25):.4f}")
    return truth(399)


@positive("oven_step", "distillation services: [OVEN] Step    10 | Loss: | Reward: | KL: | Teacher: gpt | Items: 31")
def oven_step(log):
    for n in range(10, 601, 10):
        log.step(f"{log.ms()} INFO [OVEN] Step {n:5d} | Loss: {log.loss(n / 600):.4f} | Reward: {log.near(.4):.3f} | KL: {log.near(.03):.4f} | Teacher: large | Items: {n * 3 + 4}")
    return truth(600)


@positive("parser_uas", "dependency parsers:   [base] Step   100 | loss=0.4123 | UAS=0.81 | LAS=0.79 | 31.2 step/s")
def parser_uas(log):
    for n in range(0, 3001, 100):
        log.step(f"  [base] Step {n:5d} | loss={log.loss(n / 3000):.4f} | UAS={log.near(.8):.4f} | LAS={log.near(.8):.4f} | {log.near(31.):.1f} step/s")
    return truth(3000)


@positive("vietnamese_steps", "a language model in C++:   bước   200 | loss=3.412 | lr=1.00e-03 | |g|=0.41 | val ppl=31.20")
def vietnamese_steps(log):
    for n in [1, *range(200, 4001, 200)]:
        log.step(f"  bước {n:5d} | loss={log.loss(n / 4000, 6, 3):.3f} | lr={1e-3:.2e} | |g|={log.near(.4):.2f} | val ppl={log.near(31.):.2f}")
    return truth(4000)


@positive("java_sessions", "networks in Java: Epochs:  1000 | Loss: 0.0412 | Time to complete:  31203ns or 0.0312ms")
def java_sessions(log):
    for n in range(1000, 20001, 1000):
        log.step(f"Epochs: {n:5d} | Loss: {log.loss(n / 20000):6.4f} | Time to complete: {log.near(31203.):6.0f}ns or {log.near(.03):.4f}ms")
    return truth(20000, "")


@positive("log_epoch_batch", "audio scripts with logging:   Epoch   3 | batch    50 | loss 0.4123 | lr 1.00e-03")
def log_epoch_batch(log):
    for epoch in range(1, 4):
        for n in range(0, 300, 50):
            log.step(f"{log.ms()} INFO   Epoch {epoch:3d} | batch {n:5d} | loss {log.loss(epoch / 3):.4f} | lr 1.00e-03")
        log.line(f"{log.ms()} INFO Epoch {epoch:3d} | train {log.near(.4):.4f} | val {log.near(.4):.4f} | acc {log.near(.8):.4f}")
    return truth(850)


@positive("arrow_losses", "sharpness-aware scripts: Epoch: 3 --> running loss, loss and second loss without names")
def arrow_losses(log):
    for epoch in range(1, 21):
        for _ in range(5):
            log.step(f"Epoch: {epoch} --> {log.near(9.)} {log.loss(epoch / 20)} {log.near(.4)}")
    return truth(20, "epochs")


@positive("epoch_iteration_print", "deblurring scripts: epoch: 3 iteration: 40 loss:0.4123 time:1.2345 (print with commas)")
def epoch_iteration_print(log):
    for epoch in range(3):
        for n in range(10, 201, 10):
            log.step(f"epoch: {epoch} iteration: {n} loss:{log.loss(epoch / 3):.4f} time:{log.near(1.2):.4f}")
    return truth(600)


@positive("bar_below_epoch", "scripts with print('Epoch:', epoch) above a bare bar, accuracy behind it")
def bar_below_epoch(log):
    for epoch in range(3):
        log.line(f"Epoch: {epoch}")
        for n in range(0, 251, 10):
            log.bar(tqdm(n, 250, n / 9.))
        log.line(f"\nloss {log.loss(epoch / 3)} accuracy {log.near(80.)}")
    return truth(750)


@positive("epochs_only_print", "GAN scripts: Epoch: 3, nothing else")
def epochs_only_print(log):
    for epoch in range(1, 41):
        log.step(f"Epoch: {epoch}")
    return truth(40, "epochs")


@positive("grokking_bar", "grokking scripts: a bar of epochs with emoji and Spanish words, losses behind the rate")
def grokking_bar(log):
    log.line("Iniciando entrenamiento adaptativo para grokking físico...\n   Parámetros: max_epochs=2500, initial_lr=0.003, weight_decay=5e-06")
    for n in range(0, 2501, 25):
        log.bar(tqdm(n, 2500, n / 182., desc="🧠 Entrenando para Grokking", postfix=f"train_loss={log.near(1e-5):.6f}, test_loss={log.near(1e-4):.6f}, lr=1.50e-03"))
    log.line()
    return truth(2500, total=2500)


@positive("srnn_bar", "recurrent models of dynamics: a bare bar of all steps with train_loss=-63.3")
def srnn_bar(log):
    for n in range(0, 2001, 10):
        log.bar(tqdm(n, 2000, n / 4.8, postfix=f"train_loss={-log.near(63.):.3g}"))
    log.line()
    return truth(2000, total=2000)


@positive("bar_with_lr_mem", "trainers with lr, bs and GPU_Mem in the bar")
def bar_with_lr_mem(log):
    for n in range(0, 501, 5):
        log.bar(tqdm(n, 5000, n / 3.5, desc="Training", postfix=f"train_loss={log.loss(n / 500):.4f}, lr=3.00e-04, bs=4, GPU_Mem=45.23GB"))
    return truth(500, total=5000)


@positive("epoch_colon_training", "reflectivity networks: Epoch 1/5 : Training: 40%| and Epoch 1/5 : Validating: 40%|")
def epoch_colon_training(log):
    for epoch in range(1, 4):
        for n in range(0, 201, 8):
            log.bar(tqdm(n, 200, n / 2.4, desc=f"Epoch {epoch}/5 : Training", postfix=f"Train_Loss={log.loss(epoch / 3):.3g}, Train_Accuracy={log.near(.5):.3g}"))
        log.line()
        for n in range(0, 35, 2):
            log.raw("\r" + tqdm(n, 34, n / 2.8, desc=f"Epoch {epoch}/5 : Validating", postfix=f"Val_Loss={log.near(.3):.3g}"))
        log.line(f"\nModel : \"./saved_model/{epoch}_model.pth\" saved.")
    return truth(600, total=1000, epoch_steps=200)


@positive("train_in_round_brackets", "factorisation machines: (train: 1 ): 40%|, (valid: 1 ): 40%|")
def train_in_round_brackets(log):
    for epoch in range(1, 4):
        for n in range(0, 177, 4):
            log.bar(tqdm(n, 176, n / 4.4, desc=f"(train: {epoch} )", postfix=f"train_loss={log.loss(epoch / 3):.3g}"))
        log.line()
        for n in range(0, 21, 2):
            log.raw("\r" + tqdm(n, 20, n / 5., desc=f"(valid: {epoch} )", postfix=f"train_loss={log.near(3.):.3g}"))
        log.line()
    return truth(528)


@positive("epochs_bar_and_info", "autoencoders: a bar called Epochs with losses, and [INFO] Epoch 1/100 - train_loss behind it")
def epochs_bar_and_info(log):
    log.line("[INFO] Starting training for 100 epochs")
    for n in range(0, 101):
        log.bar(tqdm(n, 100, n * 1.1, desc="Epochs", postfix=f"train_loss={log.loss(n / 100, 1700, 300):.4f}, val_loss={log.near(300.):.4f}, beta=0.000"))
        if n:
            log.line(f"[INFO] Epoch {n}/100 - train_loss: {log.loss(n / 100, 1700, 300):.4f}, val_loss: {log.near(300.):.4f}")
    return truth(100, "epochs", total=100)


@positive("infonce_flops", "sparse retrieval: Step 50 | loss=0.4 | infonce=0.3 | flops_q=1.2 | mmse=0.01")
def infonce_flops(log):
    for n in range(50, 2001, 50):
        log.step(f"{log.ms()} - INFO - Step {n} | loss={log.loss(n / 2000):.4f} | infonce={log.near(.3):.4f} | flops_q={log.near(1.2):.2f} | mmse={log.near(.01):.4f}")
    return truth(2000)


@positive("episode_of_step", "DQN scripts: [-] Episode 3/500 | Step 340 | Epsilon: 0.95 | Reward: 31.00 | Loss: 0.41")
def episode_of_step(log):
    step = 0
    for n in range(1, 101):
        step += 20 + n % 17
        log.step(f"[-] Episode {n}/500 | Step {step} | Epsilon: {max(.05, 1 - n / 200):.4f} | Reward: {log.near(n + 9.):.2f} | Loss: {log.loss(n / 100):.4f}")
    return truth(f"{step}|100", "")


@positive("dpo_description", "DPO scripts: a bar described as Step 40 | Loss: 0.41 | Reward Acc: 0.81")
def dpo_description(log):
    for n in range(0, 301, 2):
        log.bar(tqdm(n, 300, n * 1.4, desc=f"Step {n} | Loss: {log.loss(n / 300):.5f} | Reward Acc: {log.near(.7):.4f}" if n else ""))
    log.line()
    return truth(300, total=300)


@positive("r_rules", "R scripts: Epoch:  3  ----------- and training and validation behind it")
def r_rules(log):
    for n in range(1, 11):
        log.step(f"Epoch:  {n}  -----------")
        log.line(f"train:  {log.loss(n / 10)} , validation:  {log.near(.5)}")
    return truth(10, "epochs")


@positive("r_reconstruction", "R scripts: epoch : 3  : reconstruction error :  0.0412")
def r_reconstruction(log):
    for n in range(1, 16):
        log.step(f"epoch : {n}  : reconstruction error :  {log.loss(n / 15, .1, .05)}")
    return truth(15, "epochs")


@positive("kotlin_features", "networks in Kotlin: Epoch 3/100 above 'Features Index - 12 / 40'")
def kotlin_features(log):
    for epoch in range(1, 6):
        log.line(f"Epoch {epoch}/100")
        for n in range(0, 40):
            log.step(f"Features Index - {n} / 40")
    return truth("199|5|200", "")


@positive("julia_epochs", "Julia scripts: Epoch 3 loss PF1 = 0.4, loss PF2 = 0.3 ---> total loss = 0.7")
def julia_epochs(log):
    for n in range(1, 41):
        log.step(f"Epoch {n} loss PF1 = {log.loss(n / 40):.5f}, loss PF2 = {log.near(.4):.5f} ---> total loss = {log.near(.8):.5f}")
    return truth(40, "epochs")


@positive("tf1_accuracy", "TensorFlow 1 scripts: Step 100, training accuracy 0.91")
def tf1_accuracy(log):
    for n in range(0, 20000, 100):
        log.step(f"Step {n}, training accuracy {log.near(.9):g}")
    return truth(19900)


@positive("wgan_dash", "WGAN scripts: Step 100 - C_loss : -1.2, G_loss : 0.3 test_C_loss : -1.1 test_G_loss : 0.2")
def wgan_dash(log):
    for n in range(0, 5001, 100):
        log.step(f"Step {n} - C_loss : {log.near(-1.2):.5f}, G_loss : {log.near(.3):.5f} test_C_loss : {log.near(-1.1):.5f} test_G_loss : {log.near(.2):.5f}")
    return truth(5000)


@positive("epoch_then_train_loss", "trainers: Epoch 3 / 50, then Train loss and Eval loss in lines of their own")
def epoch_then_train_loss(log):
    for n in range(0, 20):
        log.step(f"Epoch {n} / 50")
        log.line(f"Train loss: {log.loss(n / 20):.4f}\nEval loss: {log.near(.5):.4f}\nAccuracy: {log.near(.8):.4f}")
    return truth(19, "epochs", total=50)


@negative("reindex_posts", "services that embed texts: Processed 30/400 posts")
def reindex_posts(log):
    for n in range(10, 401, 10):
        log.line(f"Processed {n}/400 posts")
    log.line("Re-indexing complete.")


@negative("rows_remaining", "scripts over a table: Processed 30/4000 rows (0.75%) - Elapsed time: 12.31s - Remaining time: 1600.00s")
def rows_remaining(log):
    for n in range(50, 4001, 50):
        log.line(f"Processed {n}/4000 rows ({n / 40:.2f}%) - Elapsed time: {n / 9:.2f}s - Remaining time: {(4000 - n) / 9:.2f}s")


@negative("frames_processed", "film scripts: Processed 300 frames")
def frames_processed(log):
    for n in range(100, 3001, 100):
        log.line(f"Processed {n} frames")
    log.line("Average time per frame: 0.031 s")


@negative("experiment_inference", "scripts that infer again and again: Inferring experiment base, Epoch: 3, Time: 12.1")
def experiment_inference(log):
    log.line("Inferring experiment base")
    for n in range(0, 5):
        log.line(f"Epoch: {n}\nTime: {log.near(12.)}")


@negative("options_closing", "back tests of options: [2024-03-12] AAPL FORCE CLOSE: assignment cost $12,310 > cash $9,120, loss $310")
def options_closing(log):
    for n in range(1, 28):
        log.line(f"{log.ms()} INFO [2024-03-{n:02}] AAPL FORCE CLOSE: assignment cost ${log.near(12310.):,.0f} > cash ${log.near(9120.):,.0f}, loss ${log.near(310.):,.0f}")


@negative("crop_service", "a service that predicts: [12] wheat conf=81% yield=3.2 price=Rs.21.5")
def crop_service(log):
    for n in range(1, 60):
        log.line(f"{log.ms()} INFO [{n}] wheat conf={60 + n * 7 % 30}% yield={log.near(3.2):.1f} price=Rs.{log.near(21.):.1f}")


@negative("eval_items", "evaluation by a language model: [3/40] Evaluating item 2 ...")
def eval_items(log):
    for n in range(1, 41):
        log.line(f"{log.ms()} INFO [{n}/40] Evaluating item {n - 1} ...\n{log.ms()} INFO score {log.near(.6):.2f} in {log.near(3.):.1f} s")


@negative("numbered_headings", "scripts in steps: STEP 1: Preparing Training Data and what it found")
def numbered_headings(log):
    for n, text in enumerate(("Preparing data", "Loading embeddings", "Building the graph", "Converting to GLB", "Writing the report", "Uploading"), 1):
        log.line(f"============================================================\nSTEP {n}: {text}\n============================================================\n  found {n * 13} entries in {log.near(2.):.2f} s")


@negative("probe_waiting", "services that wait for data: [probe-7] Waiting for data (31/200)")
def probe_waiting(log):
    for n in range(1, 120):
        log.line(f"{log.ms()} INFO [probe-7] Waiting for data ({n}/200)")


@negative("sensor_epochs", "GNSS receivers: epoch 2023 11 05 01:00:30 and its satellites")
def sensor_epochs(log):
    for n in range(0, 90):
        log.line(f"epoch 2023 11 05 01:{n // 2:02}:{n % 2 * 30:02}.0000000  0 {7 + n % 4} G02 G05 G12")


@negative("agent_simulation", "simulations of opinions in R: Epoch: 3 of agents, shares of their views")
def agent_simulation(log):
    log.line("Simulating 500 agents on a lattice")
    for n in range(1, 41):
        log.line(f"Epoch: {n} \nshare of extreme views: {log.near(.3):.3f}")
