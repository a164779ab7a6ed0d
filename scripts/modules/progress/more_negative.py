"""Further logs without any training step: evaluation, inference, clustering, quantisation, data work, benchmarks, builds."""
from .lib import clock, negative, tqdm
from .negative import draw, none, tqdm_run


@negative("sklearn_kmeans", "scikit-learn/scikit-learn sklearn/cluster/_kmeans.py (verbose=1)")
def kmeans(log):
    for run in range(10):
        log.line("Initialization complete")
        for it in range(20):
            log.line(f"Iteration {it}, inertia {90000 - 400 * it + run:.3f}.")
        log.line("Converged at iteration 19: center shift 0.0001 within tolerance 0.0002.")
    return none()


@negative("bigcode_eval", "bigcode-project/bigcode-evaluation-harness: generation bar without words")
def bigcode_eval(log):
    log.line("Selected Tasks: ['humaneval']\nLoading model in fp16\nnumber of problems for this task is 164")
    tqdm_run(log, 164, 82, speed=.4)
    log.line("generations were saved at generations_humaneval.json\nEvaluating generations...")
    log.line('{\n  "humaneval": {\n    "pass@1": 0.3109\n  },\n  "config": {\n    "n_samples": 1,\n    "batch_size": 1\n  }\n}')
    return none()


@negative("sentence_embeddings", "UKPLab/sentence-transformers SentenceTransformer.encode (bar 'Batches')")
def encode(log):
    log.line("Load pretrained SentenceTransformer: all-MiniLM-L6-v2")
    for n in (32, 157, 1250):
        tqdm_run(log, n, 30, desc="Batches", speed=21.)
    return none()


@negative("autogptq", "AutoGPTQ/AutoGPTQ auto_gptq/modeling/_base.py, quantization/gptq.py")
def autogptq(log):
    for layer in range(1, 33):
        log.line(f"INFO - Start quantizing layer {layer}/32")
        for name in ("self_attn.k_proj", "self_attn.v_proj", "mlp.gate_proj"):
            log.line(f"INFO - Quantizing {name} in layer {layer}/32...")
            log.line(f"INFO - duration: {log.near(1.2)}\nINFO - avg loss: {log.near(3.)}")
    return none("a loss for each layer; layers are no steps")


@negative("llama_cpp_quantize", "ggml-org/llama.cpp tools/quantize")
def llama_quantize(log):
    for k in range(1, 292):
        log.line(f"[{k:4d}/ 291]             blk.{k // 9}.attn_k.weight - [ 4096,  1024,     1,     1], type =    f16, converting to q4_K .. size =     8.00 MiB ->     2.25 MiB")
    log.line("llama_model_quantize_impl: model size  = 14324.51 MB\nllama_model_quantize_impl: quant size  =  4165.37 MB")
    return none()


@negative("llama_cpp_perplexity", "ggml-org/llama.cpp tools/perplexity")
def llama_perplexity(log):
    log.line("perplexity: tokenizing the input ..\nperplexity: tokenization took 812.2 ms\nperplexity: calculating perplexity over 655 chunks, n_ctx=512, batch_size=2048, n_seq=4\nperplexity: 2.31 seconds per pass - ETA 6.30 minutes")
    for k in range(1, 200):
        log.raw(f"[{k}]{log.near(5.8):.4f},")
    log.line("\nFinal estimate: PPL = 5.8121 +/- 0.03211")
    return none("an evaluation")


@negative("joblib_parallel", "joblib/joblib joblib/parallel.py (verbose)")
def joblib(log):
    log.line("[Parallel(n_jobs=2)]: Using backend LokyBackend with 2 concurrent workers.")
    for k in range(1, 500, 9):
        log.line(f"[Parallel(n_jobs=2)]: Done {k:3d} tasks      | elapsed: {k / 9:6.1f}s")
    log.line("[Parallel(n_jobs=2)]: Done 500 out of 500 | elapsed:   55.2s finished")
    return none()


@negative("sklearn_grid_search", "scikit-learn/scikit-learn sklearn/model_selection/_validation.py (verbose=3)")
def grid_search(log):
    log.line("Fitting 5 folds for each of 24 candidates, totalling 120 fits")
    for c in range(24):
        for fold in range(1, 6):
            log.line(f"[CV {fold}/5] END ............C={c}, gamma=0.{c:02d};, score={log.near(.9):.3f} total time=   {log.near(1.2):.1f}s")
    return none("folds of a search, each a whole training")


@negative("spark_stages", "apache/spark console bar and TaskSetManager lines")
def spark(log):
    for k in range(0, 200, 2):
        log.raw(f"\r[Stage 3:{'=' * (k // 4)}>{' ' * (50 - k // 4)}({k} + 4) / 200]")
    log.line()
    for k in range(1, 201):
        log.tick(1)
        log.line(f"{log.at('%y/%m/%d %H:%M:%S')} INFO TaskSetManager: Finished task {k - 1}.0 in stage 3.0 (TID {k + 400}) in {int(log.near(312))} ms on 10.0.0.7 (executor 1) ({k}/200)")
    return none()


@negative("scrapy_crawl", "scrapy/scrapy extensions/logstats.py")
def scrapy(log):
    for k in range(1, 80):
        log.tick(60)
        log.line(f"{log.at()} [scrapy.extensions.logstats] INFO: Crawled {k * 61} pages (at 61 pages/min), scraped {k * 40} items (at 40 items/min)")
    return none()


@negative("yt_dlp", "yt-dlp/yt-dlp downloads of a playlist")
def yt_dlp(log):
    for item in range(1, 21):
        log.line(f"[download] Downloading item {item} of 20\n[youtube] abcdefg{item}: Downloading webpage")
        for k in range(0, 101, 5):
            log.raw(f"\r[download] {k:5.1f}% of  45.62MiB at    {log.near(4.):.2f}MiB/s ETA 00:{20 - k // 5:02d}")
        log.line()
    return none()


@negative("bazel_build", "bazelbuild/bazel progress lines")
def bazel(log):
    for k in range(1, 2000, 7):
        log.line(f"[{k:,} / 2,341] Compiling src/core/part{k}.cc; {k % 9}s linux-sandbox ... (8 actions running)")
    log.line("INFO: Build completed successfully, 2341 total actions")
    return none()


@negative("criterion_bench", "bheisler/criterion.rs output")
def criterion(log):
    for k in range(1, 31):
        log.line(f"Benchmarking parse/{k * 16}: Warming up for 3.0000 s\nBenchmarking parse/{k * 16}: Collecting 100 samples in estimated 5.0{k:03d} s ({k * 31}k iterations)\nBenchmarking parse/{k * 16}: Analyzing")
        log.line(f"parse/{k * 16}                time:   [{k * 1.1:.4f} µs {k * 1.2:.4f} µs {k * 1.3:.4f} µs]")
    return none()


@negative("locust_table", "locustio/locust console statistics")
def locust(log):
    for k in range(1, 60):
        log.line("Type     Name                  # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s")
        log.line(f"GET      /items               {k * 101:7d}     0(0.00%) |     {int(log.near(31))}       4     {int(log.near(200))}     28 |   {log.near(50.):.2f}        0.00")
        log.line(f"         Aggregated           {k * 101:7d}     0(0.00%) |     {int(log.near(31))}       4     {int(log.near(200))}     28 |   {log.near(50.):.2f}        0.00\n")
    return none("a table whose first number rises")


@negative("pgbench", "postgres/postgres src/bin/pgbench (progress lines, then vacuum)")
def pgbench(log):
    for k in range(1, 80):
        log.line(f"progress: {k * 5}.0 s, {log.near(1234.):.1f} tps, lat {log.near(8.):.3f} ms stddev {log.near(1.):.3f}, 0 failed")
    for k in range(100000, 3000001, 100000):
        log.line(f"{k} of 3000000 tuples ({k * 100 // 3000000}%) done (elapsed {k / 1e6:.2f} s, remaining {3 - k / 1e6:.2f} s)")
    return none()


@negative("blender_render", "blender/blender Cycles status lines")
def blender(log):
    for frame in range(1, 9):
        for sample in range(0, 129, 8):
            log.line(f"Fra:{frame} Mem:130.00M (Peak 140.01M) | Time:00:{sample // 4:02d}.21 | Remaining:00:{32 - sample // 4:02d}.01 | Mem:61.02M, Peak:61.02M | Scene, ViewLayer | Sample {sample}/128")
        log.line(f"Saved: '/tmp/{frame:04d}.png'\n Time: 00:34.12 (Saving: 00:00.31)\n")
    return none("rendering: samples of a picture")


@negative("colmap", "colmap/colmap feature extraction, matching and mapping")
def colmap(log):
    for k in range(1, 129):
        log.line(f"Processed file [{k}/128]\n  Name:            img_{k:04d}.jpg\n  Dimensions:      1920 x 1080\n  Features:        {int(log.near(9000))}")
    for k in range(1, 14):
        log.line(f"Matching block [{k}/13, {k}/13] in {log.near(2.):.3f}s")
    for k in range(3, 60):
        log.line(f"Registering image #{k} ({k + 1})\n=> Image sees {int(log.near(900))} / {int(log.near(2000))} points\nRetriangulation and global bundle adjustment\n=> Completed observations: {k}")
    return none()


@negative("mmengine_test", "open-mmlab/mmengine test loop: Epoch(test) lines alone")
def mmengine_test(log):
    for k in range(50, 626, 25):
        log.tick(3)
        log.line(f"{log.at('%m/%d %H:%M:%S')} - mmengine - INFO - Epoch(test) [{k:3d}/625]    eta: 0:0{2 - k // 300}:12  time: {log.near(.2):.4f}  data_time: {log.near(.01):.4f}  memory: 711  ")
    log.line(f"{log.at('%m/%d %H:%M:%S')} - mmengine - INFO - Epoch(test) [625/625]    coco/bbox_mAP: 0.3740  coco/bbox_mAP_50: 0.5810  data_time: 0.0101  time: 0.2011")
    return none("an evaluation")


@negative("detectron2_inference", "facebookresearch/detectron2 detectron2/evaluation/evaluator.py alone")
def detectron2_inference(log):
    log.line(f"[03/11 09:14:02 d2.evaluation.evaluator]: Start inference on 5000 batches")
    for k in range(11, 5001, 60):
        log.line(f"[03/11 09:{14 + k // 600:02d}:07 d2.evaluation.evaluator]: Inference done {k}/5000. Dataloading: {log.near(.001):.4f} s/iter. Inference: {log.near(.05):.4f} s/iter. Eval: {log.near(.0003):.4f} s/iter. Total: {log.near(.05):.4f} s/iter. ETA=0:04:{59 - k // 90:02d}")
    log.line("[03/11 09:24:07 d2.evaluation.evaluator]: Total inference time: 0:04:12.112311 (0.050441 s / iter per device, on 1 devices)")
    return none("an evaluation")


@negative("diffusion_server", "AUTOMATIC1111/stable-diffusion-webui: a bar without words for each picture, and a total bar")
def diffusion_server(log):
    log.line("Loading weights [6ce0161689] from model.safetensors\nModel loaded in 4.1s (load weights from disk: 0.6s, create model: 0.9s)\nRunning on local URL:  http://127.0.0.1:7860")
    for picture in range(6):
        for k in range(0, 21):
            draw(log, tqdm(k, 20, k / 4))
        log.line()
        draw(log, tqdm(20 * (picture + 1), 120, 5. * (picture + 1), desc="Total progress"))
    log.line()
    return none("sampling")


@negative("vllm_bench", "vllm-project/vllm benchmarks/benchmark_serving.py (bar without words)")
def vllm_bench(log):
    log.line("Namespace(backend='vllm', host='127.0.0.1', port=8000, num_prompts=1000, request_rate=inf, seed=0)\nStarting initial single prompt test run...\nInitial test run completed. Starting main benchmark run...\nTraffic request rate: inf")
    tqdm_run(log, 1000, 90, speed=21.)
    log.line("============ Serving Benchmark Result ============\nSuccessful requests:                     1000\nBenchmark duration (s):                  47.12\nMean TTFT (ms):                          9121.44")
    return none("a benchmark")


@negative("hyperopt", "hyperopt/hyperopt bar in trials with the best loss")
def hyperopt(log):
    for k in range(0, 101):
        draw(log, tqdm(k, 100, k * 1.3, unit="trial", postfix=f"best loss: {log.near(.2):.6f}"))
    log.line()
    return none("trials, each a whole training")


@negative("dask_bar", "dask/dask diagnostics/progress.py")
def dask(log):
    for k in range(0, 101):
        log.raw(f"\r[{'#' * (k * 40 // 100):<40}] | {k}% Completed | {k / 4:.2f} s")
    log.line()
    return none()


@negative("ray_data", "ray-project/ray ray.data execution bars")
def ray_data(log):
    for k in range(0, 201, 4):
        draw(log, tqdm(k, 200, k / 9., desc="Running: 4.0/4.0 CPU, 0.0/0.0 GPU, 1.2GiB/2.1GiB object_store_memory", unit="row"))
        draw(log, tqdm(k, 200, k / 9., desc="- MapBatches(tokenize): 4 active, 12 queued", unit="row"))
    log.line()
    return none()


@negative("img2dataset", "rom1504/img2dataset img2dataset/logger.py")
def img2dataset(log):
    for k in range(1, 80):
        log.line(f"worker  - success: {log.near(.9):.3f} - failed to download: 0.081 - failed to resize: 0.000 - images per sec: {int(log.near(90))} - count: 10000")
        log.line(f"total   - success: {log.near(.9):.3f} - failed to download: 0.081 - failed to resize: 0.000 - images per sec: {int(log.near(700))} - count: {k * 10000}")
    return none("a download; its images are no samples of a training")


@negative("demucs_separate", "facebookresearch/demucs separation bar in seconds")
def demucs(log):
    log.line("Separated tracks will be stored in /tmp/separated/htdemucs\nSeparating track song.mp3")
    for k in range(0, 188, 6):
        draw(log, f"{k * 100 // 187:3d}%|{'█' * (k // 19):<10}| {k * 1.0:.1f}/187.2 [{clock(k / 9)}<{clock(21 - k / 9)}, {log.near(9.):.2f}seconds/s]")
    log.line()
    return none()


@negative("nnunet_predict", "MIC-DKFZ/nnUNet nnunetv2/inference: a bar without words for each case")
def nnunet(log):
    for case in range(8):
        log.line(f"\nPredicting case_{case:03d}:\nperform_everything_on_device: True")
        for k in range(0, 13):
            draw(log, tqdm(k, 12, k * 2.1))
        log.line()
        log.line("sending off prediction to background worker for resampling and export\ndone with case_%03d" % case)
    return none("inference")


@negative("colabfold", "sokrypton/ColabFold colabfold/batch.py (recycles with their scores)")
def colabfold(log):
    for query in range(1, 6):
        log.line(f"{log.ms()} Query {query}/5: protein_{query} (length 211)")
        for model in range(1, 6):
            for recycle in range(4):
                log.line(f"{log.ms()} alphafold2_ptm_model_{model}_seed_000 recycle={recycle} pLDDT={log.near(82.):.3g} pTM={log.near(.7):.3g}" + (f" tol={log.near(1.2):.3g}" if recycle else ""))
            log.line(f"{log.ms()} alphafold2_ptm_model_{model}_seed_000 took {log.near(31.):.1f}s (3 recycles)")
    return none("inference")


@negative("trtexec", "NVIDIA/TensorRT samples/trtexec")
def trtexec(log):
    for k in range(60):
        log.line(f"[03/11/2025-09:14:02] [I] Average on 10 runs - GPU latency: {log.near(1.2):.6g} ms - Host latency: {log.near(1.4):.6g} ms (enqueue {log.near(.2):.6g} ms)")
    for k in range(1, 90):
        log.line(f"[03/11/2025-09:14:02] [V] [TRT] --------------- Timing Runner: Conv_{k} + Relu_{k} (CaskConvolution)\n[03/11/2025-09:14:02] [V] [TRT] Tactic: 0x{k * 7919:016x} Time: {log.near(.1):.6g}")
    return none()


@negative("git_lfs", "git-lfs/git-lfs and aws/aws-cli transfers")
def git_lfs(log):
    for k in range(0, 101, 2):
        log.raw(f"\rDownloading LFS objects: {k:3d}% ({k}/100), {k * 12} MB | {log.near(12.):.1f} MB/s")
    log.line()
    for k in range(1, 120):
        log.raw(f"\rCompleted {k * 10.1:.1f} MiB/1.2 GiB ({log.near(90.):.1f} MiB/s) with {120 - k} file(s) remaining")
    log.line()
    return none()


@negative("mteb_eval", "embeddings-benchmark/mteb: tasks, splits and bars of encodings")
def mteb(log):
    for task in range(1, 9):
        log.line(f"INFO:mteb.evaluation.MTEB:\n\n********************** Evaluating STS{task} **********************\nINFO:mteb.evaluation.MTEB:Loading dataset for STS{task}")
        tqdm_run(log, 98, 14, desc="Batches", speed=30.)
        log.line(f"INFO:mteb.evaluation.MTEB:Evaluation for STS{task} on test took {log.near(9.):.2f} seconds\nINFO:mteb.evaluation.MTEB:Scores: {{'cos_sim': {{'pearson': {log.near(.8):.6f}, 'spearman': {log.near(.8):.6f}}}, 'evaluation_time': 9.1}}")
    return none("an evaluation")


@negative("robot_rollout", "evaluation of a policy: 'Episode 3: reward 21.0' of rollouts after 'Evaluating policy' (huggingface/lerobot lerobot_eval)")
def rollout(log):
    log.line("INFO Making environment.\nINFO Making policy.\nINFO Evaluating policy")
    for k in range(0, 51):
        draw(log, tqdm(k, 50, k * 3., desc="Stepping through eval batches", postfix=f"running_success_rate={log.near(60.):.1f}%"))
    for episode in range(5):
        for k in range(0, 301, 20):
            draw(log, tqdm(k, 300, k / 30, desc="Running rollout with at most 300 steps", postfix=f"running_success_rate={log.near(60.):.1f}%"))
        log.line()
    return none("an evaluation")


@negative("web_pages_numbered", "hand-written scraper: 'Page 3: 20 results, 0.41 s'")
def pages(log):
    for k in range(1, 120):
        log.line(f"Page {k}: 20 results, {log.near(.4):.2f} s, total {k * 20}")
    return none()


@negative("simulated_batches", "hand-written data export: 'Batch 3/200 written: 512 rows in 0.4 s'")
def export(log):
    for k in range(1, 201):
        log.line(f"Batch {k}/200 written: 512 rows in {log.near(.4):.2f} s")
    return none("a data export")
