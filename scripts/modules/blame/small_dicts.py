"""Records of small Python objects."""
import victim

log = victim.container()


def churn():
    return len([[n, n + 1] for n in range(2000)])


def step(number):
    churn()
    log.append([{"step": number, "n": float(n)} for n in range(300)])  # LEAK


victim.run(step)
