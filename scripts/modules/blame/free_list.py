"""A leak and a churn of one type, turn by turn: Python recycles the churned lists for the leak."""
import victim

kept = victim.container()


def churn():
    return [float(n) for n in range(200)]


def step(number):
    for n in range(300):
        churn()
        kept.append([number, n, float(n), None, None, None, None, None])  # LEAK


victim.run(step)
