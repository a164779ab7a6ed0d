"""A slow leak beside much churn."""
import victim

kept = victim.container()


def step(_):
    [bytearray(200_000) for _ in range(5)]
    kept.append(bytearray(25_000))  # LEAK


victim.run(step)
