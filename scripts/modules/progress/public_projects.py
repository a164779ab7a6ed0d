"""Set G, second part: trainings of named projects that no earlier set has.

The lines are made from the projects' format strings, as far as known from memory, or after lines in their documentation; the numbers are invented.
"""
from .lib import positive, tqdm, truth


@positive("gpytorch", "cornellius-gp/gpytorch examples: Iter 1/50 - Loss: 1.5   lengthscale: 0.693   noise: 0.693")
def gpytorch(log):
    for n in range(1, 51):
        log.step(f"Iter {n}/50 - Loss: {log.loss(n / 50):.3f}   lengthscale: {log.near(.6):.3f}   noise: {log.near(.6):.3f}")
    return truth(50, total=50)


@positive("pyg_gcn", "pyg-team/pytorch_geometric examples/gcn.py: Epoch: 010, Loss: 1.2, Train: 0.8, Val: 0.7, Test: 0.7")
def pyg_gcn(log):
    for n in range(1, 201):
        log.step(f"Epoch: {n:03d}, Loss: {log.loss(n / 200):.4f}, Train: {log.near(.8):.4f}, Val: {log.near(.7):.4f}, Test: {log.near(.7):.4f}")
    return truth(200, "epochs")


@positive("dgl_gcn", "dmlc/dgl examples/pytorch/gcn/train.py: Epoch 00001 | Loss 1.9 | Accuracy 0.5")
def dgl_gcn(log):
    log.line("Training with DGL built-in GraphConv module.\nTraining...")
    for n in range(0, 200):
        log.step(f"Epoch {n:05d} | Loss {log.loss(n / 200):.4f} | Accuracy {log.near(.7):.4f} ")
    return truth(199, "epochs")


@positive("tf_agents", "tensorflow/agents docs/tutorials: step = 200: loss = 12.3, step = 1000: Average Return = 32")
def tf_agents(log):
    for n in range(200, 20001, 200):
        log.step(f"step = {n}: loss = {log.loss(n / 20000, 30, 5)}")
        if n % 1000 == 0:
            log.line(f"step = {n}: Average Return = {log.near(n / 100.):.1f}")
    return truth(20000)


@positive("haiku_mnist", "google-deepmind/dm-haiku examples/mnist.py: [Step   100] Train / Test accuracy: 0.98 / 0.97")
def haiku_mnist(log):
    for n in range(0, 3001, 100):
        log.step(str({"step": n, "elapsed": round(n / 90., 3), "loss": round(log.loss(n / 3000), 4)}))
        if n % 1000 == 0:
            log.line(f"[Step {n:5d}] Train / Test accuracy: {log.near(.9):.3f} / {log.near(.9):.3f}.")
    return truth(3000)


@positive("numpyro_svi", "pyro-ppl/numpyro infer/svi.py (a bar with losses averaged over steps)")
def numpyro_svi(log):
    for n in range(0, 2001, 20):
        log.bar(tqdm(n, 2000, n / 400., postfix=f"init loss: 1215.4321, avg. loss [{max(1, n - 99)}-{n}]: {log.loss(n / 2000, 1200, 200):.4f}" if n else ""))
    log.line()
    return truth(2000, total=2000)


@positive("pyro_elbo", "pyro-ppl/pyro tutorials: [iteration 0001] loss: 15.1")
def pyro_elbo(log):
    for n in range(1, 1500, 100):
        log.step(f"[iteration {n:04d}] loss: {log.loss(n / 1500, 16, 7):.4f}")
    return truth(1401)


@positive("latent_diffusion", "CompVis/stable-diffusion main.py on Lightning 1 (global_step as a metric of the bar)")
def latent_diffusion(log):
    log.line("Global seed set to 23\nRunning on GPUs 0,\nAttentionBlock: using context dim 768")
    for epoch in range(3):
        for n in range(0, 121, 4):
            log.bar(tqdm(n, 120, n / 1.3, desc=f"Epoch {epoch}", postfix=f"loss={log.near(.1):.3g}, v_num=0, train/loss_simple_step={log.near(.1):.3g}, train/loss_vlb_step={log.near(.001):.3g}, global_step={float(epoch * 120 + n):.1f}, lr_abs=1e-5"))
        log.line(f"\nAverage Epoch time: {log.near(90.):.2f} seconds\nAverage Peak memory {log.near(12000.):.2f}MiB")
    return truth(360, epoch_steps=120)


@positive("dinov2", "facebookresearch/dinov2 dinov2/logging/helpers.py (glog prefix, a count of the run)")
def dinov2(log):
    for n in range(0, 2000, 10):
        log.step(f"I20250311 09:{n // 100:02}:02 1234 dinov2 helpers.py:102] Training  [{n:6d}/125000]  eta: 1 day, 3:12:01  lr: {n * 1e-7:.4f} (0.0000)  wd: 0.0400 (0.0400)  total_loss: {log.loss(n / 2000, 14, 9):.4f} ({log.near(11.):.4f})  time: {log.near(.8):f}  data: 0.000412  max mem: 30110")
    return truth(1990, total="125000|")


@positive("katago", "lightvector/KataGo python/train.py (samples and many losses)")
def katago(log):
    for n in range(1, 120):
        log.step(f"{log.at()} nsamp = {n * 25600}, p0loss = {log.loss(n / 120, 4, 1.7):.4f}, p1loss = {log.near(.2):.4f}, vloss = {log.near(.6):.4f}, tdvloss1 = {log.near(.4):.4f}, norm_batch = {log.near(300.):.4f}, wsum = {n * 25600.:.1f}, loss = {log.near(60.):.4f}")
    return truth(119 * 25600, "samples|steps")


@positive("d3rlpy", "takuseno/d3rlpy d3rlpy/algos/qlearning/base.py (structlog lines and bars of epochs)")
def d3rlpy(log):
    log.line("2025-03-11 09:14.02 [info     ] dataset info                   dataset_info=DatasetInfo(observation_signature=Signature(dtype=[dtype('float32')], shape=[(4,)]), action_size=2)")
    for epoch in range(1, 4):
        for n in range(0, 1001, 20):
            log.bar(tqdm(n, 1000, n / 200., desc=f"Epoch {epoch}/10", postfix=f"loss={log.near(.03):.3g}"))
        log.line(f"\n2025-03-11 09:1{epoch}.02 [info     ] DQN_20250311091402: epoch={epoch} step={epoch * 1000} epoch={epoch} metrics={{'time_sample_batch': {log.near(.0001)}, 'loss': {log.near(.03)}}} step={epoch * 1000}")
    return truth(3000, epoch_steps=1000, total=10000)


@positive("torchrl_bar", "pytorch/rl tutorials/sphinx-tutorials/coding_ppo.py (a long description of rewards)")
def torchrl_bar(log):
    for n in range(1000, 50001, 1000):
        log.bar(tqdm(n, 50000, n / 900., desc=f"eval cumulative reward: {log.near(80.): 4.4f} (init:  9.2), eval step-count: {int(log.near(9.))}, average reward={log.near(9.1): 4.4f} (init= 9.09), step count (max): {int(log.near(60.))}, lr policy:  0.0003"))
    log.line()
    return truth(50000, total=50000)


@positive("monai_ignite", "Project-MONAI/MONAI handlers/stats_handler.py with ignite's prefix")
def monai_ignite(log):
    for epoch in range(1, 4):
        for n in range(1, 21):
            log.step(f"{log.ms()} - ignite.engine.engine.SupervisedTrainer - INFO - Epoch: {epoch}/600, Iter: {n}/20 -- train_loss: {log.loss(epoch / 3):.4f} ")
        log.line(f"{log.ms()} - ignite.engine.engine.SupervisedTrainer - INFO - Epoch[{epoch}] Complete. Time taken: 00:00:31.213\n{log.ms()} - ignite.engine.engine.SupervisedEvaluator - INFO - Epoch[{epoch}] Metrics -- val_mean_dice: {log.near(.3):.4f} ")
    return truth(60, epoch_steps=20, total=12000)


@positive("onetrainer", "Nerogar/OneTrainer (a bar of epochs around bars of steps)")
def onetrainer(log):
    log.raw("\r" + tqdm(0, 3, 0, desc="epoch"))
    for epoch in range(3):
        log.line()
        for n in range(0, 53):
            log.bar(tqdm(n, 52, n / 1.2, desc="step", postfix=f"loss={log.near(.1):.3g}, smooth loss={log.near(.1):.3g}"))
        log.raw("\x1b[A\r" + tqdm(epoch + 1, 3, (epoch + 1) * 44., desc="epoch"))
    log.line()
    return truth(156, epoch_steps=52, total="156|")


@positive("simpletuner", "bghira/SimpleTuner (Epoch 2/9, Steps: of the run in one description)")
def simpletuner(log):
    for n in range(0, 601):
        log.bar(tqdm(n, 600, n * 2.1, desc=f"Epoch {n // 100 + 1}/6, Steps", postfix=f"grad_norm={log.near(.3):.3g}, lr=0.0001, step_loss={log.near(.1):.3g}"))
    log.line()
    return truth(600, total=600)


@positive("tortoise_dlas", "neonbjb/DL-Art-School codes/train.py (a bracket with epoch, iteration and learning rates)")
def tortoise_dlas(log):
    for n in range(50, 2001, 50):
        log.step(f"25-03-11 09:14:02.{n % 1000:03} - INFO: [epoch:{n // 200:>3}, iter:{n:>8,d}, lr:(1.000e-05,1.000e-05,)] step: {float(n):.4e} samples: {n * 64.:.4e} megasamples: {n * 64e-6:.4e} iteration_rate: {log.near(.6):.4e} loss_text_ce: {log.loss(n / 2000, 5, 4):.4e} loss_mel_ce: {log.near(3.):.4e} loss_gpt_total: {log.near(3.):.4e}")
    return truth(2000)


@positive("fairseq2", "facebookresearch/fairseq2 recipes (Train Metrics (step 50) - Loss: 3.2)")
def fairseq2(log):
    log.line("[03/11/25 09:14:02] INFO     fairseq2.recipe - Running on 1 process(es).")
    for n in range(10, 501, 10):
        log.step(f"[03/11/25 09:14:{n % 60:02}] INFO     fairseq2.recipe - Train Metrics (step {n}) - Loss: {log.loss(n / 500):.3f} | Gradient Norm: {log.near(1.):.4f} | Data Epoch: 1 | Learning Rate: 5e-05 | Number of Examples: 128 | Elapsed Time: {n * 2}s")
    return truth(500)


@positive("praxis", "google/paxml learners (step_i and the training loss)")
def praxis(log):
    for n in range(0, 1001, 20):
        log.step(f"I0311 09:14:02.318201 140231 summary_utils.py:455] [PAX STATUS] step_i: {n}, training loss: {log.loss(n / 1000, 9, 3):.6f}")
    return truth(1000)


@positive("clu_metrics", "google/CommonLoopUtils clu/metric_writers/logging_writer.py ([100] and its metrics)")
def clu_metrics(log):
    for n in range(100, 3001, 100):
        log.step(f"I0311 09:14:02.318201 140231 logging_writer.py:48] [{n}] accuracy={log.near(.9):f}, learning_rate=0.1, loss={log.loss(n / 3000):f}")
        log.line(f"I0311 09:14:02.318201 140231 local.py:45] Setting work unit notes: {log.near(8.):.1f} steps/s, {n / 30:.1f}% ({n}/3000), ETA: {(3000 - n) // 480}m")
    return truth(3000)


@positive("openrlhf_ppo", "OpenRLHF/OpenRLHF openrlhf/trainer/ppo_trainer.py (experience and training in nested bars)")
def openrlhf_ppo(log):
    for n in range(0, 17):
        log.bar(tqdm(n, 16, n * 40., desc="Episode [1/1]", postfix=f"reward={log.near(.3):.3g}, act_loss={log.near(.1):.3g}" if n else ""))
        if n < 16:
            for k in range(0, 9):
                log.raw("\n\r" + tqdm(k, 8, k * 3., desc="Train epoch [1/1]", postfix=f"pg={log.near(-.01):.3g}, rm={log.near(.3):.3g}, ret={log.near(.3):.3g}") + "\x1b[A")
    log.line()
    return truth("16|128", "")


@positive("trlx", "CarperAI/trlx accelerate_base_trainer.py (losses in brackets as a description)")
def trlx(log):
    for n in range(0, 401, 4):
        log.bar(tqdm(n, 400, n / 2., desc=f"[losses/total_loss: {log.near(.3):.2f} | losses/policy_loss: {log.near(.1):.2f} | losses/value_loss: {log.near(.2):.2f}]"))
        if n % 100 == 96:
            for k in range(0, 17, 4):
                log.raw("\r" + tqdm(k, 16, k / 2., desc="[rollout 0 / 128]"))
    log.line()
    return truth(400, total=400)


@positive("litgpt_finetune", "Lightning-AI/litgpt litgpt/finetune/lora.py (iterations and steps of an epoch)")
def litgpt_finetune(log):
    for n in range(1, 401):
        log.step(f"Epoch {n // 200 + 1} | iter {n} step {n // 4} | loss train: {log.loss(n / 400):.3f}, val: {'n/a' if n < 200 else '1.102'} | iter time: {log.near(300.):.2f} ms{' (step)' if n % 4 == 0 else ''}")
    return truth("400|100")


@positive("tinygrad_bar", "tinygrad/tinygrad examples/beautiful_mnist.py (a description with a loss and an accuracy)")
def tinygrad_bar(log):
    for n in range(0, 71):
        log.bar(f"loss: {log.loss(n / 70):6.2f} test_accuracy: {log.near(90.):5.2f}%: {n * 100 // 70:3}%|{'█' * (n // 5):14}| {n}/70 [00:{n // 8:02}<00:{(70 - n) // 8:02},  8.10it/s]")
    log.line()
    return truth(70, total=70)


@positive("micrograd", "karpathy/micrograd demo.ipynb: step 0 loss 0.89, accuracy 50.0%")
def micrograd(log):
    for n in range(100):
        log.step(f"step {n} loss {log.loss(n / 100, .9, .01)}, accuracy {min(100, 50 + n)}.0%")
    return truth(99)


@positive("raschka_gpt", "rasbt/LLMs-from-scratch ch05: Ep 1 (Step 000005): Train loss 7.7, Val loss 8.0")
def raschka_gpt(log):
    for n in range(0, 90, 5):
        log.step(f"Ep {n // 9 + 1} (Step {n:06d}): Train loss {log.loss(n / 90, 9, .5):.3f}, Val loss {log.loss(n / 90, 9, 6):.3f}")
        if n // 9 != (n + 5) // 9:
            log.line("Every effort moves you know, was one of the axioms he laid down across the Sevres")
    return truth(85)


@positive("accelerate_nlp", "huggingface/accelerate examples/nlp_example.py: epoch 0: {'accuracy': 0.8, 'f1': 0.87}")
def accelerate_nlp(log):
    for n in range(0, 8):
        log.step(f"epoch {n}: {{'accuracy': {log.near(.8)}, 'f1': {log.near(.87)}}}")
    return truth(7, "epochs")


@positive("neuralprophet", "ourownstory/neural_prophet (a bar of epochs, Epoch[10/100])")
def neuralprophet(log):
    log.line("INFO - (NP.config.set_auto_batch_epoch) - Auto-set batch_size to 32\nINFO - (NP.config.set_auto_batch_epoch) - Auto-set epochs to 100")
    for n in range(1, 101):
        log.bar(tqdm(n, 100, n / 8., desc=f"Epoch[{n}/100]", postfix=f"SmoothL1Loss={log.near(.003):.3g}, MAE={log.near(.05):.3g}, RMSE={log.near(.1):.3g}"))
    log.line()
    return truth(100, "", total=100)


@positive("tflearn", "tflearn/tflearn callbacks.py TermLogger (two lines drawn again)")
def tflearn(log):
    log.line("Run id: lenet_mnist\nLog directory: /tmp/tflearn_logs/\n---------------------------------\nTraining samples: 55000\nValidation samples: 10000\n--")
    for n in range(1, 861, 7):
        log.raw(f"\x1b[2K\rTraining Step: {n}  | total loss: \x1b[1m\x1b[32m{log.loss(n / 860):.5f}\x1b[0m\x1b[0m | time: {n % 430 / 80:.3f}s\n", step=True)
        log.raw(f"\x1b[2K\r| Adam | epoch: {n // 430 + 1:03d} | loss: {log.loss(n / 860):.5f} - acc: {log.near(.9):.4f} -- iter: {n % 430 * 128:05d}/55000\n\x1b[A\x1b[A")
    return truth(855)


@positive("physicsnemo", "NVIDIA/modulus-sym hydra logs: [step:        100] loss:  1.2e-02, time/iteration:  3.1e+01 ms")
def physicsnemo(log):
    for n in range(0, 5001, 100):
        log.step(f"[{log.at('%H:%M:%S')}] - [step: {n:>10}] loss: {log.loss(n / 5000):>10.3e}, time/iteration: {log.near(31.):>10.3e} ms")
        if n % 1000 == 0:
            log.line(f"[{log.at('%H:%M:%S')}] - [step: {n:>10}] record validators time:  {log.near(.04):.3e}s\n[{log.at('%H:%M:%S')}] - [step: {n:>10}] saved checkpoint to outputs/ldc_2d")
    return truth(5000)


@positive("open3d_ml", "isl-org/Open3D-ML ml3d/torch/pipelines/semantic_segmentation.py")
def open3d_ml(log):
    for epoch in range(0, 3):
        log.line(f"INFO - {log.ms()} - semantic_segmentation - === EPOCH {epoch}/200 ===")
        for n in range(0, 121, 3):
            log.bar(tqdm(n, 120, n / 2., desc="training"))
        log.line()
        for n in range(0, 31, 3):
            log.raw("\r" + tqdm(n, 30, n / 2., desc="validation"))
        log.line(f"\nINFO - {log.ms()} - semantic_segmentation - Loss train: {log.loss(epoch / 3):.3f}  eval: {log.near(.7):.3f}\nINFO - {log.ms()} - semantic_segmentation - Mean acc train: {log.near(.5):.3f}  eval: {log.near(.5):.3f}")
    return truth(360, epoch_steps="120|")


@positive("alphapose", "MVIG-SJTU/AlphaPose scripts/train.py (values as the description of a bar)")
def alphapose(log):
    for epoch in range(0, 3):
        log.line(f"############# Starting Epoch {epoch} | LR: 0.001 #############")
        for n in range(0, 141, 5):
            log.bar(tqdm(n, 140, n / 3., desc=f"loss: {log.near(.0005):.8f} | acc: {log.near(.8):.4f}"))
        log.line(f"\n############# Train-{epoch} epoch | loss:{log.near(.0005):.8f} | acc:{log.near(.8):.4f} #############")
    return truth(420)


@positive("deeplabcut3", "DeepLabCut/DeepLabCut 3 pose_estimation_pytorch/runners/train.py")
def deeplabcut3(log):
    log.line("Data Transforms:\n  Training:   Compose([\n  Affine(always_apply=False, p=0.5),\n])\nNote: According to your model configuration, you're training with batch size 1.\nUsing 120 images and 7 for testing\n\nStarting pose model training...\n--------------------------------------------------")
    for n in range(1, 61):
        log.step(f"Epoch {n}/200 (lr=0.0005), train loss {log.loss(n / 60, .02, .003):.5f}" + (f", valid loss {log.near(.01):.5f}" if n % 10 == 0 else ""))
        if n % 10 == 0:
            log.line(f"Model performance:\n  metrics/test.rmse:          {log.near(30.):.2f}\n  metrics/test.mAP:           {log.near(60.):.2f}")
    return truth(60, "epochs", total=200)


@positive("cellpose", "MouseLand/cellpose cellpose/train.py (the epoch stands first, without a word)")
def cellpose(log):
    log.line(f"{log.ms()} [INFO] ** TORCH CUDA version installed and working. **\n{log.ms()} [INFO] >>> n_epochs=100, n_train=32, n_test=8\n{log.ms()} [INFO] >>> AdamW, learning_rate=0.10000, weight_decay=0.00010")
    for n in [0, 5, *range(10, 100, 10)]:
        log.step(f"{log.ms()} [INFO] {n}, train_loss={log.loss(n / 100):.4f}, test_loss={log.near(.4):.4f}, LR={.1 * (n > 5):.6f}, time {n * 1.3:.2f}s")
    return truth(90, "")


@positive("pykeen", "pykeen/pykeen training/training_loop.py (a bar of epochs around bars of batches)")
def pykeen(log):
    for n in range(0, 31):
        log.bar(tqdm(n, 30, n * 2., desc="Training epochs on cuda:0", unit="epoch", postfix=f"loss={log.near(.3):.3g}, prev_loss={log.near(.3):.3g}" if n else ""))
        if n < 30:
            log.line()
            for k in range(0, 21, 5):
                log.raw("\r" + tqdm(k, 20, k / 11., desc="Training batches on cuda:0", unit="batch"), step=True)
            log.raw("\r\x1b[A")
    log.line()
    return truth("30|600", "", total="30|600|")


@positive("implicit_als", "benfred/implicit (a bar without a word, with a loss)")
def implicit_als(log):
    for n in range(0, 16):
        log.bar(tqdm(n, 15, n / 5., postfix=f"loss={log.near(.0003):.4f}" if n else ""))
    log.line()
    return truth(15, total=15)


@positive("hf_notebook_accuracy", "LMFlow and copies: a loop over a loader with a description Epoch 1 and a mean loss behind")
def hf_notebook_accuracy(log):
    for epoch in range(1, 4):
        for n in range(0, 233, 8):
            log.bar(tqdm(n, 232, n / 7., desc=f"Epoch {epoch} - mean loss {log.loss(epoch / 3):.4f}"))
        log.bar(tqdm(232, 232, 33., desc=f"Epoch {epoch} - mean loss 0.4142"))
        log.line()
    return truth(3 * 232, epoch_steps=232)
