"""Logs without a training step that were collected as a blind set."""
from .lib import clock, negative, tqdm
from .negative import draw, none, tqdm_run


def each(log, numbers, line):
    for k in numbers:
        log.line(line(k))
    return none()


@negative("pnpm_install", "pnpm/pnpm")
def pnpm(log):
    for k in range(0, 900, 20):
        draw(log, f"Progress: resolved {k}, reused {k * 3 // 4}, downloaded {k // 5}, added {k // 6}")
    log.line("\nDone in 12.4s")
    return none()


@negative("poetry_install", "python-poetry/poetry")
def poetry(log):
    log.line("Installing dependencies from lock file\n\nPackage operations: 60 installs, 0 updates, 0 removals\n")
    return each(log, range(60), lambda k: f"  - Installing package-{k} (1.{k}.2): Downloading... {k * 7 % 100}%\n  - Installing package-{k} (1.{k}.2)")


@negative("go_build", "golang/go: downloads and tests")
def go_build(log):
    each(log, range(40), lambda k: f"go: downloading golang.org/x/mod{k} v0.{k}.1")
    return each(log, range(1, 40), lambda k: f"=== RUN   TestBatch/step_{k}\n--- PASS: TestBatch/step_{k} (0.{k:02d}s)\nok  \texample.com/m/p{k}\t{k / 10:.3f}s")


@negative("maven_build", "apache/maven: modules of a reactor")
def maven(log):
    each(log, range(1, 25), lambda k: f"[INFO] ------------------< org.example:module-{k} >-------------------\n[INFO] Building module-{k} 1.0-SNAPSHOT                              [{k}/24]\n[INFO] Tests run: {k * 3}, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.{k:03d} s")
    return each(log, range(0, 900, 40), lambda k: f"Progress (1): {k}/900 kB")


@negative("docker_pull", "moby/moby: layers")
def docker_pull(log):
    log.line("latest: Pulling from pytorch/pytorch")
    for k in range(0, 60, 2):
        for layer in ("7b1a6ab2e44d", "cab3b0f0e1c2"):
            log.raw(f"\x1b[2A\r{layer}: Downloading [{'=' * (k // 2)}>{' ' * (30 - k // 2)}]  {k * 1.21:.2f}MB/72.6MB\x1b[2B\n")
    log.line("Digest: sha256:0123456789abcdef\nStatus: Downloaded newer image")
    return none()


@negative("git_fetch_submodules", "git/git: remote progress and submodules")
def git_fetch(log):
    for name, total in (("Enumerating objects", 5012), ("Counting objects", 5012), ("Compressing objects", 1800)):
        for k in range(0, 101, 5):
            log.raw(f"remote: {name}: {k:3d}% ({total * k // 100}/{total})\r")
    return each(log, range(1, 15), lambda k: f"Submodule path 'third_party/lib{k}': checked out '{k:040x}'")


@negative("gsutil_copy", "GoogleCloudPlatform/gsutil: [12/400 files]")
def gsutil(log):
    for k in range(0, 401, 4):
        draw(log, f"- [{k}/400 files][{k * .1:5.1f} GiB/ 40.0 GiB] {k // 4:3d}% Done  {log.near(81.):.1f} MiB/s ETA 00:{(400 - k) // 8:02d}:12           ")
    log.line()
    return none()


@negative("rclone_copy", "rclone/rclone: stats blocks")
def rclone(log):
    return each(log, range(1, 60), lambda k: f"Transferred:   \t  {k * .31:.3f} GiB / 18.290 GiB, {k * 100 // 60}%, {log.near(61.):.3f} MiB/s, ETA {5 - k // 12}m{59 - k % 60}s\nTransferred:           {k * 4} / 240, {k * 100 // 60}%\nElapsed time:       {k}.0s")


@negative("aria2_download", "aria2/aria2")
def aria2(log):
    for k in range(0, 100):
        draw(log, f"[#2089b0 {k * 12}MiB/1.1GiB({k}%) CN:8 DL:{int(log.near(81))}MiB ETA:{100 - k}s]")
    log.line("\nDownload Results:\ngid   |stat|avg speed  |path/URI")
    return none()


@negative("tfds_generate", "tensorflow/datasets: nested bars")
def tfds(log):
    log.line("Downloading and preparing dataset 162.17 MiB (download: 162.17 MiB, generated: 132.40 MiB, total: 294.58 MiB)")
    tqdm_run(log, 162, 81, desc="Dl Size...", unit=" MiB")
    for name, total in (("train", 50000), ("test", 10000)):
        tqdm_run(log, total, 60, desc=f"Generating {name} examples...", unit=" examples", speed=3000.)
        tqdm_run(log, total, 9, desc=f"Shuffling /home/user/tensorflow_datasets/cifar10/incomplete/cifar10-{name}.array_record*...", unit=" examples", speed=90000.)
    return none()


@negative("webdataset_shards", "webdataset/webdataset ShardWriter")
def shards(log):
    return each(log, range(60), lambda k: f"# writing out/train-{k:06d}.tar {k * 1000} {k * .3:.1f} GB {k * 1000}")


@negative("pandas_apply", "tqdm/tqdm pandas and a feature script")
def pandas_apply(log):
    tqdm_run(log, 20000, 80, desc="Pandas Apply", speed=4000.)
    tqdm_run(log, 20000, 80, desc="mel spectrograms", speed=400., unit="file")
    return none()


@negative("frames_extraction", "hand-written: OpenCV extracts frames")
def frames(log):
    return each(log, range(0, 3000, 50), lambda k: f"video_0012.mp4: frame {k}/3000 saved ({k / 30:.1f} fps)")


@negative("fio_bench", "axboe/fio")
def fio(log):
    for k in range(1, 60):
        draw(log, f"Jobs: 4 (f=4): [r(4)][{k / .6:.1f}%][r={int(log.near(812))}MiB/s][r={int(log.near(208))}k IOPS][eta 00m:{60 - k:02d}s]")
    log.line("\n  read: IOPS=208k, BW=812MiB/s (852MB/s)(47.6GiB/60001msec)")
    return none()


@negative("ping", "iputils/ping: icmp_seq rises")
def ping(log):
    return each(log, range(1, 80), lambda k: f"64 bytes from 10.0.0.7: icmp_seq={k} ttl=64 time={log.near(.4):.3f} ms")


@negative("nccl_tests", "NVIDIA/nccl-tests: sizes double")
def nccl(log):
    log.line("#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       ")
    return each(log, range(3, 30), lambda k: f"{2 ** k:12d} {2 ** k // 4:13d}     float     sum      -1 {log.near(2 ** k / 1e4 + 12.):8.2f} {log.near(12.):7.2f} {log.near(21.):7.2f}      0 {log.near(2 ** k / 1e4 + 12.):8.2f} {log.near(12.):7.2f} {log.near(21.):7.2f}      0")


@negative("gpu_burn", "wilicc/gpu-burn")
def gpu_burn(log):
    for k in range(1, 100):
        draw(log, f"{k:.1f}%  proc'd: {k * 41} ({int(log.near(14312))} Gflop/s)   errors: 0   temps: {60 + k // 10} C ")
    log.line("\nTested 1 GPUs:\n\tGPU 0: OK")
    return none()


@negative("k6_load", "grafana/k6: iterations of a load test")
def k6(log):
    return each(log, range(1, 60), lambda k: f"running (0m{k:02d}.0s), 10/10 VUs, {k * 12} complete and 0 interrupted iterations\ndefault   [ {k * 100 // 60:3d}% ] 10 VUs  0m{k:02d}.0s/1m0s")


@negative("apache_bench", "apache/httpd ab and wg/wrk")
def ab(log):
    return each(log, range(100, 5001, 100), lambda k: f"Completed {k} requests")


@negative("hyperfine", "sharkdp/hyperfine")
def hyperfine(log):
    for k in range(1, 11):
        log.line(f"Benchmark {k}: ./train --batch {k * 8}\n  Time (mean ± σ):     {log.near(1.2):.3f} s ±  0.012 s    [User: 1.1 s, System: 0.1 s]\n  Range (min … max):    1.1 s …  1.3 s    10 runs")
    return none()


@negative("torch_benchmark", "hand-written inference benchmark: warm-up and timed iterations")
def torch_benchmark(log):
    log.line("Model: resnet50, batch size 32, device cuda:0\nWarming up...")
    each(log, range(0, 200, 10), lambda k: f"Inference iteration {k}/200: {log.near(12.):.2f} ms, {log.near(2600.):.1f} images/s")
    log.line("mean 12.1 ms, p50 12.0 ms, p99 14.1 ms, throughput 2612.3 images/s")
    return none()


@negative("sglang_server", "sgl-project/sglang scheduler lines")
def sglang(log):
    return each(log, range(60), lambda k: f"[{log.tick(4).strftime('%Y-%m-%d %H:%M:%S')}] Decode batch, #running-req: {10 + k % 9}, #token: {4096 + k * 61}, token usage: {.1 + k / 300:.2f}, cuda graph: True, gen throughput (token/s): {log.near(812.):.2f}, #queue-req: {k % 4}\n[{log.at()}] Prefill batch, #new-seq: {1 + k % 3}, #new-token: {512 + k % 90}, #cached-token: {k * 31}, token usage: {.1 + k / 300:.2f}, #running-req: {10 + k % 9}, #queue-req: 0")


@negative("ollama_pull", "ollama/ollama")
def ollama(log):
    for k in range(0, 101):
        log.raw(f"\x1b[1A\x1b[Kpulling manifest \npulling 6a0746a1ec1a... {k:3d}% ▕{'█' * (k // 5):20}▏ {k * 47}MB/4.7GB   {int(log.near(61))} MB/s     {100 - k}s")
    log.line("\nverifying sha256 digest \nwriting manifest \nsuccess")
    return none()


@negative("triton_server", "triton-inference-server: requests by model")
def triton(log):
    return each(log, range(1, 60), lambda k: f"I0311 09:14:{k:02d}.318021 1 infer_handler.cc:{600 + k % 30}] \"Process for ModelInferHandler, rpc_ok=1, {k} step START\"\nI0311 09:14:{k:02d}.319 1 infer_request.cc:131] \"[request id: {k}] Setting state from INITIALIZED to PENDING\"")


@negative("snakemake", "snakemake/snakemake: '12 of 40 steps (30%) done'")
def snakemake(log):
    return each(log, range(1, 41), lambda k: f"[Tue Mar 11 09:14:{k % 60:02d} 2025]\nrule align:\n    input: reads/{k}.fq\n    output: bam/{k}.bam\n    jobid: {k}\n[Tue Mar 11 09:15:{k % 60:02d} 2025]\nFinished job {k}.\n{k} of 40 steps ({k * 100 // 40}%) done")


@negative("nextflow", "nextflow-io/nextflow")
def nextflow(log):
    for k in range(0, 31):
        log.raw(f"\x1b[2Aexecutor >  local ({k})\n[{k:02x}/abc123] process > ALIGN ({k}) [{k * 100 // 30:3d}%] {k} of 30\n")
    return none()


@negative("bwa_mem", "lh3/bwa")
def bwa(log):
    return each(log, range(1, 40), lambda k: f"[M::process] read {400000 + k % 90} sequences (40000{k % 10} bp)...\n[M::mem_process_seqs] Processed {400000 + k % 90} reads in {log.near(81.):.3f} CPU sec, {log.near(10.):.3f} real sec")


@negative("ipopt", "coin-or/Ipopt: table of a solver")
def ipopt(log):
    for k in range(60):
        if k % 10 == 0:
            log.line("iter    objective    inf_pr   inf_du lg(mu)  ||d||  lg(rg) alpha_du alpha_pr  ls")
        log.line(f"{k:4d}  {log.near(12.) - k / 90:.7e} {log.near(1e-3):.2e} {log.near(1e-2):.2e}  -{1 + k / 20:.1f} {log.near(.1):.2e}    -  {log.near(.9):.2e} {log.near(.9):.2e}f  1")
    log.line("Number of Iterations....: 59\nEXIT: Optimal Solution Found.")
    return none("the iterations of a solver")


@negative("osqp", "osqp/osqp: table of a solver")
def osqp(log):
    log.line("-----------------------------------------------------------------\n           OSQP v0.6.3  -  Operator Splitting QP Solver\n-----------------------------------------------------------------\niter   objective    prim res   dual res   rho        time")
    each(log, [1, *range(200, 4001, 200)], lambda k: f"{k:4d}  {-log.near(12.):.4e}   {log.near(1e-2):.2e}   {log.near(1e-2):.2e}   1.00e-01   {k * 1e-5:.2e}s")
    log.line("status:               solved\nnumber of iterations: 4000")
    return none("the iterations of a solver")


@negative("stan_sampling", "stan-dev/cmdstan: Iteration 100 / 2000 (Warmup)")
def stan(log):
    for chain in range(1, 5):
        each(log, range(0, 2001, 100), lambda k: f"Chain {chain}: Iteration: {max(1, k):4d} / 2000 [{k // 20:3d}%]  ({'Warmup' if k <= 1000 else 'Sampling'})")
        log.line(f"Chain {chain}:  Elapsed Time: {log.near(.4):.3f} seconds (Warm-up)")
    return none("sampling, without a loss")


@negative("folds", "hand-written cross-validation: one line for each fold")
def folds(log):
    return each(log, range(1, 11), lambda k: f"Fold {k}/10: accuracy {log.near(.8):.4f}, AUC {log.near(.9):.4f}, n_train {900 + k % 3}, n_test 100")


@negative("eval_batches", "hand-written evaluation of a checkpoint in batches")
def eval_batches(log):
    log.line("Loaded checkpoint checkpoints/best.pt (epoch 40, step 12000)\nEvaluating on test set: 5000 images, 157 batches")
    each(log, range(0, 157, 5), lambda k: f"[eval] batch {k}/157  loss {log.near(.9):.4f}  top1 {log.near(71.):.2f}  top5 {log.near(90.):.2f}")
    log.line("Test: loss 0.9121 top1 71.12 top5 90.12")
    return none("an evaluation")


@negative("clip_zeroshot", "openai/CLIP zero-shot evaluation")
def clip_zeroshot(log):
    log.line("1000 classes, 80 templates")
    tqdm_run(log, 1000, 100, speed=12., desc="Zero-shot classifier")
    tqdm_run(log, 196, 98, speed=3., desc="ImageNet val")
    log.line("Top-1 accuracy: 63.31\nTop-5 accuracy: 88.12")
    return none()


@negative("fid_scores", "mseitzer/pytorch-fid: bars without words")
def fid(log):
    tqdm_run(log, 200, 100, speed=3.)
    tqdm_run(log, 200, 100, speed=3.)
    log.line("FID:  12.312")
    return none()


@negative("beam_decode", "espnet2 asr_inference: utterances with their scores")
def beam_decode(log):
    return each(log, range(1, 60), lambda k: f"{log.ms()} (asr_inference:{700 + k % 9}) INFO: speech length: {16000 + k * 31}\n{log.ms()} (beam_search:363) INFO: decoder input length: {120 + k % 30}\n{log.ms()} (beam_search:401) INFO: {-log.near(12.):6.2f} * 0.5 = {-log.near(6.):6.2f} for decoder\n{log.ms()} (beam_search:410) INFO: total log probability: {-log.near(12.):.2f}")


@negative("coremltools_convert", "apple/coremltools: passes")
def coreml(log):
    for name, total, unit in (("Converting PyTorch Frontend ==> MIL Ops", 812, " ops"), ("Running MIL frontend_pytorch pipeline", 5, " passes"), ("Running MIL default pipeline", 95, " passes"), ("Running MIL backend_mlprogram pipeline", 12, " passes")):
        tqdm_run(log, total, min(60, total), desc=name, unit=unit, speed=200.)
    return none()


@negative("onnx_export", "pytorch/pytorch torch.onnx with verbose node lists")
def onnx_export(log):
    each(log, range(1, 80), lambda k: f"  %{k} : Float(1, 64, 112, 112, strides=[802816, 12544, 112, 1]) = onnx::Conv[dilations=[1, 1], group=1](%{k - 1}, %conv{k}.weight)")
    log.line("[torch.onnx] Run decomposition... ✅\n[torch.onnx] Translate the graph into ONNX... ✅")
    return none()


@negative("awq_layers", "mit-han-lab/llm-awq, casper-hansen/AutoAWQ: a bar of layers with a loss")
def awq(log):
    tqdm_run(log, 32, 32, desc="AWQ", speed=.1)
    log.line("Calibrating...")
    for k in range(1, 33):
        tqdm_run(log, 512, 16, desc=f"({k}/33): Calibrating", speed=200.)
        log.line(f"2025-03-11T09:14:02 | compress_modules | INFO - Quantizing model.layers.{k}.self_attn.q_proj using 512 samples\n2025-03-11T09:14:04 | compress | METRIC - time {log.near(1.2):.2f}\n2025-03-11T09:14:04 | compress | METRIC - error {log.near(312.):.2f}")
    return none("quantisation")


@negative("hnsw_index", "nmslib/hnswlib and a vector store: elements added")
def hnsw(log):
    return each(log, range(10000, 600001, 10000), lambda k: f"Index: {k} / 1000000, {log.near(12.):.2f} ms per 1000, Mem: {k // 900} Mb")


@negative("pynndescent", "lmcinnes/pynndescent: iterations of NN descent")
def nn_descent(log):
    log.line("Tue Mar 11 09:14:02 2025 Building RP forest with 15 trees\nTue Mar 11 09:14:04 2025 NN descent for 17 iterations")
    each(log, range(1, 18), lambda k: f"\t {k}  /  17")
    log.line("\tStopping threshold met -- exiting after 17 iterations")
    return none("an index")


@negative("lucene_indexing", "hand-written: documents added to a search index")
def lucene(log):
    return each(log, range(10000, 500001, 10000), lambda k: f"09:14:{k // 10000:02d} INFO  IndexCollection - {k} documents indexed, {log.near(4100.):.1f} docs/s, heap {log.near(812.):.0f} MB")


@negative("dataset_statistics", "hand-written: counts by class and statistics of a data set")
def dataset_statistics(log):
    each(log, range(60), lambda k: f"class {k:3d}: {500 + k * 3} images, mean {log.near(.4):.4f}, std {log.near(.2):.4f}")
    log.line("total: 35310 images in 60 classes; train 31779, val 3531")
    return none()


@negative("sweep_agent", "wandb/wandb agent: parameters of runs")
def sweep(log):
    return each(log, range(1, 20), lambda k: f"wandb: Agent Starting Run: {k:08x} with config:\nwandb: \tbatch_size: {8 * k}\nwandb: \tepochs: {k}\nwandb: \tlearning_rate: {log.near(.001)}\nwandb: \tnum_steps: {1000 * k}")


@negative("time_heartbeat", "hand-written: uptime, queue and temperature each second")
def heartbeat(log):
    return each(log, range(1, 100), lambda k: f"{log.tick(1).strftime('%H:%M:%S')} uptime={k}s queue={k % 7} temp={log.near(61.):.1f}C load={log.near(.8):.2f}")


@negative("gcc_compile", "gcc and nvcc command lines with numbered units")
def gcc(log):
    return each(log, range(1, 80), lambda k: f"gcc -O2 -c src/kernel_{k}.c -o build/kernel_{k}.o\nsrc/kernel_{k}.c:{k * 3}:12: warning: unused variable 'step' [-Wunused-variable]")


@negative("whisper_cpp", "ggml-org/whisper.cpp transcription progress")
def whisper_cpp(log):
    for k in range(5, 101, 5):
        log.line(f"whisper_print_progress_callback: progress = {k:3d}%\n[00:0{k // 20}:{k % 60:02d}.000 --> 00:0{k // 20}:{k % 60:02d}.980]   and there were {k} of them")
    return none()


@negative("mc_simulation", "hand-written Monte Carlo simulation: paths and an estimate")
def monte_carlo(log):
    return each(log, range(1000, 60001, 1000), lambda k: f"paths {k}/60000  estimate {log.near(10.):.4f} +/- {10 / k ** .5:.4f}  elapsed {clock(k / 900)}")


@negative("checksum_verify", "hand-written: checksums of shards with a bar")
def checksum(log):
    for k in range(0, 401, 4):
        draw(log, tqdm(k, 400, k / 20, desc="Verifying checksums", unit="shard"))
    log.line("\nall 400 shards OK")
    return none()


@negative("image_captioning", "hand-written inference: a caption for each image")
def captioning(log):
    return each(log, range(1, 80), lambda k: f"[{k}/80] image_{k:04d}.jpg -> a man stands near {k % 7} horses ({log.near(.4):.2f}s, score {log.near(.8):.3f})")
