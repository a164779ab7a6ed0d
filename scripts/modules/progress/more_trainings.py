"""Trainings of further projects: vision, speech, translation, graphs, robots and games, each with its own lines."""
import json

from .lib import clock, positive, tqdm, truth


@positive("turicreate", "apple/turicreate: the table of object_detector.create (issue 2771)")
def turicreate(log):
    rule = "+--------------+--------------+--------------+"
    log.lines(f"{rule}\n| Iteration    | Loss         | Elapsed Time |\n{rule}")
    for step in [*range(1, 11), *range(15, 301, 5)]:
        log.step(f"| {step:<12} | {log.loss(step / 300, 5.4, 1.1):<12.6g} | {step * .9:<11.2f}s |")
    log.line(rule)
    return truth(300)


@positive("mindspore", "mindspore-ai/mindspore mindspore/python/mindspore/train/callback/_loss_monitor.py, _time_monitor.py")
def mindspore(log):
    for epoch in range(1, 5):
        for step in range(1, 151):
            log.step(f"epoch: {epoch} step: {step}, loss is {log.loss(epoch / 5):.7f}")
        log.line(f"Train epoch time: {log.near(8123.1):.3f} ms, per step time: {log.near(54.2):.3f} ms")
    return truth(600)


@positive("dcgan_tensorflow", "carpedm20/DCGAN-tensorflow model.py")
def dcgan_tensorflow(log):
    counter = 0
    for epoch in range(3):
        for index in range(120):
            counter += 1
            log.step(f"[{counter:8d} Epoch:[{epoch:2d}/{3:2d}] [{index:4d}/{120:4d}] time: {counter * .31:4.4f}, d_loss: {log.loss(.2):.8f}, g_loss: {log.loss(.5):.8f}")
            if counter % 100 == 0:
                log.line(f"[Sample] d_loss: {log.loss(.2):.8f}, g_loss: {log.loss(.4):.8f}")
    return truth("360|359")


@positive("stylegan2_ada", "NVlabs/stylegan2-ada-pytorch training/training_loop.py")
def stylegan2(log):
    log.line("Training for 25000 kimg...\n")
    for tick in range(80):
        log.step(f"tick {tick:<5d} kimg {tick * 4.0:<8.1f} time {tick // 60}m {tick % 60:02d}s{'':<6} sec/tick {log.near(51.):<7.1f} sec/kimg {log.near(12.4):<7.2f} maintenance {log.near(.2):<6.1f} cpumem {log.near(4.):<6.2f} gpumem {log.near(9.):<6.2f} augment {tick / 900:.3f}")
        if tick % 25 == 0:
            log.line(f'{{"results": {{"fid50k_full": {log.near(90.):.4f}}}, "metric": "fid50k_full", "total_time": 41.2, "snapshot_pkl": "network-snapshot-{tick * 4:06d}.pkl"}}')
    return truth(79, "")


@positive("guided_diffusion", "openai/guided-diffusion guided_diffusion/logger.py, train_util.py")
def guided_diffusion(log):
    log.line("Logging to /tmp/openai-2025-03-11\ncreating model and diffusion...\ncreating data loader...\ntraining...")
    for step in range(0, 601, 10):
        rows = [("grad_norm", f"{log.near(.3):.3g}"), ("loss", f"{log.loss(step / 600):.3g}"), ("loss_q0", f"{log.loss(.1):.3g}"), ("mse", f"{log.loss(.6):.3g}"), ("samples", f"{(step + 1) * 32:.3g}" if step > 31 else str((step + 1) * 32)), ("step", str(step))]
        log.line("-" * 26)
        for key, value in rows:
            log.line(f"| {key:<12} | {value:<7} |", step=key == "step")
        log.line("-" * 26)
    return truth(600)


@positive("swin_transformer", "microsoft/Swin-Transformer main.py, logger.py")
def swin(log):
    for epoch in range(3):
        for index in range(0, 200, 10):
            log.tick(4)
            log.step(f"[{log.at()} swin_tiny] (main.py 222): INFO Train: [{epoch}/300][{index}/200]\teta 0:{10 - index // 20:02d}:31 lr 0.{index:06d}\t wd 0.0500\ttime {log.near(.4):.4f} ({log.near(.4):.4f})\tloss {log.loss(epoch / 3, 6.9):.4f} ({log.loss(epoch / 3, 6.9):.4f})\tgrad_norm {log.near(1.3):.4f} (inf)\tloss_scale 65536.0000 (32768.0000)\tmem 9121MB")
        for index in range(0, 40, 10):
            log.line(f"[{log.at()} swin_tiny] (main.py 271): INFO Test: [{index}/40]\tTime {log.near(.3):.3f} ({log.near(.3):.3f})\tLoss {log.near(5.):.4f} ({log.near(5.):.4f})\tAcc@1 {log.near(9.):.3f} ({log.near(9.):.3f})\tAcc@5 {log.near(20.):.3f} ({log.near(20.):.3f})\tMem 9121MB")
        log.line(f"[{log.at()} swin_tiny] (main.py 130): INFO Accuracy of the network on the 50000 test images: {9 + epoch}.3%")
    return truth(590, total=60000, epoch_steps=200)


@positive("coqui_trainer", "coqui-ai/Trainer trainer/logging/console_logger.py")
def coqui(log):
    done = 0
    for epoch in range(3):
        log.line(f"\n\x1b[4m\x1b[1m > EPOCH: {epoch}/1000\x1b[0m\n --> /runs/vits-march")
        log.line(f"\n\x1b[1m > TRAINING ({log.at()}) \x1b[0m")
        for step in range(0, 200, 25):
            log.line(f"\n\x1b[1m   --> TIME: {log.at()} -- STEP: {step}/200 -- GLOBAL_STEP: {done + step}\x1b[0m", step=True)
            log.line(f"     | > loss_disc: {log.loss(.3):.5f}  ({log.loss(.3):.5f})\n     | > loss_gen: {log.loss(.2):.5f}  ({log.loss(.2):.5f})\n     | > current_lr_0: 0.0002 \n     | > step_time: {log.near(.6):.4f}  ({log.near(.6):.4f})")
        log.line("\n\x1b[1m > EVALUATION \x1b[0m\n")
        for step in range(6):
            log.line(f"\x1b[1m   --> STEP: {step}\x1b[0m\n     | > loss_disc: {log.loss(.3):.5f}  ({log.loss(.3):.5f})")
        done += 200
    return truth(575)


@positive("waveglow", "NVIDIA/waveglow train.py")
def waveglow(log):
    log.line("output directory /tmp/checkpoints")
    iteration = 0
    for epoch in range(2):
        log.line(f"Epoch: {epoch}")
        for _ in range(150):
            log.step(f"{iteration}:\t{-6 + log.loss(iteration / 300):.9f}")
            iteration += 1
    return truth(299)


@positive("paddleseg", "PaddlePaddle/PaddleSeg paddleseg/core/train.py, val.py")
def paddleseg(log):
    for it in range(10, 1001, 10):
        log.step(f"{log.at()} [INFO]\t[TRAIN] epoch: {1 + it // 186}, iter: {it}/1000, loss: {log.loss(it / 1000):.4f}, lr: 0.{9000 - it:06d}, batch_cost: {log.near(.2):.4f}, reader_cost: {log.near(.01):.5f}, ips: {log.near(21.):.4f} samples/sec | ETA 00:0{9 - it // 112}:12")
        if it % 500 == 0:
            log.line(f"{log.at()} [INFO]\tStart evaluating (total_samples: 76, total_iters: 76)...")
            for k in range(1, 77):
                log.line(f"{k}/76 [{'=' * (k * 30 // 76)}{'.' * (30 - k * 30 // 76)}] - ETA: {8 - k // 10}s - batch_cost: {log.near(.1):.4f} - reader cost: 0.0101")
            log.line(f"{log.at()} [INFO]\t[EVAL] #Images: 76 mIoU: 0.6{it} Acc: 0.9121 Kappa: 0.7011 Dice: 0.7411")
            log.line(f"{log.at()} [INFO]\t[EVAL] The model with the best validation mIoU (0.6{it}) was saved at iter {it}.")
    return truth(1000, total=1000)


@positive("acme", "google-deepmind/acme acme/utils/loggers/terminal.py")
def acme(log):
    steps = 0
    for k in range(1, 61):
        steps += 40
        log.line(f"[Actor] Actor Episodes = {k} | Actor Steps = {k * 200} | Episode Length = 200 | Episode Return = {log.near(-900.):0.3f} | Steps Per Second = {log.near(400.):0.3f}")
        log.step(f"[Learner] Critic Loss = {log.loss(k / 60):0.3f} | Learner Steps = {steps} | Learner Walltime = {k * 2.1:0.3f} | Policy Loss = {log.near(.4):0.3f}")
    return truth("2400|12000", "")


@positive("spacy", "explosion/spaCy spacy/training/loggers.py (console table)")
def spacy(log):
    log.lines("""
\x1b[38;5;4mℹ Saving to output directory: output\x1b[0m
\x1b[38;5;4mℹ Using CPU\x1b[0m
\x1b[1m
=========================== Initializing pipeline ===========================\x1b[0m
\x1b[38;5;2m✔ Initialized pipeline\x1b[0m
\x1b[1m
============================= Training pipeline =============================\x1b[0m
\x1b[38;5;4mℹ Pipeline: ['tok2vec', 'ner']\x1b[0m
\x1b[38;5;4mℹ Initial learn rate: 0.001\x1b[0m
E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE \x1b[0m
---  ------  ------------  --------  ------  ------  ------  ------
""")
    for step in range(0, 4001, 200):
        log.step(f"{step // 1100:>3}  {step:>6}  {log.near(210.):>12.2f}  {log.loss(step / 4000, 900, 20):>8.2f}  {step / 60:>6.2f}  {step / 58:>6.2f}  {step / 62:>6.2f}  {step / 6000:>6.2f}")
    return truth(4000)


@positive("allennlp", "allenai/allennlp allennlp/training/gradient_descent_trainer.py, util.py (bar with the metrics in front)")
def allennlp(log):
    for epoch in range(3):
        log.line(f"{log.ms()} - INFO - allennlp.training.gradient_descent_trainer - Epoch {epoch}/2\n{log.ms()} - INFO - allennlp.training.gradient_descent_trainer - Training")
        for n in range(0, 81, 4):
            log.bar(tqdm(n, 80, n / 9, desc=f"accuracy: {.4 + n / 300:.4f}, batch_loss: {log.loss(n / 80):.4f}, loss: {log.loss(n / 80):.4f} ||", ascii=True, ncols=120))
        log.line()
        log.line(f"{log.ms()} - INFO - allennlp.training.gradient_descent_trainer - Validating")
        for n in range(0, 11, 2):
            log.raw("\r" + tqdm(n, 10, n / 20, desc=f"accuracy: {.6:.4f}, loss: {.9:.4f} ||", ascii=True, ncols=120))
        log.line()
    return truth(240, epoch_steps=80)


@positive("sd_scripts", "kohya-ss/sd-scripts train_network.py (steps bar, epoch lines)")
def sd_scripts(log):
    log.line("running training / 学習開始\n  num train images * repeats / 学習画像の数×繰り返し回数: 200\n  num batches per epoch / 1epochのバッチ数: 100\n  num epochs / epoch数: 5\n  total optimization steps / 学習ステップ数: 500")
    log.bar(tqdm(0, 500, 0, desc="steps"))
    for n in range(1, 501, 3):
        if n % 100 == 1:
            log.line(f"\nepoch {n // 100 + 1}/5")
        log.bar(tqdm(n, 500, n / 1.7, desc="steps", postfix=f"avr_loss={log.loss(n / 500):.3g}"))
    return truth(499, total=500)


@positive("parlai", "facebookresearch/ParlAI parlai/scripts/train_model.py")
def parlai(log):
    log.line(f"{log.at('%H:%M:%S')} | training...")
    for k in range(1, 41):
        log.tick(10)
        log.step(f"{log.at('%H:%M:%S')} | time:{k * 10}s total_exs:{k * 1280} total_steps:{k * 40} epochs:{k * .08:.2f} time_left:{4000 - k * 10}s")
        log.line(f"    clen  clip  ctpb  ctps  exps  exs  gnorm  loss    lr  ppl  token_acc  total_train_updates   tpb   tps   ups\n   31.22     1  1040  4161   128 1280  {log.near(2.):5.3f}  {log.loss(k / 40):.3f} 1e-05 {log.near(14.):.2f}      .4211 {k * 40:20d} 512.1  2049 4.001\n")
    return truth(1600)


@positive("nanotron", "huggingface/nanotron src/nanotron/logging/base.py, trainer.py")
def nanotron(log):
    for step in range(1, 161):
        log.tick(2)
        log.step(f"{log.at('%m/%d/%Y %H:%M:%S')} [INFO|DP=0|PP=0|TP=0|node0]: iteration: {step} / 160 | consumed_tokens: {step * 16.4:.3g}K | time_per_iteration_ms: {log.near(2.1):.3g}K | tokens_per_sec: {log.near(7.9):.3g}K | tokens_per_sec_per_gpu: {log.near(7.9):.3g}K | global_batch_size: 16.4K | lm_loss: {log.loss(step / 160, 11.):.3g} | lr: 0.000{step:03d} | model_tflops_per_gpu: {log.near(31.):.3g} | eta: 0:0{4 - step // 40}:11")
    return truth(160, total=160)


@positive("verl", "volcengine/verl verl/utils/logger/aggregate_logger.py, trainer/ppo/ray_trainer.py")
def verl(log):
    for step in range(1, 41):
        log.raw("\r" + tqdm(step - 1, 40, (step - 1) * 31., desc="\x1b[36m(TaskRunner pid=3121)\x1b[0m Training Progress"), step=True)
        log.line()
        log.step(f"\x1b[36m(TaskRunner pid=3121)\x1b[0m step:{step} - global_seqlen/min:{int(log.near(90000))} - global_seqlen/max:{int(log.near(120000))} - actor/entropy:{log.near(.4):.3f} - actor/pg_loss:{log.near(.02):.3f} - actor/lr:1e-06 - critic/score/mean:{step / 60:.3f} - response_length/mean:{log.near(211.):.3f} - timing_s/step:{log.near(31.):.3f} - perf/total_num_tokens:{int(log.near(400000))}")
    return truth("40|39", total=40)


@positive("nerfstudio", "nerfstudio-project/nerfstudio nerfstudio/utils/writer.py (LocalWriter table)")
def nerfstudio(log):
    header = f"{'Step (% Done)':<20}{'Train Iter (time)':<20} {'ETA (time)':<20} {'Train Rays / Sec':<20} "
    log.line(header)
    log.line("-" * len(header))
    for step in range(0, 3001, 10):
        log.step(f"{f'{step} ({step / 30000 * 100:.02f}%)':<20}{f'{log.near(31.):.3f} ms':<20} {f'{16 - step // 200} m, 12 s':<20} {f'{log.near(141.):.2f} K':<20} ")
    return truth(3000)


@positive("gaussian_splatting", "graphdeco-inria/gaussian-splatting train.py")
def gaussian_splatting(log):
    log.line("Optimizing /tmp/out\nOutput folder: /tmp/out\nReading camera 1/301\rReading camera 150/301\rReading camera 301/301 [11/03 09:14:02]\nLoading Training Cameras [11/03 09:14:03]\nNumber of points at initialisation :  182686 [11/03 09:14:20]")
    for n in range(0, 7001, 70):
        log.bar(tqdm(n, 30000, n / 41, desc="Training progress", postfix=f"Loss={log.loss(n / 7000, .3, .05):.7f}, Depth Loss=0.0000000"))
    log.line("\n[ITER 7000] Evaluating test: L1 0.0312 PSNR 24.9 [11/03 09:17:11]\n\n[ITER 7000] Saving Gaussians [11/03 09:17:12]")
    return truth(7000, total=30000)


@positive("faster_rcnn_pytorch", "jwyang/faster-rcnn.pytorch trainval_net.py")
def faster_rcnn(log):
    log.line("Called with args:\nNamespace(dataset='pascal_voc', net='vgg16', start_epoch=1, max_epochs=20, disp_interval=100, checkpoint_interval=10000, session=1)\n10022 roidb entries")
    for epoch in range(1, 4):
        for it in range(0, 1000, 100):
            log.step(f"[session 1][epoch {epoch:2d}][iter {it:4d}/{1000:4d}] loss: {log.loss(epoch / 4):.4f}, lr: 1.00e-03")
            log.line(f"\t\t\tfg/bg=({int(log.near(60))}/{int(log.near(200))}), time cost: {log.near(31.):f}\n\t\t\trpn_cls: {log.loss(.2):.4f}, rpn_box: {log.loss(.2):.4f}, rcnn_cls: {log.loss(.2):.4f}, rcnn_box {log.loss(.2):.4f}")
        log.line(f"save model: models/vgg16/pascal_voc/faster_rcnn_1_{epoch}_999.pth")
    return truth(2900, epoch_steps=1000)


@positive("ssd_pytorch", "amdegroot/ssd.pytorch train.py (the line end comes with the next line)")
def ssd_pytorch(log):
    log.line("Loading base network...\nInitializing weights...\nLoading the dataset...\nTraining SSD on: VOC0712\nUsing the specified args:\nNamespace(batch_size=32, lr=0.001, num_workers=4, start_iter=0)")
    for it in range(0, 1201, 10):
        log.line(f"timer: {log.near(.3):.4f} sec.")
        log.raw(f"iter {it} || Loss: {log.loss(it / 1200, 20, 3):.4f} || ", step=True)
        if it and it % 500 == 0:
            log.line(f"Saving state, iter: {it}")
    log.line()
    return truth(1200)


@positive("hrnet", "HRNet/HRNet-Semantic-Segmentation lib/core/function.py")
def hrnet(log):
    for epoch in range(3):
        for it in range(0, 370, 10):
            log.step(f"{log.ms()} Epoch: [{epoch}/484] Iter:[{it}/371], Time: {log.near(1.1):.2f}, lr: [{.01 - it / 1e6}], Loss: {log.loss(epoch / 4):.6f}")
        log.line(f"{log.ms()} Loss: {log.loss(.4):.3f}, MeanIU:  0.3121, Best_mIoU:  0.3121")
    return truth(1102, total=371 * 484, epoch_steps=371)


@positive("torchreid", "KaiyangZhou/deep-person-reid torchreid/engine/engine.py")
def torchreid(log):
    log.line("=> Start training")
    for epoch in range(1, 4):
        for batch in range(20, 401, 20):
            log.step(f"epoch: [{epoch}/60][{batch}/404]\ttime {log.near(.3):.3f} ({log.near(.3):.3f})\tdata {log.near(.01):.3f} ({log.near(.01):.3f})\teta 4:{60 - batch // 8:02d}:12\tloss {log.loss(epoch / 5, 6.5):.4f} ({log.loss(epoch / 5, 6.5):.4f})\tacc {log.near(12.):.4f} ({log.near(12.):.4f})\tlr 0.000300")
    return truth(1208, total=24240, epoch_steps=404)


@positive("arcface_torch", "deepinsight/insightface recognition/arcface_torch/utils/utils_callbacks.py, utils_logging.py")
def arcface(log):
    for key in ("network:r50", "batch_size:128", "num_epoch:20", "total_step:90960", "warmup_step:0", "frequent:10"):
        log.line(f"Training: {log.ms()}-: {key.split(':')[0]:<25} {key.split(':')[1]}")
    for step in range(20, 1201, 10):
        log.tick(4)
        log.step(f"Training: {log.ms()}-Speed {log.near(1300.):.2f} samples/sec   Loss {log.loss(step / 1200, 42., 11.):.4f}   LearningRate {.1 - step / 2e5:.6f}   Epoch: {step // 4548}   Global Step: {step}   Fp16 Grad Scale: 65536   Required: 21 hours")
    return truth(1200)


@positive("torchbeast", "facebookresearch/torchbeast torchbeast/monobeast.py")
def torchbeast(log):
    for k in range(1, 81):
        log.tick(5)
        log.step(f"[INFO:3121 monobeast:485 {log.ms()}] Steps {k * 3200} @ {log.near(640.):.1f} SPS. Loss {log.loss(k / 80, 90., 4.):f}. Return per episode: {log.near(31.):.1f}. Stats:")
        log.line(f"{{'baseline_loss': {log.near(3.):.4f},\n 'entropy_loss': {-log.near(8.):.4f},\n 'episode_returns': (),\n 'mean_episode_return': nan,\n 'total_loss': {log.loss(k / 80):.4f}}}")
    return truth(256000, "steps|timesteps")


@positive("rl_games", "Denys88/rl_games rl_games/common/a2c_common.py")
def rl_games(log):
    log.line("self.seed = 42\nStarted to train\nExact experiment name requested from command line: \ncurrent training device: cuda:0")
    for epoch in range(1, 201):
        log.step(f"fps step: {log.near(91000.):.0f} fps step and policy inference: {log.near(80000.):.0f} fps total: {log.near(61000.):.0f} epoch: {epoch}/500 frames: {(epoch - 1) * 65536}")
        if epoch % 50 == 0:
            log.line(f"saving next best rewards:  [{log.near(211.):.2f}]\n=> saving checkpoint 'runs/Ant/nn/Ant.pth'")
    return truth(f"200|{199 * 65536}", "")


@positive("rsl_rl", "leggedrobotics/rsl_rl rsl_rl/utils/logger.py (a block of lines for each iteration)")
def rsl_rl(log):
    for it in range(0, 60):
        log.line("#" * 80)
        log.line(f"\x1b[1m{f' Learning iteration {it}/1500 '.center(80)}\x1b[0m \n", step=True)
        rows = [("Total steps", (it + 1) * 98304), ("Steps per second", f"{log.near(60000.):.0f}"), ("Collection time", f"{log.near(1.):.3f}s"), ("Learning time", f"{log.near(.3):.3f}s"), ("Mean value loss", f"{log.loss(it / 60):.4f}"), ("Mean surrogate loss", f"{-log.near(.02):.4f}"), ("Mean reward", f"{log.near(4.):.2f}"), ("Mean episode length", f"{log.near(90.):.2f}"), ("Mean action std", f"{log.near(.9):.2f}")]
        for key, value in rows:
            log.line(f"{key + ':':>40} {value} ")
        log.line("-" * 80)
        log.line(f"{'Iteration time:':>40} {log.near(1.4):.2f}s\n{'Time elapsed:':>40} 0:0{it // 60}:{it:02d}\n{'ETA:':>40} 0:41:12\n")
    return truth(f"59|{60 * 98304}", "")


@positive("mlagents", "Unity-Technologies/ml-agents ml-agents/mlagents/trainers/stats.py")
def mlagents(log):
    log.line("[INFO] Connected to Unity environment with package version 3.0.0\n[INFO] Hyperparameters for behavior name 3DBall: \n\ttrainer_type:\tppo\n\tmax_steps:\t500000\n\tsummary_freq:\t12000\n\ttime_horizon:\t1000")
    for step in range(12000, 492001, 12000):
        log.step(f"[INFO] 3DBall. Step: {step}. Time Elapsed: {step / 400:0.3f} s. Mean Reward: {step / 9000:0.3f}. Std of Reward: {log.near(.7):0.3f}. Training.")
    return truth(492000)


@positive("lczero", "LeelaChessZero/lczero-training tf/tfprocess.py")
def lczero(log):
    log.line("Using 24 residual blocks\nStepping LR from 0 to 0.02")
    for step in range(100, 6001, 100):
        log.step(f"step {step}, lr=0.02 policy={log.loss(step / 6000):g} value={log.near(.9):g} moves={log.near(.5):g} reg={log.near(.2):g} total={log.near(4.):g} ({log.near(4100.):g} pos/s)")
        if step % 1000 == 0:
            log.line(f"step {step}, policy={log.near(2.):g} value={log.near(.9):g} policy accuracy=41.2% value accuracy=61.0%")
            log.line(f"Model saved in file: /tmp/net-{step}")
    return truth(6000)


@positive("mlx_lora", "ml-explore/mlx-examples lora/lora.py")
def mlx_lora(log):
    log.line("Loading pretrained model\nTotal parameters 7243.436M\nTrainable parameters 1.704M\nLoading datasets\nTraining")
    log.line("Iter 1: Val loss 2.343, Val took 45.002s")
    for it in range(10, 601, 10):
        log.step(f"Iter {it}: Train loss {log.loss(it / 600):.3f}, It/sec {log.near(.6):.3f}, Tokens/sec {log.near(240.):.3f}")
        if it % 200 == 0:
            log.line(f"Iter {it}: Val loss {log.loss(it / 600):.3f}, Val took {log.near(40.):.3f}s")
        if it % 100 == 0:
            log.line(f"Iter {it}: Saved adapter weights to adapters.npz.")
    return truth(600)


@positive("char_rnn_lua", "karpathy/char-rnn train.lua")
def char_rnn(log):
    log.line("using CPU mode\nloading data files...\ncutting off end of data so that the batches/sequences divide evenly\nreshaping tensor...\nnumber of batches in train: 423, val: 23, test: 0\nvocab size: 65\ncreating an lstm with 2 layers\nnumber of parameters in the model: 240321")
    for i in range(1, 901):
        log.step(f"{i}/21150 (epoch {i / 423:.3f}), train_loss = {log.loss(i / 900, 4.2):6.8f}, grad/param norm = {log.near(.3):6.4e}, time/batch = {log.near(.2):.4f}s")
    return truth(900, total=21150)


@positive("marian", "marian-nmt/marian-dev src/training/scheduler.h, training_state.h")
def marian(log):
    log.line(f"[{log.at()}] [config] after-epochs: 10\n[{log.at()}] [config] disp-freq: 500\n[{log.at()}] [config] valid-freq: 5000\n[{log.at()}] Training started")
    for up in range(500, 20001, 500):
        log.tick(60)
        log.step(f"[{log.at()}] Ep. {1 + up // 9001} : Up. {up} : Sen. {(up % 9001) * 421:,} : Cost {log.loss(up / 20000, 9.):.8f} * {int(log.near(6000000)):,} @ {int(log.near(9000)):,} after {up * 12011:,} : Time {log.near(61.):.2f}s : {log.near(90000.):.2f} words/s : gNorm {log.near(.8):.4f}")
        if up % 5000 == 0:
            log.line(f"[{log.at()}] [valid] Ep. {1 + up // 9001} : Up. {up} : cross-entropy : {log.near(60.):.4f} : new best")
    return truth(20000)


@positive("sockeye", "awslabs/sockeye sockeye/callbacks, training.py (Speedometer lines)")
def sockeye(log):
    for batch in range(50, 2501, 50):
        log.tick(9)
        log.step(f"[{log.at('%Y-%m-%d:%H:%M:%S')}:INFO:sockeye.training:__call__] E={batch // 1800} B={batch}\ts/sec={log.near(900.):.2f}\ttok/sec={log.near(21000.):.2f}\tu/sec={log.near(5.):.2f}\t\tppl={log.loss(batch / 2500, 900., 12.):.2f} lr=0.000{batch // 10:03d}")
        if batch % 1000 == 0:
            log.line(f"[{log.at('%Y-%m-%d:%H:%M:%S')}:INFO:sockeye.training:_create_checkpoint] Checkpoint [{batch // 1000}]\tUpdates={batch} Epoch={batch // 1800} Samples={batch * 180} Time-cost={log.near(200.):.3f} Updates/sec={log.near(5.):.3f}")
    return truth(2500)


@positive("joeynmt", "joeynmt/joeynmt joeynmt/training.py")
def joeynmt(log):
    for epoch in range(1, 3):
        log.line(f"{log.ms()} - INFO - joeynmt.training - EPOCH {epoch}")
        for step in range(100, 1001, 100):
            log.step(f"{log.ms()} - INFO - joeynmt.training - Epoch {epoch:3d}, Step: {(epoch - 1) * 1000 + step:8d}, Batch Loss: {log.loss(epoch / 3, 5.):12.6f}, Batch Acc: {log.near(.3):.6f}, Tokens per Sec: {log.near(9000.):8.0f}, Lr: 0.000{step:03d}")
        log.line(f"{log.ms()} - INFO - joeynmt.training - Epoch {epoch:3d}, total training loss: {log.near(9000.):.2f}, num. of seqs: 40000, num. of tokens: 1023443, 61.2[sec]")
    return truth(2000)


@positive("dit", "facebookresearch/DiT train.py")
def dit(log):
    log.line(f"[\x1b[34m{log.at()}\x1b[0m] Experiment directory created at results/000-DiT-S-8\n[\x1b[34m{log.at()}\x1b[0m] DiT Parameters: 33,123,456\n[\x1b[34m{log.at()}\x1b[0m] Dataset contains 1,281,167 images (/data)\n[\x1b[34m{log.at()}\x1b[0m] Training for 1400 epochs...\n[\x1b[34m{log.at()}\x1b[0m] Beginning epoch 0...")
    for step in range(100, 4001, 100):
        log.tick(20)
        log.step(f"[\x1b[34m{log.at()}\x1b[0m] (step={step:07d}) Train Loss: {log.loss(step / 4000, .4, .15):.4f}, Train Steps/Sec: {log.near(5.):.2f}")
    return truth(4000)


@positive("chainer_bar", "chainer/chainer chainer/training/extensions/progress_bar.py (four lines that are drawn again)")
def chainer_bar(log):
    for it in range(100, 6001, 100):
        done = it / 12000
        log.line(f"\x1b[J     total [{'#' * int(done * 50)}{'.' * (50 - int(done * 50))}] {done:6.2%}\nthis epoch [{'#' * int(it % 600 / 12)}{'.' * (50 - int(it % 600 / 12))}] {it % 600 / 600:6.2%}")
        log.line(f"{it:10} iter, {it // 600} epoch / 20 epochs", step=True)
        log.raw(f"{log.near(121.):10.5g} iters/sec. Estimated time to finish: 0:01:{59 - it // 110:02d}.112311.\n\x1b[4A")
    return truth(6000)


@positive("ignite_bar", "pytorch/ignite ignite/handlers/tqdm_logger.py (its own bar_format)")
def ignite_bar(log):
    for epoch in range(1, 4):
        for n in range(1, 201, 3):
            part = n * 10 // 200
            log.bar(f"Epoch [{epoch}/3]: [{n}/200] {n * 100 // 200:3d}%|{'█' * part}{' ' * (10 - part)}, loss={log.loss(epoch / 4):.3g} [{clock(n / 20)}<{clock(10 - n / 20)}]")
        log.line()
    return truth(599, epoch_steps=200)


@positive("transformer_xl", "kimiyoung/transformer-xl pytorch/train.py")
def transformer_xl(log):
    log.line("=" * 100 + "\n    - n_layer : 16\n    - max_step : 200000\n    - warmup_step : 0\n    - log_interval : 200\n    - eval_interval : 4000\n" + "=" * 100 + "\n#params = 151107538")
    for step in range(200, 8001, 200):
        log.step(f"| epoch {1 + step // 5101:3d} step {step:>8d} | {step % 5101:>6d} batches | lr 0.00025 | ms/batch {log.near(500.):5.2f} | loss {log.loss(step / 8000, 7.):5.2f} | ppl {log.near(90.):9.3f}")
        if step % 4000 == 0:
            log.line("-" * 100 + f"\n| Eval {step // 4000:3d} at step {step:>8d} | time: {log.near(900.):5.2f}s | valid loss {log.near(4.):5.2f} | valid ppl {log.near(60.):9.3f}\n" + "-" * 100)
    return truth(8000)


@positive("lerobot", "huggingface/lerobot src/lerobot/utils/logging_utils.py (counts in thousands)")
def lerobot(log):
    log.line(f"INFO {log.at()} ts/train.py:171 Start offline training on a fixed dataset")
    for step in range(200, 8001, 200):
        log.tick(12)
        big = lambda n: str(n) if n < 1000 else f"{n / 1000:.0f}K"
        log.step(f"INFO {log.at()} ts/train.py:232 step:{big(step)} smpl:{big(step * 8)} ep:{step // 40} epch:{step / 3000:.2f} loss:{log.loss(step / 8000):.3f} grdn:{log.near(31.):.3f} lr:1.0e-05 updt_s:{log.near(.05):.3f} data_s:{log.near(.01):.3f}")
    return truth(8000)


@positive("dlrm", "facebookresearch/dlrm dlrm_s_pytorch.py")
def dlrm(log):
    for epoch in range(2):
        for it in range(1024, 20481, 1024):
            log.step(f"Finished training it {it}/20480 of epoch {epoch}, {log.near(31.):.2f} ms/it, loss {log.loss(epoch / 2, .7, .45):.6f}")
            if it % 10240 == 0:
                log.line(f"Testing at - {it}/20480 of epoch {epoch},\n accuracy {log.near(78.):3.3f} %, best {log.near(78.):3.3f} %")
    return truth(40960, epoch_steps=20480)


@positive("stanza", "stanfordnlp/stanza stanza/models/tagger.py")
def stanza(log):
    log.line(f"{log.at()} INFO: Running tagger in train mode\n{log.at()} INFO: Loading data with batch size 5000...\n{log.at()} INFO: Training tagger...")
    for step in range(20, 2001, 20):
        log.step(f"{log.at()} INFO: Finished STEP {step}/50000, loss = {log.loss(step / 2000, 3.):.6f} ({log.near(.2):.3f} sec/batch), lr: 0.003000")
        if step % 500 == 0:
            log.line(f"{log.at()} INFO: Evaluating on dev set...\n{log.at()} INFO: step {step}: train_loss = {log.near(.3):.6f}, dev_score = {log.near(.9):.4f}")
    return truth(2000, total=50000)


@positive("trax", "google/trax trax/supervised/training.py")
def trax(log):
    for step in [1, *range(100, 3001, 100)]:
        log.line(f"\nStep {step:6d}: Total number of trainable weights: 4823421" if step == 1 else "", step=step == 1)
        log.step(f"Step {step:6d}: Ran {99 if step > 1 else 1} train steps in {log.near(9.):0.2f} secs")
        log.line(f"Step {step:6d}: train CrossEntropyLoss |  {log.loss(step / 3000):.8f}\nStep {step:6d}: eval  CrossEntropyLoss |  {log.loss(step / 3000):.8f}\nStep {step:6d}: eval          Accuracy |  0.41120000")
    return truth(3000)


@positive("deepspeech", "mozilla/DeepSpeech training/deepspeech_training/train.py (progressbar2)")
def deepspeech(log):
    log.line("I Loading best validating checkpoint from /tmp/best_dev-1\nI STARTING Optimization")
    for epoch in range(2):
        for step in range(0, 301, 3):
            log.raw(f"\rEpoch {epoch} |   Training | Elapsed Time: 0:{step // 60:02d}:{step % 60:02d} | Steps: {step} | Loss: {log.loss(epoch / 2, 120., 30.):f}     ", step=True)
        log.line()
        for step in range(0, 41, 4):
            log.raw(f"\rEpoch {epoch} | Validation | Elapsed Time: 0:00:{step:02d} | Steps: {step} | Loss: {log.near(41.):f} | Dataset: dev.csv")
        log.line(f"\nI Saved new best validating model with loss {log.near(41.):f} to: /tmp/best_dev-{(epoch + 1) * 300}")
    return truth(600)


@positive("corenet", "apple/corenet corenet/metrics/stats.py, utils/logger.py")
def corenet(log):
    for epoch in range(2):
        for n in range(0, 40001, 1280):
            log.step(f"{log.at()} - \x1b[34m\x1b[1mLOGS   \x1b[0m - Epoch: {epoch:3d} [{n:8d}/{40000:8d}], loss: {log.loss(epoch / 2, 6.9):.4f}, grad_norm: {log.near(1.):.4f}, LR: [0.0{n:05d}, 0.0{n:05d}], Avg. batch load time: {log.near(.1):1.3f}, Elapsed time: {n / 400:5.2f}")
        log.line(f"{log.at()} - \x1b[34m\x1b[1mLOGS   \x1b[0m - *** Training summary for epoch {epoch}\n\t loss={log.near(5.):.4f} || grad_norm={log.near(1.):.4f}")
    return truth(79680, "samples", epoch_steps=40000)


@positive("ade20k_csail", "CSAILVision/semantic-segmentation-pytorch train.py")
def ade20k(log):
    log.line("# samples: 20210\n1 Epoch = 500 iters")
    for epoch in range(1, 4):
        for i in range(0, 500, 20):
            log.step(f"Epoch: [{epoch}][{i}/500], Time: {log.near(.6):.2f}, Data: {log.near(.1):.2f}, lr_encoder: 0.0{19990 - i}, lr_decoder: 0.0{19990 - i}, Accuracy: {log.near(41.):4.2f}, Loss: {log.loss(epoch / 4):.6f}")
        log.line("Saving checkpoints...")
    return truth(1480, epoch_steps=500)


@positive("denoising_diffusion", "lucidrains/denoising-diffusion-pytorch denoising_diffusion_pytorch.py (training bar, sampling bars below)")
def denoising_diffusion(log):
    for n in range(0, 3001, 10):
        log.bar(tqdm(n, 700000, n / 4, desc=f"loss: {log.loss(n / 3000, .9, .02):.4f}", ncols=110))
        if n and n % 1000 == 0:
            for k in range(0, 251, 10):
                log.raw("\n\r" + tqdm(k, 250, k / 40, desc="sampling loop time step", ncols=110) + "\x1b[A")
    return truth(3000, total=700000)


@positive("tesseract_lstm", "tesseract-ocr/tesseract src/training/unicharset/lstmtrainer.cpp")
def tesseract(log):
    log.line("Loaded file /tmp/eng.lstm, unpacking...\nWarning: LSTMTrainer deserialized an LSTMRecognizer!\nCode range changed from 111 to 84!\nNum (Extended) outputs,weights in Series:\n  1,36,0,1:1, 0")
    for it in range(100, 5001, 100):
        log.step(f"At iteration {it - it // 9}/{it}/{it}, mean rms={log.near(2.):.3f}%, delta={log.near(4.):.3f}%, BCER train={log.loss(it / 5000, 40., 3.):.3f}%, BWER train={log.near(30.):.3f}%, skip ratio=0.000%, New worst BCER = {log.near(20.):.3f} wrote checkpoint.")
    return truth(f"{5000 - 5000 // 9}|5000")


@positive("facenet", "davidsandberg/facenet src/train_softmax.py")
def facenet(log):
    log.line("Model directory: /tmp/models\nRunning training")
    for epoch in range(1, 3):
        for batch in range(1, 301):
            log.step(f"Epoch: [{epoch}][{batch}/300]\tTime {log.near(.4):.3f}\tLoss {log.loss(epoch / 3, 6.):2.3f}\tXent {log.near(5.):2.3f}\tRegLoss {log.near(.8):2.3f}\tAccuracy {log.near(.1):2.3f}\tLr 0.05000\tCl {log.near(7.):2.3f}")
        log.line(f"Saving variables\nVariables saved in 0.81 seconds\nRunning forward pass on LFW images")
        for _ in range(10):
            log.raw(".")
        log.line(f"\nAccuracy: 0.912+-0.011\nValidation rate: 0.21120+-0.02121 @ FAR=0.00100")
    return truth(600, epoch_steps=300)


@positive("deeplabcut_tf", "DeepLabCut/DeepLabCut deeplabcut/pose_estimation_tensorflow/core/train.py")
def deeplabcut(log):
    log.line("Max_iters overwritten as 10000\nDisplay_iters overwritten as 50\nSave_iters overwritten as 5000\nTraining parameters:\n{'stride': 8.0, 'weigh_part_predictions': False, 'batch_size': 1}\nStarting training....")
    for it in range(50, 5001, 50):
        log.step(f"iteration: {it} loss: {log.loss(it / 5000, .05, .002):.4f} lr: 0.005")
    return truth(5000)


@positive("catboost", "catboost/catboost catboost/libs/logging, loss lines of fit(verbose=100)")
def catboost(log):
    log.line("Learning rate set to 0.05")
    for it in [*range(0, 3000, 100), 2999]:
        log.step(f"{it}:\tlearn: {log.loss(it / 3000, .69, .1):.7f}\ttest: {log.loss(it / 3000, .69, .2):.7f}\tbest: {log.loss(it / 3000, .69, .2):.7f} ({it})\ttotal: {it * 11 / 1000:.2f}s\tremaining: {33 - it * 11 / 1000:.2f}s")
    log.line("\nbestTest = 0.2123\nbestIteration = 2999")
    return truth(2999)


@positive("vits_list", "jaywalnut310/vits train.py (the step is an element of a printed list)")
def vits(log):
    step = 0
    for epoch in range(1, 6):
        for part in range(0, 100, 20):
            log.tick(40)
            log.line(f"{log.ms()}\tljs_base\tINFO\tTrain Epoch: {epoch} [{part}%]")
            log.step(f"{log.ms()}\tljs_base\tINFO\t[{log.near(2.4)}, {log.near(2.1)}, {log.near(3.)}, {log.near(28.)}, {log.near(1.7)}, {log.near(2.)}, {step}, 0.0002]")
            step += 200
        log.line(f"{log.ms()}\tljs_base\tINFO\t====> Epoch: {epoch}")
    return truth(4800)


@positive("json_spacy", "explosion/spaCy spacy/training/loggers.py (log file, JSON lines with nested losses)")
def json_spacy(log):
    for step in range(0, 3001, 200):
        log.step(json.dumps({"epoch": step // 900, "step": step, "losses": {"tok2vec": log.near(21.), "ner": log.loss(step / 3000, 900, 3)}, "scores": {"ents_f": step / 40}, "score": step / 4000}))
    return truth(3000)
