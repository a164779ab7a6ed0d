"""Formats of trainings that were collected as a blind set: language models, JAX, science, tables, classic learners."""
from .blind_trainings import run_bar, span
from .lib import clock, positive, tqdm, truth


@positive("axlearn", "apple/axlearn axlearn/common/trainer.py")
def axlearn(log):
    for step in span(10, 600, 10):
        log.step(f"I0311 {log.tick(9).strftime('%H:%M:%S')}.318021 140 trainer.py:425] SpmdTrainer process   0 step {step: 8d}] loss={log.loss(step / 600, 9., 4.)} aux={{'perplexity': {log.near(90.)}}}")
    return truth(600)


@positive("lingua", "facebookresearch/lingua apps/main/train.py")
def lingua(log):
    for step in span(10, 900, 10):
        log.step(f"0: INFO    {log.tick(4).strftime('%y-%m-%d %H:%M:%S')}.318000 - 0:{step // 60:02d}:{step % 60:02d} - step: {step}  acc: 0  loss: {log.loss(step / 900, 9., 4.):>7.4f}  grad: {log.near(1.2):.2e}  flops: {log.near(3.1e14):.2e}  wps: {log.near(1.2e4):.2e}  iter:  {log.near(.41):.4f}  data: 0.001  lr: {3e-6 * min(100, step):.2e}  mem: 45%  pow: {log.near(512.):.3f} W")
    return truth(900)


@positive("fms_fsdp", "foundation-model-stack/fms-fsdp fms_fsdp/utils/train_utils.py (a value in each line)")
def fms_fsdp(log):
    for step in span(100, 2000, 100):
        log.step(f"step: {step}")
        log.line(f"loss: {log.loss(step / 2000, 9., 4.)}\nLR: {3e-7 * step}\ntokens seen: {step * 4194304}\ngradient norm: {log.near(.8)}\nreserved memory: {int(log.near(6e10))}\nallocated memory: {int(log.near(4e10))}\ncurrent step time: {log.near(3.1)}\noverall step time: {log.near(3.1)}\ncurrent token per gpu per sec: {int(log.near(4100.))}\noverall token per gpu per sec: {int(log.near(4100.))}\noverall token per day: {int(log.near(1e10))}")
    return truth(2000)


@positive("internevo", "InternLM/InternEvo internlm/train/pipeline.py")
def internevo(log):
    for step in range(200):
        log.step(f"{log.tick(3).strftime('%Y-%m-%d %H:%M:%S')},318\tINFO pipeline.py:592 in record_current_batch_training_metrics -- tflops={log.near(180.)} step={step} loss={log.loss(step / 200, 9., 4.)} tgs (tokens/gpu/second)={log.near(3612.):.2f} tgs/last_tgs_1={log.near(3612.):.2f} lr={1e-6 * step} loss_scale=65536.0 grad_norm={{'0_default': {log.near(.9)}}} micro_num=4 num_consumed_tokens={(step + 1) * 131072} inf_nan_skip_batches=0 num_samples_in_batch={13 + step % 5} largest_length=2048 largest_batch={5 + step % 2} smallest_batch=2 adam_beta2=0.95 fwd_bwd_time={log.near(3.2):.2f}")
    return truth(199)


@positive("ms_swift", "modelscope/ms-swift swift/trainers/callback.py")
def ms_swift(log):
    for n in span(5, 200, 5):
        log.step(f"{{'loss': {log.loss(n / 200):.6f}, 'grad_norm': {log.near(2.):.6f}, 'learning_rate': 1e-05, 'epoch': {n / 100:.2f}, 'global_step/max_steps': '{n}/200', 'percentage': '{n / 2:.2f}%', 'elapsed_time': '{n // 40}m {n % 40}s', 'remaining_time': '{5 - n // 40}m 12s', 'memory(GiB)': 12.14, 'train_speed(iter/s)': {log.near(.8):.6f}}}")
    return truth(200, total=200)


@positive("openrlhf_sft", "OpenRLHF/OpenRLHF openrlhf/trainer/sft_trainer.py (nested bars)")
def openrlhf(log):
    for epoch in range(2):
        log.raw("\r" + tqdm(epoch, 2, epoch * 90, desc="Train epoch") + "\n")
        for n in range(0, 101, 2):
            log.bar(tqdm(n, 100, n, desc=f"Train step of epoch {epoch}", postfix=f"gpt_loss={log.loss(n / 100):.3f}, loss_mean={log.loss(n / 100):.3f}, lr=9.8e-6"))
        log.raw("\x1b[A")
    log.line()
    return truth(200, epoch_steps=100)


@positive("llama2_c", "karpathy/llama2.c train.py (the step stands first, without a word)")
def llama2_c(log):
    log.line("tokens per iteration will be: 131,072\nbreaks down as: 4 grad accum steps * 1 processes * 128 batch size * 256 max seq len\nInitializing a new model from scratch\nnum decayed parameter tensors: 43, with 15,187,968 parameters")
    for it in range(0, 600):
        if it % 200 == 0:
            log.line(f"step {it}: train loss {log.loss(it / 600, 10.):.4f}, val loss {log.loss(it / 600, 10.):.4f}")
        log.step(f"{it} | loss {log.loss(it / 600, 10.):.4f} | lr {it * 5e-7:e} | {log.near(812.):.2f}ms | mfu {-100. if it < 5 else log.near(31.):.2f}%")
    return truth(599)


@positive("rwkv", "BlinkDL/RWKV-LM RWKV-v4neo/src/trainer.py on Lightning")
def rwkv(log):
    for epoch in range(3):
        for n in range(0, 1001, 5):
            log.bar(f"Epoch {epoch}: {n / 10:3.0f}%|{'#' * (n // 100):10}| {n}/1000 [{clock(n)}<{clock(1000 - n)}, {log.near(1.6):5.2f}it/s, loss={log.loss((epoch + n / 1000) / 3, 9., 3.):.3f}, lr=0.0006, REAL it/s={log.near(1.6):.3f}, Kt/s={log.near(6.8):.3f}]")
        log.line()
    return truth(3000, epoch_steps=1000)


@positive("gpt2_nshepperd", "nshepperd/gpt-2 train.py")
def gpt2_nshepperd(log):
    log.line("Loading checkpoint models/117M/model.ckpt\nLoading dataset...\ndataset has 338025 tokens\nTraining...")
    for n in span(1, 400, 1):
        log.step(f"[{n} | {n * 1.21:2.2f}] loss={log.loss(n / 400, 3.4):2.2f} avg={log.loss(n / 400, 3.4):2.2f}")
        if n % 100 == 0:
            log.line("======== SAMPLE 1 ========\n the river and 12 houses were seen\n")
    return truth(400)


@positive("torch_rnn", "jcjohnson/torch-rnn train.lua")
def torch_rnn(log):
    for i in span(1, 1200, 1):
        log.step(f"Epoch {1 + i / 400:.2f} / 50, i = {i} / 20000, loss = {log.loss(i / 1200, 4.):f}")
        if i % 400 == 0:
            log.line(f"val_loss = \t{log.near(1.8)}\t")
    return truth(1200, total=20000)


@positive("dalle_pytorch", "lucidrains/DALLE-pytorch train_dalle.py (two numbers without words)")
def dalle(log):
    for epoch in range(3):
        for i in range(0, 500, 10):
            log.step(f"{epoch} {i} loss - {log.loss((epoch + i / 500) / 3, 7.)}")
            if i % 100 == 0:
                log.line(f"{epoch} {i} sample_per_sec - {log.near(31.)}")
    return truth(1490)


@positive("stylegan2_lucidrains", "lucidrains/stylegan2-pytorch stylegan2_pytorch/cli.py")
def stylegan2_lucidrains(log):
    for n in range(0, 1001, 10):
        log.bar(tqdm(n, 150000, n / 2, desc="default</data/faces>"))
        if n % 50 == 0:
            log.line(f"\nG: {log.near(1.2):.2f} | D: {log.near(.9):.2f} | GP: {log.near(.1):.2f} | PL: {log.near(.1):.2f} | CR: 0.00 | Q: 0.00")
    return truth(1000, total=150000)


@positive("mindyolo", "mindspore-lab/mindyolo mindyolo/utils/trainer_factory.py")
def mindyolo(log):
    for epoch in span(1, 3, 1):
        for n in span(100, 462, 100):
            log.tick(60)
            log.step(f"{log.ms()} [INFO] Epoch {epoch}/300, Step {n}/462, imgsize (640, 640), loss: {log.near(6.):.4f}, lbox: {log.near(.1):.4f}, lobj: {log.near(.1):.4f}, lcls: {log.near(.1):.4f}, cur_lr: 0.00100")
            log.line(f"{log.ms()} [INFO] Epoch {epoch}/300, Step {n}/462, step time: {log.near(712.):.2f} ms")
        log.line(f"{log.ms()} [INFO] Saving model to ./runs/weights/yolov7-{epoch}_462.ckpt\n{log.ms()} [INFO] Epoch {epoch}/300, epoch time: 5.41 min.")
    return truth("1324|1386", total=300 * 462, epoch_steps=462)


@positive("mindcv", "mindspore-lab/mindcv mindcv/utils/callbacks.py")
def mindcv(log):
    for epoch in span(1, 4, 1):
        for n in span(50, 195, 50):
            log.tick(20)
            log.step(f"[{log.at()}] mindcv.utils.callbacks INFO - Epoch: [{epoch}/100], batch: [{n}/195], loss: {log.near(4.):.6f}, cur_lr: 0.010000,  time: {log.near(20.):f}s")
        log.line(f"[{log.at()}] mindcv.utils.callbacks INFO - Validation Top_1_Accuracy: 41.2000%, Top_5_Accuracy: 71.2000%, time: 9.120000s\n[{log.at()}] mindcv.utils.callbacks INFO - Total time since last epoch: 91.2(train: 80.1, val: 9.1)s, ETA: 8123.1s")
    return truth("735", total=19500, epoch_steps=195)


@positive("catalyst", "catalyst-team/catalyst catalyst/callbacks/misc.py, loggers/console.py")
def catalyst(log):
    for epoch in span(1, 3, 1):
        run_bar(log, 100, 2, desc=f"{epoch}/10 * Epoch (train)", postfix=f"accuracy01={log.near(.7):.3f}, loss={log.near(.6):.3f}, lr=0.001, momentum=0.9")
        run_bar(log, 20, 2, desc=f"{epoch}/10 * Epoch (valid)", postfix=f"accuracy01={log.near(.7):.3f}, loss={log.near(.6):.3f}", step=False)
        log.line(f"train ({epoch}/10) accuracy01: {log.near(.7)} | loss: {log.near(.6)} | lr: 0.001 | momentum: 0.9\nvalid ({epoch}/10) accuracy01: {log.near(.7)} | loss: {log.near(.6)}\n* Epoch ({epoch}/10) ")
    return truth(300, total=1000, epoch_steps=100)


@positive("poutyne", "GRAAL-Research/poutyne poutyne/framework/callbacks/color_formatting.py")
def poutyne(log):
    for epoch in span(1, 3, 1):
        for n in span(1, 150, 1):
            log.raw(f"\rEpoch: {epoch:2d}/10 Step: {n:3d}/150 {n / 1.5:6.2f}% |{'█' * (n // 8):20}|ETA: {(150 - n) / 40:.2f}s loss: {log.near(.5):f} acc: {log.near(80.):f}", step=True)
        log.line(f"\rEpoch: {epoch:2d}/10 Train steps: 150 Val steps: 30 3.81s loss: {log.near(.5):f} acc: {log.near(80.):f} val_loss: {log.near(.5):f} val_acc: {log.near(80.):f}")
    return truth(450, total=1500, epoch_steps=150)


@positive("torchbearer", "pytorchbearer/torchbearer torchbearer/callbacks/printer.py")
def torchbearer(log):
    for epoch in range(3):
        run_bar(log, 100, 2, desc=f"{epoch}/10(t)", postfix=f"running_loss={log.near(.5):.4f}, running_acc=0.8")
        run_bar(log, 20, 2, desc=f"{epoch}/10(v)", postfix=f"val_loss={log.near(.5):.4f}, val_acc=0.8", step=False)
    return truth(300, total=1000, epoch_steps=100)


@positive("tensorpack", "tensorpack/tensorpack tensorpack/train/base.py, callbacks/summary.py")
def tensorpack(log):
    for epoch in span(1, 3, 1):
        log.line(f"[0311 {log.at('%H:%M:%S')} @base.py:275] Start Epoch {epoch} ...")
        for n in range(0, 376, 5):
            log.bar(f"{n * 100 // 375:3d}%|{'#' * (n // 20):19}|{n}/375[{clock(n / 37)}<{clock((375 - n) / 37)},{log.near(37.):.2f}it/s]")
        log.line(f"\n[0311 {log.at('%H:%M:%S')} @base.py:285] Epoch {epoch} (global_step {epoch * 375}) finished, time:10.1 seconds.\n[0311 {log.at('%H:%M:%S')} @saver.py:79] Model saved to train_log/mnist/model-{epoch * 375}.")
        run_bar(log, 79, 5, speed=90., step=False)
        log.line(f"[0311 {log.at('%H:%M:%S')} @monitor.py:467] cross_entropy_loss: {log.near(.1):.5f}\n[0311 {log.at('%H:%M:%S')} @monitor.py:467] validation_accuracy: 0.98")
    return truth(1125, epoch_steps=375)


@positive("opennmt_tf", "OpenNMT/OpenNMT-tf opennmt/training.py")
def opennmt_tf(log):
    for step in span(100, 3000, 100):
        log.step(f"INFO:tensorflow:Step = {step} ; steps/s = {log.near(3.2):0.2f}, tokens/s = {int(log.near(12345))} ({int(log.near(5120))} source, {int(log.near(7225))} target) ; Learning rate = {step * 1e-7:f} ; Loss = {log.loss(step / 3000, 9.):f}")
    return truth(3000)


@positive("xlm", "facebookresearch/XLM src/trainer.py (a count without a word between dashes)")
def xlm(log):
    log.line("INFO - 03/11/25 09:14:02 - 0:00:09 - ============ Starting epoch 0 ... ============")
    for n in span(5, 1500, 5):
        log.step(f"INFO - 03/11/25 {log.tick(2).strftime('%H:%M:%S')} - {clock(n / 2 + 3600)} - {n:7d} - {log.near(123.):7.2f} sent/s - {log.near(4567.):8.2f} words/s - MLM-en: {log.near(7.):7.4f} || MLM-fr: {log.near(7.):7.4f} - model LR: 1.0000e-04")
    return truth(1500)


@positive("infersent", "facebookresearch/InferSent train_nli.py")
def infersent(log):
    log.line("\nTRAINING : Epoch 1\nLearning rate : 0.1")
    for k in span(1, 40, 1):
        log.step(f"{k * 6400 - 64} ; loss {log.loss(k / 40, 1.1):.2f} ; sentence/s {int(log.near(512))} ; words/s {int(log.near(17000))} ; accuracy train : {40 + k / 2:.2f}")
    log.line("results : epoch 1 ; mean accuracy train : 61.20\n\nVALIDATION : Epoch 1\ntogrep : results : epoch 1 ; mean accuracy valid :               64.10")
    return truth(255936, "steps|samples")


@positive("vissl", "facebookresearch/vissl vissl/hooks/log_hooks.py")
def vissl(log):
    for it in span(5, 1500, 5):
        log.step(f"INFO {log.tick(3).strftime('%Y-%m-%d %H:%M:%S')},318 log_hooks.py: 277: Rank: 0; [ep: {it // 500}] iter: {it}; lr: 0.30000; loss: {log.near(7.):.5f}; btime(ms): {int(log.near(412))}; eta: 1:02:{59 - it // 30:02d}; peak_mem(M): 8123; max_iterations: 50000;")
    return truth(1500)


@positive("slowfast", "facebookresearch/SlowFast slowfast/utils/meters.py (JSON with i/N in strings)")
def slowfast(log):
    for epoch in span(1, 3, 1):
        for it in span(10, 500, 10):
            log.step(f'[03/11 {log.tick(4).strftime("%H:%M:%S")}][INFO] logging.py:  99: json_stats: {{"_type": "train_iter_", "dt": {log.near(.4):.5f}, "dt_data": 0.00123, "dt_net": {log.near(.4):.5f}, "epoch": "{epoch}/196", "eta": "1:02:{59 - it // 10:02d}", "gpu_mem": "8.12G", "grad_norm": {log.near(1.2):.5f}, "iter": "{it}/500", "loss": {log.near(6.):.5f}, "lr": 0.01000, "top1_err": {log.near(90.):.5f}}}')
        for it in span(10, 60, 10):
            log.line(f'[03/11 {log.at("%H:%M:%S")}][INFO] logging.py:  99: json_stats: {{"_type": "val_iter", "epoch": "{epoch}/196", "eta": "0:00:09", "gpu_mem": "8.12G", "iter": "{it}/60", "time_diff": 0.3, "top1_err": 91.2, "top5_err": 70.1}}')
    return truth(1500, total=98000, epoch_steps=500)


@positive("ijepa", "facebookresearch/ijepa src/train.py")
def ijepa(log):
    for epoch in span(1, 3, 1):
        log.line(f"INFO:root:Epoch {epoch}")
        for it in range(0, 300, 10):
            log.step(f"INFO:root:[{epoch}, {it:5d}] loss: {log.near(.3):.3f} masks: {log.near(32.):.1f} {log.near(60.):.1f} [wd: 4.00e-02] [lr: {it * 1e-6 + 1e-6:.2e}] [mem: 1.23e+04] ({log.near(412.):.1f} ms)")
            log.line(f"INFO:root:[{epoch}, {it:5d}] grad_stats: [{log.near(1e-2):.2e} {log.near(1e-2):.2e}] ({log.near(1e-3):.2e}, {log.near(1e-1):.2e})")
        log.line(f"INFO:root:avg. loss {log.near(.3):.3f}")
    return truth(890)


@positive("habitat", "facebookresearch/habitat-lab habitat_baselines/rl/ppo/ppo_trainer.py")
def habitat(log):
    for update in span(10, 400, 10):
        log.step(f"{log.ms()} update: {update}\tfps: {log.near(123.):.3f}\t")
        log.line(f"{log.ms()} update: {update}\tenv-time: {update * .31:.3f}s\tpth-time: {update * .1:.3f}s\tframes: {update * 1280}")
        log.line(f"{log.ms()} Average window size: 50  reward: {log.near(1.2):.3f}  success: {log.near(.3):.3f}  distance_to_goal: {log.near(4.):.3f}")
        log.tick(30)
    return truth(f"400|{400 * 1280}", "")


@positive("xlnet", "zihangdai/xlnet train_gpu.py")
def xlnet(log):
    for step in span(100, 5000, 100):
        log.step(f"I0311 {log.tick(9).strftime('%H:%M:%S')}.318 140 train_gpu.py:297] [{step}] | gnorm {log.near(1.2):.2f} lr {step * 1e-8:8.6f} | loss {log.loss(step / 5000, 9.):.2f} | pplx {log.near(900.):>7.2f}, bpc {log.near(9.):>7.4f}")
    return truth(5000)


@positive("tf_nmt", "tensorflow/nmt nmt/train.py")
def tf_nmt(log):
    for step in span(100, 3000, 100):
        log.step(f"  step {step} lr 1 step-time {log.near(.2):.2f}s wps {log.near(20.):.2f}K ppl {log.near(900.):.2f} gN {log.near(12.):.2f} bleu 0.00, Tue Mar 11 {log.tick(21).strftime('%H:%M:%S')} 2025")
    return truth(3000)


@positive("annotated_transformer", "harvardnlp/annotated-transformer the_annotated_transformer.py")
def annotated_transformer(log):
    for epoch in range(2):
        log.line(f"[GPU0] Epoch {epoch} Training ====")
        for i in range(1, 400, 40):
            log.step(f"Epoch Step: {i:6d} | Accumulation Step: {1 + i // 10:3d} | Loss: {log.near(7.):6.2f} | Tokens / Sec: {log.near(2300.):7.1f} | Learning Rate: {i * 5.4e-7:6.1e}")
        log.line(f"[GPU0] Epoch {epoch} Validation ====\n(tensor({log.near(4.):.4f}), <__main__.TrainState object at 0x7f12>)")
    return truth("761|762|760")


@positive("tabnet", "dreamquark-ai/tabnet pytorch_tabnet/callbacks.py")
def tabnet(log):
    for epoch in range(50):
        log.step(f"epoch {epoch:<3}| loss: {log.loss(epoch / 50):.5f} | valid_0_auc: {log.near(.8):.5f} |  0:00:{epoch:02d}s")
    return truth(49, "epochs")


@positive("time_series_library", "thuml/Time-Series-Library exp/exp_long_term_forecasting.py")
def time_series_library(log):
    for epoch in span(1, 5, 1):
        for i in (100, 200):
            log.step(f"\titers: {i}, epoch: {epoch} | loss: {log.near(.3):.7f}")
            log.line(f"\tspeed: {log.near(.02):.4f}s/iter; left time: {log.near(60.):.4f}s")
        log.line(f"Epoch: {epoch} cost time: {log.near(5.)}\nEpoch: {epoch}, Steps: 265 | Train Loss: {log.near(.3):.7f} Vali Loss: {log.near(.3):.7f} Test Loss: {log.near(.3):.7f}\nUpdating learning rate to 5e-05")
    return truth("1260|1325|1000")


@positive("dpr", "facebookresearch/DPR train_dense_encoder.py")
def dpr(log):
    for epoch in range(3):
        for step in range(0, 500, 100):
            log.step(f"[140123456][root][INFO] Epoch: {epoch}: Step: {step}/500, loss={log.near(1.2):f}, lr={1e-5:f}")
            log.line(f"[140123456][root][INFO] Train batch {epoch * 500 + step + 1}\n[140123456][root][INFO] Avg. loss per last 100 batches: {log.near(1.2):f}")
    return truth("1400|1401", epoch_steps=500)


@positive("simpletransformers", "ThilinaRajapakse/simpletransformers simpletransformers/classification/classification_model.py")
def simpletransformers(log):
    for epoch in range(3):
        log.raw("\r" + tqdm(epoch, 3, epoch * 10, desc=f"Epoch {epoch + 1} of 3") + "\n")
        for n in range(0, 101, 2):
            log.bar(tqdm(n, 100, n / 9, desc=f"Epochs {epoch + 1}/3. Running Loss: {log.near(.5):9.4f}"))
        log.line("\x1b[A")
    return truth(300, epoch_steps=100, total=300)


@positive("mace", "ACEsuit/mace mace/tools/train.py")
def mace(log):
    for epoch in range(40):
        log.step(f"{log.tick(12).strftime('%Y-%m-%d %H:%M:%S')}.318 INFO: Epoch {epoch}: loss={log.near(.12):8.8f}, RMSE_E_per_atom={log.near(12.):8.2f} meV, RMSE_F={log.near(45.):8.2f} meV / A")
    return truth(39, "epochs")


@positive("deepmd", "deepmodeling/deepmd-kit deepmd/loggers/training.py")
def deepmd(log):
    for batch in span(100, 4000, 100):
        log.step(f"[{log.tick(9).strftime('%Y-%m-%d %H:%M:%S')},318] DEEPMD INFO    batch {batch:7d}: trn: rmse = {log.near(12.):.2e}, rmse_e = {log.near(.1):.2e}, rmse_f = {log.near(.4):.2e}, lr = 1.00e-03")
        log.line(f"[{log.at()},318] DEEPMD INFO    batch {batch:7d}: total wall time = {log.near(3.2):.2f} s")
    return truth(4000)


@positive("bmild_nerf", "bmild/nerf run_nerf.py (values without words)")
def bmild_nerf(log):
    for i in span(100, 4000, 100):
        log.step(f"lego_test {i} {15 + i / 400 + log.random.random():.6f} {log.loss(i / 4000, .05, .002):.8f} {i}")
        log.line(f"iter time {log.near(.05):.05f}")
    return truth(4000)


@positive("torch_ngp", "ashawkey/torch-ngp nerf/utils.py (bar without blocks)")
def torch_ngp(log):
    for epoch in span(1, 4, 1):
        log.line(f"==> Start Training Epoch {epoch}, lr=0.010000 ...")
        for n in range(0, 101):
            log.bar(f"loss={log.near(.01):.4f} ({log.near(.01):.4f}), lr=0.010000: {n:3d}% {n}/100 [{clock(n / 9)}<{clock((100 - n) / 9)}, {log.near(9.):5.2f}it/s]")
        log.line(f"\n==> Finished Epoch {epoch}.\n++> Evaluate at epoch {epoch} ...")
        for n in range(0, 11):
            log.raw(f"\rloss={log.near(.01):.4f} ({log.near(.01):.4f}): {n * 10:3d}% {n}/10 [{clock(n)}<{clock(10 - n)}, {log.near(2.):5.2f}it/s]")
        log.line(f"\nPSNR = {log.near(24.):.6f}\n++> Evaluate epoch {epoch} Finished.")
    return truth(400, epoch_steps=100)


@positive("deepxde", "lululxvi/deepxde deepxde/display.py")
def deepxde(log):
    log.line("Compiling model...\n'compile' took 0.812 s\n\nTraining model...\n\nStep      Train loss              Test loss               Test metric   ")
    for step in span(0, 20000, 1000):
        log.step(f"{step:<10}[{log.near(1.2):.2e}, {log.near(.3):.2e}]    [{log.near(1.2):.2e}, {log.near(.3):.2e}]    []  ")
    return truth(20000)


@positive("picotron", "huggingface/picotron train.py")
def picotron(log):
    for step in span(1, 200, 1):
        log.step(f"[rank 0] Step: {step:<5d} | Loss: {log.loss(step / 200, 10., 4.):6.4f} | Global batch size:   1.0M | Tokens/s: {log.near(12.1):5.1f}K | Tokens/s/GPU: {log.near(1.5):5.1f}K | Tokens: {step * 1.05:6.1f}M | MFU: {log.near(38.):5.2f}% | Memory usage: 45.12GB")
    return truth(200)


@positive("distil_whisper", "huggingface/distil-whisper training/run_distillation.py")
def distil_whisper(log):
    for n in range(0, 501):
        log.bar(tqdm(n, 1000, n * 1.2, desc="Train steps ... "))
        if n and n % 25 == 0:
            log.line(f"\rStep... ({n} / 1000 | Loss: {log.near(1.2)}, Learning Rate: {n * 1e-7})")
        if n in (200, 400):
            run_bar(log, 60, 5, desc="Evaluating ...", step=False)
    return truth(500, total=1000)


@positive("keras_gan", "eriklindernoren/Keras-GAN dcgan/dcgan.py")
def keras_gan(log):
    for n in range(400):
        log.step(f"{n} [D loss: {log.near(.69):f}, acc.: {log.near(51.):.2f}%] [G loss: {log.near(.8):f}]")
    return truth(399)


@positive("cntk", "microsoft/CNTK bindings/python/cntk/logging/progress_print.py")
def cntk(log):
    for epoch in span(1, 3, 1):
        for k in range(10):
            log.step(f" Minibatch[{k * 100 + 1:4d}-{k * 100 + 100:4d}]: loss = {log.near(1.2):0.6f} * 6400, metric = {log.near(40.):0.2f}% * 6400 {log.near(1.2):0.3f}s ({log.near(5194.):5.1f} samples/s);")
        log.line(f"Finished Epoch[{epoch} of 10]: [Training] loss = {log.near(1.2):0.6f} * 64000, metric = {log.near(40.):0.2f}% * 64000 12.112s (5284.1 samples/s);")
    return truth("3000|2901")


@positive("elegantrl", "AI4Finance-Foundation/ElegantRL elegantrl/train/evaluator.py (steps as 1.02e+04)")
def elegantrl(log):
    log.line("| `step`: Number of samples, or total training steps, or running times of `env.step()`.\n| ID     Step    Time |    avgR   stdR   avgS  stdS |    expR   objC   objA   etc.")
    for k in span(1, 30, 1):
        log.step(f"{0:<3}{k * 10240:8.2e}{k * 12:8.0f} |{log.near(120.):8.2f}{log.near(12.):7.1f}{200:7.0f}{0:6.0f} |{log.near(.1):8.2f}{log.near(1.2):7.2f}{log.near(12.):7.2f}   0.10")
    return truth("307000|307200", "")


@positive("deepspeed_chat", "microsoft/DeepSpeedExamples applications/DeepSpeed-Chat/training/step3_rlhf_finetuning/main.py")
def deepspeed_chat(log):
    for epoch in range(2):
        log.line(f"Beginning of Epoch {epoch + 1}/2, Total Generation Batches 100")
        for step in range(100):
            log.step(f"Epoch: {epoch} | Step: {step} | PPO Epoch: 1 | Actor Loss: {log.near(.1)} | Critic Loss: {log.near(.2)} | Unsupervised Loss: 0.0")
            log.line(f"End-to-End => Latency: {log.near(4.):.2f}s, TFLOPs: {log.near(40.):.2f}, Samples/sec: {log.near(8.):.2f}, Time/seq {log.near(.12):.2f}s, Batch Size: 32, Total Seq. Length: 512\nAverage reward score: {log.near(1.2)} | EMA reward score: {log.near(1.2)}\n-------------------------------------------------------------------------------------")
    return truth(199)


@positive("gensim_word2vec", "piskvorky/gensim gensim/models/word2vec.py (percent of an epoch)")
def gensim_word2vec(log):
    for epoch in range(8):
        for k in range(1, 10):
            log.step(f"{log.tick(1).strftime('%Y-%m-%d %H:%M:%S')},318 : INFO : EPOCH {epoch} - PROGRESS: at {k * 10.7:.2f}% examples, {int(log.near(512345))} words/s, in_qsize {15 + k % 3}, out_qsize {k % 2}")
        log.line(f"{log.at()},318 : INFO : EPOCH {epoch}: training on 17005207 raw words (12506280 effective words) took 11.2s, 1116000 effective words/s")
    return truth("7|8", "epochs")


@positive("gluonts", "awslabs/gluonts src/gluonts/mx/trainer/_base.py")
def gluonts(log):
    for epoch in span(1, 4, 1):
        log.line(f"Epoch[{epoch - 1}] Learning rate is 0.001")
        run_bar(log, 50, 1, postfix=f"epoch={epoch}/20, avg_epoch_loss={log.near(5.):.3g}")
        log.line(f"Epoch[{epoch - 1}] Elapsed time 8.123 seconds\nEpoch[{epoch - 1}] Evaluation metric 'epoch_loss'={log.near(5.):f}")
    return truth(200, total="1000|", epoch_steps=50)


@positive("deepchem", "deepchem/deepchem deepchem/models/torch_models/torch_model.py")
def deepchem(log):
    for step in range(99, 4000, 100):
        log.step(f"Ending global_step {step}: Average loss {log.near(.5):g}")
    log.line("TIMING: model fitting took 31.412 s")
    return truth(3999)


@positive("galore", "jiaweizzhao/GaLore torchrun_main.py (a bar of 80 columns without a loss)")
def galore(log):
    log.line(f"{log.at()}.318 | INFO     | __main__:main:140 - Starting script\n{log.at()}.402 | INFO     | __main__:main:281 - Total params: 58.07M\n{log.at()}.403 | INFO     | __main__:main:283 - Trainable params: 58.07M")
    for n in range(0, 601):
        log.bar(tqdm(n, 10000, n * .8, desc="Update steps", ncols=80))
        if n == 300:
            log.line(f"\n{log.at()}.318 | INFO     | __main__:main:412 - Performing evaluation at step 300\n{log.at()}.318 | INFO     | __main__:main:425 - Eval loss at step 300: 6.12")
    return truth(600, total=10000)


@positive("f5_tts", "SWivid/F5-TTS src/f5_tts/model/trainer.py")
def f5_tts(log):
    for epoch in range(3):
        for n in range(0, 401, 4):
            log.bar(tqdm(n, 400, n / 3, desc=f"Epoch {epoch + 1}/10", unit="update", postfix=f"loss={log.near(.6):.3g}, update={epoch * 400 + n}"))
        log.line()
    return truth(1200, total=4000, epoch_steps=400)


@positive("llamafactory_log", "hiyouga/LLaMA-Factory src/llamafactory/train/callbacks.py (trainer_log.jsonl)")
def llamafactory(log):
    for n in span(5, 200, 5):
        log.step(f'{{"current_steps": {n}, "total_steps": 200, "loss": {log.near(1.2):.4f}, "lr": 4.9e-05, "epoch": {n / 100:.2f}, "percentage": {n / 2:.1f}, "elapsed_time": "0:00:{n // 4:02d}", "remaining_time": "0:0{(200 - n) // 60}:12"}}')
    return truth(200, total=200)


@positive("hlb_cifar_tinygrad", "tinygrad/tinygrad examples/hlb_cifar10.py (names behind the values)")
def hlb_cifar(log):
    for i in range(1, 500):
        log.step(f"{i:3d} {log.near(221.):7.2f} ms run, {log.near(2.2):7.2f} ms python, {log.near(219.):7.2f} ms CL, {log.near(803.):7.2f} loss, {i * 1e-5:.6f} LR, 4.66 GB used, {log.near(3042.):9.2f} GFLOPS, {log.near(674.):9.2f} GOPS")
        if i % 100 == 0:
            log.line(f"eval     {i * 10}/10240 {i / 6:.2f}%, {log.near(1.2):7.2f} val_loss STEP={i} (in {log.near(200.):7.2f} ms)")
    return truth(499)


@positive("cpm_bee", "OpenBMB/CPM-Bee src/pretrain_cpm_bee.py")
def cpm_bee(log):
    for it in span(1, 300, 1):
        log.step(f"| Iter: {it:6d} | loss: {log.near(5.):.4f} | lr: {it * 1e-6:.4e}, scale: 32768.0000 | time: {log.near(1.2):.4f} | token/max: {log.near(.9):.4f} | mask/max: {log.near(.4):.4f} | grad_norm: {log.near(1.):.4f}")
        log.line(f"| wiki loss: {log.near(5.):.4f} | code loss: {log.near(3.):.4f}")
    return truth(300)


@positive("gluoncv_ssd", "dmlc/gluon-cv scripts/detection/ssd/train_ssd.py")
def gluoncv(log):
    for epoch in range(3):
        for batch in range(99, 500, 100):
            log.step(f"INFO:root:[Epoch {epoch}][Batch {batch}], Speed: {log.near(45.):.3f} samples/sec, CrossEntropy={log.near(4.):.3f}, SmoothL1={log.near(2.):.3f}")
        log.line(f"INFO:root:[Epoch {epoch}] Training cost: {log.near(121.):.3f}, CrossEntropy={log.near(4.):.3f}, SmoothL1={log.near(2.):.3f}\nINFO:root:[Epoch {epoch}] Validation: \naeroplane=0.512\nmAP=0.41")
    return truth("1499|1498")


@positive("dl4j", "deeplearning4j/deeplearning4j ScoreIterationListener.java")
def dl4j(log):
    for it in range(0, 800, 10):
        log.step(f"{log.tick(1).strftime('%H:%M:%S')}.318 [main] INFO  o.d.o.l.ScoreIterationListener - Score at iteration {it} is {log.loss(it / 800)}")
    return truth(790)


@positive("vowpal_wabbit", "VowpalWabbit/vowpal_wabbit vowpalwabbit/core/src/shared_data.cc (examples double)")
def vowpal(log):
    log.line("Num weight bits = 18\nlearning rate = 0.5\ninitial_t = 0\npower_t = 0.5\nusing no cache\nReading datafile = train.vw\nnum sources = 1\naverage  since         example        example        current        current  current\nloss     last          counter         weight          label        predict features")
    for k in range(18):
        log.step(f"{log.loss(k / 18, .69):8.6f} {log.loss(k / 18, .69):8.6f} {2 ** k:12d} {float(2 ** k):14.1f} {1.0:14.4f} {log.near(.7):14.4f} {log.random.randint(20, 90):8d}")
    return truth(2 ** 17, "samples|steps")


@positive("rich_bar", "Textualize/rich progress bar around a hand-written loop (terminal)")
def rich_bar(log):
    for n in range(0, 401, 4):
        log.raw(f"\r\x1b[2KTraining \x1b[38;2;249;38;114m{'━' * (n // 10)}\x1b[0m\x1b[38;5;237m{'━' * (40 - n // 10)}\x1b[0m \x1b[32m{n}/400\x1b[0m \x1b[36m0:00:{(400 - n) // 12:02d}\x1b[0m loss {log.loss(n / 400):.3f}", step=True)
    log.line()
    return truth(400, total="400|")


@positive("alive_bar", "rsalmei/alive-progress around a hand-written loop")
def alive_bar(log):
    for n in range(0, 401, 4):
        log.raw(f"\rTraining |{'█' * (n // 10):40}| ▃▅▇ {n}/400 [{n // 4}%] in {n // 10}s (~{40 - n // 10}s, {log.near(10.):.1f}/s) loss={log.loss(n / 400):.3f} ", step=True)
    log.line()
    return truth(400, total="400|")


@positive("sklearn_mlp", "scikit-learn/scikit-learn sklearn/neural_network/_multilayer_perceptron.py (verbose)")
def sklearn_mlp(log):
    for it in span(1, 80, 1):
        log.step(f"Iteration {it}, loss = {log.loss(it / 80):.8f}")
    return truth(80, "steps|epochs")


@positive("sklearn_boosting", "scikit-learn/scikit-learn sklearn/ensemble/_gb.py (VerboseReporter)")
def sklearn_boosting(log):
    log.line(f"{'Iter':>10} {'Train Loss':>16} {'Remaining Time':>16} ")
    for it in [*range(1, 11), *range(20, 201, 10)]:
        log.step(f"{it:>10d} {log.loss(it / 200):>16.4f} {(200 - it) / 40:>15.2f}s")
    return truth(200)


@positive("sklearn_sgd", "scikit-learn/scikit-learn sklearn/linear_model/_sgd_fast.pyx (verbose)")
def sklearn_sgd(log):
    for epoch in span(1, 40, 1):
        log.step(f"-- Epoch {epoch}")
        log.line(f"Norm: {log.near(12.):.2f}, NNZs: 20, Bias: {log.near(.1):.6f}, T: {epoch * 1000}, Avg. loss: {log.loss(epoch / 40):.6f}\nTotal training time: {epoch / 90:.2f} seconds.")
    return truth("40|40000", "")


@positive("electra", "google-research/electra util/training_utils.py")
def electra(log):
    for step in span(100, 3000, 100):
        log.step(f"{step}/1000000 = {step / 1e4:.1f}%, SPS: {log.near(3.2):.1f}, ELAP: {step // 192}:{step // 3 % 60:02d}, ETA: 3 days, 14:{59 - step // 100:02d}:12 - loss: {log.loss(step / 3000, 45., 12.):.4f}")
    return truth(3000, total=1000000)


@positive("hifi_gan", "jik876/hifi-gan train.py")
def hifi_gan(log):
    for epoch in span(1, 5, 1):
        log.line(f"Epoch: {epoch}")
        for step in range((epoch - 1) * 100, epoch * 100, 5):
            log.step(f"Steps : {step}, Gen Loss Total : {log.loss(step / 500, 95., 30.):4.3f}, Mel-Spec. Error : {log.near(.8):4.3f}, s/b : {log.near(.5):4.3f}")
        log.line(f"Time taken for epoch {epoch} is {int(log.near(54))} sec\n")
    return truth(495)


@positive("neural_style_lua", "jcjohnson/neural-style neural_style.lua (a block for each print)")
def neural_style(log):
    for it in span(50, 1000, 50):
        log.step(f"Iteration {it} / 1000\t")
        log.line(f"  Content 1 loss: {log.near(1234567.):f}\t\n  Style 1 loss: {log.near(12.):f}\t\n  Style 2 loss: {log.near(1200.):f}\t\n  Total loss: {log.near(1234567.):f}\t")
    return truth(1000, total=1000)
