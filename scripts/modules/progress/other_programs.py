"""Outputs without a step of a training: solvers, servers, tests, benchmarks and scripts that count something else."""
from .lib import negative
from .negative import none

SCRIPT = "public script: "


def repeated(name, source, text, count=120, before=()):
    """A log of `count` lines that `text` makes from the log and a number."""

    @negative(name, source)
    def write(log):
        for line in before:
            log.line(line)
        for k in range(count):
            log.tick(1)
            for line in text(log, k).split("\n"):
                log.line(line)
        return none()


repeated("database_batches", SCRIPT + "[Iter 25][Error]: 3 unprocessed, of an import into a database", lambda log, k: f"{k * 25} of 3000 items in {k * 2} seconds" + (f"\n[Iter {k * 25}][Error]: {k % 5} unprocessed" if k % 3 == 0 else ""))
repeated("microscope_focus", SCRIPT + "[iter 3] dot at (12.1, 9.2) px, offset (+1.2, -0.3) px", lambda log, k: f"[iter {k}] dot at ({log.near(400.):.1f}, {log.near(300.):.1f}) px, offset ({log.near(5.):+.1f}, {-log.near(3.):+.1f}) px = {log.near(6.):.1f} px via marker, touches_border=False", 30)
repeated("linear_programme", SCRIPT + "[iter 3] LP c = 0.12 slack=1e-3", lambda log, k: f"[iter {k}] LP c = {log.near(.5):.4f} slack={log.near(.001):.2e}", 40)
repeated("grid_optimiser", SCRIPT + "Iteration 3 - linear optimization [start] (Java)", lambda log, k: f"{log.at('%H:%M:%S')}.104 [main] INFO  c.f.o.IteratingOptimizer - Iteration {k} - linear optimization [start]\n{log.at('%H:%M:%S')}.204 [main] INFO  c.f.o.IteratingOptimizer - Iteration {k} - linear optimization [end]", 40)
repeated("microbenchmark", SCRIPT + "iteration 1000 - 12 ms | us per iteration : 12 us", lambda log, k: f"{log.at('%H:%M:%S')} INFO Bench - iteration {(k + 1) * 1000} - {12 + k} ms | us per iteration : {log.near(12.):.0f} us")
repeated("items_processed", SCRIPT + "Iteration 3 - User 7 processed 100 items (Java)", lambda log, k: f"{log.at('%H:%M:%S')} [main] INFO Demo - Iteration {k} - User 7 processed 100 items", 300)
repeated("ssh_test", SCRIPT + "Iteration 3 - connecting using random password", lambda log, k: f"{log.ms()} INFO test_ssh Iteration {k} - connecting using random password: x{k * 7919:x}")
repeated("navigation_evaluation", SCRIPT + "ep 3 (tour pos 4): 120 actions, success 1.0, spl 0.8", lambda log, k: f"ep {k} (tour pos {k % 4}): {100 + k % 30} actions, success {k % 2}.0, spl {log.near(.7):.3f}", 90, ("Evaluating 90 episodes of the val_unseen split",))
repeated("autopilot_evaluation", SCRIPT + "ep 02 seed=44: {'outcome': 'success'}", lambda log, k: f"ep {k:02d} seed={42 + k}: {{'outcome': 'success', 'steps': {200 + k % 40}, 'distance': {log.near(90.):.1f}}}", 60, ("running evaluation episodes",))
repeated("trading_bot", SCRIPT + "Tokens seen: 1234 of a trading bot", lambda log, k: f"Status {log.at('%H:%M')}\n  Positions: {k % 6}/10\n  Blacklisted: {k // 3}\n  Tokens seen: {k * 41}\n  Realized P&L: {log.near(.4):+.4f} SOL")
repeated("scan_registration", SCRIPT + "round 1/5 (corr 0.5 m): 12 ok, 0 failed, 11 kept", lambda log, k: f"round {k + 1}/12 (corr {2 / (k + 1):.2f} m): {40 + k} ok, {k % 3} failed, {38 + k} kept, rot dev {log.near(.2):.3f} deg", 12)
repeated("audit_rounds", SCRIPT + "===== ROUND 2/20: audit =====", lambda log, k: f"===== ROUND {k + 1}/20: audit =====\nround {k + 1}: audit found {k % 4} problems", 20)
repeated("restarts_of_clustering", SCRIPT + "Epoch 3 of random restarts of k-means (C++)", lambda log, k: f"Epoch {k}\n  max_dist {log.near(3.):.3f} reinits {k % 3}", 20, ("k-means with 20 random restarts",))
repeated("openfoam", "OpenFOAM simpleFoam", lambda log, k: f"Time = {k + 1}\n\nsmoothSolver:  Solving for Ux, Initial residual = {log.near(.01):.8f}, Final residual = {log.near(.001):.8f}, No Iterations {5 + k % 3}\nGAMG:  Solving for p, Initial residual = {log.near(.02):.8f}, Final residual = {log.near(.001):.8f}, No Iterations {8 + k % 4}\ntime step continuity errors : sum local = {log.near(1e-4):.6e}, global = {-log.near(1e-6):.6e}, cumulative = {log.near(1e-3):.6f}\nExecutionTime = {k * .4:.2f} s  ClockTime = {k // 2} s\n")
repeated("petsc", "PETSc -ksp_monitor", lambda log, k: f"  {k % 20} KSP Residual norm {10 * .5 ** (k % 20):.12e}" + (f"\n  {k // 20} SNES Function norm {.1 ** (k // 20):.12e}" if k % 20 == 19 else ""))
repeated("highs", "ERGO-Code/HiGHS mixed integer programme", lambda log, k: f"         {k * 11:>5d}       {k:>4d}        {k // 2:>4d}  {log.near(9.):5.2f}%   {4100 + k:.7g}       {4600 - k:.7g}          {11 - k / 20:.2f}%     {900 + k}    {40 + k % 9}    {k * 3}   {k * 120}     {k * .4:.1f}s", 90, ("Solving MIP model with:", "   412 rows", "", "        Nodes      |    B&B Tree     |            Objective Bounds              |  Dynamic Constraints |       Work      ", "     Proc. InQueue |  Leaves   Expl. | BestBound       BestSol              Gap |   Cuts   InLp Confl. | LpIters     Time", ""))
repeated("vasp", "VASP electronic steps", lambda log, k: f"DAV: {k % 15 + 1:3d}    {-.1131e3 - k / 100:.12E}   {-log.near(.1):.5E}   {-log.near(.1):.5E}  {2000 + k % 90:5d}   {log.near(.01):.3E}" + (f"\n{k // 15 + 1:4d} F= -.11312{k}E+03 E0= -.113121E+03  d E =-.3{k}E-05" if k % 15 == 14 else ""), before=(" running on    8 total cores", "       N       E                     dE             d eps       ncg     rms          rms(c)"))
repeated("quantum_espresso", "Quantum ESPRESSO pw.x", lambda log, k: f"     iteration #{k % 12 + 1:3d}     ecut=    60.00 Ry     beta= 0.70\n     Davidson diagonalization with overlap\n     ethr =  {log.near(1e-6):.2E},  avg # of iterations = {log.near(3.):4.1f}\n\n     total cpu time spent up to now is {k * 1.2:10.1f} secs\n\n     total energy              = {-22.5 - k / 1e5:16.8f} Ry\n     estimated scf accuracy    <  {log.near(1e-5):14.8f} Ry\n")
repeated("linpack", "HPL", lambda log, k: f"Column={(k + 1) * 384:09d} Fraction={(k + 1) / 120:5.3f} Gflops={log.near(900.):9.3e}", before=("N      :   46080 ", "NB     :     384 "))
repeated("sysbench", "akopytov/sysbench oltp", lambda log, k: f"[ {k + 1}s ] thds: 8 tps: {log.near(900.):.2f} qps: {log.near(18000.):.2f} (r/w/o: {log.near(12000.):.2f}/{log.near(3000.):.2f}/{log.near(1800.):.2f}) lat (ms,95%): {log.near(12.):.2f} err/s: 0.00 reconn/s: 0.00")
repeated("redis_benchmark", "redis/redis redis-benchmark", lambda log, k: f"SET: rps={log.near(90000.):.1f} (overall: {log.near(90000.):.1f}) avg_msec={log.near(.3):.3f} (overall: {log.near(.3):.3f})")
repeated("iperf", "esnet/iperf", lambda log, k: f"[  5]   {k}.00-{k + 1}.00   sec  {log.near(1.1):.2f} GBytes  {log.near(9.4):.2f} Gbits/sec    {k % 4}   {log.near(1.2):.2f} MBytes       ")
repeated("tensorrt_llm_statistics", "NVIDIA/TensorRT-LLM server statistics of iterations", lambda log, k: f'[TensorRT-LLM][INFO] {{"Active Request Count":{k % 9},"Iteration Counter":{k * 100},"Max Request Count":64,"Runtime CPU Memory Usage":{9000 + k % 7},"Scheduled Requests":{k % 9},"Timestamp":"{log.at()}","KV cache block/Used KV cache blocks":{40 + k % 30}}}')
repeated("llama_server", "ggml-org/llama.cpp llama-server", lambda log, k: f"slot launch_slot_: id  0 | task {k * 37} | processing task\nslot update_slots: id  0 | task {k * 37} | new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = {200 + k}\nslot      release: id  0 | task {k * 37} | stop processing: n_past = {400 + k}, truncated = 0\nprompt eval time =    {log.near(90.):.2f} ms /   {200 + k} tokens ({log.near(.4):8.2f} ms per token, {log.near(2400.):8.2f} tokens per second)")
repeated("fsck", "e2fsprogs e2fsck", lambda log, k: f"Inode {k * 91 + 12} extent tree (at level 1) could be narrower.  Optimize? yes", before=("Pass 1: Checking inodes, blocks, and sizes",))
repeated("kissat", "arminbiere/kissat table of a SAT solver", lambda log, k: f"c {'ir.-'[k % 4]}  {k * .4:6.2f} {20 + k % 5:3d} {k % 9:3d} {k:4d} {k * 7:5d} {k * 900:7d} {k * 410:6d} {log.near(30.):3.0f}% {log.near(5.):4.0f} {90000 - k * 31:7d} {41000 - k * 12:6d} {90 - k // 3:2d}%", before=("c  seconds switched rate trail variables", "c   MB reductions conflicts glue remaining", "c    level restarts redundant irredundant"))
repeated("elasticsearch_reindex", "elastic/elasticsearch task status", lambda log, k: f'{{"total":120000,"updated":0,"created":{k * 1000},"deleted":0,"batches":{k},"version_conflicts":0,"noops":0,"throttled_millis":0,"requests_per_second":-1.0}}')
repeated("chunks_of_rows", "hand-written export: 'Chunk 3: 100000 rows, 1.2 s'", lambda log, k: f"Chunk {k}: 100000 rows, {log.near(1.2):.2f} s, {k * 100000} so far")
