"""Ranks that stop, stop at the same step; and none waits for ever. Each rank is a thread here; the store is a
table behind a lock, with the operations of torch's."""

import random
import threading
from typing import Any, Dict, List, Optional

import pytest

from leveloff import _agreement
from leveloff._agreement import Agreement, _after


class Store:
    """What is used of torch.distributed's stores."""

    def __init__(self) -> None:
        self._values: Dict[str, bytes] = {}
        self._lock = threading.Lock()

    def set(self, key: str, value: str) -> None:
        with self._lock:
            self._values[key] = value.encode()

    def get(self, key: str) -> bytes:
        return self._values[key]

    def check(self, keys: List[str]) -> bool:
        return all(key in self._values for key in keys)

    def add(self, key: str, n: int) -> int:
        with self._lock:
            total = int(self._values.get(key, b"0")) + n
            self._values[key] = str(total).encode()
            return total

    def compare_set(self, key: str, expected: str, desired: str) -> bytes:
        with self._lock:
            assert expected == ""
            return self._values.setdefault(key, desired.encode())


def stops_of(
    world: int, requests: Dict[int, int], skew: int, seed: int, rounds: int = 1, store: Optional[Store] = None
) -> List[List[Optional[int]]]:
    """For each round, the step at which each rank stopped. Ranks may be `skew` steps apart, as in a training
    that exchanges gradients."""
    store = store or Store()
    done = [0] * world
    moved = threading.Condition()
    results: List[List[Optional[int]]] = [[None] * world for _ in range(rounds)]

    def work(rank: int) -> None:
        chance = random.Random(seed * 1000 + rank)
        agreement = Agreement(store, world)
        for result in results:
            for step in range(1, 200):
                with moved:
                    moved.wait_for(lambda: step - min(done) <= skew)
                    done[rank] = step
                    moved.notify_all()
                if chance.random() < 0.2:
                    moved_pause.wait(chance.random() / 500)
                if agreement.should_stop(step, step >= requests.get(rank, 10**9)):
                    result[rank] = step
                    break
            barrier.wait()
            done[rank] = 0
            barrier.wait()

    moved_pause = threading.Event()
    barrier = threading.Barrier(world)
    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(world)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a rank was left waiting"
    return results


@pytest.fixture(autouse=True)
def quick(monkeypatch: Any) -> None:
    monkeypatch.setattr(_agreement, "LOOK_AGAIN", 0.0005)
    monkeypatch.setattr(_agreement, "SHORTEST_PATIENCE", 20.0)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("world, skew", [(2, 1), (4, 1), (4, 20), (3, 60)])
def test_all_stop_at_one_step(world, skew, seed):
    chance = random.Random(seed)
    requests = {rank: chance.randrange(1, 60) for rank in chance.sample(range(world), chance.randrange(1, world))}
    (stops,) = stops_of(world, requests, skew, seed)
    assert len(set(stops)) == 1 and stops[0] is not None
    if skew == 1:
        assert stops[0] <= min(requests.values()) + 2 * _agreement.LOOK_EVERY + skew


def test_without_a_request_none_stops():
    assert stops_of(3, {}, 1, 0) == [[None, None, None]]


def test_a_second_training_in_the_same_store_stops_again():
    first, second = stops_of(2, {0: 10}, 1, 5, rounds=2)
    assert first == second == [24, 24]


def test_what_an_earlier_group_agreed_on_is_not_agreed_on_again():
    store = Store()
    for _ in range(2):
        (stops,) = stops_of(2, {1: 10}, 1, 5, store=store)
        assert stops == [24, 24]
    assert stops_of(2, {}, 1, 5, store=store) == [[None, None]]


def test_a_rank_that_is_alone_gives_up_and_the_late_one_follows(monkeypatch):
    monkeypatch.setattr(_agreement, "SHORTEST_PATIENCE", 0.05)
    store = Store()
    alone, late = Agreement(store, 2), Agreement(store, 2)
    with pytest.warns(RuntimeWarning, match="only 1 of 2 ranks came .* the training goes on"):
        answers = [alone.should_stop(step, step == 3) for step in range(1, 17)]
    assert not any(answers) and alone.gave_up
    assert not any(late.should_stop(step, False) for step in range(1, 17)) and late.gave_up
    # The next request finds both again.
    results = {}
    both = [
        threading.Thread(target=lambda rank=rank: results.update({id(rank): [rank.should_stop(n, n == 20) for n in range(17, 41)]}))
        for rank in (alone, late)
    ]
    monkeypatch.setattr(_agreement, "SHORTEST_PATIENCE", 20.0)
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(60)
    assert [answers.index(True) for answers in results.values()] == [15, 15], results


def test_a_proposal_leaves_each_rank_another_look():
    for position in range(100):
        looks = [p for p in range(position + 1, _after(position) + 1) if p % _agreement.LOOK_EVERY == 0]
        assert len(looks) == 2


def test_a_broken_store_stops_no_rank(monkeypatch):
    ranks = _agreement.Ranks()
    monkeypatch.setattr(ranks, "_find", lambda: 1 / 0)
    with pytest.warns(RuntimeWarning, match="ranks cannot agree"):
        assert not ranks.should_stop(True)
    assert not ranks.should_stop(True)
