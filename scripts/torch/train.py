"""A small training run that knows, and tells, who is who in its own process tree.

It asks torch and multiprocessing for the process numbers of what they started, so the truth it
writes owes nothing to the rules under test. It then keeps training until its stdin is closed, or
until the process that started it is gone.

    train.py --truth DIR [--compile] [--loader fork|spawn|forkserver] [--ranks N] [--title TEXT] ...
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


class Rows(Dataset):
    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        return torch.full((64,), float(index % 7))


class TellPid:
    """A worker_init_fn that a spawned worker can unpickle."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, _worker):
        rank = os.environ.get("RANK")
        tell(self.directory, os.getpid(), "dataloader-worker", rank and int(rank))
        if os.environ.get("TRAIN_LEGACY_NAMES"):
            # What torch 2.4 and older look like: their workers never renamed themselves.
            torch.multiprocessing._set_thread_name("pt_main_thread")


def tell(directory, pid, role, rank=None):
    """One file per process, renamed into place, so that a reader never sees half of one."""
    path = os.path.join(directory, f"{pid}.json")
    with open(path + ".part", "w") as file:
        json.dump({"pid": pid, "role": role, "rank": rank}, file)
    os.rename(path + ".part", path)


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rsplit(b")", 1)[1].split()[1])
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


def tell_compile_pool(directory, expected, rank):
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
            tell(directory, pid, "compile-worker", rank)
        return
    pool.ready_future.result()
    tell(directory, pool.process.pid, "compile-pool", rank)
    workers = []
    while len(workers) < expected:
        workers = children_of(pool.process.pid)
        time.sleep(0.05)
    for pid in workers:
        tell(directory, pid, "compile-worker", rank)


def tell_helpers(directory, rank):
    from multiprocessing import forkserver, resource_tracker

    for pid in (resource_tracker._resource_tracker._pid, forkserver._forkserver._forkserver_pid):
        if pid:
            tell(directory, pid, "helper", rank)
    for pid in descendants_of(os.getpid()):
        if os.readlink(f"/proc/{pid}/exe").endswith("torch_shm_manager"):
            tell(directory, pid, "helper", rank)


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

    def one_step():
        batch = next(batches)
        loss = (step(batch) - batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for _ in range(5):
        one_step()
    tell(args.truth, os.getpid(), "trainer", rank)
    if args.compile:
        tell_compile_pool(args.truth, int(os.environ["TORCHINDUCTOR_COMPILE_THREADS"]), rank)
    tell_helpers(args.truth, rank)
    open(os.path.join(args.truth, f"ready-{os.getpid()}"), "w").close()

    parent = os.getppid()
    while os.getppid() == parent and not closed(sys.stdin):
        if torch.distributed.is_initialized():
            time.sleep(0.05)  # Ranks leave at different moments; a step would wait for the other.
        else:
            one_step()
            time.sleep(0.05)
    # A handful of ranks and workers are about to be told to stop; no need to wait for each other.
    sys.stdout.flush()


def loader(args):
    if not args.loader:
        while True:
            yield torch.ones(8, 64)
    yield from DataLoader(
        Rows(),
        batch_size=8,
        num_workers=args.workers,
        multiprocessing_context=args.loader,
        worker_init_fn=TellPid(args.truth),
        persistent_workers=True,
    )


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
    tell(args.truth, os.getpid(), "launcher")
    context = torch.multiprocessing.spawn(ranked, (args,), nprocs=args.ranks, join=False)
    from multiprocessing import resource_tracker

    tell(args.truth, resource_tracker._resource_tracker._pid, "helper")
    open(os.path.join(args.truth, f"ready-{os.getpid()}"), "w").close()
    while not closed(sys.stdin):
        time.sleep(0.05)
    for process in context.processes:
        process.terminate()


if __name__ == "__main__":
    main()
