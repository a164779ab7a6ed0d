"""Logs without any training step: installs, builds, downloads, datasets, evaluation, serving, monitors, dumps."""
import json
from datetime import timedelta

from .lib import clock, filled, negative, sized, tqdm


def none(notes=""):
    return dict(notes=notes)


def draw(log, text):
    log.raw("\r" + text)


def tqdm_run(log, total, points, desc="", speed=100.0, unit="it", scale=False, end=True, pty=None):
    for k in range(points + 1):
        n = total * k // points
        draw(log, tqdm(n, total, n / speed, desc=desc, unit=unit, scale=scale, ncols=pty))
    if end:
        log.line()


@negative("pip_install", "pypa/pip (rich bars on a terminal)")
def pip(log):
    log.pty = True
    for name, size in (("torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl", 887.9), ("numpy-2.2.1-cp311-cp311-manylinux_2_17_x86_64.whl", 16.4), ("transformers-4.57.0-py3-none-any.whl", 12.0)):
        log.line(f"Collecting {name.split('-')[0]}")
        log.line(f"  Downloading {name} ({size} MB)")
        for k in range(0, 41):
            done = "━" * k
            draw(log, f"\x1b[2K     \x1b[38;5;70m{done}\x1b[0m\x1b[38;5;237m{'━' * (40 - k)}\x1b[0m \x1b[32m{size * k / 40:.1f}/{size} MB\x1b[0m \x1b[31m{log.near(31.):.1f} MB/s\x1b[0m eta \x1b[36m0:00:{(40 - k) // 2:02d}\x1b[0m")
        log.line()
    log.line("Installing collected packages: mpmath, typing-extensions, sympy, numpy, torch, transformers")
    for k in range(0, 7):
        draw(log, f"\x1b[2K   \x1b[38;5;70m{'━' * (k * 6)}\x1b[0m\x1b[38;5;237m{'━' * (36 - k * 6)}\x1b[0m \x1b[32m{k}/6\x1b[0m [torch]")
    log.line("\nSuccessfully installed mpmath-1.3.0 numpy-2.2.1 sympy-1.13.1 torch-2.8.0 transformers-4.57.0 typing-extensions-4.12.2")
    return none()


@negative("pip_install_pipe", "pypa/pip (pipe)")
def pip_pipe(log):
    for k in range(60):
        log.line(f"Collecting package{k}>=1.{k}")
        log.line(f"  Downloading package{k}-1.{k}.2-py3-none-any.whl (1{k % 10}.{k % 7} kB)")
    log.line("Installing collected packages: " + ", ".join(f"package{k}" for k in range(60)))
    return none()


@negative("apt_install", "Debian apt-get")
def apt(log):
    log.line("Reading package lists...\nBuilding dependency tree...\nReading state information...")
    log.line("0 upgraded, 48 newly installed, 0 to remove and 3 not upgraded.\nNeed to get 61.2 MB of archives.")
    for k in range(1, 49):
        log.line(f"Get:{k} http://deb.debian.org/debian bookworm/main amd64 libpart{k} amd64 {k}.{k % 9}-1 [{k * 31} kB]")
    log.line("Fetched 61.2 MB in 4s (15.1 MB/s)")
    draw(log, "(Reading database ... ")
    for k in range(5, 101, 5):
        draw(log, f"(Reading database ... {k}%")
    log.line("\r(Reading database ... 31221 files and directories currently installed.)")
    for k in range(1, 49):
        log.line(f"Preparing to unpack .../{k:02d}-libpart{k}_{k}.{k % 9}-1_amd64.deb ...\nUnpacking libpart{k}:amd64 ({k}.{k % 9}-1) ...")
    for k in range(0, 101, 4):
        log.raw(f"\x1b7\x1b[24;0f\x1b[42m\x1b[30mProgress: [{k:3d}%]\x1b[49m\x1b[39m [{'#' * (k // 3)}{'.' * (34 - k // 3)}] \x1b8")
        log.line(f"Setting up libpart{1 + k // 3}:amd64 (1.{k % 9}-1) ...")
    return none()


@negative("npm_install", "npm/cli")
def npm(log):
    for k in range(80):
        log.raw(f"\r\x1b[K{'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[k % 10]} reify:pkg-{k}: timing reifyNode:node_modules/pkg-{k} Completed in {400 + 13 * k}ms")
    log.line("\nadded 812 packages, and audited 813 packages in 31s\n\n142 packages are looking for funding\n  run `npm fund` for details\n\nfound 0 vulnerabilities")
    return none()


@negative("cargo_build", "rust-lang/cargo (terminal)")
def cargo(log):
    log.pty = True
    for k in range(1, 91):
        log.line(f"\r\x1b[K\x1b[1m\x1b[32m   Compiling\x1b[0m crate-{k} v0.{k}.1")
        done = k * 36 // 90
        log.raw(f"\x1b[1m\x1b[36m    Building\x1b[0m [{'=' * max(0, done - 1)}>{' ' * (36 - done)}] {k}/91: crate-{k}, crate-{k + 1}\r")
    log.line("\x1b[K\x1b[1m\x1b[32m    Finished\x1b[0m `dev` profile [unoptimized + debuginfo] target(s) in 41.21s")
    return none()


@negative("docker_build", "docker/cli classic builder: Step 3/12 :")
def docker_build(log):
    log.line("Sending build context to Docker daemon  41.47MB")
    for k, text in enumerate(["FROM python:3.11-slim", "WORKDIR /app", "COPY requirements.txt .", "RUN pip install -r requirements.txt", "COPY . .", "ENV A=1", "ENV B=2", "RUN make data", "RUN python setup.py develop", "EXPOSE 8080", "USER app", 'CMD ["python", "train.py"]'], 1):
        log.line(f"Step {k}/12 : {text}")
        log.line(f" ---> Running in {k * 9111:012x}" if text.startswith("RUN") else f" ---> {k * 7919:012x}")
        if text.startswith("RUN pip"):
            for p in range(8):
                log.line(f"Collecting dep{p}")
        log.line(f"Removing intermediate container {k * 9111:012x}" if text.startswith("RUN") else f" ---> Using cache")
    log.line("Successfully built 1b2c3d4e5f60\nSuccessfully tagged trainer:latest")
    return none("'Step k/12 :' looks like a step with a plan")


@negative("docker_buildkit", "moby/buildkit plain progress")
def buildkit(log):
    for k in range(1, 25):
        log.line(f"#{k} [{min(k, 9)}/9] RUN make part{k}")
        for j in range(4):
            log.line(f"#{k} {j}.{100 + 31 * j} building part {j} of 4")
        log.line(f"#{k} DONE {k % 7}.2s\n")
    for k in range(0, 101, 5):
        log.line(f"#25 sha256:9f1c 31.{k % 9}MB / {k * 3}.00MB {k / 10:.1f}s")
    return none()


@negative("wget", "GNU wget bars and dots")
def wget(log):
    log.line("--2025-03-11 09:14:02--  https://example.org/data.tar.gz\nHTTP request sent, awaiting response... 200 OK\nLength: 170498071 (163M) [application/gzip]\nSaving to: ‘data.tar.gz’\n")
    for k in range(0, 101, 2):
        draw(log, f"data.tar.gz         {k:3d}%[{'=' * (k // 5)}>{' ' * (20 - k // 5)}] {163 * k / 100:6.2f}M  {log.near(21.):.1f}MB/s    eta {(100 - k) // 12}s    ")
    log.line("\n")
    for k in range(0, 60):
        log.line(f"{k * 3000:6d}K .......... .......... .......... .......... .......... {k * 100 // 60:2d}% {log.near(21.):.1f}M {(60 - k) // 9}s")
    log.line("2025-03-11 09:14:10 (21.2 MB/s) - ‘data.tar.gz’ saved [170498071/170498071]")
    return none()


@negative("curl", "curl/curl progress meter")
def curl(log):
    log.line("  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed")
    for k in range(0, 101, 2):
        draw(log, f"{k:3d}  812M  {k:3d} {8.12 * k:5.0f}M    0     0  21.1M      0  0:00:38 0:00:{k * 38 // 100:02d} 0:00:{38 - k * 38 // 100:02d} {log.near(21.):.1f}M")
    log.line()
    return none()


@negative("git_clone", "git/git progress.c")
def git(log):
    log.line("Cloning into 'repo'...")
    for name, total in (("remote: Enumerating objects", 0), ("remote: Counting objects", 5120), ("remote: Compressing objects", 2210), ("Receiving objects", 48112), ("Resolving deltas", 31020), ("Updating files", 3310)):
        if total == 0:
            log.line("remote: Enumerating objects: 48112, done.        ")
            continue
        for k in range(0, 101, 2):
            tail = f", {k * 1.3:.2f} MiB | {log.near(9.):.2f} MiB/s" if name == "Receiving objects" else ""
            log.raw(f"{name}: {k:3d}% ({total * k // 100}/{total}){tail}\r")
        log.line(f"{name}: 100% ({total}/{total}), done.")
    return none()


@negative("hf_datasets", "huggingface/datasets and huggingface_hub: download, generate, map, filter, tokenize bars")
def hf_datasets(log):
    for name in ("README.md", "train-00000-of-00002.parquet", "train-00001-of-00002.parquet"):
        for k in range(0, 21):
            draw(log, tqdm(int(1.57e8 * k / 20), 157000000, k * .3, desc=name, unit="B", scale=True))
        log.line()
    for name, total in (("Generating train split", 36718), ("Map", 36718), ("Filter", 36718), ("Running tokenizer on dataset (num_proc=4)", 23767), ("Grouping texts in chunks of 1024", 23767), ("Saving the dataset (1/1 shards)", 2318)):
        tqdm_run(log, total, 36, desc=name, speed=3100, unit=" examples")
    return none("rising counters with totals, a label and a rate: the likeliest false clocks")


@negative("hf_hub_download", "huggingface/huggingface_hub snapshot_download: 'Fetching 12 files' and sizes")
def hub(log):
    tqdm_run(log, 12, 12, desc="Fetching 12 files", speed=.4)
    for k in range(1, 5):
        for p in range(0, 31):
            draw(log, tqdm(int(4.98e9 * p / 30), 4980000000, p * 3, desc=f"model-0000{k}-of-00004.safetensors", unit="B", scale=True))
        log.line()
    return none()


@negative("tokenizer_training", "huggingface/tokenizers and google/sentencepiece training output")
def tokenizer(log):
    for text in ("Pre-processing files (512 Mo)    ", "Tokenize words                 ", "Count pairs                    ", "Compute merges                 "):
        for k in range(0, 41):
            log.raw(f"\r[00:00:{k // 4:02d}] {text} {'█' * k}{'░' * (40 - k)} {k * 750:8d} / 30000")
        log.line()
    for k in range(20, 2001, 20):
        log.line(f"bpe_model_trainer.cc(268) LOG(INFO) Added: freq={90000 // k} size={k} all={20000 + k} active={1500 + k % 90} piece=▁wo{k}")
    for em in range(0, 8):
        log.line(f"unigram_model_trainer.cc(601) LOG(INFO) EM sub_iter=0 size={90000 - em * 9000} obj={11.2 - em / 10:.4f} num_tokens={310000 + em * 800} num_tokens/piece={3.4 + em / 10:.5f}")
    return none("tokenizer training is no model training: no step")


@negative("loading_shards", "huggingface/transformers: 'Loading checkpoint shards', 'Loading weights'")
def shards(log):
    tqdm_run(log, 4, 4, desc="Loading checkpoint shards", speed=.3)
    tqdm_run(log, 30, 30, desc="Loading checkpoint shards", speed=2.)
    tqdm_run(log, 291, 97, desc="Loading weights", speed=900.)
    log.line("Some weights of BertForSequenceClassification were not initialized from the model checkpoint at bert-base and are newly initialized: ['classifier.bias', 'classifier.weight']")
    return none()


@negative("inductor", "pytorch/pytorch torch._dynamo and torch._inductor logs (TORCH_LOGS, autotune)")
def inductor(log):
    for k in range(60):
        frame = k // 3
        stamp = f"V0311 09:14:{k:02d}.{k * 11001 % 1000000:06d} 4111 torch"
        log.line(f"{stamp}/_dynamo/convert_frame.py:864] [{frame}/{k % 3}] torchdynamo start compiling forward_{frame} /app/model.py:{100 + frame}")
        log.line(f"{stamp}/_dynamo/guards.py:2169] [{frame}/{k % 3}] [__guards] GUARDS:")
        log.line(f"I0311 09:14:{k:02d}.000000 4111 torch/_inductor/compile_fx.py:664] [{frame}/{k % 3}] Step 3: torchinductor compiling FORWARDS graph {k}")
        log.line(f"I0311 09:14:{k:02d}.000000 4111 torch/_inductor/compile_fx.py:699] [{frame}/{k % 3}] Step 3: torchinductor done compiling FORWARDS graph {k}")
    log.line("AUTOTUNE mm(4096x4096, 4096x4096)")
    for k in range(12):
        log.line(f"  triton_mm_{k} 0.{180 + 7 * k} ms {100 - 3 * k:.1f}% ACC_TYPE='tl.float32', BLOCK_K=32, num_stages={k % 5}, num_warps=8")
    log.line("SingleProcess AUTOTUNE benchmarking takes 1.2112 seconds and 0.0031 seconds precompiling for 13 choices")
    return none("'Step 3: torchinductor compiling … graph 17' and [frame/recompile] counters")


@negative("ninja", "ninja-build/ninja [12/340] lines")
def ninja(log):
    for k in range(1, 341, 2):
        log.line(f"[{k}/340] Building CXX object src/CMakeFiles/core.dir/file{k}.cpp.o")
    log.line("[340/340] Linking CXX shared library lib/libcore.so")
    return none()


@negative("ninja_pty", "ninja-build/ninja on a terminal; nvcc extension builds of torch.utils.cpp_extension")
def ninja_pty(log):
    log.pty = True
    log.line("Using /home/user/.cache/torch_extensions as PyTorch extensions root...\nDetected CUDA files, patching ldflags\nEmitting ninja build file build.ninja...\nBuilding extension module fused_adam...")
    for k in range(0, 120):
        log.raw(f"\r\x1b[K[{k}/120] c++ -MMD -MF op{k}.o.d -DTORCH_EXTENSION_NAME=fused -c op{k}.cpp")
    log.line()
    return none()


@negative("cmake_make", "Kitware/CMake Makefile generator: [ 45%] Building")
def make(log):
    log.line("-- The CXX compiler identification is GNU 12.2.0\n-- Detecting CXX compiler ABI info - done\n-- Configuring done (1.2s)\n-- Build files have been written to: /src/build")
    for k in range(0, 101):
        log.line(f"\x1b[32m[{k:3d}%] \x1b[32mBuilding CXX object lib/CMakeFiles/a.dir/src/unit{k}.cpp.o\x1b[0m")
    log.line("[100%] Built target a")
    return none()


@negative("make_plain", "GNU make with gcc command lines")
def make_plain(log):
    for k in range(120):
        log.line(f"gcc -O2 -Wall -DNDEBUG -DSTEP={k % 4} -c -o obj/file{k}.o src/file{k}.c")
        if k % 15 == 0:
            log.line(f"make[{1 + k % 3}]: Entering directory '/src/part{k // 15}'")
    return none()


@negative("pytest", "pytest-dev/pytest with percents")
def pytest(log):
    log.line("============================= test session starts ==============================\nplatform linux -- Python 3.11.7, pytest-8.3.4, pluggy-1.5.0\ncollected 1204 items\n")
    for k in range(1, 101):
        log.line(f"tests/test_part{k:03d}.py {'.' * 12}{' ' * 36}[{k:3d}%]")
    log.line("\n======================= 1204 passed in 81.21s (0:01:21) ========================")
    return none()


@negative("pytest_verbose_xdist", "pytest-dev/pytest-xdist [gw0] [ 12%] PASSED, with test names that hold steps")
def xdist(log):
    log.line("created: 4/4 workers\n4 workers [480 items]\n\nscheduling tests via LoadScheduling")
    for k in range(1, 481, 2):
        log.line(f"[gw{k % 4}] [{k * 100 // 480:3d}%] PASSED tests/test_trainer.py::test_step[{k}] ")
    return none()


@negative("unittest", "python unittest -v")
def unittest(log):
    for k in range(120):
        log.line(f"test_train_step_{k} (tests.test_loop.LoopTest.test_train_step_{k}) ... ok")
    log.line("\n----------------------------------------------------------------------\nRan 120 tests in 8.112s\n\nOK")
    return none()


@negative("eval_only_imagenet", "pytorch/examples imagenet/main.py --evaluate: only Test: lines")
def eval_only(log):
    log.line("Using device: cuda\n=> using pre-trained model 'resnet50'")
    for i in range(1, 197, 2):
        log.line(f"Test: [{i:3d}/196]\tTime {log.near(.21):6.3f} ({.22:6.3f})\tLoss {log.near(.9):.4e} ({.95:.4e})\tAcc@1 {log.near(76.):6.2f} ({76.1:6.2f})\tAcc@5 {log.near(92.):6.2f} ({92.8:6.2f})")
    log.line(" *   Acc@1 76.130 Acc@5 92.862")
    return none("evaluation alone")


@negative("lm_eval", "EleutherAI/lm-evaluation-harness")
def lm_eval(log):
    log.line("2025-03-11:09:14:02,318 INFO     [__main__.py:279] Verbosity set to INFO\n2025-03-11:09:14:20,001 INFO     [evaluator.py:164] Setting random seed to 0 | Setting numpy seed to 1234 | Setting torch manual seed to 1234\n2025-03-11:09:14:31,441 INFO     [task.py:415] Building contexts for hellaswag on rank 0...")
    tqdm_run(log, 10042, 60, speed=2100.)
    log.line("2025-03-11:09:14:40,012 INFO     [evaluator.py:496] Running loglikelihood requests")
    tqdm_run(log, 40168, 150, desc="Running loglikelihood requests", speed=60.)
    log.line("hf (pretrained=gpt2), gen_kwargs: (None), limit: None, num_fewshot: None, batch_size: 8\n|  Tasks  |Version|Filter|n-shot| Metric |   |Value |   |Stderr|\n|---------|------:|------|-----:|--------|---|-----:|---|-----:|\n|hellaswag|      1|none  |     0|acc     |↑  |0.2892|±  |0.0045|")
    return none()


@negative("evaluation_bars", "hand-written and HF Trainer evaluate(): 'Evaluating' bars and a dict")
def eval_bars(log):
    log.line("***** Running Evaluation *****\n  Num examples = 4000\n  Batch size = 8")
    tqdm_run(log, 500, 120, speed=41.)
    log.line("{'eval_loss': 1.2112, 'eval_runtime': 12.2, 'eval_samples_per_second': 327.8, 'eval_steps_per_second': 40.9}")
    tqdm_run(log, 250, 100, desc="Evaluating", speed=22.)
    tqdm_run(log, 250, 100, desc="Testing DataLoader 0", speed=22.)
    return none("the first bar has no label; 'Running Evaluation' before it says what it is")


@negative("generation", "inference loops: 'Generating', 'Sampling', diffusion sampler bars (50 steps per image)")
def generation(log):
    for image in range(12):
        tqdm_run(log, 50, 25, speed=9.)
        log.line(f"saved image {image} to out/{image:03d}.png")
    tqdm_run(log, 1319, 80, desc="Generating", speed=3.)
    tqdm_run(log, 200, 50, desc="Sampling", speed=12.)
    return none("a diffusion sampler's bars count denoising steps, not training")


@negative("vllm_offline", "vllm-project/vllm offline inference bars: 'Processed prompts', 'Capturing CUDA graphs'")
def vllm_offline(log):
    log.line("INFO 03-11 09:14:02 [config.py:717] This model supports multiple tasks: {'generate', 'embed'}. Defaulting to 'generate'.\nINFO 03-11 09:14:20 [gpu_model_runner.py:1329] Starting to load model small...")
    tqdm_run(log, 4, 4, desc="Loading safetensors checkpoint shards", speed=.5)
    tqdm_run(log, 67, 67, desc="Capturing CUDA graph shapes", speed=3.1)
    tqdm_run(log, 1000, 120, desc="Processed prompts", speed=14.)
    return none()


@negative("vllm_serving", "vllm-project/vllm vllm/v1/metrics/loggers.py and uvicorn access lines")
def vllm_serving(log):
    log.line("INFO 03-11 09:14:02 [api_server.py:1090] Starting vLLM API server on http://0.0.0.0:8000\nINFO:     Started server process [4111]\nINFO:     Application startup complete.")
    for k in range(90):
        log.tick(10)
        log.line(f"INFO {log.at('%m-%d %H:%M:%S')} [loggers.py:111] Engine 000: Avg prompt throughput: {log.near(410.):.1f} tokens/s, Avg generation throughput: {log.near(210.):.1f} tokens/s, Running: {k % 9} reqs, Waiting: 0 reqs, GPU KV cache usage: {k % 31}.{k % 10}%, Prefix cache hit rate: {k % 47}.2%")
        log.line(f"INFO:     10.0.0.{k % 7}:{40000 + 2 * k} - \"POST /v1/chat/completions HTTP/1.1\" 200 OK")
        log.line(f"INFO {log.at('%m-%d %H:%M:%S')} [async_llm.py:261] Added request chatcmpl-{k:06d}.")
    return none()


@negative("uvicorn_access", "encode/uvicorn access log with rising ids and ports")
def uvicorn(log):
    log.line("INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)")
    for k in range(1, 301):
        log.line(f'INFO:     127.0.0.1:{50000 + k} - "GET /items/{k} HTTP/1.1" 200 OK')
    return none("an id that rises by one in each line")


@negative("web_app_requests", "hand-written web application: request numbers and durations")
def web_app(log):
    for k in range(1, 301):
        log.tick(1)
        log.line(f"{log.ms()} INFO app.middleware request_id={100000 + k} method=GET path=/predict status=200 duration_ms={log.near(31.):.1f} queue={k % 5}")
    return none("an even rising id, once a second")


@negative("nginx_access", "nginx combined log")
def nginx(log):
    for k in range(250):
        log.tick(.6)
        log.line(f'203.0.113.{k % 200} - - [{log.at("%d/%b/%Y:%H:%M:%S +0000")}] "GET /page/{k * 7 % 91} HTTP/1.1" 200 {4000 + k * 13 % 900} "-" "Mozilla/5.0 (X11; Linux x86_64)"')
    return none()


@negative("dmesg", "Linux kernel ring buffer times")
def dmesg(log):
    at = 0.0
    for k in range(250):
        at += log.near(.12, .9)
        log.line(f"[{at:12.6f}] {log.random.choice(['usb 1-4', 'nvme nvme0', 'pci 0000:0' + str(k % 9) + ':00.0', 'ACPI', 'EXT4-fs (sda1)'])}: {log.random.choice(['new high-speed USB device number ' + str(k), 'registered', 'mem 0xfe000000', 'enabled device (0000 -> 0003)'])}")
    return none()


@negative("journald", "systemd journal of services")
def journald(log):
    for k in range(200):
        log.tick(7)
        log.line(f"{log.at('%b %d %H:%M:%S')} host1 {log.random.choice(['systemd[1]', 'sshd[' + str(2000 + k) + ']', 'CRON[' + str(3000 + k) + ']', 'dockerd[811]'])}: {log.random.choice(['Started session ' + str(k) + ' of user root.', 'Accepted publickey for u from 10.0.0.9 port ' + str(51000 + k), 'Finished daily tasks.'])}")
    return none()


@negative("kubectl_events", "kubectl get events / describe and rollout status")
def events(log):
    log.line("LAST SEEN   TYPE      REASON              OBJECT                  MESSAGE")
    for k in range(90):
        log.line(f"{k}s         Normal    {log.random.choice(['Pulled', 'Created', 'Started', 'Scheduled'])}   pod/trainer-{k % 8}   Successfully assigned default/trainer-{k % 8} to node-{k % 3}")
    for k in range(0, 31):
        log.line(f'Waiting for deployment "api" rollout to finish: {k} out of 30 new replicas have been updated...')
    return none()


@negative("argparse_namespace", "hyper-parameter dumps: argparse Namespace, one key per line, yaml")
def namespace(log):
    log.line("Namespace(batch_size=64, epochs=300, step=0, max_steps=100000, iters=500, lr=0.001, save_every=1000, eval_steps=500, warmup_steps=2000, seed=42, num_workers=8)")
    for k, key in enumerate(["batch_size", "epochs", "max_steps", "num_train_epochs", "eval_steps", "save_steps", "logging_steps", "warmup_steps", "gradient_accumulation_steps", "seed", "num_layers", "hidden_size", "num_heads"]):
        log.line(f"  {key:.<40} {(k + 1) * 100}")
    for k in range(1, 13):
        log.line(f"layer{k}:\n  hidden: {64 * k}\n  dropout: 0.{k % 10}\n  steps: {k}")
    log.line("train:\n  epoch: 100\n  iteration: 5000\n  step: 250\noptimizer:\n  lr: 3e-4\n  betas: [0.9, 0.95]")
    return none("keys named step, epoch, iteration, each once")


@negative("yaml_config", "omegaconf/hydra dump and a DeepSpeed config in JSON")
def yaml(log):
    log.line("trainer:\n  max_epochs: 100\n  max_steps: 1000000\n  val_check_interval: 2000\n  log_every_n_steps: 10\nmodel:\n  global_batch_size: 256\n  micro_batch_size: 4\n  num_layers: 24")
    log.line(json.dumps({"train_batch_size": 256, "steps_per_print": 10, "optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}, "zero_optimization": {"stage": 2, "reduce_bucket_size": 500000000}}, indent=2))
    for k in range(60):
        log.line(f"[2025-03-11 09:14:02,{318 + k}] [INFO] [config.py:1007:print]   option_{k} {'.' * 20} {k * 3}")
    return none()


@negative("pandas_tables", "pandas DataFrame prints and describe()")
def pandas(log):
    log.line("      epoch   step    loss      lr")
    for k in (0, 1, 2, 3, 4, None, 395, 396, 397, 398, 399):
        log.line("..     ...    ...     ...     ..." if k is None else f"{k:<4}{k // 40:7d}{k * 50:7d}{log.loss(k / 400):8.4f}{.001:8.4f}")
    log.line("\n[400 rows x 4 columns]")
    log.line("              loss           acc\ncount   60.000000     60.000000\nmean     0.911221      0.712231\nstd      0.412211      0.101123\nmin      0.301221      0.401121\n25%      0.512212      0.611212\n50%      0.812221      0.721121\n75%      1.212211      0.801121\nmax      2.311221      0.911221")
    for k in range(60):
        log.line(f"{k:3d}   item_{k:04d}   {k * 12 % 97:5d}   {log.near(10.):7.2f}")
    return none("a printed history with a step column (first and last five rows, all at once) and a row index that rises by one")


@negative("loss_only", "hand-written: print(loss) without any counter")
def loss_only(log):
    log.line("training...")
    for k in range(300):
        log.line(f"loss {log.loss(k / 300):.4f}")
    log.line("done")
    return none("a training, but no counter: no clock may be made of the loss")


@negative("loss_rising_metric", "hand-written: accuracy that only rises, and seconds elapsed")
def rising(log):
    for k in range(200):
        log.line(f"accuracy={min(99.9, 40 + k * .28):.2f} best={min(99.9, 40 + k * .28):.2f} elapsed={k * 3.1:.1f}s")
    return none("a metric and a time that rise evenly are no clocks")


@negative("timestamps_only", "hand-written heartbeat lines: only the time changes")
def timestamps(log):
    for k in range(250):
        log.now += timedelta(seconds=5)
        log.line(f"{log.ms()} INFO heartbeat: alive, uptime {k * 5}s")
    return none("uptime rises by 5 in each line")


@negative("unix_timestamps", "hand-written: epoch seconds and milliseconds")
def unix(log):
    for k in range(200):
        log.line(f"{1741684442 + k * 2} worker idle queue=0 ts_ms={(1741684442 + k * 2) * 1000 + k % 7}")
    return none("'epoch seconds' rise evenly")


@negative("rsync", "rsync --progress")
def rsync(log):
    log.line("sending incremental file list")
    for f in range(30):
        log.line(f"shards/part-{f:05d}.tar")
        for k in range(0, 101, 10):
            log.raw(f"\r{k * 5242880:>15,d} {k:3d}%  {log.near(91.):6.2f}MB/s    0:00:{(100 - k) // 20:02d}")
        log.line(f" (xfr#{f + 1}, to-chk={29 - f}/31)")
    return none()


@negative("terraform", "hashicorp/terraform apply")
def terraform(log):
    for k in range(1, 60):
        log.line(f"aws_instance.node[{k % 4}]: Still creating... [{k * 10 // 60}m{k * 10 % 60}s elapsed]")
    log.line("Apply complete! Resources: 12 added, 0 changed, 0 destroyed.")
    return none()


@negative("ffmpeg", "FFmpeg status line")
def ffmpeg(log):
    log.line("Input #0, mov,mp4,m4a, from 'in.mp4':\n  Duration: 00:01:31.20, start: 0.000000, bitrate: 4120 kb/s\nOutput #0, mp4, to 'out.mp4':")
    for k in range(0, 2281, 24):
        log.raw(f"frame={k:5d} fps={log.near(61.):3.0f} q=28.0 size={k * 21:8d}KiB time=00:{k // 1500:02d}:{k // 25 % 60:02d}.{k % 25 * 4:02d} bitrate={log.near(3900.):.1f}kbits/s speed={log.near(2.4):.2f}x    \r")
    log.line()
    return none("frame= rises evenly")


@negative("db_migration", "Alembic, Django and row counters of a migration")
def migration(log):
    for k in range(1, 41):
        log.line(f"INFO  [alembic.runtime.migration] Running upgrade {k - 1:04d} -> {k:04d}, add column c{k}")
    for k in range(1, 31):
        log.line(f"  Applying app.{k:04d}_auto... OK")
    for k in range(0, 500001, 5000):
        log.line(f"migrated {k}/500000 rows ({k * 100 // 500000}%)")
    return none("'migrated k/N rows' rises evenly with a total")


@negative("optuna", "optuna/optuna study log")
def optuna(log):
    log.line(f"[I {log.ms()}] A new study created in memory with name: no-name-1")
    for k in range(100):
        log.tick(11)
        log.line(f"[I {log.ms()}] Trial {k} finished with value: {log.near(.8):.6f} and parameters: {{'lr': {log.near(.001):.6f}, 'layers': {k % 4 + 1}}}. Best is trial {k // 2} with value: 0.912211.")
    return none("a trial is a whole training, not a step")


@negative("ray_cluster", "ray-project/ray start-up and autoscaler status")
def ray_cluster(log):
    log.line("Usage stats collection is enabled.\nLocal node IP: 10.0.0.4\n--------------------\nRay runtime started.\n--------------------")
    for k in range(60):
        log.tick(5)
        log.line(f"(autoscaler +{k * 5 // 60}m{k * 5 % 60}s) Resized to {8 * (k // 10 + 1)} CPUs.")
        log.line(f"(raylet) [{log.ms()} E {811} {840}] worker_pool.cc:{500 + k % 9}: Some workers of the worker process({9000 + k}) have not registered within the timeout.")
    return none()


@negative("preprocess_documents", "hand-written preprocessing: processed N documents (as in NVIDIA/Megatron-LM tools/preprocess_data.py)")
def documents(log):
    log.line("Opening corpus.jsonl\n> building GPT2BPETokenizer tokenizer ...\nVocab size: 50257\nOutput prefix: out\nTime to startup: 0.41")
    for k in range(1000, 200001, 1000):
        log.line(f"Processed {k} documents ({log.near(1900.):.1f} docs/s, {log.near(6.):.2f} MB/s).")
    return none("an even counter once a second, with a word and a speed")


@negative("preprocess_counters", "hand-written preprocessing: 'tokenized', 'written shard', 'indexing' counters")
def counters(log):
    for k in range(0, 60001, 500):
        log.line(f"[{k}/60000] tokenizing file_{k}.txt")
    for k in range(1, 61):
        log.line(f"writing shard {k}/60 to data/shard_{k:05d}.bin ({k * 100} MB)")
    for k in range(0, 101, 2):
        log.line(f"building index: {k}% done")
    return none("'[k/60000] tokenizing' has the form of a training step")


@negative("urllib_download", "pytorch/vision and pytorch/tutorials downloads: percent and bytes")
def urllib(log):
    for name, total in (("train-images-idx3-ubyte.gz", 9912422), ("cifar-10-python.tar.gz", 170498071)):
        log.line(f"Downloading https://example.org/{name} to data/{name}")
        for k in range(0, 61):
            draw(log, f"{k * 100 / 60:.1f}%|{filled(k / 60, 10)}| {total * k // 60}/{total} [{clock(k / 9)}<{clock((60 - k) / 9)}, {log.near(9111111.):.2f}it/s]")
        log.line(f"\nExtracting data/{name} to data")
    for k in range(0, 101, 4):
        draw(log, f"Downloading: {k}% [{k * 1048576}/104857600] bytes")
    log.line()
    return none("rates in it/s are bytes")


@negative("unzip", "Info-ZIP unzip and tar -v lists")
def unzip(log):
    log.line("Archive:  data.zip")
    for k in range(300):
        log.line(f"  inflating: data/images/img_{k:06d}.jpg  ")
    for k in range(100):
        log.line(f"x data/labels/step_{k * 10}.txt")
    return none("file names with rising numbers, also step_N")


@negative("model_summary", "layer tables: Keras summary, torchinfo, Lightning")
def summary(log):
    log.line('Model: "functional"\n┏━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┓\n┃ Layer (type)        ┃ Output Shape      ┃    Param # ┃\n┡━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━┩')
    for k in range(1, 41):
        log.line(f"│ conv2d_{k} (Conv2D){' ' * (4 - len(str(k)))} │ (None, {64 // (1 + k % 4)}, {64 // (1 + k % 4)}, {k * 8}) │ {k * 1160:>10,} │")
    log.line("└─────────────────────┴───────────────────┴────────────┘\n Total params: 1,204,112 (4.59 MB)")
    for k in range(1, 60):
        log.line(f"├─Block: 1-{k:<20} [1, {k * 4}, 56, 56]   {k * 3000:,}")
    for k in range(30):
        log.line(f"{k:<3}| layer{k} | Linear | {k * 11}.1 K | train")
    return none()


@negative("slurm_output", "SLURM: sbatch, squeue and sacct output")
def slurm(log):
    log.line("Submitted batch job 811221\nsrun: job 811221 queued and waiting for resources\nsrun: job 811221 has been allocated resources")
    for k in range(60):
        log.line(f"            {811221 + k}       gpu   train-{k}     user  R   {k // 6}:{k % 60:02d}:11      1 node{k % 8:02d}")
    for k in range(40):
        log.line(f"811221.{k}      step{k}     gpu   acct   8  COMPLETED   0:0")
    log.line("slurmstepd: error: *** STEP 811221.0 ON node03 CANCELLED AT 2025-03-11T12:00:00 DUE TO TIME LIMIT ***")
    return none("SLURM's job steps (811221.0, step3) are no training steps")


@negative("nvidia_smi", "nvidia-smi loops and gpustat")
def smi(log):
    for k in range(40):
        log.tick(5)
        log.line(log.now.strftime("%a %b %e %H:%M:%S %Y") + "       \n+-----------------------------------------------------------------------------------------+\n| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n|-----------------------------------------+------------------------+----------------------+")
        log.line(f"| N/A   {41 + k % 20}C    P0             {70 + k % 200}W /  400W |   {1024 + k * 31}MiB /  81920MiB |     {k * 7 % 100}%      Default |")
    for k in range(100):
        log.tick(1)
        log.line(f"{log.now.strftime('%Y/%m/%d %H:%M:%S')}.118, {k * 7 % 100} %, {1024 + k * 20} MiB, {40 + k % 30}, {70 + k % 100}.21 W")
    return none("memory that rises evenly is no clock")


@negative("file_listing", "ls -l and find of checkpoint directories")
def listing(log):
    log.line("total 8123411")
    for k in range(0, 200):
        log.line(f"-rw-r--r-- 1 u u {4100000 + k} Mar 11 {k // 60 + 9:02d}:{k % 60:02d} checkpoint-{(k + 1) * 500}.pt")
    for k in range(0, 100):
        log.line(f"./out/step_{(k + 1) * 100}/model.safetensors")
    return none("checkpoint-500, checkpoint-1000, … at once")


@negative("conda_env", "conda create: bars per package")
def conda(log):
    log.line("Collecting package metadata (current_repodata.json): ...working... done\nSolving environment: ...working... done\n\nDownloading and Extracting Packages")
    for name in ("python-3.11.7", "numpy-1.26.4", "mkl-2023.1", "openssl-3.0.13"):
        for k in range(0, 21):
            log.raw(f"\r{name:<20} | {20 + k} MB    | {'#' * (k // 2)}{' ' * (10 - k // 2)} | {k * 5:3d}% ")
        log.line()
    log.line("Preparing transaction: ...working... done\nVerifying transaction: ...working... done")
    return none()


@negative("gradle", "gradle/gradle console")
def gradle(log):
    log.pty = True
    for k in range(0, 101):
        log.raw(f"\r\x1b[K\x1b[1m<{'=' * (k // 8)}{'-' * (13 - k // 8)}> {k}% EXECUTING [{k // 3}s]\x1b[m > :app:compile{k}")
    log.line("\n\nBUILD SUCCESSFUL in 34s\n212 actionable tasks: 212 executed")
    return none()


@negative("ansible", "ansible-playbook tasks")
def ansible(log):
    for k in range(1, 41):
        log.line(f"TASK [role : step {k}] {'*' * 50}\nok: [node{k % 4}]\nchanged: [node{(k + 1) % 4}]\n")
    log.line("PLAY RECAP\nnode0 : ok=41 changed=12 unreachable=0 failed=0")
    return none("'step 1', 'step 2', … are names of tasks")


@negative("ci_steps", "CI workflow log: numbered steps of a job")
def ci(log):
    for k in range(1, 31):
        log.tick(20)
        log.line(f"{log.now.strftime('%Y-%m-%dT%H:%M:%S')}.1181231Z ##[group]Step {k}/30: run script {k}")
        for j in range(5):
            log.line(f"{log.now.strftime('%Y-%m-%dT%H:%M:%S')}.2181231Z building target {j}")
        log.line(f"{log.now.strftime('%Y-%m-%dT%H:%M:%S')}.9181231Z ##[endgroup]")
    return none("'Step k/30:' rises evenly with a total but belongs to a workflow")


@negative("ocr_inference", "ultralytics predict: 'image 3/120' and 'video 1/1 (frame 3/900)' lines")
def predict(log):
    for k in range(1, 121):
        log.line(f"image {k}/120 /data/img_{k:04d}.jpg: 640x480 {k % 5 + 1} persons, {log.near(41.):.1f}ms")
    for k in range(1, 301):
        log.line(f"video 1/1 (frame {k}/900) /data/v.mp4: 384x640 {k % 4} cars, {log.near(21.):.1f}ms")
    log.line("Speed: 2.1ms preprocess, 41.2ms inference, 1.1ms postprocess per image at shape (1, 3, 640, 480)")
    return none("inference with i/N")


@negative("whisper_transcribe", "openai/whisper transcription with frame bars and time ranges")
def whisper(log):
    for k in range(0, 90):
        log.line(f"[{clock(k * 4)}.000 --> {clock(k * 4 + 4)}.000]  and then part {k} of the talk goes on")
    for k in range(0, 90001, 1500):
        draw(log, tqdm(k, 90000, k / 900, unit="frames"))
    log.line()
    return none()


@negative("faiss_indexing", "vector index build: 'added 10000 vectors', k-means iterations of the index")
def faiss(log):
    log.line("Training level-1 quantizer\nTraining level-1 quantizer on 256000 vectors in 128D")
    log.line("Clustering 256000 points in 128D to 4096 clusters, redo 1 times, 10 iterations\n  Preprocessing in 0.03 s")
    log.raw("  Iteration 0 (1.21 s, search 1.11 s): objective=2.1e+07 imbalance=1.2 nsplit=0       \r")
    for k in range(10000, 1000001, 10000):
        log.line(f"added {k} / 1000000 vectors ({log.near(41000.):.0f}/s)")
    return none("adding vectors is no training; the k-means line stands once")


@negative("celery_worker", "celery/celery worker log: task ids and counts")
def celery(log):
    for k in range(150):
        log.tick(2)
        log.line(f"[{log.ms()}: INFO/MainProcess] Task tasks.resize[{k * 7919:08x}-0000-4000-8000-{k:012d}] received")
        log.line(f"[{log.ms()}: INFO/ForkPoolWorker-{k % 8}] Task tasks.resize[{k * 7919:08x}-0000-4000-8000-{k:012d}] succeeded in {log.near(.3):.6f}s: {k}")
    return none()


@negative("kafka_offsets", "stream consumer: offsets and lag")
def kafka(log):
    for k in range(200):
        log.tick(3)
        log.line(f"{log.ms()} INFO consumer partition={k % 4} offset={811000 + k * 37} lag={int(log.near(120))} batch={32}")
    return none("an offset that rises, and a constant batch=32")
