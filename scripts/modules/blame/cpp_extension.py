"""A Python program whose C++ extension (extension.cpp) caches without end."""
import extension_module
import victim


def churn():
    return sum(len(bytearray(80_000)) for _ in range(5))


def step(number):
    churn()
    extension_module.features(number)  # LEAK


victim.run(step)
