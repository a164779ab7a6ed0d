"""Set F: formats that users printed in the issues of projects, collected after set E was corrected for, and other programs.

The numbers are invented.
"""
from .lib import negative, positive, tqdm, truth


@positive("rotate_kge", "DeepGraphLearning/KnowledgeGraphEmbedding codes/run.py (the value stands behind the step)")
def rotate_kge(log):
    log.line(f"{log.at()} INFO     Start Training...\n{log.at()} INFO     init_step = 0\n{log.at()} INFO     batch_size = 1024\n{log.at()} INFO     hidden_dim = 1000")
    for n in range(0, 10001, 100):
        for name in ("positive_sample_loss", "negative_sample_loss", "loss"):
            log.step(f"{log.at()} INFO     Training average {name} at step {n}: {log.loss(n / 10000, 3, .05):f}")
    return truth(10000)


@positive("kgcn_rounds", "clinfo/kGCN federated (names of the values in front of all values)")
def kgcn_rounds(log):
    for n in range(40):
        log.step(f"{log.ms()} - run_toxicity.py - main - L133 ::: train, round, loss, acc, auc  ===> {n:03}, {log.loss(n / 40):.5f}, {log.near(.4):.5f}, {log.near(.4):.5f},")
        log.line(f"{log.ms()} - run_toxicity.py - main - L139 ::: val, round, loss, acc, auc ===> {n:03}, {log.near(.8):.5f}, {log.near(.5):.5f}, {log.near(.5):.5f},")
    return truth(39)


@positive("tff_rounds", "google-parfait/tensorflow-federated tutorials (a round and its metrics in lines of their own)")
def tff_rounds(log):
    for n in range(30):
        log.step(f"Round {n}")
        log.line(f"\tEval: loss={log.near(.9):.3f}, accuracy={log.near(.7):.3f}\n\tTrain: loss={log.loss(n / 30):.3f}, accuracy={log.near(.7):.3f}")
    return truth(29)


@positive("tff_r", "rstudio/ai-blog: cat of a round and an accuracy")
def tff_r(log):
    for n in range(1, 41):
        log.step(f"round: {n:>3}   accuracy: {.5 + n / 100:>7.4f} ")
    return truth(40)


@positive("crnn_bgshih", "bgshih/crnn and ports: counts in one bracket")
def crnn_bgshih(log):
    for epoch in range(1, 4):
        for n in range(10, 101, 10):
            log.step(f"{log.ms()} - root - DEBUG - [epoch:{epoch}/100 batch:{n}/100 batch_size:64] Loss: {log.loss(epoch / 3, 40, 19)}")
        log.line(f"{log.ms()} - root - DEBUG - Start val\n{log.ms()} - root - DEBUG - Test loss: {log.near(20.)}, accuracy: 0.0")
    return truth(300, epoch_steps=100, total="10000|")


@positive("irn_step", "jiwoon-ahn/irn step/train_irn.py (a count of the run, epochs above)")
def irn_step(log):
    for n in range(100, 3301, 100):
        if n % 700 == 100:
            log.line(f"Epoch {n // 700 + 1}/5")
        log.step(f"step:{n:>5}/{3305:>5} loss:{log.near(.4):.4f} {log.near(.3):.4f} {log.near(2.8):.4f} {log.near(.2):.4f} imps:{log.near(26.):.1f} lr: {.1 * (1 - n / 3305):.4f} etc:Tue Sep 17 15:31:{n // 100:02} 2019")
    return truth(3300, total=3305)


@positive("ilm_assl", "licongguan/ILM-ASSL train.py (iterations of the run in brackets)")
def ilm_assl(log):
    for n in range(0, 4001, 10):
        log.step(f"[{log.ms()}][       train.py][line: 833][    INFO] [3:20 high] iter [{n}/49000] LR 0.00191 Sup {log.near(1.3):.4f} Unsup {log.near(.2):.4f} Contra {log.near(1.6):.4f} mIoU {log.near(80.):.2f}")
        if n and n % 1000 == 0:
            log.line(f"[{log.ms()}][       train.py][line: 850][    INFO]  * Epoch [{n // 1000}]\tTrain mIoU {log.near(87.):.2f}")
            for k in range(0, 41, 10):
                log.line(f"[{log.ms()}][       train.py][line: 935][    INFO] Test [{k}/42]\tTime {log.near(1.4):.3f}")
    return truth(4000, total=49000)


@positive("q_trader", "edwardhdlu/q-trader train.py (an episode and what happens in it)")
def q_trader(log):
    for n in range(0, 60):
        log.step(f"Episode {n}/100")
        for k in range(n % 4):
            log.line(f"Buy: ${log.near(190.):.2f}\nSell: ${log.near(190.):.2f} | Profit: ${log.near(2.):.2f}")
        log.line(f"--------------------------------\nTotal Profit: ${log.near(20.):.2f}\n--------------------------------")
    return truth(59, "episodes")


@positive("bitcoin_workers", "pythonlessons/RL-Bitcoin-trading-bot (episodes of many workers)")
def bitcoin_workers(log):
    for n in range(0, 300):
        log.step(f"episode: {n:<5} worker: {n * 7 % 32:<2} net worth: {log.near(1000.):<8.2f} average: {log.near(1046.):<8.2f} orders: {n * 13 % 90}")
    return truth(299, "episodes")


@positive("pose_bearpaw", "bearpaw/pytorch-pose with progress: a bar of signs, counts in round brackets")
def pose_bearpaw(log):
    for epoch in range(1, 4):
        log.line(f"\nEpoch: {epoch} | LR: 0.00025000")
        for total, is_training in ((371, True), (49, False)):
            for n in range(1, total + 1):
                text = f"Processing |{'#' * (32 * n // total):<32}| ({n}/{total}) Data: 0.000495s | Batch: 0.349s | Total: 0:00:{n % 60:02} | ETA: 0:00:01 | Loss: {log.loss(epoch / 3, .01, .003):.4f} | Acc:  {log.near(.84):.4f}"
                log.raw("\r\x1b[K" + text, step=is_training)
            log.line()
    return truth(3 * 371, epoch_steps="371|")


@positive("st_gcn", "yysijie/st-gcn main.py (Batch(n/N) done)")
def st_gcn(log):
    for epoch in range(1, 4):
        log.line(f"[ Wed Jun  6 16:01:01 2018 ] Training epoch: {epoch}")
        for n in range(0, 1879, 100):
            log.step(f"[ Wed Jun  6 16:{n // 100:02}:16 2018 ] \tBatch({n}/1879) done. Loss: {log.loss(epoch / 3, 6.3):.4f}  lr:0.100000")
        log.line(f"[ Wed Jun  6 16:41:01 2018 ] \tMean training loss: {log.near(3.):.4f}.\n[ Wed Jun  6 16:41:01 2018 ] Time consumption: [Data]01%, [Network]99%")
    return truth(2 * 1879 + 1800, epoch_steps=1879)


@positive("light_pose", "Daniil-Osokin/lightweight-human-pose-estimation.pytorch train.py (losses, then Iter)")
def light_pose(log):
    for n in range(100, 4001, 100):
        log.step(f"Iter: {n}")
        for stage in (1, 2):
            log.line(f"stage{stage}_pafs_loss:     {log.loss(n / 4000, 150, 120)}\nstage{stage}_heatmaps_loss: {log.near(49.)}")
    return truth(4000)


@positive("iters_done", "karfly/learnable-triangulation-pytorch train.py (iters done)")
def iters_done(log):
    log.line("Loading pretrained weights for the backbone\nargs: Namespace(config='experiments/human36m/train.yaml')\nNumber of available GPUs: 1\nTraining...")
    for n in range(100, 5001, 100):
        log.step(f"{n} iters done.")
    return truth(5000)


@positive("gensim_lda", "piskvorky/gensim gensim/models/ldamodel.py (documents of a pass)")
def gensim_lda(log):
    for k in range(5):
        for n in [*range(1000, 12000, 1000), 11291]:
            log.step(f"{log.ms()} : INFO : PROGRESS: pass {k}, at document #{n}/11291")
            log.line(f"{log.ms()} : INFO : merging changes from 1000 documents into a model of 11291 documents")
            for topic in range(3):
                log.line(f'{log.ms()} : INFO : topic #{topic} (0.100): {log.near(.013):.3f}*"good" + {log.near(.012):.3f}*"chrome" + {log.near(.012):.3f}*"laptop"')
            log.line(f"{log.ms()} : INFO : topic diff={log.loss(k / 5, .4, .02):f}, rho=0.500000")
    return truth(5 * 11291, "samples|steps", epoch_steps="11291|")


@positive("cosface", "MuggleWang/CosFace_pytorch main.py (samples, and a step glued to their bracket)")
def cosface(log):
    step = 0
    for epoch in range(1, 4):
        log.line(f"{log.at()} Epoch {epoch} start training")
        for n in range(51200, 491542, 51200):
            step += 100
            log.step(f"{log.at()} Train Epoch: {epoch} [{n}/491542 ({n / 4915.42:.0f}%)]{step}, Loss: {log.loss(epoch / 3, 20, 4):.6f}, Elapsed time: 154.3634s(100 iters) Margin: 0.4000, Scale: 30.00")
        log.line("LFWACC=0.9727 std=0.0068 thd=0.1475")
    return truth(f"{step}|{2 * 491542 + 460800}", "")


@positive("fastreid", "JDAI-CV/fast-reid fastreid/utils/events.py (epoch/iter: 9/2579)")
def fastreid(log):
    for n in range(199, 6000, 200):
        log.step(f"[{log.at('%m/%d %H:%M:%S')} fastreid.utils.events]:  eta: 1:14:16  epoch/iter: {n // 258}/{n}  total_loss: {log.loss(n / 6000, 40, 20):.4g}  loss_cls: {log.near(4.):.4g}  loss_triplet: {log.near(.7):.4g}  time: 0.2681  data_time: 0.0011  lr: 3.50e-04  max_mem: 18418M  ")
    return truth(5999)


@positive("neat_python", "CodeReclaimers/neat-python neat/reporting.py")
def neat_python(log):
    for n in range(0, 40):
        log.step(f"\n ****** Running generation {n} ****** \n")
        log.line(f"Population's average fitness: {log.near(2.):.5f} stdev: {log.near(.4):.5f}\nBest fitness: {log.near(3.):.5f} - size: ({n % 3 + 1}, {n % 4 + 2}) - species 1 - id {n * 7}\nAverage adjusted fitness: {log.near(.5):.3f}\nMean genetic distance {log.near(1.2):.3f}, standard deviation 0.4\nPopulation of 150 members in 2 species:\nTotal extinctions: 0\nGeneration time: {log.near(.2):.3f} sec")
    return truth(39)


@positive("tensorflow_kr", "hunkim/DeepLearningZeroToAll: print(step, cost, weights)")
def tensorflow_kr(log):
    for n in range(0, 2001, 20):
        log.step(f"{n} {log.loss(n / 2000, 3, .001)} [{log.near(.9)}] [{log.near(.1)}]")
    return truth(2000)


@positive("wav2lip", "Rudrabha/Wav2Lip wav2lip_train.py (bar with L1)")
def wav2lip(log):
    log.line("use_cuda: True\ntotal trainable params 36298035\nStarting Epoch: 0")
    for epoch in range(3):
        for n in range(0, 201):
            log.bar(tqdm(n, 200, n / 2.2, desc="" if not n else f"L1: {log.loss(epoch / 3):.6f}, Sync Loss: 0.0"))
        log.line()
        log.line(f"Starting Epoch: {epoch + 1}" if epoch < 2 else "Done")
    return truth(600, epoch_steps="200|")


@positive("esrgan_lua", "a script: Iter [100/2000] in words of another language")
def esrgan_lua(log):
    for epoch in range(1, 4):
        for n in range(20, 201, 20):
            log.step(f"第{epoch}轮 [{n}/200] 损失: {log.loss(epoch / 3):.4f} 准确率: {log.near(.8):.4f}")
    return truth(600)


@positive("spanish_epochs", "a script: Época 3/20, pérdida 0.41")
def spanish_epochs(log):
    for n in range(1, 21):
        log.step(f"Época {n}/20 - pérdida: {log.loss(n / 20):.4f} - exactitud: {log.near(.9):.4f}")
    return truth(20, "")


@positive("json_nested_step", "a trainer: {\"event\": \"train\", \"data\": {\"step\": 10, …}}")
def json_nested_step(log):
    for n in range(10, 801, 10):
        log.step(f'{{"ts": {1741680842 + n}.12, "level": "info", "event": "train", "data": {{"step": {n}, "tokens": {n * 524288}, "loss": {log.loss(n / 800):.4f}, "lr": 0.0003, "tok_per_s": {log.near(1e5):.1f}}}}}')
    return truth(800)


@positive("arrow_values", "a script: [12] loss -> 0.42 | acc -> 0.81")
def arrow_values(log):
    for n in range(0, 120):
        log.step(f"[{n}] loss -> {log.loss(n / 120):.4f} | acc -> {log.near(.8):.4f}")
    return truth(119)


@positive("tab_columns", "a script: tab-separated columns, names once")
def tab_columns(log):
    log.line("epoch\ttrain_loss\tval_loss\tlr\tsecs")
    for n in range(0, 40):
        log.step(f"{n}\t{log.loss(n / 40):.5f}\t{log.near(.5):.5f}\t0.001\t{log.near(12.):.1f}")
    return truth(39, "epochs")


@negative("abaqus_increments", "a finite element solver: steps, increments, iterations")
def abaqus_increments(log):
    log.line("SUMMARY OF JOB INFORMATION:\nSTEP  INC ATT SEVERE EQUIL TOTAL  TOTAL      STEP       INC OF\n               DISCON ITERS ITERS  TIME/    TIME/LPF    TIME/LPF")
    for n in range(1, 60):
        log.line(f"   1 {n:>4}   1     0     {n % 4 + 1}     {n % 4 + 1}  {n * .01:.3f}      {n * .01:.3f}      0.01000")


@negative("cp2k_scf", "cp2k/cp2k: SCF iterations of molecular dynamics")
def cp2k_scf(log):
    for n in range(1, 20):
        log.line("  Step     Update method      Time    Convergence         Total energy    Change")
        for k in range(1, 12):
            log.line(f"  {k:>4} OT DIIS     0.80E-01    {log.near(1.):.1f}     {1 / k ** 3:.8f}      {-17.1 + 1 / k ** 4:.10f} -1.02E+00")


@negative("ns3_events", "a network simulation: time and packets")
def ns3_events(log):
    for n in range(1, 200):
        log.line(f"+{n * .25:.2f}s node {n % 7}: sent packet {n} size 1024 to 10.1.1.{n % 7 + 1}, queue {n % 30}")


@negative("web_build", "vite and webpack: modules and chunks")
def web_build(log):
    for n in range(1, 400):
        log.raw(f"\r\x1b[Ktransforming ({n}) src/components/Part{n}.tsx")
    log.line("\n✓ 399 modules transformed.\ndist/index.html  0.46 kB │ gzip: 0.30 kB\n✓ built in 2.31s")


@negative("stress_ng", "ColinIanKing/stress-ng and a burn-in of a disk")
def stress_ng(log):
    for n in range(1, 60):
        log.line(f"stress-ng: info:  [1412] pass {n}: cpu {log.near(1200.):.2f} bogo ops/s, vm {log.near(300.):.2f} bogo ops/s")


@negative("rag_questions", "an evaluation with a judge: question i/N and a score")
def rag_questions(log):
    log.line("Evaluating answers with judge model gpt-4o-mini")
    for n in range(1, 81):
        log.line(f"[{n}/80] question {n}: score {[0.0, .5, 1.0][n % 3]:.1f} (running average {log.near(.7):.3f})")


@negative("tts_sentences", "synthesis: sentence i of N with its real-time factor")
def tts_sentences(log):
    for n in range(1, 60):
        log.line(f" > Processing sentence {n} of 59\n > Processing time: {log.near(1.2)}\n > Real-time factor: {log.near(.3)}")


@negative("upscale_tiles", "xinntao/Real-ESRGAN inference: tiles and pictures")
def upscale_tiles(log):
    for picture in range(4):
        log.line(f"Testing {picture} img_{picture:04}")
        for tile in range(1, 17):
            log.line(f"\tTile {tile}/16")


@negative("particle_filter", "a tracker: frames with a cost of an assignment")
def particle_filter(log):
    for n in range(0, 300):
        log.line(f"frame {n}: 12 detections, 11 tracks, assignment cost {log.near(3.):.3f}, {log.near(28.):.1f} fps")


@negative("battery_log", "a data logger: sample number and measurements in columns")
def battery_log(log):
    log.line("sample    voltage    current    temperature")
    for n in range(0, 200):
        log.line(f"{n:>6}    {log.near(3.7):.4f}    {log.near(.5):.4f}    {log.near(25.):.2f}")


@negative("mpi_steps", "a climate model: model day and step with maxima")
def mpi_steps(log):
    for n in range(0, 2000, 12):
        log.line(f" nstep, te {n:>8}  {log.near(3.3e9):.14E}  {log.near(3.3e9):.14E}  {log.near(-1e-4):.14E}  9.85E+04")


@negative("consensus", "a blockchain node: heights and transactions")
def consensus(log):
    for n in range(100):
        log.line(f"{log.at('%I:%M%p')} INF committed state app_hash=8A11 height={812000 + n} module=state num_txs={n % 9}\n{log.at('%I:%M%p')} INF indexed block events height={812000 + n} module=txindex")
