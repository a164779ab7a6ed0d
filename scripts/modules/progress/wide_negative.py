"""Set E, third part: output of programs that do not train, or of trainings that count nothing.

The format strings are those of the named programs, some from memory; the numbers are invented.
"""
from .lib import negative, tqdm


@negative("fasttext_percent", "facebookresearch/fastText src/fasttext.cc: a training that shows percents only")
def fasttext_percent(log):
    log.line("Read 12M words\nNumber of words:  41212\nNumber of labels: 12")
    for n in range(0, 1001, 3):
        log.raw(f"\rProgress: {n / 10:5.1f}% words/sec/thread: {int(log.near(180000.)):>7} lr: {.1 * (1 - n / 1001):9.6f} avg.loss: {log.loss(n / 1000):9.6f} ETA:   0h{9 - n // 120:>2}m {n % 60:>2}s")
    log.line()


@negative("word2vec_c", "tmikolov/word2vec word2vec.c: percents of a training")
def word2vec_c(log):
    log.line("Starting training using file text8\nVocab size: 71291\nWords in train file: 16718843")
    for n in range(1, 600):
        log.raw(f"\rAlpha: {.05 * (1 - n / 600):f}  Progress: {n / 6:.2f}%  Words/thread/sec: {log.near(180.):.2f}k  ")


@negative("lammps", "lammps/lammps: table of a simulation")
def lammps(log):
    log.line("Setting up Verlet run ...\n  Unit style    : lj\n  Current step  : 0\n  Time step     : 0.005\nPer MPI rank memory allocation (min/avg/max) = 3.154 | 3.156 | 3.162 Mbytes\n   Step          Temp          E_pair         E_mol          TotEng         Press     ")
    for n in range(0, 5001, 100):
        log.line(f"{n:>10} {log.near(1.44):>14.7g} {log.near(-5.6):>14.7g}              0 {log.near(-4.6):>14.7g} {log.near(-.4):>14.7g}")
    log.line("Loop time of 2.51 on 4 procs for 5000 steps with 32000 atoms")


@negative("gromacs", "gromacs/gromacs mdrun -v")
def gromacs(log):
    log.line("starting mdrun 'Protein in water'\n50000 steps,    100.0 ps.")
    for n in range(0, 50001, 500):
        log.raw(f"\rstep {n}, remaining wall clock time: {60 - n // 900:>5} s          ")
    log.line("\nWriting final coordinates.")


@negative("wrf", "wrf-model/WRF: timing of a forecast")
def wrf(log):
    for n in range(200):
        log.line(f"Timing for main: time 2025-03-11_{12 + n // 60:02}:{n % 60:02}:00 on domain   1:    {log.near(.4):.5f} elapsed seconds")


@negative("memtester", "memtester: loops of tests")
def memtester(log):
    for n in range(1, 8):
        log.line(f"Loop {n}/10:")
        for name in ("Stuck Address", "Random Value", "Compare XOR", "Solid Bits", "Walking Ones"):
            log.line(f"  {name:<20}: ok")


@negative("handbrake", "HandBrake/HandBrake HandBrakeCLI")
def handbrake(log):
    for n in range(1, 1000):
        log.raw(f"\rEncoding: task 1 of 1, {n / 10:.2f} % ({log.near(45.):.2f} fps, avg {log.near(44.):.2f} fps, ETA 00h{9 - n // 120}m{n % 60:02}s)")


@negative("scrapy", "scrapy/scrapy logstats")
def scrapy(log):
    pages = items = 0
    for n in range(60):
        pages, items = pages + 41 + n % 7, items + 130 + n % 11
        log.line(f"{log.at()} [scrapy.extensions.logstats] INFO: Crawled {pages} pages (at {41 + n % 7} pages/min), scraped {items} items (at {130 + n % 11} items/min)")


@negative("dbt", "dbt-labs/dbt-core: models of a build")
def dbt(log):
    log.line("Running with dbt=1.7.4\nFound 40 models, 120 tests, 8 sources\nConcurrency: 4 threads (target='dev')")
    for n in range(1, 41):
        log.line(f"{log.at('%H:%M:%S')}  {n} of 40 START sql table model analytics.fct_{n} ........... [RUN]")
        log.line(f"{log.at('%H:%M:%S')}  {n} of 40 OK created sql table model analytics.fct_{n} ...... [SELECT {n * 12} in {log.near(.41):.2f}s]")


@negative("flink_checkpoints", "apache/flink checkpoint coordinator: completed checkpoints")
def flink_checkpoints(log):
    for n in range(1, 80):
        log.tick(60)
        log.line(f"{log.ms()} INFO  org.apache.flink.runtime.checkpoint.CheckpointCoordinator [] - Triggering checkpoint {n} (type=CheckpointType{{name='Checkpoint'}}) @ 174168{n:07} for job 6c1b.")
        log.line(f"{log.ms()} INFO  org.apache.flink.runtime.checkpoint.CheckpointCoordinator [] - Completed checkpoint {n} for job 6c1b ({12000 + n * 37} bytes, checkpointDuration={40 + n % 9} ms, finalizationTime=2 ms).")


@negative("libfuzzer", "llvm/llvm-project libFuzzer")
def libfuzzer(log):
    log.line("INFO: Seed: 1608565063\nINFO: Loaded 1 modules\n#2\tINITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 31Mb")
    n = 2
    for k in range(80):
        n += 211 + k * 97
        log.line(f"#{n}\tNEW    cov: {12 + k} ft: {13 + 2 * k} corp: {k + 2}/{k * 9 + 3}b lim: 4 exec/s: {n // 3} rss: {31 + k}Mb L: 2/4 MS: 3 ChangeByte-CopyPart-")


@negative("uci_engine", "official-stockfish/Stockfish: search depth and score")
def uci_engine(log):
    for n in range(1, 30):
        log.line(f"info depth {n} seldepth {n + 4} multipv 1 score cp {20 + n % 9} nodes {n ** 4 * 31} nps {int(log.near(1.2e6))} hashfull {n * 9} tbhits 0 time {n * 113} pv e2e4 e7e5 g1f3")


@negative("gurobi_nodes", "Gurobi: nodes of a branch and bound")
def gurobi_nodes(log):
    log.line("Root relaxation: objective 1.5e+01, 412 iterations, 0.01 seconds\n\n    Nodes    |    Current Node    |     Objective Bounds      |     Work\n Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap | It/Node Time\n")
    for n in range(0, 4000, 100):
        log.line(f"{n:>6} {n // 3:>6}   {log.near(15.):.5f}   {n % 30:>3}   {n % 41:>3}   {log.near(19.):.5f}   {log.near(15.):.5f}  {log.near(14.):.1f}%  {log.near(12.):5.1f}   {n // 200}s")


@negative("gatk", "broadinstitute/gatk ProgressMeter")
def gatk(log):
    log.line("09:14:02.318 INFO  ProgressMeter -        Current Locus  Elapsed Minutes     Regions Processed   Regions/Minute")
    for n in range(1, 60):
        log.line(f"09:14:{n % 60:02}.318 INFO  ProgressMeter -        chr{n // 12 + 1}:{n * 412345}              {n / 6:.1f}                {n * 2312}          {log.near(13000.):.1f}")


@negative("pymc_bar", "pymc-devs/pymc: draws of four chains")
def pymc_bar(log):
    log.line("Auto-assigning NUTS sampler...\nInitializing NUTS using jitter+adapt_diag...\nMultiprocess sampling (4 chains in 4 jobs)\nNUTS: [mu, sigma]")
    for n in range(0, 8001, 100):
        log.raw(f"\r |{'█' * (n // 800):<10}| {n / 80:.2f}% [{n}/8000 00:{n // 200:02}<00:{40 - n // 200:02} Sampling 4 chains, 0 divergences]")
    log.line()


@negative("agent_steps", "huggingface/smolagents: steps of an agent")
def agent_steps(log):
    for n in range(1, 13):
        log.line(f"{'━' * 40} Step {n} {'━' * 40}")
        log.line(f" ─ Executing parsed code: ──────────\n  result = web_search(query=\"population of town {n}\")\n  print(result)\nOut: None")
        log.line(f"[Step {n}: Duration {log.near(3.2):.2f} seconds| Input tokens: {2000 * n:,} | Output tokens: {90 * n:,}]")


@negative("encode_batches", "UKPLab/sentence-transformers encode: bars called Batches")
def encode_batches(log):
    log.line("Load pretrained SentenceTransformer: all-MiniLM-L6-v2\nUse pytorch device_name: cuda:0")
    for k in range(5):
        for n in range(0, 33):
            log.raw("\r" + tqdm(n, 32, n / 12., desc="Batches"))
        log.line()
        log.line(f"part {k}: 1024 texts in {log.near(2.7):.2f}s")


@negative("gptq_layers", "AutoGPTQ/AutoGPTQ: layers, each with a loss of quantization")
def gptq_layers(log):
    for layer in range(1, 33):
        log.line(f"{log.at()} INFO [auto_gptq.modeling._base] Start quantizing layer {layer}/32")
        for name in ("self_attn.k_proj", "self_attn.v_proj", "mlp.down_proj"):
            log.line(f"{log.at()} INFO [auto_gptq.modeling._base] Quantizing {name} in layer {layer}/32...")
            log.line(f"{log.at()} INFO [auto_gptq.quantization.gptq] duration: {log.near(.6)}\n{log.at()} INFO [auto_gptq.quantization.gptq] avg loss: {log.near(3.)}")


@negative("llama_bench", "ggml-org/llama.cpp llama-bench and perplexity chunks")
def llama_bench(log):
    log.line("perplexity: tokenizing the input ..\nperplexity: calculating perplexity over 655 chunks, n_ctx=512, batch_size=2048, n_seq=4\nperplexity: 1.82 seconds per pass - ETA 4.97 minutes")
    for n in range(1, 200):
        log.raw(f"[{n}]{log.near(5.):.4f},")
    log.line("\nFinal estimate: PPL = 5.9070 +/- 0.03312")


@negative("evalplus", "evalplus/evalplus: generation and checks of tasks")
def evalplus(log):
    for n in range(0, 164, 2):
        log.line(f"Codegen: HumanEval/{n} @ qwen2.5\n> Generated {n + 1} of 164 samples in {log.near(3.):.2f} s")


@negative("locust", "locustio/locust: table of requests, printed again and again")
def locust(log):
    for n in range(1, 40):
        log.line("Type     Name              # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n--------|----------------|-------|-------------|-------|-------|-------|-------|--------|-----------")
        log.line(f"GET      /                 {n * 212:>6}     0(0.00%) |     {40 + n % 9}      12     812     38 |   {log.near(41.):.2f}        0.00\n         Aggregated        {n * 212:>6}     0(0.00%) |     {40 + n % 9}      12     812     38 |   {log.near(41.):.2f}        0.00\n")


@negative("ros_messages", "ros2 topic echo: numbered messages")
def ros_messages(log):
    for n in range(120):
        log.line(f"header:\n  seq: {n}\n  stamp:\n    sec: {1741680842 + n}\n    nanosec: {n * 812312 % 1000000000}\n  frame_id: odom\npose:\n  x: {log.near(.4)}\n  y: {log.near(.1)}\n---")


@negative("crypto_miner", "a miner: accepted shares and hash rates")
def crypto_miner(log):
    for n in range(1, 60):
        log.line(f"[{log.at()}]  net      new job from pool diff 120001 algo rx/0 height {2891200 + n}")
        log.line(f"[{log.at()}]  cpu      accepted ({n}/0) diff 120001 ({40 + n % 30} ms)\n[{log.at()}]  miner    speed 10s/60s/15m {log.near(4100.):.1f} {log.near(4100.):.1f} n/a H/s max 4212.1 H/s")


@negative("mutation_tests", "boxed/mutmut and stryker: mutants")
def mutation_tests(log):
    for n in range(1, 341):
        log.raw(f"\r⠋ {n}/340  🎉 {n * 9 // 10}  ⏰ 0  🤔 0  🙁 {n // 10}  🔇 0")
    log.line()


@negative("backup_restic", "restic/restic backup")
def backup_restic(log):
    for n in range(1, 100):
        log.line(f"[0:{n % 60:02}] {n}.12%  {n * 412} files {n * 1.2:.3f} GiB, total 41212 files 121.212 GiB, 0 errors ETA 9:{n % 60:02}")


@negative("router_regions", "an optimiser of a chip layout: overflow and wire length for each iteration")
def router_regions(log):
    log.line("[INFO GPL-0023] Placement target density:      0.7000\n[NesterovSolve] Begin nesterov placement")
    for n in range(0, 400, 10):
        log.line(f"[NesterovSolve] Iter: {n:>4} overflow: {max(.1, 1 - n / 420):.3f} HPWL: {int(log.near(4.1e8))}")


@negative("quantum_chemistry", "psi4/psi4 DF-RHF: energies of iterations")
def quantum_chemistry(log):
    log.line("  ==> Iterations <==\n\n                        Total Energy        Delta E     RMS |[F,P]|\n")
    for n in range(1, 22):
        log.line(f"   @DF-RHF iter {n:>3}:   {-76.02 + 1 / n ** 4:.14f}   {-1 / n ** 4:.5e}   {1 / n ** 3:.5e} DIIS")
    log.line("  Energy and wave function converged.")
