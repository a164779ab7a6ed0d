"""Set E, second part: pictures, science, tables, and other languages.

The format strings are those of the named projects, or of lines that users printed in their issues; the numbers are invented.
"""
from .lib import positive, tqdm, truth


@positive("yolact", "dbolya/yolact train.py (initials between double bars)")
def yolact(log):
    log.lines("loading annotations into memory...\nDone (t=14.12s)\ncreating index...\nindex created!\nBegin training!\n")
    for n in range(0, 2401, 10):
        log.step(f"[{n // 1000:>3}] {n:>7} || B: {log.near(6.):.3f} | C: {log.loss(n / 2400, 7):.3f} | M: {log.near(5.):.3f} | S: {log.near(1.):.3f} | T: {log.loss(n / 2400, 20, 5):.3f} || ETA: 2 days, 22:15:24 || timer: {log.near(.3):.3f}")
    return truth(2400)


@positive("monodepth2", "nianticlabs/monodepth2 trainer.py (log_time)")
def monodepth2(log):
    log.lines("Training model named:\n   mdp\nModels and tensorboard events files are saved to:\n   /tmp\nTraining is using:\n   cuda\nTraining")
    for epoch in range(3):
        for n in range(0, 1001, 250):
            log.step(f"epoch {epoch:>3} | batch {n:>6} | examples/s: {log.near(33.):5.1f} | loss: {log.loss(epoch / 3, .4, .1):.5f} | time elapsed: 00h26m29s | time left: 06h52m52s")
    return truth("3000|3250|3500")


@positive("monocon", "2gunsu/monocon-pytorch (epochs in a rule, percents)")
def monocon(log):
    for epoch in range(1, 9):
        log.step(f"{'=' * 36} Epoch {epoch:>3} / 200 {'=' * 37}")
        for k in range(9):
            log.line(f"| Progress [{'#' * (2 * k):<20}][{k * 10.77 + 6.47:5.2f}%] | LR 0.000245 | Loss {log.near(8.):8.4f} ({log.near(9.):8.4f}) |")
        log.lines(f"\n- Average Loss: {log.near(9.):.3f}\n- Epoch Time: 0:04:55\n- Remain Time: 16:00:27\n- Estimated End-Time: 2023-04-25 04:19:38")
    return truth("8", "epochs", total="200|")


@positive("cdcn", "ZitongYu/CDCN train_CDCN.py")
def cdcn(log):
    log.line("Oulu-NPU, P1:\n \ntrain from scratch!\n")
    for epoch in range(3):
        for n in range(49, 400, 50):
            log.step(f"epoch:{epoch + 1}, mini-batch:{n + 1:>3}, lr=0.000100, Absolute_Depth_loss= {log.near(.05):.4f}, Contrastive_Depth_loss= {log.near(.01):.4f}")
        log.line(f"epoch:{epoch + 1}, Train: Absolute_Depth_loss= {log.near(.05):.4f}, Contrastive_Depth_loss= {log.near(.01):.4f}\n")
    return truth(1200)


@positive("kair", "cszn/KAIR main_train_psnr.py")
def kair(log):
    for n in range(200, 8001, 200):
        log.step(f"{log.at('%y-%m-%d %H:%M:%S')}.762 : <epoch:{n // 1300:>3d}, iter:{n:>8,d}, lr:2.000e-04> G_loss: {log.loss(n / 8000, .05, .01):.3e} ")
    return truth(8000)


@positive("faceswap_old", "deepfakes/faceswap plugins (loss_A and loss_B behind an iteration in brackets)")
def faceswap_old(log):
    log.line("Using live preview\nLoading Model from Model_Original plugin...\nLoading Trainer from Model_Original plugin...\nStarting. Press \"Enter\" to stop training and save model")
    for n in range(1, 300):
        log.raw(f"\r[{log.at('%H:%M:%S')}] [#{n:05}] loss_A: {log.loss(n / 300, .2, .05):.5f}, loss_B: {log.loss(n / 300, .2, .05):.5f}", step=True)
    return truth(299)


@positive("deepfacelab", "iperov/DeepFaceLab mainscripts/Trainer.py (fields in brackets)")
def deepfacelab(log):
    log.line("Starting. Press \"Enter\" to stop training and save model.")
    for n in range(12001, 12400):
        log.raw(f"\r[{log.at('%H:%M:%S')}][#{n:06}][{int(log.near(400.)):04}ms][{log.loss(n / 13000):.4f}][{log.loss(n / 13000):.4f}]", step=True)
        if n % 100 == 0:
            log.line()
    return truth(12399)


@positive("faceswap_lines", "deepfakes/faceswap with a logger: iterations and loss in lines of their own")
def faceswap_lines(log):
    for n in range(29100, 30000, 25):
        at = log.at("%m/%d/%Y %H:%M:%S")
        log.line(f"{at} INFO     saved models")
        log.step(f"{at} INFO     iterations: {n} ")
        log.line(f"{at} INFO     loss: {{'a': {log.near(.008)}, 'b': {log.near(.03)}}}")
    return truth(29975)


@positive("tf_od_v1", "tensorflow/models research/object_detection, slim learning.py (each line twice)")
def tf_od_v1(log):
    log.line("INFO:tensorflow:Starting Queues.\nINFO:tensorflow:global_step/sec: 0")
    for n in range(1, 200):
        text = f"global step {n}: loss = {log.loss(n / 200, 79, 2):.4f} ({log.near(1.4):.3f} sec/step)"
        log.step(f"INFO:tensorflow:{text}")
        log.line(f"I0319 04:48:50.573053   364 learning.py:507] {text}")
        if n % 50 == 0:
            log.line(f"INFO:tensorflow:Recording summary at step {n}.\nINFO:tensorflow:global_step/sec: {log.near(.7):.6f}")
    return truth(199)


@positive("tf_od_v2", "tensorflow/models research/object_detection/model_lib_v2.py")
def tf_od_v2(log):
    for n in range(100, 5001, 100):
        text = f"Step {n} per-step time {log.near(.8):.3f}s loss={log.loss(n / 5000):.3f}"
        log.step(f"INFO:tensorflow:{text}")
        log.line(f"I0912 12:30:41.062087 139735407601536 model_lib_v2.py:652] {text}")
    return truth(5000)


@positive("pix2pix_tf", "affinelayer/pix2pix-tensorflow pix2pix.py (losses in lines of their own)")
def pix2pix_tf(log):
    log.line("examples count = 400\nparameter_count = 57190084")
    for n in range(50, 4001, 50):
        log.step(f"progress  epoch {(n - 1) // 400 + 1}  step {(n - 1) % 400 + 1}  image/sec {log.near(35.):.1f}  remaining {90 - n // 50}m")
        log.line(f"discrim_loss {log.near(.8)}\ngen_loss_GAN {log.near(1.2)}\ngen_loss_L1 {log.near(.2)}")
        if n % 1000 == 0:
            log.line("saving model")
    return truth("4000", epoch_steps="")


@positive("musika", "marcoppasini/musika train.py (bar with initials)")
def musika(log):
    for epoch in range(3):
        for n in range(0, 901, 10):
            log.bar(tqdm(n, 900, n / 21.7, desc=f"Epoch {epoch}/250", postfix=f"DR={log.near(.7):.3g}, DF=nan, G=nan, GP={log.near(2e4):.3g}, LR=0.0001, TIME=0.0615" if n else ""))
        log.line()
    return truth(2700, epoch_steps=900)


@positive("stylegan2_sahlman", "adriansahlman/stylegan2_pytorch (metrics above a bar)")
def stylegan2_sahlman(log):
    for n in range(1, 200):
        log.line(f"D_loss: {log.near(1.2):.4f}, D_loss_grad_norm: {log.near(.4):.4f}, D_lr: 0.001882\nD_reg: 0.002352, D_reg_grad_norm: 0.001569, G_loss: {log.near(1.5):.4f}\nG_loss_grad_norm: {log.near(.3):.4f}, G_lr: 0.0016, G_reg: {log.near(.01):.4f}\nG_reg_grad_norm: 0.01, pl_avg: {log.near(.02):.4f}, seen: {n * 8}")
        log.bar(tqdm(n, 1000000, n * 2.29) + "\n")
    return truth(199, total=1000000)


@positive("golbin_gan", "golbin/TensorFlow-Tutorials 09 - GAN (four digits of an epoch)")
def golbin_gan(log):
    for epoch in range(100):
        log.step(f"Epoch: {epoch:04} D loss: {-log.near(.4):.4} G loss: {-log.near(2.9):.4}")
    return truth(99, "epochs")


@positive("darkflow", "thtrieu/darkflow darkflow/net/flow.py")
def darkflow(log):
    log.line("Training statistics: \n\tLearning rate : 1e-05\n\tBatch size    : 16\n\tEpoch number  : 3\n\tBackup every  : 2000")
    for n in range(1, 301):
        log.step(f"step {n} - loss {log.loss(n / 300, 110, 3)} - moving ave loss {log.loss(n / 300, 110, 3)}")
        if n % 100 == 0:
            log.line(f"Finish {n // 100} epoch(es)")
    return truth(300)


@positive("chainer_report", "chainer/chainer training/extensions/print_report.py (table)")
def chainer_report(log):
    log.line("epoch       iteration   main/loss   validation/main/loss  main/accuracy  elapsed_time")
    for epoch in range(1, 21):
        log.step(f"{epoch:<10}  {epoch * 600:<10}  {log.loss(epoch / 20):<10.6g}  {log.near(.3):<20.6g}  {log.near(.9):<13.6g}  {epoch * 3.12:<12.6g}")
    return truth(12000, "steps")


@positive("lasagne_mnist", "Lasagne/Lasagne examples/mnist.py")
def lasagne_mnist(log):
    log.line("Loading data...\nBuilding model and compiling functions...\nStarting training...")
    for epoch in range(1, 30):
        log.step(f"Epoch {epoch} of 500 took {log.near(2.):.3f}s")
        log.line(f"  training loss:\t\t{log.loss(epoch / 30):.6f}\n  validation loss:\t\t{log.near(.4):.6f}\n  validation accuracy:\t\t{log.near(88.):.2f} %")
    return truth(29, "epochs", total="500|")


@positive("nolearn", "dnouri/nolearn nolearn/lasagne/handlers.py (table with colours)")
def nolearn(log):
    log.line("# Neural Network with 101930 learnable parameters\n\n## Layer information\n\n  #  name    size\n---  ------  -------\n  0  input   1x28x28\n  1  dense   100\n")
    log.line("  epoch    trn loss    val loss    trn/val    valid acc  dur\n-------  ----------  ----------  ---------  -----------  -----")
    for epoch in range(1, 30):
        log.step(f"{epoch:>7}     \x1b[36m{log.loss(epoch / 30):.5f}\x1b[0m     \x1b[32m{log.near(.3):.5f}\x1b[0m    {log.near(1.1):.5f}      {log.near(.9):.5f}  {log.near(1.2):.2f}s")
    return truth(29, "epochs")


@positive("theano_lenet", "lisa-lab/DeepLearningTutorials code/convolutional_mlp.py")
def theano_lenet(log):
    log.line("... loading data\n... building the model\n... training")
    for n in range(0, 2001, 100):
        log.step(f"training @ iter =  {n}")
        if n and n % 500 == 0:
            log.line(f"epoch {n // 500}, minibatch 500/500, validation error {log.near(9.):f} %\n     epoch {n // 500}, minibatch 500/500, test error of best model {log.near(9.):f} %")
    return truth(2000)


@positive("caffe2_detectron", "facebookresearch/Detectron detectron/utils/training_stats.py")
def caffe2_detectron(log):
    for n in range(0, 2001, 20):
        log.step(f'json_stats: {{"accuracy_cls": "{log.near(.9):.6f}", "eta": "10:12:{n % 50 + 10}", "iter": {n}, "loss": "{log.loss(n / 2000):.6f}", "loss_bbox": "0.123412", "loss_cls": "0.212345", "lr": "0.002500", "mb_qsize": 64, "mem": 4321, "time": "0.412312"}}')
    return truth(2000)


@positive("kuangliu_cifar", "kuangliu/pytorch-cifar utils.py (progress_bar, backspaces)")
def kuangliu_cifar(log):
    log.line("==> Preparing data..\nFiles already downloaded and verified\n==> Building model..")
    for epoch in range(3):
        log.line(f"\nEpoch: {epoch}")
        for kind, total in (("train", 391), ("test", 100)):
            for n in range(total):
                bar = " [" + "=" * (65 * n // total) + ">" + "." * (64 - 65 * n // total) + "]"
                text = f"{bar}  Step: 52ms | Tot: {n * .052:.0f}s | Loss: {log.loss(epoch / 3):.3f} | Acc: {log.near(60.):.3f}% ({n * 80}/{(n + 1) * 128})"
                log.raw(text + " " * 20 + "\b" * 40 + f" {n + 1}/{total} " + ("\n" if n + 1 == total else "\r"), step=kind == "train")
            if kind == "test":
                log.line("Saving..")
    return truth(3 * 391, "steps", epoch_steps="391|")


@positive("dino", "facebookresearch/dino main_dino.py (two brackets with totals)")
def dino(log):
    log.line("Starting DINO training !")
    for epoch in range(3):
        for n in range(0, 500, 10):
            log.step(f"Epoch: [{epoch}/100]  [{n:>3}/500]  eta: 0:0{n % 9}:41  loss: {log.loss(epoch / 3, 11):.6f} ({log.near(8.):.6f})  lr: 0.000012 (0.000006)  wd: 0.040001 (0.040000)  time: 0.412312  data: 0.000212  max mem: 15420")
        log.line(f"Epoch: [{epoch}/100] Total time: 0:03:26 (0.412312 s / it)")
    return truth("1490", epoch_steps=500, total="50000|")


@positive("nerf_pytorch", "yenchenlin/nerf-pytorch run_nerf.py (bar and [TRAIN] lines)")
def nerf_pytorch(log):
    log.line("Begin\nTRAIN views are [0 1 2]\nTEST views are [3]")
    for n in range(0, 3001, 10):
        log.bar(tqdm(n, 199999, n / 8.))
        if n and n % 100 == 0:
            log.line(f"[TRAIN] Iter: {n} Loss: {log.loss(n / 3000, .2, .01)}  PSNR: {log.near(20.)}")
    return truth(3000, total="199999|")


@positive("mipnerf_jax", "google/mipnerf train.py")
def mipnerf_jax(log):
    log.line("Number of parameters being optimized: 612740")
    for n in range(100, 5001, 100):
        log.step(f"{n:>7d}/1000000: i_loss={log.loss(n / 5000, .1, .01):0.4f}, avg_loss={log.loss(n / 5000, .1, .01):0.4f}, weight_l2=1.22e-01, lr=4.99e-04, {int(log.near(9000.))} rays/sec")
    return truth(5000, total=1000000)


@positive("hyperpose", "tensorlayer/hyperpose train (Train iteration n / N)")
def hyperpose(log):
    for n in range(100, 3001, 100):
        log.step(f"Train iteration {n} / 2000000: Learning rate 1.0000e-04 total_loss:{log.loss(n / 3000, 90)},conf_loss:{log.near(20.)},paf_loss:{log.near(60.)},l2_loss {log.near(3.)} stage_num:6 time:{log.near(41.)}")
    return truth(3000, total=2000000)


@positive("chemprop", "chemprop/chemprop train/train.py (epochs and losses, no bar)")
def chemprop(log):
    for epoch in range(30):
        log.step(f"Epoch {epoch}")
        for k in range(3):
            log.line(f"Loss = {log.loss(epoch / 30, .7, .3):.4e}, PNorm = {37 + epoch / 90:.4f}, GNorm = {log.near(1.):.4f}, lr_0 = {1e-4 * (1 - epoch / 40):.4e}")
        log.line(f"Validation auc = {log.near(.92):.6f}")
    return truth("29|30", "epochs")


@positive("nequip", "mir-group/nequip nequip/train/trainer.py (table of epochs and batches)")
def nequip(log):
    log.line("training\n# Epoch batch         loss       loss_f       loss_e        f_mae       f_rmse")
    for epoch in range(1, 4):
        for batch in range(10, 101, 10):
            log.step(f"{epoch:>7d} {batch:>5d} " + "".join(f"{log.near(v):>13.3g}" for v in (23., .2, 1., .3, .4)))
        log.line(f"\n\n  Train      #    Epoch      wal       LR       loss_f       loss_e         loss\n! Train            {epoch:>8d} {epoch * 81.2:8.3f}    0.002        0.215         1.11         1.33\n")
    return truth(300)


@positive("lightgbm_cli", "microsoft/LightGBM src/application (Iteration:N, one line for each metric)")
def lightgbm_cli(log):
    log.line("[LightGBM] [Info] Finished loading data in 0.221 seconds\n[LightGBM] [Info] Started training...")
    for n in range(1, 101):
        for name in ("training auc", "training binary_logloss", "valid_1 auc", "valid_1 binary_logloss"):
            log.step(f"[LightGBM] [Info] Iteration:{n}, {name} : {log.near(.5):.6f}")
        log.line(f"[LightGBM] [Info] {n * 4.41:.6f} seconds elapsed, finished iteration {n}")
    return truth(100)


@positive("lightgbm_r", "microsoft/LightGBM R-package callback.R")
def lightgbm_r(log):
    log.line("[LightGBM] [Info] Total Bins 232\n[LightGBM] [Info] Start training from score 0.48")
    for n in range(1, 80):
        log.step(f"[{n}]:  train's l2:{log.loss(n / 80, .2, .01):.6g}  test's l2:{log.loss(n / 80, .2, .01):.6g} ")
    return truth(79)


@positive("gplearn", "trevorstephens/gplearn gplearn/genetic.py (table of generations)")
def gplearn(log):
    log.line("    |   Population Average    |             Best Individual              |\n---- ------------------------- ------------------------------------------ ----------\n Gen   Length          Fitness   Length          Fitness      OOB Fitness  Time Left")
    for n in range(30):
        log.step(f"{n:>4d} {log.near(20.):8.2f} {log.near(90.):>16.6g} {5 + n % 9:>8d} {log.loss(n / 30):>16.6g} {log.loss(n / 30):>16.6g} {log.near(1.3):>9.2f}m")
    return truth(29)


@positive("ngboost", "stanfordmlgroup/ngboost ngboost/ngboost.py")
def ngboost(log):
    for n in range(0, 500, 20):
        log.step(f"[iter {n}] loss={log.loss(n / 500):.4f} val_loss=0.0000 scale={[1., 2., .5][n // 20 % 3]:.4f} norm={log.near(1.2):.4f}")
    return truth(480)


@positive("surprise_svd", "NicolasHug/Surprise prediction_algorithms/matrix_factorization.pyx")
def surprise_svd(log):
    for n in range(20):
        log.step(f"Processing epoch {n}")
    return truth(19, "epochs")


@positive("libfm", "srendle/libfm fm_learn_mcmc_simultaneous.h")
def libfm(log):
    log.line("Loading train...\t\nhas x = 0\nhas xt = 1\nnum_rows=80000\tnum_values=160000\tnum_features=2625\tmin_target=1\tmax_target=5")
    for n in range(100):
        log.step(f"#Iter={n:>3d}\tTrain={log.loss(n / 100, 1.1, .7):g}\tTest={log.loss(n / 100, 1.1, .9):g}")
    return truth(99)


@positive("crfsuite", "chokkan/crfsuite lib/crf/src/train_lbfgs.c (a block for each iteration)")
def crfsuite(log):
    log.line("Feature generation\ntype: CRF1d\nfeature.minfreq: 0.000000\nNumber of features: 28123\nSeconds required: 0.012\n\nL-BFGS optimization\nc1: 0.100000\nmax_iterations: 100\n")
    for n in range(1, 60):
        log.step(f"***** Iteration #{n} *****")
        log.line(f"Loss: {log.loss(n / 60, 9000, 400):f}\nFeature norm: {log.near(12.):f}\nError norm: {log.near(300.):f}\nActive features: {28000 - n * 9}\nLine search trials: 1\nLine search step: 1.000000\nSeconds required for this iteration: 0.041\n")
    return truth(59)


@positive("crfpp", "taku910/crfpp encoder.cpp")
def crfpp(log):
    log.line("CRF++: Yet Another CRF Tool Kit\nreading training data: 100.. 200.. 300..\nDone!0.21 s\n\nNumber of sentences: 823\nNumber of features:  1075862\nNumber of thread(s): 4")
    for n in range(60):
        log.step(f"iter={n} terr={log.loss(n / 60, .9, .01):.5f} serr={log.loss(n / 60, 1, .1):.5f} act={1075862 - n} obj={log.loss(n / 60, 9000, 40):.5f} diff={log.near(.1):.5f}")
    return truth(59)


@positive("wapiti", "Jekub/Wapiti src/progress.c")
def wapiti(log):
    log.line("* Load patterns\n* Load training data\n* Initialize the model\n    nb train:  800\n    nb labels: 22\n* Train the model with l-bfgs")
    for n in range(1, 60):
        log.step(f"  [{n:>4d}] obj={log.loss(n / 60, 9000, 40):<10.2f} act={28000 - n * 9:<8d} err={log.near(3.):5.2f}%/{log.near(20.):5.2f}% time={log.near(.4):.2f}s/{n * .4:.2f}s")
    return truth(59)


@positive("mallet_lda", "mimno/Mallet cc/mallet/topics/ParallelTopicModel.java")
def mallet_lda(log):
    log.line("Mallet LDA: 20 topics, 5 topic bits, 11111 topic mask\nData loaded.\nmax tokens: 1141\ntotal tokens: 112212\n")
    for n in range(10, 1001, 10):
        log.step(f"<{n}> LL/token: {-8 - log.loss(n / 1000, 2, .2):.5f}")
        if n % 50 == 0:
            log.line("\n" + "\n".join(f"{k}\t0.25\tmodel data word topic time year" for k in range(20)) + "\n")
    return truth(1000)


@positive("pysr", "MilesCranmer/PySR SymbolicRegression.jl (progress as lines)")
def pysr(log):
    for n in range(1, 41):
        log.line(f"\nExpressions evaluated per second: {log.near(9e4):.2e}")
        log.step(f"Progress: {n} / 40 total iterations ({n * 2.5:.3f}%)")
        log.line("=" * 90 + "\nComplexity  Loss       Score      Equation\n1           " + f"{log.near(5.):.3e}  0.000e+00  y = 1.23\n5           {log.near(1.):.3e}  {log.near(.5):.3e}  y = (x0 * 2.31) + x1\n" + "=" * 90)
    return truth(40, total="40|")


@positive("liblinear", "cjlin1/liblinear newton.cpp")
def liblinear(log):
    for n in range(1, 30):
        log.step(f"iter {n:>2d} f {log.loss(n / 30, 900, 20):5.3e} |g| {log.near(30.):5.3e} CG {n % 4 + 2:>3d} step_size {1.0:4.2e} ")
    return truth(29)


@positive("flux_mnist", "FluxML/model-zoo vision/mlp_mnist (values in named tuples)")
def flux_mnist(log):
    log.line("[ Info: Training on GPU\n[ Info: Start Training")
    for n in range(1, 30):
        log.step(f"Epoch: {n}   Train: (loss = {log.loss(n / 30):.4f}, acc = {log.near(95.):.2f})   Test: (loss = {log.near(.2):.4f}, acc = {log.near(94.):.2f})")
    return truth(29, "epochs")


@positive("lux_iter", "LuxDL/Lux.jl examples (Iter: [n/N])")
def lux_iter(log):
    for n in range(10, 1001, 10):
        log.step(f"Iter: [{n:>5d}/ 1000]\tLoss: {log.loss(n / 1000):.8f}")
    return truth(1000, total=1000)


@positive("knet", "denizyuret/Knet.jl examples (printed tuples)")
def knet(log):
    for n in range(0, 31):
        log.step(f"(:epoch, {n}, :trn, {log.near(.98)}, :tst, {log.near(.97)})")
    return truth(30, "epochs")


@positive("luz", "mlverse/luz R/callbacks.R")
def luz(log):
    for n in range(1, 21):
        log.step(f"Epoch {n}/20")
        log.line(f"Train metrics: Loss: {log.loss(n / 20):.4f} - Acc: {log.near(.9):.4f}\nValid metrics: Loss: {log.near(.3):.4f} - Acc: {log.near(.9):.4f}")
    return truth(20, "epochs", total="20|")


@positive("r_torch", "mlverse/torch examples (epoch, training and validation)")
def r_torch(log):
    for n in range(1, 25):
        log.step(f"\nEpoch {n}, training: loss: {log.loss(n / 25):3.5f} ")
        log.line(f"\nEpoch {n}, validation: loss: {log.near(.4):3.5f} ")
    return truth(24, "epochs")


@positive("matlab_train", "MATLAB trainNetwork (table with a heading of two lines)")
def matlab_train(log):
    rule = "|" + "=" * 86 + "|"
    log.line(f"Training on single GPU.\n{rule}\n|  Epoch  |  Iteration  |  Time Elapsed  |  Mini-batch  |  Mini-batch  |  Base Learning  |\n|         |             |   (hh:mm:ss)   |   Accuracy   |     Loss     |      Rate       |\n{rule}")
    for n in [1, *range(50, 2001, 50)]:
        log.step(f"| {(n - 1) // 390 + 1:>7} | {n:>11} | {f'00:00:{n // 40:02}':>14} | {f'{log.near(60.):.2f}%':>12} | {log.loss(n / 2000):>12.4f} | {'0.0100':>15} |")
    log.line(rule)
    return truth(2000)


@positive("brain_js", "BrainJS/brain.js src/neural-network.ts (log: true)")
def brain_js(log):
    for n in range(10, 2001, 10):
        log.step(f"iterations: {n}, training error: {log.loss(n / 2000, .3, .005)}")
    return truth(2000)


@positive("mlnet_images", "dotnet/machinelearning ImageClassificationTrainer metrics")
def mlnet_images(log):
    for epoch in range(40):
        log.step(f"Phase: Training, Dataset used:      Train, Batch Processed Count:  12, Learning Rate:       0.01 Epoch: {epoch:>3}, Accuracy: {log.near(.9):.7f}, Cross-Entropy: {log.loss(epoch / 40):.7f}")
    return truth(39, "epochs")


@positive("swift_models", "tensorflow/swift-models Examples/LeNet-MNIST")
def swift_models(log):
    for epoch in range(1, 13):
        log.step(f"[Epoch {epoch}] Accuracy: {9000 + epoch * 70}/10000 ({.9 + epoch * .007:.4f}) Loss: {log.loss(epoch / 13)}")
    return truth(12, "epochs")


@positive("dfdx", "coreylowman/dfdx examples/06-mnist.rs")
def dfdx(log):
    log.line("Found 60000 training images")
    for epoch in range(20):
        log.step(f"Epoch {epoch} in {log.near(1.2):.4}s ({log.near(1234.):.3} batches/s): avg sample loss {log.loss(epoch / 20):.5f}")
    return truth(19, "epochs")


@positive("djl", "deepjavalibrary/djl training/listener/LoggingTrainingListener.java (lines without a bar)")
def djl(log):
    for epoch in range(1, 16):
        log.line(f"[INFO ] - Training:    100% |████████████████████████████████████████| Accuracy: {log.near(.9):.2f}, SoftmaxCrossEntropyLoss: {log.loss(epoch / 16):.2f}, speed: {log.near(9000.):.2f} items/sec")
        log.step(f"[INFO ] - Epoch {epoch} finished.")
        log.line(f"[INFO ] - Train: Accuracy: {log.near(.9):.2f}, SoftmaxCrossEntropyLoss: {log.loss(epoch / 16):.2f}\n[INFO ] - Validate: Accuracy: {log.near(.9):.2f}, SoftmaxCrossEntropyLoss: {log.near(.3):.2f}")
    return truth(15, "epochs")


@positive("libtorch_mnist", "pytorch/examples cpp/mnist/mnist.cpp (carriage returns)")
def libtorch_mnist(log):
    log.line("CUDA available! Training on GPU.")
    for epoch in range(1, 4):
        for n in range(0, 60000, 640):
            log.raw(f"\rTrain Epoch: {epoch} [{n:>5}/60000] Loss: {log.loss(epoch / 3):.4f}", step=True)
        log.line(f"\nTest set: Average loss: {log.near(.2):.4f} | Accuracy: {log.near(.95):.3f}")
    return truth(2 * 60000 + 59520, "samples", epoch_steps=60000)


@positive("aymericdamien_iter", "aymericdamien/TensorFlow-Examples recurrent_network.py (samples called Iter)")
def aymericdamien_iter(log):
    for n in range(1280, 100001, 1280):
        log.step(f"Iter {n}, Minibatch Loss= {log.loss(n / 1e5):.6f}, Training Accuracy= {log.near(.8):.5f}")
    return truth(99840, "")


@positive("tf_cifar10", "tensorflow/models tutorials/image/cifar10/cifar10_train.py")
def tf_cifar10(log):
    log.line("Filling queue with 20000 CIFAR images before starting to train. This will take a few minutes.")
    for n in range(0, 3001, 10):
        log.tick(1)
        log.step(f"{log.ms('.')}120: step {n}, loss = {log.loss(n / 3000, 4.6):.2f} ({log.near(1200.):.1f} examples/sec; {log.near(.1):.3f} sec/batch)")
    return truth(3000)


@positive("tf_retrain", "tensorflow/hub examples/image_retraining/retrain.py (three lines for each step)")
def tf_retrain(log):
    for n in range(100):
        log.line(f"INFO:tensorflow:{n + 1} bottleneck files created.")
    for n in range(0, 1001, 10):
        at = log.ms(".") + "120"
        log.step(f"INFO:tensorflow:{at}: Step {n}: Train accuracy = {log.near(90.):.1f}%")
        log.line(f"INFO:tensorflow:{at}: Step {n}: Cross entropy = {log.loss(n / 1000):f}\nINFO:tensorflow:{at}: Step {n}: Validation accuracy = {log.near(88.):.1f}% (N=100)")
    return truth(1000)


@positive("tf_cnn_benchmarks", "tensorflow/benchmarks scripts/tf_cnn_benchmarks (speed in front of the loss)")
def tf_cnn_benchmarks(log):
    log.line("Running warm up\nDone warm up\nStep\tImg/sec\ttotal_loss")
    for n in [1, *range(10, 401, 10)]:
        log.step(f"{n}\timages/sec: {log.near(120.):.1f} +/- {log.near(.3):.1f} (jitter = {log.near(.5):.1f})\t{log.loss(n / 400, 7.6, 7.1):.3f}")
    return truth(400)


@positive("mlperf_logging", "mlcommons/logging mllog (events in JSON)")
def mlperf_logging(log):
    line = ':::MLLOG {{"namespace": "", "time_ms": {}, "event_type": "{}", "key": "{}", "value": {}, "metadata": {{"file": "train.py", "lineno": {}, "epoch_num": {}}}}}'
    for epoch in range(1, 25):
        ms = 1592342000000 + epoch * 41000
        log.step(line.format(ms, "INTERVAL_START", "epoch_start", "null", 120, epoch))
        log.line(line.format(ms + 40000, "INTERVAL_END", "epoch_stop", "null", 188, epoch))
        log.line(line.format(ms + 40900, "POINT_IN_TIME", "eval_accuracy", log.near(.6), 201, epoch))
    return truth(24, "epochs")


@positive("kaggle_elapsed", "kaggle scripts: Epoch: [1][100/1234] Elapsed 1m 2s (remain 12m 3s) Loss: 0.4(0.5)")
def kaggle_elapsed(log):
    log.line("========== fold: 0 training ==========")
    for epoch in range(1, 4):
        for n in [*range(0, 800, 100), 799]:
            log.step(f"Epoch: [{epoch}][{n}/800] Elapsed {n // 60}m {n % 60}s (remain {12 - n // 70}m 3s) Loss: {log.near(.4):.4f}({log.near(.5):.4f}) Grad: {log.near(9e4):.4f}  LR: 0.00002000  ")
        for n in [*range(0, 200, 100), 199]:
            log.line(f"EVAL: [{n}/200] Elapsed 0m {n % 60}s (remain 0m 3s) Loss: {log.near(.4):.4f}({log.near(.5):.4f}) ")
        log.line(f"Epoch {epoch} - avg_train_loss: {log.near(.4):.4f}  avg_val_loss: {log.near(.4):.4f}  time: 812s\nEpoch {epoch} - Score: {log.near(.88):.4f}\nEpoch {epoch} - Save Best Score: 0.8812 Model")
    return truth(2399, epoch_steps=800)
