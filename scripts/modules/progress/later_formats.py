"""Formats that were collected last, with and without a step."""
from .lib import positive, tqdm, negative, truth
from .negative import draw, none, tqdm_run


@positive("keras_rl", "keras-rl/keras-rl rl/callbacks.py (TrainEpisodeLogger)")
def keras_rl(log):
    log.line("Training for 50000 steps ...")
    step = 0
    for episode in range(1, 121):
        step += 20 + episode % 9
        log.step(f" {step:5d}/50000: episode: {episode}, duration: {log.near(.2):.3f}s, episode steps: {20 + episode % 9}, steps per second: {log.near(120.):.0f}, episode reward: {log.near(30.):.3f}, mean reward: 1.000 [1.000, 1.000], mean action: {log.near(.5):.3f} [0.000, 1.000],  loss: {log.loss(episode / 120):.6f}, mean_q: {log.near(4.):.6f}")
    return truth(step, total=50000)


@positive("deeplab_vainf", "VainF/DeepLabV3Plus-Pytorch main.py")
def deeplab(log):
    for it in range(10, 2001, 10):
        log.step(f"Epoch {1 + it // 700}, Itrs {it}/30000, Loss={log.loss(it / 2000):f}")
        if it % 500 == 0:
            log.line("validation...")
            for k in range(0, 100, 9):
                log.raw(f"\r{k}it [00:0{k // 20}, {log.near(20.):5.2f}it/s]")
            log.line("\n\nOverall Acc: 0.812211\nMean Acc: 0.412211\nFreqW Acc: 0.712211\nMean IoU: 0.312211")
    return truth(2000, total=30000)


@positive("bisenet", "CoinCheung/BiSeNet lib/logger.py")
def bisenet(log):
    for it in range(100, 8001, 100):
        log.step(f"iter: {it}/80000, lr: {.05 - it / 2e6:4f}, eta: 9:{59 - it // 150:02d}:12, time: {log.near(31.):.2f}, loss: {log.loss(it / 8000, 6.):.4f}, loss_pre: {log.loss(it / 8000):.4f}, loss_aux0: {log.loss(.3):.4f}, loss_aux1: {log.loss(.3):.4f}")
    return truth(8000, total=80000)


@positive("spinningup", "openai/spinningup spinup/utils/logx.py, algos/pytorch/ppo/ppo.py")
def spinningup(log):
    for epoch in range(50):
        log.line("-" * 39)
        rows = [("Epoch", epoch), ("AverageEpRet", f"{log.near(40.):.3g}"), ("StdEpRet", f"{log.near(9.):.3g}"), ("EpLen", f"{log.near(40.):.3g}"), ("TotalEnvInteracts", (epoch + 1) * 4000 if epoch < 24 else f"{(epoch + 1) * 4000:.3g}"), ("LossPi", f"{-log.near(.02):.3g}"), ("LossV", f"{log.near(90.):.3g}"), ("KL", f"{log.near(.01):.3g}"), ("Time", f"{epoch * 3.1:.3g}")]
        for key, value in rows:
            log.line(f"| {key:>15s} | {value!s:>15s} |", step=key == "Epoch")
        log.line("-" * 39)
    return truth("49|200000", "")


@positive("openpcdet", "open-mmlab/OpenPCDet tools/train_utils/train_utils.py (log lines)")
def openpcdet(log):
    it = 0
    for epoch in range(1, 4):
        for k in range(0, 232, 50):
            log.tick(20)
            log.step(f"{log.ms()}   INFO  Train: {epoch:>4d}/80 ({epoch * 100 / 80:>3.0f}%) [{k:>4d}/232 ({k * 100 / 232:>3.0f}%)]  Loss: {log.loss(epoch / 4):.4g} ({log.loss(epoch / 4):.3g})  LR: {.001:.3e}  Time cost: 00:{k // 5:02d}/01:12 [01:1{epoch}/9:12:1{epoch}]  Acc_iter {it + k:<10d}  Data time: {log.near(.01):.2f}({log.near(.01):.2f})  Forward time: {log.near(.2):.2f}({log.near(.2):.2f})  Batch time: {log.near(.3):.2f}({log.near(.3):.2f})")
        it += 232
    return truth("664", "steps")


@positive("pointnet", "yanx27/Pointnet_Pointnet2_pytorch train_classification.py (bars without words, epoch lines)")
def pointnet(log):
    log.line("PARAMETER ...\nNamespace(use_cpu=False, gpu='0', batch_size=24, model='pointnet_cls', epoch=200, learning_rate=0.001, num_point=1024)\nLoad dataset ...\nThe size of train data is 9843\nThe size of test data is 2468\nNo existing model, starting training from scratch...\nStart training...")
    for epoch in range(1, 4):
        log.line(f"Epoch {epoch} ({epoch}/200):")
        for n in range(0, 411, 5):
            log.bar(tqdm(n, 410, n / 9))
        log.line()
        log.line(f"Train Instance Accuracy: {.5 + epoch / 20:f}")
        for n in range(0, 104, 8):
            log.raw("\r" + tqdm(n, 103, n / 20))
        log.line()
        log.line(f"Test Instance Accuracy: {.5 + epoch / 20:f}, Class Accuracy: {.4 + epoch / 20:f}")
    return truth(1230, epoch_steps=410)


@positive("clova_ocr", "clovaai/deep-text-recognition-benchmark train.py")
def clova(log):
    log.line("------------ Options -------------\nbatch_size: 192\nnum_iter: 300000\nvalInterval: 2000\n---------------------------------------")
    for it in range(2000, 60001, 2000):
        log.step(f"[{it}/300000] Train loss: {log.loss(it / 60000):0.5f}, Valid loss: {log.loss(it / 60000):0.5f}, Elapsed_time: {it / 9:0.5f}")
        log.line(f"Current_accuracy : {it / 800:0.3f}, Current_norm_ED  : 0.91\nBest_accuracy    : {it / 800:0.3f}, Best_norm_ED     : 0.91")
    return truth(60000, total=300000)


@positive("rosinality_stylegan", "rosinality/stylegan2-pytorch train.py (bar with losses named by one letter)")
def rosinality(log):
    for n in range(0, 2001, 10):
        log.bar(tqdm(n, 800000, n * 1.1, desc=f"d: {log.loss(.2):.4f}; g: {log.loss(.4):.4f}; r1: {log.near(.1):.4f}; path: {log.near(.02):.4f}; mean path: {log.near(.1):.4f}; augment: 0.0000", ncols=150))
    return truth(2000, total=800000)


@positive("raft", "princeton-vl/RAFT train.py")
def raft(log):
    log.line("Parameter Count: 5257536")
    for step in range(100, 5001, 100):
        log.step(f"[{step:6d}, {.0004 * (1 - step / 1e5):10.7f}] {log.near(3.):10.4f}, {log.near(.5):10.4f}, {log.near(.7):10.4f}, {log.near(.8):10.4f}, ")
    return truth(5000)


@positive("centernet", "xingyizhou/CenterNet src/lib/trains/base_trainer.py (bar of the package progress)")
def centernet(log):
    for epoch in range(1, 4):
        for k in range(0, 300, 3):
            log.raw(f"\r\x1b[Kctdet/coco_dla |{'#' * (k // 10):<32}| train: [{epoch}][{k}/300]|Tot: 0:0{k // 60}:{k % 60:02d} |ETA: 0:0{4 - k // 60}:12 |loss {log.loss(epoch / 4):.4f} |hm_loss {log.loss(epoch / 4):.4f} |wh_loss {log.near(3.):.4f} |Data {log.near(.01):.3f}s({log.near(.01):.3f}s) |Net {log.near(.3):.3f}s", step=True)
        log.line()
    return truth(897, epoch_steps=300)


@positive("bubbliiiing", "bubbliiiing/yolox-pytorch utils/utils_fit.py")
def bubbliiiing(log):
    for epoch in range(1, 4):
        log.line("Start Train")
        for n in range(0, 101, 2):
            log.bar(tqdm(n, 100, n / 3, desc=f"Epoch {epoch}/3", postfix=f"loss={log.loss(epoch / 4):.3g}, lr=0.000{n:03d}"))
        log.line("\nFinish Train\nStart Validation")
        for n in range(0, 12):
            log.raw("\r" + tqdm(n, 11, n / 5, desc=f"Epoch {epoch}/3", postfix=f"val_loss={log.loss(epoch / 4):.3g}"))
        log.line("\nFinish Validation\nEpoch:%d/3\nTotal Loss: 4.312 || Val Loss: 4.121 " % epoch)
    return truth(300, total=300, epoch_steps=100)


@positive("llama_recipes", "meta-llama/llama-recipes src/llama_cookbook/utils/train_utils.py")
def llama_recipes(log):
    for epoch in range(1, 3):
        log.bar(tqdm(0, 150, 0, desc=f"Training Epoch: {epoch}"))
        for n in range(1, 151):
            log.bar(tqdm(n, 150, n * 1.4, desc=f"Training Epoch: {epoch}/2, step {n - 1}/150 completed (loss: {log.loss(epoch / 2)})"))
        log.line()
        for n in range(0, 21):
            log.raw("\r" + tqdm(n, 20, n / 3, desc="evaluating Epoch"))
        log.line(f"\n eval_ppl=tensor(4.1, device='cuda:0') eval_epoch_loss=tensor(1.4)\nEpoch {epoch}: train_perplexity=4.3121, train_epoch_loss=1.4612, epoch time 201.2s")
    return truth(300, epoch_steps=150)


@positive("skorch_table", "skorch-dev/skorch skorch/callbacks/logging.py (PrintLog)")
def skorch(log):
    log.line("  epoch    train_loss    valid_acc    valid_loss     dur\n-------  ------------  -----------  ------------  ------")
    for epoch in range(1, 41):
        log.step(f"{epoch:>7}        \x1b[36m{log.loss(epoch / 40):.4f}\x1b[0m       \x1b[32m{.5 + epoch / 99:.4f}\x1b[0m        \x1b[35m{log.loss(epoch / 40):.4f}\x1b[0m  {log.near(.4):.4f}")
    return truth(40, "epochs")


@positive("makemore", "karpathy/makemore makemore.py")
def makemore(log):
    log.line("number of examples in the dataset: 32033\nmax word length: 15\nmodel #params: 204544\nmodel initialized")
    for step in range(0, 3001, 10):
        log.step(f"step {step} | loss {log.loss(step / 3000, 3.4, 2.):.4f} | step time {log.near(12.):.2f}ms")
        if step and step % 500 == 0:
            log.line(f"step {step} train loss: {log.near(2.3)} test loss: {log.near(2.3)}\ntest loss 2.2 is the best so far, saving model to out/model.pt")
        if step and step % 200 == 0:
            log.line("-" * 80 + "\n8 samples that are in train:\nanna\n2 samples that are in test:\nomi\n0 samples that are new:\n" + "-" * 80)
    return truth(3000)


@negative("helm_eval", "stanford-crfm/helm: requests of an evaluation, bars without words")
def helm(log):
    log.line("main {\n  1/3 entries to run\n  Running mmlu:subject=anatomy {\n    scenario.get_instances {\n    } [0.412s]\n    Executor.execute {\n      Parallelizing computation on 114 items over 4 threads {")
    tqdm_run(log, 114, 38, speed=3.)
    log.line("      } [41.211s]\n    } [41.212s]\n    Computing metrics")
    return none("an evaluation")


@negative("sam_auto_mask", "facebookresearch/segment-anything: automatic masks of a folder")
def sam(log):
    log.line("Loading model...")
    for k in range(1, 80):
        log.line(f"Processing '/data/img_{k:04d}.png'...")
    log.line("Done!")
    return none()


@negative("hdbscan_umap", "lmcinnes/umap: neighbours, then 'completed k / 200 epochs' of an embedding")
def umap(log):
    log.line("UMAP(verbose=True)\nTue Mar 11 09:14:02 2025 Construct fuzzy simplicial set\nTue Mar 11 09:14:03 2025 Finding Nearest Neighbors")
    for k in range(0, 13):
        log.line(f"\t {k}  /  13")
    log.line("\tStopping threshold met -- exiting after 4 iterations\nTue Mar 11 09:14:31 2025 Finished Nearest Neighbor Search")
    return none()


@negative("nltk_download", "nltk/nltk and spacy downloads")
def nltk(log):
    for k in range(1, 40):
        log.line(f"[nltk_data] Downloading package part{k} to /home/user/nltk_data...\n[nltk_data]   Unzipping corpora/part{k}.zip.")
    return none()


@negative("gpu_benchmark", "hand-written GPU benchmark: 'Iter #3: 812.3 img/sec' (horovod/horovod examples synthetic benchmark prints that too)")
def gpu_benchmark(log):
    log.line("Model: resnet50\nBatch size: 32\nNumber of GPUs: 1\nRunning warmup...\nRunning benchmark...")
    for k in range(10):
        log.line(f"Iter #{k}: {log.near(812.):.1f} img/sec per GPU")
    log.line("Img/sec per GPU: 811.2 +-4.1")
    return none("a benchmark")


@negative("mdadm_resync", "Linux /proc/mdstat in a loop")
def mdadm(log):
    for k in range(60):
        log.line(f"md0 : active raid1 sdb1[1] sda1[0]\n      976630464 blocks super 1.2 [2/2] [UU]\n      [{'=' * (k // 3)}>{'.' * (20 - k // 3)}]  resync = {k * 1.6:.1f}% ({k * 15626087}/976630464) finish={90 - k}.1min speed={int(log.near(190000))}K/sec")
    return none()


@negative("webpack_build", "webpack/webpack progress plugin and vite")
def webpack(log):
    for k in range(10, 71):
        log.raw(f"\r<s> [webpack.Progress] {k}% building {k * 9}/{k * 9 + 4} modules {k % 4} active ./src/part{k}.ts")
    log.line("\n✓ 812 modules transformed.")
    return none()


@negative("comfyui", "comfyanonymous/ComfyUI: 'got prompt' and sampler bars without words")
def comfyui(log):
    log.line("Total VRAM 24210 MB, total RAM 64211 MB\nStarting server\n\nTo see the GUI go to: http://127.0.0.1:8188")
    for _ in range(4):
        log.line("got prompt\nRequested to load SDXL")
        tqdm_run(log, 20, 20, speed=4.)
        log.line("Prompt executed in 9.21 seconds")
    return none("sampling")


@negative("tts_inference", "coqui-ai/TTS synthesis: sentences and real-time factors")
def tts(log):
    for k in range(1, 60):
        log.line(f" > Text splitted to sentences.\n['sentence {k}']\n > Processing time: {log.near(2.):.6f}\n > Real-time factor: {log.near(.4):.6f}")
    return none()


@negative("s3_sync_numbers", "hand-written backup: 'copied 300 of 5000 objects, 0.41 GB'")
def backup(log):
    for k in range(100, 5001, 100):
        log.line(f"copied {k} of 5000 objects, {k / 700:.2f} GB, {log.near(40.):.1f} MB/s")
    return none()


@negative("lgb_dataset", "ETL with a bar: 'Extracting features' and 'Scoring'")
def etl(log):
    tqdm_run(log, 800, 40, desc="Extracting features", speed=80.)
    tqdm_run(log, 800, 40, desc="Scoring", speed=80.)
    draw(log, tqdm(3, 9, 1., desc="Chunks"))
    log.line()
    return none()
