"""A small training run that reports the role of each process of its own tree.

It asks torch and multiprocessing for the process numbers of what they started, so the truth it
writes owes nothing to the rules under test. It then keeps training until its stdin is closed, or
until the process that started it is gone.

    train.py --truth DIR [--compile] [--loader fork|spawn|forkserver] [--ranks N] [--steps print|bar] ...
"""

import argparse
import json
import os
import select
import subprocess
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


BATCH = 8
STEP_S = 0.05
BAR_TOTAL = 100_000  # More than any test waits for.
LAST_STEP_SHOWN_S = 2.5  # So that a reader with one sample per second sees the last step.


class Rows(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.full((64,), float(index % 7))


class ReportPid:
    """A worker_init_fn that a spawned worker can unpickle."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, _worker):
        rank = os.environ.get("RANK")
        report_role(self.directory, os.getpid(), "dataloader-worker", rank and int(rank))
        if os.environ.get("TRAIN_LEGACY_NAMES"):
            # What torch 2.4 and older look like: their workers never renamed themselves.
            torch.multiprocessing._set_thread_name("pt_main_thread")


def report_role(directory, pid, role, rank=None):
    """One file per process, renamed into place, so that a reader never sees half of one."""
    path = os.path.join(directory, f"{pid}.json")
    with open(path + ".part", "w") as file:
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        json.dump({"pid": pid, "start": stat_fields(pid)[19], "role": role, "rank": rank, "reported_s": now_s}, file)
    os.rename(path + ".part", path)


def stat_fields(pid):
    """The numbers behind the name in a process's `stat`, from its parent on at 1; its start is 19."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return [int(field) if field.isdigit() else None for field in file.read().rsplit(b")", 1)[1].split()]


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = stat_fields(name)[1]
            except (OSError, IndexError):
                continue
            if parent == pid:
                found.append(int(name))
    return found


def descendants_of(pid):
    for child in children_of(pid):
        yield child
        yield from descendants_of(child)


def pid_after_a_moment():
    time.sleep(0.3)
    return os.getpid()


def report_compile_pool(directory, expected, rank):
    from torch._inductor.async_compile import AsyncCompile

    pool = AsyncCompile.process_pool()
    if not hasattr(pool, "process"):
        # Started by fork or spawn: an executor in this very process. Its workers are all up when
        # each has answered with its number.
        workers = set()
        while len(workers) < expected:
            jobs = [pool.submit(pid_after_a_moment) for _ in range(expected)]
            workers.update(job.result() for job in jobs)
        for pid in workers:
            report_role(directory, pid, "compile-worker", rank)
        return
    # A job makes the pool start its workers. Newer versions start none for a CPU without a job.
    pool.submit(os.getpid).result()
    report_role(directory, pool.process.pid, "compile-pool", rank)
    workers = []
    while len(workers) < expected:
        workers = children_of(pool.process.pid)
        time.sleep(0.05)
    for pid in workers:
        report_role(directory, pid, "compile-worker", rank)


def report_helpers(directory, rank):
    from multiprocessing import forkserver, resource_tracker

    for pid in (resource_tracker._resource_tracker._pid, forkserver._forkserver._forkserver_pid):
        if pid:
            report_role(directory, pid, "helper", rank)
    for pid in descendants_of(os.getpid()):
        if os.readlink(f"/proc/{pid}/exe").endswith("torch_shm_manager"):
            report_role(directory, pid, "helper", rank)


class Steps:
    """Prints each step as training scripts do, and notes the time."""

    def __init__(self, args):
        self.count, self.manner, self.bar = 0, args.steps, None
        if self.manner == "bar":
            import tqdm

            self.bar = tqdm.tqdm(total=BAR_TOTAL)
        self.notes = open(os.path.join(args.truth, "steps"), "a") if self.manner else None

    def show(self, loss):
        self.count += 1
        if self.manner:
            # Noted first: a step cannot be known before it is printed.
            print(time.time(), self.count, file=self.notes, flush=True)
        if self.manner == "print":
            print(f"step {self.count} loss {loss.item():.4f}", flush=True)
        elif self.manner == "bar":
            self.bar.update()

    def end(self):
        if self.bar:
            self.bar.refresh()
        if self.manner:
            time.sleep(LAST_STEP_SHOWN_S)


def train(args, rank=None):
    if args.title:
        import setproctitle

        setproctitle.setproctitle(args.title)
    if args.legacy_names:
        os.environ["TRAIN_LEGACY_NAMES"] = "1"
    if args.share_files:
        torch.multiprocessing.set_sharing_strategy("file_system")
    rank = int(os.environ["RANK"]) if "RANK" in os.environ else rank
    if rank is not None:
        torch.distributed.init_process_group("gloo")

    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 64))
    if torch.distributed.is_initialized():
        model = torch.nn.parallel.DistributedDataParallel(model)
    step = torch.compile(model) if args.compile else model
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = loader(args)
    steps = Steps(args)

    def one_step():
        batch = next(batches)
        loss = (step(batch) - batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps.show(loss)

    # Epochs last for a while, and their workers with them; three of them are begun here.
    for _ in range(2 * args.epoch_steps + 5):
        one_step()
        time.sleep(STEP_S if args.epoch_steps else 0)
    report_role(args.truth, os.getpid(), "trainer", rank)
    if args.compile:
        report_compile_pool(args.truth, int(os.environ["TORCHINDUCTOR_COMPILE_THREADS"]), rank)
    report_helpers(args.truth, rank)
    open(os.path.join(args.truth, f"ready-{os.getpid()}"), "w").close()

    parent = os.getppid()
    while os.getppid() == parent and not closed(sys.stdin):
        if torch.distributed.is_initialized():
            time.sleep(STEP_S)  # Ranks leave at different moments; a step would wait for the other.
        else:
            one_step()
            time.sleep(STEP_S)
    steps.end()
    # A handful of ranks and workers are about to be stopped; they need not wait for each other.
    sys.stdout.flush()


def loader(args):
    if not args.loader:
        while True:
            yield torch.ones(BATCH, 64)
    batches = DataLoader(
        Rows(args.epoch_steps * BATCH or 1 << 30),
        batch_size=BATCH,
        num_workers=args.workers,
        multiprocessing_context=args.loader,
        worker_init_fn=ReportPid(args.truth),
        persistent_workers=not args.epoch_steps,
    )
    while True:
        yield from batches


def closed(stream):
    try:
        readable = select.select([stream], [], [], 0)[0]
        return bool(readable) and not os.read(stream.fileno(), 4096)
    except (OSError, ValueError):
        return True


def ranked(rank, args):
    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port), RANK=str(rank), WORLD_SIZE=str(args.ranks)
    )
    # A spawned child's stdin is /dev/null; it leaves when its parent does.
    sys.stdin = open(os.pipe()[0])
    train(args, rank)


def relaunch(args):
    """Starts the other ranks as this very command, as Lightning does, and is rank 0 itself."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port), WORLD_SIZE=str(args.relaunch))
    others = []
    for rank in range(1, args.relaunch):
        ranked_environment = {**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        others.append(subprocess.Popen([sys.executable, *sys.argv], env=ranked_environment, stdin=sys.stdin))
    os.environ.update(RANK="0", LOCAL_RANK="0")
    train(args)
    for other in others:
        other.terminate()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--truth", required=True, help="directory for what each process is")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--loader", choices=["fork", "spawn", "forkserver"])
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--epoch-steps", type=int, default=0, help="new dataloader workers after so many steps")
    parser.add_argument("--steps", choices=["print", "bar"], help="print each step on the terminal")
    parser.add_argument("--ranks", type=int, default=0, help="start this many with torch.multiprocessing.spawn")
    parser.add_argument("--relaunch", type=int, default=0, help="run this many copies of this command")
    parser.add_argument("--port", type=int, default=29517)
    parser.add_argument("--title", help="rename the trainer with setproctitle")
    parser.add_argument("--share-files", action="store_true", help="starts torch_shm_manager")
    parser.add_argument("--legacy-names", action="store_true", help="undo the names that torch 2.5 brought")
    parser.add_argument("--note", help="ignored; a place for words that look like something else")
    args = parser.parse_args()
    if args.relaunch and "RANK" not in os.environ:
        return relaunch(args)
    if not args.ranks:
        return train(args)
    report_role(args.truth, os.getpid(), "launcher")
    context = torch.multiprocessing.spawn(ranked, (args,), nprocs=args.ranks, join=False)
    from multiprocessing import resource_tracker

    report_role(args.truth, resource_tracker._resource_tracker._pid, "helper")
    open(os.path.join(args.truth, f"ready-{os.getpid()}"), "w").close()
    while not closed(sys.stdin):
        time.sleep(0.05)
    for process in context.processes:
        process.terminate()


if __name__ == "__main__":
    main()
