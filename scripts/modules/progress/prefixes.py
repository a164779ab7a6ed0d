"""The same kinds of line behind the prefixes of launchers, and several writers on one pipe."""
from .lib import positive, tqdm, truth


@positive("ray_train", "ray-project/ray python/ray/_private/worker.py prefixes (RayTrainWorker pid=…) around a training loop")
def ray_train(log):
    log.lines("""
2025-03-11 09:14:02,318	INFO worker.py:1821 -- Started a local Ray instance.
(TrainController pid=5101) Attempting to start training worker group of size 2 with the following resources: [{'CPU': 1}] * 2
\x1b[36m(RayTrainWorker pid=5233)\x1b[0m Setting up process group for: env:// [rank=0, world_size=2]
\x1b[36m(TrainController pid=5101)\x1b[0m Started training worker group of size 2: 
\x1b[36m(TrainController pid=5101)\x1b[0m - (ip=10.0.0.4, pid=5233) world_rank=0, local_rank=0, node_rank=0
\x1b[36m(TrainController pid=5101)\x1b[0m - (ip=10.0.0.4, pid=5234) world_rank=1, local_rank=1, node_rank=0
""")
    last = 0
    for step in range(10, 1001, 10):
        for pid in log.random.sample((5233, 5234), 2):
            log.step(f"\x1b[36m(RayTrainWorker pid={pid})\x1b[0m step {step} loss {log.loss(step / 1000):.4f}")
        last = step
        if step % 250 == 0:
            log.line(f"\x1b[36m(RayTrainWorker pid=5233)\x1b[0m Checkpoint successfully created at: Checkpoint(filesystem=local, path=/tmp/r/checkpoint_2025-03-11_09-2{step // 250}-11)")
    return truth(last, notes="two workers, each prints the step; the pid is no clock")


@positive("ray_train_repeated", "ray-project/ray log deduplication: [repeated 3x across cluster]")
def ray_repeated(log):
    last = 0
    for batch in range(0, 400, 5):
        log.step(f"(RayTrainWorker pid={log.random.choice((811, 812, 813, 814))}, ip=10.0.0.7) [epoch 0] batch {batch}/400 loss={log.loss(batch / 400):.4f}" + (" [repeated 3x across cluster]" if batch else ""))
        last = batch
    return truth(last, epoch_steps=400, last_epoch=0, notes="'repeated 3x' is no counter")


@positive("torchrun_rank", "pytorch/pytorch torch/distributed/elastic prefixes [rank0]: around a training loop")
def torchrun_rank(log):
    log.line("W0311 09:14:02.318000 4111 torch/distributed/run.py:766] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default")
    last = 0
    for step in range(1, 121):
        for rank in log.random.sample(range(2), 2):
            log.step(f"[rank{rank}]:step {step}/500 | loss {log.loss(step / 500):.4f} | grad_norm {log.near(1.):.3f} | {log.near(8100.):.0f} tok/s")
        last = step
    return truth(last, total=500)


@positive("torchrun_default", "pytorch/pytorch torch/distributed/elastic/multiprocessing tee prefixes [default0]: around nanoGPT-like lines")
def torchrun_default(log):
    last = 0
    for it in range(0, 800, 5):
        log.step(f"[default0]:iter {it}: loss {log.loss(it / 800, 4, 1):.4f}, time {log.near(211.):.2f}ms, mfu {log.near(31.):.2f}%")
        if it % 100 == 0:
            for rank in (1, 2, 3):
                log.line(f"[default{rank}]:max memory allocated: {log.near(11000.):.0f} MB")
        last = it
    return truth(last)


@positive("docker_timestamps", "docker logs -t: an RFC 3339 time in front of pytorch/examples imagenet lines")
def docker(log):
    last, total = 0, 782
    def out(text, step=False):
        log.line(log.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{log.random.randint(0, 999999999):09d}Z {text}", step)
    out("=> creating model 'resnet18'")
    for epoch in range(3):
        for i in range(1, total + 1, 20):
            log.tick(4)
            out(f"Epoch: [{epoch}][{i:3d}/{total}]\tTime  0.211 ( 0.220)\tLoss {log.loss((epoch + i / total) / 3, 6, 2):.4e} (5.1201e+00)\tAcc@1  {9.1:5.2f} ( 8.80)", True)
            last = epoch * total + i
    return truth(last, epoch_steps=total, last_epoch=2)


@positive("kubectl_timestamps", "kubectl logs --timestamps --prefix: [pod/…/…] and a time in front of a JSON line")
def kubectl(log):
    last = 0
    for step in range(25, 3001, 25):
        log.tick(5)
        log.step(f'[pod/trainer-0-x7k2p/main] {log.now.strftime("%Y-%m-%dT%H:%M:%S.%f")}000Z {{"level": "info", "global_step": {step}, "loss": {log.loss(step / 6000):.4f}, "throughput": {log.near(812.):.1f}}}')
        last = step
    return truth(last)


@positive("srun_label", "SLURM srun --label: '0: ' in front of each line, four tasks")
def srun(log):
    last = 0
    for task in range(4):
        log.line(f"{task}: Initializing distributed: rank {task}/4, backend nccl")
    for step in range(10, 1501, 10):
        for task in log.random.sample(range(4), 4):
            log.step(f"{task}: step={step:06d} loss={log.loss(step / 3000):.3f} lr=1.00e-04")
        last = step
    return truth(last, notes="the task number in front is no clock")


@positive("journald_prefix", "systemd journal short format in front of a training's lines")
def journald(log):
    last = 0
    for it in range(50, 5001, 50):
        log.tick(8)
        log.step(f"{log.at('%b %d %H:%M:%S')} gpu01 train.sh[20113]: [iter {it}] loss_g: {log.near(1.9):.3f} loss_d: {log.near(.6):.3f}")
        last = it
    return truth(last, notes="the pid 20113 is no clock")


@positive("ranks_interleaved", "four ranks with python -u on one pipe: print writes the text and the newline apart, so lines are glued")
def ranks(log):
    last = 0
    for step in range(0, 150):
        pieces = [f"[rank {rank}] step {step} loss {log.loss(step / 150):.4f}" for rank in log.random.sample(range(4), 4)]
        if step % 7 == 3:
            log.raw(pieces[0] + pieces[1] + "\n\n" + pieces[2] + "\n" + pieces[3] + "\n", step=True)
        else:
            for piece in pieces:
                log.step(piece)
        last = step
    return truth(last, notes="now and then two lines are glued: '… loss 2.3111[rank 2] step 9 …'")


@positive("ranks_out_of_step", "four ranks on one pipe that drift by a few steps")
def ranks_drift(log):
    at = [0, 0, 0, 0]
    while min(at) < 200:
        rank = log.random.choice([r for r in range(4) if at[r] < 200 and at[r] <= min(at) + 2])
        at[rank] += 1
        log.step(f"Worker {rank}: iteration {at[rank]} of 200, loss={log.loss(at[rank] / 200):.4f}")
    return truth(200, total=200, notes="the counter goes back by one or two between ranks; this is no restart")


@positive("ranks_four_bars", "four ranks, each with a tqdm bar of its own on the same pipe (position per rank)")
def ranks_bars(log):
    last = 0
    for i in range(0, 240, 2):
        for rank in range(4):
            log.raw("\n" * rank + "\r" + tqdm(i, 400, i * .3, desc=f"rank {rank}") + "\x1b[A" * rank, step=True)
        last = i
    return truth(last, total=400)


@positive("resumed_run", "hand-written: a run that resumes from a checkpoint at step 12000")
def resumed(log):
    log.line("Loading checkpoint from out/step_12000.pt")
    log.line("=> resumed from step 12000 (epoch 4)")
    last = 0
    for step in range(12010, 13501, 10):
        log.step(f"step {step:>7d} | epoch 4 | loss {log.loss((step - 12000) / 3000, 1.1, .9):.4f} | lr 1.00e-05 | 312 ms")
        last = step
    return truth(last, last_epoch=4, notes="the counter begins at 12010")


@positive("gradient_accumulation", "hand-written: micro-batch and optimizer step side by side")
def accumulation(log):
    last = 0
    for micro in range(4, 1601, 4):
        log.step(f"micro_batch {micro}/6400 optimizer_step {micro // 4}/1600 loss {log.loss(micro / 6400):.4f}")
        last = micro // 4
    return truth(last, total=1600, notes="either counter is accepted: optimizer_step 400 of 1600 or micro_batch 1600 of 6400")


@positive("tokens_clock", "hand-written language model loop that counts tokens only")
def tokens(log):
    for k in range(1, 151):
        log.step(f"tokens: {k * 4194304:,} | loss: {log.loss(k / 400, 10, 3):.3f} | {log.near(1.21):.2f}M tok/s")
    return truth(150 * 4194304, "tokens", notes="thousands with commas; no step at all")
