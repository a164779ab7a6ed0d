"""Formats of trainings that were collected as a blind set: reinforcement learning, speech, pictures, detection, graphs."""
from .lib import positive, tqdm, truth


def span(first, last, every):
    return range(first, last + 1, every)


def run_bar(log, total, every=1, speed=9., step=True, **options):
    """A bar that runs through."""
    for n in [*range(0, total, every), total]:
        log.raw("\r" + tqdm(n, total, n / speed, **options), step=step)
    log.line()


@positive("td3", "sfujim/TD3 main.py")
def td3(log):
    log.line("---------------------------------------\nPolicy: TD3, Env: HalfCheetah-v2, Seed: 0\n---------------------------------------")
    t = 0
    for episode in span(1, 60, 1):
        t += 200 + 13 * (episode % 7)
        log.step(f"Total T: {t} Episode Num: {episode} Episode T: {200 + 13 * (episode % 7)} Reward: {log.near(40. + episode):.3f}")
        if episode % 20 == 0:
            log.line(f"---------------------------------------\nEvaluation over 10 episodes: {log.near(60.):.3f}\n---------------------------------------")
    return truth(f"{t}|60", "")


@positive("drqv2", "facebookresearch/drqv2 logger.py")
def drqv2(log):
    for episode in span(1, 40, 1):
        log.step(f"| \x1b[33mtrain\x1b[0m | F: {episode * 1000} | S: {episode * 500} | E: {episode} | L: 500 | R: {log.near(20. + episode):.4f} | BS: {episode * 500} | FPS: {log.near(80.):.4f} | T: 0:{episode // 6:02d}:{episode * 7 % 60:02d}")
        if episode % 20 == 0:
            log.line(f"| \x1b[32meval\x1b[0m  | F: {episode * 1000} | S: {episode * 500} | E: {episode} | L: 500 | R: {log.near(30.):.4f} | T: 0:{episode // 6:02d}:00")
    return truth("20000|40000", "")


@positive("pfrl", "pfnet/pfrl pfrl/experiments/train_agent.py")
def pfrl(log):
    t = 0
    for episode in range(50):
        t += 180 + 11 * (episode % 5)
        log.step(f"INFO:__main__:outdir:results/20250311T091402 step:{t} episode:{episode} R:{log.near(20. + episode):.1f}")
        log.line(f"INFO:__main__:statistics:[('average_q', {log.near(.4)}), ('average_loss', {log.loss(.5)}), ('cumulative_steps', {t}), ('n_updates', {max(0, t - 1000)}), ('rlen', {t})]")
    return truth(t, "steps|timesteps")


@positive("pymarl", "oxwhirl/pymarl src/run.py, utils/logging.py")
def pymarl(log):
    for k in span(1, 30, 1):
        t = k * 10000 + 12 * (k % 9)
        log.tick(90)
        log.step(f"[INFO {log.at('%H:%M:%S')}] my_main t_env: {t} / 2050000")
        log.line(f"[INFO {log.at('%H:%M:%S')}] my_main Estimated time left: {6 - k // 6} hours, 12 minutes. Time passed: {k} minutes")
        log.line(f"[INFO {log.at('%H:%M:%S')}] my_main Recent Stats | t_env: {t:>10} | Episode: {k * 203:>8}")
        log.line(f"battle_won_mean:           {log.near(.3):.4f}\tep_length_mean:           {log.near(50.):.4f}\tepsilon:                   {1 - k / 40:.4f}\tgrad_norm:                 {log.near(.8):.4f}")
        log.line(f"loss:                      {log.loss(k / 30):.4f}\tq_taken_mean:              {log.near(.4):.4f}\treturn_mean:               {log.near(6.):.4f}\ttd_error_abs:              {log.near(.1):.4f}")
    return truth(f"{t}|{k * 203}", "", total="2050000")


@positive("mappo", "marlbenchmark/on-policy onpolicy/runner/shared/smac_runner.py")
def mappo(log):
    for k in range(0, 101, 5):
        log.step(f"\n Map 3m Algo rmappo Exp check updates {k}/625 episodes, total num timesteps {(k + 1) * 3200}/2000000, FPS {int(log.near(210.))}.\n")
        log.line(f"incre win rate is {log.near(.4)}.")
        log.line(f"average episode rewards is {log.near(9.)}")
    return truth(f"100|{101 * 3200}", "", total="625|2000000")


@positive("dopamine", "google/dopamine dopamine/discrete_domains/run_experiment.py (first iteration)")
def dopamine(log):
    log.line("I0311 09:14:02.318 140 run_experiment.py:530] Beginning training...\nI0311 09:14:02.512 140 run_experiment.py:612] Starting iteration 0")
    steps = 0
    for episode in range(120):
        length = 150 + 17 * (episode % 11)
        steps += length
        log.raw(f"Steps executed: {steps} Episode length: {length} Return: {float(episode % 6)}\r", step=True)
    return truth(steps, "steps|timesteps")


@positive("sample_factory", "alex-petrenko/sample-factory sample_factory/algo/runners/runner.py")
def sample_factory(log):
    for k in span(1, 40, 1):
        log.tick(5)
        stamp = f"[{log.ms()}][01234]"
        log.step(f"{stamp} Fps is (10 sec: {log.near(4096.):.1f}, 60 sec: {log.near(4000.):.1f}, 300 sec: {log.near(3900.):.1f}). Total num frames: {k * 20480}. Throughput: 0: {log.near(1000.):.1f}. Samples: {k * 5120}. Policy #0 lag: (min: 0.0, avg: {log.near(1.2):.1f}, max: 3.0)")
        log.line(f"{stamp} Avg episode reward: [(0, '{log.near(20.):.3f}')]")
        log.line(f"{stamp} Updated weights for policy 0, policy_version {k * 20} (0.0012)")
    return truth(f"{40 * 20480}|{40 * 5120}", "timesteps|samples|steps")


@positive("wenet", "wenet-e2e/wenet wenet/utils/train_utils.py (epoch/batch)")
def wenet(log):
    for epoch in range(3):
        for batch in range(0, 1000, 100):
            log.tick(30)
            log.step(f"{log.ms()} DEBUG TRAIN | steps/sec {log.near(3.1):.3f}| Batch {epoch}/{batch} loss {log.loss((epoch + batch / 1000) / 3, 90.):.6f} loss_att {log.near(30.):.6f} loss_ctc {log.near(60.):.6f} lr 0.00010000 grad_norm {log.near(12.):.6f} rank 0")
        log.line(f"{log.ms()} INFO Epoch {epoch} Step {(epoch + 1) * 1000} CV info lr 0.0001 cv_loss {log.near(12.)} rank 0 acc 0.8")
    return truth("2900|3000")


@positive("parallel_wavegan", "kan-bayashi/ParallelWaveGAN parallel_wavegan/bin/train.py")
def parallel_wavegan(log):
    for n in range(0, 2001, 5):
        log.bar(tqdm(n, 400000, n / 3.1, desc="[train]"))
        if n and n % 100 == 0:
            for name in ("train/spectral_convergence_loss", "train/log_stft_magnitude_loss", "train/generator_loss"):
                log.line(f"\r{log.tick(1).strftime('%Y-%m-%d %H:%M:%S')},312 (train:277) INFO: (Steps: {n}) {name} = {log.loss(n / 2000):.4f}.")
    return truth(2000, total=400000)


@positive("so_vits_svc", "svc-develop-team/so-vits-svc train.py")
def so_vits_svc(log):
    step = 0
    for epoch in span(1, 4, 1):
        for k in range(5):
            log.line(f"{log.ms()}\t44k\tINFO\tTrain Epoch: {epoch} [{k * 20:.0f}%]")
            log.step(f"{log.ms()}\t44k\tINFO\tLosses: [{log.near(2.4)}, {log.near(2.)}, {log.near(8.)}, {log.near(21.)}, {log.near(1.)}], step: {step}, lr: 0.0001, reference_loss: {log.near(35.)}")
            step += 200
        log.line(f"{log.ms()}\t44k\tINFO\t====> Epoch: {epoch}, cost {log.near(45.):.2f} s")
    return truth(step - 200)


@positive("demucs_train", "facebookresearch/demucs demucs/solver.py with facebookresearch/dora LogProgress")
def demucs(log):
    for epoch in span(1, 3, 1):
        log.line(f"[{log.at('%m-%d %H:%M:%S')}][demucs.solver][INFO] - Training...")
        for n in range(200, 1000, 200):
            log.step(f"[{log.at('%m-%d %H:%M:%S')}][demucs.solver][INFO] - Train | Epoch {epoch} | {n}/1000 | {log.near(3.):.1f} it/sec | Loss {log.loss(epoch / 3):.4f} | NSDR {log.near(1.2):.3f}")
        log.line(f"[{log.at('%m-%d %H:%M:%S')}][demucs.solver][INFO] - Train Summary | Epoch {epoch} | Loss={log.near(.2):.4f} | Nsdr={log.near(2.):.3f}")
        for n in range(10, 50, 10):
            log.line(f"[{log.at('%m-%d %H:%M:%S')}][demucs.solver][INFO] - Valid | Epoch {epoch} | {n}/50 | {log.near(5.):.1f} it/sec | Loss {log.near(.3):.4f}")
    return truth(2800, epoch_steps=1000)


@positive("fastspeech2", "ming024/FastSpeech2 train.py (two bars and lines)")
def fastspeech2(log):
    for step in range(0, 1001, 2):
        log.raw("\r" + tqdm(step, 900000, step / 4, desc="Training") + "\n\r" + tqdm(step % 400 // 4, 100, step % 400 / 4, desc=f"Epoch {1 + step // 400}") + "\x1b[A", step=True)
        if step and step % 100 == 0:
            log.line(f"\r\x1b[KStep {step}/900000, Total Loss: {log.loss(step / 1000):.4f}, Mel Loss: {log.near(.8):.4f}, Mel PostNet Loss: {log.near(.8):.4f}, Pitch Loss: {log.near(.3):.4f}, Energy Loss: {log.near(.2):.4f}, Duration Loss: {log.near(.2):.4f}\n")
    return truth(1000, total=900000)


@positive("tacotron_keithito", "keithito/tacotron train.py")
def tacotron(log):
    for step in span(1, 900, 1):
        log.step(f"Step {step:<7d} [{log.near(1.1):.03f} sec/step, loss={log.loss(step / 900):.05f}, avg_loss={log.loss(step / 900):.05f}]")
        if step % 300 == 0:
            log.line(f"Saving checkpoint to: /tmp/logs-tacotron/model.ckpt-{step}")
    return truth(900)


@positive("rtvc_encoder", "CorentinJ/Real-Time-Voice-Cloning encoder/visualizations.py (dots between the lines)")
def rtvc(log):
    for step in span(10, 300, 10):
        log.raw("." * 10)
        log.step(f"\nStep {step:6d}   Loss: {log.loss(step / 300):.4f}   EER: {log.near(.2):.4f}   Step time:  mean: {int(log.near(800.)):5d}ms  std: {int(log.near(90.)):5d}ms")
        log.line(f"\nAverage execution time over 10 steps:\n  Blocking, waiting for batch (threaded) (10/10):  mean:  {int(log.near(500.)):4d}ms   std:  {int(log.near(90.)):4d}ms\n  Data to cuda (10/10):                             mean:     4ms   std:     1ms\n  Forward pass (10/10):                             mean:     9ms   std:     2ms")
    return truth(300)


@positive("biggan", "ajbrock/BigGAN-PyTorch utils.py (progress), train.py")
def biggan(log):
    itr = 0
    for epoch in range(3):
        log.line(f"Beginning training at epoch {epoch}...")
        for n in range(1, 201, 2):
            itr = epoch * 200 + n + 1
            log.raw(f"\r{n + 1}/200 ({n / 2:6.2f}%) (TE/ET1k: {n // 60}:{n % 60:02d} / 8:12) itr: {itr}, G_loss : {log.near(-.3):+4.3f}, D_loss_real : {log.near(.5):+4.3f}, D_loss_fake : {log.near(.5):+4.3f} ", step=True)
    return truth(itr)


@positive("stargan_v2", "clovaai/stargan-v2 core/solver.py")
def stargan(log):
    log.line("Start training...")
    for it in span(10, 1000, 10):
        log.step(f"Elapsed time [0:{it // 60:02d}:{it % 60:02d}], Iteration [{it}/100000], D/latent_real: [{log.near(.6):.4f}] D/latent_fake: [{log.near(.6):.4f}] D/ref_reg: [{log.near(.01):.4f}] G/latent_adv: [{log.near(.8):.4f}] G/lambda_ds: [{1 - it / 1e5:.4f}]")
    return truth(1000, total=100000)


@positive("ai_toolkit", "ostris/ai-toolkit jobs/process/BaseSDTrainProcess.py")
def ai_toolkit(log):
    for n in range(0, 751):
        log.bar(tqdm(n, 2000, n * 1.4, desc="my_first_lora_v1", postfix=f"lr: 1.0e-04 loss: {log.loss(n / 750):.3e}"))
        if n and n % 250 == 0:
            log.line()
            run_bar(log, 4, desc="Generating Images", step=False)
            log.line(f"Saving at step {n}\nSaved checkpoint to output/my_first_lora_v1/my_first_lora_v1_{n:09d}.safetensors")
    return truth(750, total=2000)


@positive("yolov4_tianxiaomo", "Tianxiaomo/pytorch-YOLOv4 train.py (bar of images, cut at 50 columns)")
def yolov4(log):
    log.line("2025-03-11 09:14:02,318 train.py[line:313] INFO: Starting training:\n        Epochs:          300\n        Batch size:      64\n        Subdivisions:    16\n        Learning rate:   0.001\n        Training size:   5011\n        Validation size: 4952")
    for epoch in span(1, 3, 1):
        for n in [*range(0, 5011, 64), 5011]:
            log.bar(tqdm(n, 5011, n / 40, desc=f"Epoch {epoch}/300", unit="img", ncols=50, postfix=f"loss (batch)={log.near(812.):.3g}")[:50])
        log.line()
    return truth(15033, "samples", total=300 * 5011, epoch_steps=5011)


@positive("efficientdet_zylo", "zylo117/Yet-Another-EfficientDet-Pytorch train.py")
def efficientdet(log):
    for epoch in range(3):
        for k in range(500):
            if k % 4 == 0 or k == 499:
                log.bar(tqdm(k + 1, 500, k / 4, desc=f"Step: {epoch * 500 + k}. Epoch: {epoch}/500. Iteration: {k + 1}/500. Cls loss: {log.near(.5):.5f}. Reg loss: {log.near(.3):.5f}. Total loss: {log.near(.8):.5f}"))
        log.line(f"\nVal. Epoch: {epoch}/500. Classification loss: {log.near(.5):1.5f}. Regression loss: {log.near(.3):1.5f}. Total loss: {log.near(.8):1.5f}")
    return truth("1499|1500", total=250000)


@positive("retinanet_yhenon", "yhenon/pytorch-retinanet train.py, retinanet/coco_eval.py")
def retinanet(log):
    for epoch in range(3):
        for it in range(200):
            log.step(f"Epoch: {epoch} | Iteration: {it} | Classification loss: {log.near(.6):1.5f} | Regression loss: {log.near(.5):1.5f} | Running loss: {log.near(1.1):1.5f}")
        log.line("Evaluating dataset")
        for index in range(500):
            log.raw(f"{index}/500\r")
        log.line("Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.312")
    return truth(599)


@positive("maskrcnn_benchmark", "facebookresearch/maskrcnn-benchmark maskrcnn_benchmark/engine/trainer.py")
def maskrcnn(log):
    for it in span(20, 1500, 20):
        log.tick(9)
        log.step(f"{log.ms()} maskrcnn_benchmark.trainer INFO: eta: 1 day, 2:{59 - it // 60:02d}:14  iter: {it}  loss: {log.loss(it / 1500):.4f} ({log.loss(it / 1500):.4f})  loss_classifier: {log.near(.4):.4f} ({log.near(.4):.4f})  loss_box_reg: {log.near(.2):.4f} ({log.near(.2):.4f})  time: {log.near(.4):.4f} ({log.near(.4):.4f})  data: {log.near(.01):.4f} ({log.near(.01):.4f})  lr: 0.002500  max mem: 3123")
    return truth(1500)


@positive("paddleclas", "PaddlePaddle/PaddleClas ppcls/engine/train/utils.py, evaluation/classification.py")
def paddleclas(log):
    for epoch in span(1, 3, 1):
        for it in range(0, 200, 10):
            log.tick(5)
            log.step(f"[{log.at('%Y/%m/%d %H:%M:%S')}] ppcls INFO: [Train][Epoch {epoch}/20][Iter: {it}/200]lr(PiecewiseDecay): 0.10000000, top1: {log.near(.3):.5f}, top5: {log.near(.6):.5f}, CELoss: {log.near(4.):.5f}, loss: {log.near(4.):.5f}, batch_cost: {log.near(.4):.5f}s, reader_cost: {log.near(.1):.5f}, ips: {log.near(123.):.5f} samples/s, eta: 1:02:{59 - it // 10:02d}")
        for it in range(0, 40, 10):
            log.line(f"[{log.at('%Y/%m/%d %H:%M:%S')}] ppcls INFO: [Eval][Epoch {epoch}][Iter: {it}/40]CELoss: {log.near(4.):.5f}, loss: {log.near(4.):.5f}, top1: {log.near(.3):.5f}, batch_cost: 0.31s, reader_cost: 0.02, ips: 201.1 images/sec")
        log.line(f"[{log.at('%Y/%m/%d %H:%M:%S')}] ppcls INFO: [Eval][Epoch {epoch}][Avg]CELoss: 3.91231, loss: 3.91231, top1: 0.31231")
    return truth(590, total=4000, epoch_steps=200)


@positive("smp_train", "qubvel/segmentation_models.pytorch segmentation_models_pytorch/utils/train.py")
def smp(log):
    for epoch in range(4):
        log.line(f"\nEpoch: {epoch}")
        run_bar(log, 45, desc="train", postfix=f"dice_loss - {log.near(.3):.4}, iou_score - {log.near(.6):.4}")
        run_bar(log, 101, desc="valid", step=False, postfix=f"dice_loss - {log.near(.3):.4}, iou_score - {log.near(.6):.4}")
    return truth(180, epoch_steps=45)


@positive("unet_milesial", "milesial/Pytorch-UNet train.py (bar of images, validation rounds)")
def unet(log):
    log.line("INFO: Using device cuda\nINFO: Starting training:\n        Epochs:          5\n        Batch size:      4\n        Learning rate:   1e-05\n        Training size:   4580\n        Validation size: 508\n        Checkpoints:     True")
    for epoch in span(1, 3, 1):
        for n in range(0, 4581, 20):
            log.bar(tqdm(n, 4580, n / 30, desc=f"Epoch {epoch}/5", unit="img", postfix=f"loss (batch)={log.near(.3):.3g}"))
            if n in (900, 1800, 2700, 3600, 4500):
                log.raw("\n")
                run_bar(log, 127, 9, desc="Validation round", unit="batch", step=False)
                log.line("INFO: Validation Dice score: 0.81")
        log.line()
    return truth(3 * 4580, "samples", total=5 * 4580, epoch_steps=4580)


@positive("nnunet_train", "MIC-DKFZ/nnUNet nnunetv2/training/nnUNetTrainer/nnUNetTrainer.py")
def nnunet(log):
    for epoch in range(20):
        stamp = f"{log.at()}.{log.random.randint(100000, 999999)}: "
        log.line(stamp)
        log.step(f"{stamp}Epoch {epoch}")
        log.line(f"{stamp}Current learning rate: {.01 - epoch / 1e5:.5f}\n{stamp}train_loss {-log.near(.5):.4f}\n{stamp}val_loss {-log.near(.5):.4f}\n{stamp}Pseudo dice [np.float32({log.near(.7):.4f}), np.float32({log.near(.7):.4f})]\n{stamp}Epoch time: {log.near(45.):.2f} s")
        if epoch % 4 == 0:
            log.line(f"{stamp}Yayy! New best EMA pseudo Dice: {.5 + epoch / 100:.4f}")
        log.tick(45)
    return truth(19, "epochs")


@positive("recbole", "RUCAIBox/RecBole recbole/trainer/trainer.py")
def recbole(log):
    for epoch in range(6):
        run_bar(log, 40, desc=f"\x1b[1;35mTrain {epoch:>5}\x1b[0m", postfix="\x1b[1;33mGPU RAM: 0.12 G/10.92 G\x1b[0m")
        log.line(f"{log.at('%d %b %H:%M')}    INFO  \x1b[1;32mepoch {epoch} training\x1b[0m [\x1b[1;34mtime\x1b[0m: {log.near(.9):.2f}s, \x1b[1;34mtrain loss\x1b[0m: {log.loss(epoch / 6, 27.):.4f}]")
        run_bar(log, 472, 9, desc="\x1b[1;35mEvaluate   \x1b[0m", step=False, postfix="\x1b[1;33mGPU RAM: 0.12 G/10.92 G\x1b[0m")
        log.line(f"{log.at('%d %b %H:%M')}    INFO  \x1b[1;32mepoch {epoch} evaluating\x1b[0m [\x1b[1;34mtime\x1b[0m: 0.11s, \x1b[1;34mvalid_score\x1b[0m: {log.near(.02):f}]")
        log.line(f"{log.at('%d %b %H:%M')}    INFO  \x1b[1;32mvalid result\x1b[0m: \nrecall@10 : 0.0312    mrr@10 : 0.0201    ndcg@10 : 0.0151    hit@10 : 0.112")
    return truth(240, epoch_steps=40)


@positive("ogb_arxiv", "snap-stanford/ogb examples/nodeproppred/arxiv/gnn.py")
def ogb_arxiv(log):
    for epoch in span(1, 60, 1):
        log.step(f"Run: 01, Epoch: {epoch:02d}, Loss: {log.loss(epoch / 60):.4f}, Train: {30 + epoch / 2:.2f}%, Valid: {29 + epoch / 2:.2f}% Test: {28 + epoch / 2:.2f}%")
    return truth(60, "epochs")


@positive("ogb_mol", "snap-stanford/ogb examples/graphproppred/mol/main_pyg.py (evaluation bars have the words of the training bar)")
def ogb_mol(log):
    for epoch in span(1, 3, 1):
        log.line(f"=====Epoch {epoch}\nTraining...")
        run_bar(log, 103, 2, desc="Iteration")
        log.line("Evaluating...")
        for total in (103, 13, 13):
            run_bar(log, total, 2, speed=30., desc="Iteration", step=False)
        log.line(f"{{'Train': {{'rocauc': {log.near(.8)}}}, 'Validation': {{'rocauc': {log.near(.7)}}}, 'Test': {{'rocauc': {log.near(.7)}}}}}")
    return truth(309, epoch_steps=103)


@positive("cogdl", "THUDM/CogDL cogdl/trainer/trainer.py (bar of epochs)")
def cogdl(log):
    for n in range(0, 101):
        log.bar(tqdm(n, 100, n / 7, desc=f"Epoch: {max(1, n)}, train_loss:  {log.loss(n / 100):.4f}, val_acc:  {.4 + n / 300:.4f}"))
    log.line()
    return truth("100|99", "epochs|steps", total=100)


@positive("glove", "stanfordnlp/GloVe src/glove.c")
def glove(log):
    log.line("TRAINING MODEL\nRead 60666466 lines.\nInitializing parameters...Using random seed 1741683242\ndone.\nvector size: 50\nvocab size: 71290\nx_max: 10.000000\nalpha: 0.750000")
    for it in span(1, 25, 1):
        log.tick(20)
        log.step(f"{log.at('%x - %I:%M.%S%p')}, iter: {it:03d}, cost: {log.loss(it / 25, .07, .03):f}")
    return truth(25)


@positive("levanter", "stanford-crfm/levanter src/levanter/callbacks/_metrics.py with tqdm-loggable")
def levanter(log):
    head = "- 0 - tqdm_loggable.tqdm_logging - tqdm_logging.py:145 :: INFO :: Progress on:"
    from .lib import sized
    for n in span(20, 780, 20):
        log.tick(60)
        log.step(f"{log.at('%Y-%m-%dT%H:%M:%S')} {head}train {sized(n)}it/800it rate:{log.near(1.9):.1f}s/it remaining:{(800 - n) // 30}:12 elapsed:{n // 30:02d}:{n % 60:02d} postfix:loss={log.loss(n / 800, 10., 3.):.3g}")
        if n % 200 == 0:
            log.line(f"{log.at('%Y-%m-%dT%H:%M:%S')} {head}eval 12.0it/40.0it rate:3.1it/s remaining:00:09 elapsed:00:04 postfix:loss={log.near(4.):.3g}")
    return truth(780, total=800)


@positive("vit_jax", "google-research/vision_transformer vit_jax/train.py")
def vit_jax(log):
    for step in span(100, 4000, 100):
        log.tick(20)
        log.step(f"I0311 {log.at('%H:%M:%S')}.318021 140123 train.py:214] Step: {step}/10000 {step / 100:.1f}%, img/sec/core: {log.near(812.):.1f}, ETA: {(10000 - step) / 9000:.2f}h")
    return truth(4000, total=10000)


@positive("big_vision", "google-research/big_vision big_vision/utils.py")
def big_vision(log):
    for step in span(50, 2000, 50):
        log.step(f"I0311 {log.tick(5).strftime('%H:%M:%S')}.318 140 utils.py:1281] \x1b[35m[{step}]\x1b[0m training_loss = {log.loss(step / 2000, 7.)}")
        log.line(f"I0311 {log.at('%H:%M:%S')}.320 140 utils.py:1281] \x1b[35m[{step}]\x1b[0m img/sec/core = {log.near(712.)}")
        log.line(f"I0311 {log.at('%H:%M:%S')}.322 140 train.py:120] \x1b[33mNOTE\x1b[0m: Steps:{step}/10000 [{step / 100:.1f}%]\nWalltime:{step // 100}m (0s eval)\nETA:{3 - step // 1000}h\nTotal train time:3h")
    return truth(2000, total="10000|")


@positive("monai_tutorials", "Project-MONAI/tutorials 3d_segmentation/unet_segmentation_3d_array.py")
def monai(log):
    for epoch in span(1, 3, 1):
        log.line(f"----------\nepoch {epoch}/10")
        for n in span(1, 41, 1):
            log.step(f"{n}/41, train_loss: {log.loss(epoch / 4):.4f}")
        log.line(f"epoch {epoch} average loss: {log.loss(epoch / 4):.4f}")
    return truth(123, total=410, epoch_steps=41)
