"""Plain lines of PyTorch scripts and libraries."""
import math
from datetime import timedelta

from .lib import positive, truth

EXAMPLES = "pytorch/examples "


@positive("nanogpt", "karpathy/nanoGPT train.py")
def nanogpt(log):
    log.lines("""
Overriding config with config/train_words.py:
# settings for a small word model
out_dir = 'out-words'
eval_interval = 250
eval_iters = 40
log_interval = 10
dataset = 'words'
batch_size = 12
block_size = 128
max_iters = 1500
Overriding: compile = False
tokens per iteration will be: 1,536
found vocab_size = 71 (inside data/words/meta.pkl)
Initializing a new model from scratch
number of parameters: 4.71M
num decayed parameter tensors: 26, with 4,731,904 parameters
num non-decayed parameter tensors: 13, with 3,328 parameters
using fused AdamW: False
""")
    mfu = -100.0
    for it in range(0, 1501, 10):
        if it % 250 == 0:
            log.line(f"step {it}: train loss {log.loss(it / 1500):.4f}, val loss {log.loss(it / 1500) + .04:.4f}")
            if it:
                log.line("saving checkpoint to out-words")
        if it > 40:
            mfu = log.near(3.1)
        ms = log.near(4100 if it % 250 == 0 else 52.4)
        log.step(f"iter {it}: loss {log.loss(it / 1500):.4f}, time {ms:.2f}ms, mfu {mfu:.2f}%")
    return truth(1500, notes="'step 0: train loss' comes first and every 250; 'iter' is the clock. The first 'step N' line also holds a step.")


@positive("mingpt", "karpathy/minGPT projects/chargpt/chargpt.py")
def mingpt(log):
    log.lines("""
command line overwriting config attribute trainer.max_iters with 800
data:
    block_size: 128
model:
    model_type: gpt-mini
    n_layer: 6
    n_head: 6
trainer:
    batch_size: 64
    max_iters: 800
    learning_rate: 0.0005
data has 201544 characters, 64 unique.
number of parameters: 2.69M
running on device cpu
""")
    for it in range(0, 800, 10):
        log.step(f"iter_dt {0 if it == 0 else log.near(131.2):.2f}ms; iter {it}: train loss {log.loss(it / 800, 4.2, 1.6):.5f}")
        if it % 400 == 0:
            log.line("The gate was open and 12 men stood near it")
            log.line("saving model")
    return truth(790)


def mnist_like(log, epochs, size, batch, every, name="Loss", high=2.3, low=0.02):
    last = 0
    for epoch in range(1, epochs + 1):
        for index in range(0, size // batch + 1, every):
            seen = index * batch
            part = (epoch - 1 + seen / size) / epochs
            percent = 100.0 * index / math.ceil(size / batch)
            log.step(f"Train Epoch: {epoch} [{seen}/{size} ({percent:.0f}%)]\t{name}: {log.loss(part, high, low):.6f}")
            last = (epoch - 1) * size + seen
        yield epoch, last


@positive("pt_mnist", EXAMPLES + "mnist/main.py")
def pt_mnist(log):
    last = 0
    for epoch, last in mnist_like(log, 4, 60000, 64, 10):
        right = 9400 + 120 * epoch
        log.line(f"\nTest set: Average loss: {log.loss(epoch / 4, .4, .03):.4f}, Accuracy: {right}/10000 ({right / 100:.0f}%)\n")
    return truth(last, "samples", epoch_steps=60000, last_epoch=4)


@positive("pt_siamese", EXAMPLES + "siamese_network/main.py")
def pt_siamese(log):
    log.line("Using device: cpu")
    last = 0
    for epoch, last in mnist_like(log, 3, 60000, 64, 20):
        log.line(f"\nTest set: Average loss: {log.loss(epoch / 3, .01, .002):.4f}, Accuracy: {9200 + epoch * 50}/10000 ({92 + epoch / 2:.0f}%)\n")
    return truth(last, "samples", epoch_steps=60000, last_epoch=3)


@positive("pt_vae", EXAMPLES + "vae/main.py")
def pt_vae(log):
    log.line("Using device: cpu")
    last = 0
    for epoch, last in mnist_like(log, 5, 60000, 128, 10, high=548, low=104):
        log.line(f"====> Epoch: {epoch} Average loss: {log.near(130 - 5 * epoch, .01):.4f}")
        log.line(f"====> Test set loss: {log.near(118 - 2 * epoch, .01):.4f}")
    return truth(last, "samples", epoch_steps=60000, last_epoch=5)


@positive("pt_imagenet", EXAMPLES + "imagenet/main.py")
def pt_imagenet(log):
    log.lines("""
Using device: cuda
=> creating model 'resnet18'
""")
    total, every, epochs = 5005, 100, 3
    last = 0
    for epoch in range(epochs):
        for i in range(0, total, every):
            part = (epoch + i / total) / epochs
            loss, acc = log.loss(part, 6.9, 2), 60 * part
            log.step(f"Epoch: [{epoch}][{i + 1:4d}/{total}]\tTime {log.near(.31):6.3f} ({.318:6.3f})\tData {log.near(.02, .9):6.3f} ({.024:6.3f})\t"
                     f"Loss {loss:.4e} ({loss * 1.02:.4e})\tAcc@1 {log.near(acc):6.2f} ({acc:6.2f})\tAcc@5 {log.near(acc * 1.4):6.2f} ({acc * 1.4:6.2f})")
            last = epoch * total + i + 1
        for i in range(0, 196, 20):
            log.line(f"Test: [{i + 1:3d}/196]\tTime {log.near(.2):6.3f} ({.21:6.3f})\tLoss {3.1:.4e} ({3.2:.4e})\tAcc@1 {log.near(30.):6.2f} ({30.:6.2f})\tAcc@5 {55.:6.2f} ({55.4:6.2f})")
        log.line(f" *   Acc@1 {30 + epoch:.3f} Acc@5 {55 + epoch:.3f}")
    return truth(last, epoch_steps=5005, last_epoch=2, notes="Test: [i/196] lines are evaluation")


@positive("pt_dcgan", EXAMPLES + "dcgan/main.py")
def pt_dcgan(log):
    log.lines("""
Namespace(dataset='folder', dataroot='faces', workers=2, batchSize=64, imageSize=64, nz=100, ngf=64, ndf=64, niter=25, lr=0.0002, beta1=0.5, dry_run=False, ngpu=1, netG='', netD='', outf='out', manualSeed=None, classes='bedroom')
Random Seed:  7214
Using device: cuda:0
Generator(
  (main): Sequential(
    (0): ConvTranspose2d(100, 512, kernel_size=(4, 4), stride=(1, 1), bias=False)
    (1): BatchNorm2d(512, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
    (2): ReLU(inplace=True)
    (3): ConvTranspose2d(512, 256, kernel_size=(4, 4), stride=(2, 2), padding=(1, 1), bias=False)
  )
)
Discriminator(
  (main): Sequential(
    (0): Conv2d(3, 64, kernel_size=(4, 4), stride=(2, 2), padding=(1, 1), bias=False)
    (1): LeakyReLU(negative_slope=0.2, inplace=True)
  )
)
""")
    last = 0
    for epoch in range(2):
        for i in range(0, 190 if epoch == 0 else 131):
            r = log.random.random
            log.step("[%d/%d][%d/%d] Loss_D: %.4f Loss_G: %.4f D(x): %.4f D(G(z)): %.4f / %.4f" % (epoch, 25, i, 190, r() * 2, 1 + r() * 5, r(), r() / 2, r() / 9))
            last = epoch * 190 + i
    return truth(last, total=25 * 190, epoch_steps=190, last_epoch=1, notes="the log ends within the second epoch")


@positive("pt_word_lm", EXAMPLES + "word_language_model/main.py")
def pt_word_lm(log):
    log.line("Using device: cuda")
    total, last = 2983, 0
    for epoch in range(1, 7):
        for batch in range(200, total, 200):
            loss = log.loss((epoch - 1 + batch / total) / 6, 7.6, 4.4, .01)
            log.step("| epoch {:3d} | {:5d}/{:5d} batches | lr {:02.2f} | ms/batch {:5.2f} | loss {:5.2f} | ppl {:8.2f}".format(
                epoch, batch, total, 20, log.near(11.3), loss, math.exp(loss)))
            last = (epoch - 1) * total + batch
        log.line("-" * 89)
        log.line("| end of epoch {:3d} | time: {:5.2f}s | valid loss {:5.2f} | valid ppl {:8.2f}".format(epoch, log.near(36.), 5.1, 164.02))
        log.line("-" * 89)
    log.line("=" * 89)
    log.line("| End of training | test loss {:5.2f} | test ppl {:8.2f}".format(4.93, 138.38))
    log.line("=" * 89)
    return truth(last, epoch_steps=2983, last_epoch=6)


@positive("pt_super_resolution", EXAMPLES + "super_resolution/main.py")
def pt_super_resolution(log):
    log.line("Namespace(upscale_factor=3, batchSize=4, testBatchSize=100, nEpochs=3, lr=0.001, accel=False, threads=4, seed=123)")
    log.line("===> Loading datasets")
    log.line("===> Building model")
    last = 0
    for epoch in range(1, 4):
        for i in range(1, 51):
            log.step("===> Epoch[{}]({}/{}): Loss: {:.4f}".format(epoch, i, 50, log.loss((epoch - 1 + i / 50) / 3, .4, .01)))
            last = (epoch - 1) * 50 + i
        log.line("===> Epoch {} Complete: Avg. Loss: {:.4f}".format(epoch, log.loss(epoch / 3, .3, .01)))
        log.line("===> Avg. PSNR: {:.4f} dB".format(18 + epoch))
        log.line("Checkpoint saved to model_epoch_{}.pth".format(epoch))
    return truth(last, epoch_steps=50, last_epoch=3)


@positive("pt_snli", EXAMPLES + "snli/train.py")
def pt_snli(log):
    log.line("  Time Epoch Iteration Progress    (%Epoch)   Loss   Dev/Loss     Accuracy  Dev/Accuracy")
    dev = "{:>6.0f} {:>5.0f} {:>9.0f} {:>5.0f}/{:<5.0f} {:>7.0f}% {:>8.6f} {:8.6f} {:12.4f} {:12.4f}"
    plain = "{:>6.0f} {:>5.0f} {:>9.0f} {:>5.0f}/{:<5.0f} {:>7.0f}% {:>8.6f} {} {:12.4f} {}"
    total, last = 4292, 0
    for it in range(50, 8601, 50):
        epoch, index = divmod(it - 1, total)
        head = (it * .06, epoch, it, index + 1, total, 100 * (index + 1) / total, log.loss(it / 8600, 1.1, .5))
        if it % 1000 == 0:
            log.step(dev.format(*head, log.near(.8), 60 + it / 400, 58 + it / 400))
        else:
            log.step(plain.format(*head, " " * 8, 60 + it / 400, " " * 12))
        last = it
    return truth(last, epoch_steps=total, last_epoch=2, notes="columns without labels: time, epoch from 0, iteration (global), i/N")


@positive("pt_reinforce", EXAMPLES + "reinforcement_learning/reinforce.py")
def pt_reinforce(log):
    running, last = 10.0, 0
    for episode in range(10, 561, 10):
        reward = min(500, log.near(12 + episode * .8, .5))
        running = running * .8 + reward * .2
        log.step(f"Episode {episode}\tLast reward: {reward:.2f}\tAverage reward: {running:.2f}")
        last = episode
    log.line("Solved! Running reward is now 475.882301 and the last episode runs to 500 time steps!")
    return truth(last, "episodes")


def graph_epochs(log, count):
    log.line("Using cpu device")
    log.line("Downloading dataset...")
    log.line("Loading dataset...")
    last = 0
    for epoch in range(20, count + 1, 20) if count > 300 else range(1, count + 1):
        part = epoch / count
        log.step(f"Epoch: {epoch:04d} ({log.near(.0131):.4f}s) loss_train: {log.loss(part, 1.95, .4):.4f} acc_train: {.2 + .7 * part:.4f} loss_val: {log.loss(part, 1.9, .7):.4f} acc_val: {.2 + .6 * part:.4f}")
        last = epoch
    log.line(f"Test set results: loss {.9312:.4f} accuracy {.8021:.4f}")
    return truth(last, "epochs", last_epoch=last, notes="one line per epoch, no steps")


@positive("pt_gcn", EXAMPLES + "gcn/main.py")
def pt_gcn(log):
    return graph_epochs(log, 200)


@positive("pt_gat", EXAMPLES + "gat/main.py")
def pt_gat(log):
    return graph_epochs(log, 1000)


@positive("pt_time_sequence", EXAMPLES + "time_sequence_prediction/train.py")
def pt_time_sequence(log):
    last = 0
    for step in range(15):
        log.step(f"STEP:  {step}")
        for k in range(24):
            log.line(f"loss: {log.loss((step + k / 24) / 15, .5, 1e-5)}")
        log.line(f"test loss: {log.loss(step / 15, .3, 3e-5)}")
        last = step
    return truth(last, notes="the counter stands alone on its line; about 25 loss lines without a counter between")


@positive("pt_fast_neural_style", EXAMPLES + "fast_neural_style/neural_style/neural_style.py")
def pt_fast_neural_style(log):
    log.line("Using device: cuda")
    last, total, batch = 0, 82783, 4
    for epoch in range(1, 3):
        for i in range(500, total // batch + 1, 500):
            log.tick(61)
            count = i * batch
            log.step("{}\tEpoch {}:\t[{}/{}]\tcontent: {:.6f}\tstyle: {:.6f}\ttotal: {:.6f}".format(
                log.now.strftime("%a %b %e %H:%M:%S %Y"), epoch, count, total, log.near(410000.), log.near(180000.), log.near(590000.)))
            last = (epoch - 1) * total + count
    log.line("")
    log.line("Done, trained model saved at models/epoch_2_2025-03-11_12-40-07_100000.0_10000000000.0.model")
    return truth(last, "samples", epoch_steps=total, last_epoch=2)


@positive("pt_mingpt_ddp", EXAMPLES + "distributed/minGPT-ddp/mingpt/trainer.py")
def pt_mingpt_ddp(log):
    for rank in range(4):
        log.line("Data has 55769 characters, 59 unique.")
        log.line("number of parameters: 27.32M")
        log.line("Snapshot not found. Training model from scratch")
    last = 0
    for epoch in range(3):
        for it in range(0, 1000, 100):
            for rank in log.random.sample(range(4), 4):
                log.step(f"[RANK{rank}] Epoch {epoch} | Iter {it} | Train Loss {log.loss((epoch + it / 1000) / 3, 4.3, 1.7):.5f}")
            last = it
        log.line(f"Snapshot saved at epoch {epoch}")
        for it in range(0, 200, 100):
            for rank in log.random.sample(range(4), 4):
                log.line(f"[RANK{rank}] Epoch {epoch} | Iter {it} | Eval Loss {log.near(2.4):.5f}")
    return truth("", last_epoch=2, notes="four ranks on one pipe; Iter restarts each epoch and the epoch's length is never printed, so the composed "
                 "step is only known as epoch 2, iter 900 (>= 2*900+900 = 2700); 'Eval Loss' lines are evaluation. Check the epoch and a rising clock, not last_step")


@positive("pt_tutorial_quickstart", "pytorch/tutorials beginner_source/basics/quickstart_tutorial.py")
def pt_quickstart(log):
    log.line("Using cuda device")
    log.lines("""
NeuralNetwork(
  (flatten): Flatten(start_dim=1, end_dim=-1)
  (linear_relu_stack): Sequential(
    (0): Linear(in_features=784, out_features=512, bias=True)
    (1): ReLU()
  )
)
""")
    last = 0
    for epoch in range(1, 6):
        log.line(f"Epoch {epoch}\n-------------------------------")
        for batch in range(0, 938, 100):
            current = (batch + 1) * 64
            log.step(f"loss: {log.loss((epoch - 1 + batch / 938) / 5):>7f}  [{current:>5d}/{60000:>5d}]")
            last = (epoch - 1) * 60000 + current
        log.line(f"Test Error: \n Accuracy: {40 + 6 * epoch:>0.1f}%, Avg loss: {1.2 - epoch / 10:>8f} \n")
    log.line("Done!")
    return truth(last, "samples", epoch_steps=60000, last_epoch=5, notes="the epoch stands on a line of its own")


@positive("pt_tutorial_cifar10", "pytorch/tutorials beginner_source/blitz/cifar10_tutorial.py")
def pt_cifar(log):
    log.line("Files already downloaded and verified")
    log.line("Files already downloaded and verified")
    for epoch in range(8):
        for i in range(1999, 12500, 2000):
            log.step(f"[{epoch + 1}, {i + 1:5d}] loss: {log.loss((epoch + i / 12500) / 8, 2.25, .9):.3f}")
    log.line("Finished Training")
    return truth("", last_epoch=8, notes="[epoch from 1, i]; the epoch's length (12500) is never printed: last is epoch 8, i 12000 (>= 7*12000+12000 = 96000). Check the epoch and a rising clock")


@positive("torchvision_metriclogger", "pytorch/vision references/classification/utils.py, train.py")
def torchvision(log):
    log.lines("""
Not using distributed mode
Namespace(data_path='imgs', model='resnet18', device='cuda', batch_size=32, epochs=3, workers=16, opt='sgd', lr=0.1, print_freq=10)
Loading data
Loading training data
Took 2.8123
Loading validation data
Creating data loaders
Creating model
Start training
""")
    total, last = 625, 0
    for epoch in range(3):
        for i in range(0, total, 10):
            part = (epoch + i / total) / 3
            loss = log.loss(part, 6.9, 2.5)
            eta = str(timedelta(seconds=int((total - i) * .2)))
            log.step(f"Epoch: [{epoch}]  [{i:3d}/{total}]  eta: {eta}  lr: 0.1  img/s: {log.near(160.):.4f} ({158.21:.4f})  loss: {loss:.4f} ({loss:.4f})  "
                     f"acc1: {50 * part:.4f} ({45 * part:.4f})  acc5: {70 * part:.4f} ({66 * part:.4f})  time: {log.near(.2):.4f}  data: {log.near(.003):.4f}  max mem: 2874")
            last = epoch * total + i
        log.line(f"Epoch: [{epoch}] Total time: 0:02:05")
        for i in range(0, 157, 100):
            log.line(f"Test:   [{i:3d}/157]  eta: 0:00:{31 - i // 5:02d}  loss: 3.2114 (3.2114)  acc1: 31.2500 (31.2500)  acc5: 56.2500 (56.2500)  time: 0.1972  data: 0.1211  max mem: 2874")
        log.line("Test:  Total time: 0:00:19")
        log.line(f"Test:  Acc@1 {31 + epoch:.3f} Acc@5 {56 + epoch:.3f}")
    log.line("Training time 0:07:41")
    return truth(last, epoch_steps=total, last_epoch=2)


@positive("detectron2", "facebookresearch/detectron2 detectron2/utils/events.py, utils/logger.py")
def detectron2(log):
    def out(name, text, step=False):
        log.line(f"\x1b[32m[{log.at('%m/%d %H:%M:%S')} {name}]: \x1b[0m{text}", step)
    out("detectron2", "Rank of current process: 0. World size: 1")
    out("detectron2", "Command line arguments: Namespace(config_file='r50.yaml', resume=False, eval_only=False, num_gpus=1, opts=[])")
    out("d2.data.build", "Removed 0 images with no usable annotations. 61 images left.")
    out("d2.data.build", "Using training sampler TrainingSampler")
    out("d2.engine.train_loop", "Starting training from iteration 0")
    last = 0
    for it in range(19, 1500, 20):
        log.tick(9)
        part = it / 1500
        eta = str(timedelta(seconds=int((1500 - it) * .45)))
        out("d2.utils.events", f" eta: {eta}  iter: {it}  total_loss: {log.loss(part):.4g}  loss_cls: {log.loss(part, 1, .1):.4g}  loss_box_reg: {log.loss(part, .8, .1):.4g}  "
            f"loss_rpn_cls: {log.loss(part, .1, .01):.4g}    time: {log.near(.45):.4f}  last_time: {log.near(.45):.4f}  data_time: {.0121:.4f}  last_data_time: {.0099:.4f}   lr: {1e-3 * part:.5g}  max_mem: 3714M", True)
        last = it
        if it % 500 == 499:
            out("d2.evaluation.evaluator", "Start inference on 61 batches")
            for done in (11, 36, 60):
                out("d2.evaluation.evaluator", f"Inference done {done}/61. Dataloading: 0.0011 s/iter. Inference: 0.0712 s/iter. Eval: 0.0002 s/iter. Total: 0.0726 s/iter. ETA=0:00:0{(61 - done) // 14}")
            out("fvcore.common.checkpoint", f"Saving checkpoint to ./output/model_{it:07d}.pth")
    out("d2.engine.hooks", "Overall training speed: 1498 iterations in 0:11:14 (0.4501 s / it)")
    out("d2.engine.hooks", "Total training time: 0:11:31 (0:00:17 on hooks)")
    return truth(last, notes="ANSI colours; 'Inference done i/61' is evaluation; the plan is only known through the eta")


@positive("mmengine_epoch", "open-mmlab/mmengine mmengine/runner/log_processor.py, logging/logger.py")
def mmengine_epoch(log):
    def out(text, step=False):
        log.line(f"{log.at('%m/%d %H:%M:%S')} - mmengine - \x1b[4m\x1b[97mINFO\x1b[0m - {text}", step)
    out("\n------------------------------------------------------------\nSystem environment:\n    sys.platform: linux\n    Python: 3.10.13\n    CUDA available: True\n    seed: 1873\n------------------------------------------------------------")
    out("Config:\nmodel = dict(type='ImageClassifier', backbone=dict(depth=50, num_stages=4))\ntrain_cfg = dict(by_epoch=True, max_epochs=12, val_interval=1)\n")
    out("Checkpoints will be saved to /tmp/work_dirs/r50.")
    last, total = 0, 391
    for epoch in range(1, 4):
        for i in [*range(50, total, 50)]:
            log.tick(6)
            part = (epoch - 1 + i / total) / 12
            eta = str(timedelta(seconds=int((12 - epoch) * total * .13)))
            out(f"Epoch(train) {f'[{epoch}]':>4}[{i:3d}/{total}]  lr: {1e-1 * (1 - part):.4e}  eta: {eta}  time: {log.near(.13):.4f}  data_time: {.0071:.4f}  memory: 1412  loss: {log.loss(part):.4f}", True)
            last = (epoch - 1) * total + i
        out(f"Exp name: r50_20250311_091402")
        out(f"Saving checkpoint at {epoch} epochs")
        out(f"Epoch(val) [{epoch}][ 50/79]    eta: 0:00:02  time: 0.0512  data_time: 0.0103  memory: 1412  ")
        out(f"Epoch(val) [{epoch}][79/79]    accuracy/top1: {40 + epoch:.4f}  data_time: 0.0091  time: 0.0461")
    return truth(last, epoch_steps=total, last_epoch=3)


@positive("mmengine_iter", "open-mmlab/mmengine mmengine/runner/log_processor.py (by_epoch=False)")
def mmengine_iter(log):
    last = 0
    for it in range(50, 8001, 50):
        log.tick(12)
        part = it / 20000
        log.step(f"{log.at('%Y/%m/%d %H:%M:%S')} - mmengine - INFO - Iter(train) [{it:5d}/20000]  base_lr: {1e-2 * (1 - part):.4e} lr: {1e-2 * (1 - part):.4e}  eta: {timedelta(seconds=int((20000 - it) * .24))}  "
                 f"time: {log.near(.24):.4f}  data_time: {.0052:.4f}  memory: 8243  loss: {log.loss(part):.4f}  decode.loss_ce: {log.loss(part, 1.5, .2):.4f}  decode.acc_seg: {log.near(70.):.4f}")
        last = it
        if it % 2000 == 0:
            log.line(f"{log.at('%Y/%m/%d %H:%M:%S')} - mmengine - INFO - Saving checkpoint at {it} iterations")
            for i in range(50, 500, 50):
                log.line(f"{log.at('%Y/%m/%d %H:%M:%S')} - mmengine - INFO - Iter(val) [{i:3d}/500]    eta: 0:00:{(500 - i) // 20:02d}  time: 0.0485  data_time: 0.0021  memory: 1104  ")
            log.line(f"{log.at('%Y/%m/%d %H:%M:%S')} - mmengine - INFO - Iter(val) [500/500]    aAcc: 91.2200  mIoU: 61.4400  mAcc: 70.1900  data_time: 0.0021  time: 0.0479")
    return truth(last, total=20000, notes="the file's form, without colours; Iter(val) [i/500] is evaluation")


@positive("mmdetection", "open-mmlab/mmengine mmengine/runner/log_processor.py with mmdetection's losses and bbox evaluation")
def mmdetection(log):
    def out(text, step=False):
        log.line(f"{log.at('%m/%d %H:%M:%S')} - mmengine - \x1b[4m\x1b[97mINFO\x1b[0m - {text}", step)
    for text in ("loading annotations into memory...", "Done (t=14.88s)", "creating index...", "index created!"):
        log.line(text)
    out("load model from: torchvision://resnet50")
    last, total = 0, 7330
    for epoch in range(1, 3):
        for i in range(50, total, 50):
            log.tick(11)
            part = (epoch - 1 + i / total) / 12
            out(f"Epoch(train) {f'[{epoch}]':>5}[{i:4d}/{total}]  base_lr: 2.0000e-02 lr: {2e-2 * min(1, i / 500):.4e}  eta: {timedelta(seconds=int((12 * total - i) * .22))}  time: {log.near(.22):.4f}  data_time: {.0061:.4f}  memory: 3776  "
                f"loss: {log.loss(part):.4f}  loss_rpn_cls: {log.loss(part, .3, .05):.4f}  loss_rpn_bbox: {log.loss(part, .1, .05):.4f}  loss_cls: {log.loss(part, .9, .2):.4f}  acc: {log.near(91., .02):.4f}  loss_bbox: {log.loss(part, .5, .2):.4f}", True)
            last = (epoch - 1) * total + i
        out(f"Saving checkpoint at {epoch} epochs")
        for i in range(50, 625, 50):
            out(f"Epoch(val) [{epoch}][{i:3d}/625]    eta: 0:00:{(625 - i) // 13:02d}  time: 0.0741  data_time: 0.0022  memory: 742  ")
        out("Evaluating bbox...")
        for text in ("Loading and preparing results...", "DONE (t=0.41s)", "creating index...", "index created!", "Running per image evaluation...", "Evaluate annotation type *bbox*", "DONE (t=21.13s).", "Accumulating evaluation results...", "DONE (t=5.22s)."):
            log.line(text)
        out("bbox_mAP_copypaste: 0.181 0.331 0.178 0.104 0.198 0.236")
        out(f"Epoch(val) [{epoch}][625/625]    coco/bbox_mAP: 0.1810  coco/bbox_mAP_50: 0.3310  data_time: 0.0022  time: 0.0738")
    return truth(last, epoch_steps=total, last_epoch=2, notes="Epoch(val) lines are evaluation")


@positive("mmcv1", "open-mmlab/mmcv (1.x) mmcv/runner/hooks/logger/text.py")
def mmcv1(log):
    last, total = 0, 3725
    for epoch in range(1, 5):
        for i in range(50, total, 50):
            log.tick(13)
            part = (epoch - 1 + i / total) / 4
            log.step(f"{log.ms()} - mmdet - INFO - Epoch [{epoch}][{i}/{total}]\tlr: {1e-2:.3e}, eta: {timedelta(seconds=int((12 * total - i) * .25))}, time: {log.near(.25):.3f}, data_time: {.009:.3f}, memory: 3821, "
                     f"loss_cls: {log.loss(part):.4f}, loss_bbox: {log.loss(part, .9, .3):.4f}, loss: {log.loss(part, 3, .7):.4f}")
            last = (epoch - 1) * total + i
        log.line(f"{log.ms()} - mmdet - INFO - Saving checkpoint at {epoch} epochs")
    return truth(last, epoch_steps=total, last_epoch=4)


@positive("timm", "huggingface/pytorch-image-models train.py")
def timm(log):
    log.lines("""
Training with a single process on 1 device (cuda:0).
Model resnet26d created, param count:16007648
Data processing configuration for current model + dataset:
	input_size: (3, 224, 224)
	interpolation: bicubic
	crop_pct: 0.875
AMP not enabled. Training in torch.float32.
Learning rate (0.05) calculated from base learning rate (0.1) and effective global batch size (128) with linear scaling.
Scheduled epochs: 12 (epochs + cooldown_epochs). Warmup within epochs when warmup_prefix=False. LR stepped per epoch.
""")
    total, last = 1251, 0
    for epoch in range(4):
        for i in [*range(0, total, 50), total - 1]:
            part = (epoch + i / total) / 12
            loss = log.loss(part, 6.9, 2)
            log.step(f"Train: {epoch} [{i:>4d}/{total} ({100. * (i + 1) / total:>3.0f}%)]  Loss: {loss:#.3g} ({loss * 1.01:#.3g})  Time: {log.near(.3):.3f}s, {log.near(420.):>7.2f}/s  "
                     f"({.301:.3f}s, {424.9:>7.2f}/s)  LR: {5e-2:.3e}  Data: {.011:.3f} ({.014:.3f})")
            last = epoch * total + i
        for i in [*range(0, 97, 50), 97]:
            log.line(f"Test: [{i:>4d}/97]  Time: {.2:.3f} ({.21:.3f})  Loss: {3.2:>7.3f} ({3.3:>6.3f})  Acc@1: {31.25:>7.3f} ({30.1:>7.3f})  Acc@5: {56.25:>7.3f} ({55.2:>7.3f})")
        log.line(f"Current checkpoints:\n ('./output/train/checkpoint-{epoch}.pth.tar', {30.1 + epoch})\n")
    return truth(last, total=12 * total, epoch_steps=total, last_epoch=3, notes="i from 0; 'Scheduled epochs: 12' tells the plan; Test: lines are evaluation")


@positive("open_clip", "mlfoundations/open_clip src/open_clip_train/train.py, logger.py")
def open_clip(log):
    def out(text, step=False):
        log.line(f"{log.at('%Y-%m-%d,%H:%M:%S')} | INFO | root | {text}", step)
    out("Running with a single process. Device cuda:0.")
    out("Params:")
    for key, value in (("accum_freq", 1), ("batch_size", 256), ("epochs", 3), ("lr", 0.0005), ("warmup", 2000), ("workers", 8), ("world_size", 1)):
        out(f"  {key}: {value}")
    size, last = 2905954, 0
    for epoch in range(2):
        out(f"Start epoch {epoch}")
        for i in range(0, size // 256, 100):
            log.tick(32)
            seen = (i + 1) * 256
            part = (epoch + seen / size) / 3
            loss = log.loss(part, 5.5, 1.2)
            out(f"Train Epoch: {epoch} [{seen:>7}/{size} ({100 * seen / size:.0f}%)] Data (t): {.031:.3f} Batch (t): {.322:.3f}, {log.near(795.):#g}/s, {log.near(795.):#g}/s/gpu LR: {5e-4 * part:5f} Logit Scale: {14.3 + 40 * part:.3f} Contrastive_loss: {loss:#.5g} ({loss * 1.1:#.5g})", True)
            last = epoch * size + seen
        for i in range(0, 24):
            if i % 12 == 0:
                out(f"Eval Epoch: {epoch + 1} [{(i + 1) * 256} / 6144]\tClip Loss: {2.41:.6f}\t")
        out(f"Eval Epoch: {epoch + 1} image_to_text_mean_rank: 31.2\timage_to_text_R@1: 0.2114\tclip_val_loss: 2.3911\tepoch: {epoch + 1}.0000\tnum_samples: 6144.0000")
    return truth(last, "samples", epoch_steps=size, last_epoch=1, notes="epochs from 0, samples; 'Eval Epoch: 1 [256 / 6144]' is evaluation")


@positive("litgpt_pretrain", "Lightning-AI/litgpt litgpt/pretrain.py")
def litgpt(log):
    log.lines("""
{'data': {'batch_size': 1, 'max_seq_length': 512, 'num_workers': 4},
 'devices': 1,
 'eval': EvalArgs(interval=20, max_new_tokens=None, max_iters=10),
 'train': TrainArgs(save_interval=100, log_interval=1, global_batch_size=16, micro_batch_size=4, lr_warmup_steps=20, epochs=None, max_tokens=2000000)}
Seed set to 42
Time to instantiate model: 0.03 seconds.
Total parameters: 14,067,712
Verifying settings ...
Measured TFLOPs: 0.12
""")
    last, val = 0, "n/a"
    for it in range(4, 801, 4):
        step = it // 4
        log.step(f"Epoch 1 | iter {it} step {step} | loss train: {log.loss(it / 976, 10.8, 5):.3f}, val: {val} | iter time: {log.near(312.):.2f} ms (step) remaining time: {timedelta(seconds=int((976 - it) * .31))}")
        last = it
        if step % 20 == 0:
            log.line("Validating ...")
            log.line(f"iter {it}: val loss {log.loss(it / 976, 10.8, 5):.4f}, val time: {log.near(2100.):.2f} ms")
            val = f"{log.loss(it / 976, 10.8, 5):.3f}"
        if step % 100 == 0:
            log.line(f"Saving checkpoint to 'out/pretrain/step-{step:08d}/lit_model.pth'")
    return truth(last, last_epoch=1, notes="two counters: iter 800 (micro-batches) and step 200 (optimizer); either is accepted, iter is the livelier")


@positive("modded_nanogpt", "KellerJordan/modded-nanogpt train_gpt.py")
def modded(log):
    log.line("Compiling model and warming up kernels (~7 minutes on first execution)")
    log.line("Sampling steps [0, 500, 1000] for warmup")
    log.line("Resetting Model")
    total, at = 1695, 0.0
    last = 0
    for step in range(0, 401):
        if step % 125 == 0:
            log.line(f"step:{step}/{total} val_loss:{log.loss(step / total, 10.8, 3.28):.4f} train_time:{at:.0f}ms step_avg:{at / max(step, 1):.2f}ms", step == 0)
        at += log.near(64.)
        log.step(f"step:{step + 1}/{total} train_time:{at:.0f}ms step_avg:{at / (step + 1):.2f}ms")
        last = step + 1
    return truth(last, total=total)


@positive("nanochat", "karpathy/nanochat scripts/base_train.py")
def nanochat(log):
    log.lines("""
GPU: NVIDIA H100 80GB HBM3 | Peak FLOPS (BF16): 9.89e+14
COMPUTE_DTYPE: torch.bfloat16 (auto)
✓ Using Flash Attention 3: efficient, new and awesome.
Vocab size: 32,768
Model config:
{
  "sequence_len": 2048,
  "vocab_size": 32768,
  "n_layer": 12,
  "n_embd": 768
}
Parameter counts:
wte                     : 25,165,824
total                   : 286,261,730
Estimated FLOPs per token: 7.590000e+08
Calculated number of iterations from target data:param ratio: 2,205
Total number of training tokens: 1,156,055,040
Tokens : Scaling params ratio: 10.50
Tokens / micro-batch / rank: 32 x 2048 = 65,536
Total batch size 524,288 => gradient accumulation steps: 8
""")
    total, last, minutes = 2205, 0, 0.0
    for step in range(0, 320):
        if step % 100 == 0:
            log.line(f"Step {step:05d} | Validation bpb: {log.loss(step / total, 3.2, .8):.6f}", step == 0)
        minutes += .012
        eta = "" if step <= 10 else f" | eta: {(total - step) * .012:.1f}m"
        log.step(f"step {step:05d}/{total:05d} ({100 * step / total:.2f}%) | loss: {log.loss(step / total, 10.4, 3):.6f} | lrm: {min(1, step / 40):.2f} | dt: {log.near(720.):.2f}ms | tok/sec: {int(log.near(728000)):,} | bf16_mfu: {log.near(55.):.2f} | epoch: 1 pq: 0 rg: {step // 3} | total time: {minutes:.2f}m{eta}")
        last = step
    return truth(last, total=total, last_epoch=1, notes="'Step 00100 | Validation bpb' lines in between")


@positive("llmc_python", "karpathy/llm.c train_gpt2.py")
def llmc_python(log):
    log.lines("""
Running pytorch 2.5.1
using device: cpu
total desired batch size: 256
=> calculated gradient accumulation steps: 1
loading weights from pretrained gpt: gpt2
DataLoader: total number of tokens: 32,768 across 1 files
num decayed parameter tensors: 50, with 124,318,464 parameters
num non-decayed parameter tensors: 98, with 121,344 parameters
using fused AdamW: False
using regular AdamW
""")
    for step in range(60):
        if step % 20 == 0:
            log.line(f"val loss {log.loss(step / 60, 4.6, 3.4)}")
        ms = log.near(812.)
        log.step(f"step {step + 1:4d}/60 | train loss {log.loss(step / 60, 4.6, 3):.6f} | norm {log.near(14.):.4f} | lr {1e-4:.2e} | ({ms:.2f} ms | {256000 / ms:.0f} tok/s)")
    log.line("final 20 iters avg: 811.320ms")
    log.line("peak memory consumption: 0 MiB")
    return truth(60, total=60)


@positive("llmc_c", "karpathy/llm.c train_gpt2.c")
def llmc_c(log):
    log.lines("""
[GPT-2]
max_seq_len: 1024
vocab_size: 50257
padded_vocab_size: 50304
num_layers: 12
num_heads: 12
channels: 768
num_parameters: 124475904
train dataset num_batches: 1192
val dataset num_batches: 128
num_activations: 73347840
""")
    for step in range(41):
        if step % 10 == 0:
            log.line("val loss %f" % log.loss(step / 40, 5.3, 3.9))
        if step and step % 20 == 0:
            log.line("generating:\n---\nThe men of the house were 3 or 4 and the gate was shut\n---")
        log.step("step %d: train loss %f (took %f ms)" % (step, log.loss(step / 40, 5.3, 3.6), log.near(1290.)))
    return truth(40)


@positive("llmc_cuda", "karpathy/llm.c train_gpt2.cu")
def llmc_cuda(log):
    rule = "+-----------------------+----------------------------------------------------+"
    log.line(rule)
    log.line("| Parameter             | Value                                              |")
    log.line(rule)
    for key, value in (("train data pattern", "dev/data/words_train_*.bin"), ("output log dir", "log124M"), ("checkpoint_every", 5000), ("micro batch size B", 64), ("sequence length T", 1024), ("total batch size", 524288), ("warmup iterations", 700), ("max_steps", -1), ("val_loss_every", 250)):
        log.line("| %-21s | %-50s |" % (key, value))
    log.line(rule)
    log.line("| train_num_batches     | %-50d |" % 18865)
    log.line(rule)
    log.line("num_parameters: 124475904 => bytes: 248951808")
    log.line("allocated 237 MiB for model parameters")
    log.line("=> setting grad_accum_steps=8")
    log.line("val loss 11.009762")
    for step in range(1, 301):
        part = step / 18865
        log.step("step %4d/%d | loss %7.6f (%+.2fz)| norm %6.4f (%+.2fz)| lr %.2e | %.2f ms | %.1f%% bf16 MFU | %.0f tok/s" % (
            step, 18865, log.loss(part * 20, 11, 5.8), log.near(.4, 3), log.near(1.5), log.near(.1, 9), 6e-4 * step / 700, log.near(2210., .01), 48.1, 237100))
        if step % 250 == 0:
            log.line("val loss %f" % 6.021)
            for i in range(0, 79, 10):
                log.raw("evaluating HellaSwag: %d/%d\r" % (i, 79))
            log.line("HellaSwag: 2601/10042 = 0.259012")
            log.line("Writing checkpoint at step 250")
    return truth(300, total=18865, notes="'evaluating HellaSwag: i/79' is evaluation, ended by \\r")


@positive("torchtitan", "pytorch/torchtitan torchtitan/components/metrics.py, tools/logging.py")
def torchtitan(log):
    def out(text, step=False):
        log.line(f"[titan] {log.ms()} - root - INFO - {text}", step)
    out("Starting job: debug training")
    out("CUDA capacity: NVIDIA H100 with 79.10GiB memory")
    out("Building llama3 debugmodel")
    out("Peak FLOPS used for computing MFU: 9.890e+14")
    out("Trainer is initialized with 8192 tokens per DP rank, 65536 tokens per train step, gradient accumulation steps 1, maximum context length 2048, total steps 1000 (warmup 200)")
    out("Training starts at step 1")
    c = ["\x1b[31m", "\x1b[32m", "\x1b[38;2;180;60;0m", "\x1b[38;2;54;234;195m", "\x1b[34m", "\x1b[36m", "\x1b[35m", "\x1b[39m"]
    last = 0
    for step in [1, *range(10, 1001, 10)]:
        log.tick(4)
        out(f"{c[0]}step: {step:2}  {c[1]}loss: {log.loss(step / 1000, 8.1, 2.6):8.5f}  {c[2]}grad_norm: {log.near(1.4):7.4f}  {c[3]}memory: {1.35:5.2f}GiB({1.71:.2f}%)  {c[4]}tps: {round(log.near(112000)):,}  {c[5]}tflops: {log.near(8.):,.2f}  {c[6]}mfu: {log.near(.8):.2f}%{c[7]}", True)
        last = step
        if step % 500 == 0:
            out("Saving the checkpoint (or staging if async is enabled).")
            out(f"\x1b[33mvalidate step: {step:2}  {c[1]}loss: {3.1:7.4f}  {c[3]}memory: {1.31:5.2f}GiB({1.66:.2f}%)  {c[4]}tps: {90212:,}{c[7]}")
            out("Finished saving the checkpoint (or staging if async is enabled) in 1.22 seconds.")
    out("Sleeping 2 seconds for other ranks to complete")
    out("Training completed")
    out("Process group destroyed")
    return truth(last, total=1000, notes="colours between the words; the plan stands in 'total steps 1000' at the start")


@positive("megatron", "NVIDIA/Megatron-LM megatron/training/training.py")
def megatron(log):
    log.lines("""
using world size: 8, data-parallel size: 8, context-parallel size: 1, tensor-model-parallel size: 1, pipeline-model-parallel size: 1
------------------------ arguments ------------------------
  adam_beta1 ...................................... 0.9
  global_batch_size ............................... 256
  lr_warmup_iters ................................. 500
  num_layers ...................................... 24
  train_iters ..................................... 5000
-------------------- end of arguments ---------------------
setting number of microbatches to constant 4
> building GPT2BPETokenizer tokenizer ...
 > padded vocab (size: 50257) with 47 dummy tokens (new size: 50304)
 > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 354871296
 > datasets target sizes (minimum size):
    train:      1280000
    validation: 133120
    test:       2560
> building train, validation, and test datasets ...
[after dataloaders are built] datetime: 2025-03-11 09:20:11 
done with setup ...
training ...
[before the start of training step] datetime: 2025-03-11 09:20:13 
""")
    last = 0
    for it in range(10, 1501, 10):
        log.tick(6)
        log.step(f" [{log.now.strftime('%Y-%m-%d %H:%M:%S.%f')}] iteration {it:8d}/{5000:8d} | consumed samples: {it * 256:12d} | elapsed time per iteration (ms): {log.near(611.):.1f} | throughput per GPU (TFLOP/s/GPU): {log.near(120.):.1f} | "
                 f"learning rate: {3e-4 * min(1, it / 500):.6E} | global batch size: {256:5d} | lm loss: {log.loss(it / 5000, 10.7, 2.8):.6E} | loss scale: {1.0:.1f} | grad norm: {log.near(1.1):.3f} | number of skipped iterations: {0:3d} | number of nan iterations: {0:3d} |")
        last = it
        if it % 500 == 0:
            log.line("Evaluating on 2560 samples")
            for k in range(1, 11):
                log.line(f"Evaluating iter {k}/10")
            text = f" validation loss at iteration {it} | lm loss value: {log.loss(it / 5000, 10.7, 2.8):.6E} | lm loss PPL: {41.2:.6E} | "
            log.line("-" * (len(text) + 1))
            log.line(text)
            log.line("-" * (len(text) + 1))
            log.line(f"saving checkpoint at iteration {it:7d} to /ckpt/gpt in torch_dist format")
            log.line(f"  successfully saved checkpoint from iteration {it:7d} to /ckpt/gpt [ t 1/1, p 1/1 ]")
    return truth(last, total=5000, notes="consumed samples beside it; 'Evaluating iter k/10' is evaluation")


@positive("gpt_neox", "EleutherAI/gpt-neox megatron/logging.py")
def gpt_neox(log):
    log.line("NeoXArgs.from_ymls() ['configs/125M.yml']")
    log.line("INFO:root:NeoXArgs.calculate_derived() Total number of GPUs determined to be: 2")
    log.line("> building train, validation, and test datasets ...")
    log.line("training ...")
    last = 0
    for it in range(10, 901, 10):
        log.step(f" samples/sec: {log.near(41.):.3f} | iteration {it:8d}/{320000:8d} | elapsed time per iteration (ms): {log.near(780.):.1f} | learning rate: {6e-4 * it / 3200:.3E} | approx flops per GPU: {log.near(31.):.1f}TFLOPS | lm_loss: {log.loss(it / 2000, 10.9, 4):.6E} | loss scale: {65536.0:.1f} | number of skipped iterations: {0:3d} | number of nan iterations: {0:3d} |")
        if it % 100 == 0:
            log.line("time (ms) | forward: 2113.42 | backward: 4801.23 | optimizer: 331.02 | batch generator: 12.61")
        last = it
    return truth(last, total=320000)


@positive("deepspeed", "deepspeedai/DeepSpeed deepspeed/runtime/engine.py, utils/timer.py, utils/logging.py")
def deepspeed(log):
    def out(where, text, step=False):
        log.line(f"[{log.ms()}] [INFO] [{where}] {text}", step)
    out("real_accelerator.py:239:get_accelerator", "Setting ds_accelerator to cuda (auto detect)")
    out("runner.py:607:main", "cmd = /usr/bin/python3 -u -m deepspeed.launcher.launch --world_info=eyJsIjpbMF19 --master_port=29500 train.py --deepspeed")
    out("config.py:1003:print", "DeepSpeedEngine configuration:")
    for key, value in (("gradient_accumulation_steps", 4), ("gradient_clipping", 1.0), ("steps_per_print", 10), ("train_batch_size", 32), ("zero_optimization_stage", 2)):
        out("config.py:1007:print", f"  {key} {'.' * (29 - len(key))} {value}")
    last = 0
    for step in range(10, 701, 10):
        log.tick(5)
        out("logging.py:107:log_dist", f"[Rank 0] step={step}, skipped=0, lr=[{2e-5 * (1 - step / 900)}], mom=[(0.9, 0.999)]", True)
        out("timer.py:264:stop", f"epoch=0/micro_step={step * 4}/global_step={step}, RunningAvgSamplesPerSec={log.near(61.2)}, CurrSamplesPerSec={log.near(61.0)}, MemAllocated=4.31GB, MaxMemAllocated=9.87GB")
        last = step
        if step % 300 == 0:
            out("logging.py:107:log_dist", f"[Rank 0] [Torch] Checkpoint global_step{step} is about to be saved!")
            out("torch_checkpoint_engine.py:21:save", f"[Torch] Saving out/global_step{step}/mp_rank_00_model_states.pt...")
    return truth(last, last_epoch=0, notes="micro_step is 4 times the step")


@positive("deepspeed_pipe", "deepspeedai/DeepSpeed deepspeed/runtime/pipe/engine.py")
def deepspeed_pipe(log):
    last = 0
    log.line("SEED_LAYERS=False BASE_SEED=1234 SEED_FN=None")
    log.line("Using topology: {ProcessCoord(pipe=0, data=0): 0, ProcessCoord(pipe=1, data=0): 1}")
    log.line("stage=0 layers=11")
    for layer in range(11):
        log.line(f"     {layer}: Conv2d")
    for step in range(10, 601, 10):
        log.step(f"steps: {step} loss: {log.loss(step / 600):0.4f} iter time (s): {log.near(.612):0.3f} samples/sec: {log.near(418.):0.3f}")
        last = step
    return truth(last)


@positive("fairseq_simple", "facebookresearch/fairseq fairseq/logging/progress_bar.py (simple), fairseq_cli/train.py")
def fairseq_simple(log):
    def out(name, text, step=False):
        log.line(f"{log.at()} | INFO | {name} | {text}", step)
    out("fairseq_cli.train", "{'_name': None, 'common': {'seed': 1, 'log_interval': 100, 'log_format': 'simple'}, 'optimization': {'max_epoch': 0, 'max_update': 20000, 'lr': [0.0005]}}")
    out("fairseq_cli.train", "num. shared model params: 39,469,056 (num. trained: 39,469,056)")
    out("fairseq_cli.train", "training on 1 devices (GPUs/TPUs)")
    out("fairseq_cli.train", "max tokens per device = 4096 and max sentences per device = None")
    total, updates = 1101, 0
    for epoch in range(1, 5):
        out("fairseq.trainer", f"begin training epoch {epoch}")
        out("fairseq_cli.train", "Start iterating over samples")
        for i in range(1, total + 1):
            updates += 1
            if updates % 100 == 0:
                log.tick(20)
                loss = log.loss(updates / 6000, 13, 4)
                out("train_inner", f"epoch {epoch:03d}:  {i:5d} / {total:d} loss={loss:.3f}, nll_loss={loss - 1:.3f}, ppl={2 ** (loss - 1):.2f}, wps={log.near(18000.):.1f}, ups={log.near(5.):.2f}, wpb=3597.1, bsz=145.4, num_updates={updates}, lr={5e-4 * min(1, updates / 4000):.6g}, gnorm={log.near(1.2):.3f}, train_wall=20, gb_free=9.4, wall={updates // 5}", True)
        out("fairseq_cli.train", 'begin validation on "valid" subset')
        out("valid", f"epoch {epoch:03d} | valid on 'valid' subset | loss 7.112 | nll_loss 5.714 | ppl 52.49 | wps 41822.2 | wpb 2838.3 | bsz 115.6 | num_updates {updates}")
        out("fairseq.checkpoint_utils", f"Saved checkpoint checkpoints/checkpoint{epoch}.pt (epoch {epoch} @ {updates} updates, score 7.112) (writing took 1.81 seconds)")
        out("fairseq_cli.train", f"end of epoch {epoch} (average epoch stats below)")
        out("train", f"epoch {epoch:03d} | loss 8.412 | nll_loss 7.3 | ppl 157.6 | wps 17911 | ups 4.98 | wpb 3597.1 | bsz 145.4 | num_updates {updates} | lr 0.0003 | gnorm 1.2 | train_wall 216 | gb_free 9.5 | wall {updates // 5}")
    out("fairseq_cli.train", "done training in 884.1 seconds")
    return truth(updates, epoch_steps=total, last_epoch=4, notes="the epoch summary at the end says num_updates 4404; the last train_inner line says 4400, which is accepted (i/N composed: 3*1101+1097 = 4400)")


@positive("fairseq_json", "facebookresearch/fairseq fairseq/logging/progress_bar.py (json)")
def fairseq_json(log):
    total, updates = 540, 0
    for epoch in range(1, 6):
        log.line(f"{log.at()} | INFO | fairseq.trainer | begin training epoch {epoch}")
        for i in range(1, total + 1):
            updates += 1
            if updates % 25 == 0:
                log.tick(8)
                log.step(f'{log.at()} | INFO | train_inner | {{"epoch": {epoch}, "update": {round(epoch - 1 + i / total, 3)}, "loss": "{log.loss(updates / 2700, 12, 5):.3f}", "ppl": "{log.near(300.):.2f}", "wps": "{log.near(9000.):.1f}", "ups": "{log.near(3.):.2f}", "wpb": "3011.4", "bsz": "96.1", "num_updates": "{updates}", "lr": "{1e-4:.6g}", "gnorm": "{log.near(2.):.3f}", "train_wall": "8", "wall": "{updates // 3}"}}')
        log.line(f'{log.at()} | INFO | valid | {{"epoch": {epoch}, "valid_loss": "7.21", "valid_ppl": "148.06", "valid_wps": "31022.1", "valid_num_updates": "{updates}"}}')
        log.line(f'{log.at()} | INFO | train | {{"epoch": {epoch}, "train_loss": "7.66", "train_ppl": "202.1", "train_num_updates": "{updates}", "train_wall": "{updates // 3}"}}')
    return truth(updates, last_epoch=5, notes="numbers are strings; num_updates is the step, 'update' is the epoch as a fraction")


@positive("composer_console", "mosaicml/composer composer/loggers/console_logger.py")
def composer_console(log):
    log.lines("""
******************************
Config:
composer_version: 0.28.0
num_gpus_per_node: 1
num_nodes: 1
rank_zero_seed: 17
******************************
""")
    last = 0
    for batch in range(1, 121):
        log.step(f"[batch={batch}/1000]:")
        for key, value in (("time/epoch", 0), ("time/batch", batch - 1), ("time/sample", (batch - 1) * 64), ("time/token", (batch - 1) * 64 * 2048), ("loss/train/total", f"{log.loss(batch / 1000, 11, 3):.4f}"), ("throughput/batches_per_sec", f"{log.near(.8):.4f}"), ("lr-DecoupledAdamW/group0", f"{1e-4:.4f}")):
            log.line(f"\t Train {key}: {value}")
        last = batch
        if batch % 50 == 0:
            for k in range(1, 25, 6):
                log.line(f"[Eval batch={k}/25] Eval on eval data")
            log.line("[Eval batch=25/25] Eval on eval data:\n\t Eval metrics/eval/LanguageCrossEntropy: 4.1022\n\t Eval metrics/eval/LanguagePerplexity: 60.4733")
    return truth(last, total=1000, notes="several lines per step; time/batch, time/sample and time/token are further counters; [Eval batch=] is evaluation")


@positive("composer_console_epoch", "mosaicml/composer composer/loggers/console_logger.py (max_duration in epochs)")
def composer_epoch(log):
    last = 0
    for epoch in range(1, 4):
        for batch in range(1, 79):
            log.step(f"[epoch={epoch}][batch={batch}/78]:")
            log.line(f"\t Train trainer/device_train_microbatch_size: 128")
            log.line(f"\t Train loss/train/total: {log.loss((epoch - 1 + batch / 78) / 3):.4f}")
            last = (epoch - 1) * 78 + batch
        log.line("[Eval batch=16/16] Eval on eval data:\n\t Eval metrics/eval/MulticlassAccuracy: 0.4411")
    return truth(last, epoch_steps=78, last_epoch=3)


@positive("espnet2", "espnet/espnet espnet2/train/trainer.py, train/reporter.py, tasks/abs_task.py")
def espnet(log):
    def out(where, text, step=False):
        log.line(f"[node3] {log.ms()} ({where}) INFO: {text}", step)
    out("asr:523", "Vocabulary size: 5000")
    out("abs_task:1312", "pytorch.version=2.1.0, cuda.available=True, cudnn.version=8902, cudnn.benchmark=False")
    out("abs_task:1316", "Model structure:\nESPnetASRModel(\n  (encoder): ConformerEncoder()\n)\n\nModel summary:\n    Class Name: ESPnetASRModel\n    Total Number of model parameters: 31.02 M")
    total, every, last = 1180, 59, 0
    for epoch in range(1, 4):
        out("trainer:311", f"{epoch}/35epoch started" if epoch == 1 else f"{epoch}/35epoch started. Estimated time to finish: 2 hours, 4 minutes and 8.1 seconds")
        for i in range(every, total + 1, every):
            log.tick(21)
            part = (epoch - 1 + i / total) / 35
            out("trainer:799", f"{epoch}epoch:train:{i - every + 1}-{i}batch: iter_time=1.911e-04, forward_time=0.103, loss_ctc={log.loss(part, 90, 30):.3f}, loss_att={log.loss(part, 80, 20):.3f}, acc={.2 + part:.3f}, loss={log.loss(part, 85, 25):.3f}, backward_time=0.120, grad_norm={log.near(50.):.3f}, optim_step_time=0.041, optim0_lr0={1e-4 * part:.3e}, train_time={log.near(1.4):.3f}", True)
            last = (epoch - 1) * total + i
        out("trainer:381", f"{epoch}epoch results: [train] iter_time=2.1e-04, loss=61.201, time=7 minutes and 1.2 seconds, total_count={epoch * total}, gpu_max_cached_mem_GB=11.201, [valid] loss_ctc=40.113, acc=0.512, total_count={epoch * 61}, time=9.11 seconds")
        out("trainer:449", "The best model has been updated: valid.acc")
    return truth(last, epoch_steps=total, last_epoch=3, notes="a range 1-59batch: the end of the range is the step; 'total_count=1180' at the epoch's end tells its length; 35 epochs are planned")


@positive("icefall", "k2-fsa/icefall egs/librispeech/ASR/zipformer/train.py, icefall/utils.py")
def icefall(log):
    def out(line, text, step=False):
        log.line(f"{log.ms()} INFO [train.py:{line}] (0/4) {text}", step)
    out(1222, "Training started")
    out(1230, "{'best_train_loss': inf, 'batch_idx_train': 0, 'log_interval': 50, 'valid_interval': 3000, 'warm_step': 2000, 'num_epochs': 30, 'base_lr': 0.045}")
    out(1245, "Number of model parameters: 65549011")
    for epoch in range(1, 4):
        for batch in range(0, 3500, 50):
            log.tick(24)
            loss = log.loss((epoch - 1 + batch / 3500) / 6, 7, .25)
            out(1202, f"Epoch {epoch}, batch {batch}, loss[loss={loss:.4g}, simple_loss={loss / 2:.4g}, pruned_loss={loss / 1.1:.4g}, over {int(log.near(12000))}.00 frames. ], tot_loss[loss={loss:.4g}, simple_loss={loss / 2:.4g}, pruned_loss={loss / 1.1:.4g}, over {int(log.near(2300000))}.21 frames. ], batch size: {int(log.near(40))}, lr: {4.5e-2:.2e}, grad_scale: 1.0", True)
            if batch % 3000 == 0:
                out(1226, "Computing validation loss")
                out(1234, f"Epoch {epoch}, validation: loss=0.6114, simple_loss=0.3022, pruned_loss=0.5812, over 944034.00 frames. ")
                out(1235, "Maximum memory allocated so far is 18132MB")
    return truth("", last_epoch=3, notes="batch restarts each epoch (3500 batches, never printed); last is epoch 3, batch 3450 (>= 2*3450+3450 = 10350). Check the epoch and a rising clock")


@positive("speechbrain", "speechbrain/speechbrain speechbrain/core.py, utils/train_logger.py")
def speechbrain(log):
    from .lib import tqdm
    log.line("speechbrain.core - Beginning experiment!")
    log.line("speechbrain.core - Experiment folder: results/crdnn/1234")
    log.line("speechbrain.core - Info: ckpt_interval_minutes arg from hparam file is used")
    log.line("speechbrain.core - ASR Model Statistics:\n* Total Number of Trainable Parameters: 10.0M\n* Total Number of Parameters: 10.0M\n* Trainable Parameters represent 100.0000% of the total size.")
    log.line("speechbrain.utils.epoch_loop - Going into epoch 1")
    total, last = 230, 0
    for epoch in range(1, 4):
        if epoch > 1:
            log.line(f"speechbrain.utils.epoch_loop - Going into epoch {epoch}")
        log.bar(tqdm(0, total, 0))
        for i in range(3, total + 1, 3):
            log.bar(tqdm(i, total, i * .18, postfix=f"train_loss={log.loss((epoch - 1 + i / total) / 3, 5, 1):.3g}"))
            last = (epoch - 1) * total + i
        log.bar(tqdm(total, total, total * .18, postfix=f"train_loss={2.1 / epoch:.3g}"))
        last = epoch * total
        log.line("")
        for i in (0, 9, 17, 24):
            log.raw("\r" + tqdm(i, 24, i * .1))
        log.line("")
        log.line(f"speechbrain.utils.train_logger - epoch: {epoch}, lr: 1.00e+00 - train loss: {2.1 / epoch:.2f} - valid loss: {2.3 / epoch:.2f}, valid CER: {31 / epoch:.2f}")
    return truth(last, epoch_steps=total, last_epoch=3, notes="the epoch is on a line before the bar; the validation bar (24) has no label")


@positive("opennmt", "OpenNMT/OpenNMT-py onmt/utils/statistics.py")
def opennmt(log):
    def out(text, step=False):
        log.line(f"[{log.ms()} INFO] {text}", step)
    out("Get special vocabs from Transforms: {'src': [], 'tgt': []}.")
    out("encoder: 12632576\ndecoder: 19987944")
    out("* number of parameters: 32620520")
    out("Starting training on GPU: [0]")
    out("Start training loop and validate every 1000 steps...")
    last = 0
    for step in range(50, 4001, 50):
        log.tick(8)
        ppl = log.loss(step / 10000, 9000, 12)
        out("Step %s; acc: %2.1f; ppl: %5.1f; xent: %2.1f; lr: %7.5f; sents: %7.0f; bsz: %4.0f/%4.0f/%2.0f; %3.0f/%3.0f tok/s; %6.0f sec;" % (
            "%2d/%5d" % (step, 10000), 40 * step / 4000, ppl, math.log(ppl), .001, 6200, 1510, 1704, 62, 12011, 13544, step * .16), True)
        last = step
        if step % 1000 == 0:
            out("valid stats calculation\n                           took: 4.12 s.")
            out("Train perplexity: 101.2")
            out("Validation perplexity: 88.31")
            out(f"Saving checkpoint run/model_step_{step}.pt")
    return truth(last, total=10000)


@positive("flair", "flairNLP/flair flair/trainers/trainer.py, flair/__init__.py")
def flair(log):
    def out(text, step=False):
        log.line(f"{log.ms():<15} {text}", step)
    out("-" * 100)
    out("Training Params:")
    out(' - learning_rate: "5e-05" ')
    out(' - mini_batch_size: "4"')
    out(' - max_epochs: "3"')
    out(' - shuffle: "True"')
    out("-" * 100)
    total, last = 882, 0
    for epoch in range(1, 4):
        for i in range(88, total + 1, 88):
            log.tick(12)
            out(f"epoch {epoch} - iter {i}/{total} - loss {log.loss((epoch - 1 + i / total) / 3, 1.4, .1):.8f} - time (sec): {i * .14:.2f} - samples/sec: {log.near(28.):.2f} - lr: {5e-5 * (1 - epoch / 4):.6f} - momentum: 0.000000", True)
            last = (epoch - 1) * total + i
        out("-" * 100)
        out(f"EPOCH {epoch} done: loss {.4 / epoch:.4f} - lr: 0.000030")
        out(f"DEV : loss 0.2114 - f1-score (micro avg)  {.8 + epoch / 40:.4f}")
        out("saving best model")
        out("-" * 100)
    out("Loading model from best epoch ...")
    return truth(last, epoch_steps=total, last_epoch=3, notes="880 of 882 is the last line of an epoch; max_epochs 3 stands in the settings")


@positive("basicsr", "XPixelGroup/BasicSR basicsr/utils/logger.py, basicsr/train.py")
def basicsr(log):
    def out(text, step=False):
        log.line(f"{log.ms()} INFO: {text}", step)
    out("Training statistics:\n\tNumber of train images: 32592\n\tDataset enlarge ratio: 1\n\tBatch size per gpu: 16\n\tWorld size (gpu number): 1\n\tRequire iter number per epoch: 2037\n\tTotal epochs: 491; iters: 1000000.")
    out("Number of val images/folders in Set5: 5")
    out("Start training from epoch: 0, iter: 0")
    last = 0
    for it in range(100, 12001, 100):
        log.tick(17)
        out(f"[101_M..][epoch:{it // 2037:3d}, iter:{it:8,d}, lr:({2e-4:.3e},)] [eta: {timedelta(seconds=int((1000000 - it) * .17))}, time (data): {.171:.3f} ({.004:.3f})] l_pix: {log.loss(it / 12000, .1, .02):.4e} ", True)
        last = it
        if it % 5000 == 0:
            out("Saving models and training states.")
            out("Validation Set5\n\t # psnr: 30.1120\tBest: 30.1120 @ 5000 iter")
    return truth(last, total=1000000, epoch_steps=2037, last_epoch=last // 2037, notes="thousands with commas; the plan stands in the start-up lines")


@positive("pix2pix", "junyanz/pytorch-CycleGAN-and-pix2pix util/visualizer.py, train.py")
def pix2pix(log):
    log.lines("""
----------------- Options ---------------
               batch_size: 1                             
                  dataset: aligned                       
                 n_epochs: 100                           
             n_epochs_decay: 100                           
               print_freq: 100                           
----------------- End -------------------
dataset [AlignedDataset] was created
The number of training images = 400
initialize network with normal
model [Pix2PixModel] was created
---------- Networks initialized -------------
[Network G] Total number of parameters : 54.414 M
[Network D] Total number of parameters : 2.769 M
-----------------------------------------------
create web directory ./checkpoints/facades/web...
""")
    last = 0
    for epoch in range(1, 31):
        for it in range(100, 401, 100):
            log.step("(epoch: %d, iters: %d, time: %.3f, data: %.3f) G_GAN: %.3f G_L1: %.3f D_real: %.3f D_fake: %.3f " % (epoch, it, log.near(.041), .13, log.near(1.4), log.near(30.), log.near(.5), log.near(.5)))
            last = (epoch - 1) * 400 + it
        if epoch % 5 == 0:
            log.line("saving the model at the end of epoch %d, iters %d" % (epoch, epoch * 400))
        log.line("End of epoch %d / %d \t Time Taken: %d sec" % (epoch, 200, 21))
    return truth(last, "samples", total=200 * 400, epoch_steps=400, last_epoch=30, notes="iters counts samples (batch size 1 here); steps are accepted too. The epoch's length shows from 'training images = 400' or from 'iters 2000' at epoch 5")


@positive("olmo", "allenai/OLMo olmo/train.py, olmo/util.py")
def olmo(log):
    def out(text, step=False):
        log.line(f"{log.ms('.')}\tnode-0:0\tolmo.train:{982}\tINFO\t{text}", step)
    out("Loading model...")
    out("Total number of parameters: 1,176,764,416")
    out("Peak GPU Memory (MB) before fsdp: 4712")
    last = 0
    for step in range(1, 151):
        log.tick(4)
        ce = log.loss(step / 739328 * 2000, 11, 5)
        out(f"[step={step}/739328,epoch=0]\n    optim/total_grad_norm={log.near(3.):.3f}\n    train/CrossEntropyLoss={ce:.3f}\n    train/Perplexity={int(math.exp(ce)):,d}\n    throughput/total_tokens={step * 4194304:,d}\n    throughput/device/tokens_per_second={int(log.near(14000)):,d}\n    throughput/device/batches_per_second={.0133:.4f}", True)
        last = step
        if step % 100 == 0:
            for k in range(1, 8):
                out(f"[eval_step={k}/7]")
            out("wikitext\n    eval/wikitext/CrossEntropyLoss=6.112")
    return truth(last, total=739328, last_epoch=0, notes="[eval_step=] is evaluation; total_tokens is a further counter")


@positive("burn_cli", "tracel-ai/burn crates/burn-train/src/renderer/cli.rs")
def burn(log):
    log.line("Starting training for 3 epochs.")
    last, size = 0, 12000
    for epoch in range(1, 4):
        log.line(f"Starting split 'train' with {size} items.")
        for done in range(240, size + 1, 240):
            log.step(f'ProgressSnapshot {{ global: Progress {{ items_processed: {epoch}, items_total: 3, unit: Some("epochs") }}, split: Progress {{ items_processed: {done}, items_total: {size}, unit: Some("items") }} }}')
            last = (epoch - 1) * size + done
        log.line("Split ended.")
        log.line("Starting split 'valid' with 2000 items.")
        for done in range(250, 2001, 250):
            log.line(f'ProgressSnapshot {{ global: Progress {{ items_processed: {epoch}, items_total: 3, unit: Some("epochs") }}, split: Progress {{ items_processed: {done}, items_total: 2000, unit: Some("items") }} }}')
        log.line("Split ended.")
    log.line("Training ended.")
    return truth(last, "samples", total=3 * size, epoch_steps=size, last_epoch=3, notes="Rust Debug print; 'valid' splits have the same skeleton with another total; global 1/3 is the epoch")


@positive("candle_mnist", "huggingface/candle candle-examples/examples/mnist-training/main.rs")
def candle(log):
    log.lines("""
train-images: [60000, 784]
train-labels: [60000]
test-images: [10000, 784]
test-labels: [10000]
""")
    for epoch in range(1, 101):
        log.step(f"{epoch:4} train loss: {log.loss(epoch / 100, 2.36, .3):8.5f} test acc: {60 + epoch * .3:5.2f}%")
    return truth(100, "epochs", last_epoch=100, notes="a bare number at the line's start; it is the epoch (full batch: one step each), unlabelled, so steps is accepted too")


@positive("candle_llama2c", "huggingface/candle candle-examples/examples/llama2-c/training.rs")
def candle_trainer(log):
    log.line("loaded dataset, train: 49 files, valid: 1 files")
    last = 0
    for batch in range(100, 10001, 100):
        log.step(f"{batch} {log.loss(batch / 10000, 10.4, 1.9)}")
        last = batch
    return truth(last, notes="'{batch_index} {loss}' without any label; a clock only by its even rise")


@positive("kaldi_nnet3", "kaldi-asr/kaldi src/nnet3/nnet-training.cc (PrintStatsForThisPhase)")
def kaldi(log):
    log.line("# nnet3-train --use-gpu=yes --print-interval=10 --max-param-change=2.0 'nnet3-copy exp/0.raw - |' ark:egs.1.ark exp/1.1.raw ")
    log.line("# Started at Tue Mar 11 09:14:02 UTC 2025")
    log.line("nnet3-train --use-gpu=yes --print-interval=10 --max-param-change=2.0 'nnet3-copy exp/0.raw - |' ark:egs.1.ark exp/1.1.raw ")
    log.line("LOG (nnet3-train[5.5]:SelectGpuIdAuto():cu-device.cc:223) CUDA setup operating under Compute Exclusive Mode.")
    for phase in range(0, 90):
        log.step(f"LOG (nnet3-train[5.5]:PrintStatsForThisPhase():nnet-training.cc:302) Average objective function for 'output' for minibatches {phase * 10}-{phase * 10 + 9} is {-log.loss(phase / 90, 6.1, 1.9):.5g} over {int(log.near(5110))} frames.")
    log.line("LOG (nnet3-train[5.5]:PrintTotalStats():nnet-training.cc:347) Overall average objective function for 'output' is -2.91133 over 460812 frames.")
    log.line("# Accounting: time=68 threads=1")
    log.line("# Ended (code 0) at Tue Mar 11 09:15:10 UTC 2025, elapsed time 68 seconds")
    return truth(899, notes="a range 0-9; its end is the step (899; 890, the start of the range, is accepted)")
