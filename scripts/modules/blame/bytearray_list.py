"""A list of byte arrays beside a churn of the same size."""
import victim

kept = victim.container()


def churn():
    return sum(len(bytearray(60_000)) for _ in range(20))


def step(_):
    churn()
    kept.append(bytearray(60_000))  # LEAK


victim.run(step)
